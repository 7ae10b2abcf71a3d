/** A base image of the Dockerfile: an argument whose name ends with _IMAGE. */
export interface BaseImage {
  /** The whole line of the Dockerfile. */
  readonly line: string;
  readonly argument: string;
  /** The image with its tag. */
  readonly image: string;
  /** The image by the digest that its tag had when the release was prepared, without the tag: skopeo refuses both at once. */
  readonly reference?: string;
}

export function baseImages(dockerfile: string): readonly BaseImage[] {
  const lines = dockerfile.matchAll(/^ARG (\w+_IMAGE)=([^@\s]+)(@sha256:\w+)?$/gm);
  return Array.from(lines, ([line, argument = '', image = '', digest]) => ({
    line,
    argument,
    image,
    ...(digest !== undefined && { reference: `${image.replace(/:[^:/]*$/, '')}${digest}` }),
  }));
}
