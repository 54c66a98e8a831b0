"""The content endpoints, called as a server would call them."""

import asyncio
import email
import gzip
import os
import zlib
from collections.abc import MutableMapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import zstandard

from api.olm.v1.names import HEADER_RESOLVED_SOURCE
from catalogd.http.content import LARGEST_PIECE_BYTES as PIECE_BYTES
from catalogd.http.content import SMALLEST_PIECE_BYTES, ContentApp, Library
from catalogd.io import writer
from catalogd.io.content import Content, open_content
from catalogd.io.store import Serving, Store
from catalogd.io.writer import write_content
from olm_catalogs.io.versions import CorruptContentError, prepare_version, publish_version
from olm_catalogs.stored import Stored
from olm_content.fbc.documents import Blob
from olm_runtime.errors import TransientError

BLOBS = [
    Blob("olm.package", "", "foo", b'{"name":"foo","schema":"olm.package"}'),
    Blob("olm.channel", "foo", "stable", b'{"name":"stable","package":"foo"}'),
    Blob("olm.bundle", "foo", "foo.v1", b'{"name":"foo.v1"}'),
    Blob("olm.bundle", "bar", "bar.v1", b'{"name":"bar.v1"}'),
]
SOURCE, OTHER_SOURCE = (f"r/c@sha256:{digit * 64}" for digit in "12")
ALL = b"".join(blob.raw + b"\n" for blob in BLOBS)


class Reply:
    """What an application sent."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.done = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {k.decode(): v.decode() for k, v in message["headers"]}
        else:
            self.body += message.get("body", b"")
            self.done = not message.get("more_body")


async def never_disconnects() -> MutableMapping[str, Any]:
    await asyncio.Event().wait()
    return {"type": "http.disconnect"}


async def ask(
    app: ContentApp, path: str, headers: dict[str, str] | None = None, method: str = "GET"
) -> Reply:
    target, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": f"/catalogs/{target}",
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in (headers or {}).items()],
    }
    reply = Reply()
    await app(scope, never_disconnects, reply)
    return reply


def write(folder: Path, blobs: list[Blob] = BLOBS) -> str:
    work = prepare_version(folder)
    manifest = write_content(blobs, work)
    publish_version(work, manifest.version)
    return manifest.version


def stored(version: str, **changes: Any) -> Stored:
    fields: dict[str, Any] = {
        "version": version,
        "source": SOURCE,
        "requested": "r/c:v1",
        "uid": "u",
        "generation": 1,
        "unpacked": 1_700_000_000,
        "polled": 1.0,
    }
    return Stored(**{**fields, **changes})


@pytest.fixture
def content(tmp_path: Path) -> Content:
    return open_content(tmp_path / "c" / write(tmp_path / "c"), verify=True)


@pytest.fixture
def app(content: Content) -> ContentApp:
    return ContentApp(library(content))


def library(content: Content) -> Library:
    """Serves one catalog, of the source that `stored` names."""
    return {"c": Serving(stored(content.manifest.version), content)}.get


async def test_all_is_the_whole_catalog(app: ContentApp, content: Content) -> None:
    reply = await ask(app, "c/api/v1/all")
    assert (reply.status, reply.body, reply.done) == (200, ALL, True)
    assert reply.headers == {
        "content-type": "application/jsonl",
        "etag": f'"{sha256(ALL).hexdigest()}"',
        "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
        "vary": "Accept-Encoding",
        "olm-resolved-source": SOURCE,
        "accept-ranges": "bytes",
        "content-length": str(len(ALL)),
    }


@pytest.mark.parametrize(
    ("coding", "unpack"),
    [("gzip", gzip.decompress), ("zstd", zstandard.ZstdDecompressor().decompressobj().decompress)],
)
async def test_variants_hold_the_same_and_have_their_own_etag(
    app: ContentApp, content: Content, coding: str, unpack: Any
) -> None:
    reply = await ask(app, "c/api/v1/all", {"accept-encoding": coding})
    assert unpack(reply.body) == ALL
    assert reply.headers["content-encoding"] == coding
    assert reply.headers["etag"] == f'"{sha256(reply.body).hexdigest()}"', "of these very bytes"
    again = {"accept-encoding": coding, "if-none-match": reply.headers["etag"]}
    assert (await ask(app, "c/api/v1/all", again)).status == 304
    other = {"if-none-match": reply.headers["etag"]}
    assert (await ask(app, "c/api/v1/all", other)).status == 200


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("schema=olm.bundle", [2, 3]),
        ("package=foo", [1, 2]),
        ("name=foo", [0]),
        ("schema=olm.bundle&package=foo&name=foo.v1", [2]),
        ("schema=olm.bundle&package=other", []),
        ("schema=&package=foo", [1, 2]),
        ("schema=olm.package&schema=olm.bundle", [0]),
        ("", [0, 1, 2, 3]),
    ],
)
@pytest.mark.parametrize("accepted", ["identity", "gzip"])
async def test_metas_are_the_blobs_that_match(
    app: ContentApp, query: str, numbers: list[int], accepted: str
) -> None:
    reply = await ask(app, f"c/api/v1/metas?{query}", {"accept-encoding": accepted})
    assert reply.status == 200
    packed = reply.headers.get("content-encoding") == "gzip"
    body = gzip.decompress(reply.body) if packed else reply.body
    assert body == b"".join(BLOBS[number].raw + b"\n" for number in numbers)
    assert reply.headers["content-length"] == str(len(reply.body))


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("package=bar", [3]),
        ("package=foo", [1, 2]),
        ("schema=olm.bundle", [2, 3]),
        ("schema=olm.bundle&package=foo", [2]),
    ],
)
async def test_what_has_a_schema_or_a_package_is_one_gzip_member_made_at_unpack(
    app: ContentApp, query: str, numbers: list[int]
) -> None:
    reply = await ask(app, f"c/api/v1/metas?{query}", {"accept-encoding": "gzip"})
    assert reply.headers["content-encoding"] == "gzip"
    one = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert one.decompress(reply.body) == b"".join(BLOBS[n].raw + b"\n" for n in numbers)
    assert (one.eof, one.unused_data) == (True, b"")


async def test_the_same_content_compressed_in_other_ways_is_never_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on two replicas whose libraries differ: a range of one must not continue the other's."""
    ours = open_content(tmp_path / "a" / write(tmp_path / "a"), verify=True)
    monkeypatch.setattr(writer, "GZIP_LEVEL", 0)
    monkeypatch.setattr(writer, "ZSTD_LEVEL", -50)
    other = open_content(tmp_path / "b" / write(tmp_path / "b"), verify=True)
    for path in ("all", "metas?package=foo"):
        for coding in ("gzip", "zstd") if path == "all" else ("gzip",):
            asked = {"accept-encoding": coding}
            first = await ask(ContentApp(library(ours)), f"c/api/v1/{path}", asked)
            asked |= {"range": "bytes=5-", "if-range": first.headers["etag"]}
            second = await ask(ContentApp(library(other)), f"c/api/v1/{path}", asked)
            assert first.body != second.body
            assert second.headers["etag"] != first.headers["etag"]
            assert second.status == 200


