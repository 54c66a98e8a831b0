"""May this account install and manage these objects?

Flow: `needs` says what the objects of a bundle need, `authority` what an account holds, `judge`
what is missing, `report` says it in the documents' form. The other way round, `least` turns needs
into the fewest rights that pass, `installer` those into objects to apply. What a rule covers is
Kubernetes' own semantics (`rules`), so that the answer is the API server's.
"""

from olm_content.rights.authority import Account, Authority, authority_of
from olm_content.rights.installer import Document, installer, policy_rule
from olm_content.rights.judge import Verdict, judge, unresolved
from olm_content.rights.kinds import Kind, guessed_kinds
from olm_content.rights.least import (
    Needed,
    NeededRule,
    Purpose,
    Reason,
    as_rules,
    beyond,
    least,
    least_while_replacing,
)
from olm_content.rights.needs import Needs, RoleKey, needs_of
from olm_content.rights.report import report
from olm_content.rights.rules import Permission, Rule, rules_of

__all__ = [
    "Account",
    "Authority",
    "Document",
    "Kind",
    "Needed",
    "NeededRule",
    "Needs",
    "Permission",
    "Purpose",
    "Reason",
    "RoleKey",
    "Rule",
    "Verdict",
    "as_rules",
    "authority_of",
    "beyond",
    "guessed_kinds",
    "installer",
    "judge",
    "least",
    "least_while_replacing",
    "needs_of",
    "policy_rule",
    "report",
    "rules_of",
    "unresolved",
]
