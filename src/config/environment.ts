export type Environment = Readonly<Record<string, string | undefined>>;

/** `text` with every `${NAME}` taken from the environment and every `$${` made a literal `${`; what could not be done is in `problems`. */
export function substitute(text: string, env: Environment): { readonly text: string; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const replaced = text.replaceAll(/\$\$\{|\$\{(?:([A-Za-z_]\w*)\})?/g, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) return value;
    problems.push(
      name === undefined
        ? 'found ${ without a name and a brace after it, expected them, or $${ for a literal ${'
        : `the environment variable ${name} is not set, expected a value for it`,
    );
    return match;
  });
  return { text: replaced, problems };
}
