"""The files of a memory without what was forgotten: bytes in, bytes out."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...governance.forgetting import Erasure, filled, masked, masked_value
from ...governance.lifetime import moment
from ...governance.redaction import redact_value
from ...layout import Layout
from ...rollouts import payloads, segment_id
from ...trusting.sealing import Seal
from ...trusting.signed import is_ours, signed
from ...workspace import is_temporary
from . import own

SELECTION = "phase_two_selection.json"
_SIGNATURE = re.compile(r"^  written: \"?[0-9a-f]{16}\"?\r?\n|^written: [0-9a-f]{16}\r?\n", re.M)
_KEYWORDS = re.compile(r"^(keywords: )([^\r\n]*)", re.M)
_BEGINS = re.compile(r"[ \t>]*(?:(#{1,6})|[-*+]|\d{1,9}[.)])[ \t]|[ \t]*<!--|[ \t>]*\r?$")
"""What begins a block of markdown, so that the line goes on with none before it; of a heading (group 1) none after."""
_NAME = re.compile(r"[^\s/\\\"'`<>()\[\]{}|,;:]+")


@dataclass(frozen=True)
class Place:
    """Where forgotten words stand: a workspace-relative file, a line of it (0: the whole or its name), and what."""

    path: str
    line: int
    what: str


@dataclass(frozen=True)
class Line:
    """One line of a transcript: its number from 1, its bytes, its object (None for none), and the id of its run."""

    number: int
    data: bytes
    payload: dict[str, Any] | None
    segment: str = ""
    own: bool = True


def lines_of(data: bytes) -> Iterator[Line]:
    """The lines of a transcript that are not blank, those that are torn or foreign included."""
    found = {number: (line, payload) for number, line, payload in payloads(data)}
    counts: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        payload = found.get(number, (b"", None))[1]
        if payload is None:
            yield Line(number, line, None)
            continue
        own = payload.get("segment")
        if isinstance(own, str) and own:
            yield Line(number, line, payload, own)
            continue
        digest = segment_id(line)
        counts[digest] = counts.get(digest, 0) + 1
        yield Line(number, line, payload, segment_id(line, counts[digest]), own=False)


def older(line: Line, erasure: Erasure) -> bool:
    """False for a run that came after the forgetting: what is said anew is not meant."""
    said = line.payload.get("updated_at") if line.payload else None
    try:
        return moment(str(said)) <= moment(erasure.at)
    except (ValueError, OverflowError):
        return True


def transcript(data: bytes, erasures: Sequence[Erasure], stem: str, seal: Seal | None = None) -> bytes:
    """A transcript without what was forgotten: the lines stay where they are, and the characters of each text.

    A run that is forgotten as a whole becomes a blank line of its length. Lines that were sealed are sealed again.
    """
    if not erasures:
        return data
    out = data.split(b"\n")
    for line in lines_of(data):
        new = _line(line, [erasure for erasure in erasures if older(line, erasure)], stem)
        if new != line.data:
            new = seal.again(stem, line.data, new) if seal is not None else new
            out[line.number - 1] = new
    return b"\n".join(seal.bridged(stem, data.split(b"\n"), out) if seal is not None else out)


def _line(line: Line, erasures: Sequence[Erasure], stem: str) -> bytes:
    if any(erasure.whole(stem) or line.segment in erasure.segments for erasure in erasures if line.segment):
        return b" " * len(line.data)
    text = line.data.decode("utf-8", "surrogateescape")
    if line.payload is None:
        clean = text
        for erasure in erasures:
            clean = masked(clean, erasure.marks)
        return clean.encode("utf-8", "surrogateescape")
    payload: dict[str, Any] = line.payload
    for erasure in erasures:
        marks = erasure.within(line.segment)
        if marks.spans(text):
            payload = masked_value(payload, marks)
    if payload == line.payload:
        return line.data
    if not line.own:  # its id was made of its bytes; and what has an id of its own is taken to be redacted
        payload = {**redact_value(payload), "segment": line.segment}
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def in_transcript(path: str, data: bytes, erasure: Erasure, stem: str) -> Iterator[Place]:
    """Where a transcript still says it."""
    for line in lines_of(data):
        if not older(line, erasure):
            continue
        if line.segment and (erasure.whole(stem) or line.segment in erasure.segments):
            yield Place(path, line.number, "a run of a conversation that is to be forgotten")
        elif (line.payload is None and erasure.marks.spans(line.data.decode("utf-8", "replace"))) or (
            line.payload is not None and _holds(line.payload, erasure, line.segment)
        ):
            yield Place(path, line.number, "what was said or done in a run")


def _holds(payload: Mapping[str, Any], erasure: Erasure, segment: str) -> bool:
    marks = erasure.within(segment)
    return bool(marks.spans(json.dumps(payload, ensure_ascii=False))) and masked_value(dict(payload), marks) != payload


def renamed(name: str, erasure: Erasure) -> str:
    """The name that a file or a conversation has instead of one that tells; the name itself if it does not."""
    if name in own.NAMES or not erasure.tells(name):
        return name
    stem, dot, kind = name.rpartition(".")
    if not dot or kind not in ("md", "jsonl", "json", "txt"):
        return f"forgotten-{erasure.marks.digest(name)[:10]}"
    owner, line, _ = stem.rpartition("_")
    if kind == "md" and line:
        return f"{renamed(owner, erasure)}_forgotten-{erasure.marks.digest(name)[:6]}.md"
    return f"{renamed(stem, erasure) if erasure.tells(stem) else 'forgotten-' + erasure.marks.digest(name)[:10]}.{kind}"


def moved(path: str, erasure: Erasure, top: str) -> str:
    """The path under which a file below `top` is kept."""
    inner = path[len(top) + 1 :]
    return posixpath.join(top, *(renamed(part, erasure) for part in inner.split("/")))


def text(data: bytes, erasures: Sequence[Erasure]) -> bytes:
    """A file of text without what was forgotten; one that was signed as ours is signed again."""
    before = data.decode("utf-8", "surrogateescape")
    return _written(data, words(before, erasures))


def with_keywords(data: bytes, known: Collection[str]) -> bytes:
    """A raw memory without the keywords that are not among those."""

    def put(match: re.Match[str]) -> str:
        return match[1] + ", ".join(word for word in match[2].split(", ") if word in known)

    return _written(data, _KEYWORDS.sub(put, data.decode("utf-8", "surrogateescape")))


def _written(data: bytes, after: str) -> bytes:
    """A file with another text, signed again if it was signed as ours."""
    if after.encode("utf-8", "surrogateescape") == data:
        return data
    if is_ours(data):
        below = "metadata:" if after.startswith("---") else ""
        return signed(_SIGNATURE.sub("", after, count=1), below=below)
    return after.encode("utf-8", "surrogateescape")


def words(said: str, erasures: Sequence[Erasure]) -> str:
    """A text without what was forgotten, names included."""
    for erasure in erasures:
        said = _names(said, erasure)
        while spans := _spans(said, erasure):  # what is taken out may leave the words side by side once more
            said = filled(said, spans, even=False)
    return said


def _spans(said: str, erasure: Erasure) -> list[tuple[int, int]]:
    """Where forgotten words stand in a text of markdown: within a paragraph, a heading or a list item."""
    found: list[tuple[int, int]] = []
    starts, place, heading = [0], 0, False
    for line in said.split("\n"):
        begins = _BEGINS.match(line)
        if begins or heading:
            starts.append(place)
        heading = bool(begins and begins[1])
        place += len(line) + 1
    for start, end in zip(starts, [*starts[1:], len(said)], strict=True):
        found += [(start + first, start + last) for first, last in erasure.marks.spans(said[start:end])]
    return list(own.beside(found, said))


def _names(value: str, erasure: Erasure) -> str:
    """A text in which the names of files and conversations that tell are the new ones."""
    if not erasure.names:
        return value

    def put(match: re.Match[str]) -> str:
        name = match[0].rstrip(".")
        known = name if erasure.marks.digest(name) in erasure.names else ""
        return renamed(known, erasure) + match[0][len(name) :] if known else match[0]

    return _NAME.sub(put, value)


def value(data: bytes, erasures: Sequence[Erasure], path: str = "") -> bytes:
    """A JSON file without what was forgotten, as such a file if it is one."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return text(data, erasures)
    clean = found
    for erasure in erasures:
        clean = _value(clean, erasure, path)
    if clean == found:
        return data
    indent = 2 if b"\n  " in data else None
    return (json.dumps(clean, indent=indent, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _value(found: Any, erasure: Erasure, path: str) -> Any:
    """A value of JSON without what was forgotten; what is ours in the selection of conversations stays."""
    if posixpath.basename(path) != SELECTION:
        return _named(masked_value(_named(found, erasure), erasure.marks, keys=True), erasure)
    if isinstance(found, dict):
        return {
            key: _named(entry, erasure) if key in own.KEYS else _value(entry, erasure, path)
            for key, entry in found.items()
        }
    if isinstance(found, list):
        return [_value(entry, erasure, path) for entry in found]
    return _named(masked_value(_named(found, erasure), erasure.marks), erasure)


def _named(found: Any, erasure: Erasure) -> Any:
    if isinstance(found, str):
        return _names(found, erasure)
    if isinstance(found, list):
        return [_named(entry, erasure) for entry in found]
    if isinstance(found, dict):
        return {_names(key, erasure): _named(entry, erasure) for key, entry in found.items()}
    return found


def in_text(path: str, data: bytes, erasure: Erasure) -> Iterator[Place]:
    """Where a file of text still says it: the lines in which such words begin."""
    if path.endswith(".json"):
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if found is not None:
            if _value(found, erasure, path) != found:
                yield Place(path, 0, "a value")
            return
    if own.is_own(path, data):
        return
    said = data.decode("utf-8", "surrogateescape")
    starts = {start for start, _ in _spans(said, erasure)}
    starts |= {match.start() for match in _NAME.finditer(said) if erasure.names and _tells(match[0], erasure)}
    for number in sorted({said.count("\n", 0, start) + 1 for start in starts}):
        yield Place(path, number, _kind(said.split("\n")[number - 1], path))


def _tells(name: str, erasure: Erasure) -> bool:
    return erasure.marks.digest(name.rstrip(".")) in erasure.names


def _kind(line: str, path: str) -> str:
    line = line.strip()
    if line.startswith("#"):
        return "a title"
    if line.startswith("- [ ]"):
        return "a question"
    if posixpath.basename(path) == "MEMORY.md" and line.startswith(("-", "*", "+")):
        return "a line"
    return "text"


def clean(path: str, data: bytes, erasures: Sequence[Erasure], layout: Layout, seal: Seal | None = None) -> bytes:
    """Any file but the ledger without what was forgotten."""
    if not erasures or is_temporary(posixpath.basename(path)):
        return data
    if path.endswith(".jsonl") and posixpath.dirname(path) == layout.sessions_dir:
        return transcript(data, erasures, posixpath.basename(path).removesuffix(".jsonl"), seal)
    if path.endswith(".json"):
        return value(data, erasures, path)
    return data if own.is_own(path, data) else text(data, erasures)
