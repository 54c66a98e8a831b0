"""Would updating a CustomResourceDefinition break the objects that are stored?

Flow: versions of old and new side by side (`versions`), their schemas walked together
(`schema`), every keyword that differs judged by one rule (`rules`), what is wrong said in the
documents' words (`findings`). Nothing is safe that no rule knows.
"""

from operator_controller.preflight.crd_upgrade.findings import Finding, Validator, report
from operator_controller.preflight.crd_upgrade.rules import RULES, Rule
from operator_controller.preflight.crd_upgrade.versions import check

__all__ = ["RULES", "Finding", "Rule", "Validator", "check", "report"]
