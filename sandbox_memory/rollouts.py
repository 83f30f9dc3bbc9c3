"""Reading rollouts: the lines of `sessions/<stem>.jsonl` as segments, each rendered once into the text of its items."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .governance.redaction import redact_value
from .records import Item, Rollout, Segment, Trust

EXCLUDED_ROLES = frozenset({"system", "developer"})
EXCLUDED_TYPES = frozenset({"reasoning", "compaction", "compaction_summary", "image_generation_call"})
BLOB = 1024
"""Characters from which on an unbroken run of base64 is left out of the text."""
DOCUMENT_LINES = 40
"""A user message of more lines than this is plainly a document, not words of the user's own."""
MEMORY = "memory"
"""Label of an output in which memory itself speaks: it is evidence for nothing."""

_BLOB = re.compile(rf"[A-Za-z0-9+/=_-]{{{BLOB},}}")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_SDK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_EXTERNAL = re.compile(r"web|mcp|browse|fetch|http|url|computer|file_search|scrape|crawl", re.IGNORECASE)
_OURS = re.compile(r"\^[mp]-[0-9a-f]{10}\b|<!-- memory:")
_FENCE = re.compile(r"^[ \t]{0,3}(```+|~~~+)", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]{0,3}>.*$", re.MULTILINE)


def segment_id(line: bytes, occurrence: int = 1) -> str:
    """The id of a line that holds none: 12 hex digits of its SHA-256, and `-2`, `-3`… where the line stands again."""
    digest = hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:12]
    return digest if occurrence == 1 else f"{digest}-{occurrence}"


def payloads(data: bytes) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    """The whole lines of a rollout file: number from 1, bytes, and the object, or None for what is no rollout line.

    Blank lines and a last line without its line end are left out.
    """
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        if not line.strip():
            continue
        try:
            payload = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            payload = None
        whole = isinstance(payload, dict) and isinstance(payload.get("generated_items", payload.get("input")), list)
        yield number, line, payload if whole else None


def parse_rollout(
    data: bytes, *, rollout_id: str, path: str, start: int = 0, first_line: int = 1, memories_dir: str = "memories"
) -> Rollout:
    """The segments of a rollout file whose bytes from `start` on are `data`; `first_line` numbers its first line.

    Only whole lines are read. What is no rollout line counts as torn. A line without `segment` is not ours: it is
    redacted here.
    """
    end = data.rfind(b"\n") + 1
    segments: list[Segment] = []
    torn = 0
    seen: dict[str, int] = {}
    for number, line, found in payloads(data[:end]):
        if found is None:
            torn += 1
            continue
        payload, id = found, found.get("segment")
        if not isinstance(id, str) or not id:
            digest = segment_id(line)
            seen[digest] = seen.get(digest, 0) + 1
            id = segment_id(line, seen[digest])
            payload = redact_value(found)
        terminal = payload.get("terminal_metadata")
        ended = terminal.get("terminal_state", "unknown") if isinstance(terminal, dict) else "unknown"
        agent = payload.get("agent")
        segments.append(
            Segment(
                id=id,
                rollout_id=rollout_id,
                updated_at=str(payload.get("updated_at") or "unknown"),
                items=render(payload, memories_dir=memories_dir),
                terminal_state=str(ended),
                agent=agent if isinstance(agent, str) else None,
                line=first_line + number - 1,
                interrupted=bool(payload.get("interruptions")),
            )
        )
    return Rollout(rollout_id, path, tuple(segments), start, start + end, torn)


def render(payload: Mapping[str, Any], *, memories_dir: str = "memories") -> tuple[Item, ...]:
    """The items of a segment as text: its input, then what was generated, then a final output that none of them says.

    Prompts and quote checks both read this. Instructions and reasoning are left out; images and blobs are elided.
    """
    items: list[Item] = []
    calls: dict[str, tuple[str, str]] = {}
    for raw in [*_listed(payload.get("input")), *_listed(payload.get("generated_items"))]:
        if not isinstance(raw, Mapping) or excluded(raw):
            continue
        item = _item(raw, len(items), calls, memories_dir)
        if item.text.strip():
            items.append(item)
    final = payload.get("final_output")
    if final is not None:
        text = _elided(final if isinstance(final, str) else _pretty(final))
        last = next((item.text for item in reversed(items) if item.role == "assistant"), None)
        if text.strip() and text != last:
            items.append(Item(len(items), "assistant", "final output", text, Trust.AGENT))
    return tuple(items)


def excluded(item: Mapping[str, Any]) -> bool:
    """True for instructions, reasoning and the like, which memory never holds."""
    return item.get("role") in EXCLUDED_ROLES or item.get("type") in EXCLUDED_TYPES


def trust_of(item: Item, start: int, end: int) -> Trust:
    """What a quote of these characters is worth: a user's pasted text is somebody else's word.

    Pasted is what stands in a fenced block or a quotation, and a message that is plainly a document.
    """
    if item.trust is not Trust.USER:
        return item.trust
    if item.text.count("\n") >= DOCUMENT_LINES:
        return Trust.EXTERNAL
    for first, last in pasted(item.text):
        if start < last and first < end:
            return Trust.EXTERNAL
    return Trust.USER


