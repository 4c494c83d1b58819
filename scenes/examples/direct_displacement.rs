//! Displacement by tessellation at load against a direct form that stores no triangles.
//!
//! The direct form walks the micro-triangles that tessellation makes, as Smits, Shirley and Stark (*Direct Ray Tracing of
//! Displacement Mapped Triangles*, 2000) and Thonat and others (*Tessellation-Free Displacement Mapping for Ray Tracing*,
//! 2021) do, and makes their vertices from the map when a ray comes by. Both trace camera rays and diffuse rays of the
//! same scenes on one thread, in turns, and their distances are compared ray by ray:
//!
//! `cargo run --release -p lockstep-scenes --features direct-displacement --example direct_displacement`
//!
//! `--quick` takes one error bound; files of the form of `scene.toml` replace the scenes.

use clap::{Parser, ValueEnum};
use lockstep_bvh::{Bvh8, Scratch8};
use lockstep_core::Scene;
use lockstep_core::geometry::{FAR, Hit, Ray, coordinate_scale, offset_origin, triangle_normal};
use lockstep_core::math::rng::{RayKey, pcg4d, uniform};
use lockstep_core::math::sampling::{cosine_hemisphere, frame};
use lockstep_core::math::vec3::{Vec3, dot, normalize, vec3};
use lockstep_scenes::{Direct, LoadOptions, Scratch, load};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Width and height of the camera's image, in pixels; one ray each.
const SIZE: [u32; 2] = [512, 288];

/// Rounds of timings after one to warm up; the median counts.
const ROUNDS: usize = 3;

/// Groups of eight triangles to a patch.
const GROUPS: usize = 4;

/// Patches that the direct form keeps.
const KEPT: usize = 1 << 12;

/// Texels along a side of the height field.
const TEXELS: u32 = 512;

/// Displacement by tessellation at load against a direct form that stores no triangles.
#[derive(Parser)]
struct Arguments {
    /// Measure one error bound
    #[arg(long)]
    quick: bool,
    /// Print the memory and the time of one form's build of the first scene
    #[arg(long, value_enum, hide = true, requires = "scenes")]
    build: Option<Form>,
    /// Files of the form of `scene.toml`, in place of the scenes of this program
    scenes: Vec<PathBuf>,
}

fn main() -> Outcome<()> {
    let Arguments { quick, build, mut scenes } = Arguments::parse();
    if let (Some(form), Some(path)) = (build, scenes.first()) {
        return print_build(form, path);
    }
    let folder = env::temp_dir().join(format!("direct-displacement-{}", std::process::id()));
    if scenes.is_empty() {
        let bounds: &[f32] = if quick { &[0.5] } else { &[0.5, 0.1, 0.02] };
        scenes.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/relief/scene.toml"));
        scenes.extend(write_fields(&folder, bounds)?);
    }
    let measured = scenes.iter().enumerate().try_for_each(|(i, scene)| measure(scene, i == 0));
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    measured
}

/// A way to show displaced surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Tessellated,
    Direct,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Tessellated => "tessellated",
            Self::Direct => "direct",
        }
    }
}

/// A height field on a square, seen from its edge, once for each error bound in pixels. Returns the scenes' files.
fn write_fields(folder: &Path, bounds: &[f32]) -> Outcome<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut map = format!("Pf\n{TEXELS} {TEXELS}\n-1\n").into_bytes();
    for y in 0..TEXELS {
        (0..TEXELS).for_each(|x| map.extend(height(x, y).to_le_bytes()));
    }
    fs::write(folder.join("field.pfm"), map)?;
    let square = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nvt 0 1\nvt 1 1\nvt 1 0\nvt 0 0\nusemtl field\n\
                  f 4/4 3/3 2/2\nf 4/4 2/2 1/1\n";
    fs::write(folder.join("field.obj"), square)?;
    let write = |&pixels: &f32| {
        let path = folder.join(format!("field at {pixels} pixels.toml"));
        let text = format!(
            "file = \"field.obj\"\n[camera]\neye = [0.3, 0.5, 1.7]\ntarget = [0, 0, 0.2]\n\
             [[materials]]\nname = \"field\"\ndisplacement = {{ texture = \"field.pfm\", scale = 0.6, \
             midlevel = 0.0, wrap = \"clamp\", error_pixels = {pixels} }}\n"
        );
        fs::write(&path, text)?;
        Ok(path)
    };
    bounds.iter().map(write).collect()
}

