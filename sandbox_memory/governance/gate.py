"""The gate in front of every write: whether what a machine wants to write is written, asked about, or refused.

What it decides comes from here, from the layout's preset and from the application's `MemoryPolicy`, never from a file
of the workspace. A person's own edits of the markdown pass no gate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..layout import DECISIONS, Preset
from ..policy import LONGEST_KEY, LONGEST_VALUE, MemoryPolicy
from ..records import Kind, Trust
from .instructions import orders
from .wording import CJK, normal, stem, subject_key

AUTO, REVIEW, DENY = DECISIONS
DEFAULTS: Mapping[tuple[Kind, Trust], str] = {
    (Kind.PREFERENCE, Trust.OBSERVED): DENY,
    (Kind.PREFERENCE, Trust.AGENT): DENY,
    (Kind.PREFERENCE, Trust.EXTERNAL): REVIEW,
    (Kind.PROCEDURE, Trust.EXTERNAL): REVIEW,
}
"""Where nothing else is said: what somebody wants is theirs to say, and what a page tells to do is asked about.

All other kinds and trusts are written; those below `user` reach a prompt as labelled quotes only.
"""


@dataclass(frozen=True)
class Verdict:
    """What becomes of a line, and why if it is not just written."""

    decision: str = AUTO
    why: str = ""


@dataclass(frozen=True)
class Gate:
    """The rules for one layout, narrowed by what its application allows."""

    preset: Preset
    policy: MemoryPolicy = field(default_factory=MemoryPolicy)

    def decides(self, kind: Kind, trust: Trust) -> str:
        """auto, review or deny for lines of that kind on that word."""
        if trust is Trust.HAND:
            return AUTO
        return self.preset.policy.get((kind, trust)) or DEFAULTS.get((kind, trust), AUTO)

    def admits(self, text: str, kind: Kind, trust: Trust, subject: str = "") -> Verdict:
        """What becomes of this line."""
        if why := self.disallows(text, subject):
            return Verdict(DENY, why)
        decision = self.decides(kind, trust)
        if decision == DENY:
            return Verdict(DENY, f"a {kind.value} is not taken on the word of {_WORD[trust]}")
        if decision == REVIEW:
            return Verdict(REVIEW, f"a {kind.value} on the word of {_WORD[trust]}")
        if trust <= Trust.AGENT and (order := orders(text)):
            return Verdict(REVIEW, f"{order}, on the word of {_WORD[trust]}")
        return Verdict()

    def disallows(self, text: str, subject: str = "") -> str:
        """Why the application does not allow this line, whoever says it; empty if it does.

        With an allow-list the subject must be one of its keys, and the text must name one of that key's values: its
        words in their order, in any case and inflection, with hyphens or without, and not as what is denied.
        """
        if len(subject) > LONGEST_KEY:
            return f"its subject is longer than {LONGEST_KEY} characters"
        if len(text) > LONGEST_VALUE:
            return f"it is longer than {LONGEST_VALUE} characters"
        allow = self.policy.allow
        if allow is None:
            return ""
        keys = [key for key in allow if subject_key(key) == subject_key(subject)]
        if not keys:
            named = f"its subject {subject!r} is not" if subject else "it names no subject that is"
            return f"{named} among those that the application allows: {', '.join(sorted(allow)) or 'none'}"
        key, given = keys[0], [allow[each] for each in keys]
        values = None if None in given else [value for each in given for value in each or ()]
        if values is not None and not any(_names(text, value) for value in values):
            return f"it names none of the values that the application allows for {key!r}: {', '.join(sorted(values))}"
        return ""


_WORD = {
    Trust.USER: "the user",
    Trust.OBSERVED: "a tool",
    Trust.AGENT: "the agent",
    Trust.EXTERNAL: "a page, a file or a pasted text",
    Trust.HAND: "a person",
}


_PIECE = re.compile(rf"\d+(?:[.:]\d+)*|[^\W\d_{CJK}]+(?:'[^\W\d_]+)?[+#]*|[^\W_{CJK}]|[{CJK}]|[^\w\s`'\"-]")
_PARTS = re.compile(r"[,，、;；。！？!?:：]|\.(?=\s|$)|\b(?:but|though|although)\b|但是?|而是|改用|改为")
_DENIES = re.compile(
    rf"(?:\b(?:not|never|no|without|nor|neither|avoid|isn't|aren't|don't|doesn't|won't|can't|cannot|no longer)\b"
    rf"(?! only\b)(?: [^\s{CJK}]+){{0,4}}|\b(?:instead of|rather than|except|excluding)\b(?: [^\s{CJK}]+)?|"
    rf"(?:不(?!但|仅|只)|别|勿|没|非|避免|除了)[{CJK}]{{0,4}}) ?$"
)
_DENIED = re.compile(
    r"^ ?(?:(?:is|are|was|were|will be|may be|must be) (?:not|no longer|never)\b|(?:isn't|aren't)\b|"
    r"(?:不行|不要|不用|除外))"
)


def _names(text: str, value: str) -> bool:
    """True if the text names the value somewhere without denying it."""
    wanted = _pieces(value)
    for part in _PARTS.split(normal(text).casefold()) if wanted else ():
        found = [(match.start(), match.end()) for match in _PIECE.finditer(part)]
        pieces = [_piece(part[start:end]) for start, end in found]
        for place in range(len(pieces) - len(wanted) + 1):
            if pieces[place : place + len(wanted)] == wanted:
                before, after = part[: found[place][0]], part[found[place + len(wanted) - 1][1] :]
                spaced = " ".join(before.replace("don't forget", "").replace("do not forget", "").split())
                if not _DENIES.search(spaced) and not _DENIED.match(" ".join(["", *after.split()])):
                    return True
    return any(mark in value for mark in ",;:") and _whole(text, value)


def _whole(text: str, value: str) -> bool:
    """The same for a value with marks in it at which a text is cut."""
    plain, words = (" ".join(normal(each).casefold().split()) for each in (text, value))
    return re.search(rf"(?<![^\W{CJK}]){re.escape(words)}(?![^\W{CJK}])", plain) is not None


def _pieces(text: str) -> list[str]:
    return [_piece(found.group()) for found in _PIECE.finditer(normal(text).casefold())]


def _piece(word: str) -> str:
    """A word without its ending, so that "aisle seats" name "aisle seat"; codes, numbers and short words whole."""
    return stem(word) if len(word) > 3 and word.isascii() and word.isalpha() else word
