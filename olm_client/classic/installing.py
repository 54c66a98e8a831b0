"""What installs a package by OLM Classic: a Subscription, and what it needs around it. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, namespace_of
from olm_classic.kinds import OPERATOR_GROUP, SUBSCRIPTION
from olm_runtime.errors import TerminalError

ALL_NAMESPACES, OWN_NAMESPACE = "AllNamespaces", "OwnNamespace"
APPROVALS = ("Automatic", "Manual")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel of a package: its head, and the namespaces that may be watched."""

    name: str
    head: str
    modes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Offer:
    """A package as a PackageManifest has it."""

    package: str
    source: str
    source_namespace: str
    default_channel: str
    channels: tuple[Channel, ...]

    @classmethod
    def of(cls, manifest: KubeObject) -> "Offer":
        """Of the object."""
        status = manifest.get("status") or {}
        return cls(
            status.get("packageName") or manifest["metadata"]["name"],
            status.get("catalogSource") or "",
            status.get("catalogSourceNamespace") or "",
            status.get("defaultChannel") or "",
            tuple(_channel(each) for each in status.get("channels") or ()),
        )

    def channel(self, name: str) -> Channel:
        """The channel of that name, the default one without. Raises TerminalError."""
        wanted = name or self.default_channel
        found = next((each for each in self.channels if each.name == wanted), None)
        if found is None:
            known = ", ".join(each.name for each in self.channels) or "none"
            raise TerminalError(
                f'package "{self.package}" has no channel "{wanted}"', hint=f"channels: {known}"
            )
        return found


def _channel(value: Mapping[str, Any]) -> Channel:
    modes = (value.get("currentCSVDesc") or {}).get("installModes") or ()
    return Channel(
        value.get("name") or "",
        value.get("currentCSV") or "",
        frozenset(each["type"] for each in modes if each.get("supported")),
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a package is to be installed, from which channel, and for all namespaces or its own."""

    namespace: str
    channel: str = ""
    approval: str = APPROVALS[0]
    everywhere: bool = True


def installing(offer: Offer, wanted: Wanted, groups: Iterable[KubeObject]) -> Iterator[KubeObject]:
    """What is to be written, in order; `groups` are the OperatorGroups that there are.

    Raises TerminalError for what OLM Classic would not install.
    """
    if not _NAME.fullmatch(wanted.namespace):
        raise TerminalError(f'"{wanted.namespace}" is no name of a namespace')
    if wanted.approval not in APPROVALS:
        raise TerminalError(f'"{wanted.approval}" is neither {" nor ".join(APPROVALS)}')
    channel = offer.channel(wanted.channel)
    here = [each for each in groups if namespace_of(each) == wanted.namespace]
    if not here:
        _check_mode(channel, ALL_NAMESPACES if wanted.everywhere else OWN_NAMESPACE)
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": wanted.namespace},
        }
        targets = {} if wanted.everywhere else {"targetNamespaces": [wanted.namespace]}
        yield {
            "apiVersion": OPERATOR_GROUP.api_version,
            "kind": OPERATOR_GROUP.kind,
            "metadata": {"name": wanted.namespace, "namespace": wanted.namespace},
            "spec": targets,
        }
    yield {
        "apiVersion": SUBSCRIPTION.api_version,
        "kind": SUBSCRIPTION.kind,
        "metadata": {"name": offer.package, "namespace": wanted.namespace},
        "spec": {
            "name": offer.package,
            "channel": channel.name,
            "source": offer.source,
            "sourceNamespace": offer.source_namespace,
            "installPlanApproval": wanted.approval,
        },
    }


def _check_mode(channel: Channel, mode: str) -> None:
    if mode not in channel.modes:
        able = ", ".join(sorted(channel.modes)) or "none"
        raise TerminalError(
            f"{channel.head} does not support the install mode {mode}",
            hint=f"it supports {able}; an OperatorGroup of your own may select other namespaces",
        )
