//! A hall with two storeys of arcades around a nave that is open to the sky, with trees, ivy, banners and a
//! fountain: instanced and alpha-masked geometry, normal maps, glass and metal. Its size is a parameter.

mod architecture;
mod details;
mod foliage;
mod materials;
mod patch;
mod tangents;
mod textures;

use architecture::{BAY, NAVE};
use foliage::{Plant, TRIANGLES_PER_LEAF};
use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{Camera, EnvironmentLight, IDENTITY, MeshData, PunctualLight, SceneBuilder};
use lockstep_core::{Error, Result, Scene};
use materials::Finishes;
use patch::{Frame, Plan};
use rayon::prelude::*;

/// Fewest and most triangles.
const RANGE: [u64; 2] = [10_000, 10_000_000];
const DEFAULT: u64 = 100_000;

/// Builds the scene with about as many triangles as the parameter says.
pub(super) fn build(parameter: Option<&str>) -> Result<Scene> {
    let target = match parameter {
        None => DEFAULT,
        Some(text) => parse_count(text).filter(|n| (RANGE[0]..=RANGE[1]).contains(n)).ok_or_else(|| {
            let message = "the number of triangles must be from 10k to 10m, as in atrium:250k or atrium:1.5m";
            Error::scene(format!("atrium:{text}"), "name", message)
        })?,
    };
    let name = parameter.map_or("atrium".to_string(), |text| format!("atrium-{}", text.to_ascii_lowercase()));
    let mut b = SceneBuilder::new(name);
    let finishes = materials::build(&mut b)?;
    let bays = bays(target);
    let length = bays as f32 * BAY;
    let (plan, plants) = plan_for(target, bays, &finishes);
    let leaves = target.saturating_sub(plan.triangles()) / TRIANGLES_PER_LEAF;
    for mesh in cut(plan).into_iter().chain(grow(&plants, leaves, finishes.leaves)) {
        let mesh = b.mesh(mesh);
        b.instance(mesh, IDENTITY);
    }
    b.camera = Camera {
        eye: vec3(-length * 0.5 + 0.6, 2.0, 1.1),
        direction: vec3(1.0, 0.2, -0.12),
        vertical_fov: 1.1,
        ..Camera::default()
    };
    b.environment = EnvironmentLight::Gradient {
        zenith: vec3(1.0, 1.5, 2.6),
        horizon: vec3(1.7, 1.9, 2.3),
        ground: vec3(0.5, 0.45, 0.4),
    };
    b.light(PunctualLight::Directional {
        direction: vec3(0.32, -1.0, -0.36),
        irradiance: vec3(14.0, 12.4, 9.8),
    });
    b.build()
}

/// `250000`, `250k` or `1.5m`.
fn parse_count(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (number, unit) = match lower.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => lower.strip_suffix('m').map_or((lower.as_str(), 1.0), |number| (number, 1e6)),
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value: f64 = number.parse().ok().filter(|_| plain)?;
    Some((value * unit) as u64)
}

/// Larger halls are longer.
fn bays(target: u64) -> u32 {
    match target {
        ..30_000 => 3,
        30_000..1_000_000 => 6,
        1_000_000..4_000_000 => 8,
        _ => 10,
    }
}

/// The plan whose surfaces take the most of four fifths of the target; leaves take the rest.
fn plan_for(target: u64, bays: u32, finishes: &Finishes) -> (Plan, Vec<Plant>) {
    let limit = target * 4 / 5;
    let (mut low, mut high) = (0.01f32, 64.0f32);
    for _ in 0..24 {
        let middle = (low + high) * 0.5;
        if plan(middle, bays, finishes).0.triangles() <= limit {
            low = middle;
        } else {
            high = middle;
        }
    }
    plan(low, bays, finishes)
}

/// All patches of the hall, at `density` times the default resolution.
fn plan(density: f32, bays: u32, f: &Finishes) -> (Plan, Vec<Plant>) {
    let length = bays as f32 * BAY;
    let (sides, ends) = architecture::frames(length);
    let mut plan = Plan::new(density);
    let mut plants = Vec::new();
    architecture::floor(&mut plan, length, f);
    for (phase, side) in (0u32..).zip(sides) {
        architecture::side(&mut plan, side, bays, f);
        architecture::balustrade(&mut plan, side, bays, f);
        details::banners(&mut plan, side, bays, phase, f);
        details::lamps(&mut plan, side, bays, f);
        foliage::ivy(side, bays, phase, &mut plants);
        for i in 1..bays {
            let pot = side.moved(i as f32 * BAY - length * 0.5, 0.0, 1.15);
            details::pot(&mut plan, pot, 0.9, f);
            plants.push(Plant::Bush(pot.point(vec3(0.0, 1.05, 0.0)), 0.48));
        }
    }
    for end in ends {
        architecture::end(&mut plan, end, f);
    }
    details::fountain(&mut plan, f);
    for x in [-0.17, 0.17] {
        let bed = Frame::WORLD.moved(x * length, 0.0, -NAVE * 0.42);
        details::bed(&mut plan, bed, f);
        plants.push(Plant::Crown(bed.point(vec3(0.1, 4.0, 0.05))));
    }
    (plan, plants)
}

fn cut(plan: Plan) -> Vec<MeshData> {
    plan.patches.into_par_iter().map(|patch| patch.cut()).collect()
}

/// Distributes the leaves over the plants.
fn grow(plants: &[Plant], leaves: u64, materials: [u32; 2]) -> Vec<MeshData> {
    let total: u64 = plants.iter().map(Plant::weight).sum();
    let grown = plants
        .par_iter()
        .enumerate()
        .map(|(i, plant)| plant.grow(leaves * plant.weight() / total.max(1), 500 + i as u32, materials));
    grown.filter(|mesh| !mesh.triangles.is_empty()).collect()
}
