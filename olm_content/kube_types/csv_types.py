"""The shape of a ClusterServiceVersion.

Written in the notation of `go_types`; source: the published CRD of
operators.coreos.com/v1alpha1 ClusterServiceVersion.
"""

CSV_TYPES = """
ClusterServiceVersion: kind=str apiVersion=str metadata=ObjectMeta spec=!CSVSpec
    status=*CSVStatus
CSVSpec: install=!InstallStrategy version=semver release=release maturity=str
    customresourcedefinitions=CRDDescriptions apiservicedefinitions=APIServiceDefinitions
    webhookdefinitions=[]WebhookDescription nativeAPIs=[]GroupVersionKind minKubeVersion=str
    displayName=!str description=str keywords=[]str maintainers=[]Maintainer provider=AppLink
    links=[]AppLink icon=[]Icon installModes=[]InstallMode replaces=str labels={}str
    annotations={}str selector=*LabelSelector cleanup=CleanupSpec skips=[]str
    relatedImages=[]RelatedImage
InstallStrategy: strategy=!str spec=StrategyDetailsDeployment
StrategyDetailsDeployment: deployments=![]StrategyDeploymentSpec
    permissions=[]StrategyDeploymentPermissions clusterPermissions=[]StrategyDeploymentPermissions
StrategyDeploymentSpec: name=!str spec=!DeploymentSpec label={}str
StrategyDeploymentPermissions: serviceAccountName=!str rules=![]PolicyRule
CRDDescriptions: owned=[]CRDDescription required=[]CRDDescription
CRDDescription: name=!str version=!str kind=!str displayName=str description=str
    resources=[]APIResourceReference statusDescriptors=[]StatusDescriptor
    specDescriptors=[]SpecDescriptor actionDescriptors=[]ActionDescriptor
APIServiceDefinitions: owned=[]APIServiceDescription required=[]APIServiceDescription
APIServiceDescription: name=!str group=!str version=!str kind=!str deploymentName=str
    containerPort=int32 displayName=str description=str resources=[]APIResourceReference
    statusDescriptors=[]StatusDescriptor specDescriptors=[]SpecDescriptor
    actionDescriptors=[]ActionDescriptor
APIResourceReference: name=!str kind=!str version=!str
StatusDescriptor: path=!str displayName=str description=str x-descriptors=[]str value=any
SpecDescriptor: path=!str displayName=str description=str x-descriptors=[]str value=any
ActionDescriptor: path=!str displayName=str description=str x-descriptors=[]str value=any
WebhookDescription: generateName=!str type=!str deploymentName=str containerPort=int32
    targetPort=*intstr rules=[]RuleWithOperations failurePolicy=*str matchPolicy=*str
    objectSelector=*LabelSelector sideEffects=!*str timeoutSeconds=*int32
    admissionReviewVersions=![]str reinvocationPolicy=*str webhookPath=*str conversionCRDs=[]str
GroupVersionKind: group=!str version=!str kind=!str
Maintainer: name=str email=str
AppLink: name=str url=str
Icon: base64data=!str mediatype=!str
InstallMode: type=!str supported=!bool
CleanupSpec: enabled=!bool
RelatedImage: name=!str image=!str
CSVStatus: phase=str message=str reason=str lastUpdateTime=*time lastTransitionTime=*time
    conditions=[]CSVCondition requirementStatus=[]RequirementStatus certsLastUpdated=*time
    certsRotateAt=*time cleanup=CleanupStatus
CSVCondition: phase=str message=str reason=str lastUpdateTime=*time lastTransitionTime=*time
RequirementStatus: group=!str version=!str kind=!str name=!str status=!str message=!str uuid=str
    dependents=[]DependentStatus
DependentStatus: group=!str version=!str kind=!str status=!str uuid=str message=str
CleanupStatus: pendingDeletion=[]ResourceList
ResourceList: group=!str kind=!str instances=![]ResourceInstance
ResourceInstance: name=!str namespace=str
"""
"""Everything a ClusterServiceVersion may say about an operator."""

CONFIG_TYPES = """
DeploymentConfig: nodeSelector={}str tolerations=[]Toleration resources=*ResourceRequirements
    envFrom=[]EnvFromSource env=[]EnvVar volumes=[]Volume volumeMounts=[]VolumeMount
    affinity=*Affinity annotations={}str
"""
"""What a user may change about an operator's deployments: OLM v0's SubscriptionConfig."""
