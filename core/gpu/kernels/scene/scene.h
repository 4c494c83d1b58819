/* The scene in device memory. Only the load functions here read it; all other functions take private
 * values. */

/* Nodes and leaves of the BVH: eight wide for devices with wide registers, else binary. */
#ifdef LS_WIDE
#define LS_NODE Node8
#define LS_LEAF Block8
#else
#define LS_NODE Node
#define LS_LEAF LeafPrimitive
#endif

typedef struct {
    SceneConstants constants;
    LS_GLOBAL const float *positions;
    LS_GLOBAL const Vertex *vertices;
    LS_GLOBAL const Triangle *triangles;
    LS_GLOBAL const Sphere *spheres;
    LS_GLOBAL const Mesh *meshes;
    LS_GLOBAL const Instance *instances;
    LS_GLOBAL const Material *materials;
    LS_GLOBAL const Texture *textures;
    LS_GLOBAL const u32 *texels;
    LS_GLOBAL const float *srgb_to_linear;
    LS_GLOBAL const Light *lights;
    LS_GLOBAL const AliasEntry *light_alias;
    LS_GLOBAL const Packed *environment_texels;
    LS_GLOBAL const AliasEntry *environment_alias;
    LS_GLOBAL const LS_NODE *nodes;
    LS_GLOBAL const LS_LEAF *primitives;
    LS_GLOBAL const u32 *mesh_roots;
    LS_GLOBAL const Box *instance_boxes;
    LS_GLOBAL const Layers *layers;
    LS_GLOBAL const u32 *albedos;
} SceneRef;

/* The part of it that texture lookups read: a call copies no more than that. */
typedef struct {
    LS_GLOBAL const u32 *texels;
    LS_GLOBAL const float *srgb_to_linear;
} TexelMemory;

/* Kernel parameters of the scene, the same as arguments, and the SceneRef made of them. */
#define LS_SCENE_PARAMETERS                                  \
    SceneConstants constants,                                \
    LS_GLOBAL const float *LS_RESTRICT positions,            \
    LS_GLOBAL const Vertex *LS_RESTRICT vertices,            \
    LS_GLOBAL const Triangle *LS_RESTRICT triangles,         \
    LS_GLOBAL const Sphere *LS_RESTRICT spheres,             \
    LS_GLOBAL const Mesh *LS_RESTRICT meshes,                \
    LS_GLOBAL const Instance *LS_RESTRICT instances,         \
    LS_GLOBAL const Material *LS_RESTRICT materials,         \
    LS_GLOBAL const Texture *LS_RESTRICT textures,           \
    LS_GLOBAL const u32 *LS_RESTRICT texels,                 \
    LS_GLOBAL const float *LS_RESTRICT srgb_to_linear,       \
    LS_GLOBAL const Light *LS_RESTRICT lights,               \
    LS_GLOBAL const AliasEntry *LS_RESTRICT light_alias,     \
    LS_GLOBAL const Packed *LS_RESTRICT environment_texels,  \
    LS_GLOBAL const AliasEntry *LS_RESTRICT environment_alias, \
    LS_GLOBAL const LS_NODE *LS_RESTRICT nodes,                 \
    LS_GLOBAL const LS_LEAF *LS_RESTRICT primitives,   \
    LS_GLOBAL const u32 *LS_RESTRICT mesh_roots,             \
    LS_GLOBAL const Box *LS_RESTRICT instance_boxes,         \
    LS_GLOBAL const Layers *LS_RESTRICT layers,              \
    LS_GLOBAL const u32 *LS_RESTRICT albedos

#define LS_SCENE_ARGUMENTS                                                                                          \
    constants, positions, vertices, triangles, spheres, meshes, instances, materials, textures, texels,             \
    srgb_to_linear, lights, light_alias, environment_texels, environment_alias, nodes, primitives, mesh_roots,  \
    instance_boxes, layers, albedos

#define LS_SCENE_REF(scene)                       \
    SceneRef scene;                               \
    scene.constants = constants;                  \
    scene.positions = positions;                  \
    scene.vertices = vertices;                    \
    scene.triangles = triangles;                  \
    scene.spheres = spheres;                      \
    scene.meshes = meshes;                        \
    scene.instances = instances;                  \
    scene.materials = materials;                  \
    scene.textures = textures;                    \
    scene.texels = texels;                        \
    scene.srgb_to_linear = srgb_to_linear;        \
    scene.lights = lights;                        \
    scene.light_alias = light_alias;              \
    scene.environment_texels = environment_texels; \
    scene.environment_alias = environment_alias;  \
    scene.nodes = nodes;                          \
    scene.primitives = primitives;                \
    scene.mesh_roots = mesh_roots;                \
    scene.instance_boxes = instance_boxes;        \
    scene.layers = layers;                        \
    scene.albedos = albedos

LS_INLINE Vec3 load_position(SceneRef scene, u32 i) {
    Vec3 p;
    p.x = scene.positions[3u * i];
    p.y = scene.positions[3u * i + 1u];
    p.z = scene.positions[3u * i + 2u];
    return p;
}

LS_INLINE Vertex load_vertex(SceneRef scene, u32 i) {
    return contents_vertex(scene.vertices[i]);
}

LS_INLINE Triangle load_triangle(SceneRef scene, u32 i) {
    return scene.triangles[i];
}

LS_INLINE Sphere load_sphere(SceneRef scene, u32 i) {
    return scene.spheres[i];
}

LS_INLINE Mesh load_mesh(SceneRef scene, u32 i) {
    return scene.meshes[i];
}

