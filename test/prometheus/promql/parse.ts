import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A vector selector and its context. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
  /** The text between the brackets of a range selector. */
  readonly range: string | undefined;
  /** Enclosing functions and aggregations, innermost first. */
  readonly within: readonly string[];
}

/** An aggregation, or a join with `on` or `ignoring`. */
interface Grouping {
  /** The operator of an aggregation; `join` otherwise. */
  readonly operator: string;
  readonly clause: 'by' | 'without' | 'on' | 'ignoring' | 'none';
  readonly labels: readonly string[];
}

interface ParsedExpression {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly Grouping[];
  /** Labels used in matchers, grouping and vector matching. */
  readonly labels: readonly string[];
  /** Labels that `count_values` adds to the result. */
  readonly addedLabels: readonly string[];
  /** Syntax errors with their position. */
  readonly errors: readonly string[];
}

/** Parses an expression with Prometheus' own grammar. */
export function parsePromql(expression: string): ParsedExpression {
  const text = (node: SyntaxNode) => expression.slice(node.from, node.to);
  const selectors: Selector[] = [];
  const labels = new Set<string>();
  const groupings: Grouping[] = [];
  const addedLabels: string[] = [];
  const errors: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ node }) => {
      if (node.type.isError)
        errors.push(`at ${node.from}: ${expression.slice(Math.max(0, node.from - 20), node.to + 20)}`);
      if (node.name === 'VectorSelector') selectors.push(parseSelector(node, text));
      if (node.name === 'LabelName') labels.add(text(node));
      if (node.name === 'AggregateExpr') {
        addedLabels.push(...countedLabel(node, text));
        groupings.push(parseGrouping(functionName(node, text).join(), node.getChild('AggregateModifier'), text));
      }
      if (node.name === 'MatchingModifierClause') groupings.push(parseGrouping('join', node, text));
    },
  });
  return { selectors, groupings, labels: [...labels], addedLabels, errors };
}

function parseSelector(node: SyntaxNode, text: (node: SyntaxNode) => string): Selector {
  const range =
    node.parent?.name === 'MatrixSelector' ? text(node.parent).slice(text(node).length).trim().slice(1, -1) : undefined;
  const matchers = descendants(node, 'UnquotedLabelMatcher').map((matcher) => {
    const [label, operator, value] = children(matcher).map(text);
    return { label: `${label}`, operator: `${operator}`, value: unquoted(`${value}`) };
  });
  const name = node.getChild('Identifier');
  return {
    metric: name ? text(name) : '',
    matchers,
    range,
    within: ancestors(node).flatMap((ancestor) => functionName(ancestor, text)),
  };
}

const CLAUSES = { By: 'by', Without: 'without', On: 'on', Ignoring: 'ignoring' } as const;

function parseGrouping(operator: string, modifier: SyntaxNode | null, text: (node: SyntaxNode) => string): Grouping {
  const clause = Object.entries(CLAUSES).find(([name]) => modifier?.getChild(name))?.[1] ?? 'none';
  const labels = modifier?.getChild('GroupingLabels');
  return { operator, clause, labels: labels ? descendants(labels, 'LabelName').map(text) : [] };
}

function countedLabel(node: SyntaxNode, text: (node: SyntaxNode) => string): string[] {
  const label = node.getChild('FunctionCallBody')?.getChild('StringLiteral');
  return label ? [unquoted(text(label))] : [];
}

function functionName(node: SyntaxNode, text: (node: SyntaxNode) => string): string[] {
  const name = node.getChild(node.name === 'AggregateExpr' ? 'AggregateOp' : 'FunctionIdentifier');
  return name ? [text(name)] : [];
}

function ancestors(node: SyntaxNode): SyntaxNode[] {
  return node.parent ? [node.parent, ...ancestors(node.parent)] : [];
}

function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child);
  return found;
}

function descendants(node: SyntaxNode, name: string): SyntaxNode[] {
  return children(node).flatMap((child) => (child.name === name ? [child] : descendants(child, name)));
}

/** A backquoted literal has no escapes. */
function unquoted(literal: string): string {
  if (literal.startsWith('`')) return literal.slice(1, -1);
  return literal.slice(1, -1).replace(/\\(.)/g, '$1');
}
