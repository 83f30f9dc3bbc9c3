"""What then worked: the later call that is another try of one that failed, and what made the difference."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...governance.speech.sentences import Sentence
from .. import QuoteDraft
from . import arguments, commands, edited, outputs, tries
from .reading import code, flat, quote
from .tools import COMMAND_WORDS, Call

REACH = 8
"""Later calls to the same tool that are looked at for another try."""
NAMED = 3
"""Arguments that may differ for a difference to say anything."""

_WORD = re.compile(r"\w+")
_MISSING = re.compile(
    r"\b(?:no module named|cannot find module|no such (?:command|program)|not found)[: ]+[\"'`]?([\w@./-]*\w)|"
    r"([\w.+-]+): (?:command )?not found",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cure:
    """What made the difference, as the end of a sentence, with its quotes, and the call that worked."""

    call: Call
    text: str
    quotes: tuple[QuoteDraft, ...] = ()
    edit: bool = False
    """A file was changed; else a command made the difference."""


def cure(call: Call, following: Sequence[Call]) -> Cure | None:
    """How the same thing was done after all, or what made an end of this failure; None if neither was seen."""
    if call.failure is None:
        return None
    # A command that only shows files is no try of one that does something, and one without an answer proves nothing.
    later = [other for other in following if other.name == call.name and other.output and not _reads_files(other)]
    later = later[:REACH]
    if call.body:
        return _by_text(call, [other for other in later if other.body], following)
    for other in later:
        found = _by_arguments(call, other, following) if other.worked else None
        if found is not None:
            return found
    return None


def filled(call: Call, following: Sequence[Call]) -> Cure | None:
    """Which other setting gave a call that came back with nothing something to show; no other question does."""
    for other in [each for each in following if each.name == call.name][:REACH]:
        if not other.worked or other.output is None or outputs.nothing(other.output.text):
            continue
        if call.body and other.body and _same_thing(call, other) and flat(call.body.text) != flat(other.body.text):
            return _other_line(call, other)
        if not call.body and not other.body and all(other.args.get(key) in (None, call.args[key]) for key in call.args):
            return _by_arguments(call, other, following) if call.args != other.args else None
    return None


# ---------------------------------------------------------------- commands, programs and queries


def _by_text(call: Call, later: Sequence[Call], following: Sequence[Call]) -> Cure | None:
    last = call
    for other in later:
        if call.body is None or other.body is None:
            continue
        if other.worked and call.body.text != other.body.text and _squeezed(call.body) == _squeezed(other.body):
            return Cure(other, "; worked with other indentation")
        if _done_again(call, other):
            if other.failure is not None and _same_fault(call, other):
                last = other
                continue
            way = _between(last, other, following)
            if way is not None and (other.worked or way.text):
                return way
            if flat(call.body.text) == flat(other.body.text):
                if other.worked:
                    return Cure(other, "; worked when run again")
            elif not other.worked:
                return _got_further(call, other)
        if not other.worked:
            continue
        if _is_named(call, other) or _same_thing(call, other):
            return _other_line(call, other) or Cure(other, "")
    return _supplied(call, later)


def _reads_files(call: Call) -> bool:
    return call.command is not None and not call.is_code and commands.reads_files(call.command.text)


def _got_further(call: Call, other: Call) -> Cure | None:
    """What was added to a command that then failed of something else."""
    added = _added(call.command, other.command) if call.command and other.command else None
    return Cure(other, f"; fixed by {code(added.text)}", (quote(other.segment, other.item, added),)) if added else None


def _same_fault(call: Call, other: Call) -> bool:
    mine, theirs = (_WORD.findall(each.failure.text) if each.failure else [] for each in (call, other))
    return mine == theirs


def _is_named(call: Call, other: Call) -> bool:
    """True if what failed named the second command itself as the way on."""
    if other.command is None or other.is_code or call.output is None:
        return False
    if call.command and tries.same_work(other.command.text, call.command.text):
        return False
    found = [step for step in commands.steps(other.command.text) if step.words and not step.looks]
    named = (re.escape(" ".join((step.program, *step.words))) for step in found)
    return any(re.search(rf"(?<![\w-]){words}(?![\w-])", call.output.text) for words in named)


def _supplied(call: Call, later: Sequence[Call]) -> Cure | None:
    """A later command that brought what the failure says is missing, by the name that it has there."""
    missing = _MISSING.search(call.failure.text) if call.failure else None
    name = missing[1] or missing[2] if missing else ""
    for other in later if len(name) > 1 else ():
        if other.worked and other.command and not other.is_code and tries.fetches(other.command.text, name):
            command = outputs.within(other.command, COMMAND_WORDS)
            return Cure(other, f"; fixed by {code(command.text)}", (quote(other.segment, other.item, command),))
    return None


def _done_again(call: Call, other: Call) -> bool:
    """True if the second call does to the letter what the first was to do."""
    if call.body is None or other.body is None:
        return False
    if call.is_code or not call.alone:
        return flat(call.body.text) == flat(other.body.text)
    mine, theirs = call.command, other.command
    return mine is not None and theirs is not None and tries.again(mine.text, theirs.text)


def _same_thing(call: Call, other: Call) -> bool:
    """True if two bodies are tries of one thing: most of their lines or, for one line, of its words are the same."""
    if call.is_code != other.is_code or call.body is None or other.body is None:
        return False
    mine, theirs = (Counter(flat(line.text) for line in each.lines) for each in (call, other))
    many = len(call.lines) > 1 and len(other.lines) > 1
    if many and 2 * sum((mine & theirs).values()) >= min(len(call.lines), len(other.lines)):
        return True
    if not call.is_code:
        return bool(call.command and other.command and tries.alike(call.command.text, other.command.text))
    one, two = (Counter(_WORD.findall(each.body.text)) for each in (call, other) if each.body)
    return 2 * sum((one & two).values()) > min(one.total(), two.total())


def _between(call: Call, other: Call, following: Sequence[Call]) -> Cure | None:
    """What was done before the same call worked, or failed of something else.

    Of commands the last that did more than look about or edit, else the last file that was changed; of other calls the
    only one that came between. A cure without words if only a file that served to try something was changed.
    """
    done = [step for step in following if call.place < step.place < other.place]
    if call.body is None:
        done = done if len(done) == 1 and done[0].worked and done[0].name != call.name else []
    verb = "worked after" if other.worked else "fixed by"
    tried = False
    for step in reversed(done):
        if call.body is not None:
            found = list(edited.changes(step))
            kept = [change for change in found if not (change.path_shown or is_scratch(change.path.text, following))]
            if kept:
                where = (quote(step.segment, step.item, kept[-1].path),)
                return Cure(other, f"; {verb} a change of {code(kept[-1].path.text)}", where, edit=True)
            tried = tried or bool(found)
            if (
                found
                or not step.worked
                or not _made_way(step)
                or _same_thing(call, step)
                or _only_tries(call, step, following)
            ):
                continue
        name = named(step)
        if name is not None:
            return Cure(other, f"; {verb} {code(name.text)}", (quote(step.segment, step.item, name),))
    return Cure(other, "") if tried and other.worked else None


def _only_tries(call: Call, step: Call, following: Sequence[Call]) -> bool:
    """True for a command that only looks how something behaves, and so made nothing work."""
    if step.command is None or commands.inline(step.command.text) or runs_scratch(step.command.text, following):
        return True
    return call.command is not None and tries.checks_like(call.command.text, step.command.text)


def runs_scratch(command: str, calls: Sequence[Call]) -> bool:
    """True for a command that names a file which only served to try something: nobody can run it later."""
    words = (word for step in commands.steps(command) for word in step.words if re.search(r"[./]", word))
    return any(is_scratch(word, calls) for word in words)


def is_scratch(path: str, calls: Sequence[Call]) -> bool:
    """True for a file that only served to try something: it is in a folder for that, or was removed again."""
    return path.startswith(("/tmp/", "/dev/")) or "$" in path or edited.removed(calls, path)


def _made_way(step: Call) -> bool:
    if step.command is None or step.is_code or step.looks or not step.alone or commands.edits(step.command.text):
        return False
    silent = step.silent or (step.output is not None and not outputs.shown(step.output.text).lines)
    told = step.result is not None and outputs.is_success(step.result.text)
    return silent or told or commands.known(step.command.text)


def _other_line(call: Call, other: Call) -> Cure | None:
    """The line that was put for another; of a long one only the words that are new."""
    pair = changed_line(call, other)
    if pair is None:
        return None
    new = pair[1]
    if len(new.text.split()) > COMMAND_WORDS:
        added = _added(pair[0], new)
        return (
            Cure(other, f"; worked with {code(added.text)}", (quote(other.segment, other.item, added),))
            if added
            else None
        )
    return Cure(other, f"; then {code(new.text)} worked", (quote(other.segment, other.item, new),))


def changed_line(call: Call, other: Call) -> tuple[Sentence, Sentence] | None:
    """The line of a call that another try has otherwise: the one that its error shows, else the first that changed."""
    mine, theirs = ({flat(line.text) for line in each.lines} for each in (call, other))
    olds = [line for line in call.lines if flat(line.text) not in theirs]
    news = [line for line in other.lines if flat(line.text) not in mine]
    if not olds or not news:
        return None
    shown = call.output.text if call.output else ""
    old = next((line for line in reversed(olds) if call.is_code and line.text in shown), olds[0])
    words = Counter(_WORD.findall(old.text))
    new = max(news, key=lambda line: (words & Counter(_WORD.findall(line.text))).total())
    return (old, new) if words & Counter(_WORD.findall(new.text)) else None


def _added(old: Sentence, new: Sentence) -> Sentence | None:
    """The words of the new line that the old one has not, if they stand together."""
    words = list(re.finditer(r"\S+", new.text))
    match = difflib.SequenceMatcher(None, old.text.split(), [word.group() for word in words], autojunk=False)
    spans = [(start, end) for kind, _, _, start, end in match.get_opcodes() if kind != "equal" and end > start]
    if not spans:
        return None
    start, end = max(spans, key=lambda span: span[1] - span[0])
    return new.part(words[start].start(), words[end - 1].end()) if end - start <= COMMAND_WORDS else None


def _squeezed(body: Sentence) -> str:
    return re.sub(r"\s|\\[nt]", "", body.text)


def named(call: Call) -> Sentence | None:
    """The words of a call that name it: the command, or the tool's name where the call's text has it."""
    if call.command:
        return outputs.within(call.command, COMMAND_WORDS)
    start = call.item.text.find(call.name) if call.name else -1
    return Sentence(call.name, start) if start >= 0 else None


# ---------------------------------------------------------------- arguments


def _by_arguments(call: Call, other: Call, following: Sequence[Call]) -> Cure | None:
    """The difference in arguments, where the purpose is the same: it keeps one of them, or writes one otherwise."""
    if bool(call.body) != bool(other.body):
        return None
    if call.args == other.args:
        if flat(call.item.text) != flat(other.item.text):
            return None
        at_once = other.place == call.place + 1
        return _between(call, other, following) or Cure(other, "; worked when run again" if at_once else "")
    changed = [key for key in call.args if key in other.args and call.args[key] != other.args[key]]
    added = [key for key in other.args if key not in call.args]
    dropped = [key for key in call.args if key not in other.args]
    error = call.failure.text if call.failure else ""
    named_by_error = [key for key in added if arguments.names(error, key)]
    if (added or dropped) and not named_by_error:
        refused = any(arguments.names(error, key) for key in dropped)
        if refused and (added or changed or call.segment != other.segment):
            return None
        if call.segment != other.segment and set(call.args) != set(other.args):
            return None
    if arguments.of_another(call, other, changed):
        return None
    kept = len(call.args) - len(changed) - len(dropped)
    if (
        not kept
        and not named_by_error
        and not any(arguments.rewritten(call.args[key], other.args[key]) for key in changed)
    ):
        return None
    blamed = [key for key in changed if arguments.has_value(error, call.args[key])]
    blamed = blamed or [key for key in changed if arguments.names(error, key)]
    changed, added = blamed or changed, named_by_error or ([] if changed else added)
    if len(changed) + len(added) + len(dropped) > NAMED:
        return Cure(other, "")
    return _told(call, other, changed, added, dropped)


def _told(call: Call, other: Call, changed: list[str], added: list[str], dropped: list[str]) -> Cure:
    parts, quotes = [], []
    for key in changed:
        inner = arguments.inner_field(call.args[key], other.args[key])
        value = arguments.plain_value(other, key, call.failure.text if call.failure else "")
        if inner and inner in other.item.text:
            new = inner not in call.item.text
            parts.append(f"{code(inner)} given in {code(key)}" if new else f"another {code(inner)} in {code(key)}")
            quotes.append(_at(other, inner))
        elif (
            arguments.rewritten(call.args[key], other.args[key])
            and value is None
            and str(other.args[key]) in other.item.text
        ):
            parts.append(f"{code(key)} as {code(str(other.args[key]))}")
            quotes.append(_at(other, str(other.args[key])))
        elif value is not None:
            parts.append(f"`{key}` `{value.text}`")
            quotes.append(quote(other.segment, other.item, value))
        else:
            parts.append(f"another `{key}`")
        quotes.append(_at(other, key))
    for key in added:
        parts.append(f"`{key}` given")
        quotes.append(_at(other, key))
    text = " and ".join(parts)
    if dropped:
        gone = " and ".join(f"`{key}`" for key in dropped)
        text = f"{text.removesuffix(' given')} in place of {gone}" if added and not changed else text
        text = text or f"{gone} left out"
        quotes.extend(_at(call, key) for key in dropped)
    return Cure(other, f"; worked with {text}", tuple(quotes))


def _at(call: Call, part: str) -> QuoteDraft:
    return quote(call.segment, call.item, Sentence(part, call.item.text.find(part)))
