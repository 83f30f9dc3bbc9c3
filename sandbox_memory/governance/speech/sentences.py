"""Sentences of a message and where they stand, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u3000": " "}
    | {
        chr(code): chr(code - 0xFEE0)
        for span in ("０９", "ＡＺ", "ａｚ")
        for code in range(ord(span[0]), ord(span[1]) + 1)
    }
)
"""Quotes, blanks and full-width letters and digits made plain, character by character."""
LONG = 50
"""Words from which a memory is too long: names of any length count as one, two Chinese characters as well."""

_CJK = "\u3400-\u9fff"
_END = re.compile(
    r"(?<![.\s][A-Za-z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)(?<!Mr)(?<!Ms)(?<!Mrs)(?<!Dr)(?<!No)(?<!approx)"
    r"[.!?]+[\"'”’)]*(?=\s|$)"
    rf"|[.!?]+(?=[{_CJK}])(?<=[{_CJK}0-9A-Za-z)\"'].)|[!?]+(?=[{_CJK}])"
    r"|[。！？；]+[”」』）]*|\n"
)
_MARKER = re.compile(
    r"[ \t]*(?:(?:[-*+•]|\(?\d{1,2}[.)])[ \t]+|"
    r"(?:\d{1,2}|[一二三四五六七八九十]+)[、．）][ \t]*|[①-⑳][ \t]*|#{1,6}[ \t]+|"
    r">[ \t]?)*"
)
_WRAPPED = re.compile(r"(?:\S+[ \t]+){8,}\S*[^\s.!?:;,。！？：；]\n[ \t]*(?=[a-z])")
"""A line of running text that goes on in the next."""
_PASTED_MAIL = re.compile(
    r"^[ \t]*(?:(?:from|to|subject|date|sent|发件人|收件人|主题)[:：] .*\n"
    r"[ \t]*(?:from|to|cc|subject|date|sent|发件人|收件人|主题|"
    r"日期)[:：] |"
    r"-{2,} ?(?:original|forwarded) message|on .{1,200} wrote:[ \t]*$|发自我的|-{3,} ?(?:原始|转发)邮件)",
    re.IGNORECASE | re.MULTILINE,
)
_INTRODUCED = re.compile(
    r"^.*\b(?:issue|e-?mail|mail|message|log|text|document|article|policy|runbook|spec|ticket|output|transcript|"
    r"letter|"
    r"note from|wrote|says|said|paste|pasted|excerpt|manual|handbook|readme|contract|review)\b[^\n]{0,80}:[ \t]*\n"
    r"|^.*(?:邮件|原文|日志|文档|内容|文章|合同|消息|报错|全文|手册|说明|转发|写道|公告|通知)[^\n]{0,40}[:：][ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_HEADED = re.compile(r"^[ \t]*[A-Z][A-Z ]{4,60}:[ \t]*$", re.MULTILINE)
"""A heading in capitals on a line of its own, as templates have them: what follows is not typed by a person."""
_SPEECH = re.compile(
    r"(?:[:：]\s*|\b(?:says?|said|writes?|wrote|replied|answered|claims?|asks?|asked|reads?|goes),?\s+)"
    r"(?:\"[^\"]{12,4000}\"|“[^”]{12,4000}”|「[^」]{6,4000}」)"
    r"|\"[^\"\n]{2,2000}[.!?] [^\"\n]{2,2000}\"|“[^”\n]{2,2000}[。！？；.!?][^”\n]{2,2000}”|"
    r"「[^」\n]{2,2000}[。！？；][^」\n]{2,2000}」"
)
"""What somebody else said, between quotation marks: after a colon or a verb of saying, or more than one sentence."""
_SPEAKS = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\bi've )\b(?:writes?|wrote|says?|said|replied|answered|told|tells)(?: (?:to me|me|us|"
    r"back|him|her|them|this|"
    r"the following))?[ \t]*:(?=\s)(?!\s*(?:>|```|~~~|<))[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*"
    r"|(?<!我)(?:写道|回复说?|说|来信|表示|通知|公告|邮件)[：:][^\n]*"
    r"|(?:下面是|以下是)(?!我)[^\n]{0,40}[：:](?!\s*(?:>|```|~~~|<))[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*",
    re.IGNORECASE,
)
"""The same without marks: what comes after "they write:", up to the next blank line."""
_OWN = re.compile(
    r"\b(?:my|our|always|never|remember|rules?|preferences?|conventions?)\b|我|记住|以后|规矩|约定", re.IGNORECASE
)


@dataclass(frozen=True)
class Sentence:
    """`text` is characters `start` to `end` of the item's text, letter by letter."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def part(self, start: int, end: int | None = None) -> Sentence:
        """The sentence between two offsets in it, blanks at its edges taken off."""
        text = self.text[start:end]
        return Sentence(text.strip(), self.start + start + len(text) - len(text.lstrip()))


