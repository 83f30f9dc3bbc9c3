"""What counts as the same words, in transcripts of every form; names, users, scopes, keys; what a person deletes."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory import Memory, open_memory
from sandbox_memory.errors import ConfigError, SandboxMemoryError, Unknown
from sandbox_memory.governance.forgetting import FORGOTTEN, Marks, cleared, filler, masked, masked_value, tokens
from sandbox_memory.guard import Guard
from sandbox_memory.ledger import Operation
from sandbox_memory.pipeline import Pipeline
from sandbox_memory.pipeline.forgetting import files
from sandbox_memory.pipeline.forgetting import forget as forgetting
from sandbox_memory.pipeline.forgetting.forget import Wanted
from sandbox_memory.pipeline.forgetting.planning import retells
from sandbox_memory.rollouts import segment_id
from sandbox_memory.workspace.local import LocalWorkspace

from .forgetting_kit import places, restored, snapshot, spoken, talk
from .kit import EchoModel, agree, delete_line, handbook, layout, pipeline, process, run, said, state, tell, texts
from .test_cli import of, sm

SALT = "5a" * 16


def marks(*words: str) -> Marks:
    return Marks.of(SALT, map(tokens, words))


@pytest.mark.parametrize(
    ("words", "text", "rest"),
    [
        ("Ann", "planning with Ann, not Anna; ANN's", f"planning with {FORGOTTEN}, not Anna; {FORGOTTEN}'s"),
        ("8443", "port 8443, not 18443 or 84430", f"port {FORGOTTEN}, not 18443 or 84430"),
        ("C++", "C and C++ and c", f"C and {FORGOTTEN} and c"),
        ("我的门锁密码是 4711", "他说我的门锁\n> 密码是：4711。好", f"他说{FORGOTTEN}\n> {FORGOTTEN}。好"),
        ("门锁", "换了门锁的电池", f"换了{FORGOTTEN}的电池"),
        ("서울", "서울은 춥다", f"{FORGOTTEN}은 춥다"),
        ("🦄 unicorn", "a 🦄\n  > unicorn!", f"a {FORGOTTEN}\n  > {FORGOTTEN}!"),
        ("👩‍💻", "I am 👩‍💻 today", f"I am {FORGOTTEN} today"),
        ("María García", "MARI\u0301A garcía; Maria", f"{FORGOTTEN}; Maria"),
        ("full width 12", "ｆｕｌｌ　ｗｉｄｔｈ １２", FORGOTTEN),
        ("soft hyphen", "so\u00adft hy\u00adphen", FORGOTTEN),
        ("staging port is 8443", "the staging\n  port *is* `8443`", f"the {FORGOTTEN}\n  {FORGOTTEN}`"),
        ("forgotten", "⟦forgotten⟧ and forgotten", f"⟦forgotten⟧ and {FORGOTTEN}"),
        ("say hi", "say \\\"hi\\\"", f"{FORGOTTEN}\\\""),
        ("你好", "\\\\u4f60\\\\u597d", FORGOTTEN),
        ("你好", "https://x.org/%E4%BD%A0%E5%A5%BD/", f"https://x.org/{FORGOTTEN}/"),
    ],
)  # fmt: skip
def test_the_same_words(words: str, text: str, rest: str) -> None:
    assert masked(text, marks(words)) == rest
    assert masked(rest, marks(words)) == rest


@pytest.mark.parametrize(
    ("quote", "text", "beside", "told"),
    [
        ("my user ID is mia_li_3668", "mia_li_3668: I do not want travel", True, False),
        ("My user ID is mia_li_3668", "mia_li_3668: I do not want travel", False, False),
        ("credit_card_4938634", "the flight is paid with credit_card_4938634", True, False),
        ("no travel cover for me, please", "mia_li_3668: I do not want travel cover", False, True),
        ("Basic economy tickets cannot be modified", "basic economy tickets cannot be modified", True, True),
        ("the deploy needs two reviews", "a deploy needs two reviews by", False, True),
        ("the deploy needs two reviews", "the log is in var/log and rotates daily", False, False),
        ("部署之前要两个人审核", "部署之前要两个人审核", True, True),
        ("我的账号是 mia_li_3668", "mia_li_3668：不要旅行", True, False),
        ("不要旅行保障", "mia_li_3668: I do not want travel cover", False, True),
        ("8443", "8443 is the port", True, False),
    ],
)
def test_a_line_is_told_by_a_quote_that_says_the_same(quote: str, text: str, beside: bool, told: bool) -> None:
    assert retells(quote, text, beside=beside) is told


@pytest.mark.parametrize("again", [False, True])
def test_a_line_that_loses_what_it_says_goes_whole(tmp_path: Path, again: bool) -> None:
    """What another conversation says without the words stays; the name that stood beside them is no line."""
    tell(tmp_path, "my user ID is mia_li_3668", "I want no travel insurance on any trip", rollout="chat-1")
    tell(tmp_path, "no cover for any trip, I want no travel extras", rollout="chat-2")
    process(tmp_path)
    records = list(state(tmp_path).visible().values())
    quotes = [e for r in records for e in r.evidence if again or e.rollout == "chat-1"]
    facts = {"evidence": [e.to_json() for e in quotes], "trust": "user", "replaces": [r.id for r in records]}
    body = {"text": "mia_li_3668: I want no travel insurance on any trip", "quotes": [e.quote for e in quotes]}
    merged = Operation("merge", "m-00000000aa", facts, {**body, "group": "Notes", "section": "Reusable knowledge"})
    run(pipeline(tmp_path).commit("consolidation", lambda now: [merged]))
    with open_memory(tmp_path) as memory:
        outcome = memory.forget(text="insurance")
    told = "mia_li_3668: no cover for any trip, I want no travel extras"
    assert texts(tmp_path) == ({told} if again else set())
    assert outcome.done and len(outcome.retold) == again and not places(tmp_path, "insurance")


NAME = "my user ID is mia_li_3668"
WISH, AGAIN = "I want 2 bags on any trip", "on any trip I want bags, please"
TRIP = "my next trip leaves from Newark on Friday"


def owned(root: Path, texts: tuple[str, ...], owner: str = "") -> list[str]:
    """One line for each text, with the name before it or an `owner`; the quote of the name carries them all."""
    known = {each.quote: each for record in state(root).visible().values() for each in record.evidence}
    operations = []
    for number, text in enumerate(texts):
        quotes = [known[NAME], *(known[said] for said in (text, AGAIN) if said in known)]
        body = {"text": text if owner else f"mia_li_3668: {text}", "quotes": [each.quote for each in quotes]}
        body |= {"group": "Notes", "section": "Reusable knowledge", **({"owner": owner} if owner else {})}
        facts = {"evidence": [each.to_json() for each in quotes], "trust": "user", "kind": "preference"}
        operations.append(Operation("add", f"m-00000000a{number}", facts, body))
    old = [Operation("delete", id) for id in state(root).visible()]
    run(pipeline(root).commit("consolidation", lambda now: [*operations, *old]))
    return [operation.id for operation in operations]


def test_forgetting_a_line_leaves_the_name_before_another(tmp_path: Path) -> None:
    """Where the name was said carries both lines, and goes with the last of them."""
    tell(tmp_path, NAME, WISH, TRIP)
    process(tmp_path)
    wish, trip = owned(tmp_path, (WISH, TRIP))
    before = state(tmp_path).records[wish]
    dry = sm("forget", trip, "--workspace", tmp_path, "--dry-run").stdout
    assert "mia_li_3668: my next trip" in dry and "bags" not in dry
    with open_memory(tmp_path) as memory:
        outcome = memory.forget(trip)
        assert outcome.done and outcome.retold == [] and state(tmp_path).records[wish] == before
        assert not places(tmp_path, "Newark") and memory.check().findings == []
        assert memory.forget(wish).done
    assert texts(tmp_path) == set() and not places(tmp_path, "mia_li_3668")


@pytest.mark.parametrize("owner", ["", "chat-1"])
def test_a_line_told_from_another_conversation_stays_its_owners(tmp_path: Path, owner: str) -> None:
    tell(tmp_path, NAME, WISH, rollout="chat-1")
    tell(tmp_path, AGAIN, "mia_li_3668 it is", rollout="chat-2")
    process(tmp_path)
    (wish,) = owned(tmp_path, (WISH,), owner)
    label = "" if owner else "mia_li_3668: "
    old, new = f"{label}{WISH}", f"{label}{AGAIN}"
    dry = " ".join(sm("forget", "--rollout", "chat-1", "--workspace", tmp_path, "--dry-run").stdout.split())
    assert f"{wish} {new} (was: {old}; told from other evidence)" in dry
    with open_memory(tmp_path) as memory:
        memory.forget(rollout="chat-1")
    record = state(tmp_path).records[wish]
    assert record.text == new and record.owner == ("chat-2" if owner else "")


@given(
    st.lists(st.text(alphabet='ab 你好\n\\"é', min_size=1, max_size=8), max_size=6),
    st.text(alphabet="ab你", min_size=1, max_size=3),
)
def test_fillers_keep_every_place(parts: list[str], words: str) -> None:
    text = "".join(parts)
    sought = marks(words)
    clean = cleared(text, sought)
    assert len(clean) == len(text) and not sought.spans(clean)
    value = {"arguments": json.dumps({"text": text, "list": [text, 7]}), "input": text}
    assert not sought.holds(json.loads(masked_value(value, sought)["arguments"])["text"])
    assert [len(filler(n)) for n in range(30)] == list(range(30))


def test_digests_without_the_words_recognise_them() -> None:
    kept = json.loads(json.dumps(marks("my locker code is 7731").to_json()))
    again = Marks(SALT, (tuple(row) for row in kept))
    assert again == marks("My locker code is 7731.") and again.spans("so: my LOCKER code is 7731!") == [(4, 26)]
    assert not Marks("ff" * 16, (tuple(row) for row in kept)).spans("my locker code is 7731")


def sdk_line(text: str, at: str = "2026-01-01T00:00:00+00:00") -> bytes:
    line = {"updated_at": at, "rollout_id": "sdk", "input": text, "generated_items": []}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def test_a_transcript_of_the_sdk_keeps_its_receipts_and_its_watermark(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "sdk.jsonl"
    path.parent.mkdir()
    path.write_bytes(sdk_line("My locker code is kumquat-7731.") + sdk_line("The staging port is 8443."))
    id = segment_id(sdk_line("My locker code is kumquat-7731."))
    process(tmp_path)
    run(forgetting.forget(pipeline(tmp_path), Wanted(texts=("kumquat-7731",))))
    payload = json.loads(path.read_bytes().splitlines()[0])
    assert payload["segment"] == id and list(payload)[:4] == ["updated_at", "rollout_id", "input", "generated_items"]
    assert state(tmp_path).rollouts["sdk"].consumed == path.stat().st_size
    model = EchoModel()
    process(tmp_path, model)
    assert model.extracted == [] and texts(tmp_path) == {"The staging port is 8443."}
    with open_memory(tmp_path) as memory:
        assert memory.check().findings == []
    with path.open("ab") as file:
        file.write(sdk_line("Deploys go out on Tuesdays."))
    process(tmp_path, model)
    assert "Deploys go out on Tuesdays." in texts(tmp_path)


def test_a_conversation_named_by_it_gets_another_name(tmp_path: Path) -> None:
    tell(tmp_path, "The staging port is 8443.", rollout="kumquat-7731")
    tell(tmp_path, "Deploys go out on Tuesdays.", rollout="other")
    process(tmp_path)
    outcome = run(forgetting.forget(pipeline(tmp_path), Wanted(texts=("kumquat-7731",))))
    assert outcome.left == [] and places(tmp_path, "kumquat-7731") == []
    agree(tmp_path)
    assert texts(tmp_path) == {"The staging port is 8443.", "Deploys go out on Tuesdays."}
    with open_memory(tmp_path) as memory:
        report = memory.check()
        assert report.findings == [] and report.standing_receipts == 2 and report.anchored_commits == report.commits
    model = EchoModel()
    process(tmp_path, model)
    assert model.extracted == []


def test_with_a_key_everything_stays_sealed(tmp_path: Path) -> None:
    key = b"0123456789abcdef0123"

    def sealed() -> Pipeline:
        return Pipeline(LocalWorkspace(tmp_path), layout(), generate=pipeline(tmp_path).generate, guard=Guard(key=key))

    async def work() -> None:
        line = sealed()
        for rollout in ("kumquat-7731", "other"):
            await line.record(said(f"The {rollout} port is 8443 and kumquat-7731 is my code.", rollout=rollout))
        model = EchoModel()
        from .kit import LIMITS

        await line.process((model, model), LIMITS)
        await forgetting.forget(sealed(), Wanted(texts=("kumquat-7731",)))

    run(work())
    assert places(tmp_path, "kumquat-7731") == []
    with open_memory(tmp_path, key=key) as memory:
        report = memory.check()
        assert report.findings == [] and report.sealed_commits == report.commits


def test_lines_that_share_a_sentence(tmp_path: Path) -> None:
    whole = "The vault code is blue-4411, and I always drink oolong tea at nine."
    tell(tmp_path, whole)

    def two(now: Any) -> list[Operation]:
        stem = "chat"
        segment = json.loads((tmp_path / "sessions" / "chat.jsonl").read_text())["segment"]
        place = {"rollout": stem, "segment": segment, "item": 0, "start": 0, "end": len(whole), "trust": "user"}
        facts = {"kind": "fact", "trust": "user", "evidence": [place]}
        told = ("The vault code is blue-4411.", "I always drink oolong tea at nine.")
        return [
            Operation("add", f"m-000000000{n}", facts, {"text": text, "group": "G", "section": "", "quotes": [whole]})
            for n, text in enumerate(told)
        ]

    run(pipeline(tmp_path).commit("consolidation", two))
    run(forgetting.forget(pipeline(tmp_path), Wanted(ids=("m-0000000000",))))
    assert places(tmp_path, "blue-4411") == [] and texts(tmp_path) == {"I always drink oolong tea at nine."}
    with open_memory(tmp_path) as memory:
        (receipt,) = memory.why("m-0000000001").receipts
        assert receipt.verdict == "" and receipt.quote == "and I always drink oolong tea at nine"
    assert "oolong" in spoken(tmp_path, "chat")[0]


def test_a_line_by_hand_that_holds_the_words_goes(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add("Call the plumber kumquat-7731 on Mondays.")
        memory.add("Water the plants.")
        outcome = memory.forget(text="KUMQUAT 7731")
        assert [record.text for record in outcome] == ["Call the plumber kumquat-7731 on Mondays."]
    assert texts(tmp_path) == {"Water the plants."}


def test_nothing_to_look_for(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add("Water the plants.")
        for given in ({"subject": "cars"}, {"rollout": "none"}, {"user": "nobody"}):
            with pytest.raises(Unknown):
                memory.forget(**given)  # type: ignore[arg-type]
        for empty in ({}, {"text": "…"}):
            with pytest.raises(SandboxMemoryError):
                memory.forget(**empty)  # type: ignore[arg-type]
        assert memory.forget(text="nothing like it").records == []
    assert not state(tmp_path).erasures


def test_a_customer_of_many(tmp_path: Path) -> None:
    """All that one said of themselves goes; what another said, and the service's rules, stay."""

    async def speak() -> None:
        line = pipeline(tmp_path)
        for who, seat in (("mia_li_3668", "aisle"), ("omar_anderson_3203", "window")):
            await line.record(
                talk(
                    ("user", f"I am {who} and I want {seat} seats each time."),
                    ("assistant", f"Refunds need an approval, {who}. You get {seat} seats."),
                    rollout=f"call-{who[:3]}",
                )
            )

    run(speak())
    process(tmp_path, EchoModel(lambda text: text.replace("I am ", "").replace(" and I want", ": wants", 1)))
    before = texts(tmp_path)
    assert "mia_li_3668: wants aisle seats each time." in before
    outcome = run(forgetting.forget(pipeline(tmp_path), Wanted(users=("mia_li_3668",))))
    assert outcome.left == [] and places(tmp_path, "mia_li_3668", "aisle seats") == []
    assert texts(tmp_path) == {"omar_anderson_3203: wants window seats each time."}
    assert "Refunds need an approval" in spoken(tmp_path, "call-mia")[1]
    process(tmp_path, again=True)
    assert places(tmp_path, "mia_li_3668", "aisle seats") == []
    agree(tmp_path)


