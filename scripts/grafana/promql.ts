import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A selector in an expression, and what stands around it. */
interface Selection {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
  /** The text between the brackets, if it selects a range. */
  readonly range: string | undefined;
  /** The functions and aggregations it is in, the innermost first. */
  readonly within: readonly string[];
}

export interface Reading {
  readonly selections: readonly Selection[];
  /** Every label that is matched, grouped by, joined on, or replaced. */
  readonly labels: readonly string[];
  /** Where the expression cannot be understood. */
  readonly errors: readonly string[];
}

/** Reads an expression by Prometheus' own grammar. */
export function readPromql(expression: string): Reading {
  const text = (node: SyntaxNode) => expression.slice(node.from, node.to);
  const selections: Selection[] = [];
  const labels = new Set<string>();
  const errors: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ node }) => {
      if (node.type.isError) errors.push(`at ${node.from}: ${expression.slice(Math.max(0, node.from - 20), node.to + 20)}`);
      if (node.name === 'VectorSelector') selections.push(selection(node, text));
      if (node.name === 'LabelName') labels.add(text(node));
    },
  });
  return { selections, labels: [...labels], errors };
}

function selection(node: SyntaxNode, text: (node: SyntaxNode) => string): Selection {
  const range = node.parent?.name === 'MatrixSelector' ? text(node.parent).slice(text(node).length).trim().slice(1, -1) : undefined;
  const matchers = descendants(node, 'UnquotedLabelMatcher').map((matcher) => {
    const [label, operator, value] = children(matcher).map(text);
    return { label: `${label}`, operator: `${operator}`, value: unquoted(`${value}`) };
  });
  const name = node.getChild('Identifier');
  return { metric: name ? text(name) : '', matchers, range, within: ancestors(node).flatMap((around) => called(around, text)) };
}

function called(node: SyntaxNode, text: (node: SyntaxNode) => string): string[] {
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

function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, '$1');
}
