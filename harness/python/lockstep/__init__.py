"""Studies of Lockstep in Python.

    import lockstep

    study = lockstep.read("study")
    study.kinds                    # ['load', 'timing', 'film', ...]
    study.frame("timing").groupby(["scene", "target"])["mrays_inclusive"].median()
    study.environment["host"]["cpu"]

Records are lists of dicts by kind, as `records.jsonl` has them; `Study.frame` needs pandas. The wheel also carries the
program itself: `lockstep study`, or `lockstep.run("study", "cornell")`.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

__all__ = ["Study", "StudyError", "program", "read", "run"]

# The fields that tell what a record is about. Of several about the same the last one counts, as in the reports.
_ABOUT = (
    "scene", "target", "a", "b", "spp", "spp_from", "spp_to", "seed", "other_seed", "repeat", "bounce", "seconds",
    "threads", "quantity", "place", "scope", "configuration", "again",
)  # fmt: skip

# Kinds whose records are about no point, so that each one counts.
_ALL_COUNT = frozenset({"note", "skip"})

# Numbers that JSON cannot hold, and the fields of names and sentences, which hold none.
_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TEXTS = frozenset({"scene", "target", "a", "b", "against", "reason", "text", "why", "configuration"})


class StudyError(Exception):
    """A folder that is no study, or one whose files are damaged."""


class Study:
    """The records and the environment of a study."""

    def __init__(self, folder: Path, records: dict[str, list[dict[str, Any]]], environment: dict[str, Any]):
        self.folder = folder
        self.records = records
        self.environment = environment

    @property
    def kinds(self) -> list[str]:
        """The kinds of records, in the order of their first."""
        return list(self.records)

    def frame(self, kind: str):
        """The records of a kind as a pandas.DataFrame: a row each, a column for every field that one has."""
        import pandas

        if kind not in self.records:
            raise StudyError(f"{self.folder} has no records of kind {kind!r}; it has {', '.join(self.kinds)}")
        return pandas.DataFrame(self.records[kind])

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(records)} {kind}" for kind, records in self.records.items())
        return f"<Study {self.folder}: {counts}>"


def read(folder: str | os.PathLike[str]) -> Study:
    """Reads a study's folder. The last line may be torn, as after a power cut; it is left out then."""
    folder = Path(folder)
    path = folder / "records.jsonl"
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise StudyError(f"{folder} is no study: it has no records.jsonl. Make one with lockstep study -o") from None
    found: dict[str, dict[Any, dict[str, Any]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            kind = record.pop("kind")
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            if number == len(lines):
                break
            raise StudyError(f"{path}, line {number}: it is no record: {error}") from None
        for name, value in record.items():
            if isinstance(value, str) and name not in _TEXTS:
                record[name] = _NUMBERS.get(value, value)
        about = tuple((name, json.dumps(record[name])) for name in _ABOUT if name in record)
        of_kind = found.setdefault(kind, {})
        of_kind[number if kind in _ALL_COUNT else about] = record
    records = {kind: list(of_kind.values()) for kind, of_kind in found.items()}
    environment = folder / "environment.json"
    try:
        described = json.loads(environment.read_text(encoding="utf-8")) if environment.exists() else {}
    except ValueError as error:
        raise StudyError(f"{environment} is damaged: {error}") from None
    return Study(folder, records, described)


def program() -> str:
    """The path of the program: the wheel's own, else the one on PATH."""
    name = "lockstep.exe" if os.name == "nt" else "lockstep"
    own = Path(sysconfig.get_path("scripts")) / name
    found = str(own) if own.is_file() else shutil.which(name)
    if found is None:
        raise StudyError("the program is not installed; pip install the wheel, or put lockstep on PATH")
    return found


def run(*arguments: str) -> int:
    """Runs the program and returns its exit code, as `lockstep.run("study", "cornell", "-o", "study")`."""
    return subprocess.run([program(), *arguments], check=False).returncode
