"""What is missing: needs against authority."""

from collections.abc import Mapping
from typing import NamedTuple

from olm_content.rights.authority import Authority
from olm_content.rights.needs import Grant, Needs, RoleKey
from olm_content.rights.rules import Permission, Rule

NO_MATCHES = "no matches for kind"


class Verdict(NamedTuple):
    """Permissions that are missing, and why the check does not know more; both empty: go."""

    missing: frozenset[Permission] = frozenset()
    errors: tuple[str, ...] = ()

    @property
    def granted(self) -> bool:
        """Whether nothing stands in the way."""
        return not self.missing and not self.errors

    @property
    def only_unserved(self) -> bool:
        """Whether all that stands in the way are kinds that the cluster does not serve."""
        unserved = all(error.startswith(NO_MATCHES) for error in self.errors)
        return not self.missing and bool(self.errors) and unserved


RoleContent = tuple[Rule, ...] | str | None
"""The rules of a role of the cluster; None if there is no such role; text why it is not known."""


def unresolved(needs: Needs, authority: Authority) -> list[RoleKey]:
    """Roles outside the bundle whose rules the judgement depends on."""
    return sorted(
        {
            grant.role
            for grant in needs.grants
            if grant.rules is None and not authority.allows(grant.instead)
        }
    )


def judge(needs: Needs, authority: Authority, roles: Mapping[RoleKey, RoleContent]) -> Verdict:
    """The verdict; `roles` has what `unresolved` asked for."""
    missing: set[Permission] = set()
    errors = [f'{NO_MATCHES} "{k.kind}" in version "{k.api_version}"' for k in needs.unserved]
    for action in needs.actions:
        missing |= authority.lacks(action.namespace, action.rule) - authority.otherwise
    handed_out: set[tuple[str, Rule]] = set()
    for grant in needs.grants:
        if authority.allows(grant.instead):
            continue
        content = roles.get(grant.role) if grant.rules is None else grant.rules
        if isinstance(content, tuple):
            handed_out |= {(grant.namespace, rule) for rule in content}
        else:
            errors.append(_unknown(grant, content))
    for namespace, rule in handed_out:
        missing |= authority.lacks(namespace, rule)
    return Verdict(frozenset(missing), tuple(sorted(errors)))


def _unknown(grant: Grant, why: str | None) -> str:
    reason = why or "is neither in the cluster nor in the bundle"
    return f"{grant.giver} refers to {grant.role}, which {reason}"
