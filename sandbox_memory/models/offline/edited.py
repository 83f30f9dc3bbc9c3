"""Files that calls changed, and the line that was put in or that replaced another."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import pairwise

from ...governance.speech.sentences import Sentence
from . import commands
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
    r"(?P<quote>['\"])(?:[\d,$]+ ?|/[^/\n]+/ ?)?s(?P<by>[/#|@,])\^?"
    r"(?P<old>(?:\\.|(?!(?P=by)).)+)(?P=by)(?P<new>(?:\\.|(?!(?P=by)).)*)(?P=by)\w*(?P=quote)"
    r"\s+(?P<path>[\w./~@+-]+)"
)
_SED_INSERT = re.compile(
    r"(?P<quote>['\"])(?:[\d,$]+|/[^\n]+?/) ?[iac] ?\\*(?:\n|\s)*(?P<new>\S[^\n]*?)(?:\\n[^\n]*?)?(?P=quote)"
    r"\s+(?P<path>[\w./~@+-]+)"
)
_PATTERN = re.compile(r"[\\*\[\]^$]|\.\*")
_IN_NEW = re.compile(r"&|\\[A-Za-z0-9]")
_BREAK = re.compile(r"\\n\s*")
_RANGE = re.compile(r"edit \d+:\d+[ \t]*\n")
_OPENED = re.compile(r"\[File: (?P<path>\S[^\n]*?) \(\d+ lines")
_HUNK = re.compile(r"^@@ ", re.MULTILINE)
_IMPORTS = re.compile(r"(?:import|from|use|using|require|#include|package)\b|[@#]")
_COMMENT = re.compile(r"#|//|/?\*|--")
_ELSEWHERE = frozenset("curl wget cat head tail less more grep rg gh".split())


@dataclass(frozen=True)
class Change:
    """A changed file: where its path stands, and where a line of the change does, if it is short.

    `old` is the line that `new` was put for; without it `new` was put in, or only its wording is known. `more` is true
    if that is not all that changed. `path_shown` and `lines_shown` are true for what stands in the call's output.
    """

    path: Sentence
    old: Sentence | None = None
    new: Sentence | None = None
    more: bool = False
    added: bool = False
    path_shown: bool = False
    lines_shown: bool = False


def changes(call: Call) -> Iterator[Change]:
    """The files that a call changed, if it worked."""
    if not call.worked:
        return
    if call.output is not None and not _shows_others(call):
        for change in in_diff(call.output.text):
            yield replace(change, path_shown=True, lines_shown=True)
    yield from in_diff(call.item.text)
    yield from _by_arguments(call)
    yield from _by_command(call)


def removed(calls: Sequence[Call], path: str) -> bool:
    """True if one of the calls removes the file: it only served to try something."""
    lines = (line for call in calls if call.command and not call.is_code for line in call.lines)
    found = (step for line in lines for step in commands.steps(line.text))
    return any(step.program == "rm" and any(_holds(word, path) for word in step.words) for step in found)


def _holds(word: str, path: str) -> bool:
    """True if the word names the file, a pattern of it, or a folder that it is in."""
    return same_file(word, path) or path.startswith(word.rstrip("/") + "/") or ("*" in word and fnmatch(path, word))


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
        yield _with_lines(Change(path), *_lines_of_diff(text, head.end(), end))


def _lines_of_diff(text: str, start: int, end: int) -> tuple[list[Sentence], list[Sentence]]:
    lines = list(_CHANGED_LINE.finditer(text, start, end))
    olds = [Sentence(line["line"], line.start("line")) for line in lines if line["sign"] == "-"]
    return olds, [Sentence(line["line"], line.start("line")) for line in lines if line["sign"] == "+"]


def _with_lines(change: Change, olds: list[Sentence], news: list[Sentence]) -> Change:
    """The change with the first line that was put for another like it, else with the first that was put in."""
    olds = [line for line in olds if _WORD.search(line.text)]
    telling = [line for line in news if _WORD.search(line.text) and not _COMMENT.match(line.text)] or news
    telling = [line for line in telling if not _IMPORTS.match(line.text)] or telling
    alone = len(olds) == len(telling) == 1
    every = ((old, new) for new in telling for old in olds)
    pairs = ((old, new) for old, new in every if alone or (_alike(old.text, new.text) and _short(old, new)))
    old, new = next(pairs, (None, None))
    if old is not None and new is not None:
        after = old.start < new.start and _short(old, new)
        return replace(change, old=old if after else None, new=new, more=not alone) if _short(new) else change
    if olds or not telling or not _short(telling[0]):
        return change
    return replace(change, new=telling[0], more=len(telling) > 1, added=True)


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
    texts = [value for value in values if value != path and _WORD.search(value)]
    pair = next(((old, new) for old, new in pairwise(texts) if _alike(old, new)), None)
    if pair is not None:
        yield _with_lines(Change(where), *_replaced(call.item.text, *pair))
    elif call.output is not None and _HUNK.search(call.output.text):
        found = _with_lines(Change(where), *_lines_of_diff(call.output.text, 0, len(call.output.text)))
        yield replace(found, lines_shown=True)
    elif any("\n" in value for value in texts):
        yield Change(where)


def _replaced(text: str, old: str, new: str) -> tuple[list[Sentence], list[Sentence]]:
    """The lines that one text has and the other not, where they stand in the call's text."""
    mine, theirs = ([line.strip() for line in part.split("\n")] for part in (old, new))
    olds, news = [], []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if kind != "equal":
            olds += [found for line in mine[a:b] if (found := _find(text, line))]
            news += [found for line in theirs[c:d] if (found := _find(text, line, last=True))]
    return olds, news


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
            path, old, new = (call.body.part(match.start(name), match.end(name)) for name in ("path", "old", "new"))
            yield _put_for(path, old, new, match["by"])
        for match in _SED_INSERT.finditer(text):
            path, new = (call.body.part(match.start(name), match.end(name)) for name in ("path", "new"))
            yield Change(path, None, new, added=True) if _short(new) else Change(path)
    yield from _by_range(call, call.body)


