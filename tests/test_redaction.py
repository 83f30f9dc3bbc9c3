"""Redaction: what is a secret goes, what only looks like one stays, and no text takes long."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.governance.redaction import PLACEHOLDER, redact, redact_value
from sandbox_memory.governance.secrets import sensitive

# Assembled here, so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "a1B2" * 9
OPENAI = "sk-proj-" + "aB3dE6gH9" * 4
ANTHROPIC = "sk-ant-api03-" + "aB3dE6gH9" * 4
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
SLACK = "xoxb-" + "123456789012-1234567890123-" + "aB3dE6gH9aB3dE6gH9"
STRIPE = "sk_live_" + "aB3dE6gH9aB3dE6gH9aB3dE6"
NPM = "npm_" + "aB3dE6gH9" * 4
PYPI = "pypi-AgEIcHlwaS5vcmc" + "aB3dE6gH9" * 9
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
GOOGLE = "AIza" + "aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7xQkq3v5\n" * 4 + "-----END RSA PRIVATE KEY-----"

SECRETS = [
    # (text, the secret in it, kind)
    (f"token {GITHUB} here", GITHUB, "github-token"),
    (f"OPENAI={OPENAI}", OPENAI, "openai-key"),
    (f"use {ANTHROPIC}.", ANTHROPIC, "anthropic-key"),
    (f"key id {AWS}", AWS, "aws-access-key"),
    (f"AWS_SECRET_ACCESS_KEY={AWS_SECRET}", AWS_SECRET, "api-key"),
    (f"aws_secret_access_key = {AWS_SECRET}", AWS_SECRET, "api-key"),
    (f"slack {SLACK}", SLACK, "slack-token"),
    (f"({STRIPE})", STRIPE, "stripe-key"),
    (f"{NPM}\n", NPM, "npm-token"),
    (PYPI, PYPI, "pypi-token"),
    (f"a {JWT} b", JWT, "jwt"),
    (f"?key={GOOGLE}&x", GOOGLE, "google-key"),
    (f"glpat-{'aB3dE6gH9' * 3}", f"glpat-{'aB3dE6gH9' * 3}", "gitlab-token"),
    (f"before\n{KEY}\nafter", KEY, "private-key"),
    (json.dumps(KEY), "MIIEpAIBAAKCAQEA7xQkq3v5", "private-key"),
    ("MIIEpAIBAAKCAQEA7xQkq3v5\n-----END PRIVATE KEY-----", "MIIEpAIBAAKCAQEA7xQkq3v5", "private-key"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7xQkq3v5\n\ncut off", "MIIEpAIBAAKCAQEA7xQkq3v5", "private-key"),
    ("password=hunter2", "hunter2", "password"),
    ("password = hunter2", "hunter2", "password"),
    ('"password": "letmein"', "letmein", "password"),
    (r"{\"password\": \"letmein\"}", "letmein", "password"),
    ("DB_PASSWORD='correct horse battery staple'", "correct horse battery staple", "password"),
    ("PGPASSWORD=letmein psql -h db", "letmein", "password"),
    ("Server=x;User=sa;Password=Pa55w0rd!;Db=y", "Pa55w0rd!", "password"),
    ("db:\n  password: letmein\n", "letmein", "password"),
    ("db:\n  password: let,me(in\n", "let,me(in", "password"),
    ('password: str = "hunter2"', "hunter2", "password"),
    ('connect(host="x", password="letmein")', "letmein", "password"),
    ("my password is hunter2", "hunter2", "password"),
    ("set the password to Tr0ub4dor&3 please", "Tr0ub4dor&3", "password"),
    ("use password hunter2 for it", "hunter2", "password"),
    ("数据库密码是hunter2。", "hunter2", "password"),
    ("密码：abc12345", "abc12345", "password"),
    ("tool --password letmein", "letmein", "password"),
    ("curl -u bob:pw123 https://x", "pw123", "password"),
    ("curl -X POST https://x \\\n  -u bob:pw123", "pw123", "password"),
    ("mysql -u root -phunter2 db", "hunter2", "password"),
    ("echo hunter2 | sudo -S ls", "hunter2", "password"),
    ("machine x login bob password letmein", "letmein", "password"),
    ("export STRIPE_TOKEN=abcd1234efgh5678", "abcd1234efgh5678", "token"),
    ("https://x.io/cb?access_token=abc123def456&x=1", "abc123def456", "token"),
    ("JWT_SECRET=supersecretvalue", "supersecretvalue", "secret"),
    ("client_secret: 9a8b7c6d5e4f", "9a8b7c6d5e4f", "secret"),
    ("tool --api-key Zx81kkq0aLq92", "Zx81kkq0aLq92", "api-key"),
    ("tool --api-key=Zx81kkq0aLq92", "Zx81kkq0aLq92", "api-key"),
    ("x-api-key: 0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef", "api-key"),
    ("Authorization: Bearer abcDEF123456789", "abcDEF123456789", "authorization"),
    ('-H "Authorization: Basic dXNlcjpwYXNz"', "dXNlcjpwYXNz", "authorization"),
    ("Cookie: session=fedcba987654; a=b", "fedcba987654", "cookie"),
    ("postgres://bob:s3cr3t@db.local/x", "s3cr3t", "url-password"),
    ("postgres://bob:p@ss!word@db.local/x", "p@ss!word", "url-password"),
    ("redis://:s3cr3t@db.local/1", "s3cr3t", "url-password"),
    ("//npm.example/:_authToken=0a1b2c3d-1111-2222-3333-444455556666", "0a1b2c3d-1111", "npm-token"),
]

PLAIN = [
    "password: required",
    "password field",
    "Password: ********",
    "the token is expired",
    "the password is required",
    "the password must be at least 8 characters",
    "the token is sha256-encoded",
    "the secret is in the vault",
    'error: password authentication failed for user "bob"',
    "token=None",
    'password = os.environ["X"]',
    "password = getpass.getpass()",
    "password=password",
    "connect(user=user, password=pw)",
    "password = row[2]",
    "token = tokens[0]",
    'token = request.headers.get("x")',
    "self.token = token",
    "token: Optional[str] = None",
    "def login(user, password):",
    '"type": "string", "password": "string"',
    'password: "Password is required"',
    "password: SecretStr",
    "password: {{ vault_password }}",
    "password={password}",
    f"say {redact('password=hunter2')} again",
    "API_KEY=<your-api-key>",
    "API_KEY=your_api_key_here",
    "api_key: $API_KEY",
    "api_key=${API_KEY}",
    'f"Bearer {token}"',
    "Bearer authentication is used",
    "max_tokens=4096",
    '"prompt_tokens": 1234567',
    "token_count = 12345678",
    'next_page_token: "CAUQAA12345"',
    'password_hash = "5f4dcc3b5aa765d61d8327deb882cf99"',
    "secretName: my-tls-secret1",
    "primary_key=True",
    '"key": "abcdef123456"',
    "public_key=AAAAC3NzaC1lZDI1NTE5AAAAIabcdef12345",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 user@host",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    '"call_id": "call_abc123DEF456ghi789"',
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "PWD=/home/user/project",
    "--password PASSWORD  the password",
    "use the --password flag",
    "the --username and --password options",
    "--password-stdin",
    "pass: 5, fail: 0",
    "http://localhost:8080/a@b",
    "git@github.com:org/repo.git",
    "https://user:password@host/x",
    "the markers -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----",
    "sk-learn-contrib-forest2 is a package",
    "compass: north12, bypass=1234567, keyboard: qwerty12",
    "$CPAN::HTTP::Credentials::VERSION = 1",
    "APACHE2LICENSE NOTICE",
    "reservation 4WQ150, payment credit_card_4421486",
]

ORDINARY = st.sampled_from([*PLAIN, "ok", "\n", " ", "Ünïcode 会话", "a=b", '"', "{", "⟦", "⟧", "\\"])


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS, ids=[text[:40] for text, _, _ in SECRETS])
def test_a_secret_goes_and_its_kind_stays(text: str, secret: str, kind: str) -> None:
    clean = redact(text)
    assert secret not in clean
    assert f"⟦secret:{kind}⟧" in clean
    assert redact(clean) == clean


@pytest.mark.parametrize("text", PLAIN, ids=[text[:40] for text in PLAIN])
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text


def test_the_text_around_a_secret_stays() -> None:
    assert redact(f"a {GITHUB} b") == "a ⟦secret:github-token⟧ b"
    assert redact('x("password": "hunter2") y') == 'x("password": "⟦secret:password⟧") y'
    assert redact("my password is hunter2.") == "my password is ⟦secret:password⟧."


@given(
    st.lists(st.one_of(st.sampled_from([text for text, _, _ in SECRETS]), ORDINARY, st.text(max_size=12)), max_size=8)
)
def test_redacting_twice_changes_nothing(parts: list[str]) -> None:
    for joint in ("", " ", "\n"):
        once = redact(joint.join(parts))
        assert redact(once) == once


@given(st.lists(ORDINARY, max_size=4), st.sampled_from([entry for entry in SECRETS if " " not in entry[1]]))
def test_a_secret_on_a_line_of_its_own_goes_wherever_it_stands(around: list[str], entry: tuple[str, str, str]) -> None:
    text, secret, _ = entry
    assert secret not in redact("\n".join(["intro", *around, "", text, "", *around]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", "password"),
        ("DB_PASSWORD", "password"),
        ("dbPassword2", "password"),
        ("PGPASSWORD", "password"),
        ("new_password_confirmation", "password"),
        ("apiKey", "api-key"),
        ("AWS_SECRET_ACCESS_KEY", "api-key"),
        ("GITHUB_TOKEN", "token"),
        ("clientSecret", "secret"),
        ("max_tokens", None),
        ("next_page_token", None),
        ("password_hash", None),
        ("secret_name", None),
        ("passwordless", None),
        ("primary_key", None),
        ("token_url", None),
        ("key", "key"),
        ("", None),
    ],
)
def test_names_are_read_word_by_word(name: str, kind: str | None) -> None:
    assert sensitive(name) == kind


def test_values_are_judged_by_their_key() -> None:
    clean = redact_value(
        {
            "password": "letmein",
            "user": "letmein",
            "pin_password": 12345678,
            "max_tokens": 4096,
            "api_key": ["abc123def456"],
            "env": [{"name": "DB_PASSWORD", "value": "letmein"}, {"name": "MODE", "value": "letmein"}],
            "headers": {"Authorization": "Bearer abcDEF123456789", "Cookie": "session=abcdef123456"},
            "deep": {"a": [{"b": GITHUB}]},
            GITHUB: 1,
            "none": None,
            "flag": True,
        }
    )
    assert clean == {
        "password": "⟦secret:password⟧",
        "user": "letmein",
        "pin_password": "⟦secret:password⟧",
        "max_tokens": 4096,
        "api_key": ["⟦secret:api-key⟧"],
        "env": [{"name": "DB_PASSWORD", "value": "⟦secret:password⟧"}, {"name": "MODE", "value": "letmein"}],
        "headers": {"Authorization": "Bearer ⟦secret:authorization⟧", "Cookie": "⟦secret:cookie⟧"},
        "deep": {"a": [{"b": "⟦secret:github-token⟧"}]},
        "⟦secret:github-token⟧": 1,
        "none": None,
        "flag": True,
    }
    assert redact_value(clean) == clean


def test_json_in_a_string_is_redacted_inside_and_left_alone_otherwise() -> None:
    spaced = '{"cmd": "export DB_PASSWORD=letmein && make"}'
    assert json.loads(redact_value(spaced)) == {"cmd": "export DB_PASSWORD=⟦secret:password⟧ && make"}
    assert redact_value('{"password":"letmein","n":1}') == '{"password":"⟦secret:password⟧","n":1}'
    nested = json.dumps({"arguments": json.dumps({"password": "letmein"})})
    assert "letmein" not in redact_value(nested)
    untouched = '{"b" :1,   "a": "\\u00e9", "n": 1.0}'
    assert redact_value(untouched) == untouched
    for odd in ('{"password": "hunter2", "password": ""}', '{"password": "hunter2"', '["password=hunter2"'):
        assert "hunter2" not in redact_value(odd)


def test_data_of_a_picture_is_left_alone() -> None:
    picture = "data:image/png;base64," + "AKIAIOSFODNN7EXAMPLE" * 3
    assert redact_value({"image_url": picture}) == {"image_url": picture}


def test_nesting_without_end_is_no_error() -> None:
    value: object = {"password": "hunter2"}
    for _ in range(400):
        value = [value]
    assert "hunter2" not in json.dumps(redact_value(value))
    deep = "[" * 50_000
    assert redact_value(deep) == deep


NASTY = {
    "named": "password=" * 11_000,
    "quoted": 'password="' * 10_000,
    "assigned": "password=a1b2c3;" * 6_000,
    "backslashes": 'password="' + "\\" * 100_000,
    "blanks": "password" + " " * 100_000,
    "json": '[{"password":' * 8_000,
    "key": "key" * 33_000,
    "said": "password is " * 8_000,
    "addresses": "://a:" * 20_000,
    "ats": "://a:" + "@" * 100_000,
    "begins": "-----BEGIN PRIVATE KEY-----" * 3_700,
    "ends": ("A" * 64 + "\n-----END PRIVATE KEY-----\n") * 1_000,
    "lines": ("A" * 64 + "\n") * 1_500 + "-----END PRIVATE KEY-----",
    "base64": "A" * 100_000,
    "jwt": "eyJ" * 33_000,
    "jwts": "eyJaaaa." * 12_000,
    "sk": "sk-" * 33_000,
    "digits": "1" * 100_000,
    "curl": "curl " * 20_000 + "-u",
    "mysql": "mysql -p" * 12_000,
    "slack": "xoxb-1" * 16_000,
    "cookies": "cookie: a=" * 10_000,
    "placeholders": "⟦secret:a⟧" * 10_000,
    "chinese": "密码" * 50_000,
    "putty": "Private-Lines: 1\n" + ("A" * 80 + "\n") * 1_200,
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY.keys())
def test_time_is_linear_whatever_the_text(text: str) -> None:
    started = time.process_time()
    once = redact(text)
    # 100 KB take 0.02 to 0.15 s here; the quadratic ones that these texts once found took minutes.
    assert time.process_time() - started < 3
    assert redact(once) == once


def test_a_megabyte_takes_well_under_a_second(shared: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(shared.glob("data/rollouts/*/sessions/*.jsonl")))
    started = time.process_time()
    redact(text)
    assert (time.process_time() - started) / len(text) * 1_000_000 < 1.5  # 0.2 s here, on an idle machine


def test_real_transcripts_hold_no_secret_and_none_is_found(shared: Path) -> None:
    for path in sorted(shared.glob("data/rollouts/*/sessions/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            payload = json.loads(line)
            assert redact_value(payload) == payload, path.name


def test_placeholders_are_recognised() -> None:
    assert PLACEHOLDER.fullmatch("⟦secret:api-key⟧")
