/** The name of a field in protobuf's mapping to JSON, which a gateway writes unless it is configured to keep the names: `resourceId`. */
export function jsonName(field: string): string {
  return field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
