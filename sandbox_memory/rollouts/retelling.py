"""What users said, as an application tells it again: the same messages in the same order, in other spelling.

An application that keeps its own history may collapse blanks, put a time or a name before each message, wrap it, cut
it, merge two, or leave some out. Messages are the same if their tokens are, else if most of the shorter one stands in
the longer one; which messages are the same is decided for two lists as a whole, in order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from ..governance.forgetting import tokens

ROW = 3
"""Tokens of a row: two messages are compared by the rows that both have."""
LEAST = 3.0
"""Tokens, single characters counted half, that a message has at least to be known in other spelling."""
SHARE = 0.75
"""Share of the rows of the shorter message that stand in the longer one, from which on they are the same."""
COMMON = 30
"""Messages in which a row stands at most to tell one from another: what stands in more is a form around them."""
ENDS = 200
"""Tokens of a long message that are compared at its begin, and at its end."""
TRIES = 50
"""Places at which a message that was said many times is looked for, those nearest to where it would stand."""
BEST = 5
"""Messages in other spelling that are looked at for one."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}|\d{{1,2}}\.? {_MONTH},? \d{{4}}"
    rf"|{_MONTH} \d{{1,2}},? \d{{4}}|\d{{4}}年\d{{1,2}}月\d{{1,2}}日)"
)
_TIME = r"\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?:[.,]\d+)?(?: ?[ap]m| ?z| ?utc| ?gmt|[+-]\d{2}:?\d{2})?"
_WHEN = rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?(?:{_DATE}(?:(?:t|,? | at ){_TIME})?|{_TIME})"
_WHO = r"(?:user|human|customer|client|me|you|用户|使用者|客户|我)"
_BEFORE = re.compile(
    rf"\s*(?:{_WHO} ?(?:[\[(（]{_WHEN}[\])）])? ?[:：]|[\[(（【](?:{_WHO}|{_WHO}?[ ,@|-]*{_WHEN})[\])）】] ?[:：]?"
    rf"|<[\w-]{{1,30}}>|{_WHEN}(?: ?[-–—|:：] |\s))",
    re.IGNORECASE,
)
_CUT = r"[\[(（<](?:truncated|cut|shortened|snip|已截断|略)[\])）>]"
_AFTER = re.compile(
    rf"(?:[\[(（](?:sent )?(?:at |on )?{_WHEN}[\])）]|</[\w-]{{1,30}}>"
    rf"|[A-Za-z0-9]*(?:(?:…|\.\.\.)\s*{_CUT}|…)|{_CUT})\s*$",
    re.IGNORECASE,
)
"""What stands around a message: a time, the label of its speaker, a tag, a mark where it was cut."""
_SUMMARY = re.compile(
    r"(?:(?:here|this|the|following|below)+(?:is|are)?)?(?:a|the|my|our)?(?:brief|short|running)?"
    r"(?:(?:conversation|chat|session)summary|summarysofar|summary(?:of|from)(?:the|our|this|all|your)?"
    r"(?:previous|earlier|prior|past|last|above)?(?:conversation|chat|discussion|messages?|session|dialog|turns)"
    r"|(?:our|the)?(?:previous|earlier|prior|past)(?:conversation|chat|messages?|turns?|session)"
    r"|(?:our|the)?(?:conversation|chat|messages|discussion)(?:history)?sofar|conversationhistory"
    r"|thissessionisbeingcontinued|earlierinthisconversation|contextfrom(?:the|our)?(?:previous|earlier|prior))"
    r"|(?:以下|这|下面)?(?:是|为)?(?:之前|此前|先前|前面|以往|上文)?的?(?:对话|会话|聊天|上文|内容)的?(?:摘要|总结|概要|小结|历史|记录)"
    r"|(?:摘要|总结)(?:如下|以上)",
)
"""How a message begins, without blanks and in small letters, that an application put in the place of older ones."""
_SPEAKER = re.compile(
    r"^[ \t>*_#-]*(?:(?P<user>user|human|customer|client|用户|使用者|客户)"
    r"|(?P<agent>assistant|agent|ai|bot|助手|助理|客服))[*_ ]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)


class Mark(str):
    """What an item is known by. For what a user said `said` has its tokens, so that it is known in other spelling."""

    said: str

    def __new__(cls, value: str, said: Sequence[str] = ()) -> Mark:
        made = super().__new__(cls, value)
        made.said = " ".join(said if len(said) <= 2 * ENDS else (*said[:ENDS], *said[-ENDS:]))
        return made

    @property
    def sums_up(self) -> bool:
        """True for a message that says of itself that it stands for older ones."""
        return _SUMMARY.match(self.said[:200].replace(" ", "")) is not None

    @cached_property
    def rows(self) -> frozenset[int]:
        """Its rows of tokens, hashed; none of what is too short."""
        said = self.said.split(" ") if self.said else []
        if sum(0.5 if len(token) == 1 and ord(token) > 0x2E7F else 1.0 for token in said) < LEAST:
            return frozenset()
        return frozenset(hash(tuple(said[place : place + ROW])) for place in range(len(said) - ROW + 1))


def unlabelled(text: str) -> str:
    """A message without the time, the label of its speaker and the tags that are put around it."""
    while text and (found := _BEFORE.match(text)) and found.end() > 0:
        text = text[found.end() :]
    while text and (found := _AFTER.search(text)):
        text = text[: found.start()]
    return text


def bare(text: str) -> tuple[str, ...]:
    """The tokens of a message as they are in every account of it."""
    return tokens(unlabelled(text)) or tokens(text)


def retold_until(text: str) -> int:
    """The place up to which a text tells a conversation, speaker by speaker, before what its user says now; else 0."""
    labels = list(_SPEAKER.finditer(text))
    agents = [label.start() for label in labels if label["agent"]]
    users = [label.start() for label in labels if label["user"]]
    if not agents or not users:
        return 0
    last = text[labels[-1].end() :]
    if users[-1] > agents[-1] or (users[-1] > agents[0] and not last.strip()):
        return users[-1]
    place = last.rfind("\n\n") if "\n\n" in last else last.find("\n")
    return labels[-1].end() + place + 1 if place >= 0 else len(text)


def speeches(text: str) -> list[tuple[bool, str]]:
    """A told conversation in parts that join to the whole: whether an agent speaks, and the words with their label."""
    labels = list(_SPEAKER.finditer(text))
    starts = [label.start() for label in labels]
    parts = [(False, text[: starts[0]] if starts else text)]
    for label, end in zip(labels, [*starts, len(text)][1:], strict=True):
        parts.append((bool(label["agent"]), text[label.start() : end]))
    return parts


def aligned(known: Sequence[str], told: Sequence[str]) -> list[tuple[int, int]]:
    """The messages of two lists that are the same, as many as can be in order: pairs of places, rising.

    A message that was split in two has a pair for each part.
    """
    end = 0
    while end < min(len(known), len(told)) and known[-1 - end] == told[-1 - end]:
        end += 1
    start = 0
    while start < min(len(known), len(told)) - end and known[start] == told[start]:
        start += 1
    inner = _inner(known[start : len(known) - end], told[start : len(told) - end])
    pairs = [(place, place) for place in range(start)]
    pairs += [(start + one, start + two) for one, two in inner]
    return pairs + [(len(known) - place, len(told) - place) for place in range(end, 0, -1)]


def _inner(known: Sequence[str], told: Sequence[str]) -> list[tuple[int, int]]:
    if not known or not told:
        return []
    places: dict[str, list[int]] = {}
    for place, mark in enumerate(known):
        places.setdefault(mark, []).append(place)
    alike = _Alike(known)
    found = [
        _near(places[mark], n + len(known) - len(told)) if mark in places else alike.to(mark)
        for n, mark in enumerate(told)
    ]
    pairs = _rising(found)
    whole, at = [], 0
    for n, options in enumerate(found):
        if at < len(pairs) and pairs[at][1] == n:
            whole.append(pairs[at])
            at += 1
        elif told[n] not in places:  # a part of a message that has its pair
            low, high = (pairs[at - 1][0] if at else 0), (pairs[at][0] if at < len(pairs) else len(known) - 1)
            whole += [(option, n) for option in options if low <= option <= high][:1]
    return whole


def _near(places: Sequence[int], expected: int) -> Sequence[int]:
    if len(places) <= TRIES:
        return places
    middle = bisect_left(places, expected)
    start = max(0, min(middle - TRIES // 2, len(places) - TRIES))
    return places[start : start + TRIES]


def _rising(found: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The longest list of pairs that rises in both, given the places for each (Hunt and Szymanski, 1977)."""
    ends: list[int] = []
    last: list[tuple[int, int]] = []
    nodes: list[tuple[int, int, int]] = []  # place, position, and the node before
    for n, options in enumerate(found):
        for option in sorted(options, reverse=True):
            rank = bisect_left(ends, option)
            nodes.append((option, n, last[rank - 1][0] if rank else -1))
            if rank == len(ends):
                ends.append(option)
                last.append((len(nodes) - 1, n))
            else:
                ends[rank], last[rank] = option, (len(nodes) - 1, n)
    pairs: list[tuple[int, int]] = []
    node = last[-1][0] if last else -1
    while node >= 0:
        option, n, node = nodes[node]
        pairs.append((option, n))
    return pairs[::-1]


class _Alike:
    """Finds messages in other spelling among known ones; reads these only once it is asked."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known
        self._sizes: list[int] = []
        self._places: dict[int, list[int]] = {}

    def to(self, mark: str) -> list[int]:
        """The places of those that are most alike."""
        rows = mark.rows if isinstance(mark, Mark) else frozenset[int]()
        if not rows:
            return []
        if not self._sizes:
            self._read()
        votes: Counter[int] = Counter()
        own = 0
        for row in rows:
            places = self._places.get(row, ())
            if len(places) <= COMMON:
                own += 1
                votes.update(places)
        if not own:
            return []
        return [
            place
            for place, count in votes.most_common(BEST)
            if self._sizes[place] and count >= SHARE * min(own, self._sizes[place])
        ]

    def _read(self) -> None:
        rows = [mark.rows if isinstance(mark, Mark) else frozenset[int]() for mark in self._known]
        for place, own in enumerate(rows):
            for row in own:
                self._places.setdefault(row, []).append(place)
        self._sizes = [sum(len(self._places[row]) <= COMMON for row in own) for own in rows]
