"""Conversations that were held twice: what cost the second one something that the first could have told.

A folder of rollouts in which each file name says its task and its trial (`task07-trial0.jsonl`). Trial 0 is the first,
every later one of the task is the second. Three things of the second are looked for, by how people and tools speak:

- look-ups. A customer cannot name something: in one clause a word of not having ("don't remember", "not sure") and,
  after it, the words of an argument of some tool ("reservation ID" for `reservation_id`); once for each argument. And a
  call finds something: its output holds a value (of four characters or more, a digit among them) that nobody had said
  or looked at before, and that a later call takes as an argument; once for each call and argument.
- errors. A call whose output begins with a word of failure, or is JSON with an error in it.
- corrections. A clause of the customer that states a wish, a limit or a refusal, or turns against what the agent did:
  it has one of the words in `WISH`, and at least two words of content.

Arguments are the keys of a call's JSON at any depth. An output belongs to the call of its id before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sandbox_memory.lexical import terms

from .counting import text_of

TRIAL = re.compile(r"(?P<task>.+?)[-_.]?trial[-_]?(?P<trial>\d+)", re.IGNORECASE)
LACKED, FOUND, ERROR, CORRECTION = "lacked", "found", "error", "correction"

FAILED = re.compile(r"\W*(?:error|exception|traceback|failed|failure|fatal|invalid|错误|失败|异常)\b", re.IGNORECASE)
LACKS = (
    r"\b(?:(?:don't|do not|can't|cannot|couldn't|didn't) (?:\w+ ){0,2}?(?:have|remember|recall|know|find|see)"
    r"|not (?:\w+ )?(?:sure|certain)|unsure|no idea|forgot(?:ten)?|lost|without)\b"
)
WISH = re.compile(
    r"\b(?:prefer\w*|rather|(?:don't|do not|didn't|not) (?:want|need)|never|always|only|willing|open to|instead"
    r"|(?:okay|ok|fine|happy) with|as long as|without|(?:the |my )(?:\w{3,}est|least|best)|cheapest"
    r"|first(?=$|[,.;]| and | then )|use (?:my|the|a|any|one)|up to|at most|at least|(?:more|less|later|earlier) than"
    r"|(?:within|under|below|over|above|before|after) \W?(?:\d|my\b)|budget|not (?:before|after|earlier|later)"
    r"|neither|none of|wrong|misunder\w+|confusion|confused|mix-?up|mistake|not what|i (?:meant|said)|actually"
    r"|no (?!problem|worr|thank|need|idea)\w+)\b"
    r"|不要|不想|不用|别|只要|只能|最(?!近|后|初)|至少|不超过|以内|以下|宁愿|更喜欢|优先|先.*再|不是|错了",
    re.IGNORECASE,
)
TALK = frozenset(
    "pleas yes no sur alright ok okay well hi hello thank thanks sorry also actual just realiz really real so but sinc "
    "becaus prefer rather lik hop look need let know tell can help check could see any some if then now mean meant "
    "said option want would work ahead go proc".split()
)
"""Stems that say how something is said, not what; "not" is looked at apart."""

_CLAUSE = re.compile(r"(?<=[.!?;])\s+|[\n。！？；]+|,? (?=because |since |as I |but )|, (?=and |if |then |so )")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_NOT = re.compile(r"n't\b|\b(?:not|no|never|neither|nor|none|without|cannot)\b|[不没别无]", re.IGNORECASE)
_NAMES = re.compile(r"(?=[\w.@-]*[\d_@])[\w@][\w.@-]*\w")


@dataclass(frozen=True)
class Step:
    """What the customer said (`tool` is empty), or a call with its output; `error` is what the output says is wrong."""

    place: int
    text: str
    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class Conversation:
    """One rollout file."""

    path: Path
    task: str
    trial: int
    steps: tuple[Step, ...]

    @cached_property
    def said(self) -> tuple[Step, ...]:
        """What the customer said."""
        return tuple(step for step in self.steps if not step.tool)

    @cached_property
    def calls(self) -> tuple[Step, ...]:
        """Every call."""
        return tuple(step for step in self.steps if step.tool)

    @cached_property
    def clauses(self) -> tuple[tuple[Step, str], ...]:
        """The customer's clauses."""
        return tuple((step, clause) for step in self.said for clause in clauses(step.text))

    def known(self, place: int) -> frozenset[str]:
        """Names, in lower case, that the customer had used before that place, and a call before it or in it."""
        used = (json.dumps(step.args) if step.tool else step.text for step in self.steps if step.place < place)
        here = (json.dumps(step.args) for step in self.calls if step.place == place)
        return frozenset(name.casefold() for text in (*used, *here) for name in _NAMES.findall(text))


