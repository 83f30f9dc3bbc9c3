"""Whether a sentence is a rule for anybody, or tells of one case."""

from __future__ import annotations

import re

_RULE = re.compile(
    r"\b(?:if|unless|when|whenever|can(?:not|'t)?|could|must|may|only|within|per|each|every|any|all|never|always|"
    r"not (?:possible|allowed|permitted|refundable|transferable|eligible|covered|provided|included|supported|accepted)|"
    r"required?|requires|allowed|permitted|eligible|refuses?|should|needs? to|(?:have|has) to|non-\w+|"
    r"at (?:most|least)|do(?:es)? not|don't|doesn't|before|after|"
    r"until|depends?|typically|usually|generally|by default)\b"
    r"|如果|若|可以?|不能|不可|不得|必须|只能|只有|每|任何|所有|以内|需要?|应|须|当|凡|才|通常|一般|取决于|最多|至少|一律",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"^\W*(?:(?!(?:the|this|these|those|your|my|our|his|her|its|there|it|he|she|they|we|i|you)\b)[a-z-]+\s+){0,3}"
    r"[a-z-]{2,}[^s\W]s\s+(?:\w+ly\s+)?(?:get|have|pay|cost|take|include|cover|expire|are|come|go|need|receive|earn|"
    r"require|ship|start|end|last|count|apply|fly|travel|stay)\b",
    re.IGNORECASE,
)
_IF = re.compile(
    r"\b(?:if|unless|when(?:ever)?|whether|in case|provided|as long as|once|depends?|before|after|until|without|no)\b"
    r"|如果|若|要是|只要|除非|当|凡",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\b(?:the|this) (?:customers?|users?|callers?|clients?|members?|passengers?|patients?|guests?|tenants?|buyers?|"
    r"travell?ers?|account holder|person|man|woman|lady|gentleman|couple)\b|\b(?:he|she|his|her|him|hers)\b|"
    r"\byour\b|\byou(?:'re|'ve|'ll|'d| are| were| have(?! to)| had| will| would)\b|"
    r"\b(?:this|that) (?:order|reservation|booking|parcel|account|flight|ticket|case|request|payment|subscription)\b|"
    r"\bi(?:'ve|'ll|'m| have| will| did| was| am)\b|"
    r"\bfor you\b|这位|该(?:客户|用户|乘客)|您的|你的|为您|客户(?:有|是|已|要|想)|用户(?:有|是|已|要|想)|[他她]",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:was|were|has been|have been|had been|has|had|went|came|got|did|sent|made|paid out|'ve|been)\b"
    r"|已经?|过了|了$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:if|unless|when(?:ever)?|because|that|which|who|they|after|before|once|until|without|has to|had to)\b"
    r"|如果|若|后|前|当",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:are|is|be|being|get|gets)\s+(?:\w+\s+)?$", re.IGNORECASE)
_NOW = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|this (?:week|month|morning|afternoon|evening)|(?:next|last) (?:week|month|"
    r"year|time)|right now|just now|on file)\b|今天|明天|昨天|今晚|刚才|刚刚|本周|下周|上周|上个?月",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:cannot|can't|can not|not|never|must|only|no|unless|refuse[sd]?|required?|requires|at most|limited|"
    r"non-\w+)\b|不|只能|只有|必须|最多|禁止",
    re.IGNORECASE,
)


def is_rule(text: str) -> bool:
    """True for a sentence that says what holds for anybody: no case that was, no one person, no day of its own."""
    if not (_RULE.search(text) or _PLURAL.search(text)) or _NOW.search(text):
        return False
    for pattern, excuse in ((_ONE, _IF), (_DONE, _BOUND)):
        for found in pattern.finditer(text):
            before = text[: found.start()]
            if not excuse.search(before) and not (pattern is _DONE and _PASSIVE.search(before)):
                return False
    return True


def speaks_to_one(text: str) -> bool:
    """True for a text that speaks to, or of, one person."""
    return _ONE.search(text) is not None


def forbids(text: str) -> bool:
    """True for a rule that limits: no customer gains by having claimed it."""
    return _REFUSES.search(text) is not None
