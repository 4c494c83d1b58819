//! What may and may not be in the PTX of an exact build.
//!
//! The rules, for every instruction on floats:
//!
//! * `add`, `sub` and `mul` say `.rn`: those that leave the rounding open may be contracted by the driver's assembler.
//! * `div`, `rcp` and `sqrt` say `.rn`.
//! * No instruction says `.approx`, `.full`, `.ftz` or `.sat`, none is a `mad`, and none computes in 64 bits.
//! * `min` and `max` with a constant operand have none that is a NaN, since only then are they the comparison that we
//!   wrote; such a `min` has no zero, whose sign it treats otherwise.
//! * Every `fma`, and every `min` and `max` without a constant operand, is one that we wrote. [`with_marked_words`] gives
//!   a source whose `LS_FMA`, `LS_MIN` and `LS_MAX` leave a mark beside their instruction; each kernel of the plain build
//!   must have as many of them as it has marks there, which counts every inlined copy, and the marked build none
//!   without a mark.

use std::collections::BTreeMap;

/// Begins the comment that a marked instruction leaves.
const MARK: &str = "a word was here";

/// The words that are one instruction, with their parameters and that instruction.
const WORDS: [(&str, &[&str], &str); 3] = [
    ("LS_FMA", &["a", "b", "c"], "fma.rn.f32"),
    ("LS_MIN", &["a", "b"], "min.f32"),
    ("LS_MAX", &["a", "b"], "max.f32"),
];

/// A compat header whose [`WORDS`] are the same instructions with a mark.
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
            "LS_FN float marked_{word}({declared}) {{ float r; \
             asm(\"{instruction} %0{operands}; // {MARK}\" : \"=f\"(r) : {inputs}); return r; }}\n\
             #define {word}({names}) marked_{word}({names})"
        );
    }
    lines.join("\n")
}

/// Instructions that only [`WORDS`] may make, and marks, of each kernel.
pub(crate) fn words_by_kernel(ptx: &str) -> BTreeMap<String, [usize; 2]> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut kernel = String::new();
    for line in ptx.lines() {
        if let Some((_, after)) = line.split_once(".entry ") {
            kernel = after.trim_end_matches('(').to_owned();
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

fn is_of_a_word((opcode, operands): (&str, &str)) -> bool {
    let is = |start: &str| opcode.starts_with(start);
    is("fma.") || ((is("min.f32") || is("max.f32")) && last_constant(operands).is_none())
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
    fn lines_that_break_a_rule_are_found() {
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
    fn instructions_of_words_are_counted_in_their_kernel() {
        let ptx = ".visible .entry a(\n)\n{\n\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n\tmin.f32 \t%f1, %f2, %f3;\n\
                   \tmax.f32 \t%f1, %f2, 0f00000000;\n}\n.visible .entry b(\n)\n{\n\
                   \tfma.rn.f32 %f1, %f2, %f3, %f4; // a word was here\n}\n";
        let counts = words_by_kernel(ptx);
        assert_eq!((counts["a"], counts["b"]), ([2, 0], [1, 1]));
    }

    #[test]
    fn marked_words_are_functions_of_one_instruction() {
        let compat = "#define LS_FMA(a, b, c) f(a, b, c)\n#define LS_MIN(a, b) f(a, b)\n#define LS_MAX(a, b) f(a, b)\nx";
        let marked = with_marked_words(compat);
        assert!(
            marked
                .contains("asm(\"min.f32 %0, %1, %2; // a word was here\" : \"=f\"(r) : \"f\"(a), \"f\"(b))")
        );
        assert!(marked.contains("#define LS_FMA(a, b, c) marked_LS_FMA(a, b, c)") && marked.ends_with("\nx"));
    }
}
