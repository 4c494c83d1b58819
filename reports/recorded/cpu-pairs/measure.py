"""Samples per second of processor time by integrator on one thread of `cpu-bvh`, as Markdown.

    python3 measure.py LOCKSTEP

Every round renders each integrator once, one after the other. A rate is that of the samples after the first, so that
starting, loading and writing the image do not count.
"""

import os
import statistics
import subprocess
import sys

SCENES = ["cornell", "weekend", "instances", "caustic"]
INTEGRATORS = ["path", "bpt", "light", "vcm", "bpm"]
BOUNCES = [3, 8]
SIZE = [256, 192]
ROUNDS = 3
SECONDS = 1.0


def processor_time(lockstep, scene, bounces, integrator, spp):
    """User and system time of one render."""
    width, height = SIZE
    command = [lockstep, "render", scene, "-b", "cpu-bvh", "--threads", "1", "--integrator", integrator]
    command += ["--bounces", str(bounces), "--spp", str(spp), "--size", f"{width}x{height}", "-o", "rate.exr"]
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def samples_for(lockstep, *what):
    """Samples per pixel that take about SECONDS."""
    per_sample = (processor_time(lockstep, *what, 9) - processor_time(lockstep, *what, 1)) / 8
    return max(9, round(SECONDS / max(per_sample, 1e-4)))


def rates(lockstep, scene, bounces):
    """The median rate of every integrator, in millions of samples per second."""
    spp = {i: samples_for(lockstep, scene, bounces, i) for i in INTEGRATORS}
    found = {i: [] for i in INTEGRATORS}
    for _ in range(ROUNDS):
        for i in INTEGRATORS:
            many, one = (processor_time(lockstep, scene, bounces, i, n) for n in (spp[i], 1))
            found[i].append(SIZE[0] * SIZE[1] * (spp[i] - 1) / (many - one) / 1e6)
    return {i: statistics.median(found[i]) for i in INTEGRATORS}


def main(lockstep):
    others = INTEGRATORS[1:]
    print("| scene | bounces | `path`, M samples/s |" + "".join(f" `{i}` |" for i in others))
    print("|---|---:|---:|" + "---:|" * len(others))
    ratios = []
    for scene in SCENES:
        for bounces in BOUNCES:
            rate = rates(lockstep, scene, bounces)
            ratios.append({i: rate[i] / rate["path"] for i in others})
            cells = "".join(f" {ratios[-1][i]:.2f} |" for i in others)
            print(f"| {scene} | {bounces} | {rate['path']:.2f} |{cells}", flush=True)
    means = "".join(f" {statistics.geometric_mean(r[i] for r in ratios):.2f} |" for i in others)
    print(f"| geometric mean | | |{means}")


if __name__ == "__main__":
    main(*sys.argv[1:])
