"""Console scripts without their start: a command costs a fork, not half a second of imports.

    subprocess.run([warm_program("olm"), "status", "-o", "json"], ...)

A server for each program has imported everything. What stands in for the program gives it the
arguments, the environment, the folder and the standard streams, and ends with the exit code. So
commands act as in a shell of their own, and SIGINT and SIGTERM reach them; what is tested of a
start itself, of crashes and of terminals runs the true program.
"""

import array
import atexit
import gc
import importlib.metadata
import json
import os
import pkgutil
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import NoReturn

from e2e.harness.process import ChildProcess, service_environment

STREAMS = 3
SHARED = ("olm_runtime", "olm_content")
"""Packages of which programs import parts late."""
LONGEST_CALL = 1 << 20
"""Bytes of arguments and environment."""

# Imports next to nothing: it is started for each command.
STAND_IN = """\
#!{python} -IS
import array, json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {longest})
    server.connect({address!r})
    call = json.dumps([sys.argv, dict(os.environ), os.getcwd()]).encode()
    streams = array.array("i", [0, 1, 2])
    passed = []
    def pass_on(number, _):
        passed.append(number)
        server.send(str(number).encode())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    server.sendmsg([call], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    code = server.recv(4)
if not code and passed:
    signal.signal(passed[-1], signal.SIG_DFL)
    os.kill(os.getpid(), passed[-1])
os._exit(int(code) if code else 255)
"""


@cache
def warm_program(name: str) -> str:
    """The path of what stands in for a console script; its server ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = folder / "socket"
    server = ChildProcess(
        f"warm {name}",
        [sys.executable, "-m", "e2e.olm.warm", name, str(address)],
        log=folder / "log",
        env=service_environment(),
        cwd=Path(__file__).parents[2],
    )
    server.start()
    atexit.register(server.stop)
    server.wait_ready(address.exists)
    path = folder / "bin" / name
    path.parent.mkdir()
    path.write_text(
        STAND_IN.format(python=sys.executable, address=str(address), longest=LONGEST_CALL)
    )
    path.chmod(0o755)
    return str(path)


def warm_path() -> str:
    """A PATH on which `olm` and `opm` are the stand-ins."""
    ours = (str(Path(warm_program(name)).parent) for name in ("olm", "opm"))
    return os.pathsep.join((*ours, str(Path(sys.executable).parent), os.environ["PATH"]))


def _serve(name: str, address: str) -> None:
    """Imports all of the program, then forks a process for each call."""
    (script,) = importlib.metadata.entry_points(group="console_scripts", name=name)
    main = script.load()
    for top in (script.module.partition(".")[0], *SHARED):
        package = importlib.import_module(top)
        for module in pkgutil.walk_packages(package.__path__, f"{top}."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for who was forked
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(f"{address}.new")
        server.listen(64)
        Path(f"{address}.new").rename(address)
        while True:
            call, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _answer(call, main)
            call.close()


def _answer(call: socket.socket, main: object) -> NoReturn:
    """One command, in the process that was forked for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    streams = array.array("i")
    room = socket.CMSG_SPACE(STREAMS * streams.itemsize)
    message, [(_, _, given)], _, _ = call.recvmsg(LONGEST_CALL, room)
    streams.frombytes(given)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    threading.Thread(target=_obey, args=(call,), daemon=True).start()
    sys.argv, environment, folder = json.loads(message)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    code = 1
    try:
        assert callable(main)
        main()
        code = 0
    except SystemExit as ended:
        code = _code(ended)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        call.send(str(code & 0xFF).encode())
        os._exit(0)


def _obey(call: socket.socket) -> None:
    """Gives this process the signals that who called is given; ends it when that is killed."""
    while number := call.recv(4):
        os.kill(os.getpid(), int(number))
    os.kill(os.getpid(), signal.SIGTERM)


def _code(ended: SystemExit) -> int:
    """The exit code that Python would end with."""
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    sys.stderr.write(f"{ended.code}\n")
    return 1


if __name__ == "__main__":
    _serve(*sys.argv[1:])
