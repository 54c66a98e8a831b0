"""Child processes that cannot outlive the tests, whatever ends the tests.

A child has its own session (Ctrl-C at the terminal reaches only us, and we stop children in
order), writes to log files, is stopped by its pid and never by name, and is killed by the kernel
when this process dies, even by SIGKILL.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Protocol

from e2e.harness.errors import ProcessFailed, log_tail

LAUNCHER = Path(__file__).with_name("_launch.py")
STOP_PATIENCE = 10.0
READY_PATIENCE = 180.0
POLL_INTERVAL = 0.05


def service_environment(**extra: str) -> dict[str, str]:
    """A small environment for servers.

    etcd, the registry and others take settings from environment variables: what a developer has
    exported for other work must not change them.
    """
    names = ("PATH", "HOME", "TMPDIR", "LANG", "TZ", "GOGC")
    return {name: os.environ[name] for name in names if name in os.environ} | extra


class Process(Protocol):
    """What a child needs of subprocess.Popen."""

    @property
    def pid(self) -> int:
        """Its id."""

    def poll(self) -> int | None:
        """How it ended, as `returncode` of subprocess.Popen; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """The same once it has ended. Errors: subprocess.TimeoutExpired."""

    def terminate(self) -> None:
        """SIGTERM, if it runs."""

    def kill(self) -> None:
        """SIGKILL, if it runs."""


class ChildProcess:
    """One child process; can be started again after it has ended."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        log: Path,
        stdout: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Describe the child; `log` receives stderr, and stdout too unless `stdout` is given."""
        self.name = name
        self.log = log
        self._argv = tuple(argv)
        self._stdout = stdout
        self._env = service_environment() if env is None else dict(env)
        self._cwd = cwd
        self._process: Process | None = None
        self._keeper: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """The process id while the child runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def returncode(self) -> int | None:
        """How the child ended (negative: by that signal); None while it runs or never ran."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start the child; a second start of a running child is an error of the caller.

        Errors: ProcessFailed if the child runs already or cannot be forked. A program that cannot
        be executed is seen in the log, and by `wait_ready` or `wait`.
        """
        if self.pid is not None:
            raise ProcessFailed(f"{self.name} is running already (pid {self.pid})")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        started: Future[Process] = Future()
        # The kernel counts the death of the *thread* that forked as the death of the parent. A
        # thread that lives exactly as long as the child makes it safe to call us from any thread.
        self._keeper = threading.Thread(
            target=self._spawn_and_keep, args=(started,), name=f"keep-{self.name}", daemon=True
        )
        self._keeper.start()
        try:
            self._process = started.result()
        except OSError as error:
            raise ProcessFailed(f"cannot start {self.name}: {error}") from error

    def _spawn_and_keep(self, started: "Future[Process]") -> None:
        try:
            with self.log.open("ab") as log, (self._stdout or self.log).open("ab") as stdout:
                process = self._spawn(stdout, log)
        except OSError as error:
            started.set_exception(error)
            return
        started.set_result(process)
        process.wait()

    def _spawn(self, stdout: IO[bytes], stderr: IO[bytes]) -> Process:
        return subprocess.Popen(
            (sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *self._argv),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=self._env,
            cwd=self._cwd,
            start_new_session=True,
        )

    def wait(self, timeout: float) -> int | None:
        """Wait for the end; the exit code, or None if the child still runs after `timeout`."""
        if self._process is None:
            return None
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def wait_ready(
        self,
        probe: Callable[[], bool],
        *,
        timeout: float = READY_PATIENCE,
        interval: float = POLL_INTERVAL,
    ) -> None:
        """Wait until `probe` says True.

        Errors: ProcessFailed with the end of the log when the child ends or time runs out.
        """
        deadline = time.monotonic() + timeout
        while True:
            self.require_running()
            if probe():
                return
            if time.monotonic() > deadline:
                raise ProcessFailed(self._report(f"was not ready after {timeout:.0f} s"))
            time.sleep(interval)

    def require_running(self) -> None:
        """Errors: ProcessFailed with the end of the log if the child has ended or never ran."""
        if self.pid is None:
            raise ProcessFailed(self._report(f"ended with code {self.returncode}"))

    def stop(self, patience: float = STOP_PATIENCE) -> None:
        """End the child: SIGTERM, at most `patience` seconds, then SIGKILL. Idempotent."""
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._keeper is not None:
            self._keeper.join()

    def kill(self, patience: float = STOP_PATIENCE) -> None:
        """End the child by SIGKILL, as a crash would; nothing if it does not run."""
        if self._process is not None and self.pid is not None:
            self._process.kill()
            self.wait(patience)

    def _report(self, what: str) -> str:
        return f"{self.name} {what}; the end of its log {self.log}:\n{log_tail(self.log)}"
