"""Ways to lie with a true memory. Each mutator makes only changes that the quotes do not bear out."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from sandbox_memory.layout import Layout
from sandbox_memory.models import ExtractionDraft, MemoryDraft, QuoteDraft
from sandbox_memory.records import Rollout
from sandbox_memory.stages import extraction

from .rollouts_kit import DEFAULT, talk

Said = tuple[str, str, str]
"""Role, message, and the quote from it."""
Memory = tuple[str, str, list[Said]]
"""Kind, text, and what it rests on."""

Lie = tuple[str, list[Said]]
"""The text of a lie, and what it claims to rest on."""
Mutator = Callable[[str, list[Said], random.Random], Iterator[Lie]]

TABLES = Path(__file__).parent / "liar"


def table(name: str) -> list[Memory]:
    """The memories of `liar/<name>.jsonl`: `true` as a careful model words them, `lies` written by hand."""
    return [memory for memory, _ in rows(name)]


def rows(name: str) -> list[tuple[Memory, bool]]:
    """The same with whether each holds, where the table tells."""
    found = map(json.loads, (TABLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return [((row["kind"], row["text"], [tuple(s) for s in row["said"]]), row.get("holds", False)) for row in found]


TRUE = table("true")


def verdict(kind: str, text: str, said: list[Said], layout: Layout = DEFAULT) -> str | None:
    """Why an extraction refuses this memory of a conversation of these messages; None if it believes it."""
    rollout = talk(*[(role, message) for role, message, _ in said])
    quotes = [QuoteDraft(item=f"s1.{number}", text=quote) for number, (*_, quote) in enumerate(said)]
    return verdict_on(MemoryDraft(kind=kind, text=text, quotes=quotes), rollout, layout)


def verdict_on(memory: MemoryDraft, rollout: Rollout, layout: Layout = DEFAULT) -> str | None:
    """The same for one memory of a given rollout."""
    draft = ExtractionDraft(task="t", slug="t", summary="s", raw_memory="r", memories=[memory])
    refused = extraction.verify(draft, rollout, layout=layout).refused
    return refused[0].why if refused else None


NOT = re.compile(r"\b(?:not|never|no|without) |n't\b|(?<!没)[不没别](?!过|仅|少|同|是(?=[^，。]*，))")
SWAPPED = (
    ("before", "after"),
    ("at least", "at most"),
    ("up to", "at least"),
    ("more", "less"),
    ("above", "below"),
    ("higher", "lower"),
    ("within", "after"),
    ("from", "to"),
    ("early", "late"),
    ("longer", "shorter"),
    ("left out", "left in"),
    ("turns off", "turns on"),
    ("start", "stop"),
    ("closed", "open"),
    ("mornings", "evenings"),
    ("short", "long"),
    ("最多", "至少"),
    ("之前", "之后"),
    ("不超过", "超过"),
    ("上午", "下午"),
    ("晚上", "早上"),
    ("深色", "浅色"),
    ("提交前", "提交后"),
    ("喜欢", "讨厌"),
    ("测试", "生产"),
    ("最新", "最旧"),
    ("至少", "最多"),
    ("简短", "详细"),
)
STRONGER = (
    ("usually", "always"),
    ("usually ", ""),
    ("sometimes", "always"),
    ("sometimes ", ""),
    ("sometimes", "never"),
    ("probably ", ""),
    ("probably", "certainly"),
    ("may be", "must be"),
    ("may run", "must run"),
    ("can be", "must be"),
    ("can have", "must have"),
    ("should be", "must be"),
    ("must be", "can be"),
    ("only ", ""),
    (" unless the user asks for it", ""),
    ("wants", "demands always"),
    ("有时会", "总是"),
    ("有时", ""),
    ("一般", "必须"),
    ("一般", ""),
    ("通常", "总是"),
    ("通常", ""),
    ("可能", "一定"),
    ("可能", ""),
    ("必须", "可以"),
    ("只能", "可以"),
    ("只", ""),
    ("除非用户同意，", ""),
    ("可以", "必须"),
    ("需要", "可以不要"),
)
UNITS = (
    ("minutes", "hours"),
    ("days", "weeks"),
    ("MB", "GB"),
    ("UTC", "CET"),
    ("$", "€"),
    ("%", " points"),
    ("am", "pm"),
    ("AM", "PM"),
    ("euros", "dollars"),
    ("分钟", "小时"),
    ("万元", "千元"),
    ("工作日", "自然日"),
    ("上午", "下午"),
    ("个空格", "个制表符"),
    ("students", "teachers"),
    ("characters", "words"),
    ("per minute", "per hour"),
    ("weekdays", "weekends"),
)
DATES = (
    ("January", "February"),
    ("March", "May"),
    ("April", "June"),
    ("June", "July"),
    ("Thursday", "Tuesday"),
    ("Mondays", "Fridays"),
    ("Wednesdays", "Thursdays"),
    ("Fridays", "Mondays"),
    ("周二", "周三"),
    ("周一", "周四"),
    ("周五", "周六"),
)
ACTORS = (
    ("The user reviews", "The agent reviews"),
    ("the user must be paged", "the agent must be paged"),
    ("The user usually sends", "The agent usually sends"),
    ("The user works", "The agent works"),
    ("We deploy", "You deploy"),
    ("用户要求每次提交前必须先跑测试", "用户每次提交前必须亲自跑测试"),
    ("The user wants to see", "The agent wants to see"),
    ("The customer wants", "The agent wants"),
    ("用户喜欢", "助手喜欢"),
    ("用户想用", "助手想用"),
    ("The user prefers", "The assistant prefers"),
    ("The user lives", "The agent lives"),
    ("用户对花生", "客服对花生"),
    ("unless the user asks", "unless the agent asks"),
    ("The user likes", "The agent likes"),
)
LITERAL = re.compile(r"`([^`]+)`|\"([^\"]+)\"")
NAME = re.compile(
    r"\b(?:Priya|Dana|Acme|Globex|Initech|Hooli|Laura Bream|Umbrella|Lisbon|王芳|李雷|mia_li_3668|noah_w_12)\b|"
    r"王芳|李雷"
)
PATH = re.compile(
    r"https?://\S+|[\w.-]+@[\w.-]+\w|(?:/?[\w.-]+/)+[\w.-]*\w|(?<!\S)--?[a-z][\w-]*|\b[a-z]+_[a-z_0-9]+\b|"
    r"\b\w+\.(?:py|toml|yaml|env|net|org)\b|\b[a-z]+-\d\b|#[\w-]+"
)
NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
ZH_NUMBER = re.compile(r"[二三四五六七八九十两]+(?=[个次条点天周元]|工作)")
WORD = re.compile(r"\b[a-z]{4,}\b")
DOMAIN_WORDS = "giraffe velvet harbour trumpet glacier orchard".split()


def all_quotes(said: list[Said]) -> str:
    return "\n".join(quote for *_, quote in said).casefold()


def _once(text: str, old: str, new: str) -> Iterator[str]:
    """The text with one occurrence replaced, if the old words stand there once, as whole words."""
    edge = r"\b" if old[0].isascii() and old[0].isalpha() else ""
    end = r"\b" if old[-1].isascii() and old[-1].isalpha() else ""
    found = list(re.finditer(f"{edge}{re.escape(old)}{end}", text))
    if len(found) == 1:
        yield text[: found[0].start()] + new + text[found[0].end() :]


def quotes_ok(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for word in ("ok", "好", "yes, thanks", "ok, go ahead"):
        yield text, [("user", word, word)]


def drops_a_not(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for found in NOT.finditer(text):
        yield (text[: found.start()] + text[found.end() :]).replace("  ", " "), said
    for old, new in (
        ("can't", "can"),
        ("cannot", "can"),
        ("does not", "does"),
        ("Do not", "Do"),
        ("No ", "Some "),
        ("never", "always"),
        ("without", "with"),
        ("不能", "能"),
        ("不要", "要"),
    ):
        yield from ((lie, said) for lie in _once(text, old, new))


def adds_a_not(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    if NOT.search(text) or re.search("不|没|cannot|n't|refuse|fail|报错", text):
        return
    for old, new in (
        (" is ", " is not "),
        (" are ", " are not "),
        (" needs ", " never needs "),
        (" prefers ", " does not prefer "),
        (" likes ", " does not like "),
        (" wants ", " does not want "),
        (" lives ", " does not live "),
        (" run ", " do not run "),
        (" has ", " has no "),
        (" can ", " cannot "),
        (" must ", " must not "),
        ("喜欢", "不喜欢"),
        ("是", "不是"),
        ("负责", "不负责"),
        ("需要", "不需要"),
        ("希望", "不希望"),
        ("想用", "不想用"),
        ("Use ", "Never use "),
        ("Restart ", "Do not restart "),
        ("要求", "不要求"),
        ("Alerts go", "Alerts never go"),
        (" should ", " should not "),
    ):
        yield from ((lie, said) for lie in _once(text, old, new))


def moves_a_not(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for pattern, new in (
        (r"^(.*) is (\S+), not (\S+?)([.]?)$", r"\1 is not \2, but \3\4"),
        (r"^(.*?) (on|in|over) ([^,]+), not (?:on |in )?([^,.]+)\.?$", r"\1 \2 \4, not \2 \3."),
        (r"是 ?(\S+?)，不是 ?(\S+?)。", r"不是 \1，是 \2。"),
        (r"只能读，不能写", "不能读，只能写"),
        (r"不要用制表符，用四个空格", "用制表符，不要用四个空格"),
        (r"都用万元，不用元", "不用万元，都用元"),
        (r"没有备份，不要删除", "有备份，没有删除"),
        (r"`(.*?)`, never with (\w+)", r"\2, never with `\1`"),
        (r"listens on port (\d+), not (\d+)", r"listens on port \2, not \1"),
        (r"shifted from eu-1 to eu-2, but never to us-1", r"shifted from eu-1 to us-1, but never to eu-2"),
    ):
        lie = re.sub(pattern, new, text)
        if lie != text:
            yield lie, said


def changes_a_number(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    quotes = all_quotes(said)
    for found in NUMBER.finditer(text):
        value = found.group()
        digit = chance.randrange(len(value))
        made = [value + "0", "1" + value, value[:-1] or "0", str(int(value) + 1) if value.isdigit() else value + ".1"]
        if value[digit].isdigit():
            made.append(value[:digit] + str((int(value[digit]) + chance.randint(1, 9)) % 10) + value[digit + 1 :])
        for new in made:
            if (
                new.strip(".:")
                and not re.search(rf"(?<![\d.]){re.escape(new)}(?![\d])", quotes)
                and new.lstrip("0") != value.lstrip("0")
                and new[-1] not in ".:"
            ):
                yield text[: found.start()] + new + text[found.end() :], said
    for found in ZH_NUMBER.finditer(text):
        for new in ("十一", "六", "二十"):
            if new not in found.group() and new not in quotes:
                yield text[: found.start()] + new + text[found.end() :], said
    for old, new in (
        ("at most three", "at most four"),
        ("at most five", "at most seven"),
        ("one question", "two questions"),
        ("twice", "three times"),
    ):
        yield from ((lie, said) for lie in _once(text, old, new))


def _pairs(table: tuple[tuple[str, str], ...], both: bool) -> Mutator:
    def made(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
        quotes = all_quotes(said)
        for one, two in table:
            for old, new in ((one, two), (two, one)) if both else ((one, two),):
                if old in ("from", "to") and re.search(
                    r"\bto (?:be|see|use|fly|take|pay|update|change|review)\b|from now on|`.* to `", text
                ):
                    continue  # no sentence, rather than a lie
                if old and (not new or new.casefold() not in quotes or len(new) < 4):
                    yield from ((lie, said) for lie in _once(text, old, new) if lie.casefold() not in quotes)

    return made


def changes_a_name(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for found in NAME.finditer(text):
        others = ("Omar", "Initrode", "Zürich", "韩梅", "omar_rossi_1241")
        new = others[4] if "_" in found.group() else others[3] if found.group()[0] > "z" else chance.choice(others[:2])
        yield text[: found.start()] + new + text[found.end() :], said


def changes_an_identifier(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    quotes = all_quotes(said)
    for found in PATH.finditer(text):
        name = found.group().rstrip(".。,")
        end = found.start() + len(name)
        made = [
            name + "_old",
            name + "2",
            name.replace("/", "/x", 1),
            name.replace(".", "-x.", 1),
            name[:-2],
            re.sub("[aeiou]", "y", name, count=1),
        ]
        if "_" in name or "/" in name:
            made += [name.upper(), name.replace("_", "-", 1)]
        for new in made:
            if (
                new != name
                and new
                and (
                    new.casefold() not in quotes
                    or (new.casefold() == name.casefold() and new not in "\n".join(q for *_, q in said))
                )
            ):
                yield text[: found.start()] + new + text[end:], said


def invents(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    bare = text.rstrip(".。")
    name = "".join(chance.choices("abcdxyz", k=6))
    for more in (
        f" in lib/{name}.py",
        f" with --{name}",
        f" (see https://{name}.example.com)",
        f" by {name.title()}",
        f" and {name}@example.com",
        " within 45 minutes",
        " in 2019",
        f", as {name}_handler says",
        " and every other project",
        ", because the tests are slow",
        ", and hates cats",
        ", which the lawyers demanded",
        " for the whole company",
    ):
        yield bare + more + ".", said
    yield bare + "，因为老板不同意", said
    yield bare + "，并且禁止加班", said


def changes_quoted_words(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for found in LITERAL.finditer(text):
        inside = found[1] or found[2]
        words = inside.split(" ")
        place = chance.randrange(len(words))
        for new in (
            " ".join([*words[:place], "velvet", *words[place + 1 :]]),
            inside + " now",
            "not " + inside,
            inside[1:] if len(inside) > 4 else inside + "x",
        ):
            if new.casefold().replace(" ", "") not in all_quotes(said).replace(" ", ""):
                yield text.replace(inside, new, 1), said


def swaps_roles(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for pattern in (
        r"(?P<a>[\w./-]+)(?P<m> over | instead of | for )(?P<b>[\w./-]+)",
        r"from (?P<a>[\w./-]+)(?P<m> to )(?P<b>[\w./-]+)",
        r"从 ?(?P<a>\S+)(?P<m> 迁移到 )(?P<b>\w+)",
        r"(?P<a>深色)(?P<m>主题代替)(?P<b>浅色)",
        r"(?P<a>王芳)(?P<m>负责支付系统，)(?P<b>李雷)",
        r"(?P<a>支付)(?P<m>系统，李雷负责)(?P<b>订单)",
        r"(?P<a>certificates)(?P<m> first, then )(?P<b>gift cards)",
        r"(?P<a>周二上午十点)(?P<m>，周报的数据截到)(?P<b>周一零点)",
        r"(?P<a>\$49)(?P<m>.*)(?P<b>\$39)",
        r"(?P<a>March 31)(?P<m>.*)(?P<b>April 30)",
        r"(?P<a>#ops-new)(?P<m>.*)(?P<b>#ops-old)",
        r"(?P<a>3 failed, 12 passed)(?P<m>.*)(?P<b>15 passed)",
        r"(?P<a>return int\(x\))(?P<m>.*)(?P<b>return round\(x\))",
        r"(?P<a>vegetarian meal)(?P<m>.*)(?P<b>peanuts)",
        r"(?P<a>/etc/shop/shop.env)(?P<m>.*)(?P<b>/run/shop)",
        r"(?P<a>Lisbon)(?P<m>.*)(?P<b>home)",
    ):
        found = re.search(pattern, text)
        if (
            found
            and found["a"] != found["b"]
            and found["b"] not in ("the", "be", "pay", "see", "play", "a", "an", "take", "finance")
            and found["a"] not in ("wants", "going", "up", "willing", "has", "need", "asked", "go", "report")
        ):
            yield text[: found.start("a")] + found["b"] + found["m"] + found["a"] + text[found.end("b") :], said


def puts_another_word(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    quotes = all_quotes(said)
    shared = [found for found in WORD.finditer(text) if re.search(rf"\b{found.group()}\b", quotes)]
    for found in shared:
        if found.group() not in (
            "will",
            "with",
            "from",
            "that",
            "this",
            "there",
            "have",
            "does",
            "only",
            "been",
            "want",
            "wants",
            "after",
            "when",
            "over",
            "before",
            "without",
            "than",
            "then",
            "through",
            "must",
            "should",
            "into",
            "unless",
            "never",
            "always",
            "usually",
            "instead",
            "need",
            "needs",
            "within",
            "sometimes",
            "most",
            "least",
            "more",
        ):
            yield text[: found.start()] + chance.choice(DOMAIN_WORDS) + text[found.end() :], said
    for old, new in (
        ("红色", "绿色"),
        ("结论", "邮件"),
        ("支付", "物流"),
        ("花生", "海鲜"),
        ("日志", "报表"),
        ("订单表", "用户表"),
        ("周报", "月报"),
        ("发票", "收据"),
        ("配置", "账号"),
        ("超时", "崩溃"),
        ("退款", "发货"),
        ("会员", "商家"),
        ("北京", "东京"),
    ):
        yield from ((lie, said) for lie in _once(text, old, new))


def joins_two(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    """The beginning of one memory and the end of another, with the quotes of both."""
    for _ in range(3):
        _, other, others = chance.choice(TRUE)
        if other == text or (text[0] > "\u3400") != (other[0] > "\u3400") or "`" in text + other or '"' in text + other:
            continue
        for joint in (
            r" is | are | needs | prefers | wants | likes | has | runs? | must | should ",
            "是|用(?!户)|需要|负责|希望|喜欢|不要",
        ):
            one, two = re.search(joint, text), re.search(joint, other)
            if (
                one
                and two
                and " user " not in text[: one.start() + 1] + other[: two.start() + 1]
                and len(text[: one.start()]) > 1
                and not re.fullmatch(r"The (?:user|customer|guest)|用户", text[: one.start()])  # then it may be true
                and text[: one.start()].casefold() != other[: two.start()].casefold()
            ):
                yield text[: one.end()] + other[two.end() :], [*said, *others]


def translates(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    for old, new in (
        ("The CI runs on Python 3.10, 3.11 and 3.12.", "持续集成跑在 Python 3.10、3.11 和 3.12 上。"),
        ("Basic economy tickets cannot be changed.", "基础经济舱机票不能改签。"),
        ("图表不要用红色。", "Do not use red in charts."),
        ("端口是 8443，不是 8080。", "The port is 8443, not 8080."),
        ("退款最多需要七个工作日。", "Refunds take at most 7 working days."),
        ("Disk alerts sometimes fire twice.", "磁盘告警有时会触发两次。"),
        ("No emojis in slides.", "幻灯片里不要用表情符号。"),
        ("用户喜欢简短的结论。", "The user likes short conclusions."),
        ("The staging server listens on port 8443, not 8080.", "预发服务器监听 8443 端口，不是 8080。"),
        ("数据库 db_main 没有备份，不要删除 table_7。", "Database db_main has no backup, do not delete table_7."),
    ):
        if text == old:
            yield new, said


def somebody_else_said_it(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    """The person's words, but from the agent, a tool, a pasted text or memory."""
    if (
        len(said) == 1
        and said[0][0] == "user"
        and re.match(
            r"The user (?:prefers|likes|wants|usually|does|can't)"
            r"|The customer (?:wants|prefers|needs|is|always|doesn't)"
            r"|用户(?:喜欢|通常|想|要求|希望|对)",
            text,
        )
    ):
        _, message, quote = said[0]
        yield text, [("assistant", message, quote)]
        yield text, [("output", message, quote)]
        yield text, [("call", message, quote)]
        yield text, [("memory", message, quote)]
        yield text, [("user", f"Look at this:\n```\n{message}\n```\nThanks", quote)]
        yield text, [("user", f"They wrote:\n> {message}\nWhat do you think?", quote)]


