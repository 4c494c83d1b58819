//! Folders of data and caches kept between runs.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The data folder that `lockstep setup` fills: `LOCKSTEP_HOME`, else `lockstep` under `XDG_DATA_HOME`, else
/// `.local/share/lockstep` in the home folder; `None` without a home.
pub fn data_folder() -> Option<PathBuf> {
    data_folder_for(set("LOCKSTEP_HOME"), set("XDG_DATA_HOME"), env::home_dir())
}

/// The cache folder, whose contents can be made again at any time: `LOCKSTEP_CACHE`, else `cache` under
/// `LOCKSTEP_HOME`, else `lockstep` under `XDG_CACHE_HOME`, else `.cache/lockstep` in the home folder; `None`
/// without a home.
pub fn cache_folder() -> Option<PathBuf> {
    let own = set("LOCKSTEP_CACHE").and_then(|own| std::path::absolute(own).ok());
    own.or_else(|| cache_folder_for(set("LOCKSTEP_HOME"), set("XDG_CACHE_HOME"), env::home_dir()))
}

fn data_folder_for(own: Option<OsString>, data: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    match own {
        Some(own) => std::path::absolute(own).ok(),
        None => under(data, home, ".local/share"),
    }
}

fn cache_folder_for(
    own: Option<OsString>,
    cache: Option<OsString>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    match own {
        Some(own) => std::path::absolute(own).ok().map(|folder| folder.join("cache")),
        None => under(cache, home, ".cache"),
    }
}

fn under(base: Option<OsString>, home: Option<PathBuf>, in_home: &str) -> Option<PathBuf> {
    // The XDG base directory specification has relative paths ignored.
    let base = base.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = home.filter(|folder| folder.is_absolute());
    base.or_else(|| Some(home?.join(in_home))).map(|folder| folder.join("lockstep"))
}

/// An environment variable that is set and not empty.
fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_folder_follows_its_variables_in_order() {
        let (own, data) = (Some("/own".into()), Some("/data".into()));
        let home = Some(PathBuf::from("/home/me"));
        assert_eq!(data_folder_for(own, data.clone(), home.clone()), Some("/own".into()));
        assert_eq!(data_folder_for(None, data, home.clone()), Some("/data/lockstep".into()));
        let fallback = Some("/home/me/.local/share/lockstep".into());
        assert_eq!(data_folder_for(None, None, home.clone()), fallback);
        assert_eq!(data_folder_for(None, Some("relative".into()), home), fallback);
        assert_eq!(data_folder_for(None, None, None), None);
    }

    #[test]
    fn the_cache_folder_lies_beside_the_data_folder() {
        let home = Some(PathBuf::from("/home/me"));
        assert_eq!(cache_folder_for(Some("/own".into()), None, None), Some("/own/cache".into()));
        assert_eq!(cache_folder_for(None, Some("/c".into()), home.clone()), Some("/c/lockstep".into()));
        assert_eq!(cache_folder_for(None, None, home), Some("/home/me/.cache/lockstep".into()));
    }
}
