//! Columns, arcades, walls, vaults and mouldings.

use super::materials::Finishes;
use super::patch::{Finish, Frame, Plan, Point};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::math::{PI, atan2_turns, sin_cos_turns};

/// Distance between columns.
pub(super) const BAY: f32 = 4.0;
/// Half of the nave's width.
pub(super) const NAVE: f32 = 4.2;
/// Depth of the aisles behind the columns.
pub(super) const AISLE: f32 = 3.6;
/// Thickness of the arcades' walls.
const WALL: f32 = 0.8;
/// Heights where the lower arches begin, and where their wall ends.
const LOWER: [f32; 2] = [4.0, 6.2];
/// The gallery's floor.
pub(super) const GALLERY: f32 = 6.7;
/// Heights where the upper arches begin, and where their wall ends.
const UPPER: [f32; 2] = [9.3, 11.6];
/// Height of the hall.
const TOP: f32 = 12.1;
/// Depth by which touching parts intersect, so that no surfaces coincide.
const EMBEDDED: f32 = 0.04;
/// Height of a cornice's top above the floor or roof behind it.
const RAISED: f32 = 0.004;

/// One long side of the hall: `frame` stands in the middle of its arcade, its z axis towards the nave.
pub(super) fn side(plan: &mut Plan, frame: Frame, bays: u32, f: &Finishes) {
    let half = bays as f32 * BAY * 0.5;
    for i in 0..=bays {
        let x = i as f32 * BAY - half;
        column(plan, frame.moved(x, 0.0, 0.0), LOWER[0], 0.36, f, true);
        column(plan, frame.moved(x, GALLERY, 0.0), UPPER[0] - GALLERY, 0.2, f, false);
        pilaster(plan, frame.moved(x, 0.0, -AISLE), f);
    }
    for i in 0..bays {
        let bay = frame.moved((i as f32 + 0.5) * BAY - half, 0.0, 0.0);
        arch(plan, bay, BAY, LOWER, 1.5, WALL, f.stone, f.marble);
        arch(plan, bay, BAY, UPPER, 1.7, 0.5, f.stone, f.marble);
        vault(plan, bay, f);
        for x in [-1.0, 1.0] {
            let beam = bay.moved(x, UPPER[1] - 0.3, 0.0);
            let back = vec3(-0.12, 0.0, -AISLE - EMBEDDED);
            plan.cuboid(beam, back, vec3(0.12, 0.3 + EMBEDDED, -0.2), f.wood, true);
        }
    }
    cornice(plan, frame.moved(0.0, LOWER[1], WALL * 0.5), half, GALLERY + RAISED - LOWER[1], f.marble);
    cornice(plan, frame.moved(0.0, UPPER[1], 0.25), half, TOP + RAISED - UPPER[1], f.marble);
    let long = vec3(2.0 * half, 0.0, 0.0);
    let cuts = bays as f32 * 3.0;
    // The aisle's wall, the gallery's floor and ceiling, the roof.
    let wall = vec3(-half, 0.0, -AISLE);
    plan.quad(frame, wall, long, vec3(0.0, TOP, 0.0), [cuts, 9.0], f.stone);
    let floor = vec3(-half, GALLERY, WALL * 0.5);
    plan.quad(frame, floor, long, vec3(0.0, 0.0, -AISLE - WALL * 0.5), [cuts, 4.0], f.plaster);
    let ceiling = vec3(-half, UPPER[1], -AISLE);
    plan.quad(frame, ceiling, long, vec3(0.0, 0.0, AISLE), [cuts, 4.0], f.wood);
    let roof = vec3(-half, TOP, 0.3);
    plan.quad(frame, roof, long, vec3(0.0, 0.0, -AISLE - 0.3), [cuts, 4.0], f.plaster);
}

