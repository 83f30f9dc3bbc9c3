"""Skills on disk: what people made of them is theirs, the others follow the records that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..governance.redaction import redact
from ..ledger import Operation
from ..signed import is_ours
from ..skills import Skill, file_of
from ..state import SkillState, State
from ..workspace import ABSENT, Remove, Replace, View, digest
from .settle import Change, Maker
from .store import Step, Store


def paths(store: Store, state: State, made: Sequence[Skill]) -> list[str]:
    """The files that `settle` has to see; `made` are the skills that the records make."""
    names = [*(name for name, skill in state.skills.items() if not skill.dropped), *(skill.name for skill in made)]
    return [store.layout.memory(file_of(name)) for name in dict.fromkeys(names)]


async def settle(
    store: Store, state: State, made_of: Sequence[Skill], view: View, actor: str, *, whole: bool
) -> list[Maker]:
    """Bring the files up to `state`, of whose records the skills are made, and give what is to be committed of them.

    `view` shows `paths`; what cannot be read is left alone. `whole` says that the handbook was there: then a skill that
    is missing was deleted, unless all are, which is a folder that was lost. The files are written before their commit:
    a crash in between leaves a file that says what it should.
    """
    made = {skill.name: skill for skill in made_of}
    names = [*state.skills, *(name for name in made if name not in state.skills)]
    places = {name: store.layout.memory(file_of(name)) for name in names}
    found = {name: view.files.get(path) for name, path in places.items() if path not in view.problems}
    standing = [name for name, skill in state.skills.items() if not skill.dropped]
    lost = not whole or (len(standing) > 1 and not any(found.get(name) for name in standing))
    told: list[Operation] = []
    done: list[Operation] = []
    steps: list[Step] = []
    for name, data in found.items():
        each = _One(name, state.skills.get(name), made.get(name), data, places[name], lost)
        told += each.told()
        done += each.done(steps)
    if steps:
        await store.write(steps)
    return [_committed(actor, told), _committed("consolidation", done)] if told or done else []


def _committed(actor: str, operations: Sequence[Operation]) -> Maker:
    return lambda now: Change(actor, tuple(operations))


@dataclass(frozen=True)
class _One:
    """One skill: as the ledger knows it, as the records make it, and as its file is."""

    name: str
    known: SkillState | None
    made: Skill | None
    data: bytes | None
    path: str
    lost: bool

    @property
    def gone(self) -> bool:
        """True if a person deleted the file, now or before."""
        return self.known is not None and (self.known.dropped or (self.data is None and not self.lost))

    @property
    def theirs(self) -> bool:
        """True if what stands there, or stood, is a person's."""
        return (self.data is not None and not is_ours(self.data)) or (self.known is not None and self.known.edited)

    def told(self) -> list[Operation]:
        """What a person did to it."""
        if self.known is None or self.known.dropped:
            return []
        if self.gone:
            return [Operation("drop_skill", self.name, {"deleted": True})]
        if self.data is None or is_ours(self.data):
            return []
        text = redact(self.data.decode("utf-8", "replace"))
        if text == self.known.text:
            return []
        return [
            Operation("write_skill", self.name, {"records": list(self.known.records), "edited": True}, {"text": text})
        ]

    def done(self, steps: list[Step]) -> list[Operation]:
        """What follows for a skill that is nobody's but ours; adds the step that writes it."""
        expect = ABSENT if self.data is None else digest(self.data)
        if self.gone:
            return []
        if self.theirs:
            if self.known is not None and self.known.text and self.data is None:
                steps.append(Replace(self.path, self.known.text.encode("utf-8", "replace"), expect=expect))
            return []
        if self.made is None:
            if self.data is not None:
                steps.append(Remove(self.path, expect=expect))
            return [Operation("drop_skill", self.name)]
        if self.data != self.made.data:
            steps.append(Replace(self.path, self.made.data, expect=expect))
        if self.known is not None and self.known.records == self.made.records:
            return []
        return [Operation("write_skill", self.name, {"records": list(self.made.records)})]
