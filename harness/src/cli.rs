//! The command line: commands, options, and how their values are read.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lockstep_core::film::MAX_SPP;
use lockstep_core::merging::MergeRadius;
use lockstep_core::{Integrator, LayerSampling, MAX_BOUNCES, Mode, Sampler, Settings};
use lockstep_reports::image_io::Tone;
use lockstep_reports::records::shell_line;
use lockstep_scenes::{Choices, Limits, LoadOptions, View};
use lockstep_together::Schedule;

use crate::exit::Failure;
use crate::output::say;
use crate::port::args::PortCommand;
use crate::preset::Preset;
use crate::study::Share;
use crate::values::{
    BaselineName, EnvironmentArg, Percent, Seconds, Size, SppSchedule, Triple, parse_spp, whole,
};

const EXIT_CODES: &str = "\
Exit codes: 0 fine; 1 images differ or a check failed; 2 usage; 3 a golden is missing or sizes differ;
4 bad input, or a file that cannot be read or written; 5 a required target is absent; 6 images that
are compared cannot tell noise from bias; 7 all workers of a render were lost; 130 stopped by Ctrl-C.

A SCENE is the name of a built-in scene, as in `cornell` or `atrium:250k`, or a path to a .gltf, .glb, .obj, .ply,
.pbrt, Mitsuba .xml or scene.toml file. A TARGET is a name that `lockstep devices` lists, with a device after an @ where
there are several, by index or by a part of its name: `cpu-bvh`, `opencl@pocl`, `cuda@0`. With +fast behind it, as in
`opencl@pocl+fast`, it is the build whose arithmetic the compiler may contract and approximate.";

/// Renders the same scenes with the same random numbers on several backends, and reports whether the images
/// agree, how fast each stage ran and what the port cost.
#[derive(Debug, Parser)]
#[command(name = "lockstep", version, after_help = EXIT_CODES, max_term_width = 110)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists every target: present or not, on which device, and what to do about absent ones
    Devices(DevicesArgs),
    /// Fetches missing run-time libraries that need no GPU
    Setup(SetupArgs),
    /// Renders one image, on one target or on several together
    Render(RenderArgs),
    /// Goes on with a render from its checkpoint
    Resume(ResumeArgs),
    /// Adds partial films into an image, or shards into their study, exactly
    Merge(MergeArgs),
    /// Submits a study as an array job, and its merge behind it
    #[command(subcommand)]
    Submit(SubmitCommand),
    /// Renders for a `render --together`, as one of its targets
    Worker(WorkerArgs),
    /// Renders scenes on every target at rising samples per pixel, compares and times them, and writes a
    /// report
    Study(Box<StudyArgs>),
    /// Writes a scene for another renderer
    Export(ExportArgs),
    /// Times every kernel configuration of every target and checks that all produce the same film
    Tune(TuneArgs),
    /// Prints one sample's path vertex by vertex, and the first difference of two targets
    Trace(TraceArgs),
    /// Compares images of any program: two files, or two folders in a report like a study's
    Compare(CompareArgs),
    /// Remakes tables, plots and page of a study from its records
    Report(ReportArgs),
    /// Compares a study's times, rates, films and errors with those of an earlier one, as Markdown
    Diff(DiffArgs),
    /// Plots the rates of studies by commit
    History(HistoryArgs),
    /// Measures ray throughput by target, BVH layout and kind of rays
    Bench(BenchArgs),
    /// Runs the conformance suite on this machine's devices: contract, bit identity with `cpu-bvh`, light
    /// transport
    Selftest(SelftestArgs),
    /// Golden-image tests
    #[command(subcommand)]
    Golden(GoldenCommand),
    /// Similarity and cost of ports
    #[command(subcommand)]
    Port(PortCommand),
    /// Prints a shell's completion script
    Completions(CompletionsArgs),
    /// Writes man pages
    Man(ManArgs),
}

/// The option of every command that compiles device code.
#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    /// Write the device code of every dialect and build, as compilers get it, into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dump_kernels: Option<PathBuf>,
}

/// `lockstep devices`
#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    #[command(flatten)]
    pub(crate) kernels: KernelArgs,
    /// Also list targets for measurements and tests, which `-b all` leaves out
    #[arg(long)]
    pub(crate) all: bool,
    /// Open every exact target and show whether its arithmetic is exact: a thousand probes of each operation against
    /// frozen results, which every command runs before it renders. Exit code 1 where one is refused
    #[arg(long)]
    pub(crate) prove: bool,
    /// External targets [default: targets.toml in the working folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) targets_file: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail with exit code 5 unless these targets are present
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    pub(crate) require: Vec<String>,
}

/// The renderers and formats that scenes are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// Mitsuba 3: scene.xml, meshes as PLY, images as PFM, and render.py
    Mitsuba,
    /// Cycles in Blender: scene.json, its arrays, images as OpenEXR, and render.py, which makes a scene in Blender of them
    Cycles,
    /// LuxCore: scene.cfg, scene.scn, meshes as PLY, images as OpenEXR, and render.py
    Luxcore,
    /// pbrt-v4: scene.pbrt, meshes as PLY, images as OpenEXR
    Pbrt,
    /// glTF 2.0: scene.glb, and scene.toml for what has no place in it
    Gltf,
}

/// `lockstep export`
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The scene
    pub(crate) scene: String,
    /// The renderer
    #[arg(long, value_enum, value_name = "RENDERER")]
    pub(crate) to: ExportFormat,
    /// The folder of the files
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) files: SceneArgs,
}

