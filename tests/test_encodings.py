"""Files that an editor saved in another encoding: what can be read counts, the rest stays and is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox_memory import open_memory
from sandbox_memory.typed import spoiled

from .editing import inbox, settled, summary
from .kit import handbook, process, state, tell, texts

ADA, CAFE, PORT = "部署之前先问 Ada", "the café opens at nine", "the port is 8443"
GROUPS = ("部署 café", "Plain")
UNREAD = "and stay unread; save the file as UTF-8, and they are taken in"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    memory = open_memory(tmp_path)
    for text, group in ((PORT, GROUPS[0]), (ADA, GROUPS[0]), (CAFE, GROUPS[1])):
        memory.add(text, group=group)
    return tmp_path


def placed(root: Path) -> dict[str, str]:
    return {record.text: record.group for record in state(root).visible().values()}


WARNED = {
    "gbk": f"memories/MEMORY.md:1, 3, 8, 16 and 1 more are not UTF-8 but GBK, it seems, {UNREAD}",
    "latin-1": f"memories/MEMORY.md:1, 3, 16, 18 are not UTF-8 but Latin-1, it seems, {UNREAD}",
    "utf-16": "memories/MEMORY.md is UTF-16 or UTF-32; save it as UTF-8, until then it is left alone",
    "utf-16-le": "memories/MEMORY.md is UTF-16 or UTF-32; save it as UTF-8, until then it is left alone",
    "utf-16-be": "memories/MEMORY.md is UTF-16 or UTF-32; save it as UTF-8, until then it is left alone",
    "utf-32": "memories/MEMORY.md is UTF-16 or UTF-32; save it as UTF-8, until then it is left alone",
    "ascii": "",
}


@pytest.mark.parametrize("encoding", sorted(WARNED))
def test_what_cannot_be_read_is_named_and_nothing_is_lost(
    root: Path, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    path, wide = handbook(root), encoding.startswith("utf")
    text = path.read_text(encoding="utf-8").replace("8443", "9443")
    text = text.replace("\n<!-- memory", "\n- 新的一行 typed é\n- a plain line\n\n<!-- memory")
    path.write_bytes(text.encode(encoding, "replace"))
    saved = path.read_bytes()
    process(root)
    told = [message.removeprefix("sandbox memory: ") for message in caplog.messages]
    spoilt = [message for message in told if "saved in an encoding that lacks its letters" in message]
    assert len(spoilt) == {"latin-1": 1, "ascii": 2}.get(encoding, 0)
    assert [message for message in told if message not in spoilt] == [WARNED[encoding]] * bool(WARNED[encoding])
    port, more = ("8443", {}) if wide else ("9443", {"a plain line": "Plain"})
    lost = {} if wide or WARNED[encoding] else {"???? typed ?": "Plain"}
    assert placed(root) == {f"the port is {port}": GROUPS[0], ADA: GROUPS[0], CAFE: GROUPS[1], **more, **lost}
    assert path.read_bytes() == saved if wide else saved.split(b"\n")[:5] == path.read_bytes().split(b"\n")[:5]
    settled(root)
    path.write_text(text, encoding="utf-8")
    process(root)
    now = {"the port is 9443": GROUPS[0], ADA: GROUPS[0], CAFE: GROUPS[1], "a plain line": "Plain"}
    assert placed(root) == {**now, "新的一行 typed é": "Plain"}
    settled(root)


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("file", [summary, inbox])
def test_the_other_files_are_not_mixed(
    root: Path, file: type[Path], encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = file(root)
    text = path.read_text(encoding="utf-8") if path.exists() else "# Inbox\n\nA note of mine about 部署 and é.\n"
    saved = text.replace("8443", "9443").encode(encoding, "replace")
    path.write_bytes(saved)
    process(root)
    assert f"{path.name} is UTF-16" in caplog.text if encoding != "gbk" else f"{path.name}:" in caplog.text
    assert encoding == "gbk" or path.read_bytes() == saved
    assert {ADA, CAFE} <= texts(root) and ("the port is 9443" in texts(root)) is (file is summary and encoding == "gbk")


@pytest.mark.parametrize(
    ("text", "was", "told"),
    [
        ("?????? Ada", ADA, True),
        ("the caf? opens at nine", CAFE, True),
        ("the caf\ufffd opens at nine", CAFE, True),
        ("naïve ??", "naïve 部署", True),
        ("the caf? opens at ten", CAFE, False),
        ("is it 8443?", "is it 8443!", False),
        ("why?", "why", False),
        (CAFE, CAFE, False),
        ("the cafe opens at nine", CAFE, False),
    ],
)
def test_marks_in_the_place_of_letters_are_no_edit(text: str, was: str, told: bool) -> None:
    assert spoiled(text, was) is told


@pytest.mark.parametrize("folder", ["raw_memories", "rollout_summaries"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "gbk"])
def test_notes_wait_until_they_can_be_read(
    tmp_path: Path, folder: str, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    tell(tmp_path, PORT, rollout="chat")
    process(tmp_path)
    (path,) = (tmp_path / "memories" / folder).glob("*.md")
    text = path.read_text(encoding="utf-8") + ("HAND 部署\n" if encoding == "gbk" else "HAND é\n")
    saved = text.encode(encoding, "replace")
    path.write_bytes(saved)
    tell(tmp_path, "the queue drains at nine", rollout="chat")
    caplog.clear()
    process(tmp_path)
    assert path.read_bytes() == saved
    with open_memory(tmp_path) as memory:
        found = [finding for finding in memory.check().findings if path.name in finding.where]
    assert [finding.hint for finding in found] == ["save it as UTF-8: until then its conversation does not go on"]
    merged = (tmp_path / "memories" / "raw_memories.md").read_text(encoding="utf-8")
    assert PORT in merged and "HAND" not in merged
    (told,) = [message for message in caplog.messages if "left pending" in message]
    assert f"extraction of chat is left pending: memories/{folder}/{path.name}" in told and "UTF-8" in told
    assert state(tmp_path).failures["chat"].cause in told and texts(tmp_path) == {PORT}
    before = state(tmp_path).ordinal
    process(tmp_path)
    assert state(tmp_path).ordinal == before and path.read_bytes() == saved
    path.write_text(text, encoding="utf-8")
    process(tmp_path)
    now = path.read_text(encoding="utf-8")
    assert "HAND" in now and "Notes" in now and texts(tmp_path) == {PORT, "the queue drains at nine"}
    assert not state(tmp_path).failures


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("gone", ["", "begin", "end", "begin|end"])
def test_the_summary_keeps_its_line_ends_and_is_known_without_its_markers(root: Path, end: str, gone: str) -> None:
    tell(root, "never deploy on a friday", "the queue drains at nine", rollout="chat")
    process(root)
    path = summary(root)
    text = path.read_text(encoding="utf-8").replace("8443", "9443").replace(f"- {ADA}", f"- one of mine\n- {ADA}")
    text = re.sub(rf"<!-- memory:(?:{gone}) [^\n]*\n", "", text) if gone else text
    path.write_bytes(f"{text}\nProse of mine.\n".replace("\n", end).encode())
    process(root)
    changed = {"the port is 9443", "one of mine", ADA, CAFE, "never deploy on a friday", "the queue drains at nine"}
    assert texts(root) == changed
    now = path.read_bytes().decode()
    assert all(now.count(each) == 1 for each in changed)
    assert now.count("Prose of mine.") == now.count("memory:begin") == now.count("memory:end") == 1
    assert now.replace("\r\n", "\n").replace("\r", "\n").replace("\n", end) == now
    assert "8443" not in now and (gone not in ("", "begin|end") or now.count("## Reusable knowledge") == 1)
    settled(root)


def test_a_missing_line_is_no_deletion_where_the_markers_are_gone(root: Path) -> None:
    path = summary(root)
    text = "\n".join(line for line in path.read_text(encoding="utf-8").split("\n") if CAFE not in line)
    path.write_text(re.sub(r"<!-- memory:[^\n]*\n", "", text), encoding="utf-8")
    process(root)
    assert texts(root) == {ADA, CAFE, PORT} and path.read_text(encoding="utf-8").count(CAFE) == 1


def test_ids_of_nobody_make_no_block(root: Path) -> None:
    path = summary(root)
    path.write_text("# Mine\n\n- a line ^m-0123456789\n", encoding="utf-8")
    process(root)
    assert path.read_text(encoding="utf-8").startswith("# Mine\n\n- a line ^m-0123456789\n\n<!-- memory:begin")
    assert texts(root) == {ADA, CAFE, PORT}


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("folder", ["raw_memories", "rollout_summaries"])
def test_notes_keep_their_line_ends(tmp_path: Path, folder: str, end: str) -> None:
    tell(tmp_path, PORT, rollout="chat")
    process(tmp_path)
    (path,) = (tmp_path / "memories" / folder).glob("*.md")
    text = path.read_text(encoding="utf-8") + "HAND\n\nmore\n"
    path.write_bytes(text.replace("\n", end).encode())
    tell(tmp_path, "the queue drains at nine", rollout="chat")
    process(tmp_path)
    now = path.read_bytes().decode()
    assert f"HAND{end}{end}more{end}" in now and "From earlier runs" in now
    assert now.replace("\r\n", "\n").replace("\r", "\n").replace("\n", end) == now
    assert texts(tmp_path) == {PORT, "the queue drains at nine"}
