/** Something that an operator has to know; a failure means that there is no data. */
export interface Remark {
  readonly severity: 'failure' | 'warning';
  readonly what: string;
  /** The words of the service, or of whatever stood in the way. */
  readonly said?: string;
  readonly advice: string;
}

export function warning(what: string, advice: string, said?: string): Remark {
  return { severity: 'warning', what, ...(said !== undefined && { said }), advice };
}
