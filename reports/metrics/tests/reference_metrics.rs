//! Our metrics against public implementations: `checks/figures.tsv` holds what `checks/reference_metrics.py`
//! printed about the image pairs in `checks/pairs`, which `checks/make_pairs.py` made.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails must fail its test")]

use lockstep_metrics::image_io::read_image;
use lockstep_metrics::metrics::{Metrics, compare};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Required agreement, relative where the value is above 1 (SSIM and FLIP never are).
const TOLERANCE: f64 = 1e-4;

fn checks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("checks")
}

fn value(m: &Metrics, name: &str) -> f64 {
    match name {
        "mse_linear" => m.mse_linear,
        "rmse_linear" => m.float.rmse_linear,
        "rel_mse" => m.float.rel_mse,
        "mae_linear" => m.float.mae_linear,
        "psnr_linear" => m.float.psnr_linear,
        "ssim_gaussian" => m.float.ssim_gaussian,
        "flip" => m.float.flip,
        "flip_hdr" => m.float.flip_hdr,
        other => panic!("figures.tsv has a metric that is not known: {other}"),
    }
}

fn metrics_of(pair: &str) -> Metrics {
    let file = |side: &str| {
        let path = |kind: &str| checks().join("pairs").join(format!("{pair}.{side}.{kind}"));
        [path("hdr"), path("png")].into_iter().find(|p| p.exists()).unwrap()
    };
    compare(&read_image(&file("a")).unwrap(), &read_image(&file("b")).unwrap()).unwrap()
}

#[test]
fn metrics_agree_with_public_implementations_on_every_pair() {
    let figures = std::fs::read_to_string(checks().join("figures.tsv")).unwrap();
    let mut pairs: BTreeMap<&str, Metrics> = BTreeMap::new();
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in figures.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [pair, metric, expected] = fields[..] else { panic!("not three fields: {line}") };
        let expected: f64 = expected.parse().unwrap();
        let ours = value(pairs.entry(pair).or_insert_with(|| metrics_of(pair)), metric);
        *compared.entry(metric).or_default() += 1;
        if (ours - expected).abs() > TOLERANCE * expected.abs().max(1.0) {
            wrong.push(format!("{pair} {metric}: ours {ours}, theirs {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared.len() == 8 && compared.values().all(|&n| n >= 5), "{compared:?}");
}
