"""What `olm doctor` finds wrong in the cluster, and the commands that mend it.

Its checks read certificates: what that takes, 10 MiB, is imported by the first who examines.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from console.asked import AskedBy
from console.rendering import page
from console.users import User
from olm_client.diagnosis.findings import Severity, Verdict, examine

AT_ONCE = asyncio.Semaphore(2)
"""It reads whole clusters."""

router = APIRouter()


@router.get("/doctor")
async def doctor(
    request: Request, user: AskedBy, asked: Annotated[str, Query(alias="examine")] = ""
) -> Response:
    """What there is to examine; with `examine` what was found, the worst first. Only reads."""
    from olm_client.diagnosis.checks.every import CHECKS

    verdicts = await _verdicts(user) if asked else ()
    order = list(Severity)
    findings = [(each.check, finding) for each in verdicts for finding in each.findings]
    return page(
        request,
        "doctor.html",
        checks=CHECKS,
        verdicts=verdicts,
        findings=sorted(findings, key=lambda pair: order.index(pair[1].severity)),
    )


async def _verdicts(user: User) -> Sequence[Verdict]:
    from olm_client.diagnosis.checks.every import CHECKS
    from olm_client.diagnosis.collecting import Collector

    options = user.options
    wanted = frozenset(fact for check in CHECKS for fact in check.reads)
    async with AT_ONCE:
        collector = Collector(
            user.kube, options.reach.access(), wanted, lambda _: None,
            options.cas_dir, allow_http=options.allow_http,
        )  # fmt: skip
        snapshot = await collector.collect()
    return await asyncio.to_thread(examine, CHECKS, snapshot)
