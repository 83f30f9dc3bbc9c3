"""Memories of what tools showed: calls that failed and what then worked, results, changed files, how it came out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...records import Item, Kind
from .. import MemoryDraft, QuoteDraft
from . import commands, edited, failing, outputs, retries
from .reading import Found, Reading, code, flat, quote, said_to_be
from .sentences import Sentence
from .tools import COMMAND_WORDS, Call

MOST_CHARACTERS = 480
"""What is longer is given up, not cut: it is data, not a line."""

_ONLY_NOW = re.compile(
    r"\b(?:just|only) (?:this|for this) (?:time|once)\b|\bjust this once\b|\bthis once\b|仅此一次|就这一次|只这一次",
    re.IGNORECASE,
)
_LOG = re.compile(r"\blogs?\b|\bjournalctl\b|\bdmesg\b|\.log\b|\bevents\b|\bdescribe\b")
_STAMP = re.compile(r"^.*?\d{1,2}:\d{2}(?::\d{2})?\S*\s+(?:\S+ \S*\[\d+\]: |\S+\[\d+\]: |\[\d+\]\s*)?")


def failed(reading: Reading) -> Found:
    """Calls that failed, in their own words, and what then worked."""
    told = {flat(command.text) for command, _, first, _ in _compared(reading) if first is not None}
    seen: set[tuple[str, str]] = set()
    for call in reading.calls:
        if call.failure is None or call.output is None or (call.body is not None and _only_reads_files(call)):
            continue
        cure = retries.cure(call, reading.calls[call.place + 1 :])
        if cure is None and call.body is None and failing.is_of_now(call.failure.text):
            continue
        if call.command and flat(call.command.text) in told and not (cure and _made_way(cure)):
            continue
        error = outputs.first_clause(call.failure)
        name = _name(call, cure)
        # The same fault again in another place or with another sign is the same lesson.
        fault = (name.text if name else "", " ".join(re.findall(r"[^\W\d_]+", error.text)))
        if fault in seen:
            continue
        seen.add(fault)
        quotes = [*([quote(call.segment, call.item, name)] if name else []), quote(call.segment, call.output, error)]
        text = _lesson(name, error)
        if cure is None:
            text, quotes = _with_cause(call, reading, text, quotes)
        elif len(text) + len(cure.text) <= MOST_CHARACTERS:
            text, quotes = text + cure.text, [*quotes, *cure.quotes]
        if len(text) <= MOST_CHARACTERS:
            yield 4 if cure else 2, MemoryDraft(kind=Kind.LESSON.value, text=text, quotes=quotes)


def emptied(reading: Reading) -> Found:
    """Calls that came back with nothing, and the same with another setting that did not."""
    for call in reading.calls:
        nothing = outputs.nothing(call.output.text) if call.output is not None and call.worked else None
        cure = retries.filled(call, reading.calls[call.place + 1 :]) if nothing else None
        if call.output is None or nothing is None or cure is None or not cure.text:
            continue
        name = _name(call, cure)
        if name is not None:
            quotes = [quote(call.segment, call.item, name), quote(call.segment, call.output, nothing), *cure.quotes]
            text = f"{code(name.text)} showed {code(nothing.text)}{cure.text}"
            yield 3, MemoryDraft(kind=Kind.LESSON.value, text=text, quotes=quotes)


def _made_way(cure: retries.Cure) -> bool:
    """True if something else had to be done first, which is worth more than what the command showed."""
    return cure.text.startswith("; worked after")


def _only_reads_files(call: Call) -> bool:
    """True for a look at files that went wrong: a path that was guessed."""
    found = commands.steps(call.command.text) if call.command and not call.is_code else ()
    return bool(found) and all(step.looks and step.program in commands.FILE_LOOKERS for step in found)


def _name(call: Call, cure: retries.Cure | None) -> Sentence | None:
    """What names a failed call: its command; of a program the line that was wrong; else the tool."""
    if call.body is not None and (call.is_code or not call.alone) and cure is not None:
        pair = retries.changed_line(call, cure.call)
        if pair is not None and (call.is_code or pair[0].text == call.lines[0].text):
            return outputs.within(pair[0], COMMAND_WORDS)
    if call.is_code and not call.alone and call.output is not None:
        shown = next((line for line in reversed(call.lines) if line.text in call.output.text), None)
        if shown is not None:
            return outputs.within(shown, COMMAND_WORDS)
        start = call.item.text.find(call.name) if call.name else -1
        return Sentence(call.name, start) if start >= 0 else None
    return retries.named(call)


def _lesson(name: Sentence | None, error: Sentence) -> str:
    return f"{code(name.text)} failed: {said_to_be(error.text)}" if name else said_to_be(error.text)


def _with_cause(call: Call, reading: Reading, text: str, quotes: list[QuoteDraft]) -> tuple[str, list[QuoteDraft]]:
    """With what a log that was read right after says, where the failure itself is not cured."""
    for other in reading.calls[call.place + 1 : call.place + 4]:
        if other.command is None or other.output is None or not other.looks or not _LOG.search(other.command.text):
            continue
        if call.command is None or not commands.about(call.command.text) & commands.about(other.command.text):
            continue
        found = log_line(other)
        if found is not None:
            command = outputs.within(other.command, COMMAND_WORDS)
            told = f"; {code(command.text)} showed {said_to_be(found.text)}"
            if len(text) + len(told) <= MOST_CHARACTERS:
                shown = [quote(other.segment, other.item, command), quote(other.segment, other.output, found)]
                return text + told, [*quotes, *shown]
    return text, quotes


def log_line(call: Call) -> Sentence | None:
    """The first line of a log that speaks of a failure, without its time and process."""
    if call.output is None:
        return None
    for line in outputs.shown(call.output.text).lines:
        if failing.complains(line.text):
            stamp = _STAMP.match(line.text)
            return outputs.within(
                line.part(stamp.end() if stamp and stamp.end() < len(line.text) else 0), failing.ERROR_WORDS
            )
    return None


# ---------------------------------------------------------------- results


def shown(reading: Reading) -> Found:
    """Commands with what they showed; one that showed something else later, with both.

    What cured a failure is told there.
    """
    cures = [(call, retries.cure(call, reading.calls[call.place + 1 :])) for call in reading.calls]
    told = "".join(cure.text for _, cure in cures if cure is not None)
    way = {flat(call.command.text) for call, cure in cures if cure and call.command and _made_way(cure)}
    for command, last, first, before in _compared(reading):
        after = last.result
        if after is None or last.output is None or flat(command.text) in way:
            continue
        if first is None and code(command.text) in told:
            continue
        text = f"{code(command.text)} showed {code(after.text)}"
        quotes = [quote(last.segment, last.item, command)]
        if first is not None and first.output is not None and before is not None:
            text = f"{code(command.text)} showed {code(before.text)} at first, {code(after.text)} in the end"
            quotes.append(quote(first.segment, first.output, before))
        quotes.append(quote(last.segment, last.output, after))
        if len(text) <= MOST_CHARACTERS:
            yield 2 + (first is not None), MemoryDraft(kind=Kind.PROCEDURE.value, text=text, quotes=quotes)


def _compared(reading: Reading) -> Iterator[tuple[Sentence, Call, Call | None, Sentence | None]]:
    """For each command worth telling its last run, and an earlier one that showed something else with that."""
    by_command: dict[str, list[Call]] = {}
    for call in reading.calls:
        if call.command and call.output and call.alone and len(call.command.text.split()) <= COMMAND_WORDS:
            by_command.setdefault(flat(call.command.text), []).append(call)
    for command, runs in by_command.items():
        last = runs[-1]
        if last.result is None or last.command is None or _only_now(reading, last):
            continue
        if last.is_code and commands.asks(command):
            continue
        acts = not last.is_code and commands.runs(command) and not commands.inline(command)
        acts = acts and outputs.is_success(last.result.text)
        acts = acts and not commands.tells(command) and not _rehearsed(last, by_command)
        first = next((run for run in runs[:-1] if _told(run) != _told(last)), None)
        before = (first.failure or first.result) if first else None
        changed = before is not None and flat(before.text) != flat(last.result.text)
        if not (acts or (changed and first is not None and not last.looks)):
            continue
        yield last.command, last, first if changed else None, before if changed else None


def _rehearsed(call: Call, by_command: dict[str, list[Call]]) -> bool:
    """True if the same was done later with an option less: what came before was to try it."""
    words = flat(call.command.text).split() if call.command else []
    for command, runs in by_command.items():
        fewer = command.split()
        gone = [word for word in words if word not in fewer]
        if runs[-1].worked and runs[-1].place > call.place and len(gone) == 1 and gone[0].startswith("-"):
            return [word for word in words if word not in gone] == fewer
    return False


def _told(call: Call) -> str:
    return outputs.shown(call.output.text).text if call.output else ""


def _only_now(reading: Reading, call: Call) -> bool:
    """True if the person limited to this time what was done then."""
    said = [item.text for number, item in reading.asked if number == call.segment and item.index < call.item.index]
    return any(_ONLY_NOW.search(text) for text in said)


# ---------------------------------------------------------------- files and outcome


def outcome(reading: Reading) -> Found:
    """What became of the task: the files that were changed, and how that was seen to work; or where it ended."""
    changed = _changed(reading)
    checked = _checked(reading)
    for place, (number, item, change) in enumerate(changed):
        quotes = [quote(number, item, change.path)]
        text = f"changed {code(change.path.text)}"
        if change.old and change.new:
            quotes.append(quote(number, item, Sentence(item.text[change.old.start : change.new.end], change.old.start)))
            text += f" from {code(change.old.text)} to {code(change.new.text)}"
        elif change.new:
            quotes.append(quote(number, item, change.new))
            text += f" to {code(change.new.text)}"
        if checked is not None and place == len(changed) - 1:
            told = f"; {code(checked[0].text)} then showed {code(checked[1].text)}"
            if len(text) + len(told) <= MOST_CHARACTERS:
                text, quotes = text + told, [*quotes, *checked[2]]
        yield 3, _task(reading, text, quotes)
    if not changed:
        yield from _ended(reading)


def _changed(reading: Reading) -> list[tuple[int, Item, edited.Change]]:
    """The last change of each file, those left out that were removed again or only served to try something."""
    kept: list[tuple[int, Item, edited.Change]] = []
    for call in reading.calls:
        for in_output, change in edited.changes(call):
            item = call.output if in_output and call.output else call.item
            path = change.path.text
            if path.startswith(("/tmp/", "/dev/")) or "$" in path or _removed(reading, path):
                continue
            before = next((entry for entry in kept if edited.same_file(entry[2].path.text, path)), None)
            if before is not None:
                kept.remove(before)
            again = before is not None and not in_output and before[2].old is not None
            kept.append((call.segment, item, edited.Change(change.path) if again else change))
    return kept


def _removed(reading: Reading, path: str) -> bool:
    found = (
        step
        for call in reading.calls
        if call.command and not call.is_code
        for step in commands.steps(call.command.text)
    )
    return any(step.program == "rm" and any(edited.same_file(word, path) for word in step.words) for step in found)


def _checked(reading: Reading) -> tuple[Sentence, Sentence, list[QuoteDraft]] | None:
    """The last command whose result changed, or that says all is well: how the work was seen to be done."""
    found = [(command, last) for command, last, first, _ in _compared(reading) if first is not None]
    if not found:
        return None
    command, last = max(found, key=lambda pair: pair[1].place)
    if last.result is None or last.output is None:
        return None
    quotes = [quote(last.segment, last.item, command), quote(last.segment, last.output, last.result)]
    return command, last.result, quotes


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
