"""The verdict in the documents' form (1.20): one line for each set of missing permissions."""

from collections.abc import Iterable

from olm_content.bounded_lines import joined
from olm_content.formats.go_text import quote
from olm_content.rights.judge import Verdict
from olm_content.rights.merge import MergedRule, merged, without_implied

HEADER = "service account requires the following permissions to manage cluster extension:"


def report(verdict: Verdict) -> str:
    """What has to be granted, complete, merged and sorted; empty when nothing is missing."""
    lines = sorted(f"  {line(rule)}" for rule in merged(without_implied(verdict.missing)))
    if lines:
        lines.insert(0, HEADER)
    lines += [f"permission evaluation error: {error}" for error in verdict.errors]
    if not lines:
        return ""
    lines[0] = f"pre-authorization failed: {lines[0]}"
    return joined(lines, count=len(lines), what="lines")


def line(rule: MergedRule) -> str:
    """A rule as the documents print it; what it does not limit is left out."""
    if rule.urls:
        return (
            f"Namespace:{quote(rule.namespace)} Verbs:{_list(rule.verbs)} "
            f"NonResourceURLs:{_list(rule.urls)}"
        )
    names = f" ResourceNames:{_list(rule.names)}" if rule.names else ""
    return (
        f"Namespace:{quote(rule.namespace)} APIGroups:[{quote(rule.group) * bool(rule.group)}] "
        f"Resources:{_list(rule.resources)}{names} Verbs:{_list(rule.verbs)}"
    )


def _list(words: Iterable[str]) -> str:
    return f"[{','.join(sorted(words))}]"
