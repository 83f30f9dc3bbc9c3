"""What people wrote around the records and questions of the three files: kept for when a file goes, or is overwritten.

A file that holds words of a person has a twin in a hidden folder, as it was last taken in. A file that is missing or
empty comes back with them. Where an older version is saved over a newer one, its records come back by its marker, and
what a person had written since is kept beside it, as a copy.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from functools import lru_cache

from .. import typed
from ..blocks import Split, join, split
from ..document import Document, normalise
from ..layout import Layout
from ..stages import adoption, briefing, commit, recall
from ..state import State
from ..workspace import ABSENT, Append, Remove, Replace, Workspace, digest

FOLDER = ".last"
MOST = 10
"""Copies of one file that are kept; the oldest goes for the next."""
ALIKE = 0.6
"""From which likeness on a line that is gone and one that is new are one line, changed (difflib's measure)."""
COMPARED = 200
"""Lines that are compared with each other at most."""
WORDS, LETTERS = 4, 12
"""From how many words, or letters, on a line is looked for in the middle of others: shorter ones stand anywhere."""

GONE = "{} was {}, and is written again: {}"
AGAIN = "its lines from the history{}; to take one out, delete the line"
WITH_YOURS = ", your own words as they were last seen here"
ASKED = "its {} not answered yet{}; to say no, delete a line"
OLDER = (
    "an older version of {}{} was saved over it: what came since is written into it again, but {} of yours stand{} "
    "only in {} now; put back what you miss, then remove that file"
)
FEWER = "{} of yours {} gone from {}; if that was not meant, they stand in {}: else remove that file"
_COPY = re.compile(r"\.saved-[0-9a-f]{12}$")
_WORD = re.compile(r"[^\W_]+")
_OURS = re.compile(r"\^[mp]-[0-9a-f]{10}[ \t]*$|^[ \t]*<!-- memory:[^>]*-->[ \t]*$")


def twin(layout: Layout, path: str) -> str:
    """Where the twin of one of the three files stands."""
    return layout.memory(f"{FOLDER}/{posixpath.basename(path)}")


@dataclass
class Around:
    """The words of people in the three files of one memory; `kept` are the twins, by the files that they are of.

    `now` is the state at the head before anything is committed, `past` gives the one at a marker.
    """

    layout: Layout
    kept: Mapping[str, bytes]
    now: State
    past: Callable[[int | None], State]
    said: list[str] = field(default_factory=list)
    steps: list[Replace | Remove] = field(default_factory=list)

    def handbook(self, data: bytes | None, document: Document) -> tuple[Document, adoption.Adopted] | None:
        """A `MEMORY.md` to begin with where it is missing or empty: the twin, with its lines as the history knows them.

        Whatever else calls itself a line there is left out: the twin is a file that an agent can write.
        """
        path = self.layout.handbook
        if not missing(data) or not self.now.visible():
            return None
        before = Document.parse(self.kept.get(path, b""))
        self._gone(path, data, AGAIN.format(WITH_YOURS if before.data else ""))
        if not before.data:
            return None
        texts = {id: normalise(record.text) for id, record in self.past(before.marker).visible().items()}
        assigned, dropped = dict[int, str](), set[int]()
        for item in before.items:
            if item.id in texts and texts[item.id] == item.normal and item.id not in assigned.values():
                assigned[item.index] = item.id
            elif item.id or (item.readable and item.normal):
                dropped.add(item.index)
        return before, adoption.Adopted((), assigned, frozenset(dropped))

    def views(self, texts: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """The summary and the inbox as they are; where one is missing, our block as it was with the words around it."""
        if not self.now.ordinal:
            return dict(texts)
        return {path: self._view(path, data) if missing(data) else data for path, data in texts.items()}

    def _view(self, path: str, data: bytes | None) -> bytes | None:
        asks = path == self.layout.inbox
        block = commit.inbox_block(self.now) if asks else recall.block(self.now, self.layout.preset)
        # Outside of the block of the summary a run is told every word: only those that the history knows come back.
        known = None if asks else self.now.prose.get(briefing.FILE, {})
        parts = split(self.kept.get(path, b""))
        before, after = ("".join(_kept_lines(text, known)) for text in (parts.before, parts.after))
        own = bool(_WORD.search(f"{_unheaded(before)} {after}"))
        if not block.text and not own:
            return data
        yours, count = WITH_YOURS if own else "", len(block.text.splitlines())
        asked = ASKED.format(f"{count} question{'' if count == 1 else 's'}", yours)
        self._gone(path, data, asked if asks and count else AGAIN.format(yours))
        return join(Split(before, block, after), block) if own else data

    def left(
        self,
        path: str,
        found: bytes | None,
        final: bytes,
        own: Callable[[], bool],
        at: str,
        clean: Callable[..., bytes],
    ) -> None:
        """Note what to keep of a file that was `found` so and is `final` now; `own` says if a person's words are in it.

        `clean` takes out what is forgotten.
        """
        kept = self.kept.get(path)
        if kept and found is not None and not missing(found) and kept != found:
            self._overwritten(path, kept, found, at, clean)
        if kept == final:
            return
        if own():
            self.steps.append(Replace(twin(self.layout, path), final))
        elif kept is not None:
            self.steps.append(Remove(twin(self.layout, path)))

    def _overwritten(self, path: str, kept: bytes, found: bytes, at: str, clean: Callable[..., bytes]) -> None:
        gone = lost(kept, found, lambda: self.own(path, kept))
        was, now = _marker(kept), _marker(found)
        older = now is None or (was is not None and now < was)
        if not gone or not (older or len(gone) > typed.MANY):
            return
        data = clean(kept)
        copy = f"{path}.saved-{int(256 * datetime.fromisoformat(at).timestamp()):010x}{digest(data)[:2]}"
        self.steps.append(Replace(copy, data, expect=ABSENT))
        lines = f"{len(gone)} line{'' if len(gone) == 1 else 's'}"
        if older:
            which = f" (commit {now} of {was})" if now is not None else ""
            self.said.append(OLDER.format(path, which, lines, "s" if len(gone) == 1 else "", copy))
        else:
            self.said.append(FEWER.format(lines, "is" if len(gone) == 1 else "are", path, copy))

    def own(self, path: str, data: bytes) -> list[str]:
        """The lines of a file that are a person's."""
        if path == self.layout.handbook:
            document = Document.parse(data)
            return in_handbook(document, records_in(document, self.now), self.now, self.layout)
        return in_view(data)

    def _gone(self, path: str, data: bytes | None, how: str) -> None:
        self.said.append(GONE.format(path, "gone" if data is None else "empty", how))


def missing(data: bytes | None) -> bool:
    """True for a file that is not there, or in which nothing stands."""
    return not (data or b"").strip(b"\xef\xbb\xbf \t\r\n")


def records_in(document: Document, state: State) -> set[int]:
    """The indices of the items that have the id of a record."""
    return {item.index for item in document.items if item.id in state.records}


def anybodys(
    document: Document, taken: set[int], final: Callable[[], Document] | None, state: State, layout: Layout
) -> bool:
    """True if a person's lines are in `MEMORY.md`, also when its edits are made: `final` is what it is then."""
    own = in_handbook(document, taken, state, layout)
    if own and final is not None:  # the edits may take away what nobody had written
        after = final()
        own = in_handbook(after, records_in(after, state), state, layout)
    return bool(own)


def in_handbook(document: Document, taken: set[int], state: State, layout: Layout) -> list[str]:
    """The lines of `MEMORY.md` that are a person's: in no item that was `taken` in, and not of code."""
    records = state.records.values()
    titles = set(map(key, {record.group for record in records})) | {"general"}
    sections = set(map(key, {record.section for record in records} | {*layout.preset.headings.values()}))
    tasks = {key(title) for rollout in state.rollouts.values() for title in (rollout.task, *rollout.told) if title}
    ours = {n for n, _ in document.outline.markers}
    nodes = [node for item, node, _ in document.addressed if item.index in taken]
    nodes += [node for node, _, _, kind in document.placed if kind]
    for node in nodes:
        ours.add(node.start)
        for start, end in node.own_ranges():
            ours.update(range(start, end))
    for group in document.groups:
        if group.heading and (key(group.title) in titles or key(group.title) in tasks):
            ours.update(range(group.heading.start, group.heading.end))
        for section in group.sections:
            known = section.task is not None or key(section.title) in sections
            if section.heading and known:
                ours.update(range(section.heading.start, section.heading.end))
    not_theirs = {f"scope: {group.title}" for group in document.groups} | {"### rollout_summary_files", "### keywords"}
    return [
        bare
        for n, (line, _) in enumerate(document.lines)
        if n not in ours and (bare := line.strip()) and bare not in not_theirs and _WORD.search(_OURS.sub("", line))
    ]


def in_view(data: bytes) -> list[str]:
    """The lines around the block of the summary or of the inbox that are a person's."""
    parts = split(data)
    return [line.strip() for line in (_unheaded(parts.before) + "\n" + parts.after).splitlines() if _WORD.search(line)]


def lost(kept: bytes, found: bytes, own: Callable[[], Sequence[str]]) -> list[str]:
    """The lines of a person that stood in `kept` and stand nowhere in `found`, changed or wrapped otherwise."""
    text = found.decode("utf-8", "surrogateescape")
    there = {key(line) for line in text.splitlines()}
    before = kept.decode("utf-8", "surrogateescape").splitlines()
    if all(key(line) in there or _OURS.search(line) or not _WORD.search(line) for line in before):
        return []
    whole, old = key(text), {key(line) for line in before}
    gone = [line for line in own() if not _stands(key(line), there, whole)]
    if not gone or len(gone) > COMPARED:
        return gone
    fresh = [line for line in text.splitlines() if key(line) not in old and not _OURS.search(line)]
    if len(fresh) <= COMPARED:
        for line in [*gone]:
            like = next((new for new in fresh if SequenceMatcher(None, line, new.strip()).ratio() >= ALIKE), None)
            if like is not None:
                gone.remove(line)
                fresh.remove(like)
    return gone


@lru_cache(maxsize=1 << 16)
def key(text: str) -> str:
    """The words of a line, by which it is the same however it is set."""
    return " ".join(_WORD.findall(text.casefold()))


def _stands(words: str, there: Collection[str], whole: str) -> bool:
    if words in there:
        return True
    return (words.count(" ") + 1 >= WORDS or len(words) >= LETTERS) and words in whole


def _marker(data: bytes) -> int | None:
    block = split(data).block
    return block.ordinal if block else Document.parse(data).marker


def _kept_lines(text: str, known: Collection[str] | None) -> Iterator[str]:
    """The lines of a twin that may come back; no question: its tick would be an answer that nobody gave."""
    for line in text.splitlines(keepends=True):
        if "^p-" in line or "^m-" in line or "<!--" in line:
            continue
        if known is None or not line.strip() or briefing.digest(line) in known:
            yield line


def _unheaded(text: str) -> str:
    return text.replace("\r\n", "\n").removeprefix("\ufeff").removeprefix(commit.INBOX_HEAD)


async def room(workspace: Workspace, steps: Sequence[Append | Replace | Remove]) -> list[Remove]:
    """The steps that remove the oldest copies of a file where one more is to be written, so that `MOST` are left."""
    found: list[Remove] = []
    for path in [step.path for step in steps if _COPY.search(step.path)]:
        folder, name = posixpath.split(_COPY.sub(".saved-", path))
        there = (await workspace.look([], [folder])).folders.get(folder, {})
        copies = sorted(each for each in there if each.startswith(name) and _COPY.search(each))
        found += [Remove(f"{folder}/{each}") for each in copies[: max(0, len(copies) - MOST + 1)]]
    return found
