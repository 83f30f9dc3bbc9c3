"""Whose word an item of a rollout is: what a person typed or pasted, what a tool observed or read, what memory said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile

from ..governance.instructions import forged, orders
from ..governance.taint import Piece
from ..governance.wording import SENTENCE_END
from ..records import Item, Rollout, Trust
from .pastes import MEMORY_LINE, foreign, has_prose, pasted

MEMORY = "memory"
"""Label of an item in which memory itself speaks: it is evidence for nothing."""
DOCUMENT_LINES = 40
"""A user message of more lines of its own than this is plainly a document, not words of the user's own."""
DOCUMENT_LENGTH = 8_000
"""The same in characters."""
GREETING = 10
"""Characters that a greeting has at most."""
LINE = 1_000
"""Characters before a quote in which its line is looked for."""

_MEMORY_SPEAKS = re.compile(r"\^[mp]-[0-9a-f]{10}\b|<!-- memory:\d|^rollout_summary_file: ", re.MULTILINE)
_ROLLOUT_LINE = ('"rollout_id":', '"terminal_metadata":')
_MEMORY_FILE = re.compile(r"\bMEMORY\.md\b|\bmemory_summary\.md\b|\braw_memories\b|\brollout_summaries\b")
_PATCH = re.compile(r"^\*\*\* (?:Begin Patch|Update File|Add File)|^[+-]{3} [ab]/|<<-?\s?['\"]?\w", re.MULTILINE)

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_ELSEWHERE = frozenset(
    "web website webpage browser browse browsing fetch http https url urls page mcp computer crawl crawler scrape "
    "scraper scraping internet google bing tavily wikipedia rss download email inbox slack".split()
)
_CARRIERS = frozenset(
    "mail mails emails gmail outlook message messages msg sms telegram whatsapp discord teams channel channels thread "
    "threads tweet tweets reddit forum comment comments review reviews feedback post posts newsletter news feed "
    "document documents doc docs drive notion confluence wiki attachment attachments transcript transcripts article "
    "articles pdf calendar notes".split()
)
"""Tools that read these bring what somebody wrote; those that write them report what became of it."""
_WRITES = frozenset(
    "send create add delete remove update edit write set post reply forward schedule cancel book mark move invite save "
    "append upload share archive submit publish".split()
)
_FILE_TOOLS = frozenset(
    "read_file view_file open_file get_file file_search read_files view_image read_document read_text_file file_read "
    "view read cat open search_files grep".split()
)
_SHELL_TOOLS = frozenset("exec execute shell bash zsh sh cmd command terminal console powershell run".split())
_SHELL_WORDS = re.compile(r"[^\s'\"]+")
_JOINTS = re.compile(r"\|\||&&|[;\n&]|\$\(|`")
_WRAPPERS = frozenset("sudo time env nohup command exec xargs then do else".split())
_READERS = frozenset(
    "cat tac head tail less more bat batcat nl sed awk gawk grep egrep fgrep rg ag ack view open goto strings xxd "
    "hexdump jq yq diff curl wget http https lynx w3m links gh glab nc ftp sftp scp pdftotext pandoc type gc".split()
)
_GIT_READERS = frozenset("show log blame grep diff cat-file".split())


def trust_of(item: Item, start: int, end: int) -> Trust:
    """What a quote of these characters is worth: what a user pasted is somebody else's word.

    Pasted is what stands in a fenced block, a quotation or a block between tags, a line that carries a memory's id, a
    message that is plainly a document, a document among its parts, and what `pastes.foreign` finds. A line of an output
    that gives orders is nothing that a tool observed; of a shell's, where programs say what to do next, one that means
    to be more than that.
    """
    if item.trust is Trust.OBSERVED:
        why = forged if _is_shell(item.label) else orders
        return Trust.EXTERNAL if why(item.text[_line_start(item.text, start) : end]) else Trust.OBSERVED
    if item.trust is not Trust.USER:
        return item.trust
    if is_document(item.text) or any(start < last and first < end for first, last in others_words(item)):
        return Trust.EXTERNAL
    return Trust.USER


def others_words(item: Item) -> tuple[tuple[int, int], ...]:
    """The spans of a person's message that are somebody else's words, marked as such or not; they may overlap."""
    return (*_others_words(item.text), *item.attached)


@lru_cache(maxsize=64)
def _others_words(text: str) -> tuple[tuple[int, int], ...]:
    return (*pasted(text), *foreign(text))


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", max(0, at - LINE), at) + 1 or max(0, at - LINE)


def first_request(rollout: Rollout) -> str:
    """A sentence of what a person said first, in their own words; if there is one, one of more than a greeting."""
    own = "\n".join(piece.text for piece in pieces(rollout) if piece.trust is Trust.USER)
    found = [text for text in SENTENCE_END.split(own) if any(map(str.isalnum, text))]
    return next((text for text in found if len(text.strip()) > GREETING), next(iter(found), ""))


