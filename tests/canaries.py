"""Secrets made when a test runs, random and valid, of every kind; and near misses of each, which must stay.

None is a token of a vendor: each is assembled here, so that no scanner takes these files for a leak.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

LOWER = "abcdefghijkmnpqrstuvwxyz"
ALNUM = LOWER + LOWER.upper() + "23456789"
HEX = "0123456789abcdef"


@dataclass(frozen=True)
class Canary:
    """`shown` as somebody writes it; `secret` is the part of it that must be nowhere."""

    kind: str
    shown: str
    secret: str


def some(rng: Random, count: int, letters: str = ALNUM) -> str:
    """That many of the letters, digits and letters of both cases among them where the letters have them."""
    while True:
        made = "".join(rng.choice(letters) for _ in range(count))
        both = letters is not ALNUM or (made.lower() != made and made.upper() != made)
        if both and (count < 12 or letters is LOWER or sum(map(str.isdigit, made)) >= 3):
            return made


def digits(rng: Random, count: int) -> str:
    return some(rng, count, "123456789")


def password(rng: Random) -> str:
    return some(rng, 9) + rng.choice("!*+") + some(rng, 3)


def b64url(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def bytes_of(rng: Random, count: int) -> bytes:
    return bytes(rng.randrange(256) for _ in range(count))


def jwt(rng: Random) -> str:
    claims = {"sub": some(rng, 8), "iat": rng.randrange(10**9)}
    return ".".join((b64url({"alg": "HS256", "typ": "JWT"}), b64url(claims), b64url(bytes_of(rng, 32))))


def pem(rng: Random, name: str = "RSA PRIVATE KEY") -> str:
    body = base64.b64encode(bytes_of(rng, 300)).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----"


def luhn(digits: str) -> str:
    """The digits with the check digit after them."""
    total = sum(int(d) if n % 2 else int(d) * 2 - 9 * (int(d) > 4) for n, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def card(rng: Random, prefix: str = "4", length: int = 16) -> str:
    return luhn(prefix + some(rng, length - 1 - len(prefix), "0123456789"))


def grouped(number: str, sep: str = " ") -> str:
    return sep.join(number[at : at + 4] for at in range(0, len(number), 4))


def resident(rng: Random) -> str:
    """A Chinese resident id, GB 11643."""
    born = f"{rng.randrange(1950, 2010)}{rng.randrange(1, 13):02}{rng.randrange(1, 29):02}"
    seventeen = rng.choice(("110105", "310104", "440305", "510107")) + born + f"{rng.randrange(1000):03}"
    total = sum(int(digit) * (2 ** (17 - n) % 11) for n, digit in enumerate(seventeen))
    return seventeen + "10X98765432"[total % 11]


def spread(resident: str) -> str:
    return f"{resident[:6]} {resident[6:14]} {resident[14:]}"


def iban(rng: Random) -> str:
    bban = some(rng, 18, "0123456789")
    return f"DE{98 - int(bban + '131400') % 97:02}{bban}"


def social(rng: Random) -> str:
    return f"{rng.randrange(100, 650)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"


def hongkong(rng: Random) -> str:
    letter, digits = rng.choice("ABCDEFGHKMPRVYZ"), some(rng, 6, "0123456789")
    total = 36 * 9 + (ord(letter) - 55) * 8 + sum(int(d) * (7 - n) for n, d in enumerate(digits))
    check = -total % 11
    return f"{letter}{digits}({'A' if check == 10 else check})"


def aadhaar(rng: Random) -> str:
    from sandbox_memory.governance.secrets.numbers import _verhoeff

    eleven = rng.choice("23456789") + some(rng, 10, "0123456789")
    return next(eleven + digit for digit in "0123456789" if _verhoeff(eleven + digit))


def of(kind: str, shape: str, *secrets: Callable[[Random], str]) -> tuple[str, Callable[[Random], Canary]]:
    """A maker of canaries: the shape with `{}` for the secret, which is the first of what the makers give."""

    def make(rng: Random) -> Canary:
        made = [secret(rng) for secret in secrets]
        return Canary(kind, shape.format(*made), made[0])

    return kind, make


def token(prefix: str, count: int, letters: str = ALNUM) -> Callable[[Random], str]:
    return lambda rng: prefix + some(rng, count, letters)


def user(rng: Random) -> str:
    return some(rng, 6, LOWER)


KINDS: tuple[tuple[str, Callable[[Random], Canary]], ...] = (
    # cloud
    of("aws-access-key", "{}", token("AKIA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
    of("api-key", "AWS_SECRET_ACCESS_KEY={}", token("", 40)),
    of("alibaba-key", "{}", token("LTAI", 20)),
    of("google-key", "{}", token("AIza", 35)),
    of("digitalocean-token", "{}", token("dop_v1_", 64, HEX)),
    of("azure-secret", "{}", lambda rng: some(rng, 3) + "8Q~" + some(rng, 34)),
    of("api-key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==", token("", 86)),
    # model providers
    of("openai-key", "{}", token("sk-proj-", 48)),
    of("anthropic-key", "{}", token("sk-ant-api03-", 60)),
    of("api-key", "{}", token("sk-", 32, HEX)),
    of("huggingface-token", "{}", token("hf_", 34)),
    of("groq-key", "{}", token("gsk_", 52)),
    of("xai-key", "{}", token("xai-", 80)),
    of("perplexity-key", "{}", token("pplx-", 48)),
    # source hosts
    of("github-token", "{}", token("ghp_", 36)),
    of("github-token", "{}", token("github_pat_", 82)),
    of("gitlab-token", "{}", token("glpat-", 20)),
    of("bitbucket-token", "{}", token("ATBB", 32)),
    # chat
    of(
        "slack-token",
        "{}",
        lambda rng: f"xoxb-{some(rng, 12, '123456789')}-{some(rng, 12, '123456789')}-{some(rng, 24)}",
    ),
    of("telegram-token", "{}", lambda rng: f"{some(rng, 10, '123456789')}:AA{some(rng, 33)}"),
    of(
        "discord-token",
        "{}",
        lambda rng: f"{b64url(('1' + some(rng, 17, '0123456789')).encode())}.{some(rng, 6)}.{some(rng, 27)}",
    ),
    of(
        "webhook", "https://hooks.slack.com/services/{}", lambda rng: f"T{some(rng, 8)}/B{some(rng, 8)}/{some(rng, 24)}"
    ),
    # payment
    of("stripe-key", "{}", token("sk_live_", 24)),
    of("square-token", "{}", token("sq0atp-", 22)),
    of("shopify-token", "{}", token("shpat_", 32, HEX)),
    # mail
    of("sendgrid-key", "{}", lambda rng: f"SG.{some(rng, 22)}.{some(rng, 43)}"),
    of("mailgun-key", "{}", token("key-", 32, HEX)),
    of("mailchimp-key", "{}", lambda rng: some(rng, 32, HEX) + "-us12"),
    of("brevo-key", "{}", lambda rng: f"xkeysib-{some(rng, 64, HEX)}-{some(rng, 16)}"),
    # package registries
    of("npm-token", "{}", token("npm_", 36)),
    of("npm-token", "//registry.example/:_authToken={}", token("", 36)),
    of("pypi-token", "{}", token("pypi-AgEIcHlwaS5vcmc", 80)),
    of("rubygems-key", "{}", token("rubygems_", 48, HEX)),
    # tokens and keys of no vendor
    of("jwt", "{}", jwt),
    of("private-key", "{}", pem),
    of("private-key", "{}", lambda rng: pem(rng, "OPENSSH PRIVATE KEY")),
    of("private-key", "{}", lambda rng: pem(rng, "PGP PRIVATE KEY BLOCK")),
    # addresses, connections, headers
    of("url-password", "postgres://{1}:{0}@db.example:5432/app", password, user),
    of("url-password", "redis://:{}@cache.example/0", password),
    of("password", "Server=db;Database=x;User Id=sa;Password={};Encrypt=yes", password),
    of("authorization", "Authorization: Bearer {}", token("", 40)),
    of("authorization", "Authorization: Basic {}", lambda rng: b64url(f"{user(rng)}:{password(rng)}".encode())),
    of("cookie", "Cookie: session={}; theme=dark", token("", 32)),
    # names beside values
    of("password", "password={}", password),
    of("password", '"password": "{}"', password),
    of("password", "DB_PASSWORD='{}'", password),
    of("token", "export DEPLOY_TOKEN={}", token("", 24)),
    of("secret", "client_secret: {}", token("", 24)),
    of("password", "db:\n  user: app\n  password: {}\n", password),
    of("password", "my password is {}", password),
    of("password", "密码：{}", password),
    of("password", "数据库的密码是{}，", password),
    of("secret", "高德地图密钥是 {}", token("", 32, HEX)),
    of("token", "访问令牌为 {}", token("", 32)),
    of("password", "<password>{}</password>", password),
    of("password", 'os.environ.get("DB_PASSWORD", "{}")', password),
    of("api-key", "api_key = {}", token("", 32)),
    of("api-key", "X-Api-Key: {}", token("", 32, HEX)),
    of("api-key", '"key": "{}"', token("", 40)),
    of("password", "tool --password {}", password),
    of("token", "deploy --token {} --force", token("", 30)),
    of("password", "mysql -u root -p{} shop", password),
    of("password", "curl -u {1}:{0} https://api.example/v1", password, user),
    of("password", "sshpass -p {} ssh host", password),
    of("password", "docker login -u bob -p {} registry.example", password),
    of("password", "echo {} | sudo -S make install", password),
    # people and cards
    of("bank-card", "{}", card),
    of("bank-card", "{}", lambda rng: grouped(card(rng, "5" + rng.choice("12345")))),
    of("bank-card", "{}", lambda rng: grouped(card(rng, "4"), "-")),
    of("bank-card", "card {}", lambda rng: card(rng, "37", 15)),
    of("bank-card", "卡号 {}", lambda rng: card(rng, "62", 19)),
    of("bank-account", "{}", iban),
    of("bank-account", "{}", lambda rng: grouped(iban(rng))),
    of("national-id", "{}", resident),
    of("national-id", "身份证号：{}", resident),
    of("national-id", "{}", lambda rng: spread(resident(rng))),
    of("national-id", "SSN {}", social),
    of("national-id", "HKID {}", hongkong),
    of("national-id", "Aadhaar: {}", aadhaar),
)


def broken(number: str) -> str:
    """The number with its check digit wrong."""
    return number[:-1] + str((int(number[-1]) + 1 if number[-1].isdigit() else 1) % 10)


def uuid(rng: Random) -> str:
    return "-".join(some(rng, count, HEX) for count in (8, 4, 4, 4, 12))


# What is close to a secret of some kind, and none.
NEAR_MISSES: tuple[tuple[str, Callable[[Random], str]], ...] = (
    ("aws-access-key", lambda rng: "AKIA" + some(rng, 8, "ABCDEFGHIJ")),
    ("a commit", lambda rng: "commit " + some(rng, 40, HEX)),
    ("a short commit", lambda rng: some(rng, 7, HEX) + " fix the key of the cache"),
    ("sha256", lambda rng: "sha256:" + some(rng, 64, HEX)),
    ("an image", lambda rng: "registry.example/app@sha256:" + some(rng, 64, HEX)),
    ("integrity", lambda rng: f'"integrity": "sha512-{base64.b64encode(bytes_of(rng, 64)).decode()}"'),
    ("a module sum", lambda rng: f"example.org/x v1.2.3 h1:{base64.b64encode(bytes_of(rng, 32)).decode()}"),
    ("uuid", uuid),
    ("a call", lambda rng: f'"call_id": "call_{some(rng, 24)}"'),
    ("a tool use", lambda rng: f'"id": "toolu_{some(rng, 24)}"'),
    ("a request", lambda rng: f"request id req_{some(rng, 24)}"),
    ("ssh public key", lambda rng: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(rng, 43)} bob@host"),
    (
        "a public key",
        lambda rng: pem(rng, "PUBLIC KEY"),
    ),
    ("a certificate", lambda rng: pem(rng, "CERTIFICATE")),
    ("a marker of a key", lambda rng: "looks for -----BEGIN RSA PRIVATE KEY----- in the file"),
    ("a word like sk-", lambda rng: "sk-learn-contrib is a package, task-runner-2 too"),
    ("a branch", lambda rng: "feature/hf_tokenizer-glue, npm_config_registry"),
    ("password asked for", lambda rng: "Password: ********"),
    ("password required", lambda rng: "the password is required, 密码不能为空，密码至少 8 位"),
    ("password from the environment", lambda rng: 'password = os.environ["DB_PASSWORD"]'),
    ("password reference", lambda rng: "password=${DB_PASSWORD} --password $PASS"),
    ("a hash of a password", lambda rng: f'password_hash = "{some(rng, 32, HEX)}"'),
    ("tokens counted", lambda rng: f'"max_tokens": {rng.randrange(10**6)}, "prompt_tokens": 123456'),
    ("a page", lambda rng: f'next_page_token: "{some(rng, 24)}"'),
    ("a key of a cache", lambda rng: f"cache_key={some(rng, 32, HEX)} primary_key=id"),
    ("a public key by name", lambda rng: f"public_key={some(rng, 44)}"),
    ("an address", lambda rng: "https://user:password@host/x http://localhost:8080/a@b git@github.com:o/r.git"),
    ("bearer", lambda rng: "Bearer authentication is used; Authorization: Bearer <token>"),
    ("basic", lambda rng: "a basic understanding of the basic settings"),
    ("a card that fails", lambda rng: broken(card(rng))),
    ("a card in groups that fails", lambda rng: grouped(broken(card(rng, "5" + rng.choice("12345"))))),
    ("digits of no issuer", lambda rng: luhn("1" + some(rng, 14, "0123456789"))),
    ("a longer number", lambda rng: card(rng) + some(rng, 8, "123456789")),
    ("an order", lambda rng: f"order_id={card(rng)}"),
    ("a block", lambda rng: f"blk_-{card(rng, '62', 19)}"),
    ("milliseconds", lambda rng: f'"ts": {1_700_000_000_000 + rng.randrange(10**11)}'),
    ("nanoseconds", lambda rng: str(1_700_000_000_000_000_000 + rng.randrange(10**17))),
    ("a resident id that fails", lambda rng: resident(rng)[:17] + "?"),
    ("a resident id with a wrong check", lambda rng: broken(resident(rng))),
    ("an account that fails", lambda rng: broken(iban(rng))),
    ("a phone", lambda rng: f"call +1 415-555-{rng.randrange(1000, 9999)} or 138{some(rng, 8, '0123456789')}"),
    ("a part number", lambda rng: f"part {social(rng)} is out of stock"),
    ("a version", lambda rng: "v1.2.3-4.5.6, 2026-11-30, 12:34:56.789012"),
)
