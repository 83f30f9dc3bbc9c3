"""What this machine or the host's key can say of one memory: which of its lines are ours, and what is missing.

With a key a commit is believed if it carries its seal, or if a sealed commit vouches for it. Without one it is
believed if this user's processes wrote it. A history of which they wrote nothing is from elsewhere, and is believed as
it stands until this machine writes to it; from then on a line that appears in it is foreign, and is passed over. A line
that stands there again, or before its time, is passed over as well.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ConfigError, WrongKey
from ..layout import Layout
from ..ledger import Ledger, chain_digest, words_hold
from ..rollouts import payloads
from . import anchoring
from .sealing import Seal

logger = logging.getLogger("sandbox_memory")

VOUCH = "vouch"
"""The operation by which the holder of a key vouches for commits that are not sealed, by their digests."""
MOST_LOST = 20
"""How many heads that got lost are told of at most."""

_TOLD: set[tuple[str, int]] = set()
"""What this process has told of in its log."""

Fresh = Sequence[tuple[int, bytes, Mapping[str, Any]]]


@dataclass(frozen=True)
class Head:
    """How far the history had got that this machine wrote in one place; `lost` are heads that it has not any more.

    A lost head is `{"commits", "head"}`: the number of commits and the digest of the last.
    """

    commits: int = 0
    digest: str = ""
    lost: tuple[Mapping[str, Any], ...] = field(default=())

    def lost_by(self, ledger: Ledger) -> bool:
        """True if the history is not that one, nor one that goes on from it."""
        return self.commits > 0 and ledger.digest_at(self.commits) != self.digest


class Witness:
    """Judges and signs the lines of one memory.

    `place` names the workspace on this machine: its folder, or the session's id. `key` is the host's.
    """

    def __init__(self, layout: Layout, *, key: bytes = b"", place: str = "") -> None:
        self.layout = layout
        self.seal = Seal(key, layout.memories_dir, layout.sessions_dir)
        name = hashlib.sha256(f"{place}\0{layout.memories_dir}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.folder = anchoring.folder("places") / name if place else None
        self._vouched: set[str] = set()
        self._digests: dict[int, str] = {}
        self._seen: set[bytes] = set()
        self._highest = 0
        self.native = False
        """True if the first commit is ours."""
        self._sealed = self._mine = False

    # ---- commits

    def sign(self, digest: str) -> str:
        return self.seal.commit(digest)

    def judged(self, ledger: Ledger, fresh: Fresh) -> Ledger:
        if fresh[0][0] == 1:
            self._vouched, self._digests, self._seen = set(), {}, set()
            self._highest, self.native, self._sealed, self._mine = 0, False, False, False
        before = ledger.passed
        out_of_order = {ordinal for ordinal, raw, line in fresh if not self._in_order(raw, line)}
        judge = self._by_key if self.seal else self._by_machine
        passed, ours = judge(ledger, fresh, out_of_order)
        if before - passed:
            ledger = replace(ledger, folds={})  # what had been passed over is vouched for now
        if new := len(passed - before):
            self._tell(new, min(passed - before), ledger)
        return replace(ledger, passed=passed, ours=ours)

    def _in_order(self, raw: bytes, line: Mapping[str, Any]) -> bool:
        """False for a line that stood there before, or that calls itself older than one before it."""
        mark = hashlib.blake2b(raw, digest_size=16).digest()
        if mark in self._seen:
            return False
        self._seen.add(mark)
        return True

    def _by_key(self, ledger: Ledger, fresh: Fresh, out_of_order: set[int]) -> tuple[frozenset[int], bool]:
        sealed = False
        for ordinal, _, line in fresh:
            digest = chain_digest(line)
            if ordinal in out_of_order or line["commit"] <= self._highest or not words_hold(line):
                self._digests[ordinal] = ""
            elif self.seal.holds_commit(digest, line.get("mac")):
                self._mine = True
                sealed, self._highest = True, line["commit"]
                self.native = self.native or ordinal == 1
                for operation in ledger.commits[ordinal - 1].operations:
                    if operation.op == VOUCH:
                        self._vouched.update(map(str, operation.facts.get("commits", ())))
            else:
                self._digests[ordinal] = digest
                self._sealed = self._sealed or "mac" in line
        passed = frozenset(n for n, digest in self._digests.items() if digest not in self._vouched)
        return passed, ledger.ours or sealed

    def held(self, ledger: Ledger) -> tuple[int, int]:
        """How many commits carry the key's seal, and how many others its holder vouches for."""
        vouched = sum(1 for n, digest in self._digests.items() if digest and n not in ledger.passed)
        return len(ledger) - len(ledger.passed) - vouched, vouched

    def _by_machine(self, ledger: Ledger, fresh: Fresh, out_of_order: set[int]) -> tuple[frozenset[int], bool]:
        passed, ours, begun = set(ledger.passed), ledger.ours, self.recall().commits > 0
        wrote = self._wrote(fresh, settled=begun or ours)
        for (ordinal, _, line), known in zip(fresh, wrote, strict=True):
            believed = known or not (begun or ours)
            if ordinal in out_of_order or not believed or (known and line["commit"] <= self._highest):
                passed.add(ordinal)
                continue
            ours, self._sealed = ours or known, self._sealed or "mac" in line
            if known:
                self._highest, self.native = line["commit"], self.native or ordinal == 1
        return frozenset(passed), ours

    def _wrote(self, fresh: Fresh, *, settled: bool) -> list[bool]:
        """For each of these commits whether it is ours, or was there before us; also if its words were erased since.

        `settled` says that some are known to be ours: else those that look foreign are not looked at twice.
        """
        path, names = self.layout.ledger, (anchoring.ANCHORS, anchoring.TAKEN)
        known = anchoring.known_among([anchoring.digest(raw, path) for _, raw, _ in fresh], names)
        for n, (_, _, line) in enumerate(fresh) if settled or any(known) else ():
            known[n] = known[n] or (
                anchoring.known_among([self._chained(chain_digest(line))]) == [True] and words_hold(line)
            )
        return known

    def erased(self, raw: bytes) -> bool:
        """True for a line that is not as this machine wrote it, but for words that were taken out of it."""
        return anchoring.known_among([self._chained(chain_digest(json.loads(raw)))]) == [True]

    def _chained(self, digest: str) -> str:
        return anchoring.digest(digest.encode(), self.layout.ledger)

    def _tell(self, count: int, first: int, ledger: Ledger) -> None:
        about = (ledger.digest_at(first), count)
        if about in _TOLD:
            return
        _TOLD.add(about)
        why = "are not sealed with this key" if self.seal else "were not written by this user on this machine"
        logger.warning(
            "sandbox memory: %s: %d commit(s), the first in line %d, %s and count for nothing; `sandbox-memory check` "
            "names them, `sandbox-memory vouch` takes them in. Machines that share a memory need a key",
            self.layout.ledger,
            count,
            ledger.commits[first - 1].line,
            why,
        )

    def writes(self, ledger: Ledger, lines: bytes) -> None:
        """Note commits that are about to be appended: a process that is killed in between has forged nothing.

        Raises `ConfigError` where a key has sealed the history and this process has none or another: nobody would
        believe it.
        """
        if self._sealed and self.seal and not self._mine and f'"op":"{VOUCH}"'.encode() not in lines:
            raise WrongKey(
                f"{self.layout.ledger} is sealed with another key than this one; give that one, or let "
                "`sandbox-memory vouch` take in what stands there under the new key"
            )
        if self._sealed and not self.seal:
            raise ConfigError(
                f"{self.layout.ledger} is sealed with a host's key: give it to Memory(key=…) or open_memory(key=…), or "
                "name its file with --key-file; without it nothing that is written here counts"
            )
        raw = lines.split(b"\n")[:-1]
        anchoring.keep(raw, self.layout.ledger)
        anchoring.keep_digests(self._chained(chain_digest(json.loads(line))) for line in raw)
        if len(ledger) and not self.recall().commits:
            stood = ledger.data.split(b"\n")
            foreign = [stood[c.line - 1] for c in ledger.commits if c.ordinal not in ledger.passed]
            foreign = [foreign[n] for n in anchoring.unknown(foreign, self.layout.ledger)]
            anchoring.keep(foreign, self.layout.ledger, anchoring.TAKEN)

    # ---- vouching

    def unsealed(self) -> list[str]:
        """The digests of the commits that are passed over for want of a seal; not of those whose words were changed."""
        return sorted({digest for digest in self._digests.values() if digest and digest not in self._vouched})

    def adopts(self, data: bytes) -> None:
        """Note all commits of this ledger file as ours."""
        lines = [line for line in data.split(b"\n") if line.strip()]
        anchoring.keep((lines[n] for n in anchoring.unknown(lines, self.layout.ledger)), self.layout.ledger)

    def adopts_lines(self, path: str, data: bytes) -> int:
        """Note all lines of this transcript as ours; how many of them were not."""
        lines = [line for line in data.split(b"\n")[:-1] if line.strip()]
        foreign = [lines[n] for n in anchoring.unknown(lines, path)]
        anchoring.keep(foreign, path)
        return len(foreign)

    def settled(self, ledger: Ledger) -> None:
        """What was missing is not missed any more: what stands there now is right."""
        self._note(Head(len(ledger), ledger.head))
        if self.folder is not None:
            with suppress(OSError):
                (self.folder / "lines").unlink()

    # ---- how far the history had got

    def recall(self) -> Head:
        """How far it had got; nothing where this machine wrote nothing."""
        if self.folder is None:
            return Head()
        try:
            kept = json.loads((self.folder / "head.json").read_text(encoding="utf-8"))
            return Head(int(kept["commits"]), str(kept["head"]), tuple(map(dict, kept["lost"])))
        except (OSError, ValueError, KeyError, TypeError):
            return Head()

    def reached(self, ledger: Ledger, lines: bytes) -> None:
        """Note how far the history has got by these lines."""
        new = lines.split(b"\n")[:-1]
        self._highest, self.native = ledger.number, self.native or len(new) == len(ledger)
        self._seen.update(hashlib.blake2b(line, digest_size=16).digest() for line in new)
        self._note(replace(self.recall(), commits=len(ledger), digest=ledger.head))

    def missed(self, before: Head, ledger: Ledger, *, anew: bool) -> None:
        """Note, and log, that the history from `before` is gone; with `anew` the whole memory is, and begins again."""
        now = self.recall()
        lost = {"commits": before.commits, "head": before.digest}
        if anew:
            self._note(Head())
        elif lost not in now.lost:
            self._note(replace(now, lost=(*now.lost, lost)[-MOST_LOST:]))
            logger.warning(
                "sandbox memory: %s: %d commit(s) were written here, and the history has not got them any more: an "
                "older copy was put back, or something cut it; `sandbox-memory check` tells",
                self.layout.ledger,
                before.commits,
            )

    def _note(self, head: Head) -> None:
        if self.folder is None:
            return
        kept = {"commits": head.commits, "head": head.digest, "lost": list(head.lost)}
        try:
            temporary = anchoring.private(self.folder) / f"head.{os.getpid()}.tmp"
            anchoring.private_file(temporary).write_text(json.dumps(kept), encoding="utf-8")
            temporary.replace(self.folder / "head.json")
        except OSError as error:
            logger.debug("sandbox memory: the head of %s could not be noted: %s", self.layout.ledger, error)

    # ---- transcripts

    def records(self, path: str, lines: bytes) -> None:
        """Note lines that are about to be appended to a transcript: a process that is killed has forged nothing."""
        anchoring.keep(lines.split(b"\n")[:-1], path)

    def recorded_line(self, path: str, lines: bytes) -> None:
        """Note lines that stand in a transcript now."""
        if self.folder is None or not path.startswith(f"{self.layout.sessions_dir}/"):
            return
        with suppress(OSError), anchoring.private_file(anchoring.private(self.folder) / "lines").open("a") as file:
            file.writelines(f"{anchoring.digest(line, path)} {path}\n" for line in lines.split(b"\n")[:-1])

    def recorded(self) -> dict[str, list[str]]:
        """The digests of the lines that were written to each transcript here, by its path, in their order."""
        found: dict[str, list[str]] = {}
        with suppress(OSError):
            kept = (self.folder / "lines").read_text(encoding="utf-8") if self.folder is not None else ""
            for entry in kept.splitlines():
                value, _, path = entry.partition(" ")
                found.setdefault(path, []).append(value)
        return found

    def doubted(self, stem: str, data: bytes, *, start: int, read: int, session_open: bool) -> set[int]:
        """The positions, among all lines of `data`, of those that are worth no more than the agent's word.

        `data` is the transcript from byte `start` on, of which an extraction had read up to byte `read` once. With a
        key that is every line which claims to be ours and is not sealed. What appears while a session is open is
        doubted, and so is what differs from what had been read, in a history that began with us.
        """
        path = self.layout.session(f"{stem}.jsonl")
        lines = data.split(b"\n")[:-1]
        end, late, changed = start, list[bytes](), list[bytes]()
        for line in lines:
            end += len(line) + 1
            (changed if self.native and end <= read else late).append(line)
        anchoring.vouch(changed, path, session_open=True)
        anchoring.vouch(late, path, session_open=session_open)
        doubts = anchoring.doubted(lines, path)
        if self.seal:
            claims = {n - 1 for n, _, payload in payloads(data) if payload and payload.get("segment")}
            held = {n for n in claims if self.seal.holds_line(stem, lines[n])}
            doubts = (doubts - held) | (claims - held)
        return doubts
