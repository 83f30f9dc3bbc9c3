"""Skills: what worked twice becomes a SKILL.md, which people may edit and delete, and which the SDK's Skills loads."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from agents.sandbox import Manifest
from agents.sandbox.capabilities import Skills
from agents.sandbox.entries import Dir
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

from sandbox_memory import open_memory
from sandbox_memory.config import MemoryGenerateConfig
from sandbox_memory.ledger import parse
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.pipeline import Pipeline, commands
from sandbox_memory.records import RunCapture
from sandbox_memory.skills import shared_title
from sandbox_memory.trusting.signed import is_ours
from sandbox_memory.workspace.local import LocalWorkspace

from .editing import drop_line, files
from .killing import Counter, calls_of, forked
from .kit import LIMITS, agree, delete_line, handbook, layout, pipeline, process, run, said, state

DEPLOY = "make deploy ENV=staging"
NAME = "deploy-the-billing-service-to-staging"


def worked(
    rollout: str, *commands: tuple[str, str], asks: str = "Deploy the billing service to staging."
) -> RunCapture:
    """A run that was asked for something and ran these commands, each with what it printed."""
    items: list[dict[str, Any]] = []
    for n, (command, shown) in enumerate(commands):
        call = {"type": "function_call", "call_id": f"call_{n}", "name": "exec_command"}
        items.append({**call, "arguments": json.dumps({"cmd": command})})
        items.append({"type": "function_call_output", "call_id": f"call_{n}", "output": shown})
    capture = said(asks, rollout=rollout, answer="It is done.")
    return RunCapture(**{**vars(capture), "generated": [*items, *capture.generated]})


def happened(root: Path, *captures: RunCapture) -> None:
    async def work() -> None:
        line = pipeline(root)
        for capture in captures:
            await line.record(capture)

    run(work())
    process(root, OfflineModel())


def skill(root: Path, name: str = NAME) -> Path:
    return root / "memories" / "skills" / name / "SKILL.md"


def deployed(root: Path, *rollouts: str) -> None:
    for rollout in rollouts:
        happened(root, worked(rollout, (DEPLOY, "exit code: 0\ndeployed billing to staging")))


def test_what_worked_once_is_no_skill(tmp_path: Path) -> None:
    deployed(tmp_path, "monday")
    assert DEPLOY in handbook(tmp_path).read_text(encoding="utf-8")
    assert not (tmp_path / "memories" / "skills").exists()


def test_the_same_conversation_twice_is_once(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "monday")
    assert not (tmp_path / "memories" / "skills").exists()


def test_what_worked_twice_is_a_skill_with_its_command(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    text = skill(tmp_path).read_text(encoding="utf-8")
    assert text.startswith(f'---\nname: {NAME}\ndescription: "')
    assert f"1. `{DEPLOY}`" in text and "2 conversations" in text and "^m-" not in text
    agree(tmp_path)
    before = skill(tmp_path).stat()
    process(tmp_path, OfflineModel())
    assert skill(tmp_path).stat() == before


def test_a_chinese_task_makes_a_chinese_skill(tmp_path: Path) -> None:
    for rollout in ("周一", "周二"):
        ran = (DEPLOY, "exit code: 0\ndeployed billing to staging")
        happened(tmp_path, worked(rollout, ran, asks="把计费服务部署到预发环境"))
    (path,) = (tmp_path / "memories" / "skills").glob("*/SKILL.md")
    text = path.read_text(encoding="utf-8")
    assert f"name: {path.parent.name}\n" in text and path.parent.name.isascii()
    assert "以下命令在 2 次会话中都成功过" in text and f"1. `{DEPLOY}`" in text


@pytest.mark.parametrize(
    ("titles", "title"),
    [
        (["deploy payments 2.14.0 to staging", "Deploy payments to staging, v2.15.1"], "deploy payments to staging"),
        (["Deploy the billing service to staging", "have a call at 10", "deploy billing to staging now"],
         "Deploy billing to staging"),
        (["have a call with Northwind at 10", "who owns the account of Fabrikam?"], ""),
        (["把计费服务 2.3 部署到预发环境", "请把计费服务部署到预发环境"], "把计费服务部署到预发环境"),
        (["发布报表 317 到看板", "发布报表 371 到看板"], "发布报表到看板"),
        (["看看日志", "整理会议纪要"], ""),
        (["one title"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_a_skill_is_named_by_what_the_requests_share(titles: list[str], title: str) -> None:
    assert shared_title(titles) == title


def test_one_command_in_two_unlike_tasks_is_no_skill(tmp_path: Path) -> None:
    ran = (DEPLOY, "exit code: 0\ndeployed billing to staging")
    happened(tmp_path, worked("monday", ran), worked("tuesday", ran, asks="Find out why invoices are late."))
    assert not (tmp_path / "memories" / "skills").exists()


def test_an_edited_skill_is_never_written_again(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    mine = skill(tmp_path).read_text(encoding="utf-8") + "\nAsk Ana before a Friday deploy.\n"
    skill(tmp_path).write_text(mine, encoding="utf-8")
    deployed(tmp_path, "wednesday")
    assert skill(tmp_path).read_text(encoding="utf-8") == mine
    assert state(tmp_path).skills[NAME].edited
    delete_line(tmp_path, DEPLOY)
    process(tmp_path, OfflineModel())
    assert skill(tmp_path).read_text(encoding="utf-8") == mine
    shutil.rmtree(tmp_path / "memories" / "skills")
    handbook(tmp_path).unlink()
    process(tmp_path, OfflineModel())
    assert skill(tmp_path).read_text(encoding="utf-8") == mine, "what a person wrote is in the ledger"


def test_a_deleted_skill_stays_deleted(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    shutil.rmtree(skill(tmp_path).parent)
    deployed(tmp_path, "wednesday")
    assert not skill(tmp_path).exists()
    deployed(tmp_path, "thursday")
    assert not skill(tmp_path).exists()


def test_a_lost_folder_is_no_deletion(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    before = skill(tmp_path).read_bytes()
    shutil.rmtree(tmp_path / "memories" / "skills")
    handbook(tmp_path).unlink()
    process(tmp_path, OfflineModel())
    assert skill(tmp_path).read_bytes() == before


def test_a_skill_goes_with_the_line_that_it_is_made_of(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    delete_line(tmp_path, DEPLOY)
    process(tmp_path, OfflineModel())
    assert not skill(tmp_path).exists() and not state(tmp_path).skills


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("way", ["handbook", "summary", "command", "open", "undo"])
def test_a_deleted_line_goes_from_its_skill_when_it_is_taken_in(
    tmp_path: Path, way: str, edited: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Not at the next close: until then an agent would read it. A skill that a person edited says that it has it."""
    deployed(tmp_path, "monday", "tuesday")
    if edited:
        with skill(tmp_path).open("a", encoding="utf-8") as file:
            file.write("\nAsk Ana before a Friday deploy.\n")
    memory = open_memory(tmp_path)
    memory.add("I review migrations myself.")
    assert memory.adopt().state.skills
    (line,) = [record for record in memory.records() if DEPLOY in record.text]
    if way == "command":
        memory.delete(line.id)
    else:
        path = handbook(tmp_path) if way != "summary" else handbook(tmp_path).with_name("memory_summary.md")
        path.write_text(drop_line(path.read_text(encoding="utf-8"), DEPLOY), encoding="utf-8")
        if way == "open":
            run(pipeline(tmp_path).briefing())
        else:
            memory.adopt()
    if way == "undo":
        memory.undo(next(c["commit"] for c in memory.history() if any(o["op"] == "delete" for o in c["operations"])))
    said = skill(tmp_path).read_text(encoding="utf-8") if skill(tmp_path).exists() else ""
    assert (DEPLOY in said) is (edited or way == "undo")
    if edited and way in ("handbook", "summary"):
        assert "it still stands in" in caplog.text and "skills/" in caplog.text


