//! Reports of whole study folders.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use lockstep_reports::image_io::{ImageKind, ImageName, encode_name};
use lockstep_reports::records::{
    Convergence, Difference, Environment, Errors, Hits, Load, Note, RecordLog, Skip, StudySettings, Timing,
    read_records,
};
use lockstep_reports::study::{Study, files};
use lockstep_reports::tables::{all_tables, summary_markdown};
use lockstep_reports::write_report;
use std::collections::BTreeMap;
use std::path::Path;
use support::{Plan, SMALL, write_study};

const TINY: Plan<'static> = Plan { levels: &[1, 2, 4], size: (32, 24), ..SMALL };

fn made_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut made = BTreeMap::new();
    for place in [folder.to_owned(), folder.join(files::TABLES), folder.join(files::PLOTS)] {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                made.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    made
}

#[test]
fn a_report_has_every_file_and_can_be_made_again_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path(), &TINY);
    let made = write_report(dir.path()).unwrap();
    assert_eq!(made.warnings, [""; 0]);
    for path in
        [&made.page, &made.summary, &made.records_csv, &made.tables_json].into_iter().chain(&made.plots)
    {
        assert!(std::fs::metadata(path).unwrap().len() > 0, "{}", path.display());
    }
    let names: Vec<_> = made.plots.iter().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    let expected = [
        "error.cornell.svg",
        "ssim.cornell.svg",
        "error.weekend.svg",
        "ssim.weekend.svg",
        "stages.svg",
        "rates.svg",
        "cascade.svg",
    ];
    assert_eq!(names, expected);
    let first = made_files(dir.path());
    write_report(dir.path()).unwrap();
    assert!(first == made_files(dir.path()));
}

#[test]
fn the_page_asks_for_nothing_from_outside() {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path(), &TINY);
    let page = std::fs::read_to_string(write_report(dir.path()).unwrap().page).unwrap();
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    for outside in
        ["http:", "https:", "//cdn", "@import", "url(", "fetch(", "XMLHttpRequest", "<link", " src=\""]
    {
        assert!(!without_names.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn hostile_names_stay_text() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "</script><img src=x onerror=alert(1)>\"'&{{data}}";
    let plan = Plan { scenes: &[hostile, "../../up"], targets: &["<b>a</b>", "b|c`d"], ..TINY };
    write_study(dir.path(), &plan);
    let made = write_report(dir.path()).unwrap();
    let page = std::fs::read_to_string(&made.page).unwrap();
    assert!(!page.contains("<img") && !page.contains("<b>a"));
    assert_eq!(page.matches("</script>").count(), 2, "the data's end and the script's end");
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;'&amp;{{data}}"));
    let summary = std::fs::read_to_string(&made.summary).unwrap();
    assert!(!summary.contains("<img") && !summary.contains("</script>"));
    assert!(made.plots.iter().all(|p| p.parent() == Some(dir.path().join(files::PLOTS).as_path())));
    assert!(dir.path().join(files::PLOTS).join(format!("error.{}.svg", encode_name("../../up"))).exists());
    for plot in &made.plots {
        let svg = std::fs::read_to_string(plot).unwrap();
        assert!(!svg.contains("<img") && !svg.contains("<b>") && svg.matches("</svg>").count() == 1);
    }
}

#[test]
fn a_study_cut_off_at_any_line_or_byte_still_makes_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let plan =
        Plan { scenes: &["cornell"], targets: &["cpu-bvh", "cpu-embree"], levels: &[1, 2], size: (16, 12) };
    write_study(dir.path(), &plan);
    let records = dir.path().join(files::RECORDS);
    let whole = std::fs::read(&records).unwrap();
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
    for end in std::iter::once(0).chain(lines.iter().flat_map(|&end| [end - 20, end])) {
        std::fs::write(&records, &whole[..end]).unwrap();
        let made = write_report(dir.path()).unwrap_or_else(|e| panic!("cut at {end}: {e}"));
        assert!(std::fs::read_to_string(made.page).unwrap().ends_with("</html>\n"), "cut at {end}");
    }
}

