#!/usr/bin/env bash
# Runs Grafana's dashboard-linter on the dashboards and Cloudflare's pint on the rules.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/require.sh
. scripts/tools.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOBIN="$work" PATH="$work:$PATH"

if require dashboard-linter "github.com/grafana/dashboard-linter@${DASHBOARD_LINTER_VERSION:-latest}"; then
  for dashboard in grafana/dashboards/*.json; do
    dashboard-linter lint --strict "$dashboard"
  done
fi

PATH="$(pint_folder):$PATH"
pint --offline --config prometheus/.pint.hcl lint --min-severity=warning prometheus/rules.yml
