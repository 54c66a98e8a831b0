"""How long resolution waits for catalogs that this process has just met."""

import pytest

from olm_classic.controllers.catalog_contents import PATIENCE_SECONDS, is_worth_waiting_for
from olm_classic.io.registry import ConnectionState

SOON, LATE = PATIENCE_SECONDS - 1, PATIENCE_SECONDS + 1


@pytest.mark.parametrize(
    ("state", "waited", "waits"),
    [
        (None, SOON, True),
        (None, LATE, False),
        (ConnectionState.CONNECTING, SOON, True),
        (ConnectionState.CONNECTING, LATE, False),
        (ConnectionState.TRANSIENT_FAILURE, 0.0, False),
        (ConnectionState.READY, LATE, True),
    ],
)
def test_a_catalog_that_is_read_is_waited_for(
    state: ConnectionState | None, waited: float, waits: bool
) -> None:
    assert is_worth_waiting_for(state, waited) is waits
