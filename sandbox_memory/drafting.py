"""What a proposed operation may say: its text, its kind, its titles, and what accounts for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .certain import trust_in
from .document import safe_text
from .document.text import cleaned
from .governance.attribution import unsupported
from .governance.instructions import orders
from .governance.language import foreign
from .governance.policy import refuses
from .governance.prose import Said, fit_title
from .governance.redaction import redact
from .governance.wording import hard_words, meaning, subject_key
from .layout import Preset
from .models import DraftOperation
from .records import Candidate, Evidence, Kind, Record, Trust

TEXT_LENGTH = 500
TITLE_LENGTH = 120
"""How many characters a record, and a group or subject, may have at most."""


def named(draft: DraftOperation, texts: Sequence[str]) -> str:
    """What was proposed, for a person who reads why it was refused: its text, and the operation in the model's names.

    `texts` are those of the candidates and of the records that it is about.
    """
    names = redact(cleaned(f"{draft.op} {' '.join([*draft.candidates, *draft.records])}"))[:TITLE_LENGTH]
    text = redact(cleaned(draft.text or next(iter(texts), "")))
    if len(text) > TITLE_LENGTH:
        text = f"{text[: TITLE_LENGTH - 1].rstrip()}…"
    return f"“{text}” ({names})" if text else names


class Refused(Exception):
    """Why one proposed operation is not let in."""


class Denied(Refused):
    """The same where that answers its candidates: they are not offered again."""


@dataclass(frozen=True)
class Wording:
    """Checks the words of what is proposed for a layout; `groups` are the titles that are known."""

    preset: Preset
    groups: Collection[str] = ()

    def kind(self, wanted: str, fallback: Kind) -> Kind:
        """The kind that is wanted, or the fallback where it is none. Raises `Refused` if it is not remembered here."""
        try:
            kind = Kind(wanted) if wanted else fallback
        except ValueError:
            kind = fallback
        if kind not in self.preset.headings:
            raise Refused(f"this layout does not remember a {kind.value}")
        return kind

    def titled(self, wanted: str, fallback: str, about: Sequence[Candidate | Record]) -> str:
        """The group or subject that is wanted, unless it names what they do not, or gives orders."""
        title, other = _title(wanted), _title(fallback)
        if not title or title in self.groups:
            return title or other
        if self.preset.audience == "many" and not _words_of(title, about):
            return other
        quotes = [e.quote for value in about for e in value.evidence]
        return fit_title(title, other, Said([*quotes, other, *(f"{value.text}\n{value.subject}" for value in about)]))

    def trusted(self, wanted: str, fallback: str, about: Sequence[Candidate | Record]) -> str:
        """The title that is wanted, if it is known, or made of what is trusted of it: a title stands unlabelled.

        At least half of its words, its names and its numbers are those of the tasks or of more than external quotes.
        """
        title, other = self.titled(wanted, fallback, about), _title(fallback)
        if title in self.groups or title == other:
            return title
        if self.preset.audience == "many" and any(value.owner for value in about):
            return other  # a title is read by everybody
        theirs = [other, *(value.group if isinstance(value, Record) else value.task for value in about)]
        theirs += [f"{value.text}\n{value.subject}" for value in about if value.trust > Trust.EXTERNAL]
        theirs += [e.quote for value in about for e in value.evidence if e.trust > Trust.EXTERNAL]
        words, known = meaning(title), meaning(*theirs)
        strange = any(not meaning(name) <= known for name in hard_words(title))
        return other if strange or 2 * len(words - known) > len(words) or orders(title) else title

    def text(
        self, wanted: str, first: str, kind: Kind, evidence: Sequence[Evidence], about: Sequence[Candidate | Record]
    ) -> str:
        """The text that is wanted, or the first of what it is made of where it is none or a translation.

        `evidence` is what it rests on. Raises `Refused` for a text that does not hold, or that breaks a rule which
        nothing that it is made of breaks.
        """
        new = [e.quote for value in about if isinstance(value, Candidate) for e in value.evidence]
        translated = bool(wanted) and foreign(wanted, new or [e.quote for e in evidence])
        text = cleaned(first if translated else wanted or first)
        if self.preset.audience == "many" and not any(value.owner for value in about) and not _words_of(text, about):
            text = cleaned(first)  # more of a quote than what was found to be for everybody
        if not text:
            raise Refused("has no text")
        if len(text) > TEXT_LENGTH:
            raise Refused(f"is longer than {TEXT_LENGTH} characters")
        if redact(text) != text:
            raise Refused("holds a secret")
        breach = refuses(text, kind)
        if breach and not any(refuses(value.text, value.kind) for value in about):
            raise Refused(breach.why)
        if why := unsupported(text, kind, evidence, many=self.preset.audience == "many"):
            raise Refused(why)
        return safe_text(text)


def _words_of(text: str, about: Sequence[Candidate | Record]) -> bool:
    """True if a text has no word but those of what it is about: where many are served, quotes tell more of them."""
    return meaning(text) <= meaning(*(f"{value.text}\n{value.subject}" for value in about))


def accounted(candidates: Sequence[Candidate], records: Sequence[Record]) -> None:
    """Raises `Refused` if a record shares neither its subject nor a word that carries meaning with the candidates."""
    subjects = {subject_key(candidate.subject) for candidate in candidates if candidate.subject}
    known = _meaning(candidates)
    for record in records:
        if subject_key(record.subject) not in subjects and not known & _meaning([record]):
            raise Refused(f"nothing that was learned is about “{record.text}”")


def outweighed(text: str, trust: Trust, candidates: Sequence[Candidate], records: Sequence[Record]) -> Record | None:
    """The first record that a new text must not replace by itself: a person's, or one that is trusted more.

    What is said less surely may be put together with a record, as long as nothing of that record gets lost.
    """
    doubtful = min((trust_in(candidate) for candidate in candidates), default=trust)
    words = meaning(text)
    for record in records:
        loses = record.trust > doubtful and not meaning(record.text) <= words
        if record.protected or record.trust > trust or loses:
            return record
    return None


def _meaning(values: Sequence[Candidate | Record]) -> frozenset[str]:
    return meaning(*(text for value in values for text in (value.text, *(quote.quote for quote in value.evidence))))


def _title(text: str) -> str:
    """A group or a subject on one line, not too long, without a secret."""
    return redact(cleaned(text))[:TITLE_LENGTH].strip()
