"""One tenant for a workspace: an agent with a shell reads all of it, so two of them never share a sandbox session."""

from __future__ import annotations

import posixpath
import weakref
from collections.abc import Iterable
from typing import Any

from ..errors import OtherTenant
from ..scope import base_of, tenant_of

_TENANTS: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""The tenant that each session object was first used for, by the name of its folder."""


def is_claimed(session: object) -> bool:
    """True if a tenant's memory has been used in that session."""
    return session in _TENANTS


def claim(session: object, memories_dir: str, beside: Iterable[str] = ()) -> None:
    """Note whose session it is, for as long as the object lives; a memory without a tenant claims nothing.

    `beside` are the memories that other sessions have open in the same workspace. Raises `OtherTenant`.
    """
    tenant = tenant_of(memories_dir)
    if not tenant:
        return
    if _TENANTS.get(session, tenant) != tenant or any(tenant_of(other) not in ("", tenant) for other in beside):
        raise _refusal("this sandbox session has")
    _TENANTS[session] = tenant


async def refuse_others(workspace: object, memories_dir: str) -> None:
    """Raise `OtherTenant` if the workspace holds a memory of another tenant than that folder's; one listing.

    Looked through are the folder above the tenants, and those beside it that layouts use: `memories/tenant=*` and
    `memories/*/tenant=*`. `WorkspaceError` where they cannot be listed.
    """
    from ..workspace.finding import folders  # not needed before a session is

    top, tenant = memories_dir.partition("/")[0], tenant_of(memories_dir)
    patterns = {f"{top}/tenant=*", f"{top}/*/tenant=*", f"{base_of(memories_dir)}/tenant=*"}
    if any(posixpath.basename(found) != tenant for found in await folders(workspace, sorted(patterns))):
        raise _refusal("this workspace holds")


def _refusal(where: str) -> OtherTenant:
    return OtherTenant(
        f"{where} the memory of another tenant already, and an agent with a shell can read a whole workspace. Give "
        "each tenant a session of its own, in a workspace of its own: a Manifest(root=…) or a snapshot for each"
    )
