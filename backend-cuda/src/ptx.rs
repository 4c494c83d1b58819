//! Audit of the PTX of exact builds.
//!
//! The rules, for every instruction on floats:
//!
//! * `add`, `sub` and `mul` have `.rn`: without it, the driver's assembler may contract them.
//! * `div`, `rcp` and `sqrt` have `.rn`.
//! * No instruction has `.approx`, `.full`, `.ftz` or `.sat`, none is a `mad`, and none computes in 64 bits.
//! * A constant operand of `min` or `max` is no NaN, since only then do they equal the comparison in the
//!   source; that of `min` is no zero either, whose sign it treats otherwise.
//! * Every `fma`, and every `min` and `max` without a constant operand, is written in the source.
//!   [`with_marked_words`] returns a source whose `LS_FMA`, `LS_MIN` and `LS_MAX` put a mark beside their
//!   instruction. Each kernel of the plain build must have as many such instructions as the marked build has
//!   marks, which counts every inlined copy, and the marked build has none without a mark.

use std::collections::BTreeMap;

/// Comment of a marked instruction.
const MARK: &str = "dialect word";

/// Words of the kernel dialect that compile to one instruction: name, parameters, instruction.
const WORDS: [(&str, &[&str], &str); 3] = [
    ("LS_FMA", &["a", "b", "c"], "fma.rn.f32"),
    ("LS_MIN", &["a", "b"], "min.f32"),
    ("LS_MAX", &["a", "b"], "max.f32"),
];

/// A compat header whose [`WORDS`] compile to the same instructions with a mark.
pub(crate) fn with_marked_words(compat: &str) -> String {
    let mut lines: Vec<String> = compat.lines().map(str::to_owned).collect();
    for (word, parameters, instruction) in WORDS {
        let start = format!("#define {word}(");
        let found: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with(&start)).collect();
        assert_eq!(found.len(), 1, "compat.h defines {word} once, on one line");
        let operands: String = (1..=parameters.len()).map(|i| format!(", %{i}")).collect();
        let inputs: Vec<String> = parameters.iter().map(|name| format!("\"f\"({name})")).collect();
        let declared: Vec<String> = parameters.iter().map(|name| format!("float {name}")).collect();
        let (inputs, declared, names) = (inputs.join(", "), declared.join(", "), parameters.join(", "));
        lines[found[0]] = format!(
            "static __device__ __forceinline__ float marked_{word}({declared}) {{ float r; \
             asm(\"{instruction} %0{operands}; // {MARK}\" : \"=f\"(r) : {inputs}); return r; }}\n\
             #define {word}({names}) marked_{word}({names})"
        );
    }
    lines.join("\n")
}

/// For each kernel and each function that kernels call, the number of instructions that only [`WORDS`] may compile to, and of marks.
pub(crate) fn words_by_kernel(ptx: &str) -> BTreeMap<String, [usize; 2]> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut kernel = String::new();
    for line in ptx.lines() {
        if let Some(name) = defined(line) {
            kernel = name.to_owned();
            counts.entry(kernel.clone()).or_default();
        }
        let Some(count) = counts.get_mut(&kernel) else { continue };
        if instruction(line).is_some_and(is_of_a_word) {
            count[0] += 1;
        }
        if line.contains(MARK) {
            count[1] += 1;
        }
    }
    counts
}

/// The kernel or function whose definition a line begins: `.visible .entry name(`, or `.func  (.param ...)
/// name(` for a function that is called.
fn defined(line: &str) -> Option<&str> {
    let signature = line.strip_suffix('(')?;
    let after = signature.split_once(".entry ").or_else(|| signature.split_once(".func "))?.1;
    after.split_whitespace().last()
}

fn is_of_a_word((opcode, operands): (&str, &str)) -> bool {
    let is = |start: &str| opcode.starts_with(start);
    is("fma.") || ((is("min.f32") || is("max.f32")) && last_constant(operands).is_none())
}

/// Instructions that violate a rule other than the last.
pub(crate) fn violations(ptx: &str) -> Vec<String> {
    ptx.lines().filter(|line| instruction(line).is_some_and(violates_a_rule)).map(str::to_owned).collect()
}

