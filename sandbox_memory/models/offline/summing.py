"""The summary of a rollout, for one who needs more evidence: what was wanted, done and failed, and how it ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ...governance.speech.sentences import Sentence
from ...records import Kind
from ...rollouts import is_document
from .. import MemoryDraft
from . import commands, retries
from .outputs import within
from .reading import Reading, code, flat, said_to_be
from .sentences import sentences
from .tools import Call

SAID, DONE, FAILED = 8, 14, 8
"""How many lines each part has at most."""
SENTENCE_WORDS = 40

_SMALL_TALK = re.compile(
    r"^(?:(?:hi|hello|hey|thanks|thank you|yes|no|ok|okay|sure|great|perfect|alright|good|bye|please|and|that's|"
    r"sounds)\b[\s,.!]*){1,4}"
    r"(?:that's all|for your help|there|all good|great|good|perfect)?[\s.!]*$"
    r"|^(?:(?:你好|您好|谢谢|好的?|嗯+|可以|行|辛苦了|在吗|先这样)[\s，。！~啊呀吗的]*)+$",
    re.IGNORECASE,
)
_POLITE_END = re.compile(
    r"\b(?:let me know|feel free|anything else|further assistance|you're welcome|have a (?:great|nice|good)|"
    r"safe travels|happy to help|"
    r"would you like|is there)\b|随时告诉|不客气|还需要|有需要|祝",
    re.IGNORECASE,
)


def summary(reading: Reading, memories: Sequence[MemoryDraft]) -> str:
    """The parts that have something in them, as markdown without headings."""
    parts = [
        [f"Wanted: {reading.task}" if reading.task else "Nothing was asked for."],
        _part("Said by the person:", _said(reading)),
        _part("Done:", _done(reading)),
        _part("Failed:", _failed(reading)),
        _part("Came of it:", [m.text.removeprefix(f"{reading.task}: ") for m in memories if m.kind == Kind.TASK.value]),
        _ended(reading),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _part(head: str, lines: Sequence[str]) -> list[str]:
    return [head, *(f"- {line}" for line in lines)] if lines else []


def _said(reading: Reading) -> list[str]:
    found = []
    for _, item in reading.asked:
        if is_document(item.text):
            found.append(f"(a text of {len(item.text.splitlines())} lines)")
            continue
        said = [s for s in sentences(item.text) if not _SMALL_TALK.match(s.text) and not s.text.endswith((":", "："))]
        found += [flat(within(s, SENTENCE_WORDS).text) for s in said[:3]]
    kept = list(dict.fromkeys(found))
    return kept[:SAID] if len(kept) <= SAID else [*kept[: SAID - 2], *kept[-2:]]


def _done(reading: Reading) -> list[str]:
    """Commands that did more than look, with their result, and how often each tool was called."""
    lines = []
    for call in reading.calls:
        if call.command and call.worked and not call.looks and not (call.is_code or commands.edits(call.command.text)):
            result = f" → {code(call.result.text)}" if call.result else ""
            lines.append(f"{code(within(call.command, SENTENCE_WORDS).text)}{result}")
    lines = list(dict.fromkeys(lines))[:DONE]
    tools = Counter(call.name for call in reading.calls if call.name and (call.body is None or call.is_code))
    return [*lines, *([", ".join(f"{code(name)} {_times(count)}" for name, count in tools.items())] if tools else [])]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _failed(reading: Reading) -> list[str]:
    found: Counter[str] = Counter()
    for call in reading.calls:
        if call.failure is not None:
            found[_failure(reading, call, call.failure)] += 1
    return [line if count == 1 else f"{line} ({count} times)" for line, count in list(found.items())[:FAILED]]


def _failure(reading: Reading, call: Call, error: Sentence) -> str:
    cure = retries.cure(call, reading.calls[call.place + 1 :])
    name = retries.named(call)
    return f"{code(name.text) if name else 'a call'}: {said_to_be(error.text)}{cure.text if cure else ''}"


def _ended(reading: Reading) -> list[str]:
    state = reading.segments[-1].terminal_state.replace("_", " ")
    answers = [item.text for _, item in reading.items if item.role == "assistant" and item.text.strip()]
    last = list(_telling(answers[-1])) if answers else []
    if not last and len(answers) > 1:
        last = list(_telling(answers[-2]))
    return [f"Ended {state}." + (f" The agent's last words: {said_to_be(' '.join(last[:3]))}" if last else "")]


def _telling(answer: str) -> Iterator[str]:
    for sentence in sentences(answer):
        if not _POLITE_END.search(sentence.text) and not _SMALL_TALK.match(sentence.text):
            yield flat(within(sentence, SENTENCE_WORDS).text)
