//! Closest-hit and any-hit traversal of [`Bvh2`].

use crate::STACK_SIZE;
use crate::layout::bvh2::{Bvh2, EMPTY, LEAF_BIT, LEAF_COUNT_SHIFT, Node};
use crate::leaf::LeafPrimitive;
use crate::object_ray::ObjectRay;
use lockstep_core::geometry::{Hit, MISSED, Ray, Slabs};
use lockstep_core::math::rng::RayKey;
use lockstep_core::math::{max, min};
use lockstep_core::scene::SceneData;

/// Entry distances of a node's children, [`MISSED`] where the ray misses.
#[inline(always)]
fn child_entries(node: &Node, slabs: &Slabs, t_min: f32, t_last: f32) -> [f32; 2] {
    let entry = |child| {
        let (lo, hi) = node.child_box(child);
        let (entry, exit) = slabs.interval(lo, hi);
        if max(entry, t_min) <= min(exit, t_last) { entry } else { MISSED }
    };
    [entry(0), entry(1)]
}

/// Scratch memory of a traversal, kept from ray to ray: clearing it would cost as much as a short ray.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    top: Stack,
    bottom: Stack,
}

/// A traversal stack of subtrees with their entry distances.
#[derive(Clone, Debug)]
struct Stack {
    items: [(u32, f32); STACK_SIZE],
    len: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Self { items: [(EMPTY, 0.0); STACK_SIZE], len: 0 }
    }
}

impl Stack {
    #[inline(always)]
    fn push(&mut self, child: u32, entry: f32) {
        self.items[self.len] = (child, entry);
        self.len += 1;
    }

    /// Pops the uppermost subtree that is not beyond `t_last`; [`EMPTY`] when there is none.
    #[inline(always)]
    fn pop(&mut self, t_last: f32) -> u32 {
        while self.len > 0 {
            self.len -= 1;
            let (child, entry) = self.items[self.len];
            if entry <= t_last {
                return child;
            }
        }
        EMPTY
    }
}

/// Traverses a tree nearest child first. `leaf` processes a leaf and returns the new `t_last`, or `None` to
/// stop.
#[inline(always)]
fn walk(
    nodes: &[Node],
    root: u32,
    slabs: &Slabs,
    t_min: f32,
    mut t_last: f32,
    stack: &mut Stack,
    mut leaf: impl FnMut(u32) -> Option<f32>,
) {
    stack.len = 0;
    let mut current = root;
    while current != EMPTY {
        // Process a leaf
        if current & LEAF_BIT != 0 {
            match leaf(current & !LEAF_BIT) {
                Some(t) => t_last = t,
                None => return,
            }
            current = stack.pop(t_last);
            continue;
        }
        // Slab test of both children; descend to the nearer, push the other
        let node = &nodes[current as usize];
        let [a, b] = child_entries(node, slabs, t_min, t_last);
        let [first, second] = node.children;
        current = match (a < MISSED, b < MISSED) {
            (true, true) if a <= b => {
                stack.push(second, b);
                first
            }
            (true, true) => {
                stack.push(first, a);
                second
            }
            (true, false) => first,
            (false, true) => second,
            (false, false) => stack.pop(t_last),
        };
    }
}

/// The primitives of a leaf of a mesh.
#[inline(always)]
fn leaf_primitives(bvh: &Bvh2, leaf: u32) -> &[LeafPrimitive] {
    let first = (leaf & ((1 << LEAF_COUNT_SHIFT) - 1)) as usize;
    let count = (leaf >> LEAF_COUNT_SHIFT) as usize + 1;
    &bvh.primitives[first..first + count]
}

impl Bvh2 {
    /// Finds the closest hit of a ray. `key` identifies the ray for stochastic transparency.
    pub fn closest_hit(&self, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch) -> Hit {
        let Scratch { top, bottom } = scratch;
        let mut best = Hit::none(ray.t_max);
        let slabs = Slabs::new(ray.origin, ray.direction);
        // Top level: instances, in world space
        walk(&self.nodes, self.root, &slabs, ray.t_min, ray.t_max, top, |instance| {
            // Transform the ray to object space, unless it misses the instance's box
            if let Some(object_ray) =
                ObjectRay::enter(scene, &self.instance_boxes, ray, &slabs, instance, key, best.t)
            {
                self.closest_in_mesh(scene, &object_ray, &mut best, bottom);
            }
            Some(best.t)
        });
        best
    }

    /// Bottom level: the closest hit of a mesh's primitives, in object space, where it is closer than `best`.
    #[inline(always)]
    fn closest_in_mesh(&self, scene: &SceneData, object_ray: &ObjectRay, best: &mut Hit, stack: &mut Stack) {
        let root = self.mesh_roots[scene.instances[object_ray.instance as usize].mesh as usize];
        walk(&self.nodes, root, &object_ray.slabs, object_ray.t_min, best.t, stack, |leaf| {
            for candidate in leaf_primitives(self, leaf) {
                // Equal distances are decided by the primitives' order, not by the traversal's
                if let Some(hit) = object_ray.test(scene, candidate, best.t)
                    && best.yields_to(&hit)
                {
                    *best = hit;
                }
            }
            Some(best.t)
        });
    }

    /// True when a ray hits any surface.
    pub fn any_hit(&self, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch) -> bool {
        let Scratch { top, bottom } = scratch;
        let mut found = false;
        let slabs = Slabs::new(ray.origin, ray.direction);
        // Top level: instances, in world space, until one is hit
        walk(&self.nodes, self.root, &slabs, ray.t_min, ray.t_max, top, |instance| {
            if let Some(object_ray) =
                ObjectRay::enter(scene, &self.instance_boxes, ray, &slabs, instance, key, ray.t_max)
            {
                found = self.any_in_mesh(scene, &object_ray, ray.t_max, bottom);
            }
            (!found).then_some(ray.t_max)
        });
        found
    }

    /// Bottom level: whether the ray hits any of a mesh's primitives, in object space.
    #[inline(always)]
    fn any_in_mesh(&self, scene: &SceneData, object_ray: &ObjectRay, t_max: f32, stack: &mut Stack) -> bool {
        let root = self.mesh_roots[scene.instances[object_ray.instance as usize].mesh as usize];
        let mut found = false;
        walk(&self.nodes, root, &object_ray.slabs, object_ray.t_min, t_max, stack, |leaf| {
            found = leaf_primitives(self, leaf).iter().any(|c| object_ray.test(scene, c, t_max).is_some());
            (!found).then_some(t_max)
        });
        found
    }
}
