"""Whether a memory answers what the second of two conversations came upon, by rules that a reader can check.

What a memory shows, each counted apart:

- injected: the list items of `Pipeline.briefing()`, which is what an agent finds in its prompt.
- by account: the lines of `MEMORY.md` that begin with the name of an account (a digit, `_` or `@` is in it) that had
  been used before the event.
- by words: the lines of `MEMORY.md` that hold, together with the title of their task group, two words of content or
  more of what the customer said first; the twenty with the most of them.

One line has to answer alone. A line that begins with an account's name answers only after that name had been used in
the conversation, and what a customer without a name said of themselves answers nobody. And:

- what a customer could not name: the line names its argument (`reservation_id`, "reservation ID"), and a tool of which
  the conversations show that it finds it, and that does not ask for it itself; no word of negation stands in the line.
- which call shows something: the line names that call's tool and the argument, under the same conditions.
- the value itself: the line holds the value that the argument was given last, and begins with the account.
- an error: the line names the tool and has the words of the error, adjacent and in order, values (words with a digit)
  left out on both sides.
- its cure: such a line names after these words every argument by which the next call of the tool that worked differs.
- a correction: the line has every word of content and every number of the clause, stemmed; they are half of the line's
  own at least; and both or neither have a word of negation. Words of courtesy and talk (`twice.TALK`) are no content.

Beside these is counted what trial 0 could have told at all: a call of any first conversation finds that argument; the
first conversation of the task has that value, or a clause that would answer as a line does; in any first conversation
that tool had that error, and worked afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import copyfile

from sandbox_memory import open_memory
from sandbox_memory.document import Document
from sandbox_memory.layout import Layout
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.records import Kind
from sandbox_memory.sameness import said
from sandbox_memory.workspace.local import LocalWorkspace

from .kit import run
from .twice import Conversation, Event, content, denies, error_words, found_by, spoken, steady, takes, then_worked

MOST = 20
"""How many lines a reader of a search looks at."""

_OWNER = re.compile(r"(?=[\w.@-]*[\d_@])[\w.@-]+(?=: )")


@dataclass(frozen=True)
class Line:
    """One list item, the title of the task group that it stands in, and whether a customer said it of themselves."""

    text: str
    group: str = ""
    own: bool = False

    @cached_property
    def account(self) -> str:
        """The account that it begins with; empty if with none."""
        found = _OWNER.match(self.text)
        return found[0] if found else ""

    @cached_property
    def said(self) -> str:
        """Without that."""
        return self.text.removeprefix(f"{self.account}: ") if self.account else self.text

    def concerns(self, known: frozenset[str]) -> bool:
        """Whether it is said of everybody, or of an account that is known."""
        return self.account.casefold() in known if self.account else not self.own


@dataclass(frozen=True)
class Memory:
    """What a memory holds: the lines that it injects, and those of `MEMORY.md`."""

    injected: tuple[Line, ...]
    handbook: tuple[Line, ...]

    def by_account(self, known: frozenset[str]) -> tuple[Line, ...]:
        """The lines under an account that is known."""
        return tuple(line for line in self.handbook if line.account and line.concerns(known))

    def by_words(self, text: str) -> tuple[Line, ...]:
        """The lines that share most words with a text, two at least."""
        wanted = content(text)
        shared = [
            (len(wanted & content(f"{line.group} {line.text}")), -number) for number, line in enumerate(self.handbook)
        ]
        best = sorted((each for each in shared if each[0] > 1), reverse=True)[:MOST]
        return tuple(self.handbook[-number] for _, number in best)


def remembered(conversations: Iterable[Conversation], root: Path, preset: str) -> Memory:
    """The memory that the built-in model makes of these conversations, in a workspace at `root`."""
    (root / "sessions").mkdir(parents=True)
    for conversation in conversations:
        copyfile(conversation.path, root / "sessions" / conversation.path.name)
    with open_memory(root, preset=preset) as memory:
        memory.process("offline")
        audience = memory.layout.preset.audience
        own = {
            record.id for record in memory.records() if record.kind is Kind.PREFERENCE or said(record, audience).owner
        }
        handbook = tuple(Line(item.text, item.group, item.id in own) for item in memory.items() if item.id)
    pipeline = Pipeline(LocalWorkspace(root), Layout.of("memories", "sessions", preset))
    briefing = Document.parse(run(pipeline.briefing()).encode())
    return Memory(tuple(Line(item.text) for item in briefing.items), handbook)


@dataclass(frozen=True)
class Tools:
    """What the conversations show of the tools: the arguments that each takes, and which values each finds."""

    takes: Mapping[str, frozenset[str]]
    finds: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, conversations: Sequence[Conversation]) -> Tools:
        """Of all these conversations."""
        finds = frozenset(way for conversation in conversations for way in found_by(conversation))
        return cls(takes(conversations), finds)

    def way_to(self, argument: str, line: Line) -> bool:
        """Whether the line names that argument and a tool that finds it."""
        return any(self.shows(tool, argument, line) for tool, found in self.finds if found == argument)

    def shows(self, tool: str, argument: str, line: Line) -> bool:
        """Whether the line says that this tool shows that argument."""
        if argument in self.takes.get(tool, ()) or denies(line.text):
            return False
        return has_name(tool, line.text) and bool(re.search(rf"\b{spoken(argument)}", line.text, re.IGNORECASE))


def has_name(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word."""
    return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))


