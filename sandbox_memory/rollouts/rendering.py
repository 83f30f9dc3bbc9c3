"""Renders the items of a run as text. Evidence points into this text, so a change here moves every receipt."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..blobs import media, without_encoded
from ..records import Item, Trust
from .parts import Part, attached
from .trust import MEMORY, of_output, speaks_for_memory, writes_memory

EXCLUDED_ROLES = frozenset({"system", "developer"})
EXCLUDED_TYPES = frozenset(
    {
        "reasoning",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "image_generation_call",
        "mcp_list_tools",
        "item_reference",
        "additional_tools",
        "configuration_update",
    }
)
"""Instructions to the model, its thoughts, lists of tools, and pictures: what is no part of the conversation."""
_KNOBS = frozenset(
    "yield_time_ms max_output_tokens max_output_length login tty shell timeout timeout_ms timeout_seconds".split()
)
"""Arguments that tell a shell tool how to wait, not what to do."""
_COMMANDS = ("cmd", "command", "commands", "script", "input", "patch")
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"))
_ASIDE = frozenset("id call_id type status name role namespace caller created_by provider_data fingerprint".split())

Raw = Mapping[str, Any]


def render(payload: Raw, *, memories_dir: str = "memories") -> tuple[Item, ...]:
    """The items of a segment as text: its input, then what was generated, then a final output that none of them says.

    Prompts and quote checks both read this. Instructions and reasoning are left out, empty items too; images and blobs
    are elided. A call is the tool's name on a line of its own, then the command verbatim, or `key: value` lines. What
    memory told the agent has the label `memory`.
    """
    items: list[Item] = []
    calls: dict[str, tuple[str, str]] = {}
    for raw in [*listed(payload.get("input")), *listed(payload.get("generated_items"))]:
        if not isinstance(raw, Mapping) or excluded(raw):
            continue
        for role, label, said, call_id in _parts(raw):
            text = _elided(said)
            if text.strip():
                item = _item(len(items), role, label, text, call_id, calls, memories_dir)
                items.append(replace(item, attached=_documents(raw.get("content"), text)) if role == "user" else item)
    final = payload.get("final_output")
    if final is not None:
        text = _elided(final if isinstance(final, str) else _compact(final))
        last = next((item.text for item in reversed(items) if item.role == "assistant"), None)
        if text.strip() and not says(last, final):
            items.append(Item(len(items), "assistant", "final output", text, Trust.AGENT))
    return tuple(items)


def listed(value: object) -> list[Any]:
    """An input as a list of items: a text is one user message."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []


def excluded(item: Raw) -> bool:
    """True for instructions, reasoning and the like, which memory never holds."""
    role, kind = item.get("role"), item.get("type")
    return (isinstance(role, str) and role in EXCLUDED_ROLES) or (isinstance(kind, str) and kind in EXCLUDED_TYPES)


def says(text: str | None, final: object) -> bool:
    """True if a message is a final output: its text, or the JSON of its value, which the SDK may wrap in `response`."""
    if text is None:
        return False
    if isinstance(final, str):
        return text == final
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return said == final or (isinstance(said, dict) and set(said) == {"response"} and said["response"] == final)


