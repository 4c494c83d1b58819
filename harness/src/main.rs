//! Lockstep's command line.

mod backends;
mod baseline;
mod bench;
mod bvh_cache;
mod chunking;
mod cli;
mod compare;
mod devices;
mod exit;
mod external;
mod golden;
mod history;
mod image_metadata;
mod image_report;
mod interrupt;
mod kernels;
mod manual;
#[cfg(target_os = "linux")]
mod memory;
mod memory_need;
mod output;
mod port;
mod preset;
mod progress;
mod render;
mod scenes;
mod selftest;
mod semantics;
mod study;
mod submit;
mod techniques;
mod terminal;
mod together;
mod toml_fault;
mod trace;
mod tune;
mod values;

use std::process::ExitCode;

use cli::{Command, ExportArgs, ExportFormat, GoldenCommand, MergeArgs, ReportArgs, SetupArgs};
use exit::{Exit, Failure};
use external::Known;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: memory::LargePages = memory::LargePages;

fn main() -> ExitCode {
    let cli = preset::parse(std::env::args_os()).unwrap_or_else(|error| error.exit());
    match run(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::say(&format!("lockstep: {failure}"));
            failure.exit().into()
        }
    }
}

fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Devices(args) => devices::run(&args),
        Command::Setup(args) => set_up(&args),
        Command::Render(args) => render::run(&args),
        Command::Resume(args) => together::resume(&args),
        Command::Merge(args) => merge(&args),
        Command::Worker(args) => together::work(&args),
        Command::Study(args) => study::run(&args),
        Command::Submit(command) => submit::run(&command),
        Command::Export(args) => export(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => report(&args),
        Command::Diff(args) => baseline::diff(&args),
        Command::History(args) => history::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Golden(GoldenCommand::Check(args)) => golden::check(&args),
        Command::Golden(GoldenCommand::Bless(args)) => golden::bless(&args),
        Command::Port(command) => port::run(&command),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    }
}

/// `lockstep merge`: films or folders of shards, but not both.
fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let folders = args.parts.iter().filter(|path| path.is_dir()).count();
    match folders {
        0 => together::merge(args),
        all if all == args.parts.len() => study::merge(args),
        _ => Err(Failure::Usage(
            "films are merged into an image and folders of shards into a study; name either films or folders"
                .into(),
        )),
    }
}

/// `lockstep setup [ITEM…]`
fn set_up(args: &SetupArgs) -> Result<Exit, Failure> {
    let items = lockstep_setup::select(&args.items)?;
    let progress = lockstep_setup::Progress::on_stderr();
    let host = lockstep_setup::Host::here()?.installing_packages(args.install_packages);
    let rows = lockstep_setup::fetch_missing(&items, &host, &progress);
    Ok(if rows.iter().all(lockstep_setup::Row::is_there) { Exit::Fine } else { Exit::Input })
}

/// `lockstep export SCENE --to RENDERER -o DIR`
fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let scene = scenes::load(&args.scene, &args.files.options())?;
    let exported = match args.to {
        ExportFormat::Mitsuba => Known::Mitsuba.write(&scene, &args.out)?,
        ExportFormat::Cycles => Known::Cycles.write(&scene, &args.out)?,
        ExportFormat::Luxcore => Known::LuxCore.write(&scene, &args.out)?,
        ExportFormat::Pbrt => lockstep_scenes::export::to_pbrt(&scene, &args.out)?,
        ExportFormat::Gltf => lockstep_scenes::export::to_gltf(&scene, &args.out)?,
    };
    for difference in &exported.differences {
        output::say(&format!("lockstep: {} renders otherwise: {difference}", scene.name));
    }
    output::print(&format!("{}\n", exported.file.display()))?;
    Ok(Exit::Fine)
}

/// `lockstep report DIR`
fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let study = study::write_report(&args.folder)?;
    for fault in study::image_faults(&args.folder, &study) {
        output::say(&format!("lockstep: {fault}"));
    }
    study::print_study(&study, &args.folder, false, false)?;
    Ok(Exit::Fine)
}
