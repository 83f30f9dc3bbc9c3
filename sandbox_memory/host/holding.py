"""Cancellations that wait until something is written."""

from __future__ import annotations

import asyncio
from typing import Any

HOLD_TIMEOUT = 5.0
"""Seconds that a cancelled run still waits for its segment to be written."""


async def held(task: asyncio.Task[Any]) -> None:
    """Wait for a task that must not be cut off; a cancellation in between is delivered at the caller's next step."""
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=HOLD_TIMEOUT)
        forgive()
        current = asyncio.current_task()
        if current is not None:
            current.cancel()


def forgive() -> None:
    """Take back the count of a cancellation that was caught, on Pythons that count (3.11 and later)."""
    uncancel = getattr(asyncio.current_task(), "uncancel", None)
    if uncancel is not None:
        uncancel()
