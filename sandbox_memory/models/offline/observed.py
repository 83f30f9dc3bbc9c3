"""Memories of what tools showed: calls that failed and what then worked, and the results of commands."""

from __future__ import annotations

import re

from ...governance.speech.sentences import Sentence
from ...records import Kind
from .. import MemoryDraft, QuoteDraft
from . import commands, comparing, failing, outcomes, outputs, retries
from .reading import MOST_CHARACTERS, Found, Reading, code, flat, quote, said_to_be
from .tools import COMMAND_WORDS, Call

_LOG = re.compile(r"\blogs?\b|\bjournalctl\b|\bdmesg\b|\.log\b|\bevents\b|\bdescribe\b")
_WORDS = re.compile(r"[^\W\d_]{2,}")
_STAMP = re.compile(r"^.*?\d{1,2}:\d{2}(?::\d{2})?\S*\s+(?:\S+ \S*\[\d+\]: |\S+\[\d+\]: |\[\d+\]\s*)?")


def failed(reading: Reading) -> Found:
    """Calls that failed, in their own words, and what then worked."""
    told = {flat(command.text) for command, _, first, *_ in comparing.compared(reading) if first is not None}
    _, checked = outcomes.of_changes(reading)
    seen_to_work = flat(checked.command.text) if checked and checked.first else ""
    seen: set[tuple[str, str]] = set()
    for call in reading.calls:
        if call.failure is None or call.output is None or _is_housekeeping(call):
            continue
        cure = retries.cure(call, reading.calls[call.place + 1 :])
        if cure is None and call.command and _only_tried(reading, call):
            continue
        if cure is None and call.body is None and failing.is_of_now(call.failure.text):
            continue
        if call.command and flat(call.command.text) in told and not (cure and _made_way(cure)):
            continue
        if cure and cure.edit and call.command and flat(call.command.text) == seen_to_work:
            continue  # told with the change
        error = outputs.first_clause(call.failure)
        name = _name(call, cure)
        # The same fault again in another place or with another sign is the same lesson.
        fault = (name.text if name and cure else "", " ".join(re.findall(r"[^\W\d_]+", error.text)))
        if fault in seen:
            continue
        seen.add(fault)
        quotes = [*([quote(call.segment, call.item, name)] if name else []), quote(call.segment, call.output, error)]
        text = _lesson(name, error)
        if cure is None or len(_WORDS.findall(error.text)) < 2:
            text, quotes = _with_cause(call, reading, text, quotes)
        if cure is not None and len(text) + len(cure.text) <= MOST_CHARACTERS:
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
    return cure.text.startswith(("; worked after", "; fixed by"))


def _only_tried(reading: Reading, call: Call) -> bool:
    """True for a question of the moment: a program written out in the command, or a file that was removed again."""
    if call.command is None or call.is_code:
        return False
    return commands.inline(call.command.text) or comparing.is_scratch(reading, call.command.text)


def _is_housekeeping(call: Call) -> bool:
    """True for a look at files that went wrong, a path that was guessed, and for a file that was not there to move."""
    if call.command is None or call.is_code or call.failure is None:
        return False
    moves = commands.arranges(call.command.text) and failing.is_absent(call.failure.text)
    return commands.reads_files(call.command.text) or moves


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
    told += "".join(code(cure.call.command.text) for _, cure in cures if cure and cure.text and cure.call.command)
    way = {flat(call.command.text) for call, cure in cures if cure and call.command and _made_way(cure)}
    _, checked = outcomes.of_changes(reading)
    for command, last, first, before, after in comparing.compared(reading):
        if last.output is None or flat(command.text) in way:
            continue
        if first is None and (code(command.text) in told or comparing.is_scratch(reading, command.text)):
            continue
        if checked and flat(command.text) == flat(checked.command.text) and (checked.first or first is None):
            continue  # told with the change
        text = f"{code(command.text)} showed {code(after.text)}"
        quotes = [quote(last.segment, last.item, command)]
        if first is not None and first.output is not None and before is not None:
            text = f"{code(command.text)} showed {code(before.text)} at first, {code(after.text)} in the end"
            quotes.append(quote(first.segment, first.output, before))
        quotes.append(quote(last.segment, last.output, after))
        if len(text) <= MOST_CHARACTERS:
            yield 2 + (first is not None), MemoryDraft(kind=Kind.PROCEDURE.value, text=text, quotes=quotes)
