"""Whether a clause can be read alone: nothing in it points elsewhere, and no half of it is missing."""

from __future__ import annotations

import re

from .clauses import CJK, matching

_KNOWN_PLACE = (
    r"(?:repo|repository|project|code ?base|workspace|machine|team|company|service|server|api|library|package|"
    r"cluster|environment|"
    r"household|family|clinic|office|database|app|application|site|website|store|shop|school|department|system|"
    r"platform|"
    r"agent|assistant|tool|airline|hotel|bank|firm|hospital|practice)\b"
)
_POINTS_BACK = matching(
    rf"^(?:(?:this|that|these|those)(?! {_KNOWN_PLACE})|it|it's|its|they|they're|them|their|he|he's|she|she's|his|"
    rf"her|the (?:former|latter|same|other)|"
    r"(?:new|old|other|the \w+) ones|such|another|both|neither|none|either|same|here|there it|doing so|so)\b",
    r"\b(?:that|this|the (?:first|second|third|last|other|latter|former|next|previous|above|following|same|"
    r"remaining)) (?:one|ones|option)\b|"
    r"\boption (?:\d|one|two|three|[a-d]\b)|\b(?:do|did|does|doing|done) (?:that|this|it|so)\b|"
    r"\b(?:again )?like (?:that|this)\b|"
    r"^(?:if|when|since|because|unless) (?:that|this)(?:'s|'re| is| isn't| doesn't| does| works?)\b",
    r"\bas (?:above|below|discussed|before)\b|\bthe (?:above|following|attached|one)\b(?! you)",
    r"\b(?:remember|forget|save|store|note|use|keep|send|try|skip|leave|change|make|want|need|like|love|hate|"
    r"prefer|mean|accept|"
    r"about|for|with|of|to|without|than) (?:that|this|these|those)(?=\s*(?:$|[,.;!?]|\b(?:instead|again|please|"
    r"for me|and|but|anymore)\b))",
    r"^(?:它|他们?|她们?|这(?!些?(?:个|台|套)?(?:项目|仓库|团队|公司|服务|系统|数据库|环境|平台|集群|机器|账号|客户))|那(?!么)|其中|该(?=[^\s]{1,4}(?:是|在|"
    r"为))|此|前者|后者|上面|下面|上述|同上)|(?:算|加|放|计|写)(?:进去|进来)",
    r"(?:这样|那样|像这|像那|上一个|下一个|刚才|前面(?:说|提)|照旧|照做|同上|第[一二三四五]个)",
)
_PRONOUN = re.compile(r"\b(?:it|they|them|those|these|he|she|him|her|there(?= *$)|one(?= *$))\b", re.IGNORECASE)
_IMPERSONAL = re.compile(
    r"\b(?:if|when|whenever|unless|because|since|until|before|that|think|makes?|find|and|as) it(?=(?:'s| is| takes|"
    r" rains| costs| turns| gets| comes| snows| "
    r"goes| fails| works| would| will| looks)\b)|\bit (?:is|was|takes|makes) (?=\w+ (?:to|that|for)\b)",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    "i we you me us my our your please always never only just also really do does did don't not no to of for on in at "
    "by with from the a an and or but so if when whenever before after once until unless is are was were be been am "
    "will would can could should must may want need like prefer use using keep make sure have has had more less than "
    "much many most least any some all every each time now on first then instead ask tell let run stop avoid what how "
    "why where which who that this i'm i'd i've i'll we're it's can't cannot won't over under above below within per "
    "about into than shouldn't wouldn't couldn't doesn't didn't isn't aren't remember note ensure send write give "
    "show put get take go".split()
)
"""Words that are nothing a pronoun could stand for."""


def stands_alone(text: str) -> bool:
    """True if nothing in it points to something that is said elsewhere."""
    head = re.split(r"[,，;；]|\b(?:so|and|but)\b", text, maxsplit=1)[0] or text
    if _POINTS_BACK.search(head):
        return False
    text = _IMPERSONAL.sub("", text)
    pronoun = _PRONOUN.search(text)
    if pronoun is None:
        return True
    before = re.findall(r"[^\s,.;:()]+", text[: pronoun.start()].casefold())[:-1]
    named = sum(1 for word in before if word not in _EMPTY and any(char.isalpha() for char in word))
    return named >= (1 if pronoun.group().lower() in ("they", "he", "she") else 2)


_HALF = matching(
    r"^(?:since|because|as|although|though|even (?:if|though)|while|whereas|given that)\b"
    r"(?!.*,\s*(?!even|with|without|and|or|which|who|not|unless|if|such|like)\S+ \S+)",
    r"^(?:if|when|whenever|unless|once|until|after|before)\b(?!.*(?:,|\bthen\b)\s*\S+ \S+)(?!.* (?:please|ask|tell|"
    r"use|do|don't|always|never|i|we|you|he|she|they|it) )",
    r"^(?:因为|由于|既然|虽然|如果|要是|若|当|除非|只要|一旦)(?!.*[，,].{2})(?!.*(?:就|都|要|请|不要|别|先|则))",
    r"^(?:is|are|isn't|aren't|was|were|has|have|had|can|can't|cannot|will|would|could|should|must|does|doesn't|did|"
    r"to|of|than|and|or|but|which)\b",
    r"^(?:是|现在是|而是|就是|在|也|才|的)",
    r"[:：]$",
    r"^(?:以前|旧|老|原来|原先)的?[^，。,]{0,14}(?:不能再|不要再|不再|作废|停用|废弃)[^，,]*$",
    r"^(?:the )?old [^,;]* (?:is|are) (?:gone|history|dead|no longer \w+)$",
)


def is_whole(text: str) -> bool:
    """True for more than half a sentence: not a condition without its consequence, nor what is said of nobody."""
    words = len(re.findall(rf"[^\s{CJK}]+", text))
    return (words >= 3 or len(re.findall(rf"[{CJK}]", text)) + 2 * words >= 4) and not _HALF.search(text)
