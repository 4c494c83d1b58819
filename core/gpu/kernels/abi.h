/* Records that host and device exchange, byte for byte the Rust types of the same name.
 *
 * 4-byte scalars in 16-byte groups, without padding: LS_ALIGN16 only lets a device load a group at once.
 * `Packed`, `Pass`, `SceneConstants` and `BounceCounters` are declared in core/gpu/src/records.rs,
 * `VertexRecord` and `PairRecord` in core/src/path_record, the others beside the code that they serve. A probe
 * kernel writes all sizes and offsets, and a test compares them with Rust's. */

/* The index that stands for "none". */
#define NONE 0xffffffffu
/* Set in a primitive index that names a sphere. */
#define SPHERE_BIT 0x80000000u

typedef struct {
    float x;
    float y;
    float z;
} Vec3;

/* A vector and a fourth word, whose meaning depends on the buffer. */
typedef struct LS_ALIGN16 {
    Vec3 v;
    u32 w;
} Packed;

/* Rows of an affine map. */
typedef struct LS_ALIGN16 {
    float m[3][4];
} Affine;

typedef struct LS_ALIGN16 {
    Vec3 normal;
    u32 red_green;
    Vec3 tangent;
    u32 blue_alpha;
    float uv0[2];
    float uv1[2];
} Vertex;

typedef struct LS_ALIGN16 {
    u32 vertices[3];
    u32 material;
} Triangle;

typedef struct LS_ALIGN16 {
    Vec3 center;
    float radius;
    u32 material;
    u32 reserved[3];
} Sphere;

typedef struct LS_ALIGN16 {
    u32 first_triangle;
    u32 triangle_count;
    u32 first_sphere;
    u32 sphere_count;
} Mesh;

typedef struct LS_ALIGN16 {
    Affine object_to_world;
    Affine world_to_object;
    u32 mesh;
    u32 flags;
    float scale;
    u32 reserved;
} Instance;

#define INSTANCE_IDENTITY 1u
#define INSTANCE_MIRRORED 2u

#define MATERIAL_DIFFUSE 0u
#define MATERIAL_CONDUCTOR 1u
#define MATERIAL_DIELECTRIC 2u
#define MATERIAL_PRINCIPLED 3u
#define ALPHA_OPAQUE 0u
#define ALPHA_MASK 1u
#define ALPHA_BLEND 2u
#define MATERIAL_TWO_SIDED_EMISSION 1u
#define MATERIAL_SINGLE_SIDED 2u
#define MATERIAL_UNLIT 4u
#define MATERIAL_MULTISCATTER 8u

typedef struct LS_ALIGN16 {
    Vec3 base_color;
    float alpha;
    Vec3 emission;
    u32 kind;
    float roughness;
    float metallic;
    float ior;
    float transmission;
    u32 base_color_texture;
    u32 metallic_roughness_texture;
    u32 normal_texture;
    u32 emission_texture;
    float normal_scale;
    float alpha_cutoff;
    u32 alpha_mode;
    u32 flags;
    u32 transmission_texture;
    float light_pdf_area;
    u32 layers;
    u32 priority;
} Material;

typedef struct LS_ALIGN16 {
    Vec3 specular_color;
    float specular;
    Vec3 sheen_color;
    float sheen_roughness;
    float clearcoat;
    float clearcoat_roughness;
    float clearcoat_f0;
    float anisotropy;
    float anisotropy_rotation[2];
    u32 specular_texture;
    u32 specular_color_texture;
    u32 clearcoat_texture;
    u32 clearcoat_roughness_texture;
    u32 sheen_color_texture;
    u32 sheen_roughness_texture;
    u32 anisotropy_texture;
    u32 iridescence_texture;
    u32 iridescence_thickness_texture;
    float iridescence;
    float iridescence_ior;
    float iridescence_thickness[2];
    float dispersion;
    Vec3 attenuation;
    u32 clearcoat_normal_texture;
    float clearcoat_normal_scale;
    u32 reserved[3];
} Layers;

