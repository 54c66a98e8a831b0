"""How often a metrics store is asked for alerts."""

from typing import Any

import pytest

from cluster_version.io.recent_alerts import RecentAlerts
from olm_runtime.errors import TransientError


async def test_an_answer_and_a_failure_hold_for_a_while() -> None:
    now, answers = 0.0, [1]
    error: TransientError | None = None

    async def ask() -> list[dict[str, Any]]:
        answers.append(answers[-1] + 1)
        if error is not None:
            raise error
        return [{"answer": answers[-1]}]

    alerts = RecentAlerts(ask, 10.0, lambda: now)
    first = await alerts.get()
    now = 9.9
    assert await alerts.get() == first
    now = 10.0
    assert await alerts.get() != first
    now, error = 20.0, TransientError("no answer")
    for _ in range(2):
        with pytest.raises(TransientError, match="no answer"):
            await alerts.get()
    assert len(answers) == 4
    now, error = 30.0, None
    assert await alerts.get() == [{"answer": 5}]
