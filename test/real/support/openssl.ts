import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Tool } from './worlds.ts';

export const OPENSSL: Tool = { command: 'openssl', from: 'Debian package openssl' };

interface CertificateOptions {
  /** A certificate issued before; default: self-signed. */
  readonly issuer?: string;
  readonly extensions?: readonly string[];
  readonly key?: readonly string[];
  readonly digest?: string;
  /** In years from now. */
  readonly validity?: readonly [from: number, to: number];
}

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const AUTHORITY = ['basicConstraints=critical,CA:true', 'keyUsage=keyCertSign'];

/** `openssl ca`, unlike `openssl x509`, can issue certificates that have expired. */
const CA_CONFIG = `
[ca]
default_ca = any
[any]
database = index
serial = serial
new_certs_dir = .
unique_subject = no
policy = policy
[policy]
commonName = supplied
`;

/** A folder in which the command `openssl` issues certificates: `NAME.pem` and `NAME.key`. */
export function certificateFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'openssl-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const openssl = (...parameters: string[]) => execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' });
  write('ca.cnf', CA_CONFIG);
  write('index', '');

  function issue(name: string, options: CertificateOptions = {}): void {
    const { issuer, extensions = [], key = EC_KEY, digest = 'sha256', validity = [-1, 1] } = options;
    write('extensions', extensions.join('\n'));
    openssl('req', '-new', ...key, '-nodes', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', 'request');
    const signer =
      issuer === undefined
        ? ['-selfsign', '-keyfile', `${name}.key`]
        : ['-cert', `${issuer}.pem`, '-keyfile', `${issuer}.key`];
    const times = ['-startdate', timeText(validity[0]), '-enddate', timeText(validity[1])];
    const signed = ['-md', digest, '-extfile', 'extensions', '-in', 'request', '-out', `${name}.pem`];
    openssl('ca', '-batch', '-notext', '-rand_serial', '-config', 'ca.cnf', ...signer, ...times, ...signed);
  }

  return {
    /** Absolute. */
    path: (file: string) => join(folder, file),
    openssl,
    issue,
    issueAuthority: (name: string, { extensions = [], ...options }: CertificateOptions = {}) =>
      issue(name, { ...options, extensions: [...AUTHORITY, ...extensions] }),
    write,
    /** A file with the contents of others, one after the other. */
    join: (file: string, ...parts: readonly string[]) => write(file, parts.map(read).join('')),
  };
}

function timeText(years: number): string {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return `${date.toISOString().slice(0, 19).replaceAll(/\D/g, '')}Z`;
}
