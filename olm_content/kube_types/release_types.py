"""The kinds that manifests of release images are merged into field by field, without status.

In the notation of `go_types`; source: the published types of k8s.io/api v0.34, of
github.com/openshift/api and of github.com/operator-framework/api.
"""

RELEASE_TYPES = """
AggregationRule: clusterRoleSelectors=[]LabelSelector
AllowedFlexVolume: driver=!str
ClientIPConfig: timeoutSeconds=*int32
ClusterOperator: kind=str apiVersion=str metadata=ObjectMeta spec=*any
ClusterRole: kind=str apiVersion=str metadata=ObjectMeta rules=![]PolicyRule
    aggregationRule=*AggregationRule
ClusterRoleBinding: kind=str apiVersion=str metadata=ObjectMeta subjects=[]Subject roleRef=!RoleRef
ConfigMap: kind=str apiVersion=str metadata=ObjectMeta immutable=*bool data={}str binaryData={}bytes
CronJob: kind=str apiVersion=str metadata=ObjectMeta spec=CronJobSpec
CronJobSpec: schedule=!str timeZone=*str startingDeadlineSeconds=*int concurrencyPolicy=str
    suspend=*bool jobTemplate=!JobTemplateSpec successfulJobsHistoryLimit=*int32
    failedJobsHistoryLimit=*int32
DaemonSet: kind=str apiVersion=str metadata=ObjectMeta spec=DaemonSetSpec
DaemonSetSpec: selector=!*LabelSelector template=!PodTemplateSpec
    updateStrategy=DaemonSetUpdateStrategy minReadySeconds=int32 revisionHistoryLimit=*int32
DaemonSetUpdateStrategy: type=str rollingUpdate=*RollingUpdateDaemonSet
Deployment: kind=str apiVersion=str metadata=ObjectMeta spec=DeploymentSpec
FSGroupStrategyOptions: type=str ranges=[]IDRange
IDRange: min=int max=int
ImageLookupPolicy: local=!bool
ImageStream: kind=str apiVersion=str metadata=ObjectMeta spec=ImageStreamSpec
ImageStreamSpec: lookupPolicy=ImageLookupPolicy dockerImageRepository=str tags=[]TagReference
Job: kind=str apiVersion=str metadata=ObjectMeta spec=JobSpec
JobSpec: parallelism=*int32 completions=*int32 activeDeadlineSeconds=*int
    podFailurePolicy=*PodFailurePolicy successPolicy=*SuccessPolicy backoffLimit=*int32
    backoffLimitPerIndex=*int32 maxFailedIndexes=*int32 selector=*LabelSelector manualSelector=*bool
    template=!PodTemplateSpec ttlSecondsAfterFinished=*int32 completionMode=*str suspend=*bool
    podReplacementPolicy=*str managedBy=*str
JobTemplateSpec: metadata=ObjectMeta spec=JobSpec
MatchCondition: name=!str expression=!str
Namespace: kind=str apiVersion=str metadata=ObjectMeta spec=NamespaceSpec
NamespaceSpec: finalizers=[]str
ObjectReference: kind=str namespace=str name=str uid=str apiVersion=str resourceVersion=str
    fieldPath=str
OperatorGroup: kind=str apiVersion=str metadata=ObjectMeta spec=OperatorGroupSpec
OperatorGroupSpec: selector=*LabelSelector targetNamespaces=[]str serviceAccountName=str
    staticProvidedAPIs=bool upgradeStrategy=str
PodFailurePolicy: rules=![]PodFailurePolicyRule
PodFailurePolicyOnExitCodes: containerName=*str operator=!str values=![]int32
PodFailurePolicyOnPodCondition: type=!str status=!str
PodFailurePolicyRule: action=!str onExitCodes=*PodFailurePolicyOnExitCodes
    onPodConditions=[]PodFailurePolicyOnPodCondition
Role: kind=str apiVersion=str metadata=ObjectMeta rules=![]PolicyRule
RoleBinding: kind=str apiVersion=str metadata=ObjectMeta subjects=[]Subject roleRef=!RoleRef
RoleRef: apiGroup=!str kind=!str name=!str
RollingUpdateDaemonSet: maxUnavailable=*intstr maxSurge=*intstr
RunAsUserStrategyOptions: type=str uid=*int uidRangeMin=*int uidRangeMax=*int
SELinuxContextStrategyOptions: type=str seLinuxOptions=*SELinuxOptions
SecurityContextConstraints: kind=str apiVersion=str metadata=ObjectMeta priority=!*int32
    allowPrivilegedContainer=!bool defaultAddCapabilities=![]str requiredDropCapabilities=![]str
    allowedCapabilities=![]str allowHostDirVolumePlugin=!bool volumes=![]str
    allowedFlexVolumes=[]AllowedFlexVolume allowHostNetwork=!bool allowHostPorts=!bool
    allowHostPID=!bool allowHostIPC=!bool userNamespaceLevel=str
    defaultAllowPrivilegeEscalation=*bool allowPrivilegeEscalation=*bool
    seLinuxContext=SELinuxContextStrategyOptions runAsUser=RunAsUserStrategyOptions
    supplementalGroups=SupplementalGroupsStrategyOptions fsGroup=FSGroupStrategyOptions
    readOnlyRootFilesystem=!bool users=![]str groups=![]str seccompProfiles=[]str
    allowedUnsafeSysctls=[]str forbiddenSysctls=[]str
Service: kind=str apiVersion=str metadata=ObjectMeta spec=ServiceSpec
ServiceAccount: kind=str apiVersion=str metadata=ObjectMeta secrets=[]ObjectReference
    imagePullSecrets=[]LocalObjectReference automountServiceAccountToken=*bool
ServicePort: name=str protocol=str appProtocol=*str port=!int32 targetPort=intstr nodePort=int32
ServiceSpec: ports=[]ServicePort selector={}str clusterIP=str clusterIPs=[]str type=str
    externalIPs=[]str sessionAffinity=str loadBalancerIP=str loadBalancerSourceRanges=[]str
    externalName=str externalTrafficPolicy=str healthCheckNodePort=int32
    publishNotReadyAddresses=bool sessionAffinityConfig=*SessionAffinityConfig ipFamilies=[]str
    ipFamilyPolicy=*str allocateLoadBalancerNodePorts=*bool loadBalancerClass=*str
    internalTrafficPolicy=*str trafficDistribution=*str
SessionAffinityConfig: clientIP=*ClientIPConfig
Subject: kind=!str apiGroup=str name=!str namespace=str
SuccessPolicy: rules=![]SuccessPolicyRule
SuccessPolicyRule: succeededIndexes=*str succeededCount=*int32
SupplementalGroupsStrategyOptions: type=str ranges=[]IDRange
TagImportPolicy: insecure=bool scheduled=bool importMode=str
TagReference: name=!str annotations=!{}str from=*ObjectReference reference=bool generation=!*int
    importPolicy=TagImportPolicy referencePolicy=TagReferencePolicy
TagReferencePolicy: type=!str
ValidatingWebhook: name=!str clientConfig=!WebhookClientConfig rules=[]RuleWithOperations
    failurePolicy=*str matchPolicy=*str namespaceSelector=*LabelSelector
    objectSelector=*LabelSelector sideEffects=!*str timeoutSeconds=*int32
    admissionReviewVersions=![]str matchConditions=[]MatchCondition
ValidatingWebhookConfiguration: kind=str apiVersion=str metadata=ObjectMeta
    webhooks=[]ValidatingWebhook
"""
