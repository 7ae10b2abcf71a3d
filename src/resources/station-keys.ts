import * as z from 'zod';
import { duration, nonEmptyText, optionalKey } from '../schema/scalar-schemas.ts';

/** `recorded`: a recording keeps the values of the filter as they are, or has a pseudonym of each. */
function filter<Schema extends z.ZodType>(schema: Schema, recorded: 'kept' | 'pseudonym', help: string) {
  return { schema: optionalKey(schema, help), recorded };
}

/** The filters of the listing of resources, under the names of the service. */
export const LISTING_FILTERS = {
  resource_ids: filter(z.array(nonEmptyText), 'pseudonym', 'Only resources with these IDs.'),
  resource_type: filter(nonEmptyText, 'kept', 'Only resources of this type.'),
  resource_types: filter(z.array(nonEmptyText), 'kept', 'Only resources of these types.'),
  product: filter(nonEmptyText, 'kept', 'Only resources of this product.'),
  resource_display_name_prefix: filter(
    nonEmptyText,
    'pseudonym',
    'Only resources whose display name starts with this prefix.',
  ),
  enabled_alert: filter(z.boolean(), 'kept', 'Only resources that can have alerts.'),
};

type Shape = { [Name in keyof typeof LISTING_FILTERS]: (typeof LISTING_FILTERS)[Name]['schema'] };

const schemas = Object.entries(LISTING_FILTERS).map(([name, { schema }]) => [name, schema]);

const filters = z.strictObject(Object.fromEntries(schemas) as Shape);

/** An absent filter or an empty list is not sent. */
export type ListingFilters = Readonly<z.output<typeof filters>>;

/** The keys of a station that say which of its resources are listed. */
export const resourceKeys = {
  filters: filters.prefault({}).describe('Filters of the listing, sent as query parameters of the same names.'),
  products: z
    .array(nonEmptyText)
    .prefault([])
    .describe(
      'Products to label resources with; each requires an additional listing, with the query parameter `product`.',
    ),
  alertability: z
    .boolean()
    .prefault(false)
    .describe(
      'Determine which resources can have alerts; requires an additional listing, with the query parameter `enabled_alert=true`.',
    ),
  products_ttl: duration
    .prefault('0s')
    .describe(
      'How long to keep the listings of products, unless there are new resources; 0 reads them with every refresh.',
    ),
  alertability_ttl: duration
    .prefault('0s')
    .describe(
      'How long to keep the listing of alertable resources, unless there are new resources; 0 reads it with every refresh.',
    ),
};
