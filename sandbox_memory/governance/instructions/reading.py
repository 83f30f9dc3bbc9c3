"""What a text says to a reader: without what cannot be seen, and with the common encodings undone."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from ...characters import UNSEEN

WHOLE = 2_000
"""Characters of a text up to which it is also read backwards and letter for letter."""

INVISIBLE = re.compile(f"[{UNSEEN}]")
_LOOKS_LIKE = str.maketrans(
    "авекмнорстухіјѕԁɡӏΑΒΕΗΙΚΜΝΟΡΤΧΥΖοαερτυνι",
    "abekmhopctyxijsdglABEHIKMNOPTXYZoaeptuvi",
)
"""Cyrillic and Greek letters in the place of the Latin ones that they look like."""
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-_*]){5,}[^\W\d_](?![^\W_])")
_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![A-Za-z0-9+/=])")
_BINARY = re.compile(r"(?<![01])(?:[01]{8}[ \t]+){3,2000}[01]{8}(?![01])")
_TAG_LETTERS = re.compile("[\U000e0020-\U000e007e]+")


def readings(text: str) -> Iterator[str]:
    """The text as a reader takes it: without what cannot be seen, look-alikes as what they look like."""
    hidden = "".join(chr(ord(letter) - 0xE0000) for run in _TAG_LETTERS.findall(text) for letter in run)
    if "&" in text:
        text = html.unescape(text)
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'").replace("‘", "'")
    text = text.replace("“", '"').replace("”", '"')
    text = re.sub(r"[^\S\n]+", " ", text)
    yield text
    if hidden:
        yield hidden
    if re.search("[Ѐ-ӿͰ-Ͽɡԁ]", text) and re.search("[A-Za-z]", text):
        yield text.translate(_LOOKS_LIKE)
    if _SPACED.search(text):
        wide = re.sub(r"\s{2,}", "\0", text)
        yield _SPACED.sub(lambda match: re.sub(r"[ .\-_*]", "", match.group()), wide).replace("\0", " ")
    if re.search(r"[A-Za-z][0134579@$][A-Za-z]", text):
        yield text.translate(str.maketrans("0134579@$", "oieastgas"))
    if "\n" in text:
        yield " ".join(text.split())


_KEYS = re.compile(
    "ignore|disregard|forget|instruct|prompt|system|admin|password|send|forward|delete|reveal|忽略|指令|删除|发送",
    re.IGNORECASE,
)
"""A word of these has every decoded text that is worth a second look."""


def decoded(text: str) -> Iterator[str]:
    """What the text says when the common encodings are undone: of all of it, or of runs that look encoded."""
    found = [decode(run) for run in _BLOB.findall(text)[:20] for decode in (_base64, _base32, _hex)]
    if text.count("%") > 4:
        found.append(unquote(text))
    if "\\u0" in text:
        found.append(re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text))
    found += [bytes(int(octet, 2) for octet in run.split()).decode("latin-1") for run in _BINARY.findall(text)[:5]]
    if len(text) <= WHOLE:
        found += [codecs.decode(text, "rot13"), text[::-1]]
    yield from (plain for plain in found if _KEYS.search(plain) and _is_prose(plain))


def _is_prose(text: str) -> bool:
    return sum(char.isalnum() or char in " .,:;!?'\"@/-\n" for char in text) > 0.85 * len(text)


def _base64(run: str) -> str:
    try:
        run = run.rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _base32(run: str) -> str:
    try:
        run = run.rstrip("=")
        return base64.b32decode(run + "=" * (-len(run) % 8)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _hex(run: str) -> str:
    try:
        return bytes.fromhex(run).decode("utf-8")
    except ValueError:
        return ""
