"""Skills: procedures that worked in two conversations or more, in the Agent Skills form (agentskills.io/specification).

A skill is one folder with a `SKILL.md`: YAML front matter with `name` (the folder's, 1 to 64 lower-case letters, digits
and hyphens) and `description` (at most 1,024 characters), then markdown. The SDK's `Skills` reads that form.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .governance.wording import content, words
from .notes import slug
from .records import Kind, Record, Trust
from .state import SkillState, State
from .templates import one_line, render
from .trusting.signed import signed

TWICE = 2
"""In how many conversations a procedure must have been seen to work."""
FAILURES = 5
"""How many lessons of the same group a skill tells."""
TELLING = 2
"""How many words with a meaning make a title."""

_COMMAND = re.compile(r"`([^`\s]+\s[^`]+|\.{0,2}/[^`]+)`")
"""Something that is run, with what it is run on; a name alone is none."""
_CURE = re.compile(
    r"(?:failed|失败)\b.*(?:then|after|with|之后|然后|改用) " + _COMMAND.pattern + r"(?! (?:failed|失败))"
)
_VALUE = re.compile(r"(?<==)[\w.-]*\d[\w.-]*|(?<![\w.-])v?\d+(?:\.\d+)+(?![\w.-])")
"""What a command may have otherwise each time: a version, and a value with a digit that is given to a name."""
_CJK = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff][\w./:-]*\w|\w")


@dataclass(frozen=True)
class Skill:
    """A skill as the records make it: `name` is its folder, `records` the ids of its steps, `data` its `SKILL.md`."""

    name: str
    records: tuple[str, ...]
    data: bytes

    @property
    def path(self) -> str:
        """Its file, relative to the memories folder."""
        return file_of(self.name)


def file_of(name: str) -> str:
    """The file of the skill of that name, relative to the memories folder."""
    return f"skills/{name}/SKILL.md"


@dataclass
class _Step:
    """A command with the records that show it to work, and the conversations in which it did."""

    commands: list[str]
    records: list[Record]
    seen: set[str]

    @property
    def text(self) -> str:
        """The command, in the words of the procedure that tells most; what differs from time to time is left open."""
        told = next((r for r in reversed(self.records) if r.kind is Kind.PROCEDURE), None)
        last = _command(told) if told else self.commands[-1]
        opened = last
        for other in self.commands:
            opened = _opened(opened, other)
        text = told.text if told and told.trust > Trust.EXTERNAL else f"`{last}`"
        return one_line(text.replace(f"`{last}`", f"`{opened}`"))


def made_of(state: State) -> list[Skill]:
    """The skills that the visible records make: the commands that worked in two conversations about one task.

    What they are about is named by the words that the titles of the conversations share.
    """
    steps: dict[str, _Step] = {}
    visible = [record for record in state.visible().values() if not record.owner]
    for record in visible:
        command = _command(record)
        seen = {quote.rollout for quote in record.evidence if quote.trust in (Trust.OBSERVED, Trust.EXTERNAL)}
        if command and seen:
            step = steps.setdefault(_VALUE.sub("", command), _Step([], [], set()))
            step.commands.append(command)
            step.records.append(record)
            step.seen |= seen & state.rollouts.keys()
    tasks: dict[str, tuple[str, list[_Step]]] = {}
    for step in steps.values():
        if len(step.seen) >= TWICE and any(record.kind is Kind.PROCEDURE for record in step.records):
            titles = [state.rollouts[stem].task for stem in _in_order(step.seen, state)]
            title = shared_title(titles)
            tasks.setdefault(_name(title), (title, []))[1].append(step)
    lessons = [r for r in visible if r.kind is Kind.LESSON and r.trust > Trust.EXTERNAL]
    return [_skill(name, title, found, lessons, state) for name, (title, found) in tasks.items() if title]


def follows(known: SkillState, made: Iterable[Skill], state: State) -> bool:
    """True if one of these skills is made of what that one was made of, under whatever name."""
    ids = {id for skill in made for id in skill.records}
    return any(_heir(id, state) in ids for id in known.records)


def _heir(id: str, state: State) -> str:
    """The record that has taken the place of that one, or that one."""
    seen = set()
    while id not in seen and (record := state.records.get(id)) is not None and record.superseded_by:
        seen.add(id)
        id = record.superseded_by
    return id


def _name(title: str) -> str:
    """The folder of the skill of that title; letters that it cannot hold count in a digest."""
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:8]
    name = slug(title, f"skill-{digest}", fallback=title)
    lossy = any(char.isalpha() and not unicodedata.normalize("NFKD", char)[0].isascii() for char in title)
    return f"{name[:55].rstrip('-')}-{digest}" if lossy and digest not in name else name


def _command(record: Record) -> str:
    """The command that a record shows to have worked: of a procedure the first, of a lesson the cure."""
    if record.kind is Kind.PROCEDURE:
        found = _COMMAND.match(record.text) or next(_COMMAND.finditer(record.text), None)
        return found[1] if found else ""
    if record.kind is Kind.LESSON and (cure := _CURE.search(record.text)):
        return cure[1]
    return ""


def _opened(command: str, other: str) -> str:
    """The command with the values that another time had otherwise named in pointed brackets."""
    mine, theirs = list(_VALUE.finditer(command)), list(_VALUE.finditer(other))
    if len(mine) != len(theirs):
        return command
    for one, two in reversed(list(zip(mine, theirs, strict=True))):
        if one.group() != two.group():
            key = re.search(r"[\w.-]+(?==$)", command[: one.start()])
            command = f"{command[: one.start()]}<{key.group() if key else 'value'}>{command[one.end() :]}"
    return command


def _in_order(stems: Iterable[str], state: State) -> list[str]:
    return sorted(stems, key=lambda stem: state.rollouts[stem].order)


def _skill(name: str, title: str, steps: list[_Step], lessons: list[Record], state: State) -> Skill:
    seen = _in_order(set().union(*(step.seen for step in steps)), state)
    groups = {record.group for step in steps for record in step.records}
    chinese = _CJK.search(title) is not None
    text = render(
        "skill",
        folder=name,
        title=title,
        description=_plain(
            f"{title}：以前成功过的命令。任务属于这一类时使用。"
            if chinese
            else f"{title}: commands that worked before. Use when the task is of this kind."
        ),
        chinese=chinese,
        times=len(seen),
        last=max(state.rollouts[stem].updated_at[:10] for stem in seen),
        steps=[step.text for step in steps],
        failed=[one_line(record.text) for record in lessons if record.group in groups][-FAILURES:],
    )
    records = dict.fromkeys(record.id for step in steps for record in step.records)
    return Skill(name, tuple(records), signed(text, below="metadata:"))


def shared_title(titles: Sequence[str]) -> str:
    """The words of the first title that the most similar one of the others has too, in order; empty if they say little.

    Words with digits are what differs from time to time: a version, a number, a date.
    """
    tokens = [_TOKEN.findall(one_line(title)) for title in titles]
    found: list[str] = []
    for other in tokens[1:]:
        mine, theirs = ([token.casefold() for token in each] for each in (tokens[0], other))
        blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
        shared = [token for block in blocks for token in tokens[0][block.a : block.a + block.size]]
        shared = [token for token in shared if not any(map(str.isdigit, token))]
        if _says(shared) > _says(found):
            found = shared
    while found and not content(words(found[-1])):
        found.pop()
    return _joined(found) if _says(found) >= TELLING else ""


def _says(tokens: list[str]) -> int:
    """How many of them carry meaning; Chinese characters count in pairs."""
    plain = [token for token in tokens if not _CJK.fullmatch(token)]
    return sum(1 for token in plain if content(words(token))) + (len(tokens) - len(plain)) // 2


def _joined(tokens: list[str]) -> str:
    text = ""
    for token in tokens:
        beside = text and not (_CJK.match(text[-1]) and _CJK.match(token))
        text += f" {token}" if beside else token
    return text


def _plain(text: str) -> str:
    """The text as it may stand between double quotes in YAML without an escape."""
    return one_line(re.sub(r'["\\\x00-\x1f]', " ", text))
