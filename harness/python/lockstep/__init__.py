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

# The fields that tell what a record is about, by its kind, as in the reports. Of several about the same the last one
# counts. Of other kinds, such as notes and those of other versions, each one counts.
_ABOUT = {
    "difference": ("scene", "a", "b", "spp", "seed", "mode"),
    "convergence": ("scene", "target", "spp", "seed", "mode"),
    "timing": ("scene", "target", "spp_from", "spp_to", "seed", "repeat", "mode"),
    "load": ("scene", "target", "mode"),
    "bounce": ("scene", "target", "spp_from", "spp_to", "bounce"),
    "noise": ("scene", "target", "spp", "seed", "other_seed", "mode"),
    "hits": ("scene", "a", "b", "spp", "seed"),
    "map": ("scene", "a", "b", "spp", "seed", "quantity"),
    "divergence": ("scene", "a", "b", "seed", "scope", "spp"),
    "first_divergence": ("scene", "a", "b", "seed", "place"),
    "invalid": ("scene", "target", "spp", "seed"),
    "speedup": ("scene", "target", "seed"),
    "tune": ("scene", "target", "configuration", "repeat", "aa_control"),
    "aa_control": ("scene", "target", "spp_from", "spp_to", "seed", "repeat", "mode"),
    "equal_time": ("scene", "target", "seconds", "seed"),
    "crops": ("scene", "target", "seconds", "seed"),
    "efficiency": ("scene", "a", "b", "spp", "seed"),
    "pyramid": ("scene", "integrator", "spp", "seed"),
    "scaling": ("scene", "target", "threads", "seed"),
    "sharing": ("scene", "group", "targets", "schedule", "seed"),
    "film": ("scene", "target", "spp", "seed"),
    "over_seeds": ("scene", "a", "b", "spp", "mode"),
    "run_failure": ("scene", "target", "spp", "seed"),
    "port_similarity": ("a", "b", "shortest"),
    "port_cost": (),
    "port_history": (),
}

# Kinds and fields by the names that files of earlier versions have.
_RENAMED = {"again": "aa_control"}

# The beginning of labels of kernel configurations in older files, and now.
_OLD_LABEL, _LABEL = "in-place", "no-compaction"
_LABELS = frozenset({"configuration", "variant", "scheduling"})

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
            record = {_RENAMED.get(name, name): value for name, value in json.loads(line).items()}
            kind = record.pop("kind")
            kind = _RENAMED.get(kind, kind)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            if number == len(lines):
                break
            raise StudyError(f"{path}, line {number}: it is no record: {error}") from None
        for name, value in record.items():
            if name in _LABELS and str(value).startswith(_OLD_LABEL):
                record[name] = _LABEL + value[len(_OLD_LABEL):]
            elif isinstance(value, str) and name not in _TEXTS:
                record[name] = _NUMBERS.get(value, value)
        about = tuple(json.dumps(record.get(name)) for name in _ABOUT[kind]) if kind in _ABOUT else number
        found.setdefault(kind, {})[about] = record
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
