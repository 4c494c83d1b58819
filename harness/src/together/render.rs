//! `lockstep render --together` and `lockstep resume`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Parser;
use lockstep_core::{Error, Renderer, Settings};
use lockstep_reports::image_io::atomic_write_text;
use lockstep_together::{
    Checkpoint, Ended, Interval, Options, PartialFilm, Progress, SampleSet, Start, Timeline, Together,
    read_film_file,
};
use serde::{Deserialize, Serialize};

use super::{group, name_of, select};
use crate::backends;
use crate::bvh_cache;
use crate::cli::{Cli, Command, RenderArgs, ResumeArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::say;
use crate::progress::Bar;
use crate::render::{DEFAULT_SIZE, Output, write_output};
use crate::scenes;
use crate::semantics;

/// A checkpoint's note: how to go on.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    /// The command line after the program's name.
    arguments: Vec<String>,
    /// The folder that its paths are relative to.
    folder: std::path::PathBuf,
}

/// Renders a scene on several targets together into a file.
///
/// # Errors
/// [`Failure`] for a scene, target or file that cannot be used; [`Failure::WorkersLost`] when no worker is left.
pub(crate) fn render(args: &RenderArgs) -> Result<Exit, Failure> {
    let job = args.group.checkpoint.as_ref().map(|_| Job::of_this_command()).transpose()?;
    run(args, job)
}

/// Renders, and keeps the film so far with the command to go on by, if there is one.
fn run(args: &RenderArgs, job: Option<Job>) -> Result<Exit, Failure> {
    let (targets, name) = if args.group.together.is_empty() {
        let target = backends::one(&args.target, args.mode.into())?;
        let name = target.id.to_string();
        (vec![target], name)
    } else {
        let targets = select(&args.group.together)?;
        let name = name_of(&targets);
        (targets, name)
    };
    let begun = saved(args)?;
    let scene = scenes::load(&args.scene, &args.files.options())?;
    let mode = targets.first().map_or(args.mode.into(), |target| target.id.mode);
    let settings = Settings { mode, ..args.image.settings(DEFAULT_SIZE) };
    scenes::warn_of_few_bounces(&args.scene, &scene, &settings);
    let options = Options {
        schedule: args.group.schedule,
        start: Start::First,
        silence: Duration::from_secs_f64(args.group.silence),
        checkpoint: checkpoint(args, job)?,
        semantics: semantics::hash().to_owned(),
        listen: args.group.listen.clone(),
    };
    let mut together = group(&name, &targets, args.threads, options)?;
    interrupt::listen()?;
    let loading = together.load(&scene, &settings);
    say_notes(&mut together);
    bvh_cache::warn_if_rebuilt(&scene.name, &loading.map_err(|error| lost(&together, error))?);
    let mut wanted = SampleSet::from(args.wanted());
    let mut there = SampleSet::default();
    if let Some(part) = begun {
        there = part.samples().clone();
        let beyond = there.without(&wanted);
        if !beyond.is_empty() {
            return Err(Failure::Usage(format!(
                "the checkpoint holds the samples {beyond} too, which are not asked for; ask for them or remove it"
            )));
        }
        together.restore(part)?;
        say(&format!("lockstep: going on from the samples {there}"));
        wanted = wanted.without(&there);
    }
    let begin = Instant::now();
    let bar = Bar::new(&format!("{} on {} targets", scene.name, targets.len()), wanted.len());
    let ended = watch(&mut together, &wanted, &bar);
    bar.clear();
    say_notes(&mut together);
    write_timeline(args.group.timeline.as_deref(), together.timeline())?;
    match ended.map_err(|error| lost(&together, error))? {
        Ended::Done(_) => {}
        Ended::Stopped => {
            say(&match &args.group.checkpoint {
                Some(path) => format!("lockstep: stopped; `lockstep resume {}` goes on", path.display()),
                None => "lockstep: stopped; no image was written".to_owned(),
            });
            return Ok(Exit::Interrupted);
        }
    }
    let film = crate::render::read_film(&mut together)?;
    let mut samples = wanted;
    samples.union(&there);
    let device = together.device().clone();
    let output = Output { args, scene: &scene, settings: &settings, target: &name, device: &device, samples };
    let exit = write_output(&output, film, begin.elapsed().as_secs_f64())?;
    say_shares(together.timeline());
    if let Some(path) = &args.group.checkpoint {
        std::fs::remove_file(path).map_err(Failure::io("remove the checkpoint", path))?;
    }
    Ok(exit)
}

