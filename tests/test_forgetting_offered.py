"""Old conversations that are offered again: what was forgotten or deleted stays away, however they are told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import Runner

from sandbox_memory import Memory, MemoryGenerateConfig, open_memory
from sandbox_memory.pipeline.forgetting import forget as forgetting
from sandbox_memory.pipeline.forgetting.forget import Wanted
from sandbox_memory.records import RunCapture

from .forgetting_kit import places, spoken
from .kit import agree, delete_line, handbook, pipeline, process, run, state, texts
from .retellings import IN_ONE, RETELLINGS, Items, answer, answers, plain, twice, user
from .scripted import agent, config, session_in

OOLONG, PORT, DEPLOY = (
    "I always drink oolong tea in the morning.",
    "Our staging port is 8443.",
    "We deploy on Tuesdays, never on Fridays.",
)
TALK = [
    user(OOLONG),
    answer("**Noted**: you like *oolong* tea in the morning. `Anything` else?"),
    user(PORT),
    {"type": "function_call", "call_id": "c1", "name": "note", "arguments": '{"text": "port 8443"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "saved the port 8443 to the list of ports"},
    answer("Saved."),
    answer("**Done**: it is in the list."),
    user(DEPLOY),
    answer("**All right**, Tuesdays it is."),
]
NOW = "What is the weather like today, please?"
OFFLINE = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline", retry_delay=0.001)


def captured(inputs: Items, made: Items, rollout: str = "chat", final: Any = None) -> RunCapture:
    ended = {"terminal_state": "completed", "exception_type": None, "exception_message": None, "has_final_output": True}
    return RunCapture(rollout, "conversation", inputs, made, final, [], ended, "A")


def record(root: Path, inputs: Items, *made: str, rollout: str = "chat", final: Any = None) -> None:
    async def work() -> None:
        line = pipeline(root)
        await line.store.see()
        await line.record(captured(inputs, [answer(text) for text in made], rollout, final or (made or [None])[-1]))

    run(work())


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("known") / "ws"
    root.mkdir()
    starts = [place for place, item in enumerate(TALK) if item.get("role") == "user"]
    for start, end in zip(starts, [*starts[1:], len(TALK)], strict=True):
        run(pipeline(root).record(captured(TALK[start : start + 1], TALK[start + 1 : end])))
    process(root)
    assert {OOLONG, PORT, DEPLOY} <= texts(root)
    return root


def removed(known: Path, root: Path, way: str) -> Path:
    """A copy of the memory from which the line about tea is gone."""
    shutil.copytree(known, root)
    if way == "deleted":
        delete_line(root, "oolong")
        process(root)
        return root
    id = next(record.id for record in state(root).records.values() if "oolong" in record.text)
    wanted = {"id": Wanted(ids=(id,)), "text": Wanted(texts=("oolong",)), "rollout": Wanted(rollouts=("chat",))}[way]
    assert run(forgetting.forget(pipeline(root), wanted)).left == []
    return root


def told() -> dict[str, Callable[[], Items]]:
    found: dict[str, Callable[[], Items]] = {}
    for name, way in {**RETELLINGS, "twice": twice}.items():
        found[name] = lambda way=way: [*way(TALK), user(NOW)]  # type: ignore[misc]
    for name, one in IN_ONE.items():
        found[name] = lambda one=one: [user(one(TALK, NOW))]  # type: ignore[misc]
    return found


@pytest.mark.parametrize("rollout", ["chat", "other"])
@pytest.mark.parametrize("way", ["deleted", "id", "rollout"])
def test_however_it_is_told_it_stays_away(known: Path, tmp_path: Path, way: str, rollout: str) -> None:
    root = removed(known, tmp_path / "ws", way)
    before = places(root, "oolong")  # an agent's own words for it may stand where it said them
    heard = spoken(root, "chat")
    for place, make in enumerate(told().values()):
        name = rollout if rollout == "chat" else f"other-{place}"
        record(root, make(), "Sunny.", rollout=name)
        new = [text for text in spoken(root, name) if text not in heard]
        assert any(NOW in text for text in spoken(root, name)), list(told())[place]
        assert not any("oolong" in text.casefold() for text in new), list(told())[place]
    if way != "deleted":
        assert places(root, "oolong") == before and places(root, "drink oolong") == []
    process(root)
    assert not [text for text in texts(root) if "oolong" in text.casefold()]
    if way != "rollout":
        assert {PORT, DEPLOY} <= texts(root)
    agree(root)


@pytest.mark.parametrize("way", ["deleted", "rollout"])
@pytest.mark.parametrize(
    "sent",
    [
        [user(OOLONG)],
        [*TALK, user(OOLONG)],
        [*answers(plain)(TALK), user(OOLONG)],
        [user("[10:22] Hello there."), answer("Hello."), user(OOLONG)],
    ],
)
def test_what_a_person_says_now_is_theirs_to_say(known: Path, tmp_path: Path, way: str, sent: Items) -> None:
    root = removed(known, tmp_path / "ws", way)
    record(root, sent, "Noted, oolong tea.")
    process(root)
    assert OOLONG in texts(root)
    assert "Noted, oolong tea." in spoken(root, "chat")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([user("The staging port is down."), answer("I see."), user(NOW)], "The staging port is down."),
        ([user("In the morning I drink tea."), answer("Nice."), user(NOW)], "In the morning I drink tea."),
        ([user("We like oolong less than others."), answer("I see."), user(NOW)], "less than others"),
        ([user("Call me Al."), answer("Yes."), user(OOLONG), answer("Noted."), user(NOW)], "Call me Al."),
    ],
)
def test_what_others_said_in_such_words_stays(known: Path, tmp_path: Path, sent: Items, kept: str) -> None:
    root = removed(known, tmp_path / "ws", "id")
    record(root, sent, "Sunny.", rollout="other")
    assert any(kept in text for text in spoken(root, "other"))


def test_an_agent_that_still_knows_it_does_not_bring_it_back(known: Path, tmp_path: Path) -> None:
    """With the SDK's session the model is told the old conversation, and memory is not."""
    root = removed(known, tmp_path / "ws", "text")
    record(root, [user("What do I drink?")], "You drink oolong tea.")
    assert places(root, "oolong") == []
    record(root, [user("What do I drink?")], final={"drink": "oolong tea"})
    assert places(root, "oolong") == []
    looked = {"type": "function_call_output", "call_id": "c9", "output": "menu: oolong, sencha"}
    record(root, [user("What is there?"), {**TALK[3], "call_id": "c9"}, looked], "There is oolong.", rollout="menu")
    assert "There is oolong." in spoken(root, "menu")
    with open_memory(root) as memory:
        memory.add("The shop sells oolong.")
    record(root, [user("What do they sell?")], "They sell oolong.", rollout="shop")
    assert "They sell oolong." in spoken(root, "shop")


