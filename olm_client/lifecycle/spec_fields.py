"""Fields of a ClusterExtension's spec as the command line sets them. Pure."""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from api.objects import KubeObject, metadata
from api.olm.v1 import names
from api.olm.v1.clusterextension import SourceType
from olm_runtime.errors import TerminalError

_REQUIREMENT = (
    r"\s*(?P<not>!?)\s*(?P<key>[^\s!=(),]+)\s*"
    r"(?:(?P<equals>==?|!=)\s*(?P<value>[^\s!=(),]*)"
    r"|\s(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?\s*"
)
_OUTSIDE_PARENTHESES = r",(?![^(]*\))"


class SpecFields(NamedTuple):
    """Fields of a spec; those that are None (or empty) are not set.

    `selector` and `config` are as in the spec, `config` that of `spec.config.inline`.
    """

    version: str | None = None
    channels: tuple[str, ...] = ()
    selector: Mapping[str, Any] | None = None
    policy: str | None = None
    crd_safety: str | None = None
    config: Mapping[str, Any] | None = None
    deadline_minutes: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no field is set."""
        return self == SpecFields()


def new_extension(
    package: str, name: str, namespace: str, account: str, fields: SpecFields
) -> KubeObject:
    """The ClusterExtension to apply."""
    spec = {
        "namespace": namespace,
        "serviceAccount": {"name": account},
        "source": {"sourceType": SourceType.CATALOG.value, "catalog": {"packageName": package}},
    }
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_EXTENSION,
        "metadata": {"name": name},
        "spec": with_fields(spec, fields),
    }


def with_changed_spec(raw: KubeObject, fields: SpecFields) -> KubeObject:
    """An extension with these fields set, one generation later."""
    if fields.is_empty:
        return raw
    generation = int(metadata(raw).get("generation") or 0) + 1
    return {
        **raw,
        "metadata": {**metadata(raw), "generation": generation},
        "spec": with_fields(raw["spec"], fields),
    }


def with_fields(spec: Mapping[str, Any], fields: SpecFields) -> dict[str, Any]:
    """A copy of a spec with these fields set."""
    changed: dict[str, Any] = copy.deepcopy(dict(spec))
    changed["source"]["catalog"] |= _of_catalog(fields)
    if fields.version == "":  # any, as if there were no such field
        del changed["source"]["catalog"]["version"]
    if fields.crd_safety is not None:
        changed["install"] = {"preflight": {"crdUpgradeSafety": {"enforcement": fields.crd_safety}}}
    if fields.config is not None:
        changed["config"] = {"configType": "Inline", "inline": dict(fields.config)}
    if fields.deadline_minutes is not None:
        changed["progressDeadlineMinutes"] = fields.deadline_minutes
    return changed


def _of_catalog(fields: SpecFields) -> dict[str, Any]:
    values = {
        "version": fields.version,
        "channels": list(fields.channels) or None,
        "selector": fields.selector,
        "upgradeConstraintPolicy": fields.policy,
    }
    return {field: value for field, value in values.items() if value is not None}


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The fields of two specs that differ: path, old and new value (None where absent)."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield path, old, new


def of_catalog(name: str) -> dict[str, Any]:
    """The selector of one catalog."""
    return {"matchLabels": {names.LABEL_METADATA_NAME: names.label_value(name)}}


def parse_selector(text: str) -> dict[str, Any]:
    """A label selector from the grammar of `kubectl --selector`.

    `a=b`, `a!=b`, `a in (b, c)`, `a notin (b)`, `a`, `!a`, joined by commas. Raises TerminalError.
    """
    labels: dict[str, str] = {}
    expressions: list[dict[str, Any]] = []
    for part in re.split(_OUTSIDE_PARENTHESES, text):
        match = re.fullmatch(_REQUIREMENT, part)
        if match is None or (match["not"] and (match["equals"] or match["set"])):
            raise TerminalError(
                f'"{part.strip()}" is no requirement of a label selector',
                hint="write key=value, key!=value, key in (a, b), key notin (a, b), key, or !key",
            )
        if match["equals"] in ("=", "=="):
            labels[match["key"]] = match["value"]
        else:
            expressions.append(_expression(match))
    return {
        **({"matchLabels": labels} if labels else {}),
        **({"matchExpressions": expressions} if expressions else {}),
    }


def _expression(match: re.Match[str]) -> dict[str, Any]:
    if match["equals"]:
        return {"key": match["key"], "operator": "NotIn", "values": [match["value"]]}
    if match["set"]:
        values = [value.strip() for value in match["values"].split(",")]
        operator = "In" if match["set"] == "in" else "NotIn"
        return {"key": match["key"], "operator": operator, "values": values}
    return {"key": match["key"], "operator": "DoesNotExist" if match["not"] else "Exists"}
