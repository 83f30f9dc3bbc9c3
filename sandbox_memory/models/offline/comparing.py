"""What commands showed, run by run: the last of each, and an earlier run that showed something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...governance.speech.sentences import Sentence
from . import commands, outputs, retries
from .reading import Reading, flat
from .tools import COMMAND_WORDS, Call

SHORT_OUTPUT = 12
"""Lines up to which two outputs are compared line by line."""

_ONLY_NOW = re.compile(
    r"\b(?:just|only) (?:this|for this) (?:time|once)\b|\bjust this once\b|\bthis once\b|仅此一次|就这一次|只这一次",
    re.IGNORECASE,
)


def compared(reading: Reading) -> Iterator[tuple[Sentence, Call, Call | None, Sentence | None, Sentence]]:
    """For each command worth telling its last run, an earlier one that showed something else, and what both showed."""
    by_command: dict[str, list[Call]] = {}
    for call in reading.calls:
        if call.command and call.output and call.alone and len(call.command.text.split()) <= COMMAND_WORDS:
            by_command.setdefault(flat(call.command.text), []).append(call)
    for command, runs in by_command.items():
        last = runs[-1]
        if not last.worked or last.command is None or _only_now(reading, last):
            continue
        if last.is_code and commands.asks(command):
            continue
        first = next((run for run in runs[:-1] if told(run) != told(last)), None)
        before, after = (first.failure or first.result if first else None), last.result
        if after is None:
            continue
        acts = not last.is_code and commands.runs(command) and not commands.inline(command)
        acts = acts and outputs.is_success(after.text)
        acts = acts and not commands.tells(command) and not _rehearsed(last, by_command)
        changed = before is not None and flat(before.text) != flat(after.text)
        if not (acts or (changed and first is not None and not last.looks)):
            continue
        yield last.command, last, first if changed else None, before if changed else None, after


def difference(first: Call, last: Call) -> tuple[Sentence | None, Sentence | None]:
    """What two runs of a command showed before and after a change: their results, or of short outputs the first line
    that only one of them has."""
    if first.failure is not None or first.output is None or last.output is None:
        return first.failure or first.result, last.result
    results = (first.result, last.result)
    if all(each and outputs.is_success(each.text) for each in results) and _words(results[0]) != _words(results[1]):
        return results
    mine, theirs = (outputs.shown(each.output.text).lines for each in (first, last) if each.output)
    if max(len(mine), len(theirs)) <= SHORT_OUTPUT:
        before, after = (_not_in(lines, others) for lines, others in ((mine, theirs), (theirs, mine)))
        if before and after and max(len(each.text.split()) for each in (before, after)) <= outputs.RESULT_WORDS:
            return outputs.undecorated(before), outputs.undecorated(after)
    return first.result, last.result


def _words(line: Sentence | None) -> str:
    return flat(line.text) if line else ""


def _not_in(lines: Sequence[Sentence], others: Sequence[Sentence]) -> Sentence | None:
    known = {line.text for line in others}
    return next((line for line in lines if line.text not in known and not outputs.is_progress(line.text)), None)


def _rehearsed(call: Call, by_command: dict[str, list[Call]]) -> bool:
    """True if the same was done later with an option less: what came before was to try it."""
    words = flat(call.command.text).split() if call.command else []
    for command, runs in by_command.items():
        fewer = command.split()
        gone = [word for word in words if word not in fewer]
        if runs[-1].worked and runs[-1].place > call.place and len(gone) == 1 and gone[0].startswith("-"):
            return [word for word in words if word not in gone] == fewer
    return False


def told(call: Call) -> str:
    return outputs.shown(call.output.text).text if call.output else ""


def _only_now(reading: Reading, call: Call) -> bool:
    """True if the person limited to this time what was done then."""
    said = [item.text for number, item in reading.asked if number == call.segment and item.index < call.item.index]
    return any(_ONLY_NOW.search(text) for text in said)


def runs_of(reading: Reading, command: Sentence) -> list[Call]:
    return [call for call in reading.calls if call.command and flat(call.command.text) == flat(command.text)]


def is_scratch(reading: Reading, command: str) -> bool:
    """True for a command that runs a file that was made for it and removed again."""
    return retries.runs_scratch(command, reading.calls)
