"""How commands explain themselves, and the one place where their errors become a line and an exit code."""

from __future__ import annotations

import logging
import os
import re
import sys
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ...errors import ConfigError, SandboxMemoryError
from ...scope import PARTS
from .places import SCOPE, Misuse
from .screen import complain

NOT_DONE, WRONG_USE, INTERRUPTED = 1, 2, 130
ORDER = tuple("demo process status show history why add edit restore forget check vouch layouts".split())

_TITLE = re.compile(r"^ *(Usage|Options|Commands|Example):", re.MULTILINE)


def _styled(text: str) -> str:
    """Headings in bold on a terminal."""
    text = text.replace("\\[", "[")  # older versions of Typer escape for Rich what is printed plainly
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    return _TITLE.sub(lambda found: typer.style(found[0], bold=True), text)


class Command(TyperCommand):
    """A command whose help reads the same with every version of Typer.

    One that takes a layout takes the parts of a scope too; `places.find` knows what was given.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        names = [param.name for param in self.params]
        if "memories" in names:
            at = 1 + names.index("sessions" if "sessions" in names else "memories")
            self.params[at:at] = [part for part in _parts() if part.name not in names]

    def get_help(self, ctx: Any) -> str:
        """The help text."""
        return _styled(super().get_help(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line; what may be left out stands in brackets."""
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(a.metavar) if a.required else f"[{a.metavar}]" for a in arguments)]


@cache
def _parts() -> tuple[Any, ...]:
    """The options for the parts of a scope, made by Typer as it makes those of a function."""

    def keep(param: typer.CallbackParam, value: str | None) -> None:
        if value is not None:
            SCOPE.set({**SCOPE.get(), str(param.name): value})

    def option(name: str) -> Any:
        text = f"The memory of that {name}."
        return typer.Option(None, f"--{name}", metavar="NAME", help=text, expose_value=False, callback=keep)

    carrier = typer.Typer(add_completion=False)

    @carrier.command()
    def _(
        tenant: str | None = option("tenant"),
        team: str | None = option("team"),
        project: str | None = option("project"),
        user: str | None = option("user"),
    ) -> None: ...

    return tuple(param for param in typer.main.get_command(carrier).params if param.name in PARTS)


class Commands(TyperGroup):
    """All commands. Our own errors become one line on stderr; any other is a fault of ours and keeps its traceback."""

    def get_help(self, ctx: Any) -> str:
        """The help text."""
        return _styled(super().get_help(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, those that one meets first before the others."""
        return sorted(self.commands, key=ORDER.index)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called."""
        logger, held = logging.getLogger("sandbox_memory"), Held()
        logger.addHandler(held)
        ctx.obj = held
        token = SCOPE.set({})
        try:
            return super().invoke(ctx)
        except SandboxMemoryError as error:
            complain("error", str(error))
            raise typer.Exit(WRONG_USE if isinstance(error, (Misuse, ConfigError)) else NOT_DONE) from error
        except KeyboardInterrupt:
            complain("error", "interrupted. What was done is kept, the rest is pending; run the same command again")
            raise typer.Exit(INTERRUPTED) from None
        finally:
            SCOPE.reset(token)
            logger.removeHandler(held)
            held.tell()


class Held(logging.Handler):
    """Keeps warnings until the command has said what it has to say; each is then told once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._messages: dict[str, tuple[object, ...]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        message = record.getMessage().removeprefix("sandbox memory: ")
        self._messages.setdefault(message, record.args if isinstance(record.args, tuple) else ())

    def told(self, *causes: str) -> None:
        """Drop the warnings about these causes: the command has named them itself."""
        known = set(causes)
        self._messages = {m: args for m, args in self._messages.items() if known.isdisjoint(map(str, args))}

    def tell(self) -> None:
        """Write what was kept to stderr."""
        for message in self._messages:
            complain("warning", message)
        self._messages = {}
