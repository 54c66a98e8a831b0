"""YAML and JSON documents to plain JSON values, read as Kubernetes' own tools read them.

Go's sigs.k8s.io/yaml is the reference: a port of libyaml with rules of its own for scalars
(`yaml_scalars`). The result is always what JSON can say: keys are strings, whole numbers are
integers, NaN and infinities are errors.

`json_streams` reads JSON, `yaml_blocks` what is written as nearly all YAML is, `yaml_events` all
other YAML.
"""

import re
from collections.abc import Iterator
from typing import Any

from olm_content.formats.json_streams import json_texts, json_values
from olm_content.formats.yaml_blocks import load_blocks
from olm_content.formats.yaml_errors import TooManyValuesError, YamlError, too_many_values

__all__ = ["TooManyValuesError", "YamlError", "json_texts", "load_all", "too_many_values"]

BAD_SEPARATOR = "invalid Yaml document separator"
"""How the message begins when a line begins like a separator and goes on."""


def load_all(
    data: bytes, *, unique_keys: bool = False, max_values: int | None = None
) -> Iterator[Any]:
    """Every document of a stream, empty ones (null) left out.

    Documents are separated as k8s.io/apimachinery separates them: by lines that begin with
    `---`; JSON values may also simply follow each other. A key given twice keeps its last
    value, as in every Kubernetes tool, unless `unique_keys` makes that an error.
    Values under an anchor are shared, not copied: treat the result as read-only. A YAML document
    of more than `max_values` is a TooManyValuesError.

    Raises YamlError, with the number of the document and the line in the stream.
    """
    values = None if unique_keys else json_values(data)
    if values is not None:
        yield from values
        return
    for number, (first_line, chunk) in enumerate(_documents(data), start=1):
        value = None if unique_keys else load_blocks(chunk)
        if value is not None:
            yield value
            continue
        # Here, for libyaml takes longer to import than most commands may take.
        from olm_content.formats.yaml_events import EventReader

        try:
            value = EventReader(chunk, unique_keys=unique_keys, max_values=max_values).load()
        except YamlError as error:
            line = error.line + first_line if error.line else 0
            where = f"line {line}: " if line else ""
            raise type(error)(
                f"yaml: {where}{error.message}",
                document=number,
                line=line,
                go_message=error.go_message,
            ) from error.__cause__
        if value is not None:
            yield value


def _documents(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The documents of a stream with the number of lines before each."""
    start = line = 0
    for found in _SEPARATOR.finditer(data):
        if rest := found.group(1).strip():
            here = line + data.count(b"\n", start, found.start()) + 1
            if not rest.startswith(b"#"):
                text = f"{BAD_SEPARATOR}: {rest.decode(errors='replace')}"
                raise YamlError(text, line=here)
        if found.start() > start:
            yield line, data[start : found.start()]
        line += data.count(b"\n", start, found.end())
        start = found.end()
    if start < len(data):
        yield line, data[start:]


# Begins with its text, because that is what the matcher jumps to; `^` makes it look at every byte.
_SEPARATOR = re.compile(rb"---(?<![^\n]---)([^\n]*)(?:\n|\Z)")
