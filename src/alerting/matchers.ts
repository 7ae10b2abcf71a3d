import { AnchoredRegExp } from '../text/anchored-regexp.ts';
import type { Labels } from './labels.ts';

/** A condition on a label, in a query of Prometheus or the configuration of Alertmanager. */
export interface Matcher {
  readonly name: string;
  readonly text: string;
  readonly isMet: (labels: Labels) => boolean;
}

export function matcherOf(name: string, operator: string, value: string): Matcher {
  const expression = operator.endsWith('~') ? new AnchoredRegExp(value) : undefined;
  const isNegated = operator.startsWith('!');
  return {
    name,
    text: `${name}${operator}${JSON.stringify(value)}`,
    isMet: ({ [name]: text = '' }) => (expression ? expression.matches(text) : text === value) !== isNegated,
  };
}

/** Name, operator and value, each quoted or not, up to a comma or the end. */
const MATCHER = /\s*("(?:[^"\\]|\\.)*"|[^\s"=!~,{}]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|[^",]*?)\s*(?:,\s*|$)/gsy;

/** Of a list with braces around it or not; undefined: it is none. */
export function parsedMatchers(text: string): readonly Matcher[] | undefined {
  const inner = text.trim().replace(/^\{|\}$/g, '');
  const found = [...inner.matchAll(MATCHER)];
  if (found.map(([all]) => all).join('') !== inner) return undefined;
  return found.map(([, name = '', operator = '', value = '']) => matcherOf(unquoted(name), operator, unquoted(value)));
}

/** Other escapes than these are the backslash and the character, as in regular expressions. */
function unquoted(text: string): string {
  return text
    .replace(/^"(.*)"$/s, '$1')
    .replace(/\\([n"\\])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}
