"""Resource quantities in their one canonical spelling: `0.5` is `500m`, `1024Mi` is `1Gi`.

Source of the rules: Kubernetes' API conventions for resource.Quantity. The suffix family of the
input is kept (powers of 1024, powers of 1000, exponent); the largest suffix is used that
leaves no fraction; precision ends at one nano, rounded away from zero. Where Kubernetes keeps
a spelling because it equals the canonical one in value (`+1`, `5.`), this gives the canonical.
"""

import re
from decimal import ROUND_UP, Context, Decimal

_FORM = re.compile(
    r"([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE])|[eE]([-+]?[0-9]+))?"
)
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_LARGEST = Decimal(2**63 - 1)
_NANO = Decimal("1e-9")
_EXACT = Context(prec=1200)
_MAX_TEXT, _MAX_EXPONENT = 100, 999
"""Longer texts are no quantities, and arithmetic on them would not be cheap."""


def canonical(text: str) -> str:
    """The canonical spelling of a quantity. Raises ValueError if it is none."""
    found = _FORM.fullmatch(text) if len(text) <= _MAX_TEXT else None
    if found is None:
        raise ValueError(
            "quantities must match the regular expression "
            r"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    number, binary, decimal, exponent = found.groups()
    if exponent is not None and abs(int(exponent)) > _MAX_EXPONENT:
        raise ValueError("unable to parse quantity's suffix")
    scale = Decimal(1024 ** _BINARY[binary]) if binary else _power(decimal, exponent)
    value = _EXACT.multiply(Decimal(number), scale).quantize(_NANO, ROUND_UP, _EXACT)
    if binary and abs(value) >= 1024:
        return _binary(max(min(value, _LARGEST), -_LARGEST))
    return _decimal(value, exponent_form=exponent is not None)


def _power(decimal: str | None, exponent: str | None) -> Decimal:
    power = int(exponent) if exponent is not None else _DECIMAL[decimal or ""]
    return Decimal(1).scaleb(power, _EXACT)


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
