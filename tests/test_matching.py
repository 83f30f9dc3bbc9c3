from __future__ import annotations

import difflib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from sandbox_memory.document import Document, ListItem
from sandbox_memory.matching import Matching, match

ENGLISH = (
    "uv pytest staging Makefile tabs rounding invoice Decimal deploy review diff focused suite conclusion emoji port "
    "8443 logs retry token cache schema"
).split()
CHINESE = (
    "部署 生产 环境 之前 必须 运行 测试 端口 缓存 使用 提交 代码 "
    "检查 日志 不要 删除 数据 备份 发布 版本 分支 合并 用户 喜欢 表格"
).split()


def items(*lines: str) -> Sequence[ListItem]:
    return Document.parse("\n".join(lines).encode()).items


def matched(base: dict[str, str], *lines: str) -> Matching:
    return match(base, items(*lines))


A, B, C = "m-aaaaaaaaaa", "m-bbbbbbbbbb", "m-cccccccccc"
FIRST = "run the focused test suite before each review"
SECOND = "the staging server listens on port 8443"
THIRD = "invoices are rounded with Decimal and quantize"


def test_nothing_changed() -> None:
    found = matched({A: FIRST, B: SECOND}, f"- {SECOND} ^{B}", f"- {FIRST} ^{A}")
    assert found == Matching(same={0: B, 1: A}, revised={}, missing=set(), new=[])


def test_what_a_formatter_does_is_no_change() -> None:
    base = {A: "use *tabs* and `x_y`, 中文", B: "1. not a list"}
    found = matched(base, f"* use _tabs_ and\n  `x_y`,\n  中文\n  ^{A}", f"* 1\\. not a list ^{B}")
    assert found == Matching({0: A, 1: B}, {}, set(), [])


def test_changed_moved_deleted_added() -> None:
    found = matched(
        {A: FIRST, B: SECOND, C: THIRD},
        "- something that nobody said before", f"- {SECOND.replace('8443', '9443')} ^{B}", f"- {FIRST}",
    )  # fmt: skip
    assert found == Matching(same={2: A}, revised={1: B}, missing={C}, new=[0])


def test_a_stripped_id_and_a_change_are_still_the_record() -> None:
    found = matched({A: FIRST, B: SECOND}, f"- {FIRST.replace('focused', 'whole')}")
    assert found == Matching({}, {0: A}, {B}, [])


def test_a_new_fact_typed_over_an_old_one_is_a_deletion_and_an_addition() -> None:
    assert matched({A: FIRST}, f"- {THIRD} ^{A}") == Matching({}, {}, {A}, [0], {0: A})
    copied = matched({A: FIRST, B: SECOND}, f"- {THIRD} ^{A}", f"- {THIRD} too ^{A}", f"- {THIRD} ^{B}", f"- {SECOND}")
    assert copied == Matching({3: B}, {}, {A}, [0, 1, 2], {0: A})


def test_a_copied_line_leaves_the_record_to_the_original() -> None:
    copy = f"- {FIRST.replace('review', 'release')} ^{A}"
    original = f"- {FIRST} ^{A}"
    assert matched({A: FIRST}, copy, original) == Matching({1: A}, {}, set(), [0])
    assert matched({A: FIRST}, original, original) == Matching({0: A}, {}, set(), [1])


def test_swapped_ids_follow_the_text() -> None:
    assert matched({A: FIRST, B: SECOND}, f"- {FIRST} ^{B}", f"- {SECOND} ^{A}").same == {0: A, 1: B}


def test_of_two_halves_the_larger_is_the_record() -> None:
    whole = f"{FIRST}, and tell me what failed"
    found = matched({A: whole}, f"- tell me what failed ^{A}", f"- {FIRST} ^{A}")
    assert (found.revised, found.new) == ({1: A}, [0])


def test_two_records_of_one_text_are_two() -> None:
    assert matched({A: FIRST, B: FIRST}, f"- {FIRST}", f"- {FIRST} ^{A}").same == {0: B, 1: A}
    assert matched({A: FIRST, B: FIRST}, f"- {FIRST}", f"- {FIRST}").same == {0: A, 1: B}


