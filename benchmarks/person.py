"""A person who edits `MEMORY.md` at random, and remembers what each edit was to do, so that it can be looked for later.

Facts of a memory carry a mark (`F12z`) and a value (`V12v3`), the person's own words a mark (`H7h`); no two are alike.
An edit is one of: a line is added, a fact gets another value, a line is deleted, a line is moved to another group, a
group is renamed, a line or the whole file is formatted in another way (bullets, bold, wrapped, CRLF), a table, code, a
quote or Chinese prose is pasted. Block ids, task references and the file's marker are not looked at: they are ours.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

FACT = re.compile(r"F\d+z")
VALUE = re.compile(r"V\d+v\d*|H\d+h")
BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\S")
GROUP = "# Task Group: "
LINE_ENDS = "line ends"
_OURS = re.compile(r"[ \t]*\^m-[0-9a-f]{10}(?=[ \t]*$)|(?: ?\[Task \d+\])+(?=\s|$)", re.MULTILINE)
_MARKER = re.compile(r"^<!-- memory:\d+ -->[ \t]*$")
_PASTES = (
    ("", "| service | note |", "|---|---|", "| all | {} |", ""),
    ("", "```sh", "- run --with {}", "```", ""),
    ("", "> - a remark of {} by somebody else", ""),
    ("", "部署之前要看的一段话：{}。", ""),
    ("", "A paragraph about {} that is", "longer than one line.", ""),
    ("", "<!-- a comment on {} -->", ""),
    ("", "- [ ] to do: {}", "  - with a part below it", ""),
)
_ADDED = ("- ask {} first", "* 先问 {} 再部署", "- **{}** is for `make check`", "1. then {}", "- see {} — “always”")


@dataclass
class Edit:
    """One edit: `holds` looks at the text of `MEMORY.md`, `back` at both files for what the person had taken out."""

    kind: str
    about: str
    holds: Callable[[str], bool]
    back: Callable[[str, str], bool] = lambda handbook, summary: False
    current: bool = True
    """False once the person has changed the same thing again: from then on it is not looked at."""
    lost: bool = False
    resurrected: bool = False


@dataclass
class Person:
    """Edits one file; `edits` has all that was done to it, in order."""

    path: Path
    rng: random.Random
    marks: int = 0
    edits: list[Edit] = field(default_factory=list)
    titles: dict[str, list[str]] = field(default_factory=dict)
    """The headings below which lines were moved, as they are now; each holds itself, and goes along with a renaming."""

    def save(self, count: int, text: str | None = None) -> None:
        """Make that many edits and save the file, in place or by renaming; `text` is what an open editor shows."""
        lines = (self.read() if text is None else text).replace("\r\n", "\n").split("\n")
        crlf = "\r\n" in (self.read() if text is None else text)
        for _ in range(count):
            self.rng.choice(self._kinds())(lines)
        if self.rng.random() < 0.1:
            crlf = not crlf
            self._edit("format", LINE_ENDS, lambda text, crlf=crlf: ("\r\n" in text) is crlf)
        self.write(("\r\n" if crlf else "\n").join(lines))

    def read(self) -> str:
        """What stands in the file; empty if it is not there."""
        try:
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""

    def write(self, text: str) -> None:
        """Save as editors do: in place, or by renaming a new file over the old one."""
        data = text.encode("utf-8", "surrogateescape")
        if self.rng.random() < 0.5:
            self.path.write_bytes(data)
            return
        beside = self.path.with_name(f".{self.path.name}.{self.rng.randrange(10**6)}")
        beside.write_bytes(data)
        beside.replace(self.path)

    def look(self, summary: str) -> None:
        """Mark the edits of which something is gone, or has come back, in the files as they are now."""
        whole = self.read()
        text = bare(whole)
        for edit in self.edits:
            if edit.current:
                edit.lost = edit.lost or not edit.holds(whole if edit.about == LINE_ENDS else text)
                edit.resurrected = edit.resurrected or edit.back(text, summary)

    def doubled(self) -> list[str]:
        """Marks that stand on more than one line of a list; the person copies none."""
        lines = [line for line in bare(self.read()).split("\n") if BULLET.match(line)]
        found = [mark for line in lines for mark in {*FACT.findall(line), *re.findall(r"H\d+h", line)}]
        return sorted({mark for mark in found if found.count(mark) > 1})

    def _kinds(self) -> list[Callable[[list[str]], None]]:
        return [self._add, self._change, self._delete, self._move, self._rename, self._format, self._paste]

    def _edit(self, kind: str, about: str, holds: Callable[[str], bool], **more: Callable[[str, str], bool]) -> None:
        for edit in self.edits:
            if edit.about == about:
                edit.current = False
        self.edits.append(Edit(kind, about, holds, **more))

    def _mark(self) -> str:
        self.marks += 1
        return f"H{self.marks}h"

    def _add(self, lines: list[str]) -> None:
        mark = self._mark()
        line = self.rng.choice(_ADDED).format(mark)
        lines.insert(self._place(lines), line)
        self._edit("add", mark, lambda text: mark in "".join(_bullets(text)))

    def _change(self, lines: list[str]) -> None:
        at = self._fact(lines)
        if at is None:
            return self._add(lines)
        name, mark = _name(lines[at]), self._mark()
        value = VALUE.search(lines[at])
        old = value[0] if value else ""
        lines[at] = VALUE.sub(mark, lines[at], count=1) if value else f"{lines[at]} {mark}"
        self._edit(
            "change",
            name,
            lambda text: any(name in line and mark in line for line in _bullets(text)),
            back=lambda text, summary: bool(old) and any(name in ln and old in ln for ln in _bullets(text + summary)),
        )
        return None

    def _delete(self, lines: list[str]) -> None:
        at = self._fact(lines)
        if at is None:
            return self._add(lines)
        name = _name(lines.pop(at))
        self._edit(
            "delete",
            name,
            lambda text: not any(name in line for line in _bullets(text)),
            back=lambda text, summary: any(name in line for line in _bullets(text + "\n" + summary)),
        )
        return None

    def _move(self, lines: list[str]) -> None:
        at = self._fact(lines)
        groups = [n for n, line in enumerate(lines) if line.startswith(GROUP)]
        if at is None or len(groups) < 2:
            return self._add(lines)
        line = lines.pop(at)
        name, value = _name(line), VALUE.search(line)
        head = self.rng.choice([n for n, line in enumerate(lines) if line.startswith(GROUP)])
        rest = [
            n for n in range(head + 1, len(lines) + 1) if n == len(lines) or lines[n].startswith(("# ", "<!-- mem"))
        ]
        lines[rest[0] : rest[0]] = [line, ""]
        title = self.titles.setdefault(lines[head], [lines[head]])

        def holds(text: str) -> bool:
            said = value[0] if value else name
            return any(name in each and said in each and under == title[0] for each, under in _grouped(text))

        self._edit("move", name, holds)
        return None

    def _rename(self, lines: list[str]) -> None:
        heads = [n for n, line in enumerate(lines) if line.startswith(GROUP)]
        if not heads:
            return self._add(lines)
        at, mark = self.rng.choice(heads), self._mark()
        old = lines[at]
        new = f"{re.sub(r' H[0-9]+h$', '', old)} {mark}"
        lines[at] = new
        if title := self.titles.pop(old, None):
            title[0] = new
            self.titles[new] = title
        for edit in self.edits:
            if edit.kind == "rename" and edit.about == f"group {old}":
                edit.current = False
        self._edit("rename", f"group {new}", lambda text: new in text.split("\n"))
        return None

    def _format(self, lines: list[str]) -> None:
        at = self._fact(lines)
        if at is None:
            return self._add(lines)
        name, mark, tail = _name(lines[at]), self.rng.choice("*+-"), ""
        found = re.match(r"(\s*)[-*+] (.*?)((?:\s*\[Task \d+\])*\s*(?:\^m-[0-9a-f]{10})?\s*)$", lines[at])
        if found is None:
            return self._add(lines)
        words, tail = found[2].split(" "), found[3]
        if len(words) > 5 and self.rng.random() < 0.4:
            made = [f"{found[1]}{mark} {' '.join(words[:3])}", f"{found[1]}  {' '.join(words[3:])}{tail}"]
        elif "**" not in found[2] and self.rng.random() < 0.5:
            made = [f"{found[1]}{mark} **{words[0]}** {' '.join(words[1:])}{tail}"]
        else:
            made = [f"{found[1]}{mark} {found[2]}{tail}"]
        lines[at : at + 1] = made
        wanted = bare("\n".join(made))
        self._edit("format", name, lambda text: wanted in text)
        return None

    def _paste(self, lines: list[str]) -> None:
        mark = self._mark()
        block = [line.format(mark) for line in self.rng.choice(_PASTES)]
        at = self._place(lines)
        lines[at:at] = block
        wanted = "\n".join(block[1:-1])
        self._edit("paste", mark, lambda text: wanted in text)

    def _place(self, lines: list[str]) -> int:
        """Before a blank line that stands in no code and no comment, or before the marker at the end."""
        fenced, free = False, []
        for n, line in enumerate(lines):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and not line.strip():
                free.append(n)
        end = next((n for n, line in enumerate(lines) if _MARKER.match(line)), len(lines))
        return self.rng.choice([n for n in free if n <= end] or [end])

    def _fact(self, lines: list[str]) -> int | None:
        """A line of a list that has a fact on it, on one line."""
        found = [
            n
            for n, line in enumerate(lines)
            if BULLET.match(line)
            and FACT.search(line)
            and not (n + 1 < len(lines) and lines[n + 1][:1] == " " and lines[n + 1].strip())
        ]
        return self.rng.choice(found) if found else None


def bare(text: str) -> str:
    """The text with plain line ends, without what is ours in it."""
    return _OURS.sub("", text.replace("\r\n", "\n"))


def _name(line: str) -> str:
    found = FACT.search(line)
    return found[0] if found else line


def _bullets(text: str) -> list[str]:
    """The items of the lists, each with the lines that go on in it."""
    found: list[str] = []
    for line in text.split("\n"):
        if BULLET.match(line):
            found.append(line)
        elif found and line[:1] in (" ", "\t") and line.strip():
            found[-1] += " " + line.strip()
        elif not line.strip() and found:
            found.append("")
    return [line for line in found if line]


def _grouped(text: str) -> list[tuple[str, str]]:
    """The items of the lists with the heading of the group that each stands under."""
    found, head, part = [], "", []
    for line in [*text.split("\n"), GROUP]:
        if line.startswith("# "):
            found += [(item, head) for item in _bullets("\n".join(part))]
            head, part = line, []
        else:
            part.append(line)
    return found
