#!/usr/bin/env python3
"""Prints what public implementations say about the image pairs in a folder.

    reference_metrics.py FOLDER > figures.tsv

FLIP comes from NVIDIA's flip-evaluator; SSIM, MSE and PSNR from scikit-image; the rest is one line of numpy each. The
first lines name the command and the versions. A pair is NAME.a.EXT and NAME.b.EXT with EXT hdr (flat RGBE) or png.
"""

import importlib.metadata
import pathlib
import platform
import sys

import flip_evaluator
import imageio.v3 as iio
import numpy as np
from skimage import metrics

PACKAGES = ["flip-evaluator", "scikit-image", "numpy", "imageio"]


def read(path):
    """An image as linear radiance."""
    if path.suffix == ".png":
        encoded = iio.imread(path).astype(np.float64) / 255
        return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    data = path.read_bytes()
    header, rest = data.split(b"\n\n", 1)
    size, codes = rest.split(b"\n", 1)
    _, height, _, width = size.split()
    codes = np.frombuffer(codes, np.uint8).reshape(int(height), int(width), 4)
    scale = np.where(codes[..., 3] > 0, np.ldexp(1.0, codes[..., 3].astype(int) - 136), 0.0)
    return codes[..., :3] * scale[..., None]


def luma(linear):
    """Luma of sRGB values from 0 to 1, by ITU-R BT.601."""
    clamped = np.clip(linear, 0, 1)
    encoded = np.where(clamped <= 0.0031308, 12.92 * clamped, 1.055 * clamped ** (1 / 2.4) - 0.055)
    return encoded @ [0.299, 0.587, 0.114]


def flip(a, b, dynamic_range):
    """flip-evaluator takes the reference first, and linear values as float32."""
    if dynamic_range == "LDR":
        a, b = np.clip(a, 0, 1), np.clip(b, 0, 1)
    result = flip_evaluator.evaluate(
        b.astype(np.float32), a.astype(np.float32), dynamic_range, inputsRGB=False, applyMagma=False
    )
    return result[1]


def figures(a, b):
    """Name and value of each metric."""
    mse = metrics.mean_squared_error(b, a)
    yield "mse_linear", mse
    yield "rmse_linear", np.sqrt(mse)
    yield "rel_mse", np.mean((a - b) ** 2 / (b**2 + 0.01))
    yield "mae_linear", np.mean(np.abs(a - b))
    yield "psnr_linear", metrics.peak_signal_noise_ratio(b, a, data_range=1.0)
    yield "ssim_gaussian", metrics.structural_similarity(
        luma(a), luma(b), gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=1.0
    )
    yield "flip", flip(a, b, "LDR")
    yield "flip_hdr", flip(a, b, "HDR")


def main(folder):
    print(f"# {pathlib.Path(sys.argv[0]).name} {pathlib.Path(folder).name}")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    print(f"# Python {platform.python_version()}, {', '.join(versions)}")
    print("pair\tmetric\tvalue")
    for first in sorted(pathlib.Path(folder).glob("*.a.*")):
        name = first.name.split(".")[0]
        a, b = read(first), read(first.with_name(f"{name}.b{first.suffix}"))
        for metric, value in figures(a, b):
            print(f"{name}\t{metric}\t{value:.9g}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
