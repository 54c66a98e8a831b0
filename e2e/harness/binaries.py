"""Where the executables of the control plane and the registry come from.

A control plane is looked for in this order, and taken whole from the first place that has both
etcd and kube-apiserver, because versions that were not meant for each other fail in odd ways:

1. the folder named by KUBEBUILDER_ASSETS (setup-envtest prints one);
2. PATH;
3. the cache folder: what was downloaded or built before;
4. a download of what their projects publish (OLMV1_NO_DOWNLOAD=1 leaves it out);
5. a build of the Go module e2e/controlplane.

kube-controller-manager and kubectl come from the same place, or from our build where it has none
(the archives of envtest have no kube-controller-manager, which is why those are not downloaded).
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.download import downloaded
from e2e.harness.errors import BinaryUnavailable
from e2e.harness.gobuild import GoModule, built, cache_folder, is_built

KUBERNETES_VERSION = "v1.34.4"
ETCD_VERSION = "v3.6.4"
HELM_VERSION = "v3.19.5"

_VERSION_VARIABLES = "k8s.io/component-base/version"

CONTROL_PLANE = GoModule(
    name="controlplane",
    title="control plane",
    packages=2630,
    ldflags=(
        f"-X {_VERSION_VARIABLES}.gitVersion={KUBERNETES_VERSION}",
        f"-X {_VERSION_VARIABLES}.gitMajor=1",
        f"-X {_VERSION_VARIABLES}.gitMinor=34",
        f"-X {_VERSION_VARIABLES}.gitTreeState=clean",
    ),
)
REGISTRY = GoModule(name="registry", title="registry", packages=580)
HELM = GoModule(
    name="helm",
    title="helm",
    packages=930,
    program="helm.sh/helm/v3/cmd/helm",
    ldflags=(
        f"-X helm.sh/helm/v3/internal/version.version={HELM_VERSION}",
        # The Kubernetes that `helm template` renders for.
        "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
        "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=34",
        "-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
        "-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=34",
    ),
)
GITOPS = GoModule(name="gitops", title="evaluation of health", packages=615)
KREW = GoModule(name="krew", title="krew", packages=330, program="sigs.k8s.io/krew/cmd/krew")
KWOK = GoModule(name="kwok", title="KWOK", packages=700, program="sigs.k8s.io/kwok/cmd/kwok")
OPENID = GoModule(name="openid", title="OpenID provider", packages=250)
DEX = GoModule(name="dex", title="Dex", packages=790, program="github.com/dexidp/dex/cmd/dex")
REFERRERS = GoModule(name="referrers", title="registry with referrers", packages=150)
GRPCURL = GoModule(
    name="grpcurl",
    title="grpcurl",
    packages=640,
    program="github.com/fullstorydev/grpcurl/cmd/grpcurl",
)


@dataclass(frozen=True, slots=True)
class Executable:
    """How to call a program: the first words of its command line, and where they come from."""

    argv: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class ControlPlaneBinaries:
    """The programs of a control plane, all of one origin where possible."""

    etcd: Executable
    kube_apiserver: Executable
    kube_controller_manager: Executable
    kubectl: Executable


def control_plane_binaries() -> ControlPlaneBinaries:
    """Find the control plane's programs; build them (minutes, once) if there are none.

    Errors: BinaryUnavailable, BuildFailed.
    """
    found = _from_assets() or _from_path() or _from_download() or {}
    return ControlPlaneBinaries(
        etcd=found.get("etcd") or _our_build("etcd"),
        kube_apiserver=found.get("kube-apiserver") or _our_build("kube-apiserver"),
        kube_controller_manager=(
            found.get("kube-controller-manager") or _our_build("kube-controller-manager")
        ),
        kubectl=found.get("kubectl") or _our_build("kubectl"),
    )


def registry_binary() -> Executable:
    """Find the registry, or build it (half a minute, once).

    Errors: BinaryUnavailable, BuildFailed.
    """
    return Executable((str(built(REGISTRY)),), "built")


def referrers_binary() -> Executable:
    """Find the registry that lists referrers, or build it (seconds, once).

    Errors: BinaryUnavailable, BuildFailed.
    """
    return Executable((str(built(REFERRERS)),), "built")


def helm_binary() -> Executable:
    """Find helm, or build it (two minutes, once): one version, so that it renders the same.

    Errors: BinaryUnavailable, BuildFailed.
    """
    return Executable((str(built(HELM)),), "built")


def gitops_binary() -> Executable:
    """Find what evaluates health as GitOps tools do, or build it (two minutes, once).

    Errors: BinaryUnavailable, BuildFailed.
    """
    return Executable((str(built(GITOPS)),), "built")


def krew_binary() -> Executable:
    """Find krew, or build it (a minute, once). Errors: BinaryUnavailable, BuildFailed."""
    return Executable((str(built(KREW)),), "built")


def kwok_binary() -> Executable:
    """Find KWOK, or build it (two minutes, once). Errors: BinaryUnavailable, BuildFailed."""
    return Executable((str(built(KWOK)),), "built")


def openid_binary() -> Executable:
    """Find the OpenID provider, or build it (half a minute, once).

    Errors: BinaryUnavailable, BuildFailed.
    """
    return Executable((str(built(OPENID)),), "built")


def dex_binary() -> Executable:
    """Find Dex, or build it (two minutes, once). Errors: BinaryUnavailable, BuildFailed."""
    return Executable((str(built(DEX)),), "built")


def grpcurl_binary() -> Executable:
    """Find grpcurl, or build it (a minute, once). Errors: BinaryUnavailable, BuildFailed."""
    return Executable((str(built(GRPCURL)),), "built")


def _from_assets() -> dict[str, Executable] | None:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        return None
    found = _programs(folder, "KUBEBUILDER_ASSETS")
    if missing := [name for name in ("etcd", "kube-apiserver") if name not in found]:
        # Going on with other programs than the ones asked for would only confuse.
        raise BinaryUnavailable(
            f"KUBEBUILDER_ASSETS is {folder}, which has no executable {' and no '.join(missing)}\n"
            "hint: set it to the folder that setup-envtest prints, or unset it"
        )
    return found


def _from_path() -> dict[str, Executable] | None:
    found = _programs(os.environ.get("PATH", os.defpath), "PATH")
    return found if "etcd" in found and "kube-apiserver" in found else None


def _from_download() -> dict[str, Executable] | None:
    cache = cache_folder()
    if is_built(CONTROL_PLANE):
        return None
    folder = downloaded(cache / "downloads", kubernetes=KUBERNETES_VERSION, etcd=ETCD_VERSION)
    return _programs(str(folder), "downloaded") if folder else None


def _programs(search_path: str, origin: str) -> dict[str, Executable]:
    names = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
    located = {name: shutil.which(name, path=search_path) for name in names}
    return {
        name: Executable((str(Path(place).absolute()),), origin)
        for name, place in located.items()
        if place is not None
    }


def _our_build(component: str) -> Executable:
    return Executable((str(built(CONTROL_PLANE)), component), "built")
