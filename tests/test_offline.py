from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rollouts_kit import CODING, DEFAULT, GTM, rollout, segment, talk

from sandbox_memory.errors import ModelError
from sandbox_memory.governance.grounding import ungrounded
from sandbox_memory.layout import Layout
from sandbox_memory.models import (
    Answer,
    ConsolidationDraft,
    ConsolidationMaterial,
    DraftOperation,
    ExtractionDraft,
    ExtractionMaterial,
    Request,
)
from sandbox_memory.models.offline import OfflineModel
from sandbox_memory.models.offline.sentences import sentences, title
from sandbox_memory.models.offline.tools import failure
from sandbox_memory.records import Candidate, Kind, RawMemory, Record, Rollout, Trust
from sandbox_memory.rollouts import parse_rollout
from sandbox_memory.stages import extraction

MANY = replace(DEFAULT, preset=replace(DEFAULT.preset, audience="many"))


def extracted(said: Rollout, layout: Layout = DEFAULT) -> RawMemory:
    request = extraction.request(said, previous="", layout=layout, extra_prompt=None)
    answer: Answer[ExtractionDraft] = asyncio.run(OfflineModel().answer(request))
    raw = extraction.verify(answer.value, said, layout=layout)
    assert raw.refused == (), "what it proposes holds"
    return raw


def texts(said: Rollout, *kinds: Kind, layout: Layout = DEFAULT) -> list[str]:
    return [c.text for c in extracted(said, layout).candidates if not kinds or c.kind in kinds]


def said_by_user(*messages: str, layout: Layout = DEFAULT) -> list[str]:
    return texts(talk(*[("user", message) for message in messages]), layout=layout)


# ---------------------------------------------------------------- what people say


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("I prefer tabs over spaces.", "I prefer tabs over spaces"),
        ("Sounds fine, but I never want force pushes.", "I never want force pushes"),
        ("Please always run the linter before you commit.", "Please always run the linter before you commit"),
        ("Don't touch the lock file.", "Don't touch the lock file"),
        ("No, the port is 8443, not 8080.", "the port is 8443, not 8080"),
        ("Remember that on-call for payments is Priya.", "Remember that on-call for payments is Priya"),
        ("None of these work, as I don't want to leave before 11 AM.", "I don't want to leave before 11 AM"),
        (
            "If it takes more than 5 minutes, I'd prefer a summary.",
            "If it takes more than 5 minutes, I'd prefer a summary",
        ),
        ("I'd like to use my vouchers first, then the card.", "I'd like to use my vouchers first, then the card"),
        ("From now on, answer in German.", "From now on, answer in German"),
        ("Use pnpm instead of npm.", "Use pnpm instead of npm"),
        ("We deploy on Tuesdays only.", "We deploy on Tuesdays only"),
        ("I'm allergic to peanuts.", "I'm allergic to peanuts"),
        ("The dashboard lives at grafana.internal/d/7.", "The dashboard lives at grafana.internal/d/7"),
        ("Acme prefers calls on Thursday mornings.", "Acme prefers calls on Thursday mornings"),
        ("以后报表里的金额都用万元，不要用元。", "以后报表里的金额都用万元，不要用元"),
        ("不对，端口是 8443，不是 8080。", "端口是 8443，不是 8080"),
        ("我比较喜欢简短的结论。", "我比较喜欢简短的结论"),
        ("图表请不要用红色。", "图表请不要用红色"),
        ("请记住：生产库只能读。", "请记住：生产库只能读"),
    ],
)
def test_what_a_person_wants_or_corrects_is_kept_in_their_words(message: str, kept: str) -> None:
    said = talk(("user", "Let us begin with the report."), ("user", message))
    raw = extracted(said)
    assert kept in [candidate.text for candidate in raw.candidates]
    assert all(candidate.trust is Trust.USER for candidate in raw.candidates)


