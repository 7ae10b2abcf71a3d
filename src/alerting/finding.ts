/** What a check of the way of alerts found. A failure means that some do not arrive. */
export interface ChainFinding {
  readonly kind: 'failure' | 'warning' | 'not checked' | 'ok';
  readonly what: string;
  /** What to do. */
  readonly advice?: string;
}

export function finding(kind: ChainFinding['kind'], what: string, advice?: string): ChainFinding {
  return { kind, what, ...(advice !== undefined && { advice }) };
}
