"""`python -m sandbox_memory`: the command line."""

from __future__ import annotations

from .doors.cli import main

if __name__ == "__main__":
    main()