#[test]
fn missing_and_damaged_images_are_warnings() {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path(), &TINY);
    let image = |target: &str, spp, kind| {
        let name = ImageName { scene: "cornell".into(), target: target.into(), spp, seed: None, kind };
        dir.path().join(files::IMAGES).join(name.file_name())
    };
    std::fs::write(image("cpu-embree", 4, ImageKind::Png), "not a picture").unwrap();
    std::fs::remove_file(image("cpu-bvh", 2, ImageKind::Png)).unwrap();
    std::fs::remove_file(image("cpu-bvh", 2, ImageKind::Exr)).unwrap();
    let made = write_report(dir.path()).unwrap();
    assert_eq!(made.warnings.len(), 1, "{:?}", made.warnings);
    assert!(made.warnings[0].contains("cornell.cpu-embree.4spp.png"), "{:?}", made.warnings);
    std::fs::remove_dir_all(dir.path().join(files::IMAGES)).unwrap();
    std::fs::remove_file(dir.path().join(files::ENVIRONMENT)).unwrap();
    assert_eq!(write_report(dir.path()).unwrap().warnings, [""; 0]);
}

#[test]
fn damaged_records_and_folders_are_errors_that_name_the_path() {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path(), &TINY);
    std::fs::write(dir.path().join(files::PLOTS), "a file where a folder must be").unwrap();
    let error = write_report(dir.path()).unwrap_err().to_string();
    assert!(error.contains(files::PLOTS), "{error}");
    let records = dir.path().join(files::RECORDS);
    let text = std::fs::read_to_string(&records).unwrap();
    std::fs::write(&records, text.replacen("\"kind\"", "\"sort\"", 1)).unwrap();
    let error = write_report(dir.path()).unwrap_err().to_string();
    assert!(error.contains("records.jsonl:1: "), "{error}");
}

#[test]
fn a_log_of_a_whole_study_resumes_with_all_its_records() {
    let dir = tempfile::tempdir().unwrap();
    write_study(dir.path(), &TINY);
    let path = dir.path().join(files::RECORDS);
    let records = read_records(&path).unwrap();
    let resumed = RecordLog::resume(&path).unwrap();
    assert_eq!((resumed.records, resumed.dropped), (records, None));
}

#[test]
fn tables_as_csv_and_json_hold_unrounded_numbers() {
    let d = Difference {
        scene: "s".into(),
        a: "x".into(),
        b: "y".into(),
        spp: 1,
        errors: Errors { mse: 1.0 / 3.0, ..Default::default() },
        ..Default::default()
    };
    let study = Study::from_records(vec![d.into()], Default::default());
    let tables = all_tables(&study);
    let table = tables.iter().find(|t| t.id == "difference-mse").unwrap();
    assert_eq!(table.to_csv().unwrap(), "Scene,Pair,1 spp\ns,x : y,0.3333333333333333\n");
    assert_eq!(table.to_json()["rows"][0]["1 spp"], 1.0 / 3.0);
    assert_eq!(table.rows[0][2].text, "0.3333");
}

