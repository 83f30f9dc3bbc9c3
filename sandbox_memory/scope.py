"""Whose memory it is: the parts by which an application tells its tenants, users, projects and teams apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryScope:
    """Whom one memory is about; only the application says so, never a model or a file.

    Each part may be empty. Two scopes that differ in any part have folders of their own.
    """

    tenant: str = ""
    user: str = ""
    project: str = ""
    team: str = ""
