"""spec.install of a ClusterExtension: the checks before content is installed or updated."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from api.schema import Doc, Presence, Rule


class Enforcement(StrEnum):
    """What a preflight check does."""

    NONE = "None"
    STRICT = "Strict"


class CRDUpgradeSafety(Struct, frozen=True, kw_only=True):
    """The check of changed CustomResourceDefinitions: one switch in two spellings."""

    enforcement: Annotated[
        Enforcement | None,
        Doc(
            """
            Strict: refuse an update that changes a CustomResourceDefinition in a way that can
            break existing objects or their clients (removed fields, changed types, narrower
            limits). This is also what happens when nothing is said.

            None: do not check. Objects may become invalid, and data may be lost.
            """
        ),
    ] = None
    disabled: Annotated[
        bool | None,
        Doc("Older spelling of the same switch: true is enforcement None, false is Strict."),
    ] = None

    @property
    def enforced(self) -> bool:
        """Whether the check is to be made."""
        return not self.disabled and self.enforcement is not Enforcement.NONE


class Preflight(Struct, frozen=True, kw_only=True):
    """Checks before content is installed or updated."""

    crd_upgrade_safety: Annotated[
        CRDUpgradeSafety,
        Doc("Whether updates of CustomResourceDefinitions are checked for safety."),
        Rule(
            "has(self.enforcement) != has(self.disabled)",
            "exactly one of [enforcement disabled] must be set",
        ),
        Presence.NOT_REQUIRED,
    ]


class InstallOptions(Struct, frozen=True, kw_only=True):
    """How content is installed."""

    preflight: Annotated[
        Preflight,
        Doc("Checks that are made before content is installed or updated."),
        Rule(
            "has(self.crdUpgradeSafety)",
            "at least one of [crdUpgradeSafety] are required when preflight is specified",
        ),
        Presence.NOT_REQUIRED,
    ]
