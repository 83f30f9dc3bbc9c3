"""Scopes: whose memory a folder holds, who says so, and that nothing of ours reads from one into another."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import shutil
import traceback
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agents import Runner, RunState, UserError, function_tool
from agents.sandbox import SandboxAgent
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_memory import Memory, MemoryGenerateConfig, MemoryLayoutConfig, MemoryReadConfig, MemoryScope, open_memory
from sandbox_memory.capture import newest_request
from sandbox_memory.errors import ConfigError, OtherTenant
from sandbox_memory.folding import fold
from sandbox_memory.guard import Guard, as_key
from sandbox_memory.host.tenancy import refuse_others
from sandbox_memory.layout import Layout
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.scope import PARTS, base_of, scope_of, tenant_of
from sandbox_memory.workspace.finding import folders
from sandbox_memory.workspace.local import LocalWorkspace
from sandbox_memory.workspace.session import SessionWorkspace

from .kit import LIMITS, EchoModel, said
from .recording import run
from .scripted import agent, calls, config, session_in, shell
from .shell_session import ShellSession
from .test_cli import of, sm
from .workspaces import everything

try:
    from agents._run_state_agent_identity import _agent_identity_signature
except ImportError:  # older versions of the SDK
    from agents.run_state import _agent_identity_signature

NASTY = [
    "ann",
    "Ann",
    "ANN",
    "ann ",
    " ann",
    "ann.",
    "ann..",
    "ann/",
    "..",
    ".",
    "../ann",
    "../../etc/passwd",
    "/ann",
    "a/b",
    "a\\b",
    "a:b",
    "~",
    "-rf",
    "--",
    "$(id)",
    "`id`",
    "*",
    "%2e%2e%2f",
    "\0",
    "ann\0",
    "a\nb",
    "\x7f",
    "\u200b",
    "ann\u200b",
    "con",
    "CON",
    "nul.txt",
    "NUL",
    "com1",
    "LPT9.log",
    "aux.",
    "é",
    "e\u0301",
    "É",
    "ß",
    "ss",
    "ẞ",
    "ﬁ",
    "fi",
    "İ",
    "i",
    "ı",
    "Å",
    "\u212b",
    "K",
    "\u212a",
    "k",
    "会话-1",
    "会话-2",
    "用户",
    "用戶",
    "👩‍👩‍👧",
    "👩👩👧",
    "\u202egnp.exe",
    "שלום",
    "user=bob",
    "tenant=acme",
    "user",
    "memories",
    "skills",
    "ledger.jsonl",
    ".open",
    "x" * 64,
    "x" * 65,
    "x" * 300,
    "x" * 299 + "y",
    "会" * 300,
    "é" * 150,
    "bob--" + "0" * 32,
    "bob--" + "0" * 31,
    "--" + "0" * 32,
]


def on_any_disk(folder: str) -> str:
    """The name as the most forgetful file system has it: no case, no Unicode form, no dots or blanks at an end."""
    names = (unicodedata.normalize("NFKD", part).casefold().rstrip(". ") for part in folder.split("/"))
    return unicodedata.normalize("NFKC", "/".join(names))


# ---- names


def test_no_two_nasty_names_share_a_folder_and_none_leaves_its_own() -> None:
    found = {on_any_disk(MemoryScope(user=name).folder): name for name in NASTY if name.strip()}
    assert len(found) == len([name for name in NASTY if name.strip()])
    for folder, name in found.items():  # and nobody gets a folder by calling himself what it is called
        called = MemoryScope(user=folder.removeprefix("user=")).folder
        assert called not in found or (called == folder and name == called.removeprefix("user=")), name
    for folder in found:
        assert folder.isascii() and folder.isprintable() and folder == folder.lower()
        assert "/" not in folder and folder.startswith("user=") and not folder.endswith((".", " "))
        assert len(folder) <= 80 and scope_of(f"memories/{folder}") == folder


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)
TEXTS |= st.sampled_from([name for name in NASTY if name.strip()])
SCOPES = st.builds(lambda parts: MemoryScope(**parts), st.dictionaries(st.sampled_from(PARTS), TEXTS))
FOLDERS = st.sampled_from(["memories", "memories/coding", "sessions", "kb", "a/b/c"])


@settings(max_examples=1000)
@given(SCOPES, SCOPES, st.tuples(FOLDERS, FOLDERS), st.tuples(FOLDERS, FOLDERS))
def test_two_scopes_never_meet(
    one: MemoryScope, two: MemoryScope, first: tuple[str, str], second: tuple[str, str]
) -> None:
    if len({*first}) == 2 and len({*second}) == 2:
        a, b = one.within(Layout.of(*first)), two.within(Layout.of(*second))
        meet = on_any_disk(a.memories_dir) == on_any_disk(b.memories_dir)
        assert meet == (one == two and first[0] == second[0]), (a, b)
        assert a.memories_dir != a.sessions_dir
        assert (a.memories_dir == b.sessions_dir) == (one == two and first[0] == second[1])
    for part in one.folder.split("/") if one.folder else ():
        assert 0 < len(part.encode()) <= 80 and part not in (".", "..")
    assert len(one.folder) <= 300
    assert base_of(f"memories/{one.folder}".rstrip("/")) == "memories"
    assert bool(tenant_of(one.folder)) == bool(one.tenant)


def test_parts_that_are_left_out_are_no_parts() -> None:
    alone = Layout.of("memories", "sessions")
    assert MemoryScope().within(alone) == alone and MemoryScope() == MemoryScope()
    assert MemoryScope(tenant="acme", user="ann").folder == "tenant=acme/user=ann"
    assert MemoryScope(user="ann", project="x", team="t", tenant="a").folder == "tenant=a/team=t/project=x/user=ann"
    made = {MemoryScope(**{part: "ann"}).folder for part in PARTS}
    assert made == {f"{part}=ann" for part in PARTS}
    assert replace(MemoryScope(tenant="acme"), user="ann").folder == "tenant=acme/user=ann"
    assert MemoryScope(user="x" * 300).folder != MemoryScope(user="x" * 299).folder


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None. Leave it out"),
        ("", "blank"),
        (" \t", "blank"),
        (7, "a int"),
        (b"ann", "a bytes"),
        ("x" * 301, "301 characters"),
        ("\ud800", "surrogate"),
    ],
)
@pytest.mark.parametrize("part", PARTS)
def test_an_identity_that_got_lost_is_refused(part: str, value: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=rf"MemoryScope\.{part} .*{words}"):
        MemoryScope(**{part: value})


def test_a_layout_that_is_a_scopes_folder_takes_no_scope_and_is_that_memory() -> None:
    inside = Layout.of("memories/tenant=acme", "sessions/tenant=acme")
    assert MemoryScope(tenant="acme").within(Layout.of("memories", "sessions")) == inside
    for folders_ in (("memories/user=ann", "sessions"), ("memories", "sessions/user=ann/x")):
        with pytest.raises(ConfigError, match="folder of a scope itself"):
            MemoryScope(tenant="acme").within(Layout.of(*folders_))
    with pytest.raises(ValueError, match="folder of a scope itself"):
        Memory(layout=MemoryLayoutConfig(memories_dir="memories/user=ann"), scope=MemoryScope(user="bob"))


def test_a_thousand_scopes_on_a_real_disk(tmp_path: Path) -> None:
    """Each finds the canary that it laid down, and no other, in as many folders as there are scopes."""
    draw = random.Random(20)
    alphabets = ("ab", "AbÉe\u0301", "会话用户", "👩\u200d👧🏽", "אב\u202e", "./\\ \0", "con.NUL")
    parts = {"".join(draw.choices(draw.choice(alphabets), k=draw.randint(1, 12))) for _ in range(2000)}
    names = [name for name in dict.fromkeys([*NASTY, *sorted(parts)]) if name.strip()][:1000]
    assert len(names) == 1000
    scopes = [MemoryScope(tenant="acme" if n % 2 else "Acme", user=name) for n, name in enumerate(names)]
    layout = Layout.of("memories", "sessions")
    for n, scope in enumerate(scopes):
        folder = tmp_path / scope.within(layout).memories_dir
        assert folder.resolve().is_relative_to((tmp_path / "memories").resolve())
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text(f"canary-{n}")
    for n, scope in enumerate(scopes):
        assert (tmp_path / scope.within(layout).memories_dir / "MEMORY.md").read_text() == f"canary-{n}"
    assert len({on_any_disk(scope.folder) for scope in scopes}) == len(list(tmp_path.rglob("MEMORY.md"))) == 1000


# ---- commands, Python calls and prompts


@dataclass(frozen=True)
class Owner:
    scope: MemoryScope | None
    canary: str

    @property
    def options(self) -> list[str]:
        given = self.scope or MemoryScope()
        return [f"--{part}={getattr(given, part)}" for part in PARTS if getattr(given, part)]

    @property
    def fact(self) -> str:
        return f"the staging port is {self.canary}"


OWNERS = [
    Owner(None, "canary100"),
    Owner(MemoryScope(tenant="acme"), "canary101"),
    Owner(MemoryScope(tenant="acme", user="ann"), "canary102"),
    Owner(MemoryScope(tenant="acme", user="Ann"), "canary103"),
    Owner(MemoryScope(tenant="globex"), "canary104"),
    Owner(MemoryScope(tenant="globex", user="ann"), "canary105"),
    Owner(MemoryScope(tenant="globex", user="../../tenant=acme/user=ann"), "canary106"),
    Owner(MemoryScope(team="用户"), "canary107"),
    Owner(MemoryScope(project="e\u0301"), "canary108"),
    Owner(MemoryScope(project="é"), "canary109"),
    Owner(MemoryScope(user="x" * 300), "canary110"),
]


class Reading(EchoModel):
    """Keeps all that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def answer(self, request: Any) -> Any:
        self.asked.append(f"{request!r} {request.material!r}")
        return await super().answer(request)


