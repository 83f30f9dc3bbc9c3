from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.governance.grounding import ungrounded

TRUE = [
    ("I don't want to fly before 11 AM EST", "Neither works, as I don't want to fly before 11 AM EST. Others?"),
    ("the port is 8443, not 8080", "no, the port is 8443, not 8080"),
    ("test with `pytest -q tests/unit`, never with tox", "So test with `pytest -q tests/unit`, never with tox!"),
    ("We deploy app_server to eu-west-1 only after 18:30", "So: We deploy app_server to eu-west-1 only after 18:30."),
    ("`make build` does not work without BUILD_ID=7", "sadly `make build` does not work without BUILD_ID=7, see it"),
    ("it is in src/app/settings.py, not in conf.d/main.toml", "it is in src/app/settings.py, not in conf.d/main.toml"),
    ("use getUserName instead of get_user_name in v2.4.1", "use getUserName instead of get_user_name in v2.4.1"),
    ("my budget is $1,000 and I won't pay more", "my budget is $1,000 and I won't pay more"),
    ("mail ops@example.com, not https://example.com/inbox", "mail ops@example.com, not https://example.com/inbox"),
    ("端口是 8443，不是 8080", "不对，端口是 8443，不是 8080"),
    ("以后不要用制表符，用四个空格", "请记住，以后不要用制表符，用四个空格"),
    ("数据库 db_main 没有备份，别删除 table_7", "数据库 db_main 没有备份，别删除 table_7"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "quote"), TRUE)
def test_what_is_quoted_is_grounded(text: str, quote: str) -> None:
    assert ungrounded(text, [quote]) is None


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("does not want to fly before 11am EST", ["I don't want to fly before 11 AM EST."]),
        ("avoid flights before 11 AM", ["I don't want to fly before 11 AM EST."]),
        ("keep it under 1000 dollars", ["please keep it under 1,000 dollars"]),
        ("use two spaces in src/a.py", ["use 2 spaces in src/a.py please"]),
        ("`python app.py` showed 344 at first, 345 in the end", ["python app.py", "344", "345"]),
        ("the user doesn’t want tabs", ["I don't want tabs"]),
        ('when a test fails, they asked "show me the diff" -> the diff first', ["a test fails", "Show me the  diff"]),
        ("find_file \"fields.py\" lists them", ['find_file \\"fields.py\\"', "fields.py"]),
        ("feature 无论如何都要测试", ["这个 feature 无论如何都要测试"]),
    ],
)  # fmt: skip
def test_other_spellings_of_the_same_are_grounded(text: str, quotes: list[str]) -> None:
    assert ungrounded(text, quotes) is None


@pytest.mark.parametrize(
    ("text", "quotes", "why"),
    [
        ("prefers dark mode", [], "no quote"),
        ("prefers dark mode", [" "], "no quote"),
        ("prefers dark mode in the editor", ["ok"], "something else"),
        ("the port is 8444", ["the port is 8443"], "8444"),
        ("the port is 8080, not 8443", ["the port is 8443, not 8080"], "only deny"),
        ("the port is 8080", ["the port is 8443, not 8080"], "only deny"),
        ("use port 8080", ["use port 8443 instead of port 8080"], "only deny"),
        ("the port is not 8443", ["the port is 8443, not 8080"], "denies"),
        ("I want to fly before 11 AM", ["I don't want to fly before 11 AM"], "drops"),
        ("wants three replicas", ["wants two replicas"], "'3'"),
        ("Mia and Omar prefer aisle seats", ["I prefer aisle seats"], "Omar"),
        ("edit src/b.py", ["edit src/a.py"], "src/b.py"),
        ("edit src/a.py", ["edit src/a.pyc"], "src/a.py"),
        ('they said "never again"', ["they said never mind, not again"], "never again"),
        ("`python 344` showed app.py", ["python app.py", "344"], "python 344"),
        ("要用制表符，用四个空格", ["以后不要用制表符，用四个空格"], "drops"),
        ("端口不是 8443", ["端口是 8443，不是 8080"], "denies"),
    ],
)
def test_what_no_quote_says_is_refused_with_its_reason(text: str, quotes: list[str], why: str) -> None:
    assert why in (ungrounded(text, quotes) or "")


NEGATION = re.compile(r"\b(?:not|never|without)\b ?|n't|[不没别]")
IDENTIFIER = re.compile(r"[\w./@:-]*[\w]+[_./@-][\w./-]*\w|\b[a-z]+[A-Z]\w*|\d+")


def mutations(text: str, chance: random.Random) -> list[str]:
    """Ways to lie with a true sentence: drop a negation, change a digit, swap two identifiers, invent a path."""
    made = []
    for match in NEGATION.finditer(text):
        made.append(text[: match.start()] + text[match.end() :])
    for match in re.finditer(r"\d", text):
        other = chance.choice([digit for digit in "0123456789" if digit != match.group()])
        made.append(text[: match.start()] + other + text[match.end() :])
    hard = list(IDENTIFIER.finditer(text))
    for one in hard:
        for two in hard:
            if one.end() <= two.start() and one.group() != two.group():
                made.append(
                    text[: one.start()] + two.group() + text[one.end() : two.start()] + one.group() + text[two.end() :]
                )
        if "/" in one.group():
            made.append(text.replace(one.group(), one.group() + chance.choice(["_old", "/x", "2"])))
    made.append(text + " in lib/" + "".join(chance.choices("abcxyz", k=6)) + ".py")
    return [lie for lie in made if lie != text]


def test_lies_are_refused() -> None:
    chance = random.Random(7)
    lies = [(lie, quote) for text, quote in TRUE for lie in mutations(text, chance)]
    lies = chance.sample(lies * 3, 200) if len(lies) < 200 else chance.sample(lies, 200)
    believed = [lie for lie, quote in lies if ungrounded(lie, [quote]) is None]
    assert len(believed) <= 2, believed


@given(st.sampled_from(TRUE), st.integers(0, 10_000))
def test_no_lie_is_believed_because_of_another_quote(true: tuple[str, str], seed: int) -> None:
    text, quote = true
    chance = random.Random(seed)
    lie = chance.choice(mutations(text, chance))
    assert ungrounded(text, ["it was fine", quote]) is None
    assert ungrounded(lie, ["it was fine", quote]) is not None


@given(st.text(max_size=200))
def test_a_text_that_is_its_own_quote_is_grounded(text: str) -> None:
    if text.strip():
        assert ungrounded(text, [text]) is None


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_gets_an_answer(text: str, quotes: list[str]) -> None:
    why = ungrounded(text, quotes)
    assert why is None or why
