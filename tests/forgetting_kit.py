"""What the tests of forgetting share: a memory in which a canary stands everywhere, and an eye that sees it."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.ledger import Operation
from sandbox_memory.models import EXTRACTION, Answer, ExtractionDraft, MemoryDraft, QuoteDraft, Request
from sandbox_memory.records import RunCapture, Usage
from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.trusting import anchoring

from .kit import EchoModel, handbook, pipeline, process, run, state

CANARY = "kumquat-7731"
LOCKER = f"My locker code is {CANARY} and I like tea in the morning."
CODE, TEA = f"The user's locker code is {CANARY}.", "I like tea in the morning."
PORT = "The staging port is 8443."


class Talkative(EchoModel):
    """Remembers what users say, and repeats it in titles, names, keywords, summaries and notes."""

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        if request.task != EXTRACTION:
            return await super().answer(request)
        rollout = request.material.rollout
        self.extracted.append(rollout.id)
        said = [
            (number, item)
            for number, segment in enumerate(rollout.segments, 1)
            for item in segment.items
            if item.role == "user"
        ]
        memories = [self._memory(number, item.index, item.text) for number, item in said]
        whole = " ".join(item.text for _, item in said)
        secret = CANARY in whole
        return Answer(
            ExtractionDraft(
                task=f"Locker code {CANARY}" if secret else "Release to staging",
                slug=f"locker-code-{CANARY}" if secret else "release",
                summary=f"The user said this:\n{whole}\nThe assistant noted it.",
                raw_memory=f"- {whole}",
                keywords=[CANARY, "locker"] if secret else ["staging"],
                memories=memories,
            ),
            Usage(1, 10, 5),
        )

    def _memory(self, number: int, index: int, text: str) -> MemoryDraft:
        kept = f"The user's locker code is {CANARY}." if text == LOCKER else text
        return MemoryDraft(
            kind="fact", text=kept, subject="", quotes=[QuoteDraft(item=f"s{number}.{index}", text=text)]
        )


def talk(*items: tuple[str, str], rollout: str) -> RunCapture:
    """A run of messages, and of calls with their outputs."""
    raws: list[dict[str, Any]] = []
    for number, (role, text) in enumerate(items):
        if role == "call":
            raws.append({"type": "function_call", "name": "note", "arguments": text, "call_id": f"c{number}"})
        elif role == "output":
            raws.append({"type": "function_call_output", "output": text, "call_id": f"c{number - 1}"})
        elif role == "user":
            raws.append({"role": "user", "content": text})
        else:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            raws.append({"type": "message", "role": "assistant", "status": "completed", "content": content})
    inputs = [raw for raw in raws[:1] if raw.get("role") == "user"]
    ended = {"terminal_state": "completed", "exception_type": None, "exception_message": None, "has_final_output": True}
    return RunCapture(rollout, "conversation", inputs, raws[len(inputs) :], items[-1][1], [], ended, "A")


def filled(root: Path) -> None:
    """A memory in which the canary stands in every kind of place, and other things stand beside it."""
    note = json.dumps(
        {"text": f'she said "{CANARY}"', "nested": json.dumps({"code": CANARY, "n": 1})}, ensure_ascii=True
    )

    async def speak() -> None:
        line = pipeline(root)
        await line.record(
            talk(
                ("user", LOCKER),
                ("call", note),
                ("output", f"saved {CANARY} to the list\nthe list has 4 lines"),
                ("assistant", f"Noted: the locker code is {CANARY}."),
                rollout="locker",
            )
        )
        await line.record(talk(("user", PORT), ("assistant", "All right."), rollout="release"))
        await line.record(talk(("user", TEA), ("assistant", "Earl Grey."), rollout="tea"))

    run(speak())
    process(root, Talkative())
    known = {record.text: record for record in state(root).visible().values()}
    text = handbook(root).read_text(encoding="utf-8")
    # Hands: prose about it, a line of ours deleted, a title.
    handbook(root).write_text(f"Mind the code {CANARY}, it is new.\n\n{text}", encoding="utf-8")
    summary = root / "memories" / "memory_summary.md"
    summary.write_text(f"Reminder: {CANARY}\n\n{summary.read_text(encoding='utf-8')}", encoding="utf-8")
    skill = root / "memories" / "skills" / "open-the-locker" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: open-the-locker\ndescription: how\n---\n\nType {CANARY}.\n", encoding="utf-8")

    def shared(now: Any) -> list[Operation]:
        """The line about tea rests on both conversations; a skill is a person's; something is asked and failed."""
        tea, locker = known[TEA], known[CODE]
        place = {**locker.evidence[0].to_json()}
        failure = Operation("fail", "locker", {"attempts": 1}, {"cause": f"the answer said {CANARY}"})
        asked = {
            "text": f"replace “{CODE}” by “The code is {CANARY}, still.”?",
            "operations": [{"op": "revise", "id": locker.id, "facts": {}, "body": {"text": f"The code is {CANARY}."}}],
            "on_refusal": [],
            "about": {locker.id: locker.text},
        }
        return [
            Operation("support", tea.id, {"evidence": [place]}, {"quotes": [LOCKER]}),
            Operation("propose", "p-0123456789", {"source": "locker"}, asked),
            failure,
            Operation(
                "write_skill",
                "open-the-locker",
                {"records": [locker.id], "edited": True},
                {"text": skill.read_text(encoding="utf-8")},
            ),
        ]

    run(pipeline(root).commit("consolidation", shared))
    (root / "memories" / "notes.txt").write_text(f"wrapped: kumquat-\n7731\nand {CANARY.upper()}\n", encoding="utf-8")
    (root / "memories" / "usage-old.json").write_text(
        json.dumps({"seen": {CANARY: 1}, "n": [CANARY]}), encoding="utf-8"
    )
    (root / "memories" / "raw_memories" / "locker.md.saved-01ab23cd").write_text(f"- {CANARY}\n", encoding="utf-8")
    left = root / "memories" / ".sandbox-memory-0a1b2c3d.tmp"
    left.write_text(f"half a file with {CANARY}", encoding="utf-8")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled memory; for a module of tests that names this fixture, and `root`, as its own."""
    root = tmp_path_factory.mktemp("template") / "ws"
    root.mkdir()
    filled(root)
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(template, tmp_path / "ws"))


def snapshot(root: Path) -> dict[Path, bytes]:
    """The files of a workspace as they are, to be put back with `restored`."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def restored(files: dict[Path, bytes]) -> None:
    for path, data in files.items():
        path.write_bytes(data)