@pytest.fixture(scope="module")
def shared_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One workspace with the memories of all owners: a transcript, a processed fact and a line by hand in each."""
    root = tmp_path_factory.mktemp("scopes")
    for owner in OWNERS:  # processed only when all of them are there: until then no scope's folder has a ledger
        opened = open_memory(root, scope=owner.scope).pipeline
        opened.generate = MemoryGenerateConfig()
        asyncio.run(opened.record(said(owner.fact)))
    for owner in OWNERS:
        model = Reading()
        with open_memory(root, scope=owner.scope) as memory:
            asyncio.run(memory.pipeline.process((model, model), LIMITS))
            memory.add(f"By hand: {owner.canary}.")
            assert sorted(record.text for record in memory.records()) == [f"By hand: {owner.canary}.", owner.fact]
        assert model.extracted == ["chat"] and model.consolidations == 1
        only(owner, "".join(model.asked), where="a prompt")
    return root


@pytest.fixture
def root(shared_root: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shared_root, tmp_path / "w"))


def only(owner: Owner, text: str, *, where: str) -> None:
    strangers = [other.canary for other in OWNERS if other is not owner and other.canary in text]
    assert not strangers, f"{where} of {owner.scope} shows {strangers}"


def commands(owner: Owner, root: Path, id: str) -> dict[str, list[object]]:
    return {
        "status": ["status", root],
        "show": ["show", root, "--all"],
        "history": ["history", root],
        "why": ["why", id, "--workspace", root],
        "check": ["check", root],
        "process": ["process", root, "--model", "offline", "--again", "--verbose"],
        "add": ["add", f"A new line of {owner.canary}.", "--workspace", root],
        "edit": ["edit", id, f"Another line of {owner.canary}.", "--workspace", root],
        "check again": ["check", root],
        "forget": ["forget", id, "--yes", "--workspace", root],
    }


@pytest.mark.parametrize("owner", [OWNERS[n] for n in (0, 2, 3, 6, 8)], ids=lambda owner: owner.canary)
def test_no_command_reads_across(root: Path, owner: Owner) -> None:
    with open_memory(root, scope=owner.scope) as memory:
        id = next(record.id for record in memory.records() if record.text == owner.fact)
    foreign = foreign_files(root, owner)
    for name, words in commands(owner, root, id).items():
        result = sm(*words, *owner.options)
        only(owner, result.stdout + result.stderr, where=name)
        if name in ("show", "why", "add", "edit", "forget"):
            assert owner.canary in result.stdout, name
        document = sm(*words, *owner.options, "--json", code=1 if name == "forget" else 0)
        only(owner, document.stdout, where=f"{name} --json")
        if owner.scope is not None:
            told = (result.stdout + document.stdout).replace(str(root), "").replace(str(owner.scope.user), "")
            strangers = [other.scope.folder for other in OWNERS if other.scope and other is not owner]
            mine = owner.scope.folder
            assert not [folder for folder in strangers if folder in told and not mine.startswith(folder)], name
    assert foreign_files(root, owner) == foreign


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.canary)
def test_no_call_and_no_prompt_reads_across(root: Path, owner: Owner) -> None:
    foreign, model = foreign_files(root, owner), Reading()
    with open_memory(root, scope=owner.scope) as memory:
        record = next(record for record in memory.records() if record.text == owner.fact)
        memory.add(f"A new line of {owner.canary}.", kind="preference")
        memory.record([{"role": "user", "content": f"the other port is {owner.canary}"}], rollout_id="second")
        asyncio.run(memory.pipeline.process((model, model), LIMITS, again=True))
        found = [memory.records(), memory.state(), memory.items(), memory.status(), memory.history(), memory.check()]
        found += [memory.why(record.id), memory.why(f"MEMORY.md:{memory.items()[0].line}"), model.asked]
        found += [memory.forget(record.id), memory.state()]
        briefing = asyncio.run(memory.pipeline.briefing(about="canary100 canary101 canary105"))
    assert len(model.extracted) == 2 and owner.canary in briefing
    only(owner, briefing, where="the prompt of a run")
    for number, each in enumerate(found):
        only(owner, repr(each), where=f"call {number}")
    assert foreign_files(root, owner) == foreign


def test_what_another_scope_has_is_unknown_here(root: Path) -> None:
    ann, other = OWNERS[2], OWNERS[5]
    with open_memory(root, scope=other.scope) as memory:
        theirs = memory.records()[0].id
    before = everything(root)
    for words in (["why", theirs], ["forget", "--yes", theirs]):
        result = sm(*words, "--workspace", root, *ann.options, code=1)
        only(ann, result.stdout + result.stderr, where=words[0])
    handbook = root / "memories" / MemoryScope(tenant="globex", user="ann").folder / "MEMORY.md"
    result = sm("why", f"{handbook}:5", "--workspace", root, *ann.options, code=2)
    assert "folder of a scope itself" in result.stderr and not result.stdout
    assert everything(root) == before


def foreign_files(root: Path, owner: Owner) -> dict[str, bytes]:
    """The files of all others, to the last byte; locks and open marks are not looked at."""
    mine = (owner.scope or MemoryScope()).folder
    return {path: data for path, data in everything(root).items() if not own(path, mine)}


def own(path: str, mine: str) -> bool:
    """True for a file of that scope itself."""
    parts = [part for part in path.split("/") if part.partition("=")[0] in PARTS]
    return "/".join(parts) == mine


# ---- one agent for many


@dataclass
class Signed:
    """What an application passes as the context of a run."""

    user: str
    tenant: str = "acme"


def whose(context: Signed) -> MemoryScope:
    return MemoryScope(tenant=context.tenant, user=context.user)


def offline(**more: Any) -> MemoryGenerateConfig:
    return MemoryGenerateConfig(phase_one_model="offline", phase_two_model="offline", **more)


def transcripts(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.jsonl") if {"sessions", "logs"}.intersection(path.parts))


def wish(user: str) -> str:
    return f"I always review the migrations of {user} myself"


def prompts(starting: SandboxAgent[Any], word: str) -> list[str]:
    """The system prompts of the requests whose input has the word in it."""
    return [each["system"] for each in starting.model.seen if word in json.dumps(each["input"])]  # type: ignore[union-attr]


def test_one_agent_serves_users_one_after_another_and_none_is_told_of_another(tmp_path: Path) -> None:
    helper = agent("noted", memory=Memory(scope=whose, generate=offline()))

    async def visit(user: str, text: str) -> None:
        async with await session_in(tmp_path / "w") as session:
            await Runner.run(helper, text, context=Signed(user), run_config=config(session, group_id="g"))

    for user in ("ann7", "Ann7", "bob7"):
        asyncio.run(visit(user, wish(user)))
    for user in ("ann7", "Ann7", "bob7"):
        asyncio.run(visit(user, f"Now then, {user}?"))
        (told,) = prompts(helper, f"Now then, {user}?")
        assert {name for name in ("ann7", "Ann7", "bob7") if wish(name) in told} == {user}
        assert f"memories/{whose(Signed(user)).folder}/" in told or f"memories/{whose(Signed(user)).folder}" in told


@pytest.mark.parametrize(
    ("streamed", "tenth"), [(False, 5), (True, 1), pytest.param(True, 20, marks=pytest.mark.proof)]
)
def test_fifty_runs_at_once_never_mix(tmp_path: Path, streamed: bool, tenth: int) -> None:
    """Six tenths in one session, two as tenants with a session each, two as users with one each: one Memory."""
    writing, reading = (Memory(scope=whose, generate=generate) for generate in (offline(), None))
    helper = agent("noted", memory=writing)
    shared = [Signed(f"user{n}x") for n in range(6 * tenth)]
    apart = [(f"t{n}", Signed("ann", f"tenant{n}x")) for n in range(2 * tenth)]
    apart += [(f"u{n}", Signed(f"lone{n}x")) for n in range(2 * tenth)]

    def name(signed: Signed) -> str:
        return signed.user if signed.user != "ann" else signed.tenant

    async def one(session: Any, signed: Signed, text: str) -> None:
        # The SDK refuses one agent object in two runs at once; its clones share the memory.
        await run(helper.clone(), text, session=session, streamed=streamed, group_id="g", context=signed)

    async def alone(folder: str, signed: Signed, say: Callable[[str], str]) -> None:
        async with await session_in(tmp_path / folder) as session:
            await one(session, signed, say(name(signed)))

    async def together(say: Callable[[str], str]) -> None:
        async with await session_in(tmp_path / "shared") as session:
            await asyncio.gather(*(one(session, signed, say(name(signed))) for signed in shared))

    async def round_of(say: Callable[[str], str]) -> None:
        await asyncio.gather(together(say), *(alone(folder, signed, say) for folder, signed in apart))

    asyncio.run(round_of(wish))
    helper.capabilities = [reading, *helper.capabilities[1:]]
    asyncio.run(round_of(lambda who: f"Now then, {who}?"))
    everybody = [name(signed) for signed in [*shared, *(signed for _, signed in apart)]]
    assert len(set(everybody)) == 10 * tenth
    for who in everybody:
        (told,) = prompts(helper, f"Now then, {who}?")
        assert [other for other in everybody if wish(other) in told] == [who]
    for signed in shared:
        folder = MemoryScope(tenant="acme", user=signed.user).folder
        text = b"".join(everything(tmp_path / "shared" / "sessions" / folder).values()).decode()
        assert wish(signed.user) in text and not [u for u in everybody if u != signed.user and f" {u} " in text]


def test_every_agent_of_a_run_has_the_scope_of_its_context(tmp_path: Path) -> None:
    """A handoff and a nested agent, for five users at once: each has the memory of the user that it works for."""
    a, b = MemoryLayoutConfig("memories/a", "sessions/a"), MemoryLayoutConfig("memories/b", "sessions/b")
    inner = MemoryLayoutConfig("memories/inner", "sessions/inner")

    async def body(session: Any, user: str) -> None:
        nested = agent("nested is done", memory=Memory(layout=inner, scope=whose), name="N")
        second = agent(calls("ask_n", input="go"), "done", memory=Memory(layout=b, scope=whose), name="B")
        second.tools.append(nested.as_tool("ask_n", "asks", run_config=config(session, group_id="n")))
        first = agent(calls("transfer_to_b"), memory=Memory(layout=a, scope=whose), name="A", handoffs=[second])
        await run(first, f"hello from {user}", session=session, context=Signed(user), group_id="g")

    async def everyone() -> None:
        async with await session_in(tmp_path) as session:
            await asyncio.gather(*(body(session, f"user{n}x") for n in range(5)))

    asyncio.run(everyone())
    for n in range(5):
        folder = whose(Signed(f"user{n}x")).folder
        hello = f"hello from user{n}x"
        for layout, words in (("a", hello), ("b", hello), ("inner", "nested is done")):
            (found,) = (tmp_path / "sessions" / layout / folder).glob("*.jsonl")
            assert words in found.read_text() and len(found.read_text().splitlines()) == 1
    assert not list(tmp_path.glob("sessions/*.jsonl")) and not list(tmp_path.glob("sessions/*/*.jsonl"))


def test_a_resumed_run_goes_on_in_its_users_memory(tmp_path: Path) -> None:
    @function_tool(needs_approval=True)
    def deploy(target: str) -> str:
        return f"deployed {target}"

    helper = agent(calls("deploy", target="staging"), "it is out", memory=Memory(scope=whose), tools=[deploy])

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            stopped = await run(helper, "deploy it", session=session, context=Signed("ann"), group_id="g")
            text = stopped.to_state().to_string(context_serializer=vars)
            assert "MemoryScope" not in text and "tenant=" not in text
            state = await RunState.from_string(
                helper,
                text,
                context_deserializer=lambda given: Signed(**given),  # the application's, as the context is
            )
            state.approve(stopped.interruptions[0])
            await run(helper, state, session=session, group_id="g")

    asyncio.run(body())
    (found,) = transcripts(tmp_path)
    assert found.parent == tmp_path / "sessions" / "tenant=acme" / "user=ann"
    assert len(found.read_text().splitlines()) == 2


def test_the_scope_of_a_run_is_what_it_was_at_its_first_turn(tmp_path: Path) -> None:
    signed = Signed("ann")

    @function_tool
    def become_bob() -> str:
        signed.user = "bob"
        return "you are bob now"

    helper = agent(calls("become_bob"), "done", memory=Memory(scope=whose), tools=[become_bob])

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            await run(helper, "who am I?", session=session, context=signed, group_id="g")

    asyncio.run(body())
    assert [path.parent.name for path in transcripts(tmp_path)] == ["user=ann"]


async def promised(_: Any) -> MemoryScope:
    return MemoryScope(user="ann")


@pytest.mark.parametrize(
    ("scope", "context", "words"),
    [
        (whose, None, "whose raised a AttributeError"),
        (whose, SimpleNamespace(tenant="acme", user=None), "whose raised a ConfigError"),
        (whose, SimpleNamespace(tenant="acme", user=" "), "whose raised a ConfigError"),
        (lambda context: context.missing, Signed("ann"), "raised a AttributeError"),
        (lambda context: None, Signed("ann"), "gave a NoneType"),
        (lambda context: "ann", Signed("ann"), "gave a str"),
        (lambda context: {"user": "ann"}, Signed("ann"), "gave a dict"),
        (promised, Signed("ann"), "promised gave a coroutine. It must be a plain function"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["run", "streamed"])
@pytest.mark.parametrize("read", [MemoryReadConfig(), None], ids=["reads", "writes"])
def test_without_a_scope_nothing_is_read_or_written(
    tmp_path: Path, scope: Any, context: Any, words: str, streamed: bool, read: Any
) -> None:
    with open_memory_in(tmp_path) as memory:
        memory.add("The shared line.")
    before = everything(tmp_path)
    helper = agent("noted", memory=Memory(scope=scope, read=read))

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            with pytest.raises(UserError, match="scope of this run is not known") as caught:
                await run(helper, "hello", session=session, streamed=streamed, context=context, group_id="g")
            assert words in str(caught.value) and "SandboxAgent 'A'" in str(caught.value)
            assert isinstance(caught.value.__cause__, ConfigError)

    asyncio.run(body())
    assert helper.model.seen == [] and everything(tmp_path) == before  # type: ignore[union-attr]


def open_memory_in(root: Path, **more: Any) -> Any:
    root.mkdir(exist_ok=True)
    return open_memory(root, **more)


def test_the_first_agents_part_is_kept_where_the_second_has_no_scope(tmp_path: Path) -> None:
    nobodys = Memory(layout=MemoryLayoutConfig("memories/b", "sessions/b"), scope=lambda _: None)
    second = agent("done", memory=nobodys, name="B")
    first = agent(
        shell("echo work-by-A"), calls("transfer_to_b"), memory=Memory(scope=whose), name="A", handoffs=[second]
    )

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            with pytest.raises(UserError, match="SandboxAgent 'B': the scope of this run"):
                await run(first, "hello", session=session, context=Signed("ann"), group_id="g")

    asyncio.run(body())
    (found,) = transcripts(tmp_path)
    assert found.parent.name == "user=ann" and "work-by-A" in found.read_text()
    assert '"terminal_state": "failed"' in found.read_text().replace('":"', '": "')


def test_what_is_recorded_outside_of_a_run_needs_a_scope(tmp_path: Path) -> None:
    memory = Memory(scope=whose)

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            with pytest.raises(ConfigError, match="whose memory it is was not said"):
                await memory.record(session, "hello", rollout_id="r")
            await memory.record(session, "hello", rollout_id="r", scope=MemoryScope(user="ann"))
            with pytest.raises(UserError, match="whose memory it is was not said"):
                memory.clone().bind(session)

    asyncio.run(body())
    assert [path.parent.name for path in transcripts(tmp_path)] == ["user=ann"]


def test_the_briefing_is_told_what_the_run_is_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard, briefing = [], Pipeline.briefing

    async def listening(self: Pipeline, about: str = "") -> str:
        heard.append(about)
        return await briefing(self, about)

    monkeypatch.setattr(Pipeline, "briefing", listening)

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            await run(agent(shell("true"), "ok", memory=Memory()), [*old, *new], session=session, group_id="g")

    assert newest_request("hello") == "hello"
    old = [{"role": "user", "content": "old"}, {"role": "assistant", "content": "answer"}]
    new = [{"role": "user", "content": "one"}, {"role": "user", "content": [{"type": "input_text", "text": "two"}]}]
    assert newest_request([*old, *new]) == "one\ntwo"
    assert newest_request([*old, *new, {"type": "function_call", "call_id": "1", "name": "f"}]) == "one\ntwo"
    assert newest_request([{"role": "user", "content": [{"type": "input_image"}]}]) == newest_request(None) == ""
    asyncio.run(body())
    assert heard == ["one\ntwo"]


# ---- one tenant for a session


def tenants(root: Path, *signed: Signed, memory: Memory | None = None, one_session: bool = True) -> list[Any]:
    """What came of a run for each: its result or its exception."""
    helper = agent("noted", memory=memory or Memory(scope=whose, generate=offline()))

    async def go() -> list[Any]:
        found: list[Any] = []
        if one_session:
            async with await session_in(root) as session:
                for each in signed:
                    found += await asyncio.gather(
                        run(helper, wish(each.tenant), session=session, context=each, group_id="g"),
                        return_exceptions=True,
                    )
            return found
        return [outcome for each in signed for outcome in await asyncio.to_thread(tenants, root, each, memory=memory)]

    return asyncio.run(go())


@pytest.mark.parametrize("one_session", [True, False], ids=["one session", "a session left its workspace"])
@pytest.mark.parametrize("read_only", [False, True])
def test_two_tenants_are_refused(tmp_path: Path, one_session: bool, read_only: bool, caplog: Any) -> None:
    memory = Memory(scope=whose, generate=offline())
    (first,) = tenants(tmp_path, Signed("ann"), memory=memory)
    assert first.final_output == "noted"
    if read_only:
        memory = Memory(scope=whose, generate=None)
    outcomes = tenants(tmp_path, *([Signed("ann")] if one_session else []), Signed("ann", "globex"), memory=memory)
    refused = outcomes[-1]
    assert isinstance(refused, UserError) and "another tenant" in str(refused) and "of its own" in str(refused)
    assert "acme" not in str(refused)
    assert not list(tmp_path.rglob("tenant=globex")) and "globex" not in "".join(
        path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()
    )
    assert "pending" not in caplog.text and "could not be written before" not in caplog.text
    if one_session:
        assert outcomes[0].final_output == "noted"


def test_users_of_one_tenant_and_a_memory_without_a_tenant_share_a_session(tmp_path: Path) -> None:
    team = Memory(layout=MemoryLayoutConfig("memories/team", "sessions/team"), generate=offline())
    helper = agent("noted", memory=[Memory(scope=whose, generate=offline()), team])

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            for user in ("ann", "bob"):
                await run(helper, wish(user), session=session, context=Signed(user), group_id=user)

    asyncio.run(body())
    assert sorted(path.parent.name for path in transcripts(tmp_path)) == ["team", "team", "user=ann", "user=bob"]


@pytest.mark.parametrize("sessions", [1, 2])
def test_a_session_is_its_first_tenants_though_nothing_was_written(tmp_path: Path, sessions: int) -> None:
    """Nothing in the workspace tells it: the memories only read, or are in folders that have nothing in common."""
    reading = agent("noted", memory=Memory(scope=whose, generate=None))
    apart = agent("noted", memory=Memory(layout=MemoryLayoutConfig("kb", "logs"), scope=whose))

    async def body() -> None:
        async with await session_in(tmp_path) as one, await session_in(tmp_path) as two:
            await run(reading, "hello", session=one, context=Signed("ann"), group_id="g")
            for other in (reading, apart):
                session = one if sessions == 1 else two
                with pytest.raises(UserError, match="another tenant"):
                    await run(other, "hello", session=session, context=Signed("ann", "globex"), group_id="g")
            await run(apart, "hello", session=one, context=Signed("bob"), group_id="g")

    asyncio.run(body())
    assert [path.parent.name for path in transcripts(tmp_path)] == ["user=bob"]


def test_the_memories_of_one_agent_may_have_scopes_of_their_own(tmp_path: Path) -> None:
    def of_team(context: Signed) -> MemoryScope:
        return MemoryScope(tenant=context.tenant, team="support")

    layout = MemoryLayoutConfig("memories/team", "sessions/team")
    memories = [Memory(scope=whose, generate=offline()), Memory(layout=layout, scope=of_team, generate=offline())]
    for scope, line in ((whose(Signed("ann")), "Of Ann alone."), (of_team(Signed("ann")), "Of the team.")):
        with open_memory_in(
            tmp_path, memories_dir="memories/team" if scope.team else "memories", scope=scope
        ) as memory:
            memory.add(line)
    helper = agent("noted", memory=memories)

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            await run(helper, "hello", session=session, context=Signed("ann"), group_id="g")

    asyncio.run(body())
    (told,) = prompts(helper, "hello")
    assert told.count("Of Ann alone.") == told.count("Of the team.") == 1
    found = [path.parent.relative_to(tmp_path).as_posix() for path in transcripts(tmp_path)]
    assert found == ["sessions/team/tenant=acme/team=support", "sessions/tenant=acme/user=ann"]


def test_two_sessions_open_in_one_folder_are_one_workspace(tmp_path: Path) -> None:
    helper = agent("noted", memory=Memory(scope=whose))

    async def body() -> None:
        async with await session_in(tmp_path) as one, await session_in(tmp_path) as two:
            await run(helper, "hello", session=one, context=Signed("ann"), group_id="g")
            with pytest.raises(UserError, match="another tenant"):
                await run(helper, "hello", session=two, context=Signed("ann", "globex"), group_id="g")

    asyncio.run(body())


def test_a_folder_names_its_tenant_whichever_way_it_was_given(tmp_path: Path) -> None:
    by_hand = Memory(layout=MemoryLayoutConfig("memories/tenant=globex", "sessions/tenant=globex"))

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            await run(agent("ok", memory=Memory(scope=MemoryScope(tenant="acme"))), session=session)
            with pytest.raises(UserError, match="another tenant"):
                await run(agent("ok", memory=by_hand), session=session)

    asyncio.run(body())


@pytest.mark.parametrize("remote", [False, True], ids=["local", "session"])
@pytest.mark.parametrize(
    ("there", "mine", "refused"),
    [
        ("memories/tenant=acme", "memories/tenant=acme", False),
        ("memories/tenant=acme/user=ann", "memories/tenant=acme/user=bob", False),
        ("memories/user=ann", "memories/tenant=acme", False),
        ("memories/coding", "memories/tenant=acme", False),
        ("memories/tenant=acme", "memories/tenant=globex", True),
        ("memories/coding/tenant=acme", "memories/tenant=globex", True),
        ("memories/tenant=acme", "memories/coding/tenant=globex/user=ann", True),
        ("a b/c's/[d]/tenant=acme", "a b/c's/[d]/tenant=globex", True),
    ],
)
def test_a_workspace_is_looked_through_before_anything_is_written(
    tmp_path: Path, there: str, mine: str, refused: bool, remote: bool
) -> None:
    (tmp_path / there).mkdir(parents=True)
    workspace = SessionWorkspace(ShellSession(), str(tmp_path)) if remote else LocalWorkspace(tmp_path)
    if refused:
        with pytest.raises(OtherTenant):
            asyncio.run(refuse_others(workspace, mine))
    else:
        asyncio.run(refuse_others(workspace, mine))
    first = there.partition("/")[0]
    assert asyncio.run(folders(workspace, [f"{first}/*"])) == ["/".join(there.split("/")[:2])]


def test_no_folder_of_one_memory_is_another_folder_of_the_next(tmp_path: Path) -> None:
    async def body() -> None:
        async with await session_in(tmp_path) as session:
            Memory(layout=MemoryLayoutConfig("a", "b"), scope=MemoryScope(user="x")).bind(session)
            for memories, sessions in (("b", "c"), ("c", "a")):
                again = Memory(layout=MemoryLayoutConfig(memories, sessions), scope=MemoryScope(user="x"))
                with pytest.raises(UserError, match="already has a memory"):
                    again.bind(session)
            Memory(layout=MemoryLayoutConfig("b", "c"), scope=MemoryScope(user="y")).bind(session)

    asyncio.run(body())


# ---- the key


KEY = "k4711-" + "s" * 40


def test_the_key_is_never_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    receipt = tmp_path / "receipt.json"
    with open_memory(tmp_path) as opened:
        opened.forget(opened.add("The port is 8443.").id, receipt=receipt)
    memory = Memory(key=KEY, scope=MemoryScope(user="secret-ann"), forgotten=(receipt,))
    clone = memory.clone()
    assert (
        clone.key == memory.key == KEY.encode() and clone.scope == memory.scope and clone.forgotten == memory.forgotten
    )
    shown = [repr(memory), str(clone), repr(Guard(key=KEY.encode())), f"{memory.key} {memory.key!r} {[memory.key]}"]
    shown += [repr(memory.model_dump()), memory.model_dump_json(exclude={"generate"}), repr(memory.__class__(key=KEY))]
    shown += [_agent_identity_signature(agent("ok", memory=memory))]
    for wrong in (
        lambda: Memory(key=KEY, layout=MemoryLayoutConfig(memories_dir="/absolute")),
        lambda: Memory(key=KEY, read=None, generate=None),
        lambda: Memory(key=KEY, unknown=1, layout=7),
        lambda: Memory(key=KEY[:15]),
        lambda: Memory(key=[KEY]),
        lambda: Memory(scope="ann", key=KEY.encode()),
        lambda: open_memory(tmp_path, key=KEY[:15]),
    ):
        try:
            wrong()
        except (ValueError, TypeError) as error:
            shown.append("".join(traceback.format_exception(error)))
        else:
            raise AssertionError("that should have been refused")
    logging.getLogger("sandbox_memory").warning("%s %r %s", memory, memory.key, Guard(key=memory.key))
    for text in [*shown, caplog.text]:
        assert "k4711" not in text and "secret-ann" not in text


@pytest.mark.parametrize(
    ("given", "words"), [("", "0 bytes"), ("x" * 15, "15 bytes"), (7, "got a int"), (["x"], "list")]
)
def test_a_key_that_is_none_is_refused(given: Any, words: str, tmp_path: Path) -> None:
    for use in (lambda: Memory(key=given), lambda: open_memory(tmp_path, key=given), lambda: Guard(key=given)):
        with pytest.raises(ConfigError, match=words):
            use()
    assert as_key("é" * 8) == ("é" * 8).encode() and as_key(None) == as_key(b"") == b""
    assert Memory(key=b"x" * 16).key == b"x" * 16 and not Memory().key


# ---- one workspace of many scopes, by command and from Python


def test_process_says_which_scopes_there_are(tmp_path: Path) -> None:
    for scope in (None, MemoryScope(tenant="acme", user="ann"), MemoryScope(tenant="acme", user="Bob Ö.")):
        opened = open_memory(tmp_path, scope=scope).pipeline
        opened.generate = MemoryGenerateConfig()
        asyncio.run(opened.record(said(wish("billing"))))
    assert not list(tmp_path.rglob("ledger.jsonl"))
    printed = sm("process", tmp_path, "--model", "offline").stdout
    ann, bob = (f"memories/{MemoryScope(tenant='acme', user=user).folder}" for user in ("ann", "Bob Ö."))
    assert ann in printed and bob in printed.replace("\n  ", "") and "--all-scopes" in printed
    assert [path.parent.name for path in tmp_path.rglob("ledger.jsonl")] == ["memories"]

    document = of("process", tmp_path, "--model", "offline", "--all-scopes")
    assert [each["memories_dir"] for each in document["memories"]] == ["memories", *sorted([ann, bob])]
    assert document["ok"] and document["memories"][1]["sessions_dir"].startswith("sessions/tenant=acme/")
    assert len(list(tmp_path.rglob("ledger.jsonl"))) == 3
    assert of("status", tmp_path, "--tenant", "acme", "--user", "Bob Ö.")["memories_dir"] == bob
    assert of("status", tmp_path, "--memories", ann)["sessions_dir"] == ann.replace("memories", "sessions")
    assert "all of them" in sm("process", tmp_path, "--all-scopes", "--tenant", "acme", code=2).stderr
    assert "MemoryScope.user is blank" in sm("status", tmp_path, "--user", "", code=2).stderr

    shutil.rmtree(tmp_path / "memories" / "tenant=acme" / Path(bob).name)
    for path in [*tmp_path.glob("memories/*.*"), *tmp_path.glob("sessions/*.jsonl")]:
        path.unlink()
    error = sm("status", tmp_path, code=2).stderr
    assert "memories of scopes only" in error and "--tenant NAME" in error and ann in error


def test_a_ledger_never_leads_to_another_scopes_transcripts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    acme, globex = MemoryScope(tenant="acme"), MemoryScope(tenant="globex")
    for scope in (acme, globex):
        with open_memory_in(tmp_path, scope=scope) as memory:
            memory.add("A line.")
    for hostile in ("sessions/tenant=globex", "sessions/TENANT=globex/.", "sessions"):
        wrong = Pipeline(LocalWorkspace(tmp_path), Layout.of("memories/tenant=acme", hostile))
        asyncio.run(wrong.commit("settings", lambda state: ()))  # as a program would that has the wrong folder
        assert fold(wrong.store.ledger).settings["sessions_dir"] == wrong.layout.sessions_dir
        with open_memory(tmp_path, scope=acme) as memory:
            assert memory.layout.sessions_dir == "sessions/tenant=acme"
        assert "another scope" in caplog.text
        caplog.clear()


def test_a_scope_of_a_layout_with_folders_of_its_own_is_found_again(tmp_path: Path) -> None:
    layout = MemoryLayoutConfig("kb", "logs", preset_name="coding")
    memory = Memory(layout=layout, scope=MemoryScope(user="ann"), generate=offline())

    async def body() -> None:
        async with await session_in(tmp_path) as session:
            await run(agent("noted", memory=memory), wish("billing"), session=session, group_id="g")

    asyncio.run(body())
    with open_memory(tmp_path, memories_dir="kb", scope=MemoryScope(user="ann")) as opened:
        assert (opened.layout.memories_dir, opened.layout.sessions_dir) == ("kb/user=ann", "logs/user=ann")
        assert opened.layout.preset.name == "coding" and [wish("billing")] == [r.text for r in opened.records()]
