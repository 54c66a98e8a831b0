"""The error of a resolution."""

from olm_runtime.errors import TransientError
from operator_controller.resolve.findings import Findings


class ResolutionError(TransientError):
    """No bundle can be chosen. `message` is upstream's sentence, `findings` are its reasons.

    Transient in all cases, as upstream retries all of them: catalogs change without notice.
    """

    def __init__(self, message: str, findings: Findings | None = None, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = findings or Findings()
