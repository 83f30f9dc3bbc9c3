"""What a report says of a memory: each line of it once; which notes are missing; whether its history is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..layout import Layout
from ..ledger import Ledger
from ..records import Record
from ..state import State
from .checking import LEFT, NOTES, Finding, gone_from
from .signed import is_ours
from .witness import Witness

AGAIN = "`sandbox-memory process --again` writes it anew; MEMORY.md stays as it is"
READ_ANEW = (
    "put the whole folder back from a copy (git, a snapshot), if you have one; else `sandbox-memory process` reads the "
    f"conversations anew, as far as they are kept{LEFT}"
)
_MARKER = re.compile(rb"^[ \t]*<!-- memory:(?:begin )?([0-9]{1,18}) -->[ \t]*\r?$", re.MULTILINE)
_MADE_UP = re.compile(r"carries the id (m-[0-9a-f]{10}), which")
_RESTS = re.compile(r" rests on (\S+), which was forged")


def told_once(findings: Sequence[Finding], records: Mapping[str, Record]) -> list[Finding]:
    """The findings, all that is said of one memory as one: under the worst of its kinds."""
    grouped: dict[str, list[Finding]] = {}
    for number, finding in enumerate(findings):
        made_up = _MADE_UP.search(finding.what)
        about = finding.where if finding.where in records else made_up[1] if made_up else f"{number}"
        grouped.setdefault(about, []).append(finding)
    return [
        group[0] if len(group) == 1 else _whole(group, records[about]) if about in records else _beside(group)
        for about, group in grouped.items()
    ]


def _beside(group: Sequence[Finding]) -> Finding:
    """A line that stands in several files."""
    others = ", ".join(dict.fromkeys(finding.where for finding in group[1:]))
    return replace(group[0], what=f"{group[0].what} (so does {others})")


def _whole(group: Sequence[Finding], record: Record) -> Finding:
    quoted = f"“{record.text}”"
    counts = Counter(finding.what.removeprefix(quoted) for finding in group)
    rests = [found[1] for what in counts if (found := _RESTS.fullmatch(what))]
    said = []
    for what, times in counts.items():
        if _RESTS.fullmatch(what):
            continue
        said.append(f"{what.lstrip(': ')} ({times} quotes)" if times > 1 else what.lstrip(": "))
    if rests:
        more = f" and {len(rests) - 1} more lines, which were" if len(rests) > 1 else ", which was"
        said.insert(0, f"rests on {rests[0]}{more} forged")
    first = min(group, key=lambda finding: (finding.kind in NOTES, finding.kind != "forged"))
    hints = dict.fromkeys(finding.hint for finding in group if finding.hint)
    return replace(first, what=f"{quoted}: {'; '.join(said)}", hint="; ".join(hints))


def missing(
    layout: Layout, state: State, raw_memories: Collection[str], summaries: Collection[str]
) -> Iterator[Finding]:
    """The notes on conversations that were written and are not there; `raw_memories` and `summaries` are names."""
    # One without a task was taken over as the SDK's memory had left it.
    noted = {stem: each.summary_file for stem, each in state.rollouts.items() if each.summary_file and each.task}
    kinds = (
        ("raw_memories", {f"{stem}.md": stem for stem in state.selection() if stem in noted}, raw_memories),
        ("rollout_summaries", {name.rsplit("/", 1)[-1]: stem for stem, name in noted.items()}, summaries),
    )
    for folder, wanted, there in kinds:
        gone = sorted(name for name in wanted if name not in there)
        if len(gone) > 1 and len(gone) == len(wanted):
            what = f"is empty or gone: the notes on {len(gone):,} conversations were in it"
            yield Finding("missing", layout.memory(folder), what, AGAIN)
            continue
        for name in gone:
            what = f"is missing: the notes on the conversation {wanted[name]}"
            yield Finding("missing", layout.memory(f"{folder}/{name}"), what, AGAIN)


def lost_history(root: Path, layout: Layout) -> tuple[str, int]:
    """Whether the ledger is missing or cut, in a sentence, empty if not; and how many commits it should have.

    Told by the markers of the files that stand there, or by notes that stand there alone; 0 where nothing says it.
    """
    # The markdown is written after the ledger: read in the other order, it is never ahead.
    views = [_read(root / path) for path in (layout.handbook, layout.summary)]
    shown = highest(views)
    ledger = _read(root / layout.ledger)
    if shown > (there := ledger.count(b"\n")):
        return f"{layout.ledger} {lacking(there, shown)}", shown
    notes = sorted((root / layout.memory("raw_memories")).glob("*.md")) if not ledger and not any(views) else []
    if any(is_ours(_read(path)) for path in notes):
        return f"{layout.ledger} is gone, with the markdown; only the notes on conversations are there", 0
    return "", 0


def highest(files: Iterable[bytes]) -> int:
    """The highest commit that a marker in these files names, wherever it stands."""
    return max((int(found) for data in files for found in _MARKER.findall(data)), default=0)


def lacking(there: int, shown: int) -> str:
    """What is said of a ledger with so many commits that should have more, as it follows its name."""
    return f"has {there:,} of {commits(shown)} left" if there else f"is gone, with a history of {commits(shown)}"


def still_lost(layout: Layout, witness: Witness, ledger: Ledger) -> str:
    """The same, by what this machine knows of the history; a copy that was put back has it again."""
    gone = gone_from(witness.recall(), ledger)
    return f"{layout.ledger}: a history of {commits(max(gone))} is lost" if gone else ""


def notes_alone(root: Path | None, layout: Layout) -> Iterator[Finding]:
    """A history that is gone with the markdown: nothing but notes tells that there was one."""
    what, commits = lost_history(root, layout) if root is not None else ("", 0)
    if what and not commits:
        yield Finding("cut", layout.ledger, what.removeprefix(f"{layout.ledger} "), READ_ANEW)


def commits(count: int) -> str:
    """`1 commit`, `1,200 commits`."""
    return f"{count:,} commit{'' if count == 1 else 's'}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
