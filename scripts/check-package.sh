#!/usr/bin/env bash
# Installs the output of `npm pack` into an empty folder and runs its demo.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh

folder=$(mktemp -d)
exporter=
finish() {
  [ -z "$exporter" ] || kill "$exporter" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

npm run --silent build
npm pack --silent --pack-destination "$folder" >/dev/null
cd "$folder"
npm init --yes >/dev/null
retried npm install --silent --no-audit --no-fund ./telemetry-station-exporter-*.tgz
npx --no-install telemetry-station-exporter --version

# The shell that opens the log may start late.
touch log
# Without npx, which would handle the signal and the exit code itself.
node_modules/.bin/telemetry-station-exporter --demo --web.listen-address=127.0.0.1:0 2>log &
exporter=$!
for _ in $(seq 600); do
  port=$(sed -n 's/.*msg=listening .*port=\([0-9]*\).*/\1/p' log)
  [ -n "$port" ] && break
  sleep 0.2
done
[ -n "$port" ] || { cat log >&2; exit 1; }
node --input-type=module -e '
  const get = (path) => fetch(`${process.argv[1]}${path}`);
  for (let tries = 0; tries < 600 && !(await get("/-/ready")).ok; tries += 1) await new Promise((resolve) => setTimeout(resolve, 200));
  const series = (await (await get("/metrics")).text()).match(/^telemetry_station_resource_info\{/gm)?.length ?? 0;
  console.log(`the installed package exports ${series} demo resources`);
  process.exit(series > 0 ? 0 : 1);
' "http://127.0.0.1:$port"
kill -TERM "$exporter"
wait "$exporter"
exporter=