def message_text(content: object, joint: str = "\n") -> str:
    """The text of a message or an output: strings as they are, parts joined, what is no text as a marker."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        return joint.join(part for entry in content if (part := _part(entry)))
    return _part(content)


def _mappings(value: object) -> list[Raw]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _item(
    index: int, role: str, label: str, text: str, call_id: str | None, calls: dict[str, tuple[str, str]], folder: str
) -> Item:
    if role == "call":
        said = text.partition("\n")[2]
        if call_id:
            calls[call_id] = (label, said)
        ours = writes_memory(said, folder)
        return Item(index, role, MEMORY if ours else label, text, Trust.EXTERNAL if ours else Trust.AGENT, call_id)
    if role == "output":
        tool, said = calls.get(call_id or "", (label, ""))
        if speaks_for_memory(text, said, tool, folder):
            return Item(index, role, MEMORY, text, Trust.EXTERNAL, call_id)
        return Item(index, role, tool, text, min(of_output(tool, said, text), of_output(label, "")), call_id)
    return Item(index, role, label, text, Trust.USER if role == "user" else Trust.AGENT, call_id)


def _parts(raw: Raw) -> Iterator[tuple[str, str, str, str | None]]:
    """What one raw item becomes: role, label, text, call id. A hosted tool's item holds the call and its output."""
    kind, role = str(raw.get("type") or ""), raw.get("role")
    call_id = next((raw[key] for key in ("call_id", "tool_call_id", "id") if isinstance(raw.get(key), str)), None)
    if role in ("user", "assistant") or kind == "message":
        who = "user" if role == "user" else "assistant"
        if text := message_text(raw.get("content")):
            yield who, who, text, None
        for call in _mappings(raw.get("tool_calls")):
            if isinstance(made := call.get("function"), Mapping):
                name, id = str(made.get("name") or "tool"), call.get("id")
                said = _titled(name, _arguments(made.get("arguments")))
                yield "call", name, said, id if isinstance(id, str) else None
        return
    if kind.endswith(("_output", "_response")) or role == "tool":
        yield "output", kind.removesuffix("_output") or "tool", _output(raw, kind), call_id
        return
    name = str(raw.get("name") or kind.removesuffix("_call") or "item")
    yield "call", name, _titled(name, _call(raw, kind)), call_id
    result = _HOSTED.get(kind, _own_output)(raw)
    if result:
        yield "output", kind.removesuffix("_call"), result, call_id


def _titled(name: str, said: str) -> str:
    # The name is part of the text: a memory that names the tool can quote it.
    return f"{name}\n{said}" if said else name


def _call(raw: Raw, kind: str) -> str:
    """A call as its arguments, decoded: a command stands there verbatim."""
    if kind == "apply_patch_call" and isinstance(raw.get("operation"), Mapping):
        step = raw["operation"]
        return "\n".join(str(step[key]) for key in ("type", "path", "diff") if step.get(key))
    for key in ("arguments", "input", "action", "actions", "code", "queries", "query"):
        if raw.get(key) not in (None, "", {}, []):
            return _arguments(raw[key])
    known = (*_ASIDE, "output", "outputs", "results", "error", "arguments", "input")
    kept = {key: value for key, value in raw.items() if key not in known}
    return _compact(kept) if kept else ""


def _arguments(value: object) -> str:
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return _arguments(decoded) if isinstance(decoded, (dict, list)) else value
    if not isinstance(value, Mapping):
        return _plain(value)
    given = {str(key): entry for key, entry in value.items() if entry not in (None, {}, []) and key != "sources"}
    if any(key in given for key in _COMMANDS):
        given = {key: entry for key, entry in given.items() if key not in _KNOBS}
    if given.get("type") in ("exec", "search", "open_page", "find_in_page") and len(given) > 1:
        del given["type"]
    if len(given) == 1 and next(iter(given)) in _COMMANDS:
        return _command(*given.popitem())
    return "\n".join(f"{key}: {_command(key, entry)}" for key, entry in given.items())


def _command(key: str, value: object) -> str:
    """A command as a person would type it; of `bash -lc "…"` what it runs; several are one a line."""
    if key not in _COMMANDS or not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return _plain(value)
    if key == "commands":
        return "\n".join(value)
    if len(value) == 3 and value[0] in _SHELLS and value[1].startswith("-") and value[1].endswith("c"):
        return str(value[2])
    return shlex.join(value)


def _output(raw: Raw, kind: str) -> str:
    if kind == "tool_search_output":
        names = [str(tool.get("name") or tool.get("type")) for tool in _mappings(raw.get("tools"))]
        return "tools: " + ", ".join(names) if names else ""
    if kind == "mcp_approval_response":
        return f"{'approved' if raw.get('approve') else 'refused'} {raw.get('reason') or ''}".rstrip()
    value = next((raw[key] for key in ("output", "content", "result") if raw.get(key) is not None), None)
    if isinstance(value, str) and value[:1] in ("{", "["):
        value = _decoded(value)
    text = message_text(value)
    if text or value is not None:
        return text
    kept = {key: value for key, value in raw.items() if key not in _ASIDE}
    return _compact(kept) if kept else str(raw.get("status") or "")


