//! Files of targets: what is read, and what is refused with its line.

use std::fs;

use super::*;

fn found(text: &str) -> Result<Externals, Failure> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE);
    fs::write(&file, text).unwrap();
    declared_in(&file)
}

/// The targets that a file declares, without the renderers that are known.
fn declared_in(file: &Path) -> Result<Externals, Failure> {
    let mut found = Externals::find(Some(file), &[])?;
    found.all.retain(|external| external.declared.place.is_some());
    Ok(found)
}

/// The message of a file that is refused, without the path.
fn refused(text: &str) -> String {
    let message = found(text).unwrap_err().to_string();
    message.split_once("targets.toml:").unwrap().1.to_owned()
}

const COMMAND: &str = "command = [\"true\", \"{spp}\", \"{out}\"]\n";

#[test]
fn a_file_declares_programs_in_its_order() {
    let text = "[zeta]\ncommand = ['sh', '--spp={spp}', '{out}']\nformat = 'pfm'\ncontinues = true\ntimeout_s = 2.5\n\
                dir = '/'\nversion = ['sh', '--version']\n[zeta.env]\nSCENE = '{scene}'\n\n\
                ['alpha@one']\nshell = true\ncommand = 'cd x && ./render {spp} > {out}'\n\
                times = { json = '{out}.json', pointer = '/s', unit = 'ms' }\n";
    let found = found(text).unwrap();
    let names: Vec<String> = found.all.iter().map(|external| external.id.to_string()).collect();
    assert_eq!(names, ["zeta", "alpha@one"]);
    let zeta = &found.all[0].declared;
    assert_eq!(
        (zeta.format.extension(), zeta.continues, zeta.timeout_s, found.all.len()),
        ("pfm", true, 2.5, 2)
    );
    assert_eq!(zeta.command.declared(), ["sh", "--spp={spp}", "{out}"]);
    assert!(zeta.command.env["SCENE"].has(template::Placeholder::Scene) && zeta.version.is_some());
    let alpha = &found.all[1].declared;
    let words = alpha.command.filled(&|hole| format!("a {}", hole.name()));
    assert_eq!(words, ["sh", "-c", "cd x && ./render 'a spp' > 'a out'"], "values are quoted for the shell");
    assert!(alpha.times.in_words().contains("/s of {out}.json in milliseconds"));
    assert_eq!((alpha.format.extension(), alpha.timeout_s), ("exr", 3600.0));
}

#[test]
fn what_is_wrong_is_refused_with_its_line_and_a_remedy() {
    let with = |more: &str| refused(&format!("[mine]\n{COMMAND}{more}\n"));
    for (message, starts) in [
        (refused("[mine]\ncomand = []\n"), "2: unknown field `comand`, expected one of `command`"),
        (refused("[mine]\n"), "1: missing field `command`"),
        (refused("[mine]\ncommand = 3\n"), "2: expected an array of words"),
        (refused("[mine]\ncommand = []\n"), "2: the command names no program"),
        (refused("[mine]\ncommand = 'true {spp} {out}'\n"), "2: the command is a string; give an array"),
        (
            refused("[mine]\nshell = true\ncommand = ['true']\n"),
            "3: `shell = true` takes the command line as one string",
        ),
        (
            refused("[mine]\n\ncommand = ['true', '{spp}', '{samples}']\n"),
            "3: `{samples}` is no placeholder; there are {scene}",
        ),
        (refused("[mine]\ncommand = ['true', '{spp', '{out}']\n"), "2: a brace stands alone in `{spp`"),
        (refused("[mine]\ncommand = ['true', '{spp}']\n"), "2: neither `command` nor `env` has {out}"),
        (refused("[mine]\ncommand = ['true', '{out}']\n"), "2: neither `command` nor `env` has {spp}"),
        (with("env = { A = '{what}' }"), "3: env.A: `{what}` is no placeholder"),
        (with("env = { 'A=B' = '' }"), "3: env.A=B: a variable has a name without `=`"),
        (with("format = 'tiff'"), "3: unknown value `tiff`, expected one of `exr`, `pfm`, `hdr`, `png`"),
        (with("times = { }"), "3: `times` has one of `regex`, `json` and `wall = true`"),
        (with("times = { regex = 'a', json = 'b' }"), "3: `times` has one of"),
        (with("times = { regex = '(' }"), "3: `regex` is no regular expression"),
        (with("times = { regex = 'took ' }"), "3: `regex` has no group around the number"),
        (with("times = { wall = true, pointer = '/a' }"), "3: `pointer` goes with `json`"),
        (with("times = { wall = true, unit = 'ms' }"), "3: `unit` goes with `regex` or `json`"),
        (with("times = { json = '{spp', pointer = '/a' }"), "3: a brace stands alone"),
        (with("timeout_s = 0.0"), "3: `timeout_s` is a number of seconds above 0"),
        (with("timeout_s = inf"), "3: `timeout_s` is a number of seconds above 0"),
        (refused(&format!("['a b']\n{COMMAND}")), "1: `a b` is no name for a target"),
        (refused(&format!("['mine+fast']\n{COMMAND}")), "1: `mine+fast` is no name for a target"),
        (refused(&format!("['mine@']\n{COMMAND}")), "1: `mine@` is no name for a target"),
        (
            refused(&format!("\n[CPU-bvh]\n{COMMAND}")),
            "2: `CPU-bvh` is the name of a target that Lockstep has",
        ),
        (refused(&format!("['opencl@mine']\n{COMMAND}")), "1: `opencl@mine` is the name of a target"),
        (refused(&format!("['mitsuba@mine']\n{COMMAND}")), "1: `mitsuba@mine` is the name of a target"),
        (refused(&format!("[all]\n{COMMAND}")), "1: `all` is the name of a target"),
        (refused("[mine]\ncommand = ['true'\n"), "2: "),
    ] {
        assert!(message.starts_with(starts), "{message}\nshould start with\n{starts}");
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error_that_names_it() {
    let error = Externals::find(Some(Path::new("/nowhere/targets.toml")), &[]).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nowhere/targets.toml: "), "{error}");
}

#[test]
fn a_name_without_a_variant_means_all_of_them() {
    let text =
        ["['r@a']\n", "['r@b']\n", "[s]\n", "['s@c']\n"].map(|name| format!("{name}{COMMAND}\n")).concat();
    let found = found(&text).unwrap();
    let named = |word| found.named(word).iter().map(|e| e.id.to_string()).collect::<Vec<_>>();
    assert_eq!(named("r"), ["r@a", "r@b"]);
    assert_eq!(named("r@b"), ["r@b"]);
    assert_eq!(named("s"), ["s"], "an exact name means that target alone");
    assert!(named("t").is_empty());
}

#[test]
fn a_program_is_looked_for_in_its_folder_or_in_path_and_absent_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE);
    let text = format!(
        "[here]\n{COMMAND}\n[path]\ncommand = ['./no/program', '{{spp}}', '{{out}}']\n\
         [folder]\n{COMMAND}dir = 'nowhere'\n"
    );
    fs::write(&file, text).unwrap();
    let found = declared_in(&file).unwrap();
    assert!(found.all[0].state.as_ref().unwrap().ends_with("true"));
    let unavailable = |i: usize| found.all[i].state.clone().unwrap_err();
    assert!(
        unavailable(1).reason.ends_with("./no/program is no program that can be run"),
        "{:?}",
        unavailable(1)
    );
    assert!(
        unavailable(1).remedy.contains("correct `command` of [path] at")
            && unavailable(1).remedy.ends_with(":4.")
    );
    assert!(unavailable(2).reason.ends_with("nowhere does not exist"), "{:?}", unavailable(2));
    let others = found.require(&["here".into(), "cpu-bvh".into()]).unwrap();
    assert_eq!(others, ["cpu-bvh"]);
    assert!(matches!(found.require(&["path".into()]), Err(Failure::TargetAbsent { .. })));
}

