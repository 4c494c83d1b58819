#!/usr/bin/env python3
"""Rates of lockstep's bidirectional path tracing on a processor against LuxCore's BIDIRCPU, on scenes that both load.

    compare.py PYTHON [--lockstep PROGRAM] [--scenes A,B] [--rounds N] [--out FILE]

PYTHON is an interpreter with LuxCore's package (`pip install pyluxcore==2.10.1`), which this script does not fetch. lockstep
exports each scene (`lockstep export --to luxcore`). Both render 512x512 pixels on one processor without Russian roulette, in
turns. A rate is samples by seconds of processor time, from the difference of a long and a short render, so that neither start
nor image output counts.

LuxCore bounds the vertices of each sub-path and connects all pairs of them; lockstep bounds the segments of a whole path. Rows
with five vertices let both make paths of ten segments, for which lockstep's sub-paths are up to ten segments long each. Rows with
ten give both sub-paths of the same lengths, of which LuxCore connects pairs up to twice as long as lockstep does.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SIDE = 512
SEGMENTS = 10
VERTICES = (5, 10)
# Samples per pixel of the short and the long render.
SHORT, LONG = 1, 5
HEAD = "| scene | vertices of LuxCore's sub-paths | LuxCore | lockstep | ratio |\n|---|---:|---:|---:|---:|"

# Renders scene.cfg of the working folder: vertices of a sub-path, samples per pixel. Prints the samples that there are.
CHILD = """
import sys, time
import pyluxcore

vertices, spp, side = map(int, sys.argv[1:])
pyluxcore.Init()
settings = pyluxcore.Properties("scene.cfg")
for name, value in {
    "renderengine.type": "BIDIRCPU",
    "film.width": side,
    "film.height": side,
    "native.threads.count": 1,
    "renderengine.seed": 1,
    "path.maxdepth": vertices,
    "light.maxdepth": vertices,
    "path.russianroulette.depth": 1000000,
    "batch.haltspp": [spp, 0],
}.items():
    settings.Set(pyluxcore.Property(name, value))
scene = pyluxcore.Scene()
scene.Parse(pyluxcore.Properties("scene.scn"))
session = pyluxcore.RenderSession(pyluxcore.RenderConfig(settings, scene))
session.Start()
while not session.HasDone():
    time.sleep(0.01)
    session.UpdateStats()
session.Stop()
print(int(session.GetStats().Get("stats.renderengine.total.samplecount").GetFloat()))
"""


def run(command, folder):
    """Runs a command on one processor; returns the processor time that it took, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["taskset", "-c", "0", *map(str, command)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[3:7])} … exited with {done.returncode}: {done.stderr.strip()[-400:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, done.stdout


def luxcore_rate(python, folder, vertices):
    """Samples by seconds of LuxCore."""
    (folder / "child.py").write_text(CHILD)
    points = []
    for spp in (SHORT, LONG):
        seconds, output = run([python, "child.py", vertices, spp, SIDE], folder)
        points.append((seconds, int(output.split()[-1])))
    (first, few), (second, many) = points
    return (many - few) / (second - first)


def lockstep_rate(lockstep, scene, folder):
    """Samples by seconds of lockstep."""
    times = []
    for spp in (SHORT, LONG):
        command = [lockstep, "render", scene, "-b", "cpu-bvh", "--threads", 1, "--integrator", "bpt"]
        command += ["--bounces", SEGMENTS - 1, "--spp", spp, "--size", f"{SIDE}x{SIDE}", "-o", "ours.exr"]
        times.append(run(command, folder)[0])
    return SIDE * SIDE * (LONG - SHORT) / (times[1] - times[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("python", type=Path)
    parser.add_argument("--lockstep", type=Path, default=Path("target/release/lockstep"))
    parser.add_argument("--scenes", default="cornell")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    # An interpreter of a virtual environment is a link, which must stay one
    python, lockstep = options.python.absolute(), options.lockstep.resolve()
    rows = []
    for scene in options.scenes.split(","):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "scene"
            run([lockstep, "export", scene, "--to", "luxcore", "--out", folder], Path.cwd())
            for vertices in VERTICES:
                pairs = []
                for _ in range(options.rounds):
                    pairs.append((luxcore_rate(python, folder, vertices), lockstep_rate(lockstep, scene, folder)))
                theirs, ours = (statistics.median(rates) * 1e-6 for rates in zip(*pairs))
                ratio = statistics.median(ours / theirs for theirs, ours in pairs)
                rows.append(f"| {scene} | {vertices} | {theirs:.3f} | {ours:.3f} | {ratio:.2f} |")
                print(rows[-1], flush=True)
    if options.out:
        partial = options.out.with_suffix(".tmp")
        partial.write_text("\n".join([HEAD, *rows]) + "\n")
        os.replace(partial, options.out)


if __name__ == "__main__":
    main()
