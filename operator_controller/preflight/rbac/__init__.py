"""May this account install and manage these objects?

Flow: `needs` says what the objects of a bundle need, `authority` what an account holds, `judge`
what is missing, `report` says it in the documents' form. What a rule covers is Kubernetes' own
semantics (`rules`), so that the answer is the API server's.
"""

from operator_controller.preflight.rbac.authority import Account, Authority, authority_of
from operator_controller.preflight.rbac.judge import Verdict, judge, unresolved
from operator_controller.preflight.rbac.kinds import Kind, guessed_kinds
from operator_controller.preflight.rbac.needs import Needs, RoleKey, needs_of
from operator_controller.preflight.rbac.report import report
from operator_controller.preflight.rbac.rules import Permission, Rule, rules_of

__all__ = [
    "Account",
    "Authority",
    "Kind",
    "Needs",
    "Permission",
    "RoleKey",
    "Rule",
    "Verdict",
    "authority_of",
    "guessed_kinds",
    "judge",
    "needs_of",
    "report",
    "rules_of",
    "unresolved",
]
