//! Makes a study folder by formula and its report, to look at the page without rendering anything:
//! `cargo run -p lockstep-reports --example made_up_study -- FOLDER [--large]`.

#[path = "../tests/support/mod.rs"]
mod support;

use clap::Parser;
use std::path::PathBuf;

/// Makes a study folder by formula, and its report
#[derive(Parser)]
struct Args {
    /// The folder of the study
    folder: PathBuf,
    /// Make four scenes and five targets at 1280x720
    #[arg(long)]
    large: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Args { folder, large: is_large } = Args::parse();
    let large = support::Plan {
        scenes: &["cornell", "weekend", "atrium", "sponza-wide"],
        targets: &["cpu-bvh", "cpu-embree", "opencl@pocl", "opencl@intel", "cuda@0"],
        levels: &[1, 2, 4, 8, 16, 32, 64],
        size: (1280, 720),
    };
    let plan = if is_large { &large } else { &support::SMALL };
    support::write_study(&folder, plan);
    let made = lockstep_reports::write_report(&folder)?;
    println!("{}", made.page.display());
    Ok(())
}
