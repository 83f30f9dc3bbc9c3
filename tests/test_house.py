"""The house rules that a program can check: which way imports go, who may know the SDK, how long a module may be."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sandbox_memory"
MAX_LINES = 350

# The rooms from the ground up, a row a line. A room imports from its own row and the rows above it here, never from
# one below; among the stages, none imports another.
ROOMS = """
errors
records
characters shipped layout templates checked policy config scope guard
workspace document matching typed buffers blocks blobs tokens notes quoting transcript rollouts ledger state folding \
  proposals screening drafting lexical known sameness belonging certain gone receipts showing trusting skills usage \
  governance models
stages
pipeline
host capture inquiry
sdk capability
doors
__main__ __init__
""".strip()
KNOW_THE_SDK = ("config", "models.agents_sdk", "capability", "sdk", "doors")

ROW = {room: row for row, rooms in enumerate(ROOMS.splitlines()) for room in rooms.split()}
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """`stages.commit` for `stages/commit.py`, `stages` for `stages/__init__.py`; the package's own is `__init__`."""
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Line and absolute name of everything that a module imports, wherever it does so, type-checking blocks included.

    `from .a import b` gives `sandbox_memory.a.b` where `a/b.py` or `a/b/` exists, `sandbox_memory.a` where `b` is a
    thing inside `a`.
    """
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    package = ["sandbox_memory", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                deeper = ROOT.joinpath(*base, alias.name)
                is_module = deeper.is_dir() or deeper.with_suffix(".py").is_file()
                yield node.lineno, ".".join([*base, alias.name] if is_module else base)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((node.lineno, str(name.value)) for name in node.args if isinstance(name, ast.Constant))


@cache
def ours(path: Path) -> list[tuple[int, str]]:
    """The imports of our own modules: line and name without the package's; the package itself is `__init__`."""
    found = {}
    for line, name in imports(path):
        head, _, rest = name.partition(".")
        if head == "sandbox_memory":
            found[line, rest or "__init__"] = None
    return list(found)


def room(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


def inside(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(each + ".") for each in rooms)


def test_imports_go_one_way() -> None:
    wrong = []
    for path in MODULES:
        name = name_of(path)
        assert room(name) in ROW, f"sandbox_memory/{room(name)} has no place in the order yet: give it one in ROOMS"
        for line, target in ours(path):
            if ROW.get(room(target), -1) > ROW[room(name)]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}, after {room(name)} in ROOMS")
            if room(name) == room(target) == "stages" and name != "stages" and target not in ("stages", name):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}: stages never import each other")
    assert not wrong, "\n".join(wrong)


def test_no_room_depends_on_itself_through_others() -> None:
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        here = room(name_of(path))
        graph.setdefault(here, set()).update({room(target) for _, target in ours(path)} - {here})
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> None:
        assert name not in trail, " imports ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for target in sorted(graph.get(name, ())):
                visit(target, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])


def test_few_modules_know_the_sdk() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}; only {', '.join(KNOW_THE_SDK)} may"
        for path in MODULES
        for line, name in imports(path)
        if room(name) == "agents" and not inside(name_of(path), KNOW_THE_SDK)
    ]
    assert not wrong, "\n".join(wrong)


def test_private_names_of_the_sdk_are_reached_in_one_module() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}; private names belong in sdk.py"
        for path in MODULES
        for line, name in imports(path)
        if room(name) == "agents" and "._" in name and name_of(path) != "sdk"
    ]
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and room(node.module or "") == "agents" and name_of(path) != "sdk":
                names = [alias.name for alias in node.names if alias.name.startswith("_")]
                wrong += [f"{path.relative_to(ROOT)}:{node.lineno} imports {name} of the SDK" for name in names]
    assert not wrong, "\n".join(wrong)


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in project["dependencies"]]
    known = {"sandbox_memory", "tomli", "tomllib"} | sys.stdlib_module_names
    for need in needs:
        if need != "tomli":
            known |= {file.parts[0].removesuffix(".py") for file in metadata.files(need) or []}
    extras = {"doors.web": project["optional-dependencies"]["web"]}
    of_extra = {
        room: {
            file.parts[0].removesuffix(".py")
            for need in needs
            for file in metadata.files(re.split(r"[^\w.-]", need, maxsplit=1)[0]) or []
        }
        for room, needs in extras.items()
    }
    wrong = []
    for path in MODULES:
        own = set().union(*(names for place, names in of_extra.items() if inside(name_of(path), (place,))))
        at_import = {node.lineno for node in parsed(path).body}  # an import inside a function may be an extra's
        for line, name in imports(path):
            if line in at_import and room(name) not in known | own:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}, which pyproject.toml does not declare")
    assert not wrong, "\n".join(wrong)


def test_no_module_is_named_like_a_shipped_folder() -> None:
    wrong = [path for path in PACKAGE.rglob("*") if path.stem in ("prompts", "layouts")]
    assert not wrong, f"{wrong}: in a wheel the folders layouts/ and prompts/ stand at this place"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_short(path: Path) -> None:
    length = len(path.read_text(encoding="utf-8").splitlines())
    assert length <= MAX_LINES, (
        f"{path.relative_to(ROOT)} has {length} lines, {length - MAX_LINES} over the limit of {MAX_LINES}: "
        "look for a second responsibility and give it a module of its own"
    )


# Written in pieces, so that this file does not find itself.
PLACES_OF_ONE_MACHINE = re.compile(
    "|".join(
        [
            "/" + r"work/(main|shared|\.)",
            "/" + r"root/",
            "/" + r"tmp/(v|brief|skel|bash_jobs)/",
            "/" + r"opt/(pypi|wheels)",
            "pypi" + r"\.org",
            "pythonhosted" + r"\.org",
            "registry" + r"\.(npmjs|yarnpkg)\.",
            "deb" + r"\.debian\.org",
        ]
    )
)
BINARY = {".png", ".jpg", ".gif", ".ico", ".woff2", ".db", ".sqlite", ".gz", ".zip", ".whl"}


def text_files() -> Iterator[Path]:
    for top in sorted(ROOT.iterdir()):
        if top.name.startswith(".") and top.name not in (".ci", ".github", ".gitignore"):
            continue
        if top.name in ("build", "dist", "node_modules"):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and path.suffix not in BINARY and "__pycache__" not in path.parts:
                yield path


def test_no_file_names_one_machine() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {found.group()}"
        for path in text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if (found := PLACES_OF_ONE_MACHINE.search(line))
    ]
    assert not wrong, "\n".join(wrong)
