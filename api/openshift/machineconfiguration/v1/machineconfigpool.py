"""MachineConfigPool: nodes that are configured alike, and updated a few at a time."""

from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import LabelSelector, ObjectMeta
from api.schema import (
    ATOMIC_LIST,
    ATOMIC_MAP,
    INT32,
    INT64,
    Doc,
    Presence,
    list_map,
)

GROUP = "machineconfiguration.openshift.io"
VERSION = "v1"


class ConfigurationSource(Struct, frozen=True, kw_only=True):
    """An object that a configuration was made of."""

    api_version: Annotated[str, Doc("Group and version of its kind.")] = ""
    kind: Annotated[str, Doc("Kind of the object.")] = ""
    name: Annotated[str, Doc("Name of the object.")] = ""
    namespace: Annotated[str, Doc("Namespace of the object.")] = ""


class Configuration(Struct, frozen=True, kw_only=True):
    """What the nodes of a pool shall be, and how they become so."""

    name: Annotated[
        str,
        Doc(
            "Name of the configuration; a node is updated when it has another one. Without it,"
            " rendered-<pool>-<sum over image and command>."
        ),
    ] = ""
    image: Annotated[
        str,
        Doc(
            "Image that brings a node to the configuration; it runs on the node, as root. A pool"
            " without one is left alone."
        ),
    ] = ""
    command: Annotated[
        tuple[str, ...],
        Doc(
            "Command in the image; that of the image where it is not given. The file system of"
            " the node is at /host, its name in NODE_NAME, that of the configuration in"
            " MACHINE_CONFIG. It has the node restart, ends with 0, and may be run again: the"
            " update is at its end when the node has another boot ID than before."
        ),
        ATOMIC_LIST,
    ] = ()
    source: Annotated[
        tuple[ConfigurationSource, ...],
        Doc("What the configuration was made of."),
        ATOMIC_LIST,
    ] = ()


class MachineConfigPoolSpec(Struct, frozen=True, kw_only=True):
    """Which nodes are meant, and what they shall be."""

    node_selector: Annotated[
        LabelSelector | None,
        Doc("The nodes, by their labels; without any there are none."),
        ATOMIC_MAP,
    ] = None
    machine_config_selector: Annotated[
        LabelSelector | None,
        Doc("What configurations are made of, by labels. Not read here."),
        ATOMIC_MAP,
    ] = None
    configuration: Annotated[
        Configuration | None, Doc("What the nodes shall be, and how they become so.")
    ] = None
    max_unavailable: Annotated[
        int | str | None,
        Doc(
            """
            How many nodes of the pool may be unavailable at once, as a number or a percentage
            (rounded down); 1 where it is not given, and at least 1.

            Nodes count that are unavailable for whatever reason: cordoned by a person, or broken.
            Of nodes of the control plane a majority stays, whatever is said here.
            """
        ),
    ] = None
    paused: Annotated[
        bool, Doc("Begin with no further node. What was begun is brought to its end.")
    ] = False


class PoolCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the state of a pool."""

    type: Annotated[str, Doc("What the condition is about.")]
    status: Annotated[str, Doc("True, False, or Unknown when it could not be found out.")]
    last_transition_time: Annotated[datetime | None, Doc("When the status last changed.")] = None
    reason: Annotated[str, Doc("One word for why, made for programs to compare.")] = ""
    message: Annotated[str, Doc("What happened, made for people to read.")] = ""


_Count = Annotated[int, INT32]


class MachineConfigPoolStatus(Struct, frozen=True, kw_only=True):
    """How far the nodes are."""

    observed_generation: Annotated[
        int | None, Doc("The metadata.generation that was looked at."), INT64
    ] = None
    configuration: Annotated[
        Configuration | None, Doc("The configuration that all nodes had last.")
    ] = None
    machine_count: Annotated[_Count, Doc("Nodes of the pool."), Presence.REQUIRED] = 0
    updated_machine_count: Annotated[
        _Count, Doc("Nodes that have the configuration."), Presence.REQUIRED
    ] = 0
    ready_machine_count: Annotated[
        _Count, Doc("Nodes that have the configuration and take workloads."), Presence.REQUIRED
    ] = 0
    unavailable_machine_count: Annotated[
        _Count, Doc("Nodes that take no workloads, for whatever reason."), Presence.REQUIRED
    ] = 0
    degraded_machine_count: Annotated[
        _Count, Doc("Nodes whose update failed."), Presence.REQUIRED
    ] = 0
    conditions: Annotated[
        tuple[PoolCondition, ...],
        Doc(
            """
            Updated: whether all nodes have the configuration.

            Updating: whether nodes are still to be updated, and may be.

            Degraded: whether the update of a node failed.
            """
        ),
        list_map("type"),
    ] = ()


class MachineConfigPool(Struct, frozen=True, kw_only=True):
    """Nodes that are configured alike.

    Pools are updated at the same time, the nodes of each a few at a time: cordoned and drained,
    changed, restarted, and taken into use again.
    """

    metadata: ObjectMeta
    spec: Annotated[MachineConfigPoolSpec, Doc("Which nodes are meant, and what they shall be.")]
    status: Annotated[MachineConfigPoolStatus, Doc("How far the nodes are.")] = field(
        default_factory=MachineConfigPoolStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=f"{GROUP}/{VERSION}")
