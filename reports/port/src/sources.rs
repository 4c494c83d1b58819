//! Source files of a folder.

use std::path::{Path, PathBuf};

use super::lexer::{Language, Token, tokens};

/// Folders deeper than this are refused, so that a link to a parent cannot hang the walk.
const MAX_DEPTH: usize = 64;

/// Names of folders that hold no sources: build outputs and the books of version control.
const SKIPPED: [&str; 3] = ["target", "node_modules", "build"];

/// One source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path below the given folder, with `/`; for a single file, its name.
    pub name: String,
    /// The language, by its extension.
    pub language: Language,
    /// The content. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

impl Source {
    /// The file's tokens.
    pub fn tokens(&self) -> Vec<Token<'_>> {
        tokens(&self.text, self.language)
    }
}

/// Why sources could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The system refused.
    #[error("cannot read sources from {}: {source}; check the path and its permissions", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file or folder holds no sources.
    #[error("no sources in {}: name a folder that holds {} files", path.display(), Language::EXTENSIONS.join(", "))]
    Nothing {
        /// The file or folder.
        path: PathBuf,
    },
}

/// Reads a source file, or all below a folder, sorted by name. Hidden folders and `target`, `build` and
/// `node_modules` are left out, and links to folders are not followed.
///
/// # Errors
/// [`SourceError`] for what cannot be read and where there is no source at all.
pub fn read_sources(path: &Path) -> Result<Vec<Source>, SourceError> {
    let mut found = Vec::new();
    let io = |source| SourceError::Io { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(io)?.is_dir() {
        walk(path, "", 0, &mut found)?;
    } else if let (Some(language), Some(name)) = (Language::of(path), path.file_name()) {
        found.push(read(path, name.to_string_lossy().into_owned(), language)?);
    }
    if found.is_empty() {
        return Err(SourceError::Nothing { path: path.to_owned() });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<Source>) -> Result<(), SourceError> {
    let io = |source| SourceError::Io { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let (path, name) = (entry.path(), format!("{prefix}{file_name}"));
        if entry.file_type().map_err(io)?.is_dir() {
            if depth < MAX_DEPTH && !file_name.starts_with('.') && !SKIPPED.contains(&file_name.as_str()) {
                walk(&path, &format!("{name}/"), depth + 1, found)?;
            }
        } else if let Some(language) = Language::of(&path)
            && path.is_file()
        {
            found.push(read(&path, name, language)?);
        }
    }
    Ok(())
}

fn read(path: &Path, name: String, language: Language) -> Result<Source, SourceError> {
    let bytes = std::fs::read(path).map_err(|source| SourceError::Io { path: path.to_owned(), source })?;
    Ok(Source { name, language, text: String::from_utf8_lossy(&bytes).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_at_any_depth_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a/b", ".git", "target"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for name in ["z.rs", "a/b/k.cl", "a/k.cuh", "notes.md", ".git/x.c", "target/y.c"] {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        let names: Vec<String> = read_sources(dir.path()).unwrap().into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["a/b/k.cl", "a/k.cuh", "z.rs"]);
        assert_eq!(read_sources(&dir.path().join("z.rs")).unwrap()[0].name, "z.rs");
    }

    #[test]
    fn a_folder_without_sources_and_one_that_is_absent_are_errors_that_name_it() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(read_sources(dir.path()), Err(SourceError::Nothing { .. })));
        let error = read_sources(&dir.path().join("absent")).unwrap_err().to_string();
        assert!(error.contains("absent"), "{error}");
    }
}
