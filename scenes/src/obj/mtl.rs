//! Material libraries.

use super::{lines, number, shorten};
use crate::warning::Warnings;
use lockstep_core::Result;

/// A texture statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Map {
    pub(super) file: String,
    pub(super) scale: [f32; 2],
    pub(super) offset: [f32; 2],
    pub(super) clamp: bool,
    /// `-bm`: height of bumps.
    pub(super) bump: f32,
}

/// A material as the library describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) diffuse: Option<[f32; 3]>,
    pub(super) specular: Option<[f32; 3]>,
    pub(super) emission: Option<[f32; 3]>,
    pub(super) shininess: Option<f32>,
    pub(super) ior: Option<f32>,
    pub(super) opacity: Option<f32>,
    pub(super) illum: Option<u32>,
    pub(super) roughness: Option<f32>,
    pub(super) metallic: Option<f32>,
    pub(super) diffuse_map: Option<Map>,
    pub(super) opacity_map: Option<Map>,
    pub(super) emission_map: Option<Map>,
    pub(super) bump_map: Option<Map>,
    pub(super) normal_map: Option<Map>,
}

/// Reads a library; `file` names it in messages.
pub(super) fn parse(bytes: &[u8], file: &str, warnings: &mut Warnings) -> Result<Vec<Entry>> {
    let mut out: Vec<Entry> = Vec::new();
    for (line, text) in lines(bytes) {
        let text = text.trim();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if keyword.is_empty() {
            continue;
        }
        if keyword == "newmtl" {
            out.push(Entry { name: rest.trim().to_string(), ..Entry::default() });
            continue;
        }
        let place = format!("{file} line {line}");
        match out.last_mut() {
            None => warnings.add(place, "a statement before the first `newmtl` is ignored"),
            Some(entry) => statement(entry, keyword, rest, line, file, warnings)?,
        }
    }
    Ok(out)
}

fn statement(
    entry: &mut Entry,
    keyword: &str,
    rest: &str,
    line: usize,
    file: &str,
    warnings: &mut Warnings,
) -> Result<()> {
    let place = format!("{file} line {line}");
    let scalar = |warnings: &Warnings| -> Result<Option<f32>> {
        let word = rest.split_whitespace().next().unwrap_or_default();
        value(word, &place, warnings).map(Some)
    };
    match keyword.to_ascii_lowercase().as_str() {
        "kd" => entry.diffuse = color(rest, &place, warnings)?,
        "ks" => entry.specular = color(rest, &place, warnings)?,
        "ke" => entry.emission = color(rest, &place, warnings)?,
        "ns" => entry.shininess = scalar(warnings)?,
        "ni" => entry.ior = scalar(warnings)?,
        "d" => {
            let word = rest.split_whitespace().find(|w| *w != "-halo").unwrap_or_default();
            entry.opacity = Some(value(word, &place, warnings)?);
        }
        "tr" => entry.opacity = scalar(warnings)?.map(|t| 1.0 - t),
        "illum" => entry.illum = scalar(warnings)?.map(|v| v as u32),
        "pr" => entry.roughness = scalar(warnings)?,
        "pm" => entry.metallic = scalar(warnings)?,
        "map_kd" => entry.diffuse_map = map(rest, &place, warnings)?,
        "map_d" => entry.opacity_map = map(rest, &place, warnings)?,
        "map_ke" => entry.emission_map = map(rest, &place, warnings)?,
        "map_bump" | "bump" => entry.bump_map = map(rest, &place, warnings)?,
        "norm" | "map_kn" => entry.normal_map = map(rest, &place, warnings)?,
        "ka" | "map_ka" | "tf" | "map_ks" | "map_ns" | "refl" | "sharpness" | "km" => {}
        "disp" | "map_disp" => {
            let message = "displacement maps of material libraries are not used: they have neither a size nor a bound. \
                           `displacement` in a scene.toml gives both";
            warnings.add(place, message);
        }
        other => warnings.add(place, format!("the keyword `{}` is ignored", shorten(other))),
    }
    Ok(())
}

