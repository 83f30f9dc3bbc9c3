"""What a rollout holds already: nothing is recorded twice of a run, and nothing that is new is left out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.rollouts.history import History, history_of, item_digest, marks, repeated
from sandbox_memory.rollouts.retelling import aligned, bare, retold_until

from . import retellings
from .retellings import RETELLINGS, answer
from .test_segment import Items, build, call, output, said, user

# ---- digests


def test_accounts_of_one_item_have_one_digest() -> None:
    assert item_digest(said("x")) == item_digest(said("x", id="msg_1", status=None, phase="final"))
    assert item_digest(said("x")) == item_digest({"role": "assistant", "content": "x"})
    assert item_digest(user("x")) == item_digest({"role": "user", "content": [{"type": "input_text", "text": "x"}]})
    assert item_digest(call("1")) == item_digest(
        {**call("1"), "id": "fc_1", "status": "completed", "provider_data": {"a": 1}}
    )
    assert item_digest(user("password=hunter2")) == item_digest(user("password=⟦secret:password⟧"))


def test_different_items_have_different_digests() -> None:
    items = [
        user("x"),
        said("x"),
        user("y"),
        call("1"),
        call("2"),
        call("1", arguments='{"a": 1}'),
        output("1"),
        output("1", "b"),
    ]
    assert len({item_digest(item) for item in items}) == len(items)


# ---- what a rollout holds already


class Recorder:
    """A rollout that is written as the pipeline writes it, and read back from its bytes before each run."""

    def __init__(self, tail: int = 1 << 20) -> None:
        self.data, self.tail = b"", tail

    def run(self, inputs: Items, generated: Items, *, resumed: bool = False, interrupted: bool = False) -> Items:
        """What was recorded of this run."""
        history = history_of(self.data[-self.tail :])
        old = repeated(history, marks([*inputs, *generated]), len(inputs), resumed=resumed)
        new = [item for n, item in enumerate(inputs) if n not in old]
        made = [item for n, item in enumerate(generated, len(inputs)) if n not in old]
        more = {"interruptions": [call("wait")]} if interrupted else {}
        self.data += build(new, made, segment=str(len(self.data)), **more)
        return [*new, *made]


def test_an_input_list_that_grows_is_recorded_once() -> None:
    recorder, history = Recorder(), []
    for turn in range(6):
        made = [said("let me see"), call(f"c{turn}"), output(f"c{turn}"), said("done")]
        assert recorder.run([*history, user("ok")], made) == [user("ok"), *made]
        history += [user("ok"), *made]


def test_so_is_one_of_which_only_the_end_is_known() -> None:
    recorder, history = Recorder(tail=3_000), []
    for turn in range(30):
        made = [call(f"c{turn}"), output(f"c{turn}"), said("done")]
        assert recorder.run([*history, user(f"q{turn % 3}")], made) == [user(f"q{turn % 3}"), *made]
        history += [user(f"q{turn % 3}"), *made]


def test_so_is_one_that_keeps_only_what_was_said() -> None:
    recorder, history = Recorder(), []
    for turn in range(5):
        made = [call(f"c{turn}"), output(f"c{turn}"), said(f"answer {turn}", id=f"msg_{turn}")]
        assert recorder.run([*history, user("go on")], made) == [user("go on"), *made]
        history += [user("go on"), {"role": "assistant", "content": f"answer {turn}"}]


def test_so_is_one_that_keeps_only_the_last_turns() -> None:
    recorder, history = Recorder(), []
    for turn in range(8):
        made = [call(f"c{turn}"), output(f"c{turn}"), said(f"answer {turn}")]
        assert recorder.run([*history, user(f"q{turn}")], made) == [user(f"q{turn}"), *made]
        history = [*history, user(f"q{turn}"), *made][-8:]


def test_instructions_in_the_input_do_not_disturb() -> None:
    recorder, rules = Recorder(), {"role": "system", "content": "be brief"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    recorder.run([rules, user("a")], [thought, said("b")])
    assert recorder.run([rules, user("a"), thought, said("b"), user("c")], [said("d")]) == [user("c"), said("d")]


def test_the_same_words_again_are_recorded_again() -> None:
    recorder = Recorder()
    for _ in range(3):
        assert recorder.run([user("ok")], [said("Done.")]) == [user("ok"), said("Done.")]
    assert recorder.run([user("ok"), user("ok")], []) == [user("ok"), user("ok")]


def test_what_a_user_said_and_nobody_recorded_is_recorded_though_a_known_answer_follows() -> None:
    recorder = Recorder()
    recorder.run([user("first")], [said("Done.")])
    new = [user("elsewhere"), said("Done."), user("second")]
    assert recorder.run(new, [said("x")]) == [*new, said("x")]


def test_examples_before_each_question_are_recorded_once() -> None:
    recorder = Recorder()
    shots = [user("2+2?"), said("4"), user("3+3?"), said("6")]
    for question in ("ok", "ok", "5+5?"):
        made = [said("yes")]
        found = recorder.run([*shots, user(question)], made)
        assert found[-2:] == [user(question), *made]
    assert [item["content"] for item in found if item["role"] == "user"] == ["5+5?"]


def test_a_question_that_was_asked_differently_is_new_and_what_was_before_it_is_not() -> None:
    recorder = Recorder()
    first = [user("a"), said("b")]
    recorder.run(first[:1], first[1:])
    recorder.run([*first, user("c")], [said("d")])
    assert recorder.run([*first, user("c, in German")], [said("e")]) == [user("c, in German"), said("e")]


def test_a_try_after_a_failure_repeats_the_message() -> None:
    recorder = Recorder()
    recorder.run([user("a")], [said("b")])
    recorder.run([user("a"), said("b"), user("c")], [])
    assert recorder.run([user("a"), said("b"), user("c")], [said("d")]) == [said("d")]


@pytest.mark.parametrize("session", [True, False])
@pytest.mark.parametrize("before", [[], [user("earlier"), said("Done.")]])
def test_approve_and_resume_repeats_nothing(session: bool, before: Items) -> None:
    """As the SDK does it: all that was generated since the run began comes again, with a session without the input."""
    recorder = Recorder()
    if before:
        recorder.run(before[:1], before[1:])
    made = [said("let me"), call("A"), call("B"), output("B")]
    asked = [user("please do")]
    first = asked if session else [*before, *asked]
    assert recorder.run(first, made, interrupted=True) == [*asked, *made]
    inputs = [] if session else first
    more = [output("A"), call("C")]
    assert recorder.run(inputs, [*made, *more], resumed=True, interrupted=True) == more
    rest = [output("C", "not approved"), said("let me"), said("Done.")]
    assert recorder.run(inputs, [*made, *more, *rest], resumed=True) == rest
    assert recorder.run([user("please do")], [said("Done.")]) == [user("please do"), said("Done.")]


def test_a_resumed_run_that_changed_the_order_repeats_nothing() -> None:
    recorder = Recorder()
    recorder.run([user("do")], [call("A"), call("B"), output("B")], interrupted=True)
    assert recorder.run([user("do")], [call("A"), output("A"), call("B"), output("B"), said("x")], resumed=True) == [
        output("A"),
        said("x"),
    ]


def test_a_resumed_run_repeats_a_message_that_nothing_had_answered() -> None:
    recorder = Recorder()
    recorder.run([user("do")], [], interrupted=True)
    assert recorder.run([user("do")], [call("A")], resumed=True) == [call("A")]


def test_a_run_that_is_no_resumption_of_the_interrupted_one_is_recorded_whole() -> None:
    recorder = Recorder()
    recorder.run([user("do")], [said("let me"), call("A")], interrupted=True)
    assert recorder.run([user("do")], [said("let me"), call("B")]) == [user("do"), said("let me"), call("B")]


def test_an_agent_whose_rollout_lacks_what_others_did_repeats_nothing() -> None:
    # In one run A handed over to B; each has its own layout, and the next run's input has the items of both.
    asked, of_a, of_b = [user("q")], [said("to B"), call("t")], [said("from B"), call("b"), output("b")]
    grown = [*asked, *of_a, *of_b, user("next")]
    for own in (of_a, of_b):
        recorder = Recorder()
        recorder.run(asked, own)
        found = recorder.run(grown, [said("x")])
        assert not [item for item in own if item in found] and asked[0] not in found
        assert found[-2:] == [user("next"), said("x")]


def test_history_is_the_same_in_memory_and_from_disk() -> None:
    history, data = History(), b""
    for turn, interrupted in enumerate((False, True, True, False)):
        items = [{"role": "system", "content": "x"}, user("password=hunter2"), call(f"c{turn}"), said("\ud83d")]
        more = {"interruptions": [call("w")]} if interrupted else {}
        data += build(items[:2], items[2:], segment=str(turn), **more)
        history = history.then(marks(items), interrupted=interrupted)
        assert history_of(data) == history
        assert bool(history.open) is interrupted
    assert history_of(b"half a line}\n" + data) == dataclasses.replace(history, whole=False)


def test_history_of_lines_of_the_sdk() -> None:
    sdk = json.dumps({"input": "password=hunter2", "generated_items": [said("b"), 5]}).encode() + b"\n"
    grown = [user("password=hunter2"), said("b"), user("c")]
    assert repeated(history_of(sdk), marks([*grown, said("d")]), len(grown), resumed=False) == {0, 1}


TURN = st.tuples(st.sampled_from(["ok", "go on", "no"]), st.lists(st.sampled_from(["say", "call"]), max_size=4))


def conversation(turns: Sequence[tuple[str, list[str]]]) -> list[tuple[dict[str, Any], Items]]:
    """Turns with few words, so that many are alike; calls have ids of their own, as models give them."""
    made: list[tuple[dict[str, Any], Items]] = []
    for number, (question, steps) in enumerate(turns):
        items: Items = []
        for place, step in enumerate(steps):
            id = f"c{number}.{place}"
            items += [said("working")] if step == "say" else [call(id), output(id)]
        made.append((user(question), [*items, said("Done.")]))
    return made


def flat(made: Sequence[tuple[dict[str, Any], Items]]) -> Items:
    return [item for question, items in made for item in (question, *items)]


def plain(data: bytes) -> Items:
    found: Items = []
    for entry in data.splitlines():
        payload: Mapping[str, Any] = json.loads(entry)
        found += [*payload["input"], *payload["generated_items"]]
    return found


@given(st.lists(TURN, min_size=1, max_size=6))
def test_a_growing_list_ends_with_every_item_once(turns: list[tuple[str, list[str]]]) -> None:
    recorder, history = Recorder(), []
    made = conversation(turns)
    for question, items in made:
        recorder.run([*history, question], items)
        history += [question, *items]
    assert plain(recorder.data) == flat(made)


@given(st.lists(TURN, min_size=1, max_size=6))
def test_with_a_session_every_item_is_there_once(turns: list[tuple[str, list[str]]]) -> None:
    recorder, made = Recorder(), conversation(turns)
    for question, items in made:
        recorder.run([question], items)
    assert plain(recorder.data) == flat(made)


@given(st.lists(TURN, min_size=1, max_size=4), st.booleans(), st.data())
def test_resumed_anywhere_every_item_is_there_once(
    turns: list[tuple[str, list[str]]], session: bool, data: st.DataObject
) -> None:
    recorder, history = Recorder(), []
    made = conversation(turns)
    for question, items in made:
        inputs = [question] if session else [*history, question]
        stops = sorted(data.draw(st.sets(st.integers(1, len(items)), max_size=3)) - {len(items)})
        for place, stop in enumerate([*stops, len(items)]):
            again = [] if session and place else inputs
            recorder.run(again, items[:stop], resumed=place > 0, interrupted=stop < len(items))
        history += [question, *items]
    assert plain(recorder.data) == flat(made)


@given(st.lists(TURN, min_size=1, max_size=5), st.lists(TURN, min_size=1, max_size=3), st.data())
def test_nothing_that_a_user_says_is_lost(
    turns: list[tuple[str, list[str]]], others: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    """Whatever list an application sends: a user's message that is left out stands in the rollout already."""
    recorder, history = Recorder(), []
    for question, items in conversation(turns):
        recorder.run([*history, question], items)
        history += [question, *items]
    sent = [*data.draw(st.permutations(flat(conversation(others)))), user("new")]
    before = [item["content"] for item in plain(recorder.data) if item.get("role") == "user"]
    found = recorder.run(sent, [said("x")])
    kept = {id(item) for item in found}
    left_out = [item["content"] for item in sent if item.get("role") == "user" and id(item) not in kept]
    assert found[-2:] == [user("new"), said("x")]
    place = 0
    for each in left_out:  # in the same order
        place = before.index(each, place) + 1


