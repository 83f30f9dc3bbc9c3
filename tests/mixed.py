"""Small rollouts in many languages, made at random from a seed: what people ask, what tools answer, how it ends."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAID = {
    "en": (
        "From now on show me the {tool} diff before you change {file}.",
        "No, the {thing} is {port}, not {other}.",
        "Please run the tests of {file} and tell me what fails.",
        "Remember that {name} owns the {thing}.",
    ),
    "zh": (
        "以后改 {file} 之前先给我看 {tool} 的差异。",
        "不对，{thing}是 {port}，不是 {other}。",
        "请运行 {file} 的测试，告诉我哪里失败了。",
        "记住，{name}负责{thing}。",
    ),
    "ja": (
        "今後は {file} を変更する前に {tool} の差分を見せてください。",
        "いいえ、{thing}は {other} ではなく {port} です。",
        "{file} のテストを実行してください。",
        "覚えておいて：{name}さんが{thing}の担当です。",
    ),
    "ar": (
        "من الآن فصاعدًا أرني فرق {tool} قبل تغيير {file}.",
        "لا، {thing} هو {port} وليس {other}.",
        "شغّل اختبارات {file} من فضلك.",
        "تذكّر أن {name} مسؤول عن {thing}.",
    ),
    "emoji": (
        "🚨 never push to {file} without me 🙏",
        "❌ {other} → ✅ {port} for the {thing} 👩‍💻",
        "🏃 run {file} 🧪",
        "🧠 {name} ❤️ {thing} 🇩🇪",
    ),
}
THINGS = {
    "en": ("port of staging", "report", "nightly job", "billing table"),
    "zh": ("测试环境的端口", "周报", "夜间任务", "账单表"),
    "ja": ("ステージングのポート", "週報", "夜間ジョブ", "請求テーブル"),
    "ar": ("منفذ الاختبار", "التقرير", "المهمة الليلية", "جدول الفواتير"),
    "emoji": ("🔌", "📊", "🌙", "💳"),
}
NAMES = ("Ana", "王芳", "さとう", "عمر", "Zoë", "Оля", "José-María", "李明")
OUTPUTS = (
    "3 passed in 0.{port}s",
    "Traceback (most recent call last):\n  File \"{file}\", line {port}, in run\nKeyError: '{thing}'",
    '{{"ok": false, "error": "{thing} {port} 不存在"}}',
    "diff --git a/{file} b/{file}\n-port = {other}\n+port = {port}\n",
    "\u202e{thing}\u202c \x1b[31mred\x1b[0m \ufeff ﷽ {port}\r\n",
    "",
)


def rollouts(seed: int, count: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """`count` rollouts as (stem, lines)."""
    rng = random.Random(seed)
    for number in range(count):
        languages = rng.choices(list(SAID), k=rng.randint(1, 2))
        lines = [_line(rng, number, run, rng.choice(languages)) for run in range(rng.randint(1, 3))]
        yield f"talk-{number:04}", lines


def write(root: Path, seed: int, count: int) -> int:
    """Write the rollouts into a workspace; the bytes that they take."""
    (root / "sessions").mkdir(parents=True, exist_ok=True)
    whole = 0
    for stem, lines in rollouts(seed, count):
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        (root / "sessions" / f"{stem}.jsonl").write_bytes(data)
        whole += len(data)
    return whole


def _line(rng: random.Random, number: int, run: int, language: str) -> dict[str, Any]:
    def filled(template: str) -> str:
        port, other = rng.sample(range(1024, 9999), 2)
        return template.format(
            tool=rng.choice(("git", "terraform", "数据库")),
            file=rng.choice(("src/app.py", "配置/部署.yaml", "README.md", "a b/ü.ts")),
            thing=rng.choice(THINGS[language]),
            name=rng.choice(NAMES),
            port=port,
            other=other,
        )

    generated: list[dict[str, Any]] = []
    for call in range(rng.randint(0, 3)):
        made = f"call-{run}-{call}"
        generated.append(
            {
                "type": "function_call",
                "call_id": made,
                "name": rng.choice(("exec_command", "search", "查询")),
                "arguments": json.dumps({"cmd": filled("cat {file} | grep {port}")}, ensure_ascii=rng.random() < 0.5),
            }
        )
        output = {"type": "function_call_output", "call_id": made, "output": filled(rng.choice(OUTPUTS))}
        generated.append(output)
    final = filled(rng.choice(("Done.", "已完成：{file}", "{thing} 完了", "تم {port}", "✅")))
    generated.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": final}]})
    said = " ".join(filled(rng.choice(SAID[language])) for _ in range(rng.randint(1, 2)))
    return {
        "updated_at": f"2026-09-{1 + number % 28:02}T{run:02}:00:00+00:00",
        "rollout_id": f"talk-{number:04}",
        "input": [{"role": "user", "content": said}],
        "generated_items": generated,
        "interruptions": [],
        "terminal_metadata": {"terminal_state": rng.choice(("completed", "completed", "failed", "cancelled"))},
        "final_output": final,
        "segment": f"{number:04x}{run:08x}",
        "agent": rng.choice(("A", "助手", None)),
    }