#[test]
fn the_summary_reads_as_intended() {
    let pair = |spp, mse: f64, pixels_differing| Difference {
        scene: "cornell".into(),
        a: "cpu-bvh".into(),
        b: "cpu-embree".into(),
        spp,
        errors: Errors {
            mse,
            mse_linear: mse / 1e5,
            psnr: if mse == 0.0 { f64::INFINITY } else { 50.0 },
            ssim: if mse == 0.0 { 1.0 } else { 0.999_997 },
            ..Default::default()
        },
        pixels_differing,
        identical: mse == 0.0,
        ..Default::default()
    };
    let error = |spp: u32| Convergence {
        scene: "cornell".into(),
        target: "cpu-bvh".into(),
        spp,
        errors: Errors {
            mse: 1000.0 / f64::from(spp),
            mse_linear: 0.1 / f64::from(spp),
            ssim: 0.5,
            ..Default::default()
        },
        against: "cpu-embree, 1,024 spp, seed 7".into(),
        ..Default::default()
    };
    let load = Load {
        scene: "cornell".into(),
        target: "cpu-bvh".into(),
        build_ms: 0.4,
        triangles: 36,
        device_bytes: 5000,
        ..Default::default()
    };
    let timing = Timing {
        scene: "cornell".into(),
        target: "cpu-bvh".into(),
        spp_to: 2,
        generate_ms: 1.0,
        extend_ms: 40.0,
        shade_ms: 20.0,
        connect_ms: 30.0,
        total_ms: 100.0,
        trace_ms: 60.0,
        extension_rays: 900_000,
        shadow_rays: 300_000,
        samples: 400_000,
        extension_rays_by_bounce: vec![400_000, 300_000, 200_000],
        shadow_rays_by_bounce: vec![150_000, 100_000, 50_000],
        ..Default::default()
    };
    let hits = Hits {
        scene: "cornell".into(),
        a: "cpu-bvh".into(),
        b: "cpu-embree".into(),
        spp: 2,
        rays: 800_000,
        primitive_differs: 2,
        pixels: 400_000,
        pixels_differing: 31,
        share: 31.0 / 400_000.0,
        why: "another primitive at a shared edge".into(),
        ..Default::default()
    };
    let skip = Skip {
        target: Some("cuda".into()),
        reason: "libcuda.so.1 was not found.".into(),
        remedy: "install a driver".into(),
        ..Default::default()
    };
    let note = Note { text: "stopped by Ctrl-C after 2 of 3 levels".into(), ..Default::default() };
    let records = vec![
        load.into(),
        pair(1, 0.0, 0).into(),
        pair(2, 0.25, 31).into(),
        error(1).into(),
        error(2).into(),
        error(4).into(),
        timing.with_derived().into(),
        hits.into(),
        skip.into(),
        note.into(),
    ];
    let environment = Environment {
        lockstep: "0.1.0".into(),
        command: ["lockstep", "study", "cornell"].map(str::to_owned).to_vec(),
        settings: StudySettings { width: 800, height: 500, bounces: 3, seed: 1, ..Default::default() },
        ..Default::default()
    };
    let study = Study::from_records(records, environment);
    insta::assert_snapshot!(summary_markdown(&study), @r#"
    # cpu-bvh and cpu-embree differ in up to 31 pixels

    - **cpu-bvh : cpu-embree** differ in at most 31 of 400,000 pixels, on cornell at 2 spp with an 8-bit MSE of 0.2500 (1 of 2 comparisons identical)
    - skipped **cuda**: libcuda.so.1 was not found. Remedy: install a driver
    - note: stopped by Ctrl-C after 2 of 3 levels

    ## Identical films

    | Scene | Pair | 1 spp | 2 spp |
    | :--- | :--- | ---: | ---: |
    | cornell | cpu-bvh : cpu-embree | = | 31 px |

    “=” where the films' integers are equal to the bit, else the pixels in which the images differ.

    ## MSE between targets, 8-bit sRGB

    | Scene | Pair | 1 spp | 2 spp |
    | :--- | :--- | ---: | ---: |
    | cornell | cpu-bvh : cpu-embree | 0 | 0.2500 |

    Mean squared error over 8-bit sRGB values, 0 to 65025, the scale of published tables.

    ## MSE between targets, linear

    | Scene | Pair | 1 spp | 2 spp |
    | :--- | :--- | ---: | ---: |
    | cornell | cpu-bvh : cpu-embree | 0 | 2.50e−6 |

    Mean squared error over linear radiance.

    ## SSIM between targets, 8×8 boxes

    | Scene | Pair | 1 spp | 2 spp |
    | :--- | :--- | ---: | ---: |
    | cornell | cpu-bvh : cpu-embree | 1.00000 | 0.99999 |

    SSIM of 8-bit BT.601 luma of sRGB values, over disjoint 8×8 boxes with sums of squares in place of variances (image-compare's MSSIM); not the sliding Gaussian window of Wang et al. 2004.

    ## Hits that disagree

    | Scene | Pair | spp | Rays | Other primitive | Hit or miss | Other distance | Pixels differing | Share | Why |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | :--- |
    | cornell | cpu-bvh : cpu-embree | 2 | 800,000 | 2 | 0 | 0 | 31 | 0.007750 % | another primitive at a shared edge |

    ## Convergence, linear MSE

    | Scene | Target | 1 spp | 2 spp | 4 spp | Slope | ± 95 % |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: |
    | cornell | cpu-bvh | 0.1000 | 0.05000 | 0.02500 | −1.000 | 0.000 |

    The reference is cpu-embree, 1,024 spp, seed 7. Mean squared error over linear radiance against the reference. Slope of log MSE over log spp by least squares with its 95 % interval; independent samples give −1.

    ## Convergence, 8-bit MSE

    | Scene | Target | 1 spp | 2 spp | 4 spp |
    | :--- | :--- | ---: | ---: | ---: |
    | cornell | cpu-bvh | 1000 | 500.0 | 250.0 |

    The reference is cpu-embree, 1,024 spp, seed 7. Mean squared error over 8-bit sRGB values, 0 to 65025, against the reference.

    ## Convergence, SSIM, 8×8 boxes

    | Scene | Target | 1 spp | 2 spp | 4 spp |
    | :--- | :--- | ---: | ---: | ---: |
    | cornell | cpu-bvh | 0.50000 | 0.50000 | 0.50000 |

    The reference is cpu-embree, 1,024 spp, seed 7. SSIM of 8-bit BT.601 luma of sRGB values, over disjoint 8×8 boxes with sums of squares in place of variances (image-compare's MSSIM); not the sliding Gaussian window of Wang et al. 2004.

    ## Times and rates

    | Scene | Target | spp | Generate ms | Extend ms | Shade ms | Connect ms | Other ms | Total ms | Trace share | Rays | Mrays/s incl. | Mrays/s excl. | Msamples/s |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | cornell | cpu-bvh | 2 | 1.000 | 40.00 | 20.00 | 30.00 | 9.000 | 100.0 | 60.0 % | 1,200,000 | 12.00 | 20.00 | 4.000 |

    Summed over the spp schedule; a repeated step counts with its median. Inclusive: all rays over the total time. Exclusive: all rays over the time of traversal, whose share of the total is the trace share.

    ## Rays by bounce

    | Scene | Target | Bounce | Extension rays | Terminated | Shadow rays | Against the first |
    | :--- | :--- | ---: | ---: | ---: | ---: | :--- |
    | cornell | cpu-bvh | 0 | 400,000 | 100,000 | 150,000 |  |
    | cornell | cpu-bvh | 1 | 300,000 | 100,000 | 100,000 |  |
    | cornell | cpu-bvh | 2 | 200,000 | 200,000 | 50,000 |  |

    Summed over the spp schedule under the first seed; bounce 0 is the camera rays. A path is terminated at a bounce when it has no ray to the next. The last column compares with the first target of the bounce: under equal seeds exact targets have equal counts, and where a divergence begins, it shows here first.

    ## Loading

    | Scene | Target | Triangles | Build ms | Compile ms | Upload ms | Memory |
    | :--- | :--- | ---: | ---: | ---: | ---: | ---: |
    | cornell | cpu-bvh | 36 | 0.4000 | 0 | 0 | 4.9 KiB |

    ## Environment

    - Lockstep: 0.1.0
    - Images: 800×500, 3 bounces, seed 1

    ## To repeat

    ```
    lockstep study cornell
    ```
    "#);
}
