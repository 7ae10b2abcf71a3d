#!/usr/bin/env bash
# Checks everything under deploy/ with Helm, systemd, docker-compose, promtool and amtool, the mixin with jsonnet, and the GitHub
# workflows with actionlint and zizmor. Needs Go, and the packages of `npm ci`.
# scripts/check-cluster.sh applies the Kubernetes objects to an API server.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh
. scripts/tools.sh

chart=deploy/helm/telemetry-station-exporter
unit=deploy/systemd/telemetry-station-exporter.service

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
helm_folders=("$(helm_3)" "$(helm_4)")
PATH="$(linters):$PATH"
step() { printf -- '-- %s\n' "$*"; }

# same_yaml A B: whether two files have the same content; Helm breaks lines by their length.
same_yaml() {
  node --input-type=module - "$@" <<'PROGRAM'
import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const [left, right] = process.argv.slice(2).map((file) => parse(readFileSync(file, 'utf8')));
deepStrictEqual(left, right);
PROGRAM
}
# customized_rules FILE: whether the PrometheusRule has what ci/customized-values.yaml sets.
customized_rules() {
  node --input-type=module - "$@" <<'PROGRAM'
import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { groups } = parse(readFileSync(process.argv[2], 'utf8')).spec;
const rulesOf = (isCopy) => groups.filter(({ name }) => name.endsWith('-lab') === isCopy).flatMap(({ rules }) => rules).filter(({ alert }) => alert);
const find = (rules, name) => rules.find(({ alert }) => alert === `TelemetryStation${name}`);
const [main, lab] = [rulesOf(false), rulesOf(true)];
deepStrictEqual([main.length, lab.length], [17, 16]);
deepStrictEqual([find(main, 'AlertableWithoutRules'), find(lab, 'UpstreamDown')], [undefined, undefined]);
deepStrictEqual([find(main, 'Down').for, find(main, 'Down').keep_firing_for], ['1h', '2h']);
deepStrictEqual([find(main, 'DataStale').labels, find(lab, 'DataStale').labels], [
  { severity: 'critical', tier: 'platform' },
  { severity: 'warning', tier: 'platform' },
]);
deepStrictEqual(
  [find(main, 'DataStale').expr, find(lab, 'DataStale').expr].map((expr) => /,station(.*)}.*( > \d+)/s.exec(expr)?.slice(1).join('')),
  ['!~"lab-.*" > 480', '=~"lab-.*" > 7200'],
);
const links = new Set([...main, ...lab].map(({ annotations }) => annotations.dashboard_url));
deepStrictEqual([...links], [
  'https://grafana.example.com/d/telemetry-station-station?var-job={{ $labels.job }}&var-station={{ $labels.station }}',
]);
PROGRAM
}
render() { helm template release "$chart" --namespace monitoring --kube-version "$KUBERNETES_VERSION" "$@"; }

