/** The amount a sku states, when it has the form `<quantity> <unit>`. */
export interface Quantity {
  readonly value: number;
  readonly unit: string;
}

/**
 * One resource as far as it could be read. Texts are fit to be label values (see `labelText`), '' when the service gave none;
 * undefined stands for what it did not give or gave unusably.
 */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly type: string;
  readonly typeLabel: string;
  readonly state: string;
  readonly sku: string;
  readonly quantity: Quantity | undefined;
  readonly gpuModel: string;
  readonly alertRules: number | undefined;
  readonly createdSeconds: number | undefined;
  /** The first configured product whose listing held the resource; '' for none. */
  readonly product: string;
  /** undefined: nobody asked, or the listing of alertable resources was not proven whole. */
  readonly alertable: boolean | undefined;
}