def _put_for(path: Sentence, old: Sentence, new: Sentence, by: str) -> Change:
    """The change that `s/old/new/` makes: of a new text of several lines its first."""
    lines = [part for part in _BREAK.split(new.text) if part.strip()]
    first = new.part(new.text.find(lines[0]), new.text.find(lines[0]) + len(lines[0])) if lines else new
    bare = first.text.replace("\\" + by, "")
    if not bare or _IN_NEW.search(bare) or not _short(old, first):
        return Change(path)
    more, added = len(lines) > 1, old.text in ("$", "^")
    return Change(
        path, None if _PATTERN.search(old.text.replace("\\" + by, "")) else old, first, more=more, added=added
    )


def _by_range(call: Call, body: Sentence) -> Iterator[Change]:
    """`edit FIRST:LAST` with new lines, of the file whose name the output has: an editor that keeps a file open."""
    opened = _OPENED.search(call.output.text) if call.output else None
    ranged = _RANGE.match(body.text[:LOOKED_AT])
    if opened is None or ranged is None:
        return
    found = [body.part(m.start(), m.end()) for m in re.compile(r"[^\n]+").finditer(body.text, ranged.end(), LOOKED_AT)]
    lines = [line for line in found if line.text]
    lines = lines[:-1] if lines and re.fullmatch(r"[a-z_]+", lines[-1].text) else lines
    change = Change(Sentence(opened["path"], opened.start("path")), path_shown=True)
    yield replace(_with_lines(change, [], lines), added=False)


def _find(text: str, part: str, *, last: bool = False) -> Sentence | None:
    start = (text.rfind(part) if last else text.find(part)) if part else -1
    return Sentence(part, start) if start >= 0 else None


def goes_on(one: Change, two: Change) -> bool:
    """True if the second change of a file is made where the first was; false if it tells less than that."""
    if one.new is None or two.new is None:
        return one.new is None
    if two.path_shown and two.lines_shown:
        return True  # a diff of all that was done
    return any(_alike(mine.text, two.new.text) or mine.text == two.new.text for mine in (one.new, one.old) if mine)


def same_file(one: str, two: str) -> bool:
    """True if both paths may name one file, one of them from a folder further in."""
    mine, theirs = one.split("/"), two.split("/")
    shorter = min(len(mine), len(theirs))
    return mine[-shorter:] == theirs[-shorter:]
