//! Files of rates: how fast other tracers answer the rays of a dump. The form is on the page of the harness, under
//! Benchmarks. A `bench.json` of an earlier run is such a file too: its `target` is the tracer, its `layout` the variant.

use super::rays::{Kind, RaySet};
use lockstep_core::Query;
use lockstep_core::serde_words::in_words;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Why a file of rates cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RatesError {
    /// The file cannot be read.
    #[error("cannot read the rates in {}: {source}; --against takes {targets}, or a file of rates such as \
        reports/checks/traversal/compare.py writes", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The targets that could be meant in place of a file.
        targets: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file is no JSON or lacks fields.
    #[error("cannot use the rates in {}: {message}; they are {{\"rows\": [{{\"tracer\", \"scene\", \"kind\", \"query\", \
        \"rays\", \"rays_hash\", \"mrays\", …}}]}}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault, with its line and column.
        message: String,
    },
    /// A rate is zero, negative or not finite.
    #[error("{}: {} on {} has a rate that is not positive; time it again, or remove the row", path.display(), row.tracer,
        row.scene)]
    NoRate {
        /// The file.
        path: PathBuf,
        /// The row.
        row: Box<Rate>,
    },
    /// No row is about rays that this run measures.
    #[error("{} has no rates of {scene} with {} rays, only of {known}; measure the other tracers on a dump of this \
        command (--dump-rays -o DIR), or name scenes and --rays that the file has", path.display(), numbers(rays))]
    NoRow {
        /// The file.
        path: PathBuf,
        /// The scene that is measured.
        scene: String,
        /// Numbers of rays in its sets.
        rays: Vec<usize>,
        /// Scenes and numbers of rays in the file.
        known: String,
    },
    /// A row has the scene, kind and number of rays that this run measures, but other rays.
    #[error("{}: {} was timed on other rays: {} {} rays of {} have BLAKE3 {} there and {ours} here; time it on a dump of \
        this command (--dump-rays -o DIR), with the same --seed and camera", path.display(), row.tracer, row.rays,
        row.kind.name(), row.scene, row.rays_hash)]
    OtherRays {
        /// The file.
        path: PathBuf,
        /// The row.
        row: Box<Rate>,
        /// BLAKE3 of the rays that this run measures.
        ours: String,
    },
}

fn numbers(rays: &[usize]) -> String {
    rays.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
}

/// A row of a file: how fast a tracer answers a query of a set of rays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rate {
    #[serde(alias = "target")]
    pub(crate) tracer: String,
    /// The layout, build or setting.
    #[serde(default, alias = "layout")]
    pub(crate) variant: String,
    #[serde(default)]
    pub(crate) device: String,
    #[serde(default)]
    pub(crate) command: String,
    pub(crate) scene: String,
    pub(crate) kind: Kind,
    pub(crate) query: Query,
    pub(crate) rays: usize,
    /// BLAKE3 of the rays.
    pub(crate) rays_hash: String,
    /// Median in millions of rays a second.
    pub(crate) mrays: f64,
    /// First and third quartile of the rate, in millions of rays a second.
    pub(crate) quartiles: Option<[f64; 2]>,
    /// Millions of rays a second of processor time.
    pub(crate) mrays_per_core: Option<f64>,
    /// Rays that hit.
    pub(crate) hits: Option<usize>,
}

/// A file of rates.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    pub(crate) path: PathBuf,
    rows: Vec<Rate>,
}

impl Rates {
    /// Reads a file; `targets` says what could be meant in place of one.
    ///
    /// # Errors
    /// [`RatesError::Read`], [`RatesError::Malformed`] and [`RatesError::NoRate`].
    pub(crate) fn read(path: &Path, targets: &str) -> Result<Self, RatesError> {
        #[derive(Deserialize)]
        struct Document {
            rows: Vec<Rate>,
        }
        let path = path.to_owned();
        let text = std::fs::read_to_string(&path).map_err(|source| RatesError::Read {
            path: path.clone(),
            targets: targets.to_owned(),
            source,
        })?;
        let document: Document = serde_json::from_str(&text)
            .map_err(|e| RatesError::Malformed { path: path.clone(), message: in_words(&e.to_string()) })?;
        let is_rate = |mrays: f64| mrays.is_finite() && mrays > 0.0;
        let unusable =
            |row: &&Rate| !is_rate(row.mrays) || row.mrays_per_core.is_some_and(|mrays| !is_rate(mrays));
        if let Some(row) = document.rows.iter().find(unusable) {
            return Err(RatesError::NoRate { path, row: Box::new(row.clone()) });
        }
        Ok(Self { path, rows: document.rows })
    }