def test_a_file_of_the_same_name_that_is_not_ours_stays(tmp_path: Path) -> None:
    skill(tmp_path).parent.mkdir(parents=True)
    skill(tmp_path).write_text("---\nname: mine\ndescription: mine\n---\n", encoding="utf-8")
    deployed(tmp_path, "monday", "tuesday")
    assert skill(tmp_path).read_text(encoding="utf-8") == "---\nname: mine\ndescription: mine\n---\n"


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/hostname"), lambda path: path.mkdir()])
def test_something_else_in_its_place_stops_nothing(tmp_path: Path, make: Any) -> None:
    skill(tmp_path).parent.mkdir(parents=True)
    make(skill(tmp_path))
    deployed(tmp_path, "monday", "tuesday")
    assert DEPLOY in handbook(tmp_path).read_text(encoding="utf-8")
    assert skill(tmp_path).is_symlink() or skill(tmp_path).is_dir()


def test_a_crash_between_file_and_commit_is_no_edit(tmp_path: Path) -> None:
    deployed(tmp_path, "monday")
    ledger = tmp_path / "memories" / "ledger.jsonl"
    deployed(tmp_path, "tuesday")
    lines = ledger.read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"write_skill"' in line)
    ledger.write_bytes(b"".join(lines[:place]))
    process(tmp_path, OfflineModel())
    assert is_ours(skill(tmp_path).read_bytes()) and not state(tmp_path).skills[NAME].edited


