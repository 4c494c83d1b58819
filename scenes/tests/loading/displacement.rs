//! Displaced surfaces as triangles.

use lockstep_core::Scene;
use lockstep_scenes::{Limits, LoadOptions, LoadedScene, load};
use std::collections::HashMap;
use std::f64::consts::TAU;
use std::fs;

/// A mesh for OBJ files: positions, texture coordinates with v upwards, normals or none, and faces of corners that have
/// the same number in all lists.
#[derive(Clone, Debug, Default)]
struct Base {
    positions: Vec<[f64; 3]>,
    uv: Vec<[f64; 2]>,
    normals: Vec<[f64; 3]>,
    faces: Vec<[usize; 3]>,
}

impl Base {
    fn obj(&self, material: impl Fn(usize) -> &'static str) -> String {
        let mut out = String::new();
        for [x, y, z] in &self.positions {
            out += &format!("v {x} {y} {z}\n");
        }
        for [u, v] in &self.uv {
            out += &format!("vt {u} {v}\n");
        }
        for [x, y, z] in &self.normals {
            out += &format!("vn {x} {y} {z}\n");
        }
        for (i, face) in self.faces.iter().enumerate() {
            let corner = |k: usize| {
                let n = face[k] + 1;
                if self.normals.is_empty() { format!("{n}/{n}") } else { format!("{n}/{n}/{n}") }
            };
            out += &format!("usemtl {}\nf {} {} {}\n", material(i), corner(0), corner(1), corner(2));
        }
        out
    }
}

/// A square from -1 to 1 in the plane y = 0, facing up, with texture coordinates from `low` to `high`.
fn square(low: f64, high: f64) -> Base {
    Base {
        positions: vec![[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]],
        uv: vec![[low, high], [high, high], [high, low], [low, low]],
        normals: Vec::new(),
        faces: vec![[3, 2, 1], [3, 1, 0]],
    }
}

/// A unit sphere by longitude and latitude, whose texture coordinates have a seam, with its normals.
fn sphere(columns: usize, rows: usize) -> Base {
    let mut out = Base::default();
    for j in 0..=rows {
        for i in 0..=columns {
            let (theta, phi) =
                (0.5 * TAU * j as f64 / rows as f64, TAU * (i % columns) as f64 / columns as f64);
            let sine = if j == 0 || j == rows { 0.0 } else { theta.sin() };
            let p = [sine * phi.cos(), theta.cos(), sine * phi.sin()].map(|v| f64::from(v as f32));
            out.positions.push(p);
            out.normals.push(p);
            out.uv.push([i as f64 / columns as f64, 1.0 - j as f64 / rows as f64]);
        }
    }
    for j in 0..rows {
        for i in 0..columns {
            let a = j * (columns + 1) + i;
            let (b, c, d) = (a + 1, a + columns + 1, a + columns + 2);
            if j > 0 {
                out.faces.push([a, b, c]);
            }
            if j + 1 < rows {
                out.faces.push([b, d, c]);
            }
        }
    }
    out
}

/// A cube with hard edges: its faces share positions, but neither normals nor texture coordinates.
fn cube() -> Base {
    let mut out = Base::default();
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
        let first = out.positions.len();
        for [s, t] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
            let mut p = [0.0; 3];
            p[axis] = sign;
            p[(axis + 1) % 3] = s * sign;
            p[(axis + 2) % 3] = t;
            let mut n = [0.0; 3];
            n[axis] = sign;
            out.positions.push(p);
            out.normals.push(n);
            out.uv.push([0.5 + 0.5 * s, 0.5 + 0.5 * t]);
        }
        out.faces.push([first, first + 1, first + 2]);
        out.faces.push([first, first + 2, first + 3]);
    }
    out
}

/// A portable float map of three channels.
fn pfm(width: usize, height: usize, of: impl Fn(usize, usize) -> [f32; 3]) -> Vec<u8> {
    let mut out = format!("PF\n{width} {height}\n-1\n").into_bytes();
    for y in (0..height).rev() {
        for x in 0..width {
            out.extend(of(x, y).iter().flat_map(|v| v.to_le_bytes()));
        }
    }
    out
}