def test_deleting_by_hand_says_where_it_still_stands(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tell(tmp_path, "The staging port is 8443.", "I like tea.")
    process(tmp_path)
    (id,) = [record.id for record in state(tmp_path).records.values() if "8443" in record.text]
    delete_line(tmp_path, "8443")
    with caplog.at_level(logging.WARNING, logger="sandbox_memory"), open_memory(tmp_path) as memory:
        assert {place.path for place in memory.standing(id)} == {
            "sessions/chat.jsonl", "memories/raw_memories/chat.md",
        }  # fmt: skip
    (told,) = [entry.getMessage() for entry in caplog.records if id in entry.getMessage()]
    assert "sessions/chat.jsonl:1, memories/raw_memories/chat.md" in told and f"forget {id}" in told
    with open_memory(tmp_path) as memory:
        memory.forget(id)
        assert memory.standing(id) == [] and places(tmp_path, "staging port is 8443") == []


def test_receipts_that_an_application_gives_are_applied_at_open(tmp_path: Path) -> None:
    root, receipt = tmp_path / "ws", tmp_path / "receipt.json"
    root.mkdir()
    tell(root, "My locker code is kumquat-7731.", "I like tea.")
    process(root)
    old = snapshot(root)
    run(forgetting.forget(pipeline(root), Wanted(texts=("kumquat-7731",)), receipt=receipt))

    def opened(generate: Any) -> Pipeline:
        restored(old)
        guard = Guard(forgotten=(receipt,))
        return Pipeline(LocalWorkspace(root), layout(), generate=generate, guard=guard)

    async def told(line: Pipeline) -> str:
        await line.open()
        return await line.briefing()

    assert "kumquat" not in run(told(opened(None)))
    assert places(root, "kumquat-7731") != [], "a memory that only reads writes nothing"
    assert "tea" in run(told(opened(pipeline(root).generate)))
    assert places(root, "kumquat-7731") == [] and texts(root) == {"I like tea."}
    commits = len(state(root).erasures), state(root).ordinal
    run(
        told(
            Pipeline(
                LocalWorkspace(root), layout(), generate=pipeline(root).generate, guard=Guard(forgotten=(receipt,))
            )
        )
    )
    assert (len(state(root).erasures), state(root).ordinal) == commits, "once is enough"
    (tmp_path / "no.json").write_text("{}")
    with open_memory(root) as memory, pytest.raises(ConfigError):
        memory.apply_receipt(tmp_path / "no.json")


def test_everything_of_a_scope(tmp_path: Path) -> None:
    from sandbox_memory.scope import MemoryScope

    with open_memory(tmp_path, scope=MemoryScope(user="ann")) as memory:
        memory.record([{"role": "user", "content": "I live in Lisbon-4711."}], rollout_id="chat")
        memory.process("offline")
        memory.add("Ann prefers Lisbon-4711.")
        outcome = memory.forget(everything=True)
        assert outcome.left == [] and memory.records() == []
    assert places(tmp_path, "lisbon-4711") == []


def test_a_file_is_rewritten_only_where_it_must_be(tmp_path: Path) -> None:
    line = b'{"updated_at":"2026-01-01T00:00:00+00:00","input":"x",  "generated_items":[], "segment":"s1"}\n'
    from sandbox_memory.governance.forgetting import Erasure

    erasure = Erasure("f-0000000000", "2026-02-01T00:00:00+00:00", "cli", "text", marks("kumquat"))
    torn = b"half a line kumquat\n"
    fresh = line.replace(b"2026-01", b"2026-03").replace(b'"x"', b'"kumquat"')
    data = line + torn + fresh
    assert files.transcript(data, [erasure], "a") == line + torn.replace(b"kumquat", FORGOTTEN.encode()) + fresh
    crlf = "\ufeff# Kumquat\r\n\r\n- one\r\n".encode()
    assert files.text(crlf, [erasure]) == f"\ufeff# {FORGOTTEN}\r\n\r\n- one\r\n".encode()
    assert handbook(tmp_path).name == "MEMORY.md"


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[1]", b'{"receipt": 99}', b"\xff\xfe"])
def test_a_receipt_that_cannot_be_read_lets_nothing_be_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "receipt.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match="receipt"):  # pydantic's own error holds ours
        Memory(forgotten=(path,))
    with pytest.raises(ConfigError, match="receipt"):
        Pipeline(LocalWorkspace(tmp_path), layout(), guard=Guard(forgotten=(path,)))


def test_a_receipt_is_of_the_folders_that_it_names_however_they_are_written(tmp_path: Path) -> None:
    root, path = tmp_path / "ws", tmp_path / "receipt.json"
    root.mkdir()
    tell(root, "My locker code is kumquat-7731.")
    process(root)
    old = snapshot(root)
    run(forgetting.forget(pipeline(root), Wanted(texts=("kumquat-7731",)), receipt=path))
    restored(old)
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps({**found, "memories_dir": "./memories/", "sessions_dir": "sessions/."}), encoding="utf-8"
    )
    run(
        Pipeline(
            LocalWorkspace(root), layout(), generate=pipeline(root).generate, guard=Guard(forgotten=(path,))
        ).open()
    )
    assert places(root, "kumquat-7731") == []
    path.write_text(json.dumps({**found, "memories_dir": None}), encoding="utf-8")
    with pytest.raises(ConfigError, match="whose memory"):
        Pipeline(LocalWorkspace(root), layout(), guard=Guard(forgotten=(path,)))


