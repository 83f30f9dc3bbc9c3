"""Skills: procedures that worked in two conversations or more, in the Agent Skills form (agentskills.io/specification).

A skill is one folder with a `SKILL.md`: YAML front matter with `name` (the folder's, 1 to 64 lower-case letters, digits
and hyphens) and `description` (at most 1,024 characters), then markdown. The SDK's `Skills` reads that form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .notes import slug
from .records import Kind, Record, Trust
from .signed import signed
from .state import State
from .templates import one_line, render

TWICE = 2
"""In how many conversations a procedure must have been seen to work."""
FAILURES = 5
"""How many lessons of the same group a skill tells."""

_COMMAND = re.compile(r"`[^`]+`")
_CJK = re.compile(r"[\u3400-\u9fff]")


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
    """The skills that the visible records make: one for each task group with a procedure that worked twice."""
    groups: dict[str, list[Record]] = {}
    for record in sorted(state.visible().values(), key=lambda record: (record.created, record.id)):
        groups.setdefault(record.group, []).append(record)
    taken: set[str] = set()
    return [
        _skill(group, steps, records, state, taken) for group, records in groups.items() if (steps := _steps(records))
    ]


def _steps(records: list[Record]) -> list[Record]:
    return [r for r in records if r.kind is Kind.PROCEDURE and _COMMAND.search(r.text) and len(_worked(r)) >= TWICE]


def _worked(record: Record) -> set[str]:
    """The conversations in which a tool's own output showed it."""
    return {quote.rollout for quote in record.evidence if quote.trust is Trust.OBSERVED}


def _skill(group: str, steps: list[Record], records: list[Record], state: State, taken: set[str]) -> Skill:
    seen = set().union(*map(_worked, steps))
    last = max((state.rollouts[stem].updated_at[:10] for stem in seen if stem in state.rollouts), default="")
    chinese = _CJK.search(group + steps[0].text) is not None
    name = next(name for name in _names(group) if name not in taken)
    taken.add(name)
    text = render(
        "skill",
        folder=name,
        title=one_line(group),
        description=_plain(
            f"{group}：以前成功过的命令。任务属于这一类时使用。"
            if chinese
            else f"{group}: commands that worked before. Use when the task is of this kind."
        ),
        chinese=chinese,
        times=len(seen),
        last=last,
        steps=[one_line(record.text) for record in steps],
        failed=[one_line(r.text) for r in records if r.kind is Kind.LESSON and r.trust > Trust.EXTERNAL][-FAILURES:],
    )
    return Skill(name, tuple(record.id for record in steps), signed(text, below="metadata:"))


def _names(group: str) -> Iterator[str]:
    digest = hashlib.sha256(group.encode("utf-8", "replace")).hexdigest()
    yield slug(group, f"skill-{digest[:8]}", fallback=group)
    yield slug(f"skill-{digest[:8]}", fallback=group)
    yield slug(f"skill-{digest}", fallback=group)


def _plain(text: str) -> str:
    """The text as it may stand between double quotes in YAML without an escape."""
    return one_line(re.sub(r'["\\\x00-\x1f]', " ", text))