/// A short end of the hall: a wall with a portal.
pub(super) fn end(plan: &mut Plan, frame: Frame, f: &Finishes) {
    let width = 2.0 * (NAVE + AISLE);
    let portal = 5.6;
    arch(plan, frame, portal, [3.6, 7.2], 1.9, WALL, f.stone, f.marble);
    let height = vec3(0.0, TOP, 0.0);
    let rest = (width - portal) * 0.5;
    plan.quad(frame, vec3(-width * 0.5, 0.0, WALL * 0.5), vec3(rest, 0.0, 0.0), height, [8.0, 9.0], f.stone);
    plan.quad(frame, vec3(portal * 0.5, 0.0, WALL * 0.5), vec3(rest, 0.0, 0.0), height, [8.0, 9.0], f.stone);
    let above = vec3(-portal * 0.5, 7.2, WALL * 0.5);
    plan.quad(frame, above, vec3(portal, 0.0, 0.0), vec3(0.0, TOP - 7.2, 0.0), [8.0, 5.0], f.stone);
    for x in [-1.0f32, 1.0] {
        let jamb = frame.moved(x * (portal * 0.25 + 0.95), 0.0, 0.0);
        plan.cuboid(jamb, vec3(-0.45, 0.0, -WALL * 0.5), vec3(0.45, 3.6, WALL * 0.5), f.stone, false);
        column(plan, frame.moved(x * 2.35, 0.0, 0.85), 3.6, 0.28, f, true);
    }
    // Behind the portal: a shallow room.
    let room = frame.moved(0.0, 0.0, -2.4);
    plan.quad(room, vec3(-3.0, 0.0, 0.0), vec3(6.0, 0.0, 0.0), vec3(0.0, 6.5, 0.0), [4.0, 4.0], f.plaster);
    plan.quad(room, vec3(-3.0, 0.0, 2.1), vec3(0.0, 0.0, -2.1), vec3(0.0, 6.5, 0.0), [2.0, 4.0], f.plaster);
    plan.quad(room, vec3(3.0, 0.0, 0.0), vec3(0.0, 0.0, 2.1), vec3(0.0, 6.5, 0.0), [2.0, 4.0], f.plaster);
    plan.quad(room, vec3(-3.0, 6.5, 0.0), vec3(6.0, 0.0, 0.0), vec3(0.0, 0.0, 2.1), [4.0, 2.0], f.plaster);
    // It crosses the sides' cornices, so it begins below and ends above them.
    let low = UPPER[1] - RAISED;
    cornice(plan, frame.moved(0.0, low, WALL * 0.5), width * 0.5, TOP + 2.0 * RAISED - low, f.marble);
}

/// A column with base and capital; the shaft swells a little, and is fluted if there are enough divisions to
/// show it.
fn column(plan: &mut Plan, frame: Frame, height: f32, radius: f32, f: &Finishes, fluted: bool) {
    let base = radius * 1.1;
    let foot = radius * 1.45;
    plan.cuboid(frame, vec3(-foot, 0.0, -foot), vec3(foot, base * 0.45, foot), f.marble, false);
    // The base: two rounds with a hollow between them.
    plan.revolved(frame, [24.0, 12.0], f.marble, move |v| {
        let (sin, _) = sin_cos_turns(v * 1.25 - 0.125);
        [radius * (1.24 + 0.12 * sin - 0.14 * v), base * (0.45 + 0.75 * v)]
    });
    let (low, high) = (base * 1.2, height - radius * 1.6);
    let around = if fluted { 80.0 } else { 24.0 };
    let flutes = if fluted && plan.divisions(around) >= 60 { 20.0 } else { 0.0 };
    let depth = if flutes > 0.0 { 0.035 } else { 0.0 };
    plan.surface(frame, [around, 8.0], [8, 2], f.column, move |u, v| {
        let (sin, cos) = sin_cos_turns(u);
        let (_, wave) = sin_cos_turns(u * flutes);
        let swell = 1.0 - 0.16 * v * v;
        // Flutes end below the capital and above the base.
        let end = 4.0 * v * (1.0 - v);
        let r = radius * swell * (1.0 - depth * (1.0 + wave) * end.min(0.25) * 4.0);
        let y = low + (high - low) * v;
        Point { at: vec3(r * cos, y, -r * sin), uv: [u, -y * f_scale(radius)] }
    });
    // The capital: a ring, a bell and a slab.
    plan.revolved(frame, [24.0, 12.0], f.marble, move |v| {
        let (_, ring) = sin_cos_turns((v * 4.0).min(1.0));
        let neck = 0.86 + 0.04 * (1.0 - ring);
        let bell = (v - 0.25).max(0.0) / 0.75;
        [radius * (neck + 0.55 * bell * bell), high + radius * 1.1 * v]
    });
    let slab = radius * 1.5;
    let low = vec3(-slab, high + radius * 1.1, -slab);
    plan.cuboid(frame, low, vec3(slab, height, slab), f.marble, true);
}

