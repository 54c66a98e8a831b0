{{/* Generated from charts/olmv1/templates by `make generate`. Do not edit. */}}

{{- define "update-service.labels" -}}
{{- /* (list $ NAME): NAME is the component, or update-service for what belongs to both. */ -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/part-of: olm
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "update-service.registryCAs" -}}
{{- /* $: the names of ConfigMaps with CAs of registries, as JSON: {"list": [...]}. */ -}}
{{- $names := list -}}
{{- if .Values.trustedCAs.pem -}}{{- $names = append $names "update-service-registry-cas" -}}{{- end -}}
{{- with .Values.trustedCAs.configMap -}}{{- $names = append $names . -}}{{- end -}}
{{- dict "list" $names | toJson -}}
{{- end -}}

{{- define "update-service.registriesConf" -}}
{{- /* $: the name of the ConfigMap with registries.conf, or nothing. */ -}}
{{- if .Values.registriesConf.content -}}update-service-registries-conf{{- else -}}{{ .Values.registriesConf.configMap }}{{- end -}}
{{- end -}}

{{- define "update-service.deployment.head" -}}
{{- $root := index . 0 -}}{{- $component := index . 1 -}}
{{- $values := include "update-service.component" . | fromJson -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $component }}
  namespace: {{ include "update-service.namespace" . }}
  labels:
    {{- include "update-service.labels" . | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-logs-container: {{ index . 1 }}
spec:
  replicas: {{ $values.replicas }}
  minReadySeconds: 5
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "update-service.selector" . | nindent 6 }}
{{- end -}}

{{- define "update-service.selector" -}}
app: {{ index . 1 }}
{{- end -}}

{{- define "update-service.pod.metadata" -}}
{{- $root := index . 0 -}}
labels:
  app.kubernetes.io/name: {{ index . 1 }}
  app.kubernetes.io/part-of: olm
  {{- include "update-service.selector" . | nindent 2 }}
  {{- with $root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  kubectl.kubernetes.io/default-container: {{ index . 1 }}
  {{- with $root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "update-service.pod.scheduling" -}}
{{- $root := index . 0 -}}{{- $values := $root.Values -}}
serviceAccountName: {{ index . 1 }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
  {{- if $values.affinity }}
  {{- toYaml $values.affinity | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "update-service.selector" . | nindent 14 }}
  {{- end }}
{{- if $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- $selector := include "update-service.selector" . | fromYaml }}
  {{- range $values.topologySpreadConstraints }}
  - {{ toYaml (merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" $selector))) | indent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "update-service.image" -}}
{{- /* $: the reference of the image of all programs. */ -}}
{{- $image := .Values.image -}}
{{- if $image.digest }}{{ printf "%s@%s" $image.repository $image.digest }}
{{- else }}{{ printf "%s:%s" $image.repository ($image.tag | default .Chart.AppVersion) }}
{{- end }}
{{- end -}}

{{- define "update-service.container.common" -}}
{{- $root := index . 0 -}}{{- $values := include "update-service.component" . | fromJson -}}
name: {{ index . 1 }}
image: {{ include "update-service.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
terminationMessagePolicy: FallbackToLogsOnError
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  initialDelaySeconds: 15
  periodSeconds: 20
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
{{- with $values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "update-service.environment" . }}
env:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "update-service.environment" -}}
{{- $values := (index . 0).Values -}}{{- $proxy := $values.proxy -}}
{{- $release := dict "operator-controller" "OPERATOR_IMAGE_VERSION" "olm-operator" "RELEASE_VERSION" "catalog-operator" "RELEASE_VERSION" -}}
{{- $named := get $release (index . 1) -}}{{- $version := ($values.openshift | default dict).releaseVersion -}}
{{- if and $named $version }}
- name: {{ $named }}
  value: {{ $version | quote }}
{{- end }}
{{- if eq (index . 1) "console" }}
- name: XDG_CACHE_HOME
  value: /var/cache
{{- if (include "update-service.registryCAs" (index . 0) | fromJson).list }}
- name: SSL_CERT_DIR
  value: /etc/ssl/certs:/var/ca-certs
{{- end }}
{{- end }}
{{- with $proxy.http }}
- name: HTTP_PROXY
  value: {{ . | quote }}
{{- end }}
{{- with $proxy.https }}
- name: HTTPS_PROXY
  value: {{ . | quote }}
{{- end }}
{{- if or $proxy.http $proxy.https (get $proxy "no") }}
- name: NO_PROXY
  value: {{ list (get $proxy "no") ".svc,.cluster.local,localhost,$(KUBERNETES_SERVICE_HOST)" | compact | join "," | quote }}
{{- end }}
{{- if $values.tracing.enabled }}
{{- with $values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- range $name, $value := $values.tracing.environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "update-service.arguments.common" -}}
{{- $root := index . 0 -}}{{- $values := include "update-service.component" . | fromJson -}}
- --leader-elect
- --system-namespace={{ include "update-service.namespace" . }}
- --health-probe-bind-address=:8081
- --tls-profile={{ $root.Values.tls.profile }}
{{- if (include "update-service.registryCAs" $root | fromJson).list }}
- --pull-cas-dir=/var/ca-certs
{{- end }}
{{- with $root.Values.globalPullSecret }}
- --global-pull-secret={{ . }}
{{- end }}
{{- if ne $root.Values.logging.format "text" }}
- --logging-format={{ $root.Values.logging.format }}
{{- end }}
{{- if $root.Values.tracing.enabled }}
- --tracing
{{- end }}
{{- range $gate, $on := $values.featureGates }}
- --feature-gates={{ $gate }}={{ $on }}
{{- end }}
{{- end -}}

{{- define "update-service.arguments.extra" -}}
{{- /* Last, so that they win. */ -}}
{{- range (include "update-service.component" . | fromJson).extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "update-service.mounts.common" -}}
- name: cache
  mountPath: /var/cache
- name: tmp
  mountPath: /tmp
{{- include "update-service.mounts.registries" (index . 0) }}
{{- end -}}

{{- define "update-service.mounts.registries" -}}
{{- /* $: what registries are trusted by, and their mirrors. */ -}}
{{- if (include "update-service.registryCAs" . | fromJson).list }}
- name: registry-cas
  mountPath: /var/ca-certs
  readOnly: true
{{- end }}
{{- if include "update-service.registriesConf" . }}
- name: registries-conf
  mountPath: /etc/containers
  readOnly: true
{{- end }}
{{- end -}}

{{- define "update-service.volumes.common" -}}
{{- $root := index . 0 -}}{{- $values := include "update-service.component" . | fromJson -}}
- name: cache
  emptyDir:
    {{- if $values.cache.sizeLimit }}
    sizeLimit: {{ $values.cache.sizeLimit }}
    {{- else }} {}
    {{- end }}
- name: tmp
  # Credentials for registries are written here: never to a disk.
  emptyDir:
    medium: Memory
    sizeLimit: 16Mi
{{- include "update-service.volumes.registries" $root }}
{{- end -}}

{{- define "update-service.volumes.registries" -}}
{{- with (include "update-service.registryCAs" . | fromJson).list }}
- name: registry-cas
  projected:
    sources:
      {{- range . }}
      - configMap:
          name: {{ . }}
      {{- end }}
{{- end }}
{{- with include "update-service.registriesConf" . }}
- name: registries-conf
  configMap:
    name: {{ . }}
{{- end }}
{{- end -}}
