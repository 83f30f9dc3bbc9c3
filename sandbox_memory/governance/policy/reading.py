"""What a content rule looks at: the sentence around a quote, without what only repeats other words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ..grounding.tokenizing import SENTENCE

REACH = 500
"""How many characters to either side of a quote are looked at."""

_TRADITIONAL = (
    "這这 個个 現现 時时 暫暂 還还 沒没 會会 們们 為为 後后 來来 過过 對对 說说 記记 錄录 裡里 裏里 號号 訂订 "
    "單单 發发 貨货 餘余 額额 庫库 價价 餅饼 機机 關关 開开 準准 應应 該该 許许 測测 試试 構构 線线 務务 環环 "
    "據据 網网 斷断 壞坏 滿满 當当 處处 態态 從从 證证 碼码 鑰钥 讓让 請请 別别 嗎吗 覺觉 聽听 問问 題题 點点 "
    "幾几 給给 東东 車车 寫写 憶忆 檔档 經经 進进 運运 權权 級级 樣样 達达 員员 報报 費费 錢钱 買买 賣卖 銷销 "
    "熱热 總总 終终 組组 結结 統统 絕绝 維维 緩缓 緊紧 編编 誰谁 調调 談谈 諾诺 講讲 謝谢 購购"
).split()
_PLAIN = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "}
    | {pair[0]: pair[1] for pair in _TRADITIONAL}
)
"""Typographic signs made plain, and traditional characters simplified, one for one: places stay what they are."""
_REPEATED = re.compile(r"```.*?```|(`+)[^`\n]+?\1|\"[^\"\n]{1,200}\"|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》", re.DOTALL)
_TURN = re.compile(
    r"[;；]|[,，]?\s+(?:and|so|while)\s+(?=(?:for now|for the moment|this time|just this once|today|tonight|right now|"
    r"currently|"
    r"at the moment|temporarily|maybe|perhaps|i (?:think|guess)|probably)\b)|(?:[,，]\s*)?\b(?:but|however|whereas|"
    r"otherwise|from now on|from here on|after that|afterwards|"
    r"in general|going forward|normally|usually)\b|(?:[,，]\s*)?(?:但是?|不过|然而|否则|以后|今后|平时|往后)",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|ok|okay|sure|fine|right|exactly|correct|please do|go ahead|do (?:it|that|so)|agreed|"
    r"please|sounds good|perfect|好的?|可以|行|对|是的?|嗯+|没问题|同意|"
    r"就这样)(?![a-z])[\s,.!，。！]*){1,4}(?P<rest>.{0,40})$",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSE = re.compile(r"[,，.。;；:：!?！？\n]")


@dataclass(frozen=True)
class Around:
    """A quote in its surroundings: characters `start` to `end` of an item's `text`.

    `role` is user, assistant, call or output; `previous` is the text of the item before. It is `remembered` if an
    agent says here what memory told it, word by word.
    """

    text: str
    start: int
    end: int
    role: str = "user"
    previous: str = ""
    remembered: bool = False

    @property
    def spoken(self) -> bool:
        """True for what somebody says; a call and an output do not speak."""
        return self.role in ("user", "assistant")


def plain(text: str) -> str:
    """The text with plain quotes and dashes and in simplified characters, each where it stood."""
    return text.translate(_PLAIN)


def masked(text: str) -> str:
    """The text with plain quotes and dashes, and blanks for code and for what stands in quotation marks."""
    return _REPEATED.sub(lambda found: found[0][0] + " " * (len(found[0]) - 2) + found[0][-1], plain(text))


def sentence(around: Around) -> tuple[int, int]:
    """Start and end of the sentence, or the sentences, that a quote stands in, with the mark at the end."""
    text = around.text
    low, high = max(0, around.start - REACH), min(len(text), around.end + REACH)
    begin = max((low + found.end() for found in SENTENCE.finditer(text[low : around.start])), default=low)
    found = SENTENCE.search(text, max(around.end - 1, begin), high)
    return begin, found.end() if found else high


def scope(around: Around) -> str:
    """The words that a quote's meaning hangs on, masked: its part of the sentence up to where that turns.

    With them goes a fragment right after it ("Just this once."), and what a mere yes agrees to.
    """
    begin, end = sentence(around)
    words = masked(around.text)
    bounds = [begin, *(begin + found.start() for found in _TURN.finditer(words[begin:end])), end]
    parts = [words[first:last] for first, last in pairwise(bounds) if first < around.end and around.start < last]
    said = "".join(parts) or words[begin:end]
    assent = _ASSENT.match(said.strip()) if around.role == "user" else None
    asked = masked(around.previous[-REACH:]) if assent and around.previous else ""
    return f"{said}\n{asked}" if asked else said


def beside(around: Around) -> tuple[str, str]:
    """The sentence before and the one after that of a quote, masked; empty where there is none."""
    begin, end = sentence(around)
    words = masked(around.text)
    before = [part for part in SENTENCE.split(words[max(0, begin - REACH) : begin]) if part and part.strip()]
    after = [part for part in SENTENCE.split(words[end : end + REACH]) if part and part.strip()]
    return (before[-1].strip() if before else "", after[0].strip() if after else "")


def clause_before(text: str, place: int) -> str:
    """What stands before that place in the same clause."""
    begin = max((found.end() for found in _CLAUSE.finditer(text, max(0, place - REACH), place)), default=0)
    return text[begin:place]


def clause_after(text: str, place: int) -> str:
    """What stands after that place in the same clause."""
    found = _CLAUSE.search(text, place)
    return text[place : found.start() if found else len(text)]
