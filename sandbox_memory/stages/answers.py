"""Answers: what a person decided in `INBOX.md`, however they wrote it.

A ticked line is a yes, a deleted one a no, and a line with other words in it a question in those words: ticked, they
are what is remembered. Whatever is only half written decides nothing, and is asked again; so is what stands in a code
block, a block quote or a comment, as long as it stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ..document import Document, ListItem, normalise, safe_text
from ..ledger import Operation
from ..proposals import ASKS, WRITES, alike, asks, framed, instead, line, question, released
from ..records import Status, Trust
from ..state import Proposal, State, operation_json

NEAR = 0.75
"""How alike a line without an id must be to a question to be that question, changed."""
BEGUN = 12
"""How many characters of a question tell that a line which breaks off is the beginning of it."""
_BOX = re.compile(r"\s*\\?[\[［【]\s*(?P<mark>[^\]］】]?)\s*\\?[\]］】](?!\()\s*")
_TICKS = "xX×ｘＸ√✓✔☑vV"
_TORN = re.compile(
    rf"\s*(?:\\?[\[［【](?![^\[\]［］【】]*[\]］】])\s*[{_TICKS[:-2]}]?|\\?[\[［【]\s*[{_TICKS}]?(?!\w)|[{_TICKS}]?\s*\\?[\]］】]|[{_TICKS}]\s|"
    r"\\?[\[［【][^\]］】]{0,5}\\?[\]］】](?![(\[]))\s*"
)
"""A box that is half written, or has more than a mark in it: no tick, and no part of the words behind it."""
_STUB = re.compile(r"[\s\\\[\]［］【】xX√✓✔]*")
_SOURCE = re.compile(r"\s*[(（]from [^()（）]*(?:[(（][^()（）]*[)）][^()（）]*)*[)）]?\s*$")
_TORN_ID = re.compile(r"\s*\^p?-?[0-9a-f]{0,10}$")
_LINE_ID = re.compile(r"\^(p-[0-9a-f]{10})\b")
_BULLET = re.compile(r"^[ \t>]*(?:[-+*•]|\d{1,9}[.)])?[ \t]*")

_UNSEEN = ("html_block", "blockquote_open")
_QUOTED = re.compile(r"[ \t]*(?:(?:[-+*•]|\d{1,9}[.)])[ \t]+)*>")
_DONE = re.compile(r"\s*✅\ufe0f?\s*\d{4}-\d\d-\d\d(?=\s|$)")
"""The day that Obsidian's plugin Tasks writes behind what is ticked."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """What stands at one question. `words` are the person's own, where they changed those to be remembered."""

    ticked: bool
    words: str = ""


_OPEN = Answer(False)


@dataclass(frozen=True)
class Part:
    """A part of the file, and the lines of it, from 0, that are code, quotation, HTML or comment in the file."""

    document: Document
    hidden: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Page:
    """The questions that stand in a file. One that is missing was refused, unless the file does not say so (`torn`).

    `taken` are the indices of the items of our block that are questions, `unseen` those ticked where no tick counts,
    and `joined` those that share a line with another: that line answers none of them.
    """

    answers: Mapping[str, Answer]
    torn: bool
    taken: frozenset[int] = frozenset()
    unseen: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()


def hidden(document: Document) -> frozenset[int]:
    """The lines, from 0, that are code, quotation, HTML or comment: what is ticked there is no answer."""
    outline = document.outline
    spans = [*outline.code, *((start, end) for kind, start, end in outline.top if kind in _UNSEEN)]
    spans += [(leaf.start, leaf.end) for node in outline.nodes for leaf in node.leaves if leaf.kind in ("html", "code")]
    found = {line for start, end in spans for line in range(start, end)}
    found |= {line for line, (content, _) in enumerate(document.lines) if _QUOTED.match(content)}
    text = "\n".join(content for content, _ in document.lines)
    for comment in _COMMENT.finditer(text):
        line, before = text.count("\n", 0, comment.start()), text[: comment.start()].rpartition("\n")[2]
        first = line if _BULLET.fullmatch(before) else line + 1
        found |= set(range(first, line + 1 + comment.group().count("\n")))
    return frozenset(found)


def read(block: Part | None, beside: Sequence[Part], past: State, now: State) -> Page:
    """What stands in our block, None where there is none, and beside it. `past` is the state that the block shows."""
    found: dict[str, list[Answer]] = {}
    taken: set[int] = set()
    unseen: set[str] = set()
    joined: set[str] = set()
    torn = block is None

    def hear(id: str, text: str, ticked: bool, known: Mapping[str, Proposal], *, visible: bool) -> None:
        whose = _whose(text, id, known)
        if whose != id:
            found.setdefault(id, []).append(_OPEN)
        answer = _answer(text, ticked, known[whose])
        unseen.update({whose} if answer.ticked and not visible else ())
        found.setdefault(whose, []).append(answer if visible else _OPEN)

    for part in (*([block] if block else []), *beside):
        document = part.document
        known = now.proposals if part is not block else {**past.proposals, **now.proposals}
        for item in document.items:
            several = known.keys() & _ids(document, item)
            if len(several) > 1:
                joined |= several
                taken |= {item.index} if part is block else set()
                continue
            text, ticked = _boxed(_DONE.sub("", item.text), item.checked)
            id = item.id if item.id in known else _meant(text, known, loose=part is block)
            if id:
                hear(id, text, ticked, known, visible=item.line - 1 not in part.hidden)
                taken |= {item.index} if part is block else set()
            elif part is block and item.id.startswith("p-"):
                taken.add(item.index)
        listed = {item.id for item in document.items} | joined
        for number, (content, _) in enumerate(document.lines):
            ids, bare = _LINE_ID.findall(content), _BULLET.sub("", content, count=1)
            several = known.keys() & set(ids)
            if len(several) > 1:
                joined |= several
            elif ids and ids[-1] in known and ids[-1] not in listed:
                # Indented too far, in a table, without its bullet: no list item.
                text, ticked = _boxed(_DONE.sub("", _LINE_ID.sub("", bare)))
                hear(ids[-1], text, ticked, known, visible=number not in part.hidden)
            torn = torn or (part is block and bool(content.strip() and _STUB.fullmatch(bare)))
    said = {**dict.fromkeys(joined, _OPEN), **{id: _joined(each) for id, each in found.items()}}
    unseen = {id for id in unseen if not said[id].ticked}
    return Page(said, torn, frozenset(taken), frozenset(unseen), frozenset(joined))


def _ids(document: Document, item: ListItem) -> set[str]:
    """The ids in the source of an item, to the next item or blank line."""
    ids, first = set[str](), item.line - 1
    others = {each.line - 1 for each in document.items} - {first}
    for number, (content, _) in enumerate(document.lines[first:], first):
        if number in others or not content.strip():
            break
        ids.update(_LINE_ID.findall(content))
    return ids


def answers(page: Page, past: State, now: State) -> Iterator[Operation]:
    """What the page decides, as operations; a yes to something that is not any more as it was asked has no effect."""
    for proposal in {**past.proposals, **now.proposals}.values():
        if proposal.id not in now.proposals:
            continue
        answer = page.answers.get(proposal.id)
        if answer is None:
            if not page.torn and proposal.id in past.proposals:
                yield from refused(proposal, now)
        elif answer.ticked:
            yield from accepted(proposal, now, words=answer.words, by_hand=True)
        elif answer.words:
            yield from _asked_in(answer.words, proposal)


def unheard(page: Page, past: State, now: State) -> Iterator[Operation]:
    """The same while a session is open: the agent may have answered, so nothing is decided, and all is asked again."""
    for operation in answers(page, past, now):
        if operation.op == "decide" and not now.proposals[operation.id].unheard:
            yield Operation("unheard", operation.id)


def refused(proposal: Proposal, now: State, **facts: str) -> Iterator[Operation]:
    """The operations of a no. The quotes of what was refused are spent: no other wording of it is asked about."""
    spent = _quoted(proposal)
    yield Operation("decide", proposal.id, {"accepted": False, **facts, **({"evidence": spent} if spent else {})})
    held = [each.id for each in proposal.on_refusal if each.op == "release" and each.id in now.records]
    yield from (each for each in proposal.on_refusal if each.id not in held)
    yield from released(now, held)


def accepted(
    proposal: Proposal, now: State, *, words: str = "", by_hand: bool = False, **facts: str
) -> Iterator[Operation]:
    """The operations of a yes, as far as the records that they are about are as they were when it was asked.

    What a person accepts is as good as written by hand; in their own `words` it rests on nothing else.
    """
    spent = _quoted(proposal) if words else []
    yield Operation("decide", proposal.id, {"accepted": True, **facts, **({"evidence": spent} if spent else {})})
    here = {alike(record.text) for record in now.visible().values()}
    wanted = [_by_hand(o, words) if by_hand and o.op in WRITES else o for o in proposal.operations]
    for operation in wanted:
        old = now.records.get(operation.id) if operation.op == "restore" else None
        text = str(operation.body.get("text", old.text if old else ""))
        known = operation.op in ("add", "restore") and alike(text) in here
        if not known and _stands(operation, proposal, now):
            yield operation


def at_home(part: Part, now: State) -> tuple[frozenset[str], frozenset[int]]:
    """What stands beside our block: the questions that may stay where a person put them, and the items that must go."""
    stay, go = set[str](), set[int]()
    for item in part.document.items:
        if not item.id.startswith("p-") or item.line - 1 in part.hidden:
            continue
        proposal = now.proposals.get(item.id)
        same = proposal and item.checked is False and item.normal == normalise(line(proposal))
        if same and item.id not in stay:
            stay.add(item.id)
        else:
            go.add(item.index)
    return frozenset(stay), frozenset(go)


def _meant(text: str, known: Mapping[str, Proposal], *, loose: bool) -> str:
    """The question that a line without an id is: word by word, or in our block also its beginning, or much like it."""
    plain = normalise(_TORN_ID.sub("", text))
    shown = {id: normalise(line(proposal)) for id, proposal in known.items()}
    bare = {id: normalise(proposal.text) for id, proposal in known.items()}
    whole = [id for id in known if plain in (shown[id], bare[id])]
    if whole or not loose or len(plain) < BEGUN:
        return whole[0] if whole else ""
    begun = [id for id in known if shown[id].startswith(plain)]
    if begun:
        return begun[0]
    alike = {id: SequenceMatcher(None, _without_source(plain), bare[id], autojunk=False).ratio() for id in known}
    best = max(alike, key=lambda id: alike[id], default="")
    return best if best and alike[best] >= NEAR else ""


def _boxed(text: str, checked: bool | None = None) -> tuple[str, bool]:
    """A line without its box, and whether it is ticked; `checked` is what the markdown says, None for no box."""
    box = _BOX.match(text)
    if box and (checked is None or box["mark"].strip() in _TICKS):
        return text[box.end() :], bool(checked or (checked is None and box["mark"] and box["mark"] in _TICKS))
    torn = _TORN.match(text) if checked is None else None
    if torn and (torn.group().strip() not in _TICKS or ASKS.match(text[torn.end() :])):
        return text[torn.end() :], False
    return text, bool(checked)


def _whose(text: str, id: str, known: Mapping[str, Proposal]) -> str:
    """The question whose words stand at the id of one: that one, unless they are those of another as it is asked."""
    said = _TORN_ID.sub("", text)
    plain, bare = normalise(said), _without_source(said).strip()
    if len(plain) < BEGUN or _begins(plain, known[id]) or asks(bare) == asks(known[id].text):
        return id
    others = {other: proposal for other, proposal in known.items() if other != id}
    whole = [o for o, proposal in others.items() if asks(bare) == asks(proposal.text) or _begins(plain, proposal)]
    if whole or not ASKS.match(bare) or framed(bare, known[id]):
        return whole[0] if whole else id
    names = {o: any(normalise(old) in plain for old in proposal.about.values()) for o, proposal in others.items()}
    return next((o for o, proposal in others.items() if names[o] and framed(bare, proposal)), id)


def _begins(plain: str, proposal: Proposal) -> bool:
    return normalise(line(proposal)).startswith(plain)


def _answer(text: str, ticked: bool, proposal: Proposal) -> Answer:
    text = _COMMENT.sub("", text).strip()
    if not text:
        return _OPEN
    said, asked = _TORN_ID.sub("", text), normalise(proposal.text)
    plain, bare = normalise(said), _without_source(said).strip()
    if asks(bare) == asks(asked):
        return Answer(ticked)
    if _begins(plain, proposal):
        return Answer(ticked and plain.startswith(asked))
    if not bare or asks(asked) in asks(bare):
        return _OPEN  # with a word before it or behind it that may say anything: “don't remember …”
    words = instead(bare, proposal)
    return Answer(ticked and bool(words), "" if _is_asked(words, proposal) else words)


def _is_asked(words: str, proposal: Proposal) -> bool:
    texts = [str(o.body.get("text", "")) for o in proposal.operations if o.op in WRITES]
    return normalise(words) in {normalise(text) for text in texts}


def _joined(found: Sequence[Answer]) -> Answer:
    """Of copies of one line a ticked one counts, and one with other words."""
    return next((a for a in found if a.ticked and a.words), next((a for a in found if a.ticked), found[0]))


def _without_source(text: str) -> str:
    return _SOURCE.sub("", text)


def _quoted(proposal: Proposal) -> list[dict[str, object]]:
    return [place for o in proposal.operations for place in o.facts.get("evidence", ())]


def _by_hand(operation: Operation, words: str) -> Operation:
    facts = {**operation.facts, "trust": Trust.HAND.label}
    if not words:
        return replace(operation, facts=facts)
    facts = {**{key: value for key, value in facts.items() if key != "evidence"}, "protected": True}
    body = {key: value for key, value in operation.body.items() if key not in ("quotes", "markdown")}
    return replace(operation, facts=facts, body={**body, "text": safe_text(words)})


def _asked_in(words: str, proposal: Proposal) -> Iterator[Operation]:
    """The same question, in the words that a person put into it without ticking it."""
    first = next(o for o in proposal.operations if o.op in WRITES)
    named = [first.id, *first.facts.get("replaces", ())]
    old = next((proposal.about[id] for id in named if id in proposal.about), None)
    body = {
        "text": question(safe_text(words), old),
        "operations": [operation_json(_by_hand(o, words) if o is first else o) for o in proposal.operations],
        "on_refusal": [operation_json(o) for o in proposal.on_refusal],
        "about": dict(proposal.about),
    }
    yield Operation("propose", proposal.id, {"source": proposal.source}, body)


def _stands(operation: Operation, proposal: Proposal, now: State) -> bool:
    """True if the records that an operation is about are as they were when it was proposed."""
    held = {each.id for each in proposal.on_refusal}
    for id in (operation.id, *operation.facts.get("replaces", ())):
        if id not in proposal.about:
            continue
        record = now.records[id]
        fit = {Status.HELD} if id in held else {Status.ACTIVE}
        if operation.op == "restore":
            fit = {Status.DELETED, Status.SUPERSEDED}
        if record.status not in fit or normalise(record.text) != normalise(proposal.about[id]):
            return False
    return True
