//! The laboratory of verdicts: how often unbiased pairs of images are called biased, and how often mutants
//! are killed.
//!
//! ```sh
//! cargo run --release -p lockstep-metrics --example verdict_lab -- [--pairs N] [--mutants N] [--named N] [--only TEXT]
//! ```
//!
//! With `--images FOLDER` it compares renders instead: every file `NAME.….exr` with the next of its name.
//!
//! It prints three tables in Markdown. Images are 128×128 with three channels of independent noise; `seeds` is
//! the number of images of each side. Beside the verdict stand the tests of tiles as if pixels were independent
//! and noise alike on both sides, Mitsuba's z-test (each pixel's z-score, p-values
//! by Šidák's correction) and the χ² of all pixels' z-scores; both are given the true variances, which with one
//! seed nobody has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a command that fails must stop")]

#[path = "verdict_lab/cases.rs"]
mod cases;
#[path = "verdict_lab/noise.rs"]
mod noise;
#[path = "verdict_lab/others.rs"]
mod others;

use cases::{Case, Mistake, biased, mistakes, unbiased};
use clap::Parser;
use lockstep_metrics::image_io::read_image;
use lockstep_metrics::statistics::{Agreement, DecisionRule, Pairing, compare_images};
use noise::Random;
use rayon::prelude::*;

