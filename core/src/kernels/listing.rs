//! Assembled sources to be written out, for people and for other tools.

use super::Source;

/// Hexadecimal digits of a source's hash in a file name.
const DIGITS: usize = 16;

/// One assembled source and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Dialect and build: `opencl-exact-gpu`.
    pub name: String,
    /// What files of the dialect end in: `cl`, `cu`.
    pub extension: &'static str,
    /// The compiler's flags.
    pub flags: String,
    /// The source.
    pub source: Source,
}

impl Listing {
    /// A file name that tells the dialect, the build and the source's hash.
    pub fn file_name(&self) -> String {
        let hash = self.source.hash.get(..DIGITS).unwrap_or(&self.source.hash);
        format!("{}.{hash}.{}", self.name, self.extension)
    }

    /// The file's text: a comment that says how it was made, then the source as compilers get it. `program` is name and
    /// version of the program that writes it.
    pub fn text(&self, program: &str) -> String {
        format!(
            "/* The kernels of {program}: {}.\n\
             \x20* Assembled from core/kernels/*.h behind the backend's compat.h; a #line begins each part.\n\
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
    use crate::kernels::{Options, Part, assemble};

    #[test]
    fn the_hash_in_name_and_comment_is_that_of_what_follows() {
        let source = assemble("compat.h", "/* words */\n", &Options::default(), Part::Render);
        let hash = source.hash.clone();
        let listing = Listing { name: "x-exact".into(), extension: "cl", flags: "-a -b".into(), source };
        assert_eq!(listing.file_name(), format!("x-exact.{}.cl", &hash[..16]));
        let text = listing.text("lockstep 1");
        let (comment, rest) = text.split_once("*/\n").unwrap();
        assert_eq!(blake3::hash(rest.as_bytes()).to_hex().to_string(), hash);
        assert!(comment.contains(&hash) && comment.contains("-a -b") && comment.contains("lockstep 1"));
    }
}
