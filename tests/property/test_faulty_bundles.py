"""What becomes of a bundle once any key in it is dropped, retyped or given twice.

What is expected is written down in tests/cases/bundles.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olm_content.fbc.records import Record, properties
from olm_content.formats.kube_yaml import load_all
from olm_runtime.errors import OLMError
from opm.bundle import read_bundle, to_record
from opm.migrate import migrate
from tests.requirements import CORPUS, leave_out
from tests.unit.opm.bundles import ANNOTATIONS, CRD, CSV

Json = Any
Step = str | int
Place = tuple[Step, ...]

CASES = Path(__file__).parents[1] / "cases" / "bundles"

VALUES: dict[str, Json] = {
    "text": "other",
    "number": 5,
    "fraction": 1.5,
    "boolean": True,
    "list": ["x"],
    "object": {"x": "y"},
    "null": None,
}
FITS: dict[str, set[str]] = {
    "text": {"text"},
    "number": {"number"},
    "boolean": {"boolean"},
    "list": {"list"},
    "object": {"object"},
    "time": set(),
    "text-or-number": {"text", "number", "fraction"},
    "plain": {"text", "number", "fraction", "boolean"},
}
"""Which values a type takes."""

RENDERED, REFUSED, PASSED_OVER, EITHER = "rendered", "refused", "passed-over", "either"
TYPED_PROPERTIES = ("olm.gvk", "olm.package")
TWICE = "given twice"


@dataclass(frozen=True)
class Rule:
    """A line of a table."""

    path: list[str]
    kind: str
    special: str

    @classmethod
    def parse(cls, line: str) -> "Rule":
        path, kind, *special = line.split()
        return cls(path.split("/"), kind, "".join(special))

    def is_of(self, place: Place) -> bool:
        return len(self.path) == len(place) and all(
            name == "[]" if isinstance(step, int) else name in ("*", step)
            for name, step in zip(self.path, place, strict=True)
        )


RULES = {
    file.stem: [Rule.parse(line) for line in file.read_text().splitlines()]
    for file in sorted(CASES.glob("*.txt"))
}


@dataclass(frozen=True)
class Mutation:
    """A key of a file that is dropped, retyped or given twice; the file is written as YAML or JSON.

    `value` names the new one.
    """

    file: str
    place: Place
    action: str
    value: str = ""
    as_json: bool = False


def places(value: Json, place: Place = ()) -> Iterator[Place]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


def rule_for(content: Json, place: Place) -> Rule | None:
    kind = content.get("kind") or next((key for key in RULES if key in content), "")
    return next((rule for rule in RULES.get(kind, ()) if rule.is_of(place)), None)


def expected(content: Json, mutation: Mutation) -> str:
    rule, place = rule_for(content, mutation.place), mutation.place
    if rule is None or mutation.action == "twice":
        return RENDERED
    if place[2:3] == ("value",) and content[place[0]][place[1]]["type"] not in TYPED_PROPERTIES:
        return RENDERED
    if mutation.action == "drop":
        return REFUSED if rule.special in ("needed", "given") else RENDERED
    if mutation.value == "null":
        return REFUSED if rule.special in ("needed", "no-null") else RENDERED
    if mutation.value in FITS[rule.kind]:
        return RENDERED
    return PASSED_OVER if rule.special == PASSED_OVER else REFUSED


def expected_of_real(content: Json, mutation: Mutation) -> str:
    """The tables leave much of real bundles out, where there is also more than one of a kind."""
    rule = rule_for(content, mutation.place)
    if rule is None or (rule.special and mutation.action != "retype"):
        return EITHER
    return expected(content, mutation)


Files = dict[str, Json]


def mutated(files: Files, mutation: Mutation) -> dict[str, bytes]:
    written = {path: json.dumps(content) for path, content in files.items()}
    content = copy.deepcopy(files[mutation.file])
    *way, last = mutation.place
    parent = content
    for step in way:
        parent = parent[step]
    if mutation.action == "drop":
        del parent[last]
    elif mutation.action == "retype":
        parent[last] = VALUES[mutation.value]
    else:
        parent[TWICE], parent[last] = parent[last], None
    text = json.dumps(content)
    if mutation.action == "twice":
        text = text.replace(json.dumps(TWICE), json.dumps(last))
    written[mutation.file] = text if mutation.as_json else f"# YAML\n{text}"
    return {path: text.encode() for path, text in written.items()}


def outcome(files: dict[str, bytes]) -> tuple[str, Record | None]:
    """A record, or an error for the user, and nothing else."""
    try:
        bundle = read_bundle(files)
        record = to_record(bundle, "example.com/bundle:v1")
    except OLMError:
        return REFUSED, None
    with suppress(OLMError):
        list(migrate([record], "bundle-object-to-csv-metadata"))
    passed_over = any(remark.startswith("metadata/") for remark in bundle.remarks)
    return PASSED_OVER if passed_over else RENDERED, record


@st.composite
def mutations(draw: st.DrawFn, files: Files) -> Mutation:
    file = draw(st.sampled_from(sorted(files)))
    place = draw(st.sampled_from(list(places(files[file]))))
    in_list = isinstance(place[-1], int)
    action = draw(st.sampled_from(["drop", "retype", *([] if in_list else ["twice"])]))
    rule = rule_for(files[file], place)
    values = sorted(VALUES if rule is None else VALUES.keys() - {rule.kind})
    value = draw(st.sampled_from(values)) if action == "retype" else ""
    return Mutation(file, place, action, value, draw(st.booleans()))


CONTAINER: Json = {
    "name": "operator",
    "image": "example.com/hello:v1",
    "imagePullPolicy": "Always",
    "command": ["run"],
    "args": ["--fast"],
    "env": [{"name": "A", "value": "1"}],
    "ports": [{"name": "https", "containerPort": 8443}],
    "securityContext": {"allowPrivilegeEscalation": False},
}
DEPLOYMENT: Json = {
    "replicas": 1,
    "selector": {"matchLabels": {"app": "hello"}},
    "template": {
        "metadata": {
            "name": "pod",
            "labels": {"app": "hello"},
            "annotations": {"a": "b"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "serviceAccountName": "hello",
            "containers": [CONTAINER],
            "initContainers": [{"name": "first", "image": "example.com/tool:v1"}],
        },
    },
}
META: Json = {"labels": {"app": "hello"}, "creationTimestamp": "2026-01-01T00:00:00Z"}
API: Json = {"group": "api.example.com", "kind": "Served", "version": "v1", "name": "serveds"}
SCHEMA: Json = {
    "type": "object",
    "description": "A greeting.",
    "required": ["spec"],
    "properties": {"spec": {"type": "object"}},
}
BUNDLE: Files = {
    "manifests/csv.yaml": {
        **CSV,
        "metadata": {**CSV["metadata"], **META},
        "spec": {
            **CSV["spec"],
            "release": "1",
            "apiservicedefinitions": {"owned": [API]},
            "install": {
                "strategy": "deployment",
                "spec": {"deployments": [{"name": "hello", "spec": DEPLOYMENT}]},
            },
        },
    },
    "manifests/crd.yaml": {
        **CRD,
        "metadata": {**CRD["metadata"], **META, "annotations": {"a": "b"}},
        "spec": {
            **CRD["spec"],
            "scope": "Namespaced",
            "names": {
                **CRD["spec"]["names"],
                "singular": "hello",
                "listKind": "HelloList",
                "shortNames": ["hi"],
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": SCHEMA},
                }
            ],
        },
    },
    "manifests/configmap.yaml": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {"key": "value"},
    },
    "metadata/annotations.yaml": {
        "annotations": {
            **ANNOTATIONS["annotations"],
            "operators.operatorframework.io.bundle.channel.default.v1": "stable",
            "com.example.other": "text",
        }
    },
    "metadata/dependencies.yaml": {
        "dependencies": [
            {"type": "olm.package", "value": {"packageName": "etcd", "version": ">1.0.0"}},
            {"type": "olm.gvk", "value": {"group": "g", "kind": "K", "version": "v1"}},
            {"type": "olm.constraint", "value": {"failureMessage": "no", "cel": {"rule": "true"}}},
        ]
    },
    "metadata/properties.yaml": {
        "properties": [
            {"type": "olm.gvk", "value": {"group": "g", "kind": "P", "version": "v1"}},
            {"type": "shape", "value": {"colour": "red"}},
        ]
    },
}


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(mutations(BUNDLE))
def test_a_faulty_bundle_is_refused_or_rendered_as_written_down(mutation: Mutation) -> None:
    found, record = outcome(mutated(BUNDLE, mutation))
    assert found == expected(BUNDLE[mutation.file], mutation)
    if mutation.action == "twice":
        assert record == WHOLE, "what a key says last counts"
    if found == PASSED_OVER and record is not None:
        assert len(properties(record)) < len(properties(WHOLE))


_, WHOLE_RECORD = outcome({path: json.dumps(content).encode() for path, content in BUNDLE.items()})
assert WHOLE_RECORD is not None
WHOLE: Record = WHOLE_RECORD


@pytest.mark.parametrize(
    ("value", "text"), [("number", "5"), ("fraction", "1.5"), ("boolean", "true")]
)
def test_numbers_and_booleans_become_text_in_metadata(value: str, text: str) -> None:
    place = ("annotations", "operators.operatorframework.io.bundle.package.v1")
    mutation = Mutation("metadata/annotations.yaml", place, "retype", value)
    _, record = outcome(mutated(BUNDLE, mutation))
    assert record is not None
    assert record.package == text


REAL = sorted(folder.parent for folder in CORPUS.glob("bundles/*/*/manifests"))


def real_files(folder: Path) -> Files:
    return {
        f"{part}/{path.name}": content
        for part in ("manifests", "metadata")
        for path in sorted((folder / part).iterdir())
        if path.is_file() and isinstance(content := next(load_all(path.read_bytes()), None), dict)
    }


@pytest.mark.corpus
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_so_is_a_real_one(data: st.DataObject) -> None:
    if not REAL:
        leave_out("corpus", "no corpus folder; set OLMV1_CORPUS to one")
    files = real_files(data.draw(st.sampled_from(REAL)))
    mutation = data.draw(mutations(files))
    wanted = expected_of_real(files[mutation.file], mutation)
    assert wanted in (EITHER, outcome(mutated(files, mutation))[0])