/// Bumps that meet themselves at the map's edges; one value near a sphere's poles, whose triangles share no coordinates.
fn bumps(x: usize, y: usize, side: usize) -> f32 {
    let (u, v) = ((x as f64 + 0.5) / side as f64, (y as f64 + 0.5) / side as f64);
    let fade = ((0.5 * TAU * v).sin().powi(2) - 0.4).max(0.0);
    (0.5 + fade
        * (0.3 * (3.0 * TAU * u).sin() * (2.0 * TAU * v).cos() + 0.15 * (TAU * (7.0 * u + 5.0 * v)).sin()))
        as f32
}

const VIEW: &str = "file = \"t.obj\"\n[camera]\neye = [0, 2, 4]\ntarget = [0, 0, 0]\n";

fn loaded_with(obj: &str, map: &[u8], keys: &str, limits: Limits) -> Result<LoadedScene, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.obj"), obj).unwrap();
    fs::write(folder.path().join("map"), map).unwrap();
    let table =
        format!("{VIEW}[[materials]]\nname = \"skin\"\ndisplacement = {{ texture = \"map\", {keys} }}\n");
    let path = folder.path().join("t.toml");
    fs::write(&path, table).unwrap();
    load(path.to_str().unwrap(), &LoadOptions { limits, ..LoadOptions::default() }).map_err(|e| e.to_string())
}

fn displaced(base: &Base, map: &[u8], keys: &str) -> Scene {
    loaded_with(&base.obj(|_| "skin"), map, keys, Limits::default()).unwrap().scene
}

fn position(scene: &Scene, vertex: u32) -> [f64; 3] {
    scene.positions[vertex as usize].map(f64::from)
}

/// How many sides, welded by position, belong to each number of triangles.
fn sides_by_triangles(scene: &Scene) -> HashMap<usize, usize> {
    let mut sides: HashMap<[[u32; 3]; 2], usize> = HashMap::new();
    for triangle in &scene.triangles {
        let corners = triangle.vertices.map(|v| scene.positions[v as usize].map(|v| (v + 0.0).to_bits()));
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            assert_ne!(a, b, "a side has no length");
            *sides.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    let mut out = HashMap::new();
    sides.into_values().for_each(|count| *out.entry(count).or_default() += 1);
    out
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn mix(b: [f64; 3], of: [[f64; 3]; 3]) -> [f64; 3] {
    std::array::from_fn(|i| b[0] * of[0][i] + b[1] * of[1][i] + b[2] * of[2][i])
}

/// Distance of a point from a triangle (Ericson, *Real-Time Collision Detection*, 2005, section 5.1.5).
fn distance(p: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> f64 {
    let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(p, a));
    let (d1, d2) = (dot(ab, ap), dot(ac, ap));
    let to = |v: f64, w: f64| length(std::array::from_fn(|i| ap[i] - v * ab[i] - w * ac[i]));
    if d1 <= 0.0 && d2 <= 0.0 {
        return to(0.0, 0.0);
    }
    let bp = sub(p, b);
    let (d3, d4) = (dot(ab, bp), dot(ac, bp));
    if d3 >= 0.0 && d4 <= d3 {
        return to(1.0, 0.0);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return to(d1 / (d1 - d3), 0.0);
    }
    let cp = sub(p, c);
    let (d5, d6) = (dot(ab, cp), dot(ac, cp));
    if d6 >= 0.0 && d5 <= d6 {
        return to(0.0, 1.0);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return to(0.0, d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return to(1.0 - w, w);
    }
    let sum = va + vb + vc;
    to(vb / sum, vc / sum)
}

/// The triangles of a scene by the cells of a grid.
struct Grid {
    cell: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
    triangles: Vec<[[f64; 3]; 3]>,
}

impl Grid {
    /// A grid that finds triangles up to `reach` away.
    fn new(scene: &Scene, cell: f64, reach: f64) -> Self {
        let triangles: Vec<[[f64; 3]; 3]> =
            scene.triangles.iter().map(|t| t.vertices.map(|v| position(scene, v))).collect();
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        for (n, corners) in triangles.iter().enumerate() {
            let of = |i: usize| corners.map(|c| c[i]);
            let low: [i64; 3] = std::array::from_fn(|i| {
                ((of(i).iter().fold(f64::INFINITY, |a, &b| a.min(b)) - reach) / cell).floor() as i64
            });
            let high: [i64; 3] = std::array::from_fn(|i| {
                ((of(i).iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b)) + reach) / cell).floor() as i64
            });
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        cells.entry([x, y, z]).or_default().push(n as u32);
                    }
                }
            }
        }
        Self { cell, cells, triangles }
    }

    /// Whether some triangle is as near.
    fn is_within(&self, p: [f64; 3], bound: f64) -> bool {
        let near = self.cells.get(&p.map(|v| (v / self.cell).floor() as i64));
        near.is_some_and(|list| list.iter().any(|&n| distance(p, self.triangles[n as usize]) <= bound))
    }
}

