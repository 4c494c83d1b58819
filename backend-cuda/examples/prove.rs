//! Every proof that needs a CUDA device, in one program that can be carried to a machine with one.
//!
//! ```text
//! prove [--inputs N] [--spp N] [--only WORD] [TARGET…]
//! ```
//!
//! Prints one line for each proof, `PASS` or `FAIL` first, and ends with 1 if one failed. `--only` takes the proofs whose
//! name has the word in it; `--inputs` is the number of inputs of each function of the parity list; `--spp` the samples of
//! the timed passes.

use lockstep_conformance::parity;
use lockstep_conformance::{self as conformance, scenes};
use lockstep_core::{Backend, Error, Film, OpenOptions, Renderer, Scene, Settings};
use lockstep_core::{KernelConfig, Structure};
use lockstep_core::{Mode, Strategy};
use lockstep_cpu::{BVH_TARGET, Cpu};
use lockstep_cuda::probes::Probes;
use lockstep_cuda::{Cuda, faults};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// What a proof found: a remark, or why it failed.
type Finding = Result<String, String>;

/// A way to prove something of a target.
type Proof = fn(&str, &Asked) -> Finding;

/// The proofs in order; the last costs the process the device.
const PROOFS: [(&str, Proof); 9] = [
    ("parity", parity_list),
    ("contract", contract),
    ("physics", physics),
    ("identity", identity),
    ("variants", variants),
    ("split", split),
    ("time", times),
    ("memory", memory),
    ("loss", loss),
];

/// Built-in scenes that are compared and timed.
const SCENES: [&str; 5] = ["cornell", "weekend", "atrium", "furnace", "instances"];

/// What the command line asks for.
struct Asked {
    inputs: u32,
    spp: u32,
    only: Option<String>,
    targets: Vec<String>,
}