def test_a_forgotten_line_leaves_its_skill(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    (id,) = state(tmp_path).skills[NAME].records
    run(commands.forget(pipeline(tmp_path), [id]))
    assert not skill(tmp_path).exists()


def orphaned(root: Path) -> None:
    """Assert that the files of skills are those that the ledger knows, and that nothing is left to do."""
    known = {name for name, each in state(root).skills.items() if not each.dropped}
    assert {path.parent.name for path in (root / "memories" / "skills").glob("*/SKILL.md")} == known
    assert not any(each.due for each in state(root).skills.values())
    before = files(root)
    process(root, OfflineModel())
    assert files(root) == before


def gone(root: Path) -> None:
    delete_line(root, DEPLOY)


def typed(root: Path) -> None:
    if skill(root).exists():
        skill(root).write_text(skill(root).read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.proof)])
@pytest.mark.parametrize("work", ["first", "again", "removal"])
def test_killed_while_skills_are_written(tmp_path: Path, work: str, whole: bool) -> None:
    """What was there before the kill, and what a person does after it, decides; a crash deletes and edits no skill."""
    template, root = tmp_path / "template", tmp_path / "ws"
    template.mkdir()
    deployed(template, "monday")
    if work != "first":
        deployed(template, "tuesday")
    if work == "removal":
        delete_line(template, DEPLOY)
    else:
        run(pipeline(template).record(worked("wednesday", (DEPLOY, "exit code: 0\ndeployed billing to staging"))))

    def close(acknowledge: Any) -> None:
        process(root, OfflineModel())

    def start() -> None:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(template, root)

    start()
    edits = (None, gone, typed)
    for at in range(1, calls_of(close) + 1, 1 if whole else 2):
        for after in edits if whole else edits[at % 3 : at % 3 + 1]:
            start()
            _, killed = forked(close, Counter(at, after=at % 2 == 0 if whole else at % 4 == 3))
            assert killed
            had = skill(root).exists()
            if after and handbook(root).exists():
                after(root)
            mine = had and after is typed and (work != "removal")
            process(root, OfflineModel())
            now = state(root).skills.get(NAME)
            if mine:
                assert "Mine." in skill(root).read_text(encoding="utf-8") and now and now.edited
            elif after is gone or work == "removal":
                if after is not typed:
                    assert not skill(root).exists() and now is None
            else:
                assert skill(root).exists() and now and not now.edited
            orphaned(root)


