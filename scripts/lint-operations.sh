#!/usr/bin/env bash
# Runs Grafana's dashboard-linter over the dashboards and Cloudflare's pint over the rules. Needs Go to install them.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v go >/dev/null; then
  echo 'SKIPPED: dashboard-linter and pint need Go, which is not installed'
  exit 0
fi

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

# A tool that cannot be installed is skipped; any problem that it reports fails the check.
install() {
  GOBIN=$tools go install "$1" 2>"$tools/log" && return
  echo "SKIPPED: ${1%@*} cannot be installed: $(tail -n 1 "$tools/log")"
  return 1
}

if install "github.com/grafana/dashboard-linter@${DASHBOARD_LINTER_VERSION:-latest}"; then
  for dashboard in grafana/dashboards/*.json; do
    "$tools/dashboard-linter" lint --strict "$dashboard"
  done
fi

if install "github.com/cloudflare/pint/cmd/pint@${PINT_VERSION:-latest}"; then
  "$tools/pint" --offline --config prometheus/.pint.hcl lint --min-severity=warning prometheus/rules.yml
fi
