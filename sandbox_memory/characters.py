"""Characters: which ones nobody sees, which ones act on a terminal, and what of a text is plain ASCII words.

The classes are parts of a regular expression, to be put between brackets.
"""

from __future__ import annotations

import re
import unicodedata

BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""What turns the direction of writing, so that a text reads otherwise than it is."""
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What leaves no trace on a page: joiners, marks of direction, fillers, variation selectors and tags."""
ACTIVE = "\x00-\x08\x0b-\x1f\x7f-\x9f" + BIDI
"""What moves a cursor, sets colours or turns the direction of writing; tab and line feed are not among them."""

_WORD = re.compile(r"[a-z0-9]+")


def ascii_words(text: str) -> list[str]:
    """The lower-case ASCII words of a text, accents taken off: of "Zürich-2" `zurich` and `2`, of "天气" none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _WORD.findall(plain.lower())
