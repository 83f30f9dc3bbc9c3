"""Briefing: `memory_summary.md` as a run is told it: without ids and markers, and each line as whose word it is.

What a person said or wrote stands plain. What a tool, an agent or anybody else said stands in a labelled quote that it
cannot close: `- tool: "…"`, `- agent: "…"` or `- quoted: "…"`. No line is a heading but those of the layout.
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape

from ..blocks import Split, split
from ..document import strip_for_prompt
from ..document.source import hung, in_lines
from ..governance.instructions import orders
from ..governance.instructions.reading import INVISIBLE
from ..governance.wording import meaning
from ..layout import Preset
from ..ledger import Operation
from ..records import Record, Trust
from ..state import State
from ..templates import one_line
from ..tokens import estimate
from ..transcript import fitted

TOKENS = 15_000
"""What a prompt is told at most, whatever stands in the file."""
FILE = "memory_summary.md"
LABELS = {Trust.OBSERVED: "tool", Trust.AGENT: "agent", Trust.EXTERNAL: "quoted"}
FIRST_SEEN = {"hand": Trust.HAND, "live": Trust.AGENT, "import": Trust.AGENT}
"""Whose word prose is, by who is taken to have written it."""
MORE, ACCOUNTS = "More in MEMORY.md:", "(search for the account)"
TOPIC = 4
"""Words that a title may have to be told as a topic, whoever worded it."""

_ITEM = re.compile(
    r"(?P<lead>[ ]*(?:-|[0-9]{1,10}[.)]) (?:\[[ x]\] )?)(?P<text>.*?)[ \t]*\^(?P<id>m-[0-9a-f]{10})[ \t]*"
)
_LOOKS_DOUBLE = re.compile(
    r"QUOTATION MARK|(?:DOUBLE|TRIPLE|QUADRUPLE) (?:PRIME|COMMA|ACUTE|GRAVE)|DOUBLE (?:APOSTROPHE|VERTICAL LINE ABOVE)|"
    r"CORNER BRACKET|DITTO MARK|GERSHAYIM|NIHSHVASA"
)
"""Names, in Unicode, of signs that are or look like quotation marks."""
_ENTITY = re.compile(r"&(?:amp;)*(?P<name>#0*[0-9]{1,7}|#x0*[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});?", re.IGNORECASE)
_ESCAPE = re.compile(r"\\+(?:u(?P<u>[0-9a-f]{4})|u\{0*(?P<b>[0-9a-f]{1,6})\}|x(?P<x>[0-9a-f]{2}))", re.IGNORECASE)
_TWICE = re.compile(r"'{2,}|(?<!`)``(?!`)")
_HEADING = re.compile(r"(?P<indent>[ \t>]*)#{1,6}(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:=+|-{2,})[ \t]*")
_MARKER = re.compile(r"<!--\s*memory\b|^\s*[<＜]{3,}.*[>＞]{3,}\s*$", re.IGNORECASE)
_OTHERS = re.compile(r"and [0-9]{1,9} more")


def briefing(summary: bytes, state: State, preset: Preset, *, tokens: int = TOKENS, people_only: bool = False) -> str:
    """What goes into the prompt of `summary`, the file as it is, which shows `state`; empty for nothing.

    A line of the block that is no record of `state` counts as an agent's. Prose outside the block is whose word the
    ledger says; where that is no person's, it is left out with `people_only`, and where it gives orders. What is longer
    than `tokens` loses whole lines from its middle.
    """
    parts, known = split(summary), state.prose.get(FILE, {})
    told = (
        _prose(parts.before, known, preset, people_only),
        _block(parts.block.text if parts.block else "", state, preset),
        _prose(parts.after, known, preset, people_only),
    )
    return _within(tokens, "\n\n".join(text for lines in told if (text := "\n".join(lines).strip())))


def quoted(text: str, trust: Trust) -> str:
    """The text as a list item that tells whose word it is, on one line, in quotation marks that it cannot close.

    No sign in it is a quotation mark, looks like a double one, or is written as one for HTML or in an escape.
    """
    plain = _ESCAPE.sub(_decoded, _ENTITY.sub(_decoded, one_line(INVISIBLE.sub("", text))))
    plain = "".join("'" if _closes(char, before) else char for before, char in zip(f" {plain}", plain, strict=False))
    plain = _TWICE.sub("'", plain)
    return f'- {LABELS.get(trust, "agent")}: "{plain}{" " if plain.endswith(chr(92)) else ""}"'


def _decoded(match: re.Match[str]) -> str:
    """What an entity or an escape stands for, if that is a quotation mark; else the same."""
    known = match.groupdict()
    code = known.get("u") or known.get("b") or known.get("x")
    sign = unescape(f"&{known['name']};") if "name" in known else chr(min(int(code or "0", 16), sys.maxunicode))
    return sign if any(char == "'" or _closes(char) for char in sign) else match.group()


def _closes(char: str, before: str = " ") -> bool:
    """True for a sign that looks like the end of a quotation; on a letter it may be that letter's accent."""
    return _is_mark(char) and not (unicodedata.combining(char) and before.isalpha())


