import { describe, expect, it } from 'vitest';
import { columnsOf, type ShippedPanel, shippedPanels } from './shipped-dashboards.ts';

describe('dashboard panels at 1024, 1280 and 1920 pixels', () => {
  it.each(shippedPanels('stat'))('show the whole title of a stat beside the menu: %s', (_, { title, gridPos }) => {
    for (const screen of [1280, 1920]) {
      expect(textWidth(title) + TITLE_BUTTONS).toBeLessThanOrEqual(innerWidth(screen - DOCKED_MENU, gridPos.w));
    }
  });

  it.each(shippedPanels())('show the whole title of any panel: %s', (_, { title, gridPos }) => {
    expect(textWidth(title) + TITLE_BUTTONS).toBeLessThanOrEqual(innerWidth(1024, gridPos.w));
  });

  it.each(shippedPanels('table'))('show the whole header of each column of a table: %s', (_, panel) => {
    const cut = columnWidths(panel).filter(({ title, width, filterable }) => {
      return textWidth(title) + CELL_PADDING + SORT_ICON + (filterable ? FILTER_BUTTON : 0) > width;
    });
    expect(cut).toEqual([]);
  });

  it.each(shippedPanels('table'))(
    'show all columns of a table, that of the cluster from 1440 pixels on: %s',
    (_, { gridPos, ...panel }) => {
      const widthOf = (columns: ReturnType<typeof columnWidths>) => columns.reduce((sum, { width }) => sum + width, 0);
      const columns = columnWidths({ gridPos, ...panel });
      expect(widthOf(columns.filter(({ title }) => title !== 'Cluster'))).toBeLessThanOrEqual(
        innerWidth(1280, gridPos.w),
      );
      expect(widthOf(columns)).toBeLessThanOrEqual(innerWidth(1440, gridPos.w));
    },
  );
});

/** Pixels of Grafana's layout: 24 columns with gaps between them, in a page with padding, and panels with padding. */
const PAGE_PADDING = 32;
const GAP = 8;
const PANEL_PADDING = 16;
const DOCKED_MENU = 300;
/** Description and menu. */
const TITLE_BUTTONS = 64;
const CELL_PADDING = 12;
const SORT_ICON = 16;
const FILTER_BUTTON = 20;

function innerWidth(page: number, columns: number): number {
  const column = (page - PAGE_PADDING - 23 * GAP) / 24;
  return column * columns + (columns - 1) * GAP - PANEL_PADDING;
}

/** Measured in Chromium with Grafana's font, Inter Medium at 14 pixels; each character counts as the widest of its kind. */
function textWidth(text: string): number {
  const widths = [...text].map((character) => {
    if (/[ijlI ,.:]/.test(character)) return 4.2;
    if (/[tfr1]/.test(character)) return 5.8;
    if (/[mwMW]/.test(character)) return 14;
    return /[A-Z]/.test(character) ? 10.8 : 8.9;
  });
  return widths.reduce((sum, width) => sum + width, 0);
}

function columnWidths(panel: ShippedPanel) {
  const { overrides = [], defaults } = panel.fieldConfig ?? {};
  return columnsOf(panel).map(([, title]) => {
    const properties = overrides.find(({ matcher }) => matcher.options === title)?.properties ?? [];
    const property = (name: string) => properties.find(({ id }) => id === name)?.value;
    return {
      title,
      width: Number(property('custom.width') ?? defaults?.custom?.minWidth),
      filterable: property('custom.filterable') === true,
    };
  });
}
