//! Paths in words: a line for every quantity, the first that differs marked.

use lockstep_core::path_record::compare::{Divergence, Field, Value, distance, fields};
use lockstep_core::path_record::{PairStep, PathVertex, aligned};

/// Width of the names of quantities.
const NAME: usize = 28;

/// A part of a path: its heading, and its fields on one or two targets.
pub(super) struct Part {
    heading: String,
    fields: [Option<Vec<Field>>; 2],
}

/// The vertices of one path or two.
pub(super) fn parts_of_paths(paths: &[Vec<PathVertex>]) -> Vec<Part> {
    let vertices = paths.iter().map(Vec::len).max().unwrap_or(0);
    let fields_at = |path: usize, index: usize| Some(fields(paths.get(path)?.get(index)?).to_vec());
    let part = |index| Part {
        heading: format!("bounce {index}"),
        fields: [fields_at(0, index), fields_at(1, index)],
    };
    (0..vertices).map(part).collect()
}

/// The steps of one pair of sub-paths or two.
pub(super) fn parts_of_pairs(pairs: &[Vec<PairStep>]) -> Vec<Part> {
    let of = |index: usize| pairs.get(index).map(Vec::as_slice).unwrap_or_default();
    let part = |row: [Option<&PairStep>; 2]| Part {
        heading: row.iter().flatten().next().map_or_else(String::new, |step| step.name()),
        fields: row.map(|step| step.map(PairStep::fields)),
    };
    aligned(of(0), of(1)).into_iter().map(part).collect()
}

/// One path, or two side by side with what differs marked.
pub(super) fn paths(title: &str, names: &[String], parts: &[Part], first: Option<&Divergence>) -> String {
    let mut text = format!("{title}: {}\n", names.join(" and "));
    let mut found = false;
    for Part { heading, fields } in parts {
        text.push_str(&format!("\n{heading}\n"));
        match fields {
            [Some(a), Some(b)] => vertex_pair(&mut text, a, b, &mut found),
            [Some(a), None] if names.len() == 1 => vertex(&mut text, a),
            [alone, _] => {
                let name = names.get(usize::from(alone.is_none())).map_or("", String::as_str);
                text.push_str(&format!("  only on {name}\n"));
            }
        }
    }
    if let [_, _] = names {
        text.push_str(&format!("\n{}\n", verdict(names, parts, first)));
    }
    text
}

fn vertex(text: &mut String, of: &[Field]) {
    for field in of {
        if let Some(value) = &field.value {
            text.push_str(&format!("  {:NAME$}{value}\n", field.name));
        }
    }
}

fn vertex_pair(text: &mut String, a: &[Field], b: &[Field], found: &mut bool) {
    for (a, b) in a.iter().zip(b) {
        let line = match (&a.value, &b.value) {
            (None, None) => continue,
            (Some(x), Some(y)) if x.same(y) => format!("  {:NAME$}{x}", a.name),
            (x, y) => {
                let mark = if std::mem::replace(found, true) { "!" } else { ">" };
                format!("{mark} {:NAME$}{} | {}{}", a.name, shown(x), shown(y), apart(x, y))
            }
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn shown(value: &Option<Value>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// The distance of two numbers in words.
fn apart(a: &Option<Value>, b: &Option<Value>) -> String {
    let far = a.zip(*b).and_then(|(a, b)| distance(&a, &b));
    far.map_or_else(String::new, |d| format!("  ({} ulp)", d.ulps))
}

fn verdict(names: &[String], parts: &[Part], first: Option<&Divergence>) -> String {
    match first {
        None => format!("equal to the bit in all {} parts", parts.len()),
        Some(d) => format!(
            "they part at bounce {} in {} ({}): {} on {}, {} on {}{}",
            d.bounce,
            d.field,
            d.quantity.name(),
            shown(&d.a),
            names.first().map_or("", String::as_str),
            shown(&d.b),
            names.get(1).map_or("", String::as_str),
            apart(&d.a, &d.b)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::path_record::compare::first_difference;

    fn miss(t: f32, radiance: f32) -> Vec<PathVertex> {
        vec![PathVertex { t, radiance: [radiance; 3], direction: [0.0, 0.0, 1.0], ..PathVertex::default() }]
    }

    fn shown_pair(a: Vec<PathVertex>, b: Vec<PathVertex>) -> String {
        let first = first_difference(&a, &b);
        paths(
            "sky, pixel 1,2, sample 0, seed 0",
            &["cpu-bvh".into(), "opencl".into()],
            &parts_of_paths(&[a, b]),
            first.as_ref(),
        )
    }

    #[test]
    fn the_first_difference_is_marked_and_later_ones_are_shown() {
        insta::assert_snapshot!(shown_pair(miss(1.0, 0.5), miss(1.000_000_1, 0.25)), @r"
        sky, pixel 1,2, sample 0, seed 0: cpu-bvh and opencl

        bounce 0
          ray origin                  0 0 0
          ray direction               0 0 1
          throughput on arrival       0 0 0
          hit                         no
        > distance                    1 | 1.0000001  (1 ulp)
          radiance with emission      0 0 0
        ! radiance                    0.5 0.5 0.5 | 0.25 0.25 0.25  (8388608 ulp)

        they part at bounce 0 in distance (depth): 1 on cpu-bvh, 1.0000001 on opencl  (1 ulp)
        ");
    }

    #[test]
    fn equal_paths_are_printed_once() {
        let text = shown_pair(miss(1.0, 0.5), miss(1.0, 0.5));
        assert!(!text.contains('|') && text.ends_with("equal to the bit in all 1 parts\n"), "{text}");
    }
}
