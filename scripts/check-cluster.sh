#!/usr/bin/env bash
# Installs, upgrades and uninstalls the chart with each of its ci values, and applies the manifests, on a real API server without nodes.
# A rejection or a warning of the server is an error. Then runs Prometheus with the configuration of its operator, and adds a station to a ConfigMap of a running exporter.
# Needs Go and etcd, and the packages of `npm ci`.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh
. scripts/tools.sh
. scripts/cluster.sh

OPERATOR_VERSION=v$(version_of prometheus-operator github.com/prometheus-operator/prometheus-operator)
GATEWAY_VERSION=v1.2.1
chart=deploy/helm/telemetry-station-exporter

work=$(mktemp -d)
# Without etcd, the API server would wait for its clients for minutes.
trap 'kill -KILL $(jobs -p) 2>/dev/null; wait; chmod -R u+w "$work"; rm -rf "$work"' EXIT
require etcd
helm_folders=("$(helm_3)" "$(helm_4)")
PATH="$(kubernetes):$PATH"
start_cluster "$work"

# quietly COMMAND: prints its output if it fails or if it contains a warning.
quietly() {
  if ! "$@" >"$work/output" 2>&1 || grep -i warning "$work/output"; then
    echo "failed: $*" >&2
    cat "$work/output" >&2
    exit 1
  fi
}
# A module may need a newer Go than the one here.
module() { (cd "$work" && GOTOOLCHAIN=auto retried go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'); }
operator=$(module "github.com/prometheus-operator/prometheus-operator@$OPERATOR_VERSION")
gateway=$(module "sigs.k8s.io/gateway-api@$GATEWAY_VERSION")
quietly kubectl apply --server-side --filename "$operator/example/prometheus-operator-crd" --filename "$gateway/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"
quietly kubectl wait --for condition=established --timeout 60s crd servicemonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com \
  scrapeconfigs.monitoring.coreos.com httproutes.gateway.networking.k8s.io
# Refused by some servers before it is applied: a typing error must be an error here too.
if kubectl apply --server-side --validate=strict --dry-run=server --filename - <<<'{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"prots":[]}}' >/dev/null 2>&1; then
  echo 'expected the server to reject an unknown field' >&2
  exit 1
fi

for folder in "${helm_folders[@]}"; do
  helm() { "$folder/helm" "$@"; }
  helm version --short
  for values in "$chart"/ci/*.yaml; do
    quietly helm install release "$chart" --values "$values"
    quietly helm upgrade release "$chart" --values "$values" --set podLabels.upgraded=yes
    # Helm does not validate the fields; the server does.
    helm get manifest release >"$work/manifest.yaml"
    quietly kubectl apply --server-side --force-conflicts --validate=strict --dry-run=server --filename "$work/manifest.yaml"
    quietly helm uninstall release
    echo "installed, upgraded and uninstalled with $(basename "$values"): $(grep -c '^kind:' "$work/manifest.yaml") objects"
  done
done
kubectl kustomize deploy/kubernetes >"$work/manifests.yaml"
quietly kubectl apply --server-side --validate=strict --filename "$work/manifests.yaml"
echo "applied deploy/kubernetes: $(grep -c '^kind:' "$work/manifests.yaml") objects"

# There is no kubelet: this writes the files of an object as it does, and replaces all of them at once.
# mounted KIND NAME FOLDER TEMPLATE: TEMPLATE prints a value of the object.
mounted() {
  local version name
  mkdir -p "$3"
  version=$(mktemp -d "$3/..XXXXXX")
  for name in $(kubectl get "$1" "$2" --output go-template='{{ range $name, $_ := .data }}{{ $name }} {{ end }}'); do
    kubectl get "$1" "$2" --output go-template="{{ index .data \"$name\" | $4 }}" | sed "s|/etc/|$work/etc/|g" >"$version/$name"
    ln -sfn "..data/$name" "$3/$name"
  done
  ln -s "$version" "$3/..new"
  mv --no-target-directory "$3/..new" "$3/..data"
}
# listed STATION: whether the exporter lists it within 10 seconds.
listed() {
  for _ in $(seq 100); do
    if curl --silent "$address/sd" | grep -q "\"$1\""; then return; fi
    sleep 0.1
  done
  echo "expected the exporter to list the station $1" >&2
  cat "$work/exporter.log" >&2
  return 1
}
# The operator generates a configuration from these, and Prometheus runs with it.
quietly helm install whole "$chart" --set demo=true --set serviceMonitor.enabled=true --set serviceMonitor.bodySizeLimit=64MB --set prometheusRule.enabled=true
quietly helm install split "$chart" --set demo=true --set serviceMonitor.enabled=true --set scrapeConfig.enabled=true --set prometheusRule.enabled=true
quietly kubectl apply --server-side --validate=strict --filename - <<'YAML'
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: { name: main }
spec: { serviceMonitorSelector: {}, podMonitorSelector: {}, scrapeConfigSelector: {}, ruleSelector: {} }
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: { name: pods }
spec:
  selector: { matchLabels: { app.kubernetes.io/instance: whole } }
  podMetricsEndpoints: [{ port: metrics, interval: 1m }]
YAML
"$(prometheus_operator)/operator" --namespaces monitoring --kubelet-endpoints=false --web.listen-address "127.0.0.1:$(free_port)" >"$work/operator.log" 2>&1 &
PATH="$(prometheus_3):$PATH" npx vitest run --project cluster --reporter=default || { tail -n 20 "$work/operator.log" >&2; exit 1; }
quietly helm uninstall whole
quietly helm uninstall split

release=release-telemetry-station-exporter
quietly helm install release "$chart" --values "$chart/ci/station-files-values.yaml" --set reloadInterval=1s
mounted secret "$release" "$work/etc/telemetry-station-exporter" base64decode
mounted configmap stations "$work/etc/stations" print
args=$(kubectl get deployment "$release" --output go-template='{{ range (index .spec.template.spec.containers 0).args }}{{ . }} {{ end }}')
address=http://127.0.0.1:$(free_port)
npm run --silent build
# shellcheck disable=SC2086
node dist/main.js ${args//\/etc\//$work/etc/} --web.listen-address="${address#http://}" >"$work/exporter.log" 2>&1 &
listed first
kubectl patch configmap stations --patch '{"data":{"b.yaml":"- { subscription: sub, resource_group: rg, zone: z1, telemetry_station: second }"}}'
mounted configmap stations "$work/etc/stations" print
listed second
echo 'a station that is added to a ConfigMap appears without a restart'
