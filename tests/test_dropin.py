"""In the SDK's place: the same names with the same meaning, the same files, and real requests of both over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import dataclasses
import inspect
import itertools
import json
import pickle
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import agents.sandbox
import openai
import pytest
from agents import ModelSettings, OpenAIProvider, RunConfig, Runner, SQLiteSession, UserError
from agents.sandbox import LocalSnapshotSpec, Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox import MemoryGenerateConfig as SdkGenerate
from agents.sandbox import MemoryLayoutConfig as SdkLayout
from agents.sandbox import MemoryReadConfig as SdkRead
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.capabilities import Memory as SdkMemory
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from agents.tracing import TracingProcessor
from agents.tracing import setup as tracing_setup
from agents.tracing.provider import DefaultTraceProvider

import sandbox_memory
from sandbox_memory import Memory, MemoryGenerateConfig, MemoryLayoutConfig, MemoryReadConfig, open_memory

from .kit import agree, state, texts
from .recording import run
from .scripted import Scripted, agent, config, lines, session_in, shell

PAIRS = [(SdkGenerate, MemoryGenerateConfig), (SdkLayout, MemoryLayoutConfig), (SdkRead, MemoryReadConfig)]
streamed_or_not = pytest.mark.parametrize("streamed", [False, True], ids=["run", "streamed"])


def offline(**more: Any) -> MemoryGenerateConfig:
    return MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline", **more)


# ---- names and keywords


def test_every_name_that_the_sdk_has_for_memory_is_here() -> None:
    named = {name for name in agents.sandbox.__all__ if "Memory" in name}
    assert named == {"MemoryGenerateConfig", "MemoryLayoutConfig", "MemoryReadConfig"}
    assert {*named, "Memory"} <= set(sandbox_memory.__all__)
    assert issubclass(Memory, SdkMemory) and all(issubclass(ours, sdk) for sdk, ours in PAIRS)


OTHER: dict[str, Any] = {
    "max_raw_memories_for_consolidation": 7,
    "phase_one_model": "model-one",
    "phase_two_model": "model-two",
    "phase_one_model_settings": {"temperature": 0.25},
    "phase_two_model_settings": ModelSettings(max_tokens=77),
    "extra_prompt": "Note the region.",
    "phase_two_max_turns": 9,
    "memories_dir": "m",
    "sessions_dir": "s",
    "live_update": False,
}
"""A value other than the default for every field that the SDK's configs have."""


@pytest.mark.parametrize(("theirs", "ours"), PAIRS, ids=lambda kind: kind.__module__)
def test_every_field_means_the_same(theirs: Any, ours: Any) -> None:
    names = [field.name for field in dataclasses.fields(theirs)]
    assert set(names) <= set(OTHER), "the SDK has a new field: say here what it means"
    assert [field.name for field in dataclasses.fields(ours)][: len(names)] == names

    def values(made: Any) -> dict[str, Any]:
        return {name: getattr(made, name) for name in names}

    given = {name: OTHER[name] for name in names}
    assert values(ours()) == values(theirs())
    assert values(ours(*given.values())) == values(ours(**given)) == values(theirs(**given))
    for name, value in given.items():
        assert values(ours(**{name: value})) == values(theirs(**{name: value}))
        assert values(dataclasses.replace(ours(), **{name: value})) == values(theirs(**{name: value}))
        assert values(dataclasses.replace(ours(**given), **{name: getattr(theirs(), name)})) == values(
            dataclasses.replace(theirs(**given), **{name: getattr(theirs(), name)})
        )
    made = ours(**given)
    assert made == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) != ours()
    parameters = list(inspect.signature(ours).parameters.values())
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters[len(names) :])


def test_memory_takes_what_the_sdks_memory_takes() -> None:
    assert set(SdkMemory.model_fields) <= set(Memory.model_fields)
    assert not any(Memory.model_fields[name].is_required() for name in Memory.model_fields)
    for kind in (SdkMemory, Memory):
        made = kind(layout={"memories_dir": "m"}, read={"live_update": False}, generate={"extra_prompt": "x"})  # type: ignore[arg-type]
        assert (made.layout.memories_dir, made.layout.sessions_dir) == ("m", "sessions")
        assert made.read is not None and not made.read.live_update
        assert made.generate is not None and made.generate.extra_prompt == "x"
        assert made.type == "memory" and kind() == kind()
    for given in ({}, {"read": None}, {"read": SdkRead(live_update=False)}, {"generate": None}):
        assert Memory(**given).required_capability_types() == SdkMemory(**given).required_capability_types()  # type: ignore[arg-type]


