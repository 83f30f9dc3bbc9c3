"""Texts that have the form of something pasted: mail, letters, pages, tables, chats, files, and what somebody said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...governance.instructions import forged

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
_FILE = re.compile(
    r"^[ \t]*(?P<marks>[-=*])(?P=marks){1,}[ \t]*(?:begin |start |file:? )?[\w .()/-]{0,80}\w\.[a-z]\w{0,5}[ \t]*"
    r"(?P=marks){2,}[ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
"""`--- notes.md ---`, above the content of that file."""
_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)


def shaped(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a message that by their form are not typed by a person."""
    if mail := _MAIL.search(text):
        yield mail.start(), len(text)
    if file := _FILE.search(text):
        yield file.start(), len(text)
    if "<" in text and len(tags := list(_HTML.finditer(text))) >= _HTML_TAGS:
        yield tags[0].start(), tags[-1].end()
    for pattern in (_TABLE, _SPEECH, _LONG_QUOTE, _SAYS):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _STRAIGHT.finditer(text) if len(match.group()) > STRAIGHT)
    if (letter := _GREETED.search(text)) and (signs := list(_SIGNED.finditer(text, letter.end()))):
        yield letter.start(), signs[-1].end()
    yield from _chats(text)
    yield from _forgeries(text)


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
