"""Names whose server does not answer hold up nobody else."""

import subprocess
import sys
from pathlib import Path

import pytest

DEAD = 12
PROGRAM = f"""
import asyncio, fcntl, socket, struct
from olm_runtime.program import run

SET_FLAGS, UP = 0x8914, 1
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(silent, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
silent.bind(("127.0.0.1", 53))

async def look(name):
    try:
        await asyncio.get_running_loop().getaddrinfo(name, 80)
    except OSError:
        pass
    print(name, flush=True)

async def main():
    names = [f"dead-{{number}}.example.com" for number in range({DEAD})]
    await asyncio.gather(*map(look, [*names, "localhost"]))

run(main)
"""
APART = ("unshare", "--map-root-user", "--mount", "--net")


@pytest.fixture
def name_server(tmp_path: Path) -> Path:
    """What resolv.conf says where nobody answers for three seconds."""
    if subprocess.run([*APART, "true"], capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("namespaces of users cannot be made here")
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 127.0.0.1\noptions timeout:3 attempts:1\n")
    return file


def test_a_name_is_found_while_others_wait_for_their_server(name_server: Path) -> None:
    script = 'mount --bind "$1" /etc/resolv.conf && exec "$2" -c "$3"'
    command = [*APART, "sh", "-c", script, "sh", str(name_server), sys.executable, PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = done.stdout.split()
    assert len(found) == DEAD + 1
    assert found[0] == "localhost"