/// `lockstep setup`
#[derive(Debug, Args)]
#[command(after_help = format!("Items:\n{}", lockstep_setup::item_table()))]
pub(crate) struct SetupArgs {
    /// The libraries [default: all that are small and need no agreement to a licence]
    #[arg(value_name = "ITEM")]
    pub(crate) items: Vec<String>,
    /// Let apt-get install packages that this needs, such as pip (root on Debian or Ubuntu)
    #[arg(long)]
    pub(crate) install_packages: bool,
}

/// How scene files are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct SceneArgs {
    /// The camera of a glTF file, by name or index from 0 [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) camera: Option<String>,
    /// The variant of a glTF file's materials, by name [default: the file's own materials]
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// The animation of a glTF file, by name or index from 0 [default: as many as move different things]
    #[arg(long, value_name = "NAME")]
    pub(crate) animation: Option<String>,
    /// The time of a glTF file's animations [default: 0]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = parse_time)]
    pub(crate) at: Option<f32>,
    /// Position of the eye, in place of the scene's
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pub(crate) eye: Option<Triple>,
    /// A point in the middle of the image [default: where the scene's camera looks]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pub(crate) look_at: Option<Triple>,
    /// Vertical field of view in degrees, in place of the scene's
    #[arg(long, value_name = "DEGREES")]
    pub(crate) fov: Option<f32>,
    /// Sky in place of the scene's: a radiance, as in 1 or 0.5,0.7,1, or an equirectangular .hdr or .exr file
    #[arg(long, value_name = "RADIANCE|FILE")]
    pub(crate) sky: Option<EnvironmentArg>,
    /// Halve textures of glTF and OBJ files until no side is longer than N texels [default: as they are]
    #[arg(long, value_name = "N", value_parser = whole::<1, { u32::MAX }>)]
    pub(crate) texture_size: Option<u32>,
    /// Show glTF's single-sided surfaces from behind too, as integrators with paths from lights need it
    #[arg(long)]
    pub(crate) both_sides: bool,
    /// Let rough metal, glass and thin walls keep the light that scatters more than once between microfacets
    #[arg(long)]
    pub(crate) multiscatter: bool,
    /// Let scene files name files outside their folder and LOCKSTEP_SCENES
    #[arg(long)]
    pub(crate) allow_outside: bool,
}

impl SceneArgs {
    /// A scene with these options behind it, for commands that a report shows.
    pub(crate) fn after(&self, scene: &str) -> String {
        let triple =
            |name: &'static str, value: Option<Triple>| value.map(|v| [name.to_owned(), v.to_string()]);
        let valued = [
            self.camera.clone().map(|camera| ["--camera".to_owned(), camera]),
            self.variant.clone().map(|variant| ["--variant".to_owned(), variant]),
            self.animation.clone().map(|animation| ["--animation".to_owned(), animation]),
            self.at.map(|seconds| ["--at".to_owned(), seconds.to_string()]),
            triple("--eye", self.eye),
            triple("--look-at", self.look_at),
            self.fov.map(|fov| ["--fov".to_owned(), fov.to_string()]),
            self.sky.as_ref().map(|sky| ["--sky".to_owned(), sky.to_string()]),
            self.texture_size.map(|size| ["--texture-size".to_owned(), size.to_string()]),
        ];
        let flags = [
            ("--both-sides", self.both_sides),
            ("--multiscatter", self.multiscatter),
            ("--allow-outside", self.allow_outside),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned());
        let words = std::iter::once(scene.to_owned()).chain(valued.into_iter().flatten().flatten());
        shell_line(&words.chain(flags).collect::<Vec<_>>())
    }

    /// The loader's options.
    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions {
            camera: self.camera.clone(),
            choices: Choices {
                variant: self.variant.clone(),
                animation: self.animation.clone(),
                at: self.at,
            },
            view: View {
                eye: self.eye.map(|eye| eye.0),
                look_at: self.look_at.map(|point| point.0),
                fov: self.fov,
                environment: self.sky.clone().map(|sky| sky.0),
            },
            both_sides: self.both_sides,
            multiscatter: self.multiscatter,
            allow_outside: self.allow_outside,
            limits: Limits { texture_side: self.texture_size.unwrap_or(u32::MAX), ..Limits::default() },
            notice: Some(|sentence| say(&format!("lockstep: {sentence}"))),
            ..LoadOptions::default()
        }
    }
}

/// Help of `--integrator`: every integrator with its name in full.
fn help_of_integrators() -> String {
    let all = Integrator::ALL.map(|integrator| format!("{integrator} ({})", integrator.title()));
    format!("Light transport algorithm: {}", all.join(", "))
}

/// The settings of a render.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ImageArgs {
    /// Size of the images in pixels [default: 320x240, for a golden 64x64]
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<Size>,
    /// Scattering events along a path: 0 shows emission only, 1 direct light. Light that scatters more often is
    /// left out: 5.6 % of the Cornell box's image at 3, 0.5 % at 7. Hits of overlapping dielectrics that are passed
    /// through count as well
    #[arg(long, value_name = "N", default_value_t = Settings::default().bounces,
        value_parser = whole::<0, MAX_BOUNCES>)]
    pub(crate) bounces: u32,
    /// Lets paths end at random from their bounce N on, the dimmer the likelier, without bias (Russian roulette)
    /// [default: no path ends so]
    #[arg(long, value_name = "N", value_parser = whole::<0, { u32::MAX }>)]
    pub(crate) roulette: Option<u32>,
    /// Light transport algorithm
    #[arg(long, value_name = "NAME", default_value_t = Integrator::Path, help = help_of_integrators())]
    pub(crate) integrator: Integrator,
    /// Radius of the first sample's merges with photons (vcm, bpm, ppm), as a share of the radius of the scene's
    /// bounding sphere; that of sample i is smaller by the eighth root of i + 1
    #[arg(long, value_name = "SHARE", default_value_t = MergeRadius::DEFAULT)]
    pub(crate) merge_radius: MergeRadius,
    /// Where random numbers come from: pcg (hashed, independent), xorwow (Marsaglia's generator, independent) or
    /// sobol (Owen-scrambled Sobol points, which converge faster)
    #[arg(long, value_name = "NAME", default_value_t = Sampler::Pcg)]
    pub(crate) sampler: Sampler,
    /// How paths scatter on surfaces with layers: together (all lobes are evaluated) or tree (one lobe is picked at each
    /// vertex and stands for all; by --integrator path alone)
    #[arg(long, value_name = "NAME", default_value_t = LayerSampling::Together)]
    pub(crate) layers: LayerSampling,
    /// Selects the random numbers
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<0, { u32::MAX }>)]
    pub(crate) seed: u32,
}

