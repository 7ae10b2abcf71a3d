// The rules and dashboards as a mixin (https://monitoring.mixins.dev). parameters.json has what can be changed, for example:
//   (import 'mixin/mixin.libsonnet') + { _config+:: { alerts+: { TelemetryStationDown+: { 'for': '1h' } } } }
local parameters = import 'parameters.json';
local template = importstr '../deploy/helm/telemetry-station-exporter/files/rules.tpl.yml';
local optionalTemplate = importstr '../deploy/helm/telemetry-station-exporter/files/optional-rules.tpl.yml';

{
  _config:: parameters,
  local config = self._config,

  // As text: a number without the digits that its binary form adds.
  local text(value) = if std.isNumber(value) then '%g' % value else value,
  local links = { runbookUrl: config.runbookUrl, grafanaUrl: config.grafanaUrl, externalUrl: config.externalUrl },
  local values = { ownerLabel: config.ownerLabel, clusterLabel: config.clusterLabel } + links + {
    [alert + '.' + name]: text(config.alerts[alert][name])
    for alert in std.objectFields(config.alerts)
    for name in std.objectFields(config.alerts[alert])
    if name != 'enabled'
  },
  local missing = ['<<' + name + '>>' for name in std.objectFields(links) if links[name] == ''],
  local contains(line, part) = std.strReplace(line, part, '') != line,
  // An alert has no link without a base URL.
  local lines = [line for line in std.split(template, '\n') if !std.any([contains(line, name) for name in missing])],
  local replace(rules, name) = std.strReplace(rules, '<<' + name + '>>', values[name]),
  local allGroups = std.parseYaml(std.foldl(replace, std.objectFields(values), std.join('\n', lines))).groups,
  local isEnabled(rule) = !std.objectHas(rule, 'alert') || std.get(config.alerts[rule.alert], 'enabled', true),
  local withCommon(rule) = if std.objectHas(rule, 'alert') then rule {
    labels: config.alertLabels + rule.labels,
    annotations: config.alertAnnotations + rule.annotations,
  } else rule,
  local enabledGroups = [group { rules: [withCommon(rule) for rule in group.rules if isEnabled(rule)] } for group in allGroups],
  // The rules for monitoredBy, expectedQuantities and prices.
  local optional = std.parseYaml(replace(replace(optionalTemplate, 'clusterLabel'), 'ownerLabel')),
  local replaceAll(text, entries) = std.foldl(function(replaced, name) std.strReplace(replaced, '<<' + name + '>>', entries[name]), std.objectFields(entries), text),
  local monitored(entry) = replaceAll(optional.monitoredBy, {
    type: std.escapeStringJson(entry.type),
    matches: std.get(entry, 'matches', 'name'),
    targets: if std.get(entry, 'anyCluster', false) then optional.targetsOfAnyCluster else optional.targetsOfCluster,
    series: entry.series,
    label: std.escapeStringJson(entry.label),
    expression: std.escapeStringJson(std.get(entry, 'expression', '(.+)')),
  }),
  local sku(entry) = { [name]: entry[name] for name in ['station', 'gpu_model', 'unit'] if std.objectHas(entry, name) },
  local clusterOf(entry) = if std.objectHas(entry, 'cluster') then { [config.clusterLabel]: entry.cluster } else {},
  local constant(record, value, labels) = { record: record, expr: 'vector(' + value + ')', labels: labels },
  local optionalGroup = {
    name: optional.group,
    interval: optional.interval,
    rules: (if config.monitoredBy == [] then [] else [{ record: optional.notMonitored, expr: std.join('\nor\n', std.map(monitored, config.monitoredBy) + [optional.lastNotMonitored]) }])
           + [constant(optional.expected, entry.quantity, clusterOf(entry) + sku(entry)) for entry in config.expectedQuantities]
           + [constant(optional.price, entry.price_per_hour, sku(entry)) for entry in config.prices]
           + (if config.prices == [] then [] else [{ record: optional.cost, expr: optional.costExpression }]),
  },
  local groups = [group for group in enabledGroups + [optionalGroup] if group.rules != []],
  // A group of alerts may record what its alerts read, so that both are evaluated for the same time.
  local hasAlerts(group) = std.any([std.objectHas(rule, 'alert') for rule in group.rules]),

  prometheusRules+:: { groups+: [group for group in groups if !hasAlerts(group)] },
  prometheusAlerts+:: { groups+: [group for group in groups if hasAlerts(group)] },
  local dashboard(text) = std.parseJson(replace(text, 'clusterLabel')),
  grafanaDashboards+:: {
    'telemetry-station-fleet.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/fleet.json'),
    'telemetry-station.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/station.json'),
    'telemetry-station-resources.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/resources.json'),
    'telemetry-station-exporter.json': dashboard(importstr '../deploy/helm/telemetry-station-exporter/files/dashboards/exporter.json'),
  },
}
