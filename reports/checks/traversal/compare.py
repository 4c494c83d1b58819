#!/usr/bin/env python3
"""Rates of tinybvh and OptiX on rays that lockstep dumped, as a file for `lockstep bench --against`.

    lockstep bench SCENE --opaque --dump-rays -o DUMP
    compare.py DUMP --tinybvh SOURCES --optix

SOURCES is a folder with tinybvh's sources (`tiny_bvh.h`, `traverse.cl`), around which this script builds a program of its
own with `c++`; --program names one that was built before by --build. OptiX is that of Mitsuba's package, which must be
importable; without CUDA its LLVM variant traces with Embree on the processor. Nothing is fetched.
"""

import argparse
import array
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# tinybvh's own flags, and those of a program that starts where no compiler was installed.
FLAGS = ["-std=c++17", "-O3", "-mavx2", "-mfma", "-w", "-pthread", "-static-libstdc++", "-static-libgcc"]
# A device works for this long before passes are timed, so that its clocks have risen.
WARM_UP_SECONDS = 0.1
# Versions of tinybvh whose classes and kernels the program was written for.
TINYBVH = (1, 6)


def read_manifest(dump):
    """The scenes and sets of rays of a dump."""
    path = dump / "rays.json"
    try:
        manifest = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"cannot read {path}: {error}; write it with lockstep bench --dump-rays -o {dump}")
    for row in manifest["rays"]:
        size = (dump / row["file"]).stat().st_size
        if size != 32 * row["rays"]:
            sys.exit(f"{dump / row['file']} has {size} bytes, {row['rays']} rays take {32 * row['rays']}; dump it again")
    return manifest


def queries(kind):
    """Queries for a kind of rays, as lockstep traces them."""
    return ["any", "closest"] if kind == "shadow" else ["closest"]


def with_set(row, of_set, command):
    """A row of the file of rates: what was timed, on which set of rays."""
    return {**row, "scene": of_set["scene"], "rays_hash": of_set["rays_hash"], "command": command}


# ---- tinybvh


def version(sources):
    """tinybvh's version, from its header."""
    header = sources / "tiny_bvh.h"
    if not header.is_file():
        sys.exit(f"{header} does not exist: --tinybvh names a folder with tinybvh's sources")
    text = header.read_text(errors="replace")
    found = [re.search(rf"TINY_BVH_VERSION_{part}\s+(\d+)", text) for part in ("MAJOR", "MINOR", "SUB")]
    if not all(found):
        sys.exit(f"{header} names no version; this script is for tinybvh 1.6")
    numbers = tuple(int(match[1]) for match in found)
    if numbers[:2] != TINYBVH:
        print(f"tinybvh is {'.'.join(map(str, numbers))}; this script was written for 1.6", file=sys.stderr)
    return ".".join(map(str, numbers))


def build(sources, program):
    """Builds the program that times tinybvh."""
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    command = [*compiler, *FLAGS, f"-I{sources}", HERE / "tinybvh_rates.cpp", "-o", program, "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))} exited with {done.returncode}: {done.stderr.strip()[-2000:]}")


def kernels(sources):
    """tinybvh's kernels with their includes in place, and ours behind them."""
    read = lambda name: (sources / name).read_text(errors="replace").encode("ascii", "replace").decode()
    text = re.sub(r'#include "([^"]+)"', lambda match: read(match[1]) + "\n", read("traverse.cl"))
    return text + "\n" + (HERE / "tinybvh_rates.cl").read_text()


