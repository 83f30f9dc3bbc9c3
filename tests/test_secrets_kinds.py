"""Every kind of secret goes, wherever and in whatever language it stands; what is close to one stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_memory.governance.redaction import PLACEHOLDER, redact, redact_name, redact_value, secrets_in, untagged

from .canaries import KINDS, NEAR_MISSES, Canary, broken, card, iban, resident

SALT = b"s" * 32
Surrounding = Callable[[str], str]


def sentence(text: str) -> str:
    return f"Please keep this in mind: {text} and then go on."


def chinese(text: str) -> str:
    return f"请注意，这里是 {text} ，之后继续执行。"


def glued(text: str) -> str:
    return f"结果（{text}）已经收到。"


def logged(text: str) -> str:
    return f"2026-11-30T04:05:06.789Z INFO [worker-3] app.main:212 - {text} - took 12 ms\n"


def escaped(text: str) -> str:
    return json.dumps({"output": f"line one\n{text}\nline three"})


def twice_escaped(text: str) -> str:
    return f"cut off here: {json.dumps(json.dumps({'a': f'first{chr(10)}{text}{chr(10)}last'}))[:-2]}"


def coloured(text: str) -> str:
    return f"\x1b[32m{text}\x1b[0m\n"


def alone(text: str) -> str:
    return text


SURROUNDINGS: tuple[Surrounding, ...] = (
    sentence,
    chinese,
    glued,
    logged,
    escaped,
    twice_escaped,
    coloured,
    alone,
)


def as_text(text: str) -> object:
    return text


def as_message(text: str) -> object:
    return {"role": "user", "content": [{"type": "input_text", "text": text}]}


def as_arguments(text: str) -> object:
    return {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": json.dumps({"cmd": text})}


def as_output(text: str) -> object:
    return {"type": "function_call_output", "call_id": "call_1", "output": json.dumps({"stdout": text, "code": 0})}


def as_nested(text: str) -> object:
    inner = json.dumps({"result": json.dumps({"rows": [{"value": text}]}, ensure_ascii=False)})
    return {"output": json.dumps([{"type": "text", "text": inner}])}


def as_key(text: str) -> object:
    return {"metadata": {text: True}}


PLACES = (as_text, as_message, as_arguments, as_output, as_nested, as_key)


def pieces(canary: Canary) -> list[str]:
    """The secret in the forms in which it may be left behind: whole, its lines, and as JSON writes it."""
    lines = [line for line in canary.secret.splitlines() if "-----" not in line]
    return [canary.secret, *lines, json.dumps(canary.secret)[1:-1]]


def left(canary: Canary, text: str) -> list[str]:
    return [piece for piece in pieces(canary) if piece in text]


@pytest.mark.parametrize(("kind", "make"), KINDS, ids=[f"{n}-{kind}" for n, (kind, _) in enumerate(KINDS)])
def test_each_kind_goes_and_is_called_by_its_name(kind: str, make: Callable[[Random], Canary]) -> None:
    for seed in range(12):
        canary = make(Random(seed))
        clean = redact(canary.shown)
        assert not left(canary, clean), canary
        assert f"⟦secret:{kind}⟧" in clean, (canary, clean)
        assert redact(clean) == clean


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(0, 2**32),
    st.sampled_from(SURROUNDINGS),
    st.sampled_from(PLACES),
    st.sampled_from((b"", SALT)),
)
def test_a_secret_goes_wherever_it_stands(
    kind: tuple[str, Callable[[Random], Canary]],
    seed: int,
    around: Surrounding,
    place: Callable[[str], object],
    salt: bytes,
) -> None:
    canary = kind[1](Random(seed))
    value = place(around(canary.shown))
    clean = redact_value(value, salt)
    text = json.dumps(clean, ensure_ascii=False)
    assert not left(canary, text), (canary, text)
    assert PLACEHOLDER.search(text)
    assert redact_value(clean, salt) == clean
    assert redact_value(clean, b"another") == clean


@pytest.mark.parametrize(("name", "make"), NEAR_MISSES, ids=[name for name, _ in NEAR_MISSES])
def test_what_is_close_to_one_stays(name: str, make: Callable[[Random], str]) -> None:
    for seed in range(30):
        text = make(Random(seed))
        for around in (alone, sentence, logged, chinese):
            whole = around(text)
            assert redact(whole) == whole, (name, whole)
            assert redact_value({"output": json.dumps({"value": whole})})["output"] == json.dumps({"value": whole})


@pytest.mark.parametrize("unseen", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\ufe0f"])
def test_what_cannot_be_seen_hides_nothing(unseen: str) -> None:
    for kind, make in KINDS:
        canary = make(Random(7))
        at = canary.shown.index(canary.secret) + len(canary.secret) // 2
        hidden = canary.shown[:at] + unseen + canary.shown[at:]
        clean = redact(f"看 {hidden} here")
        assert f"⟦secret:{kind}⟧" in clean, (kind, hidden)
        assert canary.secret[: len(canary.secret) // 2] not in clean or kind == "private-key"
        assert canary.secret[len(canary.secret) // 2 :] not in clean
        if "password" in canary.shown:
            assert redact(canary.shown.replace("password", f"pass{unseen}word")) != canary.shown


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isalnum() and c.isascii() else c for c in text)


def test_wide_letters_and_digits_hide_nothing() -> None:
    for kind, make in KINDS:
        canary = make(Random(3))
        shown = canary.shown.replace(canary.secret, wide(canary.secret))
        clean = redact(shown)
        assert f"⟦secret:{kind}⟧" in clean, (kind, shown)
        assert wide(canary.secret) not in clean


def test_numbers_are_judged_as_numbers_of_json_too() -> None:
    rng = Random(5)
    number = int(card(rng))
    assert redact_value({"card_number": number, "n": 4111}) == {"card_number": "⟦secret:bank-card⟧", "n": 4111}
    kept = {"order_id": number, "ts": 1_764_480_000_000, "n": int(broken(card(rng)))}
    assert redact_value(kept) == kept


def test_a_tag_tells_the_same_secret_again_and_nothing_else() -> None:
    rng = Random(1)
    one, other = KINDS[7][1](rng).secret, KINDS[7][1](rng).secret
    text = redact(f"{one} then {other} then {one}", SALT)
    first, second, third = (match.group() for match in PLACEHOLDER.finditer(text))
    assert first == third != second
    assert redact(one, b"elsewhere") != first
    assert untagged(text) == redact(f"{one} then {other} then {one}")
    assert redact(text, SALT) == text == redact(text)
    assert redact(f"{one[:9]}\u200b{one[9:]}", SALT) == first


def test_a_name_that_holds_a_secret_stays_one_name() -> None:
    rng = Random(2)
    names = [KINDS[7][1](rng).secret for _ in range(50)]
    clean = [redact_name(name, SALT) for name in names]
    assert len(set(clean)) == 50
    assert clean == [redact_name(name, SALT) for name in names]
    assert not any(name in made for name, made in zip(names, clean, strict=True))
    assert redact_name("release-42", SALT) == "release-42"


def test_a_private_key_around_a_placeholder_goes_all_the_same() -> None:
    key = KINDS[[kind for kind, _ in KINDS].index("private-key")][1](Random(4)).secret
    middle = len(key) // 2
    clean = redact(key[:middle] + "\n⟦secret:password⟧\n" + key[middle:])
    near = key[middle - 64 : middle + 64]
    assert not [line for line in key.splitlines() if len(line) == 64 and line not in near and line in clean]
    assert redact(clean) == clean


def test_where_secrets_stand_is_told_in_order() -> None:
    rng = Random(9)
    made = [resident(rng), card(rng), iban(rng)]
    text = f"一 {made[0]} 二 {made[1]} three {made[2]}."
    assert [text[start:end] for start, end, _ in secrets_in(text)] == made
    assert [kind for *_, kind in secrets_in(text)] == ["national-id", "bank-card", "bank-account"]


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u202f", "\u3000"])
def test_no_blank_hides_a_value(blank: str) -> None:
    for before in (f"password:{blank}", f"密码：{blank}", f"my password{blank}is{blank}"):
        assert "Xk92mzQ1p" not in redact(f"{before}Xk92mzQ1p"), before


@pytest.mark.parametrize(
    "after", ["\n\npassword: Xk92mzQ1p", "\nDB_PASSWORD=Xk92mzQ1p", '"}, {"password": "Xk92mzQ1p"}']
)
def test_what_stands_after_the_data_of_an_address_is_looked_at(after: str) -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="
    assert redact_value(picture) == picture
    assert "Xk92mzQ1p" not in redact_value(picture + after)
