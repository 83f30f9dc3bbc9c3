"""What a forgetting does to the records: which go, which are told from other evidence, what is asked about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ... import screening
from ...document.additions import body_of
from ...folding.records import REVERTED
from ...governance.forgetting import masked, remains, tokens
from ...governance.grounding import ungrounded
from ...governance.wording import meaning
from ...ledger import Ledger, Operation
from ...proposals import propose
from ...records import Evidence, Record, Rollout, Status
from ...state import Proposal, RolloutState, State, operation_json
from ...templates import one_line
from .files import renamed
from .history import Reach
from .words import name_before

LONGEST = 300
"""Characters of a quote that a line is told from at most."""
SAME = 0.5
"""Share of a line's words that a quote has which says the same."""
_HARD = re.compile(r"[!-~]*[\d_][!-~]*")
_CJK = re.compile("[\u3400-\u9fff]")
_TOLD = (Status.ACTIVE, Status.HELD)


class Planner:
    """Decides on one state. `before` and `after` are the transcripts as they are, and as they will be."""

    def __init__(
        self, state: State, ledger: Ledger, reach: Reach, before: Mapping[str, Rollout], after: Mapping[str, Rollout]
    ) -> None:
        self.state, self.reach, self.erasure, self.marks = state, reach, reach.erasure, reach.erasure.marks
        self.before = before
        self.items = {
            (stem, segment.id, item.index): item.text
            for stem, rollout in after.items()
            for segment in rollout.segments
            for item in segment.items
        }
        self.were = {
            (stem, segment.id, item.index): item.text
            for stem, rollout in before.items()
            for segment in rollout.segments
            for item in segment.items
        }
        self._said: dict[str, str] = {}
        self.spoiled: set[str] = set()
        self.retold: set[str] = set()
        for commit in ledger.commits:
            for operation in commit.operations:
                if reach.spoils(operation):
                    told = self.retold if operation.op in ("extract", "retitle") else self.spoiled
                    told.add(operation.id)

    def operations(self) -> list[Operation]:
        """What is to be committed; empty where nothing is left to do."""
        gone: list[str] = []
        restated: list[Operation] = []
        for record in self.state.records.values():
            if record.status is Status.FORGOTTEN:
                continue
            kept = self._judged(record)
            if kept is None:
                gone.append(record.id)
            elif kept != record or record.id in self.spoiled:
                restated.append(self._restated(kept))
        forgets = [Operation("forget", id, self._echoes(self.state.records[id])) for id in gone]
        asked = list(self._withdrawn({*gone, *self.erasure.records}))
        return [*self._anew(), *asked, *forgets, *restated, *self._rollouts(), *self._skills()]

    # ---- records

    def _judged(self, record: Record) -> Record | None:
        """The record as it is told from now on; None if it goes."""
        if record.id in self.erasure.records:
            return None
        evidence = tuple(kept for each in record.evidence if (kept := self._trimmed(each)) is not None)
        lost = evidence != record.evidence
        text, name, bad = record.text, name_before(record), self.marks.holds(record.text)
        if bad or (lost and not record.protected and ungrounded(text[len(name) :], [e.quote for e in evidence])):
            whole = [each for each in evidence if each in record.evidence]
            text = "" if bad and record.status not in _TOLD else self._from(whole, record)
            if not text:
                return None
            text = text if self.marks.holds(name) or text.startswith(name) else f"{name}{text}"
        elif lost and not evidence and not record.protected:
            return None
        if not lost and text == record.text and not self._named(record):
            return record
        trust = min((each.trust for each in evidence), default=record.trust) if text != record.text else record.trust
        return replace(
            record,
            text=text,
            evidence=evidence,
            trust=trust,
            subject=remains(masked(record.subject, self.marks)),
            group=masked(record.group, self.marks),
            section=masked(record.section, self.marks),
            owner=self._owner(record, evidence),
            markdown="" if text != record.text or self.marks.holds(record.markdown) else record.markdown,
        )

    def _owner(self, record: Record, evidence: Sequence[Evidence]) -> str:
        """Whose it is from now on: where that conversation goes, that of the same person which it is told from."""
        if not record.owner or not self.erasure.whole(record.owner):
            return renamed(record.owner, self.erasure)
        return next((each.rollout for each in evidence), "")

    def _named(self, record: Record) -> bool:
        return self.marks.holds([record.subject, record.group, record.section, record.markdown])

    def _from(self, evidence: Sequence[Evidence], record: Record) -> str:
        """A line told in the words of what is left: the most trusted quote, of these the longest.

        Only by one that says what the line said: a quote that gave it a name or a place is no line by itself.
        """
        lost = {each.rollout for each in record.evidence if each not in evidence}
        rest = remains(masked(record.text[len(name_before(record)) :], self.marks))
        fit = [
            each
            for each in evidence
            if len(each.quote) <= LONGEST
            and len(meaning(each.quote)) > 1
            and retells(each.quote, rest, beside=each.rollout in lost)
        ]
        best = max(fit, key=lambda each: (each.trust, len(each.quote)), default=None)
        return body_of(one_line(best.quote)) if best is not None and not self.marks.holds(best.quote) else ""

    def _trimmed(self, place: Evidence) -> Evidence | None:
        """A quote as it will stand in its transcript: as it is, the part of it that stays, or None."""
        if place.segment in self.erasure.segments or self.erasure.whole(place.rollout):
            return None
        key = (place.rollout, place.segment, place.item)
        was, now = self.were.get(key), self.items.get(key)
        if was is None or now is None or was[place.start : place.end] != place.quote:
            spoiled = self.reach.within(place) or self.erasure.within(place.segment).holds(place.quote)
            return None if spoiled else place
        if was == now:
            return place
        if len(was) != len(now):
            at = now.find(place.quote)
            return replace(place, start=at, end=at + len(place.quote)) if at >= 0 else None
        said = now[place.start : place.end]
        if said == place.quote:
            return place
        return _rest(place, said)

    def _restated(self, record: Record) -> Operation:
        facts: dict[str, Any] = {
            "trust": record.trust.label,
            "status": record.status.value,
            "evidence": [each.to_json() for each in record.evidence],
            "support": sorted(stem for stem in record.support if not self.erasure.whole(stem)),
        }
        body = {
            "text": record.text,
            "subject": record.subject,
            "group": record.group,
            "section": record.section,
            "quotes": [each.quote for each in record.evidence],
            **{name: value for name in ("owner", "markdown") if (value := getattr(record, name))},
        }
        made = Operation("restate", record.id, facts, body)
        same = not changes(made, self.state.records[record.id])
        return replace(made, facts={**facts, "same": True}) if same else made

    def _echoes(self, record: Record) -> dict[str, Any]:
        found = [place.to_json() for place in screening.echoes(record.evidence, self.before)]
        return {"evidence": found} if found else {}

    # ---- what waits, what is asked, and what conversations are called

    def _anew(self) -> Iterator[Operation]:
        """What was extracted of it and waits for its consolidation is read anew."""
        waiting = {
            stem
            for (stem, _), candidates in self.state.pending.items()
            for candidate in candidates
            if self.marks.holds([candidate.text, candidate.subject, candidate.task])
            or any(self.reach.within(quote) or self._trimmed(quote) != quote for quote in candidate.evidence)
        }
        yield from (Operation("consume", stem, {"consumed": 0, "anew": True}) for stem in sorted(waiting))

    def _withdrawn(self, ids: Collection[str]) -> Iterator[Operation]:
        """Take back what is asked about it; what the same question asks about others is asked anew."""
        for proposal in self.state.proposals.values():
            if not self._concerns(proposal, [*proposal.operations, *proposal.on_refusal], ids):
                continue
            yield Operation("decide", proposal.id, {"accepted": False})
            kept, refusing = (
                tuple(each for each in operations if not self._about([each], ids))
                for operations in (proposal.operations, proposal.on_refusal)
            )
            about = {id: text for id, text in proposal.about.items() if id not in ids and not self.marks.holds(text)}
            if kept and not self._says(proposal.text, ids):
                yield from propose(
                    self.state,
                    proposal.text,
                    kept,
                    source=proposal.source,
                    on_refusal=refusing,
                    again=True,
                    about=about,
                )

    def _concerns(self, proposal: Proposal, operations: Iterable[Operation], ids: Collection[str]) -> bool:
        return (
            self._says(proposal.text, ids)
            or self._about(operations, ids)
            or not set(proposal.about).isdisjoint(ids)
            or self.marks.holds(dict(proposal.about))
        )

    def _about(self, operations: Iterable[Operation], ids: Collection[str]) -> bool:
        asked = list(operations)
        named = {name for each in asked for name in (each.id, *each.facts.get("replaces", ()))}
        return not named.isdisjoint(ids) or any(self.marks.holds(operation_json(each)["body"]) for each in asked)

    def _says(self, text: str, ids: Collection[str]) -> bool:
        told = (self.state.records[id].text for id in ids if id in self.state.records)
        return self.marks.holds(text) or any(words in text for words in told if words)

    def _rollouts(self) -> Iterator[Operation]:
        for stem, known in self.state.rollouts.items():
            whole, slash, name = known.summary_file.rpartition("/")
            file = whole + slash + renamed(name, self.erasure) if name else ""
            if self.erasure.whole(stem):
                if known != RolloutState(summary_file=file, told=known.told):
                    yield Operation("drop_rollout", stem, {"summary_file": file})
                continue
            title = masked(known.task, self.marks)
            keywords = [word for word in known.keywords if self._keeps(word, stem)]
            changed = (title, keywords, file) != (known.task, list(known.keywords), known.summary_file)
            if changed or stem in self.retold:
                facts = {"summary_file": file} if file != known.summary_file else {}
                yield Operation("retitle", stem, facts, {"task": title, "keywords": keywords})

    def _keeps(self, keyword: str, stem: str) -> bool:
        """False for a keyword with forgotten words, and in a conversation of them for one that nobody said besides."""
        if stem not in self.before:
            return not self.marks.holds(keyword)
        if stem not in self._said:
            texts = (text for (of, _, _), text in self.items.items() if of == stem)
            self._said[stem] = " \0 ".join(f" {' '.join(tokens(text))} " for text in texts)
        return f" {' '.join(tokens(keyword))} " in self._said[stem] and not self.marks.holds(keyword)

    def _skills(self) -> Iterator[Operation]:
        for name, skill in self.state.skills.items():
            other = renamed(name, self.erasure)
            if not skill.text or (other == name and not self.marks.holds(skill.text)):
                continue
            facts = {"records": list(skill.records), "edited": True}
            if other != name:
                yield Operation("drop_skill", name)
            text = masked(skill.text.replace(name, other), self.marks)
            yield Operation("write_skill", other, facts, {"text": text})