@pytest.mark.parametrize(
    "message",
    [
        "Hi there!",
        "Thanks, that's all.",
        "Yes, please go ahead.",
        "Yes, please proceed with option 2.",
        "I'd like to book a table for tonight.",
        "I want to change my flight to May 24th.",
        "I'll go with the first option.",
        "Let's use port 9000 for this test.",
        "I'd like the cheapest one this time.",
        "Can you always do that?",
        "Could you use the other file instead?",
        "I don't have the ID with me right now.",
        "I don't remember the name.",
        "My birthday is 1990-04-05 and I never forget it.",
        "I only read mail at dana@example.com.",
        "I must have left it somewhere.",
        "I think it might be the first one.",
        "好的，谢谢！",
        "这次先用 PNG 吧，不要用 SVG。",
        "你能不能每次都这样做吗？",
        "我的身份证号一定要保密。",
    ],
)
def test_what_is_said_for_now_is_not_kept(message: str) -> None:
    assert said_by_user("Draft a report.", message) == []


def test_a_pasted_document_is_not_taken_for_wishes() -> None:
    rules = "\n".join(
        f"{n}. You must always follow rule {n}. Never skip it. Remember that rule {n} is law." for n in range(40)
    )
    assert said_by_user(f"Solve this:\n{rules}") == []
    assert said_by_user("Look at this:\n```\n# I always prefer eval\nnever = 1\n```\nThanks!") == []
    assert said_by_user(f"I prefer short answers.\n\n{rules}") == ["I prefer short answers"]


def test_secrets_never_become_a_memory() -> None:
    assert said_by_user("Always use the password ⟦secret:password⟧ for staging.") == []


def test_a_long_message_is_cut_at_a_clause() -> None:
    (kept,) = said_by_user("I prefer " + ", ".join(f"thing number {n} of the long list" for n in range(20)) + ".")
    assert len(kept) <= 300 and not kept.endswith(",")


def test_where_many_are_served_a_wish_names_whose_it_is() -> None:
    said = talk(("user", "My user ID is dana_lee_4711."), ("user", "I prefer aisle seats."))
    assert texts(said, layout=MANY) == ["dana_lee_4711: I prefer aisle seats"]
    assert "I prefer aisle seats" in texts(said, layout=DEFAULT)


def test_subjects_are_given_only_to_plain_statements() -> None:
    raw = extracted(
        talk(("user", "The staging port is 8443. I prefer tabs. Device A is a Synology. 设备A现在是群晖。"))
    )
    assert {c.text: c.subject for c in raw.candidates} == {
        "The staging port is 8443": "staging port",
        "I prefer tabs": "",
        "Device A is a Synology": "device a",
        "设备A现在是群晖": "设备a",
    }


# ---------------------------------------------------------------- what tools show


FIXED = [
    ("user", "Fix the rounding of durations."),
    ("call", "python reproduce.py"),
    ("output", "344\n"),
    ("call", "edit 12:12\nreturn round(x)\nend"),
    ("output", "ERRORS:\n- E999 IndentationError: unexpected indent\n" + "  12: return\n" * 40),
    ("call", "edit 12:12\n    return round(x)\nend"),
    ("output", "Text replaced.\n" + "  12: return\n" * 40),
    ("call", "python reproduce.py"),
    ("output", "345\n"),
    ("call", "submit"),
    ("output", "diff --git a/src/app.py b/src/app.py\n--- a/src/app.py\n+++ b/src/app.py\n@@ -12 +12 @@\n def f(x):\n"
               "-    return int(x)\n+    return round(x)\n"),
]  # fmt: skip


def test_a_fix_leaves_what_failed_what_worked_and_what_changed() -> None:
    assert texts(talk(*FIXED), layout=CODING) == [
        '`edit 12:12` failed: "E999 IndentationError: unexpected indent"; worked with other indentation',
        "`python reproduce.py` showed 344 at first, 345 in the end",
        "Fix the rounding of durations: changed src/app.py: `return int(x)` became `return round(x)`",
    ]


