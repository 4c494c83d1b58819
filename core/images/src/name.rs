//! Names of image files: `<scene>.<target>.<spp>spp.<kind>`, and `<scene>.<target>.<spp>spp.s<seed>.<kind>`
//! for another seed than a study's first.
//!
//! Scene and target names are free text, so characters other than ASCII letters, digits, `_`, `-` and `@` are
//! written as `%` and two hexadecimal digits for each byte of their UTF-8 form. The dots between the parts
//! are then unambiguous, no name can leave its folder, and [`ImageName::parse`] is the inverse of
//! [`ImageName::file_name`].

/// The two kinds of image that a study keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImageKind {
    /// Linear f32, OpenEXR.
    Exr,
    /// 8-bit sRGB, PNG.
    Png,
}

impl ImageKind {
    /// The file extension, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            ImageKind::Exr => "exr",
            ImageKind::Png => "png",
        }
    }
}

/// The name of an image file in parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageName {
    /// Scene name.
    pub scene: String,
    /// Target name, as in records.
    pub target: String,
    /// Samples per pixel.
    pub spp: u32,
    /// Random seed; nothing for a study's first.
    pub seed: Option<u64>,
    /// File kind.
    pub kind: ImageKind,
}

impl ImageName {
    /// The file name, without a folder.
    pub fn file_name(&self) -> String {
        let seed = self.seed.map(|seed| format!(".s{seed}")).unwrap_or_default();
        format!(
            "{}.{}.{}spp{seed}.{}",
            encode_name(&self.scene),
            encode_name(&self.target),
            self.spp,
            self.kind.extension()
        )
    }

    /// Reads a file name; nothing if it is not one that [`ImageName::file_name`] makes.
    pub fn parse(file_name: &str) -> Option<Self> {
        let mut parts = file_name.split('.');
        let scene = decode_name(parts.next()?)?;
        let target = decode_name(parts.next()?)?;
        let spp = parts.next()?.strip_suffix("spp")?.parse().ok()?;
        let mut last = parts.next()?;
        let mut seed = None;
        if let Some(number) = last.strip_prefix('s') {
            seed = Some(number.parse().ok()?);
            last = parts.next()?;
        }
        let kind = match last {
            "exr" => ImageKind::Exr,
            "png" => ImageKind::Png,
            _ => return None,
        };
        let name = Self { scene, target, spp, seed, kind };
        (parts.next().is_none() && name.file_name() == file_name).then_some(name)
    }
}

/// The file name of the p-value map of two targets: `<scene>.<a>.<b>.<spp>spp.p.png`.
pub fn p_map_name(scene: &str, a: &str, b: &str, spp: u32) -> String {
    format!("{}.{}.{}.{spp}spp.p.png", encode_name(scene), encode_name(a), encode_name(b))
}

/// Whether a file is named as maps are: by scene, two targets, samples per pixel and what it shows.
pub fn is_map_name(file_name: &str) -> bool {
    let is_spp = |part: &str| part.strip_suffix("spp").is_some_and(|digits| digits.parse::<u32>().is_ok());
    match file_name.split('.').collect::<Vec<_>>()[..] {
        [scene, _, _, spp, _, "png"] | [scene, _, _, spp, _, _, "png"] => !scene.is_empty() && is_spp(spp),
        _ => false,
    }
}

/// Encodes a name as a part of a file name, unsafe bytes as `%XX`. An empty name is a single `%`.
pub fn encode_name(name: &str) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    let mut encoded = String::with_capacity(name.len());
    for (i, byte) in name.bytes().enumerate() {
        let safe = byte.is_ascii_alphanumeric()
            || byte == b'_'
            || matches!(byte, b'@' | b'+')
            || (byte == b'-' && i > 0);
        if safe {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// The inverse of [`encode_name`]; nothing if the text is not one that it makes.
pub fn decode_name(encoded: &str) -> Option<String> {
    if encoded == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    (encode_name(&name) == encoded).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_value_maps_are_told_from_renders() {
        let name = p_map_name("a b", "cpu-bvh", "cuda@0", 64);
        assert_eq!(name, "a%20b.cpu-bvh.cuda@0.64spp.p.png");
        assert!(is_map_name(&name) && ImageName::parse(&name).is_none());
    }
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_stay_readable() {
        let name = ImageName {
            scene: "cornell".into(),
            target: "opencl@pocl".into(),
            spp: 1024,
            seed: None,
            kind: ImageKind::Exr,
        };
        assert_eq!(name.file_name(), "cornell.opencl@pocl.1024spp.exr");
        assert_eq!(ImageName::parse("cornell.opencl@pocl.1024spp.exr"), Some(name.clone()));
        let other_seed = ImageName { seed: Some(7), ..name };
        assert_eq!(other_seed.file_name(), "cornell.opencl@pocl.1024spp.s7.exr");
    }

    #[test]
    fn names_cannot_leave_the_folder_or_look_like_options() {
        assert_eq!(encode_name("../../etc"), "%2E%2E%2F%2E%2E%2Fetc");
        assert_eq!(encode_name("-rf"), "%2Drf");
    }

    #[test]
    fn other_files_are_not_taken_for_images() {
        for name in [
            "a.b.exr",
            "a.b.4spp.jpg",
            "a.b.04spp.png",
            "a.b.+4spp.png",
            "a.b.c.4spp.png",
            "a.b.4spp.s07.png",
            "a.b.4spp.7.png",
            ".a.b.4spp.exr.1.tmp",
        ] {
            assert_eq!(ImageName::parse(name), None, "{name}");
        }
        assert_eq!(decode_name("%4"), None);
        assert_eq!(decode_name("%61"), None, "a letter is never escaped");
    }

    proptest! {
        #[test]
        fn any_name_survives_the_way_through_a_file_name(
            scene in ".*", target in ".*", spp: u32, seed: Option<u64>,
        ) {
            let name = ImageName { scene, target, spp, seed, kind: ImageKind::Png };
            let file = name.file_name();
            prop_assert!(!file.contains('/') && !file.contains('\\') && file.is_ascii());
            prop_assert_eq!(ImageName::parse(&file), Some(name));
        }
    }
}
