"""How a memory stands and what was done to it, as a person reads it: `status`, `process`, `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from .places import MEMORIES, Place, elsewhere, here
from .screen import BAD, FAINT, GOOD, ID, STRONG, WARN, Screen, kept, listed, many, size, when

if TYPE_CHECKING:
    from ...inquiry import CheckReport, Finding
    from ...pipeline import Report

MOST = 8
"""How many findings of one kind are told; the rest is counted."""


def status(screen: Screen, place: Place, facts: Mapping[str, Any]) -> None:
    """Counts, what is pending and why, and what stands in the way."""
    folders = f"  {facts['memories_dir']}/, {facts['sessions_dir']}/, layout {facts['preset']}"
    screen.line(kept(place.whole, STRONG), (folders, FAINT), hang=2)
    screen.gap()
    kinds = sorted(facts["records_by_kind"].items(), key=lambda entry: (-entry[1], entry[0]))
    by_kind = f": {listed(many(count, kind) for kind, count in kinds)}" if kinds else ""
    screen.column("memories", f"{facts['records']:,}{by_kind}")
    away = [(facts[name], name.replace("_", " ")) for name in ("hidden", "superseded", "expired", "let_go", "deleted")]
    if any(count for count, _ in away):
        screen.column("", (", ".join(f"{count:,} {word}" for count, word in away if count), FAINT))
    screen.column("transcripts", f"{facts['rollouts']:,} in {facts['sessions_dir']}/")
    screen.column("commits", f"{facts['commits']:,}")
    _tokens(screen, facts)
    pending(screen, facts)
    if facts["inbox"]:
        asks = many(len(facts["inbox"]), "question")
        screen.column("inbox", (asks, WARN), " for you in ", kept(place.path(facts["memories_dir"] + "/INBOX.md"), ""))
        for text in facts["inbox"]:
            screen.line(text, indent=15, hang=2)
    if facts["open_sessions"]:
        open_now = many(facts["open_sessions"], "agent session is open", "agent sessions are open")
        screen.column("open now", (open_now, WARN), ": until it ends, an edit counts as the agent's")
    for path, what in facts["unusable"].items():
        screen.column("unusable", (path, ID), f" {what}; it is left alone", style=BAD)
    for problem in facts["ledger_problems"]:
        screen.column("ledger", f"line {problem['line']}: {problem['what']}", style=BAD)


def _tokens(screen: Screen, facts: Mapping[str, Any]) -> None:
    total: dict[str, int] = {}
    for usage in (*facts["usage"].values(), facts["consolidation_usage"]):
        for key, count in usage.items():
            total[key] = total.get(key, 0) + count
    if not total.get("input_tokens") and not total.get("output_tokens"):
        return
    screen.column("tokens", tokens(total))
    spent = sorted(facts["usage"].items(), key=lambda entry: (-entry[1].get("input_tokens", 0), entry[0]))
    few = spent if len(spent) <= 6 else spent[:5]
    told = [(name, tokens(usage)) for name, usage in few]
    if len(few) < len(spent):
        told.append((f"{len(spent) - len(few):,} more transcripts", "--json has each"))
    if any(facts["consolidation_usage"].values()):
        told.append(("consolidation", tokens(facts["consolidation_usage"])))
    for name, amount in told:
        screen.line((f"{name}: {amount}", FAINT), indent=15, hang=2)


def tokens(usage: Mapping[str, int]) -> str:
    """`12,345 in and 678 out, in 3 requests`."""
    requests = many(usage.get("requests", 0), "request")
    return f"{usage.get('input_tokens', 0):,} in and {usage.get('output_tokens', 0):,} out, in {requests}"


def pending(screen: Screen, facts: Mapping[str, Any]) -> None:
    """The transcripts that are still to be read and the memories that are still to be consolidated, by their causes."""
    waiting = facts["pending"]
    if not waiting and not facts["unconsolidated"]:
        screen.column("pending", ("nothing", FAINT))
    if waiting:
        amount = size(sum(entry["bytes"] for entry in waiting))
        screen.column("to read", (many(len(waiting), "transcript"), WARN), f", {amount}")
        causes: dict[str, list[Mapping[str, Any]]] = {}
        for entry in waiting:
            causes.setdefault(entry.get("cause", ""), []).append(entry)
        for cause, entries in causes.items():
            names = [f"{entry['rollout']} ({size(entry['bytes'])})" for entry in entries]
            _cause(screen, names, cause, entries[0])
    if facts["unconsolidated"]:
        count = sum(entry["memories"] for entry in facts["unconsolidated"])
        screen.column("to take in", (many(count, "memory", "memories"), WARN), " from transcripts that are read")
        names = [f"{entry['rollout']} ({entry['memories']})" for entry in facts["unconsolidated"]]
        _cause(screen, names, facts["consolidation"].get("cause", ""), facts["consolidation"])


def _cause(screen: Screen, names: Sequence[str], cause: str, failure: Mapping[str, Any]) -> None:
    few = names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"]
    screen.line(listed(few), indent=15, hang=2)
    if cause:
        tried = many(failure["attempts"], "try", "tries")
        last = when(failure["at"])
        screen.line((plain_cause(cause), BAD), (f" ({tried}, the last {last})", FAINT), indent=15, hang=2)


def plain_cause(cause: str) -> str:
    """The cause without its advice to programmers; the command line has advice of its own."""
    from ...models.agents_sdk import ADVICE

    return cause.removesuffix(ADVICE).rstrip("; ").rstrip(".")


def processed(
    screen: Screen, place: Place, report: Report, facts: Mapping[str, Any], *, model: str, seconds: float, verbose: bool
) -> None:
    """What a `process` did, what it left, and where to look next."""
    read = len(report.extracted)
    took = f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    if read:
        screen.line((f"Read {many(read, 'transcript')}", STRONG), f" with {model} in {took}.", hang=2)
    elif report.operations:
        screen.line(("Took in what was read before", STRONG), f", with {model} in {took}.", hang=2)
    elif not facts["rollouts"]:
        screen.line(("Nothing to read", STRONG), f": there are no transcripts in {facts['sessions_dir']}/.", hang=2)
    elif facts["pending"] or facts["unconsolidated"]:
        screen.line(("Nothing could be done", STRONG), f" with {model}.", hang=2)
    else:
        screen.line(("Nothing new", STRONG), f": {_all(facts['rollouts'])} read before.", hang=2)
    _changes(screen, report, facts)
    from ...pipeline.reports import says_nothing_new

    known = [refusal for refusal in report.refused if says_nothing_new(refusal)]
    refused = [refusal for refusal in report.refused if not says_nothing_new(refusal)]
    for what, refusals in (("said nothing new", known), ("refused", refused)):
        if refusals:
            screen.line(f"{many(len(refusals), 'candidate')} {what}", indent=2)
        for refusal, times in Counter(refusals if verbose else ()).items():
            often = f" ({times} times)" if times > 1 else ""
            screen.line(refusal.what, (f": {refusal.why}{often}", WARN), indent=4, hang=2)
    if report.refused and not verbose:
        screen.line(("--verbose names each with its reason", FAINT), indent=4)
    if report.adopted:
        screen.line(f"{many(report.adopted, 'edit')} of yours taken in", indent=2, hang=2)
    if report.usage.input_tokens or report.usage.output_tokens:
        screen.line(f"{tokens(report.usage.to_json())} to the model", indent=2, hang=2)
    if facts["pending"] or facts["unconsolidated"]:
        screen.gap()
        screen.line(("Left pending", BAD))
        pending(screen, facts)
    screen.gap()
    following(screen, place, facts, model=model)


def _all(count: int) -> str:
    return "the one transcript was" if count == 1 else f"all {count:,} transcripts were"


def _changes(screen: Screen, report: Report, facts: Mapping[str, Any]) -> None:
    words = (
        ("add", "added"),
        ("support", "said again"),
        ("supersede", "superseded"),
        ("merge", "merged"),
        ("revise", "changed"),
        ("move", "moved"),
        ("delete", "deleted"),
        ("retire", "let go"),
        ("restore", "restored"),
    )
    counts = [(report.operations.get(op, 0), word) for op, word in words]
    done = [f"{count:,} {word}" for count, word in counts if count]
    if done:
        first = counts[0][0] or next(count for count, _ in counts if count)
        done[0] = done[0].replace(" ", " memory " if first == 1 else " memories ", 1)
        screen.line(", ".join(done), indent=2, hang=2)
    if facts["inbox"]:
        asked = many(len(facts["inbox"]), "question")
        screen.line((f"{asked} for you", WARN), f" in {facts['memories_dir']}/INBOX.md", indent=2, hang=2)


def following(screen: Screen, place: Place, facts: Mapping[str, Any], *, model: str = "offline") -> None:
    """What to do next."""
    waits = bool(facts["pending"] or facts["unconsolidated"])
    if facts["records"]:
        hint(screen, place.path(facts["memories_dir"] + "/MEMORY.md"), "read it, edit it: your edits stay")
        hint(screen, place.command("show"), "what is remembered, with ids")
    if waits and model != "offline":
        hint(screen, place.command("process") + " --model offline", "needs no key and no network")
    elif waits:
        hint(screen, place.command("process"), "tries again")
    elif not facts["records"]:
        empty(screen, place, facts)


def empty(screen: Screen, place: Place, facts: Mapping[str, Any]) -> None:
    """What to do with a workspace that remembers nothing."""
    if facts["pending"] or facts["unconsolidated"]:
        if facts["pending"]:
            waiting = many(len(facts["pending"]), "transcript waits", "transcripts wait")
            amount = size(sum(entry["bytes"] for entry in facts["pending"]))
            screen.line(f"{waiting} in {facts['sessions_dir']}/ ({amount}):", hang=2)
        else:
            screen.line("What the transcripts taught waits to be taken in:", hang=2)
        hint(screen, place.command("process") + " --model offline", "needs no key and no network")
        hint(screen, place.command("process") + " --model NAME", "any model that the Agents SDK knows")
        return
    for memories, sessions in elsewhere(place):
        plain = Place(place.root, MEMORIES, None, named=place.named).command("process")
        hint(screen, f"{plain} --memories {memories} --sessions {sessions}", "holds something")
    if not facts["rollouts"]:
        screen.line("An agent with the capability Memory() fills it, and so can you:", hang=2)
    hint(screen, place.command("add", option="--workspace") + ' "…"', "remember a line in so many words")


def hint(screen: Screen, what: str, why: str) -> None:
    """A command or a file, and what it is for."""
    gap = " " * max(2, 44 - cell_len(what))
    screen.line(kept(what), gap, (why, FAINT), indent=2, hang=2)


def _found(screen: Screen, kind: str, findings: Sequence[Finding]) -> None:
    """What was found of one kind; of very many, the first few."""
    from ...trusting.checking import NOTES

    style = WARN if kind in NOTES else BAD
    told = findings if len(findings) <= MOST + 1 else findings[:MOST]
    for number, finding in enumerate(told):
        screen.column("" if number else kind, kept(finding.where), f"  {finding.what}", width=14, style=style)
        next_hint = told[number + 1].hint if number + 1 < len(told) else ""
        if finding.hint and finding.hint != next_hint:
            screen.line((here(finding.hint), FAINT), indent=14, hang=2)
    if len(told) < len(findings):
        more = f"and {len(findings) - len(told):,} more of this kind; --json lists them all"
        screen.line((more, FAINT), indent=14)


def _anchored(screen: Screen, report: CheckReport) -> None:
    """Who is known to have written how much of it: by the host's key, by this machine, or not at all."""
    commits, lines = many(report.commits, "commit"), many(report.segments, "transcript line")
    if report.key:
        vouched = f", {report.vouched_commits:,} vouched for" if report.vouched_commits else ""
        screen.column("by the key", f"{report.sealed_commits:,} of {commits}{vouched}", width=14)
        screen.column("", f"{report.sealed_segments:,} of {lines}", width=14)
    screen.column("written here", f"{report.anchored_commits:,} of {commits}", width=14)
    foreign = f", {report.foreign_segments:,} from elsewhere" if report.foreign_segments else ""
    screen.column("", f"{report.anchored_segments:,} of {lines}", foreign, width=14)
    if report.passed_commits:
        screen.column("passed over", (f"{report.passed_commits:,} of {commits}: they count for nothing", BAD), width=14)
    if report.commits and not report.anchored:
        screen.column("anchored", ("unanchored: neither by a key nor by this machine", WARN), width=14)