impl ImageArgs {
    /// The settings that these options ask for, with a size where none is given.
    pub(crate) fn settings(&self, default_size: Size) -> Settings {
        let size = self.size.unwrap_or(default_size);
        Settings {
            width: size.width,
            height: size.height,
            bounces: self.bounces,
            roulette_from: self.roulette,
            integrator: self.integrator,
            merge_radius: self.merge_radius,
            sampler: self.sampler,
            layers: self.layers,
            seed: self.seed,
            ..Settings::default()
        }
    }
}

/// Which quantity to render.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputKind {
    /// Radiance from full paths
    #[default]
    Beauty,
}

/// Which arithmetic to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// As written: identical to the bit on every exact target
    #[default]
    Exact,
    /// The compiler may contract and approximate; images are compared statistically
    Fast,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Exact => Self::Exact,
            ModeArg::Fast => Self::Fast,
        }
    }
}

/// Which tone curve to show radiance by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToneArg {
    /// As it is, white above 1
    Srgb,
    /// AgX by Sobotka, as in Blender
    Agx,
    /// ACES, fitted by Hill
    Aces,
    /// Khronos' PBR Neutral
    PbrNeutral,
}

impl From<ToneArg> for Tone {
    fn from(tone: ToneArg) -> Self {
        match tone {
            ToneArg::Srgb => Self::Srgb,
            ToneArg::Agx => Self::Agx,
            ToneArg::Aces => Self::Aces,
            ToneArg::PbrNeutral => Self::PbrNeutral,
        }
    }
}

/// `lockstep render`
#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    /// The scene
    pub(crate) scene: String,
    /// The target [default: the first one present]
    #[arg(
        short = 'b',
        long = "target",
        value_name = "TARGET",
        default_value = "all",
        hide_default_value = true
    )]
    pub(crate) target: String,
    /// Samples per pixel
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        value_parser = parse_spp
    )]
    pub(crate) spp: u32,
    #[command(flatten)]
    pub(crate) image: ImageArgs,
    #[command(flatten)]
    pub(crate) files: SceneArgs,
    #[command(flatten)]
    pub(crate) kernels: KernelArgs,
    /// The arithmetic
    #[arg(long, value_enum, value_name = "MODE", default_value_t)]
    pub(crate) mode: ModeArg,
    /// The quantity to render
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    pub(crate) output: OutputKind,
    /// Stops of exposure of a .png: every stop doubles its values
    #[arg(long, value_name = "STOPS", allow_hyphen_values = true, value_parser = parse_stops)]
    pub(crate) exposure: Option<f32>,
    /// The tone curve of a .png: srgb clips, agx and aces are film-like, pbr-neutral keeps the colours of materials
    /// [default: srgb]
    #[arg(long, value_enum, value_name = "CURVE")]
    pub(crate) tone: Option<ToneArg>,
    /// Also write the image of every technique of `bpt` or `light` to this folder, weighted and unweighted, and
    /// check that the weighted ones add up to the film
    #[arg(long, value_name = "DIR")]
    pub(crate) techniques: Option<PathBuf>,
    /// Worker threads of CPU targets [default: all hardware threads]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// Render these samples of every pixel alone, as A..B; a .film of them can be merged with others
    #[arg(long, value_name = "A..B", conflicts_with = "spp", value_parser = parse_samples)]
    pub(crate) samples: Option<SampleRange>,
    /// External targets [default: targets.toml in the working folder and beside the scene]
    #[arg(long, value_name = "FILE")]
    pub(crate) targets_file: Option<PathBuf>,
    /// The image file: .exr (linear, every bit kept), .png (8-bit sRGB), or .film (exact sums, for `lockstep merge`)
    #[arg(short, long = "out", value_name = "FILE")]
    pub(crate) out: PathBuf,
}

impl RenderArgs {
    /// The samples to render.
    pub(crate) fn wanted(&self) -> std::ops::Range<u32> {
        self.samples.map_or(0..self.spp, |samples| samples.start..samples.end)
    }
}

/// A range of sample indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleRange {
    /// The first sample index.
    pub(crate) start: u32,
    /// One past the last sample index.
    pub(crate) end: u32,
}

fn parse_samples(text: &str) -> Result<SampleRange, String> {
    let wrong = || format!("it must be A..B with 0 <= A < B <= {MAX_SPP}, as in 0..64");
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |word: &str| word.parse().map_err(|_| wrong());
    let (start, end) = (number(start)?, number(end)?);
    if start < end && end <= MAX_SPP { Ok(SampleRange { start, end }) } else { Err(wrong()) }
}

