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

{{- define "exporter.secretName" -}}
{{- .Values.existingSecret | default (include "exporter.fullname" .) -}}
{{- end -}}

{{- define "exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "exporter.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}
