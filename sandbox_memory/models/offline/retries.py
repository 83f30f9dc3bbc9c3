"""What then worked: the later call that is another try of one that failed, and what made the difference."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import QuoteDraft
from . import commands, outputs
from .reading import code, flat, quote
from .sentences import Sentence
from .tools import COMMAND_WORDS, Call, is_id

REACH = 8
"""Later calls to the same tool that are looked at for another try."""
NAMED = 3
"""Arguments that may differ for a difference to say anything."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Cure:
    """What made the difference, as the end of a sentence, with its quotes, and the call that worked."""

    call: Call
    text: str
    quotes: tuple[QuoteDraft, ...] = ()


def cure(call: Call, following: Sequence[Call]) -> Cure | None:
    """How the same thing was done after all; None if no later call is another try of it that worked."""
    if call.failure is None:
        return None
    later = [other for other in following if other.name == call.name][:REACH]
    for other in later:
        if not other.worked:
            continue
        found = _by_text(call, other, following) if call.body and other.body else _by_arguments(call, other, following)
        if found is not None:
            return found
    return None


def filled(call: Call, following: Sequence[Call]) -> Cure | None:
    """Which other setting gave a call that came back with nothing something to show; no other question does."""
    for other in [each for each in following if each.name == call.name][:REACH]:
        if not other.worked or other.output is None or outputs.nothing(other.output.text):
            continue
        if call.body and other.body and _same_thing(call, other) and flat(call.body.text) != flat(other.body.text):
            return _other_line(call, other)
        if not call.body and not other.body and all(other.args.get(key) in (None, call.args[key]) for key in call.args):
            return _by_arguments(call, other, following) if call.args != other.args else None
    return None


# ---------------------------------------------------------------- commands, programs and queries


def _by_text(call: Call, other: Call, following: Sequence[Call]) -> Cure | None:
    if call.body is None or other.body is None:
        return None
    if call.body.text != other.body.text and _squeezed(call.body) == _squeezed(other.body):
        return Cure(other, "; worked with other indentation")
    if _done_again(call, other):
        between = _between(call, other, following)
        if between is not None or flat(call.body.text) == flat(other.body.text):
            return between or Cure(other, "; worked when run again")
    if not _same_thing(call, other):
        return None
    return _other_line(call, other) or Cure(other, "")


def _done_again(call: Call, other: Call) -> bool:
    """True if the second call does to the letter what the first was to do."""
    if call.body is None or other.body is None:
        return False
    if call.is_code or not call.alone:
        return flat(call.body.text) == flat(other.body.text)
    mine, theirs = call.command, other.command
    return mine is not None and theirs is not None and commands.same_work(mine.text, theirs.text)


def _same_thing(call: Call, other: Call) -> bool:
    """True if two bodies are tries of one thing: most of their lines or, for one line, of its words are the same."""
    if call.is_code != other.is_code or call.body is None or other.body is None:
        return False
    mine, theirs = (Counter(flat(line.text) for line in each.lines) for each in (call, other))
    many = len(call.lines) > 1 and len(other.lines) > 1
    if many and 2 * sum((mine & theirs).values()) >= min(len(call.lines), len(other.lines)):
        return True
    if not call.is_code:
        return bool(call.command and other.command and commands.alike(call.command.text, other.command.text))
    one, two = (Counter(_WORD.findall(each.body.text)) for each in (call, other) if each.body)
    return 2 * sum((one & two).values()) > min(one.total(), two.total())


def _between(call: Call, other: Call, following: Sequence[Call]) -> Cure | None:
    """What was done before the same call worked.

    Of commands the last that did more than look about or edit; of other calls the only one that came between.
    """
    done = [step for step in following if step.place < other.place]
    if call.body is None:
        done = done if len(done) == 1 and done[0].worked and done[0].name != call.name else []
    else:
        done = [step for step in done if step.worked and _made_way(step) and not _same_thing(call, step)]
    for step in reversed(done):
        name = named(step)
        if name is not None:
            return Cure(other, f"; worked after {code(name.text)}", (quote(step.segment, step.item, name),))
    return None


