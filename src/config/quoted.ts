const LONGEST = 60;

/** For showing in a message: one line, of bounded length. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}
