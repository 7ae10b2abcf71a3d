#!/usr/bin/env bash
# Installs, upgrades and uninstalls the chart with each of its ci values, and applies the manifests, on a real API server without nodes.
# A rejection or a warning of the server is an error. Needs Go and etcd.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh
. scripts/tools.sh

HELM_VERSION=${HELM_VERSION:-latest}
OPERATOR_VERSION=v0.85.0
GATEWAY_VERSION=v1.2.1
chart=deploy/helm/telemetry-station-exporter

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; chmod -R u+w "$work"; rm -rf "$work"' EXIT
export GOBIN="$tools/bin" PATH="$tools/bin:$PATH"
require etcd
require helm "helm.sh/helm/v3/cmd/helm@$HELM_VERSION"
PATH="$(kubernetes):$PATH"

free_port() { node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
client=$(free_port) peer=$(free_port) secure=$(free_port)
etcd --data-dir "$work/etcd" --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
  --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" >"$work/etcd.log" 2>&1 &
openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
echo 'token,admin,1,system:masters' >"$work/tokens.csv"
kube-apiserver --etcd-servers "http://127.0.0.1:$client" --secure-port "$secure" --bind-address 127.0.0.1 --cert-dir "$work/certificates" \
  --service-account-key-file "$work/accounts.key" --service-account-signing-key-file "$work/accounts.key" --service-account-issuer https://kubernetes.default.svc \
  --token-auth-file "$work/tokens.csv" --authorization-mode RBAC --disable-admission-plugins ServiceAccount --service-cluster-ip-range 10.0.0.0/24 >"$work/apiserver.log" 2>&1 &

cat >"$work/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://127.0.0.1:$secure", insecure-skip-tls-verify: true } }]
users: [{ name: u, user: { token: token } }]
contexts: [{ name: x, context: { cluster: c, user: u, namespace: monitoring } }]
current-context: x
YAML
export KUBECONFIG="$work/kubeconfig"
for _ in $(seq 300); do
  kubectl get --raw /readyz >/dev/null 2>&1 && break
  sleep 1
done
kubectl get --raw /readyz >/dev/null || { tail -n 20 "$work/apiserver.log" >&2; exit 1; }
kubectl version | grep Server

# quietly COMMAND: prints its output if it fails or if it contains a warning.
quietly() {
  if ! "$@" >"$work/output" 2>&1 || grep -i warning "$work/output"; then
    echo "failed: $*" >&2
    cat "$work/output" >&2
    exit 1
  fi
}
module() { (cd "$work" && retried go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'); }
quietly kubectl create namespace monitoring
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

for values in "$chart"/ci/*.yaml; do
  quietly helm install release "$chart" --values "$values"
  quietly helm upgrade release "$chart" --values "$values" --set podLabels.upgraded=yes
  # Helm does not validate the fields; the server does.
  helm get manifest release >"$work/manifest.yaml"
  quietly kubectl apply --server-side --force-conflicts --validate=strict --dry-run=server --filename "$work/manifest.yaml"
  quietly helm uninstall release
  echo "installed, upgraded and uninstalled with $(basename "$values"): $(grep -c '^kind:' "$work/manifest.yaml") objects"
done
kubectl kustomize deploy/kubernetes >"$work/manifests.yaml"
quietly kubectl apply --server-side --validate=strict --filename "$work/manifests.yaml"
echo "applied deploy/kubernetes: $(grep -c '^kind:' "$work/manifests.yaml") objects"
