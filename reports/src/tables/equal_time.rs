//! Errors after given times.

use super::{Cell, Table};
use crate::format::{count, fixed, number};
use crate::labels::qualifier;
use crate::records::{EqualTime, TargetId, mega_per_second};
use crate::reference::LEAST;
use crate::reference_share::ReferenceShare;
use crate::study::{Study, push_new};

/// Samples and error of every target after every time.
pub fn equal_time_table(study: &Study) -> Table {
    let numbers = [
        "Given s",
        "Taken s",
        "spp",
        "Msamples/s",
        "RMSE linear",
        "relMSE",
        "RMSE 8-bit",
        "PSNR",
        "Reference",
    ];
    let mut table =
        Table::new("equal-time", "Error after equal time", &["Scene", "Target"], &numbers).noted(
            "Counted is the time of the passes as in the table of times: by the device's own clock where it has one. Loading, \
             compiling, reading films and comparing are not counted. A pass takes whole samples of every pixel, as many as \
             fit into the time and at least one; “full” marks a film that holds no more.",
        );
    table.notes.push(
        "Reference: the share of the linear MSE that is the reference's own. Where it is by the target's integrator, N over N \
         plus its samples per pixel; a bias that both have in common is in no error. Else it is the reference's error over that \
         of the target: told by images of the reference's own integrator where that is path or bpt, or by the intercept of \
         errors over 1/N where path and bpt agree on it, with its 95 % interval, or else bounded by it. Where it is large, \
         targets look more alike than they are; a higher top spp level (--spp) or a longer time (--reference-time) makes a better \
         reference, or --reference names one."
            .to_owned(),
    );
    let shares: Vec<ReferenceShare> =
        study.equal_times.iter().map(|e| ReferenceShare::of(study, e)).collect();
    table.notes.extend(unknown(study, &shares));
    for (e, share) in study.equal_times.iter().zip(shares) {
        let shown = |value: f64| Cell::number(value, number(value));
        let known = |value: Option<f64>| value.map_or_else(Cell::empty, shown);
        let spp = Cell::count(u64::from(e.spp));
        let full = if e.full { ", full" } else { "" };
        table.rows.push(vec![
            Cell::text(&e.scene),
            Cell::text(format!("{}{}", e.target, qualifier(e.mode, &[&e.target], 0, false))),
            Cell::number(e.seconds, e.seconds.to_string()),
            shown(e.render_ms / 1e3),
            Cell { text: format!("{}{full}", spp.text), value: spp.value },
            shown(mega_per_second(e.samples, e.render_ms)),
            known(e.float.map(|m| m.rmse_linear)),
            known(e.float.map(|m| m.rel_mse)),
            shown(e.errors.rmse),
            shown(e.errors.psnr),
            share.value().map_or_else(|| Cell::text(share.text()), |value| Cell::number(value, share.text())),
        ]);
    }
    table
}

/// A sentence for each reason for which shares of the reference are not known, with the scenes.
fn unknown(study: &Study, shares: &[ReferenceShare]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (e, share) in study.equal_times.iter().zip(shares) {
        let ReferenceShare::Unknown(why) = share else { continue };
        let reason = why.reason();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, scenes)) => push_new(scenes, e.scene.as_str()),
            None => reasons.push((reason, vec![e.scene.as_str()])),
        }
    }
    let sentence =
        |(reason, scenes): (&str, Vec<&str>)| format!("Unknown on {}: {reason}.", scenes.join(", "));
    reasons.into_iter().map(sentence).collect()
}

/// The target with the least error after each time on each scene, and how far the others are, a sentence each.
pub fn equal_time_sentences(study: &Study) -> Vec<String> {
    let mut points = Vec::new();
    study.equal_times.iter().for_each(|e| push_new(&mut points, (e.scene.as_str(), e.seconds)));
    let of = |(scene, seconds): (&str, f64)| {
        let alike = study.equal_times.iter().filter(|e| e.scene == scene && e.seconds == seconds);
        let mut errors: Vec<(&TargetId, f64)> = alike
            .clone()
            .map(|e| (&e.target, e.errors.mse_linear))
            .filter(|(_, mse)| mse.is_finite())
            .collect();
        errors.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [(best, least), others @ ..] = errors.as_slice() else { return None };
        let times = |mse: f64| if *least > 0.0 { fixed(mse / least, 2) } else { number(mse) };
        let others: Vec<String> =
            others.iter().map(|(name, mse)| format!("{name} {}", times(*mse))).collect();
        let rest =
            if others.is_empty() { String::new() } else { format!("; times that: {}", others.join(", ")) };
        let short = short_reference(alike).unwrap_or_default();
        Some(format!(
            "after {seconds} s on {scene} the linear MSE of {best} is {}{rest}{short}",
            number(*least)
        ))
    };
    points.into_iter().filter_map(of).collect()
}

