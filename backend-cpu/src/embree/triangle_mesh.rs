//! Triangle meshes in Embree's own buffers.

use super::device::{Device, failure};
use super::handles::GeometryHandle;
use lockstep_core::Result;
use lockstep_embree_sys::{RTCBufferType, RTCFormat, RTCGeometryType, rtcSetNewGeometryBuffer};

/// A committed triangle mesh. Embree copies both slices; the corners of every triangle index `vertices`.
///
/// # Errors
/// [`lockstep_core::Error::Device`] when Embree runs out of memory.
pub(super) fn triangle_mesh(
    device: &Device,
    vertices: &[[f32; 3]],
    triangles: &[[u32; 3]],
) -> Result<GeometryHandle> {
    debug_assert!(triangles.iter().flatten().all(|&corner| (corner as usize) < vertices.len()));
    let mesh = GeometryHandle::new(device, RTCGeometryType::TRIANGLE)?;
    copy(device, &mesh, (RTCBufferType::VERTEX, RTCFormat::FLOAT3), vertices)?;
    copy(device, &mesh, (RTCBufferType::INDEX, RTCFormat::UINT3), triangles)?;
    mesh.commit();
    device.check("committing a triangle mesh")?;
    Ok(mesh)
}

/// Makes a buffer of the geometry and fills it. `T` is three words, as both formats of the callers are.
fn copy<T: Copy>(
    device: &Device,
    mesh: &GeometryHandle,
    (kind, format): (RTCBufferType, RTCFormat),
    items: &[[T; 3]],
) -> Result<()> {
    const { assert!(size_of::<T>() == 4) };
    let stride = size_of::<[T; 3]>();
    // SAFETY: the geometry is live.
    let buffer = unsafe { rtcSetNewGeometryBuffer(mesh.raw(), kind, 0, format, stride, items.len()) };
    let action = || format!("making a buffer of {} bytes", size_of_val(items));
    device.check(&action())?;
    if buffer.is_null() {
        return Err(failure(&action(), "no memory"));
    }
    // SAFETY: the buffer is new and has room for as many items of this size.
    unsafe { buffer.cast::<[T; 3]>().copy_from_nonoverlapping(items.as_ptr(), items.len()) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::embree_is_here;
    use super::*;

    #[test]
    fn a_buffer_that_embree_refuses_is_an_error_with_its_reason() {
        if !embree_is_here() {
            return;
        }
        let device = Device::new(2).unwrap();
        let mesh = GeometryHandle::new(&device, RTCGeometryType::TRIANGLE).unwrap();
        // A format that no vertex buffer has.
        let error = copy(&device, &mesh, (RTCBufferType::VERTEX, RTCFormat::UINT2), &[[0.0_f32; 3]]);
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with("cpu-embree: making a buffer of 12 bytes failed: Embree: "), "{message}");
        assert!(device.check("going on").is_ok());
    }
}
