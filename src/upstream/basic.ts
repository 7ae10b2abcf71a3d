import type { Credential } from './credential.ts';
import type { Signer } from './signer.ts';

export function basicSigner(username: string, password: Pick<Credential, 'read'>): Signer {
  return async () => {
    const secret = await password.read();
    const pair = basicPair(username, secret);
    return { headers: [['Authorization', `Basic ${pair}`]], secrets: [secret, pair] };
  };
}

export function basicPair(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
