"""Calls with what came back: the command or the arguments of each, and whether it failed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...governance.speech.sentences import Sentence
from ...records import Item, Segment
from ...transcript import MEMORY
from . import commands, failing, outputs

COMMAND_KEYS = ("cmd", "command", "commands", "script", "shell")
CODE_KEYS = ("code", "sql", "query", "source", "cell", "input", "statement", "expression")
LOOKED_AT = 20_000
"""Characters of a command or program that are read."""
COMMAND_WORDS = 26
"""Words up to which a command is quoted whole."""

_KEY = re.compile(r"^([A-Za-z_\u3400-\u9fff][\w.-]*): ?", re.MULTILINE)
_SETS_UP = re.compile(r"\s*(?:#.*|cd \S+|set [-+]\w+[^;&|]*|export [^;&|]*|source [^;&|]*|\. \S+)?\s*")
_OF_ONE = re.compile(r"(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w-]+")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")
_OF_FILE = re.compile(r"path|file(?:_?name)?$")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u3400-\u9fff]{2}|\d+")


@dataclass(frozen=True)
class Call:
    """A tool call and its output. `segment` counts the runs of the request from 1; `place` is its rank in all of them.

    `body` is the command, program or query that the tool was given, where it stands in the call's text; None for a call
    with other arguments, which are in `args`, as text. `command` is a command line of it: its only one, or the first
    that is no preparation. `failure` is what the output says went wrong. `silent` is true if it was answered with
    nothing: the run went on after it.
    """

    segment: int
    place: int
    item: Item
    name: str
    output: Item | None = None
    body: Sentence | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    silent: bool = False

    @cached_property
    def is_code(self) -> bool:
        """True for a program or a query."""
        return self.body is not None and commands.is_code(self.body.text)

    @cached_property
    def lines(self) -> tuple[Sentence, ...]:
        """The lines of the body, without blank ones and preparations such as `cd`."""
        return tuple(_telling(self.body)) if self.body else ()

    @cached_property
    def command(self) -> Sentence | None:
        """The command line that names the call; None for a program of several lines."""
        if not self.lines or (self.is_code and len(self.lines) > 1):
            return None
        return self.lines[0]

    @property
    def alone(self) -> bool:
        """True if the command line is all that was run."""
        return len(self.lines) == 1

    @cached_property
    def looks(self) -> bool:
        """True for a command that only shows something."""
        return not self.is_code and self.command is not None and commands.looks(self.command.text)

    @cached_property
    def failure(self) -> Sentence | None:
        if self.output is None:
            return None
        return failing.failure(self.output.text, looked=self.looks)

    @cached_property
    def result(self) -> Sentence | None:
        """What a call that worked comes to, in a line of its output."""
        return outputs.result_line(self.output.text) if self.output is not None and self.failure is None else None

    @property
    def worked(self) -> bool:
        return (self.output is not None or self.silent) and self.failure is None


def calls(segments: Sequence[Segment]) -> list[Call]:
    """Every call in order with its output: the next of its call id, or for a call without one the next without one."""
    found: list[Call] = []
    for number, segment in enumerate(segments, 1):
        loose = [item for item in segment.items if item.role == "output" and not item.call_id]
        for item in segment.items:
            if item.role != "call" or item.label == MEMORY:
                continue
            if item.call_id:
                output = _answer(segment, item)
            else:
                output = next((other for other in loose if other.index > item.index), None)
                loose = [other for other in loose if other is not output]
            if output is not None and output.label == MEMORY:
                continue
            found.append(_call(number, len(found), item, output, output is None and _went_on(segment, item)))
    return found


def _answer(segment: Segment, call: Item) -> Item | None:
    """The output of a call's id that comes before the next call of that id: some models use an id again."""
    for item in segment.items:
        if item.index > call.index and item.call_id == call.call_id:
            return item if item.role == "output" else None
    return None


def _went_on(segment: Segment, call: Item) -> bool:
    return bool(call.call_id) and any(item.index > call.index and item.role != "call" for item in segment.items)


def _call(segment: int, place: int, item: Item, output: Item | None, silent: bool) -> Call:
    said = item.text.removeprefix(item.label).lstrip("\n ") if item.label else item.text
    args = _arguments(said)
    return Call(segment, place, item, item.label, output, _body(item.text, said, args), args, silent)


def _arguments(said: str) -> dict[str, Any]:
    """Arguments as `key: value` lines or as JSON; empty for a bare command."""
    if said.startswith("{"):
        try:
            parsed = json.loads(said)
        except (ValueError, RecursionError):
            return {}
        return parsed if isinstance(parsed, dict) else {}
    keys = list(_KEY.finditer(said))
    if not keys or keys[0].start() != 0:
        return {}
    ends = [key.start() - 1 for key in keys[1:]] + [len(said)]
    return {key[1]: said[key.end() : end] for key, end in zip(keys, ends, strict=True)}


def _body(text: str, said: str, args: Mapping[str, Any]) -> Sentence | None:
    """What a shell, an interpreter or a database was given, where it stands in the call's text."""
    key = next((key for key in (*COMMAND_KEYS, *CODE_KEYS) if args.get(key)), "")
    given = args.get(key) if args else said
    if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
        given = given[-1]
    if not isinstance(given, str) or not re.match(r"\s*[\w./~$([#%@\"'-]", given):
        return None
    if key in CODE_KEYS and not commands.is_code(given) and not (len(args) == 1 and commands.known(given)):
        return None
    if re.fullmatch(r"[a-z_]+", given.strip()) and any(_OF_FILE.search(name) for name in args):
        return None  # what to do with the file, not a command line
    given = given.strip().removeprefix("$ ")
    for written in (given, json.dumps(given, ensure_ascii=False)[1:-1]):
        start = text.rfind(written) if not args else text.find(written)
        if start >= 0:
            return Sentence(written, start)
    return None


def _telling(body: Sentence) -> Iterator[Sentence]:
    """The lines that do something; a here-document is no line, and one that only writes a file prepares the others."""
    found: list[Sentence] = []
    until = ""
    for match in re.finditer(r"(?:[^\n\\]|\\(?:\n|.)|\\$)+", body.text[:LOOKED_AT]):
        line = body.part(match.start(), match.end())
        if until:
            until = "" if line.text == until else until
            continue
        if line.text and not _SETS_UP.fullmatch(line.text):
            found.append(line)
            here = _HEREDOC.search(line.text)
            until = here[1] if here else ""
    others = [line for line in found if not (_HEREDOC.search(line.text) and commands.arranges(line.text))]
    yield from others or found


def is_id(key: str, value: Any) -> bool:
    """True for an argument that names one thing: its key says so, or its value has letters and digits."""
    if not isinstance(value, (str, int)) or not str(value).strip():
        return False
    if re.search(r"\s|^\d+[-/:]\d", str(value).strip()):
        return False
    return _PARTS.findall(key)[-1:] in (["id"], ["Id"], ["ID"]) or bool(_OF_ONE.fullmatch(str(value).strip()))
