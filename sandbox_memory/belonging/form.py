"""Whether a sentence is a rule for anybody, or tells of one case."""

from __future__ import annotations

import re

from ..governance.wording import SENTENCE_END, normal

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


_CASE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Herr|Frau|MR|MRS|MS|DR)\b\.?\s+[A-Z]\w"
    r"|\b(?:(?i:recent|one|another|last|previous|similar|past|actual|real|this|that|your|open|reported|notable)) "
    r"(?i:cases?|incidents?|complaints?|examples?)\b(?! of\b)|\b(?i:case (?:notes?|history|study|file|log|no\.?|#)|"
    r"for example,? (?:a|an|one) (?:customer|passenger|guest|member|caller|patient)|internal note|agent note)\b"
    r"|\b(?i:(?:a|an|one|another|the) (?:customer|user|caller|client|member|passenger|patient|guest|tenant|buyer|lady|"
    r"gentleman|man|woman|couple|family)) (?:\w+ )?(?i:from|of|in|got|was|had|has been|received|asked|called|claimed|"
    r"complained|lost|paid|went|wrote)\b(?! (?:possession|good standing|default|arrears)\b)"
    r"|[\u4e00-\u9fff](?:先生|女士|小姐|太太)|(?:最近|近期|上次|之前|有)(?:的|一)?(?:个)?(?:案例|例子|客诉|投诉)|"
    r"(?:某|一)(?:位|名|个)(?:客户|用户|乘客|旅客|顾客|会员|患者).{0,6}(?:因|曾|已|获|在|来自)|(?:他|她)(?!们|人)"
)
_PERSON = re.compile(r"\b(?<!or )(?<!/)(?:he|she|his|her|him|hers)\b(?! or\b|/)", re.IGNORECASE)
_YOURS = re.compile(
    r"\byou(?:'ve|'re| have| are| had| were| owe| booked| ordered| bought| paid| currently| already)\b"
    r"|\byour (?:[\w-]+ ){1,4}(?:is|are|was|were|has|have|of)\b|[您你](?:已|有|目前|现有|预订|购买|的)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?:\d[\w.,-]*|\b(?:two|three|four|five|six|seven|eight|nine|ten)\b)(?![\d.,-]*\s?-?(?:hours?|hrs?|days?|minutes?|"
    r"mins?|weeks?|months?|years?|business|working|calendar|percent|%|小时|天|分钟|周|个?月|年|日|个工作日))",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"\b(?:can|may|must|should|could|if|when|unless|entitled|eligible|allowed|required|up to|at most|at least|maximum|"
    r"minimum|per|each|every)\b|可以?|须|如果|若|最多|至少|每|应",
    re.IGNORECASE,
)


def of_a_case(text: str) -> bool:
    """True if a sentence of a document tells of a person or of one case, or what somebody who reads it has."""
    for sentence in (normal(part) for part in SENTENCE_END.split(text)):
        if _CASE.search(sentence) and not _IF.match(sentence.lstrip()):
            return True
        found = _PERSON.search(sentence)
        if found and not _IF.search(sentence[: found.start()]) and not _RULE.search(sentence):
            return True
        if _YOURS.search(sentence) and _COUNT.search(sentence) and not _MAY.search(sentence):
            return True
    return False


def speaks_to_one(text: str) -> bool:
    """True for a text that speaks to, or of, one person."""
    return _ONE.search(text) is not None


def forbids(text: str) -> bool:
    """True for a rule that limits: no customer gains by having claimed it."""
    return _REFUSES.search(text) is not None