/// The end of a sentence about images that have more than a sixteenth of their reference's samples.
fn short_reference<'a>(images: impl Iterator<Item = &'a EqualTime>) -> Option<String> {
    let most = images.max_by_key(|e| e.spp)?;
    let reference = most.reference_spp.filter(|&samples| samples < most.spp.saturating_mul(LEAST))?;
    let ratio = fixed(f64::from(reference) / f64::from(most.spp.max(1)), 1);
    Some(format!(
        "; the reference has {} spp, {ratio} times those of {}",
        count(reference.into()),
        most.target
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Environment;

    #[test]
    fn the_sentence_of_a_time_names_the_least_error_and_how_many_times_the_others_have() {
        let point = |target: &str, mse_linear| {
            let errors = crate::records::Errors { mse_linear, ..Default::default() };
            let (scene, target) = ("s".into(), target.into());
            EqualTime { scene, target, seconds: 4.0, errors, ..Default::default() }.into()
        };
        let sentences = |records| equal_time_sentences(&Study::from_records(records, Environment::default()));
        let found = sentences(vec![point("slow", 0.3), point("fast", 0.2), point("broken", f64::NAN)]);
        assert_eq!(found, ["after 4 s on s the linear MSE of fast is 0.2000; times that: slow 1.50"]);
        assert_eq!(
            sentences(vec![point("alone", 0.2)]),
            ["after 4 s on s the linear MSE of alone is 0.2000"]
        );
        let with_reference = |reference| {
            let errors = crate::records::Errors { mse_linear: 0.2, ..Default::default() };
            let (scene, target, reference_spp) = ("s".into(), "alone".into(), Some(reference));
            let e = EqualTime {
                scene,
                target,
                seconds: 4.0,
                spp: 100,
                errors,
                reference_spp,
                ..Default::default()
            };
            sentences(vec![e.into()]).remove(0)
        };
        assert!(with_reference(1600).ends_with("is 0.2000"));
        assert!(with_reference(1599).ends_with("; the reference has 1,599 spp, 16.0 times those of alone"));
        assert!(with_reference(50).ends_with("; the reference has 50 spp, 0.5 times those of alone"));
    }

    #[test]
    fn a_row_tells_time_samples_error_and_how_much_of_it_is_the_references() {
        let record = EqualTime {
            scene: "s".into(),
            target: "t".into(),
            seconds: 10.0,
            render_ms: 9_500.0,
            spp: 256,
            samples: 19_000_000,
            full: true,
            reference_spp: Some(768),
            against: "t, 768 spp, seed 7".into(),
            ..Default::default()
        };
        let table = equal_time_table(&Study::from_records(vec![record.into()], Environment::default()));
        let texts: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts[2..6], ["10", "9.500", "256, full", "2.000"]);
        assert_eq!(texts.last(), Some(&"25.0 %"));
    }

    #[test]
    fn a_share_that_is_not_known_says_so_with_the_reason() {
        let (scene, target, against) = ("s".into(), "t".into(), "reference.exr".into());
        let record = EqualTime { scene, target, against, spp: 4, errors: one(), ..Default::default() };
        let table = equal_time_table(&Study::from_records(vec![record.into()], Environment::default()));
        assert_eq!(table.rows[0].last().unwrap().text, "unknown");
        assert!(table.notes.iter().any(|note| note.starts_with("Unknown on s: the reference is a file")));
    }

    fn one() -> crate::records::Errors {
        crate::records::Errors { mse_linear: 1.0, ..Default::default() }
    }
}
