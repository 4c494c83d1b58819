/* Lengths of the queues of pairs of sub-paths: PAIR_LENGTHS words for every bounce and one bounce more. The second
 * half of them are counters from which items are fetched with LS_PERSISTENT or LS_DYNAMIC_FETCH. */
#define PAIR_LENGTHS 16u
/* Light and camera sub-paths with an extension ray. */
#define LIGHT_SUB_PATHS 0u
#define CAMERA_SUB_PATHS 1u
/* Shadow rays from vertices of light sub-paths to the lens, and all others. */
#define LENS_SHADOW_RAYS 2u
#define CAMERA_SHADOW_RAYS 3u
/* Pairs of vertices to connect. */
#define JOINS 4u
/* Vertices of camera sub-paths to merge with photons. */
#define MERGES 5u
/* No queues: shading fetches the items that extension rays were fetched for. */
#define SHADED_LIGHT 6u
#define SHADED_CAMERA 7u

#define PAIR_LENGTH(bounce, queue) (PAIR_LENGTHS * (bounce) + (queue))
#define PAIR_HEAD(bounce, queue) (PAIR_LENGTHS * (bounce) + 8u + (queue))

/* Moves the lengths of a batch's queues to its ray counters, and zeroes them for the next batch. */
LS_KERNEL void LS_STAGE ls_count_pairs(Pass pass, LS_GLOBAL u32 *LS_RESTRICT queue_lengths,
                                       LS_GLOBAL BounceCounters *LS_RESTRICT counters) {
    if (LS_GLOBAL_ID() != 0u) {
        return;
    }
    for (u32 bounce = 0u; bounce <= pass.bounces; bounce++) {
        LS_GLOBAL const u32 *of_bounce = &queue_lengths[PAIR_LENGTH(bounce, 0u)];
        counters[bounce].extension_rays += of_bounce[LIGHT_SUB_PATHS] + of_bounce[CAMERA_SUB_PATHS];
        counters[bounce].shadow_rays += of_bounce[LENS_SHADOW_RAYS] + of_bounce[CAMERA_SHADOW_RAYS];
    }
    for (u32 i = 0u; i < PAIR_LENGTHS * (pass.bounces + 2u); i++) {
        queue_lengths[i] = 0u;
    }
}
