"""The memories of a workspace, by the names that the page's addresses have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from ..plain import OpenMemory
from .snapshot import Shelf

_PLAIN = re.compile(r"[^\w.-]+")


class Bookcase:
    """The memories of the workspace `root`; `names` says their folders, and `open_` opens one by its folder."""

    def __init__(self, root: Path, names: Callable[[], Sequence[str]], open_: Callable[[str], OpenMemory]) -> None:
        self.root, self._names, self._open = root, names, open_
        self._shelves: dict[str, Shelf] = {}
        self._keys: dict[str, str] = {}

    def shelves(self) -> Mapping[str, Shelf]:
        """The memories that there are now, by their keys; a memory keeps its key."""
        for folder in self._names():
            if folder not in self._keys:
                plain = key = _PLAIN.sub("-", folder).strip(".-") or "memory"
                while key in self._shelves or key in RESERVED:
                    key = f"{plain}-{len(self._shelves)}"
                self._keys[folder] = key
                self._shelves[key] = Shelf(self.root, partial(self._open, folder))
        return dict(self._shelves)

    def folder(self, key: str) -> str:
        """The folder of the memory with that key."""
        return next(folder for folder, known in self._keys.items() if known == key)


RESERVED = frozenset(("static", "prefs"))
"""What the addresses of the page begin with that is no memory."""
