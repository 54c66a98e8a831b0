{{/* The component is "catalog-operator" or "package-server" throughout. */}}

{{- define "olm-classic.components" -}}
{{- /* $: those that values ask for, as JSON: {"list": [...]}. */ -}}
{{- $all := list "catalog-operator" -}}
{{- if .Values.packageServer.enabled -}}{{- $all = append $all "package-server" -}}{{- end -}}
{{- dict "list" $all | toJson -}}
{{- end -}}

{{- define "olm-classic.component" -}}
{{- /* (list $ COMPONENT): the values of a component as JSON. */ -}}
{{- $root := index . 0 -}}
{{- if eq (index . 1) "package-server" -}}{{ toJson $root.Values.packageServer }}{{- else -}}{{ toJson $root.Values.catalogOperator }}{{- end -}}
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