/// Several targets on one image.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = TOGETHER)]
pub(crate) struct GroupArgs {
    /// Render on these targets together, each in a process of its own; the film is that of one target
    #[arg(long, value_name = "TARGET", value_delimiter = ',', conflicts_with = "target")]
    pub(crate) together: Vec<String>,
    /// How samples are shared: equal, proportional, demand, guided or guided+backup
    #[arg(long, value_name = "NAME", default_value_t, requires = "together")]
    pub(crate) schedule: Schedule,
    /// Keep the film so far in this file, for `lockstep resume FILE`
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Time between two writes of the checkpoint
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds, requires = "checkpoint")]
    pub(crate) checkpoint_every: f64,
    /// Go on from the checkpoint where there is one
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// A socket at which more workers may join: `lockstep worker TARGET --join SOCKET`
    #[arg(long, value_name = "SOCKET")]
    pub(crate) listen: Option<PathBuf>,
    /// The silence after which a worker counts as hung, unless its samples take longer
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub(crate) silence: f64,
    /// Write who rendered which samples when to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
}

impl GroupArgs {
    /// Whether the render needs a coordinator.
    pub(crate) fn is_asked_for(&self) -> bool {
        !self.together.is_empty()
            || self.checkpoint.is_some()
            || self.listen.is_some()
            || self.timeline.is_some()
    }
}

/// `lockstep resume`
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The checkpoint of a `lockstep render --checkpoint`
    pub(crate) checkpoint: PathBuf,
}

/// `lockstep merge`
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Partial films of one render (`lockstep render --samples A..B -o PART.film`), or folders of one study's shards
    /// (`lockstep study --shard I/N -o DIR`)
    #[arg(value_name = "FILM|DIR", required = true)]
    pub(crate) parts: Vec<PathBuf>,
    /// Accept films that lack samples before their last one
    #[arg(long)]
    pub(crate) allow_gaps: bool,
    /// The image file, .exr or .png, or a .film that holds the samples of all; of shards the study's folder [default:
    /// that of the shards]
    #[arg(short, long = "out", value_name = "FILE|DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print a study's verdict as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `lockstep worker`
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The target
    pub(crate) target: String,
    /// The socket of a `render --together --listen SOCKET` [default: standard input, a socket]
    #[arg(long, value_name = "SOCKET")]
    pub(crate) join: Option<PathBuf>,
    /// Processors to run on, as 0,2,4 [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) cpus: Vec<usize>,
    /// Worker threads of CPU targets [default: as many as there are processors to run on]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
}

/// The options of a command that keeps its records in a folder.
#[derive(Clone, Debug, Args)]
pub(crate) struct FolderArgs {
    /// Worker threads of CPU targets [default: all hardware threads]
    #[arg(long, value_name = "N", value_parser = parse_threads, help_heading = RUN)]
    pub(crate) threads: Option<usize>,
    /// Start over instead of resuming what DIR holds
    #[arg(long, help_heading = RUN)]
    pub(crate) fresh: bool,
    /// Do not fetch missing libraries, like LOCKSTEP_OFFLINE=1
    #[arg(long, help_heading = RUN)]
    pub(crate) no_setup: bool,
    /// Let apt-get install packages that fetching needs, such as pip (root on Debian or Ubuntu)
    #[arg(long, help_heading = RUN, conflicts_with = "no_setup")]
    pub(crate) install_packages: bool,
    /// Fail with exit code 5 unless these targets are present
    #[arg(long, value_name = "TARGET", value_delimiter = ',', help_heading = RUN)]
    pub(crate) require: Vec<String>,
    /// Print the verdict as one JSON document
    #[arg(long, help_heading = RUN)]
    pub(crate) json: bool,
}

/// The heading of options for several targets.
const TOGETHER: &str = "Several targets";

/// Headings of `lockstep study --help`.
const RENDER: &str = "Rendering";
const MEASURE: &str = "Measurements";
const REFERENCE: &str = "Reference";
const BASELINE: &str = "Performance over time";
const RUN: &str = "Run and output";
const SHARDS: &str = "Many machines";

/// Seconds of a preset's references over those of its longest time.
const REFERENCE_FACTOR: f64 = 8.0;

/// The scenes of a study or a tuning, and their targets.
#[derive(Debug, Args)]
pub(crate) struct SubjectArgs {
    /// The scenes [default: cornell weekend atrium:10k]
    #[arg(value_name = "SCENE")]
    pub(crate) scenes: Vec<String>,
    /// Targets in their order; `all` is every one present
    #[arg(
        short = 'b',
        long = "targets",
        value_name = "TARGET",
        value_delimiter = ',',
        default_value = "all",
        help_heading = RENDER
    )]
    pub(crate) targets: Vec<String>,
    #[command(flatten, next_help_heading = RENDER)]
    pub(crate) files: SceneArgs,
}

