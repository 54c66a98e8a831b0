{{/* The component is "catalog-operator", "olm-operator" or "package-server" throughout. */}}

{{- define "olm-classic.components" -}}
{{- /* $: those that values ask for, as JSON: {"list": [...]}. */ -}}
{{- $all := list "catalog-operator" "olm-operator" -}}
{{- if .Values.packageServer.enabled -}}{{- $all = append $all "package-server" -}}{{- end -}}
{{- dict "list" $all | toJson -}}
{{- end -}}

{{- define "olm-classic.component" -}}
{{- /* (list $ COMPONENT): the values of a component as JSON. */ -}}
{{- $root := index . 0 -}}
{{- $keys := dict "catalog-operator" "catalogOperator" "olm-operator" "olmOperator" "package-server" "packageServer" -}}
{{- get $root.Values (get $keys (index . 1)) | toJson -}}
{{- end -}}

{{- define "olm-classic.namespace" -}}
{{- /* (list $ COMPONENT): where the component lives. */ -}}
{{ (index . 0).Release.Namespace }}
{{- end -}}

{{- define "olm-classic.globalNamespace" -}}
{{- .Values.globalNamespace | default .Release.Namespace -}}
{{- end -}}

{{- define "olm-classic.check" -}}
{{- /* $: refuses values that contradict each other. */ -}}
{{- if and .Values.registriesConf.content .Values.registriesConf.configMap -}}
{{- fail "registriesConf.content and registriesConf.configMap exclude each other" -}}
{{- end -}}
{{- if and .Values.metrics.readers (not (and .Values.tls.secret .Values.olmOperator.tls.secret)) -}}
{{- fail "metrics.readers needs tls.secret and olmOperator.tls.secret: over HTTP nobody is asked who he is" -}}
{{- end -}}
{{- end -}}

{{- define "olm-classic.metricsSecret" -}}
{{- /* (list $ COMPONENT): the Secret that the metrics of a component are served with, or nothing. */ -}}
{{- $values := (index . 0).Values -}}
{{- if eq (index . 1) "olm-operator" -}}{{ $values.olmOperator.tls.secret }}{{- else -}}{{ $values.tls.secret }}{{- end -}}
{{- end -}}
