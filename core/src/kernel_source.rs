//! Assembled device code, as compilers receive it and as `--dump-kernels` writes it.

/// Hexadecimal digits of a source's hash in a file name.
const DIGITS: usize = 16;

/// Device code of one program, assembled from several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSource {
    /// The whole text: option defines, compat header, shared kernels.
    pub text: String,
    /// BLAKE3 of the text, in hexadecimal.
    pub hash: String,
    /// File name and text of each part, for writing them out.
    pub files: Vec<(String, String)>,
}

impl KernelSource {
    /// Joins files, each behind a `#line` directive, so that compile errors name the file.
    pub fn of(files: Vec<(String, String)>) -> Self {
        let text: String = files.iter().map(|(name, part)| format!("#line 1 \"{name}\"\n{part}\n")).collect();
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Self { text, hash, files }
    }
}

/// One assembled source with its compiler flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslationUnit {
    /// Dialect and build: `opencl-exact-gpu`.
    pub name: String,
    /// File extension of the dialect: `cl`, `cu`.
    pub extension: &'static str,
    /// The compiler's flags.
    pub flags: String,
    /// The source.
    pub source: KernelSource,
}

impl TranslationUnit {
    /// A file name with the dialect, the build and the source's hash.
    pub fn file_name(&self) -> String {
        let hash = self.source.hash.get(..DIGITS).unwrap_or(&self.source.hash);
        format!("{}.{hash}.{}", self.name, self.extension)
    }

    /// The file's text: a comment on its origin, then the source as compilers receive it. `program` is name
    /// and version of the writing program.
    pub fn text(&self, program: &str) -> String {
        format!(
            "/* The kernels of {program}: {}.\n\
             \x20* Assembled from core/gpu/kernels behind the backend's compat.h; a #line begins each part.\n\
             \x20* Compiled with: {}\n\
             \x20* BLAKE3 of all that follows this comment's last line: {}\n\
             \x20*/\n{}",
            self.name, self.flags, self.source.hash, self.source.text
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_in_name_and_comment_is_that_of_the_source() {
        let source = KernelSource::of(vec![("compat.h".into(), "/* words */\n".into())]);
        let hash = source.hash.clone();
        let unit = TranslationUnit { name: "x-exact".into(), extension: "cl", flags: "-a -b".into(), source };
        assert_eq!(unit.file_name(), format!("x-exact.{}.cl", &hash[..16]));
        let text = unit.text("lockstep 1");
        let (comment, rest) = text.split_once("*/\n").unwrap();
        assert_eq!(blake3::hash(rest.as_bytes()).to_hex().to_string(), hash);
        assert!(comment.contains(&hash) && comment.contains("-a -b") && comment.contains("lockstep 1"));
    }
}
