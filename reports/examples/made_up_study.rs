//! Makes a study folder by formula and its report, to look at the page without rendering anything:
//! `cargo run -p lockstep-reports --example made_up_study -- FOLDER [large]`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder is it to be made in?")?);
    let large = support::Plan {
        scenes: &["cornell", "weekend", "atrium", "sponza-wide"],
        targets: &["cpu-bvh", "cpu-embree", "opencl@pocl", "opencl@intel", "cuda@0"],
        rungs: &[1, 2, 4, 8, 16, 32, 64],
        size: (1280, 720),
    };
    let plan = if arguments.next().is_some() { &large } else { &support::SMALL };
    support::write_study(&folder, plan);
    let made = lockstep_reports::write_report(&folder)?;
    println!("{}", made.page.display());
    Ok(())
}
