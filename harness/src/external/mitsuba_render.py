"""Renders the scene.xml beside this file with Mitsuba 3 into a linear image, and prints the time that rendering took."""
import argparse
import pathlib
import time

import mitsuba

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--variant", default="scalar_rgb")
parser.add_argument("--spp", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--width", type=int, default=640)
parser.add_argument("--height", type=int, default=360)
parser.add_argument("--bounces", type=int, default=3, help="scattering events along a path")
parser.add_argument("--threads", type=int, default=0, help="all, where 0")
parser.add_argument("--out", required=True)
args = parser.parse_args()

mitsuba.set_variant(args.variant)
if args.threads:
    import drjit
    drjit.set_thread_count(args.threads)
path = pathlib.Path(__file__).resolve().parent / "scene.xml"
# Its depth counts the vertex at the camera.
size = dict(width=args.width, height=args.height)
scene = mitsuba.load_file(str(path), **size, spp=args.spp, seed=args.seed, max_depth=args.bounces + 1)
start = time.perf_counter()
image = mitsuba.Bitmap(mitsuba.render(scene, spp=args.spp, seed=args.seed))
print(f"render {time.perf_counter() - start:.6f} s")
image.convert(mitsuba.Bitmap.PixelFormat.RGB, mitsuba.Struct.Type.Float32, False).write(args.out)
