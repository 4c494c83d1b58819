//! The cost of a port, from lines of code (Mooney, Bringing Portability to the Software Process, 1997).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::lines::code_lines;
use super::sources::Source;

/// The port that a file in no backend's folder belongs to.
pub const SHARED: &str = "shared";

/// Formula and assumptions of the degree of portability, to print below a table.
pub const EXPLANATION: &str = "\
Degree of portability (Mooney 1997): 1 - C_port / C_redevelop. C_port is the backend's own lines, host and device;
C_redevelop is those and all shared lines, as if nothing could be shared. It assumes that a line costs the same
wherever it stands, that a backend needs all shared lines and changes none, and that learning and testing cost nothing.
Lines are those with a token on them: comments and empty lines never count.
";

/// The purpose of a line of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Runs on the processor that commands a device.
    Host,
    /// Is compiled for a device.
    Device,
}

/// Which port and role the files below a path belong to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// A folder or a file, with `/`, relative to the root of the layout.
    pub path: String,
    /// The backend, or [`SHARED`].
    pub backend: String,
    /// Host or device.
    pub role: Role,
}

/// Which parts of a project are shared, and which are of one backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Places; where one lies in another, the longer path wins. What lies in none is not counted.
    #[serde(rename = "place")]
    pub places: Vec<Place>,
}

impl Layout {
    /// The place of a file, by its path relative to the root.
    pub fn place_of(&self, path: &str) -> Option<&Place> {
        let holds = |place: &&Place| {
            let below = path.strip_prefix(place.path.trim_end_matches('/'));
            place.path == "." || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.places.iter().filter(holds).max_by_key(|place| place.path.trim_end_matches('/').len())
    }

    /// The backends' names, sorted, without [`SHARED`].
    pub fn backends(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.places.iter().map(|place| place.backend.as_str()).filter(|name| *name != SHARED).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Lines of code by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lines {
    /// Lines of code on the host.
    pub host: usize,
    /// Lines of code on a device.
    pub device: usize,
}

impl Lines {
    /// Lines of code on host and device together.
    pub fn total(&self) -> usize {
        self.host + self.device
    }
}

/// The cost of one backend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortCost {
    /// The backend.
    pub backend: String,
    /// Number of files that belong to this backend alone.
    pub files: usize,
    /// Lines that belong to this backend alone: the cost of the port.
    pub own: Lines,
    /// Mooney's degree of portability, from 0 (nothing is shared) to 1 (nothing need be written); none where
    /// there are no lines at all.
    pub degree: Option<f64>,
    /// Hours of work, as the user gives them.
    pub hours: Option<f64>,
}

/// The cost of all backends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Lines that every backend shares.
    pub shared: Lines,
    /// Files that every backend shares.
    pub shared_files: usize,
    /// The backends, by name.
    pub ports: Vec<PortCost>,
    /// Files that lie in no place of the layout.
    pub not_counted: usize,
}

/// Mooney's degree of portability; none where redevelopment costs nothing.
pub fn degree_of_portability(port: usize, redevelop: usize) -> Option<f64> {
    (redevelop > 0).then(|| 1.0 - port as f64 / redevelop as f64)
}

/// Counts sources, whose names are relative to the layout's root.
pub fn cost(sources: &[Source], layout: &Layout, hours: &BTreeMap<String, f64>) -> Cost {
    let mut counted: BTreeMap<&str, (usize, Lines)> = BTreeMap::new();
    let mut not_counted = 0;
    for source in sources {
        let Some(place) = layout.place_of(&source.name) else {
            not_counted += 1;
            continue;
        };
        let (files, lines) = counted.entry(&place.backend).or_default();
        *files += 1;
        match place.role {
            Role::Host => lines.host += code_lines(source),
            Role::Device => lines.device += code_lines(source),
        }
    }
    let (shared_files, shared) = counted.get(SHARED).copied().unwrap_or_default();
    let port = |backend: &str| {
        let (files, own) = counted.get(backend).copied().unwrap_or_default();
        let degree = degree_of_portability(own.total(), own.total() + shared.total());
        PortCost { backend: backend.to_owned(), files, own, degree, hours: hours.get(backend).copied() }
    };
    let ports = layout.backends().into_iter().map(port).collect();
    Cost { shared, shared_files, ports, not_counted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Language;

    fn place(path: &str, backend: &str, role: Role) -> Place {
        Place { path: path.into(), backend: backend.into(), role }
    }

    fn source(name: &str, lines: usize) -> Source {
        Source { name: name.into(), language: Language::C, text: "x;\n".repeat(lines) }
    }

    #[test]
    fn the_degree_of_portability_is_mooneys() {
        assert_eq!(degree_of_portability(25, 100), Some(0.75));
        assert_eq!(degree_of_portability(100, 100), Some(0.0));
        assert_eq!(degree_of_portability(0, 0), None);
    }

    #[test]
    fn lines_go_to_the_innermost_place() {
        let layout = Layout {
            places: vec![
                place("core", SHARED, Role::Host),
                place("core/kernels", SHARED, Role::Device),
                place("a", "a", Role::Host),
                place("a/kernels/", "a", Role::Device),
                place("b.c", "b", Role::Host),
            ],
        };
        let sources = [
            source("core/x.c", 10),
            source("core/kernels/k.h", 50),
            source("a/x.c", 15),
            source("a/kernels/k.h", 5),
            source("b.c", 60),
            source("ab/x.c", 7),
        ];
        let cost = cost(&sources, &layout, &BTreeMap::from([("a".to_owned(), 3.5)]));
        assert_eq!((cost.shared, cost.not_counted), (Lines { host: 10, device: 50 }, 1));
        assert_eq!((cost.ports[0].own, cost.ports[0].hours), (Lines { host: 15, device: 5 }, Some(3.5)));
        assert_eq!(cost.ports[0].degree, Some(0.75));
        assert_eq!((cost.ports[1].own.total(), cost.ports[1].degree), (60, Some(0.5)));
    }
}
