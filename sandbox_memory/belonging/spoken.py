"""What a customer says of themselves, beside the matter that they come with, which anybody may come with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..governance.wording import SENTENCE_END, normal
from .service import telling

_CLAUSE = re.compile(
    r"[,;:()\n，；：、]|\s[-–—]+\s|\b(?:because|since|due to|so that|so|but|although|while"
    r"|and(?= (?:i|my|we|our|it|he|she)\b)|as(?= (?:i|my|we|our)\b))\b|因为|由于|所以|但是?|而且|还有",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？]\s*$|[吗么呢]\s*[。！？]?$|^\W*(?:please|can|could|would|will|may|do|does|did|is|are|what|when|where|how|which|"
    r"why|who|any|help|cancel|change|move|return|refund|exchange|book|order|pause|stop|send|show|list|find|check|"
    r"tell|give|pay|use|pick|reset|update|renew|extend|export|track|hi|hello)\b"
    r"|\b(?:i|we) (?:want|need|would like|wish|have to|must|am trying|was trying|am looking|am calling|was hoping)\b"
    r"|\bi'd (?:like|prefer)\b|\bi'm (?:trying|looking|calling|hoping|writing)\b"
    r"|\bi(?:'ve| have)? (?:lost|forgot(?:ten)?|misplaced) (?:my|the|a|an)\b"
    r"|请|帮我|能不能|可不可以|能否|可以|我想|我要|我需要|想要|怎么|如何|什么|多少|哪|几",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:to|from|in|into|at|on|with|for|near|by|until|via|over|after|before|under|about|who|whose|that|which|"
    r"(?:next|last|this) (?:week|month|year)|as)\b(?! (?:change|cancel|move|return|book|pay|use|get|have|be|know|see|"
    r"upgrade|add|remove|speak|talk|exchange|refund|order|pause|stop|renew|extend|send|track|update|modify|reset)\b)"
    r"|给|跟|和|在|去|到|从",
    re.IGNORECASE,
)
_RULES = re.compile(
    r"\b(?:polic(?:y|ies)|rules?|managers?|supervisors?|colleagues?|decided|every(?:one|body)|nobody|no one|anyone|"
    r"all customers|from now on|told me|your (?:agent|team|company|website))\b"
    r"|规定|规则|政策|经理|主管|同事|领导|说过|以后|从现在起|一律|所有人|任何人|没人",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[^\W\d_] )(?!I\b|I')[A-Z][\w'-]+|(?<=[\w,] )[A-Z][a-z][\w'-]+")


def own_words(texts: Iterable[str]) -> frozenset[str]:
    """The telling words of what somebody says of themselves: all but what they ask for, up to where and for whom."""
    own: set[str] = set()
    matter: set[str] = set()
    names: set[str] = set()
    for sentence in (sentence for text in texts for sentence in SENTENCE_END.split(normal(text))):
        clauses = list(_clauses(sentence))
        for place, clause in enumerate(clauses, 1):
            asked = _ASKS.search(clause)
            if not asked and (place < len(clauses) or not sentence.rstrip().endswith(("?", "？"))):
                own |= telling(clause)
                continue
            more = _THEN.search(clause, asked.end() if asked else 0)
            end = more.start() if more else len(clause)
            matter |= telling(clause[:end])
            own |= telling(clause[end:])
        names |= {word for name in _NAMED.finditer(sentence) for word in telling(name.group())}
    return frozenset((own - matter) | names)


def claims_a_rule(text: str) -> bool:
    """True if somebody says what is decided, allowed or always so: that makes no rule, also in other words."""
    return any(_RULES.search(s) and not s.rstrip().endswith(("?", "？")) for s in SENTENCE_END.split(normal(text)))


def _clauses(sentence: str) -> Iterator[str]:
    start = 0
    for found in _CLAUSE.finditer(sentence):
        if part := sentence[start : found.start()].strip():
            yield part
        start = found.end()
    if part := sentence[start:].strip():
        yield part
