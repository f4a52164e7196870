{{/* The name of everything: that of the release, which Kubernetes limits to 53 characters. */}}
{{- define "strongroom.name" -}}
{{ .Release.Name }}
{{- end }}

{{- define "strongroom.selector" -}}
app.kubernetes.io/name: strongroom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of a part; call with (list . "part"). */}}
{{- define "strongroom.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: strongroom
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{- define "strongroom.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}

{{/* What all pods have in common. */}}
{{- define "strongroom.pod" -}}
serviceAccountName: {{ include "strongroom.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  # The files of the secret belong to root and this group.
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "strongroom.container" -}}
name: strongroom
image: {{ include "strongroom.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  {{- range $variable, $key := .Values.secret.files }}
  - name: {{ $variable }}
    value: /etc/strongroom/secrets/{{ $key }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "strongroom.mounts" -}}
- {name: config, mountPath: /etc/strongroom/strongroom.toml, subPath: strongroom.toml, readOnly: true}
- {name: secrets, mountPath: /etc/strongroom/secrets, readOnly: true}
- {name: data, mountPath: /var/lib/strongroom}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "strongroom.volumes" -}}
- name: config
  configMap: {name: {{ include "strongroom.name" . }}}
- name: secrets
  secret:
    secretName: {{ .Values.secret.name }}
    defaultMode: 0400
# Nothing that has to survive the pod: rows are in PostgreSQL, bytes in the bucket.
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
{{- end }}
