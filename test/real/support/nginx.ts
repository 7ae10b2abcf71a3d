import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTool } from './tool.ts';
import type { Tool } from './worlds.ts';

export const NGINX: Tool = { command: 'nginx', from: 'Debian package nginx' };

interface NginxOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** Default: a free port. */
  readonly address?: string;
}

/** nginx with these contents of `http`, in which ADDRESS is where it listens. */
export async function startNginx(http: string, { files = {}, address }: NginxOptions = {}) {
  const { folder, signal, ...nginx } = await startTool(NGINX, {
    files: { ...files, 'nginx.conf': configOf(http) },
    flags: (prefix) => ['-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'],
    address,
  });
  return {
    ...nginx,
    /** Reads the configuration again: new workers replace those that still answer. */
    reload: () => signal('SIGHUP'),
    /** The content-encoding of each reply. */
    encodings: () => readFileSync(join(folder, 'access.log'), 'utf8').trimEnd().split('\n'),
  };
}

/** A server that passes everything to the service. */
export function passing(serviceUrl: string, settings = ''): string {
  return `server { listen ADDRESS; location / { proxy_pass ${serviceUrl}; ${settings} } }`;
}

function configOf(http: string): string {
  // Workers of another user could not read the temporary folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `daemon off;
${user}
worker_processes 1;
pid nginx.pid;
events {}
http {
  log_format encoding '$sent_http_content_encoding';
  access_log access.log encoding;
  ${folders.join('\n  ')}
  ${http}
}
`;
}