/// `lockstep study`
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Take the options of a preset; options that are given count instead
    #[arg(long, value_enum, value_name = "NAME", help_heading = MEASURE)]
    pub(crate) preset: Option<Preset>,
    /// The arithmetic; `exact,fast` adds the fast builds of targets that have one
    #[arg(
        long = "mode",
        value_enum,
        value_name = "MODE",
        value_delimiter = ',',
        default_value = "exact",
        help_heading = RENDER
    )]
    pub(crate) modes: Vec<ModeArg>,
    /// Levels of samples per pixel, doubling from A to B [default: from 1 towards 1024, as far as each scene gets
    /// in 20 s]
    #[arg(long, value_name = "A..B", help_heading = RENDER)]
    pub(crate) spp: Option<SppSchedule>,
    #[command(flatten, next_help_heading = RENDER)]
    pub(crate) image: ImageArgs,
    /// Compare these integrators as targets are compared: each on every target, the first for the reference too
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "integrator",
        help_heading = RENDER
    )]
    pub(crate) integrators: Vec<Integrator>,
    /// Compare both ways of sampling layers as targets are compared: each on every target, that of all lobes together for
    /// the reference too
    #[arg(long, conflicts_with = "layers", help_heading = RENDER)]
    pub(crate) compare_layers: bool,
    /// Seeds rendered on every target, counting up from the first [default: 1, and a second for the noise
    /// floor]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole::<1, 65_536>,
        help_heading = MEASURE
    )]
    pub(crate) seeds: Option<u32>,
    /// Times that every level is timed [default: 1]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole::<1, 1_000>,
        help_heading = MEASURE
    )]
    pub(crate) repeats: Option<u32>,
    /// Measure the error after these render times, as in 10s,60s,300s
    #[arg(long = "time", value_name = "TIME", value_delimiter = ',', allow_hyphen_values = true, help_heading = MEASURE)]
    pub(crate) times: Vec<Seconds>,
    /// The target that speeds by device after equal time are compared with [default: the first]
    #[arg(long, value_name = "TARGET", requires = "times", help_heading = MEASURE)]
    pub(crate) against: Option<String>,
    /// Time CPU targets with 1, 2, 4 … and all threads
    #[arg(long, help_heading = MEASURE)]
    pub(crate) scaling: bool,
    /// Time these targets together on one image, by every schedule, and each alone; once for every group, as in
    /// --together cuda@0,cuda@1 --together cuda@0,cpu-bvh. With a preset each group is a target beside the others, and
    /// schedules are timed where --schedule names them
    #[arg(long, value_name = "TARGET,TARGET", help_heading = MEASURE)]
    pub(crate) together: Vec<TargetList>,
    /// The schedules of --together [default: all five]
    #[arg(
        long = "schedule",
        value_name = "NAME",
        value_delimiter = ',',
        requires = "together",
        help_heading = MEASURE
    )]
    pub(crate) schedules: Vec<Schedule>,
    /// Compare single paths of every pair of targets and name the first quantity that differs
    #[arg(long, help_heading = MEASURE)]
    pub(crate) diagnose: bool,
    /// Show every technique of bpt and light: the pyramid of their images, and what each adds
    #[arg(long, help_heading = MEASURE)]
    pub(crate) techniques: bool,
    /// The reference image of a single scene, instead of a rendered one
    #[arg(long, value_name = "FILE", help_heading = REFERENCE)]
    pub(crate) reference: Option<PathBuf>,
    /// The integrator that renders references [default: that of the study, or the first of --integrators]
    #[arg(long, value_name = "NAME", conflicts_with = "reference", help_heading = REFERENCE)]
    pub(crate) reference_integrator: Option<Integrator>,
    /// Render each reference for this time in place of a multiple of the last level, as in 80s [default with a preset:
    /// eight times the longest --time]
    #[arg(long, value_name = "TIME", conflicts_with_all = ["reference", "reference_budget"], help_heading = REFERENCE)]
    pub(crate) reference_time: Option<Seconds>,
    /// Time for rendering a reference of 4 to 16 times the last level, or of up to 16 times what the longest --time
    /// reaches [default: 20 s, or twice the time of levels and --time]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = REFERENCE)]
    pub(crate) reference_budget: Option<f64>,
    /// Compare the study with this earlier one, a folder or the NAME of --save-baseline; as many rounds are timed as
    /// it has, unless --repeats says otherwise
    #[arg(long, value_name = "DIR|NAME", help_heading = BASELINE)]
    pub(crate) baseline: Option<PathBuf>,
    #[command(flatten, next_help_heading = BASELINE)]
    pub(crate) limit: SlowerArgs,
    /// Keep the study's records under this name, for --baseline, `diff` and `history`
    #[arg(long, value_name = "NAME", help_heading = BASELINE)]
    pub(crate) save_baseline: Option<BaselineName>,
    /// External targets [default: targets.toml in the working folder and beside each scene]
    #[arg(long, value_name = "FILE", help_heading = RENDER)]
    pub(crate) targets_file: Option<PathBuf>,
    /// The study's folder [default: study, or study-2 and so on where that holds another study]
    #[arg(short, long = "out", value_name = "DIR", help_heading = RUN)]
    pub(crate) out: Option<PathBuf>,
    /// Print the plan of the study's units, or write it as JSON to a file, and render nothing
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = SHARDS)]
    pub(crate) plan: Option<Option<PathBuf>>,
    /// Render the units of shard I of N, from 1, into DIR, for `lockstep merge DIR`; auto or auto/N takes the task of an
    /// array job of Slurm, PBS, SGE or Kubernetes
    #[arg(long, value_name = "I/N|auto", conflicts_with_all = ["plan", "fresh"], help_heading = SHARDS)]
    pub(crate) shard: Option<Share>,
    /// Units that the work is cut into, the same for every shard; levels that cost less are units of their own
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = whole::<1, 100_000>, help_heading = SHARDS)]
    pub(crate) units: u32,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten, next_help_heading = RUN)]
    pub(crate) kernels: KernelArgs,
}

impl StudyArgs {
    /// Whether nothing asks for other scenes, samples, pixels or measurements than the default study's.
    pub(crate) fn is_default_work(&self) -> bool {
        let more = self.seeds.is_some()
            || self.repeats.is_some()
            || self.scaling
            || self.diagnose
            || self.techniques
            || !self.together.is_empty();
        self.subject.scenes.is_empty()
            && self.modes == [ModeArg::Exact]
            && (self.spp.is_none() && self.image.size.is_none() && self.times.is_empty() && !more)
            && self.image.bounces == Settings::default().bounces
            && self.image.roulette.is_none()
            && self.image.integrator == Settings::default().integrator
            && self.image.merge_radius == Settings::default().merge_radius
            && self.image.sampler == Settings::default().sampler
            && self.image.layers == Settings::default().layers
            && self.integrators.is_empty()
            && !self.compare_layers
            && self.preset.is_none()
            && self.reference_integrator.is_none()
            && self.reference_time.is_none()
    }

