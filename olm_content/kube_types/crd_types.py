"""The shape of a CustomResourceDefinition (v1, and v1beta1 of old bundles), rules and metadata.

Written in the notation of `go_types`; source: the published types of
k8s.io/apiextensions-apiserver, k8s.io/api and k8s.io/apimachinery v0.34.
"""

CRD_TYPES = """
ConversionV1beta1: strategy=!str webhookClientConfig=*WebhookClientConfig
    conversionReviewVersions=[]str
CustomResourceColumnDefinition: name=!str type=!str format=str description=str priority=int32
    jsonPath=!str
CustomResourceConversion: strategy=!str webhook=*WebhookConversion
CustomResourceDefinition: kind=str apiVersion=str metadata=ObjectMeta
    spec=!CustomResourceDefinitionSpec status=CustomResourceDefinitionStatus
CustomResourceDefinitionCondition: type=!str status=!str lastTransitionTime=time reason=str
    message=str
CustomResourceDefinitionNames: plural=!str singular=str shortNames=[]str kind=!str listKind=str
    categories=[]str
CustomResourceDefinitionSpec: group=!str names=!CustomResourceDefinitionNames scope=!str
    versions=![]CustomResourceDefinitionVersion conversion=*CustomResourceConversion
    preserveUnknownFields=bool
CustomResourceDefinitionStatus: conditions=![]CustomResourceDefinitionCondition
    acceptedNames=!CustomResourceDefinitionNames storedVersions=![]str
CustomResourceDefinitionV1beta1: kind=str apiVersion=str metadata=ObjectMeta
    spec=!SpecV1beta1 status=CustomResourceDefinitionStatus
CustomResourceDefinitionVersion: name=!str served=!bool storage=!bool deprecated=bool
    deprecationWarning=*str schema=*CustomResourceValidation
    subresources=*CustomResourceSubresources
    additionalPrinterColumns=[]CustomResourceColumnDefinition selectableFields=[]SelectableField
CustomResourceSubresourceScale: specReplicasPath=!str statusReplicasPath=!str
    labelSelectorPath=*str
CustomResourceSubresourceStatus:
CustomResourceSubresources: status=*CustomResourceSubresourceStatus
    scale=*CustomResourceSubresourceScale
CustomResourceValidation: openAPIV3Schema=*JSONSchemaProps
ExternalDocumentation: description=str url=str
JSONSchemaProps: id=str $schema=str $ref=*str description=str type=str format=str title=str
    default=*any maximum=*float exclusiveMaximum=bool minimum=*float exclusiveMinimum=bool
    maxLength=*int minLength=*int pattern=str maxItems=*int minItems=*int uniqueItems=bool
    multipleOf=*float enum=[]any maxProperties=*int minProperties=*int required=[]str
    items=*schema|list allOf=[]JSONSchemaProps oneOf=[]JSONSchemaProps anyOf=[]JSONSchemaProps
    not=*JSONSchemaProps properties={}JSONSchemaProps additionalProperties=*schema|bool
    patternProperties={}JSONSchemaProps dependencies={}schema|strings
    additionalItems=*schema|bool definitions={}JSONSchemaProps
    externalDocs=*ExternalDocumentation example=*any nullable=bool
    x-kubernetes-preserve-unknown-fields=*bool x-kubernetes-embedded-resource=bool
    x-kubernetes-int-or-string=bool x-kubernetes-list-map-keys=[]str x-kubernetes-list-type=*str
    x-kubernetes-map-type=*str x-kubernetes-validations=[]ValidationRule
SelectableField: jsonPath=!str
ServiceReference: namespace=!str name=!str path=*str port=*int32
ColumnV1beta1: name=!str type=!str format=str description=str priority=int32 JSONPath=!str
SpecV1beta1: group=!str version=str names=!CustomResourceDefinitionNames scope=!str
    validation=*CustomResourceValidation subresources=*CustomResourceSubresources
    versions=[]VersionV1beta1 additionalPrinterColumns=[]ColumnV1beta1
    selectableFields=[]SelectableField conversion=*ConversionV1beta1 preserveUnknownFields=*bool
VersionV1beta1: name=!str served=!bool storage=!bool deprecated=bool deprecationWarning=*str
    schema=*CustomResourceValidation subresources=*CustomResourceSubresources
    additionalPrinterColumns=[]ColumnV1beta1 selectableFields=[]SelectableField
ValidationRule: rule=!str message=str messageExpression=str reason=*str fieldPath=str
    optionalOldSelf=*bool
WebhookClientConfig: url=*str service=*ServiceReference caBundle=bytes
WebhookConversion: clientConfig=*WebhookClientConfig conversionReviewVersions=![]str
"""
"""Definitions and their schemas."""

META_TYPES = """
LabelSelector: matchLabels={}str matchExpressions=[]LabelSelectorRequirement
LabelSelectorRequirement: key=!str operator=!str values=[]str
ManagedFieldsEntry: manager=str operation=str apiVersion=str time=*time fieldsType=str
    fieldsV1=*any subresource=str
ObjectMeta: name=str generateName=str namespace=str selfLink=str uid=str resourceVersion=str
    generation=int creationTimestamp=time deletionTimestamp=*time deletionGracePeriodSeconds=*int
    labels={}str annotations={}str ownerReferences=[]OwnerReference finalizers=[]str
    managedFields=[]ManagedFieldsEntry
OwnerReference: apiVersion=!str kind=!str name=!str uid=!str controller=*bool
    blockOwnerDeletion=*bool
PolicyRule: verbs=![]str apiGroups=[]str resources=[]str resourceNames=[]str
    nonResourceURLs=[]str
RuleWithOperations: operations=[]str apiGroups=[]str apiVersions=[]str resources=[]str scope=*str
"""
"""Metadata, selectors, rules."""
