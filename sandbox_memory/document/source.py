"""What an item of several blocks or lines is in markdown, and such a one written where it belongs.

A record is told on one line. What a person wrote in several (a script in a fence, a second paragraph, a table, a quote,
hard line breaks) is kept beside that line, so that it comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .blocks import Leaf, Node, ends_open, lead_of, width
from .model import Document, ListItem
from .operations import Stamp
from .tables import head_of, parted
from .text import CHECKBOX, literal, normalise, one_line

LONGEST = 20_000
"""Characters of an item that are kept; a longer one is known by its line alone."""
Shape = tuple[tuple[object, ...], ...]

HARD = re.compile(r"(?:(?<! ) {2,}|(?<!\\)(?:\\\\)*\\)\n")
"""The end of a line that a person broke."""


def shape(node: Node) -> Shape:
    """What of an item's blocks its line does not tell, and a formatter leaves as it is."""
    return tuple(each for leaf in node.leaves for each in _told(leaf))


def _told(leaf: Leaf) -> Iterator[tuple[object, ...]]:
    if leaf.kind == "code":
        yield leaf.kind, leaf.quoted, leaf.info, leaf.content.rstrip("\n")
    elif leaf.kind in ("html", "hr", "definition"):
        yield leaf.kind, leaf.quoted, leaf.content.strip()
    else:
        above, rows = parted(leaf.content)
        if above:
            said = normalise(one_line(above) if rows else leaf.text)
            yield leaf.kind, leaf.quoted, said, len(HARD.findall(above))
        if rows:
            yield "table", leaf.quoted and not above, rows


def is_plain(node: Node) -> bool:
    """True for an item that its line tells in full, wherever somebody broke it."""
    leaf = node.leaves[0]
    one = len(node.leaves) == 1 and leaf.kind == "paragraph" and not leaf.quoted
    return one and ("\n" not in leaf.content or (head_of(leaf.content) < 0 and not HARD.search(leaf.content)))


def told(document: Document, item: ListItem, before: str = "") -> dict[str, str]:
    """What the ledger is to keep of an item beside its line: nothing for one line that was one `before`."""
    markdown = source(document, item, document.addressed[item.index][1])
    return {"markdown": markdown} if markdown or before else {}


def differs(document: Document, item: ListItem, markdown: str) -> bool:
    """True if an item has other blocks than those that are kept of it, beside its words; "" is none but its line."""
    node = document.addressed[item.index][1]
    if not markdown:
        return not is_plain(node)
    text = _dedented_text(document, item, node)
    text = text.replace(f" ^{item.id}", "").rstrip() if item.id else text
    if markdown in (text, text.removesuffix(item.cited).rstrip()):
        return False
    known = alone(markdown)
    return known is None or shape(known.addressed[0][1]) != shape(node)


def source(document: Document, item: ListItem, node: Node) -> str:
    """An item's own markdown, without bullet, checkbox, block id, references at its end and nested items.

    Its lines end in line feeds, and all but the first stand as far to the left as they may. "" for an item that is one
    plain line, and for one that cannot be told by itself, or not in `LONGEST` characters.
    """
    own = [line for start, end in node.own_ranges() for line in range(start, end)]
    single = sum(bool(document.lines[line][0].strip()) for line in own) < 2
    if (single and is_plain(node)) or not item.readable or not {n for n, _ in document.outline.markers}.isdisjoint(own):
        return ""
    text = _dedented_text(document, item, node)
    for each in (text, "\n".join(line.expandtabs(4) for line in text.split("\n"))) if len(text) <= LONGEST else ():
        bare = _bare(each, item)
        # A fence that nobody closed would take in what is nested, which may have stood before it.
        known = alone(bare) if bare and not (node.children and ends_open(bare.split("\n"))) else None
        if known and known.items[0].normal == item.normal and shape(known.addressed[0][1]) == shape(node):
            return bare
    return ""


def _dedented_text(document: Document, item: ListItem, node: Node) -> str:
    """The lines that an item has for itself, without bullet and checkbox, as far to the left as they may stand."""
    lead = lead_of(document.lines[node.start][0], node.stack)
    lines: list[str] = []
    for start, end in node.own_ranges():
        found = [_dedented(document.lines[line][0], width(lead)) for line in range(start, end)]
        if start == node.start:
            found[0] = document.lines[start][0][len(lead) :]
            box = CHECKBOX.match(found[0]) if item.checked is not None else None
            found[0] = found[0][box.end() :] if box else found[0]
        while found and not found[0].strip():
            found.pop(0)
        while found and not found[-1].strip():
            found.pop()
        lines += [""] * bool(lines and found) + found
    return "\n".join(lines).rstrip()


