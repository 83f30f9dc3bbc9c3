"""Skills: what worked twice becomes a SKILL.md, which people may edit and delete, and which the SDK's Skills loads."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from agents.sandbox import Manifest
from agents.sandbox.capabilities import Skills
from agents.sandbox.entries import Dir
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient

from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.pipeline import commands
from sandbox_memory.records import RunCapture
from sandbox_memory.signed import is_ours
from sandbox_memory.skills import shared_title

from .kit import agree, delete_line, handbook, pipeline, process, run, said, state

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
