"""Frames of HTTP/2: what is made of each, and what ends a connection."""

import hpack
import pytest

from olm_runtime.kube.http2_frames import (
    INITIAL_WINDOW_BYTES,
    MAX_FRAME_BYTES,
    PREFACE,
    UNLIMITED,
    Begun,
    BrokenProtocolError,
    Ended,
    Event,
    Frames,
    Kind,
    Leaving,
    Part,
    Ready,
)

END_STREAM, END_HEADERS, PADDED, PRIORITY = 0x1, 0x4, 0x8, 0x20
WINDOW = 1000
TRAILERS = b"\x00\x01a\x01b"
"""The header `a: b`."""
ASKED = [(":method", "GET"), (":path", "/watch"), ("authorization", "Bearer t")]


def frame(kind: int, flags: int = 0, number: int = 0, content: bytes = b"") -> bytes:
    head = len(content).to_bytes(3, "big") + bytes((kind, flags))
    return head + number.to_bytes(4, "big") + content


def parsed(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """Kind, flags, number and content of frames."""
    found = []
    while data:
        end = 9 + int.from_bytes(data[:3], "big")
        found.append((data[3], data[4], int.from_bytes(data[5:9], "big"), data[9:end]))
        data = data[end:]
    return found


def asking() -> Frames:
    """A connection over which one answer was asked for, the first."""
    frames = Frames(WINDOW)
    assert frames.request(ASKED) == 1
    frames.to_send()
    return frames


def headers(status: str, *others: tuple[str, str]) -> bytes:
    encoder = hpack.Encoder()
    encoder.header_table_size = 0
    return encoder.encode([(":status", status), *others])


def test_a_connection_begins_with_what_it_wants() -> None:
    frames = Frames(WINDOW)
    sent = frames.to_send()
    assert sent.startswith(PREFACE)
    settings = bytes.fromhex("000100000000" + "000200000000")  # no table of headers, no pushes
    assert parsed(sent.removeprefix(PREFACE)) == [
        (Kind.SETTINGS, 0, 0, settings),
        (Kind.WINDOW_UPDATE, 0, 0, WINDOW.to_bytes(4, "big")),
    ]
    assert frames.to_send() == b""


def test_what_is_asked_is_sent_as_headers_of_which_none_are_left_out() -> None:
    frames = asking()
    assert frames.request([*ASKED, ("impersonate-user", "u" * MAX_FRAME_BYTES)]) == 3
    first, second = parsed(frames.to_send())
    assert first[:3] == (Kind.HEADERS, END_STREAM, 3)
    assert second[:3] == (Kind.CONTINUATION, END_HEADERS, 3)
    assert len(first[3]) == MAX_FRAME_BYTES


def test_what_differs_in_each_request_takes_no_place_of_what_is_the_same() -> None:
    frames, decoder = Frames(WINDOW), hpack.Decoder()
    for number in range(100):
        path = f"/{number}" + "x" * 1000
        frames.request([(":path", path), ("authorization", "Bearer t"), ("impersonate-user", path)])
        *_, (_, _, _, block) = parsed(frames.to_send().removeprefix(PREFACE))
        assert (b":path", path.encode()) in list(decoder.decode(block, raw=True))
        assert (b"Bearer t" in block) is (number == 0)


@pytest.mark.parametrize(
    ("received", "events"),
    [
        pytest.param(
            frame(Kind.HEADERS, END_HEADERS, 1, headers("200")), [Begun(1, 200)], id="a success"
        ),
        pytest.param(
            frame(Kind.HEADERS, END_HEADERS | END_STREAM, 1, headers("410", ("date", "now"))),
            [Begun(1, 410), Ended(1)],
            id="a refusal without content",
        ),
        pytest.param(
            frame(Kind.HEADERS, END_HEADERS, 1, headers("103"))
            + frame(Kind.HEADERS, END_HEADERS, 1, headers("404")),
            [Begun(1, 404)],
            id="a hint before the answer",
        ),
        pytest.param(
            frame(Kind.HEADERS, PADDED | PRIORITY, 1, bytes((2, *range(5))) + b"\x88" + bytes(2))
            + frame(Kind.CONTINUATION, 0, 1, headers("200", ("a", "b"))[1:])
            + frame(Kind.CONTINUATION, END_HEADERS, 1),
            [Begun(1, 200)],
            id="headers in pieces, padded, with a priority",
        ),
        pytest.param(
            frame(Kind.DATA, PADDED, 1, b"\x02" + b"content" + bytes(2)),
            [Part(1, b"content", 10)],
            id="padded content",
        ),
        pytest.param(
            frame(Kind.DATA, END_STREAM, 1, b"last"),
            [Part(1, b"last", 4), Ended(1)],
            id="the last content",
        ),
        pytest.param(
            frame(Kind.DATA, 0, 1, b"last")
            + frame(
                Kind.HEADERS, END_HEADERS | END_STREAM, 1, hpack.Encoder().encode([("a", "b")])
            ),
            [Part(1, b"last", 4), Ended(1)],
            id="headers after the content",
        ),
        pytest.param(
            frame(Kind.RST_STREAM, 0, 1, (7).to_bytes(4, "big")) + frame(Kind.DATA, 0, 1, b"late"),
            [Ended(1, "the server reset it: REFUSED_STREAM"), Part(1, b"", 4)],
            id="a reset, and content that was on its way",
        ),
        pytest.param(
            frame(Kind.RST_STREAM, 0, 1, (99).to_bytes(4, "big")),
            [Ended(1, "the server reset it: error 99")],
            id="a reset for no known reason",
        ),
        pytest.param(
            frame(Kind.SETTINGS, 0, 0, bytes.fromhex("0003000000fa"))
            + frame(Kind.SETTINGS, 0, 0, bytes.fromhex("000400010000")),
            [Ready(250), Ready(250)],
            id="settings, and others later",
        ),
        pytest.param(frame(Kind.SETTINGS), [Ready(UNLIMITED)], id="no settings"),
        pytest.param(frame(Kind.SETTINGS, 1), [], id="settings that were noted"),
        pytest.param(frame(Kind.GOAWAY, 0, 0, bytes(8)), [Leaving()], id="a farewell"),
        pytest.param(frame(99, 0, 7, b"?"), [], id="what nobody knows"),
    ],
)
def test_what_comes_means(received: bytes, events: list[Event]) -> None:
    assert list(asking().receive(received)) == events
    frames, found = asking(), list[Event]()
    for byte in received:
        found += frames.receive(bytes((byte,)))
    assert found == events, "however it is cut"


@pytest.mark.parametrize(
    "received",
    [
        pytest.param(frame(Kind.DATA, 0, 3, b"x"), id="content that nobody asked for"),
        pytest.param(frame(Kind.DATA, 0, 2, b"x"), id="content of the server's own accord"),
        pytest.param(frame(Kind.DATA, 0, 0, b"x"), id="content of nothing"),
        pytest.param(frame(Kind.DATA, PADDED, 1, b"\x05abcd"), id="more padding than content"),
        pytest.param(frame(Kind.PUSH_PROMISE, 0, 1, bytes(4)), id="a push"),
        pytest.param(
            frame(Kind.HEADERS, 0, 1) + frame(Kind.PING, 0, 0, bytes(8)), id="torn headers"
        ),
        pytest.param(frame(Kind.CONTINUATION, 0, 1), id="headers that have not begun"),
        pytest.param(frame(Kind.HEADERS, END_HEADERS, 1, b"\xff" * 9), id="headers of nonsense"),
        pytest.param(frame(Kind.HEADERS, END_HEADERS, 1, b"\xbe"), id="headers of a table"),
        pytest.param(frame(Kind.HEADERS, END_HEADERS, 1), id="an answer without status"),
        pytest.param(frame(Kind.HEADERS, END_HEADERS, 1, headers("ok")), id="a status of letters"),
        pytest.param(
            frame(Kind.HEADERS, 0, 1) + 5 * frame(Kind.CONTINUATION, 0, 1, bytes(MAX_FRAME_BYTES)),
            id="headers without end",
        ),
        pytest.param(frame(Kind.DATA, 0, 1, bytes(MAX_FRAME_BYTES + 1)), id="a frame too large"),
        pytest.param(frame(Kind.SETTINGS, 0, 0, bytes(5)), id="settings that are cut"),
        pytest.param(frame(Kind.SETTINGS, 0, 1), id="settings of an answer"),
        pytest.param(frame(Kind.RST_STREAM, 0, 1, bytes(3)), id="a reset without a whole reason"),
        pytest.param(frame(Kind.WINDOW_UPDATE, 0, 0, bytes(4)), id="leave to send nothing more"),
    ],
)
def test_what_is_no_http2_ends_the_connection(received: bytes) -> None:
    with pytest.raises(BrokenProtocolError):
        asking().receive(received)


def test_a_ping_is_answered_once() -> None:
    frames = asking()
    frames.receive(frame(Kind.PING, 0, 0, b"12345678") + frame(Kind.PING, 1, 0, b"answered"))
    assert parsed(frames.to_send()) == [(Kind.PING, 1, 0, b"12345678")]


def sent_until_refused(frames: Frames, number: int) -> int:
    """Bytes of content that are taken; then it is more than was allowed."""
    for taken in range(0, 10 * INITIAL_WINDOW_BYTES, 100):
        try:
            frames.receive(frame(Kind.DATA, 0, number, bytes(100)))
        except BrokenProtocolError:
            return taken
    raise AssertionError("all is taken")


def test_of_an_answer_no_more_is_taken_than_was_allowed() -> None:
    assert sent_until_refused(asking(), 1) == INITIAL_WINDOW_BYTES // 100 * 100
    frames = asking()
    frames.allow(1, 500)
    frames.allow(3, 500)  # of which there is nothing to come
    assert parsed(frames.to_send()) == [(Kind.WINDOW_UPDATE, 0, 1, (500).to_bytes(4, "big"))]
    assert sent_until_refused(frames, 1) == (INITIAL_WINDOW_BYTES + 500) // 100 * 100


def test_content_of_what_was_given_up_counts_for_the_connection() -> None:
    frames = asking()
    frames.cancel(1)
    frames.cancel(1)
    assert parsed(frames.to_send()) == [(Kind.RST_STREAM, 0, 1, (8).to_bytes(4, "big"))]
    assert sent_until_refused(frames, 1) == (INITIAL_WINDOW_BYTES + WINDOW) // 100 * 100
