"""What overrides a kubeconfig: kubectl's flags, with the meaning that client-go gives them.

Sections are the entries of a kubeconfig's lists `clusters` and `users`, as they are written there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all

Section = Mapping[str, Any]
Headers = tuple[tuple[str, str], ...]

_AUTHORITY = ("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify")


class Overrides(NamedTuple):
    """What counts in place of the kubeconfig; what is empty or None does not.

    `authority` is a file of CAs (PEM). `request_seconds` bounds each request, 0 is no bound.
    """

    context: str = ""
    cluster: str = ""
    user: str = ""
    server: str = ""
    token: str = ""
    authority: str = ""
    insecure: bool = False
    server_name: str = ""
    as_user: str = ""
    as_groups: Sequence[str] = ()
    as_uid: str = ""
    request_seconds: float | None = None

    @property
    def names_entries(self) -> bool:
        """Whether entries of a kubeconfig are named, so that one has to be read."""
        return bool(self.context or self.cluster or self.user)

    def chosen(self, contexts: Mapping[str, Section], current: str) -> tuple[str, str]:
        """The names of the cluster and of the user that are meant; empty where none is.

        Raises TerminalError for a context that is not there.
        """
        name = self.context or current
        if name and name not in contexts:
            raise not_there("context", name, contexts)
        context = contexts[name] if name else {}
        return self.cluster or context.get("cluster", ""), self.user or context.get("user", "")

    def on_cluster(self, cluster: Section) -> Section:
        """The section as it counts. Raises TerminalError for CAs that are not to be used.

        A name of the server's certificate goes with the server: for another it is not taken over.
        """
        merged = dict(cluster)
        if self.server:
            merged["server"] = self.server
        if self.authority or self.insecure:
            for field in _AUTHORITY:
                merged.pop(field, None)
        if self.authority:
            merged["certificate-authority"] = str(Path(self.authority).absolute())
        if self.insecure:
            merged["insecure-skip-tls-verify"] = True
        if self.server or self.server_name:
            merged["tls-server-name"] = self.server_name
        if merged.get("insecure-skip-tls-verify") and any(map(merged.get, _AUTHORITY[:2])):
            raise TerminalError(
                "CAs are given, and that the server's certificate is not to be checked",
                hint="leave --certificate-authority or --insecure-skip-tls-verify out",
            )
        return merged

    def on_user(self, user: Section) -> Section:
        """The section as it counts.

        A token counts alone: a client certificate next to it would, to the server, come first.
        """
        if not self.token:
            return user
        impersonated = {key: value for key, value in user.items() if key in _AS}
        return {"token": self.token, **impersonated}

    def impersonation(self, user: Section) -> Headers:
        """The headers that make us somebody else. Raises TerminalError if it is not said who."""
        name = self.as_user or str(user.get("as") or "")
        uid = self.as_uid or str(user.get("as-uid") or "")
        groups = self.as_groups or user.get("as-groups") or ()
        extra = user.get("as-user-extra") or {}
        if not name:
            if uid or groups or extra:
                raise TerminalError(
                    "a group or a UID to act with is given, and no user", hint="give --as USER"
                )
            return ()
        return (
            ("Impersonate-User", name),
            *((("Impersonate-Uid", uid),) if uid else ()),
            *(("Impersonate-Group", group) for group in groups),
            *((f"Impersonate-Extra-{key}", each) for key, all_ in extra.items() for each in all_),
        )


_AS = ("as", "as-uid", "as-groups", "as-user-extra")


def not_there(kind: str, name: str, known: Mapping[str, Any]) -> TerminalError:
    """The error for an entry that the kubeconfig does not have, but `known` ones."""
    return TerminalError(
        f'the kubeconfig has no {kind} "{name}"',
        hint=suggestion_or_all(name, known, none=f"it has no {kind} at all"),
    )
