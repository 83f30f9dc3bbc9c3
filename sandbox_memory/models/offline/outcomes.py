"""What became of the task: the files that were changed, how that was seen to work, or where it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...governance.grounding import ungrounded
from ...governance.speech.sentences import Sentence
from ...records import Item, Kind
from .. import MemoryDraft, QuoteDraft
from . import commands, comparing, edited, outputs, retries
from .reading import MOST_CHARACTERS, Found, Reading, code, flat, quote, said_to_be
from .tools import COMMAND_WORDS, Call

JOINT_WORDS = 44
"""Words up to which a change is told in one line with what a command showed before and after it."""


@dataclass(frozen=True)
class Check:
    """How the work was seen to be done: a command, its last run and, if that showed something else, one before."""

    command: Sentence
    last: Call
    after: Sentence
    first: Call | None = None
    before: Sentence | None = None

    def told(self) -> tuple[str, list[QuoteDraft]]:
        """The end of a line about a change, with its quotes."""
        quotes = [quote(self.last.segment, self.last.item, self.command)]
        text = f"; {code(self.command.text)} then showed {code(self.after.text)}"
        if self.first is not None and self.first.output is not None and self.before is not None:
            text = f"; {code(self.command.text)} showed {code(self.before.text)} before, {code(self.after.text)} after"
            quotes.append(quote(self.first.segment, self.first.output, self.before))
        return text, [*quotes, quote(self.last.segment, self.last.output or self.last.item, self.after)]


def outcome(reading: Reading) -> Found:
    """What became of the task: the files that were changed, and how that was seen to work; or where it ended."""
    memories, _ = of_changes(reading)
    yield from ((3, memory) for memory in memories)
    if not memories:
        yield from _ended(reading)


def of_changes(reading: Reading) -> tuple[list[MemoryDraft], Check | None]:
    """The changes, the last with how it was seen to work if that can be said with it, and what was said so."""
    changed, memories, told = _changed(reading), list[MemoryDraft](), None
    checked = _checked(reading, changed)
    for place, (call, change) in enumerate(changed):
        check = checked if place == len(changed) - 1 else None
        after = replace(check, first=None, before=None) if check else None
        bare = replace(change, old=None, new=None)
        tries = [(each, seen) for each in (change, bare) for seen in (check, after, None)]
        for shown, seen in tries if change.new is not None or check or len(changed) == 1 else ():
            memory = _told_change(reading, call, shown, seen)
            quoted = [each.text for each in memory.quotes]
            short = seen is None or seen.first is None or len(memory.text.split()) <= JOINT_WORDS
            if short and len(memory.text) <= MOST_CHARACTERS and not ungrounded(memory.text, quoted):
                memories.append(memory)
                told = seen
                break
    return memories, told


def _told_change(reading: Reading, call: Call, change: edited.Change, check: Check | None) -> MemoryDraft:
    text, quotes = _change(call, change)
    end, more = check.told() if check else ("", [])
    return _task(reading, text + end, [*quotes, *more])


def _change(call: Call, change: edited.Change) -> tuple[str, list[QuoteDraft]]:
    """The changed file with the line that was put in or for another, and the quotes for it."""

    def item(shown: bool) -> Item:
        return call.output if shown and call.output else call.item

    lines = item(change.lines_shown)
    quotes = [quote(call.segment, item(change.path_shown), change.path)]
    text = f"changed {code(change.path.text)}"
    if change.new is None:
        return text, quotes
    if change.old is None:
        text += f" {'with' if change.added else 'to'} {code(change.new.text)}"
        text += " and other lines" if change.more else ""
        return text, [*quotes, quote(call.segment, lines, change.new)]
    if change.new.end - change.old.start <= MOST_CHARACTERS:
        both = lines.text[change.old.start : change.new.end]
        quotes.append(quote(call.segment, lines, Sentence(both, change.old.start)))
    else:
        quotes += [quote(call.segment, lines, change.old), quote(call.segment, lines, change.new)]
    text += f" from {code(change.old.text)} to {code(change.new.text)}"
    return text + (" and other lines" if change.more else ""), quotes


def _changed(reading: Reading) -> list[tuple[Call, edited.Change]]:
    """The last change of each file, those left out that were removed again or only served to try something."""
    kept: list[tuple[Call, edited.Change]] = []
    for call in reading.calls:
        taken_back = commands.reverts(call.command.text) if call.command and call.worked else ()
        kept = [each for each in kept if not any(edited.same_file(word, each[1].path.text) for word in taken_back)]
        for change in edited.changes(call):
            path = change.path.text
            if retries.is_scratch(path, reading.calls):
                continue
            same = [entry for entry in kept if edited.same_file(entry[1].path.text, path)]
            if not same:
                kept.append((call, change))
            elif edited.goes_on(same[0][1], change):
                kept[kept.index(same[0])] = (call, change)
    return kept


def _checked(reading: Reading, changed: Sequence[tuple[Call, edited.Change]]) -> Check | None:
    """The last command whose result changed with the files, else the last that says all is well or runs such a file."""
    if not changed:
        return None
    since = min(_first_change(reading, change).place for _, change in changed)
    later = [call for call in reading.calls[since + 1 :] if call.worked and _can_show(call)]
    for last in reversed(later):
        runs = comparing.runs_of(reading, last.command) if last.command else []
        earlier = [run for run in runs if run.place < since and comparing.told(run) != comparing.told(last)]
        before, after = comparing.difference(earlier[-1], last) if earlier else (None, None)
        if last.command and before and after and flat(before.text) != flat(after.text):
            return Check(last.command, last, after, earlier[-1], before)
    found = [each for each in comparing.compared(reading) if each[1].place > since]
    for command, last, _, _, after in sorted(found, key=lambda each: -each[1].place):
        if not comparing.is_scratch(reading, command.text):
            return Check(command, last, after)
    for call in reversed(reading.calls[since + 1 :]):
        if (
            call.worked
            and call.command
            and call.result
            and any(_runs_file(call, each.path.text) for _, each in changed)
        ):
            return Check(call.command, call, call.result)
    return None


def _can_show(call: Call) -> bool:
    """True for a command that was run by itself to see something."""
    return (
        call.command is not None and call.alone and not call.looks and len(call.command.text.split()) <= COMMAND_WORDS
    )


def _first_change(reading: Reading, change: edited.Change) -> Call:
    """The first call that changed the file, or that had the new line in it: some editors keep a file open."""
    for call in reading.calls:
        if call.worked and not call.looks and change.new is not None and change.new.text in call.item.text:
            return call
        if any(edited.same_file(each.path.text, change.path.text) for each in edited.changes(call)):
            return call
    return reading.calls[-1]


def _runs_file(call: Call, path: str) -> bool:
    """True for a command that runs that file."""
    if call.command is None or call.is_code or not call.alone or not commands.runs(call.command.text):
        return False
    return any(edited.same_file(word, path) for step in commands.steps(call.command.text) for word in step.words)


def _ended(reading: Reading) -> Found:
    """Where work ended that was not done: the last failure that nothing cured, with the words of the tool."""
    last = reading.calls[-1] if reading.calls else None
    if last is None or last.failure is None or last.output is None or last.body is None or last.looks:
        return
    name = retries.named(last)
    if name is None:
        return
    error = outputs.first_clause(last.failure)
    text = f"{code(name.text)} still failed at the end: {said_to_be(error.text)}"
    yield 2, _task(reading, text, [quote(last.segment, last.item, name), quote(last.segment, last.output, error)])


def _task(reading: Reading, text: str, quotes: list[QuoteDraft]) -> MemoryDraft:
    if reading.task_quote and len(text) + len(reading.task) <= MOST_CHARACTERS:
        text, quotes = f"{reading.task}: {text}", [reading.task_quote, *quotes]
    return MemoryDraft(kind=Kind.TASK.value, text=text, quotes=quotes)
