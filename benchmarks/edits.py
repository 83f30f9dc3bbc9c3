"""Hand edits of `MEMORY.md` while agents work: which survive, ours beside the SDK's Memory, with the same seeds.

Each trial has a workspace with twelve facts, learned in three conversations. Turn by turn a `Person` edits the file at
random and further conversations take place in real sandbox sessions, with scripted models that answer at once:

- plain: edits, a session that learns two facts and consolidates at its close, edits.
- during: the person saves while the extraction, or the consolidation, is being asked.
- stale: an editor that was opened before the session saves after it.
- killed: the process of the session gets SIGKILL some milliseconds after its consolidation was asked.
- two: two processes with a session each close at once, and the person saves meanwhile.
- live: the agent itself adds lines to `MEMORY.md` with its shell, between the person's saves.
- again: an early conversation is resumed, and the extraction tells all that was said in it once more, in other words.

After each turn the next opening takes in what there is, and every edit is looked at: does what the person wrote stand
where they put it (survived), has what they took out or replaced come back (resurrected), does a line stand twice
(duplicated), is a line that the agent wrote kept as a person's word (credited). The SDK's Memory keeps no authors.

The SDK's phase 2 is a scripted agent that does what its prompt asks, as gently as the prompt admits: it reads the file,
keeps every byte of it, adds what the added or updated conversations say and the file lacks, and writes it back.
"""

from __future__ import annotations

import logging
import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell

from .kit import Progress, Scripted, run, session_on
from .person import Person
from .sides import Hook, Ours, Sdk, shell
from .table import Row, plural

SCENES = ("plain", "during", "stale", "killed", "two", "live", "again")
KILL_WITHIN = 0.03
"""Seconds after the consolidation was asked within which a process is killed."""


@dataclass(frozen=True)
class Sizes:
    """Edits in all for each side, and turns of one trial."""

    edits: int = 2_000
    turns: int = 14


FULL = Sizes()
QUICK = Sizes(200)
TINY = Sizes(12, 7)


@dataclass
class Score:
    """What became of the edits of one side."""

    edits: int = 0
    lost: int = 0
    resurrected: int = 0
    duplicated: int = 0
    credited: int = 0
    agents: int = 0
    kinds: dict[str, list[int]] = field(default_factory=dict)

    @property
    def survived(self) -> float:
        """Per cent of the edits of which nothing is lost and nothing has come back."""
        return 100 * (1 - sum(bad for bad, _ in self.kinds.values()) / self.edits) if self.edits else 0.0


@contextmanager
def _quiet() -> Iterator[None]:
    """Warnings about what is done here on purpose are left out."""
    logger = logging.getLogger("sandbox_memory")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def measure(sizes: Sizes, folder: Path, progress: Progress) -> list[Row]:
    """Four rows: edits that survived, came back, stand twice, and agents' lines that are a person's word now."""
    scores = {}
    with _quiet():
        for side in (Sdk(), Ours()):
            score = scores[side.name] = Score()
            seed = 0
            while score.edits < sizes.edits:
                progress(f"{side.name}: {score.edits:,} of {sizes.edits:,} edits")
                _trial(side, folder / f"{side.name}-{seed}", seed, sizes.turns, score)
                seed += 1
    sdk, ours = scores["sdk"], scores["ours"]
    kinds = tuple(
        f"{name}: {bad:,} of {plural(all_of, 'edit')} lost or undone by {who}"
        for who, score in (("the SDK's", sdk), ("ours", ours))
        for name, (bad, all_of) in sorted(score.kinds.items())
    )
    how = f"of {ours.edits:,} (the SDK's {sdk.edits:,})"
    agents = f"of {plural(ours.agents, 'line')}; the SDK's keeps no authors"
    return [
        Row("edits that survived", sdk.survived, ours.survived, "%", ours.survived, how, at_least=100, lines=kinds),
        Row("resurrected", sdk.resurrected, ours.resurrected, "", ours.resurrected, "ours", at_most=0),
        Row("duplicated", sdk.duplicated, ours.duplicated, "", ours.duplicated, "ours", at_most=0),
        Row("agent edits credited to a person", None, ours.credited, "", ours.credited, agents, at_most=0),
    ]


def _trial(side: Any, root: Path, seed: int, turns: int, score: Score) -> None:
    work = Work(side, root, random.Random(f"trial {seed}"))
    for number in range(3):
        work.session(f"old-{number}", work.facts(4))
    scenes = [SCENES[(seed * turns + turn) % len(SCENES)] for turn in range(turns)]
    work.rng.shuffle(scenes)
    for turn, scene in enumerate(scenes):
        getattr(work, scene)(f"new-{turn}")
        side.settle(root)
        work.look()
    person = work.person
    score.edits += len(person.edits)
    score.lost += sum(edit.lost for edit in person.edits)
    score.resurrected += sum(edit.resurrected for edit in person.edits)
    score.duplicated += len(work.doubled)
    score.credited += side.credited(root)
    score.agents += work.notes
    for edit in person.edits:
        counts = score.kinds.setdefault(edit.kind, [0, 0])
        counts[0] += edit.lost or edit.resurrected
        counts[1] += 1