/// Renders, and shows how far each target is.
fn watch(together: &mut Together, wanted: &SampleSet, bar: &Bar) -> Result<Ended, Error> {
    let mut shares: BTreeMap<String, u64> = BTreeMap::new();
    let title = bar.message();
    together.render(wanted, &mut |progress| {
        if let Some(Progress { target, samples }) = progress {
            *shares.entry(target.to_owned()).or_default() += u64::from(samples);
            bar.add(u64::from(samples));
            let each: Vec<String> = shares.iter().map(|(target, spp)| format!("{target} {spp}")).collect();
            bar.say(&format!("{title}: {}", each.join(", ")));
        }
        !interrupt::requested()
    })
}

/// The failure of a group, which may have no worker left.
fn lost(together: &Together, error: Error) -> Failure {
    if together.has_workers() { error.into() } else { Failure::WorkersLost(error.to_string()) }
}

fn say_notes(together: &mut Together) {
    for note in together.take_notes() {
        say(&format!("lockstep: {}: {}", note.target, note.text));
    }
}

/// Each target's share of the samples, and of the time.
fn say_shares(timeline: &Timeline) {
    for target in timeline.targets() {
        let (samples, busy) = (timeline.committed(target), (timeline.busy(target) * 100.0).min(100.0));
        say(&format!("  {target}: {samples} spp, busy {busy:.1} % of {:.2} s", timeline.seconds));
    }
    if timeline.wasted() > 0 {
        say(&format!("  rendered for nothing: {} spp", timeline.wasted()));
    }
}

/// The film of the checkpoint, where one is to be gone on from.
fn saved(args: &RenderArgs) -> Result<Option<PartialFilm>, Failure> {
    let Some(path) = args.group.checkpoint.as_deref().filter(|path| path.exists()) else { return Ok(None) };
    if !args.group.resume {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path} holds an unfinished render; go on with `lockstep resume {path}`, or remove it"
        )));
    }
    Ok(Some(read_film_file(path)?.0))
}

impl Job {
    /// The command that runs.
    fn of_this_command() -> Result<Self, Failure> {
        let folder = std::env::current_dir().map_err(Failure::io("find", "the working folder"))?;
        let refused = |word: OsString| {
            Failure::Usage(format!("a checkpoint cannot note {}: it is not UTF-8", word.display()))
        };
        let words = std::env::args_os().skip(1).map(|word| word.into_string().map_err(refused));
        Ok(Self { arguments: words.collect::<Result<_, _>>()?, folder })
    }
}

fn checkpoint(args: &RenderArgs, job: Option<Job>) -> Result<Option<Checkpoint>, Failure> {
    let (Some(path), Some(job)) = (&args.group.checkpoint, job) else { return Ok(None) };
    let note =
        serde_json::to_value(job).map_err(|e| Failure::Input(format!("cannot note the command: {e}")))?;
    let every = Duration::from_secs_f64(args.group.checkpoint_every);
    Ok(Some(Checkpoint { path: path.clone(), every, note }))
}

/// Goes on with a render by the command that its checkpoint notes.
///
/// # Errors
/// [`Failure`] for a file that is no checkpoint, and as [`render`].
pub(crate) fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let path = &args.checkpoint;
    let absolute = std::path::absolute(path).map_err(Failure::io("find", path))?;
    let (part, note) = read_film_file(path)?;
    let no_job = || Failure::Input(format!("{} is a film, but no checkpoint of a render", path.display()));
    let job: Job = serde_json::from_value(note).map_err(|_| no_job())?;
    std::env::set_current_dir(&job.folder).map_err(Failure::io("enter", &job.folder))?;
    let words = std::iter::once("lockstep".to_owned()).chain(job.arguments.iter().cloned());
    let Ok(Cli { command }) = Cli::try_parse_from(words) else { return Err(no_job()) };
    let mut render_args = match command {
        Command::Render(args) => args,
        _ => return Err(no_job()),
    };
    say(&format!("lockstep: {} of {} samples are there", part.film().spp, render_args.wanted().len()));
    render_args.group.resume = true;
    render_args.group.checkpoint = Some(absolute);
    run(&render_args, Some(job))
}

/// One lease in a file of `--timeline`.
#[derive(Serialize)]
struct LeaseRow<'a> {
    target: &'a str,
    start_s: f64,
    end_s: f64,
    samples: [u32; 2],
    outcome: &'static str,
    backup: bool,
}

impl<'a> LeaseRow<'a> {
    fn of(interval: &'a Interval) -> Self {
        let Interval { target, start, end, samples, outcome, backup } = interval;
        let (samples, outcome) = ([samples.start, samples.end], outcome.as_str());
        Self { target, start_s: *start, end_s: *end, samples, outcome, backup: *backup }
    }
}

fn write_timeline(path: Option<&Path>, timeline: &Timeline) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let rows: Vec<LeaseRow<'_>> = timeline.intervals.iter().map(LeaseRow::of).collect();
    let document = serde_json::json!({"seconds": timeline.seconds, "leases": rows});
    Ok(atomic_write_text(path, &format!("{document}\n"))?)
}
