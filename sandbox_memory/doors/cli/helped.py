"""How commands explain themselves, and the one place where their errors become a line and an exit code."""

from __future__ import annotations

import logging
import os
import re
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ...errors import ConfigError, SandboxMemoryError
from .places import Misuse
from .screen import complain

NOT_DONE, WRONG_USE, INTERRUPTED = 1, 2, 130
ORDER = ("demo", "process", "status", "show", "history", "why", "add", "forget", "check", "layouts")

_TITLE = re.compile(r"^ *(Usage|Options|Commands|Example):", re.MULTILINE)


def _styled(text: str) -> str:
    """Headings in bold on a terminal."""
    text = text.replace("\\[", "[")  # older versions of Typer escape for Rich what is printed plainly
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    return _TITLE.sub(lambda found: typer.style(found[0], bold=True), text)


class Command(TyperCommand):
    """A command whose help reads the same with every version of Typer."""

    def get_help(self, ctx: Any) -> str:
        """The help text."""
        return _styled(super().get_help(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line; what may be left out stands in brackets."""
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(a.metavar) if a.required else f"[{a.metavar}]" for a in arguments)]


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
        try:
            return super().invoke(ctx)
        except SandboxMemoryError as error:
            complain("error", str(error))
            raise typer.Exit(WRONG_USE if isinstance(error, (Misuse, ConfigError)) else NOT_DONE) from error
        except KeyboardInterrupt:
            complain("error", "interrupted. What was done is kept, the rest is pending; run the same command again")
            raise typer.Exit(INTERRUPTED) from None
        finally:
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
