"""Names of rollout files: safe on every file system, stable, and never shared by two rollouts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from ..characters import ascii_words

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_SDKS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_HASHED = re.compile(r".*--[0-9a-f]{12}")


def file_name(rollout_id: str, source: str, existing: Collection[str], *, sdks: Collection[str] = ()) -> str:
    """The name, without `.jsonl`, of the file that holds a rollout: at most 128 ASCII characters, mostly under 60.

    `existing` are the names in its folder; `sdks` are those among them that the SDK's own memory began, as far as that
    is known. The id itself serves if it is a plain lower-case file name, or if the SDK made a file of that name; else a
    slug of it with a hash. A `source` of "group" has the hash unless the SDK began that file, so that a group and a
    session of one name are two rollouts. An id never gets the name that another one has, also where a file system takes
    `A` and `a`, or two Unicode forms of a letter, for the same.
    """
    name = f"{rollout_id}.jsonl"
    ours = _HASHED.fullmatch(rollout_id) is not None
    if _SDKS.fullmatch(rollout_id) and not ours and name in (sdks if source == "group" else {*existing, *sdks}):
        return rollout_id
    plain = _PLAIN.fullmatch(rollout_id) and not _RESERVED.fullmatch(rollout_id) and not rollout_id.endswith(".")
    taken = any(other != name and other.casefold() == name for other in (*existing, *sdks))
    if plain and not ours and not taken and source != "group":
        return rollout_id
    seed = f"group\0{rollout_id}" if source == "group" else rollout_id
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug(rollout_id)}--{digest}"


def slug(text: str) -> str:
    """Up to 40 lower-case ASCII letters, digits and hyphens of the text; `rollout` where it has none."""
    return "-".join(ascii_words(text))[:40].strip("-") or "rollout"
