import { namesText } from '../text/words.ts';

/** What a check of the way of alerts found. A failure means that some do not arrive. */
export interface ChainFinding {
  readonly verdict: 'failure' | 'warning' | 'not checked' | 'ok';
  readonly what: string;
  /** What to do; empty if nothing. */
  readonly advice: string;
}

/** Templates whose first line says what was found, and the second what to do. Of a list, the first names are shown. */
export const finding = {
  failure: templateOf('failure'),
  warning: templateOf('warning'),
  notChecked: templateOf('not checked'),
  ok: templateOf('ok'),
};

type Shown = string | number | undefined | Iterable<string | { readonly name: string }>;

function templateOf(verdict: ChainFinding['verdict']) {
  return ({ raw }: TemplateStringsArray, ...values: readonly Shown[]): ChainFinding => {
    const texts = values.map((value) => shownText(value).replace(/\s+/g, ' '));
    const [what = '', advice = ''] = String.raw({ raw }, ...texts).split(/\n */);
    return { verdict, what, advice };
  };
}

function shownText(value: Shown): string {
  if (typeof value !== 'object') return `${value}`;
  const names = Array.from(value, (one) => (typeof one === 'string' ? one : one.name));
  return namesText([...new Set(names)]);
}
