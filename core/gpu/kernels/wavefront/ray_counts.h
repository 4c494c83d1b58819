/* Ray counts of a path's bounces. With LS_GROUP_COMPACTION a work-group counts the first bounces in local
 * memory and adds to each counter once at the end. */
#define EXTENSION_RAYS 0u
#define HITS 1u
#define SHADOW_RAYS 2u
#define UNOCCLUDED 3u

LS_FN LS_GLOBAL u32 *counter_of(LS_GLOBAL BounceCounters *counters, u32 index) {
    return (LS_GLOBAL u32 *)counters + index;
}

#ifdef LS_GROUP_COMPACTION
/* Counters of a work-group, for the first eight bounces. */
#define GROUP_COUNTERS 32u
#define LS_GROUP_TALLY(name) LS_LOCAL u32 name[GROUP_COUNTERS]

LS_FN void tally_begin(LS_LOCAL_POINTER u32 *tally) {
    for (u32 i = LS_LOCAL_ID(); i < GROUP_COUNTERS; i += LS_LOCAL_SIZE()) {
        tally[i] = 0u;
    }
    LS_BARRIER();
}

LS_FN void tally_count(LS_GLOBAL BounceCounters *counters, u32 bounce, u32 what, LS_LOCAL_POINTER u32 *tally) {
    u32 index = 4u * bounce + what;
    if (index < GROUP_COUNTERS) {
        LS_ATOMIC_ADD(&tally[index], 1u);
    } else {
        LS_ATOMIC_ADD(counter_of(counters, index), 1u);
    }
}

LS_FN void tally_end(LS_GLOBAL BounceCounters *counters, LS_LOCAL_POINTER u32 *tally) {
    LS_BARRIER();
    for (u32 i = LS_LOCAL_ID(); i < GROUP_COUNTERS; i += LS_LOCAL_SIZE()) {
        if (tally[i] > 0u) {
            LS_ATOMIC_ADD(counter_of(counters, i), tally[i]);
        }
    }
}
#else
#define LS_GROUP_TALLY(name) LS_LOCAL_POINTER u32 *name = 0

LS_FN void tally_begin(LS_LOCAL_POINTER u32 *tally) {
    (void)tally;
}

LS_FN void tally_count(LS_GLOBAL BounceCounters *counters, u32 bounce, u32 what, LS_LOCAL_POINTER u32 *tally) {
    (void)tally;
    LS_ATOMIC_ADD(counter_of(counters, 4u * bounce + what), 1u);
}

LS_FN void tally_end(LS_GLOBAL BounceCounters *counters, LS_LOCAL_POINTER u32 *tally) {
    (void)counters;
    (void)tally;
}
#endif
