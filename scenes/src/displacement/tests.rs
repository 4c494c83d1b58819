use super::*;
use std::f64::consts::TAU;

/// Bumps that meet themselves at the map's edges; one value near a sphere's poles, whose triangles share no coordinates.
fn bumps(x: usize, y: usize, side: usize) -> f32 {
    let (u, v) = ((x as f64 + 0.5) / side as f64, (y as f64 + 0.5) / side as f64);
    let fade = ((0.5 * TAU * v).sin().powi(2) - 0.4).max(0.0);
    (0.5 + fade
        * (0.3 * (3.0 * TAU * u).sin() * (2.0 * TAU * v).cos() + 0.15 * (TAU * (7.0 * u + 5.0 * v)).sin()))
        as f32
}

#[test]
fn estimates_are_near_the_number_of_triangles() {
    let side = 64;
    let texels: Vec<f32> = (0..side * side).map(|i| 0.3 * bumps(i % side, i / side, side)).collect();
    let map = Map::new([side as u32; 2], 1, texels, lockstep_core::scene::Wrap::Repeat, [4.0, 4.0]);
    let mesh = lockstep_core::scene::MeshData {
        positions: vec![[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]],
        vertices: [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
            .map(|uv0| lockstep_core::scene::Vertex { uv0, ..lockstep_core::scene::Vertex::PLAIN })
            .to_vec(),
        triangles: vec![[3, 2, 1], [3, 1, 0]],
        materials: vec![0],
        ..Default::default()
    };
    for error in [3e-2, 1e-3] {
        let one = Displacement {
            name: "skin".into(),
            materials: vec![0],
            map: map.clone(),
            axes: Axes::Normal,
            bound: Bound::Distance(error),
            max_triangles: 1 << 22,
        };
        let mut warnings = Warnings::new("t");
        let surface = Surface::new(&mesh, &[0, 0], false, &mut warnings);
        let mut job = Job { mesh: 0, surface, tolerances: vec![Tolerance::Everywhere(f64::from(error))] };
        let estimated = estimate::triangles(&job.surface, 0, &job.field(&one, 0));
        let list = [one];
        let mut made = [0];
        job.refine(&list, &Limits::default(), &mut made, &warnings, |_| {}).unwrap();
        let ratio = estimated / made[0] as f64;
        assert_eq!(made[0], count(&job.surface, 0));
        assert!((0.75..1.35).contains(&ratio), "{estimated} for {}", made[0]);
    }
}
