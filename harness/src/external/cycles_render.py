"""Renders the scene.json beside this file with Cycles into a linear image, and prints the time that rendering took."""
import argparse
import json
import math
import pathlib
import time

import bpy
import mathutils
import numpy

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--device", default="CPU", help="CPU, CUDA, OPTIX, HIP, ONEAPI or METAL")
parser.add_argument("--spp", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--width", type=int, default=640)
parser.add_argument("--height", type=int, default=360)
parser.add_argument("--bounces", type=int, default=3, help="scattering events along a path")
parser.add_argument("--threads", type=int, default=0, help="all, where 0")
parser.add_argument("--out", required=True)
parser.add_argument("--save", help="also write the scene as a .blend file")
args = parser.parse_args()
if args.bounces < 1:
    raise SystemExit("Cycles renders direct light at least; ask for one bounce or more")

folder = pathlib.Path(__file__).resolve().parent
document = json.loads((folder / "scene.json").read_text())
arrays = (folder / "geometry.bin").read_bytes()
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene


def array(mesh, name, kind, columns):
    """An array of geometry.bin; none of a mesh that has no such attribute."""
    if name not in mesh:
        return numpy.zeros((0, columns), kind)
    offset, count = mesh[name]
    return numpy.frombuffer(arrays, kind, count, offset).reshape(-1, columns)


def matrix(rows):
    return mathutils.Matrix([*rows, (0, 0, 0, 1)])


def image(name):
    made = bpy.data.images.load(str(folder / name), check_existing=True)
    made.colorspace_settings.name = "Non-Color"
    made.alpha_mode = "CHANNEL_PACKED"
    return made


class Nodes:
    """A node tree in the making."""

    def __init__(self, tree):
        tree.nodes.clear()
        self.tree = tree

    def new(self, kind, inputs=(), **settings):
        node = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in dict(inputs).items():
            self.set(node.inputs[name], value)
        return node

    def set(self, socket, value):
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        elif socket.type == "RGBA":
            socket.default_value = (*value, 1)
        else:
            socket.default_value = value

    def math(self, operation, *values, clamp=False):
        node = self.new("ShaderNodeMath", operation=operation, use_clamp=clamp)
        for socket, value in zip(node.inputs, values):
            self.set(socket, value)
        return node.outputs[0]

    def vector_math(self, operation, *values):
        node = self.new("ShaderNodeVectorMath", operation=operation)
        for socket, value in zip(node.inputs, values):
            self.set(socket, value)
        return node.outputs

    def times(self, a, b):
        """The product of two colours, which may exceed 1."""
        return self.vector_math("MULTIPLY", a, b)[0]

    def texture(self, texture):
        extension = dict(repeat="REPEAT", clamp="EXTEND", mirror="MIRROR")[texture["wrap"]]
        interpolation = "Closest" if texture["nearest"] else "Linear"
        node = self.new("ShaderNodeTexImage", extension=extension, interpolation=interpolation)
        node.image = image(texture["file"])
        return node.outputs["Color"]

    def mix(self, share, first, second):
        node = self.new("ShaderNodeMixShader", {"Fac": share})
        for socket, shader in zip(list(node.inputs)[1:], (first, second)):
            self.set(socket, shader)
        return node.outputs[0]


def scattering(nodes, m, color):
    roughness, metallic = m["roughness"], m["metallic"]
    if m["metallic_roughness_texture"] and m["kind"] != "diffuse":
        split = nodes.new("ShaderNodeSeparateColor", {"Color": nodes.texture(m["metallic_roughness_texture"])})
        roughness = nodes.math("MULTIPLY", split.outputs["Green"], roughness)
        metallic = nodes.math("MULTIPLY", split.outputs["Blue"], metallic)
    distribution = "MULTI_GGX" if m["multiscatter"] else "GGX"
    if m["kind"] == "diffuse":
        return nodes.new("ShaderNodeBsdfDiffuse", {"Color": color, "Roughness": 0.0})
    if m["kind"] == "conductor":
        # With a white tint of its edge this model is Schlick's.
        inputs = {"Base Color": color, "Edge Tint": (1, 1, 1), "Roughness": roughness}
        return nodes.new("ShaderNodeBsdfMetallic", inputs, distribution=distribution, fresnel_type="F82")
    if m["kind"] == "dielectric":
        inputs = {"Color": color, "Roughness": roughness, "IOR": m["ior"]}
        return nodes.new("ShaderNodeBsdfGlass", inputs, distribution=distribution)
    inputs = {"Base Color": color, "Metallic": metallic, "Roughness": roughness, "IOR": m["ior"],
              "Transmission Weight": m["transmission"]}
    return nodes.new("ShaderNodeBsdfPrincipled", inputs, distribution=distribution)


def tree_of(owner):
    # Blender 5 gives every material, light and world a tree of nodes; before, it is asked for.
    if owner.node_tree is None:
        owner.use_nodes = True
    return owner.node_tree


def material(index, m):
    made = bpy.data.materials.new(f"material-{index}")
    nodes = Nodes(tree_of(made))
    colors = nodes.new("ShaderNodeAttribute", attribute_name="rgba").outputs
    backfacing = nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"]
    color = nodes.times(m["base_color"], colors["Color"])
    if m["base_color_texture"]:
        color = nodes.times(color, nodes.texture(m["base_color_texture"]))
    shader = scattering(nodes, m, color).outputs[0]
    emits = any(m["emission"])
    if emits:
        radiance = m["emission"]
        if m["emission_texture"]:
            radiance = nodes.times(radiance, nodes.texture(m["emission_texture"]))
        both = m["emits_from_both_sides"]
        strength = 1.0 if both else nodes.math("SUBTRACT", 1.0, backfacing)
        lamp = nodes.new("ShaderNodeEmission", {"Color": radiance, "Strength": strength})
        sum_of_both = nodes.new("ShaderNodeAddShader")
        for socket, value in zip(sum_of_both.inputs, (shader, lamp.outputs[0])):
            nodes.set(socket, value)
        shader = sum_of_both.outputs[0]
    made.cycles.emission_sampling = ("FRONT_BACK" if m["emits_from_both_sides"] else "FRONT") if emits else "NONE"
    clear = nodes.new("ShaderNodeBsdfTransparent", {"Color": (1, 1, 1)}).outputs[0]
    if "alpha" in m:
        alpha = nodes.math("MULTIPLY", m["alpha"], colors["Alpha"])
        if m["alpha_texture"]:
            alpha = nodes.math("MULTIPLY", alpha, nodes.texture(m["alpha_texture"]))
        if "alpha_cutoff" in m:
            # At least the cutoff: not less.
            alpha = nodes.math("SUBTRACT", 1.0, nodes.math("LESS_THAN", alpha, m["alpha_cutoff"]))
        shader = nodes.mix(alpha, clear, shader)
    if m["is_single_sided"]:
        shader = nodes.mix(backfacing, shader, clear)
    nodes.new("ShaderNodeOutputMaterial", {"Surface": shader})
    return made


def mesh(index, m):
    made = bpy.data.meshes.new(f"mesh-{index}")
    positions, normals = array(m, "positions", "<f4", 3), array(m, "normals", "<f4", 3)
    triangles, uv = array(m, "triangles", "<u4", 3), array(m, "uv", "<f4", 2)
    colors = array(m, "colors", "<f4", 4)
    made.vertices.add(len(positions))
    made.vertices.foreach_set("co", positions.ravel())
    made.loops.add(triangles.size)
    made.loops.foreach_set("vertex_index", triangles.ravel().astype("i4"))
    made.polygons.add(len(triangles))
    made.polygons.foreach_set("loop_start", numpy.arange(0, triangles.size, 3, dtype="i4"))
    made.update(calc_edges=True)
    made.attributes.new("rgba", "FLOAT_COLOR", "POINT")
    white = numpy.ones((len(positions), 4), "f4")
    made.attributes["rgba"].data.foreach_set("color", (colors if len(colors) else white).ravel())
    if len(uv):
        # Rows of images go upwards.
        layer = made.uv_layers.new(name="uv")
        layer.uv.foreach_set("vector", (uv * (1, -1) + (0, 1)).astype("f4")[triangles.ravel()].ravel())
    if len(normals):
        made.shade_smooth()
        made.normals_split_custom_set_from_vertices(normals)
    else:
        made.shade_flat()
    made.materials.append(None)
    return made


def add(name, data, to_world):
    """An object with any affine map: one of its own would lose shear."""
    made = bpy.data.objects.new(name, data)
    scene.collection.objects.link(made)
    if to_world is not None:
        made.parent = root
        made.matrix_parent_inverse = matrix(to_world)
    return made


def punctual(index, light):
    value = light["intensity"] if "intensity" in light else light["irradiance"]
    most = max(value)
    made = bpy.data.lights.new(f"light-{index}", "SUN" if light["kind"] == "directional" else "POINT")
    made.color = [v / most for v in value]
    holder = add(f"light-{index}", made, None)
    if light["kind"] == "directional":
        made.energy, made.angle = most, 0.0
        holder.rotation_mode = "QUATERNION"
        holder.rotation_quaternion = mathutils.Vector(light["towards"]).to_track_quat("Z", "Y")
        return
    made.energy, made.shadow_soft_size = 4 * math.pi * most, 0.0
    made.use_soft_falloff = False
    holder.location = light["position"]
    if light["kind"] == "spot":
        # The falloff of a spot light of Blender's is another, so that of glTF is computed.
        nodes = Nodes(tree_of(made))
        away = nodes.new("ShaderNodeNewGeometry").outputs["Incoming"]
        cosine = nodes.vector_math("DOT_PRODUCT", away, light["axis"])["Value"]
        scaled = nodes.math("MULTIPLY_ADD", cosine, light["scale"], light["offset"], clamp=True)
        lamp = nodes.new("ShaderNodeEmission", {"Strength": nodes.math("MULTIPLY", scaled, scaled)})
        nodes.new("ShaderNodeOutputLight", {"Surface": lamp.outputs[0]})


def world(sky):
    scene.world = bpy.data.worlds.new("sky")
    nodes = Nodes(tree_of(scene.world))
    background = nodes.new("ShaderNodeBackground")
    nodes.new("ShaderNodeOutputWorld", {"Surface": background.outputs[0]})
    if "radiance" in sky:
        nodes.set(background.inputs["Color"], sky["radiance"])
        scene.world.cycles.sampling_method = "AUTOMATIC" if any(sky["radiance"]) else "NONE"
        return
    # Here y is up, and columns turn from +x over +z; in Blender z is up, and columns turn from -x over -y.
    direction = nodes.new("ShaderNodeTexCoord").outputs["Generated"]
    split = nodes.new("ShaderNodeSeparateXYZ", {"Vector": direction}).outputs
    turned = nodes.new("ShaderNodeCombineXYZ", {
        "X": nodes.math("MULTIPLY", split["X"], -1.0), "Y": split["Z"], "Z": split["Y"]})
    made = nodes.new("ShaderNodeTexEnvironment", {"Vector": turned.outputs[0]}, interpolation="Linear")
    made.image = image(sky["file"])
    nodes.set(background.inputs["Color"], made.outputs["Color"])
    # As many cells of the map for sampling as the image has.
    scene.world.cycles.sampling_method = "MANUAL"
    scene.world.cycles.sample_map_resolution = max(made.image.size)


root = bpy.data.objects.new("root", None)
scene.collection.objects.link(root)
materials = [material(i, m) for i, m in enumerate(document["materials"])]
meshes = [mesh(i, m) for i, m in enumerate(document["meshes"])]
for index, o in enumerate(document["objects"]):
    made = add(f"object-{index}", meshes[o["mesh"]], o.get("to_world"))
    made.material_slots[0].link = "OBJECT"
    made.material_slots[0].material = materials[o["material"]]
    made.cycles.shadow_terminator_offset = 0.0
    made.cycles.shadow_terminator_geometry_offset = 0.0
for index, light in enumerate(document["lights"]):
    punctual(index, light)
world(document["sky"])

view = document["camera"]
camera = bpy.data.cameras.new("camera")
camera.sensor_fit, camera.sensor_height = "VERTICAL", 36.0
# Lengths of lenses are limited, so the sensor is what makes a narrow view.
camera.lens = 50.0
camera.sensor_height = 2 * camera.lens * math.tan(view["vertical_fov"] / 2)
camera.clip_start, camera.clip_end = 1e-5 * view["reach"], 1e4 * max(view["reach"], view["focus_distance"])
if view["lens_radius"] > 0:
    camera.dof.use_dof = True
    camera.dof.focus_distance = view["focus_distance"]
    camera.dof.aperture_fstop = 1e-3 * camera.lens / (2 * view["lens_radius"])
scene.camera = add("camera", camera, view["to_world"])

render, cycles = scene.render, scene.cycles
render.engine = "CYCLES"
render.resolution_x, render.resolution_y, render.resolution_percentage = args.width, args.height, 100
render.pixel_aspect_x = render.pixel_aspect_y = 1.0
render.film_transparent = False
render.use_compositing = render.use_sequencer = False
if args.threads:
    render.threads_mode, render.threads = "FIXED", args.threads
if args.device != "CPU":
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.compute_device_type = args.device
    preferences.get_devices()
    for device in preferences.devices:
        device.use = device.type == args.device
    cycles.device = "GPU"
cycles.samples, cycles.seed = args.spp, args.seed
cycles.pixel_filter_type = "BOX"
cycles.use_adaptive_sampling = cycles.use_denoising = cycles.use_guiding = cycles.use_auto_tile = False
cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0.0
cycles.light_sampling_threshold = cycles.blur_glossy = 0.0
cycles.caustics_reflective = cycles.caustics_refractive = True
# Its bounces begin behind the first scattering.
cycles.max_bounces = args.bounces - 1
for kind in ("diffuse", "glossy", "transmission"):
    setattr(cycles, kind + "_bounces", cycles.max_bounces)
cycles.transparent_max_bounces = 1024
# No Russian roulette.
cycles.min_light_bounces = cycles.min_transparent_bounces = 1024
output = render.image_settings
output.file_format = "OPEN_EXR"
output.color_mode, output.color_depth, output.exr_codec = "RGB", "32", "ZIP"
render.filepath = args.out
render.use_file_extension = False
if args.save:
    bpy.ops.wm.save_as_mainfile(filepath=str(pathlib.Path(args.save).resolve()))
start = time.perf_counter()
bpy.ops.render.render()
seconds = time.perf_counter() - start
bpy.data.images["Render Result"].save_render(args.out, scene=scene)
print(f"render {seconds:.6f} s")
