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
# optional_rules FILE: the group of the optional rules, of the PrometheusRule objects or of the mixin.
optional_rules() {
  node --input-type=module - "$@" <<'PROGRAM'
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

const documents = parseAllDocuments(readFileSync(process.argv[2], 'utf8')).map((document) => document.toJS());
const groups = documents.flatMap(({ spec, groups }) => spec?.groups ?? groups);
console.log(JSON.stringify({ groups: groups.filter(({ name }) => name === 'telemetry-station-optional') }));
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
  rejected
  rejected --set demo=true --set replica=2
  rejected --set demo=true --set shards=0
  rejected --set config.upstreams.a.base_urll=https://monitor.example.com
  rejected --set demo=true --set shards=2 --set replicas=2
  rejected --set demo=true --set web.existingSecret=a --set web.config.http_server_config.http2=false
  rejected --set demo=true --set ingress.enabled=true
  rejected --set demo=true --set prometheusRule.alerts.TelemetryStationDwon.for=1h
  rejected --set demo=true --set prometheusRule.alerts.TelemetryStationDown.fro=1h
  rejected --set demo=true --set clusterLabel=k8s-cluster
  rejected --set demo=true --set prometheusRule.alertLabels.a-b=c
  rejected --set demo=true --set 'prometheusRule.monitoredBy[0].type=a'
  rejected --set demo=true --set 'prometheusRule.expectedQuantities[0].station=a' --set 'prometheusRule.expectedQuantities[0].unit=TiB' --set 'prometheusRule.expectedQuantities[0].quantity=1'
  render --set existingSecret=a | grep -q -- --config.auto-reload-interval=30s
  render --set config.upstreams.a.base_url=https://monitor.example.com >/dev/null
  render --set existingSecret=a --set workloadAnnotations.note=a | grep -q '^    note: a$'
  rules() { render --set demo=true --set prometheusRule.enabled=true --show-only templates/prometheusrule.yaml "$@" | sed '1,/^spec:/d; s/^  //'; }
  dashboards() { render --set demo=true --set dashboards.enabled=true --show-only templates/dashboards.yaml "$@"; }
  dashboards --set clusterLabel=cluster_id >"$work/dashboards.yaml"
  if grep -E '<<|\bby \(cluster,' "$work/dashboards.yaml"; then echo 'expected the label cluster_id in the dashboards of the chart' >&2; exit 1; fi
  grep -q 'by (cluster_id, ' "$work/dashboards.yaml"
  if require promtool; then
    rules >"$work/rules.yml" && promtool check rules "$work/rules.yml"
    rules --set prometheusRule.alerts.TelemetryStationDown.for=1h --set prometheusRule.alerts.TelemetryStationApiThrottled.share=0.15 >"$work/rules-adjusted.yml"
    promtool check rules "$work/rules-adjusted.yml"
    grep -q 'seconds) > 24$' "$work/rules.yml"
    if grep -E '_url:.*(localhost|<<)' "$work/rules.yml"; then echo 'expected no link without a URL' >&2; exit 1; fi
    grep -q 'for: 1h' "$work/rules-adjusted.yml" && grep -q '> 0.15' "$work/rules-adjusted.yml"
    rules --set clusterLabel=cluster_id >"$work/rules-cluster.yml"
    grep -q 'by (cluster_id, job, station)' "$work/rules-cluster.yml"
    sed 's/cluster_id/cluster/g' "$work/rules-cluster.yml" >"$work/rules-renamed.yml"
    same_yaml "$work/rules-renamed.yml" "$work/rules.yml"
    render --values "$chart/ci/optional-rules-values.yaml" --show-only templates/prometheusrule.yaml >"$work/rules-object.yml"
    optional_rules "$work/rules-object.yml" >"$work/optional-rules.yml"
    same_yaml "$work/optional-rules.yml" prometheus/optional-rules.yml
    if grep 'telemetry-station-optional' "$work/rules.yml"; then echo 'expected no optional rules without values' >&2; exit 1; fi
    rules --set prometheusRule.alerts.TelemetryStationDown.enabled=false --set prometheusRule.alertLabels.tier=platform --set prometheusRule.alertAnnotations.chat=platform >"$work/rules-alerts.yml"
    promtool check rules "$work/rules-alerts.yml"
    if grep 'alert: TelemetryStationDown$' "$work/rules-alerts.yml"; then echo 'expected no alert that is switched off' >&2; exit 1; fi
    alerts=$(grep -c 'alert: ' "$work/rules-alerts.yml")
    [ "$alerts" = $(($(grep -c 'alert: ' "$work/rules.yml") - 1)) ]
    [ "$alerts" = "$(grep -c 'tier: platform' "$work/rules-alerts.yml")" ]
    [ "$alerts" = "$(grep -c 'chat: platform' "$work/rules-alerts.yml")" ]
    if grep '<<' "$work/rules.yml"; then echo 'expected no placeholder in the rules of the chart' >&2; exit 1; fi
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
if require amtool; then amtool check-config deploy/compose/alertmanager.yml; fi

step 'mixin'
jsonnet --exec 'local mixin = import "mixin/mixin.libsonnet"; { rules: mixin.prometheusRules, alerts: mixin.prometheusAlerts, dashboards: mixin.grafanaDashboards }' >"$work/mixin.json"
node --input-type=module - "$work/mixin.json" <<'PROGRAM'
import { deepStrictEqual } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { rules, alerts, dashboards } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const shipped = parse(readFileSync('prometheus/rules.yml', 'utf8')).groups;
deepStrictEqual([...rules.groups, ...alerts.groups], shipped);
const byUid = (all) => new Map(all.map((dashboard) => [dashboard.uid, dashboard]).toSorted());
const names = readdirSync('grafana/dashboards').filter((name) => name.endsWith('.json'));
const files = names.map((name) => JSON.parse(readFileSync(`grafana/dashboards/${name}`, 'utf8')));
deepStrictEqual(byUid(Object.values(dashboards)), byUid(files));
console.log(`${shipped.length} groups of rules and ${files.length} dashboards, as shipped`);
PROGRAM
jsonnet --exec '(import "mixin/mixin.libsonnet") + { _config+:: { alerts+: { TelemetryStationDown+: { "for": "1h" } } } } + { alerts: $.prometheusAlerts }' | grep '"for": "1h"' >/dev/null
jsonnet --exec '(import "mixin/mixin.libsonnet") + { _config+:: { clusterLabel: "cluster_id" } } + { all: [$.prometheusRules, $.prometheusAlerts, $.grafanaDashboards] }' >"$work/mixin-cluster.json"
sed 's/cluster_id/cluster/g' "$work/mixin-cluster.json" | diff - <(jsonnet --exec '(import "mixin/mixin.libsonnet") + { all: [$.prometheusRules, $.prometheusAlerts, $.grafanaDashboards] }')

jsonnet --exec '(import "mixin/mixin.libsonnet") + { _config+:: { alertLabels: { tier: "platform" }, alerts+: { TelemetryStationDown+: { enabled: false } } } } + { alerts: $.prometheusAlerts }' >"$work/mixin-alerts.json"
if grep '"alert": "TelemetryStationDown"' "$work/mixin-alerts.json"; then echo 'expected no alert that is switched off' >&2; exit 1; fi
[ "$(grep -c '"alert": ' "$work/mixin-alerts.json")" = "$(grep -c '"tier": "platform"' "$work/mixin-alerts.json")" ]

node --input-type=module - "$chart/ci/optional-rules-values.yaml" >"$work/values.json" <<'PROGRAM'
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { monitoredBy, expectedQuantities, prices } = parse(readFileSync(process.argv[2], 'utf8')).prometheusRule;
console.log(JSON.stringify({ monitoredBy, expectedQuantities, prices }));
PROGRAM
jsonnet --ext-code-file "values=$work/values.json" --exec '((import "mixin/mixin.libsonnet") + { _config+:: std.extVar("values") }).prometheusRules' >"$work/mixin-optional.json"
optional_rules "$work/mixin-optional.json" >"$work/optional-rules.yml"
same_yaml "$work/optional-rules.yml" prometheus/optional-rules.yml

step 'GitHub workflows'
actionlint -no-color .github/workflows/*.yml
PATH="$(zizmor_folder):$PATH"
zizmor --offline --no-progress --quiet .github
echo 'valid'
