#!/usr/bin/env bash
# Reads the golden expositions and those of the demo with the parsers of Python's prometheus_client, which are stricter than Prometheus.
# Needs pip.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh
. scripts/tools.sh

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT
PYTHONPATH=$(prometheus_client)
export PYTHONPATH

npm run --silent build
# The shell that opens the log may start late.
touch "$work/log"
node dist/main.js --demo --web.listen-address=127.0.0.1:0 2>"$work/log" &
for _ in $(seq 600); do
  port=$(sed -n 's/.*msg=listening .*port=\([0-9]*\).*/\1/p' "$work/log")
  [ -n "$port" ] && break
  sleep 0.2
done
[ -n "$port" ] || { cat "$work/log" >&2; exit 1; }
# fetched ACCEPT FILE: the exposition in this format.
fetched() { curl --silent --show-error --fail --retry 30 --retry-all-errors --retry-delay 1 --header "Accept: $1" --output "$2" "http://127.0.0.1:$port/metrics"; }
fetched text/plain "$work/demo.prom"
fetched application/openmetrics-text "$work/demo.openmetrics.txt"

python3 - test/golden/*.prom test/golden/*.openmetrics.txt "$work"/demo.* <<'PROGRAM'
import pathlib
import sys

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

for path in map(pathlib.Path, sys.argv[1:]):
    text = path.read_text()
    if "openmetrics" in path.name:
        # own.openmetrics.txt is the beginning of an exposition.
        families = openmetrics.text_string_to_metric_families(text.removesuffix("# EOF\n") + "# EOF\n")
    else:
        families = parser.text_string_to_metric_families(text)
    samples = sum(len(family.samples) for family in families)
    assert samples > 0, f"{path}: expected samples"
    print(f"{path.name}: {samples} samples")
PROGRAM
