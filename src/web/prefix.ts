/** The external URL's path as something to put in front of a path: no slash at its end, '' for the root. */
export function pathPrefix(externalUrl: URL | undefined): string {
  return externalUrl === undefined ? '' : externalUrl.pathname.replace(/\/+$/, '');
}

/** The path as a route that matches just these characters, whatever they mean in route patterns. */
export function literalPath(path: string): string {
  return path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
}