/// Bilinear interpolation of a repeated map of one channel, v upwards.
fn height(map: &[f32], side: usize, [u, v]: [f64; 2]) -> f64 {
    let (x, y) = (u * side as f64 - 0.5, (1.0 - v) * side as f64 - 0.5);
    let at = |x: f64, y: f64| {
        let [x, y] = [x, y].map(|v| v.rem_euclid(side as f64) as usize % side);
        f64::from(map[y * side + x])
    };
    let (i, j) = (x.floor(), y.floor());
    let (s, t) = (x - i, y - j);
    (1.0 - t) * ((1.0 - s) * at(i, j) + s * at(i + 1.0, j))
        + t * ((1.0 - s) * at(i, j + 1.0) + s * at(i + 1.0, j + 1.0))
}

/// A point of each triangle in turn with its barycentrics, by the golden ratios of two dimensions.
fn barycentrics(n: usize) -> [f64; 3] {
    let (s, t) = ((0.754_877_666_246_692_7 * n as f64).fract(), (0.569_840_290_998_053_2 * n as f64).fract());
    let (s, t) = if s + t > 1.0 { (1.0 - s, 1.0 - t) } else { (s, t) };
    [1.0 - s - t, s, t]
}

#[test]
fn a_plane_on_a_ramp_is_a_tilted_plane_of_as_many_triangles() {
    let ramp = pfm(8, 8, |x, _| [x as f32; 3]);
    // From the centre of the first texel to that of the last, the map rises by 7.
    let base = square(0.5 / 8.0, 7.5 / 8.0);
    let scene = displaced(&base, &ramp, "scale = 0.25, midlevel = 3.5, error = 1e-6, wrap = \"clamp\"");
    assert_eq!((scene.triangles.len(), scene.positions.len()), (2, 4));
    for (p, v) in scene.positions.iter().zip(&scene.vertices) {
        assert!((p[1] - 0.875 * p[0]).abs() < 1e-6, "{p:?}");
        let slope = (-v.normal.x / v.normal.y, v.normal.z);
        assert!((slope.0 - 0.875).abs() < 1e-6 && slope.1.abs() < 1e-6, "{:?}", v.normal);
    }
    // Beyond, the map is flat: the plane breaks along one line, and the lines of all cuts follow it.
    let scene =
        displaced(&square(0.0, 1.0), &ramp, "scale = 0.25, midlevel = 3.5, error = 0.01, wrap = \"clamp\"");
    for p in &scene.positions {
        let wanted = (f64::from(p[0])).clamp(-0.875, 0.875);
        assert!((f64::from(p[1]) - wanted).abs() < 1e-6, "{p:?}");
    }
    assert!(scene.triangles.len() < 1000, "{}", scene.triangles.len());
    assert_eq!(sides_by_triangles(&scene).keys().max(), Some(&2));
}

