//! Exit codes and streams, as scripts see them.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use std::process::Stdio;

use support::{expect, finish, lockstep};

#[test]
fn wrong_usage_exits_with_two_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (vec![], "Usage"),
        (vec!["fly"], "unrecognized subcommand"),
        (vec!["study", "--spp", "8..4"], "1..64"),
        (vec!["study", "--size", "0x4"], "640x360"),
        (vec!["render", "cornell", "--spp", "1k", "-o", "a.exr"], "did you mean 1024?"),
        (vec!["study", "cornell", "--spp", "1..4k"], "did you mean 1..4096?"),
        (vec!["study", "-b", "vulkan"], "there is no target `vulkan`"),
        (vec!["study", "cornell", "weekend", "--reference", "r.exr"], "exactly one scene"),
        (vec!["render", "cornell", "--spp", "-3", "-o", "a.exr"], "a number from 1 to 65536"),
        (vec!["study", "--time", "-1s"], "a time above 0"),
        (vec!["study", "--fail-slower", "5%"], "name one with --baseline"),
        (vec!["bench", "cornell", "--rays", "2k"], "from 1 to 100000000; did you mean 2048?"),
        (vec!["study", "--seeds", "2", "--seed", "4294967295"], "--seeds 2"),
        (vec!["render", "cornell", "-o", "image.jpg"], ".exr"),
        (vec!["setup", "nothing"], "nothing called nothing"),
    ] {
        let (out, err) = expect(dir.path(), &arguments, 2);
        assert!(err.contains(words), "{arguments:?}: {err}");
        assert!(out.is_empty(), "{arguments:?}: {out}");
    }
}

#[test]
fn a_scene_file_without_a_surface_is_bad_input_unless_a_sky_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let camera = r#""nodes":[{"camera":0}],"scenes":[{"nodes":[0]}],"cameras":[{"type":"perspective","perspective":{"yfov":1,"znear":0.1}}]"#;
    let lamp = r#""extensionsUsed":["KHR_lights_punctual"],"extensions":{"KHR_lights_punctual":{"lights":[{"type":"point"}]}},
"nodes":[{"extensions":{"KHR_lights_punctual":{"light":0}}}],"scenes":[{"nodes":[0]}]"#;
    let files = [camera, lamp].map(|parts| format!(r#"{{"asset":{{"version":"2.0"}},{parts}}}"#));
    let render = ["render", "a.gltf", "-b", "cpu-bvh", "--spp=1", "--size=8x8", "-o", "a.exr"];
    for file in files {
        std::fs::write(dir.path().join("a.gltf"), file).unwrap();
        let (_, err) = expect(dir.path(), &render, 4);
        assert!(err.contains("it has no surface, so there is nothing to render"), "{err}");
        assert!(!dir.path().join("a.exr").exists());
    }
    expect(dir.path(), &[&render[..], &["--sky=1,1,1"]].concat(), 0);
}

#[test]
fn verdicts_are_coloured_where_that_is_asked_for_and_plain_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str, value: &str| {
        let mut study = lockstep(dir.path(), &support::study(&["--no-setup", "-o", "s"]));
        finish(study.env_remove("CLICOLOR_FORCE").env(name, value).output().unwrap()).1
    };
    let coloured = out("CLICOLOR_FORCE", "1");
    assert!(coloured.contains("\x1b["), "{coloured:?}");
    for plain in [out("NO_COLOR", "1"), out("CLICOLOR", "1")] {
        assert!(!plain.contains('\x1b'), "{plain:?}");
        let words = plain.lines().next().unwrap();
        assert!(coloured.contains(words), "{words:?} in {coloured:?}");
    }
}

#[test]
fn a_render_that_merges_says_how_large_its_photon_map_gets() {
    let dir = tempfile::tempdir().unwrap();
    let said = |integrator: &str| {
        let words = "render cornell -b cpu-bvh --spp 1 --size 16x16 --bounces 2 -o a.exr --integrator";
        let words: Vec<&str> = words.split_whitespace().chain([integrator]).collect();
        expect(dir.path(), &words, 0).1
    };
    // 512 photons of 48 bytes, twice, with 20 bytes more each, and 256 buckets of 4
    let words = "lockstep: photon maps take up to 59.0 KiB on cpu-bvh";
    assert!(said("bpm").starts_with(words), "{}", said("bpm"));
    assert!(!said("path").contains("photon map"));
}

