"""Skills on disk: what people made of them is theirs, the others follow the records that they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..governance.redaction import redact
from ..ledger import Operation
from ..records import Kind
from ..skills import Skill, file_of, follows, made_of
from ..state import SkillState, State
from ..trusting.signed import is_ours, signature
from ..workspace import ABSENT, Remove, Replace, View, digest
from .settle import Change, Maker, Prepared
from .store import Step, Store


def paths(store: Store, state: State, made: Sequence[Skill]) -> list[str]:
    """The files that `settle` has to see; `made` are the skills that the records make."""
    return [store.layout.memory(file_of(name)) for name in _names(state, made)]


def _names(state: State, made: Sequence[Skill]) -> list[str]:
    known = [name for name, skill in state.skills.items() if not skill.dropped]
    return list(dict.fromkeys([*known, *(skill.name for skill in made)]))


def touched(done: Prepared) -> bool:
    """True if lines of which a skill may be made came, changed or went, so that its file may have to follow."""
    commits = done.ledger.commits[len(done.ledger) - done.committed :]
    back = any(operation.op in ("restore", "revert") for each in commits for operation in each.operations)
    if not back and all(skill.dropped for skill in done.state.skills.values()):
        return False
    ids = {id for each in commits for o in each.operations for id in (o.id, *o.facts.get("replaces", ()))}
    kinds = {done.state.records[id].kind for id in ids if id in done.state.records}
    return not kinds.isdisjoint((Kind.PROCEDURE, Kind.LESSON))


async def settle(store: Store, state: State, made: Sequence[Skill], view: View, actor: str) -> list[Maker]:
    """Bring the files up to `state`, of whose records the skills are `made`, and give what is to be committed of them.

    `view` shows `paths`; what cannot be read is left alone. A skill that is missing was deleted by a person, unless the
    memory was lost. The files are written before their commit, and a new one is announced before that: so a crash in
    between is no deletion, and leaves no file that nobody knows.
    """
    places = {name: store.layout.memory(file_of(name)) for name in _names(state, made)}
    files = {name: view.files.get(path) for name, path in places.items() if path not in view.problems}
    told = {
        name: operation
        for name, data in files.items()
        if (known := state.skills.get(name)) and (operation := _told(name, known, data, made, state, lost=store.lost))
    }
    claimed = {name: known for name, known in state.skills.items() if known.edited or known.dropped or name in told}
    wanted = {
        skill.name: skill
        for skill in made
        if skill.name not in claimed and not any(follows(known, [skill], state) for known in claimed.values())
    }
    fresh = [name for name in wanted if name not in state.skills and name in files and files[name] is None]
    if fresh:
        announced = [_written(wanted[name], due=True) for name in fresh]
        state = await store.append(_committed("consolidation", announced, state))
    done: list[Operation] = []
    steps: list[Step] = []
    for name, data in files.items():
        if name not in claimed:
            done += _brought_up(state.skills.get(name), wanted.get(name), name, places[name], data, steps)
        elif data is None and name not in told and (text := claimed[name].text):
            steps.append(Replace(places[name], text.encode("utf-8", "replace"), expect=ABSENT))
    if steps:
        await store.write(steps)
    if not told and not done:
        return []
    return [_committed(actor, list(told.values()), state), _committed("consolidation", done, state)]


def _told(
    name: str, known: SkillState, data: bytes | None, made: Sequence[Skill], state: State, *, lost: bool
) -> Operation | None:
    """What a person did to the skill since, if anything."""
    if known.dropped:
        return None
    if data is None:
        missed = _wanted(known, made, state) and not lost
        return Operation("drop_skill", name, {"deleted": True}) if missed else None
    if is_ours(data):
        return None
    text = redact(data.decode("utf-8", "replace"))
    if text == known.text or (known.edited and not known.text):  # what was forgotten in it is not taken in again
        return None
    return Operation("write_skill", name, {"records": list(known.records), "edited": True}, {"text": text})


def _brought_up(
    known: SkillState | None, skill: Skill | None, name: str, path: str, data: bytes | None, steps: list[Step]
) -> list[Operation]:
    """What follows for a skill that is nobody's but ours; adds the step that writes or removes its file."""
    if data is not None and not is_ours(data):
        return []
    expect = ABSENT if data is None else digest(data)
    if skill is None:
        if known is not None and data is not None:
            steps.append(Remove(path, expect=expect))
        return [Operation("drop_skill", name)] if known is not None else []
    if data is None or signature(data) != signature(skill.data):
        steps.append(Replace(path, skill.data, expect=expect))
    if known is not None and known.records == skill.records and not known.due:
        return []
    return [_written(skill)]


def _written(skill: Skill, *, due: bool = False) -> Operation:
    facts: Mapping[str, object] = {"records": list(skill.records), **({"due": True} if due else {})}
    return Operation("write_skill", skill.name, facts)


def _committed(actor: str, operations: Sequence[Operation], seen: State) -> Maker:
    """Commits what holds still: another process may have written or removed the files that were looked at."""

    def maker(now: State) -> Change:
        kept = [each for each in operations if now.skills.get(each.id) == seen.skills.get(each.id)]
        if now.ordinal != seen.ordinal and any(each.facts.get("deleted") for each in kept):
            made = made_of(now)
            kept = [each for each in kept if not each.facts.get("deleted") or _wanted(now.skills[each.id], made, now)]
        return Change(actor, tuple(kept))

    return maker


def _wanted(known: SkillState, made: Sequence[Skill], state: State) -> bool:
    """True if the file of that skill should be there."""
    return known.edited or (not known.due and follows(known, made, state))
