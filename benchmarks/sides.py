"""The two sides of `edits`: this library's Memory and the SDK's, with scripted models that tell when they are asked."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agents.sandbox import config as sdk_config
from agents.sandbox.capabilities import Memory as SdkMemory

from sandbox_memory import Memory, MemoryGenerateConfig, open_memory
from sandbox_memory.records import Trust

from .counting import text_of
from .kit import Scripted, calls
from .person import FACT, GROUP

SAID = re.compile(r"the port of (F\d+z) is (V\d+v\d*)")
AGENTS = re.compile(r"A\d+a")
Hook = Callable[[str], None]
"""Called when a model is asked: `one` and `two` for the phases, `shell` for the agent itself."""


class Ours:
    """This library's Memory."""

    name = "ours"

    def memory(self, hook: Hook) -> Any:
        """The capability, with models that tell the hook when they are asked."""
        models = (Scripted(_told(hook, "one", our_notes)), Scripted(_told(hook, "two", our_plan)))
        return Memory(generate=MemoryGenerateConfig(phase_one_model=models[0], phase_two_model=models[1]))

    def settle(self, root: Path) -> None:
        """What the next opening does."""
        with open_memory(root):
            pass

    def again(self, root: Path) -> None:
        """Extract every transcript once more."""
        with open_memory(root) as memory:
            memory.process(model=Scripted(lambda system, items: _either(text_of(items[0]))), again=True)

    def credited(self, root: Path) -> int:
        """Lines of an agent that are a person's word now."""
        with open_memory(root) as memory:
            return sum(bool(AGENTS.search(each.text)) and each.trust >= Trust.USER for each in memory.records())


class Sdk:
    """The SDK's Memory."""

    name = "sdk"

    def memory(self, hook: Hook) -> Any:
        """The capability, with models that tell the hook when they are asked."""
        models = (Scripted(_told(hook, "one", sdk_notes)), Scripted(Rewriting(hook).answer))
        generate = sdk_config.MemoryGenerateConfig(phase_one_model=models[0], phase_two_model=models[1])
        return SdkMemory(generate=generate)

    def settle(self, root: Path) -> None:
        """Nothing happens at an opening."""

    def again(self, root: Path) -> None:
        """It reads the whole of a resumed transcript again by itself."""

    def credited(self, root: Path) -> int:
        """It keeps no authors."""
        return 0


def _told(hook: Hook, what: str, answer: Callable[[str], str]) -> Callable[[str, Sequence[Any]], str]:
    def asked(system: str, items: Sequence[Any]) -> str:
        made = answer(text_of(items[0]))
        hook(what)
        return made

    return asked


def our_notes(text: str) -> str:
    """Our phase 1: every fact that the transcript says, quoted; told in other words where the user asks again."""
    found: dict[str, dict[str, Any]] = {}
    for item, said in re.findall(r"^\[(s\d+\.\d+) user\](.*(?:\n(?!\[s\d).*)*)", text, re.MULTILINE):
        for fact in SAID.finditer(said):
            words = f"{fact[1]} listens on {fact[2]}" if "once more" in text else fact[0]
            quotes = [{"item": item, "text": fact[0]}]
            found[fact[1]] = {"kind": "fact", "text": words, "subject": f"port of {fact[1]}", "quotes": quotes}
    notes = {"task": "Ports", "slug": "ports", "summary": "Ports were noted.", "raw_memory": "Ports.", "keywords": []}
    return json.dumps({**notes, "memories": list(found.values())})


def our_plan(text: str) -> str:
    """Our phase 2: every candidate is added, four facts to a group."""
    lines = re.findall(r"^(c\d+) (.*)$", text, re.MULTILINE)
    return json.dumps(
        {
            "operations": [
                {"op": "add", "candidates": [name], "group": _group(fact[0]) if (fact := FACT.search(line)) else ""}
                for name, line in dict(lines).items()
            ]
        }
    )


def _either(text: str) -> str:
    return our_plan(text) if re.search(r"^c1 ", text, re.MULTILINE) else our_notes(text)


def sdk_notes(text: str) -> str:
    """The SDK's phase 1: a raw memory with every fact that the transcript says."""
    facts = {fact[1]: fact[0] for fact in SAID.finditer(text)}
    notes = "".join(f"- {said}\n" for said in facts.values())
    raw = f"---\ntask: note ports\ntask_outcome: success\n---\n\n### Task 1: note ports\n\nReusable knowledge:\n{notes}"
    return json.dumps({"rollout_slug": "ports", "rollout_summary": f"# Ports\n\n{notes}", "raw_memory": raw})


