"""What operations do to all that is no record: questions, transcripts, their failures and costs, skills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..ledger import Commit, Operation
from ..records import Trust
from ..state import Failure, Proposal, RolloutState, SkillState, State, Steps, candidates_of, evidence_of
from .records import fit


def _operations(items: Iterable[Mapping[str, Any]]) -> tuple[Operation, ...]:
    return tuple(Operation(item["op"], item["id"], item["facts"], item["body"]) for item in items)


def _propose(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.erased:
        return
    fit(operation, "p-")
    state.proposals[operation.id] = Proposal(
        operation.id,
        str(operation.body.get("text", "")),
        _operations(operation.body.get("operations", ())),
        str(operation.facts.get("source", commit.actor)),
        _operations(operation.body.get("on_refusal", ())),
        dict(operation.body.get("about", {})),
        at=commit.at,
    )


def _unheard(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.id in state.proposals:
        state.proposals[operation.id] = replace(state.proposals[operation.id], unheard=True)


def _decide(state: State, operation: Operation, commit: Commit, position: int) -> None:
    state.proposals.pop(operation.id, None)
    state.decided[operation.id] = bool(operation.facts.get("accepted"))
    if spent := evidence_of(operation):
        state.tombstones[operation.id] = spent


def _extract(state: State, operation: Operation, commit: Commit, position: int) -> None:
    facts, body = operation.facts, operation.body
    since, rank = facts.get("order", (commit.ordinal, position + 1))
    order = (int(since), int(rank))
    known = state.rollouts.get(operation.id, RolloutState())
    task, keywords = str(body.get("task", "")), tuple(map(str, body.get("keywords", ())))
    if not (task or keywords or body.get("candidates")):  # runs that taught nothing: it is about what it was about
        task, keywords = known.task, known.keywords
    consumed = max(0, int(facts["consumed"]))
    state.rollouts[operation.id] = RolloutState(
        consumed=consumed,
        order=order,
        updated_at=str(facts.get("updated_at", "")),
        summary_file=str(facts.get("summary_file", "")),
        terminal_state=str(facts.get("terminal_state", "")),
        task=task,
        keywords=keywords,
        told=known.told | {task, *keywords},
        usage=_sum(known.usage, facts.get("usage", {})),
        read=max(known.read, consumed),
    )
    state.failures.pop(operation.id, None)
    candidates = candidates_of(operation)
    said, last = facts.get("said", {}), facts.get("updated_at", "")
    for quote in (quote for candidate in candidates for quote in candidate.evidence):
        state.said.setdefault((quote.rollout, quote.segment), str(said.get(quote.segment) or last))
    if candidates:
        state.pending[(operation.id, commit.ordinal)] = candidates
        state.orders[(operation.id, commit.ordinal)] = order


def _sum(one: Mapping[str, int], two: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + two.get(key, 0) for key in {*one, *two}}


def _consume(state: State, operation: Operation, commit: Commit, position: int) -> None:
    known = state.rollouts.get(operation.id, RolloutState())
    consumed = max(0, int(operation.facts["consumed"]))
    state.rollouts[operation.id] = replace(known, consumed=consumed, read=max(known.read, consumed))
    if operation.facts.get("anew"):
        for key in [key for key in state.pending if key[0] == operation.id]:
            del state.pending[key]
    state.failures.pop(operation.id, None)


def _fail(state: State, operation: Operation, commit: Commit, position: int) -> None:
    before = state.failures.get(operation.id)
    attempts = int(operation.facts.get("attempts", 1)) + (before.attempts if before else 0)
    state.failures[operation.id] = Failure(str(operation.body.get("cause", "")), attempts, commit.at)


def _usage(state: State, operation: Operation, commit: Commit, position: int) -> None:
    spent = operation.facts.get("usage", {})
    if not operation.id:
        state.consolidation_usage = _sum(state.consolidation_usage, spent)
        return
    known = state.rollouts.get(operation.id, RolloutState())
    state.rollouts[operation.id] = replace(known, usage=_sum(known.usage, spent))


def _write_skill(state: State, operation: Operation, commit: Commit, position: int) -> None:
    facts = operation.facts
    state.skills[operation.id] = SkillState(
        tuple(map(str, facts.get("records", ()))),
        bool(facts.get("edited")),
        due=bool(facts.get("due")),
        text=str(operation.body.get("text", "")),
    )


def _drop_skill(state: State, operation: Operation, commit: Commit, position: int) -> None:
    if operation.facts.get("deleted"):
        state.skills[operation.id] = SkillState(state.skills.get(operation.id, SkillState()).records, dropped=True)
    else:
        state.skills.pop(operation.id, None)


def _prose(state: State, operation: Operation, commit: Commit, position: int) -> None:
    lines = operation.facts["lines"]
    state.prose[operation.id] = {str(digest): Trust.of(label) for digest, label in lines.items()}


def _arrange(state: State, operation: Operation, commit: Commit, position: int) -> None:
    lists, boxes = operation.facts["lists"], operation.facts["boxes"]
    state.lists = tuple(map(Steps.from_json, lists))
    state.boxes = {str(id): (bool(ticked), Trust.of(by)) for id, (ticked, by) in boxes.items()}


OPERATIONS: dict[str, Callable[[State, Operation, Commit, int], None]] = dict(
    propose=_propose,
    decide=_decide,
    unheard=_unheard,
    extract=_extract,
    consume=_consume,
    fail=_fail,
    usage=_usage,
    write_skill=_write_skill,
    drop_skill=_drop_skill,
    prose=_prose,
    arrange=_arrange,
)
