import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { type GridPos, type Panel, RowBuilder, type RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';

type Placed = readonly [width: number, panel: Builder<Panel>];

interface Line {
  readonly height: number;
  readonly panels: readonly Placed[];
}

/** What belongs together under a heading. */
export interface Section {
  readonly title: string;
  readonly lines: readonly Line[];
}

/** Panels side by side, all as high as the line; their widths add up to the grid's. */
export function line(height: number, ...panels: readonly Placed[]): Line {
  return { height, panels };
}

const GRID = 24;
const HEADING = 1;

/** Everything in its place, line below line, without a gap. */
export function laidOut(sections: readonly Section[]): (Panel | RowPanel)[] {
  let y = 0;
  return sections.flatMap(({ title, lines }) => {
    const row = new RowBuilder(title).gridPos({ x: 0, y, w: GRID, h: HEADING }).build();
    y += HEADING;
    const placed = lines.flatMap((line) => {
      const panels = placedLine(line, y);
      y += line.height;
      return panels;
    });
    return [row, ...placed];
  });
}

function placedLine({ height, panels }: Line, y: number): Panel[] {
  let x = 0;
  const placed = panels.map(([width, panel]) => {
    const gridPos: GridPos = { x, y, w: width, h: height };
    x += width;
    return { ...panel.build(), gridPos };
  });
  if (x !== GRID) throw new Error(`a line is ${x} wide, not ${GRID}`);
  return placed;
}
