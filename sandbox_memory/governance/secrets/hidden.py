"""Characters that are not seen or not written as themselves, and odd forms of ASCII: a secret must not hide there."""

from __future__ import annotations

import re
import unicodedata

from ...characters import UNSEEN

_UNSEEN = UNSEEN + "\u0300-\u036f"
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}]")
_BYTE = r"(2[DEde]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff])"
"""A letter, a digit or one of `-._` in hex: nobody needs to write one so."""
_WRITTEN = (
    ("\\u", re.compile(r"\\+u(?P<hex>[0-9a-fA-F]{4})")),
    ("%", re.compile(rf"%(?P<hex>{_BYTE})")),
    ("\\x", re.compile(rf"\\+x(?P<hex>{_BYTE})")),
    ("&#", re.compile(r"&#(?:x(?P<hex>[0-9a-fA-F]{1,6})|0{0,4}(?P<number>[1-9][0-9]{1,6}));")),
)
"""How a character can be written in others, with what is always in it."""
_WIDE_SIGNS = "＿－＝＋／．＠＃＄％＆＊"
_WIDE = {
    code: chr(code - 0xFEE0)
    for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *map(ord, _WIDE_SIGNS))
}
_WIDE |= dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_STYLED = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0x1D400, 0x1D800)}
_WIDE |= {code: letter for code, letter in _STYLED.items() if letter.isascii() and letter.isalnum()}
_BLANKS = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_ANY_ODD = re.compile(f"[{_UNSEEN}{_BLANKS}{_WIDE_SIGNS}０-９Ａ-Ｚａ-ｚ\U0001d400-\U0001d7ff]")


def plain(text: str) -> tuple[str, list[int] | None]:
    """The text as it is seen, and where each of its characters stood, with the end after the last.

    Without what cannot be seen (tags and joiners of emoji among it), wide and styled letters, digits and blanks as
    ASCII, and for `\\uXXXX`, `%67`, `\\x67` and `&#103;` what they stand for. None where every character stands where
    it stood.
    """
    # One character is sought at memory speed, two are not.
    likely = [(sign, pattern) for sign, pattern in _WRITTEN if sign[0] in text]
    written = [pattern for sign, pattern in likely if sign in text and pattern.search(text)]
    if not written and (text.isascii() or _ANY_ODD.search(text) is None):
        return text, None
    places: list[int] | None = None
    for pattern in written:
        text, places = _read(pattern, text, places)
    if _ANY_UNSEEN.search(text):
        text, places = _read(_ANY_UNSEEN, text, places)
    return text.translate(_WIDE), places


def _read(pattern: re.Pattern[str], text: str, before: list[int] | None) -> tuple[str, list[int]]:
    """The text with each match as the character that it stands for, and where its characters stood at first."""
    seen: list[str] = []
    places: list[int] = []
    done = 0
    for match in pattern.finditer(text):
        start = match.start()
        seen.append(text[done:start])
        places.extend(range(done, start))
        if character := _stands_for(match):
            seen.append(character)
            places.append(start)
        done = match.end()
    seen.append(text[done:])
    places.extend(range(done, len(text) + 1))
    return "".join(seen), places if before is None else [before[place] for place in places]


def _stands_for(match: re.Match[str]) -> str:
    told = match.groupdict()
    code = int(told["hex"], 16) if told.get("hex") else int(told.get("number") or 0)
    return chr(code) if 0 < code < 0x110000 else ""