def changes(restated: Operation, record: Record) -> bool:
    """True if a record is told otherwise, or from less: it is also written anew as it is where its history goes."""
    told = [restated.body.get(name, "") for name in REVERTED]
    evidence = [each.to_json() for each in record.evidence]
    return told != [getattr(record, name) for name in REVERTED] or restated.facts["evidence"] != evidence


def retells(quote: str, text: str, *, beside: bool) -> bool:
    """True if a quote says what is left of a line, names and numbers aside: the more so if it stood `beside` what goes.

    Across languages it cannot be judged, and is taken to.
    """
    own, known = (meaning(_HARD.sub(" ", each)) for each in (quote, text))
    if not own or not known or bool(_CJK.search(quote)) is not bool(_CJK.search(text)):
        return bool(own)
    least = len(known) if beside else min(len(own), len(known))
    return len(own & known) >= SAME * least


def _rest(place: Evidence, said: str) -> Evidence | None:
    """The longest part of a quote that no filler has taken the place of, if it says something."""
    best, start = (0, 0), 0
    for end in [*(at for at, char in enumerate(said) if char in "⟦⟧"), len(said)]:
        if said[start - 1 : start] != "⟦" and end - start > best[1] - best[0]:
            best = (start, end)
        start = end + 1
    part = said[best[0] : best[1]]
    part = part.strip(" \t\n,.;:，。；：-")
    lead = said.find(part, best[0]) if part else -1
    if lead < 0 or len(meaning(part)) < 2:
        return None
    return replace(place, start=place.start + lead, end=place.start + lead + len(part), quote=part)
