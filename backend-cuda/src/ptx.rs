//! What may and may not be in the PTX of an exact build.
//!
//! The rules, for every instruction on floats:
//!
//! * `add`, `sub` and `mul` say `.rn`: those that leave the rounding open may be contracted by the driver's assembler.
//! * `div`, `rcp` and `sqrt` say `.rn`.
//! * No instruction says `.approx`, `.full`, `.ftz` or `.sat`, none is a `mad`, and none computes in 64 bits.
//! * `min` and `max` have a constant operand that is no NaN, since only then are they the comparison that we wrote; a
//!   `min` has no zero, whose sign they treat otherwise.
//! * Every `fma` is one that we wrote. [`with_marked_fma`] gives a source whose `LS_FMA` leaves a mark beside its
//!   instruction; each kernel of the plain build must have as many `fma` as it has marks there, which counts every
//!   inlined copy, and the marked build no `fma` without a mark.

use std::collections::BTreeMap;

/// Begins the comment that a marked `fma` leaves.
const MARK: &str = "LS_FMA was here";

/// A compat header whose `LS_FMA` is the same instruction with a mark.
pub(crate) fn with_marked_fma(compat: &str) -> String {
    let marked = format!(
        "LS_FN float marked_fma(float a, float b, float c) {{ float r; \
         asm(\"fma.rn.f32 %0, %1, %2, %3; // {MARK}\" : \"=f\"(r) : \"f\"(a), \"f\"(b), \"f\"(c)); return r; }}\n\
         #define LS_FMA(a, b, c) marked_fma(a, b, c)"
    );
    let is_word = |line: &&str| line.starts_with("#define LS_FMA(");
    assert_eq!(compat.lines().filter(is_word).count(), 1, "compat.h defines LS_FMA once, on one line");
    let lines = compat.lines().map(|line| if is_word(&line) { marked.as_str() } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// `fma` instructions and marks of each kernel.
pub(crate) fn fma_by_kernel(ptx: &str) -> BTreeMap<String, [usize; 2]> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut kernel = String::new();
    for line in ptx.lines() {
        if let Some((_, after)) = line.split_once(".entry ") {
            kernel = after.trim_end_matches('(').to_owned();
            counts.entry(kernel.clone()).or_default();
        }
        let Some(count) = counts.get_mut(&kernel) else { continue };
        if instruction(line).is_some_and(|(opcode, _)| opcode.starts_with("fma.")) {
            count[0] += 1;
        }
        if line.contains(MARK) {
            count[1] += 1;
        }
    }
    counts
}

/// Instructions that break a rule other than the last.
pub(crate) fn breaches(ptx: &str) -> Vec<String> {
    ptx.lines().filter(|line| instruction(line).is_some_and(breaks_a_rule)).map(str::to_owned).collect()
}

/// Opcode and operands of a line, without its predicate.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let line = line.split("//").next()?.trim();
    let line = if line.starts_with('@') { line.split_once(char::is_whitespace)?.1.trim() } else { line };
    let (opcode, operands) = line.split_once(char::is_whitespace)?;
    let is_opcode = opcode.starts_with(|c: char| c.is_ascii_lowercase());
    (is_opcode && operands.ends_with(';')).then(|| (opcode, operands.trim_end_matches(';').trim()))
}

fn breaks_a_rule((opcode, operands): (&str, &str)) -> bool {
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
            let constant = operands.rsplit(',').next().and_then(|operand| constant(operand.trim()));
            constant.is_none_or(|value| value.is_nan() || (kind == "min" && value == 0.0))
        }
        _ => false,
    }
}

/// The value of a constant such as `0f3F800000`.
fn constant(operand: &str) -> Option<f32> {
    let digits = operand.strip_prefix("0f")?;
    u32::from_str_radix(digits, 16).ok().map(f32::from_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_break_a_rule_are_found() {
        let bad = [
            "\tadd.f32 \t%f1, %f2, %f3;",
            "\tmul.rn.ftz.f32 \t%f1, %f2, %f3;",
            "\t@%p1 div.full.f32 \t%f1, %f2, %f3;",
            "\tsqrt.approx.f32 \t%f1, %f2;",
            "\trcp.approx.ftz.f32 \t%f1, %f2;",
            "\tmin.f32 \t%f1, %f2, %f3;",
            "\tmin.f32 \t%f1, %f2, 0f00000000;",
            "\tmax.f32 \t%f1, %f2, 0f7FC00000;",
            "\tcvt.f64.f32 \t%fd1, %f2;",
            "\tmad.rn.f32 \t%f1, %f2, %f3, %f4;",
        ];
        for line in bad {
            assert_eq!(breaches(line), [line], "{line}");
        }
    }

    #[test]
    fn lines_that_keep_the_rules_are_not() {
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
            assert!(breaches(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn fma_are_counted_in_their_kernel() {
        let ptx = ".visible .entry a(\n)\n{\n\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n}\n.visible .entry b(\n)\n{\n\
                   \tfma.rn.f32 %f1, %f2, %f3, %f4; // LS_FMA was here\n}\n";
        let counts = fma_by_kernel(ptx);
        assert_eq!((counts["a"], counts["b"]), ([1, 0], [1, 1]));
    }
}
