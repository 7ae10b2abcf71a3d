/** What an HMAC signature can cover, as the configuration and the service spell it. */
export const SIGNED_HEADERS = ['x-date', 'date', 'host', 'request-line', '@request-target'] as const;

export type SignedHeader = (typeof SIGNED_HEADERS)[number];
