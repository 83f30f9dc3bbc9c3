"""Task groups that a person would recognise: near titles are one, and a title is short and without a frame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ...governance.wording import CJK, identifiers
from ...sameness.phrases import Phrase, parse
from ...sameness.synonyms import base, holder

MANY = "many"
ALIKE = 0.6
"""Share of the words of two titles from which they are one group, where each has words of its own."""
INSIDE = 0.5
"""The same where one title has all the words of the other."""
CROWDED, LOOSE = 20, 0.4
"""How many groups are enough, and the share from then on."""
WORDS, CHARACTERS = 10, 40
"""The longest title, in words or in Chinese characters."""

_I_WANT = re.compile(
    r"^(?:hi|hello|hey|and|but|so)?[ ,]*(?:i|we|my)\b.{0,70}?\b(?:need|want|like|love|hope|hoping|try|trying|"
    r"looking|wish|"
    r"planning|wondering|help)(?: (?:some|a bit of|your|a little))?(?: (?:help|assistance))?(?: me)? "
    r"(?:to|with|in|(?:if|whether) (?:you|i|we) (?:can|could|might)|for)\s+",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"^(?:i|we)\b.{0,40}? (?:because|since)\s+", re.IGNORECASE)
_FRAME = re.compile(
    r"^(?:(?:please|kindly|can you|could you|would you|will you|help me|help with|let's|i'm|i am|i|we|we're|"
    r"go ahead and)\b[\s,]*(?:to )?)+",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"^(?:(?:know|tell me|find out|check(?= the| my| our| on)|ask about|ask for|check on|inquire about|make|get)\b"
    r"[\s,]*(?:to )?)+",
    re.IGNORECASE,
)
_FRAME_ZH = re.compile(
    r"^(?:你好|您好|请问|麻烦|请|帮我|帮忙|帮|我想要|我想|我要|我需要|我们要|想要|能不能|可不可以|能否|可以|一下|[，,。\s])+"
)
_WHEN_ZH = re.compile(
    r"(?:上上?|下下?|本|这|今|昨|明|前|后)(?:个)?(?:周|月|季度|年|天)(?:[一二三四五六日末初底])?的?|(?:做|写|出)?一份"
)
_END_ZH = re.compile(r"(?:吗|呢|吧|谢谢|好吗|可以吗|行吗|[，,。？?！!\s])+$")
_CUT = re.compile(
    r"\s*(?:,|;|\(| (?:from|for|on|under|using|as|named|called|with|at|in|by|because|since|due|after|before|and|or|"
    r"that|which|who|when|if|while|so|i|we|to)\b)",
    re.IGNORECASE,
)
_DROPPED = frozenset(
    "the a an my our your his her their this that these those some any all few several couple upcoming recent "
    "current existing same new next last previous own please of-course has have been was were is are being am "
    "id number then now today tomorrow yesterday".split()
)
_ASIDE = frozenset(
    base(word)
    for word in "thing question help issue stuff matter request work situation something anything check ask bit "
    "lot user account name how much many what which when where why who recently accidentally recent".split()
)
_ACTIONS_ZH = frozenset(
    "改 取消 退款 退货 换货 退 换 订 查 买 付款 投诉 升级 降级 开通 注销 绑定 申请 咨询 删 建 检查".split()
)


@dataclass(frozen=True)
class Core:
    """A title without its frame, and the words by which titles are compared."""

    text: str
    many: bool

    @cached_property
    def phrase(self) -> Phrase:
        return parse(self.text)

    @cached_property
    def names(self) -> list[str]:
        """The words that tell, in order; where many are served, holders by their kind and no numbers."""
        found = [t.name for t in self.phrase.tokens if not t.weak and t.name not in _ASIDE and not t.name[0].isdigit()]
        if self.many and found:
            found = [found[0], *(holder(name) or name for name in found[1:])]
        return [] if self.many and len(found) == 1 and holder(found[0]) else list(dict.fromkeys(found))

    @property
    def action(self) -> str:
        """What is to be done: the first word, in Chinese the first word for an action of a service."""
        if self.text.isascii():
            return self.names[0] if self.names else ""
        return next((name for name in self.names if name in _ACTIONS_ZH), "")

    @property
    def objects(self) -> frozenset[str]:
        return frozenset(self.names) - {self.action}


@lru_cache(maxsize=1 << 12)
def core(title: str, audience: str) -> Core:
    """The core of a title: what the request is about, short."""
    text = " ".join(title.split())
    chinese = bool(re.search(f"[{CJK}]", text))
    if chinese:
        text = _END_ZH.sub("", _FRAME_ZH.sub("", _WHEN_ZH.sub("", text)))
    else:
        for frame in (_I_WANT, _BECAUSE, _FRAME, *([_ASKED] if audience == MANY else [])):
            text = frame.sub("", text, count=1) or text
    many = audience == MANY
    if many:
        text = _matter_zh(text) if chinese else _matter(text)
    else:
        text = _first_clause(text)
    return Core(_short(text), many)


def _first_clause(text: str) -> str:
    """Up to the first comma that has a few words before it, without a "please" at the end."""
    match = re.match(rf"(?:\S+\s+\S[^,，;；]*?|[^,，;；]*[{CJK}][^,，;；]{{3,}}?)(?=[,，;；])", text)
    return re.sub(r"[ ,]*\bplease$", "", match.group() if match else text, flags=re.IGNORECASE) or text


def _matter(text: str) -> str:
    """Up to the first detail, without determiners and what has a digit: names and values belong to one customer."""
    head = re.match(r"(?:\w+ ){0,3}changes? to ", text, re.IGNORECASE)
    start = head.end() if head else 0
    names = set(identifiers(text))
    words = text[start:].split()
    first = " ".join(words)
    cut = _CUT.search(first, len(words[0]) if words else 0)
    kept = [
        word
        for word in (text[:start] + first[: cut.start() if cut else len(first)]).split()
        if word.casefold().strip(",.") not in _DROPPED
        and word.strip(",.").removesuffix("'s") not in names
        and not any(char.isdigit() for char in word)
    ]
    return " ".join(kept[:6]) or text


def _matter_zh(text: str) -> str:
    """The action and what it is done to, if both are words for what services do; else the first clause."""
    tokens = [token for token in parse(text).tokens if not token.weak]
    action = next((token.name for token in tokens if token.name in _ACTIONS_ZH), "")
    object_ = next((token.name for token in tokens if holder(token.name) and token.name != action), "")
    return action + object_ if action else re.split(r"[，,。；;：:]", text)[0]


def _short(text: str) -> str:
    """The first words, in Chinese characters and names: counted so that no name's length decides."""
    if re.search(f"[{CJK}]", text):
        parts = re.findall(r"[A-Za-z0-9][A-Za-z0-9_./:@-]*|.", text)
        return "".join(parts[:CHARACTERS]).strip()
    words = text.split()
    return text if len(words) <= WORDS else " ".join(words[:WORDS]).rstrip(" ,;:")


