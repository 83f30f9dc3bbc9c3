"""Renders `prompts/<name>.md.j2`: every word that a model is told comes from there."""

from __future__ import annotations

import hashlib
import html
import re
from functools import lru_cache

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound
from jinja2.sandbox import SandboxedEnvironment

from .characters import UNSEEN
from .errors import SandboxMemoryError, Unknown
from .shipped import folder

SUFFIX = ".md.j2"
BEGIN = "<<<<<<<< {name} begins {nonce} >>>>>>>>"
END = "<<<<<<<< {name} ends {nonce} >>>>>>>>"
NONCE = 8
"""Hex digits of the word that a text's two markers share, and that the text itself does not have."""

_UNSEEN = re.compile(f"[{UNSEEN}]")
_LEFT, _RIGHT = "<＜‹«≪⋘〈《﹤⟨⟪", ">＞›»≫⋙〉》﹥⟩⟫"
_ENTITY = "&(?:lt|gt|laquo|raquo|#0*6[02]|#x0*3[ce]);?"
_LEFTS, _RIGHTS = (rf"(?:(?:[{sides}]|{_ENTITY})[ \t]?)" for sides in (_LEFT, _RIGHT))
_RUN = re.compile(rf"{_LEFTS}{{3,}}|{_RIGHTS}{{3,}}", re.IGNORECASE)
_LONG_RUN = re.compile(rf"{_LEFTS}{{4,}}|{_RIGHTS}{{4,}}", re.IGNORECASE)
"""Three are a prompt of Python or a here-string of a shell: one of them is no marker."""
_ANY = re.compile(f"[&{_LEFT}{_RIGHT}]")
_SAYS = re.compile(r"\b(?:begins?|ends?)\b|memory summary|transcript|earlier notes|records|candidates", re.IGNORECASE)
_BREAKS = re.compile("\r(?!\n)|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What ends a line for some readers only: a text must not look to a model as if it had more lines than it has."""


def fenced(text: str, name: str) -> str:
    """The text between a begin and an end marker line that name it.

    The markers share a word that is made from the text and does not stand in it: so no text can hold its own end
    marker, and the same text has the same markers. Lines that look like markers of any kind are defused besides.
    """
    safe = "\n".join(_defused(line) for line in _BREAKS.sub(" ", text).strip("\n").split("\n"))
    nonce = _nonce(safe, name)
    return "\n".join((BEGIN.format(name=name, nonce=nonce), safe, END.format(name=name, nonce=nonce)))


def _nonce(text: str, name: str) -> str:
    lower, seed = text.lower(), f"{name}\0{text}".encode("utf-8", "surrogatepass")
    while (nonce := hashlib.sha256(seed).hexdigest()[:NONCE]) in lower:
        seed = nonce.encode()
    return nonce


def _defused(line: str) -> str:
    """A line without the long brackets of a marker, where it has them on both sides or says what a marker says."""
    if not _ANY.search(line):
        return line
    plain = _UNSEEN.sub("", line)
    runs = list(_RUN.finditer(plain))
    framed = len(runs) > 1 and not plain[: runs[0].start()].strip()
    if not framed and not (_LONG_RUN.search(plain) and _SAYS.search(plain)):
        return line
    return _RUN.sub(lambda run: "< " if html.unescape(run.group())[0] in _LEFT else ">", plain)


def one_line(text: str) -> str:
    """The text on one line, blanks collapsed."""
    return " ".join(text.split())


@lru_cache(maxsize=1)
def environment() -> SandboxedEnvironment:
    """The one Jinja environment: sandboxed, strict, with the filters `fenced(name)` and `one_line`."""
    made = SandboxedEnvironment(
        loader=FileSystemLoader(folder("prompts")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(fenced=fenced, one_line=one_line)
    return made


def render(name: str, **values: object) -> str:
    """The template `prompts/<name>.md.j2` with these values, which are inserted as they are and never as templates.

    The suffix of `name` may be left out. Raises `Unknown` for a name that is no template, and `SandboxMemoryError` if
    the template asks for a value that was not given or is malformed.
    """
    name = name.removesuffix(SUFFIX)
    try:
        return environment().get_template(name + SUFFIX).render(**values).strip() + "\n"
    except TemplateNotFound as error:
        names = sorted(path.name.removesuffix(SUFFIX) for path in folder("prompts").glob("*" + SUFFIX))
        raise Unknown(f"there is no prompt {name!r}; the prompts are: {', '.join(names)}") from error
    except TemplateError as error:
        raise SandboxMemoryError(f"prompts/{name}{SUFFIX}: {error}") from error
