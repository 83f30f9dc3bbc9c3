"""From how a person names what is to be forgotten to what recognises it: the words are known here, and only here."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...document import Document
from ...errors import SandboxMemoryError, Unknown
from ...governance.forgetting import Erasure, Marks, tokens
from ...ledger import Ledger
from ...records import Evidence, Item, Record, Rollout, Segment, Status, Trust
from ...sameness import said, topic
from ...state import State, candidates_of
from .planning import retells
from .words import Target, Words, name_before, within


@dataclass(frozen=True)
class Wanted:
    """What is to be forgotten, in one or several ways: records by id, by subject; conversations; users; words; all."""

    ids: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    rollouts: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    everything: bool = False

    @property
    def way(self) -> str:
        """The ways that are used, in one word each."""
        named = (
            ("id", self.ids),
            ("subject", self.subjects),
            ("rollout", self.rollouts),
            ("user", self.users),
            ("text", self.texts),
            ("everything", self.everything),
        )
        return "+".join(name for name, value in named if value)


class Naming:
    """Finds it in one memory as it is. `notes` are the texts that were derived of each conversation, by its stem."""

    def __init__(
        self,
        state: State,
        ledger: Ledger,
        rollouts: dict[str, Rollout],
        notes: Mapping[str, Sequence[str]],
        handbook: Document,
    ) -> None:
        self.state, self.ledger, self.rollouts = state, ledger, rollouts
        self.notes, self.handbook = notes, handbook
        self.target = Target()
        self.talks: dict[str, list[tuple[str, str]]] = {}
        """What was said in conversations of which all of it, or all of a user's words, are meant: run and text."""

    def find(self, wanted: Wanted) -> Target:
        """Raises `Unknown` for what there is not, and `SandboxMemoryError` for words without a letter or digit."""
        target = self.target
        for text in wanted.texts:
            self._text(text)
        for name in wanted.users:
            self._user(name)
        for id in wanted.rollouts:
            self._rollout(self._stem(id))
        if wanted.everything:
            for stem in sorted({*self.rollouts, *self.state.rollouts}):
                self._rollout(stem)
            living = (record.id for record in self.state.records.values() if record.status is not Status.FORGOTTEN)
            target.records.update(dict.fromkeys(living))
        target.wide += target.spans
        self._resting()
        for id in [*wanted.ids, *(id for subject in wanted.subjects for id in self._of_subject(subject))]:
            if id not in self.state.records or self.state.records[id].status is Status.FORGOTTEN:
                raise Unknown(f"there is no record {id}; `sandbox-memory show` lists the records with their ids")
            target.records[id] = None
        for id in target.records:
            target.spans += (*self._own(self.state.records[id]), *self.state.tombstones.get(id, ()))
        words = Words(target, self.state, self.rollouts)
        self._words(words)
        self._echoes(words)
        self._names(words)
        return target

    def erasure(self, at: str, actor: str, way: str) -> Erasure:
        """What is kept of the target."""
        target, salt = self.target, secrets.token_hex(16)
        marks = Marks.of(salt, target.rows)
        return Erasure(
            id=f"f-{secrets.token_hex(5)}",
            at=at,
            actor=actor,
            way=way,
            marks=marks,
            local={segment: Marks.of(salt, rows) for segment, rows in target.local.items()},
            segments=frozenset(target.segments),
            stems=frozenset(marks.digest(stem) for stem in target.stems),
            names=frozenset(marks.digest(name) for name in target.names),
            records=frozenset(target.records),
            topics=frozenset(marks.digest(about) for about in map(topic, self._forgotten()) if about),
        )

    def _forgotten(self) -> list[Record]:
        return [self.state.records[id] for id in self.target.records]

    # ---- the ways

    def _text(self, text: str) -> None:
        row = tokens(text)
        if not row:
            raise SandboxMemoryError(f"there is no word in {text!r} that could be looked for")
        self.target.rows.add(row)
        plain = tokens(unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode())
        if len(plain) == len(row):  # as the name of a file spells it
            self.target.rows.add(plain)

    def _of_subject(self, subject: str) -> list[str]:
        wanted = tokens(subject)
        living = [record for record in self.state.records.values() if record.status is not Status.FORGOTTEN]
        for kind in ("subject", "group"):
            found = [record.id for record in living if within(wanted, tokens(str(getattr(record, kind))))]
            if found:
                return found
        raise Unknown(f"no record is about {subject!r}; `sandbox-memory show --json` tells the subject of each")

    def _stem(self, id: str) -> str:
        plain = id.rsplit("/", 1)[-1].removesuffix(".jsonl")
        stems = sorted({*self.rollouts, *self.state.rollouts})
        named = [stem for stem in stems if stem == plain]
        named = named or [stem for stem in stems if re.fullmatch(re.escape(plain) + "--[0-9a-f]{12}", stem)]
        if len(named) > 1:
            raise Unknown(f"several conversations are called {id!r}: {', '.join(named)}")
        if not named:
            raise Unknown(f"there is no conversation {id!r}; the files in the sessions folder are named like them")
        return named[0]

    def _rollout(self, stem: str) -> None:
        """A whole conversation."""
        target = self.target
        target.stems[stem] = None
        target.segments |= {segment.id for segment in self._segments(stem)}
        target.segments |= {place.segment for place in self._places() if place.rollout == stem}
        self.talks[stem] = [(segment.id, item.text) for segment in self._segments(stem) for item in segment.items]

    def _user(self, name: str) -> None:
        """All that one customer said of themselves: the records under their name, and their words in those talks."""
        row, key = tokens(name), " ".join(name.split()).casefold()
        owned = [
            record
            for record in self.state.records.values()
            if record.status is not Status.FORGOTTEN and said(record, "many").owner == key
        ]
        stems = {place.rollout for record in owned for place in record.evidence}
        told = (stem for stem in self.rollouts if any(within(row, tokens(item.text)) for item in self._spoken(stem)))
        stems.update(told)
        if not row or not (owned or stems):
            raise Unknown(f"nothing is known of {name!r}")
        self.target.records.update({record.id: None for record in owned})
        self.target.rows.add(row)
        for stem in sorted(stems):
            for segment in self._segments(stem):
                spoken = [item for item in segment.items if item.role == "user"]
                self.target.spans += [
                    Evidence(stem, segment.id, item.index, 0, len(item.text), trust=Trust.USER) for item in spoken
                ]
                self.talks.setdefault(stem, []).extend((segment.id, item.text) for item in spoken)

    def _resting(self) -> None:
        """Records that rest on what is forgotten alone go with it."""
        for record in self.state.records.values():
            rests = record.evidence and record.status is not Status.FORGOTTEN and not record.protected
            if rests and all(self.target.loses(place) for place in record.evidence):
                self.target.records[record.id] = None

    def _own(self, record: Record) -> Iterator[Evidence]:
        """The quotes of a record but one that only tells whose it is, and tells that of a line that stays, too."""
        name = name_before(record)
        stays = [
            place
            for other in self.state.visible().values()
            if name and other.id not in self.target.records and name_before(other).casefold() == name.casefold()
            for place in other.evidence
        ]
        for place in record.evidence:
            named = within(tokens(name), tokens(place.quote)) and any(place.overlaps(other) for other in stays)
            if not named or retells(place.quote, record.text[len(name) :], beside=True):
                yield place

    # ---- its words

    def _words(self, words: Words) -> None:
        """All texts and quotes that the records ever had, and what was said in the conversations."""
        target, texts = self.target, dict[str, None]()
        spans = [span for span in target.spans if span.end > span.start]
        for commit in self.ledger.commits:
            for operation in commit.operations:
                if operation.id in target.records:
                    texts[str(operation.body.get("text", ""))] = None
                if operation.op == "extract":
                    for candidate in candidates_of(operation):
                        mine = candidate.evidence and all(target.loses(quote) for quote in candidate.evidence)
                        if mine and not words.survives(candidate.text):
                            texts[candidate.text] = None
        texts.pop("", None)
        quotes = [(span, span.quote or self._at(span)) for span in spans]
        words.about += [*texts, *(quote for span, quote in quotes if quote and not words.shared(span))]
        people = [record for id in target.records if (record := self.state.records[id]).trust >= Trust.USER]
        words.spoken += [record.text for record in people]
        words.spoken += [quote for span, quote in quotes if span.trust >= Trust.USER and not words.shared(span)]
        words.distinct([*texts, *(quote for _, quote in quotes)], {span.rollout for span in spans})
        for stem, told in self.talks.items():
            words.distinct((text for _, text in told), {stem})
            for segment, text in told:
                words.take(text, segment)
                words.retold(text)
        for text in texts:
            words.take(text)
        for span, quote in quotes:
            words.take(quote, span.segment, shared=words.shared(span))
            if not words.shared(span):
                words.retold(quote)
            for line in quote.split("\n") if "\n" in quote else ():
                words.take(line, span.segment, shared=words.shared(span))

    def _echoes(self, words: Words) -> None:
        """Sentences in the same conversations, and in what was derived of them, that say it in other words."""
        if not words.about and not words.terms:
            return
        for stem in {span.rollout for span in self.target.spans} | set(self.target.stems):
            for segment in self._segments(stem):
                for item in segment.items if segment.id not in self.target.segments else ():
                    words.echoes(item.text, segment.id)
            for note in self.notes.get(stem, ()):
                words.echoes(note)
            for title in self._titles(stem):
                words.echoes(title, title=True)
        for heading in self.handbook.outline.headings:
            words.echoes(heading.content.partition(":")[2] or heading.content, title=True)

    def _titles(self, stem: str) -> Iterator[str]:
        for commit in self.ledger.commits:
            for operation in commit.operations:
                if operation.id == stem and operation.op in ("extract", "retitle"):
                    yield str(operation.body.get("task", ""))
                    yield from map(str, operation.body.get("keywords", ()))

    def _names(self, words: Words) -> None:
        """Names of files that tell: they hold such words, or most of them."""
        marks = Marks.of("00" * 16, self.target.rows)
        names = {rollout.summary_file.rpartition("/")[2] for rollout in self.state.rollouts.values()}
        names |= {*self.rollouts, *self.state.rollouts, *self.state.skills}
        for name in names - {""}:
            plain = name.removesuffix(".md")
            slug = plain.rpartition("_")[2] if name.endswith(".md") else plain
            if marks.spans(plain) or words.echo(slug.replace("-", " "), words.spoken):
                self.target.names.add(name)
                if name in self.rollouts or name in self.state.rollouts:
                    self.target.names.update((f"{name}.jsonl", f"{name}.md"))

    # ---- looking things up

    def _segments(self, stem: str) -> Sequence[Segment]:
        return self.rollouts[stem].segments if stem in self.rollouts else ()

    def _spoken(self, stem: str) -> Iterator[Item]:
        for segment in self._segments(stem):
            yield from (item for item in segment.items if item.role != "output")

    def _places(self) -> Iterator[Evidence]:
        for record in self.state.records.values():
            yield from record.evidence
        for spans in self.state.tombstones.values():
            yield from spans

    def _at(self, span: Evidence) -> str:
        for segment in self._segments(span.rollout):
            if segment.id == span.segment:
                found = next((item.text for item in segment.items if item.index == span.item), "")
                return found[span.start : span.end]
        return ""
