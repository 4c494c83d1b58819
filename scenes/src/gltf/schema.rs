//! glTF 2.0's JSON schema as tables: properties of objects with types, ranges and extensions.
//! [`super::check`] validates a document against them.

/// Type and range of a property.
pub(super) enum Kind {
    /// True or false.
    Flag,
    /// A string.
    Text,
    /// A choice among these strings; others are a warning, since later versions may add some.
    Choice(&'static [&'static str]),
    /// A choice among these numbers; others are a warning likewise.
    Code(&'static [u64]),
    /// A whole number in a range.
    Whole(u64, u64),
    /// A number in a range.
    Real(f64, f64),
    /// A number above this.
    Above(f64),
    /// An index into this array of the document.
    Index(&'static str),
    /// An index into the document's punctual lights.
    LightIndex,
    /// An array of `min` to `max` elements.
    List(&'static Kind, usize, usize),
    /// An array whose elements differ.
    Set(&'static Kind),
    /// An object with property names of the file's choice.
    Map(&'static Kind),
    /// An object of this shape.
    Object(&'static Object),
}

/// The shape of an object.
pub(super) struct Object {
    /// The properties.
    pub(super) properties: &'static [Property],
    /// Extensions that may appear in it, and their shapes.
    pub(super) extensions: &'static [(&'static str, &'static Object)],
    /// Exactly one of these properties must be present, unless the list is empty.
    pub(super) one_of: &'static [&'static str],
    /// The first property requires the second.
    pub(super) needs: &'static [(&'static str, &'static str)],
}

/// A property of an object.
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// No renderer of still images reads it, so faults in it are warnings.
    pub(super) ignored: bool,
}

const fn may(name: &'static str, kind: Kind) -> Property {
    Property { name, kind, required: false, ignored: false }
}

const fn must(name: &'static str, kind: Kind) -> Property {
    Property { name, kind, required: true, ignored: false }
}

const fn ignored(name: &'static str, kind: Kind) -> Property {
    Property { name, kind, required: false, ignored: true }
}

const fn object(properties: &'static [Property]) -> Object {
    Object { properties, extensions: &[], one_of: &[], needs: &[] }
}

const ANY_NUMBER: Kind = Kind::Real(f64::NEG_INFINITY, f64::INFINITY);
const UNIT: Kind = Kind::Real(0.0, 1.0);
const NOT_NEGATIVE: Kind = Kind::Real(0.0, f64::INFINITY);
const COUNT: Kind = Kind::Whole(1, u64::MAX);
const OFFSET: Kind = Kind::Whole(0, u64::MAX);
const MANY: usize = usize::MAX;

/// The whole document.
pub(super) static ROOT: Object = Object {
    properties: &[
        must("asset", Kind::Object(&ASSET)),
        may("extensionsUsed", Kind::Set(&Kind::Text)),
        may("extensionsRequired", Kind::Set(&Kind::Text)),
        may("accessors", Kind::List(&Kind::Object(&ACCESSOR), 1, MANY)),
        may("animations", Kind::List(&Kind::Object(&ANIMATION), 1, MANY)),
        may("buffers", Kind::List(&Kind::Object(&BUFFER), 1, MANY)),
        may("bufferViews", Kind::List(&Kind::Object(&BUFFER_VIEW), 1, MANY)),
        may("cameras", Kind::List(&Kind::Object(&CAMERA), 1, MANY)),
        may("images", Kind::List(&Kind::Object(&IMAGE), 1, MANY)),
        may("materials", Kind::List(&Kind::Object(&MATERIAL), 1, MANY)),
        may("meshes", Kind::List(&Kind::Object(&MESH), 1, MANY)),
        may("nodes", Kind::List(&Kind::Object(&NODE), 1, MANY)),
        may("samplers", Kind::List(&Kind::Object(&SAMPLER), 1, MANY)),
        may("scene", Kind::Index("scenes")),
        may("scenes", Kind::List(&Kind::Object(&SCENE), 1, MANY)),
        may("skins", Kind::List(&Kind::Object(&SKIN), 1, MANY)),
        may("textures", Kind::List(&Kind::Object(&TEXTURE), 1, MANY)),
    ],
    extensions: &[("KHR_lights_punctual", &LIGHTS), ("KHR_materials_variants", &VARIANTS)],
    one_of: &[],
    needs: &[("extensionsRequired", "extensionsUsed")],
};

static ASSET: Object = object(&[
    must("version", Kind::Text),
    may("minVersion", Kind::Text),
    ignored("copyright", Kind::Text),
    ignored("generator", Kind::Text),
]);

static ACCESSOR: Object = Object {
    properties: &[
        may("bufferView", Kind::Index("bufferViews")),
        may("byteOffset", OFFSET),
        must("componentType", Kind::Code(&[5120, 5121, 5122, 5123, 5125, 5126])),
        may("normalized", Kind::Flag),
        must("count", COUNT),
        must("type", Kind::Choice(&["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"])),
        may("max", Kind::List(&ANY_NUMBER, 1, 16)),
        may("min", Kind::List(&ANY_NUMBER, 1, 16)),
        may("sparse", Kind::Object(&SPARSE)),
        ignored("name", Kind::Text),
    ],
    extensions: &[],
    one_of: &[],
    needs: &[("byteOffset", "bufferView")],
};

static SPARSE: Object = object(&[
    must("count", COUNT),
    must("indices", Kind::Object(&SPARSE_INDICES)),
    must("values", Kind::Object(&SPARSE_VALUES)),
]);

static SPARSE_INDICES: Object = object(&[
    must("bufferView", Kind::Index("bufferViews")),
    may("byteOffset", OFFSET),
    must("componentType", Kind::Code(&[5121, 5123, 5125])),
]);

static SPARSE_VALUES: Object =
    object(&[must("bufferView", Kind::Index("bufferViews")), may("byteOffset", OFFSET)]);

static BUFFER: Object =
    object(&[may("uri", Kind::Text), must("byteLength", COUNT), ignored("name", Kind::Text)]);

static BUFFER_VIEW: Object = object(&[
    must("buffer", Kind::Index("buffers")),
    may("byteOffset", OFFSET),
    must("byteLength", COUNT),
    may("byteStride", Kind::Whole(4, 252)),
    may("target", Kind::Code(&[34962, 34963])),
    ignored("name", Kind::Text),
]);

static CAMERA: Object = Object {
    properties: &[
        must("type", Kind::Choice(&["perspective", "orthographic"])),
        may("perspective", Kind::Object(&PERSPECTIVE)),
        ignored("orthographic", Kind::Object(&ORTHOGRAPHIC)),
        ignored("name", Kind::Text),
    ],
    extensions: &[],
    one_of: &["perspective", "orthographic"],
    needs: &[],
};

static PERSPECTIVE: Object = object(&[
    must("yfov", Kind::Above(0.0)),
    may("aspectRatio", Kind::Above(0.0)),
    must("znear", Kind::Above(0.0)),
    may("zfar", Kind::Above(0.0)),
]);

static ORTHOGRAPHIC: Object = object(&[
    must("xmag", ANY_NUMBER),
    must("ymag", ANY_NUMBER),
    must("zfar", Kind::Above(0.0)),
    must("znear", NOT_NEGATIVE),
]);

static IMAGE: Object = Object {
    properties: &[
        may("uri", Kind::Text),
        may("mimeType", Kind::Choice(&["image/jpeg", "image/png", "image/webp"])),
        may("bufferView", Kind::Index("bufferViews")),
        ignored("name", Kind::Text),
    ],
    extensions: &[],
    one_of: &["uri", "bufferView"],
    needs: &[],
};

static SAMPLER: Object = object(&[
    may("magFilter", Kind::Code(&[9728, 9729])),
    may("minFilter", Kind::Code(&[9728, 9729, 9984, 9985, 9986, 9987])),
    may("wrapS", Kind::Code(&[33071, 33648, 10497])),
    may("wrapT", Kind::Code(&[33071, 33648, 10497])),
    ignored("name", Kind::Text),
]);

static TEXTURE: Object = Object {
    properties: &[
        may("sampler", Kind::Index("samplers")),
        may("source", Kind::Index("images")),
        ignored("name", Kind::Text),
    ],
    extensions: &[("EXT_texture_webp", &TEXTURE_WEBP)],
    one_of: &[],
    needs: &[],
};

static TEXTURE_WEBP: Object = object(&[may("source", Kind::Index("images"))]);

static MATERIAL: Object = Object {
    properties: &[
        may("pbrMetallicRoughness", Kind::Object(&METALLIC_ROUGHNESS)),
        may("normalTexture", Kind::Object(&NORMAL_TEXTURE)),
        ignored("occlusionTexture", Kind::Object(&OCCLUSION_TEXTURE)),
        may("emissiveTexture", Kind::Object(&TEXTURE_INFO)),
        may("emissiveFactor", Kind::List(&UNIT, 3, 3)),
        may("alphaMode", Kind::Choice(&["OPAQUE", "MASK", "BLEND"])),
        may("alphaCutoff", NOT_NEGATIVE),
        may("doubleSided", Kind::Flag),
        ignored("name", Kind::Text),
    ],
    extensions: &[
        ("KHR_materials_anisotropy", &ANISOTROPY),
        ("KHR_materials_clearcoat", &CLEARCOAT),
        ("KHR_materials_dispersion", &DISPERSION),
        ("KHR_materials_emissive_strength", &EMISSIVE_STRENGTH),
        ("KHR_materials_ior", &IOR),
        ("KHR_materials_iridescence", &IRIDESCENCE),
        ("KHR_materials_pbrSpecularGlossiness", &SPECULAR_GLOSSINESS),
        ("KHR_materials_sheen", &SHEEN),
        ("KHR_materials_specular", &SPECULAR),
        ("KHR_materials_transmission", &TRANSMISSION),
        ("KHR_materials_unlit", &UNLIT),
        ("KHR_materials_volume", &VOLUME),
    ],
    one_of: &[],
    needs: &[],
};

static METALLIC_ROUGHNESS: Object = object(&[
    may("baseColorFactor", Kind::List(&UNIT, 4, 4)),
    may("baseColorTexture", Kind::Object(&TEXTURE_INFO)),
    may("metallicFactor", UNIT),
    may("roughnessFactor", UNIT),
    may("metallicRoughnessTexture", Kind::Object(&TEXTURE_INFO)),
]);

static TEXTURE_INFO: Object = Object {
    properties: &[must("index", Kind::Index("textures")), may("texCoord", OFFSET)],
    extensions: TEXTURE_INFO_EXTENSIONS,
    one_of: &[],
    needs: &[],
};

static NORMAL_TEXTURE: Object = Object {
    properties: &[must("index", Kind::Index("textures")), may("texCoord", OFFSET), may("scale", ANY_NUMBER)],
    extensions: TEXTURE_INFO_EXTENSIONS,
    one_of: &[],
    needs: &[],
};

static OCCLUSION_TEXTURE: Object = Object {
    properties: &[must("index", Kind::Index("textures")), may("texCoord", OFFSET), may("strength", UNIT)],
    extensions: TEXTURE_INFO_EXTENSIONS,
    one_of: &[],
    needs: &[],
};

const TEXTURE_INFO_EXTENSIONS: &[(&str, &Object)] = &[("KHR_texture_transform", &TEXTURE_TRANSFORM)];

static TEXTURE_TRANSFORM: Object = object(&[
    may("offset", Kind::List(&ANY_NUMBER, 2, 2)),
    may("rotation", ANY_NUMBER),
    may("scale", Kind::List(&ANY_NUMBER, 2, 2)),
    may("texCoord", OFFSET),
]);

static EMISSIVE_STRENGTH: Object = object(&[may("emissiveStrength", NOT_NEGATIVE)]);

static IOR: Object = object(&[may("ior", NOT_NEGATIVE)]);

static SPECULAR_GLOSSINESS: Object = object(&[
    may("diffuseFactor", Kind::List(&UNIT, 4, 4)),
    may("diffuseTexture", Kind::Object(&TEXTURE_INFO)),
    may("specularFactor", Kind::List(&UNIT, 3, 3)),
    may("glossinessFactor", UNIT),
    may("specularGlossinessTexture", Kind::Object(&TEXTURE_INFO)),
]);

static UNLIT: Object = object(&[]);

static TRANSMISSION: Object =
    object(&[may("transmissionFactor", UNIT), may("transmissionTexture", Kind::Object(&TEXTURE_INFO))]);

static ANISOTROPY: Object = object(&[
    may("anisotropyStrength", UNIT),
    may("anisotropyRotation", ANY_NUMBER),
    may("anisotropyTexture", Kind::Object(&TEXTURE_INFO)),
]);

static CLEARCOAT: Object = object(&[
    may("clearcoatFactor", UNIT),
    may("clearcoatTexture", Kind::Object(&TEXTURE_INFO)),
    may("clearcoatRoughnessFactor", UNIT),
    may("clearcoatRoughnessTexture", Kind::Object(&TEXTURE_INFO)),
    may("clearcoatNormalTexture", Kind::Object(&NORMAL_TEXTURE)),
]);

static IRIDESCENCE: Object = object(&[
    may("iridescenceFactor", UNIT),
    may("iridescenceTexture", Kind::Object(&TEXTURE_INFO)),
    may("iridescenceIor", Kind::Real(1.0, f64::INFINITY)),
    may("iridescenceThicknessMinimum", NOT_NEGATIVE),
    may("iridescenceThicknessMaximum", NOT_NEGATIVE),
    may("iridescenceThicknessTexture", Kind::Object(&TEXTURE_INFO)),
]);

static SHEEN: Object = object(&[
    may("sheenColorFactor", Kind::List(&UNIT, 3, 3)),
    may("sheenColorTexture", Kind::Object(&TEXTURE_INFO)),
    may("sheenRoughnessFactor", UNIT),
    may("sheenRoughnessTexture", Kind::Object(&TEXTURE_INFO)),
]);

static SPECULAR: Object = object(&[
    may("specularFactor", UNIT),
    may("specularTexture", Kind::Object(&TEXTURE_INFO)),
    may("specularColorFactor", Kind::List(&NOT_NEGATIVE, 3, 3)),
    may("specularColorTexture", Kind::Object(&TEXTURE_INFO)),
]);

static DISPERSION: Object = object(&[may("dispersion", NOT_NEGATIVE)]);

static VOLUME: Object = object(&[
    may("thicknessFactor", NOT_NEGATIVE),
    ignored("thicknessTexture", Kind::Object(&TEXTURE_INFO)),
    may("attenuationDistance", Kind::Above(0.0)),
    may("attenuationColor", Kind::List(&UNIT, 3, 3)),
]);

static MESH: Object = object(&[
    must("primitives", Kind::List(&Kind::Object(&PRIMITIVE), 1, MANY)),
    may("weights", Kind::List(&ANY_NUMBER, 1, MANY)),
    ignored("name", Kind::Text),
]);

static PRIMITIVE: Object = Object {
    properties: &[
        must("attributes", Kind::Map(&Kind::Index("accessors"))),
        may("indices", Kind::Index("accessors")),
        may("material", Kind::Index("materials")),
        may("mode", Kind::Code(&[0, 1, 2, 3, 4, 5, 6])),
        may("targets", Kind::List(&Kind::Map(&Kind::Index("accessors")), 1, MANY)),
    ],
    extensions: &[("KHR_draco_mesh_compression", &DRACO), ("KHR_materials_variants", &VARIANT_MAPPINGS)],
    one_of: &[],
    needs: &[],
};

static DRACO: Object =
    object(&[must("bufferView", Kind::Index("bufferViews")), must("attributes", Kind::Map(&OFFSET))]);

static VARIANT_MAPPINGS: Object =
    object(&[must("mappings", Kind::List(&Kind::Object(&VARIANT_MAPPING), 1, MANY))]);

static VARIANT_MAPPING: Object = object(&[
    must("variants", Kind::Set(&OFFSET)),
    must("material", Kind::Index("materials")),
    ignored("name", Kind::Text),
]);

static VARIANTS: Object = object(&[must("variants", Kind::List(&Kind::Object(&VARIANT), 1, MANY))]);

static VARIANT: Object = object(&[must("name", Kind::Text)]);

static NODE: Object = Object {
    properties: &[
        may("camera", Kind::Index("cameras")),
        may("children", Kind::Set(&Kind::Index("nodes"))),
        may("skin", Kind::Index("skins")),
        may("matrix", Kind::List(&ANY_NUMBER, 16, 16)),
        may("mesh", Kind::Index("meshes")),
        may("rotation", Kind::List(&Kind::Real(-1.0, 1.0), 4, 4)),
        may("scale", Kind::List(&ANY_NUMBER, 3, 3)),
        may("translation", Kind::List(&ANY_NUMBER, 3, 3)),
        may("weights", Kind::List(&ANY_NUMBER, 1, MANY)),
        ignored("name", Kind::Text),
    ],
    extensions: &[
        ("EXT_mesh_gpu_instancing", &INSTANCING),
        ("KHR_lights_punctual", &NODE_LIGHT),
        ("KHR_node_visibility", &NODE_VISIBILITY),
    ],
    one_of: &[],
    needs: &[("skin", "mesh"), ("weights", "mesh")],
};

static INSTANCING: Object = object(&[must("attributes", Kind::Map(&Kind::Index("accessors")))]);

static NODE_LIGHT: Object = object(&[must("light", Kind::LightIndex)]);

static NODE_VISIBILITY: Object = object(&[may("visible", Kind::Flag)]);

static SCENE: Object = object(&[may("nodes", Kind::Set(&Kind::Index("nodes"))), ignored("name", Kind::Text)]);

static LIGHTS: Object = object(&[must("lights", Kind::List(&Kind::Object(&LIGHT), 1, MANY))]);

static LIGHT: Object = object(&[
    must("type", Kind::Choice(&["directional", "point", "spot"])),
    may("color", Kind::List(&UNIT, 3, 3)),
    may("intensity", NOT_NEGATIVE),
    ignored("range", Kind::Above(0.0)),
    may("spot", Kind::Object(&SPOT)),
    ignored("name", Kind::Text),
]);

static SPOT: Object = object(&[
    may("innerConeAngle", Kind::Real(0.0, std::f64::consts::FRAC_PI_2)),
    may("outerConeAngle", Kind::Real(0.0, std::f64::consts::FRAC_PI_2)),
]);

static SKIN: Object = object(&[
    may("inverseBindMatrices", Kind::Index("accessors")),
    may("skeleton", Kind::Index("nodes")),
    must("joints", Kind::Set(&Kind::Index("nodes"))),
    may("name", Kind::Text),
]);

static ANIMATION: Object = object(&[
    must("channels", Kind::List(&Kind::Object(&CHANNEL), 1, MANY)),
    must("samplers", Kind::List(&Kind::Object(&ANIMATION_SAMPLER), 1, MANY)),
    may("name", Kind::Text),
]);

static CHANNEL: Object = object(&[must("sampler", OFFSET), must("target", Kind::Object(&CHANNEL_TARGET))]);

static CHANNEL_TARGET: Object = object(&[
    may("node", Kind::Index("nodes")),
    must("path", Kind::Choice(&["translation", "rotation", "scale", "weights", "pointer"])),
]);

static ANIMATION_SAMPLER: Object = object(&[
    must("input", Kind::Index("accessors")),
    may("interpolation", Kind::Choice(&["LINEAR", "STEP", "CUBICSPLINE"])),
    must("output", Kind::Index("accessors")),
]);

/// Extensions that this reader supports.
pub(super) const SUPPORTED: &[&str] = &[
    "EXT_mesh_gpu_instancing",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_dispersion",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_transform",
];

/// Ratified extensions that only refine the appearance: a file that requires one is rendered without it, with
/// a warning.
pub(super) const IGNORABLE: &[&str] = &["KHR_animation_pointer", "KHR_xmp_json_ld"];
