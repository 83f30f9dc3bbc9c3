"""Fresh ids for records, and questions that wait for a person in `INBOX.md`."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from .document import normalise
from .ledger import Operation
from .records import Status, Trust
from .state import Proposal, State, operation_json

WRITES = ("add", "supersede", "merge", "revise", "restore")
"""Operations that bring a text into the memory."""
NAMED = 3
"""Lines that a question about many of them names in the inbox."""
LONGEST = 60
"""Characters of each of them."""
_PARENTHESES = str.maketrans("()（）", "[][]")
"""What they are written with inside of the parentheses at the end of a question."""
_MARKS = str.maketrans("“”„‟＂", '"' * 5)
"""Quotation marks, as an editor or a keyboard has others."""
_ASKS = r"(?:remember|replace|delete|put back|memory_summary\.md says|MEMORY\.md was cut|\d+ lines vanished)\b"
ASKS = re.compile(rf"\W*{_ASKS}|[“\"].*[”\"] has replaced [“\"]", re.IGNORECASE)
"""How a question begins."""
_WORDED = re.compile(
    r"\W*(?:remember|put back|(?:replace\s+\".*\"\s+)?(?:by|with))\s+\"(?P<words>.+)\"[\s?？.!]*", re.IGNORECASE
)
_ENDS = " ?？.!。！"
"""What may end a question, or be gone from its end."""
OUTDONE = "a later save of that line was made without it"
"""Why it is asked about what somebody made of a line."""


def new_id() -> str:
    """A fresh record id, random: `m-` and 10 hex digits."""
    return f"m-{secrets.token_hex(5)}"


def propose(
    state: State,
    text: str,
    operations: tuple[Operation, ...],
    *,
    source: str,
    on_refusal: tuple[Operation, ...] = (),
    again: bool = False,
    about: Mapping[str, str] | None = None,
) -> Iterator[Operation]:
    """The operation that asks this in the inbox; nothing if the same is being asked already.

    What was answered before is not asked once more, unless it came up `again`. `about` are the records as they are when
    it is asked, by default as they are in `state`. A question shows one line of each text: where no person wrote
    it, no more than that is taken in.
    """
    operations = tuple(map(_in_a_line, operations))
    key = "\n".join([text, *(f"{o.op} {o.facts.get('replaces', o.id)} {o.body.get('text', '')}" for o in operations)])
    id = _id(key)
    while again and id in state.decided:
        id = _id(key := f"{key}\nagain")
    if id in state.proposals or id in state.decided:
        return
    if about is None:
        names = {name for o in operations for name in (o.id, *o.facts.get("replaces", ())) if name in state.records}
        about = {name: state.records[name].text for name in sorted(names)}
    body = {
        "text": text,
        "operations": [operation_json(operation) for operation in operations],
        "on_refusal": [operation_json(operation) for operation in on_refusal],
        "about": dict(about),
    }
    yield Operation("propose", id, {"source": source}, body)


def _in_a_line(operation: Operation) -> Operation:
    """The operation without the blocks of a text that is not a person's: the same words, but none of its lines."""
    if not operation.body.get("markdown") or operation.facts.get("trust") == Trust.HAND.label:
        return operation
    return replace(operation, body={**operation.body, "markdown": ""})


def question(new: str | None, old: str | None) -> str:
    """The question whether one text is to be remembered, to replace another, or to be deleted."""
    if new is None:
        return f"delete “{old}”?"
    return f"remember “{new}”?" if old is None else f"replace “{old}” by “{new}”?"


def outdone(state: State, id: str, was: str, now: str | None) -> Iterator[Operation]:
    """The question that keeps what a record says where a save puts `now` in its place, or takes it out (None).

    `was` is what the record said in the file that the save was made from; `state` has what somebody else made of it
    since. Nothing is asked where nobody did, where both say the same, or where `now` goes on from what is there.
    """
    record = state.records[id]
    if record.status is not Status.ACTIVE or normalise(record.text) in (normalise(was), normalise(now or "")):
        return
    if now and _goes_on(normalise(record.text), normalise(was), normalise(now)):
        return
    facts = {"trust": record.trust.label, "protected": True, "overrule": True}
    body = {"text": record.text, "group": record.group, "section": record.section}
    body |= {"markdown": record.markdown} if record.markdown else {}
    kept = Operation("revise" if now else "restore", id, facts, body)
    what = question(record.text, now) if now else f"put back “{record.text}”?"
    who = record.origin if record.origin in _ORIGINS else "hand"
    yield from propose(state, what, (kept,), source=f"{who}; {OUTDONE}", again=True, about={id: now or record.text})


def alike(text: str) -> str:
    """A text as lines are compared of which one is enough: without regard to case and to what ends it."""
    return normalise(text).casefold().rstrip(" .!?。！？")


