import { z } from 'zod';
import { FILTER_NAMES } from './call.ts';

const count = z.int().nonnegative();
const filters = z.partialRecord(z.enum(FILTER_NAMES), z.array(z.string()));
const part = z.string().min(1);

const recordingSchema = z.object({
  version: z.literal(1),
  /** What the station is asked for by an exporter that publishes the same again. */
  station: z.object({
    subscription: part,
    resource_group: part,
    zone: part,
    telemetry_station: part,
    filters,
    products: z.array(z.string()),
    alertability: z.boolean(),
  }),
  /** The listing of the station itself is the first. */
  listings: z
    .array(
      z.object({
        filters,
        /** In the order of their offsets; `size` is how many records were asked for. */
        pages: z
          .array(
            z.object({
              offset: count,
              size: count.min(1),
              page: z.record(z.string(), z.unknown()).nullable().exactOptional(),
              resources: z.array(z.unknown()).nullable(),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});

/** What a service once answered for a station. */
export type Recording = z.infer<typeof recordingSchema>;

type ReadRecording = { readonly ok: true; readonly recording: Recording } | { readonly ok: false; readonly problems: readonly string[] };

/** Tells the first of its problems; a file that is no recording has many. */
export function readRecording(text: string): ReadRecording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [`expected JSON: ${(error as Error).message}`] };
  }
  const read = recordingSchema.safeParse(value);
  if (read.success) return { ok: true, recording: read.data };
  const problems = read.error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return { ok: false, problems: problems.slice(0, MOST_PROBLEMS) };
}

const MOST_PROBLEMS = 5;
