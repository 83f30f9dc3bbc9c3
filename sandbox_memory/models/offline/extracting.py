"""Extraction without a model: memories that are sentences of the transcript, and results that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...governance.grounding import ungrounded
from ...records import Item, Kind
from ...transcript import MEMORY
from .. import ExtractionDraft, ExtractionMaterial, MemoryDraft, QuoteDraft
from . import signals, stated, tools
from .sentences import Sentence, clip, is_document, sentences, title

TEXT = 300
COMMAND = 110
MOST = {Kind.PREFERENCE: 14, Kind.FACT: 12, Kind.LESSON: 8, Kind.PROCEDURE: 6, Kind.TASK: 4, Kind.EPISODE: 2}
"""How many memories of a kind one extraction gives at most: the strongest, in the order of the transcript."""
DOCUMENT_EDGE = 600
SENTENCE = 1_000
"""Characters above which something between two full stops is no sentence."""

_ID = re.compile(r"(?=.*(?:\d|[A-Z]{2}))(?!\d{1,4}[-/:.]\d)[\w-]{4,40}")


def extract(material: ExtractionMaterial) -> ExtractionDraft:
    """What the runs teach, in their own words."""
    return _Extraction(material).draft()


class _Extraction:
    def __init__(self, material: ExtractionMaterial) -> None:
        self.segments = material.rollout.segments
        self.preset = material.layout.preset
        self.calls = tools.calls(self.segments)
        self.items = [
            (n, item) for n, segment in enumerate(self.segments, 1) for item in segment.items if item.label != MEMORY
        ]
        self.asked = [(n, item) for n, item in self.items if item.role == "user"]
        self.task, self.task_quote = self._task()
        self.who = self._who() if self.preset.audience == "many" else None

    def draft(self) -> ExtractionDraft:
        if not self.items:
            return ExtractionDraft()
        memories = self._kept()
        return ExtractionDraft(
            task=self.task or "Work without a request",
            slug=self.task,
            summary=self._summary(),
            raw_memory=self._notes(len(memories)),
            keywords=self._keywords(),
            memories=memories,
        )

    def _task(self) -> tuple[str, QuoteDraft | None]:
        """The title, and its quote, unless it stands in something pasted: that is trusted less than what was done."""
        for number, item in self.asked:
            name = title(item.text)
            if len(name) > 3:
                quote = None if is_document(item.text) else QuoteDraft(item=f"s{number}.{item.index}", text=name)
                return name, quote
        return "", None

    def _who(self) -> tuple[str, QuoteDraft] | None:
        for number, item in self.asked:
            found = stated.speaker(item.text)
            if found:
                name, start, end = found
                return name, _quote(number, item, Sentence(item.text[start:end], start))
        return None

    def _kept(self) -> list[MemoryDraft]:
        found: list[tuple[int, MemoryDraft]] = []
        for source in (self._said(), self._failed(), self._shown(), self._changed(), self._chained(), self._rules()):
            found.extend(source)
        kept: list[MemoryDraft] = []
        seen: set[str] = set()
        for kind, most in MOST.items():
            mine = [
                (score, memory)
                for score, memory in found
                if memory.kind == kind.value and self._holds(kind, memory, seen)
            ]
            best = sorted(range(len(mine)), key=lambda place: -mine[place][0])[:most]
            kept.extend(mine[place][1] for place in sorted(best))
        return kept

    def _holds(self, kind: Kind, memory: MemoryDraft, seen: set[str]) -> bool:
        key = memory.text.casefold()
        if kind not in self.preset.headings or key in seen:
            return False
        seen.add(key)
        return ungrounded(memory.text, [quote.text for quote in memory.quotes]) is None

    def _said(self) -> Iterator[tuple[int, MemoryDraft]]:
        for number, item in self.asked:
            pasted = is_document(item.text)
            for sentence in sentences(item.text):
                if len(sentence.text) > SENTENCE:
                    continue
                edge = sentence.end <= DOCUMENT_EDGE or sentence.start >= len(item.text) - DOCUMENT_EDGE
                found = signals.said_by_person(sentence.text)
                if found is None or (pasted and not (edge and found[1] >= 4 and stated.speaks(sentence.text))):
                    continue
                kind, score = found
                said = clip(sentence.part(*stated.core(sentence.text, signals.WISHES)), TEXT - 60)
                text, quotes = _flat(said.text), [_quote(number, item, said)]
                if self.who:
                    text, quotes = f"{self.who[0]}: {text}", [self.who[1], *quotes]
                subject = stated.subject_of(said.text) if kind is Kind.FACT else ""
                if stated.speaker(said.text):
                    if self.who:
                        continue
                    subject = ""
                yield score, MemoryDraft(kind=kind.value, text=text, subject=subject, quotes=quotes)

    def _rules(self) -> Iterator[tuple[int, MemoryDraft]]:
        """What the agent says is not possible; weak, so it comes last."""
        for number, item in self.items:
            if item.role != "assistant" or is_document(item.text):
                continue
            for sentence in sentences(item.text):
                if len(sentence.text) <= SENTENCE and signals.rule_met(sentence.text):
                    said = clip(sentence.part(*stated.core(sentence.text)), TEXT)
                    yield (
                        1,
                        MemoryDraft(kind=Kind.FACT.value, text=_flat(said.text), quotes=[_quote(number, item, said)]),
                    )

    def _failed(self) -> Iterator[tuple[int, MemoryDraft]]:
        for place, call in enumerate(self.calls):
            if call.failure is None or call.output is None:
                continue
            error = tools.first_clause(call.failure)
            quotes = [_quote(call.segment, call.output, error)]
            text = f'"{_flat(error.text)}"'
            named = _named(call)
            if named:
                text = f"`{_flat(named.text)}` failed: {text}"
                quotes.insert(0, _quote(call.segment, call.item, named))
            fix = tools.recovery(call, self.calls[place + 1 :])
            if fix is None and self._ran_later(call):
                continue
            if fix:
                told, more = _what_worked(call, fix)
                if told and len(text) + len(told) <= TEXT:
                    text, quotes = text + told, quotes + more
            yield (3 if fix else 2), MemoryDraft(kind=Kind.LESSON.value, text=text, quotes=quotes)

    def _ran_later(self, call: tools.Call) -> bool:
        """True if the same command showed something else later, which `_shown` tells with both results."""
        command = call.command.text if call.command else ""
        later = [other for other in self.calls[call.place + 1 :] if other.command and other.command.text == command]
        return bool(command and tools.runs(command) and any(other.worked for other in later))

    def _shown(self) -> Iterator[tuple[int, MemoryDraft]]:
        """Commands with what they showed; one that showed something else later, with both."""
        by_command: dict[str, list[tools.Call]] = {}
        for call in self.calls:
            if call.command and call.output and len(call.command.text) <= COMMAND:
                by_command.setdefault(call.command.text, []).append(call)
        for command, runs in by_command.items():
            last = runs[-1]
            shown = tools.result_line(last) or tools.success_line(last)
            if shown is None or last.command is None or last.output is None or not tools.runs(command):
                continue
            text, quotes = (
                f"`{_flat(command)}` showed {_flat(shown.text)}",
                [_quote(last.segment, last.item, last.command)],
            )
            first = next((run for run in runs[:-1] if run.result != last.result), None)
            before = (first.failure or tools.result_line(first)) if first else None
            if first and first.output and before and before.text != shown.text:
                text = f"`{_flat(command)}` showed {_flat(before.text)} at first, {_flat(shown.text)} in the end"
                quotes.append(_quote(first.segment, first.output, before))
            quotes.append(_quote(last.segment, last.output, shown))
            yield 2 + (len(runs) > 1), MemoryDraft(kind=Kind.PROCEDURE.value, text=text, quotes=quotes)

    def _chained(self) -> Iterator[tuple[int, MemoryDraft]]:
        """Which call showed a name that another needed and the person had not given: the way to look it up."""
        seen: set[tuple[str, str]] = set()
        for place, call in enumerate(self.calls):
            for key, value in call.args.items():
                if not isinstance(value, str) or not _ID.fullmatch(value) or not self._lacked(key, value, call):
                    continue
                source = next(
                    (
                        other
                        for other in self.calls[:place]
                        if other.worked and other.output and value in other.output.text
                    ),
                    None,
                )
                if source is None or source.output is None or source.name == call.name or (source.name, key) in seen:
                    continue
                names = (
                    (source.segment, source.item, source.name),
                    (call.segment, call.item, key),
                    (call.segment, call.item, call.name),
                )
                if not all(name and name in item.text for _, item, name in names):
                    continue
                seen.add((source.name, key))
                shown = Sentence(value, source.output.text.find(value))
                yield (
                    1,
                    MemoryDraft(
                        kind=Kind.PROCEDURE.value,
                        text=f"`{source.name}` shows the `{key}` that `{call.name}` needs",
                        quotes=[
                            *(_quote(n, item, Sentence(name, item.text.find(name))) for n, item, name in names),
                            _quote(source.segment, source.output, shown),
                        ],
                    ),
                )

    def _lacked(self, key: str, value: str, call: tools.Call) -> bool:
        """True if a person said before the call that they do not have what its argument is named after."""
        before = [item.text for n, item in self.asked if (n, item.index) < (call.segment, call.item.index)]
        if any(value.casefold() in text.casefold() for text in before):
            return False
        named = [part for part in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", key.casefold()) if part]
        return any(
            stated.lacks(sentence.text) and all(part in sentence.text.casefold() for part in named)
            for text in before
            for sentence in sentences(text)
        )

    def _changed(self) -> Iterator[tuple[int, MemoryDraft]]:
        seen: dict[str, tuple[int, Item, tools.Change]] = {}
        for number, item in self.items:
            if item.role in ("call", "output") and ("+++ " in item.text or "*** " in item.text):
                for change in tools.changes(item.text):
                    seen[change.path.text] = (number, item, change)
        for number, item, change in seen.values():
            quotes = [_quote(number, item, change.path)]
            text = f"changed {change.path.text}"
            if change.old and change.new:
                pair = Sentence(item.text[change.old.start : change.new.end], change.old.start)
                quotes.append(_quote(number, item, pair))
                text += f": `{change.old.text}` became `{change.new.text}`"
            if self.task_quote and len(text) + len(self.task) <= TEXT:
                text, quotes = f"{self.task}: {text}", [self.task_quote, *quotes]
            yield 3, MemoryDraft(kind=Kind.TASK.value, text=text, quotes=quotes)

    def _summary(self) -> str:
        lines = [f"Asked for: {self.task}" if self.task else "Nothing was asked for."]
        asked = [clip(s, 200).text for _, item in self.asked for s in list(sentences(item.text))[:3]]
        lines += ["", "Said by the person:", *(f"- {_flat(text)}" for text in asked[:12])] if asked else []
        failed = [call for call in self.calls if call.failure]
        if self.calls:
            lines += ["", f"{len(self.calls)} tool calls, {len(failed)} of them failed."]
            lines += [f"- {call.name}: {_flat(call.failure.text)}" for call in failed[:8] if call.failure]
        answers = [item.text for _, item in self.items if item.role == "assistant" and item.text.strip()]
        state = self.segments[-1].terminal_state
        lines += ["", f"Ended {state}." + (f" Last answer: {_flat(answers[-1])[:300]}" if answers else "")]
        return "\n".join(lines)

    def _notes(self, count: int) -> str:
        what = "1 memory" if count == 1 else f"{count or 'No'} memories"
        return f"{what} quoted from {len(self.segments)} runs by the built-in model."

    def _keywords(self) -> list[str]:
        words = [call.name for call in self.calls if call.name]
        words += [tools.verb(call.command.text) for call in self.calls if call.command]
        words += re.findall(r"[\w./-]{4,}", self.task)
        return list(dict.fromkeys(word for word in words if word))[:12]


def _quote(segment: int, item: Item, part: Sentence) -> QuoteDraft:
    return QuoteDraft(item=f"s{segment}.{item.index}", text=part.text)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _named(call: tools.Call) -> Sentence | None:
    """The words of a call that name it: the command, or the tool's name if the call's text has it."""
    if call.command:
        return clip(call.command, COMMAND)
    start = call.item.text.find(call.name) if call.name else -1
    return Sentence(call.name, start) if start >= 0 else None


def _what_worked(call: tools.Call, fix: tools.Call) -> tuple[str, list[QuoteDraft]]:
    if call.command is None or fix.command is None:
        names = [name for name in tools.changed_arguments(call, fix) if name in fix.item.text]
        if not names or len(names) > 3:
            return "", []
        quotes = [_quote(fix.segment, fix.item, Sentence(name, fix.item.text.find(name))) for name in names]
        return f"; worked with another {' and '.join(f'`{name}`' for name in names)}", quotes
    if call.command.text != fix.command.text:
        worked = clip(fix.command, COMMAND)
        return f"; then `{_flat(worked.text)}` worked", [_quote(fix.segment, fix.item, worked)]
    if re.sub(r"\s|\\[nt]", "", call.item.text) == re.sub(r"\s|\\[nt]", "", fix.item.text):
        return "; worked with other indentation", []
    return "; worked when changed", []
