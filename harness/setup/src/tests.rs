//! Set-ups on machines made of scripts.

use std::fs;
use std::sync::OnceLock;
use std::thread;

use crate::fixtures::{Machine, bundle, item};
use crate::item::Method;
use crate::*;

fn fetch_on(machine: &Machine, item: Item) -> Row {
    fetch_missing(&[item], &machine.host, &Progress::silent()).remove(0)
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The digest of the test wheel, which is the same for every machine.
fn digest() -> &'static str {
    static DIGEST: OnceLock<&str> = OnceLock::new();
    DIGEST.get_or_init(|| Machine::with_pip().digest())
}

fn wheel_item() -> Item {
    item(|_| vec![Method::Wheels(bundle(digest()))])
}

fn apt_item() -> Item {
    item(|_| vec![Method::Apt(&["libthing1"])])
}

#[test]
fn a_wheels_wanted_files_come_to_lie_in_the_data_folder_and_no_others() {
    let machine = Machine::with_pip();
    let row = fetch_on(&machine, wheel_item());
    assert!(matches!(row.outcome, Outcome::Fetched(..)), "{row}");
    assert_eq!(names_in(&machine.host.data), ["setup.lock", "thing-1"]);
    let folder = machine.host.data.join("thing-1");
    assert_eq!(names_in(&folder), ["libs", "place"]);
    assert_eq!(names_in(&folder.join("libs")), ["libthing.so"]);
    assert_eq!(fs::read_to_string(folder.join("place")).ok(), Some(folder.display().to_string()));
}

#[test]
fn pip_is_asked_for_the_exact_wheel_without_dependencies() {
    let machine = Machine::with_pip();
    fetch_on(&machine, wheel_item());
    let asked = machine.asked().join("\n");
    for option in ["-m pip download", "--no-deps", "--only-binary=:all:", "--platform=any", "thing==1"] {
        assert!(asked.contains(option), "{option} in {asked}");
    }
}

#[test]
fn a_second_run_finds_it_there_and_asks_nobody() {
    let machine = Machine::with_pip();
    fetch_on(&machine, wheel_item());
    let row = fetch_on(&machine, wheel_item());
    assert!(matches!(row.outcome, Outcome::AlreadyThere(_)), "{row}");
    assert_eq!(machine.asked().len(), 1);
}

#[test]
fn set_ups_at_once_download_once() {
    let machine = Machine::with_pip();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(fetch_on(&machine, wheel_item()).is_there()));
        }
    });
    assert_eq!(machine.asked().len(), 1);
}

#[test]
fn a_broken_installation_is_fetched_anew() {
    let machine = Machine::with_pip();
    let folder = machine.host.data.join("thing-1/libs");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("libthing.so"), "torn").expect("a file");
    assert!(fetch_on(&machine, wheel_item()).is_there());
}

#[test]
fn a_file_with_another_digest_is_thrown_away() {
    let machine = Machine::with_pip();
    let row = fetch_on(&machine, item(|_| vec![Method::Wheels(bundle("0123"))]));
    let Outcome::Failed(SetupError::EveryMethodFailed { failures, .. }) = &row.outcome else {
        panic!("{row}")
    };
    assert!(matches!(failures[..], [SetupError::Digest { .. }]), "{row}");
    assert_eq!(names_in(&machine.host.data), ["setup.lock"]);
}

#[test]
fn a_failing_pips_last_words_are_in_the_error() {
    let machine = Machine::bare();
    machine.add_program("pip3", "case \"$*\" in --version) ;; *) echo no route to host >&2; exit 1;; esac");
    let message = fetch_on(&machine, wheel_item()).to_string();
    assert!(message.contains("no route to host") && message.contains("thing==1"), "{message}");
    assert!(message.contains("pip config list") && message.contains("make one yourself"), "{message}");
}

#[test]
fn without_pip_and_rights_the_error_gives_the_command() {
    let machine = Machine::bare();
    machine.add_program("apt-get", "exit 1");
    let message = fetch_on(&machine, wheel_item()).to_string();
    assert!(message.contains("sudo apt-get install --yes python3-pip"), "{message}");
}

