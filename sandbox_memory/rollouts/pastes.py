"""What stands in a person's message without being their words: mail, pages, logs and letters that they pasted.

`trust.pasted` knows what is marked as such: fences, `>`, tags. This module knows how people paste without marks, in
English and Chinese: they introduce it or point back at it, it has the form of a mail, a chat, a table or HTML, it
stands in quotation marks after "she wrote", or it is written to be taken for a message of somebody else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ..governance.instructions import forged

_THING = (
    r"(?:e-?mails?|mails?|messages?|texts?|sms|pages?|web ?pages?|web ?sites?|sites?|articles?|"
    r"(?:blog |forum |reddit )?posts?|threads?|tickets?|issue|"
    r"(?:bug |error |incident )?reports?|reviews?|comments?|logs?|outputs?|errors?|error messages?|"
    r"(?:stack ?)?traces?|tracebacks?|"
    r"docs?|documents?|documentation|files?|contents?|letters?|notes from|transcripts?|"
    r"snippets?|excerpts?|passages?|paragraphs?|"
    r"quotes?|chats?|conversations?|repl(?:y|ies)|responses?|search results?|readme|manuals?|"
    r"handbooks?|runbooks?|contracts?|policy|policies|"
    r"invoices?|listings?|announcements?|newsletters?|tweets?|descriptions?|summar(?:y|"
    r"ies)|attachments?|minutes|memos?|tables?|payload|json|html|csv|xml|yaml|"
    r"recipes?|abstracts?|papers?|stor(?:y|ies))"
)
_LETTERS = (
    r"(?:e-?mails?|mails?|messages?|texts?|web ?pages?|pages?|web ?sites?|articles?|(?:blog |"
    r"forum |reddit )?posts?|threads?|tickets?|reviews?|comments?|letters?|"
    r"transcripts?|passages?|paragraphs?|excerpts?|announcements?|newsletters?|chats?|"
    r"conversations?|repl(?:y|ies)|documents?|reports?)"
)
_THING_ZH = (
    r"(?:邮件|信件|来信|消息|短信|网页|页面|网站|文章|帖子|工单|报告|评论|评价|日志|输出|"
    r"报错|错误信息|堆栈|文档|文件|内容|原文|全文|文本|段落|资料|"
    r"合同|条款|手册|说明书?|公告|通知|聊天记录|对话|回复|回答|搜索结果|结果|代码|数据|"
    r"表格|纪要|发票|新闻|博客|截图文字)"
)
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
    rf"(?:me |us )?(?:this|these|the|the following|below|my|an?))\b[^\n:：]{{0,80}}?\b{_THING}\b|"
    rf"(?:the |this |that |an? )?{_THING} (?:\w+ ){{0,4}}?(?:says?|reads?|said|states?|"
    rf"stated|contained|contains|is|was|goes|below|i (?:got|received|found)|from [^\n:]{{1,60}}))"
    rf"[^\n:：.!?]{{0,80}}(?:[:：](?=[^\w/]|$)|：)(?P<same>[^\n]*)"
    rf"|^[^\n]{{0,200}}(?:下面|以下|这是|这封|这个|这篇|这段|如下|收到|看到|复制|粘贴|转发|"
    rf"附上|总结|翻译|分析|看一下|看看|阅读|检查|处理)[^\n：:]{{0,30}}{_THING_ZH}"
    rf"[^\n：:]{{0,30}}[:：](?P<same_zh>[^\n]*)"
    rf"|^[^\n]{{0,60}}\b{_THING}[ \t]*[:：][ \t]*(?=\n)"
    rf"|^[^\n]{{0,40}}{_THING_ZH}[^\n：:]{{0,10}}[:：][ \t]*(?=\n)",
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
    rf"(?:\b(?:this|these|the following|below|attached)\b[^\n.!?:]{{0,40}}\b{_LETTERS}\b[^\n]{{0,80}}"
    rf"|(?:下面|以下|这)[^\n。！？]{{0,10}}{_THING_ZH}[^\n]{{0,30}}"
    r"|\b(?:i|we)(?:'ve| have)? (?:just )?(?:got|received|found|copied) (?:this|the following|"
    rf"these|an?)\b[^\n.!?]{{0,40}}\b{_LETTERS}\b[^\n]{{0,60}}"
    rf"|\bhere(?:'s| is| are) (?:the|an?|what|some)\b[^\n.!?]{{0,60}}\b{_LETTERS}\b[^\n]{{0,60}})[ \t]*\n[ \t]*\n",
    re.IGNORECASE,
)
"""A request about "this mail" that ends its paragraph: the next one is that mail."""
_POINTS_BACK = re.compile(
    rf"(?:^|\n)[ \t]*(?:(?:the |what's |what is |all (?:of )?)?above\b(?! all)|\^{{2,}}[ \t]*(?=\n|"
    rf"$)|that(?:'s| is| was) (?:the|an?|what|from)\b[^\n]{{0,60}}\b{_THING}\b|"
    r"(?:please |can you |could you )?(?:summari[sz]e|translate|explain|check|review|analy[sz]e|"
    r"reply to) (?:the )?(?:above|that)\b|"
    rf"(?:以上|上面)(?:就)?(?:是|的)?[^\n]{{0,12}}{_THING_ZH})",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"^[ \t]*(?:(?:from|to|subject|date|sent|cc|reply-to|发件人|收件人|主题|抄送|日期|"
    r"发送时间)[ \t]?[:：][^\n]*\n[ \t]*"
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|发件人|收件人|主题|抄送|日期|发送时间)[ \t]?[:：]|"
    r"-{2,} ?(?:original|forwarded) message|begin forwarded message|on [^\n]{1,200} wrote:[ \t]*$|"
    r"发自我的|-{3,} ?(?:原始|转发)邮件)",
    re.IGNORECASE | re.MULTILINE,
)
_GREETED = re.compile(
    r"^[ \t]*(?:dear|hello|hi|hey|good (?:morning|afternoon|evening)|to whom it may concern|尊敬的|亲爱的)"
    r"[^\n]{0,60}[,，:：!！]?[ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNED = re.compile(
    r"^[ \t]*(?:(?:kind|best|warm|warmest|many) (?:regards|wishes)|regards|sincerely|"
    r"yours (?:sincerely|truly|faithfully)|cheers,|respectfully|best,|signed,?|此致|敬礼|顺颂|祝好)",
    re.IGNORECASE | re.MULTILINE,
)
_HTML = re.compile(
    r"<(?:!doctype|html|head|body|div|p|span|table|tr|td|ul|ol|li|a|img|script|style|h[1-6]|br|meta|section|article)\b[^<>]{0,400}>|</[a-z][a-z0-9]{0,12}>|<!--",
    re.I,
)
_HTML_TAGS = 3
_TABLE = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*\n[ \t]*\|[ \t:|-]{3,}\|[ \t]*\n(?:[ \t]*\|[^\n]*\n?)*", re.MULTILINE)
_STAMPED = re.compile(
    r"^[ \t]*(?:\[?(?:\d{4}-\d\d-\d\d[ T])?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\]?[ \t]*[-–]?[ \t]*(?:<[^<>\n]{1,4"
    r"0}>|[\w .@'-]{1,40}[:：])|<[\w .@'-]{1,40}>[ \t])[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKER = re.compile(
    r"^[ \t]*(?:\*\*)?(?P<who>[A-Z][\w.'-]{0,20}(?: [A-Z][\w.'-]{0,20})?|user|assistant|human|"
    r"客户|客服|用户|助手)(?:\*\*)?[ \t]?[:：](?:\*\*)?[ \t]?[^\n]+$",
    re.MULTILINE,
)
_SPEECH = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!我)(?:\b(?:says|said|writes|wrote|replied|answered|claims|"
    r"claimed|asks|asked|reads|stated|states|goes|told (?:me|us)|sent me|messaged|emailed)\b[^\n\"“「:：,，]{0,30}|"
    r"(?:写道|回复|说|来信|表示|通知|内容(?:是|为)|写着))[:：,，]?\s*"
    r"(?:\"[^\"]{12,4000}\"|“[^”]{6,4000}”|「[^」]{6,4000}」|『[^』]{6,4000}』|'[^'\n]{30,4000}'(?!\w))",
    re.IGNORECASE,
)
"""What somebody else said, between quotation marks."""
_STRAIGHT = re.compile(r"\"[^\"]{0,8000}\"")
STRAIGHT = 120
"""Characters between straight quotation marks from which on they hold somebody's text."""
_LONG_QUOTE = re.compile(
    r"“[^”]{60,8000}”|「[^」]{40,8000}」|『[^』]{40,8000}』|\"\"\".{1,20000}?\"\"\"|'''.{1,20000}?'''", re.DOTALL
)
_SAYS = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bi've )\b(?:writes?|wrote|says|said|replied|answered|"
    r"told|tells)(?: (?:to me|me|us|back|him|her|them|this|the following))?[ \t]*:"
    r"(?=\s)[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*|(?<![我你])(?:写道|回复说?|来信说?|表示)[：:][^\n]*",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
