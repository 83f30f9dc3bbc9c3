"""The two files that an extraction writes: `raw_memories/<id>.md` and `rollout_summaries/<id>_<slug>.md`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from .characters import ascii_words
from .document.text import NEWLINE
from .records import Candidate, RawMemory
from .trusting.signed import is_ours

SLUG_LENGTH = 60
EARLIER = "## From earlier runs of this conversation"
_HEADER = re.compile(r"([a-z_]+): ?(.*)")


def slug(*wishes: str, fallback: str) -> str:
    """A file-name part of 1 to 60 lower-case letters, digits and hyphens, made of the first wish that has any.

    It has no underscore, so that `<id>_<slug>.md` names one conversation only. `fallback` is any text: its digest
    stands in where no wish leaves a letter, as with `🚀` or a Chinese title.
    """
    for wish in wishes:
        made = "-".join(ascii_words(wish.strip().removesuffix(".md")))
        if any(char.isalpha() for char in made):
            if len(made) > SLUG_LENGTH:
                made = made[: SLUG_LENGTH + 1].rpartition("-")[0] or made[:SLUG_LENGTH]
            return made
    seed = next((wish for wish in wishes if wish.strip()), fallback)
    return "note-" + hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:8]


def summary_name(rollout_path: str, chosen: str) -> str:
    """Where the summary of a rollout file goes, relative to the memories folder."""
    return f"rollout_summaries/{PurePosixPath(rollout_path).stem}_{chosen}.md"


def raw_memory_file(raw: RawMemory, *, previous: str = "") -> str:
    """The text of `raw_memories/<rollout-id>.md`: the SDK's header, what was noted, each memory with its quotes.

    `previous` is the file as it was; its notes stay, below.
    """
    header = {
        "rollout_id": raw.rollout_id,
        "updated_at": raw.updated_at,
        "rollout_path": raw.rollout_path,
        "rollout_summary_file": raw.summary_file,
        "terminal_state": raw.terminal_state,
        "consumed_bytes": str(raw.consumed),
    }
    parts = [f"# {raw.task}" if raw.task else "", raw.text.strip(), "\n".join(_bullets(raw.candidates))]
    if raw.keywords:
        parts.append(f"keywords: {', '.join(raw.keywords)}")
    return _file(header, parts, previous)


def summary_file(raw: RawMemory, *, session_id: str = "", previous: str = "") -> str:
    """The text of `rollout_summaries/<rollout-id>_<slug>.md`, under the SDK's header; `previous` as above."""
    header = {
        "session_id": session_id or "unknown",
        "updated_at": raw.updated_at,
        "rollout_path": raw.rollout_path,
        "terminal_state": raw.terminal_state,
        "rollout_id": raw.rollout_id,
        "consumed_bytes": str(raw.consumed),
    }
    return _file(header, [f"# {raw.task}" if raw.task else "", raw.summary.strip()], previous)


def raw_header(text: str) -> dict[str, str]:
    """The `key: value` lines that a file of either kind begins with; a value may be empty, unknown keys are kept."""
    found: dict[str, str] = {}
    for line in NEWLINE.split(text.removeprefix("\ufeff")):
        match = _HEADER.fullmatch(line)
        if match is None:
            break
        found.setdefault(match[1], match[2].strip())
    return found


def body(text: str) -> str:
    """What follows the header, its lines ended by line feeds."""
    lines = NEWLINE.split(text.removeprefix("\ufeff"))
    start = next((n for n, line in enumerate(lines) if not _HEADER.fullmatch(line)), len(lines))
    return "\n".join(lines[start:]).strip()


def _file(header: dict[str, str], parts: list[str], previous: str) -> str:
    lines = [f"{key}: {' '.join(value.split())}" for key, value in header.items()]
    earlier = body(previous)
    if raw_header(previous).get("consumed_bytes") == header["consumed_bytes"] and is_ours(previous.encode()):
        earlier = earlier.partition(EARLIER)[2]  # the same runs, read again after a commit that failed
    earlier = earlier.replace(EARLIER, "").strip()
    if earlier:
        parts = [*parts, EARLIER, earlier]
    return "\n".join(lines) + "\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def _bullets(candidates: tuple[Candidate, ...]) -> Iterator[str]:
    for candidate in candidates:
        about = f" ({candidate.subject})" if candidate.subject else ""
        yield f"- {candidate.kind.value}: {candidate.text}{about}"
        for quote in candidate.evidence:
            yield from (f"  > {line}".rstrip() for line in quote.quote.split("\n"))
            yield f"  > — {quote.trust.label}, {quote.segment} item {quote.item}"
