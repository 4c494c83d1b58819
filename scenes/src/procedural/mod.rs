//! Scenes made by code. The same bits on every host: only `+ - * / sqrt` and the core's own functions are
//! used.

mod atrium;
mod caustic;
mod cornell;
mod furnace;
mod glass_lamp;
mod instances;
mod lantern;
mod looking_glass;
mod random;
mod shapes;
mod weekend;

use crate::suggest;
use lockstep_core::{Error, Result, Scene};

/// A scene made by code.
pub(crate) struct Procedural {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Parameters that may follow a colon.
    pub(crate) parameters: &'static str,
    pub(crate) build: fn(Option<&str>) -> Result<Scene>,
}

/// All procedural scenes.
pub(crate) const ALL: &[Procedural] = &[
    Procedural {
        name: "cornell",
        description: "the Cornell box as measured at Cornell University: two blocks, three colours, one lamp",
        parameters: "",
        build: |parameter| without_parameter("cornell", parameter).and_then(|()| cornell::build()),
    },
    Procedural {
        name: "weekend",
        description: "the random spheres of Ray Tracing in One Weekend: diffuse, metal, glass, depth of field",
        parameters: "",
        build: |parameter| without_parameter("weekend", parameter).and_then(|()| weekend::build()),
    },
    Procedural {
        name: "atrium",
        description: "a colonnaded hall open to the sky, with alpha-masked foliage and banners: 100 thousand triangles",
        parameters: "a number of triangles from 10k to 10m, as in atrium:250k",
        build: atrium::build,
    },
    Procedural {
        name: "furnace",
        description: "white objects under a white sky: in closed form, every pixel is 1",
        parameters: furnace::PARAMETERS,
        build: furnace::build,
    },
    Procedural {
        name: "instances",
        description: "4,608 turned, stretched and mirrored instances of a few meshes: stress for two-level structures",
        parameters: "",
        build: |parameter| without_parameter("instances", parameter).and_then(|()| instances::build()),
    },
    Procedural {
        name: "lantern",
        description: "a room lit by a small flame in the glass bulb of a lantern: light sampling finds it nowhere",
        parameters: "",
        build: |parameter| without_parameter("lantern", parameter).and_then(|()| lantern::build()),
    },
    Procedural {
        name: "caustic",
        description: "glass balls and a metal ring between a small lamp and the floor: caustics",
        parameters: "",
        build: |parameter| without_parameter("caustic", parameter).and_then(|()| caustic::build()),
    },
    Procedural {
        name: "looking-glass",
        description: "a room seen in a mirror, lit by a small flame in a glass globe: no connection finds its light",
        parameters: "",
        build: |parameter| {
            without_parameter("looking-glass", parameter).and_then(|()| looking_glass::build())
        },
    },
    Procedural {
        name: "glass-lamp",
        description: "a room lit by a lamp whose cover is a case of glass: no connection finds the light of what is seen in it",
        parameters: "",
        build: |parameter| without_parameter("glass-lamp", parameter).and_then(|()| glass_lamp::build()),
    },
];

fn without_parameter(name: &str, parameter: Option<&str>) -> Result<()> {
    match parameter {
        None => Ok(()),
        Some(parameter) => {
            Err(Error::scene(format!("{name}:{parameter}"), "name", format!("`{name}` takes no parameter")))
        }
    }
}

/// The error for a parameter that is not among `known`.
fn unknown_parameter(scene: &str, parameter: &str, known: &[&str]) -> Error {
    let hint = suggest::nearest(parameter, known.iter().copied());
    let hint = hint.map(|n| format!("; did you mean `{scene}:{n}`?")).unwrap_or_default();
    let message = format!("`{scene}` knows these parameters: {}{hint}", known.join(", "));
    Error::scene(format!("{scene}:{parameter}"), "name", message)
}