def test_a_changed_call_that_worked_is_named_after_the_failure() -> None:
    said = talk(
        ("user", "Restart checkout."),
        ("call", "kubectl rollout restart deploy/checkout"),
        ("output", 'Error from server (NotFound): deployments.apps "checkout" not found\nexit code: 1'),
        ("call", "kubectl -n shop rollout restart deploy/checkout"),
        ("output", "deployment.apps/checkout restarted"),
    )
    (lesson,) = texts(said, Kind.LESSON)
    assert lesson.startswith("`kubectl rollout restart deploy/checkout` failed:")
    assert lesson.endswith("then `kubectl -n shop rollout restart deploy/checkout` worked")


def test_a_failed_tool_call_names_the_tool_and_the_argument_that_mattered_but_not_its_values() -> None:
    said = talk(
        ("user", "Book it."),
        ("call", "user: dana_1\namount: 255"),
        ("output", "Error: amounts do not add up, total is 305, but paid 255"),
        ("call", "user: dana_1\namount: 305"),
        ("output", '{"booked": true}'),
        tool="book_room",
    )
    assert texts(said, Kind.LESSON) == [
        '`book_room` failed: "Error: amounts do not add up"; worked with another `amount`'
    ]


def test_how_something_missing_was_looked_up_is_a_procedure() -> None:
    def item(name: str, said: str, output: str) -> list[tuple[str, str, str]]:
        return [("call", name, said), ("output", name, output)]

    steps = [
        ("user", "user", "I don't remember the order ID. I am dana_lee_1."),
        *item("get_customer", "customer: dana_lee_1", '{"orders": ["ZX81QL"]}'),
        *item("get_order", "order_id: ZX81QL", '{"status": "sent"}'),
    ]
    base = talk(*[(role, text) for role, _, text in steps])
    items = tuple(
        replace(item, label=name, text=f"{name}\n{text}" if role == "call" else text)
        for item, (role, name, text) in zip(base.segments[0].items, steps, strict=True)
    )
    said = rollout(replace(base.segments[0], items=items))
    assert texts(said, Kind.PROCEDURE) == ["`get_customer` shows the `order_id` that `get_order` needs"]


def test_dumps_and_looking_around_are_not_kept() -> None:
    said = talk(
        ("user", "Look around."),
        ("call", "ls -F"),
        ("output", "README.md src/ tests/"),
        ("call", "cat src/app.py"),
        ("output", "\n".join(f"{n}: raise ValueError('Error: {n}')" for n in range(200))),
        ("call", "python -m pytest"),
        ("output", "....\n" * 100),
    )
    assert texts(said) == []


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'", "KeyError: 'x'"),
        ("E   AssertionError: assert 1 == 2\nFAILED tests/a.py", "AssertionError: assert 1 == 2"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("cat: a.txt: No such file or directory\n", "cat: a.txt: No such file or directory"),
        ('{"error": "no such customer"}', "no such customer"),
        ('{"error": {"code": 7, "message": "quota used up"}}', "quota used up"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("错误：文件不存在", "错误：文件不存在"),
        ("something odd\nProcess exited with code 3", "something odd"),
        ("all good\nexit code: 0", None),
        ("0 errors, 12 passed", None),
        ("281:        raise AttributeError(", None),
        ("  return\n  12: return 5", None),
        (
            '{"exit_code": 2, "output": "no rule to make target"}',
            '{"exit_code": 2, "output": "no rule to make target"}',
        ),
        ("Error log rotated\nexit code: 0", None),
        ("", None),
        ("[]", None),
    ],
)
def test_failures_are_told_by_how_tools_speak(output: str, why: str | None) -> None:
    found = failure(output)
    assert (found.text if found else None) == why
    if found:
        assert output[found.start : found.end] == found.text


def test_memory_read_by_a_tool_is_not_news() -> None:
    said = talk(("user", "What do we know?"), ("memory", "I always prefer tabs ^m-0123456789\nError: nothing"))
    assert texts(said) == []


