#!/usr/bin/env bash
# Grafana's dashboard linter over the dashboards and Cloudflare's pint over the rules, where Go is on the machine and can get them.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v go >/dev/null; then
  echo 'dashboard-linter and pint are left out: there is no Go on this machine'
  exit 0
fi

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

# Only that a tool cannot be had is forgiven, never what it finds.
have() {
  GOBIN=$tools go install "$1" 2>"$tools/log" && return
  echo "${1%@*} is left out, it cannot be had: $(tail -n 1 "$tools/log")"
  return 1
}

if have "github.com/grafana/dashboard-linter@${DASHBOARD_LINTER_VERSION:-latest}"; then
  for dashboard in grafana/dashboards/*.json; do
    "$tools/dashboard-linter" lint --strict "$dashboard"
  done
fi

if have "github.com/cloudflare/pint/cmd/pint@${PINT_VERSION:-latest}"; then
  "$tools/pint" --offline --config prometheus/.pint.hcl lint --min-severity=warning prometheus/rules.yml
fi