class Rewriting:
    """The SDK's phase 2, an agent in three turns: it reads, writes the whole file, and ends."""

    _INPUT = re.compile(
        r"^- \[(?:added|retained)\] rollout_id=(\S+), rollout_summary_file=(\S+), updated_at=(\S+)", re.M
    )

    def __init__(self, hook: Hook) -> None:
        self._hook, self._turn, self._seen, self._inputs = hook, 0, "", []

    def answer(self, system: str, items: Sequence[Any]) -> Any:
        """The next step; a request with one item begins anew."""
        self._turn = 0 if len(items) == 1 else self._turn + 1
        if self._turn == 0:
            self._inputs = self._INPUT.findall(text_of(items[0]))
            return [shell(f"base64 -w0 memories/{name} 2>/dev/null") for name in ("MEMORY.md", "raw_memories.md")]
        if self._turn == 1:
            shown = [text_of(item) for item in items if isinstance(item, dict) and "output" in item]
            handbook, raws = (_decoded(each) for each in shown[-2:])
            self._hook("two")
            index = "## User Profile\n\nRuns services.\n\n## What's in Memory\n\n- ports of services\n"
            return [
                shell(f"echo {_coded(self._updated(handbook, raws))} | base64 -d > memories/MEMORY.md"),
                shell(f"echo {_coded(index)} | base64 -d > memories/memory_summary.md"),
            ]
        return "MEMORY.md and memory_summary.md are up to date."

    def _updated(self, handbook: str, raws: str) -> str:
        newline = "\r\n" if "\r\n" in handbook else "\n"
        lines = handbook.replace("\r\n", "\n").split("\n")
        for rollout, file, at in self._inputs:
            if any(f"rollout_id={rollout}, updated_at={at}," in line for line in lines):
                continue
            part = raws.split(f"rollout_id: {rollout}\n", 1)[-1].split("\nrollout_id: ", 1)[0]
            task = f"- {file} (rollout_id={rollout}, updated_at={at}, terminal_state=completed)"
            known = {fact for line in lines for fact in FACT.findall(line)}
            lines = [task if f"rollout_id={rollout}," in line else line for line in lines]
            for fact in SAID.finditer(part):
                if fact[1] not in known:
                    self._insert(lines, fact, task)
            if task not in lines:
                self._insert(lines, None, task)
        return newline.join(lines)

    @staticmethod
    def _insert(lines: list[str], fact: re.Match[str] | None, task: str) -> None:
        head = f"{GROUP}{_group(fact[1])}" if fact else next((line for line in lines if line.startswith(GROUP)), "")
        at = next((n for n, line in enumerate(lines) if head and line.startswith(head)), None)
        if at is None:
            head = head or f"{GROUP}Ports"
            block = [head, "", "scope: ports", "", "## Task 1: note ports", "", "### rollout_summary_files", "", task]
            lines[:0] = [*block, "", "### keywords", "", "- ports", "", "## Reusable knowledge", "", ""]
            at = 0
        stop = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("# ")), len(lines))
        if task not in lines:
            under = next((n for n in range(at, stop) if lines[n] == "### rollout_summary_files"), at)
            lines[under + 1 : under + 1] = ["", task]
            stop += 2
        if fact:
            under = next((n for n in range(at, stop) if lines[n] == "## Reusable knowledge"), stop - 1)
            lines[under + 1 : under + 1] = ["", f"- {fact[0]} [Task 1]"]


def _group(fact: str) -> str:
    return f"Services {int(fact[1:-1]) // 4}"


def shell(command: str) -> Any:
    """A call of the shell tool that prints all of its output."""
    return calls("exec_command", json.dumps({"cmd": command, "max_output_tokens": 200_000}))


def _coded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()


def _decoded(output: str) -> str:
    words = output.split()
    return base64.b64decode(words[-1]).decode("utf-8", "surrogateescape") if _is_base64(words) else ""


def _is_base64(words: Sequence[str]) -> bool:
    return bool(words) and len(words[-1]) % 4 == 0 and re.fullmatch(r"[A-Za-z0-9+/]{8,}={0,2}", words[-1]) is not None
