/** The label that identifies the cluster of a series. Queries return the same results as without it where no series has it. */
export const CLUSTER_LABEL = 'cluster';

/** Stands for the label in rules and dashboards until its name is known: that is a parameter of the Helm chart and of the mixin. */
export const CLUSTER = '<<clusterLabel>>';

/** The labels of an aggregation or a join, in parentheses. Every one keeps the cluster. */
export function labelList(...labels: readonly string[]): string {
  return `(${[CLUSTER, ...labels].join(', ')})`;
}

/** Rules or a dashboard with the name of the label. */
export function withClusterLabel(template: string, label: string): string {
  return template.replaceAll(CLUSTER, label);
}
