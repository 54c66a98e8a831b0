"""Layers made to hurt: each ends in a clear error or in nothing outside the target folder."""

import contextlib
import gzip
import io
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Protocol

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from olm_runtime.images.layers import LayerError, Rules
from olm_runtime.images.limits import Limits
from olm_runtime.images.oci import Descriptor
from olm_runtime.registry.client import LayerFile
from olm_runtime.registry.unpack import unpack
from tests.property.scale import cases, given_many

SMALL = Limits(entries=50, file_bytes=1 << 20, total_bytes=2 << 20)


class Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def layer(folder: Path, data: bytes) -> LayerFile:
    path = folder / "layer"
    path.write_bytes(data)
    return LayerFile(path, Descriptor("", "", len(data)))


def tar(*members: tarfile.TarInfo, fill: bytes = b"x") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(fill * member.size) if member.isreg() else None)
    return out.getvalue()


def member(
    name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, target: str = ""
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, target
    return info


def lying_header(size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = member("lies", kind)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def zstd_frame(data: bytes, window_log: int) -> bytes:
    """An honest frame of one raw block, which asks for more memory than it needs."""
    last_raw_block = (len(data) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\x00" + bytes([(window_log - 10) << 3]) + last_raw_block + data


def apply(tmp_path: Path, data: bytes, limits: Limits = SMALL) -> Path:
    into = tmp_path / "into"
    into.mkdir(exist_ok=True)
    unpack([layer(tmp_path, data)], into, Rules(refuse_links=True, limits=limits))
    return into


HOSTILE = {
    "parent folder": tar(member("../x", size=1)),
    "parent folder inside": tar(member("a/../../x", size=1)),
    "absolute": tar(member("/x", size=1)),
    "symbolic link": tar(member("a", tarfile.SYMTYPE, target="/etc")),
    "hard link out": tar(member("a", tarfile.LNKTYPE, target="../x")),
    "hard link to nothing": tar(member("a", tarfile.LNKTYPE, target="b")),
    "hard link below its file": tar(
        member("a", size=1), member("a/x", tarfile.LNKTYPE, target="a")
    ),
    "hard link in place of its folder": tar(
        member("a/x", size=1), member("a", tarfile.LNKTYPE, target="a/x")
    ),
    "device": tar(member("a", tarfile.CHRTYPE)),
    "fifo": tar(member("a", tarfile.FIFOTYPE)),
    "file too large": tar(member("a", size=(1 << 20) + 1)),
    "files too large together": tar(*(member(f"a{n}", size=1 << 20) for n in range(3))),
    "too many entries": tar(*(member(f"a{n}") for n in range(60))),
    "too deep": tar(member("a/" * 70 + "b")),
    "too long": tar(member("a" * 1100)),
    "name too long": tar(member("a" * 300)),
    "cut in a file": tar(member("a", size=5000))[:1500],
    "size that lies": lying_header(1 << 40),
    "extended header that lies": lying_header(1 << 40, tarfile.XHDTYPE),
    "long name that lies": lying_header(1 << 40, tarfile.GNUTYPE_LONGNAME),
    "sparse": lying_header(512, tarfile.GNUTYPE_SPARSE),
    "whiteout of nothing": tar(member(".wh.")),
    "whiteout of the parent": tar(member(".wh...")),
    "broken gzip": b"\x1f\x8b\x08\x00junk",
    "cut gzip": gzip.compress(tar(member("a", size=5000), fill=b"ab"))[:-20],
    "broken zstd": b"\x28\xb5\x2f\xfdjunk",
    "zstd with a giant window": zstd_frame(tar(member("a", size=1)), window_log=30),
    "no tar": b"<html>" * 1000,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_each_is_an_error_and_writes_nothing_outside(tmp_path: Path, name: str) -> None:
    with pytest.raises(LayerError, match=r"layer\[0\]"):
        apply(tmp_path, HOSTILE[name])
    assert {path.name for path in tmp_path.iterdir()} == {"into", "layer"}


def test_odd_entries_beside_a_catalog_are_passed_over(tmp_path: Path) -> None:
    """A base image has what it has; nothing of it is written."""
    sparse = lying_header(512, tarfile.GNUTYPE_SPARSE) + bytes(512)
    odd = tar(
        member("/etc/passwd", size=1),
        member("../x", size=1),
        member("usr/" + "a/" * 70 + "b", size=1),
        member("usr/" + "a" * 1100, size=1),
        member("usr/" + "a" * 300, size=1),
        member("usr/.wh."),
        member("dev/null", tarfile.CHRTYPE),
        member("configs/a.json", size=3),
    )
    into = tmp_path / "into"
    into.mkdir()
    rules = Rules(roots=("/configs",), refuse_links=True, limits=SMALL)
    unpack([layer(tmp_path, sparse + odd)], into, rules)
    assert [path.name for path in into.rglob("*")] == ["configs", "a.json"]


def repeated(head: bytes, piece: bytes, times: int, compress: Compressor) -> bytes:
    """What compresses almost to nothing, made in pieces because whole it would not fit."""
    pieces = [compress.compress(head), *(compress.compress(piece) for _ in range(times))]
    return b"".join([*pieces, compress.flush()])


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_bomb_is_stopped_early(tmp_path: Path, kind: str) -> None:
    compress: Compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    if kind == "zstd":
        compress = zstandard.ZstdCompressor().compressobj()
    bomb = repeated(lying_header(1 << 30), bytes(1 << 20), 80, compress)
    with pytest.raises(LayerError, match="300 times"):
        apply(tmp_path, bomb, Limits())


def test_a_hundred_thousand_entries_are_too_many(tmp_path: Path) -> None:
    header = member("a", tarfile.DIRTYPE).tobuf(tarfile.GNU_FORMAT)
    many = repeated(b"", header * 1000, 100, zlib.compressobj(1, zlib.DEFLATED, 31))
    with pytest.raises(LayerError, match="more than 20000 entries"):
        apply(tmp_path, many, Limits(entries=20_000))


def test_files_without_end_are_counted_together(tmp_path: Path) -> None:
    """Hard links cost nothing in the archive, but are copies on disk."""
    first = member("a0", size=1 << 19)
    links = [member(f"a{n}", tarfile.LNKTYPE, target="a0") for n in range(1, 40)]
    with pytest.raises(LayerError, match="unpacks to more than"):
        apply(tmp_path, tar(first, *links))


def test_a_file_cannot_be_written_through_a_link(tmp_path: Path) -> None:
    """Where links are left out, what would go through one lands in a folder of that name."""
    data = tar(member("a", tarfile.SYMTYPE, target="/tmp"), member("a/x", size=1))
    into = tmp_path / "into"
    into.mkdir()
    unpack([layer(tmp_path, data)], into, Rules(limits=SMALL))
    assert (into / "a" / "x").read_bytes() == b"x"
    assert not (into / "a").is_symlink()


def test_what_is_below_a_file_replaces_it_or_was_never_there(tmp_path: Path) -> None:
    """Without an entry of its own for the folder, as some tools write layers."""
    apply(tmp_path, tar(member("a", size=1), member("b", size=1)))
    into = apply(tmp_path, tar(member("a/x", size=1), member("b/.wh.x")))
    assert (into / "a" / "x").read_bytes() == (into / "b").read_bytes() == b"x"


KINDS = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE)


def name(chance: Random) -> str:
    return "".join(chance.choices("ab./\\é\0 ", k=chance.choice((1, 2, 3, chance.randint(0, 12)))))


def archive(chance: Random) -> bytes:
    """Some members of few names, so that links have targets; in half of the cases damaged."""
    names = [name(chance) for _ in range(4)]
    members = (
        member(
            chance.choice(names), chance.choice(KINDS), chance.randint(0, 10), chance.choice(names)
        )
        for _ in range(chance.randint(0, 8))
    )
    data = bytearray(tar(*members))
    noise = chance.randbytes(chance.choice((0, 0, 0, 0, 1, 2, 3, 4)))
    at = chance.randint(0, 3000)
    data[at : at + len(noise)] = noise
    return bytes(data)


@pytest.mark.property
@given_many(500, archive)
def test_any_archive_is_unpacked_inside_or_refused(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        with contextlib.suppress(LayerError):
            apply(Path(folder), data)
        assert {path.name for path in Path(folder).iterdir()} == {"into", "layer"}
        assert not [path for path in Path(folder).rglob("*") if path.is_symlink()]


@pytest.mark.property
@given(
    st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd"]),
    st.binary(max_size=2000),
    st.sampled_from([bytes, gzip.compress, zstandard.ZstdCompressor().compress]),
)
@settings(max_examples=cases(500), deadline=None)
def test_any_bytes_are_unpacked_inside_or_refused(
    magic: bytes, noise: bytes, wrap: Callable[[bytes], bytes]
) -> None:
    """Noise as it is, behind the sign of a compression, and honestly compressed."""
    with TemporaryDirectory() as folder:
        with contextlib.suppress(LayerError):
            apply(Path(folder), wrap(magic + noise))
        assert {path.name for path in Path(folder).iterdir()} == {"into", "layer"}


def test_each_limit_of_decompression_names_its_flag(tmp_path: Path) -> None:
    header = lying_header(1 << 40, tarfile.XHDTYPE)
    with pytest.raises(LayerError, match="header claims more than") as caught:
        apply(tmp_path, header)
    assert "--max-image-header-bytes" in caught.value.hint
    with pytest.raises(LayerError, match="zstd asks for more than") as caught:
        apply(tmp_path, HOSTILE["zstd with a giant window"])
    assert "--max-image-window-bytes" in caught.value.hint
    apply(tmp_path, zstd_frame(tar(member("a", size=1)), window_log=20))
