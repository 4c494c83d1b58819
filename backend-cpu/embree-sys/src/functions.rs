//! Every function of the interface.

use crate::load_error::LoadError;
use crate::symbols::Symbols;
use crate::{device, geometry, query, scene};

/// Every function of the interface, as found in the library.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) device: device::Functions,
    pub(crate) geometry: geometry::Functions,
    pub(crate) query: query::Functions,
    pub(crate) scene: scene::Functions,
}

impl Functions {
    /// Looks every function up in an open library.
    pub(crate) fn resolve(symbols: &Symbols<'_>) -> Result<Self, LoadError> {
        Ok(Self {
            device: device::Functions::resolve(symbols)?,
            geometry: geometry::Functions::resolve(symbols)?,
            query: query::Functions::resolve(symbols)?,
            scene: scene::Functions::resolve(symbols)?,
        })
    }

    /// Makes the public functions call these from now on.
    pub(crate) fn install(self) {
        self.device.install();
        self.geometry.install();
        self.query.install();
        self.scene.install();
    }
}
