from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.records import Rollout
from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.stages import extraction
from sandbox_memory.tokens import estimate
from sandbox_memory.transcript import TOKENS, fitted, locate, transcribe

from .rollouts_kit import DEFAULT, rollout, segment, talk
from .tokenizing import count

CORRECTION = "no, the port is 8443, not 8080"


def noisy(*, runs: int = 2, outputs: int = 60, line: str = "line {n}\n", lines: int = 2_000) -> Rollout:
    """Runs of a first request or a correction, then outputs, and an end."""
    noise = [("output", line.format(n=n) * lines) for n in range(outputs)]
    return rollout(
        segment(("user", "first request"), *noise, id="a"),
        *(
            segment(("user", f"{CORRECTION} ({n})"), *noise, ("assistant", "the very end"), id=f"b{n}")
            for n in range(1, runs)
        ),
    )


# ---- over-long rollouts


def test_an_overlong_rollout_keeps_both_ends_and_every_message_of_the_person() -> None:
    said = noisy()
    shown = transcribe(said, tokens=20_000)
    assert count(shown.text) <= 20_000
    for kept in ("first request", CORRECTION, "the very end", "line 0\n", "line 59\n"):
        assert kept in shown.text
    assert "of 123 items are missing (about 1," in shown.left_out
    assert "the middle of" in shown.left_out and "long items is missing (about" in shown.left_out
    request = extraction.request(said, previous="", layout=DEFAULT, extra_prompt=None, tokens=20_000)
    assert "The transcript was too long: the middle of" in request.input
    assert count(request.instructions) + count(request.input) <= 20_000


def test_a_marker_tells_what_is_missing_and_how_much() -> None:
    said = noisy(runs=3)
    text = transcribe(said, tokens=20_000).text
    (marker, *_) = [line for line in text.splitlines() if "items are missing here" in line]
    assert marker.startswith("[… ") and " outputs" in marker and marker.endswith(" tokens …]")
    assert any("runs s" in line or " of the user" in line or "outputs" in line for line in text.splitlines())
    within = next(line for line in text.splitlines() if "characters, about" in line)
    assert within.strip().startswith("[… ") and within.endswith("tokens, are missing here …]")
    assert sum(line.startswith("[s") for line in text.splitlines()) + _told_missing(text) == 185


def _told_missing(text: str) -> int:
    heads = [
        line.removeprefix("[… ") for line in text.splitlines() if line.startswith("[… ") and " missing here" in line
    ]
    return sum(int(head.split(" ")[0].replace(",", "")) for head in heads if " item" in head)


def test_one_huge_message_of_the_person_keeps_its_head_and_tail_and_the_others_stay_whole() -> None:
    huge = "BEGIN " + "see the following report about the deployment\n" * 30_000 + " END"
    others = [("user", f"short wish {n}") for n in range(40)]
    shown = transcribe(talk(*others[:20], ("user", huge), *others[20:], ("output", "x y\n" * 50_000)), tokens=20_000)
    assert count(shown.text) <= 20_000
    for _, text in others:
        assert f"  {text}\n" in shown.text
    assert "  BEGIN see" in shown.text and " END" in shown.text


def test_a_person_who_says_more_than_fits_is_clipped_evenly() -> None:
    said = talk(("user", "short"), *[("user", f"start {n} " + "很长的话" * 20_000 + f" end {n}") for n in range(5)])
    shown = transcribe(said, tokens=10_000)
    assert count(shown.text) <= 10_000
    assert "  short\n" in shown.text
    for n in range(5):
        assert f"start {n}" in shown.text and f"end {n}" in shown.text


def test_of_messages_that_together_are_too_many_the_newest_and_the_oldest_stay() -> None:
    said = talk(*[("user", f"wish {n}: " + "please do this and then that " * 60) for n in range(400)])
    shown = transcribe(said, tokens=20_000)
    assert 10_000 < count(shown.text) <= 20_000
    assert "wish 0:" in shown.text and "wish 399:" in shown.text and "wish 200:" not in shown.text
    assert "of the user; about" in shown.text and "of 400 items are missing" in shown.left_out