def names_way(event: Event, line: Line, tools: Tools) -> bool:
    """For what a customer could not name, and for a call that found something."""
    if not event.tool:
        return tools.way_to(event.argument, line)
    return tools.shows(event.tool, event.argument, line)


def has_value(event: Event, line: Line, tools: Tools) -> bool:
    """For a call that found something: the line has it."""
    return bool(line.account) and all(has_name(value, line.said) for value in event.values)


def tells_error(event: Event, line: Line, tools: Tools) -> bool:
    """For an error."""
    return has_name(event.tool, line.text) and after_error(event, line) is not None


def tells_cure(event: Event, line: Line, tools: Tools) -> bool:
    """For an error after which the call worked."""
    rest = after_error(event, line) or ""
    return tells_error(event, line, tools) and all(has_name(name, rest) for name in event.changed)


def after_error(event: Event, line: Line) -> str | None:
    """What follows the words of the error in a line; None if they do not stand there."""
    words = [(match.group().casefold(), match.end()) for match in re.finditer(r"\w+", line.text)]
    words = [(word, end) for word, end in words if steady(word)]
    size = len(event.error)
    for start in range(len(words) - size + 1) if size else ():
        if tuple(word for word, _ in words[start : start + size]) == event.error:
            return line.text[words[start + size - 1][1] :]
    return None


def covers(event: Event, line: Line, tools: Tools) -> bool:
    """For a correction."""
    return covered(event.text, line.said)


def covered(clause: str, text: str) -> bool:
    """Whether a text has all the content of a clause, and denies as it does."""
    wanted, found = content(clause), content(text)
    return wanted <= found and 2 * len(wanted) >= len(found) and denies(clause) == denies(text)


Rule = Callable[[Event, Line, Tools], bool]


def answer(event: Event, lines: Iterable[Line], rule: Rule, tools: Tools) -> Line | None:
    """The first of the lines that answers; None if none does."""
    for line in lines:
        if line.concerns(event.known) and rule(event, line, tools):
            return line
    return None


def firsts_tell(event: Event, rule: Rule, first: Conversation, firsts: Sequence[Conversation]) -> bool:
    """Whether the first conversations could have told it at all: `first` of the same task, `firsts` of every task."""
    if rule is names_way:
        ways = {way for each in firsts for way in found_by(each)}
        return any(argument == event.argument and event.tool in ("", tool) for tool, argument in ways)
    if rule is has_value:
        texts = [f"{step.text} {json.dumps(step.args)}" for step in first.steps]
        return any(has_name(value, text) for value in event.values for text in texts)
    if rule is covers:
        return any(covered(event.text, clause) for _, clause in first.clauses)
    failed = [(each, step) for each in firsts for step in each.calls if step.tool == event.tool and step.error]
    same = [(each, step) for each, step in failed if error_words(step.error) == event.error]
    if rule is tells_cure:
        return any(then_worked(step, each) is not None for each, step in same)
    return bool(same)
