//! Meshes: their primitives, and checks of the primitives' references.

use super::Source;
use super::accessors::{self, Accessor};
use super::json::Item;
use super::materials::{self, Surface};
use super::nodes::Placed;
use super::primitives::{self, Pose};
use super::skins::Joints;
use super::transforms::Map;
use super::variants;
use crate::limits::Budget;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::scene::{MeshData, SceneBuilder};
use std::collections::{BTreeSet, HashMap};

/// A mesh as nodes show it.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) mesh: usize,
    /// The skin that moves it.
    pub(super) skin: Option<usize>,
    /// Weights of its morph targets; none where all are zero.
    pub(super) weights: Vec<f64>,
}

/// Reads the meshes that are shown into the builder, once for every pose; the others are only validated, with warnings
/// for their faults. Returns the index in the scene of each that is shown.
pub(super) fn load(
    source: &Source<'_>,
    surfaces: &[Surface],
    shown: &[Shown],
    to_world: &[Map],
    builder: &mut SceneBuilder,
    warnings: &mut Warnings,
) -> Result<Vec<Option<u32>>> {
    let budget = Budget::of_triangles(source.access.limits, source.buffers.total_bytes());
    let mut reader = Reader { source, surfaces, budget, default: None };
    let mut out = vec![None; shown.len()];
    let mut usage = HashMap::new();
    let mut poses: Vec<Vec<usize>> = vec![Vec::new(); source.root.len("meshes")];
    for (place, shown) in shown.iter().enumerate() {
        poses[shown.mesh].push(place);
    }
    for (index, item) in source.root.items("meshes").iter().enumerate() {
        check_morphs(item, warnings);
        for primitive in item.items("primitives") {
            check_primitive(&primitive, source, &mut usage, warnings);
        }
        for &place in &poses[index] {
            let shown = &shown[place];
            let joints = match shown.skin {
                Some(skin) => Some(Joints::open(source, skin, to_world, warnings)?),
                None => None,
            };
            let pose = Pose { weights: &shown.weights, joints: joints.as_ref() };
            let mut mesh = MeshData::default();
            for primitive in item.items("primitives") {
                reader.append(&primitive, pose, &mut mesh, builder, warnings)?;
            }
            out[place] = (!mesh.triangles.is_empty()).then(|| builder.mesh(mesh));
        }
        if poses[index].is_empty() {
            let pose = Pose { weights: &[], joints: None };
            for primitive in item.items("primitives") {
                let read = reader.append(&primitive, pose, &mut MeshData::default(), builder, warnings);
                read.unwrap_or_else(|error| warnings.add_error(error));
            }
        }
    }
    Ok(out)
}

/// Checks that the bytes of shown primitives are there, before images are decoded for them.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with the reason why they are not.
pub(super) fn check_bytes(source: &Source<'_>, nodes: &[Placed<'_>], warnings: &Warnings) -> Result<()> {
    let Source { root, buffers, .. } = source;
    let meshes: BTreeSet<usize> = nodes.iter().filter_map(|node| node.item.index("mesh")).collect();
    let meshes = meshes.into_iter().filter_map(|index| root.item("meshes", index));
    for primitive in meshes.flat_map(|mesh| mesh.items("primitives")) {
        let has_triangles = matches!(primitive.whole("mode"), None | Some(4..=6));
        if !has_triangles || lacks_data(&primitive, source) {
            continue;
        }
        let attributes = primitive.get("attributes");
        let read = RENDERED.iter().filter_map(|name| attributes.as_ref()?.index(name));
        for accessor in read.chain(primitive.index("indices")).filter(|&i| buffers.decoded(i).is_none()) {
            for view in accessors::views(root, accessor) {
                buffers.view(root, view, warnings)?.with_data(warnings)?;
            }
        }
    }
    Ok(())
}

/// The attributes that are read of any primitive.
const RENDERED: [&str; 6] = ["POSITION", "NORMAL", "TANGENT", "TEXCOORD_0", "TEXCOORD_1", "COLOR_0"];

/// State that the primitives of a file share.
struct Reader<'a, 'b> {
    source: &'a Source<'b>,
    surfaces: &'a [Surface],
    budget: Budget,
    /// The surface of primitives without one.
    default: Option<Surface>,
}

impl Reader<'_, '_> {
    fn append(
        &mut self,
        primitive: &Item<'_>,
        pose: Pose<'_>,
        mesh: &mut MeshData,
        builder: &mut SceneBuilder,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let surface = match variants::material(primitive, self.source.variant) {
            Some(index) if index < self.surfaces.len() => self.surfaces[index],
            _ => *self.default.get_or_insert_with(|| materials::default_surface(builder)),
        };
        if lacks_data(primitive, self.source) {
            warnings.add(&primitive.at, "its buffer has no data; it is not rendered");
            return Ok(());
        }
        primitives::append(primitive, self.source, surface, pose, &mut self.budget, mesh, warnings)
    }
}

/// Whether a primitive reads from a buffer whose location the file leaves open.
fn lacks_data(item: &Item<'_>, source: &Source<'_>) -> bool {
    let attributes = item.get("attributes").map(|a| a.entries()).unwrap_or_default();
    let accessors =
        attributes.iter().filter_map(|(_, value)| super::json::whole(value.value)).map(|v| v as usize);
    accessors
        .chain(item.index("indices"))
        .flat_map(|accessor| accessors::views(&source.root, accessor))
        .any(|view| source.buffers.is_unspecified(&source.root, view))
}

