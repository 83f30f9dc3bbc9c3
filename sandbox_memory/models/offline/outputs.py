"""What tools show: the lines of an output without the frame around it, and which of them is its result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .sentences import Sentence

RESULT_WORDS = 24
RESULT_LINES = 4
"""Lines up to which an output is a result, and no dump."""
LOOKED_AT = 100_000
"""Characters of an output that are read, most of them from its end, where a program says how it ended."""
LINE = 4_000
"""Characters of a line that are read: a longer one is data."""

_FRAME = re.compile(
    r"^[ \t]*(?:chunk id:.*|wall time:.*|(?:original )?(?:token count|output)[\w ]*:[ \t]*\d*|output:|<?/?(?:output|"
    r"stdout|stderr)>?:?|"
    r"\[?(?:process |command )?(?:exit(?:ed)?|finished|returned|terminated)\b[^\n]{0,40}?(?P<a>-?\d+)\]?\.?|"
    r"<?/?(?:exit_?code|return_?code|rc|退出码|退出代码)>?[ \t]*[:：=]?[ \t]*(?P<b>-?\d+)(?:</\w+>)?)[ \t]*$",
    re.IGNORECASE,
)
_CODE_FIELD = re.compile(r'"(?:exit_?code|return_?code|rc)"\s*:\s*(?P<code>-?\d+)', re.IGNORECASE)
_SUCCESS = re.compile(
    r"\b(?:\d+ passed|success\w*|succeeded|passed|ok|done|built|installed|completed|finished|up.to.date|created|"
    r"deployed|started|healthy|"
    r"restarted|applied|updated|published|posted|merged)\b|成功|完成|通过|已(?:发布|更新|创建|保存)",
    re.IGNORECASE,
)
_DID = re.compile(
    r"^(?:\S+ ){0,4}(?!need|speed|feed|red\b|seed|exceed|proceed|embed)[a-z]{2,}(?:ed|wn|pt)\b", re.IGNORECASE
)
_GOOD_FIELD = re.compile(
    r'"\w+"\s*:\s*"(?:ok|up|healthy|success\w*|passed|running|active|ready|done|completed|成功)"', re.IGNORECASE
)
_PROGRESS = re.compile(
    r"\d+ ?%|\[[=#.> -]{4,}\]|(?:\.{3}|…)\s*$|\b(?:requirement already|downloading|collecting|fetching|waiting for)\b",
    re.IGNORECASE,
)
_TOOK = re.compile(
    r"[\s,(=]*(?:\b(?:in|took|after|elapsed:?)|用时|耗时)[ :：]*[\d.,:]+ ?(?:ms|s|secs?|seconds?|m|min\w*|秒|分钟)\b"
    r".*$",
    re.IGNORECASE,
)
_ONE_OFF = re.compile(r"[,;]\s*(?=[^,;]*\d)")
_WORDS = re.compile(r"(?<!\S)[^\W\d_]+(?=[\s,.:!]|$)|[\u3400-\u9fff]{2}")
_NOTHING = re.compile(
    r"nan|none|null|undefined|\[\]|\{\}|\"\"|empty|\(?0 rows?\)?|no (?:results?|matches|data|rows|"
    r"records)(?: found)?\.?|"
    r"(?:无|没有|未找到)(?:任何)?(?:结果|数据|记录)。?|空",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?\b")
_TOKEN = re.compile(r"[^\s，。；：、！？]+[，。；：、！？]*")
_CJK = re.compile(r"[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[,;:，；：、。.!]$")


@dataclass(frozen=True)
class Shown:
    """What a tool shows without the frame that the runner puts around it: lines, and the exit code if it tells one."""

    lines: tuple[Sentence, ...]
    code: str = ""
    frame: Sentence | None = None
    """The words that tell the exit code."""

    @property
    def bad(self) -> bool:
        return self.code not in ("", "0", "-0")

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


def shown(text: str) -> Shown:
    """The lines of an output, blank ones left out; of a very long one only its ends."""
    found = [line for line in _lines(text) if line.text]
    code, frame = "", None
    kept = []
    for place, line in enumerate(found):
        edge = place < 8 or place >= len(found) - 4
        match = _FRAME.match(line.text) if edge else None
        if match is None:
            kept.append(line)
        elif match["a"] or match["b"]:
            start = re.search("exit", line.text, re.IGNORECASE)
            code, frame = match["a"] or match["b"], line.part(start.start() if start else 0)
    field = _CODE_FIELD.search(text[:LOOKED_AT])
    if field and not code:
        code, frame = field["code"], Sentence(field.group(), field.start())
    return Shown(tuple(kept), code, frame)


def _lines(text: str) -> Iterator[Sentence]:
    spans = [(0, len(text))] if len(text) <= LOOKED_AT else [(0, LOOKED_AT // 4), (len(text) - LOOKED_AT, len(text))]
    for start, end in spans:
        for match in re.finditer(r"[^\n\r]+", text[start:end]):
            yield Sentence(match.group()[:LINE], start + match.start()).part(0)


def nothing(text: str) -> Sentence | None:
    """The word by which an output says that it has nothing to show, or None if it shows something."""
    lines = shown(text).lines
    return lines[0] if len(lines) == 1 and _NOTHING.fullmatch(lines[0].text) else None


def is_success(line: str) -> bool:
    """True for a line that says that something was done or is well."""
    said = _SUCCESS.search(line) or _GOOD_FIELD.search(line) or _DID.search(line)
    return bool(said) and not _CLOCK.search(line)


def is_contents(line: str) -> bool:
    """True for numbered, quoted or indented file contents and table rows: what they say is not the tool's word."""
    return bool(re.match(r"\s*(?:\d+[:|\t ]|[#>|+@]|//|\"|')", line)) or line.count("|") > 1 or line.count("\t") > 1