def released(state: State, ids: Iterable[str]) -> Iterator[Operation]:
    """The operations that let held lines back in; one that another in sight says too does not come back beside it."""
    there = {alike(record.text): record.id for record in state.visible().values()}
    for id in ids:
        by = there.get(alike(state.records[id].text)) if state.records[id].status is Status.HELD else None
        yield Operation("release", id, {"by": by} if by else {})


def _goes_on(theirs: str, was: str, now: str) -> bool:
    """True if a text begins as that one does, and brings nothing back that it had left out."""
    left = Counter(was.split()) - Counter(theirs.split())
    return now.startswith(theirs.rstrip(" .!。！")) and not left & (Counter(now.split()) - Counter(theirs.split()))


def _id(key: str) -> str:
    return f"p-{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:10]}"


def line(proposal: Proposal) -> str:
    """How the question stands in the inbox, without its box and its id."""
    unheard = "; answered while an agent's session was open, please answer again" if proposal.unheard else ""
    texts = listed(proposal)
    few = ", ".join(f"“{_short(text)}”" for text in texts[:NAMED])
    more = f" and {len(texts) - NAMED:,} more" if len(texts) > NAMED else ""
    return f"{' '.join(proposal.text.split())} (from {origin(proposal)}{unheard}{f': {few}{more}' if few else ''})"


def listed(proposal: Proposal) -> list[str]:
    """The lines that a question about several of them is about, where it does not name them itself."""
    if len(proposal.operations) < 2 or any(operation.op in WRITES for operation in proposal.operations):
        return []
    return [proposal.about[each.id] for each in proposal.operations if each.id in proposal.about]


def _short(text: str) -> str:
    plain = " ".join(text.translate(_PARENTHESES).split())
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST].rstrip()}…"


def asks(text: str) -> str:
    """A question as it is compared: without regard to its quotation marks, to case and to what ends it."""
    return normalise(text).translate(_MARKS).casefold().rstrip(_ENDS)


def framed(said: str, proposal: Proposal) -> str:
    """The words between the quotation marks of a question where those to be remembered stand; empty if it is another.

    `said` is the question as a person left it, without the source at its end.
    """
    first = next((operation for operation in proposal.operations if operation.op in WRITES), None)
    if first is None:
        return ""
    text = str(first.body.get("text", proposal.about.get(first.id, "")))
    for form in (_squeezed, normalise):  # a formatter may have written it with escapes
        found, asked, old = form(said), form(proposal.text).translate(_MARKS), form(text).translate(_MARKS)
        bare = found.translate(_MARKS).rstrip(_ENDS)
        for at in re.finditer(re.escape(f'"{old}"'), asked):
            before, after = asked[: at.start() + 1], asked[at.end() - 1 :].rstrip(_ENDS)
            words = found[len(before) : len(bare) - len(after)].strip()
            if words and bare.startswith(before) and bare.endswith(after):
                return words
    return ""


def instead(said: str, proposal: Proposal) -> str:
    """The words that stand in a question in place of those to be remembered, or in place of the whole of it.

    Empty where it is not clear what is to be remembered: in a question that remembers nothing, or one that was changed
    outside of its quotation marks.
    """
    if not any(operation.op in WRITES for operation in proposal.operations):
        return ""
    said = _squeezed(said)
    if words := framed(said, proposal):
        return words
    if found := _WORDED.fullmatch(said.translate(_MARKS)):
        return said[found.start("words") : found.end("words")].strip()
    if ASKS.match(normalise(said)):
        return ""
    # What is left of the question behind words of a person's own is no part of them.
    asked = proposal.text.translate(_MARKS)
    left = [asked[at.start() :] for at in re.finditer('"', asked)]
    left += [each[1:] for each in left] + [each.rpartition("; ")[2] for each in left if "; " in each] + ["?", "？"]
    end = max((each for each in left if said.translate(_MARKS).endswith(each)), key=len, default="")
    words = said[: len(said) - len(end)].rstrip(" ;")
    marked = words.translate(_MARKS)
    if marked[:1] == '"' and (marked.count('"') == 1 or (marked.count('"') == 2 and marked[-1] == '"')):
        words = words[1:].rstrip('“”„‟＂"')
    return words.strip()


def _squeezed(text: str) -> str:
    return " ".join(text.split())


_ORIGINS = {
    "live": "what an agent changed in the files during its session",
    "hand": "what you changed in the files",
    "import": "the files that were there before",
    "consolidation": "several conversations",
    "cli": "a command",
    "web": "the page",
}


def origin(proposal: Proposal) -> str:
    """Where a question comes from, for people: which conversations or whose edit, the day, and why it is asked."""
    who, _, why = proposal.source.partition("; ")
    names = who.split(", ")
    if who in _ORIGINS:
        who = _ORIGINS[who]
    elif not any(" " in name for name in names):
        who = f"the conversation{'s' if len(names) > 1 else ''} {who}"
    day = f", {proposal.at[:10]}" if proposal.at else ""
    return f"{who}{day}{f'; {why}' if why else ''}"
