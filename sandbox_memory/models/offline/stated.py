"""How a sentence is built: what it is about, what it says without its frame, who speaks and what they lack."""

from __future__ import annotations

import re
from collections.abc import Sequence

PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})


def matching(*patterns: str) -> re.Pattern[str]:
    """One pattern that finds any of these, without regard to case."""
    return re.compile("|".join(patterns), re.IGNORECASE)


_LACKS = matching(
    r"\b(?:i|we)(?:'m| am| do)?(?: not|n't) (?:\w+ )?(?:sure|certain|have|remember|recall|know)\b",
    r"不记得|不知道|没有|忘了|找不到",
)
_STATES = re.compile(
    r"^(?:the |our |my |now,? )?(?P<what>(?!(?:it|this|that|there|these|those|what|which|who|he|she|they|i|we|you|"
    r"everything|"
    r"nothing|something|name|reason|problem|issue|question|point|thing|focus|goal|plan|concern|"
    r"idea)\b)[\w'./-]+(?: [\w'./-]+){0,4}?) "
    r"(?:is|are|runs on|listens on|lives (?:at|in|on)|belongs to|uses|moved to|was (?:moved|renamed|"
    r"changed) to)(?: now| on| at| in| a| an| the|"
    r" called| named)* (?P<value>(?!\w+ing\b)[^,;?]{1,60}?)(?: now)?(?:, not [^,;?]{1,40})?[.!]*$",
    re.IGNORECASE,
)
_STATES_ZH = re.compile(
    r"^(?P<what>[^，。？?,\s这那它他她我你您][^，。？?,这那它他她我你您]{0,20}?)(?:现在)?(?:的)?(?:是|换成了|改成了|改为|用的是|在|"
    r"归)(?P<value>[^，。？?,]{1,40})"
    r"(?:了)?(?:[，,]\s*(?:而)?不是[^，。？?,]{1,30})?[。！!]*$"
)
_NAMED = re.compile(r"(?<!^)\b[A-Z][\w-]*|\d|[\w-]+[./_]\w|[A-Za-z]*[a-z][A-Z]")


def subject_of(sentence: str) -> str:
    """What a plain statement ("the port of staging is 8443", "设备A现在是群晖") is about; empty for any other."""
    text = _INTERJECTION.sub("", sentence.translate(PLAIN).strip())
    match = _STATES.match(text)
    if match and _NAMED.search(match["what"] + " " + match["value"]) and "name" not in match["what"].lower().split():
        return " ".join(match["what"].lower().split())
    match = _STATES_ZH.match(text)
    if match and re.search(r"[A-Za-z0-9]|现在|了[。！!]*$", text):
        return match["what"].strip().casefold()
    return ""


_INTERJECTION = re.compile(
    r"^(?:(?:(?:also|actually|well|oh|hmm|by the way|btw|fyi|unfortunately|however|additionally|therefore|"
    r"please note(?: that)?|"
    r"note that|just|i mean|i see|and|but|so)\b[\s,.:;!-]+)"
    r"|(?:no|nope|yes|yeah|sure|ok|okay|wrong|sorry|great|alright|thanks|thank you|right|in that case)\b\s*[,.:;!-]+\s*"
    r"|(?:不对|对|好的|好|错了|嗯|哦|另外|还有|对了|顺便|更正)[\s,.:;!，。：；！-]+)+",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(
    r"\b(?P<word>as|since|because|so|but|and)\s+(?=(?:i|we|my|our|please|never|always)\b)|,\s+(?=(?:i|we|please)\b)",
    re.I,
)
_HANGS_ON = re.compile(
    r"\b(?:if|when|whenever|unless|until|while|although|though|before|after|once|as long as)\b", re.IGNORECASE
)


def core(sentence: str, wishes: Sequence[re.Pattern[str]] = ()) -> tuple[int, int]:
    """Start and end of what a sentence says: no interjections, no full stop and, with the patterns of
    wishes, nothing before the clause of the first wish.

    "None of these work for me as I don't want to fly early." -> "I don't want to fly early"
    """
    plain = sentence.translate(PLAIN)
    opening = _INTERJECTION.match(plain)
    start = opening.end() if opening and len(plain) - opening.end() > 4 else 0
    end = len(plain.rstrip(" .!。！"))
    if not wishes:
        return start, end
    wish = next((found for found in (p.search(plain, start) for p in wishes) if found), None)
    for cut in _CONJUNCTION.finditer(plain, start):
        if wish is None or cut.end() > wish.start() or _HANGS_ON.search(plain, start, cut.start()):
            break
        if len(plain[cut.end() : end].split()) >= 4:
            start = cut.end()
    return start, end


_IS_CALLED = re.compile(
    r"\b(?:my|our|the) (?:user|customer|account|member|client|employee|login|patient|student)[ -]?"
    r"(?:id|name|number|no\.?)?(?:'s| is|:)?(?: should be)?(?: under)? (?P<id>[A-Za-z0-9][\w.@-]*[\w])"
    r"|\b(?:it's|it is) (?P<it>(?=\S*\d)[a-z]\w*_\w+)"
    r"|\bi'm (?P<me>[a-z0-9]+(?:[_.-][a-z0-9]+)+)"
    r"|(?:我的)?(?:用户|账号|账户|会员|客户|工号|学号)(?:ID|名|号)?(?:是|为|：|:)\s*(?P<zh>[A-Za-z0-9][\w.@-]*\w)",
    re.IGNORECASE,
)


def speaker(text: str) -> tuple[str, int, int] | None:
    """The account name that a person gives as theirs, and where the words that say so start and end."""
    for match in _IS_CALLED.finditer(text.translate(PLAIN)):
        name = match["id"] or match["it"] or match["me"] or match["zh"]
        if re.search(r"[\d_]", name):
            return name, match.start(), match.end()
    return None


def speaks(sentence: str) -> bool:
    """True if somebody speaks of themselves in it."""
    return bool(re.search(r"\b(?:i|i'm|i'd|my|we|our)\b|我", sentence.translate(PLAIN), re.IGNORECASE))


def lacks(sentence: str) -> bool:
    """True if somebody says that they do not have, know or remember something."""
    return bool(_LACKS.search(sentence.translate(PLAIN)))
