# ruff: noqa: E501 - a transcript reads best with a call on a line
"""The offline model on what tools show: each domain in a few calls, with the lines that are to come of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_memory.governance.speech.sentences import Sentence
from sandbox_memory.layout import Layout
from sandbox_memory.models import ExtractionMaterial
from sandbox_memory.models.offline import commands, tries
from sandbox_memory.models.offline.edited import in_diff
from sandbox_memory.models.offline.extracting import extract
from sandbox_memory.models.offline.failing import failure
from sandbox_memory.models.offline.outputs import result_line, within
from sandbox_memory.records import Kind, Rollout, Segment, Trust
from sandbox_memory.rollouts import render

from .offline_kit import extracted
from .rollouts_kit import CODING, DEFAULT, rollout, talk

SUPPORT = Layout.of("memories", "sessions", "support")
SHOWN = (Kind.LESSON, Kind.PROCEDURE, Kind.TASK)
Step = str | tuple[str, Any, Any]
"""A person's message, which begins a run; a tool with its arguments and output; or ("says", text, None)."""


def acted(*steps: Step) -> Rollout:
    """A rollout as the SDK records it: each message of a person begins a run."""
    runs: list[list[dict[str, Any]]] = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            runs.append([{"role": "user", "content": step}])
            continue
        name, given, output = step
        if name == "says":
            runs[-1].append({"role": "assistant", "content": given})
            continue
        given = {"cmd": given} if isinstance(given, str) else given
        call = {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": f"c{number}"}
        runs[-1].append(call)
        if output is not None:
            said = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            runs[-1].append({"type": "function_call_output", "call_id": f"c{number}", "output": said})
    segments = [
        Segment(f"seg{n}", "r1", "2026-09-01T09:00:00+00:00", render({"generated_items": items}), "completed")
        for n, items in enumerate(runs, 1)
    ]
    return rollout(*segments)


def sh(command: str, output: str | None = "") -> Step:
    return "exec_command", command, output


def lines(*steps: Step, kinds: tuple[Kind, ...] = SHOWN, layout: Layout = CODING) -> list[str]:
    return [c.text for c in extracted(acted(*steps), layout).candidates if c.kind in kinds]


# ---------------------------------------------------------------- what failed and what then worked

CURES = {
    "another option": (
        [
            sh("kubectl rollout restart deploy/checkout", 'Error from server (NotFound): deploy "checkout" not found\nexit code: 1'),
            sh("kubectl -n shop rollout restart deploy/checkout", "deployment.apps/checkout restarted\nexit code: 0"),
        ],
        '`kubectl rollout restart deploy/checkout` failed: `Error from server (NotFound): deploy "checkout" not found`; '
        "then `kubectl -n shop rollout restart deploy/checkout` worked",
    ),
    "another command before it": (
        [
            sh("git push origin main", "! [rejected] main -> main (fetch first)\nerror: failed to push some refs\nexit code: 1"),
            sh("git status", "On branch main\nexit code: 0"),
            sh("git pull --rebase origin main", "Successfully rebased and updated refs/heads/main.\nexit code: 0"),
            sh("git push origin main", "a1b2c3..d4e5f6  main -> main\nexit code: 0"),
        ],
        '`git push origin main` failed: "error: failed to push some refs"; worked after `git pull --rebase origin main`',
    ),
    "a service that was not up": (
        [
            sh("curl -s http://localhost:8080/orders", "curl: (7) Failed to connect to localhost port 8080: Connection refused\nexit code: 7"),
            sh("docker compose up -d api", "Container api Started\nexit code: 0"),
            sh("curl -s http://localhost:8080/orders", '{"status": "ok"}\nexit code: 0'),
        ],
        '`curl -s http://localhost:8080/orders` failed: "curl: (7) Failed to connect to localhost port 8080: Connection refused"; '
        "worked after `docker compose up -d api`",
    ),
    "another program for the same words": (
        [sh("python tools/load.py", "bash: python: command not found"), sh("python3 tools/load.py", "loaded 12 rows")],
        '`python tools/load.py` failed: "bash: python: command not found"; then `python3 tools/load.py` worked',
    ),
    "an unknown program": (
        [
            sh("frobctl ship --env staging", "frobctl: error: the following arguments are required: --region\nexit code: 2"),
            sh("frobctl ship --env staging --region north", "shipped\nexit code: 0"),
        ],
        '`frobctl ship --env staging` failed: "frobctl: error: the following arguments are required: --region"; '
        "then `frobctl ship --env staging --region north` worked",
    ),
    "through another host": (
        [
            sh("ssh ops@db-3", "ops@db-3: Permission denied (publickey).\nexit code: 255"),
            sh("ssh -J gate ops@db-3 'systemctl is-active postgresql'", "active\nexit code: 0"),
        ],
        '`ssh ops@db-3` failed: "ops@db-3: Permission denied (publickey)."; '
        "then `ssh -J gate ops@db-3 'systemctl is-active postgresql'` worked",
    ),
    "another part of an address": (
        [
            sh("curl -sf http://pay.svc:9120/healthz", "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 7\nOutput:\n"),
            "No, the port is 9102.",
            sh("curl -sf http://pay.svc:9102/healthz", 'Chunk ID: 2f\nProcess exited with code 0\nOutput:\n{"status":"ok"}'),
        ],
        '`curl -sf http://pay.svc:9120/healthz` failed: "exited with code 7"; then `curl -sf http://pay.svc:9102/healthz` worked',
    ),
    "a column of a table": (
        [
            ("run_sql", {"sql": "SELECT region, SUM(amount) FROM sales GROUP BY region", "db": "dw"}, 'ERROR:  column "amount" does not exist'),
            ("run_sql", {"sql": "SELECT region, SUM(net_amount) FROM sales GROUP BY region", "db": "dw"}, "region|sum\nnorth|7\nsouth|9"),
        ],
        '`SELECT region, SUM(amount) FROM sales GROUP BY region` failed: `ERROR: column "amount" does not exist`; '
        "then `SELECT region, SUM(net_amount) FROM sales GROUP BY region` worked",
    ),
    "a line of a program": (
        [
            ("run_python", {"code": "import pandas as pd\ndf = pd.read_csv('销售.csv')\nprint(df.head())"},
             "Traceback (most recent call last):\n  File \"<stdin>\", line 2\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xb6"),
            ("run_python", {"code": "import pandas as pd\ndf = pd.read_csv('销售.csv', encoding='gbk')\nprint(df.head())"},
             "    区域   金额\n0  华东  1234\n1  华南   567"),
        ],
        "`df = pd.read_csv('销售.csv')` failed: \"UnicodeDecodeError: 'utf-8' codec can't decode byte 0xb6\"; "
        "then `df = pd.read_csv('销售.csv', encoding='gbk')` worked",
    ),
    "a missing argument, in Chinese": (
        [
            sh("python tools/publish.py --board 7 --env prod", "正在连接 ...\n错误：缺少参数 --owner，发布到 prod 必须指定负责人\n退出码：2"),
            sh("python tools/publish.py --board 7 --env prod --owner growth", "发布成功：看板 7 已更新\n退出码：0"),
        ],
        '`python tools/publish.py --board 7 --env prod` failed: "错误：缺少参数 --owner，发布到 prod 必须指定负责人"; '
        "then `python tools/publish.py --board 7 --env prod --owner growth` worked",
    ),
    "another value of an argument": (
        [
            ("update_deal", {"deal": "D-1", "stage": "Negotiation"}, {"error": {"code": 4, "message": "stage must be one of: open, negotiation, won"}}),
            ("update_deal", {"deal": "D-1", "stage": "negotiation"}, {"status": "ok"}),
        ],
        '`update_deal` failed: "stage must be one of: open, negotiation, won"; worked with `stage` `negotiation`',
    ),
    "a sum that is another each time": (
        [
            ("book_room", {"user": "dana_1", "amount": 255}, "Error: amounts do not add up, total is 305, but paid 255"),
            ("book_room", {"user": "dana_1", "amount": 305}, {"booked": True}),
        ],
        '`book_room` failed: "Error: amounts do not add up"; worked with another `amount`',
    ),
    "a field inside an argument": (
        [
            ("book_room", {"user": "dana_1", "payments": [{"id": "card_1", "amount": 255}]}, "Error: amounts do not add up"),
            ("book_room", {"user": "dana_1", "payments": [{"id": "card_1", "amount": 305}]}, {"booked": True}),
        ],
        '`book_room` failed: "Error: amounts do not add up"; worked with another `amount` in `payments`',
    ),
    "an argument more": (
        [
            ("create_quote", {"account": "A-1", "discount": 18}, {"error": "discount above 15 requires approval_id"}),
            "She approved it, it is APR-55.",
            ("create_quote", {"account": "A-1", "discount": 18, "approval_id": "APR-55"}, {"quote": "Q-1"}),
        ],
        '`create_quote` failed: "discount above 15 requires approval_id"; worked with `approval_id` given',
    ),
    "an argument for another": (
        [
            ("get_account", {"name": "Northwind"}, {"error": {"message": "account_id is required, names are not accepted"}}),
            ("get_account", {"account_id": "ACC-1"}, {"account_id": "ACC-1", "stage": "open"}),
        ],
        '`get_account` failed: "account_id is required, names are not accepted"; worked with `account_id` in place of `name`',
    ),
    "a field more inside an argument": (
        [
            ("http_request", {"url": "https://b.example/v1/c", "body": '{"name": "Acme"}'}, {"status": 422, "body": {"error": "currency is required"}}),
            ("http_request", {"url": "https://b.example/v1/c", "body": '{"name": "Acme", "currency": "EUR"}'}, {"status": 201, "body": {"id": "c_1"}}),
        ],
        '`http_request` failed: "currency is required"; worked with `currency` given in `body`',
    ),
    "another writing of an id": (
        [
            ("get_order", {"order_id": "W2378"}, "Error: order not found"),
            ("get_order", {"order_id": "#W2378"}, {"order_id": "#W2378"}),
        ],
        '`get_order` failed: "Error: order not found"; worked with `order_id` as `#W2378`',
    ),
    "something installed before it": (
        [
            sh("cd /app && make build", "<returncode>2</returncode>\n<output>\nmain.c:3:10: fatal error: zlib.h: No such file or directory\n</output>"),
            sh("apt-get update && apt-get install -y zlib1g-dev", "<returncode>0</returncode>\n<output>\nSetting up zlib1g-dev\n</output>"),
            sh("cd /app && make build", "<returncode>0</returncode>\n<output>\ngcc -o app main.o\n</output>"),
        ],
        '`cd /app && make build` failed: "main.c:3:10: fatal error: zlib.h: No such file or directory"; '
        "worked after `apt-get update && apt-get install -y zlib1g-dev`",
    ),
    "an argument less": (
        [
            ("list_tickets", {"queue": "billing", "limit": 500}, {"success": False, "message": "unknown parameter: limit"}),
            ("list_tickets", {"queue": "billing"}, {"tickets": []}),
        ],
        '`list_tickets` failed: "unknown parameter: limit"; worked with `limit` left out',
    ),
    "another tool before it": (
        [
            ("refund_order", {"order": "W-1"}, {"ok": False, "reason": "customer is not verified"}),
            ("verify_customer", {"order": "W-1", "code": "77"}, {"ok": True}),
            ("refund_order", {"order": "W-1"}, {"ok": True}),
        ],
        '`refund_order` failed: "customer is not verified"; worked after `verify_customer`',
    ),
    "the same again": (
        [
            ("send_invoice", {"invoice": "I-1"}, "Error: upstream timed out"),
            ("send_invoice", {"invoice": "I-1"}, {"sent": True}),
        ],
        '`send_invoice` failed: "Error: upstream timed out"; worked when run again',
    ),
    "a range of lines": (
        [
            ("shell", "edit 12:14\n    items = [\n        'a',\n    ]\nend", "ERRORS:\n- E999 SyntaxError: unmatched ']'"),
            ("shell", "edit 12:15\n    items = [\n        'a',\n    ]\nend", "Text replaced."),
        ],
        "`edit 12:14` failed: \"E999 SyntaxError: unmatched ']'\"; then `edit 12:15` worked",
    ),
    "nothing until a setting was added": (
        [
            ("run_python", {"code": "print(df['price'].mean())"}, "nan"),
            ("run_python", {"code": "print(df['price'].mean(skipna=True))"}, "71.5"),
        ],
        "`print(df['price'].mean())` showed `nan`; then `print(df['price'].mean(skipna=True))` worked",
    ),
    "nothing until an argument was given": (
        [
            ("search_orders", {"customer": "dana_1"}, {}),
            ("search_orders", {"customer": "dana_1", "archived": True}, {"orders": ["Z1"]}),
        ],
        "`search_orders` showed `{}`; worked with `archived` given",
    ),
    "indentation": (
        [
            ("shell", "edit 12:12\nreturn round(x)\nend", "ERRORS:\n- E999 IndentationError: unexpected indent"),
            ("shell", "edit 12:12\n    return round(x)\nend", "Text replaced."),
        ],
        '`edit 12:12` failed: "E999 IndentationError: unexpected indent"; worked with other indentation',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "line"), CURES.values(), ids=CURES.keys())
def test_a_failure_is_told_with_the_change_that_made_the_difference(steps: list[Step], line: str) -> None:
    assert lines("Get it done.", *steps, kinds=(Kind.LESSON,)) == [line]


NO_CURES = {
    "another verb of the same program": (
        [sh("git push", "fatal: no upstream branch\nexit code: 128"), sh("git commit --amend", "1 file changed\nexit code: 0")],
        '`git push` failed: "fatal: no upstream branch"',
    ),
    "another file": (
        [sh("python -m pytest tests/a.py", "E   KeyError: 'x'\nexit code: 1"), sh("python -m pytest tests/b.py", "3 passed\nexit code: 0")],
        "`python -m pytest tests/a.py` failed: \"KeyError: 'x'\"",
    ),
    "another purpose in a later turn": (
        [
            ("update_account", {"account": "A-1", "renewal": "2027-03-31"}, {"error": {"message": "renewal is locked, only role revops may change it"}}),
            "Then set the champion to Yuki.",
            ("update_account", {"account": "A-1", "champion": "Yuki"}, {"status": "ok"}),
        ],
        '`update_account` failed: "renewal is locked, only role revops may change it"',
    ),
    "another record": (
        [("get_order", {"order_id": "ZX-81"}, "Error: only open orders can be read"), ("get_order", {"order_id": "QL-22"}, {"status": "sent"})],
        '`get_order` failed: "Error: only open orders can be read"',
    ),
    "another record with the same wish": (
        [
            ("update_ticket", {"ticket_id": "4411", "status": "closed"}, "403 Forbidden: ticket has open subtasks"),
            ("update_ticket", {"ticket_id": "4412", "status": "closed"}, {"ok": True}),
        ],
        '`update_ticket` failed: "403 Forbidden: ticket has open subtasks"',
    ),
    "another question to the database": (
        [
            ("run_sql", {"sql": "SELECT total FROM orders"}, "Error: no such table: orders"),
            ("run_sql", {"sql": "SELECT name, city, zip FROM customers WHERE active = 1"}, "name|city|zip\nA|B|C"),
        ],
        '`SELECT total FROM orders` failed: "Error: no such table: orders"',
    ),
    "a look at what is there": (
        [
            sh("terraform apply", "Error: no valid credential sources found\nexit code: 1"),
            sh("terraform show", "resource up\nexit code: 0"),
        ],
        '`terraform apply` failed: "Error: no valid credential sources found"',
    ),
    "permission, in Chinese": (
        [("update_price", {"sku": "A1", "price": 9}, {"code": 40301, "msg": "权限不足，仅管理员可以修改价格"})],
        '`update_price` failed: "权限不足，仅管理员可以修改价格"',
    ),
    "a quota": (
        [("export_report", {"month": "May"}, {"message": "API rate limit exceeded for this key"})],
        '`export_report` failed: "API rate limit exceeded for this key"',
    ),
    "the log that was read for it": (
        [
            sh("sudo systemctl restart ingest", "Job for ingest.service failed because the control process exited.\nSee \"systemctl status\" for details.\nexit code: 1"),
            sh("journalctl -u ingest -n 3", "Sep 25 11:17:20 app-07 systemd[1]: ingest.service: Failed to load environment files: No such file or directory\nexit code: 0"),
        ],
        '`sudo systemctl restart ingest` failed: "Job for ingest.service failed because the control process exited."; '
        '`journalctl -u ingest -n 3` showed "ingest.service: Failed to load environment files: No such file or directory"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "line"), NO_CURES.values(), ids=NO_CURES.keys())
def test_what_was_another_thing_is_no_cure(steps: list[Step], line: str) -> None:
    assert lines("Get it done.", *steps, kinds=(Kind.LESSON,)) == [line]


# ---------------------------------------------------------------- what is kept of what worked, and what is not

KEPT = {
    "a build with its last word": (
        [sh("cargo build --release", "   Compiling a v0.1.0\n" * 30 + "    Finished release [optimized] target(s) in 12.30s\nexit code: 0")],
        ["`cargo build --release` showed `Finished release [optimized] target(s)`"],
    ),
    "an installation": (
        [sh("pip install -e .[dev]", "Collecting pytest\n" * 30 + "Successfully installed shop-3.13.0\nWARNING: Running pip as the 'root' user can break things")],
        ["`pip install -e .[dev]` showed `Successfully installed shop-3.13.0`"],
    ),
    "a fault and how it was seen to be gone": (
        [
            sh("python reproduce.py", "344"),
            ("str_replace_editor", {"path": "src/app.py", "old_str": "    return int(x)", "new_str": "    return round(x)"}, "The file was edited."),
            sh("python reproduce.py", "345"),
        ],
        [
            "Get it done: changed `src/app.py` from `return int(x)` to `return round(x)`; "
            "`python reproduce.py` showed `344` before, `345` after",
        ],
    ),
    "tests that failed and passed": (
        [
            sh("pytest -q tests", "E   AssertionError: assert 1 == 2\n1 failed, 3 passed in 0.31s\nexit code: 1"),
            sh("sed -i 's/total = 1/total = 2/' shop/cart.py", "exit code: 0"),
            sh("pytest -q tests", "....\n4 passed in 0.29s\nexit code: 0"),
        ],
        [
            "Get it done: changed `shop/cart.py` from `total = 1` to `total = 2`; "
            "`pytest -q tests` showed `AssertionError: assert 1 == 2` before, `4 passed` after",
        ],
    ),
    "a patch": (
        [("apply_patch", {"input": "*** Begin Patch\n*** Update File: a/b.py\n@@\n-x = 1\n+x = 2\n*** End Patch"}, "Done!")],
        ["Get it done: changed `a/b.py` from `x = 1` to `x = 2`"],
    ),
    "a file written by a here-document": (
        [sh("cat > conf/app.yaml <<'EOF'\nport: 1\nEOF", "exit code: 0")],
        ["Get it done: changed `conf/app.yaml`"],
    ),
    "a check with a version that is another each time": (
        [sh("curl -s http://svc/healthz", '{"status":"ok","version":"2.14.0"}\nexit code: 0')],
        ['`curl -s http://svc/healthz` showed `"status":"ok"`'],
    ),
    "a rehearsal and the deed": (
        [
            sh("certbot renew --cert-name x --dry-run", "all simulated renewals succeeded\nexit code: 0"),
            sh("certbot renew --cert-name x", "all renewals succeeded\nexit code: 0"),
        ],
        ["`certbot renew --cert-name x` showed `all renewals succeeded`"],
    ),
    "work that was not done": (
        [sh("make release", "make: *** No rule to make target 'release'.  Stop.\nexit code: 2")],
        [
            "`make release` failed: \"make: *** No rule to make target 'release'. Stop.\"",
            "Get it done: `make release` still failed at the end: \"make: *** No rule to make target 'release'. Stop.\"",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "kept"), KEPT.values(), ids=KEPT.keys())
def test_what_worked_is_kept_with_what_it_showed(steps: list[Step], kept: list[str]) -> None:
    assert sorted(lines("Get it done.", *steps)) == sorted(kept)


NOT_KEPT = {
    "listings": [sh("ls -F", "README.md src/ tests/"), sh("git status", "On branch main"), sh("kubectl get pods", "NAME READY\na 1/1")],
    "file dumps": [sh("cat src/app.py", "\n".join(f"{n}: raise ValueError('Error: {n}')" for n in range(200)))],
    "a path that was guessed": [sh("cat src/app.py", "cat: src/app.py: No such file or directory\nexit code: 1")],
    "progress": [sh("wget -q http://x/y", "45% [=====>     ] 1.2MB/s"), sh("npm install", "\n".join(["added 1 package"] * 40))],
    "sums of the moment": [sh('python -c "print(71 + 60)"', "131"), ("calculate", {"expression": "71 + 60"}, "131")],
    "balances and seats": [("get_profile", {"user": "dana_1"}, {"balance": 127, "email": "dana@example.com"})],
    "a message that was sent": [sh("notify --channel '#ops' 'payments 2.15 is on staging'", "posted")],
    "what did nothing": [sh("docker system prune -f", "Total reclaimed space: 0B\nexit code: 0")],
    "a scratch file": [sh("cat > reproduce.py <<'EOF'\nprint(1)\nEOF", ""), sh("rm reproduce.py", "")],
    "somebody else's diff": [sh("git show HEAD~3", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2")],
    "a dot a test": [sh("python -m pytest", "....\n" * 100)],
    "rows of a table": [("run_sql", {"sql": "SELECT a, b FROM t"}, "a | b\n1 | 2\n(1 row, 3.2s)")],
    "a record that was not there": [("get_order", {"order_id": "ZX-81"}, "Error: order was not found")],
    "a service that was down": [("get_order", {"order_id": "ZX-81"}, {"error": "upstream timed out, try again"})],
    "a figure of one run": [sh("python count.py", "8.2"), sh("python version.py", "LAST BUILT: Mon Sep 7 09:14:02")],
    "another question after an empty answer": [("search", {"city": "Ulm"}, []), ("search", {"city": "Bonn"}, [{"id": 1}])],
    "a log": [sh("journalctl -u ingest -n 2", "Sep 25 11:17:20 app systemd[1]: Failed to start Ingest.")],
}  # fmt: skip


@pytest.mark.parametrize("steps", NOT_KEPT.values(), ids=NOT_KEPT.keys())
def test_what_nobody_needs_again_is_not_kept(steps: list[Step]) -> None:
    assert lines("Get it done.", *steps) == []


def test_what_the_person_allowed_only_this_time_is_no_procedure() -> None:
    asked = "Clean up what is older than 3 days, just this time."
    assert lines(asked, sh("cleanup --older 3", "removed 12 files, done")) == []
    assert lines("Clean up.", sh("cleanup --older 3", "removed 12 files, done")) != []


def test_a_fault_that_comes_again_with_other_signs_is_told_once() -> None:
    steps = [
        ("shell", f"edit 3:4\n{body}\nend", f"- E999 SyntaxError: unmatched '{sign}'")
        for body, sign in (("a]", "]"), ("a)", ")"))
    ]
    assert len(lines("Edit it.", *steps, kinds=(Kind.LESSON,))) == 1


def test_calls_that_share_an_id_each_have_their_own_output() -> None:
    def made(role: str, name: str, text: str) -> tuple[str, str, str]:
        return role, name, text

    steps = [
        made("call", "book", "a: 1"),
        made("output", "book", "Error: sold out"),
        made("call", "think", "thought: hm"),
    ]
    base = talk(("user", "Book it."), *[(role, text) for role, _, text in steps])
    items = [base.segments[0].items[0]]
    for item, (_, name, text) in zip(base.segments[0].items[1:], steps, strict=True):
        items.append(
            type(item)(
                item.index, item.role, name, f"{name}\n{text}" if item.role == "call" else text, item.trust, "same"
            )
        )
    said = rollout(Segment("s", "r1", "2026-09-01T09:00:00+00:00", tuple(items), "completed"))
    assert [c.text for c in extracted(said).candidates] == ['`book` failed: "Error: sold out"']


def test_what_a_tool_reports_is_worth_more_than_what_the_agent_claims() -> None:
    raw = extracted(acted("Ship it.", sh("frobctl ship", "frobctl: error: no region given\nexit code: 2")), CODING)
    lesson = next(c for c in raw.candidates if c.kind is Kind.LESSON)
    assert {e.trust for e in lesson.evidence} == {Trust.AGENT, Trust.OBSERVED}


# ---------------------------------------------------------------- where things are found


LOST = [
    "I want to change my order. I don't remember the order ID. My user ID is dana_lee_1.",
    ("get_customer", {"customer_id": "dana_lee_1"}, {"name": "Dana", "orders": ["ZX81QL", "AB12CD"]}),
    ("get_order", {"order_id": "AB12CD"}, {"order_id": "AB12CD", "items": ["lamp"], "status": "sent"}),
    ("get_order", {"order_id": "ZX81QL"}, {"order_id": "ZX81QL", "items": ["desk"], "status": "open"}),
    ("says", "I found it: the order ZX81QL is for a standing desk with two drawers.", None),
    "Yes, that one. Change it to oak.",
    ("update_order", {"order_id": "ZX81QL", "wood": "oak"}, {"status": "open"}),
]


def test_how_something_missing_was_looked_up_is_a_procedure() -> None:
    found = lines(*LOST, kinds=(Kind.PROCEDURE,), layout=DEFAULT)
    assert found == ["to find the `order_id`: `get_customer` by `customer_id` shows it under `orders`"]


def test_what_was_found_for_somebody_is_a_fact_of_theirs() -> None:
    (found,) = [line for line in lines(*LOST, kinds=(Kind.FACT,), layout=SUPPORT) if "ZX81QL" in line]
    assert found.startswith("dana_lee_1: ") and found.endswith(
        "the order ZX81QL is for a standing desk with two drawers"
    )
    gone = [*LOST[:-1], ("cancel_order", {"order_id": "ZX81QL"}, {"status": "cancelled"})]
    assert not [line for line in lines(*gone, kinds=(Kind.FACT,), layout=SUPPORT) if "ZX81QL" in line]


def test_each_step_of_a_longer_look_up_is_told() -> None:
    found = lines(
        "Which tickets has Northwind?",
        ("crm_search_accounts", {"query": "Northwind"}, {"results": [{"account_id": "ACC-208", "name": "Northwind"}]}),
        ("list_contracts", {"account_id": "ACC-208"}, {"contracts": [{"id": "CT-9", "state": "live"}]}),
        ("search_tickets", {"contract_id": "CT-9"}, {"tickets": []}),
        kinds=(Kind.PROCEDURE,),
        layout=DEFAULT,
    )
    assert found == [
        "to find the `account_id`: `crm_search_accounts` by `query` shows it",
        "to find the `contract_id`: `list_contracts` by `account_id` shows it under `contracts`",
    ]


def test_what_the_person_gave_or_what_was_made_is_not_looked_up() -> None:
    steps: list[Step] = [
        "Export the quote of order ZX81QL.",
        ("get_order", {"order_id": "ZX81QL"}, {"order_id": "ZX81QL"}),
        ("create_quote", {"order_id": "ZX81QL"}, {"quote_id": "Q-77"}),
        ("export_quote", {"quote_id": "Q-77"}, {"file": "q.pdf"}),
    ]
    assert lines(*steps, kinds=(Kind.PROCEDURE,), layout=DEFAULT) == []


# ---------------------------------------------------------------- how tools speak


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'", "KeyError: 'x'"),
        ("E   AssertionError: assert 1 == 2\nFAILED tests/a.py", "AssertionError: assert 1 == 2"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("cat: a.txt: No such file or directory\n", "cat: a.txt: No such file or directory"),
        ("main.c:5:3: error: expected ';' before 'x'", "main.c:5:3: error: expected ';' before 'x'"),
        (
            "src/a.ts(3,5): error TS2322: Type 'x' is not assignable",
            "src/a.ts(3,5): error TS2322: Type 'x' is not assignable",
        ),
        ("error[E0382]: borrow of moved value: `x`", "error[E0382]: borrow of moved value: `x`"),
        (
            "docker: Error response from daemon: pull access denied",
            "docker: Error response from daemon: pull access denied",
        ),
        (
            "ERROR 1054 (42S22): Unknown column 'x' in 'field list'",
            "ERROR 1054 (42S22): Unknown column 'x' in 'field list'",
        ),
        (
            "Error: UPGRADE FAILED: values are wrong:\nshop:\n- host is required",
            "Error: UPGRADE FAILED: values are wrong:\nshop:\n- host is required",
        ),
        ('{"error": "no such customer"}', "no such customer"),
        ('{"error": {"code": 7, "message": "quota used up"}}', "quota used up"),
        ('{"errors": [{"message": "field is missing"}]}', "field is missing"),
        ('{"status": "error", "message": "bad date"}', "bad date"),
        ('{"success": false, "message": "查询失败：表不存在"}', "查询失败：表不存在"),
        ('{"detail": "Not found."}', "Not found."),
        ('{"code": 0, "msg": "ok", "data": {}}', None),
        ('{"error": null, "id": 7}', None),
        ('{"status": "failed", "payment": "P1", "amount": 3, "currency": "EUR", "tries": 2}', None),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("错误：文件不存在", "错误：文件不存在"),
        ("无法连接数据库", "无法连接数据库"),
        ("something odd\nProcess exited with code 3", "something odd"),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 7\nOutput:\n", "exited with code 7"),
        ("all good\nexit code: 0", None),
        ("0 errors, 12 passed", None),
        ("2 failed, 12 passed\nexit code: 0", "2 failed, 12 passed"),
        ("281:        raise AttributeError(", None),
        ("  return\n  12: return 5", None),
        ('{"exit_code": 2, "output": "no rule to make target"}', "no rule to make target"),
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


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ("345\n", "345"),
        ("===== 4 passed in 0.12s =====", "4 passed"),
        ("a\nb\nc\nd\ne\nf\ng", None),
        ("NAME   READY   AGE\npay    3/3     2d", None),
        ("发布成功：看板 7 已更新\n耗时 3 秒", "发布成功：看板 7 已更新"),
        ("Total reclaimed space: 0B", None),
        ("", None),
        ("[OK]", "[OK]"),
    ],
)
def test_a_result_is_a_line_that_says_how_it_came_out(output: str, result: str | None) -> None:
    found = result_line(output)
    assert (found.text if found else None) == result


def test_what_is_long_is_cut_at_a_clause_whatever_the_names_are() -> None:
    for name in ("x", "a_name_of_great_length_" * 3):
        kept = within(Sentence(f"cannot open {name}, which is held by {name}; " + "try again " * 20, 0), 12)
        assert kept.text == f"cannot open {name}, which is held by {name}"


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("git push", "git status", False),
        ("git push origin main", "git push -u origin main", True),
        ("npm install", "npm install --legacy-peer-deps", True),
        ("npm test", "pnpm test", True),
        ("pytest tests/a.py", "python -m pytest tests/a.py", True),
        ("python a.py", "python b.py", False),
        ("pip install left", "pip install right", False),
        ("docker compose up -d", "docker-compose up -d", False),
        ("helm upgrade p charts/p -n s", "helm upgrade p charts/p -n s -f values.yaml", True),
        ("ssh -J gate db 'systemctl restart a'", "ssh -J gate db 'journalctl -u a'", False),
        ("make", "make -j 1", True),
        ("./run.sh", "chmod +x run.sh", False),
    ],
)
def test_two_commands_are_tries_of_one_thing_by_verb_and_words(one: str, two: str, same: bool) -> None:
    assert tries.alike(one, two) is same


@pytest.mark.parametrize(
    ("command", "looks", "runs"),
    [
        ("ls -la && cat x | head", True, False),
        ("cd src && grep -rn foo .", True, False),
        ("kubectl -n shop get pods", True, False),
        ("frob list --all", True, False),
        ("frob deploy", False, True),
        ("sed -n 1,5p x", True, False),
        ("sed -i s/a/b/ x", False, False),
        ("FOO=1 sudo -E make test 2>&1 | tail -3", False, True),
        ("echo hi > out.txt", False, False),
        ("ssh -J gate ops@a 'df -h /var'", True, False),
    ],
)
def test_what_a_command_does_is_told_by_its_form(command: str, looks: bool, runs: bool) -> None:
    assert (commands.looks(command), commands.runs(command)) == (looks, runs)


def test_a_diff_with_more_than_one_line_tells_the_first_and_that_there_are_others() -> None:
    (change,) = in_diff("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n-b = 1\n+a = 2\n+b = 2\n")
    assert change.old and change.new and change.more
    assert (change.path.text, change.old.text, change.new.text) == ("x.py", "a = 1", "a = 2")


# ---------------------------------------------------------------- summaries


def test_a_summary_says_what_was_wanted_done_failed_and_how_it_ended() -> None:
    said = acted(
        "Deploy payments 2.14 to staging.",
        sh("helm upgrade pay charts/pay", "Error: UPGRADE FAILED: host is required\nexit code: 1"),
        sh("helm upgrade pay charts/pay -f values.yaml", "STATUS: deployed\nexit code: 0"),
        ("says", "Payments is deployed. Let me know if you need more.", None),
    )
    summary = extracted(said, CODING).summary
    assert "Deploy payments 2.14 to staging" in summary
    assert "host is required" in summary and "-f values.yaml" in summary
    assert "Payments is deployed" in summary and "completed" in summary
    assert len(summary.splitlines()) < 20


# ---------------------------------------------------------------- much at once


@pytest.mark.parametrize(
    "blob",
    [
        "A." * 100_000,
        "first " * 37_000,
        "+++ x" + " " * 225_000,
        "- old\n" * 25_000,
        '"' * 225_000,
        "a=b " * 25_000,
        "a: b\n" * 22_000,
        "Error: a\n" * 12_000,
        '{"a":' * 5_000,
        "/a" * 75_000,
        "select " * 25_000,
        "x" * 225_000,
    ],
    ids=[
        "dots",
        "words",
        "blanks",
        "removed",
        "quotes",
        "settings",
        "keys",
        "errors",
        "json",
        "path",
        "sql",
        "letters",
    ],
)
def test_a_flood_from_a_tool_is_read_in_time(blob: str) -> None:
    said = acted(
        "Fix it.",
        sh(blob, blob),
        sh(f"run {blob}", f"--- a/x\n+++ b/x\n{blob}"),
        ("edit", {"path": "a/b", "text": blob}, blob),
    )
    assert len(extract(ExtractionMaterial(said, "", CODING)).memories) < 20