WRONG: dict[str, Any] = {
    "nothing to do": lambda memory, generate, layout: memory(read=None, generate=None),
    "an absolute folder": lambda memory, generate, layout: memory(layout=layout("/m", "s")),
    "a way out": lambda memory, generate, layout: memory(layout=layout("m", "a/../../s")),
    "no folder": lambda memory, generate, layout: memory(layout=layout("", "s")),
    "the root": lambda memory, generate, layout: memory(layout=layout("m", ".")),
    "no raw memory": lambda memory, generate, layout: generate(max_raw_memories_for_consolidation=0),
    "too many": lambda memory, generate, layout: generate(max_raw_memories_for_consolidation=4097),
    "settings that are none": lambda memory, generate, layout: generate(phase_one_model_settings=3),
    "an unknown setting": lambda memory, generate, layout: generate(phase_two_model_settings={"nonsense": 1}),
    "a switch in place of a config": lambda memory, generate, layout: memory(read=True),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_the_sdk_refuses_is_refused_alike(what: str) -> None:
    with pytest.raises((ValueError, TypeError)) as theirs:
        WRONG[what](SdkMemory, SdkGenerate, SdkLayout)
    with pytest.raises(type(theirs.value)) as ours:
        WRONG[what](Memory, MemoryGenerateConfig, MemoryLayoutConfig)
    assert str(ours.value).split(" [type")[0] == str(theirs.value).split(" [type")[0]


# ---- what the settings do


def extraction(text: str, item: str = "s1.0") -> str:
    """A phase-1 answer that remembers one line of the transcript."""
    memory = {"kind": "fact", "text": text, "quotes": [{"item": item, "text": text}]}
    said = {"task": "Notes", "slug": "notes", "summary": "Said.", "raw_memory": "Said."}
    return json.dumps({**said, "memories": [memory]})


ADD = json.dumps({"operations": [{"op": "add", "candidates": ["c1"]}]})


def quoting(request: dict[str, Any]) -> str:
    """A phase-1 answer that remembers the last thing that the user said, as the transcript shows it."""
    shown = request["input"] if isinstance(request["input"], str) else request["input"][-1]["content"]
    found = [line for line in str(shown).splitlines() if "The port of" in line]
    text = found[-1][found[-1].index("The port of") :]
    return extraction(text)


async def visit(root: Path, *names: str, memory: Any, say: str = "The port of {} is 8443.", **more: Any) -> list[Any]:
    """One session, in which each conversation has one run; the agents, for what they were told."""
    acting = []
    async with await session_in(root, **more) as session:
        for name in names:
            acting.append(agent("noted", memory=memory))
            await run(acting[-1], say.format(name), session=session, conversation_id=name)
    return acting


def test_models_settings_and_extra_prompt_reach_both_phases(tmp_path: Path) -> None:
    one, two = Scripted(quoting), Scripted(ADD)
    generate = MemoryGenerateConfig(
        phase_one_model=one,
        phase_one_model_settings={"temperature": 0.25},  # type: ignore[arg-type]
        phase_two_model=two,
        phase_two_model_settings=ModelSettings(max_tokens=77),
        extra_prompt="Always note the region: {{ not a template }}.",
    )
    asyncio.run(visit(tmp_path / "w", "a", memory=Memory(generate=generate)))
    (first,), (second,) = one.seen, two.seen
    assert (first["settings"].temperature, first["settings"].max_tokens) == (0.25, None)
    assert (second["settings"].temperature, second["settings"].max_tokens) == (None, 77)
    for request in (first, second):
        assert "Always note the region: {{ not a template }}." in request["system"]
    assert first["tools"] == [] and [tool.name for tool in second["tools"]] == ["open_rollout_summary"]
    assert "The port of a is 8443." in (tmp_path / "w/memories/MEMORY.md").read_text(encoding="utf-8")


def test_the_default_effort_of_both_phases_is_the_sdks(tmp_path: Path) -> None:
    one, two = Scripted(quoting), Scripted(ADD)
    asyncio.run(
        visit(tmp_path / "w", "a", memory=Memory(generate=SdkGenerate(phase_one_model=one, phase_two_model=two)))
    )
    for (request,) in (one.seen, two.seen):
        assert request["settings"].reasoning.effort == "medium"


def test_the_newest_conversations_count_as_many_as_were_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "w"
    names = ["red", "green", "blue", "grey"]
    for name in names:
        asyncio.run(visit(root, name, memory=Memory(generate=offline(max_raw_memories_for_consolidation=2)), say=RULE))
    chosen = json.loads((root / "memories/phase_two_selection.json").read_text(encoding="utf-8"))["selected"]
    assert [each["rollout_id"] for each in chosen] == ["grey", "blue"]
    for shown in (texts(root), (root / "memories/memory_summary.md").read_text(encoding="utf-8").splitlines()):
        assert [name for name in names if any(f"team {name}" in line for line in shown)] == ["blue", "grey"]


RULE = "Remember: team {} always reviews migrations before a release."


@pytest.mark.skipif(
    "phase_two_max_turns" not in SdkGenerate.__dataclass_fields__, reason="this version of the SDK has no such setting"
)
@pytest.mark.parametrize(("turns", "asked"), [(1, 1), (2, 2), (500, 3)])
def test_the_turns_of_phase_two_are_bounded(tmp_path: Path, turns: int, asked: int) -> None:
    silent = Scripted("")
    generate = MemoryGenerateConfig(
        phase_one_model="offline", phase_two_model=silent, phase_two_max_turns=turns, attempts=1
    )
    said = "I always want to see the diff before you commit anything."  # no ask to remember, which needs no model
    asyncio.run(visit(tmp_path / "w", "a", memory=Memory(generate=generate), say=said))
    assert len(silent.seen) == asked
    (failure,) = state(tmp_path / "w").failures.values()
    assert f"within {asked} turns" in failure.cause


def test_configs_of_the_sdk_do_what_ours_do(tmp_path: Path) -> None:
    one, two = Scripted(quoting), Scripted(ADD)
    memory = Memory(
        layout=SdkLayout(memories_dir="notes/team", sessions_dir="runs/team"),
        read=SdkRead(live_update=False),
        generate=SdkGenerate(5, one, {"temperature": 0.5}, two, None, "Note the region."),  # type: ignore[arg-type]
    )
    root = tmp_path / "w"
    (_, later) = asyncio.run(visit(root, "a", memory=memory)) + asyncio.run(visit(root, "b", memory=memory))
    assert sorted(path.name for path in (root / "runs/team").glob("*.jsonl")) == ["a.jsonl", "b.jsonl"]
    assert "port of a is 8443" in later.model.seen[0]["system"]
    assert "correct that line" not in later.model.seen[0]["system"]
    assert one.seen[0]["settings"].temperature == 0.5 and "Note the region." in two.seen[0]["system"]
    assert state_of(root, "notes/team").limit == 5
    assert not (root / "memories").exists() and not (root / "sessions").exists()


def state_of(root: Path, memories: str) -> Any:
    with open_memory(root, memories_dir=memories) as memory:
        return memory.state()


# ---- which rollout a run belongs to


@streamed_or_not
def test_the_four_sources_of_a_rollout_id_on_disk(tmp_path: Path, streamed: bool) -> None:
    """Conversation before session before group before the run itself; a group never shares a file with a session."""

    async def go() -> None:
        async with await session_in(tmp_path / "w") as session:

            async def one(say: str, group: str | None = None, **more: Any) -> None:
                history = SQLiteSession(more.pop("history")) if "history" in more else None
                given = {"run_config": config(session, group_id=group), "session": history, **more}
                acting = agent("ok", memory=Memory(generate=offline()))
                if streamed:
                    async for _ in Runner.run_streamed(acting, say, **given).stream_events():
                        pass
                else:
                    await Runner.run(acting, say, **given)
                if history is not None:
                    history.close()

            await one("conversation and group", "42", conversation_id="talk")
            await one("session and group", "42", history="42")
            await one("group", "42")
            await one("session again", history="42")
            await one("group again", "42")
            await one("nothing")
            await one("blank", " ")

    asyncio.run(go())
    written = {
        stem: [segment["input"][0]["content"] for segment in segments]
        for stem, segments in lines(tmp_path / "w").items()
    }
    assert written.pop("talk") == ["conversation and group"]
    assert written.pop("42") == ["session and group", "session again"]
    (group,) = [stem for stem in written if stem.startswith("42--")]
    assert written.pop(group) == ["group", "group again"]
    assert all(stem.startswith("run-") for stem in written)
    assert sorted(itertools.chain(*written.values())) == ["blank", "nothing"]
    assert set(state(tmp_path / "w").rollouts) == {"talk", "42", group, *written}


# ---- what is told, and what is written


def everything(root: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in root.rglob("*")}


def test_without_generate_not_a_byte_is_written_and_edits_are_told_at_once(tmp_path: Path) -> None:
    root = tmp_path / "w"
    asyncio.run(visit(root, "red", memory=Memory(generate=offline()), say=RULE))
    handbook = root / "memories/MEMORY.md"
    handbook.write_text(handbook.read_text(encoding="utf-8").replace("team red", "team purple"), encoding="utf-8")
    shutil.copyfile(root / "sessions/red.jsonl", root / "sessions/pending.jsonl")
    before = everything(root)
    (told,) = asyncio.run(visit(root, "x", memory=Memory(generate=None), say="Remember: never deploy on Fridays."))
    assert everything(root) == before
    assert "team purple" in told.model.seen[0]["system"] and "team red" not in told.model.seen[0]["system"]
    bare = tmp_path / "bare"
    asyncio.run(visit(bare, "x", memory=Memory(generate=None)))
    assert everything(bare) == {}


@pytest.mark.parametrize(
    ("read", "told", "live"), [(None, False, False), (MemoryReadConfig(), True, True), (SdkRead(False), True, False)]
)
def test_what_is_read(tmp_path: Path, read: Any, told: bool, live: bool) -> None:
    root = tmp_path / "w"
    asyncio.run(visit(root, "red", memory=Memory(read=read, generate=offline()), say=RULE))
    memory = Memory(read=read, generate=offline())
    capabilities: list[Any] = (
        [memory] if read is None else [memory, Shell()] if not live else [memory, Shell(), Filesystem()]
    )

    async def go() -> SandboxAgent[Any]:
        acting = SandboxAgent(name="A", model=Scripted("ok"), instructions="Be brief.", capabilities=capabilities)
        async with await session_in(root) as session:
            await run(acting, session=session, conversation_id="blue")
        return acting

    system = asyncio.run(go()).model.seen[0]["system"]  # type: ignore[union-attr]
    assert ("team red always reviews migrations" in system) is told
    assert ("correct that line" in system) is live and ("Do not write in" in system) is (told and not live)
    assert "^m-" not in system.replace("` ^m-…`", "") and "<!-- memory:" not in system
    assert set(lines(root)) == {"red", "blue"} == set(state(root).rollouts)


@pytest.mark.parametrize(("missing", "kept"), [("shell", Filesystem), ("filesystem", Shell)])
@streamed_or_not
def test_a_missing_capability_is_named_and_nothing_happens(
    tmp_path: Path, missing: str, kept: Any, streamed: bool
) -> None:
    async def go(memory: Any, root: Path) -> str:
        acting = SandboxAgent(name="A", model=Scripted("ok"), capabilities=[memory, kept()])
        async with await session_in(root) as session:
            with pytest.raises(UserError) as error:
                await run(acting, session=session, streamed=streamed)
        assert not acting.model.seen  # type: ignore[union-attr]
        return str(error.value)

    theirs = asyncio.run(go(SdkMemory(), tmp_path / "theirs"))
    ours = asyncio.run(go(Memory(), tmp_path / "ours"))
    assert f"Memory requires missing capabilities: {missing}" in theirs
    assert f"Memory requires missing capabilities: {missing}" in ours and f"{kept.__name__}()" not in ours
    assert everything(tmp_path / "ours") == {}


# ---- coming back


def client() -> UnixLocalSandboxClient:
    return UnixLocalSandboxClient()


@pytest.mark.parametrize("root", ["the caller's", "the SDK's"])
def test_memory_comes_back_with_the_session_state_and_with_the_snapshot(tmp_path: Path, root: str) -> None:
    snapshot = LocalSnapshotSpec(base_path=tmp_path / "snapshots")
    manifest = Manifest(root=str(tmp_path / "w")) if root == "the caller's" else Manifest()

    async def one(session: Any, name: str) -> str:
        acting = agent("ok", memory=Memory(generate=offline()))
        async with session:
            await run(acting, RULE.format(name), session=session, conversation_id=name)
        return str(acting.model.seen[0]["system"])  # type: ignore[union-attr]

    async def go() -> None:
        sandbox = client()
        first = await sandbox.create(manifest=manifest, snapshot=snapshot)
        where = Path(first.state.manifest.root)
        told = [await one(first, "red")]
        stored = json.dumps(sandbox.serialize_session_state(first.state))

        kept = await sandbox.resume(sandbox.deserialize_session_state(json.loads(stored)))
        told.append(await one(kept, "green"))
        stored = json.dumps(sandbox.serialize_session_state(kept.state))

        shutil.rmtree(where)
        restored = await sandbox.resume(sandbox.deserialize_session_state(json.loads(stored)))
        told.append(await one(restored, "blue"))
        agree(where)
        records = {record.text for record in state(where).visible().values()}
        assert len(records) == 3
        # Each conversation was extracted once, in whichever life of the workspace.
        assert [rollout.order[0] for rollout in state(where).rollouts.values()].count(0) == 0
        assert set(lines(where)) == {"red", "green", "blue"}
        assert not list((where / "memories/.open").glob("*"))

        fresh = await sandbox.create(manifest=Manifest())
        told.append(await one(fresh, "grey"))
        await sandbox.delete(restored)
        await sandbox.delete(fresh)
        shutil.rmtree(where, ignore_errors=True)

        known = [[name for name in ("red", "green", "blue") if f"team {name}" in system] for system in told]
        assert known == [[], ["red"], ["red", "green"], []]

    asyncio.run(go())


def test_sessions_that_the_runner_makes_start_empty_and_end_well(tmp_path: Path) -> None:
    async def go() -> list[str]:
        told = []
        for name in ("red", "green"):
            acting = agent("ok", memory=Memory(generate=offline()))
            sandbox = SandboxRunConfig(client=client())
            result = await Runner.run(acting, RULE.format(name), run_config=RunConfig(sandbox=sandbox))
            assert result.final_output == "ok"
            told.append(acting.model.seen[0]["system"])  # type: ignore[union-attr]
        return told

    assert not any("team red" in system for system in asyncio.run(go()))


# ---- a workspace of the SDK's own Memory

HANDBOOK = """\
# Task Group: Billing service

scope: how the billing service is run and tested

## Task 1: Fix the rounding of totals, success

### rollout_summary_files

- rollout_summaries/red_fix-rounding.md (updated_at=2026-01-01T00:00:00Z, thread_id=red, rounding fixed)

### keywords

- rounding, invoice, Decimal

## Task 2: Move the port, success

### rollout_summary_files

- rollout_summaries/green_move-port.md (updated_at=2026-01-02T00:00:00Z, thread_id=green, port moved)

### keywords

- port, staging

## User preferences

- when totals change, the user asked for a diff first -> show it before editing [Task 1]

## Reusable knowledge

- the staging server listens on port 8443 [Task 2]
- totals are rounded half up with Decimal, never with float [Task 1][Task 2]

## Failures and how to do differently

- `make test` needs PYTHONPATH=src, else ModuleNotFoundError [Task 1]

# Task Group: General

scope: what belongs to no task

## User preferences

- the user writes British English
"""
SUMMARY = """\
v1

## User Profile

Works on the billing service, prefers small diffs.

## User preferences

- Diffs first.

## What's in Memory

### Billing service

- rounding, port: see MEMORY.md
"""


def artifacts(slug: str, summary: str, raw: str) -> str:
    return json.dumps({"rollout_slug": slug, "rollout_summary": summary, "raw_memory": raw})


class Killed(Exception):
    """Stands for the end of a process: its session is never closed."""


async def sdk_visit(root: Path, runs: list[tuple[str, str]], *answers: str, killed: bool = False) -> Scripted:
    """One session of the SDK's own Memory; its phase 2 writes both files with a shell, as real models do."""
    write = "\n".join(
        f"cat > memories/{name} <<'END'\n{text}END"
        for name, text in (("MEMORY.md", HANDBOOK), ("memory_summary.md", SUMMARY))
    )
    one, two = Scripted(*answers), Scripted(shell(write), "done")
    memory = SdkMemory(generate=SdkGenerate(phase_one_model=one, phase_two_model=two))
    session = await session_in(root)
    with contextlib.suppress(Killed):
        async with contextlib.AsyncExitStack() as stack:
            if killed:
                await session.start()
            else:
                await stack.enter_async_context(session)
            for name, say in runs:
                await run(agent("ok", memory=memory), say, session=session, conversation_id=name)
            if killed:
                raise Killed
    return two


@pytest.fixture(scope="module")
def made_by_the_sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two conversations that the SDK has read, of which one went on when it was killed, and one that it never read."""
    root = tmp_path_factory.mktemp("sdk") / "w"

    async def go() -> None:
        await sdk_visit(
            root,
            [("red", "fix the rounding"), ("green", "move the port to 8443")],
            artifacts("move-port", "# Port moved", "---\ndescription: port\n---\nThe port is 8443."),
            artifacts("fix-rounding", "# Rounding fixed", "---\ndescription: rounding\n---\nHalf up."),
        )
        await sdk_visit(root, [("blue", RULE.format("blue")), ("red", RULE.format("red"))], killed=True)

    asyncio.run(go())
    assert (root / "memories/MEMORY.md").read_text(encoding="utf-8") == HANDBOOK
    assert {path.name for path in (root / "memories/raw_memories").iterdir()} == {"red.md", "green.md"}
    assert {path.name for path in (root / "memories/rollout_summaries").iterdir()} == {
        "red_fix-rounding.md",
        "green_move-port.md",
    }
    assert {stem: len(segments) for stem, segments in lines(root).items()} == {"blue": 1, "green": 1, "red": 2}
    return root


@pytest.fixture
def taken_over(made_by_the_sdk: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_by_the_sdk, tmp_path / "w"))


def bullets(handbook: str) -> list[str]:
    """The lines of a handbook that are memories, without our ids and the references to tasks."""
    found, counts = [], True
    for line in handbook.splitlines():
        if line.startswith("#"):
            counts = not line.startswith("###")
        elif line.startswith("- ") and counts:
            said = line.removeprefix("- ")
            found.append((said.rpartition(" ^m-")[0] or said).partition(" [Task ")[0])
    return found


def test_what_the_sdk_wrote_is_told_and_kept_and_not_read_again(taken_over: Path) -> None:
    one, two = Scripted(quoting), Scripted(ADD)
    memory = Memory(generate=MemoryGenerateConfig(phase_one_model="offline", phase_two_model=two))
    (told,) = asyncio.run(visit(taken_over, "new", memory=memory, say="hello there"))
    system = told.model.seen[0]["system"]
    for line in bullets(HANDBOOK):
        assert line in system, "a memory of the SDK's is not told any more"
    assert "Works on the billing service, prefers small diffs." in system
    handbook = (taken_over / "memories/MEMORY.md").read_text(encoding="utf-8")
    assert set(bullets(HANDBOOK)) <= set(bullets(handbook))
    for line in HANDBOOK.splitlines():
        assert line in handbook, f"gone from MEMORY.md: {line!r}"
    now = state(taken_over)
    by_text = {record.text: record for record in now.visible().values()}
    supported = {text: sorted(record.support) for text, record in by_text.items()}
    assert supported["the staging server listens on port 8443"] == ["green"]
    assert supported["totals are rounded half up with Decimal, never with float"] == ["green", "red"]
    assert supported["when totals change, the user asked for a diff first -> show it before editing"] == ["red"]
    assert supported["the user writes British English"] == []
    assert not any(record.protected for text, record in by_text.items() if text in bullets(HANDBOOK))
    # What the SDK was killed over is read, of a conversation that it had read before only what is new.
    sizes = {stem: (taken_over / f"sessions/{stem}.jsonl").stat().st_size for stem in ("red", "green", "blue")}
    assert {stem: now.rollouts[stem].consumed for stem in sizes} == sizes
    read = [len(lines(taken_over)[stem]) for stem in ("green", "red", "blue")]
    assert read == [1, 2, 1] and one.seen == []
    raw = {stem: (taken_over / f"memories/raw_memories/{stem}.md").read_text(encoding="utf-8") for stem in sizes}
    assert "The port is 8443." in raw["green"] and "team green" not in raw["green"]
    assert "Half up." in raw["red"] and "team red always reviews" in raw["red"]
    assert "fix the rounding" not in raw["red"] and "team blue always reviews" in raw["blue"]
    assert now.rollouts["red"].summary_file == "rollout_summaries/red_fix-rounding.md"
    agree(taken_over)


def test_no_model_is_asked_about_what_the_sdk_had_read(taken_over: Path) -> None:
    one = Scripted(json.dumps({"task": "", "memories": []}))
    memory = Memory(generate=MemoryGenerateConfig(phase_one_model=one, phase_two_model="offline"))
    asyncio.run(visit(taken_over, "new", memory=memory))
    asked = "\n".join(str(request["input"]) for request in one.seen)
    assert len(one.seen) == 3  # blue, what is new of red, and the run itself
    assert "team blue" in asked and "team red" in asked
    assert "move the port" not in asked and "fix the rounding" not in asked


def test_a_workspace_of_ours_opens_in_the_sdk_and_comes_back(tmp_path: Path) -> None:
    root = tmp_path / "w"
    asyncio.run(visit(root, "red", "green", memory=Memory(generate=offline()), say=RULE))
    handbook = (root / "memories/MEMORY.md").read_text(encoding="utf-8")
    one = Scripted(artifacts("say-hello", "# Hello", "Said hello."))
    two = Scripted(shell("printf '\\n- the team meets on Mondays\\n' >> memories/MEMORY.md"), "done")
    theirs = SdkMemory(generate=SdkGenerate(phase_one_model=one, phase_two_model=two))
    (told,) = asyncio.run(visit(root, "blue", memory=theirs, say="hello"))
    assert all(f"team {name} always reviews" in told.model.seen[0]["system"] for name in ("red", "green"))
    assert len(one.seen) == 1
    chosen = json.loads((root / "memories/phase_two_selection.json").read_text(encoding="utf-8"))["selected"]
    assert {each["rollout_id"] for each in chosen} == {"red", "green", "blue"}, "the SDK does not see our raw memories"
    assert all((root / "memories" / each["rollout_summary_file"]).is_file() for each in chosen)
    merged = (root / "memories/raw_memories.md").read_text(encoding="utf-8")
    assert all(f"rollout_id: {name}\n" in merged for name in ("red", "green", "blue"))
    assert (root / "memories/MEMORY.md").read_text(encoding="utf-8").startswith(handbook)

    (back,) = asyncio.run(visit(root, "grey", memory=Memory(generate=offline()), say=RULE))
    system = back.model.seen[0]["system"]
    assert all(text in system for text in ("team red", "team green", "the team meets on Mondays"))
    now = state(root)
    assert {record.text for record in now.visible().values()} >= {"the team meets on Mondays"}
    assert sum("team red" in record.text for record in now.records.values()) == 1
    assert set(now.rollouts) == {"red", "green", "blue", "grey"}
    agree(root)


def test_a_summary_without_end_is_not_told_whole(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "memories").mkdir(parents=True)
    (root / "memories/memory_summary.md").write_text("BEGIN\n" + "so it goes on\n" * 20_000 + "END\n", encoding="utf-8")
    for memory in (SdkMemory(generate=None), Memory(generate=None)):
        (told,) = asyncio.run(visit(root, "x", memory=memory))
        system = told.model.seen[0]["system"]
        assert "BEGIN" in system and re.search(r"^(- agent: \")?END\"?$", system, re.M)
        assert 50_000 < len(system) < 100_000


# ---- over HTTP: what is sent, and by which client

MARKS = ("SYSTEM-MARK", "DEVELOPER-MARK", "REASONING-MARK", "ENCRYPTED-MARK", "INSTRUCTION-MARK")
USAGE = {"agent": (1000, 10), "one": (300, 30), "two": (70, 7)}
"""Input and output tokens that the server reports for a request to each model."""


class Responses:
    """A server that speaks the Responses API, streamed and not; keeps the requests, and answers by their model."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(({key.lower(): value for key, value in self.headers.items()}, body))
                data, kind = json.dumps(outer.response(body)), "application/json"
                if body.get("stream"):
                    event = {"type": "response.completed", "sequence_number": 0, "response": json.loads(data)}
                    data, kind = f"event: response.completed\ndata: {json.dumps(event)}\n\n", "text/event-stream"
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data.encode())))
                self.end_headers()
                self.wfile.write(data.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def of(self, model: str) -> list[dict[str, Any]]:
        return [body for _, body in self.requests if body["model"] == model]

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def response(self, body: dict[str, Any]) -> dict[str, Any]:
        used = dict(zip(("input_tokens", "output_tokens"), USAGE[body["model"]], strict=True))
        return {
            "id": f"resp_{len(self.requests)}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": body["model"],
            "output": self.output(body),
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                **used,
                "total_tokens": sum(used.values()),
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def output(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        def says(text: str) -> dict[str, Any]:
            content = {"type": "output_text", "text": text, "annotations": []}
            return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [content]}

        number = len(self.of(body["model"]))
        if body["model"] == "one":
            return [says(extraction("the port is 8443, not 8080", "s1.0"))]
        if body["model"] == "two":
            return [says(ADD)]
        thought = {
            "id": f"rs_{number}",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "REASONING-MARK: they seem to be in a hurry"}],
            "encrypted_content": "ENCRYPTED-MARK",
        }
        if number % 2 == 0:
            return [thought, says("Noted.")]
        call = {"type": "function_call", "id": "fc_1", "call_id": f"call_{number}", "name": "exec_command"}
        return [thought, {**call, "status": "completed", "arguments": json.dumps({"cmd": "echo looked"})}]