    /// Seconds of rendering that a reference gets; `None` where levels or a budget decide.
    pub(crate) fn reference_seconds(&self) -> Option<f64> {
        let ruled = self.preset.is_none() || self.reference.is_some() || self.reference_budget.is_some();
        let longest = self.times.iter().map(|time| time.0).reduce(f64::max);
        let by_preset = longest.filter(|_| !ruled).map(|longest| REFERENCE_FACTOR * longest);
        self.reference_time.map(|time| time.0).or(by_preset)
    }

    /// The ways of sampling layers that are compared; none where they are not.
    pub(crate) fn compared_layers(&self) -> &'static [LayerSampling] {
        if self.compare_layers { &LayerSampling::ALL } else { &[] }
    }

    /// The groups of which schedules are timed.
    pub(crate) fn scheduled(&self) -> &[TargetList] {
        if self.preset.is_some() && self.schedules.is_empty() { &[] } else { &self.together }
    }

    /// The groups that are targets themselves.
    pub(crate) fn sets(&self) -> &[TargetList] {
        if self.preset.is_some() { &self.together } else { &[] }
    }

    /// The integrators of which `--techniques` shows every technique; none without it.
    ///
    /// # Errors
    /// [`Failure::Usage`] where no integrator has more than one.
    pub(crate) fn technique_integrators(&self) -> Result<Vec<Integrator>, Failure> {
        if !self.techniques {
            return Ok(Vec::new());
        }
        let all =
            if self.integrators.is_empty() { vec![self.image.integrator] } else { self.integrators.clone() };
        let found: Vec<Integrator> =
            all.into_iter().filter(|&integrator| crate::techniques::check(integrator).is_ok()).collect();
        found.first().map_or(Err(crate::techniques::single(self.image.integrator)), |_| Ok(found.clone()))
    }

    /// The settings that the options ask for, with the first integrator where there are several.
    pub(crate) fn settings(&self, default_size: Size) -> Settings {
        let settings = self.image.settings(default_size);
        Settings { integrator: self.integrators.first().copied().unwrap_or(settings.integrator), ..settings }
    }
}

/// `lockstep submit …`
#[derive(Debug, Subcommand)]
pub(crate) enum SubmitCommand {
    /// To Slurm, with sbatch
    Slurm(SlurmArgs),
}

/// `lockstep submit slurm`
#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    /// Tasks of the array, each of which renders one shard
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<1, 1_000_000>)]
    pub(crate) array: u32,
    /// An option for sbatch, such as --option=--gres=gpu:1; any number of them
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) option: Vec<String>,
    /// Print the scripts and submit nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The words of `lockstep study`, with -o DIR, a folder that all machines share
    #[arg(last = true, required = true, value_name = "STUDY")]
    pub(crate) study: Vec<String>,
}

/// `lockstep tune`
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Samples per pixel of a pass [default: as many as take long enough to time]
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_spp,
        help_heading = RENDER
    )]
    pub(crate) spp: Option<u32>,
    #[command(flatten, next_help_heading = RENDER)]
    pub(crate) image: ImageArgs,
    /// Times that every configuration is timed [default: 6]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole::<1, 1_000>,
        help_heading = RENDER
    )]
    pub(crate) repeats: Option<u32>,
    /// Time only configurations with one of these words in their label, beside the default [default: all]
    #[arg(long, value_name = "WORD", value_delimiter = ',', help_heading = RENDER)]
    pub(crate) configurations: Vec<String>,
    /// The folder of the records
    #[arg(short, long = "out", value_name = "DIR", default_value = "tune", help_heading = RUN)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten, next_help_heading = RUN)]
    pub(crate) kernels: KernelArgs,
}

/// `lockstep trace`
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The scene
    pub(crate) scene: String,
    /// One target, or two to compare
    #[arg(short = 'b', long = "targets", value_name = "TARGET", value_delimiter = ',', required = true)]
    pub(crate) targets: Vec<String>,
    /// The pixel, counted from 0,0 at the top left
    #[arg(long, value_name = "X,Y")]
    pub(crate) pixel: Pixel,
    /// The sample's index within the pixel
    #[arg(
        long,
        value_name = "I",
        default_value_t = 0,
        value_parser = whole::<0, { MAX_SPP - 1 }>
    )]
    pub(crate) sample: u32,
    #[command(flatten)]
    pub(crate) image: ImageArgs,
    /// Worker threads of CPU targets [default: all hardware threads]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) files: SceneArgs,
}

/// A pixel: column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pixel(pub(crate) [u32; 2]);

impl std::str::FromStr for Pixel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once(',').and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
        parsed.map(Self).ok_or_else(|| "it must be two whole numbers, as in 120,80".into())
    }
}

/// The words for the targets of a group, with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetList(pub(crate) Vec<String>);

impl std::str::FromStr for TargetList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<String> = text.split(',').map(|word| word.trim().to_owned()).collect();
        if words.iter().any(String::is_empty) {
            return Err("it must be names of targets with commas between them, as in cuda@0,cpu-bvh".into());
        }
        Ok(Self(words))
    }
}