/// Six octaves of smoothly interpolated random numbers, 0 to 1.
fn height(x: u32, y: u32) -> f32 {
    let octave = |o: u32| {
        let cell = TEXELS >> (o + 2);
        let at = |i: u32, j: u32| uniform(pcg4d([x / cell + i, y / cell + j, o, 7])[0]);
        let ease = |v: u32| {
            let f = (v % cell) as f32 / cell as f32;
            f * f * (3.0 - 2.0 * f)
        };
        let (fx, fy) = (ease(x), ease(y));
        let mix = |a: f32, b: f32, f: f32| a + f * (b - a);
        mix(mix(at(0, 0), at(1, 0), fx), mix(at(0, 1), at(1, 1), fx), fy) / (2 << o) as f32
    };
    (0..6).map(octave).sum()
}

/// The scene as tessellation shows it, with its BVH.
struct Tessellated {
    scene: Scene,
    bvh: Bvh8,
    scratch: Scratch8,
}

impl Tessellated {
    fn load(path: &Path) -> Outcome<Self> {
        let scene = load(&path.to_string_lossy(), &LoadOptions::default())?.scene;
        let bvh = Bvh8::build(&scene, &Bvh8::SETTINGS);
        Ok(Self { scene, bvh, scratch: Scratch8::default() })
    }

    /// Bytes of the BVH, and of positions, vertices and triangles.
    fn bytes(&self) -> u64 {
        let scene = &*self.scene;
        let geometry = size_of_val(&scene.positions[..])
            + size_of_val(&scene.vertices[..])
            + size_of_val(&scene.triangles[..]);
        self.bvh.bytes() + geometry as u64
    }

    fn hit(&mut self, ray: &Ray) -> Hit {
        self.bvh.closest_hit(&self.scene, ray, RayKey::default(), &mut self.scratch)
    }

    fn distances(&mut self, rays: &[Ray]) -> Vec<f32> {
        rays.iter().map(|ray| self.hit(ray).t).collect()
    }

    /// A ray through the middle of every pixel, in tiles of 8 by 8.
    fn camera_rays(&self) -> Vec<Ray> {
        let [width, height] = SIZE;
        let camera = self.scene.camera.frame(width, height);
        let tiles = (0..height / 8).flat_map(|y| (0..width / 8).map(move |x| [8 * x, 8 * y]));
        let pixels = tiles.flat_map(|[x, y]| (0..64).map(move |i| (y + i / 8) * width + x + i % 8));
        let ray = |pixel| {
            let (origin, direction) = camera.ray(pixel, [0.5; 4]);
            Ray { origin, t_min: 0.0, direction, t_max: FAR }
        };
        pixels.map(ray).collect()
    }

    /// A ray from each hit of others, distributed by the cosine.
    fn diffuse_rays(&mut self, rays: &[Ray]) -> Vec<Ray> {
        (0..).zip(rays).filter_map(|(number, ray)| self.diffuse_ray(number, ray)).collect()
    }

    fn diffuse_ray(&mut self, number: u32, ray: &Ray) -> Option<Ray> {
        let hit = self.hit(ray);
        let instance = self.scene.instances.get(hit.instance as usize)?;
        let first = self.scene.meshes.get(instance.mesh as usize)?.first_triangle;
        let triangle = self.scene.triangles.get((first + hit.primitive) as usize)?;
        let [a, b, c] = triangle.vertices.map(|v| Vec3::from(self.scene.positions[v as usize]));
        let n = normalize(triangle_normal([a, b, c]));
        let n = if dot(n, ray.direction) > 0.0 { -n } else { n };
        let (s, t) = frame(n);
        let random = pcg4d([number, 1, 2, 3]);
        let local = cosine_hemisphere(uniform(random[0]), uniform(random[1]));
        let direction = s * local.x + t * local.y + n * local.z;
        let p = a + (b - a) * hit.u + (c - a) * hit.v;
        let origin = offset_origin(p, n, direction, coordinate_scale(p, vec3(1.0, 1.0, 1.0)));
        Some(Ray { origin, t_min: 0.0, direction, t_max: FAR })
    }
}