# ---------------------------------------------------------------- titles and sentences


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Hi! I need to change my flight from Houston to Seattle.", "change my flight from Houston to Seattle"),
        ("Here's the issue text:\nISSUE:\nWrong rounding of durations\nHi there!", "Wrong rounding of durations"),
        ("你好，请帮我分析 sales.csv。", "请帮我分析 sales.csv"),
        ("Thanks", ""),
        ("", ""),
        ("Can you please look at checkout?", "look at checkout"),
    ],
)
def test_a_title_is_made_of_the_first_request(message: str, name: str) -> None:
    assert title(message) == name


def test_sentences_know_where_they_stand() -> None:
    text = "Hi! Use 3.5, e.g. here.\n1. One-way\n- two\n```\nno. code\n```\n好的。不要用 8080！"
    found = list(sentences(text))
    assert [s.text for s in found] == ["Hi!", "Use 3.5, e.g. here.", "One-way", "two", "好的。", "不要用 8080！"]
    assert all(text[s.start : s.end] == s.text for s in found)


# ---------------------------------------------------------------- consolidation


def candidate(text: str, kind: Kind = Kind.FACT, subject: str = "", task: str = "Fix the server") -> Candidate:
    return Candidate(kind, text, (), subject, task)


def record(text: str, kind: Kind = Kind.FACT, subject: str = "", group: str = "Fix the server") -> Record:
    return Record("m-0123456789", kind, text, group, subject)


def planned(
    candidates: list[Candidate], records: tuple[Record, ...] = (), groups: tuple[str, ...] = ()
) -> list[DraftOperation]:
    material = ConsolidationMaterial(tuple(candidates), records, groups, DEFAULT)
    request = Request("consolidation", "", "", ConsolidationDraft, material)
    found = asyncio.run(OfflineModel().answer(request)).value.operations
    named = [name for operation in found for name in operation.candidates]
    assert sorted(named) == sorted(f"c{n}" for n in range(1, len(candidates) + 1)), "each candidate exactly once"
    return found


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("The port is 8443.", "the port is  8443"),
        ("I don't want to fly before 11am", "I do not want to fly before 11 AM"),
        (
            "always run the linter and the tests before any commit",
            "always run the linter and the tests before a commit",
        ),
        ("以后报表里的金额都用万元显示", "以后报表里的金额都用万元显示。"),
        ("basic tickets cannot be modified", "this reservation is a basic ticket, which cannot be modified"),
    ],
)
def test_the_same_again_is_support(new: str, known: str) -> None:
    (operation,) = planned(
        [candidate(new)],
        (
            record("something else entirely"),
            record(known),
        ),
    )
    assert (operation.op, operation.candidates, operation.records) == ("support", ["c1"], ["r2"])


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("the port is 8443", "the port is 9443"),
        ("basic tickets cannot be modified", "basic tickets can be modified"),
        ("basic tickets cannot be modified", "basic tickets cannot be cancelled or refunded at all"),
        ("open src/a.py first and then build it", "open src/b.py first and then build it"),
        ("always run the unit tests before you push", "always run the integration tests before you push"),
        ("the staging server listens on port 8443", "the production server listens on port 8443"),
        ("部署前必须先备份生产数据库", "部署前必须先备份测试数据库"),
    ],
)
def test_another_value_or_a_denial_is_not_the_same(new: str, known: str) -> None:
    assert [operation.op for operation in planned([candidate(new)], (record(known),))] == ["add"]


def test_the_same_error_with_other_values_is_one_lesson() -> None:
    one = '`book` failed: "Error: not enough seats on HAT229"; worked with another `cabin`'
    two = '`book` failed: "Error: not enough seats on HAT290"'
    assert planned([candidate(two, Kind.LESSON)], (record(one, Kind.LESSON),))[0].op == "support"
    three = '`book` failed: "Error: balance is not enough"; worked with another `cabin`'
    assert planned([candidate(three, Kind.LESSON)], (record(one, Kind.LESSON),))[0].op == "add"


