"""What redaction finds, what it takes for a secret and is none, and how fast it is, on data of your own.

    python -m benchmarks.secrets --data FOLDER

FOLDER holds `labelled/`, a checkout of CredSweeper's sources (its `tests/samples` with `tests/data/output.json`), and
`ordinary/`, logs and transcripts that hold no secrets. Nothing is fetched. What is not there is told and fails the run,
since nothing was measured; `--only labelled` or `--only ordinary` asks for one of them.

- **Labelled.** A strong sample is an entry of `output.json` in a file of UTF-8 text, not inside an archive or a
  document, whose severity is high or critical and whose confidence is not weak: a vendor's form, or a candidate that
  the model of CredSweeper confirmed. It is found if nine tenths of its characters, where they stand, are taken out.
  Halves are made by the SHA-256 of a file's name: rules may be tried on the `even` one, the `odd` one is the figure.
- **Ordinary.** Every placeholder is a hit, printed with what stands around it: whether it is a false one is judged by
  eye, since public logs hold passwords too.
- **Speed.** JSON lines of tool outputs of 4,000 characters each, through `redact_value` as capture uses it, every text
  new and once; then each detector alone, and all but the slowest. A megabyte of hostile text beside half of it shows
  that time is linear: the ratio is about 2.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sandbox_memory.governance.redaction import redact_value, secrets_in
from sandbox_memory.governance.secrets import DETECTORS
from sandbox_memory.governance.secrets.masks import Masked

CHARACTERS = 4_000
HOSTILE = (
    "password=",
    '"',
    "password='",
    "key",
    "密码",
    "://a:",
    "-----BEGIN PRIVATE KEY-----",
    "4111 ",
    "eyJ",
    "\\u5bc6",
)


@dataclass(frozen=True)
class Labelled:
    """Samples of one half that were found, of how many, and what was missed as (file, rule)."""

    found: int
    of: int
    missed: tuple[tuple[str, str], ...]

    @property
    def share(self) -> float:
        """Found of all, 0 to 1."""
        return self.found / self.of if self.of else 0.0


def labelled(folder: Path, half: str) -> Labelled:
    """The strong samples of a half, `even` or `odd`, that are found."""
    entries = json.loads((folder / "tests" / "data" / "output.json").read_text(encoding="utf-8"))
    files: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        line = entry["line_data_list"][0]
        strong = entry["severity"] in ("high", "critical") and entry["confidence"] != "weak"
        if strong and not line.get("info") and _half(line["path"]) == half:
            files.setdefault(line["path"], []).append(entry)
    found, missed = 0, []
    for path, samples in sorted(files.items()):
        try:
            text = (folder / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        covered = bytearray(len(text))
        for start, end, _ in secrets_in(text):
            covered[start:end] = b"\1" * (end - start)
        for entry in samples:
            place = _place(text, entry["line_data_list"][0])
            if place is None:
                continue
            if sum(covered[place[0] : place[1]]) >= 0.9 * (place[1] - place[0]):
                found += 1
            else:
                missed.append((Path(path).name, str(entry["rule"])))
    return Labelled(found, found + len(missed), tuple(missed))


def _half(path: str) -> str:
    digest = hashlib.sha256(Path(path).name.encode()).hexdigest()
    return "odd" if int(digest, 16) % 2 else "even"


def _place(text: str, line: dict[str, Any]) -> tuple[int, int] | None:
    """Where the first line of a sample's value stands in the text."""
    value, lines = str(line["value"]).split("\n")[0], text.split("\n")
    number = int(line["line_num"]) - 1
    if not value or number >= len(lines):
        return None
    at = lines[number].find(value, max(0, int(line["value_start"]) - 2))
    at = at if at >= 0 else lines[number].find(value)
    start = sum(len(before) + 1 for before in lines[:number]) + at
    return (start, start + len(value)) if at >= 0 else None


@dataclass(frozen=True)
class Ordinary:
    """Characters that were read, in millions of bytes, and the hits with what stands around them."""

    megabytes: float
    hits: tuple[str, ...]


def ordinary(texts: Sequence[tuple[str, str]]) -> Ordinary:
    """What is taken for a secret in texts that hold none, given with their names."""
    hits, size = [], 0
    for name, text in texts:
        size += len(text.encode("utf-8", "replace"))
        for part in chunks(text, 50 * CHARACTERS):
            for start, end, kind in secrets_in(part):
                around = part[max(0, start - 40) : start], part[start:end][:60], part[end : end + 20]
                hits.append(f"{name}: {kind}: {around[0]!r} >>> {around[1]!r} <<< {around[2]!r}")
    return Ordinary(size / 1e6, tuple(hits))