/// Repeats of the column's texture a metre, so that it is as wide as high.
fn f_scale(radius: f32) -> f32 {
    1.0 / (2.0 * PI * radius)
}

fn pilaster(plan: &mut Plan, frame: Frame, f: &Finishes) {
    plan.cuboid(frame, vec3(-0.35, 0.0, -EMBEDDED), vec3(0.35, 4.6 + EMBEDDED, 0.22), f.stone, false);
    plan.cuboid(frame, vec3(-0.45, 4.6, -2.0 * EMBEDDED), vec3(0.45, 4.9, 0.32), f.marble, true);
}

/// A wall of `width` between two heights with a half-round opening of `radius` in its middle, seen from both
/// sides, with a moulding around the opening in front.
#[allow(clippy::too_many_arguments)]
fn arch(
    plan: &mut Plan,
    frame: Frame,
    width: f32,
    heights: [f32; 2],
    radius: f32,
    depth: f32,
    wall: Finish,
    trim: Finish,
) {
    let [spring, top] = heights;
    let half = width * 0.5;
    // Angles in turns at which rays from the centre meet the wall's upper corners.
    let corner = atan2_turns(top - spring, half);
    let spans = [(0.0, corner, 8.0), (corner, 0.5 - corner, 16.0), (0.5 - corner, 0.5, 8.0)];
    for (from, to, cuts) in spans {
        for front in [true, false] {
            let z = if front { depth * 0.5 } else { -depth * 0.5 };
            plan.surface(frame, [cuts, 6.0], [2, 1], wall, move |u, v| {
                // The front runs from the opening outwards as angles grow; the back the other way round.
                let turn = if front { from + (to - from) * (1.0 - u) } else { from + (to - from) * u };
                let (sin, cos) = sin_cos_turns(turn);
                let reach_side = if cos.abs() > 1e-6 { half / cos.abs() } else { f32::MAX };
                let reach_top = if sin > 1e-6 { (top - spring) / sin } else { f32::MAX };
                let reach = radius + (reach_side.min(reach_top) - radius) * v;
                let at = vec3(reach * cos, spring + reach * sin, z);
                Point { at, uv: [at.x * wall.scale, -at.y * wall.scale] }
            });
        }
    }
    plan.surface(frame, [32.0, 2.0], [6, 1], trim, move |u, v| {
        let (sin, cos) = sin_cos_turns(0.5 * u);
        let at = vec3(radius * cos, spring + radius * sin, depth * (0.5 - v));
        Point { at, uv: [0.5 * u * radius * 6.0 * trim.scale, v * depth * trim.scale] }
    });
    // The moulding: half a tube bent around the opening.
    let (middle, tube) = (radius + 0.14, 0.11);
    plan.surface(frame, [32.0, 6.0], [6, 2], trim, move |u, v| {
        let (sin, cos) = sin_cos_turns(0.5 * u);
        let (out, across) = sin_cos_turns(0.5 * v);
        let r = middle - tube * across;
        let at = vec3(r * cos, spring + r * sin, depth * 0.5 + tube * out);
        Point { at, uv: [0.5 * u * radius * 6.0 * trim.scale, v * 0.3 * trim.scale] }
    });
}

