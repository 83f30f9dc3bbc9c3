"""Where in a line of a transcript an item stands, so that a person finds it with their editor."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...rollouts.rendering import listed, render

if TYPE_CHECKING:
    from ...receipts import Receipt


def places(root: Path, receipts: Iterable[Receipt]) -> dict[tuple[str, int, int], str]:
    """For each receipt, by its path, line and item, what leads to the item there, such as `generated_items[3]`.

    What cannot be read or found any more is left out.
    """
    found: dict[tuple[str, int, int], str] = {}
    payloads: dict[tuple[str, int], Any] = {}
    for receipt in receipts:
        at = (receipt.path, receipt.line)
        if receipt.line and not receipt.verdict:
            payloads.setdefault(at, _line(root / receipt.path, receipt.line))
            if place := place_of(payloads[at], receipt.item):
                found[(*at, receipt.item)] = place
    return found


def place_of(payload: Any, index: int) -> str:
    """What leads to the item of that index in the JSON of a run; empty if there is none.

    An entry of a run's lists is no item, one, or several: it is rendered alone to see how many.
    """
    if not isinstance(payload, dict):
        return ""
    before = 0
    for name in ("input", "generated_items"):
        for number, raw in enumerate(listed(payload.get(name))):
            before += len(render({"input": [raw]}))
            if index < before:
                return f"{name}[{number}]" if isinstance(payload[name], list) else name
    return "final_output" if index == before else ""


def _line(path: Path, number: int) -> Any:
    try:
        with path.open("rb") as file:
            return json.loads(next(islice(file, number - 1, None), b"null"))
    except (OSError, ValueError, RecursionError):
        return None