def test_two_processes_do_not_take_a_removal_for_a_deletion(tmp_path: Path) -> None:
    """One looked at the ledger before a line was deleted, and at the files after the other had removed its skill."""
    deployed(tmp_path, "monday", "tuesday")

    class Late(LocalWorkspace):
        other = False

        async def look(self, asks: Any, folders: Any = ()) -> Any:
            if not self.other and any("SKILL.md" in getattr(ask, "path", ask) for ask in asks):
                self.other = True
                delete_line(tmp_path, DEPLOY)
                await asyncio.to_thread(process, tmp_path, OfflineModel())
                assert not skill(tmp_path).exists()
            return await super().look(asks, folders)

    model = OfflineModel()
    run(Pipeline(Late(tmp_path), layout(), generate=MemoryGenerateConfig()).process((model, model), LIMITS))
    assert not state(tmp_path).skills
    orphaned(tmp_path)


def test_all_deleted_skills_stay_deleted(tmp_path: Path) -> None:
    made = [("make test", "exit code: 0\n12 passed"), (DEPLOY, "exit code: 0\ndeployed billing to staging")]
    for rollout in ("monday", "tuesday"):
        happened(
            tmp_path,
            worked(f"{rollout}-1", made[0], asks="Run the unit tests of the parser."),
            worked(f"{rollout}-2", made[1]),
        )
    assert len(state(tmp_path).skills) == 2
    shutil.rmtree(tmp_path / "memories" / "skills")
    for _ in range(2):
        process(tmp_path, OfflineModel())
        assert not list((tmp_path / "memories").glob("skills/*/SKILL.md"))


@pytest.mark.parametrize("between", ["nothing", "a command", "a session"])
def test_skills_lost_with_the_markdown_are_written_again(tmp_path: Path, between: str) -> None:
    deployed(tmp_path, "monday", "tuesday")
    before = skill(tmp_path).read_bytes()
    shutil.rmtree(tmp_path / "memories" / "skills")
    for path in (tmp_path / "memories").glob("*.md"):
        path.unlink()
    if between == "a command":
        run(pipeline(tmp_path).adopt())
    elif between == "a session":
        run(pipeline(tmp_path).open())
    process(tmp_path, OfflineModel())
    assert skill(tmp_path).read_bytes() == before


@pytest.mark.parametrize("how", ["deleted", "edited"])
def test_what_a_person_made_of_a_skill_holds_under_another_name(tmp_path: Path, how: str) -> None:
    """A third conversation shares more words with the first: the title, and with it the name, is another one."""
    ran = (DEPLOY, "exit code: 0\ndeployed billing to staging")
    asks = [
        "Deploy the billing service to staging with care",
        "deploy billing to staging",
        "deploy the billing service to staging with great care",
    ]
    for n, ask in enumerate(asks[:2]):
        happened(tmp_path, worked(f"chat-{n}", ran, asks=ask))
    (first,) = state(tmp_path).skills
    if how == "deleted":
        shutil.rmtree(skill(tmp_path, first).parent)
    else:
        typed_into = skill(tmp_path, first)
        typed_into.write_text(typed_into.read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")
    happened(tmp_path, worked("chat-2", ran, asks=asks[2]))
    assert [path.parent.name for path in (tmp_path / "memories").glob("skills/*/SKILL.md")] == [first] * (
        how == "edited"
    )
    orphaned(tmp_path)


def test_a_renamed_skill_that_nobody_touched_moves(tmp_path: Path) -> None:
    ran = (DEPLOY, "exit code: 0\ndeployed billing to staging")
    asks = [
        "Deploy the billing service to staging with care",
        "deploy billing to staging",
        "deploy the billing service to staging with great care",
    ]
    for n, ask in enumerate(asks):
        happened(tmp_path, worked(f"chat-{n}", ran, asks=ask))
    (name,) = state(tmp_path).skills
    assert name == "deploy-the-billing-service-to-staging-with-care"
    orphaned(tmp_path)


def test_titles_that_read_alike_to_a_file_system_share_no_skill_by_accident(tmp_path: Path) -> None:
    made = [
        ("部署 nginx 计费服务", "kubectl apply -f billing.yml", "configured"),
        ("回滚 nginx 订单服务", "kubectl rollout undo orders", "rolled back"),
    ]
    for day in "12":
        for n, (ask, command, shown) in enumerate(made):
            happened(tmp_path, worked(f"chat-{day}-{n}", (command, f"exit code: 0\n{shown}"), asks=ask))
    names = sorted(path.parent.name for path in (tmp_path / "memories").glob("skills/*/SKILL.md"))
    assert len(names) == 2 and all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) <= 64 for name in names)
    for name in names:
        text = skill(tmp_path, name).read_text(encoding="utf-8")
        assert ("billing.yml" in text) != ("rollout undo" in text)