def pasted(text: str) -> Iterator[tuple[int, int]]:
    """The spans of fenced blocks and of `>` quotations."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)
    for quoted in _QUOTED.finditer(text):
        yield quoted.span()


def file_name(rollout_id: str, source: str, existing: Collection[str]) -> str:
    """The name, without `.jsonl`, of the file that holds a rollout; `existing` are the names in its folder.

    The id itself if it is a plain lower-case file name, or if the SDK made a file of that name; else a slug and a hash.
    A `source` of "group" always has the hash, so that a group and a conversation of one name are two rollouts.
    """
    if _SDK_NAME.fullmatch(rollout_id) and f"{rollout_id}.jsonl" in existing and source != "group":
        return rollout_id
    plain = _PLAIN_NAME.fullmatch(rollout_id) and not _RESERVED.fullmatch(rollout_id) and not rollout_id.endswith(".")
    if plain and source != "group" and not _looks_hashed(rollout_id):
        return rollout_id
    seed = f"group\0{rollout_id}" if source == "group" else rollout_id
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug(rollout_id)}--{digest}"


def slug(text: str) -> str:
    """Up to 40 lower-case letters, digits and hyphens of the text; `rollout` where it has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:40].strip("-") or "rollout"


def _looks_hashed(name: str) -> bool:
    return re.search(r"--[0-9a-f]{12}$", name) is not None


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []


def _item(raw: Mapping[str, Any], index: int, calls: dict[str, tuple[str, str]], memories_dir: str) -> Item:
    kind = str(raw.get("type") or "")
    role = raw.get("role")
    call_id = raw.get("call_id") or raw.get("id")
    call_id = call_id if isinstance(call_id, str) else None
    if role == "user":
        return Item(index, "user", "user", _elided(_content(raw.get("content"))), Trust.USER)
    if role == "assistant" or kind == "message":
        return Item(index, "assistant", "assistant", _elided(_content(raw.get("content"))), Trust.AGENT)
    if kind.endswith(("_output", "_response")) or role == "tool":
        name, said = calls.get(call_id or "", (kind.removesuffix("_output"), ""))
        text = _elided(_content(raw.get("output", raw.get("content", raw.get("result")))) or _rest(raw))
        ours = _OURS.search(text) or _reads_memory(said, memories_dir)
        external = _EXTERNAL.search(name) or _EXTERNAL.search(kind)
        trust = Trust.EXTERNAL if ours or external else Trust.OBSERVED
        return Item(index, "output", MEMORY if ours else name, text, trust, call_id)
    name = str(raw.get("name") or kind or "item")
    said = _elided(_call(raw))
    if call_id:
        calls[call_id] = (name, said)
    # The name is part of the text: a memory that names the tool can quote it.
    return Item(index, "call", name, f"{name}\n{said}" if said else name, Trust.AGENT, call_id)


def _reads_memory(call: str, memories_dir: str) -> bool:
    """True for a command or path that names a file of ours: what it shows is memory, not news."""
    return re.search(rf"(?<![\w-]){re.escape(memories_dir)}/|\bMEMORY\.md\b|\bmemory_summary\.md\b", call) is not None


def _call(raw: Mapping[str, Any]) -> str:
    """A call as its arguments, decoded: a command stands there verbatim."""
    for key in ("arguments", "input", "action", "operation", "code", "query"):
        if key in raw and raw[key] not in (None, ""):
            return _arguments(raw[key])
    return _rest(raw)


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except ValueError:
            return value
        return _arguments(decoded) if isinstance(decoded, (dict, list)) else value
    if isinstance(value, Mapping):
        if set(value) <= {"cmd", "command", "input", "patch"} and len(value) == 1:
            return _plain(next(iter(value.values())))
        return "\n".join(f"{key}: {_plain(entry)}" for key, entry in value.items() if entry is not None)
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        return " ".join(value)
    return _pretty(value)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _rest(raw: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in raw.items() if key not in ("id", "call_id", "type", "status", "name", "role")}
    return _pretty(kept) if kept else ""


def _content(value: Any) -> str:
    """The text of a message or of an output: strings as they are, parts joined, what is no text as a marker."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(part for entry in value if (part := _part(entry)))
    if isinstance(value, Mapping):
        return _part(value)
    return _pretty(value)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return _pretty(part)
    kind = str(part.get("type") or "")
    if "image" in kind:
        return "[image]"
    if "audio" in kind:
        return str(part.get("transcript") or "[audio]")
    if "file" in kind:
        return f"[file {part['filename']}]" if part.get("filename") else "[file]"
    for key in ("text", "refusal", "output", "stdout", "content"):
        if isinstance(part.get(key), str):
            return str(part[key]) + (str(part["stderr"]) if isinstance(part.get("stderr"), str) else "")
    return _pretty(part)


def _elided(text: str) -> str:
    """The text without blobs, and without what UTF-8 cannot say."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) < BLOB:
        return text
    return _BLOB.sub(lambda blob: f"[{len(blob[0])} characters of encoded data]", text)