class Work:
    """One workspace, its person, and its agents."""

    def __init__(self, side: Any, root: Path, rng: random.Random) -> None:
        root.mkdir(parents=True)
        self.side, self.root, self.rng = side, root, rng
        self.person = Person(root / "memories" / "MEMORY.md", rng)
        self.doubled: set[str] = set()
        self.known = self.notes = 0

    def facts(self, count: int) -> str:
        """What a user says next: that many facts that nobody has said before."""
        self.known += count
        return " ".join(f"the port of F{n}z is V{n}v{n}." for n in range(self.known - count, self.known))

    def look(self) -> None:
        """Look whether all that the person did is still so."""
        summary = self.root / "memories" / "memory_summary.md"
        text = summary.read_bytes().decode("utf-8", "surrogateescape") if summary.exists() else ""
        self.person.look(text)
        self.doubled |= set(self.person.doubled())

    def save(self) -> None:
        """The person makes one to three edits, and saves."""
        self.person.save(self.rng.randint(1, 3))

    def session(self, rollout: str, said: str, hook: Hook = lambda what: None, commands: Sequence[str] = ()) -> None:
        """A sandbox session with one run in it, from its opening to its close."""
        run(self._session(rollout, said, hook, commands))

    async def _session(self, rollout: str, said: str, hook: Hook, commands: Sequence[str]) -> None:
        session = await session_on(self.root)
        steps: Iterator[Any] = iter([*(shell(command) for command in commands), "Noted."])

        def act(system: str, items: Sequence[Any]) -> Any:
            hook("shell")
            return next(steps)

        agent = SandboxAgent(
            name="worker",
            model=Scripted(act),
            instructions="Be brief.",
            capabilities=[self.side.memory(hook), Filesystem(), Shell()],
        )
        async with session:
            config = RunConfig(sandbox=SandboxRunConfig(session=session), group_id=rollout)
            await Runner.run(agent, said, run_config=config)

    def plain(self, name: str) -> None:
        """Edits before and after a session."""
        self.save()
        self.session(name, self.facts(2))
        self.save()

    def during(self, name: str) -> None:
        """The person saves while a model is asked."""
        moment = self.rng.choice(("one", "two"))
        self.session(name, self.facts(2), lambda what: self.save() if what == moment else None)

    def stale(self, name: str) -> None:
        """An editor that was opened before the session saves after it."""
        opened = self.person.read()
        self.session(name, self.facts(2))
        self.person.save(self.rng.randint(1, 3), opened)

    def killed(self, name: str) -> None:
        """The process of the session is killed at its consolidation."""
        self.save()
        child = Child(self, name, self.facts(2))
        child.asked(10.0)
        time.sleep(self.rng.random() * KILL_WITHIN)
        child.process.kill()
        child.process.join()
        self.save()

    def two(self, name: str) -> None:
        """Two processes with a session each, and a person who saves meanwhile."""
        children = [Child(self, f"{name}-{which}", self.facts(1)) for which in "ab"]
        for child in children:
            child.asked(10.0)
            self.save()
        for child in children:
            child.process.join()

    def live(self, name: str) -> None:
        """The agent writes into the file with its shell, between the person's saves."""
        self.notes += 2
        one, other = (f"- agent note A{n}a" for n in (self.notes, self.notes - 1))
        commands = (
            f"printf '%s\\n' '{one}' >> memories/MEMORY.md",
            f"sed -i '0,/^# Task Group/{{s//{other}\\n\\n&/}}' memories/MEMORY.md",
        )
        self.session(name, self.facts(1), lambda what: self.save() if what == "shell" else None, commands)

    def again(self, name: str) -> None:
        """An early conversation goes on, and all of it is told once more, in other words."""
        self.save()
        self.session(f"old-{self.rng.randrange(3)}", f"once more, all of it, and {self.facts(1)}")
        self.side.again(self.root)
        self.save()


class Child:
    """A session in a process of its own, which tells when its consolidation is asked."""

    def __init__(self, work: Work, rollout: str, said: str) -> None:
        context = multiprocessing.get_context("fork")
        self._asked = context.Event()

        def hook(what: str) -> None:
            if what == "two":
                self._asked.set()

        self.process = context.Process(target=work.session, args=(rollout, said, hook))
        self.process.start()

    def asked(self, seconds: float) -> None:
        """Wait for that, or for the end of the process, at most so long."""
        until = time.monotonic() + seconds
        while not self._asked.wait(0.002) and self.process.is_alive() and time.monotonic() < until:
            pass
