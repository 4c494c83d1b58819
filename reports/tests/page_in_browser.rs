//! The page in headless Chromium: a script uses it as a person would, and every error it raises is reported.
//!
//! A script, such as `page_in_browser.js`, is added to a copy of the page and writes what it found into the
//! document, which Chromium prints. Without Chromium the tests are skipped; `LOCKSTEP_CHROMIUM` names one
//! that is not in `PATH`.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use lockstep_reports::image_io::{ImageMetadata, LinearImage, p_map_name, read_image, srgb, write_png};
use lockstep_reports::metrics::{FloatMetrics, Metrics};
use lockstep_reports::port::cost::{Cost, Lines, PortCost};
use lockstep_reports::port::lexer::Language;
use lockstep_reports::port::similarity::compare as compare_sources;
use lockstep_reports::port::sources::Source;
use lockstep_reports::records::{EqualTime, PortSimilarity, Record, RecordLog, Scaling, Timing};
use lockstep_reports::records::{MapOf, Pyramid, TechniqueShare, write_maps};
use lockstep_reports::statistics::P_COLOURS;
use lockstep_reports::study::files;
use lockstep_reports::write_report;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Plan, SMALL, write_study};

/// Makes the page of a small study with maps of a level at which `cpu-embree` differs.
fn page(folder: &Path) -> String {
    page_of(folder, &Plan { levels: &[1, 2, 4, 8], ..SMALL })
}

/// Makes the page of a study of these scenes, targets and levels, in which `cpu-embree` differs from the others.
fn page_of(folder: &Path, plan: &Plan) -> String {
    write_study(folder, plan);
    let image = |target: &str| read_image(&folder.join(format!("images/cornell.{target}.8spp.exr"))).unwrap();
    let (a, b) = (&"cpu-bvh".into(), &"cpu-embree".into());
    let of = MapOf { scene: "cornell", a, b, spp: 8, seed: 1 };
    let maps = write_maps(folder, &of, &image("cpu-bvh"), &image("cpu-embree")).unwrap();
    // A map of p-values in which every tile rejects.
    let rejecting = LinearImage::from_fn(SMALL.size.0, SMALL.size.1, |_, _| P_COLOURS[0].map(srgb::decode8));
    let name = p_map_name(of.scene, "cpu-bvh", "cpu-embree", of.spp);
    write_png(&folder.join(files::IMAGES).join(name), &rejecting, &ImageMetadata::default()).unwrap();
    let mut log = RecordLog::resume(&folder.join(files::RECORDS)).unwrap().log;
    log.append(&maps.into_iter().map(Record::from).collect::<Vec<_>>()).unwrap();
    log.append(&instruments(plan)).unwrap();
    std::fs::read_to_string(write_report(folder).unwrap().page).unwrap()
}

/// A pyramid of three techniques in cells of 8×6 pixels, each of its own grey; those without weight are brighter.
fn pyramid(folder: &Path) -> Record {
    let file = |kind: &str| format!("{}/cornell.bpt.techniques.{kind}.png", files::IMAGES);
    for (kind, step) in [("weighted", 40), ("unweighted", 80)] {
        let grey = |x: u32, y: u32| [srgb::decode8((x / 8 + 2 * (y / 6)) as u8 * step); 3];
        let picture = LinearImage::from_fn(16, 12, grey);
        write_png(&folder.join(file(kind)), &picture, &ImageMetadata::default()).unwrap();
    }
    let technique = |light, camera, share| TechniqueShare { light, camera, share, alone: share };
    Record::from(Pyramid {
        scene: "cornell".into(),
        integrator: "bpt".into(),
        spp: 8,
        weighted: file("weighted"),
        unweighted: file("unweighted"),
        adds_up: true,
        techniques: vec![technique(0, 2, 0.1), technique(0, 3, 0.6), technique(1, 2, 0.3)],
        ..Pyramid::default()
    })
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
    records.extend(rounds(plan.targets[0], 10.1).into_iter().map(Record::AaControl));
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
    let unavailable = "No Chromium was found. Install the package chromium or set LOCKSTEP_CHROMIUM.";
    lockstep_require::present("browser", found.ok_or(unavailable))
}