# ---- told again by an application, in its own way

ENGLISH = [
    user("I always drink oolong tea in the morning."),
    answer("**Noted**: you like *oolong* tea in the morning. `Anything` else?"),
    user("Our staging port is 8443."),
    call("c1", arguments='{"text": "port 8443"}'),
    output("c1", "saved the port 8443 to the list of ports"),
    answer("Saved."),
    answer("**Done**: it is in the list."),
    user("We deploy on Tuesdays, never on Fridays."),
    answer("**All right**, Tuesdays it is."),
]
CHINESE = [
    user("我每天早上都喝乌龙茶。"),
    answer("**记住了**:您早上喝乌龙茶。还有别的吗?"),
    user("我们的测试端口是8443。"),
    answer("好的,**已经**记下。"),
    user("我们只在星期二发布,从不在星期五发布。"),
    answer("**明白**。"),
]
LONG = [
    item
    for n in range(40)
    for item in (
        user(f"Rule {n} is that thing {n * 7} is done in the way of {'abcdefgh'[n % 8] * 4}."),
        answer(f"**ok** {n}"),
    )
]
NOW = user("Thanks, what now?")


def turn_by_turn(items: Items) -> Recorder:
    recorder = Recorder()
    starts = [place for place, item in enumerate(items) if item.get("role") == "user"]
    for start, end in zip(starts, [*starts[1:], len(items)], strict=True):
        recorder.run([items[start]], items[start + 1 : end])
    return recorder


