"""What a tool shows: of one customer, or of what there is for anybody. Where that cannot be told, of the customer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .special import told

LEAVES = 2_000
"""How many values of an output are looked at."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[\u3400-\u9fff]+")
_DOCUMENT = re.compile(
    r"^(?:polic(?:y|ies)|rules?|terms|faqs?|articles?|docs?|documentation|manuals?|guide(?:s|lines?)?|handbooks?|"
    r"knowledge|kb|help|wiki|regulations?|conditions|tariffs?)$|政策|规则|规定|条款|知识|帮助|文档|手册|指南|常见问题",
    re.IGNORECASE,
)
_ANYBODYS = re.compile(
    r"^(?:airports?|flights?|products?|items?|goods|catalog(?:ue)?s?|cit(?:y|ies)|countr(?:y|ies)|currenc(?:y|ies)|"
    r"categor(?:y|ies)|stores?|branch(?:es)?|shops?|plans?|menus?|rates?|fees?|prices?|pricing|services?|types?|tools?|"
    r"hours|zones?|weather|availability|inventory|stock|models?|versions?|brands?|hotels?|restaurants?|routes?|"
    r"offices?|holidays?)$|机场|航班|商品|产品|目录|城市|国家|类别|门店|套餐|菜单|价格|费率|服务|营业|天气|酒店",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"^(?:me|my|mine|i|self|whoami|who|am|current|users?|customers?|clients?|accounts?|profiles?|members?|patients?|"
    r"guests?|passengers?|tenants?|contacts?|persons?|people|orders?|purchases?|bookings?|reservations?|appointments?|"
    r"subscriptions?|invoices?|bills?|payments?|transactions?|balances?|wallets?|carts?|messages?|mails?|inbox|notes?|"
    r"tickets?|cases?|history|sessions?|context|calendars?|prescriptions?|claims?|statements?|loans?|rentals?|visits?|"
    r"stays?|trips?|addresses?|records?|enrol\w*|registrations?|deliver(?:y|ies)|grades?|exams?|medications?|contracts?|leases?|identity|login|vehicles?|shipments?|parcels?|household|famil(?:y|ies))$|"
    r"我|用户|客户|当前|订单|账户|账号|资料|预约|病历|余额|会员|乘客|患者|消息|购物车|地址|包裹|历史",
    re.IGNORECASE,
)
_INSURED, _NUMBERED = re.compile("polic(?:y|ies)", re.IGNORECASE), re.compile(r"(?:id|number|no)$", re.IGNORECASE)
_ACTS = re.compile(
    r"^(?:refund|cancel|pay|book|send|update|create|modify|return|transfer|delete|set|add|remove|change|exchange|"
    r"submit|order|charge|issue|register|verify|confirm|reset|export|grant|schedule|reserve|ship|close|open|退款|取消|"
    r"支付|修改|发送|预订|下单|转接)",
    re.IGNORECASE,
)
_KEY = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z][a-z0-9]*)*|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+|[\u3400-\u9fff]{1,8}")
_PERSONAL = re.compile(
    r"(?:^|[_ .-])(?:(?:first|last|full|given|family|sur|user|customer|passenger|member|guest|holder|contact)"
    r"[_ -]?names?|e-?mails?|phones?|mobile|tel|address\w*|street|zip\w*|postal\w*|dob|birth\w*|age|gender|sex|"
    r"nationality|religion|marital\w*|spouse|child\w*|balances?|credits?|debts?|owed|owes|arrears|salary|income|iban|cards?|"
    r"accounts?|payment_?methods?|orders?|reservations?|bookings?|appointments?|prescriptions?|conditions?|diagnos\w*|"
    r"allerg\w*|medical\w*|history|memberships?|loyalty|customers?|users?|patients?|members?|passengers?|guests?|"
    r"recipients?|tenants?|owners?|contacts?|employers?|notes?|purchases?|carts?|invoices?|subscriptions?|vehicles?|"
    r"login|passports?|licen[cs]e|sender|holders?|insured|beneficiar\w*)$|"
    r"姓名|名字|乘客|客户|联系人|邮箱|电话|地址|住址|生日|余额|病|订单|会员|性别|年龄|身份证|欠|工资|备注|收件|租客|房号",
    re.IGNORECASE,
)
_NAME = re.compile(r"^(?:name|姓名|id)$", re.IGNORECASE)
_CLASSED = re.compile(
    r"(?:^|[_ .-])(?:status|type|class|cabin|tier|level|membership|category|kind|currency|insurance|method|mode|state|"
    r"reason|colou?rs?|plan)$|状态|类型|等级|类别|舱位",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^[ \t>*|-]*(?P<key>[\w \u3400-\u9fff-]{1,40}?)[ \t]*(?:[:：=])[ \t]*(?P<value>.*)$", re.MULTILINE
)
_FULL_NAME = re.compile(r"[A-Z][^\W\d_]*[.']?(?: [A-Z][^\W\d_]*[.']?){1,3}")
_PLACE = re.compile(
    r"^(?:origin|destination|location|region|area|station|place|name|title|label|airline|carrier)s?$", re.I
)
_ARGUMENT = re.compile(r"\w[\w.-]{0,60}: .*")
_TAG = re.compile(r"<(?P<tag>[A-Za-z][\w.-]{0,40})(?P<attributes>[^<>]{0,400})>(?P<text>[^<]{0,400})")
_ATTRIBUTE = re.compile(r"(?P<key>[\w.-]{1,40})\s*=\s*[\"'](?P<value>[^\"']{0,200})[\"']")
_TO_THEM = re.compile(r"\b(?:you|your|yours|mr|mrs|ms|dear)\b|您|你|先生|女士|尊敬的", re.IGNORECASE)
_PLAIN_VALUE = re.compile(r"[\d\s.,:/T+-]*(?:true|false|null|none)?", re.IGNORECASE)
_PLACED = re.compile(
    r"^(?:cit(?:y|ies)|towns?|villages?|place|locations?|where|region|area|near|nearby|suburb|district|count(?:y|ies)|"
    r"weather|forecast|temperature)$|城市|地点|位置|地区|天气",
    re.IGNORECASE,
)
_THING_CODE = re.compile(r"[A-Z]{2,4}|#?(?=[^ ]*\d)[A-Za-z0-9_-]+")
_FLAG = re.compile(r"true|false|yes|no|[yn01]|是|否|有|无", re.IGNORECASE)
_CLASS_VALUE = re.compile(r"[a-z]+(?:_[a-z]+){0,2}|[\u3400-\u9fff]{1,4}")


