//! Nested dielectrics by priority: the interior list of a ray (Schmidt and Budge 2002, "Simple Nested Dielectrics in Ray
//! Traced Images"). The counterpart is `kernels/scene/interior_list.h`.
//!
//! Of the media that a point lies in, the one of the highest priority is the real one, of several the one that the ray
//! entered last. A hit is a false one where the same medium is real on both sides of the surface.

use lockstep_core::scene::SceneData;

/// Media that a ray is in: up to four entries of [`ENTRY_BITS`], each one above an index into the scene's materials, the
/// lowest bits first. They fall by priority, and those of one priority are in the order of the last entered first, so the
/// first is the real medium. Of more media the last is forgotten, and found again where the ray meets its surface from
/// inside.
pub type InteriorList = u64;

/// Bits of an entry of an [`InteriorList`].
pub const ENTRY_BITS: u32 = 16;
/// Bits of all entries of an [`InteriorList`].
pub const LIST_BITS: u32 = 64;

/// The entry at this place, in bits from the lowest; zero where there is none.
#[inline(always)]
fn entry(list: InteriorList, place: u32) -> u32 {
    ((list >> place) & 0xffff) as u32
}

/// The medium in which the ray travels; zero for air.
#[inline(always)]
pub fn real_medium(list: InteriorList) -> u32 {
    entry(list, 0)
}

/// The place of a medium's first entry; [`LIST_BITS`] where it is not there.
#[inline(always)]
fn place_of(list: InteriorList, medium: u32) -> u32 {
    let mut place = 0;
    while place < LIST_BITS && entry(list, place) != medium {
        place += ENTRY_BITS;
    }
    place
}

/// Adds a medium that the ray enters, before those of its priority.
#[inline(always)]
pub fn enter(scene: &SceneData, list: InteriorList, medium: u32) -> InteriorList {
    let priority_of = |medium: u32| scene.materials[(medium - 1) as usize].priority;
    let priority = priority_of(medium);
    let mut place = 0;
    while place < LIST_BITS && entry(list, place) != 0 && priority_of(entry(list, place)) > priority {
        place += ENTRY_BITS;
    }
    if place == LIST_BITS {
        return list;
    }
    let before = (1u64 << place) - 1;
    (list & before) | (u64::from(medium) << place) | ((list & !before) << ENTRY_BITS)
}

/// Takes a medium away that the ray leaves: its first entry, if there is one.
#[inline(always)]
pub fn leave(list: InteriorList, medium: u32) -> InteriorList {
    let place = place_of(list, medium);
    if place == LIST_BITS {
        return list;
    }
    let before = (1u64 << place) - 1;
    (list & before) | ((list >> ENTRY_BITS) & !before)
}

/// The list of a ray that arrives at the surface of a medium from its outside or inside. One that arrives from inside was
/// in the medium, whatever the list says: the camera may be in it.
#[inline(always)]
pub fn arrive(scene: &SceneData, list: InteriorList, medium: u32, outside: bool) -> InteriorList {
    let is_known = outside || place_of(list, medium) != LIST_BITS;
    if is_known { list } else { enter(scene, list, medium) }
}

/// The list beyond the surface at which a ray arrives with `list`.
#[inline(always)]
pub fn cross(scene: &SceneData, list: InteriorList, medium: u32, outside: bool) -> InteriorList {
    if outside { enter(scene, list, medium) } else { leave(list, medium) }
}

/// The value of [`lockstep_core::scene::Material::layers`] of the real medium; zero in air.
#[inline(always)]
pub fn real_layers(scene: &SceneData, list: InteriorList) -> u32 {
    let medium = real_medium(list);
    if medium == 0 { 0 } else { scene.materials[(medium - 1) as usize].layers }
}

/// The index of refraction of a medium; 1 for air.
#[inline(always)]
pub fn index_of_refraction(scene: &SceneData, medium: u32) -> f32 {
    if medium == 0 { 1.0 } else { scene.materials[(medium - 1) as usize].ior }
}

