#!/usr/bin/env python3
"""Rates of lockstep's integrators on a processor against SmallVCM's, on SmallVCM's own scenes.

    compare.py SOURCES [--lockstep PROGRAM] [--rounds N] [--scenes 0,1,2,3] [--out FILE]

SOURCES is a folder with SmallVCM's sources (`src/smallvcm.cxx`), which this script builds with its own flags and does not
fetch. Both programs render 512x512 pixels and paths of up to ten segments on one processor. A rate is samples by seconds of
processor time, from the difference of a long and a short render, so that neither start nor image output counts.
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
# SmallVCM's name of each algorithm, lockstep's, and samples per pixel of the short and the long render.
ALGORITHMS = [
    ("pt", "path", 1, 9),
    ("bpt", "bpt", 1, 5),
    ("bpm", "bpm", 1, 5),
    ("ppm", "ppm", 1, 5),
    ("vcm", "vcm", 1, 4),
]
# SmallVCM's first radius of merges, a share of the radius of the sphere around the scene.
MERGE_RADIUS = 0.003
HEAD = "| scene | integrator | SmallVCM | lockstep | ratio |\n|---|---|---:|---:|---:|"
NAMES = ["small spheres, sun", "large mirror, area lamp", "small spheres, point light", "small spheres, sky"]

CORNERS = [
    (-1.27029, 1.30455, -1.28002),
    (1.28975, 1.30455, -1.28002),
    (1.28975, 1.30455, 1.28002),
    (-1.27029, 1.30455, 1.28002),
    (-1.27029, -1.25549, -1.28002),
    (1.28975, -1.25549, -1.28002),
    (1.28975, -1.25549, 1.28002),
    (-1.27029, -1.25549, 1.28002),
]
LAMP_BOX = [
    (-0.25, 0.25, 1.26002),
    (0.25, 0.25, 1.26002),
    (0.25, 0.25, 1.28002),
    (-0.25, 0.25, 1.28002),
    (-0.25, -0.25, 1.26002),
    (0.25, -0.25, 1.26002),
    (0.25, -0.25, 1.28002),
    (-0.25, -0.25, 1.28002),
]
WALLS = [
    ("floor", [(0, 4, 5), (5, 1, 0)]),
    ("blue", [(0, 1, 2), (2, 3, 0)]),
    ("white", [(2, 6, 7), (7, 3, 2)]),
    ("green", [(3, 7, 4), (4, 0, 3)]),
    ("red", [(1, 5, 6), (6, 2, 1)]),
]
LAMP_SIDES = [(0, 2, 1), (2, 0, 3), (3, 4, 7), (4, 3, 0), (1, 6, 5), (6, 1, 2), (4, 5, 6), (6, 7, 4)]
LAMP_BOTTOM = [(0, 5, 4), (5, 0, 1)]

# The floor's Phong lobe of exponent 90 has the width of a GGX lobe of alpha sqrt(2 / 92), roughness is its root.
MATERIALS = """newmtl white
Kd 0.803922 0.803922 0.803922
newmtl green
Kd 0.156863 0.803922 0.172549
newmtl red
Kd 0.803922 0.152941 0.152941
newmtl blue
Kd 0.156863 0.172549 0.803922
newmtl floor
Kd 0.8 0.8 0.8
newmtl lamp
Kd 0 0 0
Ke 25.0333 25.0333 25.0333
"""

SPHERES = {
    "mirror": ((0.00973, 0.02453, -0.48002), 0.8, 'kind = "conductor", base_color = [1.0, 1.0, 1.0], roughness = 0.0'),
    "small mirror": ((-0.53885, 0.02453, -0.78002), 0.5, 'kind = "conductor", base_color = [1.0, 1.0, 1.0], roughness = 0.0'),
    "small glass": ((0.55831, 0.02453, -0.78002), 0.5, 'kind = "dielectric", ior = 1.6, roughness = 0.0'),
}


def write_scene(folder, index):
    """Writes SmallVCM's scene of this index; returns the path of its scene.toml."""
    lines = ["mtllib box.mtl"]
    lines += ["v %g %g %g" % corner for corner in CORNERS + LAMP_BOX]
    faces = list(WALLS)
    if index != 2:
        faces.append(("white", [tuple(8 + i for i in face) for face in LAMP_SIDES]))
        faces.append(("lamp" if index == 1 else "white", [tuple(8 + i for i in face) for face in LAMP_BOTTOM]))
    for material, triangles in faces:
        lines.append("usemtl " + material)
        lines += ["f %d %d %d" % tuple(i + 1 for i in face) for face in triangles]
    (folder / f"box{index}.obj").write_text("\n".join(lines) + "\n")
    (folder / "box.mtl").write_text(MATERIALS)
    lights = [
        "[sun]\ntowards = [1.0, -1.5, 1.0]\nirradiance = [10.0, 4.0, 0.0]\n",
        "",
        '[[lights]]\nkind = "point"\nposition = [0.0, -0.5, 1.0]\nintensity = [5.5704, 5.5704, 5.5704]\n',
        '[sky]\nkind = "constant"\nradiance = [0.529412, 0.807843, 0.980392]\n',
    ][index]
    black = "" if index == 3 else '[sky]\nkind = "constant"\nradiance = [0.0, 0.0, 0.0]\n'
    spheres = ["mirror"] if index == 1 else ["small mirror", "small glass"]
    toml = f'file = "box{index}.obj"\n[camera]\neye = [-0.0439815, -4.12529, 0.222539]\n'
    toml += "direction = [0.00688625, 0.998505, -0.0542161]\nup = [0.0, 0.0, 1.0]\nfov = 45.0\n" + black + lights
    toml += '[[materials]]\nname = "floor"\nkind = "principled"\nmetallic = 0.875\nroughness = 0.384\n'
    for name in spheres:
        center, radius, material = SPHERES[name]
        toml += f"[[spheres]]\ncenter = {list(center)}\nradius = {radius}\nmaterial = {{ {material} }}\n"
    path = folder / f"smallvcm{index}.toml"
    path.write_text(toml)
    return path