def name_parts(name: str) -> tuple[str, ...]:
    """The words of a tool's name or of a key."""
    return tuple(_PARTS.findall(name))


def is_document(tool: str, arguments: str) -> bool:
    """True for a call that asks for a policy, an article or the like, and for nobody's own."""
    parts = name_parts(tool)
    keys = [key for key, _ in given(arguments)]
    if any(_PERSONAL.search(key) for key in keys) or (_INSURED.search(tool) and any(map(_NUMBERED.search, keys))):
        return False
    papers = [part for part in parts if _DOCUMENT.search(part)]
    return bool(papers) and not any(_THEIRS.search(part) for part in parts if part not in papers)


def names_something(tool: str, arguments: str, shown: str) -> bool:
    """True for a call that looks up something which is there for anybody: it names that, and nobody.

    Of prose, where `shown` has no fields, nobody can tell what it holds: there the name of the tool must say what is
    looked up, or a command.
    """
    parts, named = name_parts(tool), given(arguments)
    if not parts or _ACTS.match(parts[0]) or any(_THEIRS.search(part) for part in parts):
        return False
    words = [part for key, value in named or [("", arguments)] for part in (*name_parts(key), *_several(value))]
    if any(_THEIRS.search(word) for word in words) or any(_PERSONAL.search(key) for key, _ in named):
        return False
    if any(_ANYBODYS.search(part) for part in parts):
        return True
    words = [value for _, value in named] or arguments.splitlines()
    return (not named or _has_fields(shown)) and not all(_PLAIN_VALUE.fullmatch(value.strip()) for value in words)


def _of_a_person(key: str, value: str) -> bool:
    """True for a value that may be a person's name, under a key that names no place and nothing that is sold."""
    named = any(_ANYBODYS.search(part) or _PLACE.search(part) for part in name_parts(key))
    return not named and _FULL_NAME.fullmatch(value.strip()) is not None


