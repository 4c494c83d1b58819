//! Presets of `lockstep study`: named sets of options. What the user gives counts instead of what a preset has.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, ValueEnum};

use crate::cli::Cli;

/// The command that has presets.
const STUDY: &str = "study";

/// A named set of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// path, bpt, bpm and vcm on four scenes, on every target and set of targets (--together) for equal time, with
    /// speed-ups by threads and by device
    Heterogeneous,
}

/// Words of a preset, and the options beside which they do not count.
struct Part {
    words: &'static [&'static str],
    unless: &'static [&'static str],
}

impl Preset {
    fn parts(self) -> &'static [Part] {
        match self {
            Self::Heterogeneous => &[
                Part { words: &["cornell", "kitchen", "sponza-wide", "living-room"], unless: &["scenes"] },
                Part {
                    words: &["--integrators", "path,bpt,bpm,vcm"],
                    unless: &["integrators", "integrator"],
                },
                Part {
                    words: &["--reference-integrator", "vcm"],
                    unless: &["reference_integrator", "reference"],
                },
                Part { words: &["--time", "300s"], unless: &["times"] },
                // Enough to hold films of all targets to each other and to time threads; errors are those after equal time.
                Part { words: &["--spp", "1..8"], unless: &["spp"] },
                Part { words: &["--seeds", "1"], unless: &["seeds"] },
                Part { words: &["--bounces", "8"], unless: &["bounces"] },
                // Paths from lights see surfaces from behind.
                Part { words: &["--both-sides"], unless: &["both_sides"] },
                Part { words: &["--scaling"], unless: &["scaling"] },
            ],
        }
    }

    /// The words that these matches leave to the preset.
    fn words(self, given: &ArgMatches) -> impl Iterator<Item = OsString> {
        let is_given = |option: &str| given.value_source(option) == Some(ValueSource::CommandLine);
        let left = self.parts().iter().filter(move |part| !part.unless.iter().any(|option| is_given(option)));
        left.flat_map(|part| part.words).map(OsString::from).collect::<Vec<_>>().into_iter()
    }
}

/// Reads a command line, with the words of the preset that it names.
///
/// # Errors
/// As clap says of a command line that cannot be read.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let matches = command().try_get_matches_from(&words)?;
    let study = matches.subcommand_matches(STUDY);
    let more: Vec<OsString> = match study.and_then(|study| Some((study, *study.get_one::<Preset>("preset")?)))
    {
        Some((study, preset)) => preset.words(study).collect(),
        None => return Cli::from_arg_matches(&matches),
    };
    // Behind the command's name: words at the end might stand behind a `--`.
    let behind = words.iter().position(|word| word == STUDY).map_or(words.len(), |place| place + 1);
    words.splice(behind..behind, more);
    Cli::from_arg_matches(&command().try_get_matches_from(words)?)
}

/// The command line, on which a negative number is a value, to be refused with the range that an option has.
fn command() -> Command {
    fn with_numbers(command: Command) -> Command {
        let takes_value = |arg: &Arg| arg.get_action().takes_values();
        let command =
            command.mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg });
        command.mut_subcommands(with_numbers)
    }
    with_numbers(Cli::command())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, StudyArgs};
    use lockstep_core::Integrator;

    fn study(line: &str) -> StudyArgs {
        match parse(line.split_whitespace().map(OsString::from)).map(|cli| cli.command) {
            Ok(Command::Study(args)) => *args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_preset_is_its_options() {
        let args = study("lockstep study --preset heterogeneous");
        assert_eq!(args.subject.scenes, ["cornell", "kitchen", "sponza-wide", "living-room"]);
        assert_eq!(args.integrators, [Integrator::Path, Integrator::Bpt, Integrator::Bpm, Integrator::Vcm]);
        assert_eq!((args.reference_integrator, args.image.bounces), (Some(Integrator::Vcm), 8));
        assert!(args.scaling && args.subject.files.both_sides && !args.is_default_work());
        assert_eq!(args.reference_seconds(), Some(2400.0));
    }

    #[test]
    fn options_that_are_given_count_instead() {
        let args = study(
            "lockstep study lantern --preset heterogeneous --time 2s,1s --bounces 3 --integrator bpt --reference a.exr -- \
             caustic",
        );
        assert_eq!(args.subject.scenes, ["lantern", "caustic"]);
        assert_eq!((args.image.integrator, args.image.bounces), (Integrator::Bpt, 3));
        assert!(args.integrators.is_empty() && args.reference_integrator.is_none());
        assert_eq!((args.times.len(), args.reference_seconds()), (2, None));
        let args = study("lockstep study --preset heterogeneous --time 2s --reference-time 3s --spp 4");
        assert_eq!((args.reference_seconds(), args.spp.unwrap().top()), (Some(3.0), 4));
        assert_eq!(study("lockstep study cornell --time 2s").reference_seconds(), None);
    }

    #[test]
    fn a_preset_nobody_knows_is_refused_with_those_there_are() {
        let words = ["lockstep", "study", "--preset", "x"].map(OsString::from);
        assert!(parse(words).unwrap_err().to_string().contains("[possible values: heterogeneous]"));
    }
}