#[test]
fn the_canary_proves_targets_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let (text, _) = expect(dir.path(), &["devices", "--prove"], 0);
    assert!(text.contains("exact in 1024 probes each of addition, "), "{text}");
    let (json, _) = expect(dir.path(), &["devices", "--prove", "--json"], 0);
    let targets: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |name: &str| targets.as_array().unwrap().iter().find(|target| target["target"] == name).cloned();
    assert_eq!(of("cpu-bvh").unwrap()["proven"], true, "{json}");
    assert!(
        of("cpu-embree").is_none_or(|target| target.get("proven").is_none()),
        "it promises no identity: {json}"
    );
}

#[test]
fn selftest_has_the_same_table_whether_checks_run_side_by_side_or_in_turn() {
    let dir = tempfile::tempdir().unwrap();
    let table = |jobs: &str| {
        let words =
            ["selftest", "-b", "cpu-bvh", "--quick", "--only", "contract::", "--json", "--jobs", jobs];
        let (out, _) = expect(dir.path(), &words, 0);
        let mut table: serde_json::Value = serde_json::from_str(&out).unwrap();
        for row in table["targets"][0]["checks"].as_array_mut().unwrap() {
            assert!(row["seconds"].take().is_number(), "{out}");
        }
        table
    };
    let in_turn = table("1");
    assert!(in_turn["passed"].as_u64().unwrap() > 10 && in_turn["failed"] == 0, "{in_turn}");
    assert_eq!(table("3"), in_turn);
    let (_, err) = expect(dir.path(), &["selftest", "--jobs", "0"], 2);
    assert!(err.contains("--jobs"), "{err}");
}

#[test]
fn help_names_the_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let (out, _) = expect(dir.path(), &["--help"], 0);
    assert!(out.contains("5 a required target is absent"), "{out}");
}

#[test]
fn completions_and_man_pages_name_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let (script, _) = expect(dir.path(), &["completions", shell], 0);
        assert!(script.contains("selftest") && script.contains("allow-outside"), "{shell}: {script}");
    }
    let syntax = std::process::Command::new("bash").args(["-n", "/dev/stdin"]).stdin(Stdio::piped()).spawn();
    if let Ok(mut bash) = syntax {
        let (script, _) = expect(dir.path(), &["completions", "bash"], 0);
        std::io::Write::write_all(bash.stdin.as_mut().unwrap(), script.as_bytes()).unwrap();
        assert!(bash.wait().unwrap().success(), "bash refuses its script");
    }
    expect(dir.path(), &["man", "-o", "man"], 0);
    let page = |name: &str| std::fs::read_to_string(dir.path().join("man").join(name)).unwrap();
    let program = page("lockstep.1");
    for command in ["devices", "study", "golden", "port", "completions"] {
        assert!(program.contains(&format!("lockstep\\-{command}(1)")), "{command}: {program}");
        assert!(page(&format!("lockstep-{command}.1")).starts_with(".ie"), "{command}");
    }
    assert!(page("lockstep-golden-bless.1").contains("spp"), "options of commands of commands");
}

#[test]
fn images_of_techniques_add_up_to_the_film_and_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = "render cornell -b cpu-bvh --spp 4 --size 16x16 --bounces 2 -o a.exr --techniques t";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let (_, err) = expect(dir.path(), &arguments, 2);
    assert!(err.contains("--integrator bpt"), "{err}");
    let (out, err) = expect(dir.path(), &[&arguments[..], &["--integrator", "bpt"]].concat(), 0);
    assert!(err.contains("8 techniques; their weighted films add up to the film to the bit"), "{err}");
    assert_eq!(out.lines().count(), 9, "{out}");
    for file in ["s0-t2.weighted.exr", "s3-t1.unweighted.exr", "weighted.png", "unweighted.png"] {
        assert!(dir.path().join("t").join(file).is_file(), "{file}");
    }
}

