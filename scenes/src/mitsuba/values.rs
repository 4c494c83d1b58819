//! Properties: numbers, colours, spectra and transforms from the attributes of an element.

use super::matrix::Matrix;
use super::object::{Value, shorten};
use super::xml::Element;
use crate::spectrum::{Sampled, srgb_to_linear};

/// The value of an element that is a property; `None` for other elements. Attributes have their parameters
/// filled in. `read_file` reads the file of a spectrum. The error is a sentence.
pub(super) fn value(
    element: &Element,
    read_file: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Option<Result<Value, String>> {
    Some(match element.tag.as_str() {
        "float" | "integer" => needed(element, "value").and_then(number).map(Value::Number),
        "boolean" => needed(element, "value").and_then(boolean).map(Value::Boolean),
        "string" => needed(element, "value").map(|text| Value::Text(text.to_owned())),
        "point" | "vector" => vector(element, 0.0).map(Value::Vector),
        "rgb" => rgb(element),
        "srgb" => rgb(element).map(|value| match value {
            Value::Rgb(c) => Value::Rgb(c.map(srgb_to_linear)),
            other => other,
        }),
        "spectrum" if element.attribute("type").is_none() => spectrum(element, read_file),
        "blackbody" => blackbody(element),
        "transform" => transform(element).map(Value::Transform),
        _ => return None,
    })
}

fn needed<'a>(element: &'a Element, name: &str) -> Result<&'a str, String> {
    let missing = || format!("the element `{}` needs the attribute `{name}`", element.tag);
    element.attribute(name).map(str::trim).ok_or_else(missing)
}

/// A finite number. The error is a sentence.
pub(super) fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (value as f32).is_finite() => Ok(value),
        _ => Err(format!("`{}` is not a finite number", shorten(text))),
    }
}

fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("`{}` is neither true nor false", shorten(text))),
    }
}

/// Numbers with commas or spaces between them.
fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    words.take(17).map(number).collect()
}

/// Three numbers in `value`, or one for all, or those of `x`, `y` and `z` with a default.
fn vector(element: &Element, default: f64) -> Result<[f64; 3], String> {
    if let Some(text) = element.attribute("value") {
        return match *numbers(text)?.as_slice() {
            [all] => Ok([all; 3]),
            [x, y, z] => Ok([x, y, z]),
            ref other => Err(format!("three numbers are expected here, not {}", other.len())),
        };
    }
    let mut out = [default; 3];
    for (slot, name) in out.iter_mut().zip(["x", "y", "z"]) {
        if let Some(text) = element.attribute(name) {
            *slot = number(text)?;
        }
    }
    Ok(out)
}

