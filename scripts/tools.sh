# Sourced by the check scripts: tools that no package of Debian has, built from their Go modules and kept in a cache outside the repository.

# 3.15.0 is the module v0.315.0.
PROMETHEUS_VERSION=3.15.0
KUBERNETES_VERSION=1.31.4
tools=${XDG_CACHE_HOME:-$HOME/.cache}/telemetry-station-exporter-tools

# built NAME COMMAND: runs the command in a new folder of the cache unless an earlier run has completed it; prints the folder.
built() {
  local folder=$tools/$1 log
  shift
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder" && mkdir -p "$folder"
    log=$folder/log
    (cd "$folder" && retried "$@") >"$log" 2>&1 || { tail -n 5 "$log" >&2; return 1; }
    touch "$folder/complete"
  fi
  echo "$folder"
}

# prometheus_3: prints a folder with prometheus and promtool of version 3. Service discovery other than static, file and HTTP is left out.
prometheus_3() { built "prometheus-$PROMETHEUS_VERSION" build_prometheus; }
build_prometheus() {
  local commands="github.com/prometheus/prometheus/cmd/prometheus github.com/prometheus/prometheus/cmd/promtool" name
  [ -e go.mod ] || go mod init tools
  # shellcheck disable=SC2086
  go get $(for name in $commands; do echo "$name@v0.${PROMETHEUS_VERSION/./}"; done) &&
    go build -tags remove_all_sd,netgo -ldflags "-X github.com/prometheus/common/version.Version=$PROMETHEUS_VERSION" -o . $commands
}

# kubernetes: prints a folder with kube-apiserver and kubectl. Kubernetes replaces its staging modules, which a user of its module must do as well.
kubernetes() { built "kubernetes-$KUBERNETES_VERSION" build_kubernetes; }
build_kubernetes() {
  local definition name
  definition=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES_VERSION" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  {
    printf 'module tools\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$KUBERNETES_VERSION"
    for name in $(sed -n 's|.*k8s.io/\(.*\) => ./staging/.*|\1|p' "$definition"); do
      printf '\tk8s.io/%s => k8s.io/%s v0.%s\n' "$name" "$name" "${KUBERNETES_VERSION#1.}"
    done
    printf ')\n'
  } >go.mod
  printf '//go:build tools\n\npackage tools\n\nimport (\n\t_ "k8s.io/kubernetes/cmd/kube-apiserver"\n\t_ "k8s.io/kubernetes/cmd/kubectl"\n)\n' >tools.go
  go mod tidy
  # Helm refuses a server without a version.
  go build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$KUBERNETES_VERSION" -o . k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl
}
