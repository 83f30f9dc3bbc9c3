"""What the demo prints: runs as they happen, files as they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text
from rich.tree import Tree

from .model import Done, call_of, plain

WIDTH = 100
THEME = "ansi_dark"
STYLES = {"+": "green", "-": "red", " ": "dim"}
HEAD, TAIL = 6, 3
"""How many lines of a command's output are shown: the first, or the last if it failed."""


class Show:
    """A console with the few things that the demo shows. Colour and live output are for terminals only."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self.console.width = min(self.console.width, WIDTH) if self.console.is_terminal else WIDTH
        self.brief = False
        self._waiting: dict[str, Any] = {}

    @classmethod
    def silent(cls) -> Show:
        """One that shows nothing."""
        return cls(Console(quiet=True))

    def act(self, title: str, words: str = "") -> None:
        """The heading of a part, and a sentence on it."""
        self.console.print()
        self.console.rule(f"[bold]{escape(title)}", align="left", style="cyan")
        if words:
            self.console.print(words, style="dim")

    def user(self, text: str) -> None:
        """What the user says."""
        self.console.print(Panel(Text(text), title="user", title_align="left", border_style="blue"))

    def agent(self, text: str, name: str, calls: int) -> None:
        """What the agent answers in the end, after that many model calls."""
        self.console.print(
            Panel(
                Text(text),
                title=escape(name),
                subtitle=f"{calls} model calls",
                title_align="left",
                subtitle_align="right",
                border_style="green",
            )
        )

    def item(self, item: Any) -> None:
        """A step of a run: a call is kept until its output comes, then both are shown."""
        raw = item.raw_item if isinstance(item.raw_item, dict) else item.raw_item.model_dump()
        if item.type == "tool_call_item":
            self._waiting[raw["call_id"]] = raw
        elif item.type == "tool_call_output_item" and raw.get("call_id") in self._waiting:
            call = self._waiting.pop(raw["call_id"])
            self.done(Done(call["name"], call_of(call), plain(raw["output"])))

    def done(self, done: Done) -> None:
        """A patch, or a command with what it printed: the end of it if it failed, else the start. Less if brief."""
        if done.tool == "apply_patch":
            changed = re.findall(r"^\*\*\* \w+ File: (.+)", done.call, re.MULTILINE)
            self._lines([f"  apply_patch {' '.join(changed)}"], "bold yellow")
            for line in [] if self.brief else done.call.splitlines():
                if line[:1] in STYLES:
                    self._lines([f"    {line}"], STYLES[line[:1]])
            return
        command = f"$ {done.call}" if done.tool == "exec_command" else f"{done.tool} {done.call}"
        self._lines([f"  {line}" for line in start(command.splitlines())], "bold yellow")
        lines = [line for line in done.text.strip().splitlines() if line.strip(" -=")]
        lines = [*lines[-TAIL:], f"[exit code {done.code}]"] if done.code else start(lines)
        if not self.brief:
            self._lines([f"    {line}" for line in lines], "red" if done.code else "dim")

    def _lines(self, lines: list[str], style: str) -> None:
        for line in lines:
            short = line if len(line) <= self.console.width else line[: self.console.width - 3] + "..."
            self.console.print(Text(short, style=style), soft_wrap=True)

    def file(self, path: Path, root: Path) -> None:
        """A markdown file of a workspace, or that it is not there."""
        text = path.read_text(encoding="utf-8").rstrip() if path.is_file() else "(was not written)"
        self.console.print(
            Panel(
                Syntax(text, "markdown", theme=THEME, background_color="default", word_wrap=True),
                title=escape(str(path.relative_to(root))),
                title_align="left",
                border_style="magenta",
            )
        )

    def tree(self, root: Path, *folders: str) -> None:
        """The files of these folders of a workspace, with their sizes."""
        trees = []
        for folder in folders:
            tree = Tree(f"[bold]{escape(folder)}/")
            self._branch(tree, root / folder)
            trees.append(tree)
        self.console.print(Group(*trees))

    def _branch(self, tree: Tree, folder: Path) -> None:
        for path in sorted(folder.glob("*"), key=lambda each: (each.is_dir(), each.name)):
            if path.name.startswith("."):
                continue
            if path.is_dir():
                self._branch(tree.add(f"[bold]{escape(path.name)}/"), path)
            else:
                tree.add(f"{escape(path.name)} [dim]{path.stat().st_size:,} bytes[/dim]")

    def say(self, text: str, style: str = "") -> None:
        """A line of the demo itself; commands and paths in it are not wrapped."""
        self.console.print(Text(text, style=style), soft_wrap=True)


def start(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    return lines if len(lines) <= HEAD + 1 else [*lines[:HEAD], f"... {len(lines) - HEAD} more lines"]
