"""Words on the Tab key that depend on what is on the command line: of a package or an extension.

Only what is cached of catalogs is read: a shell does not wait for a catalog. What the cluster is
asked for it has to answer at once.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from olm_cli.catalogs.at_once import listed_at_once

if TYPE_CHECKING:
    from olm_client.catalogs.cache import ContentCache
    from olm_client.catalogs.choices import Choices
    from olm_client.catalogs.content import Content

Items = list[CompletionItem]


def known_packages(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The packages of the catalogs whose names begin so."""
    from sqlite3 import Error

    found: dict[str, str] = {}
    for content in _contents(ctx):
        with suppress(Error):  # a damaged one is made anew when it is asked for
            found = {**content.display_names(), **found}
    return [CompletionItem(n, help=s) for n, s in sorted(found.items()) if n.startswith(incomplete)]


def known_channels(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The channels of the package, each with its newest version."""
    found: dict[str, str] = {}
    for choices in _choices(ctx):
        for name, versions in choices.channels.items():
            found.setdefault(name, versions[0] if versions else "")
    return [CompletionItem(n, help=v) for n, v in sorted(found.items()) if n.startswith(incomplete)]


def known_versions(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The versions of the package, newest first, of the channels that are named if any are."""
    named = ctx.params.get("channels") or ctx.params.get("channel") or ()
    channels = [named] if isinstance(named, str) else list(named)
    found = [version for choices in _choices(ctx) for version in choices.of_channels(channels)]
    return _items(found, incomplete)


def known_namespaces(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The namespace that the package suggests, its own name, and those of the cluster."""
    suggested = [choices.namespace for choices in _choices(ctx)]
    return _items([*suggested, _package(ctx), *_listed(ctx, "Namespace")], incomplete)


def known_revisions(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The revisions of the extension, newest first, each with its version."""
    from api.olm.v1 import names

    found: dict[int, str] = {}
    for raw in _list(ctx, names.CLUSTER_OBJECT_SET):
        meta = raw["metadata"]
        labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
        if labels.get(names.LABEL_OWNER_NAME) == names.label_value(_target(ctx)):
            number = int((raw.get("spec") or {}).get("revision") or 0)
            found[number] = str(annotations.get(names.ANNOTATION_BUNDLE_VERSION) or "")
    return [
        CompletionItem(str(number), help=version)
        for number, version in sorted(found.items(), reverse=True)
        if str(number).startswith(incomplete)
    ]


def _items(words: Iterable[str], incomplete: str) -> Items:
    return [
        CompletionItem(word)
        for word in dict.fromkeys(words)
        if word and word.startswith(incomplete)
    ]


def _target(ctx: click.Context) -> str:
    """What the command is about: its first argument, or --package.

    Before an option that still lacks its value, click leaves arguments where they are.
    """
    arguments = [p for p in ctx.command.params if isinstance(p, click.Argument)]
    first = ctx.params.get(str(arguments[0].name)) if arguments else ctx.params.get("package")
    return str(first or next(iter(ctx.args), ""))


def _package(ctx: click.Context) -> str:
    """The package that the command is about, or that of the extension; empty for neither."""
    target = _target(ctx)
    if not target or any(param.name == "package" for param in ctx.command.params):
        return target
    from api.olm.v1 import names

    for raw in _list(ctx, names.CLUSTER_EXTENSION):
        if raw["metadata"]["name"] == target:
            source = ((raw.get("spec") or {}).get("source") or {}).get("catalog") or {}
            return str(source.get("packageName") or "")
    return target


def _choices(ctx: click.Context) -> Iterator["Choices"]:
    from sqlite3 import Error

    package = _package(ctx)
    for content in _contents(ctx) if package else ():
        with suppress(Error):  # a damaged one is made anew when it is asked for
            found = content.choices(package)
            if found:
                yield found


def _contents(ctx: click.Context) -> list["Content"]:
    """What is cached of the catalogs that the command line names, else of those of the cluster.

    Everything that is cached, where the cluster does not answer.
    """
    from olm_client.catalogs.cache import ContentCache

    cache = ContentCache.of_user()
    given = ctx.params.get("catalogs") or ctx.params.get("catalog") or ()
    texts = [given] if isinstance(given, str) else list(given)
    digests = None if texts else _digests(ctx)
    if texts:
        found = [cached for text in texts for cached in [_named(ctx, cache, text)] if cached]
    elif digests is None:
        found = cache.all()
    else:
        found = [cached for digest in digests for cached in [cache.find(digest)] if cached]
    return found


def _digests(ctx: click.Context, name: str = "") -> list[str] | None:
    """The digests of the cluster's catalogs that are in use, or of one; None without an answer."""
    from api.olm.v1 import names
    from olm_client.catalogs.cluster import Served

    found = listed_at_once(ctx, names.CLUSTER_CATALOG)
    if found is None:
        return None
    served = (Served.of(raw) for raw in found)
    return [each.digest for each in served if each.available and name in ("", each.name)]


def _named(ctx: click.Context, cache: "ContentCache", text: str) -> "Content | None":
    """What is cached of a catalog that --catalog names."""
    from pathlib import Path

    from olm_client.catalogs.cache import folder_key
    from olm_client.catalogs.choice import Form, chosen
    from olm_runtime.errors import OLMError

    try:
        choice = chosen(text)
        if choice.form is Form.FOLDER:
            return cache.find(folder_key(Path(choice.where)))
    except (OLMError, OSError):
        return None
    digest = choice.where.partition("@")[2]
    if choice.form is Form.CLUSTER:
        digest = next(iter(_digests(ctx, choice.where) or ()), "")
    return cache.find_unique(digest) if digest else None


def _listed(ctx: click.Context, kind: str) -> list[str]:
    return sorted(raw["metadata"]["name"] for raw in _list(ctx, kind))


def _list(ctx: click.Context, kind: str) -> list[dict[str, Any]]:
    return listed_at_once(ctx, kind) or []
