"""Tells a file that we wrote from one that a person has edited since: a header line holds the digest of the rest."""

from __future__ import annotations

import hashlib
import re

_LINE = re.compile(r"^(?:  )?written: \"?([0-9a-f]{16})\"?\r?\n", re.M)


def signed(text: str, *, below: str = "") -> bytes:
    """The file's bytes, with the header line `written:` as the last line before its first blank line.

    With `below`, the first line of that text is followed by it instead, indented: the entry of a YAML mapping.
    """
    if below:
        head, key, body = text.partition(f"\n{below}\n")
        return f'{head}{key}  written: "{_digest(text)}"\n{body}'.encode("utf-8", "replace")
    head, blank, body = text.partition("\n\n")
    return f"{head}\nwritten: {_digest(text)}{blank or chr(10)}{body}".encode("utf-8", "replace")


def is_ours(data: bytes) -> bool:
    """True if the file stands as it was signed, whatever its line endings, with a byte order mark or without."""
    return bool(signature(data))


def signature(data: bytes) -> str:
    """The digest by which the file is signed; empty if it does not stand as it was signed."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    found = _LINE.search(text.partition("\n\n")[0] + "\n") or _LINE.search(text)
    return found[1] if found is not None and _digest(text.replace(found[0], "", 1)) == found[1] else ""


def _digest(text: str) -> str:
    plain = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:16]
