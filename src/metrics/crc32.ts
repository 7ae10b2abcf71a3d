/** The polynomial of CRC-32 as gzip uses it, lowest power first. */
const POLYNOMIAL = 0xedb88320;

/** Where x to the power of 2^n is kept for each n that a length can need. */
const POWERS = powers(64);

/** What a CRC is multiplied by when so many bytes follow it. */
export function crcShift(bytes: number): number {
  let shift = 1 << 31;
  // A byte is eight powers of x, hence the table is entered at 2^3.
  for (let power = 3, rest = bytes; rest > 0; power += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(POWERS[power] ?? 0, shift);
  }
  return shift >>> 0;
}

/** The CRC of two texts laid end to end, from the CRC of each and the second one's shift. */
export function combineCrc(first: number, second: number, secondShift: number): number {
  return (multiply(secondShift, first) ^ second) >>> 0;
}

function powers(count: number): readonly number[] {
  const table = [1 << 30];
  while (table.length < count) {
    const last = table.at(-1) ?? 0;
    table.push(multiply(last, last));
  }
  return table;
}

/** The product of two polynomials modulo that of the CRC; the highest bit is the lowest power. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let rest = a | 0; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product;
}
