#!/usr/bin/env bash
# Rehearses a release: builds and publishes this commit on local registries, with a fault at every step, and installs it as a new user
# would. Needs Debian's buildah, podman, runc, skopeo, docker-registry and etcd-server, and Go.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh
. scripts/tools.sh
. scripts/cluster.sh

PATH="$PATH:/usr/lib/podman:/usr/libexec/podman"
for tool in buildah podman runc fuse-overlayfs busybox skopeo docker-registry etcd; do
  require "$tool" || exit 0
done

work=$(mktemp -d)
# Images of their own, apart from those of this machine. A container may not be able to mount layers on each other.
driver=vfs
if (cd "$work" && mkdir lower upper work merged && mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged && umount merged) 2>/dev/null; then driver=overlay; fi
cat >"$work/storage.conf" <<CONF
[storage]
driver = "$driver"
graphroot = "$work/storage"
runroot = "$work/runroot"
CONF
export CONTAINERS_STORAGE_CONF="$work/storage.conf" REHEARSAL_FOLDER="$work"
# After the storage is set: it removes all containers there.
finish() {
  podman --runtime runc --cgroup-manager cgroupfs rm --all --force --time 0 >/dev/null 2>&1 || true
  buildah rm --all >/dev/null 2>&1 || true
  # Without etcd, the API server would wait for its clients for minutes.
  kill -KILL $(jobs -p) 2>/dev/null || true
  wait
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap finish EXIT

# A release is made with the Node version of the image, which runs the programs as they are written.
if ! node -e 'process.exit(process.versions.node.split(".")[0] >= 24 ? 0 : 1)'; then
  retried npm install --silent --no-save --prefix "$work/node" "node-linux-$(node -p process.arch)@24"
  PATH="$(echo "$work"/node/node_modules/node-linux-*/bin):$PATH"
fi
# Outside the repository, whose checks would find its packages. Installed beside the images below.
cp --recursive test/release/npm-registry "$work/verdaccio"
retried npm ci --silent --ignore-scripts --prefix "$work/verdaccio" &
verdaccio=$!

npm_port=$(free_port) image_port=$(free_port)
export NPM_REGISTRY="http://127.0.0.1:$npm_port" IMAGE_REGISTRY="http://127.0.0.1:$image_port"
# answers URL: waits until a registry does.
answers() {
  for _ in $(seq 120); do
    node -e 'fetch(process.argv[1]).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "$1" && return
    sleep 1
  done
  echo "expected an answer from $1" >&2
  return 1
}

cat >"$work/docker-registry.yaml" <<YAML
version: 0.1
storage: { filesystem: { rootdirectory: $work/image-registry } }
http: { addr: "127.0.0.1:$image_port", relativeurls: true }
log: { level: error }
YAML
docker-registry serve "$work/docker-registry.yaml" >"$work/docker-registry.log" 2>&1 &
answers "$IMAGE_REGISTRY/v2/"

# With their tags, which the release resolves.
mapfile -t bases < <(sed -n 's/^ARG \(BUILD\|RUNTIME\)_IMAGE=\([^@]*\).*/\2/p' Dockerfile)
if timeout 60 skopeo inspect --raw "docker://${bases[0]}" >/dev/null 2>&1 && timeout 60 skopeo inspect --raw "docker://${bases[1]}" >/dev/null 2>&1; then
  echo "base images: ${bases[*]}"
  export BUILD_IMAGE=${bases[0]} RUNTIME_IMAGE=${bases[1]}
else
  echo 'base images: local stand-ins, because the registries cannot be reached'
  export BUILD_IMAGE=127.0.0.1:$image_port/${bases[0]#*/} RUNTIME_IMAGE=127.0.0.1:$image_port/${bases[1]#*/}
  scripts/standin-images.sh localhost/standin:build localhost/standin:runtime
  buildah push --quiet --tls-verify=false localhost/standin:build "docker://$BUILD_IMAGE"
  buildah manifest push --quiet --all --tls-verify=false localhost/standin:runtime "docker://$RUNTIME_IMAGE"
  buildah rmi --all --force >/dev/null
fi

wait "$verdaccio"
cat >"$work/verdaccio.yaml" <<YAML
storage: $work/npm-registry
auth: { htpasswd: { file: $work/htpasswd } }
uplinks: { npm: { url: "$(npm config get registry)", cache: false } }
packages:
  telemetry-station-exporter: { access: \$all, publish: \$authenticated }
  "**": { access: \$all, proxy: npm }
log: { type: stdout, format: pretty, level: warn }
YAML
"$work/verdaccio/node_modules/.bin/verdaccio" --config "$work/verdaccio.yaml" --listen "127.0.0.1:$npm_port" >"$work/verdaccio.log" 2>&1 &
answers "$NPM_REGISTRY/-/ping"

HELM_3=$(helm_3) HELM_4=$(helm_4)
export HELM_3 HELM_4
PATH="$HELM_4:$(kubernetes):$PATH"
start_cluster "$work"
node test/release/rehearsal.ts || { tail -n 20 "$work"/{verdaccio,docker-registry}.log >&2; exit 1; }
