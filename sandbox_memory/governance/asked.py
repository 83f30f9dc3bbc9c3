"""What a sentence asks, in so many words, to have remembered: no model decides that.

Only what is plainly such an asking counts, in English and Chinese. A question ("do you remember that …?"), a memory of
one's own ("remember that time when …") and an order for the work at hand ("remember to run the tests first") do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .wording import CJK

BACK, ON = "back", "on"
"""What is to be remembered stands in the sentence before, or in what follows."""


@dataclass(frozen=True)
class Asked:
    """Characters `start` to `end` of the sentence are to be remembered; if there are none, `points` says what is.

    `wish` is true for what is to be done each time, as in "remember to always …". `all` is true where everything up to
    the end of the paragraph is meant, as after "remember the following:".
    """

    start: int = 0
    end: int = 0
    points: str = ""
    wish: bool = False
    all: bool = False


HINT = re.compile(
    r"\bremember\b|\bin mind\b|\bforget\b|\bmemori[sz]e\b|\bnote\b|\bmemory\b|\bfuture reference\b"
    r"|记[住得下一录到牢]|記[住得下一錄到牢]|牢[记記]|忘|记忆|記憶|备忘|備忘|备注|備註|铭记|銘記|谨记|謹記",
    re.IGNORECASE,
)
"""What each such sentence has: a message without it needs no closer look."""

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u3000": " "})
_LITERAL = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》")

# ---------------------------------------------------------------- English

_OPENS = (
    r"(?:(?:hi|hello|hey|thanks|thank you|thx|ok|okay|great|also|and|but|oh|ah|btw|by the way|one more thing|"
    r"another thing|before i forget|finally|lastly|last thing|so|well|now|next|first|again|yes|yeah|no|sure|perfect|"
    r"good|fine|right|nice|just|plus|important|fyi)(?: there| all| team| again| you)?\b[\s,.:;!–-]*)*"
)
_LATER = (
    r"(?:(?:for|in) (?:the )?(?:future|next time|later|long run|future (?:reference|runs?|sessions?|chats?|tasks?|"
    r"conversations?)|next (?:run|session|chat|conversation)s?|all (?:our |my |your )?(?:future|later) \w+|"
    r"(?:good|ever|always))|from (?:now|here) on(?:wards?)?|going forward|next time|whenever we talk)"
)
_POLITE = (
    r"(?:(?:please|pls|kindly|just|also|always|do|really)\b[\s,]*)*"
    r"(?:(?P<question>(?:can|could|would|will) (?:you|u)(?: please| kindly| also| just| always)* )|"
    r"(?:i|we)(?:'d| would)?(?: also| just| really)? (?:want|need|like|ask) you to (?:please |also |always )*|"
    r"you (?:should|must|need to|have to|can|may)(?: please| also| always)* |"
    r"(?:it's|it is) important (?:that you |to )|let's |let us |make sure (?:that )?(?:you |to )|be sure to )?"
    r"(?:(?:please|also|always)\b[\s,]*)*"
)
_VERB = (
    r"(?P<verb>remember|keep (?:(?:it|this|that|these) )?in mind|bear (?:(?:it|this|that|these) )?in mind|memori[sz]e|"
    r"make (?:a |yourself a )?(?:mental )?note|take (?:a )?(?:mental )?note|do(?:n't| not) (?:ever )?forget|"
    r"never forget|note to (?:self|yourself)|"
    r"(?:save|store|keep|put|add|commit|write|record|note|jot)(?: (?:down|this|that|it|these|those|"
    r"the following(?: \w+)?))* (?:to|in|into) (?:your |the |our |my )?(?:long[- ]term |agent |project )?"
    r"(?:memory|memories|MEMORY\.md)|"
    r"(?:note|write|jot|record)(?: (?:down|this|that|it|these|the following(?: \w+)?))* "
    rf"(?=(?:down )?{_LATER})|for (?:future|later) reference)\b"
)
_FILL = re.compile(
    rf"(?:[\s,]*(?P<what>\b(?:this|these|it|the following|one thing|(?:two|three|four|a few|some) (?:\w+ )?things|"
    r"(?:the|these|my|our|two|three|four|five|some) (?:\w+ ){0,2}(?:rules?|things?|facts?|points?|preferences?|"
    r"details?|conventions?|notes?)(?= *:)|that(?=\s*(?:$|[.!:：,;]|(?:please|for|from|in|down)\b)))|"
    rf"\b(?:well|please|forever|permanently|always|down|for (?:me|us|later)|as well|too|about (?:me|us)|{_LATER}))\b)*",
    re.IGNORECASE,
)
_FRAME = re.compile(rf"^\W*{_OPENS}(?:{_LATER}[\s,:]*)?{_POLITE}{_VERB}", re.IGNORECASE)
_INSIDE = re.compile(
    rf"(?:[;,]|\s[–—-]|\.)\s*(?:(?:and|but|also|so|then)\b[\s,]*)*{_POLITE}{_VERB}(?=\s*:|\s+(?:that|this|it)\b)",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*[:：]\s*|\s*,?\s+(?:the fact )?that\s*[:,]?\s+|\s+of the fact that\s+|\s+[–—-]+\s+|\s*,\s*")
_DEMONSTRATIVE = re.compile(
    r"\s+that\s+(?:(?!(?:every|any|no|all|some)\w*|what\w*|whenever|before|after|when|if|unless|until|once|while|"
    r"because|since|as|for|in|on|at|with|from|by|under|to|and|or|the|our|my|your|even|only|(?:i|we|you|he|she|they)\b)"
    r"\w*[a-rt-z]\s+(?:we|you|i|he|she|they|when|where|who|from|"
    r"about|with|last)\b|(?:time|day|week|night|one|thing|bug|issue|guy|meeting|moment|conversation)\b(?!s|-))",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\s*(?:,\s*)?(?:what|when|who|whom|whose|where|why|which|how|if|whether|last|yesterday|back|me|us|him|her|them)\b",
    re.IGNORECASE,
)
_TO = re.compile(r"\s+to\s+", re.IGNORECASE)
_EACH_TIME = re.compile(
    r"\b(?:always|never|every|each|whenever|from (?:now|here) on|going forward|in (?:the )?future|next time)\b",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"\b(?:all|any)\b", re.IGNORECASE)
_NOW = re.compile(r"\b(?:first|now|this|before you (?:start|begin|continue|finish|go on))\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\s+(?=(?:i|i'm|i've|i'd|we|we're|we've|we'd|our|my(?! (?:login|password|device|choice|settings?|me)\b)|the|all|"
    r"everything|every|there|never|always)\b)",
    re.IGNORECASE,
)
_HAS_VERB = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|do|does|don't|doesn't|can|can't|cannot|will|won't|must|should|need|needs|"
    r"want|wants|prefer|prefers|like|likes|use|uses|never|always|hate|hates|love|loves|work|works|live|lives|run|"
    r"runs|go|goes|own|owns|only|belongs?|listens?)\b|\b(?:i|we|it|there)'(?:m|re|s|ve|d)\b",
    re.IGNORECASE,
)
_RECALLS = re.compile(
    r"(?:(?:i|we|you)(?:'ve| have| had)?(?: already| just| once)? (?:told|said|asked|mentioned|talked|discussed|spoke|"
    r"spoken|saw|seen|met|tried|did|showed|shown|worked|fixed|looked)\b|(?:time|day|one|bug)\b)",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    rf"(?:[,;]|\s[–—-]+)\s*(?:(?:and|so|but)\b[\s,]*)?{_POLITE}{_VERB}"
    rf"(?:\s+(?:that|this|it))?(?:\s+(?:please|well|{_LATER}))*[\s.!]*$",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"following|things|rules|facts|points|preferences|details|conventions|notes|these", re.IGNORECASE)

# ---------------------------------------------------------------- Chinese

_OPENS_ZH = (
    r"(?:(?:你好|您好|好的?|嗯+|哦|另外|还有|還有|对了|對了|顺便|順便|以后|以後|今后|今後|最后|最後|那么?|"
    r"谢谢|謝謝|ok|hi)[\s，,。！!：:、]*)*"
)
_POLITE_ZH = (
    r"(?:请|請|麻烦|麻煩|拜托|拜託|烦请|务必|務必|千万|千萬|一定|必须|必須|帮忙|幫忙|帮我|幫我|给我|給我|替我|为我|你|您|要|得|需要|都|也|先|永远|永遠|"
    r"(?P<polite>能不能|可不可以|能否|可否|可以|能)|希望|我想让|我想讓|我要|我想请|我希望|我需要|以后|以後|今后|今後|"
    r"[把将將](?:这个|這個|这些|這些|这点|這點|它|以下(?:几点|幾點|内容|內容|信息|规则)?|下面(?:的)?(?:几点|幾點|内容|內容|信息)?))*"
)
_VERB_ZH = (
    r"(?P<hard>[记記](?:住|牢|一下|下来|下來|下|录一下|錄一下|录下来|錄下來|到(?:你的)?(?:记忆|記憶|备忘录?|備忘錄?|笔记|筆記)(?:里|裡|中)?)|"
    r"牢[记記]|[谨謹][记記]|铭记|銘記|备注一下|備註一下|(?:存|写|寫|加|放)(?:到|进|進|入)(?:你的)?(?:长期)?(?:记忆|記憶)(?:里|裡|中)?)"
)
_SOFT_ZH = r"(?P<soft>[记記]得|别忘(?:了|记)?|別忘(?:了|記)?|不要忘(?:了|记|記)|勿忘|莫忘)"
_FILL_ZH = (
    r"(?:了|啊|哦|吧|呀|哈|一下|一点|一點|一件事|这一?[点條条]|這一?[點條]|这件事|這件事|这个|這個|这些|這些|"
    r"(?P<these>(?:以下|下面|下列)(?:的)?(?:几点|幾點|几条|幾條|内容|內容|信息|规则|規則|事项)?|[几两三四五][点条件]|幾[點條件])|的是|它|哈|\s|，|,|、|——|-)*"
)
_FRAME_ZH = re.compile(rf"^[\s\W]*{_OPENS_ZH}{_POLITE_ZH}(?:{_VERB_ZH}|{_SOFT_ZH}){_FILL_ZH}(?P<colon>[：:]\s*)?")
_TRAIL_ZH = re.compile(
    rf"[，,；;。—\s]+{_POLITE_ZH}(?:{_VERB_ZH}|{_SOFT_ZH})(?:了|啊|哦|吧|呀|哈|一下|下来|下來|这一?[点條条]|這一?[點條]|这个|這個|它)*[\s。！!～~.]*$"
)
_QUESTION_ZH = re.compile(
    r"(?:[吗嗎么麼没沒]|没有|沒有)[\s。！!]*$|[?？]\s*$|还[记記]得|還[记記]得|[记記]不[记記]得|[记記]得[吗嗎]"
)
_LASTING_ZH = re.compile(
    r"每次|每当|每逢|每[天周月年]|以后|以後|今后|今後|总是|總是|永远|永遠|一律|都要|都得|都用|凡是|任何时候|任何時候|始终|千万别|从不|從不|下次|不要再"
)
_STATES_ZH = re.compile(
    r"^我[们們]?(?!明天|今天|晚上|下午|待会|等会|要去|约)|(?!^[为為由])[是为為叫归歸由]|过敏|過敏|喜欢|喜歡|不吃|"
    rf"(?<=[{CJK}])(?<![先再还還去就都也得现現])在"
)
_FEATURE_ZH = re.compile(
    r"(?:密码|密碼|登录|登錄|登入|用户名|选择|選擇|设备|账号|帳號|选项|状态|功能|按钮|我的(?:登录|选择|密码))"
)
_CHINESE = re.compile(rf"[{CJK}]")


def asked(sentence: str) -> Asked | None:
    """What the sentence asks to have remembered; None if it asks no such thing."""
    if not HINT.search(sentence):
        return None
    plain = _LITERAL.sub(lambda found: found.group()[0] + "\0" * (len(found.group()) - 2) + found.group()[-1], sentence)
    plain = plain.translate(_PLAIN)
    found = _chinese(plain) if _CHINESE.search(plain) else None
    return found or _english(plain)


_ASIDE = re.compile(
    r"[;,]\s*(?:(?:and|but|so|then|now)\b\s*)*(?:can|could|would|will|do|does|did|is|are|what|how|when|where|which|why)\b"
    r"[^;,?]*\?\s*$",
    re.IGNORECASE,
)
"""A question that comes after something else."""


def _english(plain: str) -> Asked | None:
    aside = _ASIDE.search(plain)
    plain = plain[: aside.start()] if aside else plain
    frame = _FRAME.match(plain)
    if frame is not None:
        found = _framed(plain, frame)
        if found is not None:
            return found
    if plain.rstrip().endswith("?"):
        return None
    trail = _TRAIL.search(plain)
    if trail is not None and _words(plain[: trail.start()]) >= 3:
        return Asked(_start(plain, 0), _end(plain, 0, trail.start()))
    inside = _INSIDE.search(plain)
    return _framed(plain, inside) if inside is not None else None


def _framed(plain: str, frame: re.Match[str]) -> Asked | None:
    """What an asking that ends there is about."""
    if plain.rstrip().endswith("?") and not frame["question"]:
        return None
    filled = _FILL.match(plain, frame.end())
    place = filled.end() if filled else frame.end()
    told = plain[frame.end() : place]
    rest = plain[place:]
    many = _PLURAL.search(told) is not None
    if not rest.strip(" .!?"):
        return Asked(points=BACK)
    if rest.strip() in (":", "："):
        return Asked(points=ON, all=many)
    if _DEMONSTRATIVE.match(rest) or (frame["verb"].lower() == "remember" and _ASKING.match(rest)):
        return None
    to = _TO.match(rest)
    if to is not None:
        start = place + to.end()
        lasts = _EACH_TIME.search(plain) or (_OF_ALL.search(plain, start) and not _NOW.search(plain, start))
        return Asked(start, _end(plain, start), wish=True) if lasts else None
    joint = _JOINT.match(rest)
    direct = _CLAUSE.match(rest) if joint is None else None
    if joint is None and direct is None:
        return None
    start = place + (joint or direct).end()  # type: ignore[union-attr]  # one of the two is there
    words = plain[start:]
    soft = joint is None or ("," in joint.group() and "that" not in joint.group())
    if _RECALLS.match(words) or _words(words) < 2 or (soft and (_ASKING.match(words) or not _HAS_VERB.search(words))):
        return None
    return Asked(start, _end(plain, start), all=many)


def _chinese(plain: str) -> Asked | None:
    frame = _FRAME_ZH.match(plain)
    if frame is not None:
        rest = plain[frame.end() :]
        if _QUESTION_ZH.search(plain) and not (frame["polite"] and frame["hard"]):
            return None
        if not rest.strip(" 。！!？?.～~"):
            return Asked(points=ON if frame["colon"] else BACK, all=frame["these"] is not None)
        if frame["soft"] and not frame["colon"] and not (_LASTING_ZH.search(plain) or _STATES_ZH.search(rest)):
            return None
        if _FEATURE_ZH.match(rest) or _words(rest) < 2:
            return None
        end = _end(plain, frame.end())
        if frame["polite"]:
            end = frame.end() + len(
                re.sub(r"[，,\s]*(?:可以|好|行|能)?[吗嗎么麼][\s。？?！!]*$", "", plain[frame.end() : end])
            )
        wish = frame["soft"] is not None and not frame["colon"] and not _STATES_ZH.search(rest)
        return Asked(frame.end(), end, wish=wish, all=frame["these"] is not None)
    trail = _TRAIL_ZH.search(plain)
    if trail is not None and not _QUESTION_ZH.search(plain) and _words(plain[: trail.start()]) >= 2:
        if trail["soft"] and not (_LASTING_ZH.search(plain) or _STATES_ZH.search(plain[: trail.start()])):
            return None
        return Asked(_start(plain, 0), _end(plain, 0, trail.start()))
    return None


def _words(text: str) -> int:
    """The length of a text in words; two Chinese characters count as one."""
    chinese = len(re.findall(rf"[{CJK}]", text))
    return len(re.findall(rf"[^\W{CJK}][^\s{CJK}]*", text)) + chinese // 2


def _start(plain: str, start: int) -> int:
    """Where a text begins without greetings and the like."""
    opened = re.compile(rf"\W*(?:{_OPENS})(?=\S+ )", re.IGNORECASE).match(plain, start)
    return opened.end() if opened and opened.end() < len(plain) and not _CHINESE.search(plain[:8]) else start


def _end(plain: str, start: int, end: int | None = None) -> int:
    """Where a text ends without thanks, "please", and marks."""
    whole = plain[start:end]
    kept = re.sub(
        r"(?:[\s,，;；]*(?:\b(?:please|pls|thanks|thank you|thx|ok|okay|will you|for (?:next time|later|the future))\b|"
        r"谢谢|謝謝|好吗|好嗎|可以吗|麻烦了|辛苦了))*[\s.!?。！？,，;；:：～~]*$",
        "",
        whole,
        flags=re.IGNORECASE,
    )
    return start + len(kept)
