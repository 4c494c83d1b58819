//! Scenes as bytes, to hand a loaded scene to another process of the same program.
//!
//! The arrays are written as they lie in memory, each behind its length, so that the receiver need not read and
//! check the scene's files again. The scene's hash stands in front and is computed again by the receiver.

use super::{Camera, Environment, Scene, SceneData};
use crate::error::{Error, Result};
use crate::math::vec3::Vec3;
use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use std::sync::Arc;

/// First bytes of a packed scene; the digit is the version of the form.
const MAGIC: &[u8; 8] = b"LSSCENE2";

impl Scene {
    /// The scene as bytes for [`Scene::unpack`] on a machine of the same byte order.
    pub fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes() as usize + 1024);
        bytes.extend_from_slice(MAGIC);
        put(&mut bytes, self.hash.as_bytes());
        put(&mut bytes, self.name.as_bytes());
        put(&mut bytes, &self.camera.hash_bytes());
        put(&mut bytes, bytemuck::bytes_of(&self.environment));
        put(&mut bytes, bytemuck::cast_slice(&self.bounds));
        self.arrays().iter().for_each(|array| put(&mut bytes, array));
        bytes
    }

    /// The scene that [`Scene::pack`] wrote.
    ///
    /// # Errors
    /// [`Error::Scene`] for bytes that are cut, damaged, or of another version.
    pub fn unpack(bytes: &[u8]) -> Result<Self> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("it does not begin as one"))?;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|_| damaged("a text is not UTF-8"));
        let hash = text(take(&mut rest)?)?;
        let name = text(take(&mut rest)?)?;
        let camera: Vec<f32> = take(&mut rest)?;
        let environment: Vec<Environment> = take(&mut rest)?;
        let bounds: Vec<Vec3> = take(&mut rest)?;
        let data = SceneData {
            name,
            camera: Camera::from_fields(&camera).ok_or_else(|| damaged("its camera has another size"))?,
            environment: *environment.first().ok_or_else(|| damaged("it has no environment"))?,
            bounds: bounds.try_into().map_err(|_| damaged("its bounds have another size"))?,
            positions: take(&mut rest)?,
            vertices: take(&mut rest)?,
            triangles: take(&mut rest)?,
            spheres: take(&mut rest)?,
            meshes: take(&mut rest)?,
            instances: take(&mut rest)?,
            materials: take(&mut rest)?,
            textures: take(&mut rest)?,
            texels: take(&mut rest)?,
            lights: take(&mut rest)?,
            light_alias: take(&mut rest)?,
            environment_texels: take(&mut rest)?,
            environment_alias: take(&mut rest)?,
            layers: take(&mut rest)?,
            hash,
        };
        if !rest.is_empty() || data.compute_hash() != data.hash {
            return Err(damaged("its contents do not have the hash that it names"));
        }
        Ok(Self(Arc::new(data)))
    }
}

/// Appends an array behind its length in bytes.
fn put(to: &mut Vec<u8>, array: &[u8]) {
    to.extend_from_slice(&(array.len() as u64).to_ne_bytes());
    to.extend_from_slice(array);
}

/// Takes an array off the front of `rest`.
fn take<T: AnyBitPattern + NoUninit + Zeroable>(rest: &mut &[u8]) -> Result<Vec<T>> {
    let cut = || damaged("it ends early");
    let (length, after) = rest.split_first_chunk().ok_or_else(cut)?;
    let length = usize::try_from(u64::from_ne_bytes(*length)).map_err(|_| cut())?;
    let array = after.get(..length).ok_or_else(cut)?;
    if length % size_of::<T>() != 0 {
        return Err(damaged("an array has another element size"));
    }
    *rest = &after[length..];
    let mut values = vec![T::zeroed(); length / size_of::<T>()];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(array);
    Ok(values)
}

fn damaged(fault: &str) -> Error {
    Error::scene(
        "packed scene",
        "bytes",
        format!("{fault}; it was damaged on its way, or packed by another version"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{EnvironmentLight, Material, SceneBuilder};
    use proptest::prelude::*;

    fn scene() -> Scene {
        let mut builder = SceneBuilder::new("lawn");
        builder.material(Material::diffuse([0.1, 0.5, 0.2]));
        let [zenith, horizon, ground] = [0.9, 0.5, 0.1].map(|v| Vec3 { x: v, y: v, z: 1.0 });
        builder.environment = EnvironmentLight::Gradient { zenith, horizon, ground };
        builder.camera.lens_radius = 0.25;
        builder.build().unwrap()
    }

    #[test]
    fn a_scene_comes_out_as_it_went_in() {
        let (before, after) = (scene(), Scene::unpack(&scene().pack()).unwrap());
        assert_eq!((&after.name, &after.hash, after.camera), (&before.name, &before.hash, before.camera));
        assert_eq!(after.arrays(), before.arrays());
        assert_eq!((after.environment, after.bounds), (before.environment, before.bounds));
    }

    proptest! {
        #[test]
        fn a_cut_or_flipped_scene_is_refused(at: prop::sample::Index, bit in 0u8..8, cut: bool) {
            let mut bytes = scene().pack();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
            // The name and derived bounds are outside the hash, as in every scene.
            if let Ok(read) = Scene::unpack(&bytes) {
                prop_assert_eq!(&read.hash, &scene().hash);
            }
        }
    }
}
