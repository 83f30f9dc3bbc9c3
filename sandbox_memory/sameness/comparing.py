"""Whether two texts say the same, and which of the two wordings to keep."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from ..governance.wording import content, hard_words, normal, subject_key, words
from ..records import Candidate, Kind, Record, Trust
from .phrases import Phrase, Token, parse, spoken
from .restating import essence, matter, restates
from .synonyms import holder, is_weak
from .telling import Telling

MANY = "many"
"""The audience of a layout where what people say of themselves stays theirs."""
STATEMENTS = frozenset((Kind.FACT, Kind.PREFERENCE))
"""Kinds of one nature: which of them a sentence is taken for is chance."""
LEAST_SHARED = 2
"""How many telling words, Chinese characters counted half, two texts must share beside the words that they do not."""
ONE_MORE, ONE_MORE_DENIED = 10, 5
"""How many shared words it takes for each telling word that one text, not both, has of its own: fewer where both deny,
as "no partial refund" is in "no refund"."""

_VALUE = re.compile(r"[\w./-]*\d[\w./-]*")
_CODE = re.compile(
    r"\b(?:status|code|http|exit|exited|errno|error|signal|returned)(?: (?:code|status|with|error))*[ :=]+\d{1,5}\b"
)
_CJK = re.compile(r"[\u3400-\u9fff]+")
_LITERAL = re.compile(r"""(?:failed: |failed at the end: )(["`])(.+?)\1(?=; |$)|"([^"]+)\"""")
_COMMAND = re.compile(r"^`([^`\n]+)`\s+(\w+)")
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+){2,}[\w.+-]*|(?<=[=:@])v?\d+(?:\.\d+)*(?![\w.:/])")
_SPAN = re.compile(r"`([^`\n]+)`")
_OWNER = re.compile(r"^(?=[\w.@-]*[\d_@])([A-Za-z0-9][\w.@-]*): ")
_NAMED = re.compile(r"^([A-Z][\w'.-]*(?: [A-Z][\w'.-]*){1,3}|[\u4e00-\u9fff]{2,4}): ")
_DEICTIC = re.compile(
    r"\b(?:this|these|those|your|you|it|its|they|therefore|since|please|unfortunately)\b"
    r"|您|你|这|该|此|它",
    re.IGNORECASE,
)
_RESULT = re.compile(r"[,;] (?:so|therefore|hence|thus)\b|[，；](?:所以|因此|故)")


@dataclass
class Said:
    """A text with what it takes to tell whether another says the same.

    `owner` is whose word it is where many are served: the account name before the text, or the conversation; `served`
    is true for a rule or a wish in such a memory, which is told again and again in other words.
    """

    kind: Kind
    text: str
    subject: str
    owner: str = ""
    served: bool = False

    def __post_init__(self) -> None:
        match = _OWNER.match(self.text) or (_NAMED.match(self.text) if self.served else None)
        self.owner = match[1].casefold() if match else self.owner

    @cached_property
    def plain(self) -> str:
        text = (
            normal(self.text).casefold().replace("can't", "cannot").replace("won't", "will not").replace("n't", " not")
        )
        return " ".join(re.sub(r"(?<=\d)(?=[ap]m\b)", " ", text).split()).rstrip(".!。！")

    @cached_property
    def tokens(self) -> frozenset[str]:
        return tokens(self.plain)

    @cached_property
    def content(self) -> frozenset[str]:
        return content(words(self.plain))

    @cached_property
    def squeezed(self) -> str:
        return re.sub(r"\s+", "", self.plain)

    @cached_property
    def hard(self) -> frozenset[str]:
        return frozenset(re.sub(r"\s+", "", word.casefold()) for word in hard_words(normal(self.text)))

    def has_all(self, hard: frozenset[str]) -> bool:
        """True if all these hard words stand in the text, numbers also in words."""
        return all(word in self.squeezed or word in self.spoken for word in hard)

    @cached_property
    def spoken(self) -> frozenset[str]:
        return spoken(self.text)

    @cached_property
    def denials(self) -> int:
        return sum(1 for word in words(self.plain) if word.negation == "firm")

    @cached_property
    def fault(self) -> str:
        """A lesson's error text without the values of this time; codes of errors stay."""
        match = _LITERAL.search(self.plain) if self.kind is Kind.LESSON else None
        if not match:
            return ""
        told = match[2] or match[3]
        codes = [code.group() for code in _CODE.finditer(told)]
        plain = " ".join(re.findall(r"[^\W\d_]+", _VALUE.sub("", told)))
        return " ".join([plain, *codes]) if _tells(plain) else told

    @cached_property
    def cured(self) -> bool:
        """True if a lesson goes on after its error text: it tells what worked."""
        match = _LITERAL.search(self.plain)
        return bool(match and self.plain[match.end() :].strip(" .;"))

    @cached_property
    def command(self) -> str:
        """What ran: the code span that opens a procedure or a lesson, with the first word after it."""
        match = _COMMAND.match(self.text.strip())
        return " ".join(match[1].split()) if match else ""

    @cached_property
    def shown(self) -> str:
        """For a procedure that opens with a command: the verb after it, as in "`make` showed 3 passed"."""
        match = _COMMAND.match(self.text.strip()) if self.kind is Kind.PROCEDURE else None
        return match[2].casefold() if match else ""

    @cached_property
    def recipe(self) -> str:
        """The command without versions and numbers that are values: what stays when it is run for another release."""
        return _VERSION.sub("…", self.command)

    @property
    def program(self) -> str:
        """The first word of the command."""
        return self.command.split()[0] if self.command else ""

    @cached_property
    def bare(self) -> str:
        """The text without the name before it."""
        return _OWNER.sub("", _NAMED.sub("", self.text) if self.served else self.text)

    @cached_property
    def phrase(self) -> Phrase:
        text = self.bare
        result = _RESULT.search(text)
        rule = parse(text[: result.start()]) if result else None
        return rule if rule and rule.turns else parse(text)

    @property
    def key(self) -> tuple[Kind, str, str] | None:
        """What has one value at a time: kind, owner and subject; None without a subject."""
        subject = " ".join(self.subject.casefold().split())
        return (self.kind, self.owner, subject) if subject else None


def said(value: Candidate | Record, audience: str = "one") -> Said:
    """What a candidate or a record says.

    Where `audience` is "many", what a person said of themselves without a name is the word of that conversation, and
    so is what they claim of anything else, whatever was added to it: a record that rests on a person's word alone.
    """
    owner, served = "", audience == MANY and value.kind in STATEMENTS
    theirs = isinstance(value, Record) and value.trust is Trust.USER
    if audience == MANY and value.evidence and (theirs or all(quote.trust is Trust.USER for quote in value.evidence)):
        owner = f"rollout:{value.evidence[0].rollout}"
    if audience == MANY and value.owner:
        owner = f"rollout:{value.owner}"
    return _said(value.kind, value.text, value.subject, owner, served)


@lru_cache(maxsize=1 << 13)
def _said(kind: Kind, text: str, subject: str, owner: str, served: bool) -> Said:
    """Kept, since a record is looked at in each consolidation."""
    return Said(kind, text, subject, owner, served)


def topic(value: Candidate | Record) -> str:
    """Whose and which matter a fact or a preference is about; empty for other kinds, and for what may have several."""
    subject = subject_key(value.subject)
    several = subject.endswith("s") and not subject.endswith("ss")
    if not subject or several or value.kind not in (Kind.FACT, Kind.PREFERENCE):
        return ""
    named = _OWNER.match(value.text)
    return f"{named[1].casefold() if named else value.owner}\n{subject}"


def same(one: Said, two: Said, telling: Telling | None = None) -> bool:
    """True if both say the same: the same words, or of one owner and kind (a fact may be a preference) in others.

    Numbers, names and paths must be equal, save the values in the errors of two lessons; so must what is denied,
    limited or set before, and the order of the words but for a clause that moved. A word that only one has, or that
    stands where the other has another, must be weak: a word of framing, a holder ("flight", "ticket"), or one that
    `telling` knows all of this memory to speak of. Two procedures say the same if one command is what they ran.
    """
    if one.owner != two.owner:
        return False
    if one.plain == two.plain:
        return True
    if one.kind is not two.kind and not {one.kind, two.kind} <= STATEMENTS:
        return False
    if one.fault or two.fault:
        return one.fault == two.fault and _same_call(one, two)
    if one.shown or two.shown:
        return one.recipe == two.recipe and one.shown == two.shown
    known = telling or _NOTHING
    if one.served and two.served and restates(one.bare, two.bare, bool(one.owner)):
        return _same_numbers(one, two)
    if one.phrase.solid - two.phrase.names - known.common and two.phrase.solid - one.phrase.names - known.common:
        return False
    if not (one.has_all(two.hard) and two.has_all(one.hard)) or one.spoken - two.spoken - two.hard:
        return False
    return _agree(one.phrase, two.phrase, known)


_NOTHING = Telling()


def _same_numbers(one: Said, two: Said) -> bool:
    numbers = [frozenset(word for word in each.hard if any(char.isdigit() for char in word)) for each in (one, two)]
    return numbers[0] == numbers[1] or (not one.owner and (not numbers[0] or not numbers[1]))


def _tells(error: str) -> bool:
    """True if an error text has enough words to know it by."""
    return len(error.split()) > 2 or sum(map(len, _CJK.findall(error))) > 3


def _same_call(one: Said, two: Said) -> bool:
    if not _tells(one.fault):
        return one.command == two.command
    return one.program == two.program or not (one.program and two.program)


def _agree(one: Phrase, two: Phrase, telling: Telling) -> bool:
    if not one.tokens or not two.tokens:
        return False
    if not _turn_alike(one, two) or _other_person(one, two):
        return False
    common = one.names & two.names
    mine, yours = _extra(one, two, telling), _extra(two, one, telling)
    more, less = (sum(_weight(t.name) for t in extra if not t.weak) for extra in (mine, yours))
    shared = sum(_weight(name) for name in common if not is_weak(name))
    denies = any(turn == "NOT" for turn, _ in one.turns)
    if (more and less) or max(more, less) * (ONE_MORE_DENIED if denies else ONE_MORE) > shared:
        return False
    if shared < (LEAST_SHARED if mine or yours else 0.5):
        return False
    return not _swapped(one, two, common) and _ordered(one, two, common)


def _weight(name: str) -> float:
    return 0.5 if len(name) == 1 and not name.isascii() else 1.0


def _other_person(one: Phrase, two: Phrase) -> bool:
    """True if one speaks of me and you, the other of you and me."""
    return len(set(one.persons)) == len(set(two.persons)) == 2 and one.persons[0] != two.persons[0]


def _turn_alike(one: Phrase, two: Phrase) -> bool:
    """The same turns, each of the same word where both have it turn one."""
    mine, yours = Counter(turn for turn, _ in one.turns), Counter(turn for turn, _ in two.turns)
    if mine != yours:
        return False
    for turn in mine:
        heads = Counter(head for name, head in one.turns if name == turn and head and not holder(head))
        others = Counter(head for name, head in two.turns if name == turn and head and not holder(head))
        left, right = heads - others, others - heads
        if left and right and turn not in ("CAN", "OPTIONAL"):
            return False
    return True


def _extra(one: Phrase, two: Phrase, telling: Telling) -> list[Token]:
    """The tokens of `one` that `two` lacks, weak those that tell nothing beside the other text or in this memory."""
    left = [token for token in one.tokens if token.name not in two.names]
    holders = {token.holder for token in two.tokens if token.holder}
    others = {token.holder for token in two.tokens if token.holder and token.name not in one.names}
    found = []
    for token in left:
        beside = token.holder in holders
        idle = not others if token.holder else token.name in telling.common
        found.append(replace(token, weak=token.weak or beside or (idle and token.head and not token.predicate)))
    return found


def _swapped(one: Phrase, two: Phrase, common: frozenset[str]) -> bool:
    """True if a preposition or a turn moved from one word of both texts to another."""
    mine = {(t.mark, t.name) for t in one.tokens if t.mark and t.name in common}
    yours = {(t.mark, t.name) for t in two.tokens if t.mark and t.name in common}
    gone, new = mine - yours, yours - mine
    return any(mark == other and name != moved for mark, name in gone for other, moved in new)


def _ordered(one: Phrase, two: Phrase, common: frozenset[str]) -> bool:
    """True if the shared words stand in one order, but for a clause or a verb that moved or a pair joined by "and"."""
    mine, yours = _sequence(one, two, common), _sequence(two, one, common)
    if mine == yours or any(mine[n:] + mine[:n] == yours for n in range(1, len(mine))):
        return True
    verbs = frozenset(head for _, head in one.turns) & frozenset(head for _, head in two.turns)
    return bool(verbs) and _sequence(one, two, common - verbs) == _sequence(two, one, common - verbs)


def _sequence(phrase: Phrase, other: Phrase, names: frozenset[str]) -> list[frozenset[str]]:
    """The shared words in order; one that the two do not repeat equally often only where it stands first."""
    found: list[frozenset[str]] = []
    seen: set[str] = set()
    for token in phrase.tokens:
        if token.name not in names or token.weak or token.holder or token.free:
            continue
        if token.name in seen and phrase.counts[token.name] != other.counts[token.name]:
            continue
        seen.add(token.name)
        if token.joined and found:
            found[-1] = found[-1] | {token.name}
        else:
            found.append(frozenset((token.name,)))
    return found


def better(one: Said, two: Said) -> Said:
    """Which of two wordings of one line to keep: the one that needs no context, then the more specific, then the first.

    A lesson that tells what worked is better than one that does not.
    """
    return two if _worth(two) > _worth(one) else one


def _worth(text: Said) -> tuple[bool, int, int]:
    if text.fault:
        return text.cured, 0, 0
    if text.served:
        return False, -len(_DEICTIC.findall(text.text)), len(matter(essence(text.bare, bool(text.owner))))
    return False, -len(_DEICTIC.findall(text.text)), sum(1 for token in text.phrase.tokens if not token.weak)


@lru_cache(maxsize=4096)
def tokens(text: str) -> frozenset[str]:
    """Words, and pairs of characters where there are no blanks between words."""
    found = set(re.findall(r"[^\W_\u3400-\u9fff]+", text))
    for run in _CJK.findall(text):
        found.update(run[place : place + 2] for place in range(max(len(run) - 1, 1)))
    return frozenset(found)


def overlap(one: frozenset[str], two: frozenset[str]) -> float:
    """Jaccard's coefficient; 0 for two empty sets."""
    return len(one & two) / len(one | two) if one or two else 0.0
