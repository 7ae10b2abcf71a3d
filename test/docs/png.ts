/** The size in pixels of a PNG; undefined numbers for anything else. */
export function pngOf(bytes: Buffer): { readonly width: number | undefined; readonly height: number | undefined } {
  const isPng = bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'));
  return isPng
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : { width: undefined, height: undefined };
}
