import fc from 'fast-check';

/** Any character. As the unit of `fc.string` it replaces 'binary', whose tables take a second to build. */
export const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));
