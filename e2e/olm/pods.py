"""Containers as processes, on a control plane without nodes.

Arguments and environment are those of the cluster's Deployment or Pod, the rights are those of its
service account, and volumes are folders with what a kubelet would put there. Only what a pod has
for itself is given anew: paths of mounts, and addresses.
"""

import base64
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from e2e.harness.process import ChildProcess
from e2e.olm.api import Api
from e2e.olm.daemons import daemon

API_SERVER = "$(KUBERNETES_SERVICE_HOST)"
_KUBECONFIGS = threading.Lock()
CONTAINERS = "/etc/containers"
"""The default path of registries.conf."""


class PodProcess:
    """The first container of a pod."""

    def __init__(
        self,
        work_dir: Path,
        control_plane: ControlPlane,
        namespace: str,
        path: str,
        *,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Describe it; nothing is read yet.

        `path` is the API path of a Pod or a Deployment, `environment` what the image sets.
        """
        self._environment = environment
        self.work_dir = work_dir.absolute()
        self._control_plane = control_plane
        self._namespace = namespace
        self._path = path
        self.child: ChildProcess | None = None

    def start(self, *overrides: str) -> ChildProcess:
        """Start it with `overrides` after its own arguments, so that they win."""
        with Api(self._control_plane) as api:
            pod = self._pod(api)
            mounts = self._mount(api, pod)
            secrets = self._pull_secrets(api, pod["serviceAccountName"])
        container = pod["containers"][0]
        account = pod["serviceAccountName"]
        kubeconfig = self._kubeconfig(account)
        program, *rest = container["command"]
        arguments = [_elsewhere(argument, mounts) for argument in container["args"]]
        environment = {item["name"]: item["value"] for item in container.get("env", ())}
        own = dict(self._environment)
        own |= {name: value.replace(API_SERVER, "127.0.0.1") for name, value in environment.items()}
        if CONTAINERS in mounts:
            own["CONTAINERS_REGISTRIES_CONF"] = f"{mounts[CONTAINERS]}/registries.conf"
        self.child = daemon(
            program,
            [*rest, *secrets, *arguments, f"--kubeconfig={kubeconfig}", *overrides],
            log=self.work_dir / f"{program}.log",
            environment=own,
        )
        self.child.start()
        return self.child

    def _pull_secrets(self, api: Api, account: str) -> list[str]:
        """Programs find those of their account by a token in a place that only pods have."""
        path = f"/api/v1/namespaces/{self._namespace}/serviceaccounts/{account}"
        names = [entry["name"] for entry in (api.get(path) or {}).get("imagePullSecrets", ())]
        return [f"--global-pull-secret={self._namespace}/{name}" for name in names[-1:]]

    def _kubeconfig(self, account: str) -> Path:
        """One of the pod's own: those of the control plane are written anew for each pod."""
        with _KUBECONFIGS:
            made = self._control_plane.kubeconfig_for_service_account(self._namespace, account)
            own = self.work_dir / "kubeconfig.yaml"
            shutil.copyfile(made, own)
        return own

    def refresh(self) -> None:
        """Fill the volumes anew, as a kubelet does from time to time."""
        with Api(self._control_plane) as api:
            self._mount(api, self._pod(api))

    def stop(self) -> None:
        """Stop it. Idempotent."""
        if self.child is not None:
            self.child.stop()

    def folder(self, mount_path: str) -> Path:
        """Where a mount of the container is."""
        return self.work_dir / "root" / mount_path.strip("/")

    def _pod(self, api: Api) -> KubeObject:
        """The pod's spec. Errors: LookupError."""
        found = api.get(self._path)
        if found is None:
            raise LookupError(f"there is no {self._path}")
        spec: KubeObject = found["spec"].get("template", found)["spec"]
        return spec

    def _mount(self, api: Api, pod: KubeObject) -> dict[str, str]:
        """The folders of all mounts, with the content of their volumes."""
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        mounts = {}
        for mount in pod["containers"][0]["volumeMounts"]:
            folder = self.folder(mount["mountPath"])
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in self._files(api, volumes[mount["name"]]).items():
                _write(folder / name, content)
            mounts[mount["mountPath"]] = str(folder)
        return mounts

    def _files(self, api: Api, volume: Mapping[str, Any]) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for source in volume.get("projected", {}).get("sources", [volume]):
            if "secret" in source:
                named = source["secret"]
                found = self._need(api, "secrets", named["secretName"])
                data = {k: base64.b64decode(v) for k, v in found["data"].items()}
            elif "configMap" in source:
                named = source["configMap"]
                found = self._need(api, "configmaps", named["name"])
                data = {key: text.encode() for key, text in found.get("data", {}).items()}
            else:
                continue
            desired = {item["key"]: item["path"] for item in named.get("items", ())}
            files |= {desired.get(key, key): data[key] for key in desired or data}
        return files

    def _need(self, api: Api, plural: str, name: str) -> KubeObject:
        path = f"/api/v1/namespaces/{self._namespace}/{plural}/{name}"
        found = api.wait(path, lambda obj: obj is not None, what=f"{path} for a volume")
        return found or {}


def _write(file: Path, content: bytes) -> None:
    """Readers see the old content or the new one."""
    if not file.is_file() or file.read_bytes() != content:
        aside = file.with_name(f".{file.name}")
        aside.write_bytes(content)
        aside.replace(file)


def _elsewhere(argument: str, mounts: Mapping[str, str]) -> str:
    flag, equals, value = argument.partition("=")
    for mount, folder in mounts.items():
        if value == mount or value.startswith(f"{mount}/"):
            return f"{flag}{equals}{folder}{value.removeprefix(mount)}"
    return argument
