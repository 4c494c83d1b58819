"""The scenes of the check, described once for both programs.

A scene is a camera, materials, objects (meshes with a placement, spheres), lights and a sky. `write_lockstep` makes
glTF and scene.toml of it, `to_mitsuba` a dictionary for `mitsuba.load_dict`.
"""

import base64
import json
import math
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

IDENTITY = np.eye(4)


@dataclass
class Material:
    kind: str  # diffuse, conductor, dielectric, principled
    color: tuple = (0.8, 0.8, 0.8)
    emission: tuple = (0.0, 0.0, 0.0)
    roughness: float = 0.0
    ior: float = 1.5
    alpha: float = 1.0
    attenuation: tuple = ()  # colour of white light after a unit of distance in the medium inside; of meshes only
    metallic: float = 0.0
    anisotropy: float = 0.0  # OpenPBR's
    coat: float = 0.0  # weight of a clearcoat
    coat_roughness: float = 0.0
    eta_k: tuple = ()  # of a conductor: index of refraction and absorption, three each, in Mitsuba alone


@dataclass
class Scene:
    name: str
    what: str
    bounces: int
    camera: dict
    materials: dict
    meshes: list = field(default_factory=list)  # (vertices, triangles, material, placement)
    spheres: list = field(default_factory=list)  # (center, radius, material)
    lights: list = field(default_factory=list)  # dicts as in scene.toml
    sky: object = None  # radiance, or a function of an image's shape: see `sky_image`
    difference: str = ""  # a documented difference of the models
    single_sided: bool = False  # cull the backs of all meshes; without it, of lamps only


