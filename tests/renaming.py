"""Replaces every name, path, id, port and number of transcripts at random, the same one always by the same.

Words of the language stay, dates, times and exit codes too, and well-known programs. What a rule-based reader makes of
the renamed transcripts must be what it made of the originals, renamed: else it goes by a name's length, by the order of
names, or by the words of one domain. Identifiers are renamed word by word, so that `ship_id` and `list_ships` keep what
they have in common, while nothing connects them to the prose any more.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

# What tools and people call things everywhere, in any domain: it is language, not a name.
SPOKEN = frozenset(
    """user_id customer_id account_id first_name last_name full_name error_message error_code status_code exit_code
    created_at updated_at exec_command write_stdin apply_patch order_by group_by row_number read_csv read_excel
    read_parquet to_date from_utc_timestamp total_seconds utf-8 utf8 gb18030 gbk python3 python2 pip3 sha256 md5 base64
    x86_64 int64 int32 float64 p95 p99 e999 http2 localhost""".split()
)
KEYS = frozenset(
    """id ids name names code status state error errors message msg detail details result results data ok success output
    text query cmd command sql user type reason hint email phone date time note title body value total items""".split()
)
CALENDAR = """January February March April May June July August September October November December Jan Feb Mar Apr Jun
    Jul Aug Sep Sept Oct Nov Dec Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Wed Thu Fri Sat Sun"""
MONTHS = "|".join(CALENDAR.split())
KEPT = frozenset(
    f"""{CALENDAR} I OK Okay English British PDF PNG JSON CSV SQL HTML HTTP URL API SSH DNS EU UTC EST PST USD EUR CFO
    CEO CRM ROI DPA Ltd AS GmbH AM PM Mr Mrs Ms Dr Best Kind Regards Dear Please Thanks Yes No""".split()
)
FOLDERS = frozenset(
    """etc var tmp usr home opt bin lib src mnt srv run dev proc log tests test docs data root local share com org net
    io example int py toml yaml yml json csv md txt sh env conf lock xlsx git python pip bash ssh curl make npm node
    docker kubectl helm systemctl service journalctl certbot psql conda ansible terraform rsync tar grep find sed awk
    sudo cat cp mv rm ls""".split()
)

WHEN = (
    r"\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)?(?:\+\d\d:\d\d|Z)?|\b\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?\b"
    rf"|\b(?:{MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}} (?:{MONTHS})\b"
    r"|\b\d+(?:st|nd|rd|th)\b|\b\d{1,2} ?[apAP]\.?[mM]\b\.?|\b(?:19|20)\d\d(?:[01]\d(?:[0-3]\d)?)?\b"
    r"|\b\d+[- ]?(?:hours?|minutes?|days?|seconds?|weeks?|months?|years?)\b|\d+ ?(?:天|点|月|日|年|小时|分钟|秒|周)"
    r"|\b(?:code|status|exit|EXIT|HTTP)\W{1,4}\d+\b|\b\d{1,3}(?:\.\d+)?(?=s\b)"
)
SNAKE = r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![A-Za-z0-9_])"
MIXED = r"(?<![A-Za-z0-9_])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{4,}(?![A-Za-z0-9_])"
NUMBER = r"(?<![A-Za-z0-9_.,])\d+(?:,\d{3})*(?:\.\d+)*(?![A-Za-z0-9_])"
CAMEL = r"(?<![A-Za-z0-9_])[A-Z][a-z]+(?:[A-Z][a-z]+)+(?![A-Za-z0-9_])"
PATH = r"(?<![\w/.-])/?(?:[\w.-]+/)+[\w.-]*"
HOST = r"(?<![\w.-])(?:[\w.-]+@)?(?:[a-z0-9-]+\.)+(?:com|org|net|io|example)(?![\w])"
HAN_NAMES = "澜泽沐昀岚祺珩漪翊樾霁芮"


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def prose(lines: list[dict[str, Any]]) -> Iterator[str]:
    """What people and agents said, without calls and outputs."""
    for line in lines:
        yield from (item["content"] for item in line["input"] if isinstance(item.get("content"), str))
        for item in line["generated_items"]:
            if item.get("type") == "message":
                yield from (part["text"] for part in item["content"])


def payload(text: str) -> tuple[Any, tuple[str, str]] | None:
    """A JSON object or array written as a string, with the separators that give it back; None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    for separators in ((", ", ": "), (",", ":")):
        if json.dumps(value, ensure_ascii=False, separators=separators) == text:
            return value, separators
    return None


