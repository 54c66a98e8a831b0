"""What catalogs, Events and objects say becomes words of a page, never a tag or a link."""

from collections.abc import Callable
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

from api.objects import GVK, ObjectKey
from console.classic_packages import ClassicPackage
from console.object_tree import Happened, Node
from console.rendering import environment
from console.revision_changes import Changed, Comparison
from console.schemas import Definition, level
from olm_client.classic.installing import Channel, Offer

HARMLESS = "word"
TRICKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    '" autofocus onfocus="alert(1)',
    "' hx-get='/' hx-trigger='load",
    "</pre></code></script><script>alert(1)</script>",
    "javascript:alert(1)",
    "//evil.example/x",
    "../../sign-out",
    "x&of=y#z?a=b",
    "{{ token }}{% include 'base.html' %}",
    "\x00<scr\x00ipt>",
    "<!--",
    "&lt;script&gt;",
    "]]><style>*{display:none}</style>",
]
FRAME: dict[str, Any] = {
    "away": "",
    "user": None,
    "parts": (),
    "token": "t",
    "here": "/",
    "url": "/",
    "mark": "",
    "said": [],
    "leaves": False,
    "live": (),
    "every": 0,
    "session": "",
    "whole": True,
}
PATHS = ("/", "?", "#")
TIME = "2026-01-01T00:00:00Z"


class _Structure(HTMLParser):
    """The tags of a page with their attributes, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.links += [str(value) for name, value in attrs if name in ("href", "src", "action")]


def _definition(text: str) -> str:
    inner = {
        "type": "object",
        "properties": {text: {"type": text, "enum": [text], "default": text}},
    }
    schema = {"properties": {text: {**inner, "description": text}}, "required": [text]}
    found = Definition(text, text, text, text, [text], {text: schema})
    return _rendered(
        "definitions.html",
        name=text,
        title=text,
        catalog=text,
        bundle={"version": text},
        found=[found],
        shown=found,
        api=text,
        path=[text],
        level=level(schema, [text]),
    )


def _changes(text: str) -> str:
    key = ObjectKey(GVK(text, text, text), text, text)
    changed = Changed(key, "changed", [(text, text, text)], 3)
    return _rendered(
        "changes.html",
        name=text,
        before=1,
        after=2,
        revisions=[{"revision": 1, "bundle": text}, {"revision": 2, "bundle": text}],
        found=Comparison([changed], 1, 1),
    )


def _extension(text: str) -> str:
    happened = Happened(text, text, TIME, warning=True)
    pod = Node("Pod", text, text, text, text, [happened], ())
    node = Node("Deployment", text, text, text, text, [happened], [pod])
    condition = {"type": text, "status": text, "reason": text, "message": text}
    facts = {
        **dict.fromkeys(("name", "phase", "message", "hint", "asksFor", "bundle"), text),
        **dict.fromkeys(("namespace", "serviceAccount"), text),
        "conditions": [condition],
    }
    keys = ("bundle", "state", "message", "cause")
    revisions = [
        {"revision": number, "created": TIME, **dict.fromkeys(keys, text)} for number in (2, 1)
    ]
    return _rendered(
        "extension.html",
        facts=facts,
        tree={text: [node]},
        unknown=[text],
        events=[happened],
        revisions=revisions,
        suspended=False,
        may_patch=True,
        may_delete=True,
    )


def _package(text: str) -> str:
    named = {"packageName": text, "versionRange": text, "failureMessage": text, "image": text}
    odd: list[Any] = [text, 3, None, {}, [], named]
    api = {"kind": text, "group": text, "version": text}
    texts = ("name", "version", "image", "minKubeVersion", "maxOpenShiftVersion")
    bundle = {
        **dict.fromkeys(texts, text),
        "requiredPackages": odd,
        "constraints": odd,
        "relatedImages": odd,
        "apis": [api],
        "requiredAPIs": [api],
        "installModes": [text],
        "obstacles": [text],
    }
    channel = {"name": text, "version": text, "entries": 1, "default": True, "deprecated": True}
    gone = [
        {"schema": schema, "name": text, "message": text}
        for schema in ("olm.package", "olm.channel", "olm.bundle")
    ]
    facts = {
        "displayName": text,
        "package": text,
        "provider": text,
        "keywords": [text],
        "bundle": bundle,
        "channels": [channel],
        "deprecations": gone,
        "versions": [{"name": text, "version": text, "channels": [text]}],
    }
    found = {"description": "", "versions_shown": 1, "may_install": True, "offers_v1": True}
    path = ClassicPackage(text, text, text).path
    return _rendered("package.html", facts=facts, catalog=text, by_classic=path, **found)


def _classic_install(text: str) -> str:
    return _rendered(
        "classic_install.html",
        offer=Offer(text, text, text, text, (Channel(text, text, frozenset()),)),
        asked={"target": text, "channel": text, "approval": text, "scope": text},
        channels=[(text, text)],
        error=SimpleNamespace(message=text, hint=text),
        yaml=text,
        command=text,
        rights=[(text, False)],
    )


def _classic_uninstall(text: str) -> str:
    given = {"namespace": text, "name": text, "text": text, "command": text}
    return _rendered("classic_uninstall.html", rights=[(text, False)], **given)


def _doctor(text: str) -> str:
    remedy = SimpleNamespace(effect=text, loses=text, commands=(text,))
    severity = SimpleNamespace(value="error")
    finding = SimpleNamespace(severity=severity, message=text, why=text, remedies=[remedy])
    check = SimpleNamespace(name=text, group=text)
    verdict = SimpleNamespace(check=check, severity=severity, well=text)
    found = {"checks": [], "verdicts": [verdict], "findings": [(check, finding)]}
    return _rendered("doctor.html", **found)


def _rendered(template: str, **values: Any) -> str:
    return environment().get_template(template).render({**FRAME, **values})


@pytest.mark.parametrize(
    "make",
    [
        *(_definition, _changes, _extension, _package, _doctor),
        *(_classic_install, _classic_uninstall),
    ],
)
@pytest.mark.parametrize("trick", TRICKS)
def test_a_page_stays_the_page_that_it_is(make: Callable[[str], str], trick: str) -> None:
    honest, tricked = _Structure(make(HARMLESS)), _Structure(make(trick))
    assert tricked.tags == honest.tags
    assert all(link.startswith(PATHS) and not link.startswith("//") for link in tricked.links)
