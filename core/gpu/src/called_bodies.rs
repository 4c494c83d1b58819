//! Kernels whose code is in functions that they call.
//!
//! PoCL compiles the code of a kernel three times, for its ways to launch it. A kernel that calls a function with all of
//! its code is compiled in a third of the time, and runs as fast: a work-item makes one call.

/// The define under which the dialect's words about a work-item are those of the parameter `item` of a body.
pub(crate) const CALLED_BODIES: &str = "LS_CALLED_BODIES";

/// The start of a kernel in a header.
const KERNEL: &str = "LS_KERNEL void ";

/// A header with each of its kernels turned into a function, its body, followed on the same line by a kernel that calls it.
pub(crate) fn called_bodies(header: &str) -> String {
    let mut parts = header.split(KERNEL);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for kernel in parts {
        match of_kernel(kernel) {
            Some(called) => text.push_str(&called),
            None => text.extend([KERNEL, kernel]),
        }
    }
    text
}

/// The body and the kernel of the text behind [`KERNEL`]; `None` where that is no kernel of the usual form.
fn of_kernel(text: &str) -> Option<String> {
    let (head, rest) = text.split_once('(')?;
    let (parameters, rest) = rest.split_once(')')?;
    let (code, rest) = rest.split_once("\n}")?;
    let name = head.split_whitespace().last()?;
    let arguments: Vec<&str> = parameters.split(',').map(argument).collect();
    let arguments = arguments.join(", ");
    let on_one_line = parameters.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!(
        "LS_BODY void {name}_body(WorkItem item, {parameters}){code}\n}} \
         {KERNEL}{head}({on_one_line}) {{ {name}_body(LS_WORK_ITEM(), {arguments}); }}{rest}"
    ))
}

/// The argument for a parameter, which ends with its name; the macro of the scene's parameters has one for its arguments.
fn argument(parameter: &str) -> &str {
    let name =
        parameter.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or(parameter);
    if name == "LS_SCENE_PARAMETERS" { "LS_SCENE_ARGUMENTS" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_calls_a_function_with_its_code_on_the_same_lines() {
        let header = "/* A */\nLS_KERNEL void LS_STAGE ls_a(LS_SCENE_PARAMETERS, Pass pass,\n    LS_GLOBAL u32 *b) {\n    c();\n}\n\nd\n";
        let expected = "/* A */\nLS_BODY void ls_a_body(WorkItem item, LS_SCENE_PARAMETERS, Pass pass,\n    LS_GLOBAL u32 *b) {\n    \
            c();\n} LS_KERNEL void LS_STAGE ls_a(LS_SCENE_PARAMETERS, Pass pass, LS_GLOBAL u32 *b) { ls_a_body(LS_WORK_ITEM(), \
            LS_SCENE_ARGUMENTS, pass, b); }\n\nd\n";
        assert_eq!(called_bodies(header), expected);
        assert_eq!(called_bodies("no kernel\n"), "no kernel\n");
    }
}
