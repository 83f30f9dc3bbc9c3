"""Salted digests of rows of tokens, and texts without what they recognise."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .reading import Tokens, read, readings

FILLED = re.compile(r"⟦(?:forgotten)?·*⟧|⟧")
"""What stands in the place of forgotten words."""
FORGOTTEN = "⟦forgotten⟧"

_PRIME = (1 << 61) - 1
_BITS = 0xFFFF


class Marks:
    """Salted digests of rows of tokens, by which they are found again.

    Beside each digest stand 16 bits of a rolling hash, so that a long text costs one multiplication for each token.
    Whoever has the salt can try out short texts against them: a name of two words is hidden from a glance, not from
    somebody who guesses it.
    """

    def __init__(self, salt: str, rows: Iterable[tuple[int, int, str]] = ()) -> None:
        self.salt = salt
        self.rows = tuple(sorted(set(rows)))
        self._key = bytes.fromhex(salt)
        self._base = int.from_bytes(self._hashed("base"), "big") % _PRIME or 3
        self._known: dict[str, int] = {}
        self._by_length: dict[int, tuple[frozenset[int], frozenset[str]]] = {}
        for length in sorted({row[0] for row in self.rows}):
            mine = [row for row in self.rows if row[0] == length]
            self._by_length[length] = (frozenset(row[1] for row in mine), frozenset(row[2] for row in mine))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Marks) and (self.salt, self.rows) == (other.salt, other.rows)

    def __hash__(self) -> int:
        return hash((self.salt, self.rows))

    @classmethod
    def of(cls, salt: str, rows: Iterable[Sequence[str]]) -> Marks:
        """The marks of these rows of tokens; an empty row is none."""
        bare = cls(salt)
        return cls(salt, (bare._row(tuple(row)) for row in rows if row))

    def _row(self, names: tuple[str, ...]) -> tuple[int, int, str]:
        rolling = 0
        for name in names:
            rolling = (rolling * self._base + self._hash(name)) % _PRIME
        return len(names), rolling & _BITS, self.digest(" ".join(names))

    def digest(self, text: str) -> str:
        """The salted digest of a text as it is, in 32 hex digits."""
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).hexdigest()

    def _hashed(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8).digest()

    def _hash(self, name: str) -> int:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = int.from_bytes(self._hashed(name), "big") % _PRIME
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where forgotten words stand in the text, in order, those that overlap as one."""
        if not self.rows or not text:
            return []
        found = [span for read in readings(text) for span in self._found(read)]
        whole: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if whole and start < whole[-1][1]:
                whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
            else:
                whole.append((start, end))
        return whole

    def _found(self, read: Tokens) -> Iterator[tuple[int, int]]:
        count = len(read.names)
        if not self._by_length or count < min(self._by_length):
            return
        sums = [0]
        for name in read.names:
            sums.append((sums[-1] * self._base + self._hash(name)) % _PRIME)
        for length, (bits, digests) in self._by_length.items():
            power = pow(self._base, length, _PRIME)
            for place in range(count - length + 1):
                bit = ((sums[place + length] - sums[place] * power) % _PRIME) & _BITS
                if bit in bits and self.digest(" ".join(read.names[place : place + length])) in digests:
                    yield read.starts[place], read.ends[place + length - 1]

    def holds(self, value: Any) -> bool:
        """True if forgotten words stand in a text, or in a value of JSON; its keys are its form."""
        return any(self.spans(text) for text in _texts(value))

    def with_(self, other: Marks | None) -> Marks:
        """These marks and others of the same salt."""
        return self if other is None or not other.rows else Marks(self.salt, (*self.rows, *other.rows))

    def to_json(self) -> list[list[Any]]:
        """The rows as they are kept: number of tokens, bits of the rolling hash, digest."""
        return [list(row) for row in self.rows]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def filler(length: int) -> str:
    """What takes the place of that many characters, with as many: the places of what stands behind do not move."""
    if length < 3:
        return "⟧" * length
    if length < len(FORGOTTEN):
        return f"⟦{'·' * (length - 2)}⟧"
    return f"⟦forgotten{'·' * (length - len(FORGOTTEN))}⟧"


def filled(text: str, spans: Sequence[tuple[int, int]], *, even: bool = True) -> str:
    """The text without these spans: with fillers of their length if `even`, else with one word for each."""
    for start, end in reversed([part for span in spans for part in _by_line(text, *span)]):
        text = text[:start] + (filler(end - start) if even else FORGOTTEN) + text[end:]
    return text


def _by_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span in parts that keep line ends, and what a line begins with, where they are."""
    if "\n" not in text[start:end]:
        yield start, end
        return
    for line in re.finditer(r"[^\r\n]+", text[start:end]):
        found = read(line[0])
        if found.names:
            yield start + line.start() + found.starts[0], start + line.start() + found.ends[-1]


def masked(text: str, marks: Marks) -> str:
    """The text of a title, a keyword or a file of markdown, in which one word stands for each run of forgotten ones."""
    return cleared(text, marks, even=False)


def cleared(text: str, marks: Marks, *, even: bool = True) -> str:
    """The text without forgotten words, also without those that come about where others were taken out."""
    for _ in range(len(text)):
        spans = marks.spans(text)
        if not spans:
            break
        text = filled(text, spans, even=even)
    return text


def remains(text: str) -> str:
    """What is left of a masked text when the fillers are taken out."""
    return " ".join(FILLED.sub(" ", text).split())


_STRUCTURE = frozenset("type role status id call_id segment updated_at terminal_state tool_call_id encoding".split())


def masked_value(value: Any, marks: Marks, *, keys: bool = False) -> Any:
    """A value of JSON without forgotten words, strings that hold JSON included; every text keeps its length.

    What gives an item its form stays, and so do its keys, unless `keys`, as within a text that holds JSON.
    """
    if isinstance(value, str):
        return _masked_text(value, marks)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return filler(len(str(value))) if marks.spans(str(value)) else value
    if isinstance(value, list):
        return [masked_value(entry, marks, keys=keys) for entry in value]
    if isinstance(value, dict):
        return {
            cleared(key, marks) if keys else key: entry
            if key in _STRUCTURE and not keys
            else masked_value(entry, marks, keys=keys)
            for key, entry in value.items()
        }
    return value


def _masked_text(text: str, marks: Marks) -> str:
    inner = _json(text)
    if inner is None:
        return cleared(text, marks)
    spans = marks.spans(text)
    clean = masked_value(inner, marks, keys=True)
    if clean != inner:
        text = _dumped(clean, like=text, was=inner)
        spans = marks.spans(text)
    for start, end in reversed(spans):  # words that stand in several values side by side: one after the other
        for found in reversed(list(re.finditer(r"[^\W\d_]+", text[start:end]))):
            at = start + found.start()
            text = text[:at] + filler(len(found[0])) + text[at + len(found[0]) :]
    return text


def _json(text: str) -> Any:
    """The object or list that a text is the JSON of, else None."""
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _dumped(value: Any, *, like: str, was: Any) -> str:
    """JSON in the style of another text of JSON, as far as one of the usual styles has made that."""
    for separators in ((", ", ": "), (",", ":")):
        for ascii_only in (False, True):
            if json.dumps(was, ensure_ascii=ascii_only, separators=separators) == like:
                return json.dumps(value, ensure_ascii=False, separators=separators)
    return json.dumps(value, ensure_ascii=False)
