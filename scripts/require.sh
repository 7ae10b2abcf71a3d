# Sourced by the check scripts: what to do when a tool is missing.

# not_checked NAME REASON: reports a check that cannot run. With CI set that is an error, unless OPTIONAL_TOOLS names it.
not_checked() {
  echo "NOT CHECKED: $1: $2" >&2
  [ -z "${NOT_CHECKED_FILE:-}" ] || echo "$1" >>"$NOT_CHECKED_FILE"
  if [ -n "${CI:-}" ] && [[ " ${OPTIONAL_TOOLS:-} " != *" $1 "* ]]; then
    exit 1
  fi
}

# retried COMMAND: runs a command that downloads, up to three times.
retried() {
  local pause
  for pause in 5 15; do
    "$@" && return
    echo "$1 failed, repeating it in $pause s" >&2
    sleep "$pause"
  done
  "$@"
}

# require COMMAND [GO_MODULE@VERSION]: succeeds if the command exists or Go can install it into GOBIN.
require() {
  command -v "$1" >/dev/null && return
  local log
  if [ $# -gt 1 ] && command -v go >/dev/null; then
    log=$(retried go install "$2" 2>&1) && return
    not_checked "$1" "go install failed: $(tail -n 1 <<<"$log")"
  else
    not_checked "$1" 'not installed'
  fi
  return 1
}
