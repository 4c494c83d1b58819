"""Renders the scene.cfg beside this file with LuxCore into a linear PFM image, and prints the time that rendering took."""
import argparse
import array
import os
import pathlib
import sys
import time

import pyluxcore

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--spp", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--width", type=int, default=640)
parser.add_argument("--height", type=int, default=360)
parser.add_argument("--bounces", type=int, default=3, help="scattering events along a path")
parser.add_argument("--threads", type=int, default=0, help="all, where 0")
parser.add_argument("--out", required=True)
args = parser.parse_args()
if args.bounces < 1:
    raise SystemExit("LuxCore renders direct light at least; ask for one bounce or more")

out = pathlib.Path(args.out).resolve()
# Files of a scene are named relative to the working folder.
os.chdir(pathlib.Path(__file__).resolve().parent)
pyluxcore.Init()
settings = pyluxcore.Properties("scene.cfg")


def set_in(properties, name, value):
    properties.Set(pyluxcore.Property(name, value))


set_in(settings, "film.width", args.width)
set_in(settings, "film.height", args.height)
# Seed 0 means a seed of its choice.
set_in(settings, "renderengine.seed", args.seed + 1)
set_in(settings, "batch.haltspp", [args.spp, 0])
# Its depth counts the vertex at the camera.
for kind in ("total", "diffuse", "glossy", "specular"):
    set_in(settings, "path.pathdepth." + kind, args.bounces + 1)
if args.threads:
    set_in(settings, "native.threads.count", args.threads)
description = pyluxcore.Properties("scene.scn")
# A row of its film lies a pixel lower than it should, for y is turned by subtracting it from the last row.
aspect, row = args.width / args.height, 2 / args.height
set_in(description, "scene.camera.screenwindow", [-aspect, aspect, -1.0 - row, 1.0 - row])
scene = pyluxcore.Scene()
scene.Parse(description)
session = pyluxcore.RenderSession(pyluxcore.RenderConfig(settings, scene))
start = time.perf_counter()
session.Start()
while not session.HasDone():
    time.sleep(0.002)
    session.UpdateStats()
session.Stop()
print(f"render {time.perf_counter() - start:.6f} s")
film = session.GetFilm()
# Rows go upwards, as those of the format do.
values = array.array("f", bytes(4 * 3 * args.width * args.height))
film.GetOutputFloat(pyluxcore.FilmOutputType.RGB, values)
if sys.byteorder == "big":
    values.byteswap()
with open(out, "wb") as file:
    file.write(b"PF\n%d %d\n-1.0\n" % (args.width, args.height))
    values.tofile(file)
