"""Commands that reach the cluster that was examined, and no other. Pure."""

import re
from dataclasses import replace

from olm_client.diagnosis.findings import Finding, Verdict

_PROGRAM = re.compile(r"(?P<before>^|\| |\$\(|; do )(?P<program>kubectl|olm|helm) ")
_OF_HELM = {"--context": "--kube-context"}


def routed(verdict: Verdict, options: tuple[tuple[str, str], ...]) -> Verdict:
    """A verdict whose commands take the options with which the cluster was reached."""
    if not options:
        return verdict
    found = tuple(_routed(finding, options) for finding in verdict.findings)
    return replace(verdict, findings=found)


def _routed(finding: Finding, options: tuple[tuple[str, str], ...]) -> Finding:
    remedies = tuple(
        replace(each, commands=tuple(_with(command, options) for command in each.commands))
        for each in finding.remedies
    )
    return replace(finding, remedies=remedies)


def _with(command: str, options: tuple[tuple[str, str], ...]) -> str:
    def inserted(found: re.Match[str]) -> str:
        program = found["program"]
        named = (
            (_OF_HELM.get(name, name) if program == "helm" else name, value)
            for name, value in options
        )
        text = " ".join(f"{name} {value}" for name, value in named)
        return f"{found['before']}{program} {text} "

    return _PROGRAM.sub(inserted, command)
