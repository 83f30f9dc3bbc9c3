"""Receipts: what recognises forgotten words in a copy of a workspace from before, without holding them.

A receipt is one JSON object: `receipt` (the version, 1), `id`, `at`, `actor`, `memories_dir`, `sessions_dir`, and what
the operation `erase` of the ledger has, with `spans`, the places of quotes; see `docs/formats.md`.
"""

from __future__ import annotations

import json
import logging
import os
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...errors import ConfigError
from ...governance.forgetting import Erasure
from ...layout import Layout
from ...records import Evidence
from ...trusting import anchoring

logger = logging.getLogger("sandbox_memory")

FOLDER, VERSION = "forgotten", 1


@dataclass(frozen=True)
class Receipt:
    """What one forgetting left: what recognises it, the places of its quotes, and whose memory it was."""

    erasure: Erasure
    spans: tuple[Evidence, ...] = ()
    memories_dir: str = ""
    sessions_dir: str = ""


def encode(receipt: Receipt) -> bytes:
    """The bytes of the file."""
    erasure = receipt.erasure
    whole = {
        "receipt": VERSION,
        "id": erasure.id,
        "actor": erasure.actor,
        "memories_dir": receipt.memories_dir,
        "sessions_dir": receipt.sessions_dir,
        **erasure.facts(),
        "spans": [{**span.to_json(), "rollout": erasure.marks.digest(span.rollout)} for span in receipt.spans],
    }
    return (json.dumps(whole, indent=1) + "\n").encode()


def read(path: Path) -> Receipt:
    """The receipt in that file. Raises `ConfigError` if there is none that this version can read."""
    try:
        found = json.loads(path.read_bytes())
        if found["receipt"] != VERSION:
            raise ValueError(f"version {found['receipt']!r} is not known")
        erasure = Erasure.of(str(found["id"]), found)
        spans = tuple(Evidence.from_json(span, "") for span in found["spans"])
        if not (isinstance(found["memories_dir"], str) and isinstance(found["sessions_dir"], str)):
            raise ValueError("it does not say whose memory it is of")
        folders = (posixpath.normpath(found[name]) if found[name] else "" for name in ("memories_dir", "sessions_dir"))
        return Receipt(erasure, spans, *folders)
    except OSError as error:
        raise ConfigError(f"the receipt {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is no receipt of `sandbox-memory forget`: {error}") from error


def keep(receipt: Receipt, wanted: Sequence[Path] = ()) -> list[Path]:
    """Write it into this user's state folder and to the `wanted` files; the paths. It never goes into the workspace.

    A state folder that cannot be written is logged. Raises `ConfigError` if a wanted file cannot be written.
    """
    data, kept = encode(receipt), []
    place = anchoring.folder(FOLDER)
    stamp = "".join(char for char in receipt.erasure.at[:19] if char.isdigit())
    try:
        anchoring.private(place)
        kept.append(written(place / f"{stamp}-{receipt.erasure.id}.json", data))
    except OSError as error:
        logger.warning("sandbox memory: the receipt could not be kept in %s: %s", place, error)
    for path in wanted:
        try:
            kept.append(written(path, data))
        except OSError as error:
            raise ConfigError(f"the receipt could not be written to {path}: {error.strerror or error}") from error
    return kept


def written(path: Path, data: bytes) -> Path:
    """Write a file of this user's, in one step; the path."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    temporary.replace(path)
    return path


def layout_of(receipt: Receipt, layout: Layout) -> bool:
    """True if the receipt is of a memory in the same folders."""
    return (receipt.memories_dir, receipt.sessions_dir) in (("", ""), (layout.memories_dir, layout.sessions_dir))


def given(paths: Iterable[Path], layout: Layout) -> list[Receipt]:
    """Those of the receipts in these files that are of this memory; of the others it is logged once.

    An application with scopes may give all its receipts to each of its memories. Raises `ConfigError` as `read` does.
    """
    found = []
    for path in paths:
        receipt = read(path)
        if layout_of(receipt, layout):
            found.append(receipt)
        else:
            _other(str(path), receipt.memories_dir, receipt.sessions_dir, layout.memories_dir, layout.sessions_dir)
    return found


@lru_cache(maxsize=4096)
def _other(path: str, memories: str, sessions: str, here: str, said: str) -> None:
    logger.warning(
        "sandbox memory: the receipt %s is of a memory in %s and %s: it is not applied to the one in %s and %s",
        path,
        memories,
        sessions,
        here,
        said,
    )
