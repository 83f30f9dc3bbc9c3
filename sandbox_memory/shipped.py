"""Finds the two folders that ship beside the code, in a wheel, an editable install and a bare checkout."""

from __future__ import annotations

from pathlib import Path

from .errors import SandboxMemoryError


def folder(name: str) -> Path:
    """The folder `layouts` or `prompts`: inside the package in a wheel, else its sibling in the checkout.

    Raises `SandboxMemoryError` when neither exists, which means a broken installation.
    """
    package = Path(__file__).resolve().parent
    for place in (package / name, package.parent / name):
        if place.is_dir():
            return place
    raise SandboxMemoryError(f"the folder {name!r} is missing from this installation; reinstall sandbox-memory")
