"""Calls with what came back: which failed and why, what then worked, what a command showed, which files changed."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...records import Item, Segment
from ...transcript import MEMORY
from .sentences import Sentence, clip

COMMAND_KEYS = ("cmd", "command", "commands", "script", "code", "shell")
LINE = 160
SHORT_OUTPUT = 240
"""Characters up to which an output is a result, and no dump."""

LOOKED_AT = 100_000

_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: (?:with|code|status|was))*|return(?:ed)? (?:code|status)|returncode|"
    r"exit_?code)[\"' \t:=(]{1,4}(?P<code>-?\d+)\b",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"^[ \t]*(?:E {2,}|[-*>] +)?(?P<line>(?:[A-Z]\d{2,4}:? )?(?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Failure|"
    r"Interrupt)\b(?:: .*|:?))$",
    re.MULTILINE,
)
_SAID = re.compile(
    r"^[ \t]*(?P<line>(?:[\w./ -]{1,40}: )?(?:fatal|error|err!|failed|failure|panic|npm err!|denied|refused|"
    r"invalid|unknown|错误|失败)"
    r"(?:\b|(?<=[误败]))[\s:：!,-]+\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"^[ \t]*(?P<line>.{0,120}\b(?:command not found|no such file or directory|permission denied|connection refused|"
    r"is not recognized|cannot (?:find|open|access|import|be)|could not|timed? ?out|does not exist|not permitted|"
    r"segmentation fault|\d+ failed)\b.*)$",
    re.MULTILINE | re.IGNORECASE,
)
_JSON_ERROR = re.compile(
    r'^\s*\{\s*"(?:error|err|error_message|exception)"\s*:\s*(?:\{[^{}]*?"message"\s*:\s*)?"(?P<line>(?:[^"\\]|\\.)+)"'
)
_KEY = re.compile(r"^([A-Za-z_]\w{0,40}): ?", re.MULTILINE)
_CHANGED_LINE = re.compile(r"^(?P<sign>[-+])(?!--|\+\+)[ \t]*(?P<line>\S(?:.{0,300}\S)?)[ \t\r]*$", re.MULTILINE)
_DIFF_FILE = re.compile(
    r"^(?:\+\+\+ (?:b/)?|\*\*\* (?:Update|Add|Delete) File: )(?P<path>\S(?:.{0,300}\S)?)[ \t\r]*$", re.MULTILINE
)

_RUNNERS = re.compile(
    r"(?:\S*/)?(?:python[\d.]*|pytest|tox|nox|uv|poetry|pip\d?|npm|npx|pnpm|yarn|node|deno|bun|make|just|cmake|"
    r"ninja|cargo|go|gradlew?|"
    r"mvnw?|java|dotnet|ruby|bundle|rake|rspec|php|composer|perl|Rscript|julia|bash|sh|docker|docker-compose|"
    r"podman|kubectl|helm|"
    r"terraform|ansible[\w-]*|systemctl|journalctl|service|curl|wget|psql|mysql|sqlite3|redis-cli|mongosh|alembic|"
    r"flask|uvicorn|ruff|"
    r"mypy|black|flake8|eslint|tsc|jest|vitest|aws|gcloud|az|gh|ssh|rsync|nc|ss|netstat|lsof|openssl|dig|"
    r"spark-submit|dbt|airflow)\b"
    r"|\./\S+"
)
_SUCCESS = re.compile(
    r"\b(?:\d+ passed|success\w*|passed|ok|done|built|installed|completed|finished|up.to.date|created)\b|成功|完成",
    re.I,
)
_ONE_OFF = re.compile(r"[,;]\s*(?=[^,;]*\d)")


@dataclass(frozen=True)
class Call:
    """A tool call and its output. `segment` counts the runs of the request from 1; `place` is its rank in all of them.

    `command` is the shell command, or the first line of one, as it stands in the call's text. `args` are the arguments
    if they are JSON.
    """

    segment: int
    place: int
    item: Item
    name: str
    output: Item | None = None
    command: Sentence | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    failure: Sentence | None = None

    @property
    def result(self) -> str:
        return self.output.text.strip() if self.output else ""

    @property
    def worked(self) -> bool:
        return self.output is not None and self.failure is None


def calls(segments: Sequence[Segment]) -> list[Call]:
    """Every call in order with its output: the one of its call id, else the next one that belongs to no call."""
    found: list[Call] = []
    for number, segment in enumerate(segments, 1):
        by_id = {item.call_id: item for item in segment.items if item.role == "output" and item.call_id}
        loose = [item for item in segment.items if item.role == "output" and not item.call_id]
        for item in segment.items:
            if item.role != "call" or item.label == MEMORY:
                continue
            output = by_id.get(item.call_id) if item.call_id else None
            if output is None:
                output = next((other for other in loose if other.index > item.index), None)
                loose = [other for other in loose if other is not output]
            if output is not None and output.label == MEMORY:
                continue
            found.append(_call(number, len(found), item, output))
    return found


def _call(segment: int, place: int, item: Item, output: Item | None) -> Call:
    said = item.text.removeprefix(item.label).lstrip("\n ") if item.label else item.text
    args = _arguments(said)
    command = _command(item.text, said, args)
    failed = failure(output.text) if output is not None else None
    return Call(segment, place, item, item.label, output, command, args, failed)


def _arguments(said: str) -> dict[str, Any]:
    """Arguments as `key: value` lines or as JSON; empty for a bare command."""
    if said.startswith("{"):
        try:
            parsed = json.loads(said)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}
    keys = list(_KEY.finditer(said))
    if not keys or keys[0].start() != 0:
        return {}
    ends = [key.start() - 1 for key in keys[1:]] + [len(said)]
    return {key[1]: said[key.end() : end] for key, end in zip(keys, ends, strict=True)}


def _command(text: str, said: str, args: Mapping[str, Any]) -> Sentence | None:
    """The first line of what a shell was given, where it stands in the call's text."""
    given = next((args[key] for key in COMMAND_KEYS if args.get(key)), None if args else said)
    if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
        given = given[-1]
    if not isinstance(given, str) or not re.match(r"\s*[\w./~$([-]", given):
        return None
    line = given.strip().split("\n")[0].removeprefix("$ ")
    for written in (line, json.dumps(line, ensure_ascii=False)[1:-1]):
        start = text.find(written)
        if start >= 0:
            return Sentence(written, start)
    return None


