//! The page in headless Chromium: a script uses it as a person would, and every error it raises is reported.
//!
//! The script, `page_in_browser.js`, is added to a copy of the page and writes what it found into the document, which
//! Chromium prints. Without Chromium the tests are skipped; `LOCKSTEP_CHROMIUM` names one that is not in `PATH`.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use lockstep_reports::image_io::read_image;
use lockstep_reports::maps::{MapOf, write_maps};
use lockstep_reports::records::{Record, RecordLog};
use lockstep_reports::study::files;
use lockstep_reports::write_report;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Plan, SMALL, write_study};

/// Makes a study in which `cpu-embree` differs from the others, with maps of its top rung, and its page.
fn page(folder: &Path) -> String {
    let plan = Plan { rungs: &[1, 2, 4, 8], ..SMALL };
    write_study(folder, &plan);
    let image = |target: &str| read_image(&folder.join(format!("images/cornell.{target}.8spp.exr"))).unwrap();
    let of = MapOf { scene: "cornell", a: "cpu-bvh", b: "cpu-embree", spp: 8, seed: 1 };
    let maps = write_maps(folder, &of, &image("cpu-bvh"), &image("cpu-embree")).unwrap();
    let mut log = RecordLog::resume(&folder.join(files::RECORDS)).unwrap().log;
    log.append(&maps.into_iter().map(Record::from).collect::<Vec<_>>()).unwrap();
    std::fs::read_to_string(write_report(folder).unwrap().page).unwrap()
}

/// A browser to test with; without one, says so and how to get it.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("LOCKSTEP_CHROMIUM") {
        return Some(named.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium was found; install the package chromium or set LOCKSTEP_CHROMIUM");
    }
    found
}

/// Opens a page with the script in it and returns what it reports: a line for each step, `ok` or `FAILED` first.
fn used_in(browser: &Path, folder: &Path, page: &str) -> Vec<String> {
    let catch = "<script>const raised = []; addEventListener('error', (e) => raised.push(e.message)); \
                 addEventListener('unhandledrejection', (e) => raised.push(String(e.reason))); \
                 for (const kind of ['error', 'warn']) console[kind] = (...said) => raised.push(said.join(' '));</script>";
    let steps = format!("<script>{}</script></body>", include_str!("page_in_browser.js"));
    let instrumented = page.replacen("<head>", &format!("<head>{catch}"), 1).replacen("</body>", &steps, 1);
    let file = folder.join("instrumented.html");
    std::fs::write(&file, instrumented).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
        ])
        .args(["--virtual-time-budget=60000", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let report = dom.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let mut lines: Vec<String> = report.map_or_else(
        || vec!["FAILED: the script did not come to its end".to_owned()],
        |(found, _)| found.lines().map(str::to_owned).collect(),
    );
    // What the browser itself has to say, such as a breach of the page's content security policy.
    let log = String::from_utf8_lossy(&output.stderr);
    let console = log.lines().filter(|line| line.contains(":CONSOLE"));
    lines.extend(console.map(|line| format!("FAILED: console: {line}")));
    lines
}

fn failed(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| !line.starts_with("ok ")).collect()
}

#[test]
fn the_page_sorts_filters_flips_zooms_pans_and_reads_pixels_without_an_error() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = page(dir.path());
    let lines = used_in(&browser, dir.path(), &page);
    assert!(failed(&lines).is_empty(), "{}", lines.join("\n"));
    assert!(lines.len() >= 18, "{}", lines.join("\n"));
}

#[test]
fn what_breaks_the_page_is_found() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = page(dir.path());
    let breaks = [
        ("for (const root of document.querySelectorAll(\".table\"))", "for (const root of [])"),
        ("flip() { this.showsB = !this.showsB;", "flip() {"),
        ("images.codes[i], []];", "images.codes[i], console.error(\"planted\")];"),
        ("this.y += dy / this.scale;", ""),
    ];
    for (whole, broken) in breaks {
        assert!(page.contains(whole), "{whole}");
        let lines = used_in(&browser, dir.path(), &page.replace(whole, broken));
        assert!(!failed(&lines).is_empty(), "{broken} was not found:\n{}", lines.join("\n"));
    }
}
