"""Which names hold a secret: a variable, a key or an option is read word by word."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")

_LAST = {
    "password": tuple(
        "password passwords passwd passphrase passcode passwort kennwort wachtwoord contrasena contrasenas clave senha "
        "pwd pass pw haslo sifre losenord 密码 密碼 口令 "
        "psk wpapsk пароль パスワード 비밀번호 비번".split()
    ),
    "secret": ("secret", "secrets", "密钥", "密鑰", "秘钥", "金鑰", "私钥", "私鑰"),
    "token": ("token", "令牌", "權杖", "授权码", "授權碼"),
    "credential": ("credential", "credentials", "creds", "cred", "凭证", "憑證"),
    "api-key": ("apikey", "authkey", "secretkey", "accesskey", "privatekey", "appkey"),
    "pin": ("pin",),
    "card-code": ("cvv", "cvc"),
    "one-time-code": ("otp", "totp", "验证码"),
    "key": ("key", "keys", "pkey", "aeskey", "deskey", "auth", "sak"),
}
_KIND_OF_LAST = {word: kind for kind, words in _LAST.items() for word in words}
_ENDINGS = (
    *(
        (word, "password")
        for word in ("password", "passwords", "passwd", "passphrase", "pswd", "psswd", "pwd", "storepass", "keypass")
    ),
    *((word, "secret") for word in ("clientsecret", "appsecret", "apisecret", "jwtsecret", "secret")),
    *((word, "token") for word in ("authtoken", "accesstoken", "apitoken", "bottoken", "refreshtoken", "usertoken")),
    *((word, "api-key") for word in ("apikey", "accesskey", "secretkey", "authkey", "privatekey", "appkey")),
)
"""Names in one word, as `PGPASSWORD` and `authtoken` are."""
_MISTYPED = re.compile(
    r"p[as]{1,3}s[as]?w(?:o?r?s?d?)?|ps?w(?:o?r?d)|mysqlpass|dbpass|userpass|rootpass|adminpass|sshpass"
)
_KEYS = frozenset(
    "api access secret private auth account signing signature encryption master service client subscription storage "
    "shared admin webhook hmac aes des rsa consumer function deploy aws authentication authorization amap openai "
    "anthropic deepseek stripe license encrypt decrypt crypto cipher session jwt token root wifi wpa wep wlan".split()
)
SHORT_NAMES = frozenset(("pass", "pwd", "pw", "clave"))
_ACCENTS = str.maketrans("ñÑłşöóÖ", "nNlsooO")
_QUALIFIERS = frozenset(
    "prod production dev test testing staging stage live old new current default value val plain plaintext raw base "
    "main primary secondary backup confirm confirmation again repeat v str string b64 base64".split()
)
_NOT_SECRET_BEFORE = frozenset(
    "page next previous prev continuation cursor sync stop eos bos pad unk mask sep cls start end special num max min "
    "total prompt completion input output hashed public per first last each no cancel cancellation csrf xsrf "
    "idempotency".split()
)
_NOT_SECRET_KEYS = frozenset(
    "public primary foreign sort cache partition hash object s3 row map dict lookup index json registry host unique "
    "composite natural surrogate config setting metadata meta range routing shard dedup dedupe message group column "
    "translation i18n locale label state query storage local session redis etcd lock event trace span idempotency "
    "pub ssh hot arrow left right up down enter escape tab shift ctrl alt num dimension data answer react ed25519 gpg "
    "pgp verification verify fingerprint thumb checksum digest known".split()
)


def told(kind: str) -> str:
    """What a placeholder calls that kind."""
    return "api-key" if kind == "key" else kind


@lru_cache(maxsize=4096)
def sensitive(name: str) -> str | None:
    """The kind of secret that a variable, key or option of that name holds; None for other names.

    The kind `key` is of names that mostly hold something else: only a value that looks random is a secret there.
    """
    words = [word.lower() for word in _WORDS.findall(name.translate(_ACCENTS))]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _QUALIFIERS):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        if before in _KEYS and not (before in ("session", "storage") or "public" in words):
            return "api-key" if last == "key" else "key"
        return None if before in _NOT_SECRET_KEYS or not _NOT_SECRET_KEYS.isdisjoint(words[:-1]) else "key"
    if before in _NOT_SECRET_BEFORE:
        return None
    if last[0] == "d" and name.lstrip("-")[:2] == f"D{last[1:2]}" and last[1:] in _KIND_OF_LAST:
        last = last[1:]  # a property of Java: `-Dpass=…`
    found = _KIND_OF_LAST.get(last) or next((kind for end, kind in _ENDINGS if last.endswith(end)), None)
    return found or ("password" if _MISTYPED.fullmatch(last) else None)