def test_the_budget_is_used() -> None:
    shown = transcribe(noisy(outputs=400, line="2026-09-01 {n} INFO handled a request\n", lines=100))
    assert TOKENS * 0.75 < count(shown.text) <= TOKENS


def test_a_single_giant_output_beside_small_ones_takes_what_they_leave() -> None:
    said = talk(
        ("user", "look"), *[("output", f"small {n}") for n in range(30)], ("output", "word and word\n" * 100_000)
    )
    shown = transcribe(said, tokens=30_000)
    assert 20_000 < count(shown.text) <= 30_000
    assert all(f"small {n}\n" in shown.text for n in range(30)) and "a long item is missing" in shown.left_out


def test_many_short_runs_lose_their_headings_with_their_items() -> None:
    said = rollout(*(segment(("output", f"row {n} of the table"), id=f"s{n}") for n in range(9_000)))
    shown = transcribe(said, tokens=10_000)
    assert count(shown.text) <= 10_000
    (marker,) = [line for line in shown.text.splitlines() if "missing here" in line]
    assert ", runs s" in marker


@given(st.lists(st.tuples(st.sampled_from(["user", "output", "assistant"]), st.integers(0, 30_000)), max_size=12))
def test_the_budget_holds_whatever_the_sizes(sizes: list[tuple[str, int]]) -> None:
    said = talk(*[(role, f"{n} " + "x y\n" * (size // 4)) for n, (role, size) in enumerate(sizes)])
    shown = transcribe(said, tokens=6_000)  # room for the least that is kept of twelve messages
    assert estimate(shown.text) <= 6_000 * 1.02
    for n, (role, _) in enumerate(sizes):
        if role == "user":
            assert f"[s1.{n} user]\n  {n}" in shown.text
    items = sum(line.startswith("[s1.") for line in shown.text.splitlines())
    assert items + _told_missing(shown.text) == len(sizes)


def test_every_real_rollout_is_shown_whole(shared: Path) -> None:
    files = sorted((shared / "data" / "rollouts").glob("*/sessions/*.jsonl"))
    assert len(files) == 46
    for path in files:
        said = parse_rollout(path.read_bytes(), rollout_id=path.stem, path=f"sessions/{path.name}")
        shown = transcribe(said)
        assert shown.left_out == ""
        assert sum(line.startswith("[s") for line in shown.text.splitlines()) == sum(
            len(s.items) for s in said.segments
        )


# ---- data that is nothing to read


def dump(data: bytes) -> str:
    rows = [data[n : n + 16] for n in range(0, len(data), 16)]
    return "\n".join(
        f"{16 * n:08x}: {' '.join(row[at : at + 2].hex() for at in range(0, 16, 2))}  {'.' * 16}"
        for n, row in enumerate(rows)
    )


BYTES = random.Random(2).randbytes(8_000)


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        (base64.b64encode(BYTES).decode(), "characters of encoded data]"),
        (base64.encodebytes(BYTES).decode(), "characters of encoded data]"),
        (BYTES.hex(), "[16,000 characters of hex]"),
        (f"see data:image/png;base64,{base64.b64encode(BYTES).decode()} there", "[image/png, 8.0 kB]"),
        ("iVBORw0KGgoAAAANSUhEUgAA" * 200, "[PNG image, 3.6 kB]"),
        (dump(BYTES), "[… 500 lines of a hex dump are missing here …]"),
        ("var a=0;" + "function(e,t){return e+t};" * 2_000, "characters of this one line are missing here …]"),
    ],
    ids=["base64", "wrapped", "hex", "data URL", "PNG", "dump", "minified"],
)
def test_data_is_a_marker_that_tells_its_kind_and_size(text: str, marker: str) -> None:
    shown = transcribe(talk(("user", "look"), ("output", f"before\n{text}\nafter")))
    assert marker in shown.text and "before" in shown.text and "after" in shown.text
    assert count(shown.text) < 2_000 and shown.left_out == ""


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"20260{n:03} 1000 2000 3000 4000 5000 6000 7000 8000 9000 total" for n in range(100)),
        "-" * 4_000,
        "word " * 3_000,
        "这是一个很长的句子。" * 300,
        "\n".join(f"{n:04x} is a short row" for n in range(500)),
    ],
    ids=["numbers", "rule", "prose", "Chinese", "rows"],
)
def test_what_only_looks_like_data_stays(text: str) -> None:
    assert text.replace("\n", "\n  ") in transcribe(talk(("user", "look"), ("output", text))).text