/// How often unbiased pairs of images are called biased, and how often mutants are killed.
#[derive(Parser)]
struct Arguments {
    /// Pairs of each case without bias; 0 leaves the table out
    #[arg(long, value_name = "N", default_value_t = 200)]
    pairs: u64,
    /// Pairs of each mutant; 0 leaves the table out
    #[arg(long, value_name = "N", default_value_t = 50)]
    mutants: u64,
    /// Pairs of each mistake whose reason is to be named; 0 leaves the table out
    #[arg(long, value_name = "N", default_value_t = 50)]
    named: u64,
    /// Compare the renders of this folder instead: every file `NAME.….exr` with the next of its name
    #[arg(long, value_name = "FOLDER")]
    images: Option<std::path::PathBuf>,
    /// Only cases whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// How many of the pairs of a case were called what.
#[derive(Default, Clone, Copy)]
struct Count {
    biased: u64,
    inconclusive: u64,
    plain: u64,
    broken: u64,
    z_test: u64,
    chi_squared: u64,
}

impl Count {
    fn plus(self, other: Self) -> Self {
        Self {
            biased: self.biased + other.biased,
            inconclusive: self.inconclusive + other.inconclusive,
            plain: self.plain + other.plain,
            broken: self.broken + other.broken,
            z_test: self.z_test + other.z_test,
            chi_squared: self.chi_squared + other.chi_squared,
        }
    }
}

fn compare(case: &Case, seeds: usize, pair: u64, alpha: f64) -> (Count, String) {
    let mut random = Random::new(pair * 1_000_003 + seeds as u64 * 7_919 + case.name.len() as u64);
    let (a, b) = (case.make)(&mut random, seeds);
    let rule = DecisionRule { alpha, ..DecisionRule::default() };
    let found = compare_images(&a, &b, Pairing::Independent, &rule).unwrap();
    let (z_test, chi_squared) =
        case.deviation.as_ref().map_or((false, false), |of| others::rejections(&a, &b, of, alpha));
    let count = Count {
        biased: u64::from(found.agreement == Agreement::Biased),
        inconclusive: u64::from(found.agreement == Agreement::Inconclusive),
        plain: u64::from(found.test.as_ref().is_some_and(|t| t.rejects_if_independent)),
        broken: u64::from(found.agreement == Agreement::Broken),
        z_test: u64::from(z_test),
        chi_squared: u64::from(chi_squared),
    };
    (count, found.reason)
}

fn table(title: &str, cases: &[Case], pairs: u64, only: &str) {
    println!("\n### {title}: {pairs} pairs a case\n");
    println!(
        "| case | seeds | biased | inconclusive | tiles alone | z-test | χ² | e.g. |\n|---|---|---|---|---|---|---|---|"
    );
    for case in cases.iter().filter(|case| case.name.contains(only)) {
        for &seeds in case.seeds {
            let all: Vec<(Count, String)> =
                (0..pairs).into_par_iter().map(|pair| compare(case, seeds, pair, 0.001)).collect();
            let count = all.iter().map(|c| c.0).fold(Count::default(), Count::plus);
            assert_eq!(count.broken, 0, "{}", case.name);
            let other = |n: u64| if case.deviation.is_some() { n.to_string() } else { "–".to_owned() };
            let flagged =
                all.iter().find(|c| c.0.biased > 0).or_else(|| all.iter().find(|c| c.0.inconclusive > 0));
            let example = flagged.map_or("", |c| c.1.as_str());
            println!(
                "| {} | {seeds} | {} | {} | {} | {} | {} | {example} |",
                case.name,
                count.biased,
                count.inconclusive,
                count.plain,
                other(count.z_test),
                other(count.chi_squared)
            );
        }
    }
}

/// How often the reason of a mutant is named.
fn reasons(mistakes: &[Mistake], pairs: u64, only: &str) {
    println!("\n### Named reasons at 5 % noise, one seed: {pairs} pairs a mistake\n");
    println!("| B is A … | named | else, e.g. |\n|---|---|---|");
    for mistake in mistakes.iter().filter(|m| m.words.contains(only)) {
        let name = |pair: u64| {
            let mut random = Random::new(pair * 7_919 + mistake.words.len() as u64);
            let (a, b) = (mistake.make)(&mut random);
            compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap().reason
        };
        let all: Vec<String> = (0..pairs).into_par_iter().map(name).collect();
        let is_named = |reason: &&String| mistake.words.split('|').any(|words| reason.contains(words));
        let named = all.iter().filter(is_named).count();
        let other = all.iter().find(|reason| !is_named(reason)).map_or("", String::as_str);
        println!("| {} | {named} | {other} |", mistake.words.replace('|', " or "));
    }
}

/// Verdicts on every image of a folder with the next by name, which have other seeds and no bias.
fn images(folder: &std::path::Path) {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let kind = |file: &std::path::PathBuf| {
        file.file_name().unwrap().to_string_lossy().split('.').next().unwrap_or_default().to_owned()
    };
    let mut kinds: Vec<String> = files.iter().map(kind).collect();
    kinds.dedup();
    println!("\n### Renders against themselves under other seeds, each against the next\n");
    println!("| images | pairs | biased | inconclusive | tiles alone | e.g. |\n|---|---|---|---|---|---|");
    for name in kinds {
        let own: Vec<_> = files.iter().filter(|f| kind(f) == name).map(|f| read_image(f).unwrap()).collect();
        let pair = |i: usize| {
            let (a, b) = (own[i].clone(), own[(i + 1) % own.len()].clone());
            compare_images(&[a], &[b], Pairing::Independent, &DecisionRule::default()).unwrap()
        };
        let all: Vec<_> = (0..own.len()).into_par_iter().map(pair).collect();
        let count = |agreement| all.iter().filter(|c| c.agreement == agreement).count();
        let plain = all.iter().filter(|c| c.test.as_ref().is_some_and(|t| t.rejects_if_independent)).count();
        let odd = all.iter().find(|c| !c.agreement.is_good()).map_or("", |c| c.reason.as_str());
        let (biased, inconclusive) = (count(Agreement::Biased), count(Agreement::Inconclusive));
        println!("| {name} | {} | {biased} | {inconclusive} | {plain} | {odd} |", all.len());
    }
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.images {
        return images(folder);
    }
    if arguments.pairs > 0 {
        table("No bias", &unbiased(), arguments.pairs, &arguments.only);
    }
    if arguments.mutants > 0 {
        table("Mutants", &biased(), arguments.mutants, &arguments.only);
    }
    if arguments.named > 0 {
        reasons(&mistakes(), arguments.named, &arguments.only);
    }
}
