//! Copies with known changes: what each kind of copying does to the numbers.

use super::lexer::Language;
use super::similarity::{Matched, SHORTEST, Similarity, compare};
use super::sources::Source;

const CUDA: &str = r#"
// Sums rows.
extern "C" __global__ __launch_bounds__(256)
void row_sums(const float* __restrict__ values, float* sums, unsigned int width, unsigned int height)
{
    unsigned int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= height) return;
    float total = 0.f;
    for (unsigned int column = 0; column < width; ++column) {
        total += sqrtf(fabsf(values[row * width + column]));
    }
    sums[row] = total;
}

extern "C" __global__
void histogram(const unsigned char* pixels, unsigned int* bins, unsigned int count)
{
    __shared__ unsigned int local_bins[256];
    local_bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        atomicAdd(&local_bins[pixels[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local_bins[threadIdx.x]);
}

__device__ float3 reflected(float3 direction, float3 normal)
{
    float cosine = 2.0f * (direction.x * normal.x + direction.y * normal.y + direction.z * normal.z);
    return make_float3(direction.x - cosine * normal.x, direction.y - cosine * normal.y, direction.z - cosine * normal.z);
}
"#;

const OPENCL: &str = r#"
/* Sums rows, in OpenCL. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void row_sums(__global const float* restrict values, __global float* sums, uint width, uint height)
{
    uint row = get_global_id(0);
    if (row >= height) return;
    float total = 0.0f;
    for (uint column = 0; column < width; ++column) {
        total += sqrt(fabs(values[row * width + column]));
    }
    sums[row] = total;
}

kernel
void histogram(global const uchar* pixels, global uint* bins, uint count)
{
    local uint local_bins[256];
    local_bins[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        atomic_add(&local_bins[pixels[i]], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[get_local_id(0)], local_bins[get_local_id(0)]);
}

float3 reflected(float3 direction, float3 normal)
{
    float cosine = 2.0f * (direction.x * normal.x + direction.y * normal.y + direction.z * normal.z);
    return (float3)(direction.x - cosine * normal.x, direction.y - cosine * normal.y, direction.z - cosine * normal.z);
}
"#;

const UNRELATED: &str = r#"
struct Node { struct Node* next; int key; char name[32]; };
static struct Node* table[1024];
static unsigned hash(const char* text) {
    unsigned value = 5381;
    while (*text) value = value * 33 ^ (unsigned char)*text++;
    return value % 1024;
}
int insert(const char* text, int key) {
    struct Node* node = malloc(sizeof *node);
    if (node == NULL) { perror("malloc"); return -1; }
    strncpy(node->name, text, sizeof node->name - 1);
    node->name[31] = '\0';
    node->key = key;
    unsigned slot = hash(text);
    node->next = table[slot];
    table[slot] = node;
    return 0;
}
int lookup(const char* text) {
    for (struct Node* node = table[hash(text)]; node; node = node->next)
        if (!strcmp(node->name, text)) return node->key;
    return -1;
}
void release(void) {
    for (int slot = 0; slot < 1024; slot++) {
        while (table[slot]) { struct Node* gone = table[slot]; table[slot] = gone->next; free(gone); }
    }
}
"#;

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), language: Language::of(name.as_ref()).unwrap(), text: text.to_owned() }
}

fn compared(a: Source, b: Source) -> Similarity {
    compare(("a", &[a]), ("b", &[b]), SHORTEST)
}

/// Shares in per cent of the first side: raw, dialect, names.
fn shares(similarity: &Similarity) -> [f64; 3] {
    similarity.a.whole.levels.map(|matched: Matched| 100.0 * matched.share())
}

fn renamed(text: &str) -> String {
    let names = [
        ("row_sums", "add_up"),
        ("values", "input"),
        ("sums", "output"),
        ("width", "w"),
        ("height", "h"),
        ("column", "x"),
        ("row", "line"),
        ("total", "s"),
        ("histogram", "tally"),
        ("pixels", "bytes"),
        ("local_bins", "mine"),
        ("bins", "counts"),
        ("reflected", "mirror"),
        ("direction", "d"),
        ("normal", "n"),
        ("cosine", "c"),
    ];
    names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[test]
fn an_unchanged_copy_is_found_whole_whatever_its_comments_and_layout() {
    let squeezed = CUDA.replace("    ", "\t").replace("// Sums rows.", "/* something\n else */\n\n");
    let similarity = compared(source("a.cu", CUDA), source("b.cu", &squeezed));
    assert_eq!(shares(&similarity), [100.0; 3]);
    assert_eq!(similarity.a.whole.levels, similarity.b.whole.levels);
}

#[test]
fn a_copy_with_renamed_identifiers_is_found_once_names_are_neutral() {
    let [raw, _, names] = shares(&compared(source("a.cu", CUDA), source("b.cu", &renamed(CUDA))));
    assert_eq!(names, 100.0);
    assert!(raw < 30.0, "{raw}");
}

#[test]
fn a_copy_with_its_functions_in_another_order_is_found_at_every_level() {
    let parts: Vec<&str> = CUDA.split("\n\n").collect();
    let reordered = parts.iter().rev().copied().collect::<Vec<_>>().join("\n\n");
    assert_ne!(reordered, CUDA);
    for share in shares(&compared(source("a.cu", CUDA), source("b.cu", &reordered))) {
        assert!(share >= 95.0, "{share}");
    }
}

#[test]
fn a_translation_from_cuda_to_opencl_is_found_once_the_dialect_is_neutral() {
    let [raw, dialect, names] = shares(&compared(source("a.cu", CUDA), source("b.cl", OPENCL)));
    assert_eq!((dialect, names), (100.0, 100.0));
    assert!(raw < 60.0, "{raw}");
}

#[test]
fn a_translation_that_also_renames_and_reorders_is_found() {
    let changed =
        renamed(&OPENCL.split("\n\n").collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n\n"));
    let [_, _, names] = shares(&compared(source("a.cu", CUDA), source("b.cl", &changed)));
    assert!(names >= 95.0, "{names}");
}

#[test]
fn unrelated_code_is_not_found() {
    for share in shares(&compared(source("a.cu", CUDA), source("b.c", UNRELATED))) {
        assert!(share < 5.0, "{share}");
    }
}

#[test]
fn a_copied_part_is_counted_in_both_directions() {
    let both = format!("{CUDA}\n{UNRELATED}");
    let similarity = compared(source("a.cu", CUDA), source("b.cu", &both));
    let (a, b) = (similarity.a.whole.levels[0], similarity.b.whole.levels[0]);
    assert_eq!((a.matched, b.matched), (a.lines, a.lines));
    assert!(b.lines > a.lines);
}

#[test]
fn folders_and_pairs_name_where_the_copy_is() {
    let a = [source("kernels/sums.cu", CUDA), source("host/list.c", UNRELATED)];
    let b = [source("device/other.cl", OPENCL), source("tiny.c", "int x;")];
    let similarity = compare(("a", &a), ("b", &b), SHORTEST);
    assert_eq!(similarity.pairs.len(), 1);
    let pair = &similarity.pairs[0];
    assert_eq!((pair.a.name.as_str(), pair.b.name.as_str()), ("kernels/sums.cu", "device/other.cl"));
    let folders: Vec<(&str, f64)> =
        similarity.a.folders.iter().map(|part| (part.name.as_str(), part.levels[1].share())).collect();
    assert_eq!(folders, [("host", 0.0), ("kernels", 1.0)]);
}
