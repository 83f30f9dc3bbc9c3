"""What a person asked to remember in so many words is a line when that run has ended, and no model had a say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import Runner, RunState, SQLiteSession, function_tool

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryLayoutConfig
from sandbox_memory.document import normalise
from sandbox_memory.folding import fold
from sandbox_memory.governance.asked import BACK, ON, asked
from sandbox_memory.layout import load_preset
from sandbox_memory.ledger import parse
from sandbox_memory.pipeline import remembering
from sandbox_memory.records import Candidate, Kind, Record, Trust
from sandbox_memory.rollouts import parse_rollout

from .kit import EchoModel, agree, delete_line, handbook, pipeline, process, said, state, tell, texts
from .kit import run as wait
from .recording import LAYOUT_A, LAYOUT_B, handing_over, in_session, run
from .scripted import Scripted, agent, calls, config, lines, session_in

PORT = "Our staging port is 8443"


class Silent(Scripted):
    """A model that must not be asked."""

    def __init__(self) -> None:
        super().__init__(AssertionError("no model decides this"))


def memory(**more: Any) -> Memory:
    generate = MemoryGenerateConfig(phase_one_model=Silent(), phase_two_model=Silent(), attempts=1)
    return Memory(**{"generate": generate, **more})


def records(root: Path, folder: str = "memories") -> list[Record]:
    path = root / folder / "ledger.jsonl"
    if not path.exists():
        return []
    return list(fold(parse(path.read_bytes())).visible().values())


def system(of: Any) -> str:
    return str(of.model.seen[0]["system"])


# ---- which sentences

ASKED = """
Remember that our staging port is 8443. | our staging port is 8443
Please remember: our staging port is 8443. | our staging port is 8443
please remember: the owner of payments is Dana | the owner of payments is Dana
Remember: I always review database migrations myself. | I always review database migrations myself
Keep in mind that Fridays are frozen for releases. | Fridays are frozen for releases
Note for the future: the CI cache must be cleared by hand. | the CI cache must be cleared by hand
note for next time, the vendor API is down on Sundays | the vendor API is down on Sundays
Can you remember that my mother's name is Ruth? | my mother's name is Ruth
Could you please remember our staging port is 8443? | our staging port is 8443
I want you to remember that I prefer tabs. | I prefer tabs
You should remember that the API limit is 100. | the API limit is 100
Thanks! Also, please remember that PR titles need a ticket number. | PR titles need a ticket number
Fix the bug, and remember that we never push to main. | we never push to main
Don't forget that the budget is 5000 EUR. | the budget is 5000 EUR
From now on, remember that I work in UTC. | I work in UTC
For next time: remember that deploys need a ticket. | deploys need a ticket
Our staging port is 8443, please remember that. | Our staging port is 8443
Our staging port is 8443 - remember this for next time. | Our staging port is 8443
Add this to your memory: the printer is called Gutenberg. | the printer is called Gutenberg
make a note that the vendor is Acme. | the vendor is Acme
For future reference, the vendor is Acme. | the vendor is Acme
Remember I'm allergic to peanuts. | I'm allergic to peanuts
Remember that before you deploy, you run make check. | before you deploy, you run make check
Remember that I prefer short answers; can you now list the files? | I prefer short answers
Remember to always run the linter before a commit. | always run the linter before a commit
Remember to run the linter before every commit. | run the linter before every commit
请记住我们的测试端口是8443。 | 我们的测试端口是8443
请记住：我们的测试端口是8443。 | 我们的测试端口是8443
記住，我們的端口是8443 | 我們的端口是8443
記得每次提交前跑測試 | 每次提交前跑測試
帮我记一下，供应商是华星。 | 供应商是华星
麻烦记一下：供应商是华星 | 供应商是华星
请你牢记：不要在周五发布 | 不要在周五发布
我们的端口是8443，请记住。 | 我们的端口是8443
我们的端口是8443，记住了啊！ | 我们的端口是8443
别忘了我对花生过敏 | 我对花生过敏
以后请记住我喜欢简短的回答 | 我喜欢简短的回答
能不能帮我记住我的工号是A1234？ | 我的工号是A1234
把这个记下来：周五不发布 | 周五不发布
请记到你的记忆里：周报发给李雷 | 周报发给李雷
"""

NOT_ASKED = """
Do you remember that our port is 8443?
Can you remember what I said?
Remember that our port is 8443?
Remember that time when we broke prod.
Remember when we deployed on Friday.
Remember that bug we fixed last week.
Remember that I told you about the port.
Remember to run the tests before you finish this.
Remember to push.
I remember that the port was 8443.
I don't remember the order ID.
If I remember correctly the port is 8443.
Don't remember that.
You don't need to remember that the port is 8443.
As you may remember, we use Postgres.
Does anybody remember how this works?
Rename the title to "Remember that we care".
Add the sentence "Please remember: wash hands" to the poster.
Set the comment to `Remember that this is slow`.
The remember me checkbox is broken.
Forget that the port is 8443.
Please forget what I said.
From now on, always use tabs.
Note that the tests are slow.
Save the file to memory.md please.
Write a poem about the words remember that
你还记得我们的端口是多少吗？
我记得端口是8443。
记得跑测试。
别忘了跑测试
记住密码功能坏了
你记住了吗？
我们的端口是8443，你记住了吗？
不要记住这个：密码是123
别记这个
我记不住端口
怎么记住单词
"""


@pytest.mark.parametrize("row", ASKED.strip().splitlines())
def test_what_is_asked_for_is_found(row: str) -> None:
    sentence, wanted = row.split(" | ")
    found = asked(sentence)
    assert found is not None and sentence[found.start : found.end] == wanted


@pytest.mark.parametrize("sentence", NOT_ASKED.strip().splitlines())
def test_what_only_sounds_alike_is_not(sentence: str) -> None:
    assert asked(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "points"),
    [
        ("Remember this.", BACK),
        ("Please remember that for next time.", BACK),
        ("Keep this in mind.", BACK),
        ("请记住。", BACK),
        ("Remember the following:", ON),
        ("Please remember:", ON),
        ("请记住以下几点：", ON),
    ],
)
def test_it_may_stand_before_or_after(sentence: str, points: str) -> None:
    found = asked(sentence)
    assert found is not None and found.points == points


# ---- which words of a message


def wanted(*messages: str, preset: str = "default") -> tuple[Candidate, ...]:
    """What the last of these messages asks to have remembered, each message a run."""
    data = b"".join(
        json.dumps({"input": [{"role": "user", "content": text}], "generated_items": [], "segment": f"s{n}"}).encode()
        + b"\n"
        for n, text in enumerate(messages)
    )
    return remembering.wanted(parse_rollout(data, rollout_id="c", path="sessions/c.jsonl"), load_preset(preset))


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Remember that our staging port is 8443, and run the tests now.", [PORT]),
        ("请记住我们的测试端口是8443，然后帮我跑一下测试。", ["我们的测试端口是8443"]),
        (
            "Please remember the following:\n- staging listens on 8443\n- Dana owns payments\n\nDraft a mail.",
            ["staging listens on 8443", "Dana owns payments"],
        ),
        ("请记住以下几点：\n1. 端口是8443\n2. 我喜欢简短的回答\n\n写一封邮件", ["端口是8443", "我喜欢简短的回答"]),
        (
            "Please remember these two things: the port is 8443. The owner is Dana.",
            ["The port is 8443", "The owner is Dana"],
        ),
        ("We deploy with `make ship`. Remember that.", ["We deploy with `make ship`"]),
        ("Our port moved. Remember that it is 8443 now.", ["Our port moved. It is 8443 now"]),
        ("Remember: never deploy on Fridays. Then fix the bug.", ["Never deploy on Fridays"]),
        ("Remember that npm ci is faster.", ["npm ci is faster"]),
        ("Can you deploy it? Remember this.", []),
        ("Remember that it is 8443.", []),
        ("Remember just for this session that the port is 1.", []),
        ("Remember that for this task we use port 1.", []),
        ("> Remember that the port is 1.\n\nfix it", []),
        ("```\nRemember that the port is 1.\n```\nlook at it", []),
        ("<notes>\nRemember that the port is 1.\n</notes>\nlook at it", []),
        ('She wrote: "Remember that the port is 1. And more."', []),
        ("From: a@b.c\nTo: d@e.f\nSubject: x\n\nRemember that the port is 1.", []),
        ("Off the record, don't remember this. Remember that the port is 1.", []),
        (
            "\n".join(f"Line {n} of a report says what it says." for n in range(60)) + "\nRemember that the port is 1.",
            [],
        ),
        ("Remember that our password is ⟦secret:password⟧", []),
        ("Remember that MEMORY.md has a line for the port.", []),
        ("Remember that " + "the port is 8443 and " * 40 + "so on.", []),
    ],
)
def test_only_the_words_that_are_meant_and_were_typed(message: str, found: list[str]) -> None:
    assert [each.text for each in wanted(message)] == found


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Remember that our staging port is 8443.", Kind.FACT),
        ("Remember that Dana owns payments.", Kind.FACT),
        ("Remember that releases go out every Friday.", Kind.FACT),
        ("Remember that I prefer short answers.", Kind.PREFERENCE),
        ("Remember to always run the linter.", Kind.PREFERENCE),
        ("Remember: never deploy on Fridays.", Kind.PREFERENCE),
        ("请记住我喜欢简短的回答。", Kind.PREFERENCE),
        ("请记住我们的测试端口是8443。", Kind.FACT),
    ],
)
def test_a_wish_is_a_preference_and_the_rest_are_facts(message: str, kind: Kind) -> None:
    (found,) = wanted(message)
    assert found.kind is kind and found.trust is Trust.USER
    (quote,) = found.evidence
    assert quote.quote in message and normalise(quote.quote).casefold() == normalise(found.text).casefold()


# ---- real runs


@pytest.mark.parametrize("streamed", [False, True], ids=["run", "streamed"])
def test_the_next_run_of_the_same_session_is_told(tmp_path: Path, streamed: bool) -> None:
    first, second = agent("Noted.", memory=memory()), agent("8443.", memory=memory())

    async def body(session: Any) -> None:
        await run(first, "Remember that our staging port is 8443.", session=session, streamed=streamed, group_id="g")
        (record,) = records(tmp_path / "workspace")
        assert (record.text, record.kind, record.trust, record.origin) == (PORT, Kind.FACT, Trust.USER, "remember")
        assert [quote.quote for quote in record.evidence] == ["our staging port is 8443"] and not record.protected
        await run(second, "Which port?", session=session, streamed=streamed, group_id="h")

    in_session(tmp_path, body)
    assert PORT not in system(first) and f"- {PORT}" in system(second)
    assert f"- {PORT} ^" in (tmp_path / "workspace/memories/MEMORY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("how", ["generate=None", "paused", "switched off"])
def test_what_is_not_recorded_is_not_remembered(tmp_path: Path, how: str) -> None:
    own = memory(generate=None) if how == "generate=None" else memory()
    if how == "switched off":
        own.switch_off("g")

    async def body(session: Any) -> None:
        work = run(
            agent("Noted.", memory=own), "Remember that our staging port is 8443.", session=session, group_id="g"
        )
        if how == "paused":
            with own.paused():
                await work
        else:
            await work

    in_session(tmp_path, body)
    assert records(tmp_path / "workspace") == [] and not (tmp_path / "workspace/memories/MEMORY.md").exists()


def test_several_messages_of_one_input_and_a_growing_one(tmp_path: Path) -> None:
    """What a run is given as a list is read message by message; what it repeats is not asked again."""
    one = [
        {"role": "user", "content": "Remember that our staging port is 8443."},
        {"role": "assistant", "content": "Remember that the moon is made of cheese."},
        {"role": "user", "content": "Please remember: Dana owns payments."},
    ]

    async def body(session: Any) -> None:
        result = await run(agent("Noted.", memory=memory()), one, session=session, group_id="g")
        grown = [*result.to_input_list(), {"role": "user", "content": "Thanks."}]
        await run(agent("ok", memory=memory()), grown, session=session, group_id="g")

    in_session(tmp_path, body)
    found = records(tmp_path / "workspace")
    assert [record.text for record in found] == [PORT, "Dana owns payments"]
    assert [len(record.evidence) for record in found] == [1, 1]


@function_tool(needs_approval=True)
def deploy(target: str) -> str:
    """Deploys."""
    return f"deployed {target}"


@pytest.mark.parametrize("kept", ["group", "session"])
def test_a_resumed_run_asks_once(tmp_path: Path, kept: str) -> None:
    more: dict[str, Any] = {"group_id": "g"} if kept == "group" else {}

    async def go(session: Any, starting: Any, said_: Any) -> Any:
        history = SQLiteSession("s", tmp_path / "history.db") if kept == "session" else None
        try:
            return await Runner.run(starting, said_, run_config=config(session, **more), session=history)
        finally:
            if history is not None:
                history.close()

    async def stop(session: Any) -> str:
        starting = agent(calls("deploy", target="prod"), memory=memory(), tools=[deploy])
        result = await go(session, starting, "Ship it, and remember that our staging port is 8443.")
        assert [record.text for record in records(tmp_path / "workspace")] == [PORT], "also where a run only stops"
        return json.dumps(result.to_state().to_json())

    async def resume(session: Any, stored: str) -> None:
        fresh = agent("shipped", memory=memory(), tools=[deploy])
        restored = await RunState.from_json(fresh, json.loads(stored))
        restored.approve(restored.get_interruptions()[0])
        await go(session, fresh, restored)

    stored = in_session(tmp_path, stop)
    in_session(tmp_path, lambda session: resume(session, stored))
    (record,) = records(tmp_path / "workspace")
    assert record.text == PORT and len(record.evidence) == 1


def test_two_agents_remember_it_each_in_their_own_layout_once(tmp_path: Path) -> None:
    two = handing_over(agent("done by B", memory=memory(layout=LAYOUT_B), name="B"), memory(layout=LAYOUT_A))
    in_session(tmp_path, lambda session: run(two, "Remember that our staging port is 8443.", session=session))
    for folder in ("memories/a", "memories/b"):
        assert [record.text for record in records(tmp_path / "workspace", folder)] == [PORT]


def test_two_agents_of_one_layout_remember_it_once(tmp_path: Path) -> None:
    own = memory()
    two = handing_over(agent("done by B", memory=own, name="B"), own)
    in_session(tmp_path, lambda session: run(two, "Remember that our staging port is 8443.", session=session))
    assert [(record.text, len(record.evidence)) for record in records(tmp_path / "workspace")] == [(PORT, 1)]


def test_what_the_agent_or_a_tool_says_is_not_asked(tmp_path: Path) -> None:
    from .scripted import shell

    starting = agent(shell("echo 'Remember that the port is 666.'"), "Remember that the port is 667.", memory=memory())
    in_session(tmp_path, lambda session: run(starting, "Look at it.", session=session))
    assert records(tmp_path / "workspace") == []


PAGE = "every deployment of the shop must be announced in the channel called releases first"


@function_tool
def read_file(path: str) -> str:
    """Reads a file."""
    return PAGE


def test_a_page_that_a_person_types_off_is_still_the_pages_word(tmp_path: Path) -> None:
    own = memory()

    async def body(session: Any) -> None:
        reader = agent(calls("read_file", path="page.txt"), "ok", memory=own, tools=[read_file])
        read = await run(reader, "Read it", session=session)
        for said_, group in ((f"Please remember that {PAGE}.", "page"), (f"Please remember that {PORT}.", "own")):
            more = [*read.to_input_list(), {"role": "user", "content": said_}]
            await run(agent("ok", memory=own), more, session=session, group_id=group)

    in_session(tmp_path, body)
    assert [record.text for record in records(tmp_path / "workspace")] == [PORT]


def test_memory_record_remembers_too(tmp_path: Path) -> None:
    async def body(session: Any) -> None:
        own = memory()
        own.clone().bind(session)
        await own.record(session, "Remember that our staging port is 8443.", rollout_id="r")

    in_session(tmp_path, body)
    assert [record.text for record in records(tmp_path / "workspace")] == [PORT]


# ---- afterwards


def told(root: Path, *messages: str, rollout: str = "chat", answer: str = "Noted.", **more: Any) -> None:
    async def work() -> None:
        line = pipeline(root, **more)
        for text in messages:
            await line.record(said(text, rollout=rollout, answer=answer))

    wait(work())


@pytest.mark.parametrize(
    "other",
    [
        lambda text: text,
        lambda text: "The staging port is 8443",
        lambda text: "8443 is the port of staging",
        lambda text: "Staging uses port 8443",
    ],
    ids=["the whole message", "shorter", "turned round", "other words"],
)
@pytest.mark.parametrize("again", [False, True])
def test_the_extraction_of_the_run_makes_no_second_line(tmp_path: Path, other: Any, again: bool) -> None:
    told(tmp_path, "Remember that our staging port is 8443.")
    assert texts(tmp_path) == {PORT}
    model = EchoModel(other)
    process(tmp_path, model)
    if again:
        process(tmp_path, EchoModel(other), again=True)
    assert model.extracted == ["chat"] and texts(tmp_path) == {PORT}
    agree(tmp_path)
    (record,) = state(tmp_path).visible().values()
    assert record.origin == "remember"


def test_the_line_names_its_conversation_once_that_is_extracted(tmp_path: Path) -> None:
    told(tmp_path, "Remember that our staging port is 8443.")
    process(tmp_path)
    assert f"- {PORT} [Task 1] ^" in handbook(tmp_path).read_text(encoding="utf-8")
    agree(tmp_path)
    before = handbook(tmp_path).read_bytes()
    process(tmp_path)
    assert handbook(tmp_path).read_bytes() == before


class Repeating(EchoModel):
    """Remembers what the agent said."""

    async def answer(self, request: Any) -> Any:
        found = await super().answer(request)
        if hasattr(found.value, "memories"):
            segments = request.material.rollout.segments
            for memory_ in found.value.memories:
                item = next(item for item in segments[0].items if item.role == "assistant")
                memory_.text, memory_.quotes[0].text = item.text, item.text
        return found


@pytest.mark.parametrize(
    "answer", ["Noted: our staging port is 8443.", "I will remember that the staging port is 8443."]
)
def test_what_the_agent_repeats_makes_no_second_line_either(tmp_path: Path, answer: str) -> None:
    told(tmp_path, "Remember that our staging port is 8443.", answer=answer)
    process(tmp_path, Repeating())
    assert texts(tmp_path) == {PORT}


@pytest.mark.parametrize(
    "second", ["Remember that our staging port is 8443.", "Please remember: the staging port is 8443"]
)
def test_said_again_it_is_support(tmp_path: Path, second: str) -> None:
    told(tmp_path, "Remember that our staging port is 8443.", rollout="one")
    told(tmp_path, second, rollout="two")
    (record,) = state(tmp_path).visible().values()
    assert record.text == PORT and record.support == {"one", "two"}


def test_another_value_of_the_same_subject_takes_its_place(tmp_path: Path) -> None:
    told(tmp_path, "Remember that our staging port is 8443.", rollout="one")
    told(tmp_path, "Remember that our staging port is 9443.", rollout="two")
    assert texts(tmp_path) == {"Our staging port is 9443"}


def test_a_line_that_was_deleted_is_not_asked_for_by_the_old_run(tmp_path: Path) -> None:
    told(tmp_path, "Remember that our staging port is 8443.")
    delete_line(tmp_path, "8443")
    process(tmp_path)
    process(tmp_path, again=True)
    assert texts(tmp_path) == set()
    told(tmp_path, "Remember that our staging port is 8443.", rollout="anew")
    assert texts(tmp_path) == {PORT}


def test_a_persons_line_is_not_replaced(tmp_path: Path) -> None:
    told(tmp_path, "Remember that our staging port is 8443.", rollout="one")
    text = handbook(tmp_path).read_text(encoding="utf-8")
    handbook(tmp_path).write_text(text.replace("8443", "9555"), encoding="utf-8")
    told(tmp_path, "Remember that our staging port is 8443.", rollout="two")
    assert "Our staging port is 9555" in texts(tmp_path)
    agree(tmp_path)


class Counting:
    """A workspace that counts what is asked of it."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.looks, self.writes = inner, 0, 0
        self.root = inner.root

    async def look(self, *args: Any, **more: Any) -> Any:
        self.looks += 1
        return await self.inner.look(*args, **more)

    async def transact(self, *args: Any, **more: Any) -> Any:
        self.writes += 1
        return await self.inner.transact(*args, **more)