def test_unreadable_and_empty_items() -> None:
    found = match(
        {A: FIRST, B: SECOND, C: THIRD},
        Document.parse(
            f"- {FIRST} ^{A}\n- {SECOND}! ^{B}\n- nobody said that!\n- ^{C}\n".replace("!", "\udcd1").encode(
                "utf-8", "surrogateescape"
            )
        ).items,
    )
    assert found == Matching({0: A, 1: B}, {}, {C}, [])


def test_an_unreadable_item_keeps_its_record_however_little_can_be_read() -> None:
    data = f"- \udcd1\udcd1 ^{A}\n- {FIRST} ^{A}\n".encode("utf-8", "surrogateescape")
    assert match({A: SECOND}, Document.parse(data).items) == Matching({0: A}, {}, set(), [1])


@pytest.mark.parametrize(
    ("one", "other", "with_id", "without"),
    [
        ("生产环境的端口是 8443", "生产环境的端口是 9443", True, True),
        ("部署之前必须运行测试", "部署前要先运行测试", True, True),
        ("部署之前必须运行测试", "用户喜欢用表格", False, False),
        ("use uv", "use pip", True, False),
        ("🚀", "🚀!", True, True),
    ],
)
def test_how_alike_a_changed_line_must_be(one: str, other: str, with_id: bool, without: bool) -> None:
    for line, revised in ((f"- {other} ^{A}", with_id), (f"- {other}", without)):
        assert matched({A: one}, line).revised == ({0: A} if revised else {})


# --- random editing sessions, in which the true identity of each line is known ----------------------------------------


@dataclass(frozen=True)
class Line:
    id: str
    """The block id that is shown."""
    words: tuple[str, ...]
    truth: str
    """The record that the line is, or "" for a new one."""


@dataclass
class Session:
    rng: Random
    vocabulary: list[str]

    def text(self) -> tuple[str, ...]:
        return tuple(self.rng.sample(self.vocabulary, 7))

    def records(self, count: int) -> list[Line]:
        return [Line(id, self.text(), id) for id in (f"m-{n:010x}" for n in range(count))]

    def edited(self, lines: list[Line], steps: int) -> list[Line]:
        lines = list(lines)
        for _ in range(steps):
            at = self.rng.randrange(len(lines))
            step = self.rng.choice(
                [self.change, self.delete, self.add, self.move, self.copy, self.strip, self.strip_and_change,
                 self.split, self.overwrite]
            )  # fmt: skip
            step(lines, at)
            lines = lines or [Line("", ("x",), "")]
        return lines

    def change(self, lines: list[Line], at: int) -> None:
        words = list(lines[at].words)
        words[self.rng.randrange(len(words))] = "CHANGED"
        lines[at] = replace(lines[at], words=tuple(words))

    def delete(self, lines: list[Line], at: int) -> None:
        del lines[at]

    def add(self, lines: list[Line], at: int) -> None:
        lines.insert(at, Line("", self.text(), ""))

    def move(self, lines: list[Line], at: int) -> None:
        line = lines.pop(at)
        lines.insert(self.rng.randrange(len(lines) + 1), line)

    def copy(self, lines: list[Line], at: int) -> None:
        line = lines[at]
        lines.insert(at + self.rng.choice([0, 1]), Line(line.id, (*line.words[:-1], "COPY"), ""))

    def strip(self, lines: list[Line], at: int) -> None:
        lines[at] = replace(lines[at], id="")

    def strip_and_change(self, lines: list[Line], at: int) -> None:
        lines[at] = replace(lines[at], id="", words=("Z", *lines[at].words[1:]))

    def split(self, lines: list[Line], at: int) -> None:
        line = lines[at]
        half = len(line.words) // 2 + 1
        lines[at] = replace(line, words=line.words[:half])
        lines.insert(at + 1, Line(self.rng.choice([line.id, ""]), line.words[half:] or ("x",), ""))

    def overwrite(self, lines: list[Line], at: int) -> None:
        lines[at] = Line(lines[at].id, self.text(), "")


Guess = list[str]