@pytest.mark.parametrize(
    ("path", "method", "status", "text"),
    [
        ("none/api/v1/all", "GET", 404, "404 Not Found\n"),
        ("c/api/v1/nothing", "GET", 404, "404 page not found\n"),
        ("c/api/v2/all", "GET", 404, "404 page not found\n"),
        ("c/api/v1/all", "POST", 405, "Method Not Allowed\n"),
        ("c/api/v1/metas?package=foo&x=1", "GET", 400, "400 Bad Request\n"),
        ("C_x/api/v1/all", "GET", 400, "invalid catalog name: a lowercase RFC 1123 subdomain"),
        ("../api/v1/all", "GET", 400, "invalid catalog name: "),
        ("c" * 254 + "/api/v1/all", "GET", 400, "must be no more than 253 characters"),
    ],
)
async def test_errors_have_upstreams_codes_and_texts(
    app: ContentApp, path: str, method: str, status: int, text: str
) -> None:
    reply = await ask(app, path, method=method)
    assert reply.status == status
    assert text in reply.body.decode()


async def test_a_switched_off_endpoint_is_no_page(content: Content) -> None:
    reply = await ask(ContentApp(library(content), metas=False), "c/api/v1/metas?package=foo")
    assert (reply.status, reply.body) == (404, b"404 page not found\n")


async def test_head_has_the_headers_and_no_body(app: ContentApp) -> None:
    for path in ("c/api/v1/all", "c/api/v1/metas?package=foo"):
        full, head = await ask(app, path), await ask(app, path, method="HEAD")
        assert (head.status, head.headers, head.body) == (200, full.headers, b"")