    /// The rates of a query of a set of rays. [`Self::check`] has found that the rays are the same.
    pub(crate) fn of<'a>(
        &'a self,
        scene: &'a str,
        query: Query,
        rays_hash: &'a str,
    ) -> impl Iterator<Item = &'a Rate> {
        let is_meant =
            move |row: &&Rate| row.scene == scene && row.query == query && row.rays_hash == rays_hash;
        self.rows.iter().filter(is_meant)
    }

    /// Holds the rays of a scene against those of the file, before they are measured.
    ///
    /// # Errors
    /// [`RatesError::OtherRays`] where as many rays of a kind are others, [`RatesError::NoRow`] where no set has a row.
    pub(crate) fn check(&self, scene: &str, sets: &[RaySet]) -> Result<(), RatesError> {
        let mut found = false;
        for set in sets.iter().filter(|set| !set.rays.is_empty()) {
            let alike = |row: &&Rate| (row.kind, row.rays) == (set.kind, set.rays.len());
            for row in self.rows.iter().filter(|row| row.scene == scene).filter(alike) {
                if row.rays_hash != set.hash {
                    let (path, ours) = (self.path.clone(), set.hash.clone());
                    return Err(RatesError::OtherRays { path, row: Box::new(row.clone()), ours });
                }
                found = true;
            }
        }
        if found { Ok(()) } else { Err(self.no_row(scene, sets)) }
    }

    fn no_row(&self, scene: &str, sets: &[RaySet]) -> RatesError {
        let mut rays: Vec<usize> = sets.iter().map(|set| set.rays.len()).filter(|&n| n > 0).collect();
        rays.dedup();
        let mut known: Vec<String> =
            self.rows.iter().map(|row| format!("{} with {}", row.scene, row.rays)).collect();
        known.sort_unstable();
        known.dedup();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        RatesError::NoRow { path: self.path.clone(), scene: scene.to_owned(), rays, known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::geometry::Ray;

    fn read(text: &str) -> Result<Rates, RatesError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.json");
        std::fs::write(&path, text).unwrap();
        Rates::read(&path, "a target")
    }

    const ROW: &str = r#"{"tracer": "fast", "scene": "box", "kind": "shadow", "query": "any", "rays": 2,
        "rays_hash": "00", "mrays": 1.5}"#;

    fn set(hash: &str) -> [RaySet; 1] {
        [RaySet { kind: Kind::Shadow, rays: vec![Ray::default(); 2], hash: hash.to_owned() }]
    }

    #[test]
    fn a_row_needs_a_tracer_its_rays_and_a_rate() {
        let rates = read(&format!("{{\"rows\": [{ROW}]}}")).unwrap();
        assert_eq!(rates.of("box", Query::Any, "00").count(), 1);
        assert_eq!(rates.of("box", Query::Closest, "00").count(), 0);
        rates.check("box", &set("00")).unwrap();
        for word in ["tracer", "scene", "kind", "query", "rays", "rays_hash", "mrays"] {
            let text = format!("{{\"rows\": [{}]}}", ROW.replace(&format!("\"{word}\""), "\"x\""));
            let message = read(&text).unwrap_err().to_string();
            assert!(message.contains(&format!("missing field `{word}`")), "{message}");
            assert!(message.contains("rates.json: ") && message.contains("at line 2"), "{message}");
        }
        let words = read(&format!("{{\"rows\": [{}]}}", ROW.replace("1.5", "true"))).unwrap_err().to_string();
        assert!(words.contains("a number is expected here, not true at line 2"), "{words}");
        let message =
            read(&format!("{{\"rows\": [{}]}}", ROW.replace("1.5", "0.0"))).unwrap_err().to_string();
        assert!(message.contains("fast on box") && message.contains("time it again"), "{message}");
    }

    #[test]
    fn targets_of_an_earlier_run_are_tracers() {
        let row = ROW.replace("tracer", "target").replace('{', r#"{"layout": "BVH8", "exact": true, "#);
        let rates = read(&format!("{{\"date\": \"today\", \"rows\": [{row}]}}")).unwrap();
        assert_eq!((rates.rows[0].tracer.as_str(), rates.rows[0].variant.as_str()), ("fast", "BVH8"));
    }

    #[test]
    fn other_rays_other_scenes_and_missing_files_are_refused_by_name() {
        let rates = read(&format!("{{\"rows\": [{ROW}]}}")).unwrap();
        let message = rates.check("box", &set("11")).unwrap_err().to_string();
        assert!(message.contains("2 shadow rays of box have BLAKE3 00 there and 11 here"), "{message}");
        let message = rates.check("ball", &set("00")).unwrap_err().to_string();
        assert!(
            message.contains("no rates of ball with 2 rays, only of box with 2; measure the other"),
            "{message}"
        );
        let message = Rates::read(Path::new("/no/rates.json"), "a target").unwrap_err().to_string();
        assert!(
            message.contains("/no/rates.json: No such file") && message.contains("takes a target, or a file"),
            "{message}"
        );
    }
}
