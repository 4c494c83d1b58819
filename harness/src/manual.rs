//! Completion scripts of shells, and man pages.

use clap::CommandFactory;
use lockstep_reports::image_io::atomic_write;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{Exit, Failure};
use crate::output;

/// `lockstep completions SHELL`
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lockstep", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

/// `lockstep man -o DIR`: a page for the program and one for every command.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    std::fs::create_dir_all(&args.out).map_err(Failure::io("create", &args.out))?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut commands = vec![program];
    while let Some(command) = commands.pop() {
        let visible = |command: &&clap::Command| !command.is_hide_set();
        commands.extend(command.get_subcommands().filter(visible).cloned());
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let page = clap_mangen::Man::new(command.display_name(name.clone()));
        atomic_write(&args.out.join(format!("{name}.1")), |file| page.render(file))?;
    }
    output::say(&format!("man pages are in {}", args.out.display()));
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_show_every_option_that_is_accepted_and_the_default_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        man(&ManArgs { out: dir.path().to_owned() }).unwrap();
        let page = |name: &str| {
            let page = std::fs::read_to_string(dir.path().join(format!("{name}.1"))).unwrap();
            page.replace("\\-", "-").replace("\\fR", "").replace("\\fB", "").replace("\\fI", "")
        };
        let render = page("lockstep-render");
        assert!(render.contains("[default: the first one present]") && !render.contains("all]"), "{render}");
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            let hidden = command.get_arguments().find(|option| option.is_hide_set());
            assert!(hidden.is_none(), "{}: {hidden:?} would stand in the synopsis alone", command.get_name());
        }
    }

    #[test]
    fn pages_of_the_repository_name_every_option() {
        let pages = [
            include_str!("../../README.md"),
            include_str!("../README.md"),
            include_str!("../TARGETS.md"),
            include_str!("../together/README.md"),
            include_str!("../together/CLUSTER.md"),
            include_str!("../../reports/README.md"),
            include_str!("../../scenes/README.md"),
        ]
        .concat();
        let is_named = |word: &str| {
            let follows = |(at, _): (usize, &str)| pages[at + word.len()..].chars().next();
            let is_whole = |next: Option<char>| next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-');
            pages.match_indices(word).map(follows).any(is_whole)
        };
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            for option in command.get_arguments() {
                let Some(long) = option.get_long() else { continue };
                let short = option.get_short().map(|letter| format!(" -{letter}"));
                let named = is_named(&format!("--{long}")) || short.is_some_and(|short| is_named(&short));
                assert!(named, "--{long} of {} is on no page", command.get_name());
            }
        }
    }
}
