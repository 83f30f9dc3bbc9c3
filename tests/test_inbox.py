"""`INBOX.md`: what each way of answering a question, of not answering it and of half answering it does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.blocks import split
from sandbox_memory.ledger import Operation
from sandbox_memory.models import EXTRACTION, Answer, ConsolidationDraft, DraftOperation
from sandbox_memory.proposals import new_id, propose
from sandbox_memory.records import Status, Trust, Usage

from .editing import consistent, drop_line, edit, inbox, questions, read, settled, write
from .kit import EchoModel, handbook, pipeline, process, run, state, tell, texts

OLD, NEW = "The staging port is 8443.", "The staging port is 9443."
OTHER = "Deploys go out on Mondays."
LATER = "Deploys go out on Tuesdays."


@pytest.fixture
def asked(made: Path, tmp_path: Path) -> Path:
    """A copy of that memory."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with two lines that a person made theirs, and two questions whether to replace them."""
    root = tmp_path_factory.mktemp("made")
    tell(root, OLD, OTHER)
    process(root)
    for line in (OLD, OTHER):
        write(handbook(root), read(handbook(root)).replace(line, line.replace(".", "!")))
    run(pipeline(root).adopt())
    tell(root, NEW, LATER, rollout="later")
    process(root, Replacing())
    assert questions(root) == 2, read(inbox(root))
    return root


class Replacing:
    """Remembers what is said, and puts it in the place of the line that is most like it."""

    name = "replacing"

    async def answer(self, request: Any) -> Any:
        if request.task == EXTRACTION:
            return await EchoModel().answer(request)
        operations = []
        for n, candidate in enumerate(request.material.candidates, 1):
            word = candidate.text.split()[1]
            names = [f"r{k}" for k, r in enumerate(request.material.records, 1) if r.text.split()[1] == word]
            op = "supersede" if names else "add"
            operations.append(DraftOperation(op=op, candidates=[f"c{n}"], records=names[:1]))
        return Answer(ConsolidationDraft(operations=operations), Usage(1, 1, 1))


def change(root: Path, how: Callable[[str], str]) -> None:
    write(inbox(root), how(read(inbox(root))))
    run(pipeline(root).adopt())


def port_line(text: str) -> str:
    return next(line for line in text.splitlines() if "9443" in line)


def ask(root: Path, question: str, operation: Operation, about: dict[str, str]) -> None:
    """Put a question into the inbox."""
    asking = pipeline(root)
    run(asking.commit("hand", lambda now: list(propose(now, question, (operation,), source="chat", about=about))))


def instead(new: str) -> Callable[[str], str]:
    """The question about the port as another line."""
    return lambda text: text.replace(port_line(text), new.format(line=port_line(text)[6:], id=port_line(text)[-13:]))


def _reordered(text: str) -> str:
    first, second = (line for line in text.splitlines() if "^p-" in line)
    return text.replace(first, "\0").replace(second, first).replace("\0", second)


def _swapped(text: str) -> str:
    """Each of the two questions with the id of the other."""
    first, second = re.findall(r"\^p-\w+", text)
    return text.replace(first, "\0").replace(second, first).replace("\0", second)


