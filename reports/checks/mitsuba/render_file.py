"""Renders a Mitsuba scene as it is, but for a box filter, no Russian roulette, and the size, samples and depth asked for.

A target of studies: see targets.toml beside this file.
"""
import argparse
import pathlib
import time
import xml.etree.ElementTree as xml

import mitsuba

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scene", type=pathlib.Path)
parser.add_argument("--variant", default="scalar_rgb")
parser.add_argument("--spp", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--width", type=int, default=640)
parser.add_argument("--height", type=int, default=360)
parser.add_argument("--bounces", type=int, default=3, help="scattering events along a path")
parser.add_argument("--out", required=True)
args = parser.parse_args()

mitsuba.set_variant(args.variant)
tree = xml.parse(args.scene)
root = tree.getroot()
for integrator in root.findall("integrator"):
    root.remove(integrator)
# The depth counts the vertex at the camera.
integrator = xml.SubElement(root, "integrator", type="path")
xml.SubElement(integrator, "integer", name="max_depth", value=str(args.bounces + 1))
xml.SubElement(integrator, "integer", name="rr_depth", value="1000000")
for sensor in root.findall("sensor"):
    for part in sensor.findall("film") + sensor.findall("sampler"):
        sensor.remove(part)
    xml.SubElement(sensor, "sampler", type="independent")
    film = xml.SubElement(sensor, "film", type="hdrfilm")
    xml.SubElement(film, "integer", name="width", value=str(args.width))
    xml.SubElement(film, "integer", name="height", value=str(args.height))
    xml.SubElement(film, "string", name="pixel_format", value="rgb")
    xml.SubElement(film, "string", name="component_format", value="float32")
    xml.SubElement(film, "rfilter", type="box")

# Files are named relative to the scene, and `fov_axis` follows the film's shape.
mitsuba.file_resolver().prepend(str(args.scene.resolve().parent))
scene = mitsuba.load_string(xml.tostring(root, encoding="unicode"))
start = time.perf_counter()
image = mitsuba.Bitmap(mitsuba.render(scene, spp=args.spp, seed=args.seed))
print(f"render {time.perf_counter() - start:.6f} s")
image.convert(mitsuba.Bitmap.PixelFormat.RGB, mitsuba.Struct.Type.Float32, False).write(args.out)
