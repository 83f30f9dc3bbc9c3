"""What tools show: the lines of an output without the frame around it, and which of them is its result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...governance.speech.sentences import Sentence

RESULT_WORDS = 24
RESULT_LINES = 4
"""Lines up to which an output is a result, and no dump."""
NEAR = 4
"""Lines within which a result may be said twice, in more words and in fewer."""
LOOKED_AT = 100_000
"""Characters of an output that are read, most of them from its end, where a program says how it ended."""
HEAD = 8
"""Lines at either end of an output in which a runner puts a frame around it."""
LINE = 4_000
"""Characters of a line that are read: a longer one is data."""

_FRAME = re.compile(
    r"^[ \t]*(?:chunk id:.*|wall time:.*|(?:original )?(?:token count|output)[\w ]*:[ \t]*\d*|output:|"
    r"</?(?:output|stdout|stderr)\w*>|(?:stdout|stderr):?|"
    r"[\[(]?(?:error: )?(?:(?:the )?(?:process |command )?(?:exit(?:ed)?|finished|returned|terminated)\b[^\n]{0,40}?|"
    r"(?:the )?(?:process |command )?completed with exit code )(?P<a>-?\d+)\.?[\])]?\.?|"
    r"<?/?(?:exit_?code|return_?code|rc|退出码|退出代码)>?[ \t]*[:：=]?[ \t]*(?P<b>-?\d+)(?:</\w+>)?)[ \t]*$",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\[[^\]\n]*\]|[A-Z][\w ]{0,40}: (?:\([a-z]+\)|\d+)")
"""What a runner notes beside the exit code, below what a program shows: `[Current directory: /x]`, `Signal: (none)`."""
_VOID = re.compile(
    r"[A-Za-z][\w ]{0,40}:[ \t]*\((?:none|empty|null)\)|"
    r".{0,60}\b(?:ran|completed|executed|succeeded)\b.{0,30}\b(?:not? (?:\w+ ){0,2}|without )(?:any )?output\W*",
    re.IGNORECASE,
)
"""By which a runner says that there is nothing to show."""
_LABEL = re.compile(r"(?:stdout|stderr):[ \t]+(?=\S)", re.IGNORECASE)
_ASIDE = re.compile(r"<(?P<name>warning|system-reminder)>.*?</(?P=name)>", re.DOTALL)
"""What the runner says to the agent, which is not what the program shows."""
_CODE_FIELD = re.compile(r'"(?:exit_?code|return_?code|rc)"\s*:\s*(?P<code>-?\d+)', re.IGNORECASE)
_SUCCESS = re.compile(
    r"\b(?:\d+ (?:passed|skipped)|success\w*|succeeded|passed|ok|done|built|installed|completed|finished|"
    r"up.to.date|created|"
    r"deployed|started|healthy|"
    r"restarted|applied|updated|published|posted|merged)\b|成功|完成|通过|已(?:发布|更新|创建|保存)",
    re.IGNORECASE,
)
_PASSED = re.compile(r"\b\d+ (?:\w+ )?(?:passed|passing|succeeded|ok)\b", re.IGNORECASE)
_DID = re.compile(
    r"^(?:\S+ ){0,4}(?!need|speed|feed|red\b|seed|exceed|proceed|embed)[a-z]{2,}(?:ed|wn|pt)\b", re.IGNORECASE
)
_GOOD_FIELD = re.compile(
    r'"\w+"\s*:\s*"(?:ok|up|healthy|success\w*|passed|running|active|ready|done|completed|成功)"', re.IGNORECASE
)
_PROGRESS = re.compile(
    r"^(?:INFO|DEBUG|TRACE|WARN(?:ING)?)\b|\d+ ?%|\[[=#.> -]{4,}\]|(?:\.{3}|…)\s*$|"
    r"\b(?:requirement already|downloading|collecting|fetching|waiting for)\b",
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
    asides = [match.span() for match in _ASIDE.finditer(text[:LOOKED_AT])] if "</" in text else []
    found = [line for line in _lines(text) if line.text and not any(a <= line.start < b for a, b in asides)]
    code, frame = "", None
    below = _below(found)
    kept = []
    for place, line in enumerate(found):
        match = _FRAME.match(line.text) if place < HEAD or place >= below else None
        if match is not None and (match["a"] or match["b"]):
            start = re.search("exit", line.text, re.IGNORECASE)
            code, frame = match["a"] or match["b"], line.part(start.start() if start else 0)
        if match is None and place < below and not _VOID.fullmatch(line.text):
            label = _LABEL.match(line.text)
            kept.append(line.part(label.end()) if label else line)
    field = _CODE_FIELD.search(text[:LOOKED_AT])
    if field and not code:
        code, frame = field["code"], Sentence(field.group(), field.start())
    return Shown(tuple(kept), code, frame)


def _below(lines: Sequence[Sentence]) -> int:
    """Where the lines begin that the runner puts below an output: its last ones, if one of them tells the exit code."""
    start = coded = len(lines)
    for place in range(len(lines) - 1, max(len(lines) - HEAD, 0) - 1, -1):
        match = _FRAME.match(lines[place].text)
        if match is None and not _BESIDE.fullmatch(lines[place].text) and not _VOID.fullmatch(lines[place].text):
            break
        start = place
        if match is not None:
            coded = start
    return coded


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


def is_progress(line: str) -> bool:
    """True for a line that tells how far a program has come, or that only notes what it does."""
    return bool(_PROGRESS.search(line))


def is_contents(line: str) -> bool:
    """True for numbered, quoted or indented file contents and table rows: what they say is not the tool's word."""
    return bool(re.match(r"\s*(?:\d+[:|\t ]|[#>|+@]|//|\"|')", line)) or line.count("|") > 1 or line.count("\t") > 1


