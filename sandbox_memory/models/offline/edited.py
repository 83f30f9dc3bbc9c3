"""Files that calls changed, and the line that replaced another where that is all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from . import commands
from .sentences import Sentence
from .tools import Call

LOOKED_AT = 100_000
PAIR_WORDS = 40

_DIFF_FILE = re.compile(
    r"^(?:\+\+\+ (?:b/)?|\*\*\* (?:Update|Add|Delete) File: )(?P<path>\S[^\n\t]*?)[ \t\r]*$", re.MULTILINE
)
_CHANGED_LINE = re.compile(r"^(?P<sign>[-+])(?!--|\+\+)[ \t]*(?P<line>\S[^\n]*?)[ \t\r]*$", re.MULTILINE)
_PATH = re.compile(r"[\w.~@+-]*(?:/[\w.@+-]+)*[\w@+-]\.\w+|[\w.~@+-]*(?:/[\w.@+-]+)+")
_WORD = re.compile(r"\w+")
_HEREDOC = re.compile(
    r"(?:cat|tee)\b[^\n]*?(?:>+ ?|tee (?:-a )?)(?P<path>[\w./~@+-]+)[^\n]*<<|<<-?\s*\S+\s*>+ ?(?P<after>[\w./~@+-]+)"
)
_SED = re.compile(
    r"(?P<quote>['\"])s(?P<by>[/#|@,])\^?(?P<old>.+?)(?P=by)(?P<new>.*?)(?P=by)\w*(?P=quote)\s+(?P<path>[\w./~@+-]+)"
)
_PATTERN = re.compile(r"[\\*\[\]()+?^$]|\.\*")
_COMMENT = re.compile(r"#|//|/?\*|--")
_ELSEWHERE = frozenset("curl wget cat head tail less more grep rg gh".split())


@dataclass(frozen=True)
class Change:
    """A changed file: where its path stands, and where a replaced line and its replacement do, if they are short."""

    path: Sentence
    old: Sentence | None = None
    new: Sentence | None = None


def changes(call: Call) -> Iterator[tuple[bool, Change]]:
    """The files that a call changed, if it worked; the flag is true for what stands in its output."""
    if call.output is None or not call.worked:
        return
    if not _shows_others(call):
        yield from ((True, change) for change in in_diff(call.output.text))
    yield from ((False, change) for change in (*in_diff(call.item.text), *_by_arguments(call), *_by_command(call)))


def _shows_others(call: Call) -> bool:
    """True for a command that shows what is not its own work: a file, a page, an old commit."""
    found = commands.steps(call.command.text) if call.command else ()
    return any(
        step.program in _ELSEWHERE or (step.program == "git" and {"show", "log", "stash"} & set(step.bare[:1]))
        for step in found
    )


def in_diff(text: str) -> Iterator[Change]:
    """The files that a diff or a patch in this text changes."""
    text = text[:LOOKED_AT]
    if "+++ " not in text and "*** " not in text:
        return
    heads = [head for head in _DIFF_FILE.finditer(text) if head["path"] != "/dev/null"]
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
        path = Sentence(head["path"], head.start("path"))
        yield Change(path, *(_pair(text, head.end(), end) or (None, None)))


def _pair(text: str, start: int, end: int) -> tuple[Sentence, Sentence] | None:
    """The line that a diff takes out and the one that it puts there, if that is all it changes, comments aside."""
    lines = list(_CHANGED_LINE.finditer(text, start, end))
    olds = [Sentence(line["line"], line.start("line")) for line in lines if line["sign"] == "-"]
    news = [Sentence(line["line"], line.start("line")) for line in lines if line["sign"] == "+"]
    news = [line for line in news if not _COMMENT.match(line.text)] or news
    if len(olds) != 1 or len(news) != 1 or olds[0].start > news[0].start:
        return None
    return (olds[0], news[0]) if _short(olds[0], news[0]) else None


def _short(*lines: Sentence) -> bool:
    return sum(len(line.text.split()) for line in lines) <= PAIR_WORDS


def _by_arguments(call: Call) -> Iterator[Change]:
    """What an edit tool was given: a path, and an old and a new text that are alike, or a text of several lines.

    Told by the values: every such tool has other names for them.
    """
    values = [value.strip() for value in call.args.values() if isinstance(value, str) and value.strip()]
    path = next((value for value in values if _PATH.fullmatch(value)), "")
    where = _find(call.item.text, path)
    if where is None or call.body is not None:
        return
    texts = [value for value in values if value != path and len(_WORD.findall(value)) > 1]
    pair = next(((old, new) for old, new in pairwise(texts) if _alike(old, new)), None)
    if pair is None or "\n" in pair[0] or "\n" in pair[1]:
        if pair or any("\n" in value for value in texts):
            yield Change(where)
        return
    before, after = _find(call.item.text, pair[0]), _find(call.item.text, pair[1], last=True)
    paired = before and after and before.end <= after.start and _short(before, after)
    yield Change(where, before, after) if paired else Change(where)


def _alike(one: str, two: str) -> bool:
    mine, theirs = set(_WORD.findall(one)), set(_WORD.findall(two))
    return 2 * len(mine & theirs) >= min(len(mine), len(theirs)) and one != two


def _by_command(call: Call) -> Iterator[Change]:
    """What a shell wrote: a here-document, or one line put for another with sed."""
    if call.body is None or call.is_code:
        return
    text = call.body.text[:LOOKED_AT]
    for match in _HEREDOC.finditer(text):
        group = "path" if match["path"] else "after"
        yield Change(call.body.part(match.start(group), match.end(group)))
    if re.search(r"\bsed\s+(?:-\w+\s+)*-\w*i", text):
        for match in _SED.finditer(text):
            parts = [call.body.part(match.start(name), match.end(name)) for name in ("path", "old", "new")]
            path, old, new = parts
            if not new.text or _PATTERN.search(new.text) or not _short(old, new):
                yield Change(path)
            else:
                yield Change(path, None if _PATTERN.search(old.text) else old, new)


def _find(text: str, part: str, *, last: bool = False) -> Sentence | None:
    start = (text.rfind(part) if last else text.find(part)) if part else -1
    return Sentence(part, start) if start >= 0 else None


def same_file(one: str, two: str) -> bool:
    """True if both paths may name one file, one of them from a folder further in."""
    mine, theirs = one.split("/"), two.split("/")
    shorter = min(len(mine), len(theirs))
    return mine[-shorter:] == theirs[-shorter:]
