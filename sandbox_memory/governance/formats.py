"""Secrets that are known by their own form: vendors' tokens, private keys, passwords in addresses and commands."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

Span = tuple[int, int, str]
"""Where a secret stands in a text, start and end, and its kind."""

_EDGES = " \t\r\n=:\"'"
TOKEN_CHARACTER = re.compile(r"[A-Za-z0-9_-]*")


def _always(_: str) -> bool:
    return True


def varied(value: str) -> bool:
    """True for a run that no word or identifier looks like: digits between letters of both cases, or many digits."""
    digits = sum(map(str.isdigit, value))
    return digits >= 2 and (digits * 5 >= len(value) or (value.lower() != value and value.upper() != value))


def _long_run(value: str) -> bool:
    """True if a stretch between hyphens is too long for a word: hyphenated names begin like some keys."""
    longest = max(re.split(r"[_-]", value), key=len)
    return len(longest) >= 20 or (len(longest) >= 12 and any(map(str.isdigit, value)))


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _snowflake(value: str) -> bool:
    """Discord's tokens begin with the bot's numeric id in base64."""
    head = value.split(".", 1)[0]
    try:
        return base64.b64decode(head + "=" * (-len(head) % 4)).decode("ascii").isdigit()
    except ValueError:
        return False


def _is_jwt(value: str) -> bool:
    from detect_secrets.plugins import jwt

    return jwt.JwtTokenDetector.is_formally_valid(".".join(value.split(".")[:2]))


@dataclass(frozen=True)
class Format:
    """One form of secret: its kind, substrings of which one must be there, and the pattern.

    The span is group `group` of the match, grown to the end of the run of token characters when `grow`. A match that
    continues a longer word to the left is none, unless `inside`; `accept` judges the text of the span.
    """

    kind: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int = 0
    grow: bool = True
    inside: bool = False
    accept: Callable[[str], bool] = _always

    def find(self, text: str) -> Iterator[Span]:
        """The spans of this form in the text, which holds one of `needs`. Linear in its length."""
        for match in self.pattern.finditer(text):
            start, end = match.span(self.group)
            while start < end and text[start] in _EDGES:
                start += 1
            while start < end and text[end - 1] in _EDGES:
                end -= 1
            if start >= end:
                continue
            if not self.inside and start and text[start - 1].isalnum() and text[start].isalnum():
                continue
            if self.grow and (more := TOKEN_CHARACTER.match(text, end)):
                end = more.end()
            if self.accept(text[start:end]):
                yield start, end, self.kind


def _of(
    detector: type[RegexBasedDetector],
    kind: str,
    *needs: str,
    first: int | None = None,
    grow: bool = True,
    inside: bool = False,
    accept: Callable[[str], bool] = _always,
) -> list[Format]:
    """The first so many patterns of a `detect-secrets` plugin; its verification, which asks the vendor, is never used.

    Left out are the plugins that look for a name before the secret, which `assignments` does for any name.
    """
    patterns: list[re.Pattern[str]] = list(detector.denylist)[:first]  # type: ignore[call-overload]  # a property there
    return [Format(kind, needs, pattern, 0, grow, inside, accept) for pattern in patterns]


def _own(kind: str, prefix: str, rest: str, *, flags: int = 0, accept: Callable[[str], bool] = _always) -> list[Format]:
    # The prefix stands first, what may not precede it after it: a search for a literal is many times faster.
    literal = re.escape(prefix)
    pattern = re.compile(rf"{literal}(?<![A-Za-z0-9]{literal}){rest}", flags)
    return [Format(kind, (prefix,), pattern, accept=accept)]


_VALUE = r"[\"']?([^\s\"']{1,128})"


def _command(name: str, option: str) -> str:
    """A command and its option on one logical line, with other arguments between but not the command's name again."""
    return rf"\b{name}\b(?:(?!\b{name}\b)[^\n|;&\\]|\\[\s\S]){{0,200}}?\s{option}{_VALUE}"


def _around(kind: str, needs: tuple[str, ...], pattern: str, accept: Callable[[str], bool] = _always) -> list[Format]:
    """A secret known by what stands before it: group 1 is the secret."""
    return [Format(kind, needs, re.compile(pattern), group=1, grow=False, inside=True, accept=accept)]


_PLACEHOLDERS = frozenset(("password", "pass", "passwd", "pwd", "pw", "secret", "token", "xxx", "xxxx", "..."))


