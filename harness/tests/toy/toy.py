"""A path tracer of two diffuse spheres under a sky, with a switch for each of six bugs that renderers have."""
import argparse, math, random, struct

SPHERES = [((0, -100.5, 0), 100, (0.8, 0.75, 0.7)), ((0, 0, 0), 0.5, (0.4, 0.7, 0.9))]
ZENITH, HORIZON, GROUND = (3.0, 3.4, 4.0), (0.5, 0.5, 0.5), (0.2, 0.2, 0.2)
EYE, FOV = (0, 0.4, 3), 40
parser = argparse.ArgumentParser()
for option in ("spp", "seed", "width", "height", "bounces"):
    parser.add_argument("--" + option, type=int)
parser.add_argument("--out")
parser.add_argument("--bug")
args = parser.parse_args()
rng = random.Random(args.seed)

def add(a, b, scale=1): return tuple(x + y * scale for x, y in zip(a, b))
def mul(a, b): return tuple(x * y for x, y in zip(a, b))
def dot(a, b): return sum(mul(a, b))
def unit(a): return tuple(x / math.sqrt(dot(a, a)) for x in a)

def hit(origin, direction):
    found = []
    for centre, radius, albedo in SPHERES:
        from_centre = add(origin, centre, -1)
        b = dot(from_centre, direction)
        root = b * b - dot(from_centre, from_centre) + radius * radius
        t = -b - math.sqrt(root) if root > 0 else 0
        if t > 1e-4:
            found.append((t, add(origin, direction, t), centre, albedo))
    return min(found, default=None)

def scatter(normal):
    z, phi = 2 * rng.random() - 1, 2 * math.pi * rng.random()
    point = (math.sqrt(1 - z * z) * math.cos(phi), math.sqrt(1 - z * z) * math.sin(phi), z)
    if args.bug == "cosine":  # uniform over the hemisphere, weighed as if by the cosine
        return point if dot(point, normal) > 0 else mul(point, (-1, -1, -1))
    return unit(add(point, normal))

def radiance(origin, direction):
    weight = (1, 1, 1)
    for _ in range(args.bounces + (0 if args.bug == "bounces" else 1)):
        found = hit(origin, direction)
        if not found:
            sky = add(HORIZON, add(ZENITH if direction[1] > 0 else GROUND, HORIZON, -1), abs(direction[1]))
            return mul(weight, sky)
        _, origin, centre, albedo = found
        weight, direction = mul(weight, albedo), scatter(unit(add(origin, centre, -1)))
    return (0, 0, 0)

def pixel(x, y):
    total, scale = (0, 0, 0), math.tan(math.radians(FOV / 2)) / args.height
    for _ in range(args.spp):
        dx, dy = rng.random() + (0.5 if args.bug == "shift" else 0), rng.random()
        sample = radiance(EYE, unit((scale * (2 * (x + dx) - args.width), scale * (args.height - 2 * (y + dy)), -1)))
        total = add(total, [min(c, 1) for c in sample] if args.bug == "clamp" else sample)
    mean = [c / (args.spp + (args.bug == "average")) for c in total]
    return [c ** (1 / 2.2) for c in mean] if args.bug == "gamma" else mean

with open(args.out, "wb") as file:  # a portable float map, whose rows go upwards
    file.write(b"PF\n%d %d\n-1.0\n" % (args.width, args.height))
    rows = [[pixel(x, y) for x in range(args.width)] for y in range(args.height)]
    file.write(b"".join(struct.pack("<3f", *p) for row in reversed(rows) for p in row))
