#!/usr/bin/env python3
"""Renders fourteen scenes in Lockstep and in Mitsuba 3 and compares them, block by block.

    pip install mitsuba numpy
    cargo build --release
    python3 reports/checks/mitsuba/check.py --lockstep target/release/lockstep

Both programs render every scene under several seeds. The seeds give each block of pixels a mean and its standard error in
either program, and so a z-score of the difference (Welch). Under pure noise the z-scores of all blocks are distributed as
Student's t; `rms z` has the expectation in the heading. A scene is within noise where its mean differs by less than three
standard errors and `rms z` exceeds its expectation by less than four of its own.
"""

import argparse
import math
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import scenes

SIDE, BLOCK = 64, 8
# The most samples that Mitsuba adds up at a time, in 32 bits.
PART = 128


def blocks(image):
    """Means of blocks of pixels and of the three channels."""
    n = SIDE // BLOCK
    return image.reshape(n, BLOCK, n, BLOCK, 3).mean(axis=(1, 3, 4)).reshape(-1)


def reference(mi, scene, spp, seed):
    """Mitsuba's image: the mean, in 64 bits, of renders of at most PART samples, so that roundings stay below noise."""
    parts = -(-spp // PART)
    image = 0.0
    for part in range(parts):
        samples = spp * (part + 1) // parts - spp * part // parts
        image = image + samples * np.array(mi.render(scene, spp=samples, seed=seed * parts + part), dtype=float)
    return image / spp


def welch(x, y):
    """z-scores of the difference of two sets of seeds. Blocks without noise may differ by the roundings of floats."""
    rounding = 1e-6 * y.mean(0) + 1e-30
    return (x.mean(0) - y.mean(0)) / np.sqrt((x.var(0, ddof=1) + y.var(0, ddof=1)) / len(x) + rounding**2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True, help="the binary")
    parser.add_argument("--target", default="cpu-bvh")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--spp", type=int, default=256, help="samples per pixel and seed")
    parser.add_argument("--only", nargs="*", help="names of scenes")
    parser.add_argument("--variant", default="scalar_rgb", help="of Mitsuba")
    options = parser.parse_args()

    import mitsuba as mi
    mi.set_variant(options.variant)
    mi.set_log_level(mi.LogLevel.Error)
    read = lambda path: np.array(mi.Bitmap(str(path)).convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, False), dtype=float)
    write = lambda image, path: mi.Bitmap(image).write(str(path))

    nu = 2 * options.seeds - 2
    expected = math.sqrt(nu / (nu - 2))
    version = subprocess.run([options.lockstep, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version} on {options.target}; Mitsuba {mi.__version__}, {options.variant}; {platform.machine()}; "
          f"{SIDE}x{SIDE} pixels, {options.spp} spp, {options.seeds} seeds, blocks of {BLOCK}x{BLOCK}; {time.strftime('%Y-%m-%d')}\n")
    print(f"| scene | Lockstep / Mitsuba | z of the mean | rms z (noise: {expected:.2f}) | largest block z | verdict |")
    print("|---|---:|---:|---:|---:|---|")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for make in scenes.ALL:
            scene = make()
            if options.only and scene.name not in options.only:
                continue
            path = scenes.write_lockstep(scene, folder, write)
            theirs = mi.load_dict(scenes.to_mitsuba(scene, mi, SIDE, SIDE, folder))
            a, b = [], []
            for seed in range(options.seeds):
                out = Path(folder) / "ours.exr"
                command = [options.lockstep, "render", str(path), "-b", options.target, "--spp", str(options.spp), "--size", f"{SIDE}x{SIDE}",
                           "--bounces", str(scene.bounces), "--seed", str(seed), "-o", str(out)]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(f"{scene.name}: {done.stderr}")
                a.append(blocks(read(out)))
                b.append(blocks(reference(mi, theirs, options.spp, seed)))
            a, b = np.array(a), np.array(b)
            z = welch(a, b)
            whole = float(welch(a.mean(1), b.mean(1)))
            ratio = a.mean() / b.mean()
            error = ratio * math.hypot(a.mean(1).std(ddof=1) / a.mean(), b.mean(1).std(ddof=1) / b.mean()) / math.sqrt(options.seeds)
            rms = math.sqrt((z**2).mean())
            limit = expected + 4 * expected / math.sqrt(2 * len(z))
            within = abs(whole) < 3 and rms < limit
            verdict = "within noise" if within else (f"model difference ({scene.difference})" if scene.difference else "DIFFERS")
            failed |= verdict == "DIFFERS"
            print(f"| {scene.name}: {scene.what} | {ratio:.5f} ± {error:.5f} | {whole:+.2f} | {rms:.2f} | {np.abs(z).max():.2f} | {verdict} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