YES, NO, OPEN = "yes", "no", "open"
WAYS: dict[str, tuple[Callable[[str], str], str]] = {
    "ticked": (lambda t: t.replace("- [ ] replace “The staging", "- [x] replace “The staging"), YES),
    "ticked with a capital": (instead("- [X] {line}"), YES),
    "ticked with a check mark": (instead("- [√] {line}"), YES),
    "ticked with another check mark": (instead("- [✔] {line}"), YES),
    "ticked, with the day": (instead("- [x] {line} ✅ 2026-11-30"), YES),
    "not ticked, with a day": (instead("- [ ] {line} ✅ 2026-11-30"), OPEN),
    "ticked between blanks": (instead("- [ x ] {line}"), YES),
    "ticked under a star": (instead("* [x] {line}"), YES),
    "ticked under a plus": (instead("+ [x] {line}"), YES),
    "ticked under a number": (instead("1. [x] {line}"), YES),
    "ticked, a little indented": (instead("   - [x] {line}"), YES),
    "ticked, below another": (instead("- for today\n  - [x] {line}"), YES),
    "ticked after a tab, below another": (instead("- for today\n\t- [x] {line}"), YES),
    "ticked with a blank behind the mark": (instead("- [x ] {line}"), YES),
    "ticked with a note in a comment": (
        lambda t: instead("- [x] " + port_line(t)[6:].replace("^", "<!-- as Bob says --> ^"))(t),
        YES,
    ),
    "ticked in a list under details": (instead("<details>\n\n- [x] {line}\n\n</details>\n"), YES),
    "ticked without a bullet": (instead("[x] {line}"), YES),
    "ticked with full-width brackets": (instead("- 【x】 {line}"), YES),
    "ticked with DOS line ends": (
        lambda t: t.replace("- [ ] replace “The staging", "- [x] replace “The staging").replace("\n", "\r\n"),
        YES,
    ),
    "ticked, the id gone": (
        lambda t: re.sub(r" \^p-\w+", "", t).replace("[ ] replace “The s", "[x] replace “The s"),
        YES,
    ),
    "ticked, cut in its source": (lambda t: instead("- [x] " + port_line(t)[6:].split("(from")[0] + "(from")(t), YES),
    "ticked twice": (instead("- [x] {line}\n- [x] {line}"), YES),
    "copied, one of them ticked": (instead("- [ ] {line}\n- [x] {line}"), YES),
    "ticked under a heading of theirs": (instead("## For today\n\n- [x] {line}"), YES),
    "ticked and reordered": (lambda t: _reordered(t).replace("[ ] replace “The s", "[x] replace “The s"), YES),
    "ticked below the block": (lambda t: _moved(t, "- [x] "), YES),
    "deleted": (lambda t: drop_line(t, "9443"), NO),
    "reordered": (_reordered, OPEN),
    "under a heading of theirs": (instead("## Ask Bob\n\n- [ ] {line}"), OPEN),
    "below the block": (lambda t: _moved(t, "- [ ] "), OPEN),
    "copied": (instead("- [ ] {line}\n- [ ] {line}"), OPEN),
    "the box half written": (instead("- [x {line}"), OPEN),
    "the box begun": (instead("- ["), OPEN),
    "the box gone": (instead("- {line}"), OPEN),
    "the bullet gone": (instead("{line}"), OPEN),
    "an empty bullet": (instead("-"), OPEN),
    "words and ids swapped": (_swapped, OPEN),
    "ticked, with the other's id": (
        lambda t: _swapped(t).replace("- [ ] replace “The staging", "- [x] replace “The staging"),
        YES,
    ),
    **{
        f"half a box: {box}": (instead(f"{box}{{line}}"), OPEN)
        for box in (
            "- x] ",
            "- [ x ",
            "- x ",
            "- X ",
            "- ] ",
            "- [  ",
            "- [x",
            "- [",
            "- [xx] ",
            "- [yes] ",
            "- x[ ] ",
            "[x ",
            "- yes, ",
            "- √ ",
            "-[x ",
            "* [X ",
            "1. [x ",
            "- [x] don't ",
            "- \\[x ",
            "- 【x ",
        )
    },
    "a dash in the box": (instead("- [-] {line}"), OPEN),
    "a question mark in the box": (instead("- [?] {line}"), OPEN),
    "cut": (instead("- [ ] replace “The staging po"), OPEN),
    "cut and ticked": (instead("- [x] replace “The staging po"), OPEN),
    "the id cut": (lambda t: t.replace(port_line(t), port_line(t)[:-6]), OPEN),
    "a note of theirs beside it": (instead("- [ ] {line}\n- call Bob about it"), OPEN),
    **{
        f"ticked in {name}": (instead(text), OPEN)
        for name, text in {
            "a quotation": "> - [x] {line}",
            "a quotation in a list": "- Bob wrote\n  > - [x] {line}",
            "a quotation without a bullet": "> [x] {line}",
            "a fence": "```\n- [x] {line}\n```",
            "a fence of tildes": "~~~text\n- [x] {line}\n~~~\n",
            "a fence in a list": "- so:\n  ```\n  - [x] {line}\n  ```",
            "a fence that is left open": "```\n- [x] {line}",
            "a comment": "<!--\n- [x] {line}\n-->",
            "a comment on one line": "<!-- - [x] {line} -->",
            "a comment after words": "as said <!-- not yet\n- [x] {line}\n-->",
            "a comment behind its box": "- [x] <!-- {line} -->",
            "indented code": "\n        - [x] {line}",
            "indented code after a tab": "text\n\n\t\t[x] {line}",
            "HTML": "<div>\n- [x] {line}\n</div>\n",
        }.items()
    },
    "ticked in a fence around the block": (lambda t: _around(t, "```\n", "\n```\n"), OPEN),
    "ticked in a fence that begins above": (lambda t: _around(t, "~~~\n", ""), OPEN),
    "ticked in a comment around the block": (lambda t: _around(t, "<!--\n", "\n-->\n"), OPEN),
    "ticked in a fence below the block": (lambda t: _moved(t, "```\n- [x] ", "```\n"), OPEN),
    "ticked beside a copy in a fence": (instead("- [x] {line}\n\n```\n- [ ] {line}\n```"), YES),
    "ticked after a fence": (lambda t: _moved(t, "```\nmake\n```\n\n- [x] "), YES),
    "ticked after a comment": (lambda t: _moved(t, "<!-- mine -->\n\n- [x] "), YES),
    "joined with the next": (lambda t: _joined(t, "[ ]", "- [ ]"), OPEN),
    "joined with the next and ticked": (lambda t: _joined(t, "[x]", "- [ ]"), OPEN),
    "joined with the next, that ticked": (lambda t: _joined(t, "[ ]", "- [x]"), OPEN),
    "joined with the next without its bullet": (lambda t: _joined(t, "[x]", ""), OPEN),
    "joined and wrapped": (lambda t: _joined(t, "[x]", "\n  [x]"), OPEN),
    "joined without a bullet": (lambda t: _joined(t, "[x]", "[x]").replace("- [x]", "[x]"), OPEN),
    "joined in a quotation": (lambda t: _joined(t, "[x]", "[x]").replace("- [x]", "> - [x]"), OPEN),
    "joined beside a ticked copy": (lambda t: f"- [x] {port_line(t)[6:]}\n\n{_joined(t, '[ ]', '- [ ]')}", YES),
    **{
        f"cut off at {end!r}": (lambda t, end=end: t[: t.index(end)], OPEN)
        for end in ("- [ ] replace “The", "9443", "^p-", "- [ ] replace “Deploys", "Tuesdays", "<!-- memory:end")
    },
    "cut off in the end marker": (lambda t: t[: t.index("memory:end") + 14], OPEN),
    "cut off in the end marker, deleted": (lambda t: drop_line(t[: t.index("memory:end") + 14], "9443"), OPEN),
    "ticked and cut off after it": (lambda t: t[: t.index("- [ ] replace “Deploys")].replace("[ ]", "[x]"), YES),
    "the file emptied": (lambda t: "", OPEN),
    "the block's markers gone": (lambda t: "\n".join(x for x in t.splitlines() if "<!--" not in x), OPEN),
}