def processor_seconds(command, folder):
    """Runs a command on one processor; returns the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["taskset", "-c", "0", *command], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} exited with {done.returncode}: {done.stderr.strip()[-400:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--lockstep", type=Path, default=Path("target/release/lockstep"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scenes", default="0,1,2,3")
    parser.add_argument("--algorithms", default="pt,bpt,bpm,ppm,vcm")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lockstep = options.lockstep.resolve()
    source = options.sources.resolve() / "src" / "smallvcm.cxx"
    if not source.is_file():
        sys.exit(f"{source} does not exist: SOURCES must be a folder with SmallVCM's sources")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        theirs = folder / "smallvcm"
        # Without OpenMP it runs on one thread; the flags are those of its Makefile.
        build = ["g++", "-o", theirs, source, "-O3", "-std=c++11", "-DNO_OMP"]
        subprocess.run(build, check=True, capture_output=True)
        rows = []
        chosen = options.algorithms.split(",")
        for index in map(int, options.scenes.split(",")):
            scene = write_scene(folder, index)
            for name, integrator, short, long in ALGORITHMS:
                if name not in chosen:
                    continue
                rates = {"theirs": [], "ours": []}
                for _ in range(options.rounds):
                    times = {"theirs": [], "ours": []}
                    for spp in (short, long):
                        command = [theirs, "-s", index, "-a", name, "-i", spp, "-o", "theirs.hdr"]
                        times["theirs"].append(processor_seconds(list(map(str, command)), folder))
                        command = [lockstep, "render", scene, "-b", "cpu-bvh", "--threads", 1, "--integrator", integrator]
                        command += ["--bounces", SEGMENTS - 1, "--roulette", 0, "--spp", spp, "--size", f"{SIDE}x{SIDE}"]
                        command += ["--merge-radius", MERGE_RADIUS] if integrator in ("bpm", "ppm", "vcm") else []
                        command += ["-o", "ours.exr"]
                        times["ours"].append(processor_seconds(list(map(str, command)), folder))
                    for who, (first, second) in times.items():
                        rates[who].append(SIDE * SIDE * (long - short) / (second - first) * 1e-6)
                theirs_rate, ours_rate = (statistics.median(rates[who]) for who in ("theirs", "ours"))
                ratio = statistics.median(o / t for o, t in zip(rates["ours"], rates["theirs"]))
                rates_in_words = f"{theirs_rate:.3f} | {ours_rate:.2f} | {ratio:.1f}"
                rows.append(f"| {NAMES[index]} | `{integrator}` | {rates_in_words} |")
                print(rows[-1], flush=True)
        table = "\n".join([HEAD, *rows])
        if options.out:
            partial = options.out.with_suffix(".tmp")
            partial.write_text(table + "\n")
            os.replace(partial, options.out)


if __name__ == "__main__":
    main()