@pytest.mark.parametrize("known", [ENGLISH, CHINESE, LONG], ids=["english", "chinese", "long"])
@pytest.mark.parametrize("way", RETELLINGS)
def test_a_conversation_that_is_told_again_is_not_recorded_again(way: str, known: Items) -> None:
    recorder = turn_by_turn(known)
    told = RETELLINGS[way](known)
    for _ in range(2):
        found = recorder.run([*told, NOW], [said("Lunch.")])
        assert [item for item in found if item.get("role") != "system"] == [NOW, said("Lunch.")]
        told = [*told, NOW, answer("Lunch, then.")]


@pytest.mark.parametrize(
    ("sent", "new"),
    [
        # what nobody recorded, amid what is known, with its answer
        ([*ENGLISH[:2], user("Call me Al."), answer("Yes, Al."), *ENGLISH[2:], NOW], [2, 3, 11]),
        # other values in the same words
        ([*ENGLISH, user("Our staging port is 9443."), answer("Noted."), NOW], [9, 10, 11]),
        ([user("Our production port is 8443."), answer("Noted."), NOW], [0, 1, 2]),
        # the same words as the newest message
        ([*ENGLISH[:1], answer("Noted."), ENGLISH[2]], [2]),
        ([*ENGLISH, ENGLISH[0]], [9]),
        ([ENGLISH[0]], [0]),
        ([ENGLISH[0], ENGLISH[2]], [0, 1]),
        # the other order: what was said before, once more after
        ([ENGLISH[7], answer("Yes."), ENGLISH[0], answer("Yes."), NOW], [0, 1, 4]),
        # a summary that a person asks for is none of a conversation
        ([*ENGLISH, user("Summary of the release notes: two fixes."), NOW], [9, 10]),
        # an answer of somebody else beside all that is known
        ([*ENGLISH, answer("By the way, builds are slow."), NOW], [9, 10]),
    ],
)
def test_what_is_new_amid_what_is_told_again_is_recorded(sent: Items, new: list[int]) -> None:
    sent = [dict(item) for item in sent]
    found = turn_by_turn(ENGLISH).run(sent, [])
    assert [n for n, item in enumerate(sent) if any(item is each for each in found)] == new


