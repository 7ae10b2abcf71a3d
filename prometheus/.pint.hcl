# Labels and annotations required of every alert. Run by scripts/lint-operations.sh.
rule {
  match {
    kind = "alerting"
  }
  label "severity" {
    severity = "bug"
    value    = "(critical|warning|info)"
    required = true
  }
  annotation "summary" {
    severity = "bug"
    required = true
  }
  annotation "description" {
    severity = "bug"
    required = true
  }
  annotation "runbook_url" {
    severity = "bug"
    value    = "https://.+/docs/runbooks/.+"
    required = true
  }
}