async def test_ranges_of_all(app: ContentApp) -> None:
    reply = await ask(app, "c/api/v1/all", {"range": "bytes=5-9"})
    assert (reply.status, reply.body) == (206, ALL[5:10])
    assert reply.headers["content-range"] == f"bytes 5-9/{len(ALL)}"
    several = await ask(app, "c/api/v1/all", {"range": "bytes=0-3,-2"})
    message = email.message_from_bytes(
        b"Content-Type: " + several.headers["content-type"].encode() + b"\r\n\r\n" + several.body
    )
    assert several.status == 206
    assert several.headers["content-length"] == str(len(several.body))
    assert [p["content-range"] for p in message.walk() if not p.is_multipart()] == [
        f"bytes 0-3/{len(ALL)}",
        f"bytes {len(ALL) - 2}-{len(ALL) - 1}/{len(ALL)}",
    ]
    assert ALL[:4] + b"\r\n--" in several.body
    assert ALL[-2:] + b"\r\n--" in several.body
    beyond = await ask(app, "c/api/v1/all", {"range": "bytes=99999-"})
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{len(ALL)}")
    stale = {"range": "bytes=5-9", "if-range": '"old"'}
    assert (await ask(app, "c/api/v1/all", stale)).body == ALL
    assert (await ask(app, "c/api/v1/metas", {"range": "bytes=5-9"})).body == ALL


@pytest.mark.parametrize("accepted", ["identity", "gzip", "zstd"])
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("all", {}, 200),
        ("all", {"range": "bytes=5-9"}, 206),
        ("all", {"if-none-match": "*"}, 304),
        ("metas", {}, 200),
        ("metas?package=foo", {}, 200),
        ("metas?package=foo", {"if-none-match": "*"}, 304),
        ("metas?package=none", {}, 200),
        ("metas?package=none", {"if-modified-since": "Tue, 14 Nov 2023 22:13:20 GMT"}, 304),
    ],
)
async def test_answers_say_of_which_source_they_are(
    app: ContentApp, accepted: str, path: str, headers: dict[str, str], status: int
) -> None:
    asked = {"accept-encoding": accepted, **headers}
    for method in ("GET", "HEAD"):
        reply = await ask(app, f"c/api/v1/{path}", asked, method)
        assert (reply.status, reply.headers[HEADER_RESOLVED_SOURCE]) == (status, SOURCE)


@pytest.mark.parametrize("path", ["c/api/v1/all", "c/api/v1/metas?package=foo"])
async def test_preconditions_hold_for_both_endpoints(app: ContentApp, path: str) -> None:
    etag = (await ask(app, path)).headers["etag"]
    unchanged = await ask(app, path, {"if-none-match": etag})
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", etag)
    assert "content-type" not in unchanged.headers
    assert (await ask(app, path, {"if-match": '"x"'})).status == 412


async def test_a_client_that_takes_too_long_is_cut_off(content: Content) -> None:
    app = ContentApp(library(content), answer_seconds=0.05)
    scope = {
        "method": "GET",
        "path": "/catalogs/c/api/v1/all",
        "query_string": b"",
        "headers": [],
    }

    async def stuck(_: MutableMapping[str, Any]) -> None:
        await asyncio.Event().wait()

    await app(scope, never_disconnects, stuck)
    content.retire()
    assert content.files == {}


async def test_a_replaced_version_stays_whole_for_who_began_with_it(tmp_path: Path) -> None:
    large = [Blob("s", "p", f"n{i}", b'"' + b"x" * PIECE_BYTES + b'"') for i in range(4)]
    store = Store(tmp_path)
    await store.commit("c", stored(write(tmp_path / "c", large)))
    app, reply, waiting = ContentApp(store.find), Reply(), asyncio.Event()

    async def slow(message: MutableMapping[str, Any]) -> None:
        await reply(message)
        if len(reply.body) == PIECE_BYTES:
            waiting.set()
            await asyncio.sleep(0.05)

    scope = {
        "method": "GET",
        "path": "/catalogs/c/api/v1/all",
        "query_string": b"",
        "headers": [],
    }
    answering = asyncio.ensure_future(app(scope, never_disconnects, slow))
    await waiting.wait()
    await store.commit("c", stored(write(tmp_path / "c"), source="r/c@sha256:" + "cd" * 32))
    await answering

    assert reply.body == b"".join(blob.raw + b"\n" for blob in large)
    assert (await ask(app, "c/api/v1/all")).body == ALL
    assert len(list_names(tmp_path / "c")) == 2
    assert not [path for path in open_below(tmp_path) if "(deleted)" in path]
    store.close()


def open_below(folder: Path) -> list[str]:
    """The files below a folder that this process holds open."""
    open_files = os.listdir("/proc/self/fd")  # noqa: PTH208 - the kernel's list
    return [link(descriptor) for descriptor in open_files if str(folder) in link(descriptor)]


def link(descriptor: str) -> str:
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        return ""


