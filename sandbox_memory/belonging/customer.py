"""Whose a memory is: what a conversation tells of the one who is served in it, and what is shown to be about nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..governance.attribution import failed
from ..governance.grounding import ungrounded
from ..governance.grounding.acts import AGENT, OTHER, TOOL, USER
from ..governance.wording import NUMBER, SENTENCE_END, is_negation, meaning, normal, numbers
from ..records import Item, Kind, Rollout
from . import outputs, refusals
from .form import forbids, is_rule, of_a_case, speaks_to_one
from .naming import LONGEST, Names, codes
from .service import telling
from .special import told, touched
from .spoken import claims_a_rule, own_words

ECHO = 0.7
"""Which share of its words a text has from what the customer said to be only that said again."""
LEAST = 2
"""Words that carry meaning which it takes to tell."""
ROUNDS = 3
"""How often what was learned of the customer may tell more of them."""

_VOICES = {"user": USER, "assistant": AGENT, "call": AGENT, "output": TOOL}
_SPAN = re.compile(
    r"\s?-?(?:hours?|hrs?|days?|minutes?|mins?|seconds?|weeks?|months?|years?|business days?|percent|%|小时|天|分钟|"
    r"秒|周|个?月|年|日|折)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}")
_SUM = re.compile(r"[$€£¥￥]\s?\d|\d[.,]\d\d(?!\d)|\d{5,}|\d\s?(?:dollars|euros|usd|eur|元|块)", re.IGNORECASE)
_PROPER = re.compile(r"(?<=[^\W\d_] )[A-Z][^\W\d_A-Z][\w'-]*|(?<=, )[A-Z][^\W\d_A-Z][\w'-]*")
_QUESTION = re.compile(r"[?？]\s*$|[吗么呢]\s*[。！]?$")
_SHOWS = (Kind.FACT, Kind.TASK, Kind.EPISODE)


@dataclass(frozen=True)
class Place:
    """A quote: its words, and the item and the run that it stands in."""

    segment: str
    item: Item
    text: str


class Customer:
    """What a conversation tells of the one who is served in it."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout
        places = [(segment, item) for segment in rollout.segments for item in segment.items]
        self.order = {(segment.id, item.index): place for place, (segment, item) in enumerate(places)}
        self.typed = [item.text[:LONGEST] for _, item in places if item.role == "user"]
        self.said = [
            (self.order[segment.id, item.index], answer, meaning(answer))
            for segment, item in places
            if item.role == "user" and (answer := _told(item.text[:LONGEST]))
        ]
        self.claims = any(map(claims_a_rule, self.typed))
        self.names = Names(rollout)
        for text in self.typed:
            self.names.typed(text)
        self.answers: dict[tuple[str, int], Item] = dict(_answers(rollout))
        self.open: set[tuple[str, int]] = set()
        """Outputs of what is there for anybody."""
        self.documents: set[tuple[str, int]] = set()
        """Those of them that are policies, articles and the like."""
        self.theirs: dict[tuple[str, int], str] = {}
        """The other outputs, but for errors: they tell of this customer, or may."""
        before = -1
        for _ in range(ROUNDS):
            if before == (before := len(self.names.codes) + len(self.names.names) + len(self.theirs)):
                break
            self._look()
        self.vocabulary = self._vocabulary()
        self.called = self._called()
        shown = [value for text in self.theirs.values() for value in outputs.values(text)]
        given = [value for call in self.answers.values() for value in _given(call)]
        refused = [part for text in self._errors() for part in SENTENCE_END.split(text) if not self._plain(part)]
        self.own = self._own([*shown, *refused], given)
        """Words of the customer's alone: of what they say of themselves, and of what is shown of them."""
        self.numbers = frozenset(n for text in (*self.typed, *shown, *given) for n in _numbers(text))
        self.kinds = touched("\n".join((*self.typed, *self.theirs.values(), *refused)))

    def owns(self, text: str, kind: Kind, quotes: Sequence[Place], subject: str = "") -> bool:
        """True if a memory with this text, resting on these quotes, is this customer's alone, or may be."""
        if kind is Kind.PREFERENCE or self.named(f"{text}\n{subject}"):
            return True
        shown = [quote for quote in quotes if self._at(quote) in self.open]
        if shown and of_a_case(text):
            return True
        if shown and _carried(text, shown):
            return bool(touched(text) & self.kinds)
        others = [q for q in quotes if q.item.role == "call" or (q.item.role != "user" and not self._echo(q.text, q))]
        if not others or (len(others) < len(quotes) and not _carried(text, others)) or self._echo(text, others[0]):
            return True
        if told(text) or touched(text) & self.kinds or self._private(text, others):
            return True
        made = [quote for quote in others if quote.item.role != "assistant"]
        if made and _carried(text, made):
            return self._shown(text, kind, made)
        return not is_rule(text) or (self.claims and not forbids(text)) or self._proper(text)

    def named(self, text: str) -> bool:
        """True if the text has a name or a number of this customer, or of a thing of theirs."""
        return self.names.meets(text)

    def tells(self, title: str, texts: Sequence[str]) -> bool:
        """True if a title, a keyword or a subject has a word that is not of `texts`, of the tools, or of any service.

        `texts` are memories for everybody.
        """
        known = self.vocabulary | telling("\n".join(texts))
        plain = set(numbers(normal(title))) <= set(numbers(normal("\n".join(texts))))
        return self.named(title) or not plain or bool(told(title)) or not telling(title) <= known

    def _at(self, quote: Place) -> tuple[str, int]:
        return quote.segment, quote.item.index

    def _look(self) -> None:
        """Calls about this customer, and what they showed: each may tell more of them."""
        for call in self.answers.values():
            self.names.known(codes(call.text[:LONGEST]))
            if self.named(call.text[:LONGEST]):
                self.names.fields(call.text[:LONGEST])
        for segment in self.rollout.segments:
            for item in segment.items:
                if item.role != "output":
                    continue
                text, place = item.text[:LONGEST], (segment.id, item.index)
                asked = self.answers.get(place)
                about = self.named(text) or (asked is not None and self.named(asked.text[:LONGEST]))
                self.open.discard(place)
                if about:
                    self.names.fields(text)
                if failed(text):
                    continue
                if not about and asked is not None and self._is_open(asked, text, place):
                    self.open.add(place)
                else:
                    self.names.fields(text)
                    self.theirs[place] = text

    def _is_open(self, call: Item, text: str, place: tuple[str, int]) -> bool:
        tool, arguments = call.label, call.text[:LONGEST].partition("\n")[2]
        if outputs.is_document(tool, arguments):
            self.documents.add(place)
            return not outputs.is_personal(text, document=True)
        if not outputs.names_something(tool, arguments, text) or outputs.is_personal(text):
            return False
        return not any(self._only_theirs(value, place) for value in outputs.of_a_place(tool, arguments, text))

    def _only_theirs(self, value: str, place: tuple[str, int]) -> bool:
        """True for what the customer named, and neither the agent nor a tool had named before the call."""
        low = normal(value).strip().casefold()
        if not any(low in normal(text).casefold() for text in self.typed):
            return False
        asked = self.answers[place]
        for segment in self.rollout.segments:
            for item in segment.items:
                if item is asked:
                    return True
                if item.role in ("assistant", "output") and low in normal(item.text[:LONGEST]).casefold():
                    return False
        return True

    def _errors(self) -> Iterator[str]:
        for segment in self.rollout.segments:
            for item in segment.items:
                if item.role == "output" and failed(item.text[:LONGEST]):
                    yield item.text[:LONGEST]

    def _called(self) -> frozenset[str]:
        """The words in the names of tools, arguments and fields, and of what outputs show to anybody."""
        found: list[str] = []
        for segment in self.rollout.segments:
            for item in segment.items:
                text = item.text[:LONGEST]
                if item.role == "call":
                    found.append(" ".join(outputs.name_parts(item.label)))
                    found += outputs.keys(text.partition("\n")[2])
                elif item.role == "output":
                    found += outputs.keys(text) if not failed(text) else ()
                    found += [text] if (segment.id, item.index) in self.open else []
        return telling("\n".join(found))

    def _plain(self, text: str) -> bool:
        """True for what a tool refuses or wants in words that any service has, or that are names in the application."""
        commands = [call.text[:LONGEST].partition("\n")[2] for call in self.answers.values()]
        for command in sorted((c.strip() for c in commands if not outputs.given(c)), key=len, reverse=True):
            text = text.replace(f"`{command}`", " ") if command else text
        return refusals.is_anybodys(self.names.without_things(text), self.called)

    def _vocabulary(self) -> frozenset[str]:
        """The words of the application: names of its tools, of fields, of classes, and what it shows to anybody."""
        found: list[str] = []
        for segment in self.rollout.segments:
            for item in segment.items:
                text = item.text[:LONGEST]
                if item.role == "call":
                    found += [" ".join(outputs.name_parts(item.label)), *outputs.vocabulary(text.partition("\n")[2])]
                elif item.role == "output":
                    found += outputs.vocabulary(text)
                    found += [text] if (segment.id, item.index) in self.open else []
        return telling("\n".join(found))

    def _own(self, shown: Sequence[str], given: Sequence[str]) -> frozenset[str]:
        own = own_words(self.typed).union(*map(telling, shown))
        typed = telling("\n".join(self.typed))
        own |= frozenset().union(*map(telling, given)) - typed
        return own - self.vocabulary - self._agents()

    def _agents(self) -> frozenset[str]:
        """The words that the agent brought in, before anybody else had said them."""
        heard: set[str] = set()
        brought: set[str] = set()
        for segment in self.rollout.segments:
            for item in segment.items:
                words = telling(item.text[:LONGEST])
                if item.role == "assistant":
                    brought |= words - heard
                else:
                    heard |= words
        return frozenset(brought)

    def _private(self, text: str, quotes: Sequence[Place]) -> bool:
        """True for a text with a word, a number or a day that this customer has in the conversation.

        What an output for anybody has is no longer theirs alone, nor is the day of an error about a thing.
        """
        bare = self.names.without_things(text)
        if bare != normal(text) and all(quote.item.role != "assistant" for quote in quotes):
            bare = _DATE.sub(" ", bare)
        shown = "\n".join(quote.text for quote in quotes if self._at(quote) in self.open)
        own = telling(bare) & self.own - telling(shown)
        return bool(own or (_numbers(bare) & self.numbers) - _numbers(shown))

    def _shown(self, text: str, kind: Kind, made: Sequence[Place]) -> bool:
        """True if what calls and outputs carry tells of this customer."""
        plain = [quote for quote in made if self._at(quote) not in self.theirs]
        if not plain or not _carried(text, plain):
            return kind in _SHOWS or not telling(text) <= self.vocabulary
        if all(quote.item.role == "call" for quote in plain) and kind in _SHOWS:
            return True
        safe = [quote for quote in plain if quote.item.role == "call" or self._at(quote) in self.open]
        if not (safe and _carried(text, safe)) and not self._plain(text):
            return True
        sums = _SUM.search(self.names.without_things(text)) is not None
        return (not is_rule(text) and (sums or speaks_to_one(text))) or self._proper(text)

    def _proper(self, text: str) -> bool:
        """True for a text with a name in it of which nobody knows whose it is."""
        return any(telling(found.group()) - self.vocabulary for found in _PROPER.finditer(normal(text)))

    def _echo(self, text: str, quote: Place) -> bool:
        """True for what says only again what the customer had said before."""
        own = meaning(text)
        if len(own) < LEAST:
            return False
        place = self.order[quote.segment, quote.item.index]
        denies = _denies(text)
        for when, said, words in self.said:
            alike = when < place and len(own & words) >= ECHO * len(own) and (not denies or _denies(said))
            if alike and set(numbers(normal(text))) <= set(numbers(normal(said))):
                return True
        return False