def _moved(text: str, box: str, end: str = "") -> str:
    line = port_line(text)
    return text.replace(line + "\n", "") + f"\n## Later\n\n{box}{line[6:]}\n{end}"


def _joined(text: str, box: str, second: str) -> str:
    """The question about the port, with that box, and the other one behind it on one line."""
    line, other = (line for line in text.splitlines() if "^p-" in line)
    return text.replace(f"{line}\n{other}", f"- {box} {line[6:]} {second} {other[6:]}")


def _around(text: str, begin: str, end: str) -> str:
    place = text.index("<!-- memory:begin")
    ticked = text.replace("- [ ] replace “The staging", "- [x] replace “The staging")
    return f"{ticked[:place]}{begin}{ticked[place:].rstrip()}\n{end}"


@pytest.mark.parametrize("name", WAYS)
def test_each_way_of_answering_does_the_sensible_thing(asked: Path, name: str) -> None:
    how, meant = WAYS[name]
    change(asked, how)
    said = texts(asked)
    assert (NEW in said) == (meant == YES) and (OLD.replace(".", "!") in said) == (meant != YES), said
    block = split(inbox(asked).read_bytes()).block
    text = block.text if block and "fence" in name else read(inbox(asked))
    assert len(state(asked).proposals) == text.count("- [ ]") == (2 if meant == OPEN else 1), read(inbox(asked))
    # A joined line that is no list item is a person's, and stays below the block.
    assert text.count("Tuesdays") == (2 if name in ("joined without a bullet", "joined in a quotation") else 1)
    if meant == YES:
        record = next(r for r in state(asked).visible().values() if r.text == NEW)
        assert record.trust is Trust.HAND and record.evidence
    before = read(inbox(asked)), read(handbook(asked))
    run(pipeline(asked).adopt())
    assert (read(inbox(asked)), read(handbook(asked))) == before