#[test]
fn a_file_without_a_camera_is_seen_from_where_the_user_says_and_as_bright() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.obj"), "v -9 -9 0\nv 9 -9 0\nv 9 9 0\nv -9 9 0\nf 1 2 3 4\n").unwrap();
    let render = |more: &str, code: i32| {
        let words = format!("render s.obj -b cpu-bvh --spp 1 --size 2x2 {more}");
        let words: Vec<&str> = words.split(' ').collect();
        expect(dir.path(), &words, code).1
    };
    let err = render("-o a.exr", 0);
    assert!(err.contains("--eye X,Y,Z") && err.contains("scene.toml"), "{err}");
    // From behind, away from the square, only the sky is seen.
    let away = "--eye 0,0,-4 --look-at 0,0,-5 --fov 60 --sky 0.25";
    render(&format!("{away} -o b.exr"), 0);
    render(&format!("{away} --exposure 1 -o c.png"), 0);
    render("--eye 0,0,-4 --look-at 0,0,-5 --fov 60 --sky 0.5 -o d.png", 0);
    let (out, _) = expect(dir.path(), &["compare", "c.png", "d.png"], 0);
    assert!(out.contains("every value is equal"), "one stop doubles: {out}");
    // The sky of 0.25 is shown darker by 0.04 under one curve, and as it is under another.
    render(&format!("{away} --tone srgb -o f.png"), 0);
    render(&format!("{away} -o g.png"), 0);
    assert!(expect(dir.path(), &["compare", "f.png", "g.png"], 0).0.contains("every value is equal"));
    render(&format!("{away} --tone pbr-neutral -o h.png"), 0);
    render("--eye 0,0,-4 --look-at 0,0,-5 --fov 60 --sky 0.21 -o i.png", 0);
    assert!(expect(dir.path(), &["compare", "h.png", "i.png"], 0).0.contains("every value is equal"));
    assert!(render("--tone agx -o e.exr", 2).contains("--tone is for .png"));
    assert!(render("--exposure 1 -o e.exr", 2).contains("--exposure is for .png"));
    assert!(render("--fov 180 -o f.exr", 4).contains("camera"));
}

#[test]
fn bad_input_exits_with_four_and_names_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("broken.png"), "no image").unwrap();
    std::fs::write(dir.path().join("broken.glb"), "no scene").unwrap();
    for (arguments, words) in [
        (vec!["compare", "absent.png", "broken.png"], "absent.png"),
        (vec!["compare", "broken.png", "broken.png"], "broken.png"),
        (vec!["render", "broken.glb", "-o", "a.png"], "broken.glb"),
        (vec!["study", "no-such-scene"], "no-such-scene"),
        (vec!["study", "."], "it is a folder; name a scene file in it"),
        (vec!["report", "no-such-study"], "no-such-study"),
        (vec!["report", "broken.png"], "broken.png is no study"),
        (vec!["render", "cornell", "-b", "null", "--spp", "1", "-o", "absent/a.png"], "absent/a.png"),
    ] {
        let (_, err) = expect(dir.path(), &arguments, 4);
        assert!(err.starts_with("lockstep: ") && err.contains(words), "{arguments:?}: {err}");
    }
}

#[test]
fn a_film_beyond_the_machines_memory_is_refused_with_the_figure() {
    let needed = 223_000_000_000;
    if lockstep_core::memory::available().is_none_or(|available| available / 10 * 9 > needed) {
        return lockstep_conformance::require::skip(
            &"this machine has memory for the largest film, or does not tell",
        );
    }
    let dir = tempfile::tempdir().unwrap();
    let words = ["render", "cornell", "-b", "cpu-bvh", "--spp", "1", "--size", "65535x65535", "-o", "a.exr"];
    let (_, err) = expect(dir.path(), &words, 4);
    assert!(err.contains("a render of 65535x65535 pixels needs 223.4 GB of memory"), "{err}");
}

/// Sizes whose film alone would fit: a limit on the address space stands for a small machine.
#[cfg(target_os = "linux")]
#[test]
fn renders_and_studies_beyond_the_memory_are_refused_before_they_begin() {
    let dir = tempfile::tempdir().unwrap();
    let limited = |arguments: &[&str]| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -v 2000000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_lockstep")]);
        let (code, _, err) = finish(command.args(arguments).current_dir(dir.path()).output().unwrap());
        assert_eq!(code, 4, "{err}");
        err
    };
    let err =
        limited(&["render", "cornell", "-b", "cpu-bvh", "--spp", "1", "--size", "6000x6000", "-o", "a.exr"]);
    assert!(err.contains("a render of 6000x6000 pixels needs 1.9 GB of memory and may take"), "{err}");
    let err = limited(&[
        "study",
        "cornell",
        "-b",
        "cpu-bvh",
        "--spp",
        "1",
        "--size",
        "4000x4000",
        "--no-setup",
        "-o",
        "s",
    ]);
    assert!(err.contains("a study of 4000x4000 pixels on 1 target needs 2.6 GB"), "{err}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was begun");
}