#[test]
fn a_sphere_displaced_by_a_constant_is_a_larger_sphere() {
    let (columns, rows) = (24, 12);
    let base = sphere(columns, rows);
    for (vector, value) in [("", [0.75f32; 3]), ("vector = \"tangent\", ", [0.5, 0.5, 0.75])] {
        let map = pfm(2, 2, |_, _| value);
        let scene = displaced(&base, &map, &format!("{vector}scale = 2, error = 1e-3"));
        assert!(scene.triangles.len() > base.faces.len());
        // Points of the file's triangles lie inside the sphere by up to the height of its segments.
        let sagitta = 1.0 - (TAU / 2.0 / columns as f64).cos() * (TAU / 4.0 / rows as f64).cos();
        for (p, v) in scene.positions.iter().zip(&scene.vertices) {
            let p = p.map(f64::from);
            assert!((1.5 - sagitta - 1e-6..1.5 + 1e-6).contains(&length(p)), "{}", length(p));
            let n = v.normal.to_array().map(f64::from);
            assert!(dot(n, p) / length(p) > 0.98, "{p:?} {n:?}");
        }
        for triangle in &scene.triangles {
            let middle = mix([1.0 / 3.0; 3], triangle.vertices.map(|v| position(&scene, v)));
            assert!((length(middle) - 1.5).abs() < sagitta + 1e-3, "{}", length(middle));
        }
        assert_eq!(sides_by_triangles(&scene).keys().collect::<Vec<_>>(), [&2]);
    }
}

#[test]
fn a_million_points_of_displaced_surfaces_are_within_the_bound() {
    let side = 32;
    let map: Vec<f32> = (0..side * side).map(|i| bumps(i % side, i / side, side)).collect();
    let file = pfm(side, side, |x, y| [map[y * side + x]; 3]);
    let scale = 0.3;
    for (base, error, points) in [(sphere(16, 8), 0.01, 600_000), (square(-0.3, 1.4), 0.004, 400_000)] {
        let scene = displaced(&base, &file, &format!("scale = {scale}, error = {error}"));
        let grid = Grid::new(&scene, 0.03, error);
        let (mut furthest, up) = (0.0f64, [0.0, 1.0, 0.0]);
        for n in 0..points {
            let face = base.faces[n % base.faces.len()];
            let b = barycentrics(n / base.faces.len() + 1);
            let normal = if base.normals.is_empty() { up } else { mix(b, face.map(|v| base.normals[v])) };
            let uv: [f64; 2] = std::array::from_fn(|i| (0..3).map(|k| b[k] * base.uv[face[k]][i]).sum());
            let p = mix(b, face.map(|v| base.positions[v]));
            let h = f64::from(scale as f32) * (height(&map, side, uv) - 0.5) / length(normal);
            let p = std::array::from_fn(|i| p[i] + h * normal[i]);
            assert!(grid.is_within(p, error + 1e-6), "{p:?} of triangle {face:?} at {b:?}");
            // The bound is not kept by far.
            furthest = furthest.max(if grid.is_within(p, 0.3 * error) { 0.0 } else { 1.0 });
        }
        assert!(furthest > 0.0, "{} triangles are many more than needed", scene.triangles.len());
    }
}