@lru_cache(maxsize=4096)
def _is_mark(char: str) -> bool:
    kind = unicodedata.category(char)
    return kind not in ("Lu", "Ll", "Lt") and (
        kind in ("Pi", "Pf") or _LOOKS_DOUBLE.search(unicodedata.name(char, "")) is not None
    )


def related(records: Sequence[Record]) -> str:
    """Records that are like a run's request, under a heading of their own; empty for none."""
    lines = [_plain("- ", r.text, r) if r.trust >= Trust.USER else quoted(r.text, r.trust) for r in records]
    return "\n".join(["## Related to this request", "", *lines]) if lines else ""


def noticed(parts: Split, below: str, known: Mapping[str, Trust], actor: str, preset: Preset) -> Iterator[Operation]:
    """What the ledger must learn of the prose outside the block; nothing where it knows all.

    `below` is what moves there out of the block. A line that is `known` keeps its trust; a new one has its author's,
    and `actor` is who is taken to be that.
    """
    new = FIRST_SEEN.get(actor, Trust.AGENT)
    digests = [
        digest(line) for text in (parts.before, parts.after, below) for line in _lines(text, preset) if line.strip()
    ]
    now = {each: known.get(each, new) for each in digests}
    if now != known:
        yield Operation("prose", FILE, {"lines": {each: trust.label for each, trust in now.items()}})


