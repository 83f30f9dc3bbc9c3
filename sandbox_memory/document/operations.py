"""The edits that a document takes, as values."""

from __future__ import annotations

from dataclasses import dataclass

from .text import DIGITS, ID


@dataclass(frozen=True)
class Revise:
    """Give an item another text; bullet, indentation, checkbox, block id and nested items stay.

    `markdown` is the text in several blocks or lines, if it has any.
    """

    item_index: int
    text: str
    markdown: str = ""


@dataclass(frozen=True)
class RemoveItem:
    """Take out an item's own lines. While it has nested items, its bullet stays, holding an empty comment."""

    item_index: int


@dataclass(frozen=True)
class Stamp:
    """Set or replace the block id of an item, or with "" remove it; nothing else of the item changes."""

    item_index: int
    id: str

    def __post_init__(self) -> None:
        _check_id(self.id)


@dataclass(frozen=True)
class Cite:
    """Let an item cite the tasks of its group that name these summary files as well, and the `gone` numbers no more.

    All other references that it ends with stay, and so does all else of it.
    """

    item_index: int
    sources: tuple[str, ...] = ()
    gone: tuple[int, ...] = ()


@dataclass(frozen=True)
class Retitle:
    """Give a group or a section, which starts at that line (from 0), another title, as plain text, where it stands.

    With `scope`, the scope line of the group names it as well. `Task Group:` stays before the title as it is.
    """

    line: int
    title: str
    scope: bool = False


@dataclass(frozen=True)
class Tick:
    """Tick the box of an item, or not any more; an item without a box stays as it is."""

    item_index: int
    checked: bool


@dataclass(frozen=True)
class Insert:
    """Add an item after the last one of a section of a group, wherever they now stand.

    `group` and `heading` are titles as plain text; "" is the part before the first heading of that level. A section
    that is missing is made at the end of its group, a group that is missing at the end, with `scope` in its scope line.
    `sources` are summary files: the tasks of the group that name them are cited, as `[Task 1][Task 3]`. Where it does
    not go on a list that is there, `lead` stands before it; `box` is "", "[ ] " or "[x] ". `markdown` is the text in
    several blocks or lines, if it has any. Where the item with the id `beside` is there, it stands next to that, in the
    manner of its list: so many steps below it as `offset` says, above it where that is negative; and `depth` levels
    further in, of that item itself where the offset is 0; at a `depth` of -1 it fills the empty bullet above that one.
    """

    text: str
    id: str = ""
    group: str = ""
    heading: str = ""
    scope: str = ""
    sources: tuple[str, ...] = ()
    lead: str = "- "
    box: str = ""
    markdown: str = ""
    beside: str = ""
    offset: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        _check_id(self.id)


@dataclass(frozen=True)
class Provenance:
    """Name a rollout summary in a group, unless the group names that file already.

    Under the task of that title if there is one, else under a new `## Task n: title` after the group's tasks, with its
    keywords. `note` follows the file in parentheses.
    """

    group: str
    task_title: str
    summary_file: str
    keywords: tuple[str, ...] = ()
    note: str = ""
    scope: str = ""


@dataclass(frozen=True)
class Prune:
    """Take the bullet out that names this summary file in a group, and nothing else.

    A task that then holds no more than its title and its keywords goes too, if those are among the words `told`; so
    does a group that then has only the scope line that names it and some of the `headings`, none with anything below,
    unless a person has `named` it.
    """

    group: str
    summary_file: str
    headings: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()
    named: bool = False


Edit = Revise | RemoveItem | Stamp | Cite | Tick | Retitle | Insert | Provenance | Prune


def _check_id(identity: str) -> None:
    if identity and not (ID.fullmatch(f"^{identity}") and len(identity) == DIGITS + 2):
        raise ValueError(f"not a block id: {identity!r}; it is m- or p- and 10 hexadecimal digits")
