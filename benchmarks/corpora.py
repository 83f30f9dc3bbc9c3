"""Texts of two public packages: attacks on agents, and the benign texts that agents read. Nothing of them is ours.

- `bastioncorpus`: attacks and, as traps, texts that look like attacks and are none.
- `agentdojo`: the goals of its attackers in the wordings of its attacks; the mails, pages, reviews, messages and files
  of its environments; what its users ask. It is read as data: none of its code runs, so its dependencies need not be
  there (`pip install --no-deps agentdojo`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LEAST_WORDS = 5
"""Words that a benign text has at least: a name or a date says nothing."""
USER, MODEL = "Emma Johnson", "AI assistant"


@dataclass(frozen=True)
class Corpus:
    """Attacks, texts that are read, and texts that a person types."""

    name: str
    attacks: tuple[str, ...]
    read: tuple[str, ...]
    typed: tuple[str, ...]


def installed() -> list[str]:
    """Which of the two packages are there."""
    return [name for name in ("bastioncorpus", "agentdojo") if find_spec(name)]


def load(name: str) -> Corpus:
    """The texts of that package, which must be installed."""
    return _bastion() if name == "bastioncorpus" else _agentdojo()


def _bastion() -> Corpus:
    from bastioncorpus import load_corpus

    rows = list(load_corpus())
    attacks = [row.render("ZX-4471-QP") for row in rows if row.is_malicious]
    benign = [row for row in rows if not row.is_malicious]
    read = [row.render("ZX-4471-QP") for row in benign]
    typed = [row.render("ZX-4471-QP") for row in benign if row.channel == "user_input"]
    return Corpus("bastioncorpus", tuple(attacks), tuple(read), tuple(typed))


def _agentdojo() -> Corpus:
    import yaml

    spec = find_spec("agentdojo")
    root = Path(str(spec and spec.origin)).parent
    attacks = root / "attacks"
    wordings = [text for path in sorted(attacks.glob("*.py")) for text in _templates(path)]
    suites = sorted((root / "default_suites").rglob("*.py"))
    goals = list(dict.fromkeys(text for path in suites for text in _constants(path, "GOAL")))
    typed = list(dict.fromkeys(text for path in suites for text in _constants(path, "PROMPT")))

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml comes without types
        pass

    Loader.add_constructor("!include", lambda loader, node: None)
    files = sorted((root / "data" / "suites").rglob("*.yaml"))
    data = [yaml.load(path.read_text(encoding="utf-8"), Loader) for path in files if "vectors" not in path.name]
    read = list(dict.fromkeys(text for each in data for text in _texts(each)))
    made = [
        wording.format(goal=goal, user=USER, model=MODEL).strip()
        for goal in goals
        for wording in dict.fromkeys(wordings)
    ]
    return Corpus("agentdojo", (*goals, *made), tuple(read), tuple(typed))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        plain = re.sub(r"\{[a-z_0-9]+\}", "", value).strip()
        if len(plain.split()) >= LEAST_WORDS:
            yield plain
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _templates(path: Path) -> Iterator[str]:
    """The wordings of attacks in a module: texts with a place for the goal, and none that needs more than two names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if "{goal}" in text and set(re.findall(r"\{(\w*)\}", text)) <= {"goal", "user", "model"} and "`" not in text:
            yield text


def _constants(path: Path, name: str) -> Iterator[str]:
    """The values of the class attribute `name` in a module, with the constants that they are made of filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known: dict[str, str] = {}
    _learn(tree.body, known)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            own = dict(known)
            _learn(node.body, own)
            if own.get(name, known.get(name)) and name in own:
                yield own[name]


def _learn(body: list[ast.stmt], known: dict[str, str]) -> None:
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.expr) and (text := _said(value, known)) is not None:
            known[target.id] = text


def _said(node: ast.expr, known: dict[str, str]) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [_said(part.value if isinstance(part, ast.FormattedValue) else part, known) for part in node.values]
        return None if None in parts else "".join(map(str, parts))
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        return known.get(node.attr)
    return None
