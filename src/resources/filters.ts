/** Query parameters that narrow the listing of resources, under the names of the service; an absent one or an empty list is not sent. */
export type ListingFilters = {
  readonly resource_ids?: readonly string[];
  readonly resource_type?: string;
  readonly resource_types?: readonly string[];
  readonly product?: string;
  readonly resource_display_name_prefix?: string;
  readonly enabled_alert?: boolean;
};