def test_questions_that_share_a_line_are_warned_of_once(asked: Path, caplog: pytest.LogCaptureFixture) -> None:
    change(asked, lambda text: _joined(text, "[x]", "- [ ]"))
    run(pipeline(asked).adopt())
    assert [r.getMessage() for r in caplog.records if "share a line" in r.getMessage()] == [
        "sandbox memory: 2 questions in INBOX.md share a line, which answers none of them"
    ]


@pytest.mark.parametrize(
    "edited",
    [
        "- [x] replace “The staging port is 8443!” by “The staging port is 9999.”? (from later) ^{id}",
        '- [x] replace "The staging port is 8443!" by "The staging port is 9999."? (from later) ^{id}',
        "- [x] The staging port is 9999. ^{id}",
        "- [x] The staging port is 9999. (from later) ^{id}",
        "- [√] replace “The staging port is 8443!” by “The staging port is 9999.”",
    ],
)
def test_what_is_edited_and_ticked_is_committed_in_the_person_s_words(asked: Path, edited: str) -> None:
    change(asked, lambda text: text.replace(port_line(text), edited.format(id=port_line(text)[-12:])))
    (record,) = (r for r in state(asked).visible().values() if "port" in r.text)
    assert record.text == "The staging port is 9999." and record.trust is Trust.HAND and record.protected
    assert not record.evidence and questions(asked) == 1
    tell(asked, NEW, rollout="later-2")
    process(asked, again=True)
    assert "The staging port is 9999." in texts(asked), "its old wording does not come back from the same quotes"


def test_what_is_edited_and_not_ticked_is_asked_in_those_words(asked: Path) -> None:
    change(asked, lambda text: text.replace("9443", "9999"))
    assert "by “The staging port is 9999.”?" in read(inbox(asked)) and questions(asked) == 2
    change(asked, lambda text: text.replace("- [ ] replace “The staging", "- [x] replace “The staging"))
    assert "The staging port is 9999." in texts(asked) and NEW not in texts(asked)


