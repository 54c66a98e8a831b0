{{/* The component is "catalog-operator" throughout. */}}

{{- define "olm-classic.component" -}}
{{- /* (list $ COMPONENT): the values of a component as JSON. */ -}}
{{ toJson (index . 0).Values.catalogOperator }}
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
{{- if and .Values.metrics.readers (not .Values.tls.secret) -}}
{{- fail "metrics.readers needs tls.secret: over HTTP nobody is asked who he is" -}}
{{- end -}}
{{- end -}}