def _distinct(lines: Sequence[Sentence]) -> list[Sentence]:
    """The lines without those that only repeat one: a program says it of each of its parts."""
    seen: dict[str, Sentence] = {}
    for line in lines:
        seen.setdefault(line.text, line)
    return list(seen.values())


def result_line(text: str) -> Sentence | None:
    """What an output comes to: the line that says all went well, or of a short one the last with words or numbers.

    None for dumps, listings, tables, progress and for what changed nothing.
    """
    out = shown(text)
    lines = [
        line for line in out.lines if any(char.isalnum() for char in line.text) and not _PROGRESS.search(line.text)
    ]
    last = [line for line in reversed(_distinct(lines)[-6:]) if not is_contents(line.text)]
    happy = [place for place, line in enumerate(last) if _SUCCESS.search(line.text) and not _CLOCK.search(line.text)]
    # One that says so in words comes before one that only has the word beside a name.
    near = [last[place] for place in happy if place - happy[0] < NEAR]
    good = next((line for line in near if _tells(line.text)), near[0] if near else None)
    if good is None and lines and len(out.lines) <= RESULT_LINES and not _is_table(out.lines):
        good = lines[-1]
    if good is None:
        return None
    field = _GOOD_FIELD.search(good.text) if good.text[:1] == "{" else None
    good = good.part(field.start(), field.end()) if field else undecorated(good)
    numbers = re.findall(r"\d+", good.text)
    if numbers and not any(number.strip("0") for number in numbers) and not _SUCCESS.search(good.text):
        return None
    return good if len(_TOKEN.findall(good.text)) <= RESULT_WORDS and good.text else None


def _tells(line: str) -> bool:
    """True for a line that says it in words, or how many went well."""
    return len(_WORDS.findall(line)) > 2 or bool(_PASSED.search(line))


def _is_table(lines: tuple[Sentence, ...]) -> bool:
    """True if several lines have columns: a header or a row says nothing by itself."""
    return sum(1 for line in lines if len(re.findall(r"\t|  +|\s\|\s|-\+-", line.text)) >= 1) >= 2


def undecorated(line: Sentence) -> Sentence:
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