OWN = "8 ledger memory segment fact rollout_summaries scope completed begin consumed_bytes salt"


@pytest.mark.parametrize("word", [*OWN.split(), "Task Group", "Task 1", "Reusable knowledge"])
def test_words_that_memory_uses_itself_can_be_forgotten(tmp_path: Path, word: str) -> None:
    """People's words go; names, marks, keys and headings of ours stay, and are not found again."""
    tell(tmp_path, f"My word for it is {word} and not another.", "The staging port is 8443.")
    process(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.add(f"Mind the {word}, please.")
        memory.add("Water the plants.")
        outcome = memory.forget(text=word)
        assert outcome.left == [] and outcome.found
        assert {"The staging port is 8443.", "Water the plants."} <= texts(tmp_path)
        left = "\n".join((*texts(tmp_path), *spoken(tmp_path, "chat")))
        assert not re.search(rf"\b{re.escape(word)}\b", left)
    shown = handbook(tmp_path).read_text(encoding="utf-8")
    assert all(each in shown for each in ("# Task Group: ", "\nscope: ", "### rollout_summary_files", "<!-- memory:"))
    assert (tmp_path / "memories" / "raw_memories" / "chat.md").read_text(encoding="utf-8").startswith("rollout_id: ")
    agree(tmp_path)
    with open_memory(tmp_path) as memory:
        assert memory.check().findings == []


def test_a_receipt_of_other_folders_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root, receipt = tmp_path / "ws", tmp_path / "receipt.json"
    root.mkdir()
    tell(root, "My locker code is kumquat-7731.")
    process(root)
    run(forgetting.forget(pipeline(root), Wanted(texts=("kumquat-7731",)), receipt=receipt))
    guard = Guard(forgotten=(receipt,))
    other = layout("memories/user=ann", "sessions/user=ann")
    with caplog.at_level(logging.WARNING, logger="sandbox_memory"):
        for _ in range(3):
            line = Pipeline(LocalWorkspace(tmp_path / "ws"), other, generate=pipeline(root).generate, guard=guard)
            run(line.open())
    (said,) = [entry.getMessage() for entry in caplog.records if str(receipt) in entry.getMessage()]
    assert "memories and sessions" in said and "memories/user=ann and sessions/user=ann" in said


def test_what_was_derived_of_a_customer_goes_with_them(tmp_path: Path) -> None:
    """Keywords too, where nobody else in that conversation used the word."""
    with open_memory(tmp_path, preset="support") as memory:
        for name, wish in (("ann_ottosen_77", "window seats"), ("bob_meier_31", "aisle seats")):
            said = [
                {"role": "user", "content": f"My account is {name}. I prefer {wish}."},
                {"role": "assistant", "content": "Refunds take five days."},
            ]
            memory.record(said, rollout_id=name[:3])
        memory.process("offline")
        assert places(tmp_path, "window") != []
        assert memory.forget(user="ann_ottosen_77").left == []
        assert places(tmp_path, "window", "ottosen") == []
        assert [record.text for record in memory.records()] == ["bob_meier_31: I prefer aisle seats"]
        memory.process("offline", again=True)
    assert places(tmp_path, "window", "ottosen") == []


def test_words_that_are_everywhere_are_asked_to_be_more(tmp_path: Path) -> None:
    tell(tmp_path, *(f"the rule of port {n}{n}{n} holds in staging" for n in range(1, 10)), "I like green tea")
    process(tmp_path)
    root = ("--workspace", str(tmp_path))
    said = sm("forget", "--text", "rule", "--dry-run", *root).stdout
    assert "9 memories go; it stands in" in said and "Nothing was changed." in said
    assert "These words are in 9 of 10 memories: more of them would say better which are meant." in said
    told = sm("forget", "--text", "green tea", "--dry-run", *root).stdout
    assert "1 memory goes; it stands in" in told and "would say better" not in told
    document = of("forget", "--text", "rule", "--dry-run", *root)
    assert (document["of"], document["wide"], document["dry_run"]) == (10, True, True)
    assert "--yes" in sm("forget", "--text", "rule", *root, code=2).stderr and len(texts(tmp_path)) == 10
    sm("forget", "--text", "rule", "--yes", *root)
    assert texts(tmp_path) == {"I like green tea"}
