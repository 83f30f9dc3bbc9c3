"""How often records were of use, in a file beside the ledger: it may be lost, torn or forged without harm.

One JSON object a line, appended together with what is written anyway: `at`, and the ids of the records that a run was
told (`injected`), that its commands found in the files (`searched`) and that it repeated (`cited`). A file that has
grown becomes one line with `uses`: id to the three counts and the time of the last use. To be told is not to be of use:
only a search and a citation count as one, or what is told would stay told for ever.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .governance.lifetime import moment, written
from .governance.wording import SENTENCE_END
from .lexical import terms
from .records import Record

FILE = "usage.jsonl"
LARGEST = 1 << 20
"""Bytes of the file that are read at most; a longer one is begun anew."""
GROWN = 32 << 10
"""Bytes from which on it is made one line."""
LISTED = 20
"""More records than so many in one output are a listing, not what was searched for."""
READ = 200_000
"""Characters of a run's words, and of one output, that are looked through."""
CITED, TELLING = 0.8, 3
"""Share of a record's words that one sentence repeats to cite it, and how many they must be."""

_ID = re.compile(r"(?<![\w-])m-[0-9a-f]{10}(?![0-9a-f])")
_COUNTS = ("injected", "searched", "cited")


@dataclass(frozen=True)
class Use:
    """How often runs were told a record, found it and repeated it; `last` is when one last did the latter two."""

    injected: int = 0
    searched: int = 0
    cited: int = 0
    last: str = ""


@dataclass(frozen=True)
class Noticed:
    """The records that one run was told, that it searched for and that it cited."""

    injected: frozenset[str] = frozenset()
    searched: frozenset[str] = frozenset()
    cited: frozenset[str] = frozenset()

    def line(self, at: str) -> bytes:
        """The line of the file that says so; empty if there is nothing to say."""
        found = {name: sorted(getattr(self, name)) for name in _COUNTS if getattr(self, name)}
        return json.dumps({"at": at, **found}, separators=(",", ":")).encode() + b"\n" if found else b""


def noticed(items: Iterable[Mapping[str, Any]], told: Mapping[str, Record]) -> Noticed:
    """What the items that a run made show of its use of memory; `told` are the records that it was told."""
    searched: set[str] = set()
    said: list[str] = []
    for item in items:
        kind = item.get("type")
        if kind == "message" or item.get("role") == "assistant":
            said += _texts(item.get("content"))
        elif isinstance(item.get("output"), (str, list)):
            text = "\n".join(_texts(item["output"]))[:READ]
            found = set(_ID.findall(text)) if "m-" in text else set()
            searched |= found if len(found) <= LISTED else set()
        elif kind is not None and str(kind).endswith("_call"):
            said += [str(item[key]) for key in ("arguments", "input", "action") if item.get(key)]
    words = "\n".join(said)[:READ]
    cited = set(_ID.findall(words)) | set(_repeated(words, told))
    return Noticed(frozenset(told), frozenset(searched), frozenset(cited))


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _repeated(words: str, told: Mapping[str, Record]) -> Iterator[str]:
    sentences = [found for part in SENTENCE_END.split(words) if len(found := frozenset(terms(part))) >= TELLING]
    for id, record in told.items():
        own = frozenset(terms(record.text))
        least = CITED * len(own)
        if len(own) >= TELLING and any(len(own & each) >= least for each in sentences):
            yield id


def ids(text: str) -> list[str]:
    """The ids of records in a text, in its order."""
    return list(dict.fromkeys(_ID.findall(text)))


def read(data: bytes, now: str) -> dict[str, Use]:
    """The uses by id, of the first `LARGEST` bytes.

    What is no line of ours is passed over, and so is a use that is said to be after `now`.
    """
    uses: dict[str, Use] = {}
    for raw in data[:LARGEST].split(b"\n"):
        try:
            line = json.loads(raw)
            for id, use in _told(line, now):
                uses[id] = _sum(uses.get(id, Use()), use)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            continue
    return uses


def _told(line: Mapping[str, Any], now: str) -> list[tuple[str, Use]]:
    found = []
    for id, (*counts, last) in dict(line.get("uses", {})).items():
        if _ID.fullmatch(id) and all(type(count) is int and 0 <= count < 1 << 40 for count in counts):
            injected, searched, cited = counts
            found.append((id, Use(injected, searched, cited, _past(last, now))))
    at = _past(line.get("at", ""), now)
    for name in _COUNTS:
        ids = line.get(name, ())
        used = "" if name == "injected" else at
        found += [(id, Use(last=used, **{name: 1})) for id in ids if isinstance(id, str) and _ID.fullmatch(id)]
    return found


def _past(at: str, now: str) -> str:
    when = written(moment(at)) if at else ""
    return when if when <= now else ""


def _sum(one: Use, two: Use) -> Use:
    return Use(one.injected + two.injected, one.searched + two.searched, one.cited + two.cited, max(one.last, two.last))


def compacted(data: bytes, now: str, known: Collection[str]) -> bytes:
    """The file as one line, without the records that are not among the `known`; as it is while it has not grown."""
    if len(data) < GROWN:
        return data
    uses = {id: use for id, use in read(data, now).items() if id in known}
    counts = {id: [use.injected, use.searched, use.cited, use.last] for id, use in uses.items()}
    return json.dumps({"at": now, "uses": counts}, separators=(",", ":")).encode() + b"\n"


def last_used(uses: Mapping[str, Use]) -> dict[str, str]:
    """When each record was last of use, for those that ever were."""
    return {id: use.last for id, use in uses.items() if use.last}