def ours(base: list[Line], lines: list[Line], joint: str) -> Guess:
    shown = [f"- {joint.join(line.words)}" + (f" ^{line.id}" if line.id else "") for line in lines]
    found = match({line.id: joint.join(line.words) for line in base}, items(*shown))
    return [(found.same | found.revised).get(number, "") for number in range(len(lines))]


def by_id_alone(base: list[Line], lines: list[Line], joint: str) -> Guess:
    known = {line.id for line in base}
    return [line.id if line.id in known else "" for line in lines]


def by_every_pair(base: list[Line], lines: list[Line], joint: str) -> Guess:
    """The rule in its plainest form: all pairs compared, words only, 0.4 with the id and 0.6 without."""
    found: dict[int, str] = {}
    free = {line.id: line.words for line in base}

    def take(number: int, id: str) -> None:
        found[number] = id
        del free[id]

    for number, line in enumerate(lines):
        if free.get(line.id) == line.words:
            take(number, line.id)
    for number, line in enumerate(lines):
        same = next((id for id, words in free.items() if words == line.words), "")
        if number not in found and same:
            take(number, same)
    pairs = []
    for number, line in enumerate(lines):
        for id, words in free.items():
            ratio = difflib.SequenceMatcher(None, line.words, words).ratio()
            if number not in found and ((line.id == id and ratio >= 0.4) or (not line.id and ratio >= 0.6)):
                pairs.append((ratio + (line.id == id), number, id))
    for _, number, id in sorted(pairs, reverse=True):
        if number not in found and id in free:
            take(number, id)
    return [found.get(number, "") for number in range(len(lines))]


@dataclass
class Errors:
    wrong: int = 0
    """Lines taken for another record than they are, or for one when they are new."""
    twice: int = 0
    """Records that two lines were taken for."""
    lost: int = 0
    """Records taken for deleted while their line stands there."""
    kept: int = 0
    """Deleted records taken for alive."""

    def count(self, guess: Guess, lines: list[Line]) -> None:
        seen = {id for id in guess if id}
        alive = {line.truth for line in lines if line.truth}
        self.wrong += sum(id != line.truth for id, line in zip(guess, lines, strict=True))
        self.twice += sum(bool(id) for id in guess) - len(seen)
        self.lost += len(alive - seen)
        self.kept += len(seen - alive)


@pytest.mark.parametrize(("vocabulary", "joint"), [(ENGLISH, " "), (CHINESE, "")], ids=["English", "Chinese"])
@pytest.mark.parametrize("seed", [3, 11, 2026])
def test_editing_sessions(vocabulary: list[str], joint: str, seed: int) -> None:
    session = Session(Random(seed), vocabulary)
    errors = {rule: Errors() for rule in (ours, by_every_pair, by_id_alone)}
    for _ in range(300):
        base = session.records(12)
        lines = session.edited(base, session.rng.choice([1, 2, 4]))
        for rule, so_far in errors.items():
            so_far.count(rule(base, lines, joint), lines)
    good, plain, simple = errors.values()
    assert good.twice == 0
    assert good.lost <= plain.lost and good.wrong <= plain.wrong and good.kept <= plain.kept, (good, plain)
    assert good.wrong < simple.wrong / 4


def test_ten_thousand_unchanged_items_are_quick() -> None:
    base = {f"m-{n:010x}": f"the `port` of service {n} is *never* {n * 7}" for n in range(10_000)}
    found = items(*(f"- {text} ^{id}" for id, text in base.items()))
    start = time.perf_counter()
    assert len(match(base, found).same) == 10_000
    assert time.perf_counter() - start < 1


def test_five_hundred_changed_lines_without_ids_are_found_among_as_many() -> None:
    rng = Random(5)
    base = {f"m-{n:010x}": " ".join([*rng.choices(ENGLISH, k=12), f"w{n}"]) for n in range(500)}
    found = items(*(f"- {text} CHANGED" for text in base.values()))
    start = time.perf_counter()
    matching = match(base, found)
    assert list(matching.revised.values()) == list(base)
    assert time.perf_counter() - start < 10