#define WRAP_REPEAT 0u
#define WRAP_CLAMP 1u
#define WRAP_MIRROR 2u
#define TEXTURE_NEAREST 16u
#define TEXTURE_SRGB 32u
#define TEXTURE_UV_SET_1 64u

typedef struct LS_ALIGN16 {
    u32 first_texel;
    u32 width;
    u32 height;
    u32 flags;
    float transform[2][4];
} Texture;

#define LIGHT_TRIANGLE 0u
#define LIGHT_SPHERE 1u
#define LIGHT_POINT 2u
#define LIGHT_SPOT 3u
#define LIGHT_DIRECTIONAL 4u
#define LIGHT_ENVIRONMENT 5u

typedef struct LS_ALIGN16 {
    Vec3 position;
    u32 kind;
    Vec3 edge1;
    u32 material;
    Vec3 edge2;
    u32 triangle;
    Vec3 intensity;
    float pmf;
} Light;

typedef struct LS_ALIGN16 {
    u32 threshold;
    u32 alias;
    float pmf;
    u32 reserved;
} AliasEntry;

#define ENVIRONMENT_CONSTANT 0u
#define ENVIRONMENT_GRADIENT 1u
#define ENVIRONMENT_IMAGE 2u

typedef struct LS_ALIGN16 {
    Vec3 zenith;
    u32 kind;
    Vec3 horizon;
    u32 image_width;
    Vec3 ground;
    u32 image_height;
    u32 grid_width;
    u32 grid_height;
    float rotation;
    float pmf;
} Environment;

typedef struct LS_ALIGN16 {
    Vec3 eye;
    float lens_radius;
    Vec3 right;
    float focus_distance;
    Vec3 up;
    u32 width;
    Vec3 forward;
    u32 height;
} CameraFrame;

#define LEAF_BIT 0x80000000u
#define LEAF_COUNT_SHIFT 28u
#define EMPTY 0xffffffffu
#define STACK_SIZE 96

/* ULPs by which a node's exit distance is widened. */
#define NODE_WIDENING 48u

typedef struct LS_ALIGN16 {
    float xy0[4];
    float xy1[4];
    float z[4];
    u32 children[2];
    u32 reserved[2];
} Node;

#define LEAF_ALPHA 1u
#define LEAF_CLIP_SHIFT 1u

typedef struct LS_ALIGN16 {
    Vec3 p0;
    u32 primitive;
    Vec3 p1;
    u32 flags;
    Vec3 p2;
    u32 clip_above;
} LeafPrimitive;

typedef struct LS_ALIGN16 {
    float planes[6][8];
    u32 children[8];
} Node8;

typedef struct LS_ALIGN16 {
    float points[3][3][8];
    u32 primitives[8];
    u32 all;
    u32 alpha;
    u32 spheres;
    u32 presplit;
    u32 boxes;
    u32 reserved[3];
} Block8;

/* Lowest and highest corner. */
typedef struct {
    Vec3 lo;
    Vec3 hi;
} Box;

typedef struct LS_ALIGN16 {
    Vec3 origin;
    float t_min;
    Vec3 direction;
    float t_max;
} Ray;

typedef struct {
    float t;
    float u;
    float v;
    u32 instance;
    u32 primitive;
} Hit;

#define STRATEGY_MIS 0u
#define STRATEGY_LIGHT_ONLY 1u
#define STRATEGY_BSDF_ONLY 2u

/* Densities of merges over those of connections, from which weights tell which techniques there are. */
typedef struct {
    float merge;
    float connect;
} MergeRatios;

/* Samples in flight of integrators with merges, at most. */
#define MERGED_PASSES 8u

