"""Bank cards, accounts and national ids: numbers that prove themselves by their check digits, or are named beside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date

from .masks import Masked, Span, places

CARD, ACCOUNT, PERSON = "bank-card", "bank-account", "national-id"
_SEPARATED = re.compile(r"[ .-]")


def luhn(digits: str) -> bool:
    """The check of bank cards (ISO/IEC 7812)."""
    total = 0
    for place, digit in enumerate(map(int, reversed(digits))):
        total += digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4)
    return total % 10 == 0


def is_card(digits: str) -> bool:
    """True for the number of a payment card: the issuer's range, the length that it has there, and the check digit."""
    length, two, three, four = len(digits), int(digits[:2]), int(digits[:3]), int(digits[:4])
    fits = (
        (digits[0] == "4" and length in (16, 19))
        or (length == 16 and (51 <= two <= 55 or 2221 <= four <= 2720))
        or (length == 15 and two in (34, 37))
        or (16 <= length <= 19 and two in (62, 81))
        or (16 <= length <= 19 and (two == 65 or four == 6011 or 644 <= three <= 649))
        or (16 <= length <= 19 and 3528 <= four <= 3589)
        or (length == 14 and (two in (36, 38, 39) or 300 <= three <= 305))
        or (16 <= length <= 19 and (two == 50 or 56 <= two <= 58 or two in (60, 63, 67)))
        or (length == 16 and 2200 <= four <= 2204)
    )
    return fits and len(set(digits)) > 1 and luhn(digits)


def _mod97(value: str) -> bool:
    return int("".join(str(int(character, 36)) for character in value[4:] + value[:4])) % 97 == 1


_IBAN_LENGTHS = {
    code[:2]: int(code[2:])
    for code in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 "
        "FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 "
        "LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 "
        "SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
    ).split()
}


def is_iban(value: str) -> bool:
    """True for an account number with the length of its country and the check of ISO 13616."""
    return _IBAN_LENGTHS.get(value[:2]) == len(value) and value.isalnum() and value.isascii() and _mod97(value)


def is_resident(value: str) -> bool:
    """True for a Chinese resident id (GB 11643): province, date of birth, and the check digit by ISO 7064 mod 11-2."""
    if not ("11" <= value[:2] <= "82" and value[2:4] != "99") or not _is_date(value[6:14]):
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    check = sum(weight * int(digit) for weight, digit in zip(weights, value[:17], strict=True)) % 11
    return "10X98765432"[check] == value[17].upper()


def _is_date(value: str) -> bool:
    year, month, day = int(value[:4]), int(value[4:6]), int(value[6:8])
    if not 1900 <= year <= 2100:
        return False
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _is_social(value: str) -> bool:
    """A US social security number or ITIN as they are given out; it has no check digit."""
    area, group, serial = value[:3], value[3:5], value[5:]
    return area not in ("000", "666") and group != "00" and serial != "0000" and value != "123456789"


def _verhoeff(value: str) -> bool:
    """The check of Indian Aadhaar numbers, in the dihedral group of order 10."""

    def multiply(one: int, two: int) -> int:
        if one < 5:
            return (one + two) % 5 + (5 if two >= 5 else 0) if two < 5 else (one + two) % 5 + 5
        return (one - two) % 5 + 5 if two < 5 else (one - two) % 5

    permutation, check = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4), 0
    for place, character in enumerate(reversed(value)):
        digit = int(character)
        for _ in range(place % 8):
            digit = permutation[digit]
        check = multiply(check, digit)
    return check == 0


def _weighted(value: str, weights: tuple[int, ...]) -> int:
    return sum(weight * int(digit) for weight, digit in zip(weights, value, strict=False))


def _is_cpf(value: str) -> bool:
    first = _weighted(value, tuple(range(10, 1, -1))) * 10 % 11 % 10
    second = _weighted(value, tuple(range(11, 1, -1))) * 10 % 11 % 10
    return len(set(value)) > 1 and value[9:] == f"{first}{second}"


