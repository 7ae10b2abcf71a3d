/** What a check of the way of alerts found. A failure means that some do not arrive. */
export interface ChainFinding {
  readonly verdict: 'failure' | 'warning' | 'not checked' | 'ok';
  readonly what: string;
  /** What to do. */
  readonly advice?: string;
}

export const finding = {
  failure: (what: string, advice: string): ChainFinding => ({ verdict: 'failure', what, advice }),
  warning: (what: string, advice: string): ChainFinding => ({ verdict: 'warning', what, advice }),
  notChecked: (what: string, advice: string): ChainFinding => ({ verdict: 'not checked', what, advice }),
  ok: (what: string): ChainFinding => ({ verdict: 'ok', what }),
};
