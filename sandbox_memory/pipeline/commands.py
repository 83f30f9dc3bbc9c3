"""What a person asks for by command: remember this, change that, forget it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ..document.additions import body_of
from ..document.carried import FLAT, retold
from ..errors import LostUpdate, SandboxMemoryError, Unknown
from ..folding.past import Wording, before_now
from ..governance.gate import Gate
from ..governance.lifetime import NO_LIFE, Life, later
from ..governance.redaction import redact
from ..ledger import Operation
from ..proposals import alike, new_id
from ..records import Kind, Record, Status, Trust
from ..state import State
from ..templates import one_line
from . import Pipeline, losses
from .forgetting import forget as forgetting

logger = logging.getLogger("sandbox_memory")

SHOWN = 80
"""Characters of a text that a message quotes."""


async def add(
    pipeline: Pipeline,
    text: str,
    *,
    kind: Kind = Kind.FACT,
    group: str = "General",
    subject: str = "",
    life: Life = NO_LIFE,
) -> Record:
    """Commit what a person asked to remember; the new record.

    Raises `SandboxMemoryError` for an empty text, for one that the application's `MemoryPolicy` does not allow, and for
    one that waits in the inbox since an agent may have given it; `ConfigError` for a `life` that is out of bounds.
    """
    line = checked(pipeline, text, one_line(subject))
    heading = pipeline.layout.preset.headings.get(kind, "Reusable knowledge")
    body = {"text": line, "group": one_line(group) or "General", "section": heading}
    body |= {"subject": one_line(subject)} if one_line(subject) else {}
    facts = {"kind": kind.value, "trust": Trust.HAND.label, "protected": True}
    id = new_id()

    def decide(state: State) -> list[Operation]:
        return [Operation("add", id, {**facts, **life.facts(later(pipeline.store.at(), state.at))}, body)]

    done = await pipeline.commit(pipeline.store.asker, decide)
    if id not in done.state.records:
        raise SandboxMemoryError(
            f"a session is open, and its agent may have given this command; {pipeline.layout.inbox} asks whether to "
            "remember it: tick it when the session is over"
        )
    return done.state.records[id]


async def revise(
    pipeline: Pipeline,
    id: str,
    text: str | None = None,
    *,
    expected_version: int | None = None,
    life: Life = NO_LIFE,
) -> Record:
    """Give a record other words, another lifetime, or both; the record as it is then.

    Raises `LostUpdate` if it is not at the `expected_version` (None: whatever it is at), `Unknown` for an id that no
    record in sight has, and `ConfigError` for a `life` that is out of bounds.
    """
    line = None if text is None else _line(text, pipeline.store.salt)

    def decide(state: State) -> list[Operation]:
        record = _standing(state, id, expected_version, line or "")
        facts: dict[str, Any] = life.facts(later(pipeline.store.at(), state.at))
        if line is None or line == record.text:
            return [Operation("revise", id, facts)] if facts else []
        facts |= {"trust": Trust.HAND.label, "protected": True, "overrule": True}
        body = {"text": line, **retold(record.markdown, record.text, line)}
        flat.append(not body.get("markdown", "-"))
        return [Operation("revise", id, facts, body)]

    flat: list[bool] = []
    record = (await pipeline.commit(pipeline.store.asker, decide)).state.records[id]
    if flat and flat[-1] and record.text == line:
        back = puts_back(before_now(pipeline.store.ledger, record), record)
        logger.warning("sandbox memory: %s; %s", FLAT.format(id), back)
    return record


async def delete(pipeline: Pipeline, id: str, *, expected_version: int | None = None) -> Record:
    """Take a record out, as deleting its line does; the record as it is then. Raises as `revise` does."""

    def decide(state: State) -> list[Operation]:
        _standing(state, id, expected_version, "")
        return [Operation("delete", id)]

    return (await pipeline.commit(pipeline.store.asker, decide)).state.records[id]


async def restore(pipeline: Pipeline, ids: Sequence[str], *, expected_version: int | None = None) -> list[Record]:
    """Bring back records that expired, or were let go, deleted or superseded; the records as they are then.

    Raises `Unknown` for an id that no record has, or whose words are erased, and of a record that is in sight, or says
    what one in sight says; `LostUpdate` for one that is not at the `expected_version` (None: whatever it is at).
    """

    def decide(state: State) -> list[Operation]:
        for id in ids:
            if id not in state.records or state.records[id].status is Status.FORGOTTEN:
                raise Unknown(f"there is no record {id} to bring back; `sandbox-memory show --all` lists them")
            record = state.records[id]
            if expected_version is not None and record.version != expected_version:
                raise LostUpdate(id, expected_version, record.version, record.text, "")
            if id in state.visible():
                raise Unknown(_in_sight(pipeline, state.records[id]))
        there = {alike(record.text): record.id for record in state.visible().values()}
        if doubled := next((id for id in ids if alike(state.records[id].text) in there), ""):
            other = there[alike(state.records[doubled].text)]
            raise Unknown(f"{doubled} need not come back: {other} says the same, and is in sight")
        gone = (id for id in ids if state.records[id].status is not Status.ACTIVE)
        return [Operation("restore", id, {"protected": True}) for id in dict.fromkeys(gone)]

    state = (await pipeline.commit(pipeline.store.asker, decide)).state
    return [state.records[id] for id in ids]


def _in_sight(pipeline: Pipeline, record: Record) -> str:
    """What to say to whoever wants a line back that is there: that what it said before can be had."""
    told = f"{record.id} is in sight already"
    if not (before := before_now(pipeline.store.ledger, record)):
        return f"{told}, and never said anything else"
    return f"{told}; {puts_back(before, record)}, and `sandbox-memory why {record.id}` shows all that it said"


def puts_back(before: Sequence[Wording], record: Record) -> str:
    """The command that puts back the last that a record said before, in other words if there were any, and what."""
    other = [wording for wording in before if wording.record.text != record.text]
    last = (other or before)[-1]
    said = f"puts back “{cut(last.record.text)}”" if other else "makes it what it was after that commit"
    return f"`sandbox-memory restore {record.id} --as-of {last.commit}` {said}"


def cut(text: str) -> str:
    """A text as a message quotes it."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


