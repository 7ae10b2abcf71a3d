/** What a client says of itself; the password stays the bytes it was sent as, in whichever encoding. */
export interface Credentials {
  readonly user: string;
  readonly password: Uint8Array;
}

/** undefined when the header is missing or no basic authentication. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic +((?:[A-Z\d+/]{4})*(?:[A-Z\d+/]{2}==|[A-Z\d+/]{3}=)?)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(':');
  return colon === -1 ? undefined : { user: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}
