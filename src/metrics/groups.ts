import type { Turns } from '../station/turns.ts';

/** Few enough that making a group anew is a short turn, many enough that there are few groups. */
const GROUP_SIZE = 32;

interface Group<Made> {
  readonly keys: readonly object[];
  readonly made: Made;
}

/** What is made of neighbours in groups, each in a turn of its own; made again only where one of them is another. */
export class Groups<Member, Made> {
  readonly #keyOf: (member: Member) => object;
  readonly #make: (members: readonly Member[]) => Made;
  readonly #turns: Turns;
  #groups: readonly Group<Made>[] = [];

  constructor(keyOf: (member: Member) => object, make: (members: readonly Member[]) => Made, turns: Turns) {
    this.#keyOf = keyOf;
    this.#make = make;
    this.#turns = turns;
  }

  async of(members: readonly Member[]): Promise<readonly Made[]> {
    const groups: Group<Made>[] = [];
    for (let start = 0; start < members.length; start += GROUP_SIZE) {
      const some = members.slice(start, start + GROUP_SIZE);
      const keys = some.map(this.#keyOf);
      const known = this.#groups[groups.length];
      const isKnown = known?.keys.length === keys.length && known.keys.every((key, at) => key === keys[at]);
      groups.push(isKnown ? known : { keys, made: await this.#turns.run(() => this.#make(some)) });
    }
    this.#groups = groups;
    return groups.map(({ made }) => made);
  }
}
