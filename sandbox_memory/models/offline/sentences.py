"""Sentences of a transcript's text, what is pasted in it left out; and a short title for what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...governance.speech import passing
from ...governance.speech import sentences as spoken
from ...governance.speech.sentences import PLAIN, Sentence, shortened, size
from ...governance.speech.whole import stands_alone
from ...rollouts import pasted

TITLE = 13
"""Words that a title may have."""

_HELP = re.compile(
    r"(?:can|could|would|will) you (?:please )?(?:help|assist)(?: me| us)?(?: out)?(?: with (?:that|this|it))?\W*$",
    re.IGNORECASE,
)
_LOOSE_END = re.compile(r"(?:\s+(?:and|or|but|to|the|a|an|for|of|in|on|at|with|from|by|my|our|that))+$", re.IGNORECASE)
_BORDER = re.compile(r"[，；。]|[,;](?=\s)|\s[–—-]\s")
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|morning|thanks|thank you|sure|yes|ok|okay|great|"
    r"alright|well|um|uh|er|hmm|so)"
    r"(?: there| team| all| again| so much)?\b[\s,.!…–-]*)+",
    re.IGNORECASE,
)
_SAYS_WHO = re.compile(r"(?i:i'm|i am|my name is|this is) [A-Z][\w'-]+ [A-Z][\w'-]+\b|[\"“「]")
"""Who speaks, or what they quote: not what they ask."""
_GREETING_ZH = re.compile(r"(?:(?:你好|您好|大家好|早上好|嗨|谢谢|好的|嗯|在吗)[呀啊吗]?[\s，,。！!～~、？?]*)+")
_FRAME = re.compile(
    r"^(?:(?:i|we)(?:'d| would|'m| am| was|’d|’m)? (?:also |really |just )*(?:need|want|like|love|looking|hoping|"
    r"trying|would like)(?: you| some help)?"
    r" to |(?:can|could|would) (?:you|we|i)(?: please)?(?: help me)?(?: to)? |please |help me (?:to )?)",
    re.IGNORECASE,
)
_LONG_ENOUGH_ZH = re.compile(r"[\u3400-\u9fff]{4}")
_BETWEEN_TAGS = re.compile(r"\s*<[^<>\n]+>[ \t]*\n(?P<inner>.*?)\n?[ \t]*</[^<>\n]+>[ \t]*", re.DOTALL)


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in order, list markers and blanks taken off, what is fenced or quoted left out."""
    return spoken.sentences(text, pasted(text))


def own_words(text: str) -> Iterator[Sentence]:
    """The sentences that a person says for themselves: none of a mail or of a text that they introduce and paste."""
    return spoken.own_words(text, pasted(text))


def title(text: str) -> str:
    """A short name for what the message asks, made of its own words; empty for a message without words.

    The first request or question that can be read alone, else the first sentence that says something, up to its first
    comma. A message that introduces a text with a colon ("Here is the issue:") is named after that text's first line,
    one that begins with a text between tags after what that one asks.
    """
    text = text[:20_000]
    first, last = min(pasted(text), default=(len(text), len(text)))
    found = [sentence.text for sentence in sentences(text) if sentence.end <= first]
    tagged = _BETWEEN_TAGS.fullmatch(text[first:last])
    if tagged and not found:
        return title(tagged["inner"])
    introduced = _introduced(found)
    if introduced:
        return _short(introduced)
    found = [bare for bare in (_ungreeted(sentence) for sentence in found) if len(bare) > 2]
    found = [s for s in found if not _SAYS_WHO.match(s.translate(PLAIN))]
    telling = [s for s in found[:4] if len(s.split()) > 3 or _LONG_ENOUGH_ZH.search(s)]
    asking = [clause.strip() for s in telling for clause in _BORDER.split(s) if _asks(clause.strip().translate(PLAIN))]
    lasting = [s for s in telling if not _passes(s.translate(PLAIN))]
    return _short(_FRAME.sub("", next(iter([*asking, *lasting, *telling, *found]), "")))


_POINTS_BACK = re.compile(
    r"\b(?:it|them|this|that)\b[\s.!?]*$|\bwhat(?:'s| is| went) wrong\b|(?:它|这个问题|一下原因)[吧。！？\s]*$",
    re.IGNORECASE,
)
"""What asks about something that another sentence names."""


def _passes(sentence: str) -> bool:
    busy = re.match(r"(?:i'm|i am|we're|we are)\b", sentence, re.IGNORECASE) is not None
    return passing.is_soon(sentence) or _HELP.match(sentence) is not None or (passing.is_for_now(sentence) and not busy)


def _asks(sentence: str) -> bool:
    asks = passing.is_request(sentence) or passing.is_question(sentence)
    return asks and size(sentence) >= 3 and stands_alone(sentence) and _POINTS_BACK.search(sentence) is None


def _introduced(found: list[str]) -> str:
    for place, sentence in enumerate(found[:4]):
        if sentence.endswith((":", "：")):
            return next((line for line in found[place + 1 :] if not line.endswith((":", "："))), "")
    return ""


def _ungreeted(sentence: str) -> str:
    for greeting in (_GREETING, _GREETING_ZH):
        match = greeting.match(sentence)
        if match:
            sentence = sentence[match.end() :]
    return sentence


def _short(sentence: str) -> str:
    sentence = " ".join(sentence.split()).rstrip(".!?。！？；;,， ").strip("*_#` ")
    border = next((cut for cut in _BORDER.finditer(sentence) if size(sentence[: cut.start()]) >= 3), None)
    sentence = sentence[: border.start()] if border else sentence
    return _LOOSE_END.sub("", shortened(Sentence(sentence, 0), TITLE).text.rstrip(",;:，；： "))
