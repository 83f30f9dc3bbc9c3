"""Whether two command lines are tries of one thing, or one brings what the other lacks."""

from __future__ import annotations

import re

from . import commands

_PIECES = re.compile(r"\w+")
_INTERPRETERS = frozenset("python py node ruby perl php bash sh deno bun java".split())
_FETCHING = frozenset("install add get update sync require i".split())


def same_work(one: str, two: str) -> bool:
    """True if all that the first line does, looks aside, is done by the second to the letter."""
    doing = [step for step in commands.steps(one) if not step.looks] or list(commands.steps(one))
    return bool(doing) and all(step in commands.steps(two) for step in doing)


def again(one: str, two: str) -> bool:
    """True if the second line runs all that the first did, or at least its last program, with the same words."""
    if same_work(one, two):
        return True
    first, second = (
        [step for step in commands.steps(line) if not (step.looks or step.arranges)] for line in (one, two)
    )
    return bool(first and second) and first[-1] == second[-1] and bool(first[-1].words)


def checks_like(one: str, two: str) -> bool:
    """True if both run the same program on something else: neither is in the other's way."""
    first, second = _main(one), _main(two)
    if first is None or second is None or first.program != second.program or commands.family(first) in _INTERPRETERS:
        return False
    return not _first_verb(first) and not _first_verb(second)


def fetches(line: str, name: str) -> bool:
    """True for a command that installs or gets a thing of that name."""
    return any(
        not _FETCHING.isdisjoint((step.program, *step.bare[:3])) and any(_is_of(word, name) for word in step.words)
        for step in commands.steps(line)
    )


def _is_of(word: str, name: str) -> bool:
    return _PIECES.findall(name)[-1:] == [name] and name.casefold() in _PIECES.findall(word.casefold())


def alike(one: str, two: str) -> bool:
    """True if the second command is another try of what the first was to do.

    The same program with the same verb and most of the words, or the same words behind another program. What is between
    two programs is compared for the last that does more than look about.
    """
    if same_work(one, two):
        return True
    here, there = _through(one), _through(two)
    if (here is None) != (there is None):
        mine, theirs = here or next(iter(commands.steps(one)), None), there or next(iter(commands.steps(two)), None)
        return (
            mine is not None
            and theirs is not None
            and mine.program == theirs.program
            and _share(mine.words, theirs.words)
        )
    first, second = _main(one), _main(two)
    if first is None or second is None:
        return False
    if commands.family(first) == commands.family(second):
        return _same_verb(first, second) and _same_files(first, second) and _share(first.words, second.words)
    short, long = (first.program, *first.words), (second.program, *second.words)
    wrapped = _inside(short, long) or _inside(long, short)
    return bool(first.words) and (wrapped or first.words == second.words) and not (first.looks or second.looks)


def _through(line: str) -> commands.Step | None:
    """The shell or ssh that runs the command given to it, without that command."""
    words = commands.split(line)
    if len(words) > 2 and words[0].rsplit("/", 1)[-1] in commands.SHELLS and " " in words[-1]:
        return commands.Step(words[0].rsplit("/", 1)[-1], tuple(words[1:-1]))
    return None


def _main(line: str) -> commands.Step | None:
    found = commands.steps(line)
    return next((step for step in reversed(found) if not step.looks), found[-1] if found else None)


def _same_verb(one: commands.Step, two: commands.Step) -> bool:
    mine, theirs = _first_verb(one), _first_verb(two)
    return not mine or not theirs or mine == theirs


def _first_verb(step: commands.Step) -> str:
    first = next(iter(step.bare), "")
    return first if re.fullmatch(r"[a-z][a-z_:-]*", first) else ""


def _same_files(one: commands.Step, two: commands.Step) -> bool:
    """False if each names files and none of them is the same."""
    mine, theirs = ({w.rsplit("/", 1)[-1] for w in step.words if _is_file(w)} for step in (one, two))
    return not mine or not theirs or bool(mine & theirs)


def _is_file(word: str) -> bool:
    return (
        "://" not in word and bool(re.fullmatch(r"[\w./~@+-]*(?:/[\w.@+-]+|\.[A-Za-z]\w*)/?", word)) and word[0] != "-"
    )


def _share(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """True if more than half of the words of the shorter are the other's too, an address but for one part of it."""
    if not one or not two:
        return True
    shorter, longer = (one, list(two)) if len(one) <= len(two) else (two, list(one))
    shared = telling = 0
    for word in shorter:
        match = next((other for other in longer if word == other or _variant(word, other)), None)
        if match is not None:
            longer.remove(match)
            shared += 1
            telling += not word.startswith("-")
    return shared * 2 > len(shorter) and (telling > 0 or all(word.startswith("-") for word in shorter))


def _variant(one: str, two: str) -> bool:
    if one.startswith("-") or two.startswith("-"):
        return False
    mine, theirs = _PIECES.findall(one), _PIECES.findall(two)
    if "://" in one and "://" in two:
        return len(mine) == len(theirs) and sum(a != b for a, b in zip(mine, theirs, strict=True)) == 1
    return bool(mine and theirs) and mine != theirs and (mine == theirs[: len(mine)] or theirs == mine[: len(theirs)])


def _inside(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """True if the words stand in that order in the other, which has more."""
    rest = iter(whole)
    return len(part) < len(whole) and all(word in rest for word in part)