/// The dispersion of a medium, as in [`lockstep_core::scene::Layers`]; zero for air.
#[inline(always)]
pub fn dispersion(scene: &SceneData, medium: u32) -> f32 {
    let layers = real_layers(scene, u64::from(medium));
    if layers == 0 { 0.0 } else { scene.layers[(layers - 1) as usize].dispersion }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::scene::{Layers, Material, Scene, SceneBuilder};

    /// A scene whose materials from 1 on are dielectrics of these priorities. Media are one above their indices.
    fn scene(priorities: &[u32]) -> Scene {
        let mut b = SceneBuilder::new("t");
        b.material(Material::BLACK);
        for (i, &priority) in priorities.iter().enumerate() {
            let layers = b.layers(Layers { dispersion: i as f32, ..Layers::NONE });
            let glass = Material::dielectric(1.1 + 0.1 * i as f32, 0.0).with_priority(priority);
            b.material(Material { layers, ..glass });
        }
        b.build().unwrap()
    }

    fn entries(list: InteriorList) -> Vec<u32> {
        (0..4).map(|i| entry(list, i * ENTRY_BITS)).take_while(|&medium| medium != 0).collect()
    }

    #[test]
    fn the_highest_priority_is_real_and_of_equal_ones_the_last_entered() {
        let scene = scene(&[1, 5, 5, 9]);
        let [low, first, second, high] = [2, 3, 4, 5];
        let enter = |list, medium| enter(&scene, list, medium);
        let list = enter(enter(0, low), first);
        assert_eq!(entries(list), [first, low]);
        assert_eq!(entries(enter(list, second)), [second, first, low]);
        assert_eq!(entries(enter(enter(enter(0, second), low), first)), [first, second, low]);
        let all = enter(enter(list, high), second);
        assert_eq!(entries(all), [high, second, first, low]);
        assert_eq!(real_medium(all), high);
        assert_eq!(entries(leave(all, first)), [high, second, low]);
        assert_eq!(entries(leave(leave(all, high), low)), [second, first]);
        assert_eq!(entries(leave(list, high)), entries(list), "it was not in there");
        assert_eq!((real_medium(0), real_layers(&scene, 0)), (0, 0));
        assert_eq!((index_of_refraction(&scene, 0), dispersion(&scene, 0)), (1.0, 0.0));
        assert_eq!((real_layers(&scene, all), dispersion(&scene, high)), (4, 3.0));
        assert_eq!(index_of_refraction(&scene, first), 1.2);
    }

    #[test]
    fn overlapping_boundaries_of_one_medium_are_one_medium() {
        let scene = scene(&[3, 1]);
        let (glass, water) = (2, 3);
        let once = cross(&scene, 0, glass, true);
        let twice = cross(&scene, once, glass, true);
        assert_eq!(entries(twice), [glass, glass]);
        let wet = cross(&scene, twice, water, true);
        assert_eq!(entries(wet), [glass, glass, water]);
        let out = cross(&scene, wet, glass, false);
        assert_eq!(real_medium(out), glass, "it is still in the other");
        assert_eq!(real_medium(cross(&scene, out, glass, false)), water);
    }

    #[test]
    fn a_ray_from_inside_was_inside_whatever_the_list_says() {
        let scene = scene(&[3, 1]);
        let (glass, water) = (2, 3);
        assert_eq!(entries(arrive(&scene, 0, water, false)), [water]);
        assert_eq!(entries(arrive(&scene, 0, water, true)), Vec::<u32>::new());
        let in_glass = enter(&scene, 0, glass);
        let list = arrive(&scene, in_glass, water, false);
        assert_eq!(entries(list), [glass, water]);
        assert_eq!(arrive(&scene, list, water, false), list, "it knows");
        assert_eq!(cross(&scene, list, water, false), in_glass);
    }

    #[test]
    fn of_more_than_four_media_the_lowest_is_forgotten_and_found_again_from_inside() {
        let scene = scene(&[10, 20, 30, 40, 50]);
        let media = [2, 3, 4, 5, 6];
        // From the lowest priority inwards and from the highest: the four highest are known
        let inwards = media.iter().fold(0, |list, &m| enter(&scene, list, m));
        let outwards = media.iter().rev().fold(0, |list, &m| enter(&scene, list, m));
        assert_eq!(entries(inwards), [6, 5, 4, 3]);
        assert_eq!(inwards, outwards);
        // The forgotten one's boundary is a false hit beside any other
        let list = arrive(&scene, inwards, 2, false);
        assert_eq!(real_medium(cross(&scene, list, 2, false)), real_medium(list));
        // Left alone, it is missed until its boundary, from where on all is right
        let alone = [6, 5, 4, 3].iter().fold(inwards, |list, &m| cross(&scene, list, m, false));
        assert_eq!(real_medium(alone), 0);
        let found = arrive(&scene, alone, 2, false);
        assert_eq!((real_medium(found), cross(&scene, found, 2, false)), (2, 0));
        // Of one priority the first entered is forgotten
        let equal = self::scene(&[7; 5]);
        assert_eq!(entries(media.iter().fold(0, |list, &m| enter(&equal, list, m))), [6, 5, 4, 3]);
    }
}
