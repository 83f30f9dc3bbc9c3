"""Running prose in the output of a tool: somebody wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

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