class Renaming:
    """One consistent replacement, drawn from `seed`; `names` are proper names that no rule can tell from words."""

    def __init__(self, lines: list[dict[str, Any]], names: list[str], seed: int) -> None:
        self.random = random.Random(seed)
        self.drawn: dict[str, str] = {}
        self.parts: dict[str, str] = {}  # the words that identifiers are made of
        self.runs: dict[str, str] = {}  # the letters and the digits that ids are made of
        spoken = list(prose(lines))
        everything = [text for line in lines for text in strings([line["input"], line["generated_items"]])]
        said = "\n".join(spoken)
        small, capital = (
            set(re.findall(rf"(?<![\w/.@-]){form}(?![\w/@-])", said)) for form in ("[a-z]{2,}", "[A-Z][a-z]+")
        )
        capitalised = {word for word in self._capitalised(spoken) if word.lower() not in small}
        self.words = small | {word.lower() for word in capital - capitalised}
        self.taken = {token.lower() for text in everything for token in re.findall(r"\w+", text)}
        found = capitalised | self._in_places("\n".join(everything))
        for name in names:
            found.update(re.findall(r"[A-Za-z0-9-]+", name) if name.isascii() else [name])
        for name in sorted(found - KEPT):
            if name not in self.drawn:
                self._draw_name(name)
        known = sorted(self.drawn, key=len, reverse=True)
        plain = "|".join(re.escape(name) for name in known if name.isascii()) or "a^"
        han = "|".join(re.escape(name) for name in known if not name.isascii()) or "a^"
        kinds = {"when": WHEN, "name": rf"(?<![A-Za-z0-9_])(?:{plain})(?![A-Za-z0-9_])", "han": han, "snake": SNAKE}
        kinds |= {
            "colour": r"#[0-9A-F]{6}\b",
            "camel": CAMEL,
            "key": "(?<=`)[a-z]+(?=`)",
            "mixed": MIXED,
            "number": NUMBER,
        }
        self.pattern = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()))
        for text in everything:
            self.text(text)

    def _capitalised(self, spoken: list[str]) -> set[str]:
        """Words that stand capitalised in the middle of a sentence."""
        inside = {word for text in spoken for word in re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]+\b(?!['’(_])", text)}
        return {word for word in inside if len(word) > 2}

    def _in_places(self, text: str) -> set[str]:
        """Components of paths, hosts and addresses, as far as they are no words."""
        pieces = {piece for place in re.findall(f"{PATH}|{HOST}", text) for piece in re.split(r"[/.@]", place)}
        fit = {piece for piece in pieces if re.fullmatch(r"[A-Za-z][A-Za-z-]{2,}", piece)}
        return {piece for piece in fit if not {piece, piece.lower()} & (self.words | FOLDERS | SPOKEN)}

    def syllables(self, fewest: int, most: int) -> str:
        while True:
            count = self.random.randint(fewest, most)
            word = "".join(self.random.choice("bdfgkmprvz") + self.random.choice("aeiou") for _ in range(count))
            word += self.random.choice("kvzx")
            if word not in self.taken:
                self.taken.add(word)
                return word

    def _draw_name(self, name: str) -> None:
        if not name.isascii() and re.search(r"[\u3400-\u9fff]", name):
            count = max(2, len(name) + self.random.randint(-1, 2))
            self.drawn[name] = "".join(self.random.sample(HAN_NAMES, min(count, len(HAN_NAMES))))
            return
        pieces = re.split(r"([_-])", name)
        new = "".join(piece if piece in "_-" else self._shaped(piece) for piece in pieces)
        self.drawn[name] = new
        if re.fullmatch(r"[A-Z]?[a-zà-ÿ]+", name):  # the same in an address or a heading
            for form in (str.lower, str.capitalize, str.upper):
                self.drawn.setdefault(form(name), form(new))

    def _shaped(self, piece: str) -> str:
        if piece.isdigit():
            return self._digits(piece)
        if any(char.isdigit() for char in piece):
            return self._mixed(piece)
        if piece.isupper() and len(piece) <= 4:
            return "".join(self.random.choice("BDFGKMPRVZ") for _ in piece)
        word = self.syllables(1, 4)
        return (
            word.upper() if piece.isupper() and len(piece) > 1 else word.capitalize() if piece[:1].isupper() else word
        )

    def _digits(self, number: str, most: int = 5) -> str:
        """Another whole number: of 2 to 5 digits for one of 2 to 5, else about as long."""
        if len(number) == 1 or number.startswith("0"):
            return number
        count = self.random.randint(2, most) if len(number) <= 5 else len(number) + self.random.randint(-1, 2)
        return str(self.random.choice("12346789")) + "".join(str(self.random.randint(0, 9)) for _ in range(count - 1))

    def _number(self, text: str) -> str:
        if "." in text and text.count(".") >= 2:  # an address or a version
            return ".".join(self._digits(part, 2) if len(part) > 1 else part for part in text.split("."))
        whole, _, decimals = text.replace(",", "").partition(".")
        new = self._digits(whole)
        shown = f"{int(new):,}" if "," in text and len(new) > 3 else new
        return f"{shown}.{''.join(str(self.random.randint(1, 9)) for _ in decimals)}" if decimals else shown

    def _mixed(self, text: str) -> str:
        """An id of letters and digits; what ids have in common (`w44`, `w45`) they still have in common."""
        return "".join(self._run(run) for run in re.findall(r"\d+|[A-Z]+|[a-z]+|.", text))

    def _run(self, run: str) -> str:
        if not run.isalnum() or not run.isascii():
            return run
        if run not in self.runs:
            letters = "123456789" if run.isdigit() else "BDFGKMPRVZ" if run.isupper() else "bdfgkmprvz"
            count = len(run) if len(run) == 1 else len(run) + self.random.randint(-1, 2)
            self.runs[run] = "".join(self.random.choice(letters) for _ in range(count))
        return self.runs[run]

    def _snake(self, text: str) -> str:
        if text in SPOKEN or text.isupper():
            return text
        numbered = any(char.isdigit() for char in text)
        return "_".join(self._part(piece, numbered) for piece in text.split("_"))

    def _part(self, piece: str, numbered: bool) -> str:
        """A word of an identifier; that of an id with a number in it (`gift_card_17`) stays, if it is no name."""
        if piece in self.drawn or re.search(r"\d", piece):
            return self.drawn.get(piece) or self._shaped(piece)
        if numbered or piece in ("id", "ids"):
            return piece
        return self.key(piece, new=True)

    def key(self, word: str, new: bool = False) -> str:
        """A word of identifiers in the same form, singular or plural; one that is no word of any is drawn if `new`."""
        stem = word[:-1] if word.endswith("s") and len(word) > 3 else word
        if not new and (word in KEYS or stem not in self.parts):
            return word
        if stem not in self.parts:
            self.parts[stem] = self._shaped(stem)
        return self.parts[stem] + word[len(stem) :]

    def one(self, match: re.Match[str]) -> str:
        kind, text = match.lastgroup, match[0]
        if kind == "when" or text in SPOKEN or text.lower() in SPOKEN:
            return text
        if text not in self.drawn:
            if kind == "snake":
                self.drawn[text] = self._snake(text)
            elif kind == "key":
                self.drawn[text] = self.key(text)
            elif kind == "colour":
                self.drawn[text] = "#" + "".join(self.random.choice("ABCDEF123456789") for _ in range(6))
            elif kind == "camel":
                ends = re.search(r"(Error|Exception|Warning)$", text)
                humps = re.findall(r"[A-Z][a-z]+", text)
                self.drawn[text] = text if ends else "".join(self.syllables(1, 2).capitalize() for _ in humps)
            elif kind == "mixed":
                self.drawn[text] = self._mixed(text)
            else:
                self.drawn[text] = self._number(text)
        return self.drawn[text]

    def text(self, text: str) -> str:
        return self.pattern.sub(self.one, text)

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            inner = payload(value)
            if inner is None:
                return self.text(value)
            return json.dumps(self.value(inner[0]), ensure_ascii=False, separators=inner[1])
        if isinstance(value, dict):
            keys = {key: self.key(self.text(key)) for key in value}
            return {keys[key]: self.value(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner) for inner in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            new = self.text(json.dumps(value))
            return json.loads(new)
        return value

    def item(self, item: dict[str, Any]) -> dict[str, Any]:
        """An item of a rollout: what is said in it changes, not the frame around it."""
        new = dict(item)
        new.update({key: self.value(item[key]) for key in ("name", "arguments", "output") if key in item})
        if isinstance(item.get("content"), list):
            new["content"] = [{**part, "text": self.text(part["text"])} for part in item["content"]]
        elif "content" in item:
            new["content"] = self.value(item["content"])
        return new

    def line(self, line: dict[str, Any]) -> dict[str, Any]:
        new = {**line, "input": [self.item(item) for item in line["input"]]}
        new["generated_items"] = [self.item(item) for item in line["generated_items"]]
        if isinstance(line.get("final_output"), str):
            new["final_output"] = self.text(line["final_output"])
        return new