fn rgb(element: &Element) -> Result<Value, String> {
    let text = needed(element, "value")?;
    if let Some(digits) = text.strip_prefix('#') {
        let byte = |i: usize| digits.get(2 * i..2 * i + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        return match (byte(0), byte(1), byte(2)) {
            (Some(r), Some(g), Some(b)) if digits.len() == 6 => {
                Ok(Value::Rgb([r, g, b].map(|v| f32::from(v) / 255.0)))
            }
            _ => Err(format!("`{}` is not a colour of six hexadecimal digits", shorten(text))),
        };
    }
    match *numbers(text)?.as_slice() {
        [grey] => Ok(Value::Rgb([grey as f32; 3])),
        [r, g, b] => Ok(Value::Rgb([r, g, b].map(|v| v as f32))),
        ref other => Err(format!("a colour has one number or three, not {}", other.len())),
    }
}

fn spectrum(
    element: &Element,
    read_file: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Value, String> {
    if let Some(file) = element.attribute("filename") {
        return Sampled::parse_file(&read_file(file)?).map(Value::Spectrum);
    }
    let text = needed(element, "value")?;
    if text.contains(':') {
        return Sampled::parse(text).map(Value::Spectrum);
    }
    match *numbers(text)?.as_slice() {
        [value] => Ok(Value::Spectrum(Sampled::constant(value))),
        // Before version 2, three values were a colour.
        [r, g, b] => Ok(Value::Rgb([r, g, b].map(|v| v as f32))),
        ref other => {
            Err(format!("a spectrum has one value or pairs `wavelength:value`, not {} numbers", other.len()))
        }
    }
}

fn blackbody(element: &Element) -> Result<Value, String> {
    let kelvin = number(needed(element, "temperature")?.trim_end_matches(['k', 'K']))?;
    let scale = element.attribute("scale").map_or(Ok(1.0), number)?;
    blackbody_of(kelvin, scale)
}

/// A black body of a temperature. The error is a sentence.
pub(super) fn blackbody_of(kelvin: f64, scale: f64) -> Result<Value, String> {
    if !(100.0..=1e6).contains(&kelvin) {
        return Err(format!("a black body has 100 to 1,000,000 K, not {kelvin}"));
    }
    let color = Sampled::blackbody(kelvin).emission();
    Ok(Value::Rgb(color.map(|v| (f64::from(v) * scale) as f32)))
}

/// The steps of a transform, each applied after those before it.
fn transform(element: &Element) -> Result<Matrix, String> {
    let mut out = Matrix::IDENTITY;
    for step in &element.children {
        let next = self::step(step).map_err(|message| format!("`{}`: {message}", shorten(&step.tag)))?;
        out = next.after(&out);
    }
    if !out.is_finite() {
        return Err("the transform is not finite".into());
    }
    Ok(out)
}

fn step(element: &Element) -> Result<Matrix, String> {
    match element.tag.as_str() {
        "translate" => Ok(Matrix::translate(vector(element, 0.0)?)),
        "scale" => Ok(Matrix::scale(vector(element, 1.0)?)),
        "rotate" => {
            let axis = vector(element, 0.0)?;
            let angle = number(needed(element, "angle")?)?;
            Matrix::rotate(axis, angle).ok_or_else(|| "the axis is zero".into())
        }
        "lookat" | "lookAt" | "look_at" => {
            let of = |name: &str| {
                let text = needed(element, name)?;
                match *numbers(text)?.as_slice() {
                    [x, y, z] => Ok([x, y, z]),
                    ref other => Err(format!("`{name}` has three numbers, not {}", other.len())),
                }
            };
            let up = if element.attribute("up").is_some() { of("up")? } else { [0.0, 1.0, 0.0] };
            let (origin, target) = (of("origin")?, of("target")?);
            Matrix::look_at(origin, target, up)
                .ok_or_else(|| "the view is along `up`, or has no length".into())
        }
        "matrix" => matrix(&numbers(needed(element, "value")?)?),
        _ => Err("it is no step of a transform".into()),
    }
}

/// A map of 4 by 4 numbers, or of 3 by 3 for a linear one.
fn matrix(m: &[f64]) -> Result<Matrix, String> {
    match m.len() {
        9 => Ok(Matrix(std::array::from_fn(|i| [m[3 * i], m[3 * i + 1], m[3 * i + 2], 0.0]))),
        16 if m[12..] == [0.0, 0.0, 0.0, 1.0] => {
            Ok(Matrix(std::array::from_fn(|i| [m[4 * i], m[4 * i + 1], m[4 * i + 2], m[4 * i + 3]])))
        }
        16 => Err("the matrix is not affine: its last row must be 0 0 0 1".into()),
        count => Err(format!("a matrix has 16 numbers or 9, not {count}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::xml::parse;
    use super::*;
    use crate::limits::Budget;
    use crate::warning::Warnings;

    fn of(text: &str) -> Result<Value, String> {
        let element =
            parse(text.as_bytes(), "", &mut Budget::of_scene_elements(), &Warnings::new("s")).unwrap();
        value(&element, &mut |name| Ok(format!("400 0.5\n700 {}", name.len()).into_bytes())).unwrap()
    }

    fn point(text: &str, p: [f64; 3]) -> [f64; 3] {
        match of(&format!("<transform name=\"t\">{text}</transform>")) {
            Ok(Value::Transform(matrix)) => matrix.point(p),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_vectors_and_words_are_read() {
        assert_eq!(of("<float value=' 2.5e1 '/>"), Ok(Value::Number(25.0)));
        assert_eq!(of("<boolean value='True'/>"), Ok(Value::Boolean(true)));
        assert_eq!(of("<string value='a b'/>"), Ok(Value::Text("a b".into())));
        assert_eq!(of("<point x='1' z='3'/>"), Ok(Value::Vector([1.0, 0.0, 3.0])));
        assert_eq!(of("<vector value='1, 2  3'/>"), Ok(Value::Vector([1.0, 2.0, 3.0])));
    }

    #[test]
    fn colors_are_linear() {
        assert_eq!(of("<rgb value='0.5'/>"), Ok(Value::Rgb([0.5; 3])));
        assert_eq!(of("<rgb value='0.1, 0.2, 7'/>"), Ok(Value::Rgb([0.1, 0.2, 7.0])));
        assert_eq!(of("<rgb value='#ff0080'/>"), Ok(Value::Rgb([1.0, 0.0, 128.0 / 255.0])));
        let Ok(Value::Rgb([grey, ..])) = of("<srgb value='0.5'/>") else { panic!("srgb is a colour") };
        assert!((grey - 0.214_041).abs() < 1e-5);
        assert_eq!(of("<spectrum value='1 2 3'/>"), Ok(Value::Rgb([1.0, 2.0, 3.0])));
    }

    #[test]
    fn spectra_are_pairs_files_or_temperatures() {
        let pairs = Sampled::parse("400:0.5, 700:5").unwrap();
        assert_eq!(of("<spectrum value='400:0.5, 700:5'/>"), Ok(Value::Spectrum(pairs.clone())));
        assert_eq!(of("<spectrum filename='a.spd'/>"), Ok(Value::Spectrum(pairs)));
        let warm = of("<blackbody temperature='3000K' scale='2'/>");
        assert!(matches!(warm, Ok(Value::Rgb([r, g, b])) if r > g && g > b && b > 0.0), "{warm:?}");
    }

    #[test]
    fn steps_are_applied_in_the_order_of_the_file() {
        assert_eq!(point("<translate x='1'/><scale value='2'/>", [1.0, 1.0, 1.0]), [4.0, 2.0, 2.0]);
        assert_eq!(point("<scale x='2'/><rotate z='1' angle='90'/>", [1.0, 0.0, 0.0]), [0.0, 2.0, 0.0]);
        assert_eq!(
            point("<matrix value='0 1 0 5  1 0 0 6  0 0 1 7  0 0 0 1'/>", [1.0, 2.0, 3.0]),
            [7.0, 7.0, 10.0]
        );
        assert_eq!(point("<matrix value='0 1 0 1 0 0 0 0 1'/>", [1.0, 2.0, 3.0]), [2.0, 1.0, 3.0]);
        assert_eq!(point("<lookAt origin='0,0,5' target='0,0,0'/>", [0.0, 0.0, 5.0]), [0.0; 3]);
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for text in [
            "<float/>",
            "<float value='1e99'/>",
            "<float value='nan'/>",
            "<boolean value='1'/>",
            "<vector value='1 2'/>",
            "<rgb value='1 2'/>",
            "<rgb value='#ff00'/>",
            "<rgb value='#ééé'/>",
            "<spectrum value='1 2'/>",
            "<blackbody temperature='-1'/>",
            "<transform><shear x='1'/></transform>",
            "<transform><rotate angle='3'/></transform>",
            "<transform><matrix value='1 2 3'/></transform>",
            "<transform><matrix value='1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1'/></transform>",
            "<transform><lookat origin='0 0 0' target='0 1 0'/></transform>",
            "<transform><scale value='1e30'/><scale value='1e30'/></transform>",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