def chunks(text: str, size: int) -> Iterator[str]:
    """The text in parts of that many characters, a little longer where a line goes on."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + size)
        end = end + 1 if 0 <= end < start + 2 * size else min(len(text), start + size)
        yield text[start:end]
        start = end


@dataclass(frozen=True)
class Speed:
    """Megabytes a second through `redact_value`, through all detectors, without the slowest, and which that is."""

    whole: float
    detectors: float
    without: float
    slowest: str
    nanoseconds: dict[str, float]


def speed(texts: Sequence[str]) -> Speed:
    """Measured on one core, in the time of this process; the best of three."""
    parts = [part for text in texts for part in chunks(text, CHARACTERS)]
    lines = [
        {"type": "function_call_output", "call_id": f"call_{n:032x}", "output": part} for n, part in enumerate(parts)
    ]
    size = sum(len(part.encode("utf-8", "replace")) for part in parts)
    masked = [Masked(part) for part in parts]
    best: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        gc.collect()
        started = time.process_time()
        work()
        best[name] = min(best.get(name, 1e9), time.process_time() - started)

    for turn in range(3):
        fresh = [{**line, "output": f"{line['output']}{' ' * turn}"} for line in lines]  # a cache has none of these
        timed("whole", partial(_each, redact_value, fresh))
        timed("masks", partial(_each, Masked, parts))
        for name, detector in DETECTORS.items():
            timed(name, partial(_each, partial(_all_of, detector), masked))
    alone = {name: seconds for name, seconds in best.items() if name != "whole"}
    total, slowest = sum(alone.values()), max(DETECTORS, key=alone.__getitem__)
    return Speed(
        size / 1e6 / best["whole"],
        size / 1e6 / total,
        size / 1e6 / (best["whole"] - alone[slowest]),
        slowest,
        {name: seconds / size * 1e9 for name, seconds in alone.items()},
    )


def _each(work: Callable[[Any], object], values: Sequence[Any]) -> None:
    for value in values:
        work(value)


def _all_of(detector: Callable[[Masked], Iterator[object]], masked: Masked) -> None:
    for _ in detector(masked):
        pass


def growth(unit: str, characters: int) -> float:
    """How many times longer that many characters of one thing again and again take than half of them."""

    def seconds(count: int) -> float:
        text = (unit * (count // len(unit) + 1))[:count]
        started = time.process_time()
        secrets_in(text)
        return time.process_time() - started

    return seconds(characters) / max(min(seconds(characters // 2) for _ in range(2)), 1e-9)


def _read(folder: Path, most: int) -> list[tuple[str, str]]:
    texts, left = [], most
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()[:left]
        texts.append((path.name, data.decode("utf-8", "replace")))
        left -= len(data)
        if left <= 0:
            break
    return texts


def _tell_labelled(folder: Path, hits: bool) -> bool:
    """Print what was found of the samples; whether the figure is met, which it is not without samples."""
    if not (folder / "tests" / "data" / "output.json").is_file():
        print(f"FAILS: no samples were measured, {folder} holds no tests/data/output.json")
        return False
    met = True
    for half in ("even", "odd"):
        figure = labelled(folder, half)
        held_out = "" if half == "even" else ", held out"
        print(
            f"strong samples, {half} half{held_out}: {figure.found} of {figure.of} found, "
            f"{figure.share:.3f} (target 0.75)"
        )
        met &= figure.of > 0 and (half == "even" or figure.share >= 0.75)
        if hits and half == "even":
            print("\n".join(f"  missed {rule} in {name}" for name, rule in figure.missed))
    return met


def _tell_ordinary(folder: Path, most: int, hits: bool) -> bool:
    """Print the hits in ordinary text and the speed; whether the speed is met, which it is not without texts."""
    texts = _read(folder, most) if folder.is_dir() else []
    if not any(text.strip() for _, text in texts):
        print(f"FAILS: no hits and no speed were measured, {folder} holds no text")
        return False
    found = ordinary(texts)
    rate = len(found.hits) / max(found.megabytes, 1e-9) * 10
    print(f"ordinary text: {len(found.hits)} hits in {found.megabytes:.1f} MB, {rate:.1f} in 10 MB (target 2)")
    print("\n".join(f"  {hit}" for hit in found.hits) if hits else "  --hits prints them, to be judged")
    fast = speed([text for _, text in texts])
    print(f"speed: {fast.whole:.1f} MB/s (target 10); without the slowest rule, {fast.slowest}: {fast.without:.1f}")
    print("  " + ", ".join(f"{name} {cost:.1f}" for name, cost in fast.nanoseconds.items()) + " ns a byte of CPU time")
    return fast.whole >= 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all figures; 0 if what was found and the speed meet their targets, else 1. A reader judges the hits."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.secrets", description="What redaction finds, and how fast."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and ordinary/")
    parser.add_argument("--only", choices=("labelled", "ordinary"), help="measure only one of the two")
    parser.add_argument("--most", type=float, default=100, help="megabytes of ordinary/ to read")
    parser.add_argument("--hits", action="store_true", help="print every hit in ordinary/, and what was missed in even")
    options = parser.parse_args(arguments)
    wanted = [options.only] if options.only else ["labelled", "ordinary"]
    met = True
    if "labelled" in wanted:
        met &= _tell_labelled(options.data / "labelled", options.hits)
    if "ordinary" in wanted:
        met &= _tell_ordinary(options.data / "ordinary", int(options.most * 1e6), options.hits)
    for unit in HOSTILE:
        print(f"a megabyte of {unit!r}: {growth(unit, 1_000_000):.1f} times half of it")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
