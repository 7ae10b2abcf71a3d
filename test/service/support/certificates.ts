import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Issued {
  readonly cert: string;
  readonly key: string;
  readonly name: string;
}

interface Request {
  readonly name: string;
  /** Self-signed when absent. */
  readonly issuer?: Issued;
  /** As every self-signed one. */
  readonly isAuthority?: boolean;
  readonly hosts?: readonly string[];
  readonly notAfter?: Date;
  /** An RSA key of this length instead of an elliptic one; needs an issuer. */
  readonly modulusLength?: number;
}

const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const DAY_MS = 24 * 60 * 60 * 1000;

/** Creates a certificate and its key with Node alone: no fixture expires and no private key is committed. */
export function issue({
  name,
  issuer,
  isAuthority = issuer === undefined,
  hosts = [],
  notAfter = new Date(Date.now() + DAY_MS),
  modulusLength,
}: Request): Issued {
  const { publicKey, privateKey } =
    modulusLength === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength });
  const notBefore = new Date(notAfter.getTime() - 365 * DAY_MS);
  const extensions = [extension(0x13, sequence(...(isAuthority ? [tlv(0x01, Buffer.from([0xff]))] : [])))];
  if (hosts.length > 0) extensions.push(extension(0x11, sequence(...hosts.map(generalName))));
  const certificate = sequence(
    tlv(0xa0, integer(2)),
    integer(2 ** 31 + Math.floor(Math.random() * 2 ** 31)),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer?.name ?? name),
    sequence(generalizedTime(notBefore), generalizedTime(notAfter)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  );
  const signingKey: KeyObject = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const signature = sign('sha256', certificate, signingKey);
  const der = sequence(certificate, ECDSA_WITH_SHA256, tlv(0x03, Buffer.from([0]), signature));
  return { name, cert: pem(der), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function extension(id: number, value: Buffer): Buffer {
  return sequence(oid(0x55, 0x1d, id), tlv(0x04, value));
}

function generalName(host: string): Buffer {
  return isIP(host) === 4 ? tlv(0x87, Buffer.from(host.split('.').map(Number))) : tlv(0x82, Buffer.from(host));
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from(commonName)))));
}

function generalizedTime(date: Date): Buffer {
  return tlv(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(value, 1);
  return tlv(0x02, bytes.subarray(value < 0x80 ? 4 : 0));
}

function oid(...bytes: number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes));
}

function sequence(...items: Buffer[]): Buffer {
  return tlv(0x30, ...items);
}

function tlv(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function pem(der: Buffer): string {
  // OpenSSL rejects an empty line, which a line feed after each 64 characters leaves once in a hundred certificates.
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
