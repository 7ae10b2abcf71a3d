#!/usr/bin/env bash
# Builds the image, runs its demo as locked down as Kubernetes would, and looks at what is inside. Where no base image can be
# pulled it builds on stand-ins of the same shape, made by the tool standin-images of ../shared/tools (or STANDIN_IMAGES).
set -euo pipefail
cd "$(dirname "$0")/.."

standins=${STANDIN_IMAGES:-../shared/tools/standin-images}
missing=
[ -x "$standins" ] || missing='standin-images'
for tool in buildah podman runc netavark fuse-overlayfs busybox; do
  [ -n "$(PATH="$PATH:/usr/lib/podman:/usr/libexec/podman" command -v "$tool")" ] || missing="$missing $tool"
done
if [ -n "$missing" ]; then
  echo "the image is not checked, this machine lacks: ${missing# }"
  exit 0
fi

state=$(mktemp -d)
storage=(--root "$state/root" --runroot "$state/runroot" --storage-driver vfs --log-level error)
container=
podman() { command podman "${storage[@]}" --runtime runc --cgroup-manager cgroupfs "$@"; }
finish() {
  [ -z "$container" ] || podman rm --force --time 0 "$container" >/dev/null 2>&1 || true
  command buildah "${storage[@]}" rm --all >/dev/null 2>&1 || true
  rm -rf "$state"
}
trap finish EXIT
fail() { echo "image: $*" >&2; [ -z "$container" ] || podman logs "$container" >&2; exit 1; }
holds() { [[ $2 == *"$3"* ]] || fail "$1 lacks $3"; }

npm install --silent --no-save --prefix "$state/node24" "node-linux-$(node -p process.arch)@24"
images=$(sed -n 's/^FROM \([^ ]*\).*/\1/p' Dockerfile)
"$standins" $images "$(echo "$state"/node24/node_modules/node-linux-*/bin/node)" "${storage[@]}" >/dev/null

image=localhost/telemetry-station-exporter:check
command buildah "${storage[@]}" bud --isolation chroot --pull-never --network host --format docker \
  --build-arg VERSION=9.8.7 --build-arg REVISION=abcdef0 -t "$image" -f Dockerfile . >"$state/build.log" 2>&1 ||
  { cat "$state/build.log" >&2; exit 1; }

echo 'what the image declares'
holds 'the configuration' "$(podman image inspect --format '{{.User}} {{json .Config.Healthcheck}} {{json .Labels}}' "$image")" '65532:65532 {"Test":["CMD",'
holds 'the labels' "$(podman image inspect --format '{{json .Labels}}' "$image")" '"org.opencontainers.image.revision":"abcdef0"'
holds 'the labels' "$(podman image inspect --format '{{json .Labels}}' "$image")" '"org.opencontainers.image.version":"9.8.7"'

echo 'what the image holds'
inside=$(command buildah "${storage[@]}" from --pull-never "$image")
tree=$(command buildah "${storage[@]}" mount "$inside")
node -e '
  const { existsSync } = require("node:fs");
  const [tree] = process.argv.slice(1);
  const packages = Object.entries(require("./package-lock.json").packages).filter(([path]) => path !== "");
  const inside = packages.filter(([path]) => existsSync(`${tree}/app/${path}/package.json`));
  const unwanted = inside.filter(([, { dev, devOptional }]) => dev || devOptional).map(([path]) => path);
  const needed = packages.filter(([path, { dev, devOptional, optional, peer }]) => !dev && !devOptional && !optional && !peer);
  const lacking = needed.filter((entry) => !inside.includes(entry)).map(([path]) => path);
  console.log(`${inside.length} packages, all for production`);
  if (unwanted.length + lacking.length > 0) {
    console.error({ unwanted, lacking });
    process.exit(1);
  }
' "$tree" || fail 'the packages are not those of production'
[ "$(ls -A "$tree/app" | sort | xargs)" = 'LICENSE REVISION dist healthcheck.mjs node_modules package.json' ] || fail "unexpected in /app: $(ls -A "$tree/app" | xargs)"
# Tests that a dependency ships are its own affair.
unwanted=$(find "$tree" \( -name npm -o -name npx -o -name '*.test.*' \) -not -path '*/app/node_modules/*/*')
[ -z "$unwanted" ] || fail "npm or a test is inside: $unwanted"
command buildah "${storage[@]}" rm "$inside" >/dev/null

locked=(--ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --network host --read-only --read-only-tmpfs=false --cap-drop all
  --security-opt no-new-privileges --memory 256m --no-healthcheck)

echo 'the version'
holds '--version' "$(podman run --rm "${locked[@]}" "$image" --version)" 'version 9.8.7 (revision: abcdef0)'

echo 'the demo: read-only root, no capabilities, 256 MiB'
port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
url=http://127.0.0.1:$port
container=$(podman run -d "${locked[@]}" --env "HEALTHCHECK_URL=$url/-/healthy" "$image" --demo "--web.listen-address=127.0.0.1:$port")
for _ in $(seq 100); do
  ready=$(node -e 'fetch(process.argv[1]).then((r) => console.log(r.status), () => console.log("refused"))' "$url/-/ready")
  [ "$ready" = 200 ] && break
  sleep 0.2
done
[ "$ready" = 200 ] || fail "/-/ready answered $ready"
node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => process.stdout.write(t))' "$url/metrics" >"$state/metrics"
holds '/metrics' "$(cat "$state/metrics")" 'telemetry_station_exporter_build_info{version="9.8.7",revision="abcdef0",node_version="v24.'
holds '/metrics' "$(cat "$state/metrics")" 'telemetry_station_resource_info{'
podman exec "$container" /nodejs/bin/node /app/healthcheck.mjs || fail 'the health check fails on a healthy container'
podman exec --env HEALTHCHECK_URL="$url/nowhere" "$container" /nodejs/bin/node /app/healthcheck.mjs 2>/dev/null && fail 'the health check passes where nothing is healthy'
echo "$(wc -l <"$state/metrics") lines of /metrics"

process=$(podman inspect --format '{{.State.Pid}}' "$container")
grep -q '^CapEff:\s*0000000000000000$' "/proc/$process/status" || fail 'the process has capabilities'
grep -q '^Uid:\s*65532\s' "/proc/$process/status" || fail 'the process is not user 65532'
limits=$(sed -n "s#^0::\(.*\)#/sys/fs/cgroup\1/memory.max#p; s#^[0-9]*:memory:\(.*\)#/sys/fs/cgroup/memory\1/memory.limit_in_bytes#p" "/proc/$process/cgroup")
grep -qsx 268435456 $limits || fail 'the memory is not limited to 256 MiB'

echo 'the end'
started=$(date +%s%N)
podman kill --signal TERM "$container" >/dev/null
code=$(podman wait "$container")
took=$((($(date +%s%N) - started) / 1000000))
[ "$code" = 0 ] || fail "SIGTERM ended it with $code"
[ "$took" -lt 2000 ] || fail "SIGTERM took $took ms"
echo "SIGTERM ended it with 0 after $took ms"
