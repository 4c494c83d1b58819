/* Nested dielectrics by priority: the interior list of a ray (Schmidt and Budge 2002). The counterpart of
 * core/transport/src/interior_list.rs, which says what a list is. */

#ifdef LS_PRIORITIES

#define ENTRY_BITS 16u
#define LIST_BITS 64u

/* The entry at this place, in bits from the lowest; zero where there is none. */
LS_INLINE u32 interior_list_entry(u64 list, u32 place) {
    return (u32)(list >> place) & 0xffffu;
}

/* The medium in which the ray travels; zero for air. */
LS_INLINE u32 interior_list_real_medium(u64 list) {
    return interior_list_entry(list, 0u);
}

/* The place of a medium's first entry; LIST_BITS where it is not there. */
LS_INLINE u32 interior_list_place_of(u64 list, u32 medium) {
    u32 place = 0u;
    while (place < LIST_BITS && interior_list_entry(list, place) != medium) {
        place += ENTRY_BITS;
    }
    return place;
}

/* Adds a medium that the ray enters, before those of its priority. */
LS_INLINE u64 interior_list_enter(SceneRef scene, u64 list, u32 medium) {
    u32 priority = load_material(scene, medium - 1u).priority;
    u32 place = 0u;
    while (place < LIST_BITS && interior_list_entry(list, place) != 0u
           && load_material(scene, interior_list_entry(list, place) - 1u).priority > priority) {
        place += ENTRY_BITS;
    }
    if (place == LIST_BITS) {
        return list;
    }
    u64 before = ((u64)1 << place) - (u64)1;
    return (list & before) | ((u64)medium << place) | ((list & ~before) << ENTRY_BITS);
}

/* Takes a medium away that the ray leaves: its first entry, if there is one. */
LS_INLINE u64 interior_list_leave(u64 list, u32 medium) {
    u32 place = interior_list_place_of(list, medium);
    if (place == LIST_BITS) {
        return list;
    }
    u64 before = ((u64)1 << place) - (u64)1;
    return (list & before) | ((list >> ENTRY_BITS) & ~before);
}

/* The list of a ray that arrives at the surface of a medium from its outside or inside. */
LS_INLINE u64 interior_list_arrive(SceneRef scene, u64 list, u32 medium, bool outside) {
    bool is_known = outside || interior_list_place_of(list, medium) != LIST_BITS;
    return is_known ? list : interior_list_enter(scene, list, medium);
}

/* The list beyond the surface at which a ray arrives with `list`. */
LS_INLINE u64 interior_list_cross(SceneRef scene, u64 list, u32 medium, bool outside) {
    return outside ? interior_list_enter(scene, list, medium) : interior_list_leave(list, medium);
}

/* The layers of the real medium, as a material names them; zero in air. */
LS_INLINE u32 interior_list_real_layers(SceneRef scene, u64 list) {
    u32 medium = interior_list_real_medium(list);
    return medium == 0u ? 0u : load_material(scene, medium - 1u).layers;
}

/* The index of refraction of a medium; 1 for air. */
LS_INLINE float interior_list_index_of_refraction(SceneRef scene, u32 medium) {
    return medium == 0u ? 1.0f : load_material(scene, medium - 1u).ior;
}

#ifdef LS_MEDIA
/* The dispersion of a medium; zero for air. */
LS_INLINE float interior_list_dispersion(SceneRef scene, u32 medium) {
    u32 layers = interior_list_real_layers(scene, (u64)medium);
    return layers == 0u ? 0.0f : load_layers(scene, layers - 1u).dispersion;
}
#endif

#endif
