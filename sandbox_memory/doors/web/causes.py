"""Why work is pending, what stands where: our own texts by their names, so that the page says them in its language.

What somebody else said (a provider, the operating system) stays as it came, beside ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_ADVICE = r"; set the key and name that its provider needs\b.*"
_CAUSES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.DOTALL))
    for name, pattern in (
        ("late", r"the session's close had to end before its turn came"),
        ("no-answer", r"the model did not answer before the session's close had to end"),
        ("cancelled", r"the call of the model was cancelled"),
        ("half-empty", r"the model left (?P<fields>[\w ]+) empty, but not all of its answer"),
        ("no-operation", r"no operation of the answer could be used \((?:it proposed none|(?P<words>.*))\)"),
        ("offline", r"the offline model cannot answer a \w+ request"),
        ("timeout", r"(?P<name>.+?) timed out"),
        ("silent", r"(?P<name>.+?) gave no answer within (?P<turns>\d+) turns"),
        ("other-type", r"(?P<name>.+?) answered a \w+, not what was asked for"),
        ("not-json", r"(?P<name>.+?) misbehaved: its answer is not JSON"),
        ("other-json", r"(?P<name>.+?) misbehaved: its answer is JSON, but none of what was asked for"),
        ("wrong-type", r"(?P<name>.+?) misbehaved: its answer has the wrong type: (?P<words>.*)"),
        ("misbehaved", r"(?P<name>.+?) misbehaved: (?P<words>.*)"),
        ("denied", rf"(?P<name>.+?) cannot be used \((?P<status>\d+)\){_ADVICE}"),
        ("unusable", rf"(?P<name>.+?) cannot be used: (?P<words>.*?){_ADVICE}"),
        ("status", r"(?P<name>.+?) failed with status (?P<status>\d+): (?P<words>.*)"),
        ("unreachable", r"(?P<name>.+?) cannot be reached: (?P<words>.*)"),
        ("refused", r"(?P<name>.+?) refused: (?P<words>.*)"),
        ("failed", r"(?P<name>.+?) failed: (?P<what>\w+): (?P<words>.*)"),
        ("symlink", r"(?:(?P<name>\S+):? )?is a symlink\b.*"),
        ("folder", r"(?:(?P<name>\S+):? )?is a folder\b.*"),
        ("no-file", r"(?:(?P<name>\S+):? )?is (?:a FIFO|not a regular file)\b.*"),
        ("no-folder", r"(?:(?P<name>\S+):? )?is not a folder\b.*"),
        ("no-permission", r"(?:(?P<name>\S+):? )?cannot be opened: permission denied\b.*"),
        ("too-large", r"(?:(?P<name>\S+):? )?has more than (?P<size>\d+) MiB\b.*"),
        ("behind", r"(?:(?P<name>\S+):? )?lies behind (?:a symlink|something that is not a folder)\b.*"),
        ("utf-16", r"(?:(?P<name>\S+):? )?is UTF-16 or UTF-32\b.*"),
        ("not-utf-8", r"(?P<name>\S+?):[\d, ]+(?: and [\d,]+ more)? (?:is|are) not UTF-8\b.*"),
        ("merge", r"(?:(?P<name>\S+):? )?has marks of a merge conflict\b.*"),
    )
)
"""Each text that we write ourselves as a cause, the narrow ones first; `words` in it are somebody else's."""
_PLACES = {
    "a line": "line",
    "a title": "title",
    "a question": "question",
    "text": "text",
    "a value": "value",
    "a name": "name",
    "a torn line": "torn",
    "what was said or done in a run": "run",
    "a run of a conversation that is to be forgotten": "run",
    "notes on a conversation that is to be forgotten": "notes",
    "a file of the state folder that cannot be written": "state",
}


@dataclass(frozen=True)
class Cause:
    """The `name` of our text, empty where none is ours; what stands in it; and the `words` of somebody else."""

    name: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    words: str = ""


def cause(text: str) -> Cause:
    """Which of our causes a text is; any other is somebody else's words as a whole."""
    for name, pattern in _CAUSES:
        if found := pattern.fullmatch(text.strip()):
            given = {key: value or "" for key, value in found.groupdict().items()}
            return Cause(name, given, given.pop("words", "").strip())
    return Cause(words=text.strip())


def place(what: str) -> str:
    """The name of what stands at a place of forgotten words; `history` for all that stands in the ledger."""
    return "history" if what.startswith("history: ") else _PLACES.get(what, "text")
