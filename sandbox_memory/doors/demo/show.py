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
        self.console.print(Panel(Text(text), title="user", title_align="left", border_style="blue", width=self._width))

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
                width=self._width,
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
            self._line(f"  apply_patch {' '.join(changed)}", "bold yellow")
            lines = [line for line in done.call.splitlines() if line[:1] in ("+", "-", " ")]
            for line in [] if self.brief else lines:
                self._line(f"    {line}", {"+": "green", "-": "red"}.get(line[0], "dim"))
            return
        self._line(f"  $ {done.call}" if done.tool == "exec_command" else f"  {done.tool} {done.call}", "bold yellow")
        lines = [line.rstrip() for line in done.text.strip().splitlines() if line.strip(" -=")]
        if done.code:
            lines = [*lines[-TAIL:], f"[exit code {done.code}]"]
        elif len(lines) > HEAD:
            lines = [*lines[:HEAD], f"... {len(lines) - HEAD} more"]
        for line in [] if self.brief else lines:
            self._line(f"    {line}", "red" if done.code else "dim")

    def _line(self, text: str, style: str) -> None:
        self.console.print(Text(text, style=style), no_wrap=True, overflow="ellipsis", crop=False)

    def file(self, path: Path, root: Path, *, lines: tuple[int, int] | None = None) -> None:
        """A markdown file, or those lines of it, counted from 1."""
        text = path.read_text(encoding="utf-8").rstrip()
        if lines:
            text = "\n".join(text.splitlines()[lines[0] - 1 : lines[1]])
        self.console.print(
            Panel(
                Syntax(text, "markdown", theme=THEME, background_color="default", word_wrap=True),
                title=escape(str(path.relative_to(root))),
                title_align="left",
                border_style="magenta",
                width=self._width,
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
        for path in sorted(folder.iterdir(), key=lambda each: (each.is_dir(), each.name)):
            if path.name.startswith("."):
                continue
            if path.is_dir():
                self._branch(tree.add(f"[bold]{escape(path.name)}/"), path)
            else:
                tree.add(f"{escape(path.name)} [dim]{path.stat().st_size:,} bytes[/dim]")

    def say(self, text: str, style: str = "") -> None:
        """A line of the demo itself; commands and paths in it are not wrapped."""
        self.console.print(Text(text, style=style), soft_wrap=True)

    @property
    def _width(self) -> int:
        return self.console.width