def test_what_a_person_wrote_on_one_line_is_no_data() -> None:
    text = "I want the report to say this. " * 1_000
    assert text in transcribe(talk(("user", text))).text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000 + " ",
        "ab" * 511 + "\n",
        "00112233 0011 2233 4455 6677 8899 aabb ccdd x\n" * 11 + "end\n",
        "data:",
        "00000000 00 ",
    ],
)
def test_data_that_almost_is_some_takes_no_longer(text: str) -> None:
    start = time.process_time()
    transcribe(talk(("output", text * (2_000_000 // len(text)))))
    assert time.process_time() - start < 20, "the time of a search that starts anew at every character"


# ---- pieces of a text


@given(st.text(min_size=200, max_size=3_000), st.integers(60, 400))
def test_fitted_keeps_both_ends(text: str, tokens: int) -> None:
    shown = fitted(text, tokens)
    if shown != text:
        head, _, tail = shown.partition("\n[… ")
        assert text.startswith(head) and text.endswith(tail.partition("…]\n")[2])
        assert estimate(shown) <= max(tokens, 120)


# ---- quotes


def verbatim(said: Rollout, quote: str, reference: str = "") -> str | None:
    found = locate(quote, reference, said)
    if found is None:
        return None
    assert found.item.text[found.start : found.end] == found.text
    return found.text


def test_a_quote_is_found_as_it_stands_there() -> None:
    said = talk(
        ("user", "“No”,  the\n\tport — is\u00a08443"),
        ("output", "No, the port IS 8443"),
        ("output", "İstanbul's  port"),
    )
    assert verbatim(said, '"No", the port - is 8443') == "“No”,  the\n\tport — is\u00a08443"
    assert verbatim(said, "no, the port is 8443") == "No, the port IS 8443"
    assert verbatim(said, "İSTANBUL’S port") == "İstanbul's  port"
    assert verbatim(said, "bul's port", "s1.2") == "bul's  port"
    assert verbatim(said, "the port is 8443, not 8080") is None
    assert verbatim(said, "8443 No") is None, "a quote does not span two items"
    assert verbatim(said, "—") is None


@given(
    st.lists(st.text("aB \n\t’'—-9", min_size=1, max_size=30), min_size=1, max_size=5),
    st.data(),
)
def test_what_stands_in_an_item_is_found(texts: list[str], data: st.DataObject) -> None:
    said = talk(*[("output", text) for text in texts])
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))].strip()
    for written in (quote, " ".join(quote.split()), quote.upper(), quote.replace("’", "'")):
        found = verbatim(said, written)
        assert (found is None) == (not any(char.isalnum() for char in written))


def test_the_named_item_comes_first_and_memory_never() -> None:
    said = talk(("memory", "the port is 8443"), ("output", "the port is 8443"), ("user", "the port is 8443"))
    assert [locate("port is 8443", ref, said).item.index for ref in ("", "s1.2", "s1.0", "s7.1")] == [1, 2, 1, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "quote",
    [
        lambda n: f"this was never said {n}",
        lambda n: "aaaa " * 60 + str(n),
        lambda n: f"request {n}  handled",
        lambda n: "INFO handled request " * 40 + str(n),
    ],
    ids=["plain", "repeating", "blanks", "nearly"],
)
@pytest.mark.parametrize("outputs", [13, pytest.param(49, marks=pytest.mark.proof)], ids=["3 MB", "13 MB"])
def test_three_hundred_missing_quotes_in_megabytes_take_moments(quote: Callable[[int], str], outputs: int) -> None:
    noise = [("output", "2026-09-01  INFO handled request\n" * 8_000) for _ in range(outputs)]
    said = talk(*noise, ("output", "aaaa " * 50_000), ("user", CORRECTION))
    start = time.process_time()
    for n in range(300):
        assert locate(quote(n), "s1.7", said) is None
    assert locate(CORRECTION.upper(), "", said) is not None
    taken = time.process_time() - start
    print(f"300 missing quotes: {taken:.1f} s")
    assert taken < 50, "the time of searches that are not linear"
