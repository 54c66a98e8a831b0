"""Why an extension has the bundle it has, and what would change it."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.olm.v1.conditions import ConditionType
from olm_client.catalogs.near import near_packages
from olm_client.lifecycle.commands import command_of_patch
from olm_client.resolution.hints import hints, unknown_channels
from olm_client.resolution.situation import Situation
from olm_client.resolution.text import Outcome, explanation, facts, reasons
from olm_content.versions import parse_bundle_version
from operator_controller.apply.suspension import suspension_in, way_on
from operator_controller.resolve import Reason, Resolution, ResolutionError, resolve
from operator_controller.resolve.change import Change, NoChange
from operator_controller.resolve.change_search import find_change, find_change_to
from operator_controller.resolve.change_text import sentence
from operator_controller.resolve.explain import note_text

OF_RIVALS = {Reason.CHOSEN, Reason.AMBIGUOUS, Reason.LOWER_PRIORITY}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the spec comes to now, and the change that would make it another bundle."""

    situation: Situation
    outcome: Outcome
    advice: Change | NoChange | None
    hints: Sequence[str] = ()

    @property
    def is_known(self) -> bool:
        """Whether all was read that the choice depends on."""
        if isinstance(self.outcome, Resolution):
            return True
        causes = self.outcome.findings.causes
        return not any(cause.reason is Reason.CATALOG_UNAVAILABLE for cause in causes)


def answer_of(situation: Situation, options: Mapping[str, Any]) -> Answer:
    """What the spec comes to, and what would change that; `options` reach the catalogs."""
    request, catalogs = situation.request, situation.catalogs
    try:
        found = resolve(request, catalogs)
    except ResolutionError as error:
        advice = find_change(request, catalogs)
        return Answer(situation, error, advice, [*_instead(situation, error, options)])
    return Answer(situation, found, _to_the_newest(situation, found))


def _instead(
    situation: Situation, error: ResolutionError, options: Mapping[str, Any]
) -> Iterable[str]:
    """What there is instead of unknown names, without repetition.

    Where bundles of the package were considered, the advice says the rest.
    """
    desired = situation.request.desired
    if error.findings.considered:
        found = (each.package for each in situation.catalogs if each.package is not None)
        return unknown_channels(desired, found)
    instead = hints(
        error,
        desired,
        situation.catalogs,
        switched_off=situation.switched_off,
        near_packages=lambda: near_packages(desired.package_name, options),
    )
    return dict.fromkeys(instead)


def _to_the_newest(situation: Situation, found: Resolution) -> Change | None:
    """How to get the highest version that the spec excludes, if there is one."""
    newer = [
        cause
        for cause in found.findings.causes
        if cause.version
        and cause.reason not in OF_RIVALS
        and parse_bundle_version(cause.version).key > found.version.key
    ]
    newest = max(newer, key=lambda cause: parse_bundle_version(cause.version).key, default=None)
    if newest is None:
        return None
    request, catalogs = situation.request, situation.catalogs
    return find_change_to(request, catalogs, catalog=newest.catalog, bundle=newest.bundle)


def answer_facts(answer: Answer) -> dict[str, Any]:
    """The answer as data."""
    installed = answer.situation.installed
    suspension = suspension_in(answer.situation.extension.metadata.annotations)
    return {
        "extension": answer.situation.extension.metadata.name,
        **({"suspended": suspension.text} if suspension else {}),
        "installed": {"bundle": installed.name, "version": installed.version}
        if installed
        else None,
        **facts(answer.outcome),
        **explanation(answer.outcome, answer.situation.request, answer.advice),
        **({"hints": list(answer.hints)} if answer.hints else {}),
    }


def answer_lines(answer: Answer) -> Iterator[str]:
    """The answer as text."""
    extension, installed = answer.situation.extension, answer.situation.installed
    desired = extension.spec.source.catalog
    yield f"{extension.metadata.name}: package {desired.package_name}, {_source_text(answer)}"
    yield f"  installed    {installed.name}" if installed else "  installed    nothing"
    progressing = _condition(answer, ConditionType.PROGRESSING)
    if progressing:
        yield f"  Progressing  {progressing}"
    if suspension_in(extension.metadata.annotations):
        yield f"  {way_on(extension.metadata.name)}"
    yield ""
    yield from _verdict(answer)
    yield ""
    yield from (f"note: {note_text(note)}" for note in answer.outcome.findings.notes)
    yield from reasons(answer.outcome.findings, answer.situation.request)
    yield from (f"hint: {hint}" for hint in answer.hints)


def _source_text(answer: Answer) -> str:
    desired = answer.situation.extension.spec.source.catalog
    version = f"version {desired.version}" if desired.version else "any version"
    channels = f"channels {', '.join(desired.channels)}" if desired.channels else "any channel"
    return f"{version}, {channels}, {desired.upgrade_constraint_policy.value}"


def _condition(answer: Answer, kind: ConditionType) -> str:
    """Status, reason and first line of a condition; empty if there is none."""
    for found in answer.situation.extension.status.conditions:
        if found.type == kind:
            message = found.message.partition("\n")[0]
            return f"{found.status.value} {found.reason}" + (f": {message}" if message else "")
    return ""


def _verdict(answer: Answer) -> Iterator[str]:
    outcome, advice = answer.outcome, answer.advice
    installed = answer.situation.installed
    if isinstance(outcome, ResolutionError):
        yield outcome.message
        if outcome.hint:
            yield outcome.hint
    elif installed and installed.name == outcome.bundle:
        yield f"{outcome.bundle} is installed, and it is what the spec comes to"
    else:
        yield f"{outcome.bundle} from catalog {outcome.catalog} is what the spec comes to"
    if advice is None:
        return
    yield sentence(advice)
    if isinstance(advice, Change):
        name = answer.situation.extension.metadata.name
        patch = shlex.quote(orjson.dumps(advice.patch()).decode())
        command = command_of_patch(name, advice.patch())
        if command:
            yield f"  {command}"
        first = "or " if command else ""
        yield f"  {first}kubectl patch clusterextension {name} --type=merge -p {patch}"
