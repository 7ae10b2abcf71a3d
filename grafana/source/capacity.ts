import { stacked, stat } from './panel.ts';
import type { Scope } from './query.ts';
import { table } from './table.ts';
import { now, over, rows } from './target.ts';
import { UNIT } from './units.ts';

const HAS_GPU = { gpu_model: '!=""' };
const nothing = 'No sku states a quantity';

export const gpusNow = (scope: Scope) =>
  stat(
    {
      title: 'GPUs',
      description: 'The quantities stated by the skus of resources with a GPU model, added up.',
      unit: UNIT.count,
      nothing: 'None',
    },
    now(scope.sum('telemetry_station_sku_quantity', [], HAS_GPU)),
  );

export const gpusByModel = (scope: Scope) =>
  stacked(
    {
      title: 'GPU capacity by model',
      description: 'The quantities stated by the skus of resources with a GPU model, by model and unit.',
      unit: UNIT.short,
      nothing: 'No resource with a GPU model',
    },
    over(scope.sum('telemetry_station_sku_quantity', ['gpu_model', 'unit'], HAS_GPU), '{{gpu_model}} ({{unit}})'),
  );

export const capacityTable = (scope: Scope) =>
  table(
    {
      title: 'Capacity by unit and model',
      description:
        'The quantities stated by the skus, added up by unit and GPU model: the 50 largest. A sku that is not `<quantity> <unit>` is not in it.',
      nothing,
    },
    [rows(`topk(50, ${scope.sum('telemetry_station_sku_quantity', ['unit', 'gpu_model'])})`)],
    [
      { field: 'unit', title: 'Unit' },
      { field: 'gpu_model', title: 'GPU model' },
      { field: 'Value', title: 'Quantity', unit: UNIT.count },
    ],
    { by: 'Quantity', descending: true },
  );