#[test]
fn pixels_are_finer_near_the_camera() {
    let side = 32;
    let map: Vec<f32> = (0..side * side).map(|i| bumps(i % side, i / side, side)).collect();
    let file = pfm(side, side, |x, y| [map[y * side + x]; 3]);
    let base = square(0.0, 1.0);
    let scene = displaced(&base, &file, "scale = 0.2, error_pixels = 1, image_height = 500");
    let eye = scene.camera.eye.to_array().map(f64::from);
    let pixel = f64::from(lockstep_core::math::tan(0.5 * scene.camera.vertical_fov)) * 2.0 / 500.0;
    let grid = Grid::new(&scene, 0.05, 0.1);
    for n in 0..50_000 {
        let (face, b) = (base.faces[n % 2], barycentrics(n / 2 + 1));
        let uv: [f64; 2] = std::array::from_fn(|i| (0..3).map(|k| b[k] * base.uv[face[k]][i]).sum());
        let mut p = mix(b, face.map(|v| base.positions[v]));
        p[1] += 0.2 * (height(&map, side, uv) - 0.5);
        assert!(grid.is_within(p, pixel * length(sub(p, eye)) + 1e-6), "{p:?}");
    }
    let z =
        |t: &lockstep_core::scene::Triangle| t.vertices.iter().map(|&v| position(&scene, v)[2]).sum::<f64>();
    let count = |front: bool| scene.triangles.iter().filter(|t| (z(t) > 0.0) == front).count();
    assert!(count(true) > count(false), "{} {}", count(true), count(false));
    let finer = displaced(&base, &file, "scale = 0.2, error_pixels = 1, image_height = 1000");
    assert!(finer.triangles.len() > scene.triangles.len());
}

#[test]
fn hard_edges_and_seams_of_texture_coordinates_stay_closed() {
    let map = pfm(16, 16, |x, y| [bumps(x, y, 16) + if x > 9 { 0.4 } else { 0.0 }; 3]);
    let base = cube();
    let loaded =
        loaded_with(&base.obj(|_| "skin"), &map, "scale = 0.4, error = 0.01", Limits::default()).unwrap();
    assert!(loaded.scene.triangles.len() > 1000);
    assert_eq!(sides_by_triangles(&loaded.scene).keys().collect::<Vec<_>>(), [&2]);
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.contains("seams of texture coordinates")), "{warnings:?}");
    // Vertices of an edge have the normals of both of its sides.
    let corner =
        loaded.scene.positions.iter().zip(&loaded.scene.vertices).filter(|(p, _)| p.iter().all(|v| *v > 0.8));
    let normals: Vec<[f32; 3]> = corner.map(|(_, v)| v.normal.to_array()).collect();
    let largest = |i: usize| normals.iter().map(|n| n[i]).fold(0.0, f32::max);
    assert!((0..3).all(|i| largest(i) > 0.7), "{normals:?}");
}

#[test]
fn where_displaced_triangles_meet_others_these_stay() {
    let mut base = square(0.0, 1.0);
    base.faces.reverse();
    let map = pfm(4, 4, |_, _| [1.0; 3]);
    let of = |i: usize| if i == 0 { "skin" } else { "other" };
    let loaded = loaded_with(&base.obj(of), &map, "scale = 0.5, error = 0.01", Limits::default()).unwrap();
    let scene = loaded.scene;
    for triangle in &scene.triangles {
        let corners = triangle.vertices.map(|v| position(&scene, v));
        let is_still = corners.iter().all(|c| c[1] == 0.0);
        assert!(triangle.material == 0 || is_still, "{corners:?}");
    }
    assert!(scene.positions.iter().any(|p| p[1] == 0.25));
    assert_eq!(sides_by_triangles(&scene).keys().max(), Some(&2));
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.contains("borders of materials")), "{warnings:?}");
}

#[test]
fn vectors_move_along_the_axes_of_the_mesh_or_of_its_tangents() {
    let map = pfm(2, 2, |_, _| [0.25, -0.5, 1.0]);
    let base = square(0.0, 1.0);
    let low = |keys: &str| {
        let scene = displaced(&base, &map, &format!("scale = 1, midlevel = 0, error = 0.1, {keys}"));
        *scene.positions.iter().min_by(|a, b| (a[0] + a[2]).total_cmp(&(b[0] + b[2]))).unwrap()
    };
    assert_eq!(low("vector = \"object\""), [-0.75, -0.5, 0.0]);
    // u grows along x, v upwards along -z, and the normal is y.
    let found = low("vector = \"tangent\"");
    assert!(
        [0.25f32 - 1.0, 1.0, 0.5 - 1.0].iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-6),
        "{found:?}"
    );
    assert_eq!(low("tiles = [2, 2]"), [-1.0, 0.25, -1.0]);
}

