{{/* The component is "catalogd", "operator-controller" or "console" throughout. */}}

{{- define "olmv1.component" -}}
{{- /* (list $ COMPONENT): the values of a component as JSON. */ -}}
{{- $root := index . 0 -}}
{{- if eq (index . 1) "catalogd" -}}{{ toJson $root.Values.catalogd }}{{- else if eq (index . 1) "console" -}}{{ toJson $root.Values.console }}{{- else -}}{{ toJson $root.Values.operatorController }}{{- end -}}
{{- end -}}

{{- define "olmv1.namespace" -}}
{{- /* (list $ COMPONENT): where the component lives. */ -}}
{{- $values := include "olmv1.component" . | fromJson -}}
{{- $values.namespace | default (index . 0).Release.Namespace -}}
{{- end -}}

{{- define "olmv1.namespaces" -}}
{{- /* $: the namespaces of both components, as JSON: {"list": [...]}. */ -}}
{{- dict "list" (list (include "olmv1.namespace" (list . "catalogd")) (include "olmv1.namespace" (list . "operator-controller")) | uniq) | toJson -}}
{{- end -}}

{{- define "olmv1.labels" -}}
{{- /* (list $ NAME): NAME is the component, or olmv1 for what belongs to both. */ -}}
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

{{- define "olmv1.catalogd.dnsNames" -}}
{{- /* $: the names that catalogd is called by, as JSON: {"list": [...]}. */ -}}
{{- $namespace := include "olmv1.namespace" (list . "catalogd") -}}
{{- $names := list (printf "catalogd-service.%s.svc" $namespace) (printf "catalogd-service.%s.svc.cluster.local" $namespace) "localhost" -}}
{{- with .Values.catalogd.externalAddress -}}
{{- $names = append $names (splitList ":" . | first) -}}
{{- end -}}
{{- dict "list" ($names | uniq) | toJson -}}
{{- end -}}

{{- define "olmv1.operatorController.dnsNames" -}}
{{- $namespace := include "olmv1.namespace" (list . "operator-controller") -}}
{{- dict "list" (list (printf "operator-controller-service.%s.svc" $namespace) (printf "operator-controller-service.%s.svc.cluster.local" $namespace)) | toJson -}}
{{- end -}}

{{- define "olmv1.registryCAs" -}}
{{- /* $: the names of ConfigMaps with CAs of registries, as JSON: {"list": [...]}. */ -}}
{{- $names := list -}}
{{- if .Values.trustedCAs.pem -}}{{- $names = append $names "olmv1-registry-cas" -}}{{- end -}}
{{- with .Values.trustedCAs.configMap -}}{{- $names = append $names . -}}{{- end -}}
{{- dict "list" $names | toJson -}}
{{- end -}}

{{- define "olmv1.registriesConf" -}}
{{- /* $: the name of the ConfigMap with registries.conf, or nothing. */ -}}
{{- if .Values.registriesConf.content -}}olmv1-registries-conf{{- else -}}{{ .Values.registriesConf.configMap }}{{- end -}}
{{- end -}}

{{- define "olmv1.catalogs" -}}
{{- /* $: all ClusterCatalogs that values ask for, as JSON: {"list": [...]}; of two of a name that of `catalogs`. */ -}}
{{- $all := .Values.catalogs -}}
{{- $names := list -}}
{{- range .Values.catalogs -}}{{- $names = append $names .name -}}{{- end -}}
{{- range $set, $wanted := .Values.defaultCatalogs -}}
{{- if $wanted -}}
{{- range ($.Files.Get (printf "values-catalogs-%s.yaml" $set) | fromYaml).catalogs -}}
{{- if not (has .name $names) -}}{{- $all = append $all . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "list" $all | toJson -}}
{{- end -}}

{{- define "olmv1.catalog.spec" -}}
{{- /* CATALOG: with the defaults that the API server would fill in. */ -}}
priority: {{ .priority | default 0 }}
availabilityMode: {{ .availabilityMode | default "Available" }}
source:
  type: Image
  image:
    ref: {{ .image | quote }}
    {{- with .pollIntervalMinutes }}
    pollIntervalMinutes: {{ . }}
    {{- end }}
{{- end -}}

{{- define "olmv1.catalog.isMadeAnew" -}}
{{- /* (list $ CATALOG): "yes" for one that is to change and that the last release did not have. Helm takes such over as they are. */ -}}
{{- $root := index . 0 -}}{{- $catalog := index . 1 -}}
{{- $live := lookup "olm.operatorframework.io/v1" "ClusterCatalog" "" $catalog.name | default dict -}}
{{- $notes := dig "metadata" "annotations" (dict) $live -}}
{{- if and (eq (get $notes "meta.helm.sh/release-name") $root.Release.Name) (or $root.Release.IsInstall (hasKey $notes "helm.sh/hook")) -}}
{{- $wanted := include "olmv1.catalog.spec" $catalog | fromYaml -}}
{{- $labels := dig "metadata" "labels" (dict) $live -}}
{{- $same := eq (toJson $wanted) (toJson $live.spec) -}}
{{- range $key, $value := $catalog.labels -}}
{{- $same = and $same (eq (get $labels $key) $value) -}}
{{- end -}}
{{- if not $same -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- define "olmv1.check" -}}
{{- /* $: refuses values that contradict each other. */ -}}
{{- $apart := gt (len (include "olmv1.namespaces" . | fromJson).list) 1 -}}
{{- if and $apart (eq .Values.tls.provider "self") -}}
{{- fail "tls.provider self keeps both certificates in one namespace: leave catalogd.namespace and operatorController.namespace empty, or choose another provider" -}}
{{- end -}}
{{- if and $apart (eq .Values.tls.provider "cert-manager") (not .Values.tls.certManager.issuerRef) -}}
{{- fail "tls.provider cert-manager with two namespaces needs tls.certManager.issuerRef to name a ClusterIssuer" -}}
{{- end -}}
{{- if and (eq .Values.tls.provider "secret") .Values.webhook.enabled (not .Values.tls.caBundle) -}}
{{- fail "tls.provider secret needs tls.caBundle, the CA of catalogd's certificate, or webhook.enabled=false" -}}
{{- end -}}
{{- if and .Values.registriesConf.content .Values.registriesConf.configMap -}}
{{- fail "registriesConf.content and registriesConf.configMap exclude each other" -}}
{{- end -}}
{{- end -}}