WORDS = "The port is 9999."
FORMS = {
    "to remember": "remember “{new}”?",
    "to replace": "replace “{old}” by “{new}”?",
    "to replace several": "replace “{old}”, “The port was 8442.” by “{new}”?",
    "to put back": "put back “{new}”?",
    "of two files": "memory_summary.md says “{new}”, and MEMORY.md says “{old}”; take the former?",
    "of a lost line": "memory_summary.md says “{new}”, and MEMORY.md has lost that line; take the former?",
}
"""Each way in which it is asked whether to write something."""
EDITS: dict[str, tuple[Callable[[str, str], str], str]] = {
    "as it is": (lambda q, new: q, "new"),
    "the words": (lambda q, new: q.replace(f"“{new}”", f"“{WORDS}”"), "words"),
    "words with quotation marks": (lambda q, new: q.replace(f"“{new}”", "“The “blue” port is 9.”"), "quoted"),
    "the words, and no question mark": (lambda q, new: q.replace(f"“{new}”", f"“{WORDS}”")[:-1], "words"),
    "the words, and straight marks": (
        lambda q, new: q.replace(f"“{new}”", f"“{WORDS}”").replace("“", '"').replace("”", '"'),
        "words",
    ),
    "the words, and escapes": (lambda q, new: q.replace(f"“{new}”", f"“{WORDS}”").replace("_", "\\_"), "words"),
    "all of it": (lambda q, new: WORDS, "words"),
    "all of it but the question mark": (lambda q, new: f"{WORDS}?", "words"),
    "all of it but its end": (lambda q, new: WORDS + q[q.index(new) + len(new) :], "words"),
    "all of it but its end and a mark": (lambda q, new: WORDS + q[q.index(new) + len(new) + 1 :], "words"),
    "all of it, between its marks": (lambda q, new: f"“{WORDS}”?", "words"),
    "all of it but its beginning": (lambda q, new: f"{q[:q.index(new)].strip(' “')} {WORDS}?", ""),
    "its end": (lambda q, new: f"{q[:-6]} or what?", ""),
    "what comes before": (lambda q, new: f"do not {q}", ""),
    "what comes behind": (lambda q, new: f"{q} no", ""),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_question_takes_the_words_between_its_quotation_marks(tmp_path: Path, form: str) -> None:
    """Ticked, words that were changed are remembered, without what else the question says; not ticked, asked about."""
    start, new = tmp_path / "start", "The port is 9443."
    start.mkdir()
    tell(start, "The port is 8443.")
    process(start)
    (record,) = state(start).visible().values()
    for edited, (how, meant) in EDITS.items():
        for box in ("- [x] ", "- [ ] ", "- [x"):
            root = Path(shutil.copytree(start, tmp_path / str(len(list(tmp_path.iterdir())))))
            question = FORMS[form].format(new=new, old=record.text)
            about, op = ({}, "add") if form == "to remember" else ({record.id: record.text}, "revise")
            id = new_id() if op == "add" else record.id
            body = {"text": new, "group": "Notes", "section": record.section}
            ask(root, question, Operation(op, id, {"trust": "agent"}, body), about)
            line = next(each for each in read(inbox(root)).splitlines() if "^p-" in each)
            assert question in line
            mine = line.replace("- [ ] ", box).replace(question, how(question, new))
            change(root, lambda text, line=line, mine=mine: text.replace(line, mine))
            says = {"words": WORDS, "new": new, "quoted": "The “blue” port is 9."}.get(meant, "")
            now = {each.text for each in state(root).visible().values()} - {record.text}
            case = f"{form}, {edited}, {box}: {now} {read(inbox(root))}"
            if box == "- [x] " and says:
                assert now == {says} and questions(root) == 0, case
            else:
                assert now == set() and questions(root) == 1, case
                assert f"“{says or new}”" in read(inbox(root)) and " [x" not in read(inbox(root)), case


def test_a_question_that_remembers_nothing_is_not_ticked_in_other_words(asked: Path) -> None:
    (record,) = (each for each in state(asked).visible().values() if "port" in each.text)
    ask(asked, f"delete “{record.text}”?", Operation("delete", record.id), {record.id: record.text})
    for words in ("no, keep it", "do not delete “The staging port is 8443!”?", "delete “Deploys”?"):
        edited = re.sub(r"- \[ \] delete .*?(?= \()", f"- [x] {words}", read(inbox(asked)))
        assert words in edited
        write(inbox(asked), edited)
        run(pipeline(asked).adopt())
        assert record.id in state(asked).visible() and questions(asked) == 3
    change(asked, lambda text: text.replace("- [ ] delete", "- [x] delete"))
    assert record.id not in state(asked).visible()


def test_a_question_of_several_words_that_make_none_stays(asked: Path) -> None:
    change(asked, lambda text: text.replace("by “The staging port is 9443.”?", "by"))
    assert questions(asked) == 2 and "9443" in read(inbox(asked))


def test_what_was_refused_stays_refused_in_other_words(asked: Path) -> None:
    change(asked, lambda text: drop_line(text, "9443"))
    assert questions(asked) == 1

    class Rewording(Replacing):
        async def answer(self, request: Any) -> Any:
            answer = await super().answer(request)
            for memory in getattr(answer.value, "memories", ()):
                memory.text = memory.text.replace("The staging port is", "The port of staging is")
            return answer

    process(asked, Rewording(), again=True)
    assert questions(asked) == 1 and "9443" not in read(inbox(asked)) + read(handbook(asked))
    tell(asked, NEW, rollout="anew")
    process(asked, Replacing())
    assert "9443" in read(inbox(asked)), "said anew it is asked anew"


def test_a_question_keeps_the_place_that_a_person_gave_it(asked: Path) -> None:
    change(asked, lambda text: _moved(text, "- [ ] "))
    assert read(inbox(asked)).split("## Later")[1].count("^p-") == 1
    write(inbox(asked), read(inbox(asked)).replace("- [ ] replace “The s", "- [x] replace “The s"))
    run(pipeline(asked).adopt())
    assert NEW in texts(asked) and "9443" not in read(inbox(asked)) and "## Later" in read(inbox(asked))


@pytest.mark.parametrize("tick", [False, True])
@pytest.mark.parametrize("how", ["pasted back", "said again", "said again, and the older file saved"])
def test_a_held_line_does_not_come_back_beside_one_of_the_same_words(tmp_path: Path, how: str, tick: bool) -> None:
    tell(tmp_path, *(f"The door number {n} is green." for n in range(12)))
    process(tmp_path)
    path, before = handbook(tmp_path), read(handbook(tmp_path))
    gone = [line for line in before.splitlines() if re.search(r"number \d is", line)]
    write(path, "\n".join(line for line in before.splitlines() if line not in gone) + "\n")
    process(tmp_path)
    ids = dict(reversed(line[2:].rsplit(" ^", 1)) for line in gone)
    held = {record.id for record in state(tmp_path).records.values() if record.status is Status.HELD}
    assert held == set(ids) and len(ids) == 10
    if how == "pasted back":  # every second line without its id
        back = [line if n % 2 else line.rsplit(" ^", 1)[0] for n, line in enumerate(gone[:4])]
        edit(path, "- The door number 10", "\n".join([*back, "- The door number 10"]))
    else:
        tell(tmp_path, "The door number 3 is green!", rollout="again")
    process(tmp_path)
    if "saved" in how:
        write(path, before)
        process(tmp_path)
    else:
        question = next(each for each in read(inbox(tmp_path)).splitlines() if "^p-" in each)
        change(tmp_path, lambda text: text.replace(question, question.replace("[ ]", "[x]") if tick else ""))
    settled(tmp_path)
    assert questions(tmp_path) == 0
    now = [record.text.rstrip(".!") for record in consistent(tmp_path).visible().values()]
    assert len(now) == len(set(now)) == (12 if not tick or "saved" in how else 6 if how == "pasted back" else 3)
    if how == "pasted back":
        assert set(list(ids)[:4]) <= set(state(tmp_path).visible()), "a line that is pasted back is the one it was"


def test_an_inbox_without_questions_says_so(asked: Path) -> None:
    """In one line, which is no question, goes when one is asked, and is not taken for a person's word."""
    change(asked, lambda text: text.replace("- [ ]", "- [x]"))
    process(asked)
    path = inbox(asked)
    assert re.findall(r"^(?:- .*|Nothing waits\.)$", read(path), re.M) == ["Nothing waits."]
    settled(asked)
    write(path, read(path).replace("Nothing waits.", "Nothing waits.\nA note of mine."))
    process(asked)
    assert read(path).count("Nothing waits.") == 1 and read(path).endswith("\nA note of mine.\n")
    settled(asked)
    stale = read(handbook(asked))
    edit(handbook(asked), "9443.", "7443.")
    process(asked)
    write(handbook(asked), stale.replace("9443.", "5443."))
    process(asked)
    assert "Nothing waits." not in read(path) and read(path).count("- [ ] replace") == 1
    settled(asked)
