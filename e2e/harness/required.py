"""What a run may not leave out.

Suites that need more than most machines have are left out where it is missing. OLMV1_REQUIRE, as
CI sets it, names those that fail instead: `corpus`, `dex`, `gitops`, `machine`, `node`,
`prometheus`, joined by commas.
"""

import os

VARIABLE = "OLMV1_REQUIRE"


def is_required(what: str) -> bool:
    """Whether a run without `what` has failed."""
    return what in os.environ.get(VARIABLE, "").split(",")