def result_line(text: str) -> Sentence | None:
    """What an output comes to: the line that says all went well, or of a short one the last with words or numbers.

    None for dumps, listings, tables, progress and for what changed nothing.
    """
    out = shown(text)
    lines = [
        line for line in out.lines if any(char.isalnum() for char in line.text) and not _PROGRESS.search(line.text)
    ]
    happy = [line for line in reversed(lines[-6:]) if _SUCCESS.search(line.text) and not is_contents(line.text)]
    happy = [line for line in happy if not _CLOCK.search(line.text)]
    # One that says so in words comes before one that only has the word beside a name.
    good = next((line for line in happy if len(_WORDS.findall(line.text)) > 2), happy[0] if happy else None)
    if good is None and lines and len(out.lines) <= RESULT_LINES and not _is_table(out.lines):
        good = lines[-1]
    if good is None:
        return None
    field = _GOOD_FIELD.search(good.text) if good.text[:1] == "{" else None
    good = good.part(field.start(), field.end()) if field else _undecorated(good)
    numbers = re.findall(r"\d+", good.text)
    if numbers and not any(number.strip("0") for number in numbers) and not _SUCCESS.search(good.text):
        return None
    return good if len(_TOKEN.findall(good.text)) <= RESULT_WORDS and good.text else None


def _is_table(lines: tuple[Sentence, ...]) -> bool:
    """True if several lines have columns: a header or a row says nothing by itself."""
    return sum(1 for line in lines if len(re.findall(r"\t|  +|\s\|\s|-\+-", line.text)) >= 1) >= 2


def _undecorated(line: Sentence) -> Sentence:
    """Without rules drawn around it and without how long it took, which is another each time."""
    took = _TOOK.search(line.text)
    bare = line.part(0, took.start()) if took and took.start() else line
    edge = re.match(r"[=\-*#·.\s]*", bare.text)
    start = edge.end() if edge else 0
    return bare.part(start if start < len(bare.text) else 0, len(bare.text.rstrip("=-*#·:： \t")) or None)


def first_clause(error: Sentence) -> Sentence:
    """An error without the clauses that only give this time's amounts, if enough is left to know it by."""
    cut = _ONE_OFF.search(error.text)
    rest = error.text[cut.end() :] if cut else ""
    amounts = all(re.search(r"\d", part) and ":" not in part for part in re.split(r"[,;]\s+", rest))
    if cut and amounts and len(error.text[: cut.start()].split()) >= 4:
        return error.part(0, cut.start())
    return error


def within(sentence: Sentence, most: int) -> Sentence:
    """The sentence, cut at its last clause within so many words, else at a word; a Chinese clause counts as four.

    Words are counted, not characters: what is kept must not depend on how long a name is.
    """
    spent = last = clause = 0
    for token in _TOKEN.finditer(sentence.text):
        spent += 4 if _CJK.search(token.group()) else 1
        if spent > most:
            return sentence.part(0, clause or last or token.end())
        last = token.end()
        if spent * 3 > most and _CLAUSE.search(token.group()):
            clause = last - 1
    return sentence
