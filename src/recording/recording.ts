import * as z from 'zod';
import { LISTING_FILTERS } from '../resources/station-keys.ts';

const FILTER_NAMES = Object.keys(LISTING_FILTERS) as (keyof typeof LISTING_FILTERS)[];

const countSchema = z.int().nonnegative();
const filtersSchema = z.partialRecord(z.enum(FILTER_NAMES), z.array(z.string()));
const part = z.string().min(1);

/** What `record` writes and `simulate` replays. */
export const recordingSchema = z.object({
  version: z.literal(1),
  /** The station's configuration, for a replay with the same requests. */
  station: z.object({
    subscription: part,
    resource_group: part,
    zone: part,
    telemetry_station: part,
    filters: filtersSchema,
    products: z.array(z.string()),
    alertability: z.boolean(),
  }),
  /** The station's main listing is the first. */
  listings: z
    .array(
      z.object({
        filters: filtersSchema,
        /** By offset; `size` is the requested page size. */
        pages: z
          .array(
            z.object({
              offset: countSchema,
              size: countSchema.min(1),
              page: z.unknown().exactOptional(),
              resources: z.array(z.unknown()).nullable().exactOptional(),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});

/** The recorded listings of a station. */
export type Recording = z.infer<typeof recordingSchema>;

export type RecordedListing = Recording['listings'][number];