#[test]
fn a_required_target_that_is_absent_exits_with_five_and_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [
        vec!["study", "cornell", "-b", "null", "--require", "cpu-embree"],
        vec!["devices", "--require", "cpu-embree"],
        vec!["golden", "check", "--require", "cpu-embree"],
        vec!["render", "cornell", "-b", "cpu-embree", "-o", "a.png"],
        vec!["study", "cornell", "-b", "cpu-embree"],
    ] {
        let mut command = lockstep(dir.path(), &arguments);
        // A named place where there is no library, and then nowhere else.
        let (code, _, err) = finish(command.env("LOCKSTEP_EMBREE", dir.path()).output().unwrap());
        assert_eq!(code, 5, "{arguments:?}: {err}");
        assert!(err.contains("cpu-embree is absent") && err.contains("LOCKSTEP_EMBREE"), "{err}");
    }
}

#[test]
fn an_absent_target_is_skipped_with_a_record_when_others_are_left() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["study", "cornell", "-b", "null,cpu-embree", "--spp", "1", "--size", "8x8", "-o", "s"];
    let mut command = lockstep(dir.path(), &arguments);
    let (code, _, err) = finish(command.env("LOCKSTEP_EMBREE", dir.path()).output().unwrap());
    assert_eq!(code, 0, "{err}");
    let skips: Vec<String> = support::records(&dir.path().join("s"))
        .into_values()
        .filter(|r| r.contains(r#""kind":"skip""#))
        .collect();
    assert_eq!(skips.len(), 1);
    assert!(skips[0].contains("cpu-embree") && skips[0].contains("remedy"), "{}", skips[0]);
}

#[test]
fn json_is_one_document_on_standard_output_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &["render", "cornell", "-b", "null", "--spp", "1", "--size", "8x8", "-o", "a.exr"], 0);
    for arguments in [
        vec!["devices", "--json"],
        vec!["compare", "a.exr", "a.exr", "--json"],
        vec!["study", "cornell", "-b", "null", "--spp", "1", "--size", "8x8", "-o", "s", "--json"],
        vec!["golden", "check", "cornell", "--goldens", "g", "--json"],
    ] {
        let (_, out, err) = support::run(dir.path(), &arguments);
        let document: Result<serde_json::Value, _> = serde_json::from_str(&out);
        assert!(document.is_ok(), "{arguments:?}: {out}\n{err}");
    }
}

#[test]
fn every_target_is_listed_with_its_device_or_its_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = lockstep(dir.path(), &["devices", "--json"]);
    let (code, out, _) = finish(command.env("LOCKSTEP_EMBREE", dir.path()).output().unwrap());
    assert_eq!(code, 0);
    let targets: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    let find = |name: &str| targets.iter().find(|t| t["target"] == name).unwrap();
    assert_eq!((&find("cpu-bvh")["present"], &find("cpu-bvh")["exact"]), (&true.into(), &true.into()));
    assert_eq!(find("cpu-embree")["present"], false);
    assert!(!find("cpu-embree")["remedy"].as_str().unwrap().is_empty());
}

#[test]
fn colours_and_bars_stay_away_from_pipes() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["study", "cornell", "-b", "null", "--spp", "1..4", "--size", "8x8", "-o", "s"];
    let mut command = lockstep(dir.path(), &arguments);
    let (_, out, err) = finish(command.env("NO_COLOR", "1").output().unwrap());
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{out}{err}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut child =
        lockstep(dir.path(), &["devices"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let (code, _, err) = finish(child.wait_with_output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn images_compare_by_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let render = |scene: &str, size: &str, out: &str| {
        expect(dir.path(), &["render", scene, "-b", "cpu-bvh", "--spp", "2", "--size", size, "-o", out], 0);
    };
    render("cornell", "16x16", "a.exr");
    render("cornell", "16x16", "b.exr");
    render("weekend", "16x16", "c.exr");
    render("cornell", "16x8", "d.exr");
    render("cornell", "16x16", "e.png");
    expect(dir.path(), &["compare", "a.exr", "b.exr"], 0);
    expect(dir.path(), &["compare", "a.exr", "c.exr"], 1);
    expect(dir.path(), &["compare", "a.exr", "d.exr"], 3);
    // The same but for the rounding of 8-bit codes.
    expect(dir.path(), &["compare", "a.exr", "e.png"], 0);
    expect(dir.path(), &["compare", "a.exr", "c.exr", "--tolerance", "0.5"], 1);
    expect(dir.path(), &["compare", "a.exr", "e.png", "--tolerance", "0.5"], 0);
}