/// `lockstep compare`
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[allow(rustdoc::invalid_html_tags, reason = "help is plain text")]
    /// An image (.exr, .png, .hdr or .pfm), a folder of images named
    /// <scene>.<target>.<spp>spp[.s<seed>].<kind>, or a study's folder
    pub(crate) a: PathBuf,
    /// The second image or folder, of the same sizes; the reference of metrics that need one
    pub(crate) b: PathBuf,
    /// Write tables, maps and page of the comparison to this folder
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Start over where DIR has a report already
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Count images as equal up to this mean squared error over 8-bit sRGB values [default: only if every
    /// value is equal]
    #[arg(long, value_name = "MSE", value_parser = parse_seconds)]
    pub(crate) tolerance: Option<f64>,
    /// Compare this layer alone: albedo, Normal, ViewLayer.Depth, image … [default: every layer of both sides]
    #[arg(long, value_name = "NAME")]
    pub(crate) layer: Option<String>,
    /// Write the verdicts as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the verdicts in GitHub's Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Known failures with reason and last day, as of `golden check`; the target is a side's name
    #[arg(long, value_name = "FILE")]
    pub(crate) expectations: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `lockstep report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A study's folder
    pub(crate) folder: PathBuf,
}

/// `lockstep diff`
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The earlier study: its folder, or the NAME of `study --save-baseline`
    pub(crate) before: PathBuf,
    /// The later study: its folder, or such a NAME
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) limit: SlowerArgs,
    /// Also write the comparison in GitHub's Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print one JSON document instead of Markdown
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much slower a study may be than an earlier one.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SlowerArgs {
    /// Fail with exit code 1 where a target is slower by more than this, and with 6 where that cannot be told: too
    /// few rounds, or another machine
    #[arg(long, value_name = "PERCENT")]
    pub(crate) fail_slower: Option<Percent>,
}

/// `lockstep history`
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Folders of studies, or NAMES of `study --save-baseline`, in any order
    #[arg(required = true, value_name = "DIR")]
    pub(crate) studies: Vec<PathBuf>,
    /// Write history.md and a plot of every scene to this folder
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `lockstep completions`
#[derive(Debug, Args)]
#[command(
    after_help = "Bash, for example: lockstep completions bash > ~/.local/share/bash-completion/completions/lockstep"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// `lockstep man`
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages to this folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// `lockstep bench`
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// The scenes
    #[arg(value_name = "SCENE", default_values = ["cornell", "atrium"])]
    pub(crate) scenes: Vec<String>,
    /// Targets, in this order; `all` is every one present
    #[arg(
        short = 'b',
        long = "targets",
        value_name = "TARGET",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub(crate) targets: Vec<String>,
    /// Least number of rays of a set; several numbers measure several sizes
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "2000000",
        value_parser = whole::<1, 100_000_000>)]
    pub(crate) rays: Vec<u32>,
    /// Rounds over all targets, each of three passes over the rays; one more before them warms up
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = whole::<1, 1_000>
    )]
    pub(crate) repeats: u32,
    /// Selects the rays
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<0, { u32::MAX }>)]
    pub(crate) seed: u32,
    /// The baseline: a target [default: the first], or a file of other tracers' rates on the same rays, see
    /// reports/checks/traversal
    #[arg(long, value_name = "TARGET|FILE")]
    pub(crate) against: Option<String>,
    /// Worker threads of CPU targets [default: all hardware threads]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Write bench.json and bench.md to this folder
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the rays and the scene's triangles there, as little-endian floats, with hashes in rays.json, for measuring
    /// other programs
    #[arg(long, requires = "out")]
    pub(crate) dump_rays: bool,
    /// Measure with all surfaces opaque, for tracers without alpha; scene names end in `-opaque`
    #[arg(long)]
    pub(crate) opaque: bool,
    /// Compute the end-point overlap of each BVH
    #[arg(long)]
    pub(crate) quality: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) files: SceneArgs,
}

/// `lockstep selftest`
#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Targets; `all` is every one present
    #[arg(
        short = 'b',
        long = "targets",
        value_name = "TARGET",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub(crate) targets: Vec<String>,
    /// Smaller films of fewer sizes, fewer inputs of each device function, and expected values only of targets that
    /// promise no identity
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only the checks whose names contain WORD
    #[arg(long, value_name = "WORD")]
    pub(crate) only: Option<String>,
    /// Checks at once, each in a process of its own; by default half of the processors and at most 8 where kernels are
    /// compiled
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `lockstep golden …`
#[derive(Debug, Subcommand)]
pub(crate) enum GoldenCommand {
    /// Renders golden scenes on every target present and compares
    Check(GoldenCheckArgs),
    /// Makes an image the golden of a scene, after showing what changes
    Bless(GoldenBlessArgs),
}

/// `lockstep golden check`
#[derive(Debug, Args)]
pub(crate) struct GoldenCheckArgs {
    /// The scenes [default: every built-in scene that needs no data]
    #[arg(value_name = "SCENE")]
    pub(crate) scenes: Vec<String>,
    /// Targets; `all` is every one present
    #[arg(
        short = 'b',
        long = "targets",
        value_name = "TARGET",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub(crate) targets: Vec<String>,
    /// Folder of goldens [default: beside the scenes]
    #[arg(long, value_name = "DIR", env = "LOCKSTEP_GOLDENS")]
    pub(crate) goldens: Option<PathBuf>,
    /// Fail with exit code 5 unless these targets are present
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    pub(crate) require: Vec<String>,
    /// Write a report to this folder: junit.xml, golden.json, golden.md, and a page with the images of checks
    /// that fail
    #[arg(short, long = "out", value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the report that DIR has
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Write the findings as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a summary for pull requests
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Worker threads of CPU targets [default: all hardware threads]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) files: SceneArgs,
}

/// `lockstep golden bless`
#[derive(Debug, Args)]
pub(crate) struct GoldenBlessArgs {
    /// The scenes
    #[arg(value_name = "SCENE", required = true)]
    pub(crate) scenes: Vec<String>,
    /// The target that renders them; it must promise identity
    #[arg(short = 'b', long = "target", value_name = "TARGET", default_value = "cpu-bvh")]
    pub(crate) target: String,
    /// Samples per pixel
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = parse_spp
    )]
    pub(crate) spp: u32,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) image: ImageArgs,
    /// Folder of goldens [default: beside the scenes]
    #[arg(long, value_name = "DIR", env = "LOCKSTEP_GOLDENS")]
    pub(crate) goldens: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) files: SceneArgs,
}

/// A time of animations.
fn parse_time(text: &str) -> Result<f32, String> {
    let seconds = text.parse::<f32>().ok().filter(|seconds| seconds.is_finite());
    seconds.ok_or_else(|| "it must be a number of seconds, as in 1.5".into())
}

/// Stops of exposure, within what single precision can show.
fn parse_stops(text: &str) -> Result<f32, String> {
    let stops = text.parse::<f32>().ok().filter(|stops| (-64.0..=64.0).contains(stops));
    stops.ok_or_else(|| "it must be a number of stops from -64 to 64, as in 1.5".into())
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=4096) => Ok(n),
        _ => Err("it must be a whole number from 1 to 4096".into()),
    }
}

/// A number of seconds or an error bound: zero or more.
fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("it must be a number, zero or more".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn only_the_study_that_nothing_makes_longer_is_the_default_work() {
        let is_default = |line: &str| match Cli::try_parse_from(line.split(' ')).map(|cli| cli.command) {
            Ok(Command::Study(args)) => args.is_default_work(),
            other => panic!("{line}: {other:?}"),
        };
        assert!(is_default("lockstep study"));
        assert!(is_default("lockstep study -b cpu-bvh --seed 3 -o d"));
        for more in [
            "cornell",
            "--spp 1..1024",
            "--size 640x480",
            "--bounces 9",
            "--integrator bpt",
            "--sampler sobol",
            "--layers tree",
            "--compare-layers",
            "--seeds 3",
            "--repeats 2",
            "--time 10s",
            "--scaling",
            "--diagnose",
            "--mode exact,fast",
            "--preset heterogeneous",
        ] {
            assert!(!is_default(&format!("lockstep study {more}")), "{more}");
        }
    }

    #[test]
    fn a_scene_in_a_reports_command_has_the_options_that_it_was_read_with() {
        let files = |line: &str| match Cli::try_parse_from(line.split(' ')).map(|cli| cli.command) {
            Ok(Command::Study(args)) => args.subject.files,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(files("lockstep study cornell").after("cornell"), "cornell");
        let given = "--camera 1 --variant Beach --animation Run --at 1.5 --eye 0,-1.5,2 --look-at -1,0,0 --fov 40 --sky 0.5,1,2 --texture-size 512 \
                     --both-sides --multiscatter --allow-outside";
        let after = files(&format!("lockstep study x.glb {given}")).after("x.glb");
        assert_eq!(after, format!("x.glb {given}"));
        assert_eq!(files(&format!("lockstep study {after}")).after("x.glb"), after);
    }

    #[test]
    fn the_documented_command_lines_parse() {
        for line in [
            "lockstep devices --json",
            "lockstep devices --dump-kernels d",
            "lockstep setup",
            "lockstep render cornell -b cpu-bvh --spp 4 --size 64x64 --bounces 2 --seed 7 --output beauty -o a.exr",
            "lockstep render cornell -b opencl --mode fast -o a.exr",
            "lockstep render cornell --integrator bpt -o a.exr",
            "lockstep study cornell --integrator light",
            "lockstep render cornell --integrator vcm --merge-radius 0.01 -o a.exr",
            "lockstep study cornell --integrators vcm,bpm,ppm",
            "lockstep study cornell --sampler sobol",
            "lockstep render cornell --layers tree -o a.exr",
            "lockstep study cornell --compare-layers --seeds 8",
            "lockstep golden bless cornell --integrator bpt",
            "lockstep study",
            "lockstep study cornell --mode exact,fast",
            "lockstep study cornell weekend -b cpu-bvh,cpu-embree --spp 1..64 --size 320x240 --seeds 2 --repeats 3 -o d",
            "lockstep study cornell --diagnose",
            "lockstep study --preset heterogeneous --together cuda@0,cpu-bvh --against cpu-bvh --time 10s",
            "lockstep study cornell --reference-integrator vcm --reference-time 80s",
            "lockstep tune",
            "lockstep tune cornell sponza -b cpu-bvh --spp 4 --repeats 3 -o d",
            "lockstep trace cornell -b cpu-bvh,opencl@pocl --pixel 12,34 --sample 5 --json",
            "lockstep compare a.png b.png --json",
            "lockstep compare dir_a dir_b -o out --fresh",
            "lockstep report d",
            "lockstep bench cornell atrium -b cpu-bvh,cuda@0 --rays 2000000,8000000 --quality --json -o d",
            "lockstep selftest",
            "lockstep selftest -b cpu-bvh,opencl@pocl --quick --only identity --json",
            "lockstep study cornell --spp 1..64 --plan",
            "lockstep study cornell --spp 1..64 --plan=plan.json",
            "lockstep study cornell --spp 1..64 -o d --shard 3/8",
            "lockstep study cornell --spp 1..64 -o d --shard auto/8",
            "lockstep submit slurm --array 8 --option=--gres=gpu:1 --dry-run -- cornell --spp 1..64 -o d",
            "lockstep merge a b -o d",
            "lockstep merge a.film b.film -o a.exr",
            "lockstep golden check",
            "lockstep golden check --junit junit.xml --markdown summary.md --json -o dir --fresh",
            "lockstep golden bless cornell --dry-run",
            "lockstep port similarity dir_a dir_b --min-tokens 20 --top 30 --json",
            "lockstep port cost . --place cuda:host=src --place shared:device=kernels --hours cuda=12.5 --json",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
    }
}