@pytest.fixture
def server() -> Iterator[Responses]:
    started = Responses()
    yield started
    started.close()


SAYS = [
    {"role": "system", "content": "SYSTEM-MARK: be polite"},
    {"role": "developer", "content": "DEVELOPER-MARK: use metric units"},
    {"role": "user", "content": "the port is 8443, not 8080"},
]


async def over_http(root: Path, server: Responses, *, streamed: bool, **more: Any) -> None:
    generate = MemoryGenerateConfig(phase_one_model="one", phase_two_model="two", extra_prompt="EXTRA-MARK")
    acting = SandboxAgent(
        name="A",
        model="agent",
        instructions="INSTRUCTION-MARK: answer briefly",
        capabilities=[Memory(generate=generate), Filesystem(), Shell()],
    )
    url = f"http://127.0.0.1:{server.http.server_port}/v1"
    async with (
        openai.AsyncOpenAI(base_url=url, api_key="key-of-the-caller", max_retries=0) as http,
        await session_in(root) as session,
    ):
        given = RunConfig(
            model_provider=OpenAIProvider(openai_client=http),
            sandbox=SandboxRunConfig(session=session),
            **more,
        )
        said: Any = copy.deepcopy(SAYS)
        if streamed:
            result = Runner.run_streamed(acting, said, run_config=given, conversation_id="talk")
            async for _ in result.stream_events():
                pass
        else:
            await Runner.run(acting, said, run_config=given, conversation_id="talk")


