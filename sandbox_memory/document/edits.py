"""A batch of edits applied: each changes the lines that it means and no other byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .additions import Additions, body_of, refs
from .blocks import HOLLOW, Leaf, Node, ends_open
from .model import Document, ListItem, Section
from .operations import Cite, Edit, Prune, RemoveItem, Retitle, Revise, Stamp, Tick
from .pruning import prune, scope_of
from .safe import safe_heading
from .sheet import ADDED_MARKER, Sheet
from .source import hung, source
from .tables import head_of
from .text import CHECKBOX, ID, cleaned, cut, find_ids

_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_HEADING = re.compile(r"( {0,3}(?:#{1,6}(?:[ \t]+|$))?)((?:task group:\s*)?).*?((?:[ \t]+#+)?[ \t]*)", re.IGNORECASE)
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")


def apply(document: Document, edits: Sequence[Edit], marker: int | None) -> bytes:
    """The bytes of the document after a batch of edits; see `Document.edit`."""
    sheet = Sheet(document)
    items = _ItemEdits(document, sheet)
    additions = Additions(document, sheet, items.gone, edits)
    items.apply(edits, additions.citing)
    additions.apply()
    for edit in edits:
        if isinstance(edit, Retitle):
            _retitle(document, sheet, edit)
    if marker is not None:
        _set_marker(document, sheet, marker)
    data = sheet.render()
    pruned = [edit for edit in edits if isinstance(edit, Prune)]
    return prune(Document(data), pruned) if pruned else data


def _retitle(document: Document, sheet: Sheet, edit: Retitle) -> None:
    lines, group = document.lines, next(group for group in reversed(document.groups) if group.start <= edit.line)
    if edit.scope and group.start == edit.line and (scope := scope_of(document, group)):
        sheet.replace(scope.line, f"{lines[scope.line][0][: scope.start]}{cleaned(edit.title)}")
    for heading in (group.heading, *(section.heading for section in group.sections)):
        if heading is not None and heading.end == edit.line:
            line = heading.start if _ATX.match(lines[heading.start][0]) else heading.end - 2
            found = _HEADING.fullmatch(lines[line][0])
            lead, prefix, end = found.groups() if found else ("", "", "")
            prefix = prefix if heading is group.heading else ""
            sheet.cut(heading.start, line)
            sheet.replace(line, f"{lead}{' ' * lead.endswith('#')}{prefix}{safe_heading(edit.title)}{end}")


def _set_marker(document: Document, sheet: Sheet, marker: int) -> None:
    text = f"<!-- memory:{marker} -->"
    markers = document.outline.markers
    last = max((line for line, (content, _) in enumerate(document.lines) if content.strip()), default=-1)
    alone = {start for kind, start, end in document.outline.top if kind == "html_block" and end == start + 1}
    for line, _ in markers:
        if line != last and line in alone:
            sheet.cut(line, line + 1)
    if not markers or markers[-1][0] != last:
        sheet.insert(len(document.lines), ADDED_MARKER, [text])
    elif markers[-1][1] != marker:
        sheet.replace(last, text)


class _ItemEdits:
    """Revise, RemoveItem, Stamp and Cite: a removal wins over other edits of its item, the last of two alike counts."""

    def __init__(self, document: Document, sheet: Sheet) -> None:
        self.document = document
        self.sheet = sheet
        self.removed: set[Node] = set()
        self._gone: dict[Node, bool] = {}

    def apply(self, edits: Sequence[Edit], citing: Callable[[str, Sequence[str]], set[int]]) -> None:
        texts: dict[int, Revise] = {}
        ids: dict[int, str] = {}
        cites: dict[int, str] = {}
        for edit in edits:
            if isinstance(edit, (Revise, RemoveItem, Stamp, Cite)):
                item, node, _ = self._addressed(edit.item_index)
                if not item.readable:
                    continue
                if isinstance(edit, Revise):
                    texts[item.index] = edit
                elif isinstance(edit, Stamp):
                    ids[item.index] = edit.id
                elif isinstance(edit, Cite):
                    before = set(item.refs_at_end)
                    after = before - set(edit.gone) | citing(item.group, edit.sources)
                    if after != before:
                        cites[item.index] = refs(after)
                else:
                    self.removed.add(node)
        for index in sorted({*texts, *ids, *cites}):
            item, node, _ = self._addressed(index)
            if node not in self.removed:
                cited = cites.get(index, item.cited)
                if index in texts:
                    new = texts[index]
                    swallows = node.children and ends_open(new.markdown.split("\n"))
                    own = "" if swallows else new.markdown
                    self._revise(item, node, body_of(new.text, cited, ids.get(index, item.id), own))
                    continue
                if index in ids:
                    self._stamp(node, ids[index])
                if index in cites and not self._cite(item, node, cited):
                    own = source(self.document, item, node)
                    self._revise(item, node, body_of(item.text, cited, ids.get(index, item.id), own))
        for edit in edits:
            if isinstance(edit, Tick):
                self._tick(edit)
        for node in self.removed:
            if not self.gone(node):
                self._hollow(node)
            elif node.parent is None or not self.gone(node.parent):
                self._remove(node)

    def _tick(self, edit: Tick) -> None:
        item, node, _ = self._addressed(edit.item_index)
        if item.checked is None or not item.readable or node in self.removed:
            return
        line = node.leaves[0].start
        content = self.sheet.content(line)
        start = len(self.sheet.bullet(node)) if line == node.start else len(content) - len(content.lstrip())
        if box := CHECKBOX.match(content, start):
            at = box.start(1)
            self.sheet.replace(line, f"{content[:at]}{'x' if edit.checked else ' '}{content[at + 1 :]}")

    def gone(self, node: Node) -> bool:
        """True if nothing of the list item, its nested ones included, will be left."""
        if node not in self._gone:
            self._gone[node] = node in self.removed and all(self.gone(child) for child in node.children)
        return self._gone[node]

    def _addressed(self, index: int) -> tuple[ListItem, Node, Section]:
        if not 0 <= index < len(self.document.addressed):
            raise IndexError(f"the document has no item {index}; it has {len(self.document.addressed)}")
        return self.document.addressed[index]

    def _remove(self, node: Node) -> None:
        if node.stack == 1:
            if node.parent:
                self.sheet.keep_open(node.parent, node.start)
            self.sheet.cut(node.start, node.end)
        else:
            self.sheet.replace(node.start, self.sheet.bullet(node) + HOLLOW)
            self.sheet.cut(node.start + 1, node.end)

    def _hollow(self, node: Node) -> None:
        for start, end in node.own_ranges():
            if start == node.start:
                self.sheet.replace(start, self.sheet.bullet(node) + HOLLOW)
            self.sheet.cut(max(start, node.start + 1), end, blank_start=start == node.start)

    def _revise(self, item: ListItem, node: Node, body: str) -> None:
        ranges = node.own_ranges()
        line = ranges[0][0]
        if line == node.start:
            prefix = self.sheet.bullet(node)
            if item.checked is not None:
                box = CHECKBOX.match(self.document.lines[line][0], len(prefix))
                body = (box[0] if box else "[x] " if item.checked else "[ ] ") + body
        else:
            line = node.leaves[0].start
            content = self.document.lines[line][0]
            prefix = content[: len(content) - len(content.lstrip())]
        content = hung(prefix, body).rstrip()
        if node.children and "\n" in body and ("\n\n" in body or "<" in body):
            content += "\n"  # what is nested stays apart from a last block that would swallow it
        self.sheet.replace(line, content, new_block=True, apart=line != node.start)
        for start, end in ranges:
            self.sheet.cut(max(start, line + 1), end, blank_start=start <= line)

    def _stamp(self, node: Node, identity: str) -> None:
        lines = self.document.lines
        found: list[tuple[int, re.Match[str]]] = []
        leaves = [leaf for leaf in node.leaves if leaf.carries_id]
        for leaf in leaves:
            source = "\n".join(content for content, _ in lines[leaf.start : leaf.end])
            for match in find_ids(source):
                number = source.count("\n", 0, match.start())
                column = match.start() - (source.rfind("\n", 0, match.start()) + 1)
                again = ID.match(lines[leaf.start + number][0], column)
                if again:
                    found.append((leaf.start + number, again))
        if not identity:
            inner = {line for leaf in leaves for line in range(leaf.start, leaf.end - 1)}
            for line in {line for line, _ in found}:
                self._unstamp(node, line, [match for at, match in found if at == line], line in inner)
        elif found:
            line, match = found[-1]
            content = lines[line][0]
            self.sheet.replace(line, f"{content[: match.start()]}^{identity}{content[match.end() :]}")
        else:
            self._append_id(leaves, identity)

    def _unstamp(self, node: Node, line: int, matches: list[re.Match[str]], goes_on: bool) -> None:
        content = cut(self.document.lines[line][0], matches)
        lead = self.sheet.bullet(node) if line == node.start else ""
        if content.strip() != lead.strip():
            literal = goes_on and (len(content) - len(content.rstrip("\\"))) % 2  # else a hard line break
            self.sheet.replace(line, content + "\\" * literal)
        elif goes_on:  # a blank line would end the paragraph
            source = self.document.lines[line][0]
            self.sheet.replace(line, (lead or source[: len(source) - len(source.lstrip())]) + "&nbsp;")
        elif lead:
            self.sheet.replace(line, lead + HOLLOW)
        else:
            self.sheet.keep_open(node, line)
            self.sheet.cut(line, line + 1)

    def _cite(self, item: ListItem, node: Node, cited: str) -> bool:
        """Set the references where they are, or go, on the item's last line; False if they are not there alone."""
        leaf = next(leaf for leaf in reversed(node.leaves) if leaf.text)
        line = leaf.end - 1
        content = self.sheet.content(line)
        ids = find_ids(content)
        end = len(content[: ids[0].start()].rstrip()) if ids else len(content.rstrip())
        start = end - len(item.cited)
        if (
            leaf.kind != "paragraph"
            or content[max(start, 0) : end] != item.cited
            or not cited + content[:start].strip()
        ):
            return False
        before = content[:start] if item.cited and cited else content[:start].rstrip() + " " * bool(cited)
        self.sheet.replace(line, before + cited + content[end:])
        return True

    def _append_id(self, leaves: list[Leaf], identity: str) -> None:
        apart = [leaf for leaf in leaves if head_of(leaf.content)]  # at a row's end it would become a cell
        leaf = next((leaf for leaf in reversed(apart) if leaf.kind == "paragraph"), (apart or leaves)[-1])
        setext = leaf.kind == "heading" and leaf.end - leaf.start > 1
        head = head_of(leaf.content)
        line = leaf.start + head - 1 if head > 0 else leaf.end - 2 if setext else leaf.end - 1
        content = self.document.lines[line][0]
        closing = _CLOSING.search(content) if leaf.kind == "heading" and not setext else None
        end = closing.start() if closing else len(content.rstrip())
        self.sheet.replace(line, f"{content[:end]} ^{identity}{content[end:]}")
