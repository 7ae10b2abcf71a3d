{{- define "exporter.pod" -}}
metadata:
  labels:
    {{- include "exporter.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: exporter
    {{- if not (or .Values.demo .Values.existingSecret) }}
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
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: { type: RuntimeDefault }
  terminationGracePeriodSeconds: 10
  containers:
    - name: exporter
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- if .Values.demo }}
        - --demo
        {{- else }}
        - --config.file=/etc/telemetry-station-exporter/config.yaml
        {{- end }}
        {{- if include "exporter.sharded" . }}
        - --shard=auto
        - --total-shards={{ .Values.shards }}
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
        httpGet: { path: /-/healthy, port: metrics }
        periodSeconds: 15
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /-/ready, port: metrics }
        periodSeconds: 5
        timeoutSeconds: 5
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      {{- if or (not .Values.demo) .Values.extraVolumeMounts }}
      volumeMounts:
        {{- if not .Values.demo }}
        - { name: config, mountPath: /etc/telemetry-station-exporter, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
  {{- if or (not .Values.demo) .Values.extraVolumes }}
  volumes:
    {{- if not .Values.demo }}
    - name: config
      secret: { secretName: {{ include "exporter.secretName" . }} }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" }}
  {{- with index $.Values $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end -}}
