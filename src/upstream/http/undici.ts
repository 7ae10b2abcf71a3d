import { createRequire } from 'node:module';

type Undici = typeof import('undici');

const require = createRequire(import.meta.url);

/**
 * The parts of undici that are used, by file: its index also loads fetch, WebSocket, caches and mocks, which takes 50 to 70 ms of CPU at
 * start and 5 MB. The files are not part of its public interface, so package.json pins the version.
 */
export const buildConnector: Undici['buildConnector'] = require('undici/lib/core/connect');
export const errors: Undici['errors'] = require('undici/lib/core/errors');
export const Client: Undici['Client'] = require('undici/lib/dispatcher/client');
export const Pool: Undici['Pool'] = require('undici/lib/dispatcher/pool');

// As the index does: the methods of a dispatcher, such as `request`.
Object.assign(require('undici/lib/dispatcher/dispatcher').prototype, require('undici/lib/api'));