def digest(line: str) -> str:
    """How the ledger knows a line of prose; blanks do not count."""
    return hashlib.sha256(" ".join(line.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _lines(text: str, preset: Preset) -> list[str]:
    """The lines of prose, none that is a heading of ours, which a block leaves behind that lost its marker."""
    ours = _headings(preset)
    return [line for line in strip_for_prompt(text).splitlines() if line.rstrip() not in ours]


def _headings(preset: Preset) -> frozenset[str]:
    return frozenset(f"## {heading}" for heading in (*preset.headings.values(), "Reusable knowledge"))


def _prose(text: str, known: Mapping[str, Trust], preset: Preset, people_only: bool) -> Iterator[str]:
    """The lines of prose: a person's plain, but for headings; others' quoted, without paragraphs that are orders."""
    paragraph: list[str] = []
    fence = ""
    for line in [*_lines(text, preset), ""]:
        trust = known.get(digest(line), Trust.AGENT)
        if line.strip() and trust < Trust.USER:
            paragraph.append(line)
            continue
        if paragraph and not people_only and not orders("\n".join(paragraph)):
            yield from (quoted(_bare(each), Trust.AGENT) for each in paragraph if _bare(each))
        paragraph = []
        mark = _FENCE.match(line)
        if fence or mark:
            if mark and not fence:
                fence = mark[1]
            elif mark and line.strip() == mark[1] and mark[1].startswith(fence):
                fence = ""
            if not _MARKER.search(line):
                yield line
        elif not line.strip() or not (_RULE.fullmatch(line) or _MARKER.search(line)):
            yield _bold(line) if line.strip() else ""
    if fence:
        yield fence


def _bold(line: str) -> str:
    """A line that no reader takes for a heading."""
    heading = _HEADING.fullmatch(line)
    return line if heading is None else f"{heading['indent']}**{heading['title']}**" if heading["title"] else ""


def _bare(line: str) -> str:
    """A line without what makes it a heading, an item or a rule."""
    return re.sub(r"^[\s>]*(?:#{1,6}(?=\s|$)|[-*+](?=\s)|[=-]+\s*$)?", "", line).strip()


def _block(text: str, state: State, preset: Preset) -> Iterator[str]:
    headings = _headings(preset)
    records = state.visible()
    above = ""
    for line in text.splitlines():
        above, before = line, above
        item = _ITEM.fullmatch(line)
        record = records.get(item["id"]) if item else None
        if not line.strip() or line.rstrip() in headings:
            yield line.rstrip()
        elif line.startswith(MORE):
            yield from _more(line, list(records.values()), preset)
        elif item and record and record.trust >= Trust.USER:
            if item["lead"][0].isdigit() and not before.strip() and (title := _of_steps(record, preset)):
                yield f"{title}:"
            yield _plain(item["lead"], item["text"], record, _box_by(state.boxes.get(record.id)))
        elif record and unheard(record):
            continue
        elif bare := _bare(item["text"] if item else strip_for_prompt(line)):
            told = quoted(bare, record.trust if record else Trust.AGENT)
            yield item["lead"] + told.removeprefix("- ") if item and record else told


def _plain(lead: str, text: str, record: Record, after: str = "") -> str:
    """What a person said as a list item; a script or a table in it stands in its lines, as they wrote it."""
    own = in_lines(record.markdown, text)
    if not own or any(_MARKER.search(line) for line in own.split("\n")):
        return f"{lead}{one_line(text)}{after}"
    bullet, sign, box = lead.partition("[")
    first, *rest = hung(bullet, sign + box + own).split("\n")
    return "\n".join([first + after, *rest])


def _of_steps(record: Record, preset: Preset) -> str:
    """What numbered steps are for: the heading of a person's own above the first, or the group's; empty for an order.

    Anybody may have worded it: so it only names a topic, or says no more than the step itself.
    """
    ours = record.section in (*preset.headings.values(), "Reusable knowledge", "")
    title = one_line(record.group if ours else record.section).rstrip(":：. ")
    told = (len(title.split()) <= TOPIC and len(title) <= 10 * TOPIC) or meaning(title) <= meaning(record.text)
    return title if told and title[:1].isalnum() and not orders(title) else ""


def _box_by(box: tuple[bool, Trust] | None) -> str:
    """Who has set the box of what a person said, where that was no person."""
    if box is None or box[1] >= Trust.USER:
        return ""
    return " (ticked by an agent)" if box[0] else " (the tick was taken out by an agent)"


def unheard(record: Record) -> bool:
    """True for orders that an agent wrote into the files by itself: they did not pass the gate, and are not told."""
    return record.origin == "live" and record.trust <= Trust.AGENT and bool(orders(record.text))


def _more(line: str, records: Sequence[Record], preset: Preset) -> Iterator[str]:
    """The line about the rest: titles that a person's words carry, or that only name a topic; the others quoted."""
    codes = {f"{heading} {ACCOUNTS}" for heading in (*preset.headings.values(), "what one person said")}
    codes |= set(preset.headings.values())
    plain: list[str] = []
    other: list[str] = []
    rest = ""
    for title in line.removeprefix(MORE).strip().split("; "):
        if _OTHERS.fullmatch(title):
            rest = title
        elif title in codes or (not orders(title) and _is_theirs(title, records)):
            plain.append(title)
        elif not orders(title):
            other.append(title)
    if plain or (rest and not other):
        yield f"{MORE} {'; '.join([*plain, *([rest] if rest else [])])}"
    if other:
        also = f"{'also ' if plain else ''}in MEMORY.md: {'; '.join([*other, *([rest] if rest and not plain else [])])}"
        yield quoted(also, Trust.AGENT)


def _is_theirs(title: str, records: Sequence[Record]) -> bool:
    """True if a person's words in that group say all that the title says; there must be some, where it is a topic."""
    start = one_line(title).removesuffix("…")
    own = [record for record in records if record.trust >= Trust.USER and one_line(record.group).startswith(start)]
    if not own:
        return False
    words = meaning(*(text for record in own for text in (record.text, *(e.quote for e in record.evidence))))
    return len(title.split()) <= TOPIC or meaning(start) <= words


def _within(tokens: int, text: str) -> str:
    """The text without as many whole lines of its middle as it takes; a line that is too long by itself is cut."""
    if estimate(text) <= tokens:
        return text
    lines = [_shorter(line, tokens // 4) for line in text.split("\n")]
    costs = [estimate(line) + 1 for line in lines]
    room = tokens - 20
    first, last = 0, len(lines)
    while first < last:
        ahead = sum(costs[:first]) <= 2 * sum(costs[last:])
        cost = costs[first] if ahead else costs[last - 1]
        if cost > room:
            break
        room -= cost
        first, last = (first + 1, last) if ahead else (first, last - 1)
    gone = [f"[… {last - first} lines are missing here …]"] if last > first else []
    return "\n".join([*lines[:first], *gone, *lines[last:]])


def _shorter(line: str, tokens: int) -> str:
    if estimate(line) <= tokens:
        return line
    label = re.match(r'[ ]*(?:-|[0-9]+[.)]) (?:\[[ x]\] )?(?:tool|agent|quoted): "', line)
    inner = one_line(fitted(line[label.end() : -1] if label else line, tokens - 10))
    return f'{label.group()}{inner}"' if label else inner