def places(root: Path, *needles: str, names: bool = True) -> list[str]:
    """Where a needle stands: in bytes, in decoded and normalised text, in names; the state folder included."""
    found = []
    for top in (root, anchoring.folder("")):
        for path in sorted(top.rglob("*")) if top.is_dir() else []:
            told = [path.name] if names else []
            if path.is_file():
                told += decoded(path.read_bytes())
            if any(seen(needle, text) for needle in needles for text in told):
                found.append(str(path.relative_to(top)))
    return found


def seen(needle: str, text: str) -> bool:
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return unicodedata.normalize("NFKC", needle).casefold() in plain


def decoded(data: bytes) -> list[str]:
    """A file as text, without what a line begins with, and with its escapes decoded, two levels deep."""
    text = data.decode("utf-8", "replace")
    found = [text, re.sub(r"\s*\n[\s>*+-]*", " ", text), re.sub(r"-\s*\n[\s>]*", "-", text)]
    for _ in range(3):
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
        text = re.sub(r"\\+n", " ", text).replace('\\"', '"').replace("\\\\", "\\")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        found.append(text)
    return found


def spoken(root: Path, stem: str) -> list[str]:
    """The texts of a transcript."""
    path = root / "sessions" / f"{stem}.jsonl"
    if not path.exists():
        return []
    rollout = parse_rollout(path.read_bytes(), rollout_id=stem, path=path.name)
    return [item.text for segment in rollout.segments for item in segment.items]
