"""JSON text as Go's encoding/json writes it, for hashes and names that must agree with Go's.

Source of the rules: the documentation of Go's encoding/json (Marshal, Encoder.SetEscapeHTML).
Maps are written in the order given: Go's structs keep their field order, Go's maps are sorted,
so a caller that stands for a Go map passes `sort_keys=True`.
"""

import json
import math
from typing import Any

_HTML = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """Compact JSON with `<`, `>`, `&`, U+2028 and U+2029 escaped; no newline at the end.

    Raises ValueError for NaN and infinities, which JSON cannot say.
    """
    text = json.dumps(
        _floats(value),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
        sort_keys=sort_keys,
    )
    return text.translate(_HTML)


def _floats(value: Any) -> Any:
    """Whole floats as integers: Go writes 1e6 as 1000000 up to 1e21, where Python adds `.0`."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value) if abs(value) < _EXPONENT_FROM else value
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return value


_EXPONENT_FROM = 1e21
