"""Texts that a person introduces, or points back at: "here is the mail:", "the above"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .words import LETTERS, THING, THING_ZH

_OWN = re.compile(
    r"\b(?:(?:my|our) (?:\w+ )?(?:rules?|preferences?|conventions?|requirements?|wishes|"
    r"notes|list|setup|settings|defaults?|style|details|info\w*|address|answers?|feedback|"
    r"comments?|data|instructions?)|remember (?:the following|this|that|these|all)|keep in mind|"
    r"i (?:want|prefer|need|like)|always|never|"
    r"what i (?:want|need|think)|note (?:the following|that))\b"
    r"|记住|牢记|我的(?:要求|规则|偏好|习惯|约定|回答|意见)|以后|约定|规矩",
    re.IGNORECASE,
)
"""Before a colon: what follows is the person's own list."""
_INTRODUCED = re.compile(
    rf"^(?=[^\n]*[:：])[^\n]{{0,300}}?\b(?:(?:here(?:'s| is| are| comes)|this(?: is)?|these(?: are)?|"
    r"that|below(?: is| are)?|the following|following|attached|pasted?|"
    r"(?:i|we|they|he|she|it)(?:'ve| have| has| had)? (?:just )?(?:got|get|gets|received|"
    r"found|copied|saw|see|sent|wrote|said|says)|"
    rf"(?:got|received|found|copied|sent) (?:me |us |you )?(?:this|the|an?)|"
    r"(?:summari[sz]e|translate|read|check|review|analy[sz]e|look at|explain|proofread|"
    r"parse|classify|rewrite|rephrase|extract|consider|process|go through|see|reply to|"
    r"answer|handle) "
    rf"(?:me |us )?(?:this|these|the|the following|below|my|an?))\b[^\n:：]{{0,80}}?\b{THING}\b|"
    rf"(?:the |this |that |an? )?{THING} (?:\w+ ){{0,4}}?(?:says?|reads?|said|states?|"
    rf"stated|contained|contains|is|was|goes|below|i (?:got|received|found)|from [^\n:]{{1,60}}))"
    rf"[^\n:：.!?]{{0,80}}(?:[:：](?=[^\w/]|$)|：)(?P<same>[^\n]*)"
    rf"|^[^\n]{{0,200}}(?:下面|以下|这是|这封|这个|这篇|这段|如下|收到|看到|复制|粘贴|转发|"
    rf"附上|总结|翻译|分析|看一下|看看|阅读|检查|处理)[^\n：:]{{0,30}}{THING_ZH}"
    rf"[^\n：:]{{0,30}}[:：](?P<same_zh>[^\n]*)"
    rf"|^[^\n]{{0,60}}\b{THING}[ \t]*[:：][ \t]*(?=\n)"
    rf"|^[^\n]{{0,40}}{THING_ZH}[^\n：:]{{0,10}}[:：][ \t]*(?=\n)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that ends by announcing somebody's text."""
_DICTATES = re.compile(
    r"\b(?:write|send|post|say|type|add|append|insert|use|create|publish|tell|put|"
    r"(?:reply|answer|respond) with)\b"
    r"|(?:发送|发|写|回复|添加|使用|发布)(?:以下|下面|这)",
    re.IGNORECASE,
)
"""Before a colon: what follows is what the person wants written."""
_MACHINE = re.compile(r"\b(?:errors?|logs?|outputs?|traces?|tracebacks?)\b|报错|日志|输出|错误", re.IGNORECASE)
_REQUEST = re.compile(
    rf"(?:\b(?:this|these|the following|below|attached)\b[^\n.!?:]{{0,40}}\b{LETTERS}\b[^\n]{{0,80}}"
    rf"|(?:下面|以下|这)[^\n。！？]{{0,10}}{THING_ZH}[^\n]{{0,30}}"
    r"|\b(?:i|we)(?:'ve| have)? (?:just )?(?:got|received|found|copied) (?:this|the following|"
    rf"these|an?)\b[^\n.!?]{{0,40}}\b{LETTERS}\b[^\n]{{0,60}}"
    rf"|\bhere(?:'s| is| are) (?:the|an?|what|some)\b[^\n.!?]{{0,60}}\b{LETTERS}\b[^\n]{{0,60}})[ \t]*\n[ \t]*\n",
    re.IGNORECASE,
)
"""A request about "this mail" that ends its paragraph: the next one is that mail."""
_POINTS_BACK = re.compile(
    rf"(?:^|\n)[ \t]*(?:(?:the |what's |what is |all (?:of )?)?above\b(?! all)|\^{{2,}}[ \t]*(?=\n|"
    rf"$)|that(?:'s| is| was) (?:the|an?|what|from)\b[^\n]{{0,60}}\b{THING}\b|"
    r"(?:please |can you |could you )?(?:summari[sz]e|translate|explain|check|review|analy[sz]e|"
    r"reply to) (?:the )?(?:above|that)\b|"
    rf"(?:以上|上面)(?:就)?(?:是|的)?[^\n]{{0,12}}{THING_ZH})",
    re.IGNORECASE,
)


def introduced(text: str) -> Iterator[tuple[int, int]]:
    """The spans of what a line announces, of what a request is about, and of what is pointed back at."""
    end = len(text)
    for match in _INTRODUCED.finditer(text):
        colon = _colon(match)
        if _OWN.search(text, match.start(), colon) or _DICTATES.search(text, match.start(), colon):
            continue
        stop = (
            text.find("\n", colon) if _MACHINE.search(match.group()) and text[colon + 1 : match.end()].strip() else end
        )
        if text[colon + 1 : stop].strip():
            yield colon + 1, stop if stop >= 0 else end
            break
    if (asked := _REQUEST.search(text)) and not _OWN.search(asked.group()):
        yield asked.end(), end
    if (back := _POINTS_BACK.search(text)) and text[: back.start()].strip():
        yield 0, back.start()


def _colon(match: re.Match[str]) -> int:
    """Where the colon stands that announces a text."""
    for name in ("same", "same_zh"):
        if match[name] is not None:
            return match.start(name) - 1
    return match.end() - 1 - (len(match.group()) - len(match.group().rstrip()))