LONGEST = 200_000
"""Characters of a message that are looked at; what is longer is a document anyway."""


def foreign(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a person's message that are not their own words, though nothing fences them; they may overlap."""
    text = text[:LONGEST]
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
    if mail := _MAIL.search(text):
        yield mail.start(), end
    if "<" in text and len(tags := list(_HTML.finditer(text))) >= _HTML_TAGS:
        yield tags[0].start(), tags[-1].end()
    for pattern in (_TABLE, _SPEECH, _LONG_QUOTE, _SAYS):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _STRAIGHT.finditer(text) if len(match.group()) > STRAIGHT)
    if (letter := _GREETED.search(text)) and (signs := list(_SIGNED.finditer(text, letter.end()))):
        yield letter.start(), signs[-1].end()
    yield from _chats(text)
    yield from _forgeries(text)


def _colon(match: re.Match[str]) -> int:
    """Where the colon stands that announces a text."""
    for name in ("same", "same_zh"):
        if match[name] is not None:
            return match.start(name) - 1
    return match.end() - 1 - (len(match.group()) - len(match.group().rstrip()))


def _chats(text: str) -> Iterator[tuple[int, int]]:
    """Lines of a chat: two with a time before the name, or three of which at least one speaker has two."""
    stamped = list(_STAMPED.finditer(text))
    if len(stamped) >= 2:
        yield stamped[0].start(), stamped[-1].end()
    spoken = list(_SPEAKER.finditer(text))
    names = [match["who"].lower() for match in spoken]
    if len(names) >= 3 and 1 < len(set(names)) < len(names):
        yield spoken[0].start(), spoken[-1].end()


