"""Reading rollouts: lines as segments, items as text, whose word each is, and the names of the files."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_memory.records import Item, Rollout, Trust
from sandbox_memory.rollouts import (
    MEMORY,
    by_sdk,
    file_name,
    parse_rollout,
    payloads,
    render,
    segment_id,
    slug,
    trust_of,
)

USER = {"role": "user", "content": "hello"}


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def line(*items: dict[str, Any], **more: Any) -> bytes:
    payload = {
        "updated_at": "2026-09-01T09:00:00+00:00",
        "rollout_id": "r",
        "input": [],
        "generated_items": list(items),
    }
    return json.dumps({**payload, **more}).encode() + b"\n"


def parse(data: bytes, **more: Any) -> Rollout:
    return parse_rollout(data, rollout_id="r", path="sessions/r.jsonl", **more)


def texts(*items: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    return [(item.role, item.label, item.text) for item in render({"input": list(items), **more})]


def call(name: str, arguments: Any, id: str = "c1") -> dict[str, Any]:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "function_call", "name": name, "call_id": id, "arguments": given}


def output(value: Any, id: str = "c1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": value}


def result(name: str, arguments: Any, value: Any = "out", **more: Any) -> Item:
    return render({"generated_items": [call(name, arguments), output(value)]}, **more)[1]


# ---- lines


def test_a_line_becomes_a_segment() -> None:
    data = line(
        said("hi"),
        input=[USER],
        segment="abc",
        agent="A",
        interruptions=[{}],
        terminal_metadata={"terminal_state": "interrupted"},
    )
    (segment,) = parse(data).segments
    assert (segment.id, segment.agent, segment.terminal_state, segment.interrupted) == ("abc", "A", "interrupted", True)
    assert (segment.rollout_id, segment.updated_at, segment.line) == ("r", "2026-09-01T09:00:00+00:00", 1)
    assert [(item.index, item.role, item.text) for item in segment.items] == [
        (0, "user", "hello"),
        (1, "assistant", "hi"),
    ]


def test_only_whole_lines_are_read() -> None:
    whole = line(USER, segment="a") + line(USER, segment="b")
    for cut in range(len(whole)):
        found = parse(whole[:cut], start=100)
        assert found.torn == 0
        assert found.end == 100 + whole[:cut].rfind(b"\n") + 1
        assert len(found.segments) == whole[:cut].count(b"\n")


def test_torn_lines_count_and_blank_ones_do_not() -> None:
    torn = [b'{"input": [', b"[1]", b"42", b'{"other": 1}', b'{"input": 5}', b"\xff\xfe", b"\x00\x00", b"[" * 100_000]
    data = b"\n" + line(USER, segment="a") + b"  \n" + b"\n".join(torn) + b"\n" + line(USER, segment="b")
    found = parse(data, first_line=7)
    assert found.torn == len(torn)
    assert [(segment.id, segment.line) for segment in found.segments] == [("a", 8), ("b", 10 + len(torn))]


def test_a_line_of_the_sdk_has_an_id_of_its_bytes_and_is_redacted() -> None:
    foreign = line({"role": "user", "content": "password=hunter2"})
    digest = hashlib.sha256(foreign.rstrip(b"\n")).hexdigest()[:12]
    found = parse(foreign + line(USER, segment="own") + foreign + foreign)
    assert [segment.id for segment in found.segments] == [digest, "own", f"{digest}-2", f"{digest}-3"]
    assert found.segments[0].items[0].text == "password=⟦secret:password⟧"
    assert parse(foreign, start=9, seen={digest: 3}).segments[0].id == f"{digest}-4"
    assert segment_id(foreign) == segment_id(foreign.rstrip(b"\n") + b"\r\n") == digest


def test_a_segment_that_was_appended_twice_is_read_once() -> None:
    twice = line(USER, segment="a")
    assert len(parse(twice + twice).segments) == 1


def test_who_began_a_file() -> None:
    assert by_sdk(b"\n" + line(USER) + line(USER, segment="a"))
    assert not by_sdk(line(USER, segment="a") + line(USER))
    assert not by_sdk(b"") and not by_sdk(b"torn\n")


def test_bad_bytes_and_lone_surrogates_are_no_error() -> None:
    data = line(USER, segment="a").replace(b"hello", b"h\xd1llo \\ud83d")
    (segment,) = parse(data).segments
    assert segment.items[0].text == "h\ufffdllo ?"
    ((_, _, payload),) = payloads(data)
    assert payload is not None and payload["input"] == [] and "\ud83d" in payload["generated_items"][0]["content"]


@given(st.binary(max_size=200), st.integers(0, 50))
def test_no_bytes_are_an_error(noise: bytes, start: int) -> None:
    found = parse(noise + b"\n" + line(USER, segment="a"), start=start)
    assert [segment.id for segment in found.segments] == ["a"]
    assert found.end == start + len(noise) + 1 + len(line(USER, segment="a"))


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["user", "call_output"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                "role type content text output arguments name call_id id action input results tools".split()
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4), JSON)
def test_no_item_is_an_error(items: list[Any], final: Any) -> None:
    found = render({"input": items, "generated_items": items, "final_output": final})
    assert [item.index for item in found] == list(range(len(found)))
    for item in found:
        assert item.role in ("user", "assistant", "call", "output")
        assert item.text.strip() and item.text.encode()
        trust_of(item, 0, len(item.text))


# ---- items


def test_instructions_and_reasoning_are_left_out() -> None:
    hidden = [
        {"role": "system", "content": "x"},
        {"role": "developer", "content": "x"},
        {"type": "reasoning", "summary": []},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "image_generation_call", "result": "x"},
        {"type": "mcp_list_tools", "tools": []},
        {"type": "item_reference", "id": "x"},
    ]
    assert texts(*hidden, USER) == [("user", "user", "hello")]


def test_messages() -> None:
    parts = [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "AAAA"},
        {"type": "input_audio", "input_audio": {}},
        {"type": "novel", "x": 1},
    ]
    assert texts({"role": "user", "content": parts})[0][2] == (
        'look\n[image/png, 3 bytes]\n[file a.pdf, 3 bytes]\n[audio]\n{"type": "novel", "x": 1}'
    )
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    assert texts(refusal) == [("assistant", "assistant", "no")]
    assert texts({"role": "assistant", "content": "plain"}) == [("assistant", "assistant", "plain")]
    assert render({"input": "just text"})[0].text == "just text"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (call("exec_command", {"cmd": 'grep "a\tb" x\n&& 会话'}), 'exec_command\ngrep "a\tb" x\n&& 会话'),
        (call("exec_command", {"cmd": "ls", "yield_time_ms": 100, "login": True}), "exec_command\nls"),
        (call("exec_command", {"cmd": "ls", "workdir": "/srv"}), "exec_command\ncmd: ls\nworkdir: /srv"),
        (call("shell", {"command": ["bash", "-lc", "cd x && make"]}), "shell\ncd x && make"),
        (call("shell", {"command": ["git", "commit", "-m", "a b"]}), "shell\ngit commit -m 'a b'"),
        (call("book", {"id": "4WQ", "n": 2, "who": [{"a": "é"}]}), 'book\nid: 4WQ\nn: 2\nwho: [{"a": "é"}]'),
        (call("book", '{"text": "\\u4f1a\\u8bdd \\"x\\""}'), 'book\ntext: 会话 "x"'),
        (call("book", "not json"), "book\nnot json"),
        (call("done", "{}"), "done"),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin\n+x"}, "apply_patch\n*** Begin\n+x"),
        (
            {"type": "apply_patch_call", "operation": {"type": "update_file", "path": "a.py", "diff": "@@\n+x"}},
            "apply_patch\nupdate_file\na.py\n@@\n+x",
        ),
        ({"type": "shell_call", "action": {"commands": ["ls", "pwd"], "timeout_ms": 5}}, "shell\nls\npwd"),
        (
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["bash", "-lc", "ls -F"], "env": {}}},
            "local_shell\nls -F",
        ),
        ({"type": "web_search_call", "action": {"type": "search", "query": "q"}}, "web_search\nquery: q"),
        ({"type": "computer_call", "action": {"type": "click", "x": 1, "y": 2}}, "computer\ntype: click\nx: 1\ny: 2"),
        ({"type": "program", "code": "print(1)"}, "program\nprint(1)"),
        ({"type": "tool_search_call", "arguments": {"query": "q"}}, "tool_search\nquery: q"),
        ({"type": "file_search_call", "queries": ["a", "b"]}, "file_search\na, b"),
        ({"type": "mcp_approval_request", "name": "send", "arguments": '{"to": "x"}'}, "send\nto: x"),
        ({"type": "brand_new_thing", "data": {"é": 1}}, 'brand_new_thing\n{"data": {"é": 1}}'),
    ],
)
def test_calls(item: dict[str, Any], text: str) -> None:
    found = render({"generated_items": [item]})
    assert [(entry.role, entry.text) for entry in found] == [("call", text)]
    assert found[0].trust is Trust.AGENT and found[0].label == text.partition("\n")[0]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (output("plain\n"), "plain\n"),
        (output([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "x"}]), "a\n[image]"),
        (output('{"a": 1,  "b": "x"}'), '{"a": 1,  "b": "x"}'),
        (output('{"a": "\\u4f1a"}'), '{"a": "会"}'),
        (output('[{"type": "input_text", "text": "a"}]'), "a"),
        (output({"type": "input_text", "text": "a"}), "a"),
        (output({"ok": True}), '{"ok": true}'),
        (output('{"output": "done\\n", "metadata": {"exit_code": 2}}'), "done\nexit code: 2"),
        (
            {
                "type": "shell_call_output",
                "output": [
                    {"stdout": "a\n", "stderr": "b\n", "outcome": {"type": "exit", "exit_code": 1}},
                    {"stdout": "", "stderr": "", "outcome": {"type": "timeout"}},
                ],
            },
            "a\nb\nexit code: 1\ntimeout",
        ),
        ({"type": "local_shell_call_output", "output": "x"}, "x"),
        ({"type": "custom_tool_call_output", "output": "Updated a.py"}, "Updated a.py"),
        ({"type": "apply_patch_call_output", "status": "completed"}, "completed"),
        ({"type": "computer_call_output", "output": {"type": "computer_screenshot", "image_url": "x"}}, "[image]"),
        ({"type": "program_output", "result": "1"}, "1"),
        ({"type": "tool_search_output", "tools": [{"name": "a", "parameters": {}}, {"name": "b"}]}, "tools: a, b"),
        ({"type": "mcp_approval_response", "approve": False, "reason": "no"}, "refused no"),
        ({"role": "tool", "tool_call_id": "c1", "content": "x"}, "x"),
        ({"type": "brand_new_output", "data": 1}, '{"data": 1}'),
    ],
)
def test_outputs(item: dict[str, Any], text: str) -> None:
    found = render({"generated_items": [item]})
    assert [(entry.role, entry.text) for entry in found] == [("output", text)]


def test_an_output_has_the_name_of_its_call() -> None:
    found = render({"generated_items": [call("a", {}, "1"), call("b", {}, "2"), output("x", "2"), output("y", "1")]})
    assert [(item.label, item.text, item.call_id) for item in found[2:]] == [("b", "x", "2"), ("a", "y", "1")]


def test_hosted_tools_hold_a_call_and_its_output() -> None:
    mcp = {
        "type": "mcp_call",
        "id": "m",
        "name": "find",
        "arguments": '{"q": 1}',
        "output": "found",
        "server_label": "s",
    }
    assert texts(mcp) == [("call", "find", "find\nq: 1"), ("output", "find", "found")]
    files = {"type": "file_search_call", "id": "f", "queries": ["q"], "results": [{"filename": "a.md", "text": "t"}]}
    assert texts(files)[1] == ("output", "file_search", "a.md: t")
    code = {"type": "code_interpreter_call", "id": "i", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]}
    assert texts(code) == [
        ("call", "code_interpreter", "code_interpreter\n1+1"),
        ("output", "code_interpreter", "2"),
    ]
    web = {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "q", "sources": [{"url": "u"}]}}
    assert texts(web) == [("call", "web_search", "web_search\nquery: q"), ("output", "web_search", "u")]


def test_calls_in_the_style_of_chat_completions() -> None:
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
    }
    assert texts(message, {"role": "tool", "tool_call_id": "t", "content": "r"}) == [
        ("call", "f", "f\na: 1"),
        ("output", "f", "r"),
    ]


@pytest.mark.parametrize(
    ("last", "final", "added"),
    [
        ("done", "done", None),
        ("done", "other", "other"),
        ('{"a": 1}', {"a": 1}, None),
        ('{"response": [1, 2]}', [1, 2], None),
        ("done", {"a": 1}, '{"a": 1}'),
        ("done", None, None),
        ("done", "", None),
    ],
)
def test_a_final_output_is_shown_if_no_message_said_it(last: str, final: Any, added: str | None) -> None:
    found = texts(USER, generated_items=[said(last)], final_output=final)
    assert found[2:] == ([("assistant", "final output", added)] if added else [])


def test_blobs_are_elided_and_long_plain_runs_are_not() -> None:
    blob = "iVBORw0KGgoAAAANSUhEUgAA" * 100
    wrapped = "\n".join(["iVBORw0KGgoAAAANSUhEUgAAiVBORw0KGgoAAAANSUhEUgAAiVBORw0KGgoAAAANSUhEUgAA1234"] * 20)
    assert texts(output(f"a {blob} b"))[0][2] == "a [PNG image, 1.8 kB] b"
    assert re.fullmatch(r"a\n\[PNG image, \d\.\d kB\]\nb", texts(output(f"a\n{wrapped}\nb"))[0][2])
    shot = f"![shot](data:image/jpeg;base64,{'/9j/4AAQSkZJRgABAQ' * 200})"
    assert texts(output(shot))[0][2] == "![shot]([image/jpeg, 2.7 kB])"
    assert texts(output("0123456789abcdef" * 100))[0][2] == "[1,600 characters of hex]"
    assert texts(output("Q2xpbWIgdGhlIGhpbGw" * 100))[0][2] == "[1,900 characters of encoded data]"
    for plain in ("-" * 5_000, "=" * 5_000, "a" * 5_000, "short", "word " * 1_000):
        assert texts(output(plain))[0][2] == plain


# ---- trust


@pytest.mark.parametrize(
    ("name", "arguments", "trust"),
    [
        ("exec_command", {"cmd": "pytest -q 2>&1 | tail -5"}, Trust.OBSERVED),
        ("exec_command", {"cmd": "cd app && make test"}, Trust.OBSERVED),
        ("exec_command", {"cmd": "cat > a.py <<'E'\nx = 1\nE"}, Trust.OBSERVED),
        ("exec_command", {"cmd": "sed -i s/a/b/ x && make"}, Trust.OBSERVED),
        ("exec_command", {"cmd": "git status"}, Trust.OBSERVED),
        ("exec_command", {"cmd": "cat README.md"}, Trust.EXTERNAL),
        ("exec_command", {"cmd": "make && sed -n 1,5p x | head", "workdir": "/srv"}, Trust.EXTERNAL),
        ("exec_command", {"cmd": "sudo cat /etc/hosts 2>&1"}, Trust.EXTERNAL),
        ("exec_command", {"cmd": "LANG=C curl -s https://example.com"}, Trust.EXTERNAL),
        ("exec_command", {"cmd": "git log -3"}, Trust.EXTERNAL),
        ("shell", {"command": ["bash", "-lc", "rg TODO"]}, Trust.EXTERNAL),
        ("get_reservation_details", {"id": "4WQ150"}, Trust.OBSERVED),
        ("search_direct_flight", {"query": "cat pictures"}, Trust.OBSERVED),
        ("update_webhook", {"id": 1}, Trust.OBSERVED),
        ("fetch_page", {"url": "x"}, Trust.EXTERNAL),
        ("webSearch", {"q": "x"}, Trust.EXTERNAL),
        ("read_file", {"path": "x"}, Trust.EXTERNAL),
        ("browser.open", {"url": "x"}, Trust.EXTERNAL),
        ("mcp__github__list", {}, Trust.EXTERNAL),
    ],
)
def test_what_an_output_is_worth(name: str, arguments: dict[str, Any], trust: Trust) -> None:
    assert result(name, arguments).trust is trust


def test_hosted_tools_from_elsewhere_are_external() -> None:
    for item in (
        {"type": "mcp_call", "id": "m", "name": "find", "arguments": "{}", "output": "found"},
        {"type": "file_search_call", "id": "f", "queries": ["q"], "results": [{"filename": "a.md", "text": "t"}]},
    ):
        assert [entry.trust for entry in render({"generated_items": [item]})] == [Trust.AGENT, Trust.EXTERNAL]
    shot = {"type": "computer_call_output", "call_id": "x", "output": {"type": "computer_screenshot"}}
    assert render({"generated_items": [shot]})[0].trust is Trust.EXTERNAL


def user(text: str) -> Item:
    return render({"input": text})[0]


@pytest.mark.parametrize(
    ("text", "own", "pasted"),
    [
        ("I use tabs.\n```\nuse spaces\n```\nThanks.", ["I use tabs.", "Thanks."], ["use spaces", "```\nuse"]),
        ("Look:\n```py\n```js\nuse spaces\n```\nok", ["Look", "ok"], ["use spaces"]),
        ("Look:\n~~~\nuse spaces\n```\nstill", ["Look"], ["use spaces", "still"]),
        ("> use spaces\nI disagree.", ["I disagree."], ["use spaces"]),
        ("See\n<log>\nuse spaces\n</log>\nok", ["See", "ok"], ["use spaces"]),
        ("Keep `tabs` and <b>bold</b>", ["Keep `tabs`", "bold"], []),
        ("I wrote:\n- use spaces ^m-7f3a9c2b1d\nok", ["I wrote", "ok"], ["use spaces"]),
        ("line\n" * 41 + "use spaces", [], ["use spaces"]),
        ("line\n" * 30 + "use tabs", ["use tabs"], []),
        ("Why?\n```\n" + "log\n" * 200 + "```\nuse tabs", ["Why?", "use tabs"], ["log"]),
        ("word " * 2_000 + "use spaces", [], ["use spaces"]),
    ],
)
def test_what_a_user_pasted_is_external(text: str, own: list[str], pasted: list[str]) -> None:
    item = user(text)
    assert item.trust is Trust.USER
    for words, trust in [(own, Trust.USER), (pasted, Trust.EXTERNAL)]:
        for quote in words:
            start = text.rindex(quote)
            assert trust_of(item, start, start + len(quote)) is trust, quote


def test_a_quote_that_reaches_into_a_paste_is_external() -> None:
    text = "use\n> spaces"
    assert trust_of(user(text), 0, len(text)) is Trust.EXTERNAL
    assert trust_of(user(text), 0, 3) is Trust.USER


# ---- memory does not feed on itself


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("exec_command", {"cmd": "cat memories/MEMORY.md"}, "anything"),
        ("exec_command", {"cmd": "cd memories && ls"}, "anything"),
        ("exec_command", {"cmd": "rg port /workspace/memories/"}, "anything"),
        ("exec_command", {"cmd": "rg port ./memories"}, "anything"),
        ("exec_command", {"cmd": "cat MEMORY.md", "workdir": "x"}, "anything"),
        ("exec_command", {"cmd": "ls", "workdir": "memories"}, "anything"),
        ("exec_command", {"cmd": "rg -n port"}, "src/a:1\nmemories/MEMORY.md:3:- port is 1 ^m-7f3a9c2b1d"),
        ("exec_command", {"cmd": "python show.py"}, "# Task\n\n<!-- memory:41 -->"),
        ("exec_command", {"cmd": "tail -1 sessions/r.jsonl"}, '{"rollout_id":"r","terminal_metadata":{}}'),
        ("read_file", {"path": "memories/rollout_summaries/r_x.md"}, "anything"),
        ("memory_search", {"query": "port"}, "the port is 8443"),
    ],
)
def test_what_memory_told_the_agent_is_marked(name: str, arguments: dict[str, Any], value: str) -> None:
    found = result(name, arguments, value)
    assert (found.label, found.trust) == (MEMORY, Trust.EXTERNAL)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("exec_command", {"cmd": "pytest"}, "1 passed"),
        ("exec_command", {"cmd": "cat my-memories/a"}, "x"),
        ("exec_command", {"cmd": 'grep -rn "memories" src'}, "x"),
        ("exec_command", {"cmd": "ls other/memories.txt"}, "x"),
        ("ask", {"query": "find my old memories"}, "x"),
        ("exec_command", {"cmd": "echo"}, "x ^m-notanid"),
    ],
)
def test_what_only_sounds_like_memory_is_not_marked(name: str, arguments: dict[str, Any], value: str) -> None:
    assert result(name, arguments, value).label == name


def test_memory_is_where_the_layout_has_it() -> None:
    assert result("exec_command", {"cmd": "cat notes/m/x.md"}).label == "exec_command"
    assert result("exec_command", {"cmd": "cat notes/m/x.md"}, memories_dir="notes/m").label == MEMORY


def test_a_call_that_brings_lines_of_memory_is_marked_and_one_that_reads_is_not() -> None:
    patch = {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Update File: memories/MEMORY.md\n+- x"}
    edit = call("exec_command", {"cmd": "echo '- a ^m-7f3a9c2b1d' >> x"})
    read = call("exec_command", {"cmd": "cat memories/MEMORY.md && pytest"})
    assert [render({"input": [item]})[0].label for item in (patch, edit, read)] == [MEMORY, MEMORY, "exec_command"]


# ---- names

WINDOWS = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
IDS = st.one_of(
    st.text(max_size=300),
    st.from_regex(r"[A-Za-z0-9._-]{1,140}", fullmatch=True),
    st.sampled_from(
        ["", ".", "..", "A", "a", "CON", "con", "con.x", "nul", "LPT1", "会话-1", "é", "e\u0301", "ＡＢ", "a."]
    ),
)
SOURCES = st.sampled_from(["conversation", "session", "group", "run"])


@given(IDS, SOURCES)
def test_every_id_has_a_name_that_is_valid_everywhere(id: str, source: str) -> None:
    name = file_name(id, source, ())
    assert name == file_name(id, source, ())
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) and not name.endswith(".") and len(name) <= 100
    assert not WINDOWS.search(name)
    assert name.split(".")[0] not in {
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
    }


@given(st.lists(st.tuples(IDS, SOURCES), min_size=2, max_size=6))
def test_two_rollouts_never_share_a_file(rollouts: list[tuple[str, str]]) -> None:
    names: dict[str, tuple[str, bool]] = {}
    for id, source in rollouts:
        name = file_name(id, source, {f"{other}.jsonl" for other in names})
        folded = unicodedata.normalize("NFC", name).casefold()
        assert names.setdefault(folded, (id, source == "group")) == (id, source == "group")
        again = file_name(name, "session", {f"{name}.jsonl"})
        assert again != name or id == name


def test_plain_ids_are_their_own_names() -> None:
    for id in ("42", "a", "run-0f3c", "chat.1_x-2", "6e5f0a52-8f8f-4d53-9f0a-1f2e3d4c5b6a", "a" * 100):
        assert file_name(id, "session", ()) == id
    assert file_name("a" * 101, "session", ()) == "a" * 40 + "--" + hashlib.sha256(b"a" * 101).hexdigest()[:12]
    assert file_name("My Chat/1", "session", ()).startswith("my-chat-1--")
    assert file_name("会话", "session", ()).startswith("rollout--")


def test_a_rollout_that_the_sdk_began_goes_on() -> None:
    assert file_name("Chat-A", "session", {"Chat-A.jsonl"}) == "Chat-A"
    assert file_name("Chat-A", "session", {"chat-a.jsonl"}) != "Chat-A"
    assert file_name("chat-a", "session", {"Chat-A.jsonl"}) != "chat-a"  # one file where case does not count
    assert file_name("chat-a", "session", {"Chat-A.jsonl", "chat-a.jsonl"}) == "chat-a"


def test_a_group_and_a_session_of_one_name_are_two_rollouts() -> None:
    group = file_name("42", "group", {"42.jsonl"})
    assert group.startswith("42--") and file_name("42", "session", {"42.jsonl", f"{group}.jsonl"}) == "42"
    assert file_name("42", "group", {"42.jsonl"}, sdks={"42.jsonl"}) == "42"
    assert file_name("A", "group", ()) != file_name("A", "session", ())


def test_slugs() -> None:
    assert slug("Fix-Login!  Bug_2") == "fix-login-bug-2"
    assert slug("Crème brûlée") == "creme-brulee"
    assert slug("会话") == slug("🚀") == slug("  ") == "rollout"
    assert slug("x" * 50) == "x" * 40


def test_real_rollouts_are_read_whole(shared: Path) -> None:
    for path in sorted(shared.glob("data/rollouts/*/sessions/*.jsonl")):
        data = path.read_bytes()
        found = parse_rollout(data, rollout_id=path.stem, path=path.name)
        assert found.torn == 0 and found.end == len(data) and len(found.segments) == data.count(b"\n")
        assert len({segment.id for segment in found.segments}) == len(found.segments)
        for segment in found.segments:
            commands = [item for item in segment.items if item.role == "call"]
            assert all(item.text.startswith(item.label) for item in commands)
            assert not any(item.label == MEMORY for item in segment.items)
