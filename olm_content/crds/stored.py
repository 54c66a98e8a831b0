"""What to ask the API server about stored objects once a change was refused, and what it answered.

A server validates the default values of a definition against its schema, in a dry run too. So the
objects are given to it as the default value of a list of items with the new schema, in a trial
definition that is never created: `trial`. The server judges with its own code, rules in CEL
included, and nothing in the cluster changes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct, field

from api.objects import GVK, KubeObject, name_of, namespace_of
from olm_content.bounded_lines import MAX_MESSAGE_BYTES, joined
from olm_content.crds.findings import PAIR, Finding, Validator, report
from olm_content.crds.schema import Schema
from olm_content.crds.structural import EMBEDDED_RESOURCE, as_read, duplicates

SHOWN_OBJECTS = 3
MAX_STORED_BYTES = 8 * 1024
"""Of a condition, for what is said of stored objects."""

TRIAL_GROUP = "dry-run.olm.operatorframework.io"
TRIAL_PLURAL = "trials"
TRIAL_FIELD = "objects"

_FAULTY = rf"\[{TRIAL_FIELD}\]\.default\.?\[([0-9]+)\]\.?(.*)"

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "FieldValueRequired": "required and missing",
        "FieldValueDuplicate": "duplicate value",
        "FieldValueNotSupported": "value not supported",
        "FieldValueForbidden": "forbidden",
        "FieldValueTooLong": "too long",
        "FieldValueTooMany": "too many",
        "FieldValueTypeInvalid": "of another type",
    }
)
"""In our words, without the value: whoever may read a condition may perhaps not read the object."""


class Question(NamedTuple):
    """Are the objects of `kind`, read in its version, valid in `version` of the new definition?"""

    crd: str
    kind: GVK
    version: str
    schema: Schema


class Fault(NamedTuple):
    """One reason why an object is not valid. `detail` is the server's text, with the value."""

    field: str
    reason: str
    detail: str = ""


class Example(NamedTuple):
    """An object that would be invalid (`fault`), or one that would lose a field."""

    name: str
    fault: Fault


class Examined(Struct):
    """What became of a question. `total` is None while unknown; `stopped`: why not all of them."""

    crd: str
    version: str
    checked: int = 0
    total: int | None = None
    invalid: int = 0
    losing: int = 0
    examples: list[Example] = field(default_factory=list)
    stopped: str = ""

    def add(
        self, objects: Sequence[KubeObject], lost: Sequence[Sequence[str]], faults: "Faults"
    ) -> None:
        """Counts objects that were checked, with what each loses and what is wrong with it."""
        self.checked += len(objects)
        self.invalid += len(faults)
        self.losing += sum(map(bool, lost))
        for index, found in faults.items():
            self._show(objects[index], found)
        for obj, fields in zip(objects, lost, strict=True):
            if fields and not self.invalid:
                self._show(obj, Fault(fields[0], "would be lost"))

    def _show(self, obj: KubeObject, fault: Fault) -> None:
        if len(self.examples) < SHOWN_OBJECTS:
            self.examples.append(Example(full_name(obj), fault))

    @property
    def line(self) -> str:
        """For conditions and logs: no values of the objects are in it."""
        what = f"stored objects of {self.crd} as {self.version}: "
        if not self.checked:
            return what + (f"not looked at: {self.stopped}" if self.stopped else "there are none")
        return what + "; ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        if self.stopped:
            total = "an unknown number" if self.total is None else self.total
            yield f"at least {self.invalid} of {total} would be invalid ({self.checked} checked)"
            yield self.stopped
        else:
            yield f"{self.invalid} of {self.checked} would be invalid"
        if self.losing:
            yield f"{self.losing} would lose fields"
        for example in self.examples:
            yield f"{example.name}: {example.fault.field or 'object'}: {example.fault.reason}"


Faults = dict[int, Fault]
"""The first fault of each object that has one, by its index."""