def sentences(text: str, pasted: Iterable[tuple[int, int]]) -> Iterator[Sentence]:
    """The sentences of a text in order, list markers and blanks taken off, what stands between `pasted` left out."""
    place = 0
    for first, last in sorted(pasted):
        if first >= place:
            yield from _plain(text, place, first)
        place = max(place, last)
    yield from _plain(text, place, len(text))


def _plain(text: str, start: int, end: int) -> Iterator[Sentence]:
    while start < end:
        marker = _MARKER.match(text, start, end)
        start = marker.end() if marker else start
        stop, seek = None, start
        while (stop := _END.search(text, seek, end)) and stop.group() == "\n":
            line = text.rfind("\n", start, stop.start()) + 1 or start
            if not _WRAPPED.match(text, max(line, start), end):
                break
            seek = stop.end()
        after = stop.end() if stop else end
        whole = text[start:after]
        found = whole.strip()
        if any(char.isalnum() for char in found):
            yield Sentence(found, start + len(whole) - len(whole.lstrip()))
        start = max(after, start + 1)


def own_words(text: str, pasted: Iterable[tuple[int, int]]) -> Iterator[Sentence]:
    """The sentences that a person says for themselves: none of a mail or of a text that they introduce and paste."""
    mail = _PASTED_MAIL.search(text)
    stop = mail.start() if mail else len(text)
    spans = list(pasted)
    opened = {first for first, _ in spans}
    for told in _INTRODUCED.finditer(text, 0, stop):
        blanks = re.compile(r"\s*").match(text, told.end())
        marked = range(told.end(), (blanks.end() if blanks else told.end()) + 1)
        if not _OWN.search(told.group()) and opened.isdisjoint(marked):
            stop = told.end()
            break
    headed = next((head.start() for head in _HEADED.finditer(text, 0, stop) if not _OWN.search(head.group())), stop)
    stop = min(stop, headed)
    foreign = [match.span() for pattern in (_SPEECH, _SPEAKS) for match in pattern.finditer(text)]
    for sentence in sentences(text, spans):
        if sentence.end > stop:
            break
        if _balanced(sentence.text) and not any(
            sentence.start < last and first < sentence.end for first, last in foreign
        ):
            yield sentence


def _balanced(text: str) -> bool:
    """False for what stands between quotation marks of which only one is in it."""
    straight = len(re.findall(r"(?<!\d)\"", text))
    return straight % 2 == 0 and text.count("“") == text.count("”") and text.count("「") == text.count("」")


def size(text: str) -> int:
    """The length of a text in words, whatever their length; two Chinese characters count as a word."""
    chinese = len(re.findall(rf"[{_CJK}]", text))
    return len(re.sub(rf"[{_CJK}]", " ", text).split()) + (chinese + 1) // 2


def shortened(sentence: Sentence, limit: int) -> Sentence:
    """The sentence, cut at the last clause that ends within so many words, or after the last word of them."""
    if size(sentence.text) <= limit:
        return sentence
    ends = [match.end() for match in re.finditer(rf"[{_CJK}]|[^\s{_CJK}]+", sentence.text)]
    within = [end for end in ends[: 2 * limit] if size(sentence.text[:end]) <= limit]
    last = within[-1] if within else len(sentence.text)
    cuts = [
        match.start()
        for match in re.finditer(r"[;；。，,:：](?=\s|$)|[，；：。]|\s[–—-]\s|\s\(", sentence.text[: last + 1])
        if size(sentence.text[: match.start()]) * 3 > limit
    ]
    return sentence.part(0, cuts[-1] if cuts else last)


def clip(sentence: Sentence, limit: int) -> Sentence:
    """The sentence, cut at the last clause that ends within `limit` characters, or at the last word."""
    if len(sentence.text) <= limit:
        return sentence
    ends = [match.start() for match in re.finditer(r"[,;:，；、：]|\s[–—-]\s|\s\(", sentence.text[:limit])]
    end = ends[-1] if ends and ends[-1] > limit // 3 else sentence.text.rfind(" ", 0, limit)
    return sentence.part(0, end if end > 0 else limit)
