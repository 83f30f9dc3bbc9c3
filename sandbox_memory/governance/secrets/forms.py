"""Secrets that are known by the address or the command around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .masks import Masked, Span
from .tokens import varied


def _always(_: str) -> bool:
    return True


_EMPTY = frozenset(("password", "pass", "passwd", "pwd", "pw", "secret", "token", "xxx", "xxxx", "...", "user", "null"))


def real(value: str) -> bool:
    """False for what stands in an address or a command where a secret would be."""
    bare = value.lower().strip("`'\").,;:!?！）。，")
    return bool(bare.strip("x")) and bare not in _EMPTY and value[0] not in "$<{%[*⟦-" and "{" not in value


@dataclass(frozen=True)
class _Form:
    """`kind`, bytes that must be there, in lower case, and the pattern: group 1 is the secret, if `accept` says so."""

    kind: str
    needs: bytes
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = _always


_VALUE = r"\\{0,2}[\"']?([^\s\"'\\`，。；！）」]{1,128})"
_OPTIONS = (b" -p", b" -u", b"-user", b"/user:", b"redis-cli")
_COMMANDS = (
    ("curl", "curl", r"(?:-[a-zA-Z]{0,6}u|--user|--proxy-user)[ =]{0,2}\\{0,2}[\"']?[^\s:\"'\\]{1,128}:"),
    ("mysql", "mysql(?:dump|admin|import|show|check)?", r"-p(?![\s-])"),
    ("mariadb", "mariadb(?:-dump|-admin)?", r"-p(?![\s-])"),
    ("sshpass", "sshpass", r"-p[ \t]{0,4}"),
    ("redis-cli", "redis-cli", r"-a[ \t]{1,4}"),
    ("login", "(?:docker|podman|az|oc|registry|helm|nerdctl|buildah|skopeo) (?:registry )?login", r"-p[ \t]{1,4}"),
    ("mongo", "mongo(?:sh|dump|restore|export|import)?", r"-p[ \t]{1,4}"),
    ("sqlcmd", "sqlcmd", r"-P[ \t]{0,4}"),
    ("smbclient", "smbclient", r"-U[ \t]{0,4}\\{0,2}[\"']?[^\s%\"']{1,64}%"),
    ("zip", "(?:unzip|zip)", r"-P[ \t]{1,4}"),
    ("net use", "net use", r"\S*[\\/]\S*[ \t]{1,4}(?=\S+\s+/user:)"),
)
"""Bytes that must be there, the command, and the option before its secret."""


def _command(name: str, option: str) -> re.Pattern[str]:
    """A command and its option on one logical line, with other arguments between but not the command's name again."""
    between = rf"(?:(?!\b(?:{name})\b)[^\n|;&\\]|\\[\s\S]){{0,200}}?"
    return re.compile(rf"(?<![\w-])(?:{name})\b{between}\s{option}{_VALUE}")


_COMMAND_FORMS = tuple(
    _Form("password", need.encode(), _command(name, option), real) for need, name, option in _COMMANDS
)


def _form(kind: str, needs: str, pattern: str, accept: Callable[[str], bool] = _always) -> _Form:
    return _Form(kind, needs.encode(), re.compile(pattern), accept)


_ECHO = r"\b(?:echo|printf)[ \t]{1,4}(?:-n[ \t])?"
_PIPE = r"[\\\"']{0,3}[ \t]{0,4}\|[ \t]{0,4}"
_QUOTED = r"\\{0,2}['\"]([^'\"\n]{3,128}?)\\{0,2}['\"]"
_ADDRESSES = (
    _form("url-password", "://", r"://[^\s/?#:\"'<>`]{0,128}:([^\s/?#\"'<>`]{3,256})@", real),
    _form("url-password", "://", r"://([A-Za-z0-9_-]{20,256})(?=@[\w.-])", varied),
    _form("webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})"),
    _form("webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,21}/([\w-]{40,})"),
    _form("webhook", "webhook.office", r"webhook\.office\.com/webhookb2/([\w@-]{40,}/IncomingWebhook/[\w/-]{40,})"),
    _form("webhook", "cgi-bin/webhook", r"/cgi-bin/webhook/send\?key=([\w-]{20,})"),
    _form("webhook", "open-apis/bot", r"/open-apis/bot/v2/hook/([\w-]{20,})"),
)
_WITH_PASS = (
    _form("password", "chpasswd", rf"{_ECHO}\\{{0,2}}[\"']?[^\s:\"']{{1,64}}:{_VALUE}{_PIPE}(?:sudo )?chpasswd"),
    _form("password", " pass:", rf"\s-pass(?:in|out)?\s{{1,8}}[\"']?pass:{_VALUE}", real),
    _form("password", "login", r"\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(\S{1,128})", real),
)
_OTHERS = (
    _form("npm-token", ":_auth", r":_auth(?:Token)?[ \t]?=[ \t]*\"?([^\s$\"']{6,256})"),
    _form("password", "sudo", rf"{_ECHO}{_VALUE}{_PIPE}sudo\s[^\n]{{0,40}}?-S\b", real),
    _form(
        "password", "identified", rf"(?i)\bidentified\s{{1,4}}(?:with\s\S{{1,40}}\s)?by\s(?:password\s)?{_QUOTED}", real
    ),
    _form(
        "password", "securestring", r"(?i)convertto-securestring\s{1,4}(?:-string\s{1,4})?[\"']([^\"'$\n]{3,128})[\"']"
    ),
)


def forms(masked: Masked) -> Iterator[Span]:
    """The spans of what stands in an address or a command where a secret does; spans may overlap."""
    lower = masked.lower
    candidates = list(_OTHERS)
    if b"pass" in lower:
        candidates += _WITH_PASS
    if b"://" in lower:
        candidates += _ADDRESSES
    if any(option in lower for option in _OPTIONS):
        candidates += _COMMAND_FORMS
    for form in candidates:
        if form.needs in lower:
            for match in form.pattern.finditer(masked.spaced):
                if form.accept(match[1]):
                    yield *match.span(1), form.kind
