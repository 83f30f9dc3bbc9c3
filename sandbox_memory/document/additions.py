"""Insert and Provenance: new list items, and the sections, tasks and groups that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from .blocks import Node, ends_open
from .model import FILES, KEYWORDS, PREFIX, Document, Group, Section
from .operations import Edit, Insert, Provenance
from .safe import safe_heading, safe_text
from .sheet import ADDED_GROUPS, ADDED_ITEMS, ADDED_SECTIONS, ADDED_SOURCES, ADDED_TASKS, Sheet
from .source import content_of, hung
from .text import cleaned, literal, plain, squeezed, without_refs


@dataclass
class _Task:
    title: str
    number: int
    files: list[str] = field(default_factory=list)
    keywords: dict[str, None] = field(default_factory=dict)

    def lines(self) -> list[str]:
        lines = [f"## Task {self.number}: {safe_heading(self.title)}", "", f"### {FILES}", "", *self.files]
        if self.keywords:
            lines += ["", f"### {KEYWORDS}", "", f"- {safe_text(', '.join(self.keywords))}"]
        return lines


@dataclass
class _Wanted:
    """What a batch adds to one group."""

    title: str
    scope: str = ""
    sections: dict[str, tuple[str, list[Insert]]] = field(default_factory=dict)
    tasks: dict[str, _Task] = field(default_factory=dict)


class Additions:
    """Insert and Provenance."""

    def __init__(self, document: Document, sheet: Sheet, gone: Callable[[Node], bool], edits: Sequence[Edit]) -> None:
        self.document = document
        self.sheet = sheet
        self.gone = gone
        self.groups: dict[str, list[Group]] = {}
        for group in document.groups:
            self.groups.setdefault(key(group.title), []).append(group)
        self.named: dict[str, dict[str, int | None]] = {}
        for (title, task), files in document.provenance.items():
            named = self.named.setdefault(key(title), {})
            for file in files:
                named.setdefault(file, task)
        alone = {start for kind, start, end in document.outline.top if kind == "html_block" and end == start + 1}
        last = max((line for line in range(len(document.lines)) if not sheet.blank(line)), default=-1)
        self.markers = {line for line, _ in document.outline.markers if line in alone or line == last}

        self.wanted = self._wanted(edits)

    def citing(self, group: str, sources: Sequence[str]) -> set[int]:
        """The tasks of that group that name these summary files, once the edits are applied."""
        named = self.named.get(key(group), {})
        numbers = (named.get(source.rpartition("/")[2]) for source in sources)
        return {number for number in numbers if number}

    def apply(self) -> None:
        """Add what is wanted."""
        if not self.wanted:
            return
        self.last_items = {section: node.top for _, node, section in self.document.addressed}
        self.last_sources = {
            section: node for node, _, section, kind in self.document.placed if kind == FILES and node.parent is None
        }
        self.open = self._open_end()
        self.nodes = {item.id: node for item, node, _ in self.document.addressed if item.id and not self.gone(node)}
        for name, additions in self.wanted.items():
            if name in self.groups:
                self._extend(self.groups[name], additions)
            else:
                self._make(additions)

    def _wanted(self, edits: Sequence[Edit]) -> dict[str, _Wanted]:
        wanted: dict[str, _Wanted] = {}
        for edit in edits:
            if not isinstance(edit, (Insert, Provenance)):
                continue
            if isinstance(edit, Insert) and not (edit.id or safe_text(edit.text)):
                continue
            into = wanted.setdefault(key(edit.group), _Wanted(cleaned(edit.group)))
            into.scope = into.scope or cleaned(edit.scope)
            if isinstance(edit, Insert):
                # Under these two headings no list item is a record.
                heading = "" if key(edit.heading) in (FILES, KEYWORDS) else cleaned(edit.heading)
                into.sections.setdefault(key(heading), (heading, []))[1].append(edit)
            else:
                self._want_source(into, edit)
        return wanted

    def _want_source(self, into: _Wanted, edit: Provenance) -> None:
        name = edit.summary_file.rpartition("/")[2]
        named = self.named.setdefault(key(edit.group), {})
        if name in named:
            return
        path = cleaned(edit.summary_file if "/" in edit.summary_file else f"rollout_summaries/{name}")
        note = f" ({safe_text(edit.note)})" if cleaned(edit.note) else ""
        title = cleaned(edit.task_title)
        task = into.tasks.setdefault(key(title), _Task(title, self._number(key(edit.group), key(title), into)))
        named[name] = task.number
        task.files.append(f"- {path if plain(path) == path else literal(path)}{note}")
        task.keywords.update(dict.fromkeys(word for word in map(cleaned, edit.keywords) if word))

    def _number(self, group: str, title: str, into: _Wanted) -> int:
        tasks = [s for each in self.groups.get(group, ()) for s in each.sections if s.task is not None]
        same = (section.task or 0 for section in tasks if key(section.task_title) == title)
        # A number that a line still cites is not given again: it would lead to what the line does not come from.
        cited = (number for item in self.document.items if key(item.group) == group for number in item.refs)
        taken = [*cited, *(section.task or 0 for section in tasks), *(task.number for task in into.tasks.values())]
        return next(same, max(taken, default=0) + 1)

    def _bodies(self, inserts: Sequence[Insert]) -> list[str]:
        cited = (refs(self.citing(edit.group, edit.sources)) for edit in inserts)
        return [
            edit.box + body_of(edit.text, refs, edit.id, edit.markdown)
            for edit, refs in zip(inserts, cited, strict=True)
        ]

    def _items(self, inserts: Sequence[Insert]) -> Iterator[str]:
        """The lines of a list, or of several with a blank line between, of which one is numbered."""
        before = None
        for edit, body in zip(inserts, self._bodies(inserts), strict=True):
            numbered = edit.lead[:1].isdigit()
            if before is not None and numbered is not before and not edit.lead.startswith(" "):
                yield ""
            before = before if edit.lead.startswith(" ") else numbered
            yield hung(edit.lead, body)

    def _make(self, additions: _Wanted) -> None:
        title = safe_heading(additions.title)
        lines = [f"# {PREFIX} {title}", "", f"scope: {additions.scope or additions.title}"]
        sections = dict(additions.sections)
        if "" in sections:
            heading, inserts = sections.pop("")
            lines += ["", *_section_lines(heading, self._items(inserts))]
        for task in additions.tasks.values():
            lines += ["", *task.lines()]
        for heading, inserts in sections.values():
            lines += ["", *_section_lines(heading, self._items(inserts))]
        self.sheet.insert(self._end_of_document(), ADDED_GROUPS, lines)

    def _extend(self, groups: list[Group], additions: _Wanted) -> None:
        sections = [section for group in groups for section in group.sections]
        for name, (heading, wanted) in additions.sections.items():
            inserts = [edit for edit in wanted if edit.beside not in self.nodes]
            for edit in (edit for edit in wanted if edit.beside in self.nodes):
                self._next_to(self.nodes[edit.beside], edit)
            if not inserts:
                continue
            same = [section for section in sections if key(section.title) == name]
            filled = [section for section in same if section in self.last_items]
            if filled:
                last = self.last_items[filled[-1]]
                below = [edit.lead.startswith(" ") for edit in inserts]
                alone = [not any(below[n : n + 2]) and each.lead == "- " for n, each in enumerate(inserts)]
                singly = [each for each, single in zip(inserts, alone, strict=True) if single]
                listed = [each for each, single in zip(inserts, alone, strict=True) if not single]
                self._after(last, ADDED_ITEMS, self._bodies(singly))
                if listed:  # steps, or lines below others
                    self.sheet.insert(last.end, ADDED_ITEMS, list(self._items(listed)))
            elif same:
                place = self._trimmed(min(same[0].direct, self.open), same[0].start)
                self.sheet.insert(place, ADDED_ITEMS, list(self._items(inserts)))
            else:
                lines = _section_lines(heading, self._items(inserts))
                self.sheet.insert(self._end_of_group(groups[-1]), ADDED_SECTIONS, lines)
        tasks = [section for section in sections if section.task is not None]
        for name, task in additions.tasks.items():
            same = [section for section in tasks if key(section.task_title) == name]
            if same:
                self._add_sources(same[0], task.files)
            else:
                self.sheet.insert(self._end_of_tasks(groups[0]), ADDED_TASKS, task.lines())

    def _add_sources(self, section: Section, files: list[str]) -> None:
        if section in self.last_sources:
            self._after(self.last_sources[section], ADDED_SOURCES, [file[2:] for file in files])
            return
        for heading in self.document.outline.headings:
            if section.start <= heading.start < section.end and plain(heading.content).casefold() == FILES:
                self.sheet.insert(heading.end, ADDED_SOURCES, files)
                return
        place = self._trimmed(min(section.direct, self.open), section.start)
        self.sheet.insert(place, ADDED_SOURCES, [f"### {FILES}", "", *files])

    def _next_to(self, node: Node, edit: Insert) -> None:
        """Add a list item above, below or inside of another one, whose list it goes on."""
        if edit.depth < 0 and node.parent:
            own = "" if ends_open(edit.markdown.split("\n")) else edit.markdown
            (body,) = self._bodies([replace(edit, markdown=own)])
            line = node.parent.start
            # What is nested stays apart from a last block that would swallow it.
            apart = "\n" * ("\n\n" in body and not self.sheet.blank(line + 1))
            self.sheet.replace(line, hung(self.sheet.bullet(node.parent), body) + apart, new_block=True)
            return
        lead = self.sheet.bullet(node)
        if node.number:
            lead = lead.replace(node.number, str(max(0, int(node.number) + edit.offset)), 1)
        if edit.depth:
            lead = " " * (len(lead) + 2 * (edit.depth - 1)) + "- "
        (body,) = self._bodies([edit])
        loose = node.previous is not None and self.sheet.blank(node.start - 1) and not edit.depth
        place = node.end if edit.offset > 0 else node.own_ranges()[-1][1] if not edit.offset else node.start
        lines = [hung(lead, body), *[""] * (loose and edit.offset < 0)]
        self.sheet.insert(place, ADDED_ITEMS, lines, before=loose and edit.offset > 0, after=node)

    def _after(self, node: Node, rank: int, bodies: Iterable[str]) -> None:
        """Add list items after an outermost one, in the manner of its list."""
        if node.number and rank == ADDED_ITEMS:  # what comes new is no step of a numbered list
            self.sheet.insert(node.end, rank, [hung("- ", body) for body in bodies])
            return
        prefix = self.sheet.bullet(node)
        loose = node.previous is not None and self.sheet.blank(node.start - 1)
        lines: list[str] = []
        for count, body in enumerate(bodies, 1):
            lead = prefix
            if node.number:
                number = str(int(node.number) + count)
                lead = prefix.replace(node.number, number, 1) if len(number) < 10 else "- "
            lines += [""] * (loose and bool(lines)) + [hung(lead, body)]
        before = loose or (self.gone(node) and bool(node.number))
        self.sheet.insert(node.end, rank, lines, before=before, after=node)

    def _open_end(self) -> int:
        """The line at which a block starts that would swallow what is appended; else the number of lines."""
        end = self._trimmed(len(self.document.lines), 0)
        before = [block for block in self.document.outline.top if block[1] < end]
        kind, start = before[-1][:2] if before else ("", 0)
        swallows = kind in ("fence", "html_block") and ends_open([c for c, _ in self.document.lines[start:end]])
        return start if swallows else len(self.document.lines)

    def _trimmed(self, line: int, start: int) -> int:
        """The end of the last line, from `start` and before `line`, that is neither blank nor a marker.

        A marker that ends a comment which somebody left open, before more text, is that comment's.
        """
        while line > start and (self.sheet.blank(line - 1) or line - 1 in self.markers):
            line -= 1
        return line

    def _end_of_document(self) -> int:
        end = len(self.document.lines)
        if self.open < end:
            inside = [group.heading for group in self.document.groups if group.heading and group.start <= self.open]
            end = inside[-1].start if inside else self.open
        return self._trimmed(end, 0)

    def _end_of_group(self, group: Group) -> int:
        return self._before_open(group, group.end)

    def _end_of_tasks(self, group: Group) -> int:
        tasks = [section for section in group.sections if section.task is not None]
        return self._before_open(group, (tasks[-1] if tasks else group.sections[0]).end)

    def _before_open(self, group: Group, end: int) -> int:
        if group.start <= self.open < end:
            inside = [section.heading for section in group.sections if section.heading and section.start <= self.open]
            end = inside[-1].start if inside else self.open
        return self._trimmed(end, group.start)


def refs(numbers: Iterable[int]) -> str:
    """The references to these tasks."""
    return "".join(f"[Task {number}]" for number in sorted(numbers))


def body_of(text: str, cited: str = "", identity: str = "", markdown: str = "") -> str:
    """What stands after the bullet of an item: its text, its references, or else those in the text, its block id.

    It is the `markdown`, further lines still to be `hung` below the bullet, if there is any and it says just that.
    """
    cited = cited or without_refs(cleaned(text))[1]
    if markdown and (several := content_of(markdown, text, cited, identity)):
        return several
    return " ".join(part for part in (safe_text(text), cited, identity and f"^{identity}") if part)


def key(title: str) -> str:
    """The form in which titles are compared: without regard to case and white space."""
    return squeezed(cleaned(title)).casefold()


def _section_lines(heading: str, items: Iterable[str]) -> list[str]:
    return [f"## {safe_heading(heading)}", "", *items] if heading else [*items]
