//! One table of the words that mean the same in CUDA, OpenCL C, C and Rust.
//!
//! A row's words are lexed and looked for in a file's tokens, longest first; what is found becomes the row's
//! neutral word, or nothing. `{x}` and `{0}` stand for the axes `x`, `y`, `z` and `0`, `1`, `2`; `{n}` for 2,
//! 3, 4, 8 and 16; `{f}` for a mathematical function.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lexer::{Language, Token, tokens};

/// Words with one meaning.
struct Row {
    /// The neutral word for all of them; empty for words that only a compiler needs.
    neutral: &'static str,
    words: &'static [&'static str],
}

const fn row(neutral: &'static str, words: &'static [&'static str]) -> Row {
    Row { neutral, words }
}

/// Rows for every language.
const TABLE: &[Row] = &[
    // Qualifiers.
    row("kernel", &["extern \"C\" __global__", "__global__", "__kernel"]),
    row("shared", &["__shared__", "__local"]),
    row("constant", &["__constant__", "__constant"]),
    row("", &["__device__", "__host__", "__forceinline__", "__inline__", "__noinline__", "inline", "static"]),
    row(
        "",
        &["__global", "__private", "__restrict__", "__restrict", "restrict", "__read_only", "__write_only"],
    ),
    // Where a thread is.
    row(
        "global_id.{x}",
        &[
            "get_global_id({0})",
            "blockIdx.{x} * blockDim.{x} + threadIdx.{x}",
            "blockDim.{x} * blockIdx.{x} + threadIdx.{x}",
            "threadIdx.{x} + blockIdx.{x} * blockDim.{x}",
            "threadIdx.{x} + blockDim.{x} * blockIdx.{x}",
        ],
    ),
    row(
        "global_size.{x}",
        &["get_global_size({0})", "gridDim.{x} * blockDim.{x}", "blockDim.{x} * gridDim.{x}"],
    ),
    row("local_id.{x}", &["get_local_id({0})", "threadIdx.{x}"]),
    row("local_size.{x}", &["get_local_size({0})", "blockDim.{x}"]),
    row("group_id.{x}", &["get_group_id({0})", "blockIdx.{x}"]),
    row("groups.{x}", &["get_num_groups({0})", "gridDim.{x}"]),
    // Barriers and fences.
    row(
        "barrier",
        &[
            "__syncthreads()",
            "barrier(CLK_LOCAL_MEM_FENCE)",
            "barrier(CLK_GLOBAL_MEM_FENCE)",
            "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
            "work_group_barrier(CLK_LOCAL_MEM_FENCE)",
            "work_group_barrier(CLK_GLOBAL_MEM_FENCE)",
        ],
    ),
    row("fence", &["__threadfence()", "mem_fence(CLK_GLOBAL_MEM_FENCE)"]),
    row("fence_group", &["__threadfence_block()", "mem_fence(CLK_LOCAL_MEM_FENCE)"]),
    // Atomics.
    row("atomic_add", &["atomicAdd", "atom_add", "fetch_add"]),
    row("atomic_sub", &["atomicSub", "atom_sub", "fetch_sub"]),
    row("atomic_min", &["atomicMin", "atom_min", "fetch_min"]),
    row("atomic_max", &["atomicMax", "atom_max", "fetch_max"]),
    row("atomic_and", &["atomicAnd", "atom_and", "fetch_and"]),
    row("atomic_or", &["atomicOr", "atom_or", "fetch_or"]),
    row("atomic_xor", &["atomicXor", "atom_xor", "fetch_xor"]),
    row("atomic_swap", &["atomicExch", "atomic_xchg", "atom_xchg"]),
    row("atomic_cas", &["atomicCAS", "atomic_cmpxchg", "atom_cmpxchg"]),
    // Bits.
    row("bits_to_f32", &["__uint_as_float", "__int_as_float", "as_float", "from_bits"]),
    row("bits_of_f32", &["__float_as_uint", "__float_as_int", "as_uint", "as_int", "to_bits"]),
    row("popcount", &["__popc", "popcount", "count_ones"]),
    row("leading_zeros", &["__clz", "clz"]),
    row("mul_hi", &["__umulhi", "__mulhi"]),
    row("mul24", &["__mul24", "__umul24"]),
    // Mathematics.
    row("{f}", &["{f}f", "__{f}f", "native_{f}", "half_{f}"]),
    row("sqrt", &["__fsqrt_rn"]),
    row("fma", &["fmaf", "__fmaf_rn", "mad", "mul_add"]),
    row("min", &["fminf", "fmin"]),
    row("max", &["fmaxf", "fmax"]),
    row("abs", &["fabsf", "fabs"]),
    row("rsqrt", &["rsqrtf", "native_rsqrt", "half_rsqrt"]),
    // Vectors.
    row("float{n}(", &["make_float{n}(", "(float{n})("]),
    row("int{n}(", &["make_int{n}(", "(int{n})("]),
    row("uint{n}(", &["make_uint{n}(", "(uint{n})("]),
    row("uchar{n}(", &["make_uchar{n}(", "(uchar{n})("]),
    row("sample_image", &["tex2D", "read_imagef"]),
    // Scalars.
    row("f32", &["float", "cl_float"]),
    row("f64", &["double", "cl_double"]),
    row("u8", &["unsigned char", "uchar", "uint8_t", "cl_uchar"]),
    row("u16", &["unsigned short", "ushort", "uint16_t", "cl_ushort"]),
    row("u32", &["unsigned int", "unsigned", "uint", "uint32_t", "cl_uint"]),
    row("u64", &["unsigned long long", "unsigned long", "ulong", "uint64_t", "cl_ulong"]),
    row("i8", &["signed char", "char", "int8_t", "cl_char"]),
    row("i16", &["short", "int16_t", "cl_short"]),
    row("i32", &["int", "int32_t", "cl_int"]),
    row("i64", &["long long", "long", "int64_t", "cl_long"]),
    row("usize", &["size_t"]),
    // The host's calls.
    row("device_alloc", &["cudaMalloc", "cuMemAlloc", "clCreateBuffer"]),
    row("device_free", &["cudaFree", "cuMemFree", "clReleaseMemObject"]),
    row("device_wait", &["cudaDeviceSynchronize", "cuCtxSynchronize", "clFinish"]),
    row("device_launch", &["cudaLaunchKernel", "cuLaunchKernel", "clEnqueueNDRangeKernel"]),
    row("device_write", &["cuMemcpyHtoD", "clEnqueueWriteBuffer"]),
    row("device_read", &["cuMemcpyDtoH", "clEnqueueReadBuffer"]),
    row("device_stream", &["cudaStreamCreate", "cuStreamCreate", "clCreateCommandQueue"]),
];

/// Rows for OpenCL C alone: elsewhere these are names like any other.
const OPENCL_TABLE: &[Row] = &[
    row("kernel", &["kernel"]),
    row("shared", &["local"]),
    row("constant", &["constant"]),
    row("", &["global", "private", "read_only", "write_only"]),
];

/// Words that are dropped with the bracket behind them, since its content concerns a compiler alone.
pub(crate) const WITH_ARGUMENTS: [&str; 4] =
    ["__launch_bounds__", "__attribute__", "__align__", "__declspec"];

/// The functions `{f}` stands for.
const FUNCTIONS: [&str; 20] = [
    "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "pow",
    "floor", "ceil", "round", "trunc", "fmod", "hypot", "copysign",
];

/// A sequence of words and what it becomes.
struct Rule {
    words: Vec<&'static str>,
    neutral: &'static str,
}

/// Rules by their first word, longest first.
type Rules = HashMap<&'static str, Vec<Rule>>;

static RULES: LazyLock<Rules> = LazyLock::new(|| rules(&[TABLE]));
static OPENCL_RULES: LazyLock<Rules> = LazyLock::new(|| rules(&[TABLE, OPENCL_TABLE]));

/// The neutral word for the tokens at the front, and how many tokens it stands for.
pub(crate) fn neutral(front: &[Token<'_>], language: Language) -> Option<(&'static str, usize)> {
    let rules = if language == Language::OpenCl { &*OPENCL_RULES } else { &*RULES };
    let matches = |rule: &&Rule| {
        rule.words.len() <= front.len()
            && rule.words.iter().zip(front).all(|(word, token)| *word == token.text)
    };
    let rule = rules.get(front.first()?.text)?.iter().find(matches)?;
    Some((rule.neutral, rule.words.len()))
}

fn rules(tables: &[&'static [Row]]) -> Rules {
    let mut rules = Rules::new();
    let spelled = tables
        .iter()
        .flat_map(|table| table.iter())
        .flat_map(|row| row.words.iter().flat_map(|word| spellings(word, row.neutral)).collect::<Vec<_>>());
    let mut add = |text: String, neutral: String| {
        // The table lives as long as the program.
        let (text, neutral): (&'static str, &'static str) = (text.leak(), neutral.leak());
        let words: Vec<&str> = tokens(text, Language::C).iter().map(|t| t.text).collect();
        let Some(first) = words.first() else { return };
        let list = rules.entry(first).or_default();
        if list.iter().all(|rule| rule.words != words) {
            list.push(Rule { words, neutral });
        }
    };
    let spelled: Vec<(String, String)> = spelled.collect();
    // A neutral word stands for itself: `sqrt` is as little a chosen name as `sqrtf`.
    let themselves: Vec<(String, String)> = spelled.iter().map(|(_, to)| (to.clone(), to.clone())).collect();
    spelled.into_iter().chain(themselves).for_each(|(text, neutral)| add(text, neutral));
    for list in rules.values_mut() {
        list.sort_by_key(|rule| std::cmp::Reverse(rule.words.len()));
    }
    rules
}

/// A row's word with each value of its placeholder.
fn spellings(word: &str, neutral: &str) -> Vec<(String, String)> {
    let both = |from: &str, to: &str| (word.replace(from, to), neutral.replace(from, to));
    if neutral.contains("{x}") {
        let axis = |(number, letter): (&str, &str)| {
            (word.replace("{x}", letter).replace("{0}", number), neutral.replace("{x}", letter))
        };
        [("0", "x"), ("1", "y"), ("2", "z")].map(axis).to_vec()
    } else if neutral.contains("{n}") {
        ["2", "3", "4", "8", "16"].map(|n| both("{n}", n)).to_vec()
    } else if neutral.contains("{f}") {
        FUNCTIONS.map(|f| both("{f}", f)).to_vec()
    } else {
        vec![(word.to_owned(), neutral.to_owned())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neutral_of(text: &str, language: Language) -> Option<(&'static str, usize)> {
        neutral(&tokens(text, language), language)
    }

    #[test]
    fn words_of_both_apis_meet_in_one_neutral_word() {
        for (cuda, opencl) in [
            ("__global__", "__kernel"),
            ("blockIdx.y * blockDim.y + threadIdx.y", "get_global_id(1)"),
            ("threadIdx.x", "get_local_id(0)"),
            ("__syncthreads()", "barrier(CLK_LOCAL_MEM_FENCE)"),
            ("sqrtf", "native_sqrt"),
            ("make_float3(", "(float3)("),
            ("unsigned int", "uint"),
            ("__shared__", "local"),
            ("", "global"),
        ] {
            let cuda = if cuda.is_empty() { "" } else { neutral_of(cuda, Language::C).unwrap().0 };
            assert_eq!(cuda, neutral_of(opencl, Language::OpenCl).unwrap().0, "{opencl}");
        }
    }

    #[test]
    fn the_longest_row_wins_and_a_name_outside_opencl_stays_a_name() {
        assert_eq!(neutral_of("unsigned long long x", Language::C), Some(("u64", 3)));
        assert_eq!(neutral_of("local x", Language::C), None);
    }

    #[test]
    fn no_spelling_is_in_two_rows() {
        let rows = TABLE.iter().chain(OPENCL_TABLE);
        let mut all: Vec<String> = rows
            .flat_map(|row| row.words.iter().flat_map(|w| spellings(w, row.neutral)))
            .map(|(text, _)| text)
            .collect();
        all.sort();
        let twice: Vec<&[String]> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
