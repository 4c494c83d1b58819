//! The files that a scene may read.

use crate::limits::Limits;
use crate::loaded::LoadOptions;
use lockstep_core::{Error, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Access to the files of one scene: those below its folder and below the folder with scene data, so that a
/// scene from elsewhere cannot read what else its user has.
#[derive(Clone, Debug)]
pub(crate) struct FileAccess<'a> {
    /// The folder that relative paths start from.
    pub(crate) folder: &'a Path,
    /// Upper bounds on sizes.
    pub(crate) limits: &'a Limits,
    /// The folders whose files may be read, without links; `None` for all files.
    roots: Option<Vec<PathBuf>>,
}

impl<'a> FileAccess<'a> {
    /// Access of a scene whose file lies in `folder`; `None` for a document without a file.
    pub(crate) fn new(folder: Option<&'a Path>, options: &'a LoadOptions) -> Self {
        let data = options.data_folder();
        let roots = [folder.map(in_full), data.as_deref().map(in_full)];
        let roots = roots.into_iter().flatten().filter_map(|root| root.canonicalize().ok()).collect();
        Self {
            folder: folder.unwrap_or(Path::new("")),
            limits: &options.limits,
            roots: (!options.allow_outside).then_some(roots),
        }
    }

    /// Access of a file that the scene reads and that refers to others, relative to its own folder.
    pub(crate) fn of_part<'b>(&self, file: &'b Path) -> FileAccess<'b>
    where
        'a: 'b,
    {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut roots = self.roots.clone();
        if let (Some(roots), Ok(own)) = (&mut roots, in_full(folder).canonicalize()) {
            roots.push(own);
        }
        FileAccess { folder, limits: self.limits, roots }
    }

    /// Reads a whole file; `path` includes the folder.
    ///
    /// # Errors
    /// [`Error::Io`] for a file outside the scene's folders, one that is too large, and one that cannot be read.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>> {
        // A file that is not there is the reader's to report.
        if let (Some(roots), Ok(full)) = (&self.roots, path.canonicalize())
            && !roots.iter().any(|root| full.starts_with(root))
        {
            let message = "it lies outside the scene's folder; `--allow-outside` permits that";
            let source = std::io::Error::new(ErrorKind::PermissionDenied, message);
            return Err(Error::Io { action: "reading", path: path.to_path_buf(), source });
        }
        self.limits.read(path)
    }
}

/// A folder by a path that can be opened: that of a file without one is the working folder.
fn in_full(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with `scene/inside.txt` and `outside.txt`.
    fn folders() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("scene")).unwrap();
        std::fs::write(root.path().join("scene/inside.txt"), "in").unwrap();
        std::fs::write(root.path().join("outside.txt"), "out").unwrap();
        root
    }

    fn options(root: &Path) -> LoadOptions {
        LoadOptions { data_folder: Some(root.join("nowhere")), ..LoadOptions::default() }
    }

    #[test]
    fn only_files_below_the_scenes_folder_are_read_by_whatever_path() {
        let root = folders();
        let (scene, options) = (root.path().join("scene"), options(root.path()));
        let access = FileAccess::new(Some(&scene), &options);
        assert_eq!(access.read(&scene.join("inside.txt")).unwrap(), b"in");
        assert_eq!(access.read(&scene.join("../scene/inside.txt")).unwrap(), b"in");
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path().join("outside.txt"), scene.join("link.txt")).unwrap();
        let paths = ["../outside.txt", "link.txt"].map(|path| scene.join(path));
        for path in paths.iter().chain([&root.path().join("outside.txt")]).filter(|path| path.exists()) {
            let error = access.read(path).unwrap_err().to_string();
            assert!(error.contains("--allow-outside"), "{error}");
        }
    }

    #[test]
    fn scene_data_the_folder_of_a_part_and_everything_on_request_may_be_read() {
        let root = folders();
        let (scene, outside) = (root.path().join("scene"), root.path().join("outside.txt"));
        let data = LoadOptions { data_folder: Some(root.path().to_owned()), ..LoadOptions::default() };
        assert!(FileAccess::new(Some(&scene), &data).read(&outside).is_ok());
        let strict = options(root.path());
        let access = FileAccess::new(Some(&scene), &strict);
        assert!(access.of_part(&outside).read(&outside).is_ok());
        let open = LoadOptions { allow_outside: true, ..strict.clone() };
        assert!(FileAccess::new(Some(&scene), &open).read(&outside).is_ok());
    }
}