def quads(corners):
    vertices = np.array(corners, dtype=float).reshape(-1, 3)
    triangles = [t for q in range(len(vertices) // 4) for t in ((4 * q, 4 * q + 1, 4 * q + 2), (4 * q, 4 * q + 2, 4 * q + 3))]
    return vertices, np.array(triangles)


def box(low, high):
    (a, b, c), (x, y, z) = low, high
    return quads([
        [(a, y, c), (a, y, z), (x, y, z), (x, y, c)], [(a, b, c), (x, b, c), (x, b, z), (a, b, z)],
        [(a, b, z), (x, b, z), (x, y, z), (a, y, z)], [(x, b, c), (a, b, c), (a, y, c), (x, y, c)],
        [(a, b, c), (a, b, z), (a, y, z), (a, y, c)], [(x, b, z), (x, b, c), (x, y, c), (x, y, z)],
    ])


def floor(half, y=0.0):
    return quads([[(-half, y, -half), (-half, y, half), (half, y, half), (half, y, -half)]])


def lamp(half, y, x=0.0, z=0.0):
    return quads([[(x - half, y, z - half), (x + half, y, z - half), (x + half, y, z + half), (x - half, y, z + half)]])


def tetrahedron():
    v = np.array([(0, 0, 0), (1, 0, 0), (0, 1.3, 0), (0, 0, 0.7)], dtype=float)
    return v, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def placed(rotation_y=0.0, scale=(1, 1, 1), to=(0, 0, 0)):
    c, s = math.cos(rotation_y), math.sin(rotation_y)
    m = np.eye(4)
    m[:3, :3] = np.array([(c, 0, s), (0, 1, 0), (-s, 0, c)]) @ np.diag(scale)
    m[:3, 3] = to
    return m


# Cornell University Program of Graphics, Cornell Box Data, in metres; the ceiling has a hole for the lamp.
FLOOR = [(.5528, 0, 0), (0, 0, 0), (0, 0, .5592), (.5496, 0, .5592)]
BACK = [(.5496, 0, .5592), (0, 0, .5592), (0, .5488, .5592), (.556, .5488, .5592)]
RIGHT = [(0, 0, .5592), (0, 0, 0), (0, .5488, 0), (0, .5488, .5592)]
LEFT = [(.5528, 0, 0), (.5496, 0, .5592), (.556, .5488, .5592), (.556, .5488, 0)]
LAMP = [(.343, .5488, .227), (.343, .5488, .332), (.213, .5488, .332), (.213, .5488, .227)]
CEILING = [(.556, .5488, 0), (.556, .5488, .5592), (0, .5488, .5592), (0, .5488, 0)]
BLOCKS = [
    [(.130, .165, .065), (.082, .165, .225), (.240, .165, .272), (.290, .165, .114)],
    [(.290, 0, .114), (.290, .165, .114), (.240, .165, .272), (.240, 0, .272)],
    [(.130, 0, .065), (.130, .165, .065), (.290, .165, .114), (.290, 0, .114)],
    [(.082, 0, .225), (.082, .165, .225), (.130, .165, .065), (.130, 0, .065)],
    [(.240, 0, .272), (.240, .165, .272), (.082, .165, .225), (.082, 0, .225)],
    [(.423, .330, .247), (.265, .330, .296), (.314, .330, .456), (.472, .330, .406)],
    [(.423, 0, .247), (.423, .330, .247), (.472, .330, .406), (.472, 0, .406)],
    [(.472, 0, .406), (.472, .330, .406), (.314, .330, .456), (.314, 0, .456)],
    [(.314, 0, .456), (.314, .330, .456), (.265, .330, .296), (.265, 0, .296)],
    [(.265, 0, .296), (.265, .330, .296), (.423, .330, .247), (.423, 0, .247)],
]


def cornell():
    rim = [[CEILING[i], CEILING[(i + 1) % 4], LAMP[(i + 1) % 4], LAMP[i]] for i in range(4)]
    return Scene(
        "cornell", "the Cornell box, seven bounces", 7,
        dict(eye=(.278, .273, -.8), target=(.278, .273, 0), fov=39.3077),
        dict(white=Material("diffuse", (.725, .71, .68)), green=Material("diffuse", (.14, .45, .091)),
             red=Material("diffuse", (.63, .065, .05)), lamp=Material("diffuse", (.78, .78, .78), (17, 12, 4))),
        [(*quads([FLOOR, BACK, *rim, *BLOCKS]), "white", IDENTITY), (*quads([RIGHT]), "green", IDENTITY),
         (*quads([LEFT]), "red", IDENTITY), (*quads([LAMP]), "lamp", IDENTITY)],
    )


def sky_image(rows_at_poles=False):
    """A smooth sky. Mitsuba's first and last rows lie at the poles, ours half a row from them."""
    height, width = 256, 512
    v, u = np.mgrid[0:height, 0:width]
    u, v = (u + 0.5) / width, v / (height - 1) if rows_at_poles else (v + 0.5) / height
    sun = 40.0 * np.exp(60.0 * (np.cos(2 * np.pi * (u - 0.15)) * np.sin(np.pi * v) * 0.8 + 0.6 * np.cos(np.pi * v) - 1.0))
    base = 0.4 + 0.3 * np.cos(np.pi * v) + 0.2 * np.cos(2 * np.pi * u) * np.sin(np.pi * v)
    return np.stack([base + sun, base + 0.9 * sun, 1.2 * base + 0.7 * sun], axis=2).astype(np.float32)


GREY = Material("diffuse", (.6, .6, .6))
VIEW = dict(eye=(2.6, 2.2, 3.6), target=(0, 0.5, 0), fov=40.0)


def environment():
    return Scene("environment", "an image as sky over boxes, three bounces", 3, VIEW,
                 dict(grey=GREY, warm=Material("diffuse", (.8, .5, .3))),
                 [(*floor(3), "grey", IDENTITY), (*box((-.9, 0, -.6), (-.1, 1.2, .2)), "warm", IDENTITY),
                  (*box((.2, 0, .1), (.9, .6, .8)), "warm", placed(.4))], sky=sky_image)


def lens():
    shape = [(*tetrahedron(), "warm", placed(k * .9, (1 if k % 2 else -1, 1 + .1 * k, .8), (-1.6 + .55 * k, 0, .8 * math.sin(k))))
             for k in range(7)]
    return Scene("lens", "a thin lens before turned, stretched and mirrored instances, three bounces", 3,
                 dict(VIEW, lens_radius=.15, focus_distance=4.0), dict(grey=GREY, warm=Material("diffuse", (.8, .5, .3))),
                 [(*floor(3), "grey", IDENTITY), *shape], sky=(1.0, .9, .8))


def glass():
    return Scene("glass", "a smooth dielectric and a perfect mirror, twelve bounces", 12, VIEW,
                 dict(grey=GREY, glass=Material("dielectric", (1, 1, 1), ior=1.5), mirror=Material("conductor", (1, 1, 1))),
                 [(*floor(3), "grey", IDENTITY)], [((-.7, .6, 0), .6, "glass"), ((.7, .5, .2), .5, "mirror")], sky=(1.0, .9, .8))


def rough():
    return Scene("rough", "a rough conductor and a rough dielectric, eight bounces", 8, VIEW,
                 dict(grey=GREY, glass=Material("dielectric", (1, 1, 1), ior=1.5, roughness=.5),
                      metal=Material("conductor", (1, 1, 1), roughness=.5)),
                 [(*floor(3), "grey", IDENTITY)], [((-.7, .6, 0), .6, "glass"), ((.7, .5, .2), .5, "metal")], sky=(1.0, .9, .8),
                 difference="masking: height-correlated Smith here, separable there")


def balls():
    return Scene("balls", "a small bright and a large dim spherical lamp, three bounces", 3, VIEW,
                 dict(grey=GREY, warm=Material("diffuse", (.8, .5, .3)), small=Material("diffuse", (0, 0, 0), (60, 50, 40)),
                      large=Material("diffuse", (0, 0, 0), (1, 1.2, 1.5))),
                 [(*floor(3), "grey", IDENTITY), (*box((-.9, 0, -.6), (-.1, 1.2, .2)), "warm", IDENTITY)],
                 [((.9, 1.6, .4), .1, "small"), ((1.2, .7, -1.6), .7, "large"), ((.3, .3, .6), .3, "warm")])


def punctual():
    return Scene("punctual", "a point light and a sun, three bounces", 3, VIEW,
                 dict(grey=GREY, warm=Material("diffuse", (.8, .5, .3))),
                 [(*floor(3), "grey", IDENTITY), (*box((-.9, 0, -.6), (-.1, 1.2, .2)), "warm", IDENTITY),
                  (*box((.2, 0, .1), (.9, .6, .8)), "warm", placed(.4))],
                 lights=[dict(kind="point", position=(.5, 2.0, 1.0), intensity=(4, 3, 2)),
                         dict(kind="directional", direction=(-.5, -1.0, -.2), intensity=(1, 1.1, 1.3))])


def veils():
    # Mitsuba counts passing a card as a bounce; at sixteen that leaves out next to nothing.
    return Scene("veils", "half-transparent cards below a lamp, sixteen bounces", 16, VIEW,
                 dict(grey=GREY, veil=Material("diffuse", (.8, .5, .3), alpha=.4), thin=Material("diffuse", (.3, .6, .8), alpha=.15),
                      lamp=Material("diffuse", (0, 0, 0), (12, 11, 10))),
                 [(*floor(3), "grey", IDENTITY), (*floor(.8, .9), "veil", placed(.3)), (*floor(.7, 1.2), "thin", placed(.9, to=(.3, 0, .2))),
                  (*lamp(.35, 2.4), "lamp", IDENTITY)], sky=(.1, .1, .12))


def volume():
    # Rays that leave a box reflect inside it many times; at forty bounces that leaves out next to nothing.
    tint = Material("dielectric", (1, 1, 1), ior=1.5, attenuation=(.9, .5, .2))
    return Scene("volume", "boxes of absorbing glass, forty bounces", 40, VIEW, dict(grey=GREY, tint=tint),
                 [(*floor(3), "grey", IDENTITY), (*box((-.9, .1, -.6), (-.1, 1.2, .2)), "tint", IDENTITY),
                  (*box((.2, .1, .1), (.9, .6, .8)), "tint", placed(.4))], sky=(1.0, .9, .8))


def pair(name, what, material, difference):
    """A floor, two balls of one material, a sky, and a lamp whose reflection shows the lobes."""
    return Scene(name, what, 3, VIEW,
                 dict(grey=GREY, lobes=material, lamp=Material("diffuse", (0, 0, 0), (12, 11, 10))),
                 [(*floor(3), "grey", IDENTITY), (*lamp(.35, 2.4), "lamp", IDENTITY)],
                 [((-.7, .6, 0), .6, "lobes"), ((.7, .5, .2), .5, "lobes")], sky=(.5, .45, .4), difference=difference)


def anisotropic():
    return pair("anisotropic", "a metal brushed along circles of latitude, three bounces",
                Material("principled", (1, 1, 1), roughness=.5, metallic=1.0, anisotropy=.6),
                "masking: height-correlated Smith here, separable there")


def principled():
    return pair("principled", "a red dielectric surface, Mitsuba's `principled`, three bounces",
                Material("principled", (.8, .3, .2), roughness=.5),
                "body: a diffuse base below the layer's albedo here; Disney's, brighter or darker at grazing angles, there")


def principled_metal():
    return pair("metal", "a golden metal, Mitsuba's `principled`, three bounces",
                Material("principled", (1.0, .78, .34), roughness=.4, metallic=1.0),
                "masking: height-correlated Smith here, separable there")


def clearcoat():
    return pair("clearcoat", "a golden metal below a clearcoat, Mitsuba's `principled`, three bounces",
                Material("principled", (1.0, .78, .34), roughness=.4, metallic=1.0, coat=1.0, coat_roughness=.2),
                "coat: a GGX layer that dims what lies below it here; a quarter of GTR1 added on top there")


# Gold at the wavelengths of red, green and blue
GOLD = ((.143, .375, 1.442), (3.983, 2.386, 1.603))


def at_normal_incidence(eta, k):
    return tuple(((n - 1) ** 2 + a**2) / ((n + 1) ** 2 + a**2) for n, a in zip(eta, k))


def schlick():
    return pair("schlick", "gold, by its index of refraction there, by its reflectance at normal incidence here, three bounces",
                Material("conductor", at_normal_incidence(*GOLD), roughness=.4, eta_k=GOLD),
                "Fresnel: Schlick's approximation here, exact there; masking: height-correlated Smith here, separable there")


ALL = [cornell, environment, lens, glass, rough, balls, punctual, veils, volume, anisotropic, principled_metal, principled, clearcoat,
       schlick]


def numbers(values):
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"


def material_keys(m):
    return [f'kind = "{m.kind}"', f"base_color = {numbers(m.color)}", f"emission = {numbers(m.emission)}",
            f"roughness = {m.roughness!r}", f"ior = {m.ior!r}",
            *(f"{key} = {value!r}" for key, value in layer_keys(m) if m.kind == "principled")]


def layer_keys(m):
    return [("metallic", m.metallic), ("specular_roughness_anisotropy", m.anisotropy), ("coat_weight", m.coat),
            ("coat_roughness", m.coat_roughness)]


def write_lockstep(scene, folder, write_exr):
    """Writes scene.toml and what it refers to; returns its path."""
    folder = Path(folder) / scene.name
    folder.mkdir(parents=True, exist_ok=True)
    used = sorted({material for *_, material, _ in scene.meshes})
    data, views, accessors, meshes, nodes = b"", [], [], [], []

    def accessor(array, component, kind, bounds=False):
        nonlocal data
        views.append(dict(buffer=0, byteOffset=len(data), byteLength=array.nbytes))
        data += array.tobytes()
        entry = dict(bufferView=len(views) - 1, componentType=component, count=len(array), type=kind)
        if bounds:
            entry |= dict(min=array.min(0).tolist(), max=array.max(0).tolist())
        accessors.append(entry)
        return len(accessors) - 1

    for vertices, triangles, material, to in scene.meshes:
        position = accessor(np.asarray(vertices, dtype="<f4"), 5126, "VEC3", True)
        index = accessor(np.asarray(triangles, dtype="<u4").reshape(-1), 5125, "SCALAR")
        meshes.append(dict(primitives=[dict(attributes=dict(POSITION=position), indices=index, material=used.index(material))]))
        nodes.append(dict(mesh=len(meshes) - 1, matrix=np.asarray(to).T.reshape(-1).tolist()))
    materials = []
    for name in used:
        m = scene.materials[name]
        entry = dict(name=name, pbrMetallicRoughness=dict(baseColorFactor=[*m.color, m.alpha]))
        entry["doubleSided"] = not scene.single_sided and not any(m.emission)
        if m.attenuation:
            entry["pbrMetallicRoughness"] |= dict(roughnessFactor=m.roughness, metallicFactor=0.0)
            entry["extensions"] = dict(
                KHR_materials_ior=dict(ior=m.ior), KHR_materials_transmission=dict(transmissionFactor=1.0),
                KHR_materials_volume=dict(thicknessFactor=1.0, attenuationColor=list(m.attenuation), attenuationDistance=1.0))
        materials.append(entry | (dict(alphaMode="BLEND") if m.alpha < 1 else {}))
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    (folder / "scene.gltf").write_text(json.dumps(dict(
        asset=dict(version="2.0"), scene=0, scenes=[dict(nodes=list(range(len(nodes))))], nodes=nodes, meshes=meshes,
        materials=materials, accessors=accessors, bufferViews=views, buffers=[dict(byteLength=len(data), uri=uri)])))
    camera = scene.camera
    text = [f'name = "{scene.name}"', 'file = "scene.gltf"', "[camera]", f"eye = {numbers(camera['eye'])}",
            f"target = {numbers(camera['target'])}", f"fov = {camera['fov']!r}"]
    text += [f"{key} = {camera[key]!r}" for key in ("lens_radius", "focus_distance") if key in camera]
    if callable(scene.sky):
        write_exr(scene.sky(), folder / "sky.exr")
        text += ["[sky]", 'kind = "image"', 'file = "sky.exr"']
    else:
        text += ["[sky]", 'kind = "constant"', f"radiance = {numbers(scene.sky or (0, 0, 0))}"]
    for light in scene.lights:
        text += ["[[lights]]", *(f'{k} = "{v}"' if isinstance(v, str) else f"{k} = {numbers(v)}" for k, v in light.items())]
    for name in used:
        if not scene.materials[name].attenuation:
            text += ["[[materials]]", f'name = "{name}"', *material_keys(scene.materials[name])]
    for center, radius, material in scene.spheres:
        text += ["[[spheres]]", f"center = {numbers(center)}", f"radius = {float(radius)!r}",
                 "material = { " + ", ".join(material_keys(scene.materials[material])) + " }"]
    path = folder / "scene.toml"
    path.write_text("\n".join(text) + "\n")
    return path


def to_mitsuba(scene, mi, width, height, folder):
    """The scene as a dictionary for mitsuba.load_dict; its meshes are written into `folder`."""
    rgb = lambda values: dict(type="rgb", value=[float(v) for v in values])
    T = mi.ScalarTransform4f

    def bsdf(m):
        rough = m.roughness >= 0.03
        if m.kind == "principled" and m.anisotropy:
            along = m.roughness**2 * math.sqrt(2 / (1 + (1 - m.anisotropy) ** 2))
            inner = dict(type="roughconductor", distribution="ggx", alpha_u=along, alpha_v=(1 - m.anisotropy) * along)
            inner = dict(type="twosided", nested=dict(inner, material="none", specular_reflectance=rgb(m.color)))
        elif m.kind == "principled":
            # Its coat's gloss mixes GTR1's alphas of 0.1 and 0.001
            gloss = (0.1 - m.coat_roughness**2) / (0.1 - 0.001)
            inner = dict(type="principled", base_color=rgb(m.color), roughness=m.roughness, metallic=m.metallic, eta=m.ior,
                         clearcoat=m.coat, clearcoat_gloss=min(max(gloss, 0.0), 1.0))
        elif m.kind == "diffuse":
            inner = dict(type="twosided", nested=dict(type="diffuse", reflectance=rgb(m.color)))
        elif m.kind == "conductor":
            inner = dict(type="roughconductor", distribution="ggx", alpha=m.roughness**2) if rough else dict(type="conductor")
            colors = dict(zip(("eta", "k"), map(rgb, m.eta_k))) or dict(material="none", specular_reflectance=rgb(m.color))
            inner = dict(type="twosided", nested=dict(inner, **colors))
        else:
            inner = dict(type="roughdielectric", distribution="ggx", alpha=m.roughness**2) if rough else dict(type="dielectric")
            inner = dict(inner, int_ior=m.ior, ext_ior=1.0)
        return dict(type="mask", opacity=m.alpha, nested=inner) if m.alpha < 1 else inner

    def shape(base, m):
        base = dict(base, bsdf=bsdf(m))
        if m.attenuation:
            sigma = [-math.log(c) for c in m.attenuation]
            base["interior"] = dict(type="homogeneous", albedo=0.0, sigma_t=rgb([x / max(sigma) for x in sigma]), scale=max(sigma))
        return dict(base, emitter=dict(type="area", radiance=rgb(m.emission))) if any(m.emission) else base

    camera = scene.camera
    sensor = dict(
        type="thinlens" if "lens_radius" in camera else "perspective", fov=camera["fov"], fov_axis="y", near_clip=1e-3, far_clip=1e4,
        to_world=T().look_at(origin=camera["eye"], target=camera["target"], up=[0, 1, 0]),
        film=dict(type="hdrfilm", width=width, height=height, pixel_format="rgb", component_format="float32", rfilter=dict(type="box")),
        sampler=dict(type="independent"))
    if "lens_radius" in camera:
        sensor |= dict(aperture_radius=camera["lens_radius"], focus_distance=camera["focus_distance"])
    path = "volpath" if any(m.attenuation for m in scene.materials.values()) else "path"
    out = dict(type="scene", integrator=dict(type=path, max_depth=scene.bounces + 1, rr_depth=100000), sensor=sensor)
    for i, (vertices, triangles, material, to) in enumerate(scene.meshes):
        vertices = np.asarray(vertices) @ to[:3, :3].T + to[:3, 3]
        triangles = np.asarray(triangles)
        if np.linalg.det(to[:3, :3]) < 0:
            triangles = triangles[:, ::-1]
        path = Path(folder) / scene.name / f"{i}.ply"
        write_ply(path, vertices, triangles)
        out[f"mesh{i}"] = shape(dict(type="ply", filename=str(path), face_normals=True), scene.materials[material])
    for i, (center, radius, material) in enumerate(scene.spheres):
        # Circles of latitude lie about y here, about z there
        to = T().translate(list(center)).rotate([1, 0, 0], -90).scale(radius)
        out[f"sphere{i}"] = shape(dict(type="sphere", to_world=to), scene.materials[material])
    for i, light in enumerate(scene.lights):
        if light["kind"] == "point":
            out[f"light{i}"] = dict(type="point", position=list(light["position"]), intensity=rgb(light["intensity"]))
        else:
            out[f"light{i}"] = dict(type="directional", direction=list(light["direction"]), irradiance=rgb(light["intensity"]))
    if callable(scene.sky):
        # Columns of our image run from +x over +z, of Mitsuba's from -z over +x: a quarter turn about y.
        out["sky"] = dict(type="envmap", bitmap=mi.Bitmap(scene.sky(rows_at_poles=True)), to_world=T().rotate([0, 1, 0], -90))
    elif scene.sky:
        out["sky"] = dict(type="constant", radiance=rgb(scene.sky))
    return out


def write_ply(path, vertices, triangles):
    header = (f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty float x\nproperty float y\n"
              f"property float z\nelement face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n")
    with open(path, "wb") as file:
        file.write(header.encode())
        file.write(np.asarray(vertices, dtype="<f4").tobytes())
        for t in triangles:
            file.write(struct.pack("<Biii", 3, *map(int, t)))
