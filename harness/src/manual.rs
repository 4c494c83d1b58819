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
