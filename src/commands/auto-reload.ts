/**
 * Reloads after each tick that finds another fingerprint of the files than before, until there is none. A rejected change is not loaded
 * again until the files change again. `loaded`: the fingerprint before the files were first loaded.
 */
export async function autoReload(
  loaded: string,
  fingerprint: () => Promise<string>,
  reload: () => Promise<unknown>,
  tick: () => Promise<boolean>,
): Promise<void> {
  let known = loaded;
  while (await tick()) {
    const found = await fingerprint();
    if (found === known) continue;
    known = found;
    await reload();
  }
}
