//! The version of what samples add to films.

use std::sync::OnceLock;

/// BLAKE3 of the kernels' source, which the Rust reference mirrors function by function. Films of equal scene,
/// settings and semantics may be added.
pub(crate) fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        // Probes are for tests and render nothing
        let headers = lockstep_gpu::header_texts().into_iter().filter(|(name, _)| !name.contains("/tests/"));
        for (name, text) in headers {
            for part in [name, text] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    })
}
