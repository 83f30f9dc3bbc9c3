"""Characters that are not seen, blanks of all kinds, and wide forms of ASCII: a secret must not hide behind them."""

from __future__ import annotations

import re

_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e007f"
)
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}]()")
_EITHER = re.compile(rf"[{_UNSEEN}]|\\+u([0-9a-fA-F]{{4}})")
_WIDE_SIGNS = "＿－＝＋／．＠＃＄％＆＊"
_WIDE = {
    code: chr(code - 0xFEE0)
    for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *map(ord, _WIDE_SIGNS))
}
_WIDE |= dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_ANY_ODD = re.compile(f"[{_UNSEEN}{''.join(map(chr, _WIDE))}]")


def plain(text: str) -> tuple[str, list[int] | None]:
    """The text without what cannot be seen, wide letters, digits and blanks as ASCII, `\\uXXXX` as what it stands for.

    And where each character stood, with the end after the last; None where that is where it stands now. Tags and
    joiners of emoji are among what cannot be seen.
    """
    escaped = "\\u" in text
    if text.isascii() and not escaped:
        return text, None
    if not escaped and _ANY_ODD.search(text) is None:
        return text, None
    pattern = _EITHER if escaped else _ANY_UNSEEN
    if pattern.search(text) is None:
        return text.translate(_WIDE), None
    seen: list[str] = []
    places: list[int] = []
    done = 0
    for match in pattern.finditer(text):
        start = match.start()
        seen.append(text[done:start])
        places.extend(range(done, start))
        if match[1] and not _ANY_UNSEEN.match(character := chr(int(match[1], 16))):
            seen.append(character)
            places.append(start)
        done = match.end()
    seen.append(text[done:])
    places.extend(range(done, len(text) + 1))
    return "".join(seen).translate(_WIDE), places