def tinybvh(options, manifest, command):
    """Rows of tinybvh, on the processor and through OpenCL."""
    number = version(options.tinybvh)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        program = options.program or Path(temporary) / "tinybvh_rates"
        if not options.program:
            build(options.tinybvh, program)
        source = Path(temporary) / "kernels.cl"
        source.write_text(kernels(options.tinybvh))
        for scene in manifest["scenes"]:
            sets = [row for row in manifest["rays"] if row["scene"] == scene["scene"]]
            call = [program, options.dump / scene["file"], "--passes", options.passes, "--builds", options.builds]
            for row in sets:
                call += ["--rays", row["kind"], options.dump / row["file"]]
            for threads in options.threads:
                call += ["--cpu", threads]
            if options.layouts:
                call += ["--layouts", options.layouts]
            if options.opencl:
                call += ["--opencl", options.opencl, source]
            print(f"{scene['scene']}: tinybvh {number}", file=sys.stderr)
            done = subprocess.run(list(map(str, call)), stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                sys.exit(f"{program} exited with {done.returncode} on {scene['scene']}; its message is above")
            for line in done.stdout.splitlines():
                row = json.loads(line)
                of_set = next(s for s in sets if (s["kind"], s["rays"]) == (row["kind"], row["rays"]))
                row["variant"] += f", tinybvh {number}"
                rows.append(with_set(row, of_set, command))
    return rows


# ---- OptiX, or Embree without a GPU, through Mitsuba


def floats(path):
    """The little-endian floats of a file."""
    values = array.array("f")
    values.frombytes(path.read_bytes())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def device_name(variant):
    """The GPU's name and driver, or the processor's name."""
    if variant.startswith("cuda"):
        ask = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        name, driver = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
        return f"{name}, driver {driver}"
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), "processor")