def failure(text: str) -> Sentence | None:
    """The line of a tool's output that says why it failed, or None if it does not say so.

    Of a very long output only the end is looked at, which is where a program says how it ended.
    """
    if len(text) > LOOKED_AT:
        found = failure(text[-LOOKED_AT:])
        return Sentence(found.text, found.start + len(text) - LOOKED_AT) if found else None
    code = next((match for match in _EXIT.finditer(text[:400] + text[-400:])), None)
    ended_badly = code is not None and code["code"] not in ("0", "-0")
    ended_well = code is not None and not ended_badly
    match = _JSON_ERROR.match(text) or _last(_RAISED, text)
    if match is None and not ended_well:
        match = _SAID.search(text[:4_000])
    if match is None and (ended_badly or len(text) <= 2_000) and not ended_well:
        match = _COMPLAINT.search(text[-4_000:] if len(text) > 4_000 else text)
        if match and len(text) > 4_000:
            return _line(match["line"], len(text) - 4_000 + match.start("line"))
    if match:
        return _line(match["line"], match.start("line"))
    if ended_badly:
        lines = list(re.finditer(r"\S.*", text))
        last = [line for line in lines if not _EXIT.search(line.group())] or lines
        return _line(last[-1].group(), last[-1].start())
    return None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _line(text: str, start: int) -> Sentence:
    if len(text) > LINE:
        text = text[: text.rfind(" ", 0, LINE)] if " " in text[:LINE] else text[:LINE]
    return Sentence(text.rstrip(), start)


