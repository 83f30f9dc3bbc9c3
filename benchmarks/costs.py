"""The three costs that memory is for: looking things up again, failing again, being corrected again.

Two measurements. On the demo (`played`): the model calls and tokens of the second request, with memory and without it.
On conversations that were held twice (`twice`, a folder of rollouts): what a memory of all first conversations answers
of what the second ones came upon (`answered`), and what one of the first conversation of the same task alone does. The
memories are made by the built-in model with the preset for customer service, which injects nothing that one customer
said of themselves; that is found by a search for the account, and counted apart.

An answer is one that stands there in time, before it is needed; whether a model would have heeded it is not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .answered import (
    Line,
    Memory,
    Rule,
    Tools,
    answer,
    covers,
    firsts_tell,
    has_value,
    names_way,
    remembered,
    tells_cure,
    tells_error,
)
from .kit import Progress
from .played import Played, Spent, played
from .table import Row, divided
from .twice import CORRECTION, ERROR, FOUND, LACKED, Conversation, Event, events, held_twice

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "rollouts" / "airline"
PRESET = "support"
WAYS = ("injected", "by account", "by words")


@dataclass(frozen=True)
class Sizes:
    """How many tasks are looked at, None for all."""

    tasks: int | None = None


FULL = Sizes()
QUICK = Sizes(5)
TINY = Sizes(0)


@dataclass(frozen=True)
class Question:
    """One line of the table: which events, and when a line answers one."""

    name: str
    kind: str
    rule: Rule
    asks: Callable[[Event], bool] = lambda event: True


QUESTIONS = (
    Question("look-up: what the customer could not name", LACKED, names_way),
    Question("look-up: which call finds it", FOUND, names_way),
    Question("look-up: what the call found", FOUND, has_value),
    Question("error of a tool", ERROR, tells_error),
    Question("error, and what then worked", ERROR, tells_cure, lambda event: bool(event.changed)),
    Question("correction, wish or limit", CORRECTION, covers),
)


@dataclass(frozen=True)
class Asked:
    """An event, whether trial 0 could have told it, and the lines that answer it: one or None for each of `WAYS`.

    `alone` are those of the memory of the same task.
    """

    event: Event
    told: bool
    lines: tuple[Line | None, ...]
    alone: tuple[Line | None, ...]


@dataclass(frozen=True)
class Count:
    """How many second conversations there are, and for each question what was asked in them."""

    pairs: int
    asked: dict[str, list[Asked]]


def measure(sizes: Sizes, folder: Path, progress: Progress, data: Path | None = None) -> list[Row]:
    """Rows for the demo, and a row for each question where there are conversations that were held twice."""
    demo = _play(folder, progress)
    return [*_demo_rows(demo), *_twice_rows(_ask(sizes, folder, progress, data))]


def markdown(sizes: Sizes, folder: Path, progress: Progress, data: Path | None = None) -> str:
    """The two tables as they stand in the README."""
    demo = _play(folder, progress)
    lines = [
        "| the demo | model calls | input tokens | output tokens |",
        "| --- | --: | --: | --: |",
        *(f"| {name} | {s.calls} | {s.read:,} | {s.written:,} |" for name, s in _demo_lines(demo)),
    ]
    count = _ask(sizes, folder, progress, data)
    if count.pairs:
        heads = (f"trial 1 of {count.pairs} tasks", "all", "in trial 0 too", *WAYS, "injected, same task only")
        lines += [
            "",
            f"| {' | '.join(heads)} |",
            f"| --- {'| --: ' * (len(heads) - 1)}|",
            *(f"| {name} | {' | '.join(map(str, _figures(asked)))} |" for name, asked in count.asked.items()),
        ]
    return "\n".join(lines)


def _play(folder: Path, progress: Progress) -> Played:
    progress("playing the demo")
    return played(folder / "demo")


def _demo_lines(demo: Played) -> list[tuple[str, Spent]]:
    return [
        ("first run", demo.first),
        ("second request, with memory", demo.second),
        ("second request, without memory", demo.without),
        ("two agents, two runs each, with memory", demo.pair),
        ("two agents, two runs each, without memory", demo.pair_without),
        ("writing the memory of the first run, if a model does it", demo.writing),
    ]


def _demo_rows(demo: Played) -> Iterator[Row]:
    with_, without = demo.second, demo.without
    yield Row(
        "demo, second request: model calls",
        ours=with_.calls,
        value=divided(with_.calls, without.calls),
        how=f"of the {without.calls} without memory; {demo.first.calls} in the first run",
    )
    for name, ours, other, first in (
        ("input", with_.read, without.read, demo.first.read),
        ("output", with_.written, without.written, demo.first.written),
    ):
        yield Row(
            f"demo, second request: {name} tokens",
            ours=ours,
            value=divided(ours, other),
            how=f"of the {other:,} without memory; {first:,} in the first run",
        )
    yield Row(
        "demo: memory's part of a prompt, tokens",
        ours=with_.system - without.system,
        how=f"of {with_.read // with_.calls:,} in a call; counted above",
    )
    yield Row(
        "demo, two agents, two runs each: input tokens",
        ours=demo.pair.read,
        value=divided(demo.pair.read, demo.pair_without.read),
        how=f"of those without memory, with {demo.pair.calls} calls for {demo.pair_without.calls}: one session, "
        "so nothing is remembered yet",
    )
    yield Row(
        "demo: to write the first run's memory, a model's input tokens",
        ours=demo.writing.read,
        how=f"in {demo.writing.calls} requests, {demo.writing.written:,} out; the built-in model takes none",
    )


def _ask(sizes: Sizes, folder: Path, progress: Progress, data: Path | None) -> Count:
    """The answers to every question; nothing, and a message, without conversations that were held twice."""
    if sizes.tasks == 0 and data is None:
        return Count(0, {})
    where = data or DATA
    pairs = held_twice(where)[: sizes.tasks or None] if where.is_dir() else []
    if not pairs:
        progress(
            f"left out: in {where} are no conversations that were held twice (NAME-trial0.jsonl, NAME-trial1.jsonl); "
            "--data names another folder"
        )
        return Count(0, {})
    firsts = list({first.path: first for first, _ in pairs}.values())
    progress(f"remembering {len(firsts)} conversations")
    whole = remembered(firsts, folder / "all", PRESET)
    alone = {}
    for number, first in enumerate(firsts, 1):
        progress(f"remembering each alone, {number} of {len(firsts)}")
        alone[first.path] = remembered([first], folder / f"alone-{number}", PRESET)
    tools = Tools.of([each for pair in pairs for each in pair])
    arguments = frozenset(name for names in tools.takes.values() for name in names)
    asked: dict[str, list[Asked]] = {question.name: [] for question in QUESTIONS}
    for first, second in pairs:
        for event in events(second, arguments):
            for question in QUESTIONS:
                if question.kind == event.kind and question.asks(event):
                    told = firsts_tell(event, question.rule, first, firsts)
                    answers = (
                        _lines(event, second, memory, question.rule, tools) for memory in (whole, alone[first.path])
                    )
                    asked[question.name].append(Asked(event, told, *answers))
    return Count(len(pairs), asked)


def _lines(event: Event, second: Conversation, memory: Memory, rule: Rule, tools: Tools) -> tuple[Line | None, ...]:
    shown = (
        memory.injected,
        memory.by_account(event.known),
        memory.by_words(second.said[0].text if second.said else ""),
    )
    return tuple(answer(event, lines, rule, tools) for lines in shown)


def _figures(asked: Sequence[Asked]) -> tuple[int, ...]:
    """All, told in trial 0, answered in each way, and by what the memory of the same task injects."""
    ways = (sum(each.lines[way] is not None for each in asked) for way in range(len(WAYS)))
    return (len(asked), sum(each.told for each in asked), *ways, sum(each.alone[0] is not None for each in asked))


def _twice_rows(count: Count) -> Iterator[Row]:
    for name, asked in count.asked.items():
        whole, told, injected, account, words, alone = _figures(asked)
        yield Row(
            name,
            ours=injected,
            unit=f"of {whole}",
            how=f"injected, {alone} with the same task's memory alone; a search for the account finds {account}, "
            f"one for the words of the task {words}; trial 0 had {told}",
            lines=tuple(_told(asked)),
        )


def _told(asked: Sequence[Asked]) -> Iterator[str]:
    """Each answered event with its line, then those that nothing answers."""
    for each in asked:
        ways = [way for way, line in zip(WAYS, each.lines, strict=True) if line is not None]
        if ways:
            line = next(line for line in each.lines if line is not None)
            yield f"{each.event.task}: {each.event.text}"
            yield f"    {', '.join(ways)}: {line.text}"
    for each in asked:
        if not any(each.lines):
            yield f"{each.event.task}: {each.event.text} - not answered{'' if each.told else ', nor in trial 0'}"
