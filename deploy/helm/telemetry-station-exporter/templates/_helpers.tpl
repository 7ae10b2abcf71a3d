{{- define "exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for the suffixes that Kubernetes appends. */}}
{{- define "exporter.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "exporter.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "exporter.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "exporter.labels" -}}
{{ include "exporter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "exporter.metadata" -}}
name: {{ include "exporter.fullname" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "exporter.labels" . | nindent 2 }}
{{- end -}}

{{- define "exporter.sharded" -}}
{{- if gt (int .Values.shards) 1 }}true{{ end -}}
{{- end -}}

{{/* clusterIP is immutable: the headless Service of shards needs another name. */}}
{{- define "exporter.serviceName" -}}
{{- include "exporter.fullname" . }}{{ if include "exporter.sharded" . }}-shards{{ end -}}
{{- end -}}

{{- define "exporter.image" -}}
{{- $tag := printf ":%s" (.Values.image.tag | default .Chart.AppVersion) -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}{{ $tag }}{{ end }}
{{- end -}}

{{- define "exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "exporter.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "exporter.webSecretName" -}}
{{- if .Values.web.existingSecret -}}
{{- .Values.web.existingSecret -}}
{{- else if .Values.web.config -}}
{{- printf "%s-web" (include "exporter.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- define "exporter.tls" -}}
{{- if or .Values.web.tls .Values.web.config.tls_server_config }}true{{ end -}}
{{- end -}}

{{- define "exporter.scheme" -}}
{{- ternary "https" "http" (eq (include "exporter.tls" .) "true") -}}
{{- end -}}

{{- define "exporter.clientCertificates" -}}
{{- $type := dig "tls_server_config" "client_auth_type" "" .Values.web.config -}}
{{- if or .Values.web.clientCertificates (has $type (list "RequireAnyClientCert" "RequireAndVerifyClientCert")) }}true{{ end -}}
{{- end -}}

{{/* A probe: the handler of the values, or the path over the scheme in use. Kubelet has no client certificate. */}}
{{- define "exporter.probe" -}}
{{- $fields := .fields -}}
{{- if or $fields.httpGet $fields.tcpSocket $fields.exec $fields.grpc -}}
{{- toYaml $fields -}}
{{- else if include "exporter.clientCertificates" .root -}}
{{- toYaml (merge (dict "tcpSocket" (dict "port" "metrics")) $fields) -}}
{{- else -}}
{{- toYaml (merge (dict "httpGet" (dict "path" .path "port" "metrics" "scheme" (include "exporter.scheme" .root | upper))) $fields) -}}
{{- end -}}
{{- end -}}

{{/* Host names of the exporter in the cluster: each shard has its own stations. */}}
{{- define "exporter.hosts" -}}
{{- $service := printf "%s.%s.svc" (include "exporter.serviceName" .) .Release.Namespace -}}
{{- $hosts := list -}}
{{- if include "exporter.sharded" . -}}
{{- range $shard := until (int .Values.shards) -}}
{{- $hosts = append $hosts (printf "%s-%d.%s" (include "exporter.fullname" $) $shard $service) -}}
{{- end -}}
{{- else -}}
{{- $hosts = list $service -}}
{{- end -}}
{{- toJson $hosts -}}
{{- end -}}

{{- define "exporter.scrapeAccess" -}}
{{- with .Values.serviceMonitor.basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if include "exporter.tls" . }}
{{- with .Values.serviceMonitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "exporter.scrapeOptions" -}}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .sampleLimit }}
sampleLimit: {{ . }}
{{- end }}
{{- with .bodySizeLimit }}
bodySizeLimit: {{ . }}
{{- end }}
{{- with .scrapeClass }}
scrapeClass: {{ . }}
{{- end }}
{{- end -}}

{{/* The groups of the rules for one selector: root, selector, alerts, and the suffix of the names of the groups. */}}
{{- define "exporter.ruleGroups" -}}
{{- $values := .root.Values.prometheusRule -}}
{{- $alerts := .alerts -}}
{{- $suffix := .suffix -}}
{{- $selector := printf "job=%q" (default (include "exporter.serviceName" .root) $values.job) -}}
{{- with .selector -}}
  {{- $selector = printf "%s,%s" $selector . -}}
{{- end -}}
{{- $template := .root.Files.Get "files/rules.tpl.yml" | replace "<<selector>>" $selector | replace "<<clusterLabel>>" .root.Values.clusterLabel | replace "<<runbookUrl>>" $values.runbookUrl -}}
{{- range $alert, $settings := $alerts -}}
  {{- range $name, $value := $settings -}}
    {{- $template = replace (printf "<<%s.%s>>" $alert $name) (toString $value) $template -}}
  {{- end -}}
{{- end -}}
{{- $links := dict -}}
{{- with .root.Values.web.externalUrl -}}
  {{- $links = dict "page_url" (printf "%s/%s" (trimSuffix "/" .) `{{ with $labels.station }}stations/{{ . }}{{ else }}{{ with $labels.upstream }}?upstream={{ urlquery . }}{{ end }}{{ end }}`) -}}
{{- end -}}
{{- $groups := list -}}
{{- range $group := (fromYaml $template).groups -}}
  {{- $rules := list -}}
  {{- range $rule := $group.rules -}}
    {{- $settings := dig (get $rule "alert") (dict) $alerts -}}
    {{- if hasKey $rule "record" -}}
      {{- $rules = append $rules $rule -}}
    {{- else if dig "enabled" true $settings -}}
      {{- $labels := merge (pick $settings "severity") $rule.labels $values.alertLabels -}}
      {{- $annotations := merge (dict) $rule.annotations $values.alertAnnotations $links -}}
      {{- $rules = append $rules (merge (dict "labels" $labels "annotations" $annotations) (pick $settings "for" "keep_firing_for") $rule) -}}
    {{- end -}}
  {{- end -}}
  {{- if $rules -}}
    {{- $groups = append $groups (merge (dict "name" (printf "%s%s" $group.name $suffix) "rules" $rules) $group) -}}
  {{- end -}}
{{- end -}}
{{- toYaml $groups -}}
{{- end -}}