def _forgeries(text: str) -> Iterator[tuple[int, int]]:
    """From the first paragraph on that is forged: what follows it may be of one piece with it."""
    for paragraph in _PARAGRAPH.finditer(text):
        if forged(paragraph.group()):
            yield paragraph.start(), len(text)
            return


_GLUE = frozenset(
    "a an the and or but of to in on at by for from with as is are was were be been have has had i you he she it we "
    "they my your his her our their this that these those not so if will would can could should there what which who "
    "when about very just also all more".split()
)
_ENGLISH = re.compile(r"[A-Za-z']+")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_REPORTS = re.compile(r"\s*(?:error|failed|failure|exception|traceback|warning|usage|错误|失败|异常)\b", re.IGNORECASE)
_ADDRESSED = re.compile(
    r"(?:^|\n)[ \t]*(?:dear|hello|hi|hey)\b[^\n]{0,40}[,!:][ \t]*(?:\n|\S)|(?:^|\n)[ \t]*(?:尊敬的|亲爱的|您好|你好)",
    re.IGNORECASE,
)
PROSE, PROSE_ZH = 40, 60
"""Words, and Chinese characters, from which on a text with sentences in it is prose."""
READ = 20_000


def has_prose(output: str) -> bool:
    """True if a tool's output, or a text inside its JSON, is running prose, or addresses somebody."""
    return any(_is_prose(text) for text in _texts(output[:READ]))


def _texts(output: str) -> Iterator[str]:
    if output[:1] in ("{", "["):
        try:
            waiting = [json.loads(output)]
        except (ValueError, RecursionError):
            waiting = []
        if waiting:
            while waiting:
                value = waiting.pop()
                if isinstance(value, str):
                    yield value
                elif isinstance(value, (dict, list)):
                    waiting.extend(value.values() if isinstance(value, dict) else value)
            return
    yield from re.split(r"\n[ \t]*\n", output)


def _is_prose(text: str) -> bool:
    if _REPORTS.match(text):
        return False
    if _ADDRESSED.search(text):
        return True
    words = _ENGLISH.findall(text)
    if len(words) >= PROSE and re.search(r"[a-z][.!?](?:\s|$)", text):
        return 4 * sum(word.lower() in _GLUE for word in words) >= len(words)
    return len(_CHINESE.findall(text)) >= PROSE_ZH and "。" in text
