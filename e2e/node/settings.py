"""The configuration of a node's components. Pure: places and addresses in, file contents out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.node.cgroups import NAME as CONTROL_GROUP
from e2e.node.network import NODE_ADDRESS, NODE_NAME, POD_CIDR

PAUSE_REPOSITORY = "pause"
DNS_DOMAIN = "cluster.local"


@dataclass(frozen=True, slots=True)
class NodePlaces:
    """Where a node keeps its files."""

    root: Path

    @property
    def settings(self) -> Path:
        """What the components read."""
        return self.root / "settings"

    @property
    def pki(self) -> Path:
        """The kubelet's certificate and the CA of its clients."""
        return self.root / "pki"

    @property
    def logs(self) -> Path:
        """One log for each component."""
        return self.root / "logs"

    @property
    def pod_logs(self) -> Path:
        """What the pods print."""
        return self.logs / "pods"

    @property
    def containers(self) -> Path:
        """The store of images and containers: large."""
        return self.root / "containerd"

    @property
    def kubelet(self) -> Path:
        """Volumes of pods."""
        return self.root / "kubelet"

    @property
    def boot_id(self) -> Path:
        """What the kubelet reports as the boot ID of the node; it reads it when it starts."""
        return self.root / "boot-id"

    @property
    def socket(self) -> Path:
        """Where containerd listens; /run is the box's own."""
        return Path("/run/containerd/containerd.sock")


def kubelet(places: NodePlaces) -> dict[str, Any]:
    """KubeletConfiguration: a small node that neither evicts nor collects images."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(places.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(places.pki / "kubelet.crt"),
        "tlsPrivateKeyFile": str(places.pki / "kubelet.key"),
        "containerRuntimeEndpoint": f"unix://{places.socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{CONTROL_GROUP}",
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "failCgroupV1": False,
        "clusterDNS": [NODE_ADDRESS],
        "clusterDomain": DNS_DOMAIN,
        "resolvConf": "",  # nothing outside the cluster is looked up
        "evictionHard": {
            "nodefs.available": "1%",
            "imagefs.available": "1%",
            "memory.available": "100Mi",
        },
        "imageGCHighThresholdPercent": 100,
        "podLogsDir": str(places.pod_logs),
        "volumePluginDir": str(places.root / "volume-plugins"),
        # The usual minute is long when a test waits for a rotated certificate to reach a pod.
        "syncFrequency": "10s",
    }


def containerd(places: NodePlaces, pause: str) -> str:
    """containerd's config.toml; `pause` is the image that holds a pod's namespaces."""
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    unused = ("snapshotter.v1.btrfs", "snapshotter.v1.zfs", "snapshotter.v1.aufs",
              "snapshotter.v1.devmapper", "internal.v1.opt")  # fmt: skip
    disabled = ", ".join(f'"io.containerd.{name}"' for name in unused)
    return f"""version = 2
root = "{places.containers}"
state = "/run/containerd"
disabled_plugins = [{disabled}]
[grpc]
  address = "{places.socket}"
[{cri}]
  # Machines may withhold the right to lower a process's oom_score_adj.
  restrict_oom_score_adj = true
  sandbox_image = "{pause}"
  stream_server_address = "127.0.0.1"
  [{cri}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{places.settings / "cni"}"
  [{cri}.containerd]
    snapshotter = "overlayfs"
  [{cri}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [{cri}.containerd.runtimes.runc.options]
      SystemdCgroup = false
  [{cri}.registry]
    config_path = "{places.settings / "registries"}"
"""


def registry_hosts(url: str, ca_file: Path) -> str:
    """hosts.toml of a registry. Said twice: once for pulls, once for asking again after a 404."""
    return f"""server = "{url}"
ca = "{ca_file}"
[host."{url}"]
  capabilities = ["pull", "resolve"]
  ca = "{ca_file}"
"""


def pod_network() -> dict[str, Any]:
    """The CNI configuration: a bridge, addresses handed out by this host."""
    return {
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "pods0",
                "isGateway": True,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": POD_CIDR}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def kube_proxy(kubeconfig: Path) -> dict[str, Any]:
    """KubeProxyConfiguration: nftables, and no settings of the whole machine."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "hostnameOverride": NODE_NAME,
        "clusterCIDR": POD_CIDR,
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "conntrack": {
            "maxPerCore": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }


def corefile(kubeconfig: Path) -> str:
    """CoreDNS's configuration: names of the cluster, on the node's address."""
    return f"""{DNS_DOMAIN} in-addr.arpa {{
    bind {NODE_ADDRESS}
    errors
    ready 127.0.0.1:8181
    kubernetes {DNS_DOMAIN} in-addr.arpa {{
        kubeconfig {kubeconfig} olmv1
        ttl 5
    }}
    cache 5
}}
"""


def apiserver_arguments(pki: Path) -> tuple[str, ...]:
    """Further flags of the API server, to be reached by pods and to reach the kubelet."""
    return (
        "--bind-address=0.0.0.0",
        f"--advertise-address={NODE_ADDRESS}",
        "--endpoint-reconciler-type=lease",
        "--enable-admission-plugins=NodeRestriction",
        f"--kubelet-client-certificate={pki / 'kubelet-client.crt'}",
        f"--kubelet-client-key={pki / 'kubelet-client.key'}",
        f"--kubelet-certificate-authority={pki / 'ca.crt'}",
        "--kubelet-preferred-address-types=InternalIP",
    )


def kubelet_arguments(places: NodePlaces, kubeconfig: Path) -> Sequence[str]:
    """The kubelet's command line: what its configuration file cannot say."""
    return (
        f"--config={places.settings / 'kubelet.yaml'}",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={NODE_ADDRESS}",
        f"--root-dir={places.kubelet}",
        f"--cert-dir={places.pki}",
        f"--boot-id-file={places.boot_id}",
    )


def scheduler_arguments(kubeconfig: Path) -> Sequence[str]:
    """The scheduler's command line."""
    return (f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--bind-address=127.0.0.1")


def files(places: NodePlaces, kubeconfigs: Mapping[str, Path]) -> dict[str, Any]:
    """Contents of the files below `places.settings` that do not depend on the registry."""
    return {
        "kubelet.yaml": kubelet(places),
        "kube-proxy.yaml": kube_proxy(kubeconfigs["kube-proxy"]),
        "cni/10-pods.conflist": pod_network(),
        "Corefile": corefile(kubeconfigs["coredns"]),
    }
