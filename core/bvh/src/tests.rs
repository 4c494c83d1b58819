use crate::test_cases::{BUILDS, WIDE_BUILDS};
use crate::{Bvh2, Bvh8, LEAF_BIT, STACK_SIZE};
use lockstep_core::scene::{IDENTITY, Material, MeshData, SceneBuilder};

#[test]
fn depth_stays_within_the_stack_for_hostile_geometry() {
    // Exponentially growing triangles make the surface area heuristic peel off one at a time.
    let mut b = SceneBuilder::new("hostile");
    let m = b.material(Material::diffuse([0.5; 3]));
    let mut data = MeshData { materials: vec![m], ..MeshData::default() };
    for i in 0..20_000u32 {
        let s = 1.001f32.powi(i as i32) * 1e-3;
        let base = data.positions.len() as u32;
        data.positions.extend([[s, 0.0, 0.0], [s * 1.0001, s * 0.01, 0.0], [s, 0.0, s * 0.01]]);
        data.triangles.push([base, base + 1, base + 2]);
    }
    let mesh = b.mesh(data);
    b.instance(mesh, IDENTITY);
    let scene = b.build().unwrap();
    for build in BUILDS {
        let tree = Bvh2::build(&scene, &build);
        let mut stack = vec![(tree.mesh_roots[0], 1usize)];
        let mut deepest = 0;
        while let Some((reference, depth)) = stack.pop() {
            deepest = deepest.max(depth);
            if reference & LEAF_BIT == 0 {
                stack.extend(tree.nodes[reference as usize].children.map(|c| (c, depth + 1)));
            }
        }
        assert!(deepest < STACK_SIZE, "depth {deepest} with {build:?}");
    }
    for build in WIDE_BUILDS {
        let depth = Bvh8::build(&scene, &build).depth();
        assert!(depth < STACK_SIZE, "depth {depth} with eight children, {build:?}");
    }
}