def _is_rrn(value: str) -> bool:
    check = (11 - _weighted(value, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10
    return "01" <= value[2:4] <= "12" and "01" <= value[4:6] <= "31" and check == int(value[12])


def _is_my_number(value: str) -> bool:
    rest = _weighted(value, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return int(value[11]) == (0 if rest <= 1 else 11 - rest)


def _is_taiwanese(value: str) -> bool:
    code = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(value[0]) + 10
    return (code // 10 + _weighted(str(code % 10) + value[1:], (9, 8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def _is_hongkongese(value: str) -> bool:
    letters = value[:-7].rjust(2)
    values = [36 if letter == " " else ord(letter) - 55 for letter in letters] + [int(digit) for digit in value[-7:-1]]
    total = sum(weight * number for weight, number in zip(range(9, 1, -1), values, strict=True))
    return (total + (10 if value[-1] == "A" else int(value[-1]))) % 11 == 0


def _is_singaporean(value: str) -> bool:
    total = _weighted(value[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if value[0] in "TG" else 3 if value[0] == "M" else 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "G": "XWUTRQPNMLK", "M": "KLJNPQRTUWX"}
    place = 10 - total % 11 if value[0] == "M" else total % 11
    return letters[value[0]][place] == value[8]


def _is_spanish(value: str) -> bool:
    number = value[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1]


def _is_french(value: str) -> bool:
    number = value[:13].replace("2A", "19").replace("2B", "18")
    return value[0] in "12" and number.isdigit() and 97 - int(number) % 97 == int(value[13:])


def _always(_: str) -> bool:
    return True


# What a number is called beside it (in lower case), what it looks like, and its check. The form alone says too little.
_NAMED: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("ssn|social security|社会安全号", r"\d{3}[ -]?\d{2}[ -]?\d{4}", _is_social),
    ("social insurance", r"\d{3}[ -]?\d{3}[ -]?\d{3}", luhn),
    ("aadha", r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}", _verhoeff),
    ("주민", r"\d{6}-?\d{7}", _is_rrn),
    ("マイナンバー|個人番号", r"\d{4}[ -]?\d{4}[ -]?\d{4}", _is_my_number),
    ("身分證|身份证|身分证|national id|id card", r"[A-Z][1289]\d{8}", _is_taiwanese),
    ("hkid|香港|身份證|身份证|national id|id card", r"[A-Z]{1,2}\d{6}\(?[0-9A]\)?", _is_hongkongese),
    ("nric|national id", r"[STFGM]\d{7}[A-Z]", _is_singaporean),
    ("dni", r"(?:\d{8}|[XYZ]\d{7})-?[A-Z]", _is_spanish),
    ("curité sociale", r"[12] ?\d{2} ?\d{2} ?\d[0-9AB] ?\d{3} ?\d{3} ?\d{2}", _is_french),
    ("national insurance", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", _always),
    ("身份证|身分证|证件号", r"[1-8]\d{7}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}", _always),
)


def _named_forms() -> dict[str, list[tuple[re.Pattern[str], Callable[[str], bool]]]]:
    found: dict[str, list[tuple[re.Pattern[str], Callable[[str], bool]]]] = {}
    for names, form, check in _NAMED:
        pattern = re.compile(rf"(?<![A-Za-z0-9]){form}(?![A-Za-z0-9])")
        for name in names.split("|"):
            found.setdefault(name, []).append((pattern, check))
    return found


_BESIDE = _named_forms()
_STEMS = ("social", "national", "ssn", "aadha", "id card", "hkid", "nric", "dni")
_ASCII = tuple((stem.encode(), tuple(name for name in _BESIDE if name.isascii() and stem in name)) for stem in _STEMS)
"""The names by what is in them, so that fewer are sought."""
_WIDE = tuple(name for name in _BESIDE if not name.isascii())
_REACH = 60
_COUNTED = re.compile(
    r"(?:order|trace|span|block|blk|request|message|msg|event|job|task|user|account|uid|gid|pid|tid|tx|txn|offset|seq|"
    r"sequence|inode|size|bytes|thread|timestamp|time|ts|epoch|nonce|id|ids|订单号?|编号|流水号?|单号)"
    r"[\"'\])]{0,2}[\s#:=_-]{1,4}[\"']?$",
    re.IGNORECASE,
)
_CARD_FORM = re.compile(r"\d{4}([ .-])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?(?!\d)|\d{4}([ -])\d{6}\2\d{4,5}(?!\d)")
_RESIDENT_FORM = re.compile(r"[1-8]\d{5}([ -]?)(?:19|20|21)\d{6}\1\d{3}[\dXx](?![A-Za-z0-9])")
_IBAN_FORM = re.compile(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_GROUPS = (
    (b"dddd dddd dddd d", _CARD_FORM, is_card, CARD),
    (b"dddd.dddd.dddd.d", _CARD_FORM, is_card, CARD),
    (b"dddd dddddd dddd", _CARD_FORM, is_card, CARD),
    (b"dddddd dddddddd ddd", _RESIDENT_FORM, is_resident, PERSON),
)
"""How the digits of numbers in groups stand, to be found at memory speed."""
_DIGITS = re.compile(rb"d+")
_CPF_FORM = re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)")


def numbers(masked: Masked) -> Iterator[Span]:
    """The spans of the numbers of cards, accounts and people; the check digits decide, so that phones and ids stay."""
    mask, text = masked.numbers, masked.spaced
    yield from _runs(masked, mask)
    for shape, form, check, kind in _GROUPS:
        for at in places(mask, shape) if shape in mask else ():
            if found := _grouped(text, at, form, check):
                yield *found, kind
    for at in places(mask, b"AAdd") if b"AAdd" in mask else ():
        if (iban := _IBAN_FORM.match(text, at)) and _apart(text, at) and (end := _iban_end(text, *iban.span())):
            yield at, end, ACCOUNT
    if b"ddd.ddd.ddd dd" in mask:
        for match in _CPF_FORM.finditer(text):
            if _apart(text, match.start()) and _is_cpf(_bare(match[0])):
                yield *match.span(), PERSON
    yield from _named(masked)


def _bare(number: str) -> str:
    return _SEPARATED.sub("", number).replace("(", "").replace(")", "")


def _apart(text: str, at: int) -> bool:
    return at == 0 or not (text[at - 1].isascii() and (text[at - 1].isalnum() or text[at - 1] in "_."))


def _runs(masked: Masked, mask: bytes) -> Iterator[Span]:
    """Numbers without anything between their digits."""
    text, run = masked.spaced, b"d" * 14
    at = mask.find(run)
    while at >= 0:
        end = _DIGITS.match(mask, at).end()  # type: ignore[union-attr]  # there are fourteen
        length = end - at
        following = text[end : end + 1]
        if length == 17 and following in ("X", "x") and not text[end + 1 : end + 2].isalnum():
            if _apart(text, at) and is_resident(text[at : end + 1]):
                yield at, end + 1, PERSON
        elif length <= 19 and _apart(text, at) and not _goes_on(text, end):
            digits = text[at:end]
            if length == 18 and is_resident(digits):
                yield at, end, PERSON
            elif is_card(digits) and (length != 14 or _speaks_of_cards(text, at)) and not _counted(text, at):
                yield at, end, CARD
        at = mask.find(run, end)


def _goes_on(text: str, end: int) -> bool:
    following = text[end : end + 2]
    return bool(following) and (
        (following[0].isascii() and (following[0].isalnum() or following[0] == "_"))
        or (following[0] in ".-" and following[1:].isdigit())
    )


def _counted(text: str, at: int) -> bool:
    """True if what stands before the number calls it something else, or makes it a part of a longer name."""
    if text[at - 1 : at] in ("-", "_", "/", "#", "+") and at:
        return True
    return bool(_COUNTED.search(text[max(0, at - 24) : at])) and not _speaks_of_cards(text, at)


_CARDS = re.compile(r"card|visa|mastercard|amex|credit|debit|pan\b|银行卡|信用卡|借记卡|卡号|卡", re.IGNORECASE)


def _speaks_of_cards(text: str, at: int) -> bool:
    return _CARDS.search(text[max(0, at - 40) : at]) is not None


def _grouped(text: str, at: int, form: re.Pattern[str], check: Callable[[str], bool]) -> tuple[int, int] | None:
    """The number in groups that begins there, if it passes the check and no digit goes on around it."""
    match = form.match(text, at)
    if match is None or not _apart(text, at) or _goes_on(text, match.end()):
        return None
    before = text[max(0, at - 2) : at]
    joined = len(before) == 2 and before[1] in " .-" and before[0].isdigit() and form is _CARD_FORM
    return match.span() if not joined and check(_bare(match[0])) else None


def _iban_end(text: str, start: int, end: int) -> int:
    """Where the account number ends that begins there: a word after it may look like its last group."""
    wanted = _IBAN_LENGTHS.get(text[start : start + 2], 0)
    place, taken = start, 0
    while place < end and taken < wanted:
        taken += text[place] not in " -"
        place += 1
    fits = taken == wanted > 0 and not text[place : place + 1].isalnum()
    return place if fits and is_iban(_bare(text[start:place])) else 0


def _named(masked: Masked) -> Iterator[Span]:
    """Numbers that only their name makes one of a person."""
    lower, text = masked.lower, masked.spaced
    for stem, names in _ASCII:
        for name in names if stem in lower else ():
            for at in places(lower, name.encode()):
                if not lower[at - 1 : at].isalpha() or at == 0:
                    yield from _near(text, at + len(name), name)
    if not text.isascii():
        for name in _WIDE:
            for called in re.finditer(name, text) if name in text else ():
                yield from _near(text, called.end(), name)


def _near(text: str, at: int, name: str) -> Iterator[Span]:
    at = max(0, at - 40)
    window = text[at : at + 40 + _REACH]
    for pattern, check in _BESIDE[name]:
        for match in pattern.finditer(window):
            if check(_bare(match[0])):
                yield at + match.start(), at + match.end(), PERSON
                break
