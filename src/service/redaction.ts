const MAX_EXCERPT_LENGTH = 200;

/** The text as one line of bounded length; a text that repeats a secret is not shown at all. */
export function safeExcerpt(text: string, secrets: readonly string[], maxLength = MAX_EXCERPT_LENGTH): string {
  if (repeatsSecret(text, secrets)) return 'not shown, because it repeats a secret';
  const line = text.toWellFormed().replace(/\s+/g, ' ');
  const characters = [...line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')];
  const isComplete = characters.length <= maxLength;
  return isComplete ? characters.join('') : `${characters.slice(0, maxLength).join('')}…`;
}

/** The user information of a proxy's URL as Basic credentials; undefined without any. */
export function userInformation({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(decodeURIComponent(`${username}:${password}`)).toString('base64');
}

/** What a reply may repeat of the password of a proxy, or of a token that stands for the user name. */
export function proxySecrets(proxyUrl: URL | undefined): string[] {
  const sent = proxyUrl && userInformation(proxyUrl);
  if (proxyUrl === undefined || sent === undefined) return [];
  const secret = proxyUrl.password === '' ? proxyUrl.username : proxyUrl.password;
  return [secret, decodeURIComponent(secret), sent];
}

/** Whether a text contains a secret as it is, in base64 or percent-encoded. */
export function repeatsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== '' && formsOf(secret).some((form) => text.includes(form)));
}

function formsOf(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [secret, base64, encodeURIComponent(secret.toWellFormed())];
}