#[test]
fn without_pip_and_apt_the_error_asks_for_pip() {
    let message = fetch_on(&Machine::bare(), wheel_item()).to_string();
    assert!(message.contains("install Python 3 with pip"), "{message}");
}

#[test]
fn a_pip_that_does_not_run_is_passed_over() {
    let machine = Machine::with_pip();
    let script = machine.pip_script();
    machine.add_program("python3", "echo No module named pip >&2; exit 1");
    machine.add_program("pip3", &script);
    assert!(fetch_on(&machine, wheel_item()).is_there());
}

#[test]
fn root_on_debian_who_agreed_gets_pip_installed_after_an_update() {
    let mut machine = Machine::bare();
    (machine.host.is_root, machine.host.installs_packages) = (true, true);
    machine.add_program("python3.real", &machine.pip_script());
    let bin = machine.host.programs.to_string_lossy().into_owned();
    let log = machine.log();
    machine.add_program(
        "apt-get",
        &format!(
            "echo \"apt-get $*\" >> {log}\ncase \"$1\" in update) : > {bin}/lists;; install) \
             [ -e {bin}/lists ] || exit 100; /bin/cp {bin}/python3.real {bin}/python3;; esac",
            log = log.display()
        ),
    );
    assert!(fetch_on(&machine, wheel_item()).is_there());
    let asked = machine.asked();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert_eq!(asked[1], "apt-get update");
    assert!(asked[2].starts_with("apt-get install --yes") && asked[2].ends_with("python3-pip"), "{asked:?}");
}

#[test]
fn root_who_did_not_agree_gets_the_commands_and_no_package() {
    let mut machine = Machine::bare();
    machine.host.is_root = true;
    machine.add_program("apt-get", &format!("echo \"apt-get $*\" >> {}", machine.log().display()));
    for item in [wheel_item(), apt_item()] {
        let message = fetch_on(&machine, item).to_string();
        assert!(message.contains("`lockstep setup --install-packages`"), "{message}");
        assert!(message.contains("`apt-get install --yes "), "{message}");
    }
    assert!(!machine.log().exists(), "apt-get was not run");
}

#[test]
fn a_package_that_does_not_bring_the_library_is_reported() {
    let mut machine = Machine::bare();
    (machine.host.is_root, machine.host.installs_packages) = (true, true);
    machine.add_program("apt-get", "exit 0");
    let message = fetch_on(&machine, apt_item()).to_string();
    assert!(message.contains("still cannot be used"), "{message}");
}

#[test]
fn the_next_way_is_tried_when_one_fails() {
    let machine = Machine::with_pip();
    let row =
        fetch_on(&machine, item(|_| vec![Method::Apt(&["libthing1"]), Method::Wheels(bundle(digest()))]));
    assert!(row.is_there(), "{row}");
}

#[test]
fn a_system_without_a_way_is_told_what_to_do_by_hand() {
    let message = fetch_on(&Machine::bare(), item(|_| Vec::new())).to_string();
    assert!(message.contains(std::env::consts::OS) && message.contains("make one yourself"), "{message}");
}

#[test]
fn items_on_request_are_fetched_only_when_named() {
    let names = |items: Vec<Item>| items.iter().map(|item| item.name).collect::<Vec<_>>();
    let usual = names(select(&[]).expect("the usual items"));
    let has_driver = lockstep_cuda::loader::load().is_ok();
    let is_packaged = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let expected = [("embree", true), ("nvrtc", has_driver), ("opencl-pocl", is_packaged)];
    assert_eq!(usual, expected.into_iter().filter_map(|(name, is)| is.then_some(name)).collect::<Vec<_>>());
    let named = select(&["opencl-pocl".into(), "opencl-intel".into()]).expect("known items");
    assert_eq!(names(named), ["opencl-pocl", "opencl-intel"]);
}

#[test]
fn an_unknown_item_is_refused_with_the_known_ones() {
    let message = select(&["embre".into()]).expect_err("no such item").to_string();
    assert!(message.contains("embre") && message.contains("opencl-intel"), "{message}");
    assert!(message.ends_with("; did you mean embree?"), "{message}");
    let far = select(&["blender".into()]).expect_err("no such item").to_string();
    assert!(!far.contains("did you mean"), "{far}");
}