LS_INLINE Instance load_instance(SceneRef scene, u32 i) {
    return contents_instance(scene.instances[i]);
}

LS_INLINE Material load_material(SceneRef scene, u32 i) {
    return contents_material(scene.materials[i]);
}

#ifdef LS_LAYERS
LS_INLINE Layers load_layers(SceneRef scene, u32 i) {
    return scene.layers[i];
}
#endif

#if defined(LS_LAYERS) || defined(LS_MULTISCATTER)
/* An entry of the tables of albedos. */
LS_INLINE u32 load_albedo(LS_GLOBAL const u32 *table, u32 i) {
    return table[i];
}
#endif

LS_INLINE Texture load_texture(SceneRef scene, u32 i) {
    return contents_texture(scene.textures[i]);
}

LS_INLINE u32 load_texel(TexelMemory memory, u32 i) {
    return memory.texels[i];
}

LS_INLINE float load_srgb_to_linear(TexelMemory memory, u32 i) {
    return memory.srgb_to_linear[i];
}

LS_INLINE Light load_light(SceneRef scene, u32 i) {
    return contents_light(scene.lights[i]);
}

LS_INLINE AliasEntry load_light_alias(SceneRef scene, u32 i) {
    return scene.light_alias[i];
}

LS_INLINE Vec3 load_environment_texel(SceneRef scene, u32 i) {
    return scene.environment_texels[i].v;
}

LS_INLINE AliasEntry load_environment_alias(SceneRef scene, u32 i) {
    return scene.environment_alias[i];
}

#ifdef LS_WIDE
/* One plane of all children of a node. */
LS_INLINE LS_F32X8 load_planes(SceneRef scene, u32 node, u32 plane) {
    return LS_F32X8_LOAD(scene.nodes[node].planes[plane]);
}

LS_INLINE u32 load_child(SceneRef scene, u32 node, u32 lane) {
    return scene.nodes[node].children[lane];
}

/* One component of a corner of all primitives of a block. */
LS_INLINE LS_F32X8 load_points(SceneRef scene, u32 block, u32 corner, u32 axis) {
    return LS_F32X8_LOAD(scene.primitives[block].points[corner][axis]);
}

/* Index of a primitive of a block within its mesh. */
LS_INLINE u32 load_block_index(SceneRef scene, u32 block, u32 lane) {
    return scene.primitives[block].primitives[lane];
}

/* A bit for each primitive of a block. */
LS_INLINE u32 load_block_all(SceneRef scene, u32 block) {
    return scene.primitives[block].all;
}

/* A bit for each primitive that has alpha. */
LS_INLINE u32 load_block_alpha(SceneRef scene, u32 block) {
    return scene.primitives[block].alpha;
}

/* A bit for each triangle with split references. */
LS_INLINE u32 load_block_presplit(SceneRef scene, u32 block) {
    return scene.primitives[block].presplit;
}

/* Number of blocks of clip boxes that follow. */
LS_INLINE u32 load_block_boxes(SceneRef scene, u32 block) {
    return scene.primitives[block].boxes;
}

/* A bit for each sphere. */
LS_INLINE u32 load_block_spheres(SceneRef scene, u32 block) {
    return scene.primitives[block].spheres;
}

/* One primitive of a block. */
LS_INLINE LeafPrimitive load_block_primitive(SceneRef scene, u32 block, u32 lane) {
    LeafPrimitive p;
    p.p0.x = scene.primitives[block].points[0][0][lane];
    p.p0.y = scene.primitives[block].points[0][1][lane];
    p.p0.z = scene.primitives[block].points[0][2][lane];
    p.p1.x = scene.primitives[block].points[1][0][lane];
    p.p1.y = scene.primitives[block].points[1][1][lane];
    p.p1.z = scene.primitives[block].points[1][2][lane];
    p.p2.x = scene.primitives[block].points[2][0][lane];
    p.p2.y = scene.primitives[block].points[2][1][lane];
    p.p2.z = scene.primitives[block].points[2][2][lane];
    p.primitive = load_block_index(scene, block, lane);
    p.flags = ((load_block_alpha(scene, block) >> lane) & 1u) != 0u ? LEAF_ALPHA : 0u;
    p.clip_above = 0u;
    return p;
}

#else
LS_INLINE Node load_node(SceneRef scene, u32 i) {
    return scene.nodes[i];
}

LS_INLINE LeafPrimitive load_primitive(SceneRef scene, u32 i) {
    return scene.primitives[i];
}

#endif

LS_INLINE u32 load_mesh_root(SceneRef scene, u32 i) {
    return scene.mesh_roots[i];
}

LS_INLINE Box load_instance_box(SceneRef scene, u32 i) {
    return scene.instance_boxes[i];
}

/* The mesh of an instance, known without a load where the world is one mesh. */
LS_INLINE Mesh scene_mesh_of(SceneRef scene, u32 instance) {
#ifdef LS_INSTANCES
    return load_mesh(scene, load_instance(scene, instance).mesh);
#else
    (void)instance;
    return load_mesh(scene, 0u);
#endif
}

/* Material of a primitive of an instance. */
LS_INLINE u32 scene_material_of(SceneRef scene, u32 instance, u32 primitive) {
    Mesh mesh = scene_mesh_of(scene, instance);
    if ((primitive & SPHERE_BIT) != 0u) {
        return load_sphere(scene, mesh.first_sphere + (primitive & ~SPHERE_BIT)).material;
    }
    return load_triangle(scene, mesh.first_triangle + primitive).material;
}