def result_line(call: Call) -> Sentence | None:
    """What a command that worked showed, if short enough to be a result: its last line with words or numbers."""
    if call.output is None or not call.worked or len(call.result) > SHORT_OUTPUT:
        return None
    lines = [m for m in re.finditer(r"\S.*\S|\S", call.output.text) if any(char.isalnum() for char in m.group())]
    lines = [match for match in lines if not _EXIT.search(match.group())]
    if not lines or len(lines) > 4 or len(lines[-1].group()) > LINE:
        return None
    return Sentence(lines[-1].group(), lines[-1].start())


def first_clause(error: Sentence) -> Sentence:
    """An error without the clauses that only give this time's amounts, if enough is left to know it by."""
    cut = _ONE_OFF.search(error.text)
    if cut and len(error.text[: cut.start()].split()) >= 4:
        return error.part(0, cut.start())
    return error


def success_line(call: Call) -> Sentence | None:
    """The line at the end of a long output that says that all went well."""
    if call.output is None or not call.worked:
        return None
    lines = list(re.finditer(r"\S.*\S|\S", call.output.text))[-5:]
    found = next((line for line in reversed(lines) if _SUCCESS.search(line.group())), None)
    return clip(Sentence(found.group(), found.start()), LINE) if found else None


def runs(command: str) -> bool:
    """True for a command that runs, builds, tests or asks a service; not for one that looks at files."""
    return bool(_RUNNERS.match(command))


def recovery(call: Call, following: Sequence[Call], *, reach: int = 6) -> Call | None:
    """The first later call to the same tool that was changed and worked, unless another kind of work came between."""
    if call.failure is None:
        return None
    for other in [later for later in following if later.name == call.name][:reach]:
        if other.worked and _alike(call, other) and other.item.text != call.item.text:
            return other
    return None


def _alike(one: Call, two: Call) -> bool:
    """For a shell, only a command that begins with the same word is another try of the first."""
    if one.command is None or two.command is None:
        return one.command is None and two.command is None
    return verb(one.command.text) == verb(two.command.text)


def verb(command: str) -> str:
    """The program that a command runs, without environment, directory changes and wrappers before it."""
    words = re.sub(r"^(?:\s*(?:cd \S+ *&&|sudo|time|[A-Z_]+=\S+) *)+", "", command).split()
    return words[0].rsplit("/", 1)[-1] if words else ""


def changed_arguments(one: Call, two: Call) -> list[str]:
    """Names of arguments with another value in the second call."""
    keys = dict.fromkeys([*one.args, *two.args])
    return [key for key in keys if one.args.get(key) != two.args.get(key)]


@dataclass(frozen=True)
class Change:
    """A changed file: where its path stands, and where a replaced line and its replacement do, if they are short."""

    path: Sentence
    old: Sentence | None = None
    new: Sentence | None = None


def changes(text: str) -> Iterator[Change]:
    """The files that a diff or a patch in this text changes."""
    text = text[:LOOKED_AT]
    heads = list(_DIFF_FILE.finditer(text))
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
        path = Sentence(head["path"], head.start("path"))
        yield Change(path, *(_pair(text, head.end(), end) or (None, None)))


def _pair(text: str, start: int, end: int) -> tuple[Sentence, Sentence] | None:
    """The line that a diff takes out and the one that it puts there, if that is all it changes, comments aside."""
    lines = list(_CHANGED_LINE.finditer(text, start, end))
    olds = [Sentence(line["line"], line.start("line")) for line in lines if line["sign"] == "-"]
    news = [Sentence(line["line"], line.start("line")) for line in lines if line["sign"] == "+"]
    news = [line for line in news if not re.match(r"#|//|/?\*", line.text)] or news
    if len(olds) != 1 or len(news) != 1 or olds[0].start > news[0].start:
        return None
    return (olds[0], news[0]) if len(olds[0].text) + len(news[0].text) <= LINE + 40 else None