/// Builds one form in this process, and prints its numbers.
fn print_build(form: Form, path: &Path) -> Outcome<()> {
    let before = memory("VmHWM:")?;
    let start = Instant::now();
    let (triangles, bytes) = match form {
        Form::Tessellated => {
            let made = Tessellated::load(path)?;
            (made.scene.triangles.len(), made.bytes())
        }
        Form::Direct => {
            let (made, _) = Direct::<GROUPS>::load(path, &LoadOptions::default())?;
            (made.triangles(), made.bytes())
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let peak = memory("VmHWM:")?.saturating_sub(before);
    println!(
        "  {:<12} {:>9} triangles {:>8.1} MB held, {:>7.1} bytes a triangle {:>8.1} MB peak {:>6.2} s to build",
        form.name(),
        triangles,
        bytes as f64 * 1e-6,
        bytes as f64 / triangles as f64,
        peak as f64 * 1e-6,
        seconds
    );
    Ok(())
}

/// Bytes of a row of `/proc/self/status`; 0 on systems without.
fn memory(row: &str) -> Outcome<u64> {
    let Ok(text) = fs::read_to_string("/proc/self/status") else { return Ok(0) };
    let found = text.lines().find_map(|line| line.strip_prefix(row));
    let kilobytes = found.and_then(|rest| rest.trim().strip_suffix(" kB"));
    Ok(1024 * kilobytes.map_or(Ok(0), |number| number.trim().parse::<u64>())?)
}

/// A scene's name: its file's, or for `scene.toml` its folder's.
fn name(path: &Path) -> String {
    let stem = path.file_stem().filter(|stem| *stem != "scene");
    let folder = path.parent().and_then(Path::file_name);
    stem.or(folder).unwrap_or_default().to_string_lossy().into_owned()
}

/// Builds both forms of a scene in processes of their own, then traces by both. `configurations` also measures the direct
/// form with other settings.
fn measure(path: &Path, configurations: bool) -> Outcome<()> {
    println!("{}", name(path));
    for form in [Form::Tessellated, Form::Direct] {
        let status = Command::new(env::current_exe()?).args(["--build", form.name()]).arg(path).status()?;
        if !status.success() {
            return Err(format!("{} could not be built", form.name()).into());
        }
    }
    let mut tessellated = Tessellated::load(path)?;
    let camera = tessellated.camera_rays();
    let diffuse = tessellated.diffuse_rays(&camera);
    let sets = [("camera", &camera[..]), ("diffuse", &diffuse[..])];
    compare::<GROUPS>(path, &mut tessellated, &sets, &[KEPT])?;
    if configurations {
        println!("  direct forms in patches of up to 8, 16, 32 and 64 triangles:");
        let kept = [1, 1 << 12, 1 << 16];
        compare::<1>(path, &mut tessellated, &sets, &kept)?;
        compare::<2>(path, &mut tessellated, &sets, &kept)?;
        compare::<4>(path, &mut tessellated, &sets, &kept)?;
        compare::<8>(path, &mut tessellated, &sets, &kept)?;
    }
    Ok(())
}

/// Traces rays by both forms in turns, and compares each distance.
fn compare<const G: usize>(
    path: &Path,
    tessellated: &mut Tessellated,
    sets: &[(&str, &[Ray])],
    kept: &[usize],
) -> Outcome<()> {
    let (direct, _) = Direct::<G>::load(path, &LoadOptions::default())?;
    println!(
        "  {} patches of up to {} triangles, {:.1} MB",
        direct.patches(),
        8 * G,
        direct.bytes() as f64 * 1e-6
    );
    for &kept in kept {
        for (name, rays) in sets {
            let mut times = [Vec::new(), Vec::new()];
            let mut scratch = Scratch::<G>::new(kept);
            let mut found = [Vec::new(), Vec::new()];
            for round in 0..=ROUNDS {
                let start = Instant::now();
                found[0] = tessellated.distances(rays);
                let of_tessellated = start.elapsed().as_secs_f64();
                scratch = Scratch::new(kept);
                let start = Instant::now();
                found[1] = rays.iter().map(|ray| direct.closest_hit(ray, &mut scratch)).collect();
                // The first round only warms up
                if round > 0 {
                    times[0].push(of_tessellated);
                    times[1].push(start.elapsed().as_secs_f64());
                }
            }
            let [a, b] = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                rays.len() as f64 / times[ROUNDS / 2] * 1e-6
            });
            let per_ray = |count: u64| count as f64 / rays.len() as f64;
            println!(
                "    {name:<8} {a:>6.3} million rays/s tessellated, {b:>6.3} direct ({:.2}) with {kept} patches kept \
                 ({:.1} MB); {:.2} patches a ray, {:.2} expanded; {}",
                b / a,
                scratch.bytes() as f64 * 1e-6,
                per_ray(scratch.lookups),
                per_ray(scratch.expansions),
                differences(&found[0], &found[1])
            );
        }
    }
    Ok(())
}

/// How far distances of both forms differ, in words.
fn differences(a: &[f32], b: &[f32]) -> String {
    let pairs = || a.iter().zip(b);
    let hits = a.iter().filter(|t| **t < FAR).count();
    let misses = pairs().filter(|(a, b)| (**a < FAR) != (**b < FAR)).count();
    let differing = pairs().filter(|(a, b)| a != b).count();
    let largest = pairs().filter(|(a, b)| **a < FAR && **b < FAR).map(|(a, b)| ((a - b) / a).abs());
    let largest = largest.fold(0.0, f32::max);
    format!("{hits} hits, {misses} misses differ, {differing} distances differ, by up to {largest:.1e}")
}
