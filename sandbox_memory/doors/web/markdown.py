"""Markdown of the memory as HTML that is only text: no markup of its own, no links to follow, no images to load."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from ...characters import ACTIVE

_ID = re.compile(r"[ \t]*\^(m-[0-9a-f]{10})[ \t]*$")
_MARKER = re.compile(r"[ \t]*<!--[ \t]*memory:[^>]*-->[ \t]*")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]) ")
_CHAPTER = re.compile(r"# \S")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# What turns the direction of writing or moves a cursor is shown as a mark of its own.
_ACTIVE = re.compile(f"[{ACTIVE}\ud800-\udfff]")
_PARTS = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af]+|\s+|.", re.DOTALL)
_CHINESE, _ENGLISH = re.compile("[\u3400-\u9fff]"), re.compile("[A-Za-z]{3}")
_OTHER = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
LARGEST = 4_000
"""Parts of two texts from which on they are not compared word by word."""


class _Inert(RendererHTML):
    """Renders links and images as the words that they are, with their address beside them."""

    def image(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        """The words for an image, never the image."""
        token = tokens[index]
        return f"[{escape(token.content)}] {_address(str(token.attrGet('src') or ''))}"

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        """Begin the words of a link."""
        return '<span class="link">'

    def link_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        """End them, with the address where it says something else."""
        depth, at = 1, index - 1
        while at >= 0 and depth:
            depth += {"link_close": 1, "link_open": -1}.get(tokens[at].type, 0)
            at -= depth > 0
        opened = tokens[max(at, 0)]
        address = str(opened.attrGet("href") or "")
        words = "".join(each.content for each in tokens[at + 1 : index])
        return "</span>" if words.strip() == address else f"</span> {_address(address)}"

    def td_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        """A cell, without the style that would align it: the page allows none inside of it."""
        return f"<{tokens[index].tag}>"

    th_open = td_open

    def heading_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        """Headings inside of what people wrote are no headings of the page."""
        return '<p class="heading">'

    def heading_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        """The end of one."""
        return "</p>"


def _address(address: str) -> str:
    return f'<span class="address">({escape(address)})</span>' if address else ""


_markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}, renderer_cls=_Inert)
_markdown.enable(["table", "strikethrough"])
_markdown.validateLink = lambda url: True  # type: ignore[method-assign] # none is followed: each is shown as it is
_blocks = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable("table").disable("inline")


def visible(text: str) -> str:
    """The text with a mark for each character that would act on the page instead of being seen."""
    return _ACTIVE.sub("\ufffd", text)


@lru_cache(maxsize=4_096)
def inline(text: str) -> Markup:
    """One line of markdown."""
    return Markup(_markdown.renderInline(visible(text)))  # the renderer escapes all text, and HTML is off


def block(text: str) -> Markup:
    """Several lines of markdown."""
    return Markup(_markdown.render(visible(text)))


def language_of(text: str) -> str:
    """What `lang` says of a remembered text: "zh" or "en" where that is plain, else nothing."""
    if _OTHER.search(text):
        return ""
    return "zh-Hans" if _CHINESE.search(text) else "en" if _ENGLISH.search(text) else ""


@dataclass(frozen=True)
class Block:
    """A part of a file: a `heading` with its `level`, a `line` that is the record `id`, or `prose`, as markdown."""

    kind: str
    text: str = ""
    level: int = 0
    id: str = ""


def chapters(text: str) -> Iterator[str]:
    """The text cut before each level-1 heading outside of code, so that a change makes only its own part new."""
    part: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and _CHAPTER.match(line) and part:
            yield "".join(part)
            part = []
        part.append(line)
    if part:
        yield "".join(part)


def portions(text: str, line: re.Pattern[str], most: int) -> Iterator[str]:
    """The text of one chapter cut before a list item once it has `most` lines that match; each part has its heading."""
    if len(line.findall(text)) <= most * 3 // 2:
        yield text
        return
    part, section, count = list[str](), "", 0
    for each in text.splitlines(keepends=True):
        if each.startswith("## "):
            section = each
        if count >= most and (each.startswith("## ") or _ITEM.match(each)):
            yield "".join(part)
            part, count = ([] if each.startswith("## ") else [section, "\n"]), 0
        part.append(each)
        count += bool(line.search(each))
    yield "".join(part)


@lru_cache(maxsize=8_192)
def blocks(text: str) -> tuple[Block, ...]:
    """The parts of a chapter in their order."""
    lines = text.split("\n")
    return tuple(_blocks_of(_blocks.parse(text), lines))


def _blocks_of(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Block]:
    at = 0
    while at < len(tokens):
        end = _end(tokens, at)
        token = tokens[at]
        if token.type == "heading_open":
            content = tokens[at + 1].content
            yield Block("heading", _ID.sub("", content), int(token.tag[1:]))
        elif token.type in ("bullet_list_open", "ordered_list_open") and any(
            _ID.search(each.content) for each in tokens[at:end] if each.type == "inline"
        ):
            yield from _items(tokens[at + 1 : end - 1], lines)
        elif token.map:
            source = _MARKER.sub("", "\n".join(lines[token.map[0] : token.map[1]]))
            if source.strip():
                yield Block("prose", source)
        at = end


def _items(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Block]:
    """The items of a list: those that are records, and what else stands among them."""
    at = 0
    while at < len(tokens):
        end = _end(tokens, at)
        inside = tokens[at + 1 : end - 1]
        deeper = [n for n, each in enumerate(inside) if each.type in ("bullet_list_open", "ordered_list_open")]
        own = inside[: deeper[0]] if deeper else inside
        ids = [found[1] for each in own if each.type == "inline" and (found := _ID.search(each.content))]
        if ids:
            yield Block("line", id=ids[-1])
        else:
            yield Block("prose", "\n".join(each.content for each in own if each.type == "inline"))
        if deeper:
            yield from _blocks_of(inside[deeper[0] :], lines)
        at = end


def _end(tokens: Sequence[Token], start: int) -> int:
    """The index after the token that closes what begins at `start`."""
    depth, at = 0, start
    while at < len(tokens):
        depth += tokens[at].nesting
        at += 1
        if not depth:
            break
    return at


@dataclass(frozen=True)
class Change:
    """The words of one text that another does not have, marked in both."""

    before: Markup
    after: Markup


def compared(before: str, after: str) -> Change:
    """Both texts, with what was taken out marked in the one and what came in marked in the other."""
    one, two = _PARTS.findall(visible(before)), _PARTS.findall(visible(after))
    if not before or not after or len(one) + len(two) > LARGEST:
        return Change(escape(visible(before)), escape(visible(after)))
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    if matcher.ratio() < 0.3:  # two texts that share little are easier read whole
        return Change(escape(visible(before)), escape(visible(after)))
    old, new = Markup(""), Markup("")
    for what, a, b, c, d in matcher.get_opcodes():
        left, right = "".join(one[a:b]), "".join(two[c:d])
        old += escape(left) if what == "equal" else Markup("<del>{}</del>").format(left) if left else ""
        new += escape(right) if what == "equal" else Markup("<ins>{}</ins>").format(right) if right else ""
    return Change(old, new)
