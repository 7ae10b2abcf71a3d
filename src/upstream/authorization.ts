import { type Signer, signedHeader } from './signer.ts';

interface Secret {
  read(signal: AbortSignal): Promise<string>;
}

/** `Authorization: <type> <credentials>`, as bearer tokens go. */
export function authorizationSigner(type: string, credentials: Secret): Signer {
  return async ({ signal }) => {
    const text = await credentials.read(signal);
    return { headers: [signedHeader('Authorization', `${type} ${text}`)], secrets: [text] };
  };
}
