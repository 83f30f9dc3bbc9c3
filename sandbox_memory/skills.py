"""Skills: procedures that worked in two conversations or more, in the Agent Skills form (agentskills.io/specification).

A skill is one folder with a `SKILL.md`: YAML front matter with `name` (the folder's, 1 to 64 lower-case letters, digits
and hyphens) and `description` (at most 1,024 characters), then markdown. The SDK's `Skills` reads that form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .governance.wording import content, words
from .notes import slug
from .records import Kind, Record, Trust
from .signed import signed
from .state import State
from .templates import one_line, render

TWICE = 2
"""In how many conversations a procedure must have been seen to work."""
FAILURES = 5
"""How many lessons of the same group a skill tells."""
TELLING = 2
"""How many words with a meaning make a title."""

_COMMAND = re.compile(r"`[^`\s]+\s[^`]+`|`\.{0,2}/[^`]+`")
"""Something that is run, with what it is run on; a name alone is none."""
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


def made_of(state: State) -> list[Skill]:
    """The skills that the visible records make: one for each task group with a procedure that worked twice.

    The conversations in which it did must be about one task, which is what the words that their titles share name.
    """
    groups: dict[str, list[Record]] = {}
    for record in sorted(state.visible().values(), key=lambda record: (record.created, record.id)):
        groups.setdefault(record.group, []).append(record)
    made: dict[str, Skill] = {}
    for records in groups.values():
        steps = [
            r for r in records if r.kind is Kind.PROCEDURE and _COMMAND.search(r.text) and len(_worked(r)) >= TWICE
        ]
        if steps:
            skill = _skill(steps, records, state)
            if skill is not None:
                made.setdefault(skill.name, skill)
    return list(made.values())


def _worked(record: Record) -> set[str]:
    """The conversations in which a tool's own output showed it."""
    return {quote.rollout for quote in record.evidence if quote.trust is Trust.OBSERVED}


def _skill(steps: list[Record], records: list[Record], state: State) -> Skill | None:
    seen = [stem for stem in set().union(*map(_worked, steps)) if stem in state.rollouts]
    seen.sort(key=lambda stem: state.rollouts[stem].order)
    title = shared_title([state.rollouts[stem].task for stem in seen])
    if not title:
        return None
    chinese = _CJK.search(title) is not None
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()
    name = slug(title, f"skill-{digest[:8]}", fallback=title)
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
        steps=[one_line(record.text) for record in steps],
        failed=[one_line(r.text) for r in records if r.kind is Kind.LESSON and r.trust > Trust.EXTERNAL][-FAILURES:],
    )
    return Skill(name, tuple(record.id for record in steps), signed(text, below="metadata:"))


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
