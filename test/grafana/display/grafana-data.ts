import { createRequire } from 'node:module';

export interface Field {
  readonly name: string;
  readonly type: 'time' | 'string' | 'number';
  readonly values: readonly (string | number | null)[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly config: { readonly displayName?: string; readonly custom?: CustomConfig; readonly [key: string]: unknown };
  readonly display?: (value: unknown) => DisplayValue;
}

interface CustomConfig {
  readonly cellOptions?: { readonly type: string };
}

export interface Frame {
  readonly refId: string;
  readonly fields: readonly Field[];
  readonly length: number;
}

interface DisplayValue {
  readonly text: string;
  readonly title?: string;
  readonly color?: string;
}

interface Theme {
  readonly visualization: { getColorByName(name: string): string };
}

/** What the tests call of @grafana/data: its types would make the type check of the repository need the package. */
interface GrafanaData {
  createTheme(options: { readonly colors: { readonly mode: 'dark' | 'light' } }): Theme;
  applyFieldOverrides(options: object): Frame[];
  getFieldDisplayValues(options: object): { readonly display: DisplayValue }[];
  getFieldDisplayName(field: Field, frame: Frame, frames: readonly Frame[]): string;
  formattedValueToString(value: DisplayValue): string;
  transformDataFrame(
    transformations: readonly object[],
    frames: readonly Frame[],
  ): { subscribe(observer: { next: (frames: Frame[]) => void; error: (cause: unknown) => void }): void };
  readonly standardTransformers: Readonly<Record<string, { readonly id: string; readonly name: string }>>;
  readonly standardTransformersRegistry: { setInit(init: () => object[]): void };
}

/** Loads the version that the project of the tests names. The package is meant for browsers: one of its modules listens for events of the window. */
export function loadGrafanaData(): GrafanaData {
  const folder = process.env['GRAFANA_FOLDER'];
  const require = createRequire(new URL(`${folder}/package.json`, import.meta.url));
  try {
    // Before there is a window: it would look for a document.
    require('react-use');
  } catch (cause) {
    throw new Error('@grafana/data not found: run `npm run test:dashboards`, which installs it', { cause });
  }
  Object.assign(globalThis, { window: { addEventListener: () => {} } });
  // Node 20 has none; its language decides about the format of local times.
  if (!('navigator' in globalThis)) Object.assign(globalThis, { navigator: { languages: ['en-US'] } });
  const data = require('@grafana/data') as GrafanaData;
  // Two of them have the same id.
  const byId = new Map(Object.values(data.standardTransformers).map((transformer) => [transformer.id, transformer]));
  data.standardTransformersRegistry.setInit(() =>
    [...byId.values()].map((transformer) => ({
      ...transformer,
      // Grafana 13 loads it when it is used.
      transformation: folder === 'grafana-12' ? transformer : async () => transformer,
    })),
  );
  return data;
}
