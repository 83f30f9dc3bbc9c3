"""Secrets that are known by the address or the command around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .masks import Masked, Span
from .placeholders import bare
from .tokens import varied

_PIECE = 4
"""Letters and digits beside a placeholder that are no mere rest of a sentence."""


def _always(_: str) -> bool:
    return True


_EMPTY = frozenset(("password", "pass", "passwd", "pwd", "pw", "secret", "token", "xxx", "xxxx", "...", "user", "null"))


def real(value: str) -> bool:
    """False for what stands in an address or a command where a secret would be."""
    if (left := bare(value)) != value:
        return sum(map(str.isalnum, left)) >= _PIECE
    word = value.lower().strip("`'\").,;:!?！）。，")
    return bool(word.strip("x")) and word not in _EMPTY and value[0] not in "$<{%[*-" and "{" not in value


def _mixed(value: str) -> bool:
    """True for a word of letters with a digit in it: what stands where a word might too."""
    return len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and real(value)


@dataclass(frozen=True)
class _Form:
    """`kind`, bytes that must be there, in lower case, and the pattern: group 1 is the secret, if `accept` says so."""

    kind: str
    needs: bytes
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = _always


_VALUE = r"\\{0,2}[\"']?([^\s\"'\\`，。；！）」]{1,128})"
_COMMANDS = (
    ("u", "curl", "curl", r"(?:-[a-zA-Z]{0,6}u|--user|--proxy-user)[ =]{0,2}\\{0,2}[\"']?[^\s:\"'\\]{1,128}:"),
    ("p", "mysql", "mysql(?:dump|admin|import|show|check)?", r"-p(?![\s-])"),
    ("p", "mariadb", "mariadb(?:-dump|-admin)?", r"-p(?![\s-])"),
    ("p", "sshpass", "sshpass", r"-p[ \t]{0,4}"),
    ("a", "redis-cli", "redis-cli", r"-a[ \t]{1,4}"),
    (
        " -p",
        "login",
        "(?:docker|podman|az|oc|registry|helm|nerdctl|buildah|skopeo) (?:registry )?login",
        r"-p[ \t]{1,4}",
    ),
    ("p", "mongo", "mongo(?:sh|dump|restore|export|import)?", r"-p[ \t]{1,4}"),
    ("p", "sqlcmd", "sqlcmd", r"-P[ \t]{0,4}"),
    ("u", "smbclient", "smbclient", r"-U[ \t]{0,4}\\{0,2}[\"']?[^\s%\"']{1,64}%"),
    ("p", "zip", "(?:unzip|zip)", r"-P[ \t]{1,4}"),
    ("k", "openssl", "openssl", r"-[kK][ \t]{1,4}"),
    ("p", "user", "user(?:add|mod)", r"(?:-p|--password)[ \t]{1,4}"),
    ("p", "7z", "7z[ar]?", r"-p(?!ass\b)(?![\s-])"),
    ("p", "rar", "(?:un)?rar", r"-p(?!ass\b)(?![\s-])"),
    ("w", "ldap", "ldap(?:search|modify|add|delete|passwd|whoami|modrdn|compare)", r"-w[ \t]{1,4}"),
    ("n", "ssh-keygen", "ssh-keygen", r"-[NP][ \t]{1,4}"),
    ("p", "mosquitto", "mosquitto_(?:pub|sub)", r"-P[ \t]{1,4}"),
    ("u", "lftp", "lftp", r"-u[ \t]{1,4}\\{0,2}[\"']?[^\s,\"']{1,64},"),
    ("/user:", "net use", "net use", r"\S*[\\/]\S*[ \t]{1,4}(?=\S+\s+/user:)"),
)
"""Bytes of the option and of the command that must be there, the command, and the option before its secret."""


def _command(name: str, option: str) -> re.Pattern[str]:
    """A command and its option on one logical line, with other arguments between but not the command's name again."""
    between = rf"(?:(?!\b(?:{name})\b)[^\n|;&\\]|\\[\s\S]){{0,200}}?"
    return re.compile(rf"(?<![\w-])(?:{name})\b{between}\s{option}{_VALUE}")


_COMMAND_FORMS = tuple(
    (
        gate.encode(),
        tuple(
            _Form("password", need.encode(), _command(name, option), real)
            for of, need, name, option in _COMMANDS
            if of == gate
        ),
    )
    for gate in dict.fromkeys(gate for gate, *_ in _COMMANDS)
)


def _form(kind: str, needs: str, pattern: str, accept: Callable[[str], bool] = _always) -> _Form:
    return _Form(kind, needs.encode(), re.compile(pattern), accept)


