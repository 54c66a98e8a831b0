"""Which conditional updates are recommended. Source of the rules: upstream's notes, section 4.1."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from api.conditions import REASON, ConditionStatus
from cluster_version.payload.release import Release
from cluster_version.updates.graph import ConditionalUpdate, Risk, Rule, Updates
from olm_content.versions import Key, parse_version
from olm_runtime.errors import OLMError

Ask = Callable[[str], Awaitable[bool]]
"""Whether a query finds what it looks for. Raises OLMError where that is not known."""

APPLIES, RECOMMENDED = "Applies", "Recommended"
"""Conditions of risks and of updates."""
NOT_EXPOSED = "NotExposedToRisks"
ACCEPTED = "AllExposedRisksAccepted"
FAILED = "EvaluationFailed"
EXPOSED = "ExposedToRisks"
"""The reason where the name of a risk cannot be one."""
MULTIPLE = "MultipleReasons"

_UNEXPOSED_TEXT = (
    "The update is recommended, because none of the conditional update risks apply to this cluster."
)
_ACCEPTED_TEXT = (
    "The update is recommended, because either risk does not apply to this cluster or it is "
    "accepted by cluster admins."
)


@dataclass(frozen=True, slots=True)
class Exposure:
    """Whether a risk applies: True or False, or Unknown and why.

    cause  in one word; empty for what rules found
    """

    status: ConditionStatus
    message: str = ""
    cause: str = ""

    @property
    def reason(self) -> str:
        """In one word."""
        if self.cause:
            return self.cause
        match self.status:
            case ConditionStatus.TRUE:
                return "Match"
            case ConditionStatus.FALSE:
                return "NotMatch"
        return FAILED


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The condition Recommended of a conditional update."""

    status: ConditionStatus
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Updates as the status lists them, the newest version first.

    One that is recommended is among the available ones, and stays among the conditional ones.

    exposures  to all risks of these, by name
    """

    available: tuple[Release, ...]
    conditional: tuple[tuple[ConditionalUpdate, Recommendation], ...]
    exposures: Mapping[str, Exposure] = field(default_factory=dict)


async def evaluate(
    updates: Updates,
    ask: Ask,
    accepted: Collection[str] = (),
    known: Mapping[str, Exposure] = MappingProxyType({}),
) -> Evaluated:
    """What a cluster may update to.

    `accepted` names risks that its administrator takes, `known` has those that no rule need find.
    """
    exposures = await _exposures(updates.conditional, ask, known)
    available = list(updates.available)
    judged = []
    for update in updates.conditional:
        verdict = _recommendation(update.risks, exposures, accepted)
        judged.append((update, verdict))
        image = update.release.image
        if verdict.status is not ConditionStatus.TRUE:
            available = [each for each in available if each.image != image]
        elif all(each.image != image for each in available):
            available.append(update.release)
    return Evaluated(
        tuple(sorted(available, key=_by_version, reverse=True)),
        tuple(sorted(judged, key=lambda each: _by_version(each[0].release), reverse=True)),
        exposures,
    )


def _by_version(release: Release) -> Key:
    return parse_version(release.version).key


async def _exposures(
    updates: Iterable[ConditionalUpdate], ask: Ask, known: Mapping[str, Exposure]
) -> dict[str, Exposure]:
    """Of each risk by name; those of newer versions are asked for first."""
    newest: dict[str, tuple[Key, Risk]] = {}
    for update in updates:
        version = _by_version(update.release)
        for risk in update.risks:
            if risk.name not in newest or version > newest[risk.name][0]:
                newest[risk.name] = version, risk
    by_name = sorted(newest.items())
    in_order = sorted(by_name, key=lambda each: each[1][0], reverse=True)
    return {name: known.get(name) or await _exposure(risk, ask) for name, (_, risk) in in_order}


async def _exposure(risk: Risk, ask: Ask) -> Exposure:
    """The first rule that can be evaluated decides."""
    problems = []
    for rule in risk.rules:
        try:
            applies = await _matches(rule, ask)
        except OLMError as error:
            problems.append(error.message)
        else:
            return Exposure(ConditionStatus.TRUE if applies else ConditionStatus.FALSE)
    problem = problems[0] if len(problems) == 1 else f"[{', '.join(dict.fromkeys(problems))}]"
    text = (
        f"Could not evaluate exposure to update risk {risk.name} ({problem})\n"
        f"  {risk.name} description: {risk.message}\n"
        f"  {risk.name} URL: {risk.url}"
    )
    return Exposure(ConditionStatus.UNKNOWN, text)


async def _matches(rule: Rule, ask: Ask) -> bool:
    return await ask(rule.query) if rule.query else True


def _recommendation(
    risks: Sequence[Risk], exposures: Mapping[str, Exposure], accepted: Collection[str]
) -> Recommendation:
    status, reason = ConditionStatus.TRUE, NOT_EXPOSED
    texts: list[str] = []
    for risk in risks:
        exposure = exposures[risk.name]
        if exposure.status is ConditionStatus.FALSE:
            continue
        if exposure.status is ConditionStatus.UNKNOWN:
            reason = _combined(reason, FAILED)
            texts.append(exposure.message)
            if status is ConditionStatus.TRUE:
                status = ConditionStatus.UNKNOWN
        elif risk.name in accepted:
            reason = _combined(reason, ACCEPTED)
        else:
            named = risk.name if re.fullmatch(REASON, risk.name) else EXPOSED
            reason = _combined(reason, named)
            texts.append(f"{risk.message} {risk.url}")
            status = ConditionStatus.FALSE
    none = _ACCEPTED_TEXT if reason == ACCEPTED else _UNEXPOSED_TEXT
    return Recommendation(status, reason, "\n\n".join(texts) or none)


def _combined(before: str, reason: str) -> str:
    """The reason of several risks, one after the other, as upstream has it."""
    return reason if before in (NOT_EXPOSED, ACCEPTED, reason) else MULTIPLE
