//! A test that lacks something says so through libtest's capture, and fails where that is required.

use lockstep_require::{VARIABLE, present};
use std::process::Command;

/// Set in the process that plays the test without its library.
const PLAYS: &str = "LOCKSTEP_REQUIRE_PLAYS";

#[test]
fn a_skip_is_shown_and_fails_where_it_is_required() {
    if std::env::var_os(PLAYS).is_some() {
        let unavailable = "There is no NVRTC.\nRun `lockstep setup nvrtc`.";
        assert!(present("nvrtc", Err::<(), _>(unavailable)).is_none());
        assert!(present("nvrtc", Err::<(), _>(unavailable)).is_none());
        assert_eq!(present("nvrtc", Ok::<_, &str>(7)), Some(7));
        return;
    }
    let play = |required: &str| {
        let name = "a_skip_is_shown_and_fails_where_it_is_required";
        let mut this = Command::new(std::env::current_exe().unwrap());
        // With several threads a test's thread has its name.
        this.args(["--exact", name, "--test-threads=2"]).env(PLAYS, "1").env(VARIABLE, required);
        let output = this.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let skipped = "skipped: a_skip_is_shown_and_fails_where_it_is_required: There is no NVRTC. Run `lockstep setup nvrtc`.\n";
    for required in ["", "browser,opencl@pocl"] {
        let (passes, out, err) = play(required);
        assert!(passes, "{out}\n{err}");
        assert_eq!(err, skipped);
    }
    let (passes, out, _) = play("browser,nvrtc");
    assert!(!passes, "{out}");
    assert!(out.contains("LOCKSTEP_REQUIRE names nvrtc, which is missing: There is no NVRTC."), "{out}");
    assert!(out.contains("Run `lockstep setup nvrtc`."), "{out}");
}
