/** What a check of the way of alerts found. A failure means that some do not arrive. */
export interface ChainFinding {
  readonly verdict: 'failure' | 'warning' | 'not checked' | 'ok';
  readonly what: string;
  /** What to do. */
  readonly advice?: string;
}

export function finding(verdict: ChainFinding['verdict'], what: string, advice?: string): ChainFinding {
  return { verdict, what, ...(advice !== undefined && { advice }) };
}