@dataclass(frozen=True)
class Event:
    """Something in the second conversation; `text` tells it to a reader.

    `known` are the names that had been used before it. `values` of a look-up are what its argument was given last;
    `error` is the words of an error, `changed` are the arguments by which the next call that worked differs.
    """

    kind: str
    task: str
    place: int
    text: str
    known: frozenset[str]
    tool: str = ""
    argument: str = ""
    values: frozenset[str] = frozenset()
    error: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()


def held_twice(folder: Path) -> list[tuple[Conversation, Conversation]]:
    """First and second conversations, by task; a file that is in no pair is left out."""
    found: dict[str, dict[int, Path]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        if name := TRIAL.fullmatch(path.stem):
            found.setdefault(name["task"], {})[int(name["trial"])] = path
    pairs = []
    for task, trials in sorted(found.items()):
        first, *again = (read(trials[trial], task, trial) for trial in sorted(trials))
        pairs += [(first, second) for second in again]
    return pairs


def read(path: Path, task: str = "", trial: int = 0) -> Conversation:
    """The conversation of a rollout file: the input and the generated items of its lines, in order."""
    items: list[Mapping[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            segment = json.loads(line)
            given = segment.get("input") or []
            items += [{"role": "user", "content": given}] if isinstance(given, str) else given
            items += segment.get("generated_items") or []
    return Conversation(path, task, trial, tuple(_steps(items)))


def _steps(items: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    for place, item in enumerate(items):
        kind = str(item.get("type") or "message")
        if item.get("role") == "user":
            yield Step(place, text_of(item).replace("’", "'"))
        elif kind.endswith("_call") and item.get("name"):
            output = next((text_of(other) for other in items[place + 1 :] if _answers(other, item)), "")
            yield Step(place, output, str(item["name"]), _arguments(item), failure(output))


def _answers(other: Mapping[str, Any], call: Mapping[str, Any]) -> bool:
    return "output" in other and other.get("call_id") == call.get("call_id")


def _arguments(item: Mapping[str, Any]) -> dict[str, Any]:
    given = item.get("arguments") or item.get("input") or ""
    try:
        parsed = json.loads(given)
    except (TypeError, ValueError):
        return {"input": given}
    return parsed if isinstance(parsed, dict) else {"input": given}


def failure(output: str) -> str:
    """What an output says went wrong; empty if nothing did."""
    try:
        parsed = json.loads(output)
    except ValueError:
        return output.strip() if FAILED.match(output) else ""
    if isinstance(parsed, dict):
        return str(parsed.get("error") or "")
    return parsed.strip() if isinstance(parsed, str) and FAILED.match(parsed) else ""


def clauses(text: str) -> list[str]:
    """The clauses of a message: cut at the ends of sentences and lines, and where another statement is joined on."""
    parts = (_ITEM.sub("", part).strip(" ,") for part in _CLAUSE.split(text.replace("’", "'")) if part)
    return [part for part in parts if part]


def content(text: str) -> frozenset[str]:
    """The stems of a text that carry what it says; a number is apart from its unit, a negation is left out."""
    plain = re.sub(r"\bcan't\b", "can", text.replace("’", "'"), flags=re.IGNORECASE)
    apart = re.sub(r"(?<=\d)(?=[A-Za-z])|n't\b", " ", plain)
    return frozenset(stem for stem in terms(apart) if stem not in TALK and not _NOT.fullmatch(stem))


def denies(text: str) -> bool:
    """Whether a word of negation stands in it."""
    return bool(_NOT.search(text.replace("’", "'")))


def names(text: str) -> set[str]:
    """Words with a digit, of four characters or more."""
    return {name for name in _NAMES.findall(text) if len(name) > 3 and any(map(str.isdigit, name))}


def error_words(error: str) -> tuple[str, ...]:
    """The words of an error that stay the same: its first clause of three words or more, without what holds a digit."""
    said = re.sub(r"^\W*(?:error|exception|failed|failure|fatal)\W+", "", error, flags=re.IGNORECASE)
    for clause in re.split(r"[,.;:(\n]\s*", said):
        words = steady(clause)
        if len(words) > 2:
            return words
    return steady(said)


def steady(text: str) -> tuple[str, ...]:
    """The words of a text in order, without those that hold a digit."""
    return tuple(word for word in re.findall(r"\w+", text.casefold()) if not any(map(str.isdigit, word)))


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The arguments of a call: each key with each plain value under it, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, str(name))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner, key)
    elif value is not None:
        yield key, str(value)


def takes(conversations: Iterable[Conversation]) -> dict[str, frozenset[str]]:
    """The arguments that each tool was given."""
    found: dict[str, set[str]] = {}
    for conversation in conversations:
        for call in conversation.calls:
            found.setdefault(call.tool, set()).update(key for key, _ in leaves(call.args))
    return {tool: frozenset(keys) for tool, keys in found.items()}


def found_by(conversation: Conversation) -> dict[tuple[str, str], tuple[Step, str]]:
    """Which call found the values of which argument: by tool and argument the first such call, and the last value."""
    shown: dict[str, Step] = {}
    used: set[str] = set()
    ways: dict[tuple[str, str], tuple[Step, str]] = {}
    for step in conversation.steps:
        if not step.tool:
            used |= names(step.text)
            continue
        for key, value in leaves(step.args):
            if value in shown and (source := shown[value]).tool != step.tool:
                first, _ = ways.get((source.tool, key), (source, ""))
                ways[source.tool, key] = (first, value)
        used |= {value for _, value in leaves(step.args)}
        for value in names(step.text) - used if not step.error else ():
            shown.setdefault(value, step)
    return ways


def events(second: Conversation, arguments: frozenset[str]) -> list[Event]:
    """Everything in a second conversation that is counted, in its order. `arguments` are those of any tool."""
    found = [*_lacked(second, arguments), *_found(second), *_errors(second), *_corrections(second)]
    return sorted(found, key=lambda event: event.place)


def _lacked(second: Conversation, arguments: frozenset[str]) -> Iterator[Event]:
    several = {name: spoken(name) for name in arguments if len(name.split("_")) > 1}
    seen: set[str] = set()
    for step, clause in second.clauses:
        for name, words in several.items():
            if name not in seen and re.search(rf"{LACKS}[^.!?]*\b{words}", clause, re.IGNORECASE):
                seen.add(name)
                later = (leaf for call in second.calls if call.place > step.place for leaf in leaves(call.args))
                told = clause if any(key == name for key, _ in later) else f"{clause} (never found)"
                known = second.known(step.place + 1)
                yield Event(LACKED, second.task, step.place, told, known, argument=name)


def spoken(name: str) -> str:
    """A pattern for an argument's name as it is written or said: `reservation_id`, "reservation IDs"."""
    return r"[\s_-]".join(map(re.escape, name.split("_"))) + r"s?\b"


def _found(second: Conversation) -> Iterator[Event]:
    for (tool, argument), (step, last) in found_by(second).items():
        text = f"{tool} shows {argument}, last {last}"
        known = second.known(step.place)
        yield Event(FOUND, second.task, step.place, text, known, tool, argument, frozenset((last,)))


def _errors(second: Conversation) -> Iterator[Event]:
    for step in second.calls:
        if step.error:
            better = then_worked(step, second)
            changed = frozenset() if better is None else _differ(step.args, better.args)
            text = f"{step.tool}: {' '.join(step.error.split())[:200]}"
            words = error_words(step.error)
            known = second.known(step.place)
            yield Event(ERROR, second.task, step.place, text, known, step.tool, error=words, changed=changed)


def then_worked(failed: Step, conversation: Conversation) -> Step | None:
    """The next call of the same tool that did not fail."""
    later = (call for call in conversation.calls if call.place > failed.place and call.tool == failed.tool)
    return next((call for call in later if not call.error), None)


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(key for key in {*one, *other} if one.get(key) != other.get(key))


def _corrections(second: Conversation) -> Iterator[Event]:
    for step, clause in second.clauses:
        if WISH.search(clause) and len(content(clause)) > 1 and not re.search(LACKS, clause, re.IGNORECASE):
            yield Event(CORRECTION, second.task, step.place, clause, second.known(step.place))