/// Opens a page with the script in it and returns what it reports: a line for each step, `ok` or `FAILED`
/// first.
fn used_in(browser: &Path, folder: &Path, page: &str) -> Vec<String> {
    with_script_in(browser, folder, (page, ""), include_str!("page_in_browser.js"))
}

/// Opens a page at a fragment, such as `#pairs`, with another script in it.
fn with_script_in(
    browser: &Path,
    folder: &Path,
    (page, fragment): (&str, &str),
    script: &str,
) -> Vec<String> {
    let file = folder.join("instrumented.html");
    std::fs::write(&file, with_script(page, script)).unwrap();
    opened(browser, folder, &format!("{}{fragment}", file.display()), (1280, 900))
}

/// Opens a page in a frame of a width with the script in it that looks at how it is laid out.
fn laid_out_in(browser: &Path, folder: &Path, page: &str, width: u32) -> Vec<String> {
    std::fs::write(folder.join("page.html"), with_script(page, include_str!("page_fits.js"))).unwrap();
    let frame = format!(
        "<!doctype html><body style=\"margin:0\"><script>addEventListener('message', (e) => {{\
         const found = document.createElement('pre'); found.id = 'found'; found.textContent = e.data; \
         document.body.append(found); }});</script>\
         <iframe src=\"page.html\" style=\"border:0;width:{width}px;height:900px\"></iframe></body>"
    );
    let file = folder.join("frame.html");
    std::fs::write(&file, frame).unwrap();
    opened(browser, folder, &file.display().to_string(), (1600, 1000))
}

/// The page with a script at its end and a catch for errors at its beginning.
fn with_script(page: &str, script: &str) -> String {
    let catch = "<script>const raised = []; addEventListener('error', (e) => raised.push(e.message)); \
                 addEventListener('unhandledrejection', (e) => raised.push(String(e.reason))); \
                 for (const kind of ['error', 'warn']) console[kind] = (...said) => raised.push(said.join(' '));</script>";
    let steps = format!("<script>{}</script><script>{script}</script></body>", include_str!("in_browser.js"));
    page.replacen("<head>", &format!("<head>{catch}"), 1).replacen("</body>", &steps, 1)
}

/// Opens a file, or a place in it, in a window of a size and returns the lines of what its script found.
fn opened(browser: &Path, folder: &Path, place: &str, (width, height): (u32, u32)) -> Vec<String> {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .arg(format!("--window-size={width},{height}"))
        .args(["--virtual-time-budget=60000", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{place}"))
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
fn techniques_are_seen_from_near_by_pointer_and_by_key() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path(), &Plan { levels: &[1], ..SMALL });
    let mut log = RecordLog::resume(&dir.path().join(files::RECORDS)).unwrap().log;
    log.append(&[pyramid(dir.path())]).unwrap();
    let page = std::fs::read_to_string(write_report(dir.path()).unwrap().page).unwrap();
    let lines = with_script_in(&browser, dir.path(), (&page, ""), include_str!("techniques_in_browser.js"));
    assert!(lines.len() >= 8 && failed(&lines).is_empty(), "{}", lines.join("\n"));
}

/// A link to a section of a page that is about one scene, target and level.
const LINK: &str = "#pairs&scene=cornell&target=cpu-embree&spp=4";

/// Opens a page by [`LINK`] and changes what it is about.
fn linked_in(browser: &Path, folder: &Path, page: &str) -> Vec<String> {
    with_script_in(browser, folder, (page, LINK), include_str!("choice_in_browser.js"))
}

/// The page of a study in which one target's name begins with another's and one level's with another's.
fn alike(folder: &Path) -> String {
    let targets = &["cpu", "cpu-embree", "opencl@pocl"];
    write_study(folder, &Plan { targets, levels: &[1, 4, 16, 64], size: (96, 72), ..SMALL });
    std::fs::read_to_string(write_report(folder).unwrap().page).unwrap()
}

#[test]
fn the_page_is_about_the_scene_target_and_level_of_its_address() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = alike(dir.path());
    let lines = linked_in(&browser, dir.path(), &page);
    assert!(lines.len() >= 19 && failed(&lines).is_empty(), "{}", lines.join("\n"));
}

