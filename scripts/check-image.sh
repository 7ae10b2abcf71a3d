#!/usr/bin/env bash
# Builds the image, runs its demo as locked down as Kubernetes would, and verifies what it contains. Where the registries of the base
# images cannot be reached, it builds on local stand-ins (standin-images.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh

PATH="$PATH:/usr/lib/podman:/usr/libexec/podman"
for tool in buildah podman runc netavark fuse-overlayfs busybox; do
  require "$tool" || exit 0
done

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

# By digest where the Dockerfile has one: podman refuses both a tag and a digest.
mapfile -t bases < <(sed -n 's/^ARG \(BUILD\|RUNTIME\)_IMAGE=//p' Dockerfile | sed 's/:[^:/@]*@/@/')
reachable() { for base in "${bases[@]}"; do timeout 15 podman manifest inspect "$base" >/dev/null 2>&1 || return; done; }
if reachable; then
  echo "base images: ${bases[*]}"
  pull=--pull
else
  echo "base images: local stand-ins, because the registries cannot be reached"
  bases=(localhost/standin:build localhost/standin:runtime)
  scripts/standin-images.sh "${bases[@]}" "${storage[@]}"
  pull=--pull-never
fi

image=localhost/telemetry-station-exporter:check
command buildah "${storage[@]}" bud --isolation chroot "$pull" --network host --format docker \
  --build-arg "BUILDPLATFORM=linux/$(dpkg --print-architecture)" --build-arg "TARGETARCH=$(dpkg --print-architecture)" --build-arg "BUILD_IMAGE=${bases[0]}" --build-arg "RUNTIME_IMAGE=${bases[1]}" --build-arg VERSION=9.8.7 --build-arg REVISION=abcdef0 -t "$image" -f Dockerfile . >"$state/build.log" 2>&1 ||
  { cat "$state/build.log" >&2; exit 1; }

echo 'declared configuration'
holds 'the configuration' "$(podman image inspect --format '{{.User}} {{json .Config.Healthcheck}} {{json .Labels}}' "$image")" '65532:65532 {"Test":["CMD",'
holds 'the labels' "$(podman image inspect --format '{{json .Labels}}' "$image")" '"org.opencontainers.image.revision":"abcdef0"'
holds 'the labels' "$(podman image inspect --format '{{json .Labels}}' "$image")" '"org.opencontainers.image.version":"9.8.7"'

echo 'contents'
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
  console.log(`${inside.length} production packages`);
  if (unwanted.length + lacking.length > 0) {
    console.error({ unwanted, lacking });
    process.exit(1);
  }
' "$tree" || fail 'expected the production packages and no others'
[ "$(ls -A "$tree/app" | sort | xargs)" = 'LICENSE REVISION dist healthcheck.mjs node_modules package.json prometheus' ] || fail "unexpected files in /app: $(ls -A "$tree/app" | xargs)"
# Dependencies may ship their own tests.
unwanted=$(find "$tree" \( -name npm -o -name npx -o -name '*.test.*' \) -not -path '*/app/node_modules/*/*')
[ -z "$unwanted" ] || fail "expected neither npm nor tests, got: $unwanted"
command buildah "${storage[@]}" rm "$inside" >/dev/null

locked=(--ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --network host --read-only --read-only-tmpfs=false --cap-drop all
  --security-opt no-new-privileges --memory 256m --no-healthcheck)

echo '--version'
holds '--version' "$(podman run --rm "${locked[@]}" "$image" --version)" 'version 9.8.7 (revision: abcdef0)'

echo 'demo: read-only root, no capabilities, 256 MiB'
container=$(podman run -d "${locked[@]}" "$image" --demo --web.listen-address=127.0.0.1:0)
for _ in $(seq 600); do
  port=$(podman logs "$container" 2>&1 | sed -n 's/.*msg=listening .*port=\([0-9]*\).*/\1/p')
  [ -n "$port" ] && break
  sleep 0.2
done
[ -n "$port" ] || fail 'expected a line with the port in the log'
url=http://127.0.0.1:$port
for _ in $(seq 600); do
  ready=$(node -e 'fetch(process.argv[1]).then((r) => console.log(r.status), () => console.log("no response"))' "$url/-/ready")
  [ "$ready" = 200 ] && break
  sleep 0.2
done
[ "$ready" = 200 ] || fail "expected 200 from /-/ready, got $ready"
node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => process.stdout.write(t))' "$url/metrics" >"$state/metrics"
holds '/metrics' "$(cat "$state/metrics")" 'telemetry_station_exporter_build_info{version="9.8.7",revision="abcdef0",node_version="v24.'
holds '/metrics' "$(cat "$state/metrics")" 'telemetry_station_resource_info{'
podman exec --env HEALTHCHECK_URL="$url/-/healthy" "$container" /nodejs/bin/node /app/healthcheck.mjs || fail 'the health check fails on a healthy container'
podman exec --env HEALTHCHECK_URL="$url/nowhere" "$container" /nodejs/bin/node /app/healthcheck.mjs 2>/dev/null && fail 'the health check passes on a 404'
echo "$(wc -l <"$state/metrics") lines of /metrics"

process=$(podman inspect --format '{{.State.Pid}}' "$container")
grep -q '^CapEff:\s*0000000000000000$' "/proc/$process/status" || fail 'the process has capabilities'
grep -q '^Uid:\s*65532\s' "/proc/$process/status" || fail 'expected user 65532'
limits=$(sed -n "s#^0::\(.*\)#/sys/fs/cgroup\1/memory.max#p; s#^[0-9]*:memory:\(.*\)#/sys/fs/cgroup/memory\1/memory.limit_in_bytes#p" "/proc/$process/cgroup")
grep -qsx 268435456 $limits || fail 'expected a memory limit of 256 MiB'

echo 'SIGTERM'
started=$(date +%s%N)
podman kill --signal TERM "$container" >/dev/null
code=$(podman wait "$container")
took=$((($(date +%s%N) - started) / 1000000))
[ "$code" = 0 ] || fail "expected exit code 0 after SIGTERM, got $code"
# docker stop kills after ten seconds; the commands that send the signal and wait take a part of them on a busy machine.
[ "$took" -lt 10000 ] || fail "expected the exit within 10 s, got $took ms"
echo "exit code 0 after $took ms"
