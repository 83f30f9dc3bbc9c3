"""Clauses of a sentence: where they stand, what frames them, and which lean on one another."""

from __future__ import annotations

import re
from dataclasses import dataclass

CJK = "\u3400-\u9fff"


def matching(*patterns: str) -> re.Pattern[str]:
    """One pattern that finds any of these, without regard to case."""
    return re.compile("|".join(patterns), re.IGNORECASE)


@dataclass(frozen=True)
class Clause:
    """Characters `start` to `end` of a sentence.

    `joint` is the word before it that joins it to what came before; `soft` if no mark stands there as well.
    """

    start: int
    end: int
    joint: str = ""
    soft: bool = False


_SUBJECT = (
    r"(?=(?:i|i'm|i'd|i've|i'll|we|we're|we'd|my|our|you|your|he|she|they|it|it's|the|this|that|there|their|please|"
    r"never|"
    r"always|don't|do not|remember|keep in mind|note that|from now on|next time|in (?:the )?future|only|use|"
    r"make sure|also|"
    r"everything|nothing|all|any|every|each|no)\b)"
)
_CUT = re.compile(
    rf"(?:(?:[;；]\s*|,(?=[\s{CJK}])\s*|(?<=[{CJK}]),\s*|，\s*|\s+[-–—]{{1,3}}\s+|——\s*|[:：](?=[\s{CJK}])\s*|：)"
    r"(?P<joint>(?:(?:and|but|so|because|since|as(?! (?:long|soon|well|far|of|per)\b)|then|plus|yet|though|"
    r"although|while|"
    r"whereas)\b(?!-)\s*|"
    r"但是|但|不过|而且|并且|所以|因此|因为|由于|另外|还有|对了|同时|然后)(?:[,，]\s*)?)?)"
    r"|\s+(?P<word>and|but|so|because|since|as|or|while|whereas|though|although)\s+" + _SUBJECT,
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\S+\s+\S+|[{CJK}]{{2}}")


def clauses(plain: str) -> list[Clause]:
    """The clauses of a sentence in order; each but the first begins after a mark or a word that joins it."""
    found: list[Clause] = []
    start, joint, soft = 0, "", False
    for cut in _CUT.finditer(plain):
        if cut["word"] and not _ALONE.search(plain, start, cut.start()):
            continue
        if plain.find(")", cut.end()) >= 0 and plain.count("(", start, cut.start()) > plain.count(
            ")", start, cut.start()
        ):
            continue
        if cut.start() > start:
            found.append(Clause(start, cut.start(), joint, soft))
        start, joint = cut.end(), (cut["joint"] or cut["word"] or "").strip(" ,，").lower()
        soft = cut["word"] is not None
    if start < len(plain):
        found.append(Clause(start, len(plain), joint, soft))
    return found


_INTERJECTION = re.compile(
    r"(?:(?:(?:hi|hello|hey|dear all|good (?:morning|afternoon|evening)|morning)(?: there| all| team| again|"
    r" everyone)?\b[\s,.:;!-]+)|(?:(?:also|actually|well|oh|hmm|um|uh|ah|by the way|btw|fyi|unfortunately|however|"
    r"additionally|therefore|besides|"
    r"in addition|moreover|furthermore|meanwhile|in that case|in the meantime|again|as i said|like i said|"
    r"my (?:bad|mistake|fault|apologies)|sorry about that|"
    r"as (?:i )?mentioned|i told you before|i (?:just )?want to (?:add|mention|clarify|point out) that|i mean|"
    r"i see|just|before (?:we )?(?:proceed(?:ing)?|continu(?:e|ing))|"
    r"and|but|so|then|hold on|wait|one more thing|another thing|as always|for the record)\b[\s,.:;!-]+)"
    r"|(?:no|nope|nah|yes|yeah|yep|sure|ok|okay|wrong|sorry|great|good|nice|perfect|alright|thanks|thank you|right|"
    r"that's (?:wrong|not right|incorrect|right)|not quite|one correction|correction|sounds (?:good|fine|"
    r"great))\b\s*[,.:;!-]+\s*"
    r"|(?:不对|不是的|对|好的|好|行|可以|(?:我)?(?:刚才|刚刚)?(?:记|说|搞|弄|写|看|打)?错了|嗯+|哦|啊|另外|还有|对了|顺便(?:说一下|提一下)?|更正(?:一下)?|说明一下|补充一下|"
    r"抱歉|不好意思|老规矩|再说一遍|我说过|而且|并且|但是|不过|但|所以|因此|那)[\s,.:;!，。：；！-]+)+",
    re.IGNORECASE,
)
_MEMO = re.compile(
    r"(?:please |kindly |just |also |do |always )*(?:(?:can|could|would|will) you (?:please |also )?|"
    r"(?:i|we)(?:'d| would)? (?:want|need|like|ask) you to |you (?:should|must|need to|have to) (?:always )?)?"
    r"(?:remember|note|keep in mind|bear in mind|do(?:n't| not) forget|be aware|be advised|"
    r"(?:make a|take|keep a) note(?! for (?!me\b|later\b|next\b|the future\b|future\b))|"
    r"write down|memori[sz]e|never forget|save to memory|store in memory|important|reminder|"
    r"heads[ -]up|(?:tip|hint|lesson|rule)(?= for (?:next time|the future|later)| ?:)|"
    r"for (?:your information|future reference|next time|the future|later)|just so you know|"
    r"one thing to (?:remember|note|know)|"
    r"you should know)\b(?: well| please| this| the following| for (?:later|next time|the future|future reference|"
    r"me))*"
    r"[\s,:–-]*(?:that\b|to\b(?! (?:the|a|my|our)\b)|of (?:the fact )?that\b|:|is(?: that|:)|this\b:?)?[\s,:–-]*"
    r"|(?:请|麻烦|要|千万|一定|务必|帮我|你|您|大家|也|都|还|以后)*(?:要|得)?(?:记住|记得|记一下|记下来?|牢记|别忘了?|不要忘了?|"
    r"注意(?!事项|力)|备注|提醒(?:一下|你|您)?(?!我)|告诉你一下)(?:一下|一点|一件事|这一?点|了|哦|啊|这个|的是|：|:|，|,|、|\s)*",
    re.IGNORECASE,
)
_FROM_NOW = re.compile(
    r"(?:from (?:now|here) on(?:wards?)?|going forward|in (?:the )?future|for the future|henceforth|"
    r"as a (?:general )?rule|"
    r"in general|generally)\b\s*[,:]?\s*"
    r"|(?:以后|今后|往后|从现在(?:开始|起)|从今(?:天)?(?:开始|起|以后)|从今往后)(?:\s*[，,：:]\s*|(?=请|不要|别|只|都|一律|统一))",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:(?:please|kindly)\b[\s,]*)|(?:(?:can|could|would|will) (?:you|we)(?: please| kindly|"
    r" also)*\s+)(?=(?:always|never|only|stop|make sure|"
    r"remember|from now on)\b)|(?:i|we)(?:'d| would)? (?:want|like|need|ask) you to (?=(?:always|never|only|stop|"
    r"make sure)\b)"
    r"|(?:请|麻烦)(?:你|您|大家|务必)?(?!求|假|客|问|教|示|款)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Bare:
    """Where a clause begins without its frame, and what the frame told: "remember", "from now on", both or neither.

    `to_do` is true for "remember to".
    """

    start: int
    memo: bool = False
    lasting: bool = False
    to_do: bool = False


def bare(plain: str, start: int = 0) -> Bare:
    """A clause without interjections, "please", "remember that" and "from now on" in front of it."""
    memo = lasting = to_do = False
    while start < len(plain):
        for pattern in (_INTERJECTION, _MEMO, _FROM_NOW, _POLITE):
            match = pattern.match(plain, start)
            if match and match.end() > match.start() and _says_something(plain[match.end() :]):
                memo, lasting = memo or pattern is _MEMO, lasting or pattern is _FROM_NOW
                to_do = to_do or (pattern is _MEMO and match.group().lower().rstrip().endswith(" to"))
                start = match.end()
                break
        else:
            break
    return Bare(start, memo, lasting, to_do)


def _says_something(rest: str) -> bool:
    return len(re.findall(rf"[^\W_{CJK}]+|[{CJK}]", rest)) >= 2


def _only_frames(text: str) -> bool:
    """True for "please note" and "in future" by themselves."""
    text = text.strip() + ","
    while text:
        match = next((m for p in (_INTERJECTION, _MEMO, _FROM_NOW, _POLITE) if (m := p.match(text)) and m.end()), None)
        if match is None:
            return False
        text = text[match.end() :]
    return True


_END_FRAME = re.compile(
    r"(?:[\s,，;；]+(?:(?:please|thanks|thank you|thx|ok|okay|right|though|too|as well|if (?:possible|"
    r"that's ok(?:ay)?|you can|you could)|"
    r"(?:and )?(?:from now on|going forward|in (?:the )?future|for the future)|谢谢|好吗|行吗|可以吗|麻烦了|"
    r"辛苦了)\b)*)*[\s.!?。！？,，;；~～]*$"
    r"|(?:吧|哦|哈|啊|呢|呀|啦|哟|噢)?[\s.!?。！？~～]*$",
    re.IGNORECASE,
)


def trimmed(plain: str, start: int, end: int) -> int:
    """Where a clause ends without thanks, "please" and marks at its end."""
    for match in _END_FRAME.finditer(plain, start, end):
        if match.end() == end:
            return match.start() if match.start() > start else end
    return end


# ---------------------------------------------------------------- what hangs together

_LEANS_LEFT = matching(
    r"^(?:not|nor|rather than|instead of|which|who|whose|where|unless|until|so that|so as|in order|such as|like|"
    r"including|"
    r"except|excluding|e\.g|i\.e|for example|otherwise|else|then|even|especially|preferably|ideally|to \w+|or|"
    r"as long as|but|"
    r"only (?:if|when|for|after|once)|if|when|whenever|whatever|whichever|at (?:least|most|all)|no (?:later|"
    r"earlier|more|less|need)|with|"
    r"without|for|in|on|by|at|from|per|plus|both|either|each time|after|before|as (?:always|usual|a|the|per|it|"
    r"they|well|little|much|soon)|"
    r"too|since (?:it|they|that)|because|and|(?:always|never|only|just) (?:as|in|on|with|to|by|at|for|a|an|the|"
    r"from|before|after|via|"
    r"under|over)|"
    r"most of|some of|all of|none of|now|is|are|was|were|has|have|had|can|cannot|will|would|must|should|does|did)\b",
    r"^(?:而不是|不是|而非|否则|不然|除非|以免|免得|因为|包括|比如|例如|尤其|特别是|或者|也就是|即|其中|是(?!不是|否)|现在(?:是|改|换|用|在|归|由|叫|都|已)|如今|应该是|改成|改为|"
    r"换成|再|才|就|也|然后|之后|接着|至少|最多|"
    r"最好|省得|这样|否|方便|便于|因此|所以)",
)
_LEANS_RIGHT = matching(
    r"^(?:if|when|whenever|unless|before|after|once|while|as long as|as (?:a|an|the|soon)|for|in|on|during|by|"
    r"until|since|"
    r"because|given|with|without|at|even (?:though|if)|although|though|in case|every time|each time|next time|"
    r"by default|first|"
    r"where|whatever|whichever|to \w+|from|except|apart from|instead of|rather than|due to|among|between|under|"
    r"over|above|below)\b",
    r"^(?:如果|要是|若|当|只要|除非|因为|由于|凡是|凡|对于|关于|至于|每次|每当|以后|今后|下次|遇到|碰到|假如|一旦|只有|无论|不管|万一|等|在|从|涉及|"
    r"针对|除了|为了|既然|虽然|按照|根据|但凡|默认情况下)",
    r"(?:时|的时候|的话|之前|之后|以前|以后|方面|情况下|期间|里面|当中|上面)$",
)
_VERB = matching(
    r"\b(?:is|are|am|was|were|do|does|did|don't|doesn't|didn't|have|has|had|will|would|can|could|should|must|may|"
    r"might|need|"
    r"needs|want|wants|prefer|prefers|like|likes|use|uses|run|runs|keep|keeps|make|makes|send|sends|go|goes|come|"
    r"comes|live|lives|"
    r"ask|asks|let|put|take|takes|get|gets|give|gives|show|shows|write|read|reads|eats?|works?|fails?|renews?|"
    r"requires?|accepts?|"
    r"refuses?|rejects?|breaks?|costs?|means?|belongs?|starts?|ends?|please|remember|ensure|stop|avoid|tell|call|"
    r"check|add|remove|"
    r"said|told|decided|chose|agreed|moved|changed|switched|fell|flopped|settled|landed|won't|can't|cannot|"
    r"couldn't|shouldn't)\b",
    r"^(?:always|never|only)\b|\b(?:i|we|you|he|she|it|they|there|that|this)'(?:s|m|re|ll|d|ve)\b",
    rf"[{CJK}]",
)


def _leans_left(text: str) -> bool:
    """True for a clause that only goes on with what stands before it, or has no verb of its own."""
    return bool(_LEANS_LEFT.search(text)) or not _VERB.search(text)


def _leans_right(text: str) -> bool:
    """True for a clause that only leads to the one after it, such as a condition or an occasion."""
    return bool(_LEANS_RIGHT.search(text))


def joined(plain: str) -> list[Clause]:
    """The clauses of a sentence, those that lean on another put together with it."""
    found: list[Clause] = []
    pending: Clause | None = None
    parts = clauses(plain)
    for place, clause in enumerate(parts):
        whole = plain[clause.start : clause.end]
        opened = bare(plain, clause.start)
        text = plain[opened.start : clause.end].strip()
        last = place + 1 == len(parts)
        framed = pending is not None and _only_frames(plain[pending.start : pending.end])
        if pending is not None and not framed:
            pending = Clause(pending.start, clause.end, pending.joint)
            if not last and (clause.soft or clause.joint in ("and", "or") or _leans_left(text)):
                continue
            found.append(pending)
            pending = None
            continue
        whole_clause = Clause(pending.start, clause.end, pending.joint) if pending is not None else clause
        pending = None
        if not last and _leads(whole, text, first=not found, joint=clause.joint, framed=framed):
            pending = whole_clause
        elif found and text and _leans_left(text) and not opened.memo and not framed:
            found[-1] = Clause(found[-1].start, clause.end, found[-1].joint)
        else:
            found.append(whole_clause)
    return found + ([pending] if pending else [])


def _leads(whole: str, text: str, *, first: bool, joint: str, framed: bool) -> bool:
    """True for a frame, a condition at the beginning or after "and", and the first of several names of a subject."""
    if _only_frames(whole):
        return True
    if first or framed:
        names = _NOUN_FIRST.match(text) is not None and not _VERB.search(text)
        return joint in _SUBORDINATE or (bool(text) and (names or _leans_right(text)))
    return (joint in ("and", "but", "so") and _IF.match(text) is not None) or _ZH_LEADS.match(text) is not None


_SUBORDINATE = frozenset("because since as though although while whereas 因为 由于".split())
_NOUN_FIRST = re.compile(r"(?:the|a|an|our|my|your|his|her|their|all|both|each|every|any|no)\b", re.IGNORECASE)
_IF = re.compile(r"(?:if|when|whenever|once|unless|before|after)\b", re.IGNORECASE)
_ZH_LEADS = re.compile(
    r"(?:如果|要是|若|当|只要|凡是|每次|每当|以后|今后|下次|遇到|碰到|假如|一旦)|.*(?:时|的时候|的话|之前|之后)$"
)