#[test]
fn a_choice_that_is_lost_or_does_less_is_found() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = alike(dir.path());
    let breaks = [
        ("\nchooseByAddress();", "", "opens as its address says"),
        ("targets.includes(choice.target)", "targets.some((t) => t.includes(choice.target))", "the groups"),
        ("String(spp) === choice.spp", "String(spp).startsWith(choice.spp)", "what a link says"),
        ("[...filters, ...chosen]", "filters.length ? filters : chosen", "beside the filter of a table"),
        ("history.replaceState(", "history.pushState(", "no step in the history"),
    ];
    for (whole, broken, what) in breaks {
        assert!(page.contains(whole), "{whole}");
        let lines = linked_in(&browser, dir.path(), &page.replace(whole, broken));
        let failed = failed(&lines);
        let is_found = failed.iter().any(|line| line.contains(what));
        assert!(is_found, "{broken} was not found:\n{}", lines.join("\n"));
    }
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
        (".reading { position: sticky;", ".reading {"),
    ];
    for (whole, broken) in breaks {
        assert!(page.contains(whole), "{whole}");
        let lines = used_in(&browser, dir.path(), &page.replace(whole, broken));
        assert!(!failed(&lines).is_empty(), "{broken} was not found:\n{}", lines.join("\n"));
    }
}

#[test]
fn pages_fit_windows_of_four_widths_in_both_themes_and_keys_reach_all_of_them() {
    let Some(browser) = chromium() else { return };
    let made_up = tempfile::tempdir().unwrap();
    let page = page(made_up.path());
    // Eleven spp levels of nine scenes, without images.
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded/h200-cuda-opencl");
    let large = tempfile::tempdir().unwrap();
    for file in [files::RECORDS, files::ENVIRONMENT] {
        std::fs::copy(recorded.join(file), large.path().join(file)).unwrap();
    }
    let large_page = std::fs::read_to_string(write_report(large.path()).unwrap().page).unwrap();
    assert!(large_page.contains("The images of this study are not in its folder."));
    for width in [1400, 1024, 800, 400] {
        for (folder, page) in [(made_up.path(), &page), (large.path(), &large_page)] {
            let lines = laid_out_in(&browser, folder, page, width);
            assert!(lines.len() >= 8 && failed(&lines).is_empty(), "{width} px: {}", lines.join("\n"));
        }
    }
}

#[test]
fn the_page_of_three_scenes_on_five_targets_is_at_most_4000_px_tall() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan {
        scenes: &["cornell", "weekend", "atrium-10k"],
        targets: &["cpu-bvh", "opencl@pocl", "opencl@intel", "cuda", "cpu-embree"],
        levels: &[1, 2, 4, 8, 16],
        ..SMALL
    };
    let page = page_of(dir.path(), &plan);
    for width in [1400, 1024, 800] {
        let lines = laid_out_in(&browser, dir.path(), &page, width);
        let opening = lines[0].strip_prefix("ok opens at most 4,000 px tall from 1,000 px on: ");
        let height: Option<u32> = opening.and_then(|height| height.parse().ok());
        assert!(height.is_some_and(|height| height <= 4000), "{width} px: {}", lines.join("\n"));
    }
}

#[test]
fn what_does_not_fit_is_found() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = page(dir.path());
    let breaks = [
        ("th, td { padding: .32rem .5rem;", "th, td { padding: .32rem 6rem;", "tables"),
        (".note { margin: .4rem 0 0;", ".note { font-size: 9px !important;", "10 px"),
        ("nav .theme { flex: none;", "nav .theme { position: absolute; left: 1rem;", "navigation"),
        ("--muted: #59636e;", "--muted: #d0d0d0;", "stands out"),
    ]
    .map(|(whole, broken, what)| (1024, whole, broken, what));
    let names = [
        (".key + .key { left: 4.75rem;", ".key + .key { left: 0;"),
        ("padding-right: .3rem; background: var(--ground);", "padding-right: .3rem;"),
        (".key { position: sticky; left: 0; z-index: 1;", ".key { position: sticky; left: 0; z-index: -1;"),
    ]
    .map(|(whole, broken)| (400, whole, broken, "names stay in view"));
    for (width, whole, broken, what) in breaks.into_iter().chain(names) {
        assert!(page.contains(whole), "{whole}");
        let lines = laid_out_in(&browser, dir.path(), &page.replace(whole, broken), width);
        let failed = failed(&lines);
        assert!(
            failed.iter().any(|line| line.contains(what)),
            "{broken} was not found:\n{}",
            lines.join("\n")
        );
    }
}
