//! Renders the Cornell box on every CPU and OpenCL target, compares the films to the bit, and writes the first
//! as an image: `cargo run --release -p lockstep-core --example render_one_image`.

use lockstep_core::{Backend, Film, OpenOptions, Settings};
use lockstep_scenes::LoadOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = lockstep_scenes::load("cornell", &LoadOptions::default())?.scene;
    let settings = Settings { width: 64, height: 64, ..Settings::default() };
    let backends: [&dyn Backend; 2] = [&lockstep_cpu::Cpu, &lockstep_opencl::Opencl];
    let mut first: Option<Film> = None;
    for backend in backends {
        for target in backend.targets() {
            if let Err(absent) = target.state {
                println!("{}: absent: {}. {}", target.name, absent.reason, absent.remedy);
                continue;
            }
            let mut renderer = backend.open(&target.name, &OpenOptions::default())?;
            renderer.load(&scene, &settings)?;
            renderer.accumulate(0..16)?;
            let mut film = Film::new(settings.width, settings.height)?;
            renderer.read(&mut film)?;
            let differing = first.get_or_insert_with(|| film.clone()).pixels_differing(&film);
            println!("{}: {differing} pixels differ on {}", target.name, renderer.device().device);
        }
    }
    // A PFM image: 32-bit floats, bottom row first.
    let mut image = format!("PF\n{} {}\n-1.0\n", settings.width, settings.height).into_bytes();
    let pixels = first.ok_or("no target is present")?.mean();
    for row in pixels.rchunks(settings.width as usize) {
        image.extend(row.iter().flatten().flat_map(|channel| channel.to_le_bytes()));
    }
    Ok(std::fs::write("cornell.pfm", image)?)
}