/// Warns of numbers of morph targets that do not agree.
fn check_morphs(mesh: &Item<'_>, warnings: &mut Warnings) {
    let primitives = mesh.items("primitives");
    let counts: Vec<usize> = primitives.iter().map(|p| p.len("targets")).collect();
    for (primitive, &count) in primitives.iter().zip(&counts) {
        let at = if count > 0 { primitive.pointer("targets") } else { primitive.at.clone() };
        if count != counts[0] {
            warnings.add(&at, "the primitives of a mesh differ in their number of morph targets");
        }
    }
    let weights = mesh.len("weights");
    if weights > 0 && Some(&weights) != counts.first() {
        warnings.add(mesh.pointer("weights"), "there are not as many weights as morph targets");
    }
}

/// Usage of a buffer view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    Vertices,
    Indices,
}

/// Warns of faults that other readers refuse although the data can be read.
fn check_primitive(
    item: &Item<'_>,
    source: &Source<'_>,
    usage: &mut HashMap<usize, Usage>,
    warnings: &mut Warnings,
) {
    let view_of =
        |accessor: usize| source.root.item("accessors", accessor).and_then(|a| a.index("bufferView"));
    let mut record = |accessor: usize, wanted: Usage, at: &str, warnings: &mut Warnings| {
        let Some(view) = view_of(accessor) else {
            return;
        };
        let declared =
            source.root.item("bufferViews", view).and_then(|v| v.whole("target")).and_then(|t| match t {
                34962 => Some(Usage::Vertices),
                34963 => Some(Usage::Indices),
                _ => None,
            });
        let known = usage.entry(view).or_insert(declared.unwrap_or(wanted));
        if *known != wanted {
            warnings.add(at, "its buffer view serves both vertices and indices");
        }
    };
    let attributes = item.get("attributes");
    let mut sharing: HashMap<usize, Vec<(usize, String)>> = HashMap::new();
    for (name, value) in attributes.iter().flat_map(Item::entries) {
        let Some(accessor) = super::json::whole(value.value).map(|v| v as usize) else {
            continue;
        };
        check_attribute(name, &value.at, accessor, source, warnings);
        record(accessor, Usage::Vertices, &value.at, warnings);
        let stride = view_of(accessor)
            .and_then(|v| source.root.item("bufferViews", v))
            .is_some_and(|v| v.has("byteStride"));
        if let Some(view) = view_of(accessor).filter(|_| !stride) {
            sharing.entry(view).or_default().push((accessor, value.at));
        }
    }
    for (_, list) in sharing.into_iter().filter(|(_, list)| list.iter().any(|(a, _)| *a != list[0].0)) {
        for (_, at) in list {
            warnings.add(at, "attributes share a buffer view that has no stride");
        }
    }
    for (name, value) in item.items("targets").iter().flat_map(Item::entries) {
        let accessor = super::json::whole(value.value).map_or(usize::MAX, |v| v as usize);
        record(accessor, Usage::Vertices, &value.at, warnings);
        check_name(name, &value.at, warnings);
    }
    if let Some(accessor) = item.index("indices") {
        let at = item.pointer("indices");
        record(accessor, Usage::Indices, &at, warnings);
        let view = view_of(accessor).and_then(|v| source.root.item("bufferViews", v));
        if view.is_some_and(|v| v.has("byteStride")) {
            warnings.add(at, "a view of indices has no stride");
        }
    }
    check_numbering(attributes.as_ref(), warnings);
}

fn check_attribute(name: &str, at: &str, index: usize, source: &Source<'_>, warnings: &mut Warnings) {
    check_name(name, at, warnings);
    let Some(item) = source.root.item("accessors", index) else {
        return;
    };
    if name == "POSITION" && !(item.has("min") && item.has("max")) {
        warnings.add(at, format!("accessor {index} lacks the bounds that positions must have"));
    }
    if item.whole("componentType") == Some(5125) {
        warnings.add(at, "attributes cannot be 32 bit integers");
    }
    if let Ok(accessor) = Accessor::open(&source.root, &source.buffers, index, &mut Warnings::new(""))
        && item.has("bufferView")
    {
        let offset = item.whole("byteOffset").unwrap_or(0);
        let stride = accessor.declared_stride.unwrap_or(accessor.width() * accessor.component.size());
        if offset % 4 != 0 || stride % 4 != 0 {
            warnings.add(at, "vertex attributes must be aligned to 4 bytes");
        }
    }
}

fn check_name(name: &str, at: &str, warnings: &mut Warnings) {
    let plain = matches!(name, "POSITION" | "NORMAL" | "TANGENT") || name.starts_with('_');
    let numbered = ["TEXCOORD_", "COLOR_", "JOINTS_", "WEIGHTS_"].iter().any(|prefix| {
        let number = name.strip_prefix(prefix).unwrap_or_default();
        number == "0"
            || (!number.is_empty() && !number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit()))
    });
    if !plain && !numbered {
        warnings.add(at, format!("`{}` is not an attribute; it is ignored", super::check::shorten(name)));
    }
}

/// Warns of gaps in the numbering of attribute sets.
fn check_numbering(attributes: Option<&Item<'_>>, warnings: &mut Warnings) {
    let Some(attributes) = attributes else {
        return;
    };
    for prefix in ["TEXCOORD_", "COLOR_", "JOINTS_", "WEIGHTS_"] {
        let count = attributes.entries().iter().filter(|(name, _)| name.starts_with(prefix)).count();
        if let Some(missing) = (0..count).find(|i| !attributes.has(&format!("{prefix}{i}"))) {
            warnings.add(&attributes.at, format!("{prefix}{missing} is missing before a later set"));
        }
    }
}