fn value(word: &str, place: &str, warnings: &Warnings) -> Result<f32> {
    number(word, 0, warnings)
        .map_err(|_| warnings.error(place, format!("`{}` is not a finite number", shorten(word))))
}

/// One number for grey, or three.
fn color(rest: &str, place: &str, warnings: &mut Warnings) -> Result<Option<[f32; 3]>> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        ["spectral" | "xyz", ..] => {
            warnings.add(place, "spectral and XYZ colours are ignored");
            Ok(None)
        }
        [r] => value(r, place, warnings).map(|v| Some([v; 3])),
        [r, g, b, ..] => {
            Ok(Some([value(r, place, warnings)?, value(g, place, warnings)?, value(b, place, warnings)?]))
        }
        _ => Err(warnings.error(place, "a colour has one number or three")),
    }
}

/// Options and a file name, which may hold spaces.
fn map(rest: &str, place: &str, warnings: &mut Warnings) -> Result<Option<Map>> {
    let mut out = Map { file: String::new(), scale: [1.0; 2], offset: [0.0; 2], clamp: false, bump: 1.0 };
    let mut rest = rest.trim();
    while rest.starts_with('-') {
        let (option, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = tail.trim_start();
        let mut numbers = Vec::new();
        let wanted = match option {
            "-s" | "-o" | "-t" => 3,
            "-mm" => 2,
            "-bm" | "-boost" | "-texres" => 1,
            _ => 0,
        };
        while numbers.len() < wanted {
            let (word, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let Ok(number) = word.parse::<f32>() else { break };
            numbers.push(if number.is_finite() { number } else { 0.0 });
            rest = tail.trim_start();
        }
        let pair = |default: f32| {
            [numbers.first().copied().unwrap_or(default), numbers.get(1).copied().unwrap_or(default)]
        };
        match option {
            "-s" => out.scale = pair(1.0),
            "-o" => out.offset = pair(0.0),
            "-bm" => out.bump = pair(1.0)[0],
            _ if wanted > 0 => {}
            _ => {
                let (word, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                out.clamp |= option == "-clamp" && word == "on";
                rest = tail.trim_start();
            }
        }
    }
    out.file = rest.replace('\\', "/");
    if out.file.is_empty() {
        warnings.add(place, "the texture has no file name; it is left out");
        return Ok(None);
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Entry {
        parse(text.as_bytes(), "t.mtl", &mut Warnings::new("t.obj")).unwrap().remove(0)
    }

    #[test]
    fn statements_fill_an_entry() {
        let entry = one(
            "newmtl a b\nKd 0.5\nKe 1 2 3\nTr 0.25\nillum 2\nmap_Kd -s 2 3 1 -clamp on dir\\my file.png # x",
        );
        assert_eq!(
            (entry.name.as_str(), entry.diffuse, entry.emission),
            ("a b", Some([0.5; 3]), Some([1.0, 2.0, 3.0]))
        );
        assert_eq!((entry.opacity, entry.illum), (Some(0.75), Some(2)));
        let map = entry.diffuse_map.unwrap();
        assert_eq!((map.file.as_str(), map.scale, map.clamp), ("dir/my file.png", [2.0, 3.0], true));
    }

    #[test]
    fn maps_of_displacement_are_left_to_a_scene_toml() {
        let mut warnings = Warnings::new("t.obj");
        parse(b"newmtl a\ndisp heights.png\nmap_disp heights.png\n", "t.mtl", &mut warnings).unwrap();
        let list = warnings.finish();
        assert!(list.len() == 1 && list[0].count == 2 && list[0].message.contains("scene.toml"), "{list:?}");
    }

    #[test]
    fn mistakes_name_file_and_line() {
        let error =
            parse(b"newmtl a\n\nNs many", "t.mtl", &mut Warnings::new("t.obj")).unwrap_err().to_string();
        assert!(error.contains("t.mtl line 3: `many` is not a finite number"), "{error}");
    }
}
