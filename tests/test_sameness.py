"""Whether two texts say the same: a table made by hand, and rules that hold for sentences of several trades."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sandbox_memory.records import Candidate, Evidence, Kind, Record, Trust
from sandbox_memory.sameness import Said, Shelf, Telling, better, overrules, repeats, said, same

from .sameness_table import OTHER_EN, OTHER_ZH, OVERRULED, SAME_EN, SAME_ZH, STANDING


def fact(text: str) -> Said:
    return Said(Kind.FACT, text, "")


def both(one: str, two: str, telling: Telling | None = None) -> bool:
    """`same`, which must not depend on which text comes first, nor on whether a shelf is asked."""
    forth, back = same(fact(one), fact(two), telling), same(fact(two), fact(one), telling)
    shelf: Shelf[str] = Shelf(telling)
    shelf.add(fact(two), two)
    assert forth == back == (shelf.find(fact(one)) == two), (one, two)
    return forth


@pytest.mark.parametrize(("one", "two"), [*SAME_EN, *SAME_ZH])
def test_the_same_in_other_words_is_the_same(one: str, two: str) -> None:
    assert both(one, two)


@pytest.mark.parametrize(("one", "two"), [*OTHER_EN, *OTHER_ZH])
def test_another_number_name_denial_limit_order_or_word_is_not_the_same(one: str, two: str) -> None:
    assert not both(one, two)


def test_the_table_is_large_and_in_two_languages() -> None:
    assert len(SAME_EN) + len(OTHER_EN) >= 60
    assert len(SAME_ZH) + len(OTHER_ZH) >= 50


# ---------------------------------------------------------------- sentences of several trades

TRADES = (
    # what it is about, what is done, where or to what, under which condition
    ("the billing service|the search index|the login page|the mobile app", "restart|deploy|test|archive",
     "staging|production|the cluster|the laptop", "a release|the backup|a migration|the freeze"),
    ("pending orders|damaged parcels|wholesale customers|returned shoes", "refund|repack|weigh|inspect",
     "the warehouse|the counter|the branch|the depot", "shipping|the sale|payment|the audit"),
    ("quarterly reports|sales charts|survey answers|pivot tables", "review|translate|round|print",
     "the dashboard|the wiki|the archive|the intranet", "a meeting|the deadline|publication|the forecast"),
    ("blood samples|x-ray images|patient letters|vaccine boxes", "label|scan|sterilize|freeze",
     "the lab|the ward|the pharmacy|the clinic", "surgery|the visit|discharge|the shift"),
)  # fmt: skip
TRADES_ZH = (
    (
        "登录页面|搜索索引|计费服务|手机应用",
        "重启|回滚|压测|归档",
        "预发环境|主机房|集群|笔记本",
        "周会|巡检|迁移|封版",
    ),
    ("破损包裹|退回的鞋子|大宗货物|冷冻食品", "称重|重新装箱|贴标|抽检", "仓库|门店|网点|码头", "发货|盘点|促销|验收"),
    ("季度报表|问卷答案|销售曲线|财务凭证", "复核|翻译|取整|打印", "看板|知识库|内网|共享盘", "评审|截止日|发布|预测"),
)


def parts(trade: tuple[str, ...], chance: random.Random) -> list[str]:
    return [chance.choice(slot.split("|")) for slot in trade]


def sentence(what: str, verb: str, where: str, when: str, number: int) -> str:
    return f"you must {verb} {what} on {where} at least {number} times before {when}"


REWORDED = (
    lambda text: f"Please note that {text}.",
    lambda text: text.replace("you must ", "make sure to "),
    lambda text: text.replace("you must ", "always "),
    lambda text: text.replace("you must ", "We have to "),
    lambda text: text.replace("at least", "no less than"),
    lambda text: text.replace(" before ", " prior to "),
    lambda text: text.upper()[:1] + text[1:] + " ",
    lambda text: text.replace("the ", "our "),
    lambda text: re.sub(r"^(.*) (before .*)$", r"\2, \1", text),
)
TURNED = (
    lambda text: text.replace("must", "must not"),
    lambda text: text.replace("must ", "need not "),
    lambda text: text.replace("at least", "at most"),
    lambda text: text.replace("before", "after"),
    lambda text: text.replace("must ", "may only "),
    lambda text: text + " unless it rains",
    lambda text: text.replace("must ", "might "),
    lambda text: text.replace(" on ", " from Boston to "),
)


@given(st.integers(0, 10**6), st.sampled_from(TRADES), st.integers(2, 99), st.sampled_from(REWORDED))
def test_framing_and_moving_a_clause_say_nothing_new(seed: int, trade: tuple[str, ...], n: int, change) -> None:  # type: ignore[no-untyped-def]
    text = sentence(*parts(trade, random.Random(seed)), n)
    assert both(text, change(text))


@given(st.integers(0, 10**6), st.sampled_from(TRADES), st.integers(2, 99), st.sampled_from(TURNED))
def test_what_turns_a_sentence_makes_it_another(seed: int, trade: tuple[str, ...], n: int, change) -> None:  # type: ignore[no-untyped-def]
    text = sentence(*parts(trade, random.Random(seed)), n)
    assert not both(text, change(text))


@given(st.integers(0, 10**6), st.sampled_from(TRADES), st.integers(2, 99), st.integers(2, 99), st.integers(0, 4))
def test_one_other_word_or_number_makes_it_another(
    seed: int, trade: tuple[str, ...], n: int, m: int, slot: int
) -> None:
    chance = random.Random(seed)
    words = parts(trade, chance)
    if slot == 4:
        assume(n != m)
        assert not both(sentence(*words, n), sentence(*words, m))
        return
    other = [*words]
    other[slot] = chance.choice([word for word in trade[slot].split("|") if word != words[slot]])
    assert not both(sentence(*words, n), sentence(*other, n))


@given(st.integers(0, 10**6), st.sampled_from(TRADES_ZH), st.integers(2, 99), st.integers(0, 10))
def test_the_same_rules_hold_in_chinese(seed: int, trade: tuple[str, ...], n: int, change: int) -> None:
    chance = random.Random(seed)
    what, verb, where, when = parts(trade, chance)
    text = f"{when}之前必须在{where}{verb}{what}至少{n}次"
    alike = (f"{when}前要在{where}{verb}{what}至少{n}次。", f"请记得{when}以前在{where}{verb}{what}不少于 {n} 次")
    others = (
        text.replace("必须", "不要"),
        text.replace("必须", "不必"),
        text.replace("之前", "之后"),
        text.replace("至少", "至多"),
        text.replace(f"{n}次", f"{n + 1}次"),
        *(
            text.replace(word, chance.choice([other for other in slot.split("|") if other != word]))
            for word, slot in zip((what, verb, where, when), trade, strict=True)
        ),
    )
    assert both(text, (*alike, *others)[change]) == (change < len(alike))


@given(st.permutations(["staging", "production", "the archive"]))
def test_who_does_what_to_whom_matters(places: list[str]) -> None:
    one, two, three = places
    text = f"copy the dump from {one} to {two} and then to {three}"
    assert not both(text, f"copy the dump from {two} to {one} and then to {three}")
    assert not both(text, f"copy the dump from {one} to {three} and then to {two}")


@given(st.integers(0, 10**9))
def test_names_do_not_matter_as_names(seed: int) -> None:
    """Another name for each name, the same in both texts, changes nothing, whichever letters it has."""
    chance = random.Random(seed)
    pairs = [*SAME_EN, *OTHER_EN, *SAME_ZH, *OTHER_ZH]
    one, two = pairs[seed % len(pairs)]
    names = re.findall(
        r"\b(?:Alice|Bob|Redis|Postgres|pnpm|npm|Canada|Mexico|conf/\w+\.yaml|src/\w\.py|8443|9443)", one + two
    )
    new = {name: _another(name, chance) for name in dict.fromkeys(names)}

    def renamed(text: str) -> str:
        return re.sub("|".join(map(re.escape, new)) or r"(?!)", lambda match: new[match.group()], text)

    assert both(renamed(one), renamed(two)) == both(one, two)


def _another(name: str, chance: random.Random) -> str:
    size = chance.randint(5, 9)
    word = "".join(chance.choice("bdfgklmprtvz") + chance.choice("aeiou") for _ in range(size)) + "q"
    if name.isdigit():
        return str(chance.randint(1000, 9999999))
    if "/" in name:
        return f"{word[:4]}/{word[4:]}.{name.rpartition('.')[2]}"
    return word.capitalize() if name[0].isupper() else word


# ---------------------------------------------------------------- the memory at hand


def memory(*texts: str) -> Telling:
    return Telling((text, f"r{number}") for number, text in enumerate(texts))


def test_what_all_of_a_memory_speaks_of_tells_nothing_apart() -> None:
    lines = ("Solid oak desks cannot be engraved", "Solid oak shelves cannot be engraved")
    assert not both(*lines)
    furniture = [f"the {n}th customer asked for desks and also shelves" for n in range(4)]
    assert not both(*lines, memory(*furniture)), "four conversations are too few to tell"
    assert both(*lines, memory(*(f"{n} desks were sold; shelves were not mentioned by {n}" for n in range(9))))
    contrasted = [f"{n} desks were sold, and {n} shelves" for n in range(8)] + ["do you want desks or shelves"]
    assert not both(*lines, memory(*contrasted)), "words that somebody sets beside each other contrast"


def test_what_is_everywhere_still_tells_before_another_noun_and_as_what_is_done() -> None:
    trade = memory(*(f"orders {n}: items, then return, then exchange {n}" for n in range(9)))
    assert not both("Delivered gift boxes can be returned", "Delivered gift boxes can be exchanged", trade)
    assert not both("the order number of a gift box is printed", "the item number of a gift box is printed", trade)


# ---------------------------------------------------------------- kinds, owners, results


def test_what_people_said_of_themselves_stays_theirs() -> None:
    def wish(text: str, rollout: str) -> Candidate:
        return Candidate(Kind.PREFERENCE, text, (Evidence(rollout, "s", 0, 0, 5, text[:5], Trust.USER),))

    one, two = wish("I prefer a window seat", "r1"), wish("I prefer a window seat", "r2")
    assert same(said(one), said(two))
    assert not same(said(one, "many"), said(two, "many"))
    assert same(said(one, "many"), said(wish("I'd prefer a window seat", "r1"), "many"))
    named = wish("an_na77: I prefer a window seat", "r1"), wish("an_na77: please, a window seat", "r2")
    assert same(*(said(each, "many") for each in named))
    assert said(named[0], "many").key is None
    line = Record("m-0123456789", Kind.FACT, "an_na77: the seat is 7A", "General", "the seat")
    assert said(line, "many").key == (Kind.FACT, "an_na77", "the seat")


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("`make test` showed 12 passed in 0.31s", "`make test` showed 13 passed in 0.29s", True),
        ("`make test` showed 12 passed", "`make lint` showed 12 passed", False),
        ("`make test` showed 12 passed", "`make test` needs the redis container", False),
        ("`app deploy --set tag=2.14.0 -n shop` showed ok", "`app deploy --set tag=2.15.1 -n shop` showed ok", True),
        ("`app deploy --set tag=2.14.0 -n shop` showed ok", "`app deploy --set tag=2.15.1 -n blog` showed ok", False),
        ("`python3.11 run.py` showed ok", "`python3.12 run.py` showed ok", False),
    ],
)
def test_a_command_run_again_is_one_procedure(one: str, two: str, expected: bool) -> None:
    assert same(Said(Kind.PROCEDURE, one, ""), Said(Kind.PROCEDURE, two, "")) is expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ('`book` failed: "not enough seats on HAT229"', '`book` failed: "not enough seats on HAT290"', True),
        ('`curl a` failed: "connection to host refused"', '`psql b` failed: "connection to host refused"', False),
        ('`curl a` failed: "http 404"', '`curl a` failed: "http 500"', False),
        ('`get` failed: "request ended with status 404"', '`get` failed: "request ended with status 500"', False),
        ('`npm test` failed: "exit 1"', '`npm build` failed: "exit 1"', False),
        ('`sync` failed: "timed out after 30 s"', '`sync` failed: "timed out after 60 s"', True),
        ('`sync` failed: "timed out after 30 s"', '`sync` failed: "the disk is full"', False),
        ('`pub --id 3` failed: "看板 3 不存在"', '`pub --id 7` failed: "看板 7 不存在"', True),
        ('`pub --id 3` failed: "看板 3 不存在"', '`pub --id 3` failed: "看板 3 已发布"', False),
        ('`a` failed: `no "x" in the list here`; worked after `y`', '`a` failed: `no "z" in the list here`', False),
        ('`a` failed: `no "x" in the list here`; worked after `y`', '`a` failed: `no "x" in the list here`', True),
    ],
)
def test_a_failure_is_known_by_its_error_and_its_program(one: str, two: str, expected: bool) -> None:
    assert same(Said(Kind.LESSON, one, ""), Said(Kind.LESSON, two, "")) is expected


def test_the_wording_to_keep_needs_no_context_and_says_most() -> None:
    rule = fact("basic tickets cannot be modified")
    for vague in ("this ticket is basic, which cannot be modified", "your basic ticket cannot be modified"):
        assert better(fact(vague), rule) is rule
        assert better(rule, fact(vague)) is rule
    assert better(fact("该订单不能取消"), fact("已付款的订单不能取消")).text == "已付款的订单不能取消"
    first, second = fact("tabs, never spaces"), fact("never spaces, tabs")
    assert better(first, second) is first
    failed, cured = (
        Said(Kind.LESSON, f'`x` failed: "no such table here"{end}', "") for end in ("", "; then `y` worked")
    )
    assert better(failed, cured) is cured
    assert better(cured, failed) is cured


@pytest.mark.parametrize(("new", "old"), OVERRULED)
def test_what_a_newer_statement_takes_back_is_overruled(new: str, old: str) -> None:
    assert overrules(fact(new), fact(old))
    assert not overrules(fact(old), fact(new))


@pytest.mark.parametrize(("new", "old"), STANDING)
def test_a_denial_overrules_nothing_else(new: str, old: str) -> None:
    assert not overrules(fact(new), fact(old))


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("keep e-mails short, like I said", "keep all e-mails short: at most 120 words", True),
        ("老规矩，图表用白底", "以后的图表都用白底，柱子用蓝色", True),
        ("keep e-mails short", "keep all e-mails short: at most 120 words", False),
        ("keep e-mails formal, like I said", "keep all e-mails short: at most 120 words", False),
        ("don't write e-mails, like I said", "write short e-mails", False),
    ],
)
def test_what_refers_back_repeats_a_line_that_has_all_its_words(new: str, old: str, expected: bool) -> None:
    assert repeats(fact(new), Said(Kind.PREFERENCE, old, "")) is expected


def test_a_fact_may_be_a_preference_and_nothing_else() -> None:
    text = "reports are written in German before Friday"
    other = "Please write reports in German before Friday"
    assert same(fact(text), Said(Kind.PREFERENCE, other, ""))
    assert not same(fact(text), Said(Kind.TASK, other, ""))


@example("\u00c0", ":\u00c0")
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_the_same_as_itself_and_compares_without_failing(one: str, two: str) -> None:
    assert both(one, one)
    both(one, two)