def test_another_process_may_have_forgotten_it(known: Path, tmp_path: Path) -> None:
    shutil.copytree(known, tmp_path / "ws")
    root = tmp_path / "ws"

    async def work() -> None:
        line = pipeline(root)
        await line.open()
        id = next(record.id for record in state(root).records.values() if "oolong" in record.text)
        await forgetting.forget(pipeline(root), Wanted(ids=(id,)))
        sent = [*answers(plain)(TALK), user(NOW)]
        await line.record(captured(sent, [answer("Sunny.")], "other"))

    run(work())
    assert places(root, "drink oolong") == [] and not any("oolong" in text for text in spoken(root, "other"))


@pytest.mark.parametrize("way", ["deleted", "forgotten"])
def test_with_real_runs(tmp_path: Path, way: str) -> None:
    """As an application does it that keeps the messages itself, and shows them without markdown."""
    history: Items = []

    async def work(says: str) -> None:
        async with await session_in(tmp_path) as session:
            one = agent(says, memory=Memory(generate=OFFLINE))
            await Runner.run(one, list(history), run_config=config(session, group_id="g"))

    def turn(text: str, says: str) -> None:
        history.append(user(text))
        run(work(says))
        history.append(answer(plain(says)))

    turn(OOLONG, "**Noted**, it is noted.")
    assert any("oolong" in text for text in texts(tmp_path))
    if way == "deleted":
        delete_line(tmp_path, "oolong")
    else:
        with open_memory(tmp_path) as memory:
            memory.forget(text="oolong tea")
    for n in range(3):
        turn(f"Thanks, what is step {n}?", "**Lunch**.")
    assert not [text for text in texts(tmp_path) if "oolong" in text]
    assert "step 2" in "".join(path.read_text() for path in (tmp_path / "sessions").glob("*.jsonl"))
    assert handbook(tmp_path).exists()
