"""Types of Kubernetes. Generated from its OpenAPI by `make generate`. Do not edit.

In the notation of `go_types`. Fields stand in the order of Go's structs, which OpenAPI does not
know: the order in this file stays as it is, and new fields come last.
"""

KUBERNETES_TYPES = """
AWSElasticBlockStoreVolumeSource: volumeID=!str fsType=str partition=int32 readOnly=bool
Affinity: nodeAffinity=*NodeAffinity podAffinity=*PodAffinity podAntiAffinity=*PodAntiAffinity
AppArmorProfile: type=!str localhostProfile=*str
AzureDiskVolumeSource: diskName=!str diskURI=!str cachingMode=*str fsType=*str readOnly=*bool
    kind=*str
AzureFileVolumeSource: secretName=!str shareName=!str readOnly=bool
CSIVolumeSource: driver=!str readOnly=*bool fsType=*str volumeAttributes={}str
    nodePublishSecretRef=*LocalObjectReference
Capabilities: add=[]str drop=[]str
CephFSVolumeSource: monitors=![]str path=str user=str secretFile=str secretRef=*LocalObjectReference
    readOnly=bool
CinderVolumeSource: volumeID=!str fsType=str readOnly=bool secretRef=*LocalObjectReference
ClusterTrustBundleProjection: name=*str signerName=*str labelSelector=*LabelSelector optional=*bool
    path=!str
ConfigMapEnvSource: name=str optional=*bool
ConfigMapKeySelector: name=str key=!str optional=*bool
ConfigMapProjection: name=str items=[]KeyToPath optional=*bool
ConfigMapVolumeSource: name=str items=[]KeyToPath defaultMode=*int32 optional=*bool
Container: name=!str image=str command=[]str args=[]str workingDir=str ports=[]ContainerPort
    envFrom=[]EnvFromSource env=[]EnvVar resources=ResourceRequirements
    resizePolicy=[]ContainerResizePolicy restartPolicy=*str
    restartPolicyRules=[]ContainerRestartRule volumeMounts=[]VolumeMount
    volumeDevices=[]VolumeDevice livenessProbe=*Probe readinessProbe=*Probe startupProbe=*Probe
    lifecycle=*Lifecycle terminationMessagePath=str terminationMessagePolicy=str imagePullPolicy=str
    securityContext=*SecurityContext stdin=bool stdinOnce=bool tty=bool
ContainerPort: name=str hostPort=int32 containerPort=!int32 protocol=str hostIP=str
ContainerResizePolicy: resourceName=!str restartPolicy=!str
ContainerRestartRule: action=str exitCodes=*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator=str values=[]int32
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
CustomResourceDefinitionVersion: name=!str served=!bool storage=!bool deprecated=bool
    deprecationWarning=*str schema=*CustomResourceValidation
    subresources=*CustomResourceSubresources
    additionalPrinterColumns=[]CustomResourceColumnDefinition selectableFields=[]SelectableField
CustomResourceSubresourceScale: specReplicasPath=!str statusReplicasPath=!str labelSelectorPath=*str
CustomResourceSubresources: status=*CustomResourceSubresourceStatus
    scale=*CustomResourceSubresourceScale
CustomResourceValidation: openAPIV3Schema=*JSONSchemaProps
DeploymentSpec: replicas=*int32 selector=!*LabelSelector template=!PodTemplateSpec
    strategy=DeploymentStrategy minReadySeconds=int32 revisionHistoryLimit=*int32 paused=bool
    progressDeadlineSeconds=*int32
DeploymentStrategy: type=str rollingUpdate=*RollingUpdateDeployment
DownwardAPIProjection: items=[]DownwardAPIVolumeFile
DownwardAPIVolumeFile: path=!str fieldRef=*ObjectFieldSelector
    resourceFieldRef=*ResourceFieldSelector mode=*int32
DownwardAPIVolumeSource: items=[]DownwardAPIVolumeFile defaultMode=*int32
EmptyDirVolumeSource: medium=str sizeLimit=*quantity
EnvFromSource: prefix=str configMapRef=*ConfigMapEnvSource secretRef=*SecretEnvSource
EnvVar: name=!str value=str valueFrom=*EnvVarSource
EnvVarSource: fieldRef=*ObjectFieldSelector resourceFieldRef=*ResourceFieldSelector
    configMapKeyRef=*ConfigMapKeySelector secretKeyRef=*SecretKeySelector
    fileKeyRef=*FileKeySelector
EphemeralContainer: name=!str image=str command=[]str args=[]str workingDir=str
    ports=[]ContainerPort envFrom=[]EnvFromSource env=[]EnvVar resources=ResourceRequirements
    resizePolicy=[]ContainerResizePolicy restartPolicy=*str
    restartPolicyRules=[]ContainerRestartRule volumeMounts=[]VolumeMount
    volumeDevices=[]VolumeDevice livenessProbe=*Probe readinessProbe=*Probe startupProbe=*Probe
    lifecycle=*Lifecycle terminationMessagePath=str terminationMessagePolicy=str imagePullPolicy=str
    securityContext=*SecurityContext stdin=bool stdinOnce=bool tty=bool targetContainerName=str
EphemeralVolumeSource: volumeClaimTemplate=*PersistentVolumeClaimTemplate
ExecAction: command=[]str
ExternalDocumentation: description=str url=str
FCVolumeSource: targetWWNs=[]str lun=*int32 fsType=str readOnly=bool wwids=[]str
FileKeySelector: volumeName=!str path=!str key=!str optional=*bool
FlexVolumeSource: driver=!str fsType=str secretRef=*LocalObjectReference readOnly=bool options={}str
FlockerVolumeSource: datasetName=str datasetUUID=str
GCEPersistentDiskVolumeSource: pdName=!str fsType=str partition=int32 readOnly=bool
GRPCAction: port=!int32 service=!*str
GitRepoVolumeSource: repository=!str revision=str directory=str
GlusterfsVolumeSource: endpoints=!str path=!str readOnly=bool
HTTPGetAction: path=str port=!intstr host=str scheme=str httpHeaders=[]HTTPHeader
HTTPHeader: name=!str value=!str
HostAlias: ip=!str hostnames=[]str
HostPathVolumeSource: path=!str type=*str
ISCSIVolumeSource: targetPortal=!str iqn=!str lun=!int32 iscsiInterface=str fsType=str readOnly=bool
    portals=[]str chapAuthDiscovery=bool chapAuthSession=bool secretRef=*LocalObjectReference
    initiatorName=*str
ImageVolumeSource: reference=str pullPolicy=str
JSONSchemaProps: id=str $schema=str $ref=*str description=str type=str format=str title=str
    default=*any maximum=*float exclusiveMaximum=bool minimum=*float exclusiveMinimum=bool
    maxLength=*int minLength=*int pattern=str maxItems=*int minItems=*int uniqueItems=bool
    multipleOf=*float enum=[]any maxProperties=*int minProperties=*int required=[]str
    items=*schema|list allOf=[]JSONSchemaProps oneOf=[]JSONSchemaProps anyOf=[]JSONSchemaProps
    not=*JSONSchemaProps properties={}JSONSchemaProps additionalProperties=*schema|bool
    patternProperties={}JSONSchemaProps dependencies={}schema|strings additionalItems=*schema|bool
    definitions={}JSONSchemaProps externalDocs=*ExternalDocumentation example=*any nullable=bool
    x-kubernetes-preserve-unknown-fields=*bool x-kubernetes-embedded-resource=bool
    x-kubernetes-int-or-string=bool x-kubernetes-list-map-keys=[]str x-kubernetes-list-type=*str
    x-kubernetes-map-type=*str x-kubernetes-validations=[]ValidationRule
KeyToPath: key=!str path=!str mode=*int32
LabelSelector: matchLabels={}str matchExpressions=[]LabelSelectorRequirement
LabelSelectorRequirement: key=!str operator=!str values=[]str
Lifecycle: postStart=*LifecycleHandler preStop=*LifecycleHandler stopSignal=*str
LifecycleHandler: exec=*ExecAction httpGet=*HTTPGetAction tcpSocket=*TCPSocketAction
    sleep=*SleepAction
LocalObjectReference: name=str
ManagedFieldsEntry: manager=str operation=str apiVersion=str time=*time fieldsType=str fieldsV1=*any
    subresource=str
NFSVolumeSource: server=!str path=!str readOnly=bool
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution=*NodeSelector
    preferredDuringSchedulingIgnoredDuringExecution=[]PreferredSchedulingTerm
NodeSelector: nodeSelectorTerms=![]NodeSelectorTerm
NodeSelectorRequirement: key=!str operator=!str values=[]str
NodeSelectorTerm: matchExpressions=[]NodeSelectorRequirement matchFields=[]NodeSelectorRequirement
ObjectFieldSelector: apiVersion=str fieldPath=!str
ObjectMeta: name=str generateName=str namespace=str selfLink=str uid=str resourceVersion=str
    generation=int creationTimestamp=time deletionTimestamp=*time deletionGracePeriodSeconds=*int
    labels={}str annotations={}str ownerReferences=[]OwnerReference finalizers=[]str
    managedFields=[]ManagedFieldsEntry
OwnerReference: apiVersion=!str kind=!str name=!str uid=!str controller=*bool
    blockOwnerDeletion=*bool
PersistentVolumeClaimSpec: accessModes=[]str selector=*LabelSelector
    resources=VolumeResourceRequirements volumeName=str storageClassName=*str volumeMode=*str
    dataSource=*TypedLocalObjectReference dataSourceRef=*TypedObjectReference
    volumeAttributesClassName=*str
PersistentVolumeClaimTemplate: metadata=ObjectMeta spec=!PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName=!str readOnly=bool
PhotonPersistentDiskVolumeSource: pdID=!str fsType=str
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution=[]PodAffinityTerm
    preferredDuringSchedulingIgnoredDuringExecution=[]WeightedPodAffinityTerm
PodAffinityTerm: labelSelector=*LabelSelector namespaces=[]str topologyKey=!str
    namespaceSelector=*LabelSelector matchLabelKeys=[]str mismatchLabelKeys=[]str
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution=[]PodAffinityTerm
    preferredDuringSchedulingIgnoredDuringExecution=[]WeightedPodAffinityTerm
PodCertificateProjection: signerName=str keyType=str maxExpirationSeconds=*int32
    credentialBundlePath=str keyPath=str certificateChainPath=str userAnnotations={}str
PodDNSConfig: nameservers=[]str searches=[]str options=[]PodDNSConfigOption
PodDNSConfigOption: name=str value=*str
PodOS: name=!str
PodReadinessGate: conditionType=!str
PodResourceClaim: name=!str resourceClaimName=*str resourceClaimTemplateName=*str
PodSchedulingGate: name=!str
PodSchedulingGroup: podGroupName=*str
PodSecurityContext: seLinuxOptions=*SELinuxOptions windowsOptions=*WindowsSecurityContextOptions
    runAsUser=*int runAsGroup=*int runAsNonRoot=*bool supplementalGroups=[]int
    supplementalGroupsPolicy=*str fsGroup=*int sysctls=[]Sysctl fsGroupChangePolicy=*str
    seccompProfile=*SeccompProfile appArmorProfile=*AppArmorProfile seLinuxChangePolicy=*str
PodSpec: volumes=[]Volume initContainers=[]Container containers=![]Container
    ephemeralContainers=[]EphemeralContainer restartPolicy=str terminationGracePeriodSeconds=*int
    activeDeadlineSeconds=*int dnsPolicy=str nodeSelector={}str serviceAccountName=str
    serviceAccount=str automountServiceAccountToken=*bool nodeName=str hostNetwork=bool hostPID=bool
    hostIPC=bool shareProcessNamespace=*bool securityContext=*PodSecurityContext
    imagePullSecrets=[]LocalObjectReference hostname=str subdomain=str affinity=*Affinity
    schedulerName=str tolerations=[]Toleration hostAliases=[]HostAlias priorityClassName=str
    priority=*int32 dnsConfig=*PodDNSConfig readinessGates=[]PodReadinessGate runtimeClassName=*str
    enableServiceLinks=*bool preemptionPolicy=*str overhead={}quantity
    topologySpreadConstraints=[]TopologySpreadConstraint setHostnameAsFQDN=*bool os=*PodOS
    hostUsers=*bool schedulingGates=[]PodSchedulingGate resourceClaims=[]PodResourceClaim
    resources=*ResourceRequirements hostnameOverride=*str schedulingGroup=*PodSchedulingGroup
PodTemplateSpec: metadata=ObjectMeta spec=PodSpec
PolicyRule: verbs=![]str apiGroups=[]str resources=[]str resourceNames=[]str nonResourceURLs=[]str
PortworxVolumeSource: volumeID=!str fsType=str readOnly=bool
PreferredSchedulingTerm: weight=!int32 preference=!NodeSelectorTerm
Probe: exec=*ExecAction httpGet=*HTTPGetAction tcpSocket=*TCPSocketAction grpc=*GRPCAction
    initialDelaySeconds=int32 timeoutSeconds=int32 periodSeconds=int32 successThreshold=int32
    failureThreshold=int32 terminationGracePeriodSeconds=*int
ProjectedVolumeSource: sources=![]VolumeProjection defaultMode=*int32
QuobyteVolumeSource: registry=!str volume=!str readOnly=bool user=str group=str tenant=str
RBDVolumeSource: monitors=![]str image=!str fsType=str pool=str user=str keyring=str
    secretRef=*LocalObjectReference readOnly=bool
ResourceClaim: name=!str request=str
ResourceFieldSelector: containerName=str resource=!str divisor=quantity
ResourceRequirements: limits={}quantity requests={}quantity claims=[]ResourceClaim
RollingUpdateDeployment: maxUnavailable=*intstr maxSurge=*intstr
RuleWithOperations: operations=[]str apiGroups=[]str apiVersions=[]str resources=[]str scope=*str
SELinuxOptions: user=str role=str type=str level=str
ScaleIOVolumeSource: gateway=!str system=!str secretRef=!*LocalObjectReference sslEnabled=bool
    protectionDomain=str storagePool=str storageMode=str volumeName=str fsType=str readOnly=bool
SeccompProfile: type=!str localhostProfile=*str
SecretEnvSource: name=str optional=*bool
SecretKeySelector: name=str key=!str optional=*bool
SecretProjection: name=str items=[]KeyToPath optional=*bool
SecretVolumeSource: secretName=str items=[]KeyToPath defaultMode=*int32 optional=*bool
SecurityContext: capabilities=*Capabilities privileged=*bool seLinuxOptions=*SELinuxOptions
    windowsOptions=*WindowsSecurityContextOptions runAsUser=*int runAsGroup=*int runAsNonRoot=*bool
    readOnlyRootFilesystem=*bool allowPrivilegeEscalation=*bool procMount=*str
    seccompProfile=*SeccompProfile appArmorProfile=*AppArmorProfile
SelectableField: jsonPath=!str
ServiceAccountTokenProjection: audience=str expirationSeconds=*int path=!str
ServiceReference: namespace=!str name=!str path=*str port=*int32
SleepAction: seconds=!int
StorageOSVolumeSource: volumeName=str volumeNamespace=str fsType=str readOnly=bool
    secretRef=*LocalObjectReference
Sysctl: name=!str value=!str
TCPSocketAction: port=!intstr host=str
Toleration: key=str operator=str value=str effect=str tolerationSeconds=*int
TopologySpreadConstraint: maxSkew=!int32 topologyKey=!str whenUnsatisfiable=!str
    labelSelector=*LabelSelector minDomains=*int32 nodeAffinityPolicy=*str nodeTaintsPolicy=*str
    matchLabelKeys=[]str
TypedLocalObjectReference: apiGroup=!*str kind=!str name=!str
TypedObjectReference: apiGroup=!*str kind=!str name=!str namespace=*str
ValidationRule: rule=!str message=str messageExpression=str reason=*str fieldPath=str
    optionalOldSelf=*bool
Volume: name=!str hostPath=*HostPathVolumeSource emptyDir=*EmptyDirVolumeSource
    gcePersistentDisk=*GCEPersistentDiskVolumeSource
    awsElasticBlockStore=*AWSElasticBlockStoreVolumeSource gitRepo=*GitRepoVolumeSource
    secret=*SecretVolumeSource nfs=*NFSVolumeSource iscsi=*ISCSIVolumeSource
    glusterfs=*GlusterfsVolumeSource persistentVolumeClaim=*PersistentVolumeClaimVolumeSource
    rbd=*RBDVolumeSource flexVolume=*FlexVolumeSource cinder=*CinderVolumeSource
    cephfs=*CephFSVolumeSource flocker=*FlockerVolumeSource downwardAPI=*DownwardAPIVolumeSource
    fc=*FCVolumeSource azureFile=*AzureFileVolumeSource configMap=*ConfigMapVolumeSource
    vsphereVolume=*VsphereVirtualDiskVolumeSource quobyte=*QuobyteVolumeSource
    azureDisk=*AzureDiskVolumeSource photonPersistentDisk=*PhotonPersistentDiskVolumeSource
    projected=*ProjectedVolumeSource portworxVolume=*PortworxVolumeSource
    scaleIO=*ScaleIOVolumeSource storageos=*StorageOSVolumeSource csi=*CSIVolumeSource
    ephemeral=*EphemeralVolumeSource image=*ImageVolumeSource
VolumeDevice: name=!str devicePath=!str
VolumeMount: name=!str readOnly=bool recursiveReadOnly=*str mountPath=!str subPath=str
    mountPropagation=*str subPathExpr=str
VolumeProjection: secret=*SecretProjection downwardAPI=*DownwardAPIProjection
    configMap=*ConfigMapProjection serviceAccountToken=*ServiceAccountTokenProjection
    clusterTrustBundle=*ClusterTrustBundleProjection podCertificate=*PodCertificateProjection
VolumeResourceRequirements: limits={}quantity requests={}quantity
VsphereVirtualDiskVolumeSource: volumePath=!str fsType=str storagePolicyName=str storagePolicyID=str
WebhookClientConfig: url=*str service=*ServiceReference caBundle=bytes
WebhookConversion: clientConfig=*WebhookClientConfig conversionReviewVersions=![]str
WeightedPodAffinityTerm: weight=!int32 podAffinityTerm=!PodAffinityTerm
WindowsSecurityContextOptions: gmsaCredentialSpecName=*str gmsaCredentialSpec=*str
    runAsUserName=*str hostProcess=*bool
"""