async def forget(pipeline: Pipeline, ids: Sequence[str]) -> list[Record]:
    """Forget these records, everywhere; the records as they were. Raises `Unknown` for an id that no record has."""
    outcome = await forgetting.forget(pipeline, forgetting.Wanted(ids=tuple(ids)))
    known = {record.id: record for record in outcome.records}
    return [known[id] for id in dict.fromkeys(ids)]


async def alone(pipeline: Pipeline, what: str) -> None:
    """Raise `SandboxMemoryError` while another process has an agent's session open, unless there is a key.

    With a shell that agent can give commands too, and `what` is for a person to say.
    """
    store = pipeline.store
    seen = await losses.whole(store, going_on=False)
    if not pipeline.guard.key and store.agents_elsewhere(store.others_open(seen.open_marks)[0]):
        raise SandboxMemoryError(f"an agent's session is open, and may have given this command: {what}")


def checked(pipeline: Pipeline, text: str, subject: str = "") -> str:
    """A person's words as one line to remember. Raises `SandboxMemoryError` for none, and for what is not allowed."""
    line = _line(text, pipeline.store.salt)
    if why := Gate(pipeline.layout.preset, pipeline.guard.policy).disallows(line, subject):
        raise SandboxMemoryError(f"this is not remembered: {why}")
    return line


def _line(text: str, salt: bytes) -> str:
    line = body_of(one_line(text))
    if not line:
        raise SandboxMemoryError("there is nothing to remember: the text is empty")
    clean = redact(line, salt)
    if clean != line:
        logger.warning("sandbox memory: what you gave holds a secret; a placeholder is kept in its place: “%s”", clean)
    return clean


def _standing(state: State, id: str, expected: int | None, yours: str) -> Record:
    record = state.records.get(id)
    if record is None or record.status is Status.FORGOTTEN:
        raise Unknown(f"there is no record {id}; `sandbox-memory show` lists the records with their ids")
    if expected is not None and record.version != expected:
        raise LostUpdate(id, expected, record.version, record.text, yours)
    if record.status is not Status.ACTIVE:
        raise Unknown(f"{id} is {record.status.value}; `sandbox-memory restore {id}` brings it back first")
    return record
