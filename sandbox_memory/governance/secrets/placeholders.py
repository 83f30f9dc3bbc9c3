"""What stands where a secret was. Its kinds are a closed list, so that nothing can be hidden in one that is forged."""

from __future__ import annotations

import re

from .vendors import TABLE

KINDS = frozenset(line.split()[0] for line in TABLE.strip().splitlines()) | frozenset(
    "password secret token credential api-key private-key url-password webhook npm-token authorization cookie "
    "signature bank-card bank-account national-id card-code pin one-time-code seed-phrase discord-token "
    "atlassian-token telegram-token azure-secret terraform-token mailchimp-key newrelic-key".split()
)
"""Every kind that a detector tells."""

PLACEHOLDER = re.compile(rf"⟦secret:(?:{'|'.join(sorted(KINDS, key=len, reverse=True))})(?:#[0-9a-f]{{4}})?⟧")
"""What stands where a secret was: its kind and, where a salt was given, a tag that is the same for the same secret."""


def pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """What is left of a stretch of text between the placeholders in it; the stretch itself if there are none."""
    if text.find("⟦secret:", start, end) < 0:
        return [(start, end)]
    found, done = [], start
    for match in PLACEHOLDER.finditer(text, start, end):
        found.append((done, match.start()))
        done = match.end()
    return [(one, other) for one, other in (*found, (done, end)) if one < other]


def bare(value: str) -> str:
    """The value without the placeholders in it."""
    return PLACEHOLDER.sub("", value) if "⟦secret:" in value else value
