import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A vector selector and its context. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** An aggregation, or a join with `on` or `ignoring`. */
interface Grouping {
  readonly clause: 'by' | 'without' | 'on' | 'ignoring' | 'none';
  readonly labels: readonly string[];
}

/**
 * Parses an expression with Prometheus' own grammar. `labels`: used in matchers, grouping and vector matching. `errors`: of syntax, with their
 * position.
 */
export function parsePromql(expression: string) {
  const text = (node: SyntaxNode) => expression.slice(node.from, node.to);
  const selectors: Selector[] = [];
  const labels = new Set<string>();
  const groupings: Grouping[] = [];
  const errors: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ node }) => {
      if (node.type.isError)
        errors.push(`at ${node.from}: ${expression.slice(Math.max(0, node.from - 20), node.to + 20)}`);
      if (node.name === 'VectorSelector') selectors.push(parseSelector(node, text));
      if (node.name === 'LabelName') labels.add(text(node));
      if (node.name === 'AggregateExpr') groupings.push(parseGrouping(node.getChild('AggregateModifier'), text));
      if (node.name === 'MatchingModifierClause') groupings.push(parseGrouping(node, text));
    },
  });
  return { selectors, groupings, labels: [...labels], errors };
}

function parseSelector(node: SyntaxNode, text: (node: SyntaxNode) => string): Selector {
  const matchers = descendants(node, 'UnquotedLabelMatcher').map((matcher) => {
    const [label, operator, value] = children(matcher).map(text);
    return { label: `${label}`, operator: `${operator}`, value: unquoted(`${value}`) };
  });
  const name = node.getChild('Identifier');
  return { metric: name ? text(name) : '', matchers };
}

const CLAUSES = { By: 'by', Without: 'without', On: 'on', Ignoring: 'ignoring' } as const;

function parseGrouping(modifier: SyntaxNode | null, text: (node: SyntaxNode) => string): Grouping {
  const clause = Object.entries(CLAUSES).find(([name]) => modifier?.getChild(name))?.[1] ?? 'none';
  const labels = modifier?.getChild('GroupingLabels');
  return { clause, labels: labels ? descendants(labels, 'LabelName').map(text) : [] };
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
