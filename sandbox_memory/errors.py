"""The errors that this package raises; each message says what is wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence


class SandboxMemoryError(Exception):
    """Base of every error that `sandbox_memory` raises."""


class ConfigError(SandboxMemoryError, ValueError):
    """A setting is outside its bounds or contradicts another; nothing was read or written."""


class OtherTenant(ConfigError):
    """The workspace holds, or its session has, another tenant's memory; nothing of this one was read or written."""


class WrongKey(ConfigError):
    """The history is sealed with another host's key; nothing was written."""


class HistoryLost(SandboxMemoryError):
    """Commits of the history are missing; nothing was taken in or written before somebody has decided which counts."""


class WorkspaceError(SandboxMemoryError, OSError):
    """A file of the workspace cannot be read or written.

    `path` is workspace-relative. The file itself is as it was.
    """

    def __init__(self, path: str, what: str, hint: str = "") -> None:
        self.path = path
        super().__init__(f"{path}: {what}" + (f". {hint}" if hint else ""))


class Conflict(SandboxMemoryError):
    """A guarded write was refused because the file is not what the writer had read.

    Found before the first step, nothing was written; found in the last moment, the steps before it stay done.

    `path` is the workspace-relative path whose guard failed. Read again and retry.
    """

    def __init__(self, path: str, what: str = "changed since it was read") -> None:
        self.path = path
        super().__init__(f"{path}: {what}")


class LostUpdate(SandboxMemoryError):
    """A record was written on a version that it is no longer at; nothing was changed.

    `id` names the record; it was `expected` to be at that version, and is at `version` with the words `text` instead of
    being given the words `yours`.
    """

    def __init__(self, id: str, expected: int, version: int, text: str, yours: str) -> None:
        self.id, self.expected, self.version, self.text, self.yours = id, expected, version, text, yours
        wanted = f", and yours would be “{yours}”" if yours else ""
        super().__init__(
            f"{id} is at version {version}, not {expected}: it says “{text}” now{wanted}. Nothing was changed; "
            f"decide on what it says now, and name version {version}"
        )


class LockTimeout(SandboxMemoryError, TimeoutError):
    """Another process held the workspace's memory lock for longer than the given time; nothing was written."""


class ModelError(SandboxMemoryError):
    """A model call failed or answered what cannot be used.

    `retryable` tells whether the same call may succeed later; `cause` is a short text for `status`; `attempts` is how
    many calls were made before it was given up, and `spent` what they cost: requests, input and output tokens.
    """

    def __init__(self, cause: str, *, retryable: bool = True) -> None:
        self.cause, self.retryable, self.attempts = cause, retryable, 0
        self.spent: tuple[int, ...] = (0, 0, 0)
        super().__init__(cause)


class NoUsableModel(ModelError):
    """The configured model cannot be reached at all (no key, no such provider); work stays pending."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause, retryable=False)


class Unknown(SandboxMemoryError, LookupError):
    """A record, rollout, line or preset of that name does not exist."""


class Unclear(Unknown):
    """Words that no line has, or several have; nothing was done.

    `told` says which, and `lines` are those that may be meant, as (id, words, how): all that have the words, or the
    nearest, best first. `how` is empty for one in sight, and says of the others what became of them.
    """

    def __init__(self, told: str, lines: Sequence[tuple[str, str, str]] = ()) -> None:
        self.told, self.lines = told, tuple(lines)
        listed = (f"{id}  {text}{f' ({how})' if how else ''}" for id, text, how in self.lines)
        super().__init__("\n".join((told, *listed)))
