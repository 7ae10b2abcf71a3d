import type { FlagValues } from '../cli/flags.ts';
import { listed } from '../config/problem.ts';
import { quoted } from '../text/quoted.ts';
import { OperatorError } from './process-context.ts';

/** Throws an OperatorError for a label that no entry of `resource_labels` has, or that is given twice. */
export function checkLabels({ label }: Pick<FlagValues, 'label'>, labelNames: readonly string[]): void {
  if (label.length > 0 && labelNames.length === 0)
    throw new OperatorError(['--label: no resource_labels are configured']);
  const given = label.map((filter) => filter.label);
  const repeated = given.find((name, at) => given.indexOf(name) < at);
  if (repeated !== undefined)
    throw new OperatorError([`--label: expected each label at most once, got ${quoted(repeated)} again`]);
  const unknown = given.find((name) => !labelNames.includes(name));
  if (unknown !== undefined)
    throw new OperatorError([
      `--label: expected a label of resource_labels, ${listed(labelNames)}, got ${quoted(unknown)}`,
    ]);
}