def test_a_new_value_of_a_subject_supersedes_and_two_candidates_make_one_line() -> None:
    known = record("Device A is a Synology", subject="device a")
    (operation,) = planned([candidate("Device A is fnOS now", subject="Device A")], (known,))
    assert (operation.op, operation.records, operation.text) == ("supersede", ["r1"], "Device A is fnOS now")
    found = planned([candidate("Device A is x1", subject="device a"), candidate("Device A is y2", subject="device a")])
    assert [(o.op, o.candidates) for o in found] == [("skip", ["c1"]), ("add", ["c2"])]
    (once,) = planned([candidate("the port is 8443"), candidate("The port is 8443.")])
    assert (once.op, once.candidates) == ("add", ["c1", "c2"])


def test_support_of_a_record_comes_before_what_supersedes_it() -> None:
    known = record("Device A is a Synology", subject="device a")
    new = [candidate("Device A is a Synology.", subject="device a"), candidate("Device A is fnOS", subject="device a")]
    assert [(o.op, o.records) for o in planned(new, (known,))] == [("support", ["r1"]), ("supersede", ["r1"])]


def test_thousands_of_candidates_take_seconds() -> None:
    words = [f"w{a}{b}x" for a in "abcdefghij" for b in "klmnopqrstuvwxyz"]
    chance = random.Random(1)
    many = [candidate(" ".join(chance.choices(words, k=12)), task=f"task {n % 50}") for n in range(2_000)]
    start = time.perf_counter()
    assert len(planned(many)) == 2_000
    assert time.perf_counter() - start < 10


def test_a_new_line_goes_to_a_group_that_is_alike_else_to_one_named_after_its_task() -> None:
    groups = ("Fix the invoice server", "Book a flight")
    assert planned([candidate("a is b", task="fix the server")], groups=groups)[0].group == "Fix the invoice server"
    found = planned(
        [candidate("a1 is b", task="Write docs"), candidate("c2 is d", task="Write the docs")], groups=groups
    )
    assert [operation.group for operation in found] == ["Write docs", "Write docs"]


def test_it_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(OfflineModel().answer(Request("poetry", "", "", ExtractionDraft, "a poem")))
    assert not caught.value.retryable
    empty = ExtractionMaterial(rollout(segment()), "", DEFAULT)
    answer = asyncio.run(OfflineModel().answer(Request("extraction", "", "", ExtractionDraft, empty)))
    assert answer.value == ExtractionDraft()


# ---------------------------------------------------------------- on real runs


@pytest.mark.parametrize("layout", [DEFAULT, CODING, GTM, MANY], ids=["default", "coding", "gtm", "many"])
def test_every_real_rollout_is_extracted_and_every_memory_is_verbatim_and_grounded(
    shared: Path, layout: Layout
) -> None:
    files = sorted((shared / "data" / "rollouts").glob("*/sessions/*.jsonl"))
    assert len(files) == 46
    found = 0
    for path in files:
        said = parse_rollout(path.read_bytes(), rollout_id=path.stem, path=f"sessions/{path.name}")
        raw = extracted(said, layout)
        assert raw.summary and raw.text and raw.task
        items = {(s.id, item.index): item for s in said.segments for item in s.items}
        for memory in raw.candidates:
            found += 1
            assert len(memory.text) <= 300
            assert ungrounded(memory.text, [quote.quote for quote in memory.evidence]) is None
            for quote in memory.evidence:
                assert items[quote.segment, quote.item].text[quote.start : quote.end] == quote.quote
    assert found >= 80


@pytest.mark.parametrize(
    "blob",
    ["A." * 500_000, "first " * 150_000, "+++ x" + " " * 900_000, "- old\n" * 100_000, "I'm " * 200_000, '"' * 900_000],
    ids=["dots", "words", "spaces", "removed", "contractions", "quotes"],
)
def test_a_megabyte_of_anything_takes_seconds_at_most(blob: str) -> None:
    said = talk(
        ("user", "Fix it."),
        ("user", blob),
        ("assistant", blob),
        ("call", blob),
        ("output", f"--- a/x\n+++ b/x\n{blob}"),
    )
    start = time.perf_counter()
    extracted(said)
    assert time.perf_counter() - start < 15
