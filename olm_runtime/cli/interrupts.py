"""Ctrl-C is silent and ends with exit code 130, at any moment.

While commands run it is Python's KeyboardInterrupt, so that what was begun is cleaned up. Before
and after, where nothing is to be cleaned up and nobody would catch that, it ends the program.
Imports next to nothing, so that it runs before the first key press.
"""

import os
import signal

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended, as shells have it."""


def leave_at_once() -> None:
    """From now on Ctrl-C ends the program. Where it is ignored, as by nohup, it stays so."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))


def raise_interrupts() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
