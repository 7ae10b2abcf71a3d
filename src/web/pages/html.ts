/** Text that is markup already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Markup in which every value appears as the text it is, in an element or in a quoted attribute. */
export function html(markup: TemplateStringsArray, ...values: readonly (Html | readonly Html[] | string | number)[]): Html {
  return new Html(String.raw({ raw: markup }, ...values.map(render)));
}

function render(value: Html | readonly Html[] | string | number): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escaped(String(value));
}

/** Beside what ends text or an attribute, the two characters that a browser would silently read as others. */
function escaped(text: string): string {
  return text.toWellFormed().replace(/[&<>"'\r\0]/g, (character) => (character === '\0' ? '\uFFFD' : `&#${character.charCodeAt(0)};`));
}

/** A long token that may be broken where its parts meet. */
export function breakable(token: string): Html {
  return new Html(html`${token}`.text.replace(/[._:/-](?=\w)/g, '$&<wbr>'));
}
