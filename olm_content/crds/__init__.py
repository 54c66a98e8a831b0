"""Would updating a CustomResourceDefinition break the objects that are stored?

Flow: versions of old and new side by side (`versions`), their schemas walked together
(`schema`), every keyword that differs judged by one rule (`rules`), what is wrong said in the
documents' words (`findings`). Nothing is safe that no rule knows.
"""

from olm_content.crds.findings import Finding, Validator, report
from olm_content.crds.rules import RULES, Rule
from olm_content.crds.versions import check

__all__ = ["RULES", "Finding", "Rule", "Validator", "check", "report"]
