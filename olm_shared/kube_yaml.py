"""YAML and JSON documents to plain JSON values, read as Kubernetes' own tools read them."""

from collections.abc import Iterator
from typing import Any

import yaml

from olm_shared.errors import TerminalError


class YamlError(TerminalError):
    """Text that is no YAML; `line` is 1-based, 0 when unknown; `document` is 1-based."""

    def __init__(self, message: str, *, document: int = 1, line: int = 0) -> None:
        super().__init__(message)
        self.document = document
        self.line = line


def load_all(data: bytes) -> Iterator[Any]:
    """Every document of a stream, empty ones left out. Raises YamlError."""
    number = 0  # documents read so far; the failing one is the next
    try:
        for document in yaml.load_all(data, yaml.CSafeLoader):
            number += 1
            if document is not None:
                yield document
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        problem = getattr(error, "problem", None) or str(error)
        raise YamlError(str(problem), document=number + 1, line=line) from error