/* Parameters of the merges of a pass; zero without merging. */
typedef struct LS_ALIGN16 {
    Vec3 origin;
    float cells_per_unit;
    float radius2;
    float reach;
    float normalization;
    MergeRatios ratios;
    u32 bucket_mask;
    u32 first_only;
    u32 reserved;
} Merging;

/* A vertex of a light sub-path as merges need it. */
typedef struct LS_ALIGN16 {
    Vec3 position;
    u32 bounce;
    Vec3 from;
    float vcm;
    Vec3 throughput;
    float vm;
} Photon;

/* Parameters shared by the samples in flight. */
typedef struct LS_ALIGN16 {
    CameraFrame camera;
    u32 pixels;
    u32 samples;
    u32 first_sample;
    u32 seed;
    u32 bounces;
    u32 strategy;
    u32 roulette_from;
    u32 first_pixel;
    /* Of each sample in flight, where there are merges */
    Merging merging[MERGED_PASSES];
} Pass;

#define VERTEX_HIT 1u
#define VERTEX_SHADED 2u
#define VERTEX_LIGHT 4u
#define VERTEX_SHADOW 8u
#define VERTEX_REACHED 16u
#define VERTEX_SCATTER 32u
#define VERTEX_CONTINUES 64u
#define VERTEX_FALSE_HIT 128u

/* Quantities that a path computes at one vertex; `flags` marks the parts it reached. */
typedef struct LS_ALIGN16 {
    Vec3 origin;
    u32 flags;
    Vec3 direction;
    u32 instance;
    Vec3 throughput;
    u32 primitive;
    float t;
    float u;
    float v;
    float alpha;
    Vec3 geometric;
    u32 material;
    float coordinates[2];
    float roughness;
    float metallic;
    Vec3 base_color;
    u32 light;
    Vec3 normal;
    float light_distance;
    Vec3 gathered;
    float light_pdf;
    u32 light_words[4];
    Vec3 light_direction;
    float light_bsdf_pdf;
    Vec3 light_radiance;
    float shadow_t_max;
    Vec3 light_bsdf;
    float scatter_pdf;
    Vec3 shadow_origin;
    u32 reserved0;
    Vec3 shadow_radiance;
    u32 reserved1;
    u32 scatter_words[4];
    Vec3 scatter_direction;
    u32 reserved2;
    Vec3 scatter_throughput;
    u32 reserved3;
    Vec3 radiance;
    u32 reserved4;
} VertexRecord;

#define PAIR_RAY 1u
#define PAIR_VERTEX 2u
#define PAIR_CONTRIBUTION 4u
#define PAIR_OF_LIGHT 8u
#define PAIR_HIT 16u
#define PAIR_REACHED 32u

/* One step of a pair of sub-paths; fields that it lacks are zero. */
typedef struct LS_ALIGN16 {
    Vec3 origin;
    u32 flags;
    Vec3 direction;
    u32 light;
    Vec3 value;
    u32 camera;
    Vec3 geometric;
    u32 pixel;
    Vec3 shading;
    u32 instance;
    Vec3 base_color;
    u32 primitive;
    float t;
    float u;
    float v;
    float weight;
    float vcm;
    float vc;
    float scale;
    float roughness;
    float metallic;
    float ior;
    float transmission;
    u32 kind;
    u32 outside;
    u32 reserved[3];
} PairRecord;

/* Bounding sphere of all geometry. */
typedef struct LS_ALIGN16 {
    Vec3 center;
    float radius;
} BoundingSphere;

/* Scene data outside its arrays. */
typedef struct LS_ALIGN16 {
    Environment environment;
    BoundingSphere bounds;
    u32 light_count;
    u32 environment_cells;
    u32 root;
    u32 reserved;
} SceneConstants;

/* Rays of one bounce. `extension_rays` and `shadow_rays` are also the lengths of that bounce's queues. */
typedef struct LS_ALIGN16 {
    u32 extension_rays;
    u32 hits;
    u32 shadow_rays;
    u32 unoccluded;
} BounceCounters;
