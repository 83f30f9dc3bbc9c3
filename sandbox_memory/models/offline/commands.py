"""How a command line is built: its steps and their words; what only looks about; when two are tries of one thing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

LOOKED_AT = 4_000
"""Characters of a command line that are read: what goes on longer is data."""

_WRAPPERS = frozenset("sudo doas time nohup env exec command nice timeout stdbuf xargs then do".split())
SHELLS = frozenset("ssh sh bash zsh dash su".split())
FILE_LOOKERS = frozenset(
    "ls ll dir cat bat head tail less more nl wc file stat tree find fd locate grep egrep fgrep zgrep rg ag ack awk "
    "cut "
    "sort uniq diff cmp pwd cd pushd popd sed open goto scroll_up scroll_down find_file search_file search_dir view "
    "read set_cursors".split()
)
"""Programs that show files or search in them."""
_LOOKERS = FILE_LOOKERS | frozenset(
    "echo printf printenv which whereis type whoami id date uname hostname df du "
    "free ps top htop uptime history man true sleep jq yq xxd hexdump strings lsof netstat ss get-content "
    "select-string journalctl dmesg".split()
)
_ARRANGERS = frozenset(
    "rm rmdir mv cp mkdir touch ln chmod chown export source set unset alias kill pkill exit tee unzip tar".split()
)
_GIT_ARRANGERS = frozenset("add checkout switch restore reset clean stash rm mv".split())
_EDITORS = frozenset("create edit insert str_replace submit undo_edit apply_patch vim vi nano".split())
_READING = frozenset(
    "status log logs show list ls get describe inspect ps top diff info view cat events history images version help "
    "search whoami is-active is-enabled tail".split()
)
_RUNNERS = frozenset(
    "python py pytest tox nox uv poetry pip npm npx pnpm yarn node deno bun make just cmake ninja cargo go gradle "
    "gradlew mvn mvnw java javac dotnet ruby bundle rake rspec php composer perl rscript julia docker docker-compose "
    "podman kubectl helm terraform ansible ansible-playbook systemctl service alembic flask uvicorn ruff mypy black "
    "flake8 eslint tsc jest vitest aws gcloud az gh git spark-submit dbt airflow conda apt apt-get brew certbot".split()
)
_COMMENTS = re.compile(r"(?:\s*#(?!!)[^\n]*\n)+")
_CODE = re.compile(
    r"\s*(?:import \w[\w., ]*(?: as \w+)?\s*$|from \S+ import |(?:async )?def \w+\(|class \w+[(:]|print\(|@\w|%%?\w|"
    r"(?:async )?(?:with|for|if|while) [^;\n]+:\s*$|try:|\w[\w.\[\]'\", ]* ?[+-]?= |\w[\w.]*\(|"
    r"(?i:select\s[\s\S]*\bfrom\b|select\s+\w+\(|with\s+\w+\s+as\b|insert\s+into\b|update\s+\S+\s+set\b|"
    r"delete\s+from\b|"
    r"(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?(?:table|view|index|schema|database|"
    r"function)\b|"
    r"(?:explain|show|describe)\s+(?:select|analyze|tables?|columns|databases)\b|merge\s+into\b))",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Step:
    """One program of a command line with its words, quotes and redirections taken off."""

    program: str
    words: tuple[str, ...]
    writes: bool = False
    """Its output goes to a file."""

    @property
    def bare(self) -> tuple[str, ...]:
        """The words that are neither options nor the values that may belong to one."""
        words = self.words
        kept = [w for n, w in enumerate(words) if not w.startswith("-") and not (n and words[n - 1].startswith("-"))]
        return tuple(kept or [word for word in words if not word.startswith("-")])

    @property
    def looks(self) -> bool:
        """True if it shows files, records or the state of something and changes nothing."""
        if self.writes:
            return False
        if self.program == "sed":
            return not any(re.match(r"-\w*i|--in-place", word) for word in self.words)
        if self.program == "find":
            return "-delete" not in self.words and "-exec" not in self.words
        return (
            self.program in _LOOKERS
            or not _READING.isdisjoint(self.bare[:2])
            or self.words in (("--version",), ("-V",))
        )

    @property
    def arranges(self) -> bool:
        """True if it moves, writes or marks files, or edits them."""
        if self.program == "git" and self.bare[:1] and self.bare[0] in _GIT_ARRANGERS:
            return True
        return (
            self.writes or self.program in _ARRANGERS | _EDITORS or (self.program in ("sed", "find") and not self.looks)
        )


def steps(line: str) -> tuple[Step, ...]:
    """The programs that a command line runs, those of a pipe and those run through a shell or ssh included."""
    return _cached(line[:LOOKED_AT])


@lru_cache(maxsize=2048)
def _cached(line: str) -> tuple[Step, ...]:
    return tuple(_steps(line))


def _steps(line: str) -> Iterator[Step]:
    here: list[str] = []
    for word in [*split(line), ";"]:
        if word and set(word) <= set(";|&"):
            yield from _step(here)
            here = []
        else:
            here.append(word)


def split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:
        return line.split()


def _step(found: list[str]) -> Iterator[Step]:
    words: list[str] = []
    writes, skip = False, False
    for word in found:
        if skip or (word and set(word) <= set("<>&")):
            writes = writes or (not skip and ">" in word)
            if not skip and words and words[-1] in ("1", "2"):
                writes = writes and words.pop() == "1"
            skip = not skip
        else:
            words.append(word)
    while words and (re.match(r"\w+=", words[0]) or words[0] in _WRAPPERS or words[0] in ("(", "{", "!", "$")):
        wrapper = words.pop(0)
        while words and wrapper in _WRAPPERS and (words[0].startswith("-") or re.fullmatch(r"\d+[smh]?", words[0])):
            words.pop(0)
    if not words:
        return
    program = words[0].rsplit("/", 1)[-1].casefold()
    if program in SHELLS and " " in words[-1] and len(words) > 1:
        inner = steps(words[-1])
        if inner:
            yield from inner
            return
    if re.fullmatch(r"python[\d.]*", program) and len(words) > 2 and words[1] == "-m":
        program, words = words[2].casefold(), words[2:]
    yield Step(program, tuple(words[1:]), writes)


def verb(line: str) -> str:
    """The program that a command is about: the first that does more than look about, else the first."""
    found = steps(line)
    return next((step for step in found if not step.looks), found[0]).program if found else ""


def looks(line: str) -> bool:
    """True for a command that only looks about."""
    return all(step.looks for step in steps(line))


def reads_files(line: str) -> bool:
    """True for a command that only shows files or searches in them."""
    found = steps(line)
    return bool(found) and all(step.looks and step.program in FILE_LOOKERS for step in found)


def arranges(line: str) -> bool:
    """True for a command that only moves, removes or writes files, or looks at them."""
    found = steps(line)
    return bool(found) and all(step.arranges or step.looks for step in found)


def runs(line: str) -> bool:
    """True for a command that runs, builds, tests or asks something; not if it looks about, edits or arranges files."""
    return any(not step.looks and not step.arranges for step in steps(line))


def known(line: str) -> bool:
    """True for a command that begins with a program that builds, runs or tests, or with a script."""
    return any(family(step) in _RUNNERS or "." in step.program for step in steps(line) if not step.looks)


def edits(line: str) -> bool:
    """True for a command that changes what stands in files: an editor's, or `sed -i`."""
    return any(step.program in _EDITORS or (step.program == "sed" and not step.looks) for step in steps(line))