fn main() -> ExitCode {
    let asked = match asked(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(complaint) => {
            eprintln!("{complaint}");
            return ExitCode::from(2);
        }
    };
    let present = list_targets();
    let chosen: Vec<&String> =
        present.iter().filter(|name| asked.targets.is_empty() || asked.targets.contains(name)).collect();
    if chosen.is_empty() {
        println!("FAIL device: no target to prove");
        return ExitCode::FAILURE;
    }
    let mut failed = 0;
    for (name, proof) in PROOFS {
        if asked.only.as_ref().is_some_and(|word| !name.contains(word.as_str())) {
            continue;
        }
        for target in &chosen {
            let start = Instant::now();
            let finding = catch_unwind(AssertUnwindSafe(|| proof(target, &asked)));
            let finding = finding.unwrap_or_else(|_| Err("it panicked; its words are above".into()));
            let seconds = start.elapsed().as_secs_f64();
            match finding {
                Ok(remark) => println!("PASS {name} {target} ({seconds:.1} s): {remark}"),
                Err(reason) => {
                    failed += 1;
                    println!("FAIL {name} {target} ({seconds:.1} s): {reason}");
                }
            }
        }
    }
    println!("{}", if failed == 0 { "all proofs passed".into() } else { format!("{failed} proofs failed") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn asked(mut words: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked { inputs: 1 << 20, spp: 64, only: None, targets: Vec::new() };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: String| text.parse::<u32>().map_err(|e| format!("{text}: {e}"));
        match word.as_str() {
            "--inputs" => asked.inputs = number(value()?)?,
            "--spp" => asked.spp = number(value()?)?,
            "--only" => asked.only = Some(value()?),
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            _ => asked.targets.push(word),
        }
    }
    Ok(asked)
}

/// Prints every target and returns the names of those present.
fn list_targets() -> Vec<String> {
    let mut present = Vec::new();
    for target in Cuda.targets() {
        match target.state {
            Ok(info) => {
                println!(
                    "{}: {}, {}, {}, flags {}, {} units, {}, kernels {}",
                    target.name,
                    info.device,
                    info.driver,
                    info.compiler,
                    info.flags,
                    info.compute_units,
                    info.clocks,
                    info.kernel_hash.get(..12).unwrap_or_default()
                );
                present.push(target.name);
            }
            Err(absence) => println!("{} is absent: {}. {}", target.name, absence.reason, absence.remedy),
        }
    }
    present
}

fn open(target: &str) -> Result<Box<dyn Renderer>, Error> {
    Cuda.open(target, &OpenOptions::default())
}

fn reference() -> Result<Box<dyn Renderer>, String> {
    Cpu.open(BVH_TARGET, &OpenOptions::default()).map_err(words)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn built_in(name: &str) -> Result<Scene, String> {
    let loaded = lockstep_scenes::load(name, &lockstep_scenes::LoadOptions::default());
    loaded.map(|loaded| loaded.scene).map_err(words)
}

fn parity_list(target: &str, asked: &Asked) -> Finding {
    let mut probes = Probes::build(target).map_err(words)?;
    let verdicts = parity::run(&mut probes, asked.inputs).map_err(words)?;
    if verdicts.is_empty() {
        return Ok(format!("every function of the list agrees on {} inputs", asked.inputs));
    }
    Err(verdicts.iter().map(|verdict| format!("\n  {verdict}")).collect())
}

fn contract(target: &str, _: &Asked) -> Finding {
    conformance::contract(&mut || open(target)).map_err(words)?;
    Ok("kept".into())
}

fn physics(target: &str, _: &Asked) -> Finding {
    conformance::physics(&mut || open(target)).map_err(words)?;
    Ok("right".into())
}

/// Films, invalid and ray counts against the reference.
fn identity(target: &str, _: &Asked) -> Finding {
    let base = Settings { width: 320, height: 180, ..Settings::default() };
    let everything = scenes::everything().map_err(words)?;
    let variants = [
        base,
        Settings { strategy: Strategy::LightOnly, seed: 7, ..base },
        Settings { strategy: Strategy::BsdfOnly, seed: 8, ..base },
        Settings { bounces: 12, roulette_from: Some(2), seed: 9, ..base },
        Settings { bounces: 0, ..base },
        // More paths than are in flight at once.
        Settings { width: 1280, height: 720, bounces: 1, ..base },
    ];
    let mut compared = 0;
    for settings in variants {
        compared += compare(target, &everything, &settings, 8)?;
    }
    for name in SCENES {
        compared += compare(target, &built_in(name)?, &base, 8)?;
    }
    Ok(format!("{compared} pixels of {} films are identical", variants.len() + SCENES.len()))
}

/// Films and ray counts of every way to run passes, and of blocks as large as any device takes.
fn variants(target: &str, _: &Asked) -> Finding {
    let mut blocks =
        [32, 64, 512, 1024].map(|group| KernelConfig { group: Some(group), ..KernelConfig::default() });
    let mut asked = blocks.to_vec();
    blocks.iter_mut().for_each(|variant| variant.structure = Structure::Megakernel);
    asked.extend(blocks);
    asked.push(KernelConfig { group: Some(2048), ..KernelConfig::default() });
    let refused = conformance::variants(&mut || open(target), &asked).map_err(words)?;
    let words: Vec<String> =
        refused.iter().map(|(variant, reason)| format!("{variant} ({reason})")).collect();
    if refused.iter().any(|(variant, _)| variant.group == Some(2048)) {
        Ok(format!("all films are identical; refused: {}", words.join(", ")))
    } else {
        Err("blocks of 2,048 threads are not refused".into())
    }
}

fn compare(target: &str, scene: &Scene, settings: &Settings, spp: u32) -> Result<usize, String> {
    let (ours, counts) =
        conformance::render(open(target).map_err(words)?.as_mut(), scene, settings, spp).map_err(words)?;
    let (theirs, expected) =
        conformance::render(reference()?.as_mut(), scene, settings, spp).map_err(words)?;
    let place = format!("{} under {settings:?}", scene.name);
    let differing = ours.pixels_differing(&theirs);
    if differing > 0 {
        return Err(format!("{differing} pixels differ on {place}"));
    }
    if ours.invalid != theirs.invalid || counts.bounces != expected.bounces {
        return Err(format!("the counts differ on {place}: {counts:?} and {expected:?}"));
    }
    Ok((settings.width * settings.height) as usize)
}

fn film_of(renderer: &mut dyn Renderer) -> Result<Film, String> {
    let mut film = Film::new(1, 1).map_err(words)?;
    renderer.read(&mut film).map_err(words)?;
    Ok(film)
}

/// Halves of the samples on this device and on the last one, added, against one run of all.
fn split(target: &str, _: &Asked) -> Finding {
    let scene = built_in("cornell")?;
    let settings = Settings { width: 320, height: 180, ..Settings::default() };
    let (whole, _) =
        conformance::render(open(target).map_err(words)?.as_mut(), &scene, &settings, 16).map_err(words)?;
    let last = Cuda.targets().into_iter().rfind(|status| status.state.is_ok()).map(|status| status.name);
    let last = last.unwrap_or_else(|| target.into());
    let mut first_half = open(target).map_err(words)?;
    let mut second_half = open(&last).map_err(words)?;
    for (renderer, ranges) in [(&mut first_half, [0..3, 3..8]), (&mut second_half, [8..9, 9..16])] {
        renderer.load(&scene, &settings).map_err(words)?;
        for range in ranges {
            renderer.accumulate(range).map_err(words)?;
        }
    }
    let mut sum = film_of(first_half.as_mut())?;
    sum.merge(&film_of(second_half.as_mut())?).map_err(words)?;
    if sum == whole {
        Ok(format!("halves on {target} and {last} add up to the whole, bit by bit"))
    } else {
        Err(format!("{} pixels differ", sum.pixels_differing(&whole)))
    }
}

/// Device times of the built-in scenes at 1280x720 in both modes.
fn times(target: &str, asked: &Asked) -> Finding {
    let mut slowest_gap: f64 = 0.0;
    for name in SCENES {
        let scene = built_in(name)?;
        for mode in [Mode::Exact, Mode::Fast] {
            let settings = Settings { width: 1280, height: 720, mode, ..Settings::default() };
            let mut renderer = open(target).map_err(words)?;
            let load = renderer.load(&scene, &settings).map_err(words)?;
            renderer.accumulate(0..asked.spp).map_err(words)?;
            let start = Instant::now();
            let report = renderer.accumulate(asked.spp..2 * asked.spp).map_err(words)?;
            let host = start.elapsed().as_secs_f64() * 1e3;
            let t = report.stages.clone();
            let gap = 1.0 - t.sum_ms() / t.total_ms;
            slowest_gap = slowest_gap.max(gap);
            let rays = (report.extension_rays() + report.shadow_rays()) as f64 * 1e-3;
            println!(
                "  {name} {mode:?} {} spp: generate {:.3}, extend {:.3}, shade {:.3}, connect {:.3}, total {:.3} ms, \
                 host {host:.3} ms; {:.1} % queues and gaps; {:.0} Mrays/s of all time, {:.0} of trace time",
                asked.spp,
                t.ms("generate"),
                t.ms("extend"),
                t.ms("shade"),
                t.ms("connect"),
                t.total_ms,
                gap * 100.0,
                rays / t.total_ms,
                rays / t.trace_ms(),
            );
            println!(
                "    load: build {:.1}, compile {:.1}, upload {:.1} ms; {}",
                load.build_ms,
                load.compile_ms,
                load.upload_ms,
                renderer.device().note
            );
        }
    }
    let most = slowest_gap * 100.0;
    if slowest_gap <= 0.1 {
        Ok(format!("queues and gaps take at most {most:.1} %"))
    } else {
        Err(format!("queues and gaps take {most:.1} % of a pass, more than 10 %"))
    }
}

fn memory(target: &str, _: &Asked) -> Finding {
    let refused = faults::exhaust_memory(target);
    if faults::is_device_error(&refused, "OutOfMemory") {
        Ok(refused.err().map(words).unwrap_or_default())
    } else {
        Err(format!("{refused:?}"))
    }
}

/// A device that a wild write lost is an error, then absent, and other targets go on.
fn loss(target: &str, _: &Asked) -> Finding {
    let scene = scenes::everything().map_err(words)?;
    let settings = Settings { width: 32, height: 24, ..Settings::default() };
    let mut renderer = open(target).map_err(words)?;
    renderer.load(&scene, &settings).map_err(words)?;
    let lost = faults::lose_device(target);
    if !faults::is_device_error(&lost, "IllegalAddress") {
        return Err(format!("a wild write led to {lost:?}"));
    }
    if !matches!(renderer.accumulate(0..1), Err(Error::Device { .. })) {
        return Err("the renderer goes on as if its device were there".into());
    }
    if !matches!(open(target), Err(Error::Device { .. })) {
        return Err("the target opens again".into());
    }
    let status = Cuda.targets().into_iter().find(|status| status.name == target);
    let Some(Err(absence)) = status.map(|status| status.state) else {
        return Err("the target is still listed as present".into());
    };
    conformance::render(reference()?.as_mut(), &scene, &settings, 1).map_err(words)?;
    Ok(format!("{BVH_TARGET} goes on; {target} is absent: {}. {}", absence.reason, absence.remedy))
}
