"""Runs that teach nothing leave their transcript, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from agents import Runner

from sandbox_memory import Memory, MemoryGenerateConfig
from sandbox_memory.doors.plain import open_memory
from sandbox_memory.governance.idle import LONGEST, greets
from sandbox_memory.models import EXTRACTION, Answer, ConsolidationDraft, ExtractionDraft, Request
from sandbox_memory.records import Usage

from .kit import process, state, tell, texts
from .scripted import agent, config, session_in

IDLE = """
hi
Hello there!
Hey Claude
Hi, Ana!
good morning team
thanks
Thank you so much!
thanks a lot for your help, bye
how are you?
Hi, how are you doing today?
testing 123
ping
are you there?
ok
yes please
👋
Hello! Thanks, that's all for today.
nothing else, have a nice day
你好
您好！在吗？
谢谢你，辛苦了
好的，再见
测试一下
早上好
"""
SAYS_SOMETHING = """
hi, what is our port?
hi I am Bob
thanks for the port 8443
ping the server
test the parser
good tests matter
ok deploy
yes, always
Hi Team please ship it
call me Ana
no tabs
8443
right margin
我叫小明
你好，帮我查一下
测试端口是8443
好的方案是A
"""


@pytest.mark.parametrize("text", IDLE.strip().splitlines())
def test_nothing_is_said(text: str) -> None:
    assert greets([text]) and greets(["hi", text])


@pytest.mark.parametrize("text", SAYS_SOMETHING.strip().splitlines())
def test_something_is_said(text: str) -> None:
    assert not greets([text]) and not greets(["hi", text])


def test_a_long_greeting_is_looked_at() -> None:
    assert not greets(["hi " * LONGEST])


async def talk(root: Path, *said: str) -> None:
    generate = MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline")
    async with await session_in(root) as opened:
        for text in said:
            acting = agent("Hello! How can I help?", memory=Memory(generate=generate))
            await Runner.run(acting, text, run_config=config(opened, group_id="chat"))


def notes(root: Path) -> dict[str, bytes]:
    found = [*root.glob("memories/raw_memories*/*"), *root.glob("memories/rollout_summaries/*")]
    found += [path for name in ("raw_memories.md", "memory_summary.md") if (path := root / "memories" / name).exists()]
    return {path.name: path.read_bytes() for path in found}


def test_a_greeting_is_recorded_and_nothing_is_made_of_it(tmp_path: Path) -> None:
    asyncio.run(talk(tmp_path, "hi"))
    (transcript,) = (tmp_path / "sessions").glob("chat*.jsonl")
    assert transcript.read_bytes().count(b"\n") == 1 and notes(tmp_path) == {}
    assert open_memory(tmp_path).status()["pending"] == [], "it is read, and not read again"
    asyncio.run(talk(tmp_path, "We always deploy on Fridays."))
    kept, there = notes(tmp_path), texts(tmp_path)
    assert kept and there == {"We always deploy on Fridays"}
    asyncio.run(talk(tmp_path, "thanks, bye"))
    assert notes(tmp_path) == kept and texts(tmp_path) == there, "what it taught before stays as it was"
    assert transcript.read_bytes().count(b"\n") == 3
    (known,) = state(tmp_path).rollouts.values()
    assert known.task == "We always deploy on Fridays" and open_memory(tmp_path).status()["pending"] == []


def test_a_model_that_writes_notes_on_a_greeting_is_not_heard(tmp_path: Path) -> None:
    class Chatty:
        name = "chatty"

        async def answer(self, request: Request[object]) -> Answer[object]:
            draft = ExtractionDraft(
                task="Greeting", slug="greeting", summary="The user said hi.", raw_memory="A greeting."
            )
            return Answer(draft if request.task == EXTRACTION else ConsolidationDraft(), Usage(1, 1, 1))

    tell(tmp_path, "hi")
    report = process(tmp_path, Chatty())
    assert not report.failed and not report.refused and notes(tmp_path) == {}
    tell(tmp_path, "What is the staging port?", rollout="other")
    process(tmp_path, Chatty())
    assert any(b"Greeting" in data or b"staging" in data for data in notes(tmp_path).values()), "that was asked for"
