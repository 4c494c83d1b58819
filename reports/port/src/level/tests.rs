use super::*;
use crate::lexer::tokens;

fn codes(text: &str, language: Language, level: Level) -> Vec<u64> {
    symbols(&tokens(text, language), language, level).iter().map(|s| s.code).collect()
}

#[test]
fn numbers_are_equal_whatever_their_suffix() {
    for (a, b) in
        [("1.f", "1.0"), ("0xFFu", "0xff"), ("1'000u", "1_000u32"), (".5F", "0.5f32"), ("1e3f", "1e3")]
    {
        assert_eq!(number(a), number(b));
    }
    assert_ne!(number("0x1f"), number("0x1"));
}

#[test]
fn the_dialect_does_not_count_but_the_names_do() {
    let cuda = "extern \"C\" __global__ __launch_bounds__(128) void k(float *a) { a[threadIdx.x] = 1.f; }";
    let opencl = "__kernel void k(__global float *a) { a[get_local_id(0)] = 1.0f; }";
    let renamed = "__kernel void k(__global float *b) { b[get_local_id(0)] = 1.0f; }";
    let level = Level::Dialect;
    assert_eq!(codes(cuda, Language::C, level), codes(opencl, Language::OpenCl, level));
    assert_ne!(codes(opencl, Language::OpenCl, level), codes(renamed, Language::OpenCl, level));
    assert_ne!(codes(cuda, Language::C, Level::Raw), codes(opencl, Language::OpenCl, Level::Raw));
}

#[test]
fn consistent_renaming_does_not_count_but_another_use_of_names_does() {
    let (a, b, c) = ("x = y * y + x;", "p = q * q + p;", "p = q * p + q;");
    let level = Level::Names;
    assert_eq!(codes(a, Language::C, level), codes(b, Language::C, level));
    assert_ne!(codes(a, Language::C, level), codes(c, Language::C, level));
}

#[test]
fn the_order_of_functions_does_not_count_for_names() {
    let (f, g) = ("void f(int a) { a = b + a; }", "void g(int b) { b = b * f; }");
    let mut apart = codes(f, Language::C, Level::Names);
    apart.extend(codes(g, Language::C, Level::Names));
    assert_eq!(codes(&format!("{f}\n{g}"), Language::C, Level::Names), apart);
}

#[test]
fn rust_and_c_meet_where_tokens_allow() {
    let c = "const float s = a.x * b.x + (float)n; if (s > 0.0f) { hits->count += 1u; }";
    let rust = "let s: f32 = a.x * b.x + n as f32; if s > 0.0 { hits.count += 1; }";
    assert_eq!(codes(c, Language::C, Level::Names), codes(rust, Language::Rust, Level::Names));
}