def _made_way(step: Call) -> bool:
    if step.command is None or step.is_code or step.looks or not step.alone or commands.edits(step.command.text):
        return False
    silent = step.output is not None and not outputs.shown(step.output.text).lines
    told = step.result is not None and outputs.is_success(step.result.text)
    return silent or told or commands.known(step.command.text)


def _other_line(call: Call, other: Call) -> Cure | None:
    """The line that was put for another; of a long one only the words that are new."""
    pair = changed_line(call, other)
    if pair is None:
        return None
    new = pair[1]
    if len(new.text.split()) > COMMAND_WORDS:
        added = _added(pair[0], new)
        return (
            Cure(other, f"; worked with {code(added.text)}", (quote(other.segment, other.item, added),))
            if added
            else None
        )
    return Cure(other, f"; then {code(new.text)} worked", (quote(other.segment, other.item, new),))


def changed_line(call: Call, other: Call) -> tuple[Sentence, Sentence] | None:
    """The line of a call that another try has otherwise: the one that its error shows, else the first that changed."""
    mine, theirs = ({flat(line.text) for line in each.lines} for each in (call, other))
    olds = [line for line in call.lines if flat(line.text) not in theirs]
    news = [line for line in other.lines if flat(line.text) not in mine]
    if not olds or not news:
        return None
    shown = call.output.text if call.output else ""
    old = next((line for line in reversed(olds) if call.is_code and line.text in shown), olds[0])
    words = Counter(_WORD.findall(old.text))
    new = max(news, key=lambda line: (words & Counter(_WORD.findall(line.text))).total())
    return (old, new) if words & Counter(_WORD.findall(new.text)) else None


def _added(old: Sentence, new: Sentence) -> Sentence | None:
    """The words of the new line that the old one has not, if they stand together."""
    words = list(re.finditer(r"\S+", new.text))
    match = difflib.SequenceMatcher(None, old.text.split(), [word.group() for word in words], autojunk=False)
    spans = [(start, end) for kind, _, _, start, end in match.get_opcodes() if kind != "equal" and end > start]
    if not spans:
        return None
    start, end = max(spans, key=lambda span: span[1] - span[0])
    return new.part(words[start].start(), words[end - 1].end()) if end - start <= COMMAND_WORDS else None


def _squeezed(body: Sentence) -> str:
    return re.sub(r"\s|\\[nt]", "", body.text)


def named(call: Call) -> Sentence | None:
    """The words of a call that name it: the command, or the tool's name where the call's text has it."""
    if call.command:
        return outputs.within(call.command, COMMAND_WORDS)
    start = call.item.text.find(call.name) if call.name else -1
    return Sentence(call.name, start) if start >= 0 else None


# ---------------------------------------------------------------- arguments


def _by_arguments(call: Call, other: Call, following: Sequence[Call]) -> Cure | None:
    """The difference in arguments, where the purpose is the same: it keeps one of them, or writes one otherwise."""
    if bool(call.body) != bool(other.body):
        return None
    if call.args == other.args:
        if flat(call.item.text) != flat(other.item.text):
            return None
        at_once = other.place == call.place + 1
        return _between(call, other, following) or Cure(other, "; worked when run again" if at_once else "")
    changed = [key for key in call.args if key in other.args and call.args[key] != other.args[key]]
    added = [key for key in other.args if key not in call.args]
    dropped = [key for key in call.args if key not in other.args]
    error = call.failure.text if call.failure else ""
    named_by_error = [key for key in added if _names(error, key)]
    if (added or dropped) and not named_by_error:
        refused = any(_names(error, key) for key in dropped)
        if refused and (added or changed or call.segment != other.segment):
            return None
        if call.segment != other.segment and set(call.args) != set(other.args):
            return None
    if _of_another(call, other, changed):
        return None
    kept = len(call.args) - len(changed) - len(dropped)
    if not kept and not named_by_error and not any(_rewritten(call.args[key], other.args[key]) for key in changed):
        return None
    blamed = [key for key in changed if _has_value(error, call.args[key])]
    blamed = blamed or [key for key in changed if _names(error, key)]
    changed, added = blamed or changed, named_by_error or ([] if changed else added)
    if len(changed) + len(added) + len(dropped) > NAMED:
        return Cure(other, "")
    return _told(call, other, changed, added, dropped)


