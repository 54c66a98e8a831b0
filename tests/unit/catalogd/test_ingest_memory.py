"""How much memory a catalog may take to be unpacked, measured in processes that are confined."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from catalogd.io.images import Images, ImageSettings
from catalogd.metrics import Metrics
from olm_catalogs.io.ingest import refusal
from olm_catalogs.io.processes import _result
from olm_catalogs.job import CATALOGS_FOLDER, Job, Result, write_job
from olm_content.fbc.documents import VALUES_ALWAYS_FREE
from olm_content.fbc.limits import MAX_DOCUMENT_BYTES
from olm_runtime.errors import TransientError
from olm_runtime.images.limits import MIB, Limits

WRITE = """
import sys
from pathlib import Path
from catalogd.io.ingest import write
from olm_catalogs.io.ingest import confine, refusal, write_version
from olm_catalogs.job import read_job
import orjson
job = read_job(sys.stdin.buffer.readline())
confine(job.memory)
try:
    version = write_version(job, Path(job.cache_dir, "unpacked"), write)
    sys.stdout.buffer.write(orjson.dumps({"version": version}))
except Exception as error:
    sys.stdout.buffer.write(orjson.dumps(refusal(error, job)))
"""


def written(job: Job, name: str, content: bytes) -> Result:
    """What comes of a catalog of one file, in a process that may take what its job may."""
    folder = Path(job.cache_dir, "unpacked")
    folder.mkdir()
    (folder / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", WRITE],
        input=write_job(job),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return Result(**orjson.loads(done.stdout))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / CATALOGS_FOLDER).mkdir()
    return Job(catalog="c", reference="r", cache_dir=str(tmp_path))


def text(length: int) -> bytes:
    """Text that takes four bytes a character once it is read."""
    wide = "\N{ROCKET}".encode()
    return b"x" * (length - len(wide)) + wide


def one_text(begin: bytes, end: bytes) -> bytes:
    return begin + text(MAX_DOCUMENT_BYTES - len(begin) - len(end)) + end


def many_values(begin: bytes, value: bytes, between: bytes, values: int, end: bytes) -> bytes:
    """As many values as are allowed, and a text that takes the rest of the room."""
    listed = between.join([value] * values)
    room = MAX_DOCUMENT_BYTES - len(begin) - len(listed) - len(end)
    return begin.replace(b"TEXT", text(room + 4)) + listed + end


LARGEST: dict[str, tuple[str, Callable[[], bytes]]] = {
    "JSON, one text": ("a.json", lambda: one_text(b'{"schema":"s","a":"', b'"}')),
    "JSON, maps": (
        "a.json",
        lambda: many_values(
            b'{"schema":"s","t":"TEXT","a":[', b'{"":0}', b",", VALUES_ALWAYS_FREE // 2 - 9, b"]}"
        ),
    ),
    "JSON, two without a break": (
        "a.json",
        lambda: one_text(b'{"schema":"s"}{"schema":"s","a":"', b'"}'),
    ),
    "YAML, one text": ("a.yaml", lambda: one_text(b"schema: s\na: ", b"\n")),
    "YAML, maps": (
        "a.yaml",
        lambda: many_values(
            b"schema: s\nt: TEXT\na:\n", b"- a: 1", b"\n", VALUES_ALWAYS_FREE // 3 - 9, b"\n"
        ),
    ),
}


@pytest.mark.parametrize("kind", LARGEST)
def test_the_largest_document_of_every_kind_is_unpacked(kind: str, job: Job) -> None:
    name, make = LARGEST[kind]
    content = make()
    assert MAX_DOCUMENT_BYTES - 64 <= len(content) <= MAX_DOCUMENT_BYTES
    found = written(job, name, content)
    assert not found.error
    assert len(found.version) == 64


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b'{"schema":"s","a":[' + b",".join([b"{}"] * VALUES_ALWAYS_FREE) + b"]}"),
        ("a.yaml", b"schema: s\na:\n" + b"- []\n" * VALUES_ALWAYS_FREE),
    ],
)
def test_a_document_of_more_values_is_refused_before_they_take_memory(
    name: str, content: bytes, job: Job
) -> None:
    found = written(job, name, content)
    assert f"{name}: document 1, line " in found.error
    assert "values" in found.error
    assert "--max-document-bytes" in found.hint


def test_texts_that_aliases_repeat_are_counted(job: Job) -> None:
    content = b"schema: s\nt: &t " + b"x" * MIB + b"\na:\n" + b"- *t\n" * 99
    found = written(job, "a.yaml", content)
    assert "document contains excessive aliasing" in found.error


def test_objects_and_their_names_are_bounded(job: Job) -> None:
    few = Job(catalog="c", reference="r", cache_dir=job.cache_dir, objects=10)
    found = written(few, "a.json", b'{"schema":"s"}\n' * 11)
    assert "catalog has more than 10 objects" in found.error
    assert "--max-catalog-objects" in found.hint


def test_memory_grows_with_the_limits_of_which_it_is_made() -> None:
    def memory(document_bytes: int = 1, **limits: int) -> int:
        job = Job(
            catalog="c", reference="r", cache_dir="", limits=Limits(**limits),
            document_bytes=document_bytes,
        )  # fmt: skip
        return job.memory

    assert memory(2 * MAX_DOCUMENT_BYTES) > memory(MAX_DOCUMENT_BYTES) > memory()
    for limit in ("manifest_bytes", "config_bytes", "window_bytes"):
        assert memory(**{limit: 1 << 30}) > 1 << 30


def test_lack_of_memory_is_reported_whoever_meets_it(job: Job) -> None:
    wrapped = SystemError("a result with an exception set")
    wrapped.__cause__ = MemoryError()
    for error in (MemoryError(), wrapped):
        found = refusal(error, job)
        assert found.error == "catalog cannot be unpacked: it needs more than 576 MiB of memory"
        assert "raise the memory limit" in found.hint


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-signal.SIGSEGV, "ended by SIGSEGV, most likely because it needs more than 576 MiB"),
        (-signal.SIGABRT, "ended by SIGABRT, most likely because it needs more than 576 MiB"),
        (-signal.SIGKILL, "ended by SIGKILL, most likely because the container has no memory left"),
        (1, "ended unexpectedly (exit code 1)"),
    ],
)
def test_a_process_that_could_say_nothing_is_reported_by_how_it_ended(
    code: int, said: str, job: Job
) -> None:
    with pytest.raises(TransientError) as error:
        _result(b"", code, job)
    assert said in error.value.message
    assert ("raise the memory limit" in error.value.hint) is (code < 0)


async def test_the_end_of_a_process_is_reported_by_who_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def settings() -> ImageSettings:
        return ImageSettings(cache_dir=tmp_path)

    # It kills itself when it is sent what it does not know.
    monkeypatch.setattr("catalogd.io.images.INGEST", "tests.unit.olm_catalogs.forked")
    tried = Images(settings, Metrics())
    with pytest.raises(TransientError, match="unpacking was ended by SIGKILL"):
        await tried.fetch("c", "registry.test/c:v1", None)
    tried.close()


def test_a_process_is_confined_before_it_reads_anything() -> None:
    probe = (
        "import resource; from pathlib import Path; from olm_catalogs.io.ingest import confine;"
        f"confine({256 * MIB}); print(*resource.getrlimit(resource.RLIMIT_AS),"
        "Path('/proc/self/oom_score_adj').read_text())"
    )
    said = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert said.stdout.split() == [str(256 * MIB)] * 2 + ["1000"]
    assert resource.getrlimit(resource.RLIMIT_AS)[0] != 256 * MIB
    assert Path(f"/proc/{os.getpid()}/oom_score_adj").read_text().strip() != "1000"
