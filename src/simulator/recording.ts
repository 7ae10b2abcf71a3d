import { z } from 'zod';
import { FILTER_NAMES } from './listing.ts';

const count = z.int().nonnegative();
const filters = z.partialRecord(z.enum(FILTER_NAMES), z.array(z.string()));
const part = z.string().min(1);

const recordingSchema = z.object({
  version: z.literal(1),
  /** The station's configuration, for a replay with the same requests. */
  station: z.object({
    subscription: part,
    resource_group: part,
    zone: part,
    telemetry_station: part,
    filters,
    products: z.array(z.string()),
    alertability: z.boolean(),
  }),
  /** The station's main listing is the first. */
  listings: z
    .array(
      z.object({
        filters,
        /** By offset; `size` is the requested page size. */
        pages: z
          .array(
            z.object({
              offset: count,
              size: count.min(1),
              page: z.unknown().exactOptional(),
              resources: z.array(z.unknown()).nullable(),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});

/** The recorded listings of a station. */
export type Recording = z.infer<typeof recordingSchema>;

type ParsedRecording =
  | { readonly ok: true; readonly recording: Recording }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reports the first problems only: a file of another kind has many. */
export function parseRecording(text: string): ParsedRecording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [`expected JSON: ${(error as Error).message}`] };
  }
  const read = recordingSchema.safeParse(value);
  if (read.success) return { ok: true, recording: read.data };
  const problems = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
}

const MAX_PROBLEMS = 5;
