import type { Request } from 'express';
import { type Columns, csvPieces, jsonPieces, jsonText } from '../inventory/records.ts';
import type { SearchResult, StationResource } from '../inventory/search.ts';
import { RESOURCE_COLUMNS } from '../model/resource.ts';
import { fieldsOf, setFormat } from './data.ts';
import type { ExporterPort } from './port.ts';
import type { AbortableHandler } from './request-limit.ts';
import { sendError, writePieces } from './respond.ts';
import { searchParams } from './routes.ts';

/** Resources that JSON and CSV contain at most. */
export const MAX_FOUND = 10_000;

/** The search for resources of all stations as data. */
export function searchData(exporter: ExporterPort, format: 'json' | 'csv'): AbortableHandler {
  return async (request, response, signal) => {
    const text = searchText(request);
    if (!text) {
      sendError(response, 400, 'Expected one parameter q: the text to search for.\n');
      return;
    }
    const result = await exporter.search(text, MAX_FOUND, signal);
    setFormat(response, format, 'search');
    await writePieces(
      response,
      format === 'json' ? resultPieces({ text, ...result }) : csvPieces(FOUND_COLUMNS, result.found),
      signal,
    );
  };
}

/** The text to search for, without surrounding spaces; undefined when it is given more than once. */
export function searchText(request: Pick<Request, 'url'>): string | undefined {
  const given = searchParams(request).getAll('q');
  return given.length > 1 ? undefined : (given[0] ?? '').trim();
}

/** The station, and the fields of the resource. */
const FOUND_COLUMNS: Columns<StationResource> = {
  station: { value: ({ station }) => station },
  ...Object.fromEntries(
    Object.entries(RESOURCE_COLUMNS).map(([name, { value }]) => [
      name,
      { value: ({ resource }: StationResource) => value(resource) },
    ]),
  ),
};

type NamedResult = SearchResult & { readonly text: string };

/** The fields of a search in JSON beside the resources. */
export const SEARCH_FIELDS = {
  q: { help: 'Text that was searched for.', value: ({ text }: NamedResult) => text },
  total: { help: 'Exact number of matching resources.', value: ({ total }: NamedResult) => total },
  stations_without_data: {
    help: 'Names of the stations that could not be searched.',
    value: ({ withoutData }: NamedResult) => withoutData,
  },
} as const;

function* resultPieces(result: NamedResult): Iterable<string> {
  const head = jsonText(fieldsOf(SEARCH_FIELDS, result));
  yield `${head.slice(0, -1)},"resources":`;
  let last = '';
  for (const piece of jsonPieces(FOUND_COLUMNS, result.found)) {
    yield last;
    last = piece;
  }
  yield `${last.trimEnd()}}\n`;
}
