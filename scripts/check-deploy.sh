#!/usr/bin/env bash
# Checks everything under deploy/ with Helm, kustomize, kubeconform, the Prometheus operator's types, systemd, docker-compose,
# promtool and amtool, and the GitHub workflows with actionlint.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh

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
export GOBIN="$work/bin" PATH="$work/bin:$PATH"
step() { printf -- '-- %s\n' "$*"; }

render() { helm template release "$chart" --namespace monitoring --kube-version "$KUBERNETES_VERSION" "$@" 2> >(grep -v 'found symbolic link' >&2); }

step 'Helm chart'
if require helm "helm.sh/helm/v3/cmd/helm@$HELM_VERSION"; then
  for values in "$chart"/ci/*.yaml; do
    helm lint --strict --quiet --kube-version "$KUBERNETES_VERSION" "$chart" --values "$values" 2> >(grep -v 'found symbolic link' >&2)
    render --values "$values" >"$work/chart-$(basename "$values")"
    echo "$(grep -c '^kind:' "$work/chart-$(basename "$values")") objects for $(basename "$values")"
  done
  rejected() {
    if render "$@" >/dev/null 2>&1; then echo "expected the chart to reject: $*" >&2; exit 1; fi
  }
  rejected
  rejected --set demo=true --set replica=2
  rejected --set demo=true --set shards=0
  rejected --set demo=true --set shards=2 --set replicas=2
  rejected --set demo=true --set prometheusRule.alerts.TelemetryStationDwon.for=1h
  rejected --set demo=true --set prometheusRule.alerts.TelemetryStationDown.fro=1h
  rules() { render --set demo=true --set prometheusRule.enabled=true --show-only templates/prometheusrule.yaml "$@" | sed '1,/^spec:/d; s/^  //'; }
  if require promtool; then
    rules >"$work/rules.yml" && promtool check rules "$work/rules.yml"
    rules --set prometheusRule.alerts.TelemetryStationDown.for=1h --set prometheusRule.alerts.TelemetryStationApiThrottled.share=0.15 >"$work/rules-adjusted.yml"
    promtool check rules "$work/rules-adjusted.yml"
    grep -q 'for: 1h' "$work/rules-adjusted.yml" && grep -q '> 0.15' "$work/rules-adjusted.yml"
    if grep '<<' "$work/rules.yml"; then echo 'expected no placeholder in the rules of the chart' >&2; exit 1; fi
  fi
fi

step 'kustomize'
if command -v kubectl >/dev/null; then
  kubectl kustomize deploy/kubernetes >"$work/chart-kustomize.yaml"
elif require kustomize "sigs.k8s.io/kustomize/kustomize/v5@$KUSTOMIZE_VERSION"; then
  kustomize build deploy/kubernetes >"$work/chart-kustomize.yaml"
fi

step 'kubeconform, unknown keys rejected'
if require kubeconform "github.com/yannh/kubeconform/cmd/kubeconform@$KUBECONFORM_VERSION"; then
  # From Kubernetes' own module, because kubeconform's default schemas are on GitHub, which is not reachable everywhere.
  if api=$(cd "$work" && retried go mod download -json "k8s.io/kubernetes@v$KUBERNETES_VERSION" 2>/dev/null | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && [ -n "$api" ]; then
    node scripts/kubernetes-schemas.mjs "$api/api/openapi-spec/swagger.json" "$work/schemas"
    for objects in "$work"/chart-*.yaml; do
      kubeconform -strict -summary -skip ServiceMonitor,PrometheusRule -schema-location "$work/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" "$objects"
    done
    sed '/^ *replicas:/s/replicas/replicaz/' deploy/kubernetes/deployment.yaml >"$work/wrong.yaml"
    if kubeconform -strict -schema-location "$work/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" "$work/wrong.yaml" >/dev/null; then
      echo 'expected kubeconform to reject an unknown key' >&2
      exit 1
    fi
  else
    not_checked kubernetes-schemas 'the Kubernetes module cannot be downloaded'
  fi
fi

step "the Prometheus operator's objects, unknown keys rejected"
if require go && [ -f "$work/chart-config-values.yaml" ]; then
  mkdir "$work/operator"
  cp deploy/helm/operator-objects.go.txt "$work/operator/main.go"
  (cd "$work/operator" && go mod init check && retried go get "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@$OPERATOR_VERSION" sigs.k8s.io/yaml@v1.4.0 && retried go mod tidy && go build -o check .) >"$work/log" 2>&1 &&
    built=yes || { built=; not_checked operator-types "$(tail -n 1 "$work/log")"; }
  [ -z "$built" ] || "$work/operator/check" "$work"/chart-*-values.yaml
fi

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

step 'GitHub workflows'
if require actionlint "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT_VERSION"; then
  actionlint -no-color .github/workflows/*.yml
  echo 'valid'
fi
