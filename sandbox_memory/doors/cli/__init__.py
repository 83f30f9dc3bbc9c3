"""The command line, `sandbox-memory`: a thin door over `open_memory`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

KEPT = 50_000
"""Objects made, more than let go, after which Python looks for what can go. Nearly all that a command reads stays: to
look after each 700, as by default, took a fifth of the time to read a large memory."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that `arguments` name, those of the process by default, and end with its exit code.

    0: done. 1: something was not done, or does not verify. 2: wrong use, or no workspace. 130: interrupted.
    """
    from .app import app

    gc.set_threshold(KEPT)
    for stream in (sys.stdout, sys.stderr):
        # A text may hold what the terminal's encoding cannot show, which is no reason to fail.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace" if stream is sys.stdout else "replace")
    app(list(arguments) if arguments is not None else None, prog_name="sandbox-memory")