def pieces(rollout: Rollout) -> Iterator[Piece]:
    """The items of a rollout in order, a person's message cut into what is theirs and what they pasted."""
    for rank, segment in enumerate(rollout.segments):
        for item in segment.items:
            place = (rank, item.index)
            spans = sorted(others_words(item)) if item.trust is Trust.USER else []
            if not spans or is_document(item.text):
                trust = Trust.EXTERNAL if item.trust is Trust.USER and is_document(item.text) else item.trust
                yield Piece(place, 0, item.text, trust, memory=item.label == MEMORY)
                continue
            done = 0
            for first, last in spans:
                if first > done:
                    yield Piece(place, done, item.text[done:first], Trust.USER)
                if last > done:
                    yield Piece(place, max(first, done), item.text[max(first, done) : last], Trust.EXTERNAL)
                done = max(done, last)
            yield Piece(place, done, item.text[done:], Trust.USER)


def is_document(text: str) -> bool:
    """True if what stands outside of pasted blocks is more than a person types: 40 lines, or 8,000 characters."""
    if text.count("\n") < DOCUMENT_LINES and len(text) <= DOCUMENT_LENGTH:
        return False
    own, done = [], 0
    for first, last in sorted(pasted(text)):
        own.append(text[done:first])
        done = max(done, last)
    own.append(text[done:])
    said = "".join(own)
    return len(said) > DOCUMENT_LENGTH or sum(1 for line in said.split("\n") if line.strip()) > DOCUMENT_LINES


def of_output(tool: str, call: str, output: str = "") -> Trust:
    """What the output of that tool is worth, given the text of the call.

    What a program reports is observed; what it shows of a file or fetches from elsewhere is somebody else's word, and
    so is running prose that any tool but a shell returns: mails, reviews and documents are written by others.
    """
    if _is_shell(tool):
        return Trust.EXTERNAL if _shows_files(call) else Trust.OBSERVED
    words = _words(tool)
    carries = not _CARRIERS.isdisjoint(words) and _WRITES.isdisjoint(words)
    elsewhere = carries or not _ELSEWHERE.isdisjoint(words) or tool.lower() in _FILE_TOOLS
    return Trust.EXTERNAL if elsewhere or has_prose(output) else Trust.OBSERVED


def _words(tool: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(tool)}


def _is_shell(tool: str) -> bool:
    return not _SHELL_TOOLS.isdisjoint(_words(tool))


def _shows_files(call: str) -> bool:
    """True for a command line in which a program that shows files or fetches begins a pipe."""
    for part in _JOINTS.split(call):
        words = _SHELL_WORDS.findall(part.split("|", 1)[0])
        if words and words[0].endswith(":"):
            words = words[1:]
        words = list(dropwhile(_is_before_program, words))
        if not words:
            continue
        program = words[0].rsplit("/", 1)[-1]
        if program in _READERS and not _only_writes(part):
            return True
        if program == "git" and any(word in _GIT_READERS for word in words[1:4]) and "--stat" not in words:
            return True
    return False


def _is_before_program(word: str) -> bool:
    return "=" in word or word in _WRAPPERS or word.startswith(("(", "-"))


def _only_writes(part: str) -> bool:
    """True for `cat > file`, a here-document, and an edit in place, which show nothing."""
    return re.search(r"(?<![0-9&])>|<<", part) is not None or re.match(r"\s*sed\s+(?:-\w+\s+)*-i", part) is not None


def speaks_for_memory(output: str, call: str, tool: str, memories_dir: str) -> bool:
    """True for an output in which memory speaks: of its own tools, of its files and transcripts, or with its ids."""
    path, command = _in_folder(memories_dir)
    return (
        tool.startswith("memory_")
        or _MEMORY_SPEAKS.search(output) is not None
        or all(key in output for key in _ROLLOUT_LINE)
        or _MEMORY_FILE.search(call) is not None
        or path.search(call) is not None
        or (_is_shell(tool) and command.search(call) is not None)
    )


@lru_cache(maxsize=64)
def _in_folder(memories_dir: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A path in that folder, or the folder as the whole of an argument; and the folder as a command's last word."""
    folder = re.escape(memories_dir)
    return (
        re.compile(rf"(?<![\w.-])(?:\./)?{folder}/|^(?:\w+: )?(?:\./)?{folder}$", re.MULTILINE),
        re.compile(
            rf"\b(?:cd|ls|ll|tree|find|rg|grep|du)\b[^\n;&|]{{0,200}}?\s(?:\./)?{folder}(?=\s*(?:$|[;&|)]))",
            re.MULTILINE,
        ),
    )


def writes_memory(call: str, memories_dir: str) -> bool:
    """True for a call that brings memory's own lines: with ids in it, or a patch of one of its files."""
    if MEMORY_LINE.search(call):
        return True
    return _PATCH.search(call) is not None and speaks_for_memory("", call, "", memories_dir)