def test_a_try_after_a_failure_repeats_the_message_also_where_answers_are_told_in_other_words() -> None:
    recorder = turn_by_turn(ENGLISH)
    recorder.run([*ENGLISH, NOW], [])
    sent = [*retellings.answers(retellings.plain)(ENGLISH), NOW]
    assert recorder.run(sent, [said("Lunch.")]) == [said("Lunch.")]


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_as_many_as_can_be_are_aligned_in_order(known: list[str], told: list[str]) -> None:
    best = [[0] * (len(told) + 1) for _ in range(len(known) + 1)]
    for i, one in enumerate(known):
        for j, two in enumerate(told):
            best[i + 1][j + 1] = best[i][j] + 1 if one == two else max(best[i][j + 1], best[i + 1][j])
    pairs = aligned(known, told)
    assert len(pairs) == best[-1][-1] and all(known[one] == told[two] for one, two in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("[10:22] Use tabs.", "use tabs"),
        ("[User, 2026-05-01 10:22] Use tabs.", "use tabs"),
        ("May 1, 2026 10:22 AM - Use tabs.", "use tabs"),
        ("User (10:22): Use tabs.", "use tabs"),
        ("<msg>\n[10:22]\nUse tabs.\n</msg>", "use tabs"),
        ("Use tabs. (sent 10:22)", "use tabs"),
        ("用户：只用制表符。", "只 用 制 表 符"),
        ("2026年5月1日 10:22 只用制表符。", "只 用 制 表 符"),
        # what belongs to the message
        ("10:22", "10 22"),
        ("8443 is the port.", "8443 is the port"),
        ("Note: use tabs.", "note use tabs"),
        ("[urgent] Use tabs.", "urgent use tabs"),
        ("1.5 is the ratio", "1 5 is the ratio"),
    ],
)
def test_a_message_without_what_is_put_around_it(told: str, words: str) -> None:
    assert " ".join(bare(told)) == words


@pytest.mark.parametrize("way", retellings.IN_ONE)
def test_where_a_told_conversation_ends(way: str) -> None:
    text = retellings.IN_ONE[way](ENGLISH, "Thanks, what now?")
    now = text[retold_until(text) :]
    assert "what now" in now and "Tuesdays" not in now
    assert retold_until("The bot: it answers late.\nUser: nobody.") == 0
    assert retold_until("Agent: restart it.\nThen look.") == 0
