"""Guesses, hedges and hearsay: what somebody only thinks, not what they know."""

from __future__ import annotations

import re

from ...records import Kind
from .reading import clause_after, clause_before

_GUESS = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|allegedly|apparently|conceivably)\b|"
    r"\bmight(?! as well\b)(?:n't| not)?\b|\b(?:could|may) well (?:be|have)\b|"
    r"\b(?:it|that|this|there|they|he|she|which) (?:could|may) (?:also |still |just )?(?:be|have|need|want|like|"
    r"accept)\b"
    r"(?! (?:used|set|found|changed|reached|turned|run|called|requested|cancelled|canceled|returned|up to|\w+ed by)\b)|"
    r"^\W*(?:could|may) (?:well )?be (?:that|the|a|an|because|it)\b|^\W*(?:sounds|looks|seems) (?:like|as if|to)\b|"
    r"\bthere(?:'s| is) (?:a|some|a good|a fair|a slim|every) (?:chance|possibility|likelihood)\b|"
    r"\b(?:no|not any) idea (?:if|whether|why|though)\b|\b(?:i (?:have|had|got) (?:the|a) (?:feeling|impression|"
    r"hunch)|my "
    r"impression)\b|\boff the top of my head\b|\b(?:if|as) memory serves\b|\bdon't quote me\b|\bfrom what i (?:gather|"
    r"understand|hear|heard)\b|\b(?:someone|somebody|people|a colleague|they) (?:told me|say|says|said|"
    r"mentioned)\b(?=.*\b(?:"
    r"not sure|no idea|unconfirmed|if it's true|might|supposedly)\b)|\bword (?:is|has it)\b|\bunconfirmed\b|"
    r"\bi could be wrong\b|"
    r"\bi may be wrong\b|\bcorrect me if\b|"
    r"\b(?:if|unless) i(?:'m| am) (?:not )?(?:mistaken|wrong)\b|\bto (?:the best of )?my knowledge\b|"
    r"\bi(?:'m| am) (?:fairly|pretty|almost|quite|reasonably) (?:sure|certain)\b|"
    r"\bthe (?:cause|reason|problem|culprit|fix) (?:could|may) be\b|\bmay have (?:been|\w+ed)\b(?! to\b)|"
    r"\b(?:i|we)(?:'m| am|'re| are)? (?:just |only )?(?:guess(?:ing)?|suspect(?:ing)?|assum(?:e|ing)|suppose|"
    r"reckon|imagine|presume|wonder(?:ing)?|speculat\w+)\b|\bmy (?:guess|hunch|suspicion|theory|assumption)\b|"
    r"\b(?:it |there |that |this )?(?:seems?|appears?) (?:to (?:be|have|need|want|work|come)|like|that|as if)\b|"
    r"\b(?:it|that|this|which) (?:seems|looks|sounds) (?:like|as if)\b|"
    r"\b(?:i|we)(?:'m| am|'re| are) not (?:\w+ )?(?:sure|certain|positive)\b|\bnot (?:entirely |quite |100 ?% )?sure\b|"
    r"\b(?:i|we) (?:don't|do not) (?:really )?know (?:if|whether|for sure)\b|"
    r"\bif i (?:remember|recall)(?: correctly| right(?:ly)?)?\b|\bas far as i (?:know|can tell|remember)\b|\bafaik\b|"
    r"\biirc\b|\b(?:i|we)(?:'ve)? heard (?:that|from|they|he|she|it)?\b|\brumou?r (?:has|is)\b|\bi have a feeling\b|"
    r"\b(?:most|very|quite) likely\b|\blikely (?:because|due|caused|a|an|the|just|that|related)\b|"
    r"\bis (?:un)?likely (?:the|a|an|that)\b|\bin theory\b|\b(?:or|and) something like that\b|\bor so i think\b",
    re.IGNORECASE,
)
_THINKS = re.compile(
    r"\b(?:i|we) (?:sort of |kind of |still |also )?(?:think|believe|feel like)\b(?! about| of| it over| ahead| twice)",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:should|shouldn't|must|prefer|want|like|hate|always|never|would rather|better|enough|too)\b", re.IGNORECASE
)
_MASKS = re.compile(
    r"\b(?:as soon as possible|if (?:at all )?possible|(?:as|how) \w+ as possibl[ey]|can(?:no|')t possibly|"
    r"could not possibly|possible|try and might|with all (?:my|your|our) might)\b",
    re.IGNORECASE,
)
_OPENED = re.compile(
    r"\b(?:if|when|whenever|unless|whether|in case|that|which|who|whose|what|whatever|anything|something|anyone|"
    r"everything|things?|how|why|where|because users|customers who)\b(?! (?:i|we) (?:think|guess|believe))",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    r"\b(?:think|thinks|believe|guess|say|says|said|heard|told|suspect|assume|hope|means?|is|was|know) that\b[^,]*$|"
    r"\b(?:i|we) (?:think|guess|believe|suspect|assume)\b",
    re.IGNORECASE,
)
_GUESS_ZH = re.compile(
    r"(?<!不)(?<!尽)(?<!有)(?<!无)可能(?!性|的话|会?(?:导致|引起|造成|触发)|值|取值|的?(?:取值|值|选项|状态|原因有|"
    r"情况有))|"
    r"也许|或许|说不定|没准|恐怕|大概(?!念|率|[^，。；]{0,6}?\s?[\d一二两三四五六七八九十几半])|好像|似乎|貌似|仿佛|"
    r"想必|十有八九|"
    r"(?<!成本)(?<!工时)(?<!工作量)(?<!时间)(?<!预算)估计(?!值|量|器|算|方法|误差|工时|要写|时)|"
    r"我(?:们)?(?:猜|怀疑|估摸|推测|寻思)|猜测(?!值)|猜的|听说|据说|传闻|不太?确定|不敢肯定|拿不准|记不太?清|"
    r"不知道是不是|"
    r"感觉(?:像|是|好像|应该)|(?<!不)像是(?!.{0,6}一样)|印象[中里]|说不准|不好说|没把握|不一定对|没核实|未经证实|"
    r"估摸着?|我想(?:他|她|它|这|那|对方|客户|应该|大概|是)|依我看|看样子|看起来|"
    r"记不太?准|"
    r"应该(?:是|会|在|有|能|可以)?[^，。；]{0,20}(?:吧|才对)|八成|多半是|大约莫|我(?:觉得|认为|感觉)(?:可能|应该是|"
    r"好像|大概|也许)"
)
_OPENED_ZH = re.compile(r"如果|要是|若|当|一旦|万一|只要|凡是|凡|任何|所有|只有|哪些|有没有|是否|会不会")
_OF_A_KIND_ZH = re.compile(r"^[^，。；]{1,20}的[^，。；]{0,12}(?:都|要|必须|请|先|不|得|一律|禁止|需)")


def guess(text: str, kind: Kind) -> str:
    """The words that make a guess of a text; empty for what is said as known.

    "May" as a permission is none, nor is a doubt inside a condition ("if it might break, ask").
    """
    plain = _MASKS.sub(lambda found: "~" * len(found.group()), text)
    for found in _GUESS.finditer(plain):
        before = clause_before(plain, found.start())
        opened = list(_OPENED.finditer(before))
        if not opened or _CLAIMS.search(before[: opened[-1].end()]):
            return found.group().strip()
    thinks = _THINKS.search(plain)
    if thinks and not (kind is Kind.PREFERENCE and _OPINION.search(plain[thinks.end() :])):
        before = clause_before(plain, thinks.start())
        if not _OPENED.search(before):
            return thinks.group()
    for found in _GUESS_ZH.finditer(plain):
        before, after = clause_before(plain, found.start()), clause_after(plain, found.end())
        if not _OPENED_ZH.search(before) and not _OF_A_KIND_ZH.search(after):
            return found.group()
    return ""
