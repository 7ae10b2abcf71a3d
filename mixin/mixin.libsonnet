// The rules and dashboards as a mixin (https://monitoring.mixins.dev). prometheus/source/parameters.json has what can be changed, for example:
//   (import 'mixin/mixin.libsonnet') + { _config+:: { selector: 'station!~"lab-.*"', alerts+: { TelemetryStationDown+: { 'for': '1h' } } } }
// docs/runbooks/README.md describes the parameters.
local parameters = import '../prometheus/source/parameters.json';
local template = importstr '../prometheus/source/rules.tpl.yml';

{
  _config:: parameters,
  local config = self._config,

  local selector = std.join(',', ['job="%s"' % config.job] + if config.selector == '' then [] else [config.selector]),
  // A number without the digits that its binary form adds.
  local text(value) = if std.isNumber(value) then '%g' % value else value,
  local values = { selector: selector, clusterLabel: config.clusterLabel, runbookUrl: config.runbookUrl } + {
    [alert + '.' + name]: text(config.alerts[alert][name])
    for alert in std.objectFields(config.alerts)
    for name in std.objectFields(config.alerts[alert])
    if !std.member(['enabled', 'severity', 'for', 'keep_firing_for'], name)
  },
  local replace(rules, name) = std.strReplace(rules, '<<' + name + '>>', values[name]),
  local groups = std.parseYaml(std.foldl(replace, std.objectFields(values), template)).groups,

  local settings(rule) = std.get(config.alerts, std.get(rule, 'alert', ''), {}),
  local durations(rule) = { [name]: settings(rule)[name] for name in ['for', 'keep_firing_for'] if std.objectHas(settings(rule), name) },
  local adjusted(rule) = if std.objectHas(rule, 'record') then rule else rule + durations(rule) + {
    labels: config.alertLabels + rule.labels { severity: std.get(settings(rule), 'severity', rule.labels.severity) },
    annotations: config.alertAnnotations + rule.annotations,
  },
  local enabled(group) = group {
    name+: config.suffix,
    rules: [adjusted(rule) for rule in group.rules if std.get(settings(rule), 'enabled', true)],
  },
  prometheusAlerts+:: { groups+: [group for group in std.map(enabled, groups) if group.rules != []] },

  local dashboard(text) = std.parseJson(replace(text, 'clusterLabel')),
  grafanaDashboards+:: {
    'telemetry-station-fleet.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/fleet.json'),
    'telemetry-station.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/station.json'),
    'telemetry-station-resources.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/resources.json'),
    'telemetry-station-exporter.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/exporter.json'),
  },
}
