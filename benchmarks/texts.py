"""Made-up work that reads like work: the same words for the same number, at every run and on every machine."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

SERVICES = "billing checkout search ledger mailer gateway reports catalog invoices accounts webhooks exports".split()
VERBS = "deploy migrate profile roll-back backfill release restart re-index rotate audit".split()
PARTS = "queue worker cache schema replica consumer scheduler index token bucket lock batch session timeout".split()
ENDS = (
    "before the nightly job starts",
    "on the read replica only",
    "after the health check has passed twice",
    "while traffic is drained",
    "unless the feature flag is on",
    "in the eu-west region",
    "with the old binary still running",
    "once the lock has been released",
)


@dataclass(frozen=True)
class Conversation:
    """What one finished conversation was about, and the two things that it taught."""

    number: int
    id: str
    at: str
    group: str
    task: str
    slug: str
    keywords: tuple[str, ...]
    knowledge: str
    lesson: str


def conversation(number: int) -> Conversation:
    """The conversation of that number. Four in a row are about one group of tasks, as when work goes on for a while."""
    draw = random.Random(f"conversation {number}")
    of_group = random.Random(f"group {number // 4}")
    service, verb = of_group.choice(SERVICES), of_group.choice(VERBS)
    name = f"{service}-{number // 4:03d}"
    part, port = draw.choice(PARTS), 2_000 + number
    at = datetime(2026, 1, 1, 8, tzinfo=timezone.utc) + timedelta(minutes=37 * number)
    remedy = f"run `drain {name} --wait {draw.randint(5, 90)}`"
    return Conversation(
        number=number,
        id=f"chat-{number:05d}",
        at=at.isoformat(),
        group=f"{verb.capitalize()} {name}",
        task=f"{verb} the {part} of {name}, step {number % 4 + 1}",
        slug=f"{verb}-{part}-{name}-{number % 4 + 1}",
        keywords=(name, part, verb, f"port {port}", f"{part}_{port}"),
        knowledge=f"The {part} of {name} listens on port {port} {draw.choice(ENDS)}.",
        lesson=f"`make {verb}` fails with E{port} {draw.choice(ENDS)}: {remedy}.",
    )


def prose(seed: str, length: int) -> str:
    """About that many characters of lines as a tool prints them; the last line may be cut off."""
    draw = random.Random(seed)
    lines: list[str] = []
    size = 0
    while size < length:
        line = (
            f"{draw.randint(10, 23)}:{draw.randint(10, 59)} {draw.choice(SERVICES)}: the {draw.choice(PARTS)} took "
            f"{draw.randint(2, 900)} ms to {draw.choice(VERBS)} {draw.choice(ENDS)}"
        )
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)[:length]
