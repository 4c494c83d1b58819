//! `lockstep port similarity A B`

use lockstep_reports::port::similarity::compare;
use lockstep_reports::port::sources::read_sources;
use lockstep_reports::port_markdown::similarity_markdown;
use lockstep_reports::records::PortSimilarity;

use super::args::SimilarityArgs;
use super::into;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};
use crate::terminal;

/// Compares two files or folders of sources and prints what they share.
///
/// # Errors
/// [`Failure::Sources`] for a path without sources.
pub(crate) fn run(args: &SimilarityArgs) -> Result<Exit, Failure> {
    let (a, b) = (read_sources(&args.a)?, read_sources(&args.b)?);
    let (name_a, name_b) = (args.a.to_string_lossy(), args.b.to_string_lossy());
    let similarity = compare((&name_a, &a), (&name_b, &b), args.min_tokens);
    if let Some(folder) = &args.into {
        into::keep(folder, &[PortSimilarity::new(&similarity, args.top).into()])?;
    }
    if args.json {
        print_json(&similarity)?;
    } else {
        print(&similarity_markdown(&similarity, args.top, terminal::width()))?;
    }
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_folders_are_compared_and_one_without_sources_is_bad_input() {
        let dir = tempfile::tempdir().unwrap();
        let side = |name: &str, file: &str| {
            let folder = dir.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(file), "int f(int x) { return x + 1; }").unwrap();
            folder
        };
        let (a, b, none) = (side("a", "f.c"), side("b", "g.cu"), side("c", "notes.txt"));
        let args = |b| SimilarityArgs { a: a.clone(), b, min_tokens: 20, top: 5, into: None, json: false };
        assert_eq!(run(&args(b)).unwrap(), Exit::Fine);
        assert_eq!(run(&args(none)).unwrap_err().exit(), Exit::Input);
    }
}
