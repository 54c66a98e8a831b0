"""What all demos share: steps with their times, what to go on with, and an end that leaves nothing.

DEMO_ONCE=1 ends after the last step; otherwise a demo stays up until Ctrl-C. It writes demo.env
into the present folder, to be sourced by whoever goes on.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from e2e.demo.environment import Environment
from e2e.harness.controlplane import ControlPlane
from e2e.harness.errors import HarnessError
from e2e.harness.registry import Registry

ENVIRONMENT = "demo.env"


class DemoSteps(ABC):
    """The steps of a demo. `folder` is its own; what it starts goes to `stack`."""

    control_plane: ControlPlane
    registry: Registry

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._started = time.monotonic()
        self.folder = folder
        self.stack = stack

    @abstractmethod
    def run(self) -> None:
        """All steps, in order."""

    @property
    @abstractmethod
    def commands(self) -> Sequence[str]:
        """What to try next."""

    @property
    @abstractmethod
    def notes(self) -> str:
        """What else to know, in lines."""

    @abstractmethod
    def environment(self) -> Environment:
        """For whoever goes on."""

    def say(self, text: str) -> None:
        """A step that is done."""
        print(f"[{time.monotonic() - self._started:6.1f} s] {text}", flush=True)

    def show(self, *kubectl: str) -> None:
        """A kubectl command and what it prints."""
        print(f"\n$ kubectl {' '.join(kubectl)}")
        print(self.control_plane.kubectl(*kubectl), flush=True)

    def hand_over(self) -> None:
        """Writes the environment, which goes with the demo, and says how to go on."""
        file = Path(ENVIRONMENT).absolute()
        self.environment().write(file)
        self.stack.callback(file.unlink, missing_ok=True)
        commands = "\n".join(f"  {command}" for command in self.commands)
        print(
            f"""
The demo is up. In another terminal:

  . {shlex.quote(str(file))}
{commands}

Or all of it in a browser: olm console

{self.notes}

Ctrl-C stops everything and leaves nothing behind.""",
            flush=True,
        )


def run_demo(make: Callable[[Path, ExitStack], DemoSteps]) -> int:
    """Run a demo; 0 when everything that it shows came true."""
    # In the background of a shell SIGINT is ignored unless asked for.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="olmv1-demo-") as folder, ExitStack() as stack:
        try:
            demo = make(Path(folder), stack)
            demo.run()
            if os.environ.get("DEMO_ONCE") == "1":
                demo.say("done")
                return 0
            demo.hand_over()
            _wait_for_interrupt()
        except KeyboardInterrupt:
            print("\nstopping ...", flush=True)
        except (HarnessError, TimeoutError, subprocess.SubprocessError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        return 0


def _wait_for_interrupt() -> None:
    while True:
        signal.pause()