def mitsuba_scene(mi, path):
    """A scene of one mesh, whose triangles share no vertices."""
    corners = floats(path)
    mesh = mi.Mesh("dump", len(corners) // 3, len(corners) // 9)
    params = mi.traverse(mesh)
    params["vertex_positions"] = mi.Float(corners)
    params["faces"] = mi.UInt32(array.array("I", range(len(corners) // 3)))
    params.update()
    return mi.load_dict({"type": "scene", "mesh": mesh})


def mitsuba_rays(mi, dr, path):
    """The rays of a file. Mitsuba's begin at their origin."""
    values = floats(path)
    if any(values[3::8]):
        sys.exit(f"{path} has rays that begin behind their origin, which Mitsuba cannot trace")
    part = lambda first: mi.Float(values[first::8])
    ray = mi.Ray3f(mi.Point3f(part(0), part(1), part(2)), mi.Vector3f(part(4), part(5), part(6)))
    ray.maxt = part(7)
    dr.eval(ray)
    return ray


def mitsuba_pass(mi, dr, scene, ray, kind, query):
    """Traces all rays; returns which hit and the milliseconds of the kernels on the device."""
    dr.kernel_history_clear()
    if query == "any":
        hit = scene.ray_test(ray, coherent=kind == "camera")
        dr.eval(hit)
    else:
        found = scene.ray_intersect_preliminary(ray, coherent=kind == "camera")
        hit = found.is_valid()
        dr.eval(found.t, found.prim_uv, found.prim_index, hit)
    dr.sync_thread()
    return hit, sum(kernel["execution_time"] for kernel in dr.kernel_history([dr.KernelType.JIT]))


def optix(options, manifest, command):
    """Rows of the tracer that Mitsuba's variant has."""
    try:
        import drjit as dr
        import mitsuba as mi
    except ImportError as error:
        sys.exit(f"cannot import Mitsuba: {error}; pip install mitsuba, or leave out --optix")
    variant = options.variant
    try:
        if not variant:
            variant = "cuda_ad_rgb" if dr.has_backend(dr.JitBackend.CUDA) else "llvm_ad_rgb"
        mi.set_variant(variant)
    except ImportError as error:
        sys.exit(f"Mitsuba has no {variant} here: {error}")
    tracer = "OptiX" if variant.startswith("cuda") else "Embree, through Mitsuba"
    about = {"tracer": tracer, "variant": f"Mitsuba {mi.__version__} {variant}", "device": device_name(variant)}
    dr.set_flag(dr.JitFlag.KernelHistory, True)
    rows = []
    for of_scene in manifest["scenes"]:
        print(f"{of_scene['scene']}: {tracer}", file=sys.stderr)
        scene = mitsuba_scene(mi, options.dump / of_scene["file"])
        for of_set in manifest["rays"]:
            if of_set["scene"] != of_scene["scene"]:
                continue
            ray = mitsuba_rays(mi, dr, options.dump / of_set["file"])
            for query in queries(of_set["kind"]):
                # The first pass compiles.
                hit, _ = mitsuba_pass(mi, dr, scene, ray, of_set["kind"], query)
                times, start = [], time.monotonic()
                while len(times) < options.passes:
                    is_warm = time.monotonic() - start > WARM_UP_SECONDS
                    hit, milliseconds = mitsuba_pass(mi, dr, scene, ray, of_set["kind"], query)
                    if is_warm:
                        times.append(milliseconds)
                rate = lambda milliseconds: of_set["rays"] / milliseconds * 1e-3
                first, _, third = statistics.quantiles(times, n=4, method="inclusive")
                row = {"kind": of_set["kind"], "query": query, "rays": of_set["rays"], "hits": int(dr.count(hit)[0]),
                       "mrays": rate(statistics.median(times)), "quartiles": [rate(third), rate(first)], "passes": len(times)}
                rows.append(with_set({**about, **row}, of_set, command))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path, nargs="?", help="a folder of lockstep bench --dump-rays")
    parser.add_argument("--tinybvh", type=Path, metavar="SOURCES", help="time tinybvh, whose sources are in this folder")
    parser.add_argument("--optix", action="store_true", help="time OptiX through Mitsuba")
    parser.add_argument("--opencl", metavar="NAME", help="a part of the name of tinybvh's OpenCL device; none without")
    parser.add_argument("--threads", type=int, nargs="*", default=[], help="time tinybvh on each of these numbers of threads")
    parser.add_argument("--builds", default="HQ,HQ optimised", help="of tinybvh's trees")
    parser.add_argument("--layouts", help="of tinybvh's trees [default: BVH_GPU,BVH4_GPU,BVH8_CWBVH,BVH4_CPU,BVH8_CPU]")
    parser.add_argument("--variant", help="of Mitsuba [default: cuda_ad_rgb with a GPU, else llvm_ad_rgb]")
    parser.add_argument("--passes", type=int, default=9, help="timed passes over each set, after those that warm up")
    parser.add_argument("--program", type=Path, help="the program that --build wrote")
    parser.add_argument("--build", type=Path, metavar="PROGRAM", help="only build the program that times tinybvh")
    parser.add_argument("--add", action="store_true", help="keep other tracers' rows of the file of rates")
    parser.add_argument("--out", type=Path, help="the file of rates [default: DUMP/rates.json]")
    options = parser.parse_args()
    if options.build:
        if not options.tinybvh:
            parser.error("--build needs --tinybvh SOURCES")
        version(options.tinybvh)
        build(options.tinybvh, options.build)
        return
    if not options.dump or not (options.tinybvh or options.optix):
        parser.error("name a dump and what to time: --tinybvh SOURCES, --optix or both")
    if options.tinybvh and not (options.opencl or options.threads):
        parser.error("name where tinybvh is to run: --opencl NAME, --threads N or both")
    if options.passes < 2:
        parser.error("--passes must be at least 2, since quartiles are reported")
    manifest = read_manifest(options.dump)
    command = shlex.join(["compare.py", *sys.argv[1:]])
    rows = tinybvh(options, manifest, command) if options.tinybvh else []
    rows += optix(options, manifest, command) if options.optix else []
    out = options.out or options.dump / "rates.json"
    if options.add and out.is_file():
        new = {row["tracer"] for row in rows}
        rows = [row for row in json.loads(out.read_text())["rows"] if row["tracer"] not in new] + rows
    partial = out.with_suffix(".tmp")
    partial.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    os.replace(partial, out)
    print(f"{out}: {len(rows)} rates", file=sys.stderr)


if __name__ == "__main__":
    main()
