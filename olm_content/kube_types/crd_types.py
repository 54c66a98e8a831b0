"""What OpenAPI does not say of CustomResourceDefinitions: v1beta1 of old bundles, an empty struct.

In the notation of `go_types`; source: the published types of k8s.io/apiextensions-apiserver v0.34.
"""

CRD_TYPES = """
ConversionV1beta1: strategy=!str webhookClientConfig=*WebhookClientConfig
    conversionReviewVersions=[]str
CustomResourceDefinitionV1beta1: kind=str apiVersion=str metadata=ObjectMeta spec=!SpecV1beta1
    status=CustomResourceDefinitionStatus
CustomResourceSubresourceStatus:
ColumnV1beta1: name=!str type=!str format=str description=str priority=int32 JSONPath=!str
SpecV1beta1: group=!str version=str names=!CustomResourceDefinitionNames scope=!str
    validation=*CustomResourceValidation subresources=*CustomResourceSubresources
    versions=[]VersionV1beta1 additionalPrinterColumns=[]ColumnV1beta1
    selectableFields=[]SelectableField conversion=*ConversionV1beta1 preserveUnknownFields=*bool
VersionV1beta1: name=!str served=!bool storage=!bool deprecated=bool deprecationWarning=*str
    schema=*CustomResourceValidation subresources=*CustomResourceSubresources
    additionalPrinterColumns=[]ColumnV1beta1 selectableFields=[]SelectableField
"""