@pytest.mark.parametrize(
    ("message", "looks", "writes"),
    [("Just look at it. I remember the port.", 0, 1), ("Remember that our staging port is 8443.", 1, 2)],
)
def test_it_costs_nothing_where_nothing_is_asked(tmp_path: Path, message: str, looks: int, writes: int) -> None:
    async def work() -> None:
        line = pipeline(tmp_path)
        line.store.workspace = counting = Counting(line.store.workspace)  # type: ignore[assignment]
        await line.open()
        await line.record(said("Hello."))
        counting.looks = counting.writes = 0
        await line.record(said(message, rollout="second"))
        assert (counting.looks, counting.writes) == (looks, writes)

    wait(work())


@pytest.mark.parametrize("obstacle", ["memories/ledger.jsonl", "memories/MEMORY.md"])
def test_what_stands_in_the_way_costs_neither_the_run_nor_its_line(tmp_path: Path, obstacle: str) -> None:
    (tmp_path / obstacle).mkdir(parents=True)
    tell(tmp_path, "Remember that our staging port is 8443.")
    assert len(lines(tmp_path)["chat"]) == 1


# ---- many people


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        (
            ["My user id is mia_li_3668. Remember that I always want aisle seats."],
            "mia_li_3668: I always want aisle seats",
        ),
        (
            ["My user id is mia_li_3668.", "Remember that I always want aisle seats."],
            "mia_li_3668: I always want aisle seats",
        ),
        (["My name is Mia Li.", "Remember that I always want aisle seats."], "Mia Li: I always want aisle seats"),
        (["我的用户名是mia_li_3668", "请记住我喜欢靠过道的座位"], "mia_li_3668: 我喜欢靠过道的座位"),
        (["Remember that refunds are always given."], "refunds are always given"),
    ],
)
def test_where_many_are_served_it_stays_with_who_asked(tmp_path: Path, messages: Sequence[str], text: str) -> None:
    own = memory(layout=MemoryLayoutConfig.preset("support", memories_dir="m", sessions_dir="s"))

    async def go() -> str:
        async with await session_in(tmp_path) as session:
            for message in messages:
                await run(agent("Noted.", memory=own), message, session=session, group_id="mine")
            other = agent("ok", memory=own)
            await run(other, "Hello, what can you do?", session=session, group_id="other")
            return system(other)

    told_ = asyncio.run(go())
    assert [record.text for record in records(tmp_path, "m")] == [text]
    for word in ("aisle", "过道", "refunds", "Refunds", "mia_li", "Mia"):
        assert word not in told_
