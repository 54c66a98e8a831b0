"""Resource quantities in their one canonical spelling: `0.5` is `500m`, `1024Mi` is `1Gi`.

Source of the rules: Kubernetes' API conventions for resource.Quantity. The suffix family of the
input stays (powers of 1024, powers of 1000, exponent); the largest suffix is used that
leaves no fraction; precision ends at one nano, rounded away from zero. Spellings that its reader
takes for canonical stay as they are (`+1`, `5.`, `1E3`), and digits may be missing (`Gi` is 0).
"""

import re
from decimal import ROUND_UP, Context, Decimal
from typing import NamedTuple

_FORM = re.compile(r"([-+]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_SUFFIX = re.compile(r"([KMGTPE]i)|([numkMGTPE]?)|[eE]([-+]?[0-9]+)")
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_LARGEST = Decimal(2**63 - 1)
_NANO = Decimal("1e-9")
_EXACT = Context(prec=1200)
_MAX_TEXT, _MAX_EXPONENT = 100, 1000
"""Longer texts are no quantities, and arithmetic on them would not be cheap."""
_QUICK_DIGITS, _QUICK_BINARY_DIGITS = 18, 15


class _Parts(NamedTuple):
    """A quantity as it is written. `binary` is the suffix of a power of 1024, if it has one."""

    sign: str
    whole: str
    fraction: str
    binary: str | None
    exponent: int
    exponent_form: bool

    def value(self) -> Decimal:
        """The number, rounded to nanos."""
        scale = Decimal(1024 ** _BINARY[self.binary]) if self.binary else None
        scale = scale or Decimal(1).scaleb(self.exponent, _EXACT)
        number = Decimal(f"{self.sign}{self.whole}.{self.fraction}")
        return _EXACT.multiply(number, scale).quantize(_NANO, ROUND_UP, _EXACT)


def canonical(text: str) -> str:
    """The canonical spelling of a quantity. Raises ValueError if it is none."""
    parts = _parts(text)
    if _is_canonical(parts.whole, parts.fraction, parts.binary, parts.exponent):
        return text
    value = parts.value()
    if parts.binary and abs(value) >= 1024:
        return _binary(max(min(value, _LARGEST), -_LARGEST))
    return _decimal(value, exponent_form=parts.exponent_form)


def value_of(text: str) -> Decimal:
    """The number that a quantity stands for. Raises ValueError if it is none."""
    return _parts(text).value()


def _parts(text: str) -> _Parts:
    found = _FORM.fullmatch(text) if 0 < len(text) <= _MAX_TEXT else None
    if found is None:
        raise ValueError(
            "quantities must match the regular expression "
            r"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    kind = _SUFFIX.fullmatch(found[4])
    exponent = int(kind[3]) if kind and kind[3] else _DECIMAL.get(found[4], 0)
    if kind is None or abs(exponent) > _MAX_EXPONENT:
        raise ValueError("unable to parse quantity's suffix")
    whole, fraction = found[2] or "0", found[3] or ""
    return _Parts(found[1], whole, fraction, kind[1], exponent, kind[3] is not None)


def _is_canonical(whole: str, fraction: str, binary: str | None, exponent: int) -> bool:
    """Whether Kubernetes' quick reader takes the spelling for canonical: few digits, no zeros."""
    digits = whole + fraction
    if binary:
        few = len(whole) + _BINARY[binary] * 3 < _QUICK_BINARY_DIGITS
        return few and not fraction and int(whole) % 8 != 0
    scale = exponent - len(fraction)
    quick = len(digits) <= _QUICK_DIGITS and scale >= _DECIMAL["n"]
    return quick and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _binary(value: Decimal) -> str:
    if value != value.to_integral_value():
        return _decimal(value, exponent_form=False)
    whole, suffix = int(value), ""
    for larger in _BINARY:
        if whole % 1024:
            break
        whole, suffix = whole // 1024, larger
    return f"{whole}{suffix}"


def _decimal(value: Decimal, *, exponent_form: bool) -> str:
    if not value:
        return "0"
    digits = int(_EXACT.multiply(value, Decimal(10**9)))
    power = -9
    while digits % 1000 == 0 and (exponent_form or power < _DECIMAL["E"]):
        digits, power = digits // 1000, power + 3
    if exponent_form:
        return f"{digits}e{power}" if power else str(digits)
    return f"{digits}{_DECIMAL_SUFFIX[power]}"
