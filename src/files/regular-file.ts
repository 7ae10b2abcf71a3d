import { constants, open } from 'node:fs/promises';

/**
 * The content of a file that ends. Reading a pipe without a writer never ends: it would block a thread of the pool, and a reload or
 * the credentials of an upstream would wait for it.
 */
export async function readRegularFile(file: string): Promise<Buffer> {
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile() && !found.isDirectory()) throw new Error('not a regular file');
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
