/* The techniques that a program combines. `Techniques` in core/transport/src/integrators/bidirectional/mod.rs
 * chooses in the same way.
 *
 * LS_CONNECT_PAIRS: camera sub-paths are connected to lights and to light sub-paths. LS_MERGE: they merge with
 * photons, and without connections only at their first vertex that is not specular where the pass says so. With none of
 * them light sub-paths alone are traced, and camera rays. */

/* Merges without connections. */
#if defined(LS_MERGE) && !defined(LS_CONNECT_PAIRS)
#define LS_MERGE_ALONE 1
#endif

/* The weight of a connection whose weight among all techniques is given. */
#ifdef LS_CONNECT_PAIRS
#define PAIR_WEIGHT(among_all) (among_all)
#else
#define PAIR_WEIGHT(among_all) 1.0f
#endif

/* The last bounce of camera sub-paths. */
#if defined(LS_CONNECT_PAIRS) || defined(LS_MERGE)
#define CAMERA_BOUNCES(pass) ((pass).bounces)
#else
#define CAMERA_BOUNCES(pass) 0u
#endif

/* The weight of light that a camera sub-path hits: `specular` where merges cannot find it. */
#ifdef LS_MERGE_ALONE
#define EMISSION_WEIGHT(among_all, specular) ((specular) ? 1.0f : 0.0f)
#else
#define EMISSION_WEIGHT(among_all, specular) PAIR_WEIGHT(among_all)
#endif

/* True where a camera sub-path can find light beyond a vertex, `specular` where all its vertices are, and the weight
 * of a merge. */
#ifdef LS_MERGE_ALONE
#define CAMERA_CONTINUES(pass, bounce, specular) \
    ((specular) || ((pass).merging[0].first_only == 0u && (bounce) + 1u < (pass).bounces))
#define MERGE_WEIGHT(merging, among_all) ((merging).first_only != 0u ? 1.0f : (among_all))
#else
#define CAMERA_CONTINUES(pass, bounce, specular) true
#define MERGE_WEIGHT(merging, among_all) (among_all)
#endif
