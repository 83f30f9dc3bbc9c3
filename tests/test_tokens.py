from __future__ import annotations

import base64
import difflib
import json
import random
import re
import sysconfig
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.tokens import SAMPLE, estimate

from .tokenizing import count

STANDARD = Path(sysconfig.get_paths()["stdlib"])
INSTALLED = Path(sysconfig.get_paths()["purelib"])
ROOT = Path(__file__).resolve().parents[1]
LEAST, MOST = 0.98, 1.25
"""What an estimate may be of the count, for texts of 1,000 tokens and more."""

CHINESE = (
    "部署之前请先确认测试全部通过，再把改动发给我看。上次发布失败是因为配置文件里的端口写错了：应该是 8443，不"
    "是 8080。以后每次修改数据库结构都要先备份，备份放在共享目录里，文件名带上日期。周报每周五下午四点之前提交"
    "，内容包括本周完成的事情、遇到的问题和下周的计划。客户反馈说搜索页面打开太慢，我们查了日志，发现同一个查询执行"
    "了三次，原因是缓存的键里没有包含语言。修好以后，平均响应时间从两秒降到了三百毫秒。王芳负责支付模块，李明负责订"
    "单模块，两边的接口文档都在内部网站上。如果遇到权限不足的错误，先检查账号是不是属于正确的用户组，不要直接用管理"
    "员账号去试。会议决定把旧的报表系统保留到年底，新的系统从十月开始并行运行，数据每天凌晨同步一次，差异由数据组核"
    "对。我个人更喜欢简短的提交说明，一行标题，加上为什么要这样改。请不要在没有说明的情况下升级依赖，尤其是大版本。"
    "这个项目的编码规范写在根目录的说明文件里，命名用小写字母加下划线，注释用中文，变量名用英文。昨天晚上的任务跑到"
    "一半停了，磁盘满了，清理临时文件之后恢复正常。"
)
OTHERS = {
    "Japanese": "反映する前に、必ずテストを実行してください。ポートは8443です。設定は共有フォルダーにあります。",
    "Korean": "배포하기 전에 반드시 테스트를 실행해 주세요. 포트는 8443입니다. 설정은 공유 폴더에 있습니다.",
    "Russian": "Перед выкладкой обязательно запустите все тесты. Порт теперь 8443, а не 8080. Настройки в общей папке.",
    "Arabic": "شغّل الاختبارات قبل النشر دائمًا. المنفذ هو 8443 وليس 8080. ملف الإعدادات موجود في المجلد المشترك.",
    "Hindi": "तैनाती से पहले सभी परीक्षण चलाएँ। पोर्ट 8443 है, 8080 नहीं। सेटिंग्स साझा फ़ोल्डर में हैं।",
    "German": "Vor der Auslieferung müssen alle Prüfungen laufen. Der Anschluss ist 8443, wie die Übersicht zeigt.",
    "emoji": "done ✅ 🚀 next: 🐛🔥 please check 👍🏽 👩‍💻 🇩🇪 ❤️ 🪐 ⚠️ and ship 📦",
    "symbols": "┌──────┬───────┐\n│ name │ port  │ → ✓ ≤ 3 ± 2 · “quoted” — … №\n└──────┴───────┘",
    "rare": "饕餮 魑魅魍魎 𠮷野家 齉龘 鬱 籲 龜 纛 囍 彧 煊 ᚠᛇᚻ ⠓⠑ 𝔘𝔫𝔦 ﷽",
}


def parts(paths: Iterable[Path], size: int = 40_000, most: int = 60, least: int = 5_000) -> Iterator[tuple[str, str]]:
    """Texts of these files, of the length that an item may have, named by the file."""
    taken = 0
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")[:size]
        except (OSError, UnicodeDecodeError):
            continue
        if len(text) > least:
            yield str(path), text
            taken += 1
        if taken == most:
            return


def within(texts: Iterable[tuple[str, str]], least: float = LEAST, most: float = MOST) -> int:
    """How many texts were compared; each estimate must be within these bounds of the count."""
    ratios = {}
    for name, text in texts:
        real = count(text)
        if real >= 1_000:
            ratios[name] = round(estimate(text) / real, 3)
    assert all(least <= ratio <= most for ratio in ratios.values()), sorted(
        (ratio, name) for name, ratio in ratios.items() if not least <= ratio <= most
    )
    return len(ratios)


def test_code_of_the_standard_library() -> None:
    assert within(parts(sorted(STANDARD.glob("*.py"))[::3])) > 20
    assert within(parts(sorted(STANDARD.glob("*/*.py"))[::17])) > 20


def test_code_that_others_wrote() -> None:
    assert within(parts(sorted(INSTALLED.glob("*/*.py"))[::11])) > 20


def test_documentation_and_licences() -> None:
    texts = [*INSTALLED.glob("*.dist-info/METADATA"), *INSTALLED.glob("*.dist-info/licenses/*"), *ROOT.glob("*.md")]
    assert within(parts(sorted(texts))) > 15