/// Opcode and operands of a line, without its predicate.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let line = line.split("//").next()?.trim();
    let line = if line.starts_with('@') { line.split_once(char::is_whitespace)?.1.trim() } else { line };
    let (opcode, operands) = line.split_once(char::is_whitespace)?;
    let is_opcode = opcode.starts_with(|c: char| c.is_ascii_lowercase());
    (is_opcode && operands.ends_with(';')).then(|| (opcode, operands.trim_end_matches(';').trim()))
}

fn violates_a_rule((opcode, operands): (&str, &str)) -> bool {
    let parts: Vec<&str> = opcode.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    if has("f64") || ["approx", "full", "ftz", "sat"].into_iter().any(has) {
        return true;
    }
    if !has("f32") {
        return false;
    }
    match parts.first().copied().unwrap_or_default() {
        "add" | "sub" | "mul" | "div" | "rcp" | "sqrt" | "fma" => !has("rn"),
        "mad" | "sin" | "cos" | "ex2" | "lg2" | "rsqrt" | "tanh" => true,
        kind @ ("min" | "max") => {
            last_constant(operands).is_some_and(|value| value.is_nan() || (kind == "min" && value == 0.0))
        }
        _ => false,
    }
}

/// The value of the last operand, if it is a constant such as `0f3F800000`.
fn last_constant(operands: &str) -> Option<f32> {
    let digits = operands.rsplit(',').next()?.trim().strip_prefix("0f")?;
    u32::from_str_radix(digits, 16).ok().map(f32::from_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_found() {
        let bad = [
            "\tadd.f32 \t%f1, %f2, %f3;",
            "\tmul.rn.ftz.f32 \t%f1, %f2, %f3;",
            "\t@%p1 div.full.f32 \t%f1, %f2, %f3;",
            "\tsqrt.approx.f32 \t%f1, %f2;",
            "\trcp.approx.ftz.f32 \t%f1, %f2;",
            "\tmin.f32 \t%f1, %f2, 0f00000000;",
            "\tmax.f32 \t%f1, %f2, 0f7FC00000;",
            "\tcvt.f64.f32 \t%fd1, %f2;",
            "\tmad.rn.f32 \t%f1, %f2, %f3, %f4;",
        ];
        for line in bad {
            assert_eq!(violations(line), [line], "{line}");
        }
    }

    #[test]
    fn valid_lines_are_not_violations() {
        let good = [
            "\tadd.rn.f32 \t%f1, %f2, %f3;",
            "\tmul.lo.s32 \t%r1, %r2, %r3;",
            "\t@!%p1 sqrt.rn.f32 \t%f1, %f2;",
            "\tmax.f32 \t%f1, %f2, 0f00000000;",
            "\tmin.s32 \t%r1, %r2, %r3;",
            "\tcvt.rzi.s32.f32 \t%r1, %f2;",
            "// add.f32 in a comment;",
            ".visible .entry ls_generate(",
        ];
        for line in good {
            assert!(violations(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn instructions_of_words_are_counted_in_their_kernel() {
        let ptx = ".visible .entry a(\n)\n{\n\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n\tmin.f32 \t%f1, %f2, %f3;\n\
                   \tmax.f32 \t%f1, %f2, 0f00000000;\n}\n.visible .entry b(\n)\n{\n\
                   \tfma.rn.f32 %f1, %f2, %f3, %f4; // dialect word\n}\n";
        let counts = words_by_kernel(ptx);
        assert_eq!((counts["a"], counts["b"]), ([2, 0], [1, 1]));
        let called =
            ".func  (.param .align 4 .b8 func_retval0[16]) f(\n)\n{\n\tfma.rn.f32 %f1, %f2, %f3, %f4;\n}\n";
        assert_eq!(words_by_kernel(called)["f"], [1, 0]);
    }

    #[test]
    fn marked_words_are_functions_of_one_instruction() {
        let compat = "#define LS_FMA(a, b, c) f(a, b, c)\n#define LS_MIN(a, b) f(a, b)\n\
                      #define LS_MAX(a, b) f(a, b)\nx";
        let marked = with_marked_words(compat);
        assert!(
            marked.contains("asm(\"min.f32 %0, %1, %2; // dialect word\" : \"=f\"(r) : \"f\"(a), \"f\"(b))")
        );
        assert!(marked.contains("#define LS_FMA(a, b, c) marked_LS_FMA(a, b, c)") && marked.ends_with("\nx"));
    }
}
