import type { Fault } from '../demo/faults.ts';
import { type FaultName, NAMED_FAULTS, namedFault } from '../demo/named-faults.ts';
import type { FlagKind } from './flag-kind.ts';

/** A fault by its name, and the share of requests that it strikes. */
export const faultShare: FlagKind<Fault> = {
  placeholder: '<name[:share]>',
  expected: `a name or name:share with a share from 0 to 1, such as slow:0.1; the names are ${Object.keys(NAMED_FAULTS).join(', ')}`,
  parse(text) {
    const [, name = '', share = '1'] = /^(\w+)(?::(0|1|[01]?\.\d+))?$/.exec(text) ?? [];
    return Object.hasOwn(NAMED_FAULTS, name) && Number(share) <= 1 ? namedFault(name as FaultName, Number(share)) : undefined;
  },
};
