import { X509Certificate } from 'node:crypto';

/** The certificates of a PEM text; undefined if there are none, or one of them is invalid. */
export function certificatesIn(text: string): readonly X509Certificate[] | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [''];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** When the certificates of a PEM text expired; undefined while one of them is valid, as some of a bundle of authorities may have expired. */
export function expiryText(text: string, nowMs: number): string | undefined {
  const ends = certificatesIn(text)?.map(({ validTo }) => Date.parse(validTo)) ?? [];
  const lastMs = Math.max(...ends);
  if (ends.length === 0 || lastMs > nowMs) return undefined;
  return `expired on ${new Date(lastMs).toISOString().slice(0, 10)}, expected a valid certificate`;
}