def cuts_the_quote(text: str, said: list[Said], chance: random.Random) -> Iterator[Lie]:
    """What follows a "not", "if" or "maybe" quoted without it."""
    for role, message, quote in said:
        for old in (
            "never ",
            "don't ",
            "do not ",
            "not ",
            "cannot ",
            "can't ",
            "sometimes ",
            "probably ",
            "usually ",
            "不要",
            "不能",
            "不想",
            "别",
            "有时会",
            "可能",
            "没有",
            "通常",
        ):
            found = re.search(re.escape(old) + r"([^,.，。]{6,})", quote)
            if found and message.count(found[1]) == 1:
                yield found[1].strip(), [(role, message, found[1])]


MUTATORS: dict[str, Mutator] = {
    "quotes ok": quotes_ok,
    "drops a not": drops_a_not,
    "adds a not": adds_a_not,
    "moves a not": moves_a_not,
    "changes a number": changes_a_number,
    "changes a unit": _pairs(UNITS, False),
    "changes a date": _pairs(DATES, False),
    "turns round": _pairs(SWAPPED, True),
    "strengthens": _pairs(STRONGER, False),
    "another actor": _pairs(ACTORS, False),
    "another name": changes_a_name,
    "another identifier": changes_an_identifier,
    "invents": invents,
    "other quoted words": changes_quoted_words,
    "swaps roles": swaps_roles,
    "another word": puts_another_word,
    "joins two": joins_two,
    "translates": translates,
    "another speaker": somebody_else_said_it,
    "cuts the quote": cuts_the_quote,
}