def list_names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def test_many_answers_at_once_get_smaller_pieces(tmp_path: Path) -> None:
    large = [Blob("s", "p", f"n{i}", b'"' + b"x" * PIECE_BYTES + b'"') for i in range(2)]
    served = open_content(tmp_path / "l" / write(tmp_path / "l", large), verify=False)
    app, begun, together = ContentApp(library(served)), asyncio.Event(), 200
    replies, largest = [Reply() for _ in range(together)], [0] * together
    scope = {"method": "GET", "path": "/catalogs/c/api/v1/all", "query_string": b"", "headers": []}

    async def ask_one(number: int) -> None:
        async def send(message: MutableMapping[str, Any]) -> None:
            await replies[number](message)
            largest[number] = max(largest[number], len(message.get("body", b"")))
            if number == together - 1:
                begun.set()
            await begun.wait()

        await app(dict(scope), never_disconnects, send)

    await asyncio.gather(*map(ask_one, range(together)))
    whole = b"".join(blob.raw + b"\n" for blob in large)
    assert all(reply.body == whole for reply in replies)
    assert largest[0] == SMALLEST_PIECE_BYTES
    alone = await ask(app, "c/api/v1/all")
    assert alone.body == whole


async def test_a_client_that_left_ends_the_reading(content: Content, tmp_path: Path) -> None:
    large = [Blob("s", "p", f"n{i}", b'"' + b"x" * PIECE_BYTES + b'"') for i in range(50)]
    served = open_content(tmp_path / "l" / write(tmp_path / "l", large), verify=False)
    app, reply, gone = ContentApp(library(served)), Reply(), asyncio.Event()

    async def receive() -> MutableMapping[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        await reply(message)
        gone.set()
        await asyncio.sleep(0)

    scope = {
        "method": "GET",
        "path": "/catalogs/c/api/v1/all",
        "query_string": b"",
        "headers": [],
    }
    await app(scope, receive, send)
    assert len(reply.body) < 10 * PIECE_BYTES


async def test_content_survives_a_restart_and_corruption_is_noticed(tmp_path: Path) -> None:
    first = Store(tmp_path)
    version = write(tmp_path / "c")
    await first.commit("c", stored(version))
    first.close()

    second = Store(tmp_path)
    assert await second.load("c", source="r/c@sha256:" + "ee" * 32) is None
    assert second.find("c") is None
    assert await second.load("c") == stored(version)
    assert (await ask(ContentApp(second.find), "c/api/v1/all")).body == ALL
    second.close()

    damage(tmp_path / "c" / version / "catalog.jsonl")
    third = Store(tmp_path)
    assert await third.load("c") is None
    assert list_names(tmp_path) == []


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["content.json", "index.json", "catalog.jsonl.gz"])
def test_a_version_that_is_not_whole_is_not_opened(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "c" / write(tmp_path / "c")
    (folder / name).unlink()
    with pytest.raises(CorruptContentError):
        open_content(folder, verify=False)


async def test_a_state_that_cannot_be_written_keeps_no_file_open(tmp_path: Path) -> None:
    store = Store(tmp_path)
    version = write(tmp_path / "c")
    (tmp_path / "c" / ".tmp-state.json").mkdir()
    with pytest.raises(TransientError, match="cannot store catalog c"):
        await store.commit("c", stored(version))
    assert store.find("c") is None
    assert open_below(tmp_path) == []


@pytest.mark.parametrize("name", ["catalog.jsonl", "catalog.jsonl.zst"])
def test_a_version_that_was_cut_short_keeps_no_file_open(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "c" / write(tmp_path / "c")
    os.truncate(folder / name, 3)
    with pytest.raises(CorruptContentError):
        open_content(folder, verify=False)
    assert open_below(tmp_path) == []


async def test_the_same_content_from_another_image_rewrites_no_content(tmp_path: Path) -> None:
    store = Store(tmp_path)
    version = write(tmp_path / "c")
    await store.commit("c", stored(version))
    before = store.find("c")
    await store.commit("c", stored(version, source=OTHER_SOURCE))
    after = store.find("c")
    assert before
    assert after
    assert after.content is before.content
    for headers in ({}, {"if-none-match": f'"{version}"'}):
        answer = await ask(ContentApp(store.find), "c/api/v1/all", headers)
        assert answer.headers[HEADER_RESOLVED_SOURCE] == OTHER_SOURCE
    store.close()


async def test_garbage_of_deleted_catalogs_and_attempts_is_collected(tmp_path: Path) -> None:
    store = Store(tmp_path)
    await store.commit("c", stored(write(tmp_path / "c")))
    await store.commit("d", stored(write(tmp_path / "d")))
    prepare_version(tmp_path / "e")
    await store.collect(["c"])
    assert list_names(tmp_path) == ["c"]
    assert store.names() == ["c"]
    store.close()