class Groups:
    """Gives each task the title of its group: one that stands, or a new one for all near titles of `tasks`."""

    def __init__(self, standing: Sequence[str], tasks: Iterable[str], audience: str) -> None:
        self.audience = audience
        self._known: list[tuple[Core, str]] = [(core(title, audience), title) for title in dict.fromkeys(standing)]
        self._titles: dict[str, str] = {}
        new: list[tuple[Core, str]] = []
        for task in dict.fromkeys(task for task in tasks if task):
            own = core(task, audience)
            self._titles[task] = self._standing(own, task)
            if not self._titles[task]:
                new.append((own, task))
        for cluster in self._gathered(new):
            title = _title([own for own, _ in cluster]) if cluster[0][0].names else _general(cluster[0][1])
            self._known.append((core(title, audience), title))
            self._titles.update({task: title for _, task in cluster})

    def _gathered(self, tasks: Sequence[tuple[Core, str]]) -> list[list[tuple[Core, str]]]:
        """The tasks in clusters: two that are near, directly or by way of others, are in one."""
        clusters: list[list[tuple[Core, str]]] = []
        for own, task in tasks:
            near = [each for each in clusters if any(self._near(own, other) >= 1 for other, _ in each)]
            rest = [each for each in clusters if each not in near]
            clusters = [*rest, [*(entry for each in near for entry in each), (own, task)]]
        return clusters

    def of(self, task: str, phrase: Phrase | None = None) -> str:
        """The group of a line: of its task, or where many are served the one whose matter its own words name."""
        title = self._titles.get(task, "") or task or _general(task)
        if self.audience != MANY or phrase is None:
            return title
        names = phrase.names | {holder(name) for name in phrase.names}
        if self._tells(title, names):
            return title
        return next((other for _, other in self._known if self._tells(other, names)), title)

    def _tells(self, title: str, names: frozenset[str]) -> bool:
        own = next((known for known, name in self._known if name == title), None)
        return bool(own and len(own.names) > 1 and names.issuperset(own.names))

    def _standing(self, own: Core, task: str) -> str:
        if any(title == task for _, title in self._known):
            return task
        near = [(self._near(own, known), title) for known, title in self._known]
        best = max(near, key=lambda entry: entry[0], default=(0.0, ""))
        return best[1] if best[0] >= 1 else ""

    def _near(self, one: Core, two: Core) -> float:
        """From 1 on both are one group; more is nearer."""
        mine, yours = frozenset(one.names), frozenset(two.names)
        if one.text.casefold() == two.text.casefold() or (mine and mine == yours):
            return 3.0
        if not mine or not yours:
            return 0.0
        share = _weigh(mine & yours) / _weigh(mine | yours)
        if one.many and one.action and one.action == two.action:
            both = one.objects & two.objects
            if not one.objects or not two.objects or _weigh(both) * 3 >= min(_weigh(one.objects), _weigh(two.objects)):
                return 1 + share
        enough = INSIDE if mine <= yours or yours <= mine else ALIKE
        if len(self._known) >= CROWDED:
            enough = LOOSE
        return share / enough


def _weigh(names: frozenset[str]) -> float:
    return sum(0.5 if len(name) == 1 and not name.isascii() else 1.0 for name in names)


def _title(cluster: Sequence[Core]) -> str:
    """The title whose words most titles of the group have; of equals the shortest by words, then the first."""
    shared = Counter(name for each in cluster for name in each.names)

    def worth(each: Core) -> tuple[bool, float, int]:
        typical = sum(shared[name] for name in each.names) / max(len(each.names), 1)
        return len(each.names) > 1, typical, -len(each.text.split())

    text = max(cluster, key=worth).text
    word = text.split()[0].rstrip(",")
    return text[0].upper() + text[1:] if word.isalpha() and word.islower() else text


def _general(task: str) -> str:
    """The group of what is about nothing in particular."""
    return "其他" if re.search(f"[{CJK}]", task) else "General"