def _real(value: str) -> bool:
    """False for what stands in an address or a command where a secret would be."""
    return value.lower() not in _PLACEHOLDERS and value[0] not in "$<{%[*⟦" and "{" not in value


_ARTIFACTORY = tuple("AP" + character for character in "0123456789ABCDEF")
_GITLAB = tuple(
    "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- GR1348941".split(),
)


@lru_cache(maxsize=1)
def formats() -> tuple[Format, ...]:
    """Every form. Made at its first use: importing `detect-secrets`, which brings an HTTP client, takes long."""
    from detect_secrets.plugins import (
        artifactory,
        aws,
        azure_storage_key,
        discord,
        github_token,
        gitlab_token,
        mailchimp,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    return tuple(
        form
        for forms in (
            _of(
                artifactory.ArtifactoryDetector,
                "artifactory",
                "AKC",
                *_ARTIFACTORY,
                grow=False,
                inside=True,
                accept=varied,
            ),
            _of(aws.AWSKeyDetector, "aws-key", "AKIA", "ASIA", "ABIA", "ACCA", "A3T", first=1),
            _of(azure_storage_key.AzureStorageKeyDetector, "azure-key", "AccountKey=", grow=False),
            _of(discord.DiscordBotTokenDetector, "discord-token", ".", accept=_snowflake),
            _of(github_token.GitHubTokenDetector, "github-token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", inside=True),
            _of(gitlab_token.GitLabTokenDetector, "gitlab-token", *_GITLAB, inside=True),
            _of(mailchimp.MailchimpDetector, "mailchimp-key", "-us"),
            _of(pypi_token.PypiTokenDetector, "pypi-token", "pypi-", inside=True),
            _of(sendgrid.SendGridDetector, "sendgrid-key", "SG."),
            _of(slack.SlackDetector, "slack-token", "xox", "XOX", "hooks.slack.com", inside=True),
            _of(square_oauth.SquareOAuthDetector, "square-token", "sq0csp-"),
            _of(stripe.StripeDetector, "stripe-key", "k_live_"),
            _of(telegram_token.TelegramBotTokenDetector, "telegram-token", ":", accept=varied),
            _of(twilio.TwilioKeyDetector, "twilio-key", "AC", "SK", accept=varied),
            _own("jwt", "eyJ", r"[\w=-]{4,}\.[\w=-]{4,}(?:\.[\w.+/=-]*)?", flags=re.ASCII, accept=_is_jwt),
            _own("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,}"),
            _own("openai-key", "sk-proj-", r"[A-Za-z0-9_-]{20,}"),
            _own("openai-key", "sk-svcacct-", r"[A-Za-z0-9_-]{20,}"),
            _own("openai-key", "sk-admin-", r"[A-Za-z0-9_-]{20,}"),
            _own("api-key", "sk-", r"[A-Za-z0-9_-]{18,}", accept=_long_run),
            *(
                _own("stripe-key", f"{kind}k_{mode}_", r"[0-9a-zA-Z]{10,}")
                for kind in "sr"
                for mode in ("live", "test")
            ),
            _own("stripe-key", "whsec_", r"[0-9a-zA-Z+/=]{24,}"),
            _own("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
            _own("slack-token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
            _own("slack-token", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}", accept=_has_digit),
            _own("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
            _own("google-key", "AIza", r"[0-9A-Za-z_-]{35}"),
            _own("google-token", "ya29.", r"[0-9A-Za-z_-]{20,}"),
            _own("google-key", "GOCSPX-", r"[0-9A-Za-z_-]{24,}"),
            _own("huggingface-token", "hf_", r"[A-Za-z0-9]{30,}"),
            _own("groq-key", "gsk_", r"[A-Za-z0-9]{32,}"),
            _own("xai-key", "xai-", r"[A-Za-z0-9]{40,}"),
            _own("perplexity-key", "pplx-", r"[A-Za-z0-9]{32,}"),
            _own("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{40,}"),
            _own("replicate-token", "r8_", r"[A-Za-z0-9]{32,}"),
            _own("docker-token", "dckr_", r"(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
            _own("digitalocean-token", "do", r"[opr]_v1_[a-f0-9]{64}"),
            _own("shopify-token", "shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
            _own("linear-key", "lin_api_", r"[A-Za-z0-9]{32,}"),
            _own("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
            _own("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{40,}"),
            _own("figma-token", "figd_", r"[A-Za-z0-9_-]{30,}"),
            _own("supabase-key", "sbp_", r"[a-f0-9]{40}"),
            _own("vault-token", "hvs.", r"[A-Za-z0-9_-]{24,}"),
            _own("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}"),
            _own("mailgun-key", "key-", r"[0-9a-f]{32}\b"),
            _around("npm-token", ("_authToken", "_auth"), r":_auth(?:Token)?=[ \t]*([^\s$\"']{6,256})"),
            _around("url-password", ("://",), r"://[^\s/?#:@\"'<>`]{0,128}:([^\s/?#\"'<>`]{3,256})@", _real),
            _around("url-password", ("://",), r"://([A-Za-z0-9_-]{20,256})(?=@[\w.-])", varied),
            _around("password", ("curl",), _command("curl", r"(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,128}:"), _real),
            _around("password", ("mysql",), _command("mysql(?:dump|admin|import)?", r"-p(?![\s-])"), _real),
            _around("password", ("sshpass",), rf"\bsshpass\s+-p\s{{0,4}}{_VALUE}", _real),
            _around("password", ("redis-cli",), _command("redis-cli", r"-a\s{1,4}"), _real),
            _around("password", ("login",), _command("(?:docker|podman|az|oc|registry) login", r"-p\s{1,4}"), _real),
            _around(
                "password",
                ("sudo",),
                rf"\b(?:echo|printf)\s{{1,4}}{_VALUE}[\"']?\s{{0,4}}\|\s{{0,4}}sudo\s[^\n]{{0,40}}?-S\b",
                _real,
            ),
            _around("password", ("pass:",), rf"\s-pass(?:in|out)?\s+[\"']?pass:{_VALUE}", _real),
        )
        for form in forms
    )


@lru_cache(maxsize=1)
def _needs() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Each substring that some forms need, with those forms."""
    places: dict[str, list[int]] = {}
    for place, form in enumerate(formats()):
        for need in form.needs:
            places.setdefault(need, []).append(place)
    return tuple((need, tuple(found)) for need, found in places.items())


_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{2,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY_LINE = r"[^A-Za-z0-9\n]{0,8}(?:[A-Za-z][A-Za-z-]{2,20}: [^\n]{0,80}|[A-Za-z0-9+/=]{0,80})[^A-Za-z0-9\n]{0,8}"
_BODY = re.compile(rf"(?:(?:\r?\n|\\r|\\n){_BODY_LINE}(?=\r?\n|\\r|\\n|$))*")
_BODY_ONLY = re.compile(r"\s*[A-Za-z0-9+/=]{16,80}\s*")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{24}")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}\s+((?:[A-Za-z0-9+/=]{8,80}\s+)+)")
_MAXIMUM_KEY = 20_000


def _start_of_body(text: str, end: int) -> int:
    """Where the lines of base64 begin that stand directly before `end`; `end` if there are none."""
    start, limit = end, max(0, end - _MAXIMUM_KEY)
    while start > limit:
        line = text.rfind("\n", limit, start - 1) + 1 or limit
        if not _BODY_ONLY.fullmatch(text, line, start):
            break
        start = line
    return start


def private_keys(text: str) -> Iterator[Span]:
    """The spans of private key blocks, also of one whose first or last line is cut off.

    The mere marker, as code and documentation name it, is no key: a run of 24 base64 characters must be inside.
    """
    if "PRIVATE KEY" in text:
        after = 0
        for begin in _BEGIN.finditer(text):
            following = text.find("-----BEGIN ", begin.end(), begin.end() + _MAXIMUM_KEY)
            limit = following if following >= 0 else begin.end() + _MAXIMUM_KEY
            end = _END.search(text, begin.end(), limit)
            body = _BODY.match(text, begin.end(), limit)
            stop = end.end() if end else body.end() if body else begin.end()
            if _KEY_MATERIAL.search(text, begin.end(), stop):
                yield begin.start(), stop, "private-key"
                after = stop
        for end in _END.finditer(text):
            if end.start() >= after and (start := _start_of_body(text, end.start())) < end.start():
                yield start, end.end(), "private-key"
    if "Private-Lines: " in text:
        for match in _PUTTY.finditer(text):
            yield *match.span(1), "private-key"


def known_forms(text: str) -> Iterator[Span]:
    """The spans of everything in the text that is a secret by its form; spans may overlap."""
    due = {place for need, places in _needs() if need in text for place in places}
    for place in due:
        yield from formats()[place].find(text)
    yield from private_keys(text)
