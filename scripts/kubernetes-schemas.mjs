// Generates strict kubeconform schemas from Kubernetes' OpenAPI specification.
//   node kubernetes-schemas.mjs swagger.json FOLDER
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const [source, folder] = process.argv.slice(2);
const { definitions } = JSON.parse(readFileSync(source, 'utf8'));

// Types for which the specification is narrower than the server.
const OVERRIDES = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
};

mkdirSync(folder, { recursive: true });
for (const [name, definition] of Object.entries(definitions)) {
  for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
    const apiVersion = group === '' ? version : `${group.split('.')[0]}-${version}`;
    const schema = { $ref: `#/definitions/${name}`, definitions: reachable(name, {}) };
    writeFileSync(`${folder}/${kind.toLowerCase()}-${apiVersion}.json`, JSON.stringify(schema));
  }
}

function reachable(name, found) {
  if (name in found) return found;
  found[name] = OVERRIDES[name] ?? strict(definitions[name]);
  for (const [, next] of JSON.stringify(found[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) reachable(next, found);
  return found;
}

function strict(definition) {
  return definition.properties === undefined ? definition : { ...definition, additionalProperties: false };
}
