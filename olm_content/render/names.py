"""Names of generated objects: bounded in length, and unique where their content is the identity.

They are a contract with clusters that upstream's OLM manages too: another name is another
object.
"""

import hashlib
from typing import Any

from olm_content.bundle.model import Permission
from olm_content.formats import go_json

MAX_NAME_LENGTH = 63

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


def object_name(base: str, suffix: str) -> str:
    """`base-suffix`, with `base` cut so that the whole has 63 characters.

    The dash is not counted when deciding whether to cut, so 64 characters are possible. That
    oddity is upstream's, and names must agree.
    """
    if len(base) + len(suffix) > MAX_NAME_LENGTH:
        base = base[: max(MAX_NAME_LENGTH - len(suffix) - 1, 0)]
    return f"{base}-{suffix}"


def unique_name(base: str, permission: Permission) -> str:
    """A name that changes when the permission does."""
    return object_name(base, content_hash(permission_fields(permission)))


def content_hash(value: Any) -> str:
    """Base-36 SHA-224 of a value's JSON as Go's encoder writes it, newline included."""
    digest = hashlib.sha224(f"{go_json.dumps(value)}\n".encode()).digest()
    return _base36(int.from_bytes(digest, "big"))


def permission_fields(permission: Permission) -> dict[str, Any]:
    """A permission with the keys and the order of keys that its hash is made of."""
    rules = permission.rules
    return {
        "serviceAccountName": permission.service_account,
        "rules": None if rules is None else [_rule_fields(rule) for rule in rules],
    }


def _rule_fields(rule: dict[str, Any]) -> dict[str, Any]:
    fields = {name: rule[name] for name in _RULE_FIELDS if rule.get(name)}
    return {"verbs": rule.get("verbs"), **fields}


def _base36(number: int) -> str:
    digits = []
    while number:
        number, digit = divmod(number, 36)
        digits.append(_BASE36[digit])
    return "".join(reversed(digits)) or "0"
