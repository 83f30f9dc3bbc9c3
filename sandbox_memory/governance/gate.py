"""The gate in front of every write: whether what a machine wants to write is written, asked about, or refused.

What it decides comes from here, from the layout's preset and from the application's `MemoryPolicy`, never from a file
of the workspace. A person's own edits of the markdown pass no gate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..config import LONGEST_KEY, LONGEST_VALUE, MemoryPolicy
from ..layout import DECISIONS, Preset
from ..records import Kind, Trust
from .instructions import orders
from .wording import CJK, normal, subject_key

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

        With an allow-list the subject must be one of its keys, and the text must name one of that key's values.
        """
        if len(subject) > LONGEST_KEY:
            return f"its subject is longer than {LONGEST_KEY} characters"
        if len(text) > LONGEST_VALUE:
            return f"it is longer than {LONGEST_VALUE} characters"
        allow = self.policy.allow
        if allow is None:
            return ""
        keys = {subject_key(key): key for key in allow}
        key = keys.get(subject_key(subject))
        if key is None:
            named = f"its subject {subject!r} is not" if subject else "it names no subject that is"
            return f"{named} among those that the application allows: {', '.join(sorted(allow)) or 'none'}"
        values = allow[key]
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


def _names(text: str, value: str) -> bool:
    """True if the text has the value as whole words, compared without case and typographic signs."""
    words = re.escape(" ".join(normal(value).casefold().split()))
    plain = " ".join(normal(text).casefold().split())
    return re.search(rf"(?<![^\W{CJK}]){words}(?![^\W{CJK}])", plain) is not None
