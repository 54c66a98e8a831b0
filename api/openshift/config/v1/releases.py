"""Releases and updates to them, as ClusterVersion names them."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from api.conditions import Conditions
from api.schema import (
    ATOMIC_LIST,
    SET,
    Doc,
    Keywords,
    Presence,
    list_map,
    max_items,
    max_length,
    min_items,
    min_length,
)

MAX_RISKS = 200
MAX_NAMED_RISKS = 500
MAX_RISK_NAME = 256
_URI = Keywords({"format": "uri"})


class Architecture(StrEnum):
    """What a release was made for: nothing said, or every architecture at once."""

    MULTI = "Multi"
    ANY = ""


class Release(Struct, frozen=True, kw_only=True):
    """A release of the cluster, and what is known of it."""

    version: Annotated[str, Doc("Semantic version of the release."), Presence.REQUIRED] = ""
    image: Annotated[str, Doc("Reference of the release image, by digest."), Presence.REQUIRED] = ""
    url: Annotated[str, Doc("Page that tells of the release.")] = ""
    channels: Annotated[tuple[str, ...], Doc("Channels that the release is in, sorted."), SET] = ()
    architecture: Annotated[
        Architecture | None, Doc("Multi for an image of several architectures.")
    ] = None


class RuleType(StrEnum):
    """How a rule is evaluated."""

    ALWAYS = "Always"
    PROMQL = "PromQL"


class PromQL(Struct, frozen=True, kw_only=True):
    """A question to the monitoring of the cluster."""

    promql: Annotated[str, Doc("Query in PromQL: 1 if the cluster is exposed, 0 if it is not.")]


class MatchingRule(Struct, frozen=True, kw_only=True):
    """One way to find out whether a risk applies to the cluster."""

    type: Annotated[RuleType, Doc("Always applies to every cluster; PromQL asks the monitoring.")]
    promql: Annotated[PromQL | None, Doc("The query of type PromQL.")] = None


class Risk(Struct, frozen=True, kw_only=True):
    """A known issue, and the clusters that are exposed to it."""

    name: Annotated[str, Doc("Name of the issue, one word."), min_length(1)]
    url: Annotated[str, Doc("Page that tells of the issue."), _URI, min_length(1)]
    message: Annotated[
        str,
        Doc("What can happen, made for people to read; it may have several lines."),
        min_length(1),
    ]
    matching_rules: Annotated[
        tuple[MatchingRule, ...],
        Doc("How to find out who is exposed: the first that can be evaluated decides."),
        ATOMIC_LIST,
        min_items(1),
    ]
    conditions: Annotated[Conditions, Doc("Applies: whether this cluster is exposed.")] = ()


class ConditionalUpdate(Struct, frozen=True, kw_only=True):
    """An update that is recommended to some clusters only."""

    release: Annotated[Release, Doc("Where the update leads to.")]
    risks: Annotated[
        tuple[Risk, ...],
        Doc("Known issues; the update is recommended if none of them applies."),
        list_map("name"),
        min_items(1),
        max_items(MAX_RISKS),
    ]
    risk_names: Annotated[
        tuple[Annotated[str, max_length(MAX_RISK_NAME)], ...],
        Doc("Names of the risks, which conditionalUpdateRisks describes."),
        SET,
        max_items(MAX_NAMED_RISKS),
    ] = ()
    conditions: Annotated[
        Conditions, Doc("Recommended: whether the update is recommended to this cluster.")
    ] = ()
