//! A program that is ready to run.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use lockstep_core::{DeviceInfo, TargetId};
use lockstep_reports::image_io::{LinearImage, encode_name};
use lockstep_reports::records::{self, RunFailure, RunFault, shell_line};
use lockstep_reports::study::files;

use super::image::{self, Fault};
use super::process::{self, End};
use super::template::Placeholder;
use super::{Declared, External, SceneInput};
use crate::exit::Failure;

/// Bytes of a log that are read for a time.
const MOST_PRINTED: u64 = 16 << 20;

/// Lines of a log that a finding shows.
const LAST_LINES: usize = 8;

/// Characters of each of them.
const LINE_LENGTH: usize = 200;

/// Seconds that the command for the version may take.
const VERSION_S: f64 = 60.0;

/// A program that a study runs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The target.
    pub(crate) id: TargetId,
    declared: Declared,
    executable: PathBuf,
    version: String,
}

/// One image of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The scene's name.
    pub(crate) scene: &'a str,
    /// The scene as the program gets it.
    pub(crate) word: &'a str,
    /// Samples per pixel.
    pub(crate) spp: u32,
    /// The random seed.
    pub(crate) seed: u32,
    /// Image width in pixels.
    pub(crate) width: u32,
    /// Image height in pixels.
    pub(crate) height: u32,
    /// Greatest number of bounces.
    pub(crate) bounces: u32,
}

/// The end of a run.
#[derive(Debug)]
pub(crate) enum Ended {
    /// An image, and the time in milliseconds from the declared source.
    Image(LinearImage, f64),
    /// The user stopped it.
    Stopped,
}

/// Why a run has no image.
#[derive(Debug)]
pub(crate) enum RunError {
    /// The program failed, which is a finding about it.
    Program(Box<RunFailure>),
    /// The log or the temporary folder cannot be written.
    Own(Failure),
}

impl Program {
    /// A program that is present. Asks it for its version.
    ///
    /// # Errors
    /// [`Failure::TargetAbsent`] where it is not there, or does not tell its version.
    pub(crate) fn open(external: &External) -> Result<Self, Failure> {
        let mut program = Self {
            id: external.id.clone(),
            declared: external.declared.clone(),
            executable: external.executable()?.to_owned(),
            version: String::new(),
        };
        program.version = program.ask_version().map_err(|reason| Failure::TargetAbsent {
            target: program.id.to_string(),
            reason: format!("the command for its version failed: {reason}"),
            remedy: match program.declared.place {
                Some(_) => format!("Correct `version` at {}.", program.declared.declared_at()),
                None => {
                    format!("Remove it from the data folder and run `lockstep setup {}`.", program.id.backend)
                }
            },
        })?;
        Ok(program)
    }

    /// The first line that the command for the version prints; empty where none is declared.
    fn ask_version(&self) -> Result<String, String> {
        let Some(command) = &self.declared.version else { return Ok(String::new()) };
        let executable = command.find()?;
        let nothing = |_: Placeholder| String::new();
        let mut printed = tempfile::tempfile().map_err(|e| e.to_string())?;
        let (out, err) = (printed.try_clone(), printed.try_clone());
        let mut process = command.process(&executable, &command.filled(&nothing), &nothing);
        process
            .stdin(Stdio::null())
            .stdout(out.map_err(|e| e.to_string())?)
            .stderr(err.map_err(|e| e.to_string())?);
        let ended =
            process::run(&mut process, Duration::from_secs_f64(VERSION_S)).map_err(|e| e.to_string())?;
        let text = text_from(&mut printed, 0);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let line: String = line.chars().take(LINE_LENGTH).collect();
        match ended {
            End::Ended(status, _) if status.success() => Ok(line),
            End::Ended(status, _) => Err(format!("{}: {line}", status_in_words(status))),
            End::TimedOut => Err(format!("it ran longer than {VERSION_S} s")),
            End::Stopped => Err("the user stopped it".to_owned()),
        }
    }

    /// The way in which the program gets its scenes.
    pub(crate) fn scene_input(&self) -> SceneInput {
        self.declared.scene
    }

    /// Whether an image of more samples goes on from the same image of fewer.
    pub(crate) fn continues(&self) -> bool {
        self.declared.continues
    }

    /// The program as records describe a device.
    pub(crate) fn device(&self) -> DeviceInfo {
        DeviceInfo {
            target: self.id.clone(),
            backend: "program".into(),
            device: format!("external program {}", self.executable.display()),
            driver: self.version.clone(),
            flags: self.declared.command.in_line(),
            exact: false,
            note: format!("times: {}", self.declared.times.in_words()),
            ..DeviceInfo::default()
        }
    }

    /// The command of the program, with the first command line of each scene.
    pub(crate) fn describe(&self, first: &[Request<'_>]) -> records::Program {
        let declared = &self.declared;
        let line = |request: &Request<'_>| {
            let out = Path::new("{out}").with_extension(declared.format.extension());
            shell_line(&declared.command.filled(&request.values(&out)))
        };
        records::Program {
            command: declared.command.declared(),
            shell: matches!(declared.command.words, super::command::Words::Shell(_)),
            first_runs: first.iter().map(line).collect(),
            env: declared.command.env.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
            dir: declared.command.dir.to_string_lossy().into_owned(),
            format: declared.format.extension().to_owned(),
            times: declared.times.in_words(),
            continues: declared.continues,
            declared_in: declared.declared_at(),
        }
    }

