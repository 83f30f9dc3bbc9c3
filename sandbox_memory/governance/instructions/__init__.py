"""Text that gives orders: to a model that reads it, or to do something in the world.

What a person says may be an order; what a tool, a page or an agent says must not become one by being remembered. The
rules describe how such text is written, in English and Chinese, as OWASP's LLM01 does; what holds for wordings that
nobody has thought of are the labelled quotes of the prompt, not these rules.
"""

from __future__ import annotations

import re

from ..wording import kept
from .forged import FORGED
from .ordered import ORDERS
from .reading import decoded, readings

LONGEST = 20_000
"""Characters of a text that are looked at: half from its start, half from its end."""
WINDOW, OVERLAP = 1_000, 250
"""Characters of one look, and those that the next look has too: the patterns take the square of them."""
_AGAIN = re.compile(r"(\S{1,40}\s+|\s)\1{3,}")
"""A word or a blank again and again: a few times are enough to tell what it says."""


def _compiled(table: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((why, re.compile(pattern, re.IGNORECASE)) for why, pattern in table)


_STRONG = _compiled(FORGED)
_PLAIN = _compiled(ORDERS)


def orders(text: str) -> str:
    """Why this text acts as an order to an agent or a model; empty if it does not."""
    return _why(text, plain=True)


def forged(text: str) -> str:
    """Why this text means to be taken for more than it is; empty if it does not.

    Narrower than `orders`: what a person asks an assistant to do, now or always, is not forged; to ignore its
    instructions, to reveal them, the marks of a role, and a message to whichever model reads it are.
    """
    return _why(text, plain=False)


def _why(text: str, *, plain: bool) -> str:
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    text = _AGAIN.sub(lambda match: match[1] * 3, text)
    look = _orders if plain else _forgery
    step = WINDOW - OVERLAP
    parts = (text[at : at + WINDOW] for at in range(0, max(len(text) - OVERLAP, 1), step))
    return next((why for part in parts if (why := look(part))), "")


@kept(1024)
def _forgery(text: str) -> str:
    return _first(text, _STRONG)


@kept(1024)
def _orders(text: str) -> str:
    return _first(text, (*_STRONG, *_PLAIN))


def _first(text: str, table: tuple[tuple[str, re.Pattern[str]], ...]) -> str:
    for reading in readings(text):
        for why, pattern in table:
            if pattern.search(reading):
                return why
    hidden = (_says(plain, text) for plain in decoded(text))
    return "it has an encoded order" if any(hidden) else ""


def _says(plain: str, encoded: str) -> bool:
    """True if there is an order in what was decoded that does not stand there anyway."""
    return any(pattern.search(plain) and not pattern.search(encoded) for _, pattern in (*_STRONG, *_PLAIN))