@streamed_or_not
def test_over_http_memorys_own_requests_hold_nothing_of_the_runs_instructions_and_thoughts(
    tmp_path: Path, server: Responses, streamed: bool
) -> None:
    root = tmp_path / "w"
    asyncio.run(over_http(root, server, streamed=streamed, tracing_disabled=True))
    acted, (first,), (second,) = server.of("agent"), server.of("one"), server.of("two")
    assert len(acted) == 2 and len(server.requests) == 4
    sent = json.dumps(acted)
    seen_by_agent = {mark for mark in MARKS if mark in sent}
    assert seen_by_agent >= {"SYSTEM-MARK", "DEVELOPER-MARK", "INSTRUCTION-MARK"}, (
        "the run has what memory must not show"
    )
    assert all(body["conversation"] == "talk" for body in acted)
    for body in (first, second):
        request = json.dumps(body)
        assert not [mark for mark in MARKS if mark in request]
        assert "the port is 8443, not 8080" in request and "EXTRA-MARK" in request
        assert not body.get("previous_response_id") and not body.get("conversation")
        assert body["text"]["format"]["type"] == "json_schema" and body["reasoning"]["effort"] == "medium"
    assert not first.get("tools") and [tool["name"] for tool in second["tools"]] == ["open_rollout_summary"]
    assert "echo looked" in json.dumps(first) and "looked\\n" in json.dumps(first)
    for headers, _ in server.requests:
        assert headers["authorization"] == "Bearer key-of-the-caller"
    everywhere = b"".join(data or b"" for data in everything(root).values()).decode("utf-8")
    assert not [mark for mark in (*MARKS, "EXTRA-MARK") if mark in everywhere]
    with open_memory(root) as memory:
        assert [record.text for record in memory.records()] == ["the port is 8443, not 8080"]
        status = memory.status()
    stem = "talk"
    assert status["usage"] == {stem: {"requests": 1, "input_tokens": 300, "output_tokens": 30}}
    assert status["consolidation_usage"] == {"requests": 1, "input_tokens": 70, "output_tokens": 7}

    asyncio.run(over_http(root, server, streamed=streamed, tracing_disabled=True))
    with open_memory(root) as memory:
        status = memory.status()
    assert len(server.of("one")) == 2
    assert status["usage"] == {stem: {"requests": 2, "input_tokens": 600, "output_tokens": 60}}
    calls_of_two = len(server.of("two"))
    assert status["consolidation_usage"]["input_tokens"] == 70 * calls_of_two
    assert "the port is 8443" in server.of("agent")[-1]["instructions"]


class Traces(TracingProcessor):
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_trace_start(self, trace: Any) -> None:
        self.names.append(trace.name)

    def on_trace_end(self, trace: Any) -> None: ...
    def on_span_start(self, span: Any) -> None: ...
    def on_span_end(self, span: Any) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


@pytest.mark.parametrize("disabled", [True, False])
def test_over_http_memory_is_traced_if_the_run_is(
    tmp_path: Path, server: Responses, disabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces, provider = Traces(), DefaultTraceProvider()
    provider.set_processors([traces])
    provider.set_disabled(False)
    monkeypatch.setattr(tracing_setup, "GLOBAL_TRACE_PROVIDER", provider)
    asyncio.run(over_http(tmp_path / "w", server, streamed=False, tracing_disabled=disabled, workflow_name="Support"))
    assert len(server.requests) == 4
    assert traces.names == ([] if disabled else ["Support", *["Sandbox memory for Support"] * 2])
