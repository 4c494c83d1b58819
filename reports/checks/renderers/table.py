"""Prints the table of a study of renderers: the verdict of Lockstep's target against each program on each scene."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
environment = json.loads((folder / "environment.json").read_text())
named = {t["target"]: t["driver"] for t in environment["targets"] if t.get("program")}
otherwise = "renders it otherwise: "
notes, numbers, lines = {}, [], []
for r in records:
    if r["kind"] == "note" and r["text"].startswith(otherwise):
        text = r["text"].removeprefix(otherwise)
        if text not in numbers:
            numbers.append(text)
        notes.setdefault((r["scene"], r["target"]), {})[numbers.index(text) + 1] = None
found = {(r["scene"], r["a"], r["b"]): r for r in records if r["kind"] == "over_seeds"}
first = next(r["a"] for r in records if r["kind"] == "over_seeds")
print("| scene | " + " | ".join(f"{name} ({version})" for name, version in named.items()) + " |")
print("|---|" + "---|" * len(named))
for scene in dict.fromkeys(scene for scene, _, _ in found):
    row = [f"`{scene}`"]
    for target in named:
        r = found.get((scene, first, target))
        if r is None:
            row.append("not compared")
            continue
        marks = ", ".join(map(str, sorted(notes.get((scene, target), ()))))
        verdict = r["verdict"] if r["verdict"] == "within noise" else f"**{r['verdict']}**" + (f", p = {r['p']:.1e}" if "p" in r else "")
        row.append(verdict + (f" ({marks})" if marks else ""))
    print("| " + " | ".join(row) + " |")
print()
print("\n".join(f"{number}. {text}" for number, text in enumerate(numbers, 1)))