def _has_fields(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[", "<") and bool(fields(text))


def _several(value: str) -> tuple[str, ...]:
    return name_parts(value) if len(value.split()) > 1 else ()


def is_personal(text: str, document: bool = False) -> bool:
    """True for an output with fields of a person, or words to one, or of a kind that is always a person's.

    A document speaks to anybody, of anything: only its fields can tell that it is of one person.
    """
    found = fields(text)
    if document:
        keyed = found if _has_fields(text) else []
        return sum(_PERSONAL.search(key) is not None for key, _ in keyed) > 1
    keys = [key for key, _ in found]
    if any(_PERSONAL.search(key) for key in keys) or told(text) or any(_of_a_person(*each) for each in found):
        return True
    if any(_NAME.search(key) for key in keys) and not any(_ANYBODYS.search(p) for k in keys for p in name_parts(k)):
        return True
    if not found and _TO_THEM.search(text):
        return True
    header = text.lstrip().partition("\n")[0]
    return bool(re.search(r"[,|;\t]", header)) and any(
        _PERSONAL.search(k.strip()) for k in re.split(r"[,|;\t]", header)
    )


def of_a_place(tool: str, arguments: str, shown: str) -> Iterator[str]:
    """The values of a call that name a place, or somewhere by its name, and that the result is about.

    A code, such as that of an airport, is one of a thing, and so is what is sold.
    """
    about_place = any(_PLACED.search(part) for part in name_parts(tool))
    for key, value in given(arguments):
        parts, plain = name_parts(key), value.strip()
        if len(plain) < 2 or _THING_CODE.fullmatch(plain) or _PLAIN_VALUE.fullmatch(plain):
            continue
        placed = any(_PLACED.search(part) for part in parts) or (about_place and not _has_thing(parts))
        if placed and plain.casefold() in shown.casefold():
            yield plain


def _has_thing(parts: tuple[str, ...]) -> bool:
    return any(_ANYBODYS.search(part) for part in parts)


def keys(text: str) -> Iterator[str]:
    """The names of the fields of an output, or of the arguments of a call, in words."""
    for key, value in fields(text):
        if _KEY.fullmatch(key) and not told(key) and not _FLAG.fullmatch(value.strip()):
            yield " ".join(name_parts(key))


def given(arguments: str) -> list[tuple[str, str]]:
    """The arguments of a call by name; none of a command, whose words are the shell's."""
    found = [_ARGUMENT.fullmatch(line) for line in arguments.splitlines()]
    return fields(arguments) if found and found[0] else []


def fields(text: str) -> list[tuple[str, str]]:
    """The values of JSON, also JSON in a text in it, of XML, and of `key: value` lines, each with its key."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        tagged = list(_tagged(text))
        return tagged or [(m["key"].strip(), m["value"].strip()) for m in _LABELLED.finditer(text)][:LEAVES]
    return list(_leaves("", value, 0))[:LEAVES] if isinstance(value, (dict, list)) else []


def vocabulary(text: str) -> Iterator[str]:
    """The words of an output or a call that are the application's: names of fields, and of classes of things.

    What is only there or not, such as `"smoker": true`, tells of the customer by its name.
    """
    for key, value in fields(text):
        if _KEY.fullmatch(key) and not told(key) and not _FLAG.fullmatch(value.strip()):
            yield " ".join(name_parts(key))
        if _CLASSED.search(key) and _CLASS_VALUE.fullmatch(value.strip()) and not told(value):
            yield value.replace("_", " ")


def values(text: str) -> Iterator[str]:
    """What an output says of the customer: the values of its fields, or all of it where it has no certain form."""
    found = fields(text)
    if not _has_fields(text):
        yield text
    for key, value in found:
        if not (_CLASSED.search(key) and _CLASS_VALUE.fullmatch(value.strip())):
            yield value
        if not _KEY.fullmatch(key) or _FLAG.fullmatch(value.strip()):
            yield " ".join(name_parts(key))


def _leaves(key: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < 20:
        for name, each in value.items():
            if isinstance(each, (dict, list)):
                yield str(name), ""
            yield from _leaves(str(name), each, depth + 1)
    elif isinstance(value, list) and depth < 20:
        for each in value:
            yield from _leaves(key, each, depth + 1)
    elif isinstance(value, str):
        inner = fields(value) if value[:1] in ("{", "[") and depth < 20 else []
        yield from inner or [(key, value)]
    elif value is not None:
        yield key, str(value)


def _tagged(text: str) -> Iterator[tuple[str, str]]:
    for found in _TAG.finditer(text):
        yield found["tag"], found["text"].strip()
        for each in _ATTRIBUTE.finditer(found["attributes"]):
            yield each["key"], each["value"]