step 'Helm chart'
for folder in "${helm_folders[@]}"; do
  helm() { "$folder/helm" "$@"; }
  helm version --short
  for values in "$chart"/ci/*.yaml; do
    helm lint --strict --quiet --kube-version "$KUBERNETES_VERSION" "$chart" --values "$values"
    echo "$(render --values "$values" | grep -c '^kind:') objects for $(basename "$values")"
  done
  rejected() {
    if render "$@" >/dev/null 2>&1; then echo "expected the chart to reject: $*" >&2; exit 1; fi
  }
  rejected --set demo=true --set replica=2
  rejected --set demo=true --set shards=0
  rejected --set config.upstreams.a.base_urll=https://monitor.example.com
  rejected --set demo=true --set shards=2 --set replicas=2
  rejected --set demo=true --set web.existingSecret=a --set web.config.http_server_config.http2=false
  rejected --set demo=true --set ingress.enabled=true
  # rejected_with MESSAGE VALUES: whether the chart says so.
  rejected_with() {
    if render "${@:2}" >/dev/null 2>"$work/message" || ! grep -qF "$1" "$work/message"; then
      echo "expected the chart to reject ${*:2} with: $1" >&2
      cat "$work/message" >&2
      exit 1
    fi
  }
  sources='expected one of config, existingSecret, existingConfigMap, demo, got'
  inline=config.upstreams.a.base_url=https://monitor.example.com
  rejected_with "$sources none"
  rejected_with "$sources config and existingSecret" --set "$inline" --set existingSecret=a
  rejected_with "$sources existingSecret and existingConfigMap" --set existingSecret=a --set existingConfigMap=a
  entrance=(--set networkPolicy.enabled=true --set ingress.enabled=true --set 'ingress.hosts={exporter.example.com}')
  rejected_with 'networkPolicy.ingressController: required with ingress or httpRoute' --set demo=true "${entrance[@]}"
  render --values "$chart/ci/station-files-values.yaml" --show-only templates/networkpolicy.yaml | grep 'kubernetes.io/metadata.name: ingress-nginx' >/dev/null
  rejected --set demo=true --set prometheusRule.alerts.TelemetryStationDwon.for=1h
  rejected --set demo=true --set prometheusRule.alerts.TelemetryStationDown.fro=1h
  rejected --set demo=true --set clusterLabel=k8s-cluster
  rejected --set demo=true --set prometheusRule.alertLabels.a-b=c
  rejected --set demo=true --set prometheusRule.selector=lab
  rejected --set demo=true --set prometheusRule.copies.lab.alerts.TelemetryStationDown.for=1h
  for source in "$inline" existingSecret=a existingConfigMap=a; do
    render --set "$source" | grep -- --config.auto-reload-interval=30s >/dev/null
  done
  render --set existingConfigMap=a | grep 'configMap: { name: a }' >/dev/null
  render --set existingSecret=a --set workloadAnnotations.note=a | grep '^    note: a$' >/dev/null
  rules() { render --set demo=true --set prometheusRule.enabled=true --show-only templates/prometheusrule.yaml "$@" | sed '1,/^spec:/d; s/^  //'; }
  dashboards() { render --set demo=true --set dashboards.enabled=true --show-only templates/dashboards.yaml "$@"; }
  dashboards --set clusterLabel=cluster_id >"$work/dashboards.yaml"
  if grep -E '<<|[{ ]cluster=' "$work/dashboards.yaml"; then echo 'expected the label cluster_id in the dashboards of the chart' >&2; exit 1; fi
  grep -q '{cluster_id=' "$work/dashboards.yaml"
  if require promtool; then
    rules >"$work/rules.yml" && promtool check rules "$work/rules.yml"
    if grep '<<' "$work/rules.yml"; then echo 'expected no placeholder in the rules of the chart' >&2; exit 1; fi
    # With the job of the file, the chart has the same rules.
    rules --set prometheusRule.job=telemetry-station-exporter >"$work/rules-shipped.yml"
    same_yaml "$work/rules-shipped.yml" prometheus/rules.yml
    rules --set web.externalUrl=https://exporter.example.com/ | grep -F 'page_url: https://exporter.example.com/{{ with $labels.station }}stations/' >/dev/null
    rules --set clusterLabel=cluster_id >"$work/rules-cluster.yml"
    grep -q 'by (cluster_id, job, upstream)' "$work/rules-cluster.yml"
    sed 's/cluster_id/cluster/g' "$work/rules-cluster.yml" >"$work/rules-renamed.yml"
    same_yaml "$work/rules-renamed.yml" "$work/rules.yml"
    render --values "$chart/ci/customized-values.yaml" --show-only templates/prometheusrule.yaml >"$work/rules-object.yml"
    customized_rules "$work/rules-object.yml"
  fi
done

step 'systemd unit'
if require systemd-analyze; then
  systemd-analyze verify "$unit"
  systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" | tail -n 1
fi

step 'compose stack'
if require docker-compose; then
  docker-compose --file deploy/compose/compose.yaml config --quiet
  echo 'valid'
fi
if require promtool; then promtool check config prometheus/prometheus.yml; fi
if require amtool; then amtool check-config prometheus/alertmanager.yml; fi

step 'mixin'
jsonnet --exec 'local mixin = import "mixin/mixin.libsonnet"; { alerts: mixin.prometheusAlerts, dashboards: mixin.grafanaDashboards }' >"$work/mixin.json"
node --input-type=module - "$work/mixin.json" <<'PROGRAM'
import { deepStrictEqual } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { alerts, dashboards } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const shipped = parse(readFileSync('prometheus/rules.yml', 'utf8')).groups;
deepStrictEqual(alerts.groups, shipped);
const byUid = (all) => new Map(all.map((dashboard) => [dashboard.uid, dashboard]).toSorted());
const names = readdirSync('grafana/dashboards').filter((name) => name.endsWith('.json'));
const files = names.map((name) => JSON.parse(readFileSync(`grafana/dashboards/${name}`, 'utf8')));
deepStrictEqual(byUid(Object.values(dashboards)), byUid(files));
console.log(`${shipped.length} groups of rules and ${files.length} dashboards, as shipped`);
PROGRAM
jsonnet --exec '(import "mixin/mixin.libsonnet") + { _config+:: { clusterLabel: "cluster_id" } } + { all: [$.prometheusAlerts, $.grafanaDashboards] }' >"$work/mixin-cluster.json"
sed 's/cluster_id/cluster/g' "$work/mixin-cluster.json" | diff - <(jsonnet --exec '(import "mixin/mixin.libsonnet") + { all: [$.prometheusAlerts, $.grafanaDashboards] }')

# The values of the chart are parameters of the mixin: both have the same rules, and the same copy of them.
node --input-type=module - "$chart/ci/customized-values.yaml" >"$work/values.json" <<'PROGRAM'
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { clusterLabel, prometheusRule } = parse(readFileSync(process.argv[2], 'utf8'));
const { selector, copies, alertLabels, alertAnnotations, alerts } = prometheusRule;
const common = { job: 'release-telemetry-station-exporter', clusterLabel, alertLabels, alertAnnotations };
console.log(
  JSON.stringify([
    { ...common, selector, alerts },
    { ...common, selector: copies.lab.selector, suffix: '-lab', alerts: { ...alerts, ...copies.lab.alerts } },
  ]),
);
PROGRAM
jsonnet --ext-code-file "values=$work/values.json" --exec '
  local mixin(config) = (import "mixin/mixin.libsonnet") + { _config+:: config { alerts: std.mergePatch((import "prometheus/source/parameters.json").alerts, config.alerts) } };
  { spec: { groups: std.flatMap(function(config) mixin(config).prometheusAlerts.groups, std.extVar("values")) } }' >"$work/mixin-customized.json"
customized_rules "$work/mixin-customized.json"
node -e 'console.log(JSON.stringify({ groups: require("yaml").parse(require("fs").readFileSync(process.argv[1], "utf8")).spec.groups }))' "$work/rules-object.yml" >"$work/chart-groups.json"
node -e 'console.log(JSON.stringify({ groups: JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).spec.groups }))' "$work/mixin-customized.json" >"$work/mixin-groups.json"
same_yaml "$work/chart-groups.json" "$work/mixin-groups.json"

step 'GitHub workflows'
actionlint -no-color .github/workflows/*.yml
PATH="$(zizmor_folder):$PATH"
zizmor --offline --no-progress --quiet .github
echo 'valid'