#[test]
fn more_triangles_than_allowed_are_refused_with_figures_and_remedies() {
    let map = pfm(64, 64, |x, y| [bumps(x, y, 64); 3]);
    let obj = square(0.0, 8.0).obj(|_| "skin");
    let refused = |keys: &str, limits: Limits| loaded_with(&obj, &map, keys, limits).unwrap_err();
    let message = refused("scale = 0.3, error = 1e-5, max_triangles = 20000", Limits::default());
    for words in [
        "t.toml: material `skin`: displacement needs about",
        "GB with their BVH",
        "20 thousand",
        "`max_triangles`",
    ] {
        assert!(message.contains(words), "{message}");
    }
    let small = Limits { triangles: 5000, ..Limits::default() };
    assert!(refused("scale = 0.3, error = 1e-5", small).contains("5000"));
}

#[test]
fn mistakes_are_named_with_their_place() {
    let map = pfm(4, 4, |x, _| [x as f32; 3]);
    let obj = square(0.0, 1.0).obj(|_| "skin");
    let refused = |map: &[u8], keys: &str, words: &str| {
        let message = loaded_with(&obj, map, keys, Limits::default()).unwrap_err();
        assert!(message.contains(words), "{message}");
    };
    refused(&map, "scale = 1, errror = 2", "did you mean `error`?");
    refused(
        &map,
        "scale = 1, error = 0",
        "line 7, column 16: `error`, `error_pixels` and `image_height` must be positive",
    );
    refused(&map, "scale = 1, error = 1, error_pixels = 1", "give either `error`");
    refused(&map, "scale = 1, error = 1, image_height = 100", "goes with `error_pixels`");
    refused(&map, "scale = inf", "must be finite");
    refused(&map, "error = 1", "missing field `scale`");
    refused(&map, "scale = 1, tiles = [0, 1]", "`tiles`");
    refused(&map, "scale = 1, vector = \"world\"", "unknown value `world`");
    refused(
        &pfm(2, 2, |x, _| [if x == 1 { f32::NAN } else { 0.0 }; 3]),
        "scale = 1",
        "column 1, row 0 is not finite",
    );
    refused(b"nothing", "scale = 1", "not recognised");
    let far = square(0.0, 1e12).obj(|_| "skin");
    let message = loaded_with(&far, &map, "scale = 1", Limits::default()).unwrap_err();
    assert!(message.contains("out of range"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.toml");
    let ball = "[[spheres]]\ncenter = [0, 0, 0]\nradius = 1\nmaterial = { displacement = { texture = \"map\", scale = 1 } }\n";
    fs::write(&path, ball).unwrap();
    let message = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("a sphere has no triangles"), "{message}");
}

#[test]
fn maps_keep_all_their_bits() {
    let png = |depth: png::BitDepth, data: &[u8]| {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(depth);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        bytes
    };
    let heights = |map: &[u8]| {
        let obj = square(0.25, 0.75).obj(|_| "skin");
        let loaded =
            loaded_with(&obj, map, "scale = 65535, midlevel = 0, error = 1", Limits::default()).unwrap();
        let ys = loaded.scene.positions.iter().map(|p| p[1]);
        let warned = loaded.warnings.iter().any(|w| w.to_string().contains("the map has 8 bits"));
        (ys.clone().fold(f32::INFINITY, f32::min), ys.fold(0.0, f32::max), warned)
    };
    assert_eq!(heights(&png(png::BitDepth::Sixteen, &[0x12, 0x34, 0x12, 0x35])), (4660.0, 4661.0, false));
    assert_eq!(heights(&png(png::BitDepth::Eight, &[18, 19])), (18.0 * 257.0, 19.0 * 257.0, true));
}
