//! Looking functions up in an open library.

use std::path::Path;

use libloading::Library;

use crate::load_error::LoadError;

/// An open library in which functions are looked up.
pub(crate) struct Symbols<'a> {
    pub(crate) library: &'a Library,
    pub(crate) path: &'a Path,
}

impl Symbols<'_> {
    /// Looks one function up.
    ///
    /// # Safety
    ///
    /// `F` must be the function's pointer type, and not be called once the library is closed.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, LoadError> {
        // SAFETY: the caller vouches for the type.
        let symbol = unsafe { self.library.get::<F>(name) };
        symbol
            .map(|found| *found)
            .map_err(|_| LoadError::MissingFunction { path: self.path.into(), symbol: name.into() })
    }
}