/// The groin vault over one bay of the aisle.
fn vault(plan: &mut Plan, frame: Frame, f: &Finishes) {
    let plaster = f.plaster;
    plan.surface(frame, [20.0, 18.0], [4, 4], plaster, move |u, v| {
        let rise = |t: f32| {
            let s = 2.0 * t - 1.0;
            (1.0 - s * s).max(0.0).sqrt()
        };
        let (x, z) = ((u - 0.5) * BAY, -AISLE * (1.0 - v));
        let height = LOWER[0] + 0.3 + 1.75 * rise(u.clamp(0.0, 1.0)).max(rise(v.clamp(0.0, 1.0)));
        Point { at: vec3(x, height, z), uv: [u * BAY * plaster.scale, v * AISLE * plaster.scale] }
    });
}

/// A moulding along x: flat faces that step outwards as they rise. The frame's z axis points away from the
/// wall.
fn cornice(plan: &mut Plan, frame: Frame, half: f32, height: f32, finish: Finish) {
    const STEPS: [[f32; 2]; 8] = [
        [0.0, 0.0],
        [0.06, 0.0],
        [0.06, 0.25],
        [0.12, 0.32],
        [0.2, 0.55],
        [0.3, 0.62],
        [0.3, 0.88],
        [0.36, 1.0],
    ];
    for pair in STEPS.windows(2) {
        let low = vec3(-half, pair[0][1] * height, pair[0][0]);
        let rise = vec3(0.0, (pair[1][1] - pair[0][1]) * height, pair[1][0] - pair[0][0]);
        plan.quad(frame, low, vec3(2.0 * half, 0.0, 0.0), rise, [half * 2.0, 1.0], finish);
    }
    let top = vec3(-half, height, 0.36);
    plan.quad(frame, top, vec3(2.0 * half, 0.0, 0.0), vec3(0.0, 0.0, -0.8), [half * 2.0, 1.0], finish);
}

/// The floor of the whole hall.
pub(super) fn floor(plan: &mut Plan, length: f32, f: &Finishes) {
    let (half, deep) = (length * 0.5 + 3.0, NAVE + AISLE);
    let corner = vec3(-half, 0.0, deep);
    let cuts = [half * 3.0, deep * 3.0];
    plan.quad(Frame::WORLD, corner, vec3(2.0 * half, 0.0, 0.0), vec3(0.0, 0.0, -2.0 * deep), cuts, f.floor);
}

/// The balustrade of a gallery: a plinth, a rail and balusters between them.
pub(super) fn balustrade(plan: &mut Plan, frame: Frame, bays: u32, f: &Finishes) {
    let half = bays as f32 * BAY * 0.5;
    let edge = frame.moved(0.0, GALLERY, WALL * 0.5 + 0.05);
    let reach = half + EMBEDDED;
    plan.cuboid(edge, vec3(-reach, 0.0, -0.14), vec3(reach, 0.12, 0.14), f.marble, false);
    plan.cuboid(edge, vec3(-reach, 0.82, -0.16), vec3(reach, 0.95, 0.16), f.marble, true);
    for i in 0..bays * 8 {
        let x = (i as f32 + 0.5) * (BAY / 8.0) - half;
        plan.revolved(edge.moved(x, 0.12, 0.0), [10.0, 10.0], f.marble, |v| {
            let (sin, _) = sin_cos_turns(0.5 * v);
            let (wave, _) = sin_cos_turns(v);
            [0.045 + 0.05 * sin * (1.0 - v) + 0.02 * wave, 0.7 * v]
        });
    }
}

/// The frames of the two long sides and the two ends of a hall of this length.
pub(super) fn frames(length: f32) -> ([Frame; 2], [Frame; 2]) {
    let (x, z) = (vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0));
    let at = |origin: Vec3, x: Vec3, z: Vec3| Frame { origin, x, z };
    let sides = [at(vec3(0.0, 0.0, -NAVE), x, z), at(vec3(0.0, 0.0, NAVE), -x, -z)];
    let far = length * 0.5 + 0.4;
    let ends = [at(vec3(-far, 0.0, 0.0), -z, x), at(vec3(far, 0.0, 0.0), z, -x)];
    (sides, ends)
}
