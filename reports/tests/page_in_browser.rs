//! The page in headless Chromium: a script uses it as a person would, and every error it raises is reported.
//!
//! The script, `page_in_browser.js`, is added to a copy of the page and writes what it found into the
//! document, which Chromium prints. Without Chromium the tests are skipped; `LOCKSTEP_CHROMIUM` names one
//! that is not in `PATH`.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use lockstep_reports::image_io::read_image;
use lockstep_reports::metrics::{FloatMetrics, Metrics};
use lockstep_reports::port::cost::{Cost, Lines, PortCost};
use lockstep_reports::port::lexer::Language;
use lockstep_reports::port::similarity::compare as compare_sources;
use lockstep_reports::port::sources::Source;
use lockstep_reports::records::{EqualTime, PortSimilarity, Record, RecordLog, Scaling, Timing};
use lockstep_reports::records::{MapOf, write_maps};
use lockstep_reports::study::files;
use lockstep_reports::write_report;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Plan, SMALL, write_study};

/// Makes a study in which `cpu-embree` differs from the others, with maps of its top level, and its page.
fn page(folder: &Path) -> String {
    let plan = Plan { levels: &[1, 2, 4, 8], ..SMALL };
    write_study(folder, &plan);
    let image = |target: &str| read_image(&folder.join(format!("images/cornell.{target}.8spp.exr"))).unwrap();
    let of = MapOf { scene: "cornell", a: "cpu-bvh", b: "cpu-embree", spp: 8, seed: 1 };
    let maps = write_maps(folder, &of, &image("cpu-bvh"), &image("cpu-embree")).unwrap();
    let mut log = RecordLog::resume(&folder.join(files::RECORDS)).unwrap().log;
    log.append(&maps.into_iter().map(Record::from).collect::<Vec<_>>()).unwrap();
    log.append(&instruments(&plan)).unwrap();
    std::fs::read_to_string(write_report(folder).unwrap().page).unwrap()
}

/// Made-up measurements of a study: rounds with a floor, equal time, threads, and the ports' sources.
fn instruments(plan: &Plan) -> Vec<Record> {
    let step = |target: &str, repeat: u32, (spp_from, spp_to): (u32, u32), ms: f64| Timing {
        scene: "cornell".into(),
        target: target.into(),
        seed: 1,
        spp_from,
        spp_to,
        repeat,
        total_ms: ms * f64::from(100 + repeat) / 100.0,
        trace_ms: ms / 2.0,
        shade_ms: ms / 4.0,
        samples: 1000,
        ..Default::default()
    };
    let rounds = |target: &str, ms: f64| -> Vec<Timing> {
        let steps: Vec<(u32, u32)> =
            std::iter::once(0).chain(plan.levels.iter().copied()).zip(plan.levels.iter().copied()).collect();
        (1..6).flat_map(|repeat| steps.iter().map(move |&spp| step(target, repeat, spp, ms))).collect()
    };
    let after = |target: &str, seconds: f64, faster: f64| {
        let metrics = Metrics {
            float: FloatMetrics { rmse_linear: 0.1 / (seconds * faster).sqrt(), ..Metrics::EQUAL.float },
            ..Metrics::EQUAL
        };
        let time = EqualTime {
            scene: "cornell".into(),
            target: target.into(),
            seconds,
            render_ms: seconds * 990.0,
            spp: (seconds * faster * 10.0) as u32,
            reference_spp: Some(1024),
            ..Default::default()
        };
        Record::from(time.with_errors(&metrics))
    };
    let threads = |target: &str, threads: u32| Scaling {
        scene: "cornell".into(),
        target: target.into(),
        threads,
        times_ms: (0..5).map(|i| (100.0 + f64::from(i)) / f64::from(threads).powf(0.9)).collect(),
        identical: true,
        ..Default::default()
    };
    let mut records = Vec::new();
    for (target, faster) in plan.targets.iter().zip([1.0, 1.5, 0.7]) {
        records.extend(rounds(target, 10.0 / faster).into_iter().map(Record::from));
        records.extend([1.0, 10.0, 60.0].map(|seconds| after(target, seconds, faster)));
    }
    records.extend(rounds(plan.targets[0], 10.1).into_iter().map(Record::Again));
    records
        .extend(plan.targets[..2].iter().flat_map(|target| [1, 2, 4, 8].map(|n| threads(target, n).into())));
    let sources = |text: &str| vec![Source { name: "k.cl".into(), language: Language::C, text: text.into() }];
    let kernel = "int f(int x) { int y = x * 3 + 1; return y * y + x * 7 - 2; }\n";
    let alike = compare_sources(("left", &sources(kernel)), ("right", &sources(kernel)), 20);
    records.push(PortSimilarity::new(&alike, 30).into());
    let port = |backend: &str, host| PortCost {
        backend: backend.into(),
        own: Lines { host, device: 20 },
        degree: Some(0.8),
        ..Default::default()
    };
    let shared = Lines { host: 900, device: 300 };
    records.push(Record::PortCost(Cost {
        shared,
        ports: vec![port("cpu", 200), port("opencl", 400)],
        ..Default::default()
    }));
    records
}

/// A browser to test with; the test is skipped where there is none.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("LOCKSTEP_CHROMIUM") {
        return Some(named.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file());
    let absence = "No Chromium was found. Install the package chromium or set LOCKSTEP_CHROMIUM.";
    lockstep_require::present("browser", found.ok_or(absence))
}

/// Opens a page with the script in it and returns what it reports: a line for each step, `ok` or `FAILED`
/// first.
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
    // Messages of the browser itself, such as a breach of the page's content security policy.
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
    assert!(lines.len() >= 26, "{}", lines.join("\n"));
}

#[test]
fn what_breaks_the_page_is_found() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = page(dir.path());
    let breaks = [
        ("for (const root of document.querySelectorAll(\"main .table\"))", "for (const root of [])"),
        ("flip() { this.showsB = !this.showsB;", "flip() {"),
        ("images.codes[i], []];", "images.codes[i], console.error(\"mutant\")];"),
        ("this.y += dy / this.scale;", ""),
    ];
    for (whole, broken) in breaks {
        assert!(page.contains(whole), "{whole}");
        let lines = used_in(&browser, dir.path(), &page.replace(whole, broken));
        assert!(!failed(&lines).is_empty(), "{broken} was not found:\n{}", lines.join("\n"));
    }
}