def test_titles_that_differ_in_case_are_one_skill(tmp_path: Path) -> None:
    made = [
        ("Deploy Billing to Staging", "make deploy", "deployed"),
        ("deploy billing to staging", "make smoke", "12 passed"),
    ]
    for day in "12":
        for n, (ask, command, shown) in enumerate(made):
            happened(tmp_path, worked(f"chat-{day}-{n}", (command, f"exit code: 0\n{shown}"), asks=ask))
    text = skill(tmp_path, "deploy-billing-to-staging").read_text(encoding="utf-8")
    assert "`make deploy`" in text and "`make smoke`" in text


@pytest.mark.parametrize("form", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data])
def test_line_ends_and_a_byte_order_mark_are_no_edit_and_stay(tmp_path: Path, form: Any) -> None:
    deployed(tmp_path, "monday", "tuesday")
    formed = form(skill(tmp_path).read_bytes())
    skill(tmp_path).write_bytes(formed)
    process(tmp_path, OfflineModel())
    assert skill(tmp_path).read_bytes() == formed and not state(tmp_path).skills[NAME].edited
    deployed(tmp_path, "wednesday")
    assert b"3 conversations" in skill(tmp_path).read_bytes()


def test_an_edit_in_a_session_is_the_agents(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")

    async def work() -> None:
        line, model = pipeline(tmp_path), OfflineModel()
        await line.open()
        skill(tmp_path).write_text(
            skill(tmp_path).read_text(encoding="utf-8") + "\nFrom the agent.\n", encoding="utf-8"
        )
        await line.process((model, model), LIMITS, actor="live")

    run(work())
    assert state(tmp_path).skills[NAME].edited
    commits = parse((tmp_path / "memories" / "ledger.jsonl").read_bytes()).commits
    assert [c.actor for c in commits for o in c.operations if o.op == "write_skill" and o.facts.get("edited")] == [
        "live"
    ]


def test_forgotten_words_in_an_edited_skill_do_not_come_back_to_the_ledger(tmp_path: Path) -> None:
    deployed(tmp_path, "monday", "tuesday")
    skill(tmp_path).write_text(skill(tmp_path).read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")
    process(tmp_path, OfflineModel())
    (id,) = state(tmp_path).skills[NAME].records
    run(commands.forget(pipeline(tmp_path), [id]))
    process(tmp_path, OfflineModel())
    assert DEPLOY not in (tmp_path / "memories" / "ledger.jsonl").read_text(encoding="utf-8")
    assert skill(tmp_path).read_text(encoding="utf-8").endswith("\nMine.\n")


def test_the_sdk_loads_it(tmp_path: Path) -> None:
    """From where the workspace keeps it: `Skills` with an empty `Dir` lists what the session has there."""
    deployed(tmp_path, "monday", "tuesday")

    async def told() -> str:
        skills = Skills(from_=Dir(), skills_path="memories/skills")
        manifest = skills.process_manifest(Manifest(root=str(tmp_path)))
        session = await UnixLocalSandboxClient().create(manifest=manifest)
        async with session:
            skills.bind(session)
            return await skills.instructions(manifest) or ""

    text = asyncio.run(told())
    assert NAME in text and "commands that worked before" in text and f"memories/skills/{NAME}" in text
