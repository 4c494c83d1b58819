//! Banners, lamps, pots, the fountain.

use super::architecture::{BAY, GALLERY};
use super::materials::Finishes;
use super::patch::{Finish, Frame, Plan, Point};
use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::vec3;

/// Cloth that hangs from the balustrade of every second bay, in three colours by turns.
pub(super) fn banners(plan: &mut Plan, frame: Frame, bays: u32, phase: u32, f: &Finishes) {
    let half = bays as f32 * BAY * 0.5;
    for i in (phase % 2..bays).step_by(2) {
        let place = frame.moved((i as f32 + 0.5) * BAY - half, GALLERY + 0.85, 0.68);
        let cloth = f.banners[((i / 2 + phase) % 3) as usize];
        banner(plan, place, cloth, i as f32 * 0.37);
    }
}

fn banner(plan: &mut Plan, frame: Frame, cloth: Finish, phase: f32) {
    let (width, height) = (1.5, 3.4);
    plan.surface(frame, [16.0, 24.0], [3, 3], cloth, move |u, v| {
        let fall = 1.0 - v;
        let (wave, _) = sin_cos_turns(1.5 * u + 0.35 * fall + phase);
        let (fold, _) = sin_cos_turns(0.8 * fall + phase * 0.5);
        let z = 0.05 * wave * (0.3 + fall) + 0.05 * fold * fall;
        Point { at: vec3((u - 0.5) * width, -fall * height, z), uv: [u, fall] }
    });
    let rod = frame.moved(0.0, 0.0, 0.0);
    plan.surface(rod, [4.0, 8.0], [1, 4], cloth_rod(cloth), move |u, v| {
        let (sin, cos) = sin_cos_turns(v);
        Point { at: vec3((u - 0.5) * (width + 0.2), 0.03 * sin, 0.03 * cos), uv: [0.5, 0.02] }
    });
}

/// The rod takes the cloth's border, which is gold.
fn cloth_rod(cloth: Finish) -> Finish {
    Finish { tangents: false, ..cloth }
}

/// A brass lamp on a chain in every arch.
pub(super) fn lamps(plan: &mut Plan, frame: Frame, bays: u32, f: &Finishes) {
    let half = bays as f32 * BAY * 0.5;
    for i in 0..bays {
        let lamp = frame.moved((i as f32 + 0.5) * BAY - half, 3.6, 0.0);
        plan.revolved(lamp.moved(0.0, 0.5, 0.0), [6.0, 2.0], f.brass, |v| [0.012, 1.4 * v]);
        plan.revolved(lamp, [20.0, 20.0], f.brass, |v| {
            let (ring, height) = sin_cos_turns(0.25 - 0.5 * v + 0.25);
            [0.24 * ring.abs() + 0.004, 0.26 - 0.26 * height]
        });
        plan.revolved(lamp.moved(0.0, 0.2, 0.0), [20.0, 3.0], f.brass, |v| [0.27 - 0.02 * v, 0.1 * v]);
    }
}

/// A terracotta pot; plants stand in it.
pub(super) fn pot(plan: &mut Plan, frame: Frame, size: f32, f: &Finishes) {
    plan.revolved(frame, [24.0, 10.0], f.terracotta, move |v| {
        let (sin, _) = sin_cos_turns(0.5 * v);
        [size * (0.28 + 0.14 * v + 0.06 * sin), size * 0.7 * v]
    });
    plan.revolved(frame.moved(0.0, size * 0.7, 0.0), [24.0, 4.0], f.terracotta, move |v| {
        let (sin, cos) = sin_cos_turns(0.5 * v);
        [size * (0.42 + 0.05 * cos), size * 0.05 * sin]
    });
    plan.revolved(frame.moved(0.0, size * 0.62, 0.0), [16.0, 2.0], f.soil, move |v| {
        [size * (0.41 - 0.4 * v), 0.0]
    });
}

/// A square stone bed for a tree.
pub(super) fn bed(plan: &mut Plan, frame: Frame, f: &Finishes) {
    plan.cuboid(frame, vec3(-1.0, 0.0, -1.0), vec3(1.0, 0.55, 1.0), f.marble, false);
    plan.cuboid(frame, vec3(-1.08, 0.0, -1.08), vec3(1.08, 0.12, 1.08), f.marble, false);
    plan.quad(frame, vec3(-0.85, 0.56, 0.85), vec3(1.7, 0.0, 0.0), vec3(0.0, 0.0, -1.7), [4.0, 4.0], f.soil);
    // The trunk leans and twists a little.
    plan.surface(frame.moved(0.0, 0.55, 0.0), [16.0, 16.0], [5, 3], f.wood, |u, v| {
        let (sin, cos) = sin_cos_turns(u);
        let (bark, _) = sin_cos_turns(5.0 * u + 1.5 * v);
        let (lean, _) = sin_cos_turns(0.6 * v);
        let r = 0.15 * (1.0 - 0.55 * v) * (1.0 + 0.12 * bark) + 0.1 * (1.0 - v) * (1.0 - v) * (1.0 - v);
        Point { at: vec3(r * cos + 0.16 * lean, 2.9 * v, -r * sin + 0.1 * v * v), uv: [u, -2.0 * v] }
    });
}

/// A round basin with water, and a bowl with a bronze ball in its middle.
pub(super) fn fountain(plan: &mut Plan, f: &Finishes) {
    let frame = Frame::WORLD;
    plan.revolved(frame, [64.0, 8.0], f.marble, |v| [1.75 - 0.05 * v, 0.5 * v]);
    plan.revolved(frame.moved(0.0, 0.5, 0.0), [64.0, 8.0], f.marble, |v| {
        let (sin, cos) = sin_cos_turns(0.5 * v);
        [1.62 + 0.16 * cos, 0.09 * sin]
    });
    plan.revolved(frame.moved(0.0, 0.3, 0.0), [64.0, 2.0], f.marble, |v| [1.46, 0.2 * (1.0 - v)]);
    plan.revolved(frame.moved(0.0, 0.42, 0.0), [48.0, 12.0], f.water, |v| {
        let (ripple, _) = sin_cos_turns(9.0 * v);
        [1.47 * (1.0 - v) + 0.002, 0.003 * ripple]
    });
    plan.revolved(frame, [32.0, 16.0], f.marble, |v| {
        let (wave, _) = sin_cos_turns(0.75 * v);
        [0.22 - 0.1 * v + 0.05 * wave, 1.1 * v]
    });
    plan.revolved(frame.moved(0.0, 1.1, 0.0), [48.0, 10.0], f.marble, |v| {
        [0.1 + 0.62 * (v * (2.0 - v)), 0.28 * v * v]
    });
    plan.revolved(frame.moved(0.0, 1.38, 0.0), [48.0, 4.0], f.water, |v| [0.7 * (1.0 - v) + 0.002, -0.03]);
    plan.revolved(frame.moved(0.0, 1.35, 0.0), [48.0, 32.0], f.bronze, |v| {
        let (height, ring) = sin_cos_turns(0.5 * v - 0.25);
        [0.3 * ring.abs() + 0.002, 0.3 + 0.3 * height]
    });
}