def _decoded(text: str) -> object:
    """An output that is JSON: content parts, or a shell's output with its exit code, as such; else readable JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict) and isinstance(value.get("output"), str) and set(value) <= {"output", "metadata"}:
        told = value.get("metadata")
        code = told.get("exit_code") if isinstance(told, dict) else None
        return value["output"] if code is None else f"{value['output'].rstrip()}\nexit code: {code}"
    if (
        isinstance(value, list)
        and value
        and all(
            isinstance(part, dict) and str(part.get("type")).startswith(("text", "input_", "output_", "image"))
            for part in value
        )
    ):
        return value
    return json.dumps(value, ensure_ascii=False) if "\\u" in text else text


def _own_output(raw: Raw) -> str:
    told = raw.get("error")
    return "\n".join(part for part in (message_text(raw.get("output")), message_text(told) if told else "") if part)


def _search_sources(raw: Raw) -> str:
    action = raw.get("action")
    sources = action.get("sources") if isinstance(action, Mapping) else None
    return "\n".join(str(source.get("url")) for source in _mappings(sources))


def _file_results(raw: Raw) -> str:
    found = _mappings(raw.get("results"))
    return "\n".join(f"{result.get('filename') or 'file'}: {result.get('text') or ''}" for result in found)


def _code_results(raw: Raw) -> str:
    return message_text(raw.get("outputs"))


_HOSTED: dict[str, Callable[[Raw], str]] = {
    "web_search_call": _search_sources,
    "file_search_call": _file_results,
    "code_interpreter_call": _code_results,
}


def _documents(content: object, text: str) -> tuple[tuple[int, int], ...]:
    """The spans of a person's message that came as documents."""
    if not isinstance(content, (list, tuple)):
        return ()
    parts = [Part(_elided(said), _kind(entry)) for entry in content if (said := _part(entry))]
    return attached(parts, text)


def _kind(part: object) -> str:
    kind = str(part.get("type") or "") if isinstance(part, Mapping) else ""
    return "file" if "file" in kind else "media" if "image" in kind or "audio" in kind else "text"


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return _compact(part)
    kind = str(part.get("type") or "")
    if "image" in kind or "screenshot" in kind:
        return media("image", _data(part, "image_url", "url", "data", "source"))
    if "audio" in kind:
        spoken = part.get("transcript")
        return spoken if isinstance(spoken, str) and spoken else media("audio", _data(part, "input_audio", "data"))
    if "file" in kind:
        return media("file", _data(part, "file_data", "file", "data"), str(part.get("filename") or ""))
    if "stdout" in part or "stderr" in part:
        return _shell_output(part)
    for key in ("text", "refusal", "output", "logs", "content", "message"):
        if isinstance(part.get(key), str):
            return str(part[key])
    return _compact(part)


def _data(part: Raw, *keys: str) -> object:
    """What a part holds of a picture, a sound or a file: the value itself, or one level below."""
    for key in keys:
        value = part.get(key)
        if isinstance(value, Mapping):
            value = next((value[inner] for inner in ("url", "data", "file_data") if value.get(inner)), None)
        if value:
            return value
    return None


def _shell_output(chunk: Raw) -> str:
    shown = [text.rstrip("\n") for key in ("stdout", "stderr") if isinstance(text := chunk.get(key), str) and text]
    outcome = chunk.get("outcome")
    if isinstance(outcome, Mapping):
        shown.append(f"exit code: {outcome['exit_code']}" if "exit_code" in outcome else str(outcome.get("type") or ""))
    return "\n".join(part for part in shown if part)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(entry, str) and "\n" not in entry for entry in value):
        return ", ".join(value)
    return _compact(value)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _elided(text: str) -> str:
    """The text without blobs, and with `?` for what UTF-8 cannot say."""
    return without_encoded(text.encode("utf-8", "replace").decode("utf-8"))
