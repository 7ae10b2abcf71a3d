{{- define "exporter.pod" -}}
metadata:
  labels:
    {{- include "exporter.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: exporter
    {{- if .Values.config }}
    checksum/config: {{ toYaml .Values.config | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "exporter.serviceAccountName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: exporter
      image: {{ include "exporter.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- if .Values.demo }}
        - --demo
        {{- else }}
        - --config.file=/etc/telemetry-station-exporter/config.yaml
        {{- end }}
        {{- if not (or .Values.demo (contains "--config.auto-reload-interval" (join " " .Values.extraArgs))) }}
        - --config.auto-reload-interval={{ .Values.reloadInterval }}
        {{- end }}
        {{- if include "exporter.sharded" . }}
        - --shard=auto
        - --total-shards={{ .Values.shards }}
        {{- end }}
        {{- if include "exporter.webSecretName" . }}
        - --web.config.file=/etc/telemetry-station-exporter-web/web.yaml
        {{- end }}
        {{- range .Values.extraArgs }}
        - {{ . | quote }}
        {{- end }}
      {{- with .Values.env }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: metrics, containerPort: 9842, protocol: TCP }
      livenessProbe:
        {{- include "exporter.probe" (dict "root" . "path" "/-/healthy" "fields" .Values.livenessProbe) | nindent 8 }}
      readinessProbe:
        {{- include "exporter.probe" (dict "root" . "path" "/-/ready" "fields" .Values.readinessProbe) | nindent 8 }}
      {{- if .Values.startupProbe }}
      startupProbe:
        {{- include "exporter.probe" (dict "root" . "path" "/-/healthy" "fields" .Values.startupProbe) | nindent 8 }}
      {{- end }}
      {{- with .Values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      {{- $web := include "exporter.webSecretName" . }}
      {{- if or (not .Values.demo) $web .Values.extraVolumeMounts }}
      volumeMounts:
        {{- if not .Values.demo }}
        - { name: config, mountPath: /etc/telemetry-station-exporter, readOnly: true }
        {{- end }}
        {{- if $web }}
        - { name: web-config, mountPath: /etc/telemetry-station-exporter-web, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or (not .Values.demo) $web .Values.extraVolumes }}
  volumes:
    {{- if not .Values.demo }}
    - name: config
      {{- if .Values.existingConfigMap }}
      configMap: { name: {{ .Values.existingConfigMap }} }
      {{- else }}
      secret: { secretName: {{ .Values.existingSecret | default (include "exporter.fullname" .) }} }
      {{- end }}
    {{- end }}
    {{- if $web }}
    - name: web-config
      secret: { secretName: {{ $web }} }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" "hostAliases" "dnsConfig" }}
  {{- with index $.Values $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end -}}
