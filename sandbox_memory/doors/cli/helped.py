"""How commands explain themselves, and the one place where their errors become a line and an exit code."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ...errors import ConfigError, SandboxMemoryError, Unclear
from ...scope import PARTS
from . import completing, losing
from .manual import help_of, usage
from .places import CALL, HERE, OPENED, SCOPE, Misuse, here
from .screen import FAINT, Screen, complain, many

UsageError: Any = typer.BadParameter.__mro__[1]
"""What the parser raises, whichever library this version of Typer is made of."""
_JSON = "sandbox_memory.json"
NOT_DONE, WRONG_USE, INTERRUPTED = 1, 2, 130
ORDER = tuple(
    "demo process status show why web watch add edit pin inbox history diff undo delete restore forget rebuild check "
    "vouch layouts".split()
)

NAMED = 20
"""How many lines that may be meant are named; --json has all."""

_QUOTED = re.compile("[“`][^”`]*[”`]")
_HINT = re.compile(r"; |\. (?=\S)")


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
        return help_of(self, ctx)

    def get_usage(self, ctx: Any) -> str:
        """The first line of it."""
        return usage(self, ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run it; `places` can then say how it takes a workspace."""
        words = [str(p.metavar) for p in self.params if p.param_type_name == "argument" and p.required]
        words += ["--workspace PATH"] if any(param.name == "workspace" for param in self.params) else ["PATH"]
        token = CALL.set(" ".join(["sandbox-memory", str(ctx.info_name), *words]))
        try:
            return super().invoke(ctx)
        finally:
            CALL.reset(token)

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
        ways: dict[str, Any] = {"expose_value": False, "callback": keep, "autocompletion": completing.scopes(name)}
        return typer.Option(None, f"--{name}", metavar="NAME", help=text, **ways)

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
        each = [(name, command) for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))]
        short = [(name, (command.help or "").partition("\n\n")[0]) for name, command in each if not command.hidden]
        return help_of(self, ctx, short)

    def get_usage(self, ctx: Any) -> str:
        """The first line of it."""
        return usage(self, ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, those that one meets first before the others."""
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the options before the command, once it is known whether errors are to be JSON."""
        words = args[: args.index("--")] if "--" in args else args
        ctx.meta[_JSON] = "--json" in words
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise _misused(error, as_json=ctx.meta[_JSON]) from error

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called."""
        logger, held = logging.getLogger("sandbox_memory"), Held()
        logger.addHandler(held)
        ctx.obj = held
        as_json: bool = ctx.meta.get(_JSON, False)
        token, opened, lost, place = SCOPE.set({}), OPENED.set([]), losing.SEEN.set({}), HERE.set(None)
        try:
            return super().invoke(ctx)
        except SandboxMemoryError as error:
            code = WRONG_USE if isinstance(error, (Misuse, ConfigError)) else NOT_DONE
            lines = error.lines if isinstance(error, Unclear) else ()
            told = error.told if isinstance(error, Unclear) else str(error)
            raise _failed(told, code, as_json=as_json, lines=lines) from error
        except UsageError as error:
            raise _misused(error, as_json=as_json) from error
        except KeyboardInterrupt:
            message = "interrupted. What was done is kept, the rest is pending; run the same command again"
            raise _failed(message, INTERRUPTED, as_json=as_json) from None
        finally:
            taken_in = sum(memory.adopted for memory in OPENED.get())
            noted = [line for memory in OPENED.get() for line in memory.pipeline.noted.taken()]
            if ctx.invoked_subcommand not in ("check", "vouch"):  # which say it themselves
                losing.tell(OPENED.get(), held)
            OPENED.reset(opened)
            losing.SEEN.reset(lost)
            SCOPE.reset(token)
            logger.removeHandler(held)
            held.tell()
            if taken_in and not as_json:
                were = many(taken_in, "change made in the files was", "changes made in the files were")
                complain("note", here(f"{were} taken in; `sandbox-memory history` shows it"))
            for line in dict.fromkeys(noted) if not as_json else ():
                complain("note", here(line))
            HERE.reset(place)


def _failed(
    message: str, code: int, *, as_json: bool, hint: str = "", lines: Sequence[tuple[str, str, str]] = ()
) -> typer.Exit:
    """Tell of an error: a line on stderr, or with --json the one document on stdout; the exit that goes with it.

    `lines` are those of `Unclear`.
    """
    message = here(message)
    if as_json:
        said, found = (message, hint) if hint else parted(message)
        meant = {"lines": [{"id": id, "text": text, "how": how or None} for id, text, how in lines]} if lines else {}
        Screen(as_json=True).document({"error": {"message": said, "hint": found, **meant}})
        return typer.Exit(code)
    complain("error", f"{message}{'. ' if hint else ''}{hint}")
    screen = Screen(errors=True)
    for id, text, how in lines[:NAMED]:
        screen.entry(id, text, f"({how})" if how else "")
    if more := len(lines) - NAMED if len(lines) > NAMED else 0:
        screen.line((f"and {more:,} more; --json lists all, more words mean fewer", FAINT), indent=2)
    return typer.Exit(code)


def parted(message: str) -> tuple[str, str]:
    """What was wrong, and what to do about it: what stands behind the last break outside of quotes."""
    bare = _QUOTED.sub(lambda found: "_" * len(found[0]), message)
    last = next(reversed(list(_HINT.finditer(bare))), None)
    return (message[: last.start()], message[last.end() :]) if last else (message, "")


def _misused(error: Any, *, as_json: bool) -> Any:
    """A wrong use that the command line's parser found, told as it tells it, or with --json as the one document."""
    if not as_json:
        return error
    path = error.ctx.command_path if error.ctx else "sandbox-memory"
    return _failed(error.format_message(), WRONG_USE, as_json=True, hint=f"`{path} --help` says how")


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

    def taken(self) -> list[str]:
        """The warnings so far, which the command tells itself."""
        messages, self._messages = list(self._messages), {}
        return messages

    def tell(self) -> None:
        """Write what was kept to stderr."""
        for message in self._messages:
            complain("warning", here(message))
        self._messages = {}