_ECHO = r"\b(?:echo|printf)[ \t]{1,4}(?:-n[ \t])?"
_PIPE = r"\\?\s?[\\\"']{0,3}[ \t]{0,4}\|[ \t]{0,4}"
_PROMPT = r"(?:^|[\n;&|$#>`\"'(] {0,2}|sudo |run |Run |exec )"
_FLAGS = r"(?:-(?!\w*b)\w+\s+(?:\d{1,2}\s+)?){0,4}"
_QUOTED = r"\\{0,2}['\"]([^'\"\n]{3,128}?)\\{0,2}['\"]"
_WEBHOOKS = (
    _form("webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})"),
    _form("webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,21}/([\w-]{40,})"),
    _form("webhook", "webhook.office", r"webhook\.office\.com/webhookb2/([\w@-]{40,}/IncomingWebhook/[\w/-]{40,})"),
    _form("webhook", "cgi-bin/webhook", r"/cgi-bin/webhook/send\?key=([\w-]{20,})"),
    _form("webhook", "open-apis/bot", r"/open-apis/bot/v2/hook/([\w-]{20,})"),
)
_ADDRESSES = (
    _form("url-password", "://", r"://[^\s/?#:\"'<>`]{0,128}:((?!\d{2,5}[#?])[^\s/?\"'<>`]{3,256})@", real),
    _form("url-password", "://", r"://([A-Za-z0-9_-]{20,256})(?=@[\w.-])", varied),
)
_WITH_PASSWD = (
    _form("password", "chpasswd", rf"{_ECHO}\\{{0,2}}[\"']?[^\s:\"']{{1,64}}:{_VALUE}{_PIPE}(?:sudo )?chpasswd"),
    _form(
        "password",
        "chpasswd",
        rf"chpasswd[^\n<]{{0,20}}<<<?[ ]?[\"']?(?:\w{{1,16}}[\"']?\n)?[^\s:\"']{{1,64}}:{_VALUE}",
        real,
    ),
    _form("password", "passwd ", rf"{_PROMPT}passwd (?!-)[\w.@-]{{1,32}} {_VALUE}(?=[\s\"'`;&|]|$)", _mixed),
    _form(
        "password",
        "htpasswd",
        rf"\bhtpasswd\s+{_FLAGS}-(?=\w*b)(?!\w*n)\w+\s+{_FLAGS}[^\s-]\S*\s+[^\s-]\S*\s+{_VALUE}",
        real,
    ),
    _form("password", "htpasswd", rf"\bhtpasswd\s+{_FLAGS}-(?=\w*b)(?=\w*n)\w+\s+{_FLAGS}[^\s-]\S*\s+{_VALUE}", real),
)
_HASHED = r"(\$[156y]\$(?:rounds=\d{1,9}\$|\w{1,8}\$(?=[\w./]{1,40}\$))?[\w./]{1,40}\$[\w./]{22,86})(?![\w./])"
_LISTED = r"[\"']sshpass[\"'],[ ]?[\"']-p[\"'],[ ]?[\"']([^\"'\n]{4,128})[\"']"
_WITH_PASS = (
    _form("password", "sshpass", _LISTED, real),
    _form(
        "password", "wpa_passphrase", rf"\bwpa_passphrase\s+(?:[\"'][^\"'\n]{{1,32}}[\"']|\S{{1,32}})\s+{_VALUE}", real
    ),
    _form("password", "nmcli", rf"\bnmcli\b[^\n]{{0,120}}?\spassword\s+{_VALUE}", real),
    _form("password", " pass:", rf"\s-pass(?:in|out)?\s{{1,8}}[\"']?pass:{_VALUE}", real),
    _form("password", "login", r"\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(\S{1,128})", real),
)
_OTHERS = (
    _form("password", "$6$", _HASHED),
    _form("password", "net user ", rf"(?i)\bnet user [\"']?[\w.$-]{{1,64}}[\"']?[ ]{{1,4}}(?!/){_VALUE}", real),
    _form("npm-token", ":_auth", r":_auth(?:Token)?[ \t]?=[ \t]*\"?([^\s$\"']{6,256})"),
    _form(
        "password", "identified", rf"(?i)\bidentified\s{{1,4}}(?:with\s\S{{1,40}}\s)?by\s(?:password\s)?{_QUOTED}", real
    ),
    _form(
        "password", "securestring", r"(?i)convertto-securestring\s{1,4}(?:-string\s{1,4})?[\"']([^\"'$\n]{3,128})[\"']"
    ),
)


_SUDO = (_form("password", "sudo", rf"{_ECHO}{_VALUE}{_PIPE}sudo\s[^\n]{{0,40}}?-S\b", real),)
_GROUPS = (
    (b"pass", _WITH_PASS),
    (b"://", _ADDRESSES),
    (b"hook", _WEBHOOKS),
    *((form.needs, (form,)) for form in _OTHERS),
    *((gate, group) for gate, group in _COMMAND_FORMS if len(gate) > 1),
)
"""Bytes that must be there, in lower case, for any of the forms after them."""
_OPTION = re.compile(rb" -(-?[a-z]{1,8})")
_OF_OPTION = {**{gate: group for gate, group in _COMMAND_FORMS if len(gate) == 1}, b"s": _SUDO}
"""The forms of commands by the letter of the option before their secret, in lower case."""


def _letters(option: bytes) -> bytes:
    """The letters by which the forms are kept that an option may be of: `-p`, `-pX`, `-sSu`, `--proxy-user`."""
    if option[:1] == b"-":
        return {b"-user": b"u", b"-proxy": b"u", b"-passwor": b"p"}.get(option, b"")
    return option[:1] + (b"u" if option[-1:] == b"u" else b"")


def forms(masked: Masked) -> Iterator[Span]:
    """The spans of what stands in an address or a command where a secret does; spans may overlap."""
    lower = masked.lower
    groups = [group for needed, group in _GROUPS if needed in lower]
    letters = {letter for option in set(_OPTION.findall(lower)) for letter in _letters(option)}
    groups += [_OF_OPTION[of] for letter in letters if (of := bytes((letter,))) in _OF_OPTION]
    if _WITH_PASS in groups and b"passwd" in lower:
        groups.append(_WITH_PASSWD)
    for group in groups:
        for form in group:
            if form.needs in lower:
                for match in form.pattern.finditer(masked.spaced):
                    if form.accept(match[1]):
                        yield *match.span(1), form.kind
