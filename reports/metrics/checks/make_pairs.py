#!/usr/bin/env python3
"""Makes the image pairs on which Lockstep's metrics are checked against public implementations.

    make_pairs.py FOLDER

Writes NAME.a and NAME.b into FOLDER as flat RGBE (.hdr, linear) or 8-bit PNG (sRGB). Everything is computed from
fixed seeds; B is the undistorted image of each pair. Needs numpy and imageio.
"""

import pathlib
import sys

import imageio.v3 as iio
import numpy as np

WIDTH, HEIGHT = 60, 44


def scene(sun):
    """A sky, a chequered floor, three spheres and thin posts, as linear radiance; `sun` is the sun's."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    u, v = (x + 0.5) / WIDTH, (y + 0.5) / HEIGHT
    image = np.stack([0.3 + 0.4 * v, 0.5 + 0.2 * v, 0.9 - 0.2 * v], axis=-1)
    image[np.hypot(u - 0.8, v - 0.15) < 0.04] = [sun, 0.9 * sun, 0.6 * sun]
    floor = v > 0.55
    depth = 1.0 / np.maximum(v - 0.5, 1e-3)
    dark = (np.floor((u - 0.5) * depth * 1.5) + np.floor(depth * 0.8)) % 2 == 0
    image[floor & dark] = [0.05, 0.04, 0.06]
    image[floor & ~dark] = [0.6, 0.55, 0.4]
    for cx, cy, radius, colour in [
        (0.25, 0.55, 0.16, [0.8, 0.1, 0.05]),
        (0.5, 0.6, 0.12, [0.1, 0.6, 0.15]),
        (0.72, 0.62, 0.1, [0.15, 0.2, 0.9]),
    ]:
        dx, dy = (u - cx) * WIDTH / HEIGHT / radius, (v - cy) / radius
        inside = dx * dx + dy * dy < 1
        z = np.sqrt(np.maximum(0, 1 - dx * dx - dy * dy))
        light = np.maximum(0, 0.5 * dx - 0.6 * dy + 0.62 * z)
        glint = 4.0 * np.maximum(0, 0.55 * dx - 0.6 * dy + 0.58 * z) ** 60
        shade = (0.1 + 0.9 * light)[..., None] * np.array(colour) + glint[..., None]
        image[inside] = shade[inside]
    image[:, 3::13] *= 0.25
    return image


def blurred(image):
    """A 3x3 binomial filter."""
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 4


def monte_carlo(image, spp, seed):
    """Noise whose variance falls with the samples: a mean of exponentially distributed samples."""
    return np.random.Generator(np.random.PCG64(seed)).gamma(spp, 1.0 / spp, image.shape) * image


def pairs():
    """Name, kind, A, B."""
    bright, plain = scene(400.0), scene(1.0)
    yield "noise", "hdr", monte_carlo(bright, 4, 1), bright
    tinted = bright.copy()
    tinted[15:40, 5:25] *= [1.05, 0.97, 1.0]
    yield "bias", "hdr", tinted, bright
    yield "shift", "hdr", np.roll(bright, 1, axis=1), bright
    fireflies = plain.copy()
    where = np.random.Generator(np.random.PCG64(2)).random(plain.shape[:2]) < 0.01
    fireflies[where] += 3000.0
    yield "fireflies", "hdr", fireflies, plain
    night = 0.002 * plain
    night[:26] = 0.0
    night[8:10, 20:23] = 60.0
    yield "night", "hdr", monte_carlo(night, 16, 3), night
    yield "blur", "png", blurred(plain), plain
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    chequers = np.where(((x + y) % 2 == 0)[..., None], [0.9, 0.2, 0.2], [0.1, 0.5, 0.8])
    yield "chequers", "png", chequers[:, ::-1], chequers


def write_rgbe(path, image):
    mantissa, exponent = np.frexp(image.max(axis=-1))
    lit = image.max(axis=-1) > 1e-32
    scale = np.where(lit, np.ldexp(256.0, -exponent), 0.0)
    codes = np.zeros(image.shape[:2] + (4,), np.uint8)
    codes[..., :3] = np.minimum(np.floor(image * scale[..., None]), 255)
    codes[..., 3] = np.where(lit, exponent + 128, 0)
    header = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {image.shape[0]} +X {image.shape[1]}\n"
    path.write_bytes(header.encode() + codes.tobytes())


def write_png(path, image):
    linear = np.clip(image, 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    iio.imwrite(path, np.round(encoded * 255).astype(np.uint8))


def main(folder):
    folder = pathlib.Path(folder)
    for name, kind, a, b in pairs():
        write = write_rgbe if kind == "hdr" else write_png
        write(folder / f"{name}.a.{kind}", a)
        write(folder / f"{name}.b.{kind}", b)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
