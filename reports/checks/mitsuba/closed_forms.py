#!/usr/bin/env python3
"""Radiance against closed forms where Mitsuba has none to offer: lamps with alpha, plastic, dim skies, vertex colours,
culling, shadow rays, files whose emitters are dim.

    pip install mitsuba numpy          # Mitsuba reads the images
    python3 reports/checks/mitsuba/closed_forms.py --lockstep target/release/lockstep

Prints one row for each claim: the value found, with its standard error over the seeds, and the value expected. Ends with 1
where a claim could not be measured.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import scenes
from scenes import IDENTITY, Material, Scene, floor, lamp

GLTF_ALBEDO = {(0.3, 0): 0.904, (1.0, 80): 0.892}  # glTF 2.0, appendix B, base colour 0.9, by quadrature


def layer_albedo(cosine, roughness, f0, n=200):
    """The share of light that a GGX lobe with Schlick Fresnel reflects, by quadrature over its visible normals."""
    a = roughness**2
    u, v = np.meshgrid((np.arange(n) + 0.5) / n, (np.arange(2 * n) + 0.5) / (2 * n), indexing="ij")
    wo = np.array([math.sqrt(1 - cosine**2), 0, cosine])
    s = wo * [a, 1, 1]
    s /= np.linalg.norm(s)
    z = (1 - u) * (1 + s[2]) - s[2]
    ring = np.sqrt(np.maximum(1 - z * z, 0))
    h = np.stack([a * (ring * np.cos(2 * np.pi * v) + s[0]), a * ring * np.sin(2 * np.pi * v), np.maximum(z + s[2], 0)])
    h /= np.linalg.norm(h, axis=0)
    d = np.tensordot(wo, h, 1)
    wz = 2 * d * h[2] - wo[2]
    lost = lambda c: 0.5 * (np.sqrt(1 + a * a * (1 - c * c) / (c * c)) - 1)
    up = wz > 0
    masking = np.where(up, (1 + lost(cosine)) / (1 + lost(cosine) + lost(np.where(up, wz, 1))), 0)
    return float((masking * (f0 + (1 - f0) * (1 - np.clip(d, 0, 1)) ** 5)).mean())


def form_factor(half):
    """From a point to a parallel square above it, at a distance of 1 (Howell et al., appendix C)."""
    slant = half / math.hypot(half, 1)
    return 4 / math.pi * slant * math.atan(slant)


class Program:
    def __init__(self, path, target, seeds, folder, mi):
        self.path, self.target, self.seeds, self.folder, self.mi = path, target, seeds, Path(folder), mi

    def image(self, scene, seed, spp, side, bounces, *more):
        out = self.folder / "out.exr"
        command = [self.path, "render", str(scene), "-b", self.target, "--spp", str(spp), "--size", f"{side}x{side}", "--bounces", str(bounces),
                   "--seed", str(seed), "-o", str(out), *more]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        bitmap = self.mi.Bitmap(str(out)).convert(self.mi.Bitmap.PixelFormat.RGB, self.mi.Struct.Type.Float32, False)
        return np.array(bitmap, dtype=float)

    def mean(self, scene, spp=1024, side=16, bounces=1):
        """Mean over pixels and channels, with its standard error."""
        found = [self.image(scene, seed, spp, side, bounces).mean() for seed in range(self.seeds)]
        return np.mean(found), np.std(found, ddof=1) / math.sqrt(self.seeds)

    def write(self, scene):
        return scenes.write_lockstep(scene, self.folder, lambda image, path: None)


def at(eye, fov=0.02):
    return dict(eye=eye, target=(0, 0, 0), fov=fov)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--target", default="cpu-bvh")
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    import mitsuba as mi
    mi.set_variant("scalar_rgb")
    print("| claim | found | expected |\n|---|---:|---:|")
    failed = []

    def row(claim, measure, expected):
        try:
            found = measure()
            text = f"{found[0]:.6g} ± {found[1]:.1g}" if isinstance(found, tuple) else str(found)
        except RuntimeError as error:
            text = str(error)[-90:]
            failed.append(claim)
        print(f"| {claim} | {text} | {expected if isinstance(expected, str) else f'{expected:.6g}'} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        p = Program(options.lockstep, options.target, options.seeds, folder, mi)
        grey = Material("diffuse", (.5, .5, .5))
        for half in (.3, 2.0, 20.0):
            light = Material("diffuse", (0, 0, 0), (2, 2, 2), alpha=.3)
            scene = Scene("alpha-lamp", "", 1, at((1.5, .5, 1.5)), dict(grey=grey, lamp=light),
                          [(*floor(5), "grey", IDENTITY), (*lamp(half, 1.0), "lamp", IDENTITY)])
            path = p.write(scene)
            scale = 1 / form_factor(half)
            row(f"lamp {2 * half:g} wide, alpha 0.3: share of the opaque lamp's light",
                lambda: tuple(scale * v for v in p.mean(path)), 0.3)
        for roughness, degrees in GLTF_ALBEDO:
            angle = math.radians(max(degrees, .01))
            plastic = Material("principled", (.9, .9, .9), roughness=roughness)
            scene = Scene("plastic", "", 1, at((4 * math.sin(angle), 4 * math.cos(angle), 1e-3)), dict(plastic=plastic),
                          [(*floor(20), "plastic", IDENTITY)], sky=(1, 1, 1))
            path = p.write(scene)
            cosine = math.cos(angle)
            layer = layer_albedo(cosine, roughness, 0.04)
            row(f"plastic of 0.9, roughness {roughness:g}, {degrees} degrees: albedo", lambda: p.mean(path),
                f"{layer + 0.9 * (1 - layer):.4f} with an exact layer, {GLTF_ALBEDO[roughness, degrees]} in glTF's appendix B")
        for sky in (1e-7, 1e-6, 1e-5, 1e-3, 1.0, 1e4):
            scene = Scene("dim", "", 1, at((1, 2, 3)), dict(m=Material("diffuse", (.6, .6, .6))), [(*floor(5), "m", IDENTITY)], sky=(sky,) * 3)
            path = p.write(scene)
            row(f"sky of {sky:g}: floor over 0.6 sky", lambda: tuple(v / (0.6 * sky) for v in p.mean(path)), 1.0)
        glow = Scene("glow", "", 3, at((2, 2, 2), 40), dict(m=Material("diffuse", (.5, .5, .5))), [(*scenes.box((-1, -1, -1), (1, 1, 1)), "m", IDENTITY)])
        path = p.write(glow).with_name("scene.gltf")
        document = json.loads(path.read_text())
        document["materials"][0]["emissiveFactor"] = [0, 0.01, 0]
        path.write_text(json.dumps(document))
        row("file with a dim emitter and no light: share of pixels at 0.01 or less", lambda: float((p.image(path, 0, 16, 64, 3).max(2) <= 0.0101).mean()),
            "0")
        for value in (0.0015, 0.005, 3.0):
            obj = Path(folder) / "colours.obj"
            corners = [(-5, 0, -5), (-5, 0, 5), (5, 0, 5), (5, 0, -5)]
            obj.write_text("".join(f"v {x} {y} {z} {value} {value} {value}\n" for x, y, z in corners) + "usemtl m\nf 1 2 3 4\n")
            toml = Path(folder) / "colours.toml"
            toml.write_text('file = "colours.obj"\n[camera]\neye = [1, 2, 3]\ntarget = [0, 0, 0]\nfov = 0.02\n[sky]\nkind = "constant"\nradiance = [1, 1, 1]\n'
                            '[[materials]]\nname = "m"\nbase_color = [0.3, 0.3, 0.3]\n')
            row(f"vertex colour {value:g}: reflected over 0.3 times it", lambda: tuple(v / (0.3 * value) for v in p.mean(toml)), 1.0)
        front = scenes.quads([[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]])
        for z, expected in ((2, .5), (-2, 1.0)):
            scene = Scene("single", "", 1, dict(eye=(.1, 0, z), target=(.1, 0, 0), fov=.1), dict(grey=grey), [(*front, "grey", IDENTITY)], sky=(1, 1, 1),
                          single_sided=True)
            path = p.write(scene)
            row(f"single-sided grey square before a sky, from {'its front' if z > 0 else 'behind'}", lambda: p.mean(path), expected)
        light = Material("diffuse", (0, 0, 0), (2, 2, 2))
        for gap in (None, .0055):
            meshes = [(*floor(40), "grey", IDENTITY), (*lamp(36, 6.0), "lamp", IDENTITY)]
            if gap:
                meshes.append((*floor(36, 6.0 - gap), "black", IDENTITY))
            scene = Scene("blocked", "", 1, at((1.5, .5, 1.5)), dict(grey=grey, lamp=light, black=Material("diffuse", (0, 0, 0))), meshes)
            path = p.write(scene)
            row("lamp 6 above a floor" + (", a black square 5.5 mm below it" if gap else ""), lambda: p.mean(path), 0.0 if gap else form_factor(6))
    if failed:
        raise SystemExit(f"not measured: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
