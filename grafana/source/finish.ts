import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type DashboardLink,
  type Panel,
  type RowPanel,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { annotations } from './annotations.ts';
import { laidOut, type Section } from './layout.ts';
import { DASHBOARDS, type DashboardName, linksFrom, TAG } from './links.ts';
import { DATASOURCE } from './target.ts';

interface Draft {
  readonly name: DashboardName;
  readonly description: string;
  /** How often it asks again by itself. */
  readonly refresh: string;
  readonly variables: readonly { build(): VariableModel }[];
  readonly sections: readonly Section[];
}

/** A dashboard as Grafana takes it from a file: what all four have in common, and what the SDK leaves out or does otherwise. */
export function finished({ name, description, refresh, variables, sections }: Draft): Dashboard {
  const { uid, title } = DASHBOARDS[name];
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh(refresh)
    .variables([...variables])
    .annotations(annotations())
    .links(linksFrom(name))
    .build();
  const { templating, annotations: notes, links = [] } = dashboard;
  return {
    ...dashboard,
    id: null,
    panels: laidOut(sections).map(numbered),
    templating: { list: (templating.list ?? []).map(withoutIntervals) },
    annotations: { list: (notes.list ?? []).map(inTheOpen) },
    links: links.map((link): DashboardLink => inTheOpen(link)),
  };
}

function numbered(panel: Panel | RowPanel, index: number): Panel | RowPanel {
  const id = index + 1;
  if (!isPanel(panel)) return { ...panel, id };
  const targets = (panel.targets ?? []).map((target, place) => ({ ...target, refId: String.fromCharCode(65 + place) }));
  return { ...panel, id, datasource: DATASOURCE, targets };
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

/** Links and annotations stay beside the variables instead of in a menu. */
function inTheOpen<Control extends { placement?: unknown }>({ placement, ...control }: Control): Omit<Control, 'placement'> {
  return control;
}

/** What belongs to variables of another kind. */
function withoutIntervals({ auto, auto_min, auto_count, ...variable }: VariableModel): VariableModel {
  return variable;
}