    /// Runs the program once. What it prints goes to a log in the study's folder `root`.
    ///
    /// # Errors
    /// [`RunError`].
    pub(crate) fn render(&self, request: &Request<'_>, root: &Path) -> Result<Ended, RunError> {
        let own = |action, path: &Path| {
            let path = path.to_owned();
            move |source| RunError::Own(Failure::io(action, path)(source))
        };
        let logs = root.join(files::LOGS);
        std::fs::create_dir_all(&logs).map_err(own("make the folder", &logs))?;
        let name = log_name(request, &self.id);
        let path = logs.join(&name);
        let folder = tempfile::tempdir().map_err(own("make a folder in", &std::env::temp_dir()))?;
        let out = folder.path().join("image").with_extension(self.declared.format.extension());
        let values = request.values(&out);
        let words = self.declared.command.filled(&values);
        let mut log = File::create(&path).map_err(own("write", &path))?;
        let begin = self.begin_log(&mut log, &words).map_err(own("write", &path))?;
        let mut process = self.declared.command.process(&self.executable, &words, &values);
        let (to_out, to_err) = (log.try_clone(), log.try_clone());
        process.stdin(Stdio::null());
        process.stdout(to_out.map_err(own("write", &path))?).stderr(to_err.map_err(own("write", &path))?);
        let ended = process::run(&mut process, Duration::from_secs_f64(self.declared.timeout_s));
        let printed = || File::open(&path).map(|mut file| text_from(&mut file, begin)).unwrap_or_default();
        let checked = self.check_run(ended, &out, request, &printed, &values);
        checked.map_err(|(fault, reason)| {
            RunError::Program(Box::new(RunFailure {
                scene: request.scene.to_owned(),
                target: self.id.clone(),
                spp: request.spp,
                seed: u64::from(request.seed),
                fault,
                reason,
                command: shell_line(&words),
                log: format!("{}/{name}", files::LOGS),
                last_lines: last_lines(&printed()),
            }))
        })
    }

    /// Writes what a reader needs to run the same again, and returns where the program's own lines begin.
    fn begin_log(&self, log: &mut File, words: &[String]) -> std::io::Result<u64> {
        writeln!(log, "# in {}", self.declared.command.dir.display())?;
        for (name, value) in &self.declared.command.env {
            writeln!(log, "# with {name}={value}")?;
        }
        writeln!(log, "$ {}", shell_line(words))?;
        log.stream_position()
    }

    /// The image and time of a run that ended, or its fault.
    fn check_run(
        &self,
        ended: std::io::Result<End>,
        out: &Path,
        request: &Request<'_>,
        printed: &dyn Fn() -> String,
        values: &dyn Fn(Placeholder) -> String,
    ) -> Result<Ended, Fault> {
        let wall = match ended {
            Err(error) => return Err((RunFault::NotStarted, format!("it could not be started: {error}"))),
            Ok(End::Stopped) => return Ok(Ended::Stopped),
            Ok(End::TimedOut) => {
                let limit = self.declared.timeout_s;
                let why = format!("it ran longer than {limit} s and was stopped; `timeout_s` is the limit");
                return Err((RunFault::TimeOut, why));
            }
            Ok(End::Ended(status, _)) if !status.success() => {
                return Err((RunFault::ExitStatus, status_in_words(status)));
            }
            Ok(End::Ended(_, wall)) => wall,
        };
        let image = image::read(out, (request.width, request.height))?;
        let wall_ms = wall.as_secs_f64() * 1e3;
        let ms = self.declared.times.read(wall_ms, printed, &self.declared.command.dir, values);
        Ok(Ended::Image(image, ms.map_err(|why| (RunFault::NoTime, why))?))
    }
}

impl Request<'_> {
    /// The values of placeholders.
    fn values<'s>(&'s self, out: &'s Path) -> impl Fn(Placeholder) -> String + 's {
        move |hole| match hole {
            Placeholder::Scene => self.word.to_owned(),
            Placeholder::Spp => self.spp.to_string(),
            Placeholder::Seed => self.seed.to_string(),
            Placeholder::Width => self.width.to_string(),
            Placeholder::Height => self.height.to_string(),
            Placeholder::Bounces => self.bounces.to_string(),
            Placeholder::Out => out.to_string_lossy().into_owned(),
        }
    }
}

/// The name of a run's log.
fn log_name(request: &Request<'_>, target: &TargetId) -> String {
    let (scene, target) = (encode_name(request.scene), encode_name(&target.to_string()));
    format!("{scene}.{target}.{}spp.s{}.log", request.spp, request.seed)
}

fn status_in_words(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("it ended with exit status {code}"),
        None => "it ended without an exit status".to_owned(),
    }
}

/// The text of a file from an offset on, as far as it is read for a time: of a longer text the end.
fn text_from(file: &mut File, begin: u64) -> String {
    let mut read = || -> std::io::Result<Vec<u8>> {
        let end = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(begin.max(end.saturating_sub(MOST_PRINTED))))?;
        let mut bytes = Vec::new();
        file.take(MOST_PRINTED).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // A log that cannot be read shows nothing; the image is what counts.
    read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    last.iter().map(|line| line.trim_end().chars().take(LINE_LENGTH).collect()).collect()
}
