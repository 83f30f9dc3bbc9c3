"""The words of the page, in English and Chinese, and how it writes numbers, times and names of kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

from ...governance.lifetime import moment

LANGUAGES = {"en": "English", "zh": "中文"}
"""The languages of the interface, each in its own words."""
_UNITS = (("year", 31_557_600), ("month", 2_629_800), ("day", 86_400), ("hour", 3_600), ("minute", 60))
_LINE = re.compile(r"^([a-z][a-z0-9_-]*) = (.*)$")


@cache
def _catalogue(language: str) -> dict[str, str]:
    """The texts of `words/<language>.txt` by their names: a line each, `name = text`."""
    text = (Path(__file__).parent / "words" / f"{language}.txt").read_text(encoding="utf-8")
    return {found[1]: found[2] for line in text.splitlines() if (found := _LINE.match(line))}


def english(name: str) -> str:
    """The English text of that name."""
    return _catalogue("en")[name]


def chosen(given: str | None, accepted: str) -> str:
    """The language that was chosen, else the first of `Accept-Language` that there is, else English."""
    if given in LANGUAGES:
        return str(given)
    wanted: list[tuple[float, str]] = []
    for part in accepted.split(",")[:20]:
        tag, _, rest = part.strip().partition(";")
        quality = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", rest)
        wanted.append((float(quality[1]) if quality else 1.0, tag.lower().partition("-")[0]))
    ranked = sorted((each for each in wanted if each[0] > 0 and each[1] in LANGUAGES), key=lambda each: -each[0])
    return ranked[0][1] if ranked else "en"


class Words:
    """The texts of one language: called with a name, and with what stands in it."""

    def __init__(self, language: str) -> None:
        self.language, self._texts = language, _catalogue(language)

    @property
    def tag(self) -> str:
        """What `lang` says of the interface."""
        return "zh-Hans" if self.language == "zh" else "en"

    def __call__(self, name: str, /, **given: object) -> str:
        """The text of that name; `n` chooses between its singular and its plural, parted by ` | `."""
        text = self._texts[name]
        if "n" in given and " | " in text:
            one, many = text.split(" | ")
            text = one if given["n"] == 1 else many
        shown = {key: f"{value:,}" if isinstance(value, int) else str(value) for key, value in given.items()}
        return text.format(**shown) if shown else text

    def known(self, prefix: str, name: str) -> str:
        """The text `prefix-name`, or the bare name where there is none: a later version may write others."""
        return self._texts.get(f"{prefix}-{name}", name)

    def joined(self, parts: Sequence[str]) -> str:
        """The parts as one list in a sentence."""
        return ("、" if self.language == "zh" else ", ").join(parts)

    def time(self, at: str) -> str:
        """A time in the zone of this machine, to the minute; the text itself if it is none."""
        local = _local(at)
        return at if local is None else f"{self.day(at)} {local:%H:%M}"

    def day(self, at: str) -> str:
        """The day of a time."""
        local = _local(at)
        if local is None:
            return at
        if self.language == "zh":
            return f"{local.year}年{local.month}月{local.day}日"
        return f"{local.day} {local:%b} {local.year}"

    def zone(self) -> str:
        """The zone of this machine, in which all times are shown and asked for."""
        now = datetime.now().astimezone()
        name, ahead = now.tzname() or "", f"{now:%z}"
        shown = f"UTC{ahead[:3]}:{ahead[3:5]}" if now.utcoffset() else "UTC"
        return shown if name in (shown, "") or not name.isalpha() else f"{name}, {shown}"

    def age(self, at: str, now: datetime | None = None) -> str:
        """How long ago a time is, in its largest unit."""
        local = _local(at)
        if local is None:
            return ""
        seconds = ((now or datetime.now(tz=timezone.utc)) - local).total_seconds()
        for unit, size in (
            ("year", 31_557_600),
            ("month", 2_629_800),
            ("day", 86_400),
            ("hour", 3_600),
            ("minute", 60),
        ):
            if seconds >= size:
                return self(f"ago-{unit}", n=int(seconds // size))
        return self("ago-now")


def _local(at: str) -> datetime | None:
    try:
        return moment(at).astimezone()
    except (ValueError, OverflowError):
        return None
