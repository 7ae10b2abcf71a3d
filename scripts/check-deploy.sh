#!/usr/bin/env bash
# Validates everything under deploy with Helm, kubeconform, kustomize, systemd, docker-compose and Prometheus.
# Unavailable tools are skipped with a message; any problem that a tool reports fails the check.
set -euo pipefail
cd "$(dirname "$0")/.."

HELM_VERSION=${HELM_VERSION:-latest}
KUBECONFORM_VERSION=${KUBECONFORM_VERSION:-latest}
KUSTOMIZE_VERSION=${KUSTOMIZE_VERSION:-v5.5.0}
ACTIONLINT_VERSION=${ACTIONLINT_VERSION:-latest}
KUBERNETES_VERSION=1.31.0
OPERATOR_VERSION=v0.79.0
chart=deploy/helm/telemetry-station-exporter
unit=deploy/systemd/telemetry-station-exporter.service

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export PATH="$work/bin:$PATH"
step() { printf -- '-- %s\n' "$*"; }
skip() { echo "SKIPPED: $*"; }

# have COMMAND [GO_MODULE@VERSION]: installed already, or installed with Go.
have() {
  command -v "$1" >/dev/null && return
  if [ $# -gt 1 ] && command -v go >/dev/null; then
    GOBIN="$work/bin" go install "$2" 2>"$work/log" && return
    skip "$1 cannot be installed: $(tail -n 1 "$work/log")"
  else
    skip "$1 is not installed"
  fi
  return 1
}

render() { helm template release "$chart" --namespace monitoring --kube-version "$KUBERNETES_VERSION" "$@" 2> >(grep -v 'found symbolic link' >&2); }

step 'Helm chart'
if have helm "helm.sh/helm/v3/cmd/helm@$HELM_VERSION"; then
  for values in "$chart"/ci/*.yaml; do
    helm lint --strict --quiet --kube-version "$KUBERNETES_VERSION" "$chart" --values "$values" 2> >(grep -v 'found symbolic link' >&2)
    render --values "$values" >"$work/chart-$(basename "$values")"
    echo "$(grep -c '^kind:' "$work/chart-$(basename "$values")") objects for $(basename "$values")"
  done
  rejects() {
    if render "$@" >/dev/null 2>&1; then echo "chart: expected $* to be rejected" >&2; exit 1; fi
  }
  rejects
  rejects --set demo=true --set replica=2
  rejects --set demo=true --set shards=0
  rejects --set demo=true --set shards=2 --set replicas=2
fi

step 'kustomize'
if command -v kubectl >/dev/null; then
  kubectl kustomize deploy/kubernetes >"$work/chart-kustomize.yaml"
elif have kustomize "sigs.k8s.io/kustomize/kustomize/v5@$KUSTOMIZE_VERSION"; then
  kustomize build deploy/kubernetes >"$work/chart-kustomize.yaml"
fi

step 'kubeconform, strict'
if have kubeconform "github.com/yannh/kubeconform/cmd/kubeconform@$KUBECONFORM_VERSION"; then
  # Schemas are generated from Kubernetes' Go module, because kubeconform's own are not available everywhere.
  if api=$(cd "$work" && go mod download -json "k8s.io/kubernetes@v$KUBERNETES_VERSION" 2>/dev/null | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && [ -n "$api" ]; then
    node scripts/kubernetes-schemas.mjs "$api/api/openapi-spec/swagger.json" "$work/schemas"
    for objects in "$work"/chart-*.yaml; do
      kubeconform -strict -summary -skip ServiceMonitor,PrometheusRule -schema-location "$work/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" "$objects"
    done
    sed '/^ *replicas:/s/replicas/replicaz/' deploy/kubernetes/deployment.yaml >"$work/wrong.yaml"
    if kubeconform -strict -schema-location "$work/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" "$work/wrong.yaml" >/dev/null; then
      echo 'kubeconform: expected an unknown key to be rejected' >&2
      exit 1
    fi
  else
    skip 'the Kubernetes API cannot be downloaded with Go'
  fi
fi

step 'Prometheus operator objects, strict'
if have go && [ -f "$work/chart-config-values.yaml" ]; then
  mkdir "$work/operator"
  cp deploy/helm/operator-objects.go.txt "$work/operator/main.go"
  (cd "$work/operator" && go mod init check && go get "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@$OPERATOR_VERSION" sigs.k8s.io/yaml@v1.4.0 && go mod tidy && go build -o check .) >"$work/log" 2>&1 &&
    built=yes || { built=; skip "the operator's types cannot be built: $(tail -n 1 "$work/log")"; }
  [ -z "$built" ] || "$work/operator/check" "$work"/chart-*-values.yaml
fi

step 'systemd unit'
if have systemd-analyze; then
  systemd-analyze verify "$unit"
  systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" | tail -n 1
fi

step 'compose stack'
if have docker-compose; then
  docker-compose --file deploy/compose/compose.yaml config --quiet
  echo 'compose.yaml is valid'
fi
if have promtool; then promtool check config prometheus/prometheus.yml; fi
if have amtool; then amtool check-config deploy/compose/alertmanager.yml; fi

step 'GitHub workflows'
if have actionlint "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT_VERSION"; then
  actionlint -no-color .github/workflows/*.yml
  echo 'workflows are valid'
fi