def tells(line: str) -> bool:
    """True for a command that sends or notes a text, as a message or a commit: that is said once."""
    return any(len(word.split()) > 2 for step in steps(line) for word in step.words)


def inline(line: str) -> bool:
    """True for a program that is written out in the command itself: a question of this moment."""
    return any(
        word in ("-c", "-e", "--eval") and re.search(r"[ ;()=]", value)
        for step in steps(line)
        for word, value in pairwise(step.words)
    )


def is_code(text: str) -> bool:
    """True for a text that is a program or a query, not a command line."""
    text = _COMMENTS.sub("", text[:LOOKED_AT], count=1)
    return bool(_CODE.match(text)) and not re.match(r"\s*\w+=\S* +[\w./]", text)


def about(line: str) -> frozenset[str]:
    """The words that name what a command is about: no options, no values of options, no plain numbers."""
    return frozenset(
        word for step in steps(line) for word in step.words if not word.startswith("-") and not word.isdigit()
    )


def asks(text: str) -> bool:
    """True for a query, whose answer is another each time."""
    return bool(re.match(r"\s*(?:SELECT|WITH|SHOW|EXPLAIN|DESCRIBE)\b", text, re.IGNORECASE))


def family(step: Step) -> str:
    """`python` for `python3.11`: the same program in another version."""
    return re.sub(r"[\d.]+$", "", step.program) or step.program


def reverts(line: str) -> tuple[str, ...]:
    """The files that a command takes back to what was committed."""
    found = (step for step in steps(line) if step.program == "git" and step.bare[:1] in (("checkout",), ("restore",)))
    return tuple(word for step in found for word in step.bare[1:])
