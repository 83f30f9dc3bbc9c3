"""Where things are found: which call shows an id that another needs, and what was found for somebody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...governance.speech import stated
from ...governance.speech.sentences import Sentence
from ...records import Item, Kind
from .. import MemoryDraft, QuoteDraft
from .reading import Found, Reading, code, flat, quote
from .sentences import sentences
from .tools import Call, is_id

SENTENCE_WORDS = 40

_IDS = re.compile(r"\b(?:ids?|numbers?|codes?|reference|no\.)(?!\w)|编号|单号|号码|账号", re.IGNORECASE)
_ENDED = re.compile(
    r"\b(?:cancell?ed|deleted|removed|closed|terminated|refunded)\b|已(?:取消|删除|关闭|退款)", re.IGNORECASE
)
_DESCRIBES = re.compile(r"\b(?:is|are|was|includes?|covers?|belongs|for|from)\b|是|属于|对应", re.IGNORECASE)
_FOR_NOW = re.compile(
    r"[?？:：]\s*$|[?？]|^here\b|\b(?:please|would you|could you|let me|i'll|i will|confirm|has been|have been|"
    r"was successfully|now|eligible|cannot|can't)\b|请|已(?:经)?(?:更新|取消|修改)",
    re.IGNORECASE,
)


def lookups(reading: Reading) -> Found:
    """Which call shows an id that another call needs and the person had not given."""
    seen: set[tuple[str, str]] = set()
    for call, key, source, value in _found_out(reading):
        if (source.name, key) in seen:
            continue
        parts = _how_found(source, key, value)
        names = [(call, key), (source, source.name)]
        if parts is None or not all(name in each.item.text for each, name in names):
            continue
        seen.add((source.name, key))
        text, more = parts
        yield (
            3 if _lacked(reading, source) else 2,
            MemoryDraft(
                kind=Kind.PROCEDURE.value,
                text=f"to find the {code(key)}: {code(source.name)}{text}",
                quotes=[*(_named(each, name) for each, name in names), *more],
            ),
        )


def _found_out(reading: Reading) -> Iterator[tuple[Call, str, Call, str]]:
    """Calls with an argument that an earlier call of another tool had shown, before any person said it.

    Told by the flow of data, whatever the tools are called. An id that stands at the top of an answer may be that of a
    thing just made, which nobody needs to look up.
    """
    for call in reading.calls:
        for key, given in call.args.items() if call.body is None else ():
            value = str(given).strip()
            if not is_id(key, value):
                continue
            source = next((each for each in reading.calls[: call.place] if each.worked and _shows(each, value)), None)
            if source is None or source.name == call.name or source.body is not None:
                continue
            if not _said_before(reading, value, source) and (_listed(source, value) or _lacked(reading, source)):
                yield call, key, source, value


def _shows(call: Call, value: str) -> bool:
    return call.output is not None and value not in call.item.text and bool(_whole(value).search(call.output.text))


def _whole(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])")


def _listed(source: Call, value: str) -> bool:
    """True if the value stands inside of something in the answer."""
    data = _json(source.output.text) if source.output else None
    if isinstance(data, dict):
        return all(isinstance(each, (dict, list)) or str(each) != value for each in data.values())
    return isinstance(data, list)


def _said_before(reading: Reading, value: str, call: Call) -> bool:
    place = (call.segment, call.item.index)
    return any(
        value.casefold() in item.text.casefold() for number, item in reading.asked if (number, item.index) < place
    )


def _lacked(reading: Reading, call: Call) -> bool:
    """True if a person said before the call that they do not have an id or a number."""
    return any(
        stated.lacks(sentence.text) and _IDS.search(sentence.text)
        for number, item in reading.asked
        if (number, item.index) < (call.segment, call.item.index)
        for sentence in sentences(item.text)
    )


def _how_found(source: Call, key: str, value: str) -> tuple[str, list[QuoteDraft]] | None:
    """The rest of the line, as in "by `user_id` shows it under `orders`", and the quotes for it."""
    if source.output is None:
        return None
    place = _whole(value).search(source.output.text)
    if place is None:
        return None
    quotes = [quote(source.segment, source.output, Sentence(value, place.start()))]
    by = next(iter(source.args), "") if len(source.args) == 1 else ""
    if by == key:
        return None
    under = _container(source.output.text, value)
    if by:
        quotes.append(_named(source, by))
    if under and under != key:
        quotes.append(quote(source.segment, source.output, Sentence(under, source.output.text.find(under))))
    by = f" by {code(by)}" if by else ""
    return f"{by} shows it" + (f" under {code(under)}" if under and under != key else ""), quotes


def _container(text: str, value: str) -> str:
    """The name of the field of a JSON answer in which the value stands; of the ids in a list of records, the list's."""
    return _holder(_json(text), value, "") or ""


def _holder(data: Any, value: str, name: str) -> str | None:
    if isinstance(data, dict):
        for key, inner in data.items():
            if key == value:
                return name
            found = _holder(inner, value, key)
            if found is not None:
                return name if found == "id" and name else found
        return None
    if isinstance(data, list):
        return next((found for inner in data if (found := _holder(inner, value, name)) is not None), None)
    return name if data is not None and str(data) == value else None


def _json(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _named(call: Call, name: str) -> QuoteDraft:
    return quote(call.segment, call.item, Sentence(name, call.item.text.find(name)))


def found_for(reading: Reading) -> Found:
    """What the thing is called that a person could not name and that took a search: the agent's words about it.

    Only for the one of several that the work then went on with, and not if that made an end of it.
    """
    seen: set[str] = set()
    for call, key, source, value in _found_out(reading):
        users = [each for each in reading.calls if each.args.get(key) == value]
        tried = {str(each.args[key]) for each in reading.calls[: call.place] if key in each.args}
        ended = any(each.output and _ENDED.search(each.output.text) for each in users)
        went_on = call.name != users[0].name and call.worked
        if value in seen or not went_on or ended or len(tried) < 2 or not _lacked(reading, source):
            continue
        told = _told_of(reading, value, source, call)
        if told is None:
            continue
        seen.add(value)
        number, item, sentence = told
        text, quotes = re.sub(r"\*\*|[\"“”]", "", flat(sentence.text)), [quote(number, item, sentence)]
        subject = f"{key} {value}"
        if reading.who:
            text, quotes = f"{reading.who[0]}: {text}", [reading.who[1], *quotes]
            subject = f"{reading.who[0]} {subject}"
        yield 3, MemoryDraft(kind=Kind.FACT.value, text=text, subject=subject, quotes=quotes)


def _told_of(reading: Reading, value: str, source: Call, call: Call) -> tuple[int, Item, Sentence] | None:
    """A sentence of the agent between the two calls that says what the value stands for."""
    first, last = (source.segment, source.item.index), (call.segment, call.item.index)
    for number, item in reading.items:
        if item.role != "assistant" or not first < (number, item.index) < last:
            continue
        for sentence in sentences(item.text):
            words = len(sentence.text.split())
            if not _whole(value).search(sentence.text) or _FOR_NOW.search(sentence.text):
                continue
            if _DESCRIBES.search(sentence.text) and (6 <= words <= SENTENCE_WORDS or not sentence.text.isascii()):
                return number, item, sentence.part(*stated.core(sentence.text))
    return None