def _answers(rollout: Rollout) -> Iterator[tuple[tuple[str, int], Item]]:
    """The call that each output is of."""
    for segment in rollout.segments:
        calls: dict[str | None, Item] = {}
        last: Item | None = None
        for item in segment.items:
            if item.role == "call":
                last = calls[item.call_id] = item
            elif item.role == "output" and (call := calls.get(item.call_id, last)) is not None:
                yield (segment.id, item.index), call


def _given(call: Item) -> Iterator[str]:
    """What a call was given, but for commands: their words are the shell's."""
    arguments = call.text[:LONGEST].partition("\n")[2]
    yield from outputs.values(arguments) if outputs.given(arguments) else ()


def _told(text: str) -> str:
    """What somebody says, without what they ask."""
    return " ".join(part for part in SENTENCE_END.split(text) if not _QUESTION.search(part))


def _carried(text: str, quotes: Sequence[Place]) -> bool:
    return ungrounded(text, [q.text for q in quotes], [_VOICES.get(q.item.role, OTHER) for q in quotes]) is None


def _denies(text: str) -> bool:
    return any(is_negation(word) for word in re.findall(r"[a-z']+", normal(text).casefold())) or any(
        char in text for char in "不没无未"
    )


def _numbers(text: str) -> frozenset[str]:
    """The numbers of two digits or more that are no length of time and no share."""
    plain = normal(text)
    found = (match for match in NUMBER.finditer(plain) if not _SPAN.match(plain, match.end()))
    return frozenset(n for match in found for n in numbers(match.group()) if len(n.replace(".", "")) > 1)