def _bare(text: str, item: ListItem) -> str:
    """The markdown without the block id and the references at its end."""
    known = alone(text) if item.id or item.cited else None
    if known is None:
        return text
    text = _content(known.edit([Stamp(0, "")]))
    known = alone(text)
    last = _last(known) if known else None
    if last is None or not item.cited:
        return text
    lines = text.split("\n")
    end = lines[last.end - 1].rstrip()
    if end.endswith(item.cited) and end != item.cited:
        lines[last.end - 1] = end.removesuffix(item.cited).rstrip()
    return "\n".join(lines)


def content_of(markdown: str, text: str, cited: str, identity: str) -> str:
    """What stands after the bullet of an item of that markdown, its further lines still to be `hung` below it.

    References go to the end of a last paragraph that is no table. "" if the markdown does not say just that text.
    """
    known = alone(markdown) if markdown else None
    if known is None or known.items[0].normal != normalise(text):
        return ""
    last = _last(known)
    lines = markdown.split("\n")
    if cited and last is not None and head_of(last.content) < 0 and not known.items[0].cited:
        lines[last.end - 1] = f"{lines[last.end - 1].rstrip()} {cited}"
    known = alone("\n".join(lines)) or known
    made = known.edit([Stamp(0, identity)]) if identity else known
    again = made.items[0] if len(made.items) == 1 else None
    held = again is not None and (again.normal, again.id) == (normalise(text), identity)
    return _content(made) if held else ""


def in_lines(markdown: str, text: str) -> str:
    """What stands after the bullet of an item of that markdown which one line does not tell: a script, a table.

    "" for what one line tells well enough, for a heading, HTML or a rule in it, and for what does not say that text.
    """
    known = alone(markdown) if markdown else None
    if known is None or known.items[0].normal != normalise(text):
        return ""
    leaves = known.outline.nodes[0].leaves
    needed = any(leaf.kind == "code" or head_of(leaf.content) >= 0 for leaf in leaves)
    return markdown if needed and all(leaf.kind in ("code", "paragraph", "definition") for leaf in leaves) else ""


@lru_cache(maxsize=1 << 10)
def on_a_line(text: str) -> str:
    """The text as it stands behind a bullet, where markdown might take its beginning for a block: HTML, a fence."""
    if text[:1].isalnum():
        return text
    for each in (text, f"\\{text}", literal(text)):
        items = Document(f"- {each} ^m-{0:010}\n".encode("utf-8", "surrogateescape")).items
        if [(item.normal, item.readable, item.checked) for item in items] == [(normalise(text), True, None)]:
            return each
    return text


def hung(lead: str, content: str) -> str:
    """An item's content after its bullet, further lines indented below it."""
    first, *rest = content.split("\n")
    indent = " " * width(lead)
    return "\n".join([lead + first, *(indent + line if line else "" for line in rest)])


@lru_cache(maxsize=512)
def alone(markdown: str) -> Document | None:
    """The markdown as the only item of a document; None if it is no such thing."""
    document = Document(hung("- ", markdown).encode("utf-8", "surrogateescape"))
    nodes, top = document.outline.nodes, document.outline.top
    one = len(nodes) == len(document.items) == 1 and [kind for kind, _, _ in top] == ["bullet_list_open"]
    return document if one and document.marker is None else None


def _content(document: Document) -> str:
    lines: Iterable[str] = (content for content, _ in document.lines)
    return "\n".join(_dedented(line, 2) if number else line[2:] for number, line in enumerate(lines)).rstrip()


def _last(document: Document) -> Leaf | None:
    """The last block that says something, if references can stand at its end."""
    leaf = next((leaf for leaf in reversed(document.outline.nodes[0].leaves) if leaf.text), None)
    return leaf if leaf is not None and leaf.kind == "paragraph" else None


def _dedented(line: str, columns: int) -> str:
    """The line without so many columns of white space at its start, or without those that it has."""
    at = column = 0
    while at < len(line) and column < columns and line[at] in " \t":
        column += 4 - column % 4 if line[at] == "\t" else 1
        at += 1
    return " " * max(0, column - columns) + line[at:]
