//! The laboratory of verdicts: how often unbiased pairs of images are called biased, and how often mutants
//! are killed.
//!
//! ```sh
//! cargo run --release -p lockstep-metrics --example verdict_lab -- [--pairs N] [--mutants N] [--named N] [--only TEXT]
//! ```
//!
//! With `--images FOLDER` it compares renders instead: every file `NAME.….exr` with the next of its name.
//!
//! It prints three tables in Markdown. Images without bias have `--side` pixels a side, others 128; `seeds` is
//! the number of images of each side. Where the alarms of a case are more than its pairs explain at the
//! documented rate it ends with 1. Beside the verdict stand the tests of tiles as if pixels were independent
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
#[path = "verdict_lab/samplers.rs"]
mod samplers;

use cases::{Case, Mistake, biased, mistakes, unbiased};
use clap::Parser;
use lockstep_metrics::image_io::read_image;
use lockstep_metrics::statistics::{Agreement, DecisionRule, Pairing, compare_images};
use noise::Random;
use rayon::prelude::*;
use std::process::ExitCode;

/// The documented rate of false alarms.
const ALPHA: f64 = 0.001;
/// The probability of more alarms than the bound in any row without bias.
const UNLIKELY: f64 = 0.01;

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
    /// Side in pixels of the images without bias, a power of two
    #[arg(long, value_name = "N", default_value_t = 128)]
    side: usize,
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
    let mut random = Random::new(pair * 1_000_003 + seeds as u64 * 7_919 + hash(case.name));
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

/// FNV-1a, so that cases have random numbers of their own.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3))
}

/// The most alarms that pairs at the documented rate give, but with this probability.
fn most_alarms(pairs: u64, rate: f64, probability: f64) -> u64 {
    let (mut term, mut beyond, mut count) = ((1.0 - rate).powf(pairs as f64), 1.0, 0);
    loop {
        beyond -= term;
        if beyond <= probability || count >= pairs {
            return count;
        }
        count += 1;
        term *= (pairs + 1 - count) as f64 / count as f64 * rate / (1.0 - rate);
    }
}

/// Prints the table of some cases; the most alarms of a row.
fn table(title: &str, cases: &[Case], pairs: u64, only: &str) -> u64 {
    let mut most = 0;
    println!("\n### {title}: {pairs} pairs a case\n");
    println!(
        "| case | seeds | biased | inconclusive | tiles alone | z-test | χ² | e.g. |\n|---|---|---|---|---|---|---|---|"
    );
    for case in cases.iter().filter(|case| case.name.contains(only)) {
        for &seeds in case.seeds {
            let all: Vec<(Count, String)> =
                (0..pairs).into_par_iter().map(|pair| compare(case, seeds, pair, ALPHA)).collect();
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
            most = most.max(count.biased);
        }
    }
    most
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

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.images {
        images(folder);
        return ExitCode::SUCCESS;
    }
    let mut code = ExitCode::SUCCESS;
    if arguments.pairs > 0 {
        let cases = unbiased(arguments.side);
        let bound = most_alarms(arguments.pairs, ALPHA, UNLIKELY / (2 * cases.len()) as f64);
        let most = table("No bias", &cases, arguments.pairs, &arguments.only);
        println!("\nAt most {bound} alarms in a row are within the documented rate; there are {most}.");
        code = ExitCode::from(u8::from(most > bound));
    }
    if arguments.mutants > 0 {
        table("Mutants", &biased(), arguments.mutants, &arguments.only);
    }
    if arguments.named > 0 {
        reasons(&mistakes(), arguments.named, &arguments.only);
    }
    code
}
