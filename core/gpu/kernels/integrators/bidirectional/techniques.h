/* The techniques that a program combines: all with LS_CONNECT_PAIRS, else those of light tracing. `Techniques` in
 * core/transport/src/integrators/bidirectional/mod.rs chooses in the same way. */

/* The weight of a contribution whose weight among all techniques is given. */
#ifdef LS_CONNECT_PAIRS
#define PAIR_WEIGHT(among_all) (among_all)
#define CAMERA_BOUNCES(pass) ((pass).bounces)
#else
#define PAIR_WEIGHT(among_all) 1.0f
#define CAMERA_BOUNCES(pass) 0u
#endif
