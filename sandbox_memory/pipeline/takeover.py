"""A workspace made by the SDK's own Memory, opened for the first time: what it has extracted counts as extracted."""

from __future__ import annotations

from ..ledger import Operation
from ..notes import raw_header
from ..rollouts import payloads
from ..trusting import anchoring
from .settle import Change, Maker, Seen
from .store import Store


async def takeover(store: Store, seen: Seen, *, vouching: bool = True) -> list[Maker]:
    """What commits the raw memories of a workspace that has no ledger; nothing for any other.

    The transcripts that are there before any session of ours are vouched for, if `vouching`.
    """
    if len(seen.ledger) or not seen.raw_memories:
        return []
    layout = store.layout
    raws = [layout.memory(f"raw_memories/{name}") for name in seen.raw_memories if name.endswith(".md")]
    transcripts = [layout.session(name) for name in seen.sessions if name.endswith(".jsonl")]
    view = await store.look([*raws, *transcripts])
    for path in transcripts if vouching and not seen.open_marks else ():
        anchoring.vouch(view.files.get(path, b"").split(b"\n")[:-1], path, session_open=False)
    operations = []
    for path in raws:
        header = raw_header(view.files.get(path, b"").decode("utf-8", "replace"))
        if "rollout_summary_file" not in header or header.get("consumed_bytes"):
            continue
        stem = path.rsplit("/", 1)[-1].removesuffix(".md")
        updated = header.get("updated_at", "")
        facts = {
            "consumed": _read_by(view.files.get(layout.session(f"{stem}.jsonl"), b""), updated),
            "updated_at": updated,
            "summary_file": header["rollout_summary_file"],
            "terminal_state": header.get("terminal_state", ""),
        }
        operations.append(Operation("extract", stem, facts))
    operations.sort(key=lambda operation: str(operation.facts["updated_at"]))
    return [lambda state: Change("import", tuple(operations))] if operations else []


def _read_by(transcript: bytes, updated: str) -> int:
    """How many bytes of a transcript an extraction of that time had read: up to its last line that is not newer."""
    read = {
        number for number, _, payload in payloads(transcript) if payload and str(payload.get("updated_at")) <= updated
    }
    lines = transcript.split(b"\n")
    return sum(len(line) + 1 for line in lines[: max(read, default=0)])
