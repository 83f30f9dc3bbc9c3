"""Seals: what a host's key signs, so that nothing which a workspace's shell writes passes for ours on any machine.

A seal is HMAC-SHA256 over what is signed, with what it is and where it stands, each part with its length before it. A
commit's covers its digest, which covers the commit before and leaves out the words that can be erased: forgetting needs
no key. A transcript line's covers its bytes, the name of its file, and the run before it in that file.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_AFTER = re.compile(rb'"after":"([^"\\]*)"(?=,"mac":"[0-9a-f]{64}"\}\s*$)')
_SEALED = re.compile(rb',"mac":"([0-9a-f]{64})"\}\s*$')


@dataclass(frozen=True)
class Seal:
    """Signs and verifies the lines of one layout; without a key it signs nothing.

    `memories_dir` and `sessions_dir` are part of what is signed: a line of one layout is none of another's.
    """

    key: bytes = field(default=b"", repr=False)
    memories_dir: str = ""
    sessions_dir: str = ""

    def __bool__(self) -> bool:
        return bool(self.key)

    def commit(self, digest: str) -> str:
        """The seal of the commit with that digest; empty without a key."""
        return self._mac("commit", self.memories_dir, digest) if self.key else ""

    def holds_commit(self, digest: str, mac: object) -> bool:
        """True if that is the commit's seal."""
        return bool(self.key) and isinstance(mac, str) and _same(mac, self.commit(digest))

    def line(self, stem: str, line: bytes, after: str) -> bytes:
        """The transcript line with its seal; `after` is the id of the run that stands before it in the file."""
        if not self.key:
            return line
        body = line.rstrip(b"\n").removesuffix(b"}")
        body += b',"after":' + json.dumps(after).encode() + b"}"
        return body[:-1] + b',"mac":"' + self._of_line(stem, body).encode() + b'"}\n'

    def holds_line(self, stem: str, line: bytes) -> bool:
        """True if the line carries its seal."""
        found = _SEALED.search(line)
        if not self.key or found is None:
            return False
        return _same(found[1].decode(), self._of_line(stem, line[: found.start()] + b"}"))

    def again(self, stem: str, before: bytes, after: bytes, to: str = "") -> bytes:
        """A rewritten line (with its key `after`, with or without the old seal), sealed if the old one was.

        `to` is the transcript that it is moved to, if it is.
        """
        if not self.holds_line(stem, before) or not after.strip():
            return after
        found = _SEALED.search(after)
        body = after[: found.start()] + b"}" if found else after.rstrip(b"\n")
        end = b"\n" if after.endswith(b"\n") else b""
        return body[:-1] + b',"mac":"' + self._of_line(to or stem, body).encode() + b'"}' + end

    def bridged(self, stem: str, before: Sequence[bytes], after: Sequence[bytes]) -> list[bytes]:
        """Rewritten lines: those that name a run which was taken out name the one before it now, in as many bytes."""
        gone = {_id(line) for line in before} - {_id(line) for line in after} - {""}
        lines, last = list(after), ""
        for number, line in enumerate(lines if self.key and gone else ()):
            named = _AFTER.search(line)
            if named is not None and named[1].decode() in gone and self.holds_line(stem, line):
                other = b'"after":' + json.dumps(last).encode().rjust(len(named[0]) - len(b'"after":'))
                lines[number] = self.again(stem, line, line[: named.start()] + other + line[named.end() :])
            last = _id(line) or last
        return lines

    def _of_line(self, stem: str, body: bytes) -> str:
        return self._mac("line", self.sessions_dir, stem, body)

    def _mac(self, *parts: str | bytes) -> str:
        made = hmac.new(self.key, b"sandbox_memory 1", hashlib.sha256)
        for part in parts:
            data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
            made.update(len(data).to_bytes(8, "big") + data)
        return made.hexdigest()


class Order:
    """Follows the sealed lines of one transcript: each names the run that stood before it when it was written."""

    def __init__(self) -> None:
        self._ids: set[str] = {""}

    def next(self, payload: Mapping[str, Any]) -> str:
        """What is wrong with the place of the next line, if it is sealed; empty if nothing is."""
        after, id = payload.get("after"), payload.get("segment")
        again, missing = id in self._ids, after not in self._ids
        if isinstance(id, str):
            self._ids.add(id)
        if again:
            return "this line stands here a second time"
        return "the line that stood before this one is gone, or stands elsewhere" if missing else ""


def _id(line: bytes) -> str:
    """The id of the run that a line holds; empty for none."""
    try:
        payload = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    id = payload.get("segment") if isinstance(payload, dict) else None
    return id if isinstance(id, str) else ""


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
