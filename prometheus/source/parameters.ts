import parameters from './parameters.json' with { type: 'json' };

/** To host the runbooks elsewhere, change it in parameters.json and run `npm run generate`. */
export const RUNBOOK_URL = parameters.runbookUrl;

/** The label that identifies the cluster of a series. Queries return the same results as without it where no series has it. */
export const CLUSTER_LABEL = parameters.clusterLabel;

/** Stands for the label in rules and dashboards until its name is known: that is a parameter of the Helm chart and of the mixin. */
export const CLUSTER = '<<clusterLabel>>';

/** A dashboard with the name of the label. */
export function withClusterLabel(template: string, label: string): string {
  return template.replaceAll(CLUSTER, label);
}