def _of_another(call: Call, other: Call, changed: list[str]) -> bool:
    """True if the second call is about another thing: it has another id, and none that the first had."""
    named = [key for key in call.args if is_id(key, call.args[key]) and is_id(key, other.args.get(key))]
    return bool(named) and all(key in changed and not _rewritten(call.args[key], other.args[key]) for key in named)


def _names(error: str, key: str) -> bool:
    return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(key)}(?![A-Za-z0-9])", error, re.IGNORECASE))


def _has_value(error: str, value: Any) -> bool:
    """True if the error repeats the value, or a name with a number in it that is part of the value."""
    named = {word for word in re.findall(r"[\w-]+", error) if re.search(r"\d", word) and re.search(r"[A-Za-z]", word)}
    return str(value) in error.split() or bool(named & set(re.findall(r"[\w-]+", str(value))))


def _rewritten(one: Any, two: Any) -> bool:
    """True if one value is the other but for its writing: another case, a sign more or less."""
    mine, theirs = (re.sub(r"[\W_]+", "", str(value)).casefold() for value in (one, two))
    return bool(mine) and mine == theirs


def _told(call: Call, other: Call, changed: list[str], added: list[str], dropped: list[str]) -> Cure:
    parts, quotes = [], []
    for key in changed:
        inner = _inner(call.args[key], other.args[key])
        value = _plain_value(other, key, call.failure.text if call.failure else "")
        if inner and inner in other.item.text:
            new = inner not in call.item.text
            parts.append(f"{code(inner)} given in {code(key)}" if new else f"another {code(inner)} in {code(key)}")
            quotes.append(_at(other, inner))
        elif _rewritten(call.args[key], other.args[key]) and value is None and str(other.args[key]) in other.item.text:
            parts.append(f"{code(key)} as {code(str(other.args[key]))}")
            quotes.append(_at(other, str(other.args[key])))
        elif value is not None:
            parts.append(f"`{key}` `{value.text}`")
            quotes.append(quote(other.segment, other.item, value))
        else:
            parts.append(f"another `{key}`")
        quotes.append(_at(other, key))
    for key in added:
        parts.append(f"`{key}` given")
        quotes.append(_at(other, key))
    text = " and ".join(parts)
    if dropped:
        gone = " and ".join(f"`{key}`" for key in dropped)
        text = f"{text.removesuffix(' given')} in place of {gone}" if added and not changed else text
        text = text or f"{gone} left out"
        quotes.extend(_at(call, key) for key in dropped)
    return Cure(other, f"; worked with {text}", tuple(quotes))


def _at(call: Call, part: str) -> QuoteDraft:
    return quote(call.segment, call.item, Sentence(part, call.item.text.find(part)))


def _plain_value(call: Call, key: str, error: str) -> Sentence | None:
    """The new value if it is a word of the tool's language, or one that the error names: no number, no id."""
    value = call.args[key]
    if not isinstance(value, str) or not re.fullmatch(r"[^\W\d]+(?:[_-][^\W\d]+)*", value.strip()):
        return None
    if value.strip() != value.strip().lower() and not _names(error, value.strip()):
        return None
    start = call.item.text.find(value.strip(), call.item.text.find(key) + len(key))
    return Sentence(value.strip(), start) if start >= 0 else None


def _inner(one: Any, two: Any) -> str:
    """The one field in which two values that are JSON differ, or that only the second has."""
    try:
        mine, theirs = (json.loads(value) if isinstance(value, str) else value for value in (one, two))
    except (ValueError, RecursionError):
        return ""
    keys = _differing(mine, theirs)
    return keys.pop() if keys is not None and len(keys) == 1 else ""


def _differing(one: Any, two: Any, key: str = "") -> set[str] | None:
    if isinstance(one, dict) and isinstance(two, dict) and set(one) <= set(two):
        found: list[set[str] | None] = [{name for name in two if name not in one}]
        found += [_differing(one[name], two[name], name) for name in one]
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        found = [_differing(mine, theirs, key) for mine, theirs in zip(one, two, strict=True)]
    elif isinstance(one, (dict, list)) or isinstance(two, (dict, list)):
        return None
    else:
        return {key} - {""} if one != two else set()
    return None if any(each is None for each in found) else set().union(*(each or set() for each in found))
