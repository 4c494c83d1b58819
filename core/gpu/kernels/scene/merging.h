/* The grid in which merges are found. The counterpart of core/src/merging.rs, which computes a pass's constants. */

#define MERGE_MAX_CELL 1048575.0f

/* Coordinates of a cell. */
typedef struct {
    u32 at[3];
} Cell;

/* The first and the last cell of a box of cells. */
typedef struct {
    Cell first;
    Cell last;
} CellRange;

LS_INLINE u32 merging_limit(float v) {
    return (u32)math_clamp(v, 0.0f, MERGE_MAX_CELL);
}

/* The coordinates of the cell that contains a position. */
LS_INLINE Cell merging_merging_cell(Merging merging, Vec3 p) {
    Vec3 at = vec3_scale(vec3_sub(p, merging.origin), merging.cells_per_unit);
    Cell cell;
    cell.at[0] = merging_limit(at.x);
    cell.at[1] = merging_limit(at.y);
    cell.at[2] = merging_limit(at.z);
    return cell;
}

/* The first and the last cell of those that vertices lie in which merge with one at `p`. */
LS_INLINE CellRange merging_merging_cells_around(Merging merging, Vec3 p) {
    Vec3 reach = vec3_splat(merging.reach);
    CellRange range;
    range.first = merging_merging_cell(merging, vec3_sub(p, reach));
    range.last = merging_merging_cell(merging, vec3_add(p, reach));
    return range;
}

/* The bucket of a cell. Neighbours along the first axis have neighbouring buckets. */
LS_INLINE u32 merging_merging_bucket(Merging merging, Cell cell) {
    u32 row = cell.at[1] * 0x9e3779b1u ^ cell.at[2] * 0x85ebca77u;
    u32 mixed = (row ^ row >> 15) * 0xc2b2ae3du;
    return ((mixed ^ mixed >> 16) + cell.at[0]) & merging.bucket_mask;
}

/* True where vertices at these positions merge. */
LS_INLINE bool merging_merging_contains(Merging merging, Vec3 a, Vec3 b) {
    Vec3 between = vec3_sub(a, b);
    return vec3_dot(between, between) <= merging.radius2;
}
