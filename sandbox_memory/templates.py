"""Renders `prompts/<name>.md.j2`: every word that a model is told comes from there."""

from __future__ import annotations

import re
from functools import lru_cache

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound
from jinja2.sandbox import SandboxedEnvironment

from .errors import SandboxMemoryError, Unknown
from .shipped import folder

SUFFIX = ".md.j2"
BEGIN = "<<<<<<<< {name} begins >>>>>>>>"
END = "<<<<<<<< {name} ends >>>>>>>>"

_FORGED = re.compile(r"^[ \t]*<{3,}(?P<middle>.*?)>{3,}[ \t]*$", re.MULTILINE)


def fenced(text: str, name: str) -> str:
    """The text between a begin and an end marker line that name it; lines that look like such a marker are defused."""
    safe = _FORGED.sub(lambda match: f"< {match['middle'].strip()} >", text)
    return "\n".join((BEGIN.format(name=name), safe.strip("\n"), END.format(name=name)))


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