def questions(
    old: KubeObject, new: KubeObject, findings: Iterable[Finding]
) -> tuple[Question, ...]:
    """Which stored objects the findings may concern, and what they would have to be valid in.

    None about changes of scope and removed versions: they break every object.
    """
    versions = {
        finding.version.rpartition(PAIR)[::2]
        for finding in findings
        if finding.validator not in (Validator.SCOPE, Validator.STORED_VERSION)
    }
    spec = old.get("spec") or {}
    served = [str(v.get("name")) for v in spec.get("versions") or () if v.get("served")]
    schemas = {
        str(v.get("name")): (v.get("schema") or {}).get("openAPIV3Schema") or {}
        for v in (new.get("spec") or {}).get("versions") or ()
    }
    kind = str((spec.get("names") or {}).get("kind") or "")
    asked = {(_readable(older or newer, served), newer) for older, newer in versions}
    return tuple(
        Question(name_of(new), GVK(str(spec.get("group") or ""), read, kind), newer, schemas[newer])
        for read, newer in sorted(asked)
        if read
    )


def _readable(version: str, served: Sequence[str]) -> str:
    """A version in which the server gives objects now, this one if it can be; else empty."""
    return version if version in served else next(iter(served), "")


def prepared(
    question: Question, objects: Iterable[KubeObject]
) -> tuple[list[KubeObject], list[list[str]]]:
    """The objects as they would be read under the new schema, and the fields that each loses."""
    shown, lost = [], []
    api_version = f"{question.kind.group}/{question.version}"
    for obj in objects:
        read, missing = as_read({**obj, "apiVersion": api_version}, question.schema)
        shown.append({**read, "metadata": {"name": name_of(obj)}})
        lost.append(missing)
    return shown, lost


def trial(schema: Schema, objects: Sequence[KubeObject]) -> KubeObject:
    """A definition that is valid if the objects are; for a dry run, never to be created."""
    objects_schema = {
        "type": "array",
        "maxItems": len(objects),
        "items": {**schema, EMBEDDED_RESOURCE: True},
        "default": list(objects),
    }
    root = {"type": "object", "properties": {TRIAL_FIELD: objects_schema}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"plural": TRIAL_PLURAL, "singular": "trial", "kind": "Trial", "listKind": "TrialList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{TRIAL_PLURAL}.{TRIAL_GROUP}"},
        "spec": {"group": TRIAL_GROUP, "scope": "Cluster", "names": names, "versions": [version]},
    }


def faults_of(causes: Iterable[tuple[str, str, str]]) -> Faults:
    """What a refused trial says of its objects, from (field, reason, message) of each cause.

    Empty if it was refused for another reason than its objects.
    """
    found: Faults = {}
    for path, reason, message in sorted(causes):
        if match := re.search(_FAULTY, path):
            fault = Fault(match[2], REASONS.get(reason, "invalid value"), message)
            found.setdefault(int(match[1]), fault)
    return dict(sorted(found.items()))


def duplicates_in(objects: Sequence[KubeObject], schema: Schema) -> Faults:
    """Lists with something twice, which a server refuses but does not look for in defaults."""
    paths = ((index, next(duplicates(obj, schema), None)) for index, obj in enumerate(objects))
    return {
        index: Fault(path, REASONS["FieldValueDuplicate"])
        for index, path in paths
        if path is not None
    }


def report_with_stored(findings: Iterable[Finding], examined: Sequence[Examined]) -> str:
    """The report of the findings, then a line about the stored objects for each question."""
    lines = (each.line for each in examined)
    stored = joined(lines, count=len(examined), what="definitions", limit=MAX_STORED_BYTES)
    if not stored:
        return report(findings)
    return report(findings, MAX_MESSAGE_BYTES - len(stored.encode()) - 1) + "\n" + stored


def full_name(obj: KubeObject) -> str:
    """`namespace/name`, or the name of an object without a namespace."""
    namespace = namespace_of(obj)
    return f"{namespace}/{name_of(obj)}" if namespace else name_of(obj)
