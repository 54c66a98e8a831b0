{{/* The component is "update-service" throughout; its values are at the top. */}}

{{- define "update-service.component" -}}
{{- /* (list $ COMPONENT): the values of the component as JSON. */ -}}
{{- (index . 0).Values | toJson -}}
{{- end -}}

{{- define "update-service.namespace" -}}
{{- /* (list $ COMPONENT): where the component lives. */ -}}
{{ (index . 0).Release.Namespace }}
{{- end -}}

{{- define "update-service.check" -}}
{{- /* $: refuses values that contradict each other. */ -}}
{{- if and .Values.registriesConf.content .Values.registriesConf.configMap -}}
{{- fail "registriesConf.content and registriesConf.configMap exclude each other" -}}
{{- end -}}
{{- if eq (empty .Values.graphData.image) (empty .Values.graphData.volume) -}}
{{- fail "give one of graphData.image and graphData.volume" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host" -}}
{{- end -}}
{{- end -}}