def structures() -> Iterator[tuple[str, Any]]:
    rng = random.Random(5)
    yield (
        "orders",
        [
            {
                "id": rng.randrange(10**8),
                "customer": rng.choice(["Ana Silva", "Chen Wei", "Omar Haddad"]),
                "createdAt": f"2026-09-1{rng.randrange(9)}T0{rng.randrange(9)}:{rng.randrange(10, 59)}:00Z",
                "items": [{"sku": f"SKU-{rng.randrange(10**5):05}", "price": round(rng.random() * 90, 2)}] * 2,
                "paid": rng.random() < 0.5,
                "address": {"street": "12 Market Street", "city": "Porto", "zip": "4000-124"},
            }
            for _ in range(60)
        ],
    )
    yield "points", [[round(rng.random() * 180 - 90, 6), round(rng.random() * 360 - 180, 6)] for _ in range(300)]
    yield (
        "hashes",
        {f"lib-{n}": {"version": f"1.{n}.0", "integrity": f"sha512-{rng.getrandbits(512):0128x}"} for n in range(40)},
    )
    yield "chinese", [{"编号": n, "内容": line, "状态": "已完成"} for n, line in enumerate(CHINESE.split("。"))] * 3


@pytest.mark.parametrize("layout", [{"indent": 2}, {"separators": (",", ":")}, {}], ids=["pretty", "compact", "plain"])
def test_json(layout: dict[str, Any]) -> None:
    texts = ((name, json.dumps(value, ensure_ascii=False, **layout)) for name, value in structures())
    assert within(texts) == 4


def test_chinese_alone_and_with_code() -> None:
    code = (STANDARD / "dataclasses.py").read_text(encoding="utf-8")[:9_000].split("\n")
    said = re.split("[。，]", CHINESE) * 9
    mixed = "\n".join(f"{line}  # {comment}" for line, comment in zip(code, said, strict=False))
    clauses = "，".join(random.Random(1).sample(said, len(said)))
    assert within([("prose", "\n\n".join([CHINESE] * 4)), ("mixed", mixed), ("clauses", clauses)]) == 3


def test_logs_diffs_and_encoded_data() -> None:
    rng = random.Random(7)
    log = "\n".join(
        f"2026-09-{rng.randrange(10, 30)} {rng.randrange(10, 24)}:{rng.randrange(10, 60)}:07,{rng.randrange(1000):03} "
        f"INFO [worker-{rng.randrange(9)}] app.orders - request {rng.getrandbits(32):08x} took {rng.randrange(900)} ms "
        f"from 10.0.{rng.randrange(255)}.{rng.randrange(255)}"
        for _ in range(300)
    )
    before = (STANDARD / "argparse.py").read_text(encoding="utf-8").splitlines(keepends=True)[:900]
    after = [line.replace("self", "this") if rng.random() < 0.1 else line for line in before if rng.random() > 0.05]
    data = rng.randbytes(6_000)
    texts = {
        "log": log,
        "diff": "".join(difflib.unified_diff(before, after)),
        "hex": data.hex(),
        "base64": base64.encodebytes(data).decode(),
        "uuids": "\n".join(f"{rng.getrandbits(128):032x}" for _ in range(200)),
    }
    assert within(texts.items()) == 5
    gibberish = " ".join("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(600))
    assert within([("gibberish", gibberish)], least=0.95) == 1


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_do_not_fall_short(language: str) -> None:
    text = "\n".join([OTHERS[language]] * 60)
    assert count(text) >= 1_000
    assert estimate(text) >= LEAST * count(text)


def test_real_conversations(shared: Path) -> None:
    assert within(parts(sorted((shared / "data" / "rollouts").glob("*/sessions/*.jsonl")), least=0)) == 46
    told = (shared / "data" / "recall" / "madial-zh-memories.jsonl").read_text(encoding="utf-8")
    turns = (shared / "data" / "recall" / "madial-zh-dialogues-even.jsonl").read_text(encoding="utf-8")
    chats = (shared / "data" / "recall" / "locomo-first5.json").read_text(encoding="utf-8")
    assert within([("memories", told), ("turns", turns), ("chats", chats[:300_000])]) == 3


def test_a_text_of_very_many_words_is_weighed_by_a_sample() -> None:
    rng = random.Random(3)
    words = [f"{rng.choice(['get', 'set', 'run'])}_{rng.getrandbits(40):010x}" for _ in range(4 * SAMPLE)]
    text = "\n".join(" ".join(words[n : n + 8]) for n in range(0, len(words), 8))
    assert LEAST * count(text) <= estimate(text) <= MOST * count(text)
    chinese = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(2 * SAMPLE))
    assert estimate(chinese) >= LEAST * count(chinese)


def test_thirteen_megabytes_take_moments() -> None:
    text = "".join(text for _, text in parts(sorted(STANDARD.glob("*.py")), most=200))
    text = (text * (13_000_000 // len(text) + 1))[:13_000_000]
    start = time.process_time()
    assert estimate(text) > 2_000_000
    print(f"13 MB of code: {time.process_time() - start:.2f} s")


@given(st.text(max_size=300))
def test_any_text_has_an_estimate(text: str) -> None:
    assert 0 <= estimate(text) <= 4 * len(text.encode("utf-8", "replace")) + 1


def test_small_texts() -> None:
    assert estimate("") == 0
    assert estimate("a") >= 1 and estimate("\0\0\0") >= 3 and estimate("\ud800") >= 1
    assert estimate(" " * 100_000) < 2_000