def check(screen: Screen, report: CheckReport) -> None:
    """What was mended and verified, what does not hold, and the verdict."""
    from ...trusting.checking import NOTES

    for what in report.mended:
        screen.column("mended", what, width=14, style=GOOD)
    if report.mended:
        screen.gap()
    problems = [finding for finding in report.findings if finding.kind not in NOTES]
    chain = [finding for finding in report.findings if finding.kind == "chain"]
    follow = "an unbroken chain" if not chain else f"{many(len(chain), 'break')} in the chain"
    screen.column("history", many(report.commits, "commit"), ", ", (follow, BAD if chain else GOOD), width=14)
    _anchored(screen, report)
    whole = report.standing_receipts == report.receipts
    stand = f"{report.standing_receipts:,} of {many(report.receipts, 'quote')} stand where they say"
    screen.column("quotes", (stand, GOOD if whole else BAD), width=14)
    sizes = ", ".join(f"{name} {size(count)}" for name, count in report.sizes.items())
    screen.column("size", (sizes, FAINT), width=14)
    kinds: dict[str, list[Finding]] = {}
    for finding in sorted(report.findings, key=lambda finding: finding.kind in NOTES):
        kinds.setdefault(finding.kind, []).append(finding)
    for kind, findings in kinds.items():
        screen.gap()
        _found(screen, kind, findings)
    screen.gap()
    if problems:
        screen.line((f"{many(len(problems), 'thing does', 'things do')} not verify.", BAD))
    elif not report.anchored and report.commits:
        screen.line(("Nothing contradicts, but it is unanchored:", WARN), " who wrote it cannot be told here.", hang=2)
    elif {"missing", "live", "planted", "orphan", "behind", "left", "untold"} & kinds.keys():
        screen.line(("The history verifies;", GOOD), (" look at what is named above.", WARN))
    elif whole:
        screen.line(("Everything verifies.", GOOD))
    else:
        away = report.receipts - report.standing_receipts
        screen.line(("Nothing contradicts.", GOOD), f" {many(away, 'quote')} cannot be looked up any more.")