#[test]
fn renderers_are_known_in_their_variants_and_scenes_are_written_for_them() {
    let found = Externals { all: known::all() };
    let named = |word| found.named(word).iter().map(|e| e.id.to_string()).collect::<Vec<_>>();
    for name in ["mitsuba", "mitsuba@cuda_ad_rgb", "cycles", "cycles@optix", "luxcore"] {
        assert_eq!(named(name), [name]);
    }
    let line = |name| found.named(name)[0].declared.command.in_line();
    assert!(line("mitsuba").contains("--variant=scalar_rgb '--spp={spp}'"), "{}", line("mitsuba"));
    assert!(line("cycles@optix").contains("--device=OPTIX '--spp={spp}'"), "{}", line("cycles@optix"));
    let scene = crate::scenes::load("cornell", &lockstep_scenes::LoadOptions::default()).unwrap();
    for (name, file) in [("mitsuba", "scene.xml"), ("cycles", "scene.json"), ("luxcore", "scene.cfg")] {
        let dir = tempfile::tempdir().unwrap();
        let declared = &found.named(name)[0].declared;
        assert!(matches!(declared.times, times::Times::Printed { .. }));
        let written = declared.scene.write(&scene, dir.path()).unwrap().unwrap();
        assert!(written.file.ends_with("render.py") && written.file.exists(), "{name}");
        assert!(dir.path().join(file).exists(), "{name}");
    }
}

#[test]
fn files_of_targets_are_survived() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/targets-toml");
    let seeds = [
        format!("[mine]\n{COMMAND}format = 'pfm'\ncontinues = true\ntimeout_s = 2.5\ndir = '/'\nversion = ['sh']\n[mine.env]\nA = '{{scene}}'\n"),
        "['a@b']\nshell = true\ncommand = 'r {spp} > {out}'\ntimes = { json = '{out}.json', pointer = '/s', unit = 'ms' }\n".into(),
        format!("[c]\n{COMMAND}times = {{ regex = 'took ([0-9.]+) s', unit = 's' }}\n"),
    ];
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(String::into_bytes).collect();
    let words = [
        "command = ",
        "shell = ",
        "format = ",
        "times = ",
        "regex = ",
        "json = ",
        "pointer = ",
        "unit = ",
        "wall = ",
        "continues = ",
        "timeout_s = ",
        "version = ",
        "dir = ",
        "[mine.env]",
        "{spp}",
        "{out}",
        "{scene}",
        "{seed}",
        "{width}",
        "{height}",
        "{{",
        "}}",
        "'exr'",
        "'png'",
        "'ms'",
        "true",
        "inf",
        "nan",
        "1e308",
        "-1",
        "[",
        "]",
        "(",
        ")",
        "*",
        "\\u0000",
        "\"\"\"",
        "'''",
        "@",
        "cpu-bvh",
        "mitsuba",
        "\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    let fuzz = lockstep_fuzz::Fuzz { name: "targets-toml", seeds: &seeds, corpus: &corpus, words: &words };
    let report = fuzz.run_part(2, |bytes| {
        fs::write(&file, bytes).unwrap();
        match document::read(&file) {
            Ok(targets) => format!("{} targets", targets.len()),
            Err(error) => error.to_string().replace(&file.display().to_string(), ""),
        }
    });
    assert!(report.outcomes > 1, "{report:?}");
}
