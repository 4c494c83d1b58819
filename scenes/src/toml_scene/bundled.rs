//! Bundled `scene.toml` files; their data is not included.

use super::{Text, document, load};
use crate::loaded::{LoadOptions, LoadedScene};
use lockstep_core::{Error, Result};

/// A bundled document.
#[derive(Debug)]
pub(crate) struct Bundled {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The data to get, with its source.
    source: &'static str,
    text: &'static str,
}

const PICA: &str = "PICA PICA - Mini Diorama 01 by SEED (sketchfab.com, CC BY-NC 4.0) as pica/scene.gltf";
const SPONZA: &str = "Crytek Sponza by Frank Meinl (CC BY 3.0) as sponza/Sponza.gltf";
const KITCHEN: &str = "Country Kitchen by Jay-Artist (CC BY 3.0) in pbrt's format as kitchen/scene.pbrt";
const LIVING_ROOM: &str =
    "The Grey & White Room by Wig42 (CC BY 3.0) in Mitsuba's format as living-room/scene.xml";

/// All bundled documents.
pub(crate) const BUNDLED: &[Bundled] = &[
    Bundled {
        name: "pica-wide",
        description: "PICA PICA diorama, the whole of it: 76,274 triangles, glossy plastic, sky and a warm sun",
        source: PICA,
        text: include_str!("../../data/pica-wide/scene.toml"),
    },
    Bundled {
        name: "pica-close",
        description: "PICA PICA diorama from close by: glossy and reflective parts fill the frame",
        source: PICA,
        text: include_str!("../../data/pica-close/scene.toml"),
    },
    Bundled {
        name: "sponza-wide",
        description: "Crytek Sponza, along the nave: 262,191 triangles, sky and sun",
        source: SPONZA,
        text: include_str!("../../data/sponza-wide/scene.toml"),
    },
    Bundled {
        name: "sponza-close",
        description: "Crytek Sponza from close by: alpha-masked plants and chains",
        source: SPONZA,
        text: include_str!("../../data/sponza-close/scene.toml"),
    },
    Bundled {
        name: "kitchen",
        description: "Country Kitchen: 1,443,517 triangles, four area lights",
        source: KITCHEN,
        text: include_str!("../../data/kitchen/scene.toml"),
    },
    Bundled {
        name: "living-room",
        description: "The Grey & White Room: 143,163 triangles, plastic and metal under a sky behind glass",
        source: LIVING_ROOM,
        text: include_str!("../../data/living-room/scene.toml"),
    },
];

impl Bundled {
    /// The error of missing data; `None` if the data is present.
    pub(crate) fn missing(&self, options: &LoadOptions) -> Option<Error> {
        let remedy = format!("Set LOCKSTEP_SCENES to a folder that holds {}", self.source);
        let Some(folder) = options.data_folder() else {
            let what = format!("The data of `{}` is not here: LOCKSTEP_SCENES is not set", self.name);
            return Some(Error::Unavailable { what, remedy });
        };
        let file = match document::parse(&self.as_text()) {
            Ok(document) => folder.join(document.file?.into_inner()),
            Err(error) => return Some(error),
        };
        if file.is_file() {
            return None;
        }
        let what = format!("The data of `{}` is not here: there is no {}", self.name, file.display());
        Some(Error::Unavailable { what, remedy })
    }

    /// Loads the scene.
    pub(crate) fn load(&self, options: &LoadOptions) -> Result<LoadedScene> {
        match self.missing(options) {
            Some(error) => Err(error),
            None => load(&self.as_text(), self.name, None, options),
        }
    }

    fn as_text(&self) -> Text<'static> {
        Text { name: self.name, text: self.text }
    }
}
