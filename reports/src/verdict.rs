//! The verdict of a study.

use crate::format::{count, number, plural};
use crate::labels::{at_spp, joined};
use crate::records::{Difference, Interruption, Mode, TargetId};
use crate::study::{Study, push_new};
use crate::tuning::{Tuned, tuned};

/// The comparisons of one pair of targets, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct PairVerdict {
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// `exact` or `fast`.
    pub mode: String,
    /// Whether both targets promise identical films.
    pub promised: bool,
    /// Comparisons, over scenes, levels and seeds.
    pub points: usize,
    /// Number of comparisons that found the films equal to the bit.
    pub identical: usize,
    /// The first comparison, by scene and level, that found the films different.
    pub first_difference: Option<Difference>,
    /// The comparison with the most differing pixels.
    pub worst: Option<Difference>,
    /// The first comparison of the worst verdict, broken before biased before inconclusive before within
    /// noise; nothing where none has a verdict.
    pub worst_verdict: Option<Difference>,
}

impl PairVerdict {
    /// Whether every comparison found the films equal.
    pub fn is_identical(&self) -> bool {
        self.points > 0 && self.identical == self.points
    }

    /// Whether nothing speaks against the pair: its films are identical where that is promised, and elsewhere
    /// within noise.
    pub fn is_good(&self) -> bool {
        self.is_identical()
            || (!self.promised && self.worst_verdict.as_ref().is_none_or(|d| severity(d) <= 1))
    }

    /// Whether the pair may differ, and was found to do so within noise.
    fn is_within_noise(&self) -> bool {
        self.worst_verdict.is_some() && !self.is_identical() && self.is_good()
    }

    /// Whether nothing worse is said of the pair than that its images cannot tell.
    fn is_inconclusive(&self) -> bool {
        self.worst_verdict.as_ref().is_some_and(|d| severity(d) == INCONCLUSIVE)
    }

    /// The verdict as a sentence. `pixels` is the number of pixels of an image, 0 if unknown.
    pub fn sentence(&self, pixels: u64) -> String {
        let points = plural(self.points, "comparison");
        let Some(worst) = self.worst.as_ref().filter(|_| !self.is_identical()) else {
            return format!(
                "identical to the bit in {}",
                if self.points == 1 { points } else { format!("all {points}") }
            );
        };
        if worst.pixels_differing == 0 {
            return format!(
                "films differ in {} of {points}, images in none",
                count((self.points - self.identical) as u64)
            );
        }
        let of = if pixels > 0 { format!(" of {}", count(pixels)) } else { String::new() };
        let noun = if pixels == 0 && worst.pixels_differing == 1 { "pixel" } else { "pixels" };
        let already = match &self.first_difference {
            Some(first) if (&first.scene, first.spp) != (&worst.scene, worst.spp) => {
                format!("; first on {}{}", first.scene, at_spp(first.spp))
            }
            _ => String::new(),
        };
        let some = if self.identical > 0 {
            format!(" ({} of {points} identical)", self.identical)
        } else {
            String::new()
        };
        let verdict = self.worst_verdict.as_ref().map(|d| match d.verdict.as_str() {
            "biased" | "broken" | "inconclusive" => {
                format!("; {} on {}{}: {}", d.verdict, d.scene, at_spp(d.spp), d.reason)
            }
            _ => "; within noise".to_owned(),
        });
        format!(
            "differ in at most {}{of} {noun}, on {}{} with an 8-bit MSE of {}{already}{some}{}",
            count(worst.pixels_differing),
            worst.scene,
            at_spp(worst.spp),
            number(worst.errors.mse),
            verdict.unwrap_or_default(),
        )
    }
}

/// One line of a study's verdict: about a group of identical targets, or about two groups that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictLine {
    /// Whether the targets' films are identical.
    pub identical: bool,
    /// Whether the targets may differ and do so within noise.
    pub within_noise: bool,
    /// Whether the targets promise identical films, which makes a difference within noise a fault.
    pub promised: bool,
    /// The worst verdict on their comparisons; empty where none has one.
    pub verdict: String,
    /// The targets that the line is about.
    pub subject: String,
    /// The targets on each side of the comparison; equal sides for a group of identical targets.
    pub sides: [Vec<TargetId>; 2],
    /// The finding about the line's targets, in a sentence.
    pub sentence: String,
}

impl VerdictLine {
    /// Whether a comparison is between the targets of this line.
    pub fn is_about(&self, d: &Difference) -> bool {
        let [left, right] = &self.sides;
        let between = |a: &TargetId, b: &TargetId| left.contains(a) && right.contains(b);
        between(&d.a, &d.b) || between(&d.b, &d.a)
    }
}

/// The verdict of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyVerdict {
    /// One line for the top of a page.
    pub headline: String,
    /// Whether the study found nothing amiss: pairs identical where promised, within noise elsewhere, no
    /// sample refused, and no run of a program failed.
    pub good: bool,
    /// A line for each group of targets that are identical among themselves, and one for each two groups that
    /// differ.
    pub lines: Vec<VerdictLine>,
    /// Every pair, in the order in which they were compared.
    pub pairs: Vec<PairVerdict>,
}

/// The outcome of tuning in one line.
fn tuning_headline(rows: &[Tuned]) -> String {
    let mut targets = Vec::new();
    rows.iter().for_each(|row| push_new(&mut targets, &row.target));
    let bugs = rows.iter().filter(|row| row.is_bug()).count();
    let ran = rows
        .iter()
        .filter(|row| row.refused.is_empty() && row.promised && !row.aa_control && !row.default)
        .count();
    let on = plural(targets.len(), "target");
    if bugs > 0 {
        return format!("{} of {ran} exact configurations on {on} change the film", count(bugs as u64));
    }
    if ran == 0 {
        return format!("No exact configuration beside the default on {on}");
    }
    format!("{ran} exact configurations on {on}: films identical to the bit")
}

/// Draws the verdict from a study's records.
pub fn verdict(study: &Study) -> StudyVerdict {
    let pairs = pair_verdicts(study);
    let refused: u64 = study.invalid.iter().map(|r| r.non_finite + r.negative + r.clamped).sum();
    // Fast builds may differ, so they do not make the headline where there are exact ones.
    let has_exact = pairs.iter().any(|p| p.mode == "exact");
    let headlined: Vec<&PairVerdict> = pairs.iter().filter(|p| !has_exact || p.mode == "exact").collect();
    let groups = groups(&headlined);
    let headline = if refused > 0 {
        format!("Broken: films refused {} samples", count(refused))
    } else if pairs.is_empty() && !study.tunes.is_empty() {
        tuning_headline(&tuned(study))
    } else if pairs.is_empty() {
        match study.targets().len() {
            0 => "Nothing was measured".to_owned(),
            1 => "One target, so nothing to compare it with".to_owned(),
            _ => "Targets were measured but not yet compared".to_owned(),
        }
    } else {
        let others = pairs.iter().any(|p| has_exact && p.mode != "exact");
        let rest = if others { fast_clause(study, &groups, &pairs) } else { String::new() };
        headline(&groups, &headlined, others) + &rest
    };
    let headline = match failed(study).as_slice() {
        [] => headline,
        failed => format!("{headline}; {} failed", list(failed)),
    };
    let headline = match study.notes.iter().filter_map(Interruption::of).next_back() {
        Some(Interruption::Stopped) => format!("Stopped before its end. So far: {headline}"),
        Some(Interruption::Resumed) => format!("Not yet at its end. So far: {headline}"),
        Some(Interruption::Finished) | None => headline,
    };
    let mut lines = group_lines(&groups, &headlined, study.pixels());
    if has_exact {
        lines.extend(fast_lines(&groups, &pairs, study.pixels()));
    }
    let compared = !pairs.is_empty() || !study.tunes.is_empty();
    let sound = pairs.iter().all(PairVerdict::is_good) && !tuned(study).iter().any(Tuned::is_bug);
    let good = refused == 0 && compared && sound && study.run_failures.is_empty();
    StudyVerdict { headline, good, lines, pairs }
}

/// The programs of which a run failed.
fn failed(study: &Study) -> Vec<&TargetId> {
    let mut failed = Vec::new();
    study.run_failures.iter().for_each(|failure| push_new(&mut failed, &failure.target));
    failed
}

/// The one target of three or more that differs from every other by more than noise, where the others agree.
fn odd_one<'a>(targets: &[&'a TargetId], pairs: &[&PairVerdict]) -> Option<&'a TargetId> {
    let is_of = |pair: &PairVerdict, target: &TargetId| pair.a == *target || pair.b == *target;
    let is_odd = |target: &&&TargetId| {
        let (own, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| is_of(pair, target));
        let differs = |pair: &&&PairVerdict| !pair.is_good() && !pair.is_inconclusive();
        !own.is_empty() && own.iter().all(differs) && others.iter().all(|pair| pair.is_good())
    };
    targets.iter().find(is_odd).copied().filter(|_| targets.len() > 2)
}

/// Targets sorted into groups that are identical among themselves.
fn groups<'a>(pairs: &[&'a PairVerdict]) -> Vec<Vec<&'a TargetId>> {
    let mut targets: Vec<&TargetId> = Vec::new();
    pairs.iter().for_each(|p| [&p.a, &p.b].into_iter().for_each(|t| push_new(&mut targets, t)));
    let agree = |a: &TargetId, b: &TargetId| {
        let (left, right) = ([a], [b]);
        let mut between = between(pairs, &left, &right).peekable();
        between.peek().is_some() && between.all(PairVerdict::is_identical)
    };
    let mut groups: Vec<Vec<&TargetId>> = Vec::new();
    for target in targets {
        match groups.iter_mut().find(|group| group.iter().all(|member| agree(member, target))) {
            Some(group) => group.push(target),
            None => groups.push(vec![target]),
        }
    }
    groups
}

/// Pairs with a target on each side.
fn between<'p>(
    pairs: &'p [&PairVerdict],
    left: &'p [&TargetId],
    right: &'p [&TargetId],
) -> impl Iterator<Item = &'p PairVerdict> {
    pairs.iter().copied().filter(move |p| {
        let (a, b) = (&p.a, &p.b);
        (left.contains(&a) && right.contains(&b)) || (left.contains(&b) && right.contains(&a))
    })
}

fn most_pixels<'p>(pairs: impl Iterator<Item = &'p PairVerdict>) -> Option<&'p PairVerdict> {
    pairs.filter(|p| p.worst.is_some()).max_by_key(|p| p.worst.as_ref().map(|w| w.pixels_differing))
}

/// The end of a headline: how the fast builds of a study differ from its exact targets, and from which quantity of a path
/// on, where paths were compared.
fn fast_clause(study: &Study, groups: &[Vec<&TargetId>], pairs: &[PairVerdict]) -> String {
    let is_headlined = |target: &TargetId| groups.iter().any(|group| group.contains(&target));
    let own = || pairs.iter().filter(|pair| pair.mode != "exact");
    let mut fast = Vec::new();
    own()
        .flat_map(|pair| [&pair.a, &pair.b])
        .filter(|target| !is_headlined(target))
        .for_each(|target| push_new(&mut fast, target));
    let s = if fast.len() == 1 { "s" } else { "" };
    if own().all(PairVerdict::is_identical) {
        return format!("; {} {} identical to them", list(&fast), if fast.len() == 1 { "is" } else { "are" });
    }
    let worst = own().filter_map(|pair| pair.worst_verdict.as_ref()).max_by_key(|d| severity(d));
    let how = match worst.map(|d| d.verdict.as_str()) {
        Some("within noise") => " within noise",
        Some("biased") => " by more than noise",
        Some("broken") => " beyond comparison",
        Some("inconclusive") => ", perhaps by noise alone",
        _ => "",
    };
    let compared = study.divergences.iter().filter(|d| [&d.a, &d.b].iter().any(|t| fast.contains(t)));
    // Quantities stand in the order in which a path computes them.
    let places = compared.filter_map(|d| d.quantities.iter().enumerate().find(|(_, q)| q.differing > 0));
    let from = places
        .min_by_key(|place| place.0)
        .map_or_else(String::new, |(_, first)| format!(", from the {} on", first.quantity));
    format!("; {} differ{s}{how}{from}", list(&fast))
}

/// The headline about targets that may be compared by their bits. `with_fast` says that the study has fast builds too.
fn headline(groups: &[Vec<&TargetId>], pairs: &[&PairVerdict], with_fast: bool) -> String {
    let kind = if with_fast { "exact targets" } else { "targets" };
    let targets: usize = groups.iter().map(Vec::len).sum();
    let most =
        most_pixels(pairs.iter().copied()).and_then(|p| p.worst.as_ref()).map_or(0, |w| w.pixels_differing);
    // Films can differ by less than the images' f32 can tell.
    let up_to = if most == 0 {
        "in their films only".to_owned()
    } else {
        format!("in up to {}", plural(most as usize, "pixel"))
    };
    let differing = || pairs.iter().filter(|p| !p.is_identical());
    let within_noise = differing().all(|p| p.is_within_noise());
    if let Some(d) = differing().filter_map(|p| p.worst_verdict.as_ref()).find(|d| severity(d) == BROKEN) {
        return format!("Broken: {} and {} on {}: {}", d.a, d.b, d.scene, d.reason);
    }
    let beyond = differing().any(|p| !p.promised && !p.is_good());
    let undecided = differing().all(|p| !p.promised && (p.is_good() || p.is_inconclusive()));
    let differ = |one: bool| {
        let s = if one { "s" } else { "" };
        if within_noise {
            format!("agree{s} within noise, differing {up_to}")
        } else if undecided {
            format!("differ{s} {up_to}, which these images cannot tell from noise")
        } else if beyond {
            format!("differ{s} by more than noise, {up_to}")
        } else {
            format!("differ{s} {up_to}")
        }
    };
    let largest = groups.iter().max_by_key(|group| group.len()).map_or(0, Vec::len);
    let others: Vec<&TargetId> = groups.iter().filter(|g| g.len() == 1).map(|g| g[0]).collect();
    let named: Vec<&TargetId> = groups.iter().flatten().copied().collect();
    if let Some(odd) = odd_one(&named, pairs).filter(|_| groups.len() > 2) {
        let rest = if targets == 3 { "other two".to_owned() } else { format!("other {}", targets - 1) };
        return format!("{odd} differs by more than noise from the {rest} targets, which agree, {up_to}");
    }
    match groups {
        [all] if targets == 2 => format!("{} are identical to the bit", list(all)),
        [all] if with_fast => format!("{} exact targets are identical to the bit", all.len()),
        [all] => format!("All {} targets are identical to the bit", all.len()),
        _ if targets == 2 => format!("{} {}", list(&others), differ(false)),
        _ if largest > 1 && largest + others.len() == targets => {
            let differ = differ(others.len() == 1);
            format!("{largest} of {targets} {kind} are identical to the bit; {} {differ}", list(&others))
        }
        _ if largest > 1 => {
            format!("{targets} {kind} fall into {} groups, which {}", groups.len(), differ(false))
        }
        _ => format!("No two of {targets} {kind} are identical; they {}", differ(false)),
    }
}

fn group_lines(groups: &[Vec<&TargetId>], pairs: &[&PairVerdict], pixels: u64) -> Vec<VerdictLine> {
    let mut lines = Vec::new();
    for group in groups.iter().filter(|group| group.len() > 1) {
        let points: usize = between(pairs, group, group).map(|p| p.points).sum();
        let said = if points == 1 {
            "1 comparison".to_owned()
        } else {
            format!("all {}", plural(points, "comparison"))
        };
        lines.push(VerdictLine {
            identical: true,
            within_noise: false,
            promised: between(pairs, group, group).any(|p| p.promised),
            verdict: worst_word(between(pairs, group, group)),
            subject: joined(group.iter().copied(), " = "),
            sides: [owned(group), owned(group)],
            sentence: format!("identical to the bit in {said}"),
        });
    }
    for (i, left) in groups.iter().enumerate() {
        for right in &groups[i + 1..] {
            if let Some(pair) = most_pixels(between(pairs, left, right)) {
                let mode = if pair.mode == "exact" { String::new() } else { format!(" ({})", pair.mode) };
                let sentence = pair.sentence(pixels);
                lines.push(VerdictLine {
                    identical: false,
                    within_noise: between(pairs, left, right)
                        .all(|p| p.is_identical() || p.is_within_noise()),
                    promised: between(pairs, left, right).any(|p| p.promised),
                    verdict: worst_word(between(pairs, left, right)),
                    subject: format!("{} : {}{mode}", left[0], right[0]),
                    sides: [owned(left), owned(right)],
                    sentence,
                });
            }
        }
    }
    lines
}

/// A line for each fast build and each group of identical targets that it was compared with, for which one of
/// them stands.
fn fast_lines(groups: &[Vec<&TargetId>], pairs: &[PairVerdict], pixels: u64) -> Vec<VerdictLine> {
    let mut seen: Vec<(String, &TargetId)> = Vec::new();
    let mut lines = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.mode != "exact") {
        let group_of = |target: &TargetId| groups.iter().find(|group| group.contains(&target));
        let alone = vec![&pair.a];
        let (group, fast) = match (group_of(&pair.a), group_of(&pair.b)) {
            (Some(group), _) => (group, &pair.b),
            (None, Some(group)) => (group, &pair.a),
            (None, None) => (&alone, &pair.b),
        };
        if seen.contains(&(joined(group.iter().copied(), " = "), fast)) {
            continue;
        }
        seen.push((joined(group.iter().copied(), " = "), fast));
        lines.push(VerdictLine {
            identical: pair.is_identical(),
            within_noise: pair.is_within_noise(),
            promised: pair.promised,
            verdict: worst_word(std::iter::once(pair)),
            subject: format!("{} : {fast}", joined(group.iter().copied(), " = ")),
            sides: [owned(group), owned(&[fast])],
            sentence: format!("promise no identity: {}", pair.sentence(pixels)),
        });
    }
    lines
}

/// The worst verdict on comparisons of these pairs.
fn worst_word<'p>(pairs: impl Iterator<Item = &'p PairVerdict>) -> String {
    let worst = pairs.filter_map(|pair| pair.worst_verdict.as_ref()).max_by_key(|d| severity(d));
    worst.map(|d| d.verdict.clone()).unwrap_or_default()
}

fn owned(targets: &[&TargetId]) -> Vec<TargetId> {
    targets.iter().copied().cloned().collect()
}

/// Names in a row, the last two joined by "and".
fn list(names: &[&TargetId]) -> String {
    match names {
        [] => String::new(),
        [only] => only.to_string(),
        [most @ .., last] => format!("{} and {last}", joined(most.iter().copied(), ", ")),
    }
}

fn pair_verdicts(study: &Study) -> Vec<PairVerdict> {
    let mut pairs: Vec<PairVerdict> = Vec::new();
    for d in &study.differences {
        let found = pairs.iter().position(|p| p.a == d.a && p.b == d.b && p.mode == d.mode.as_str());
        let index = found.unwrap_or_else(|| {
            pairs.push(PairVerdict {
                a: d.a.clone(),
                b: d.b.clone(),
                mode: d.mode.as_str().to_owned(),
                promised: promises(study, d),
                points: 0,
                identical: 0,
                first_difference: None,
                worst: None,
                worst_verdict: None,
            });
            pairs.len() - 1
        });
        let pair = &mut pairs[index];
        pair.points += 1;
        if severity(d) > pair.worst_verdict.as_ref().map_or(0, severity) {
            pair.worst_verdict = Some(d.clone());
        }
        if d.identical {
            pair.identical += 1;
            continue;
        }
        if pair.first_difference.is_none() {
            pair.first_difference = Some(d.clone());
        }
        if pair.worst.as_ref().is_none_or(|w| w.pixels_differing < d.pixels_differing) {
            pair.worst = Some(d.clone());
        }
    }
    pairs
}

/// Whether two targets promise identical films: exact ones of one integrator and way of sampling layers do. Records that
/// do not say are of such targets.
pub(crate) fn promises(study: &Study, d: &Difference) -> bool {
    let is_exact = |target: &TargetId| study.environment.target(target).is_none_or(|t| t.info.exact);
    let are_alike = d.a.is_alike(&d.b);
    d.mode == Mode::Exact && are_alike && is_exact(&d.a) && is_exact(&d.b)
}

/// [`severity`] where images cannot tell noise from bias.
const INCONCLUSIVE: u32 = 2;

/// [`severity`] where images cannot be compared.
const BROKEN: u32 = 4;

/// How bad the verdict on a comparison is; 0 where it is identical or has no verdict.
fn severity(d: &Difference) -> u32 {
    match d.verdict.as_str() {
        "within noise" => 1,
        "inconclusive" => INCONCLUSIVE,
        "biased" => 3,
        "broken" => BROKEN,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_that_was_stopped_says_so_first_until_it_is_at_its_end() {
        let headline = |of: &[Interruption]| {
            let notes = of.iter().map(|one| one.note().into()).collect();
            verdict(&Study::from_records(notes, Environment::default())).headline
        };
        let plain = headline(&[]);
        assert_eq!(headline(&[Interruption::Stopped]), format!("Stopped before its end. So far: {plain}"));
        let resumed = [Interruption::Stopped, Interruption::Resumed];
        assert_eq!(headline(&resumed), format!("Not yet at its end. So far: {plain}"));
        assert_eq!(headline(&[&resumed[..], &[Interruption::Finished]].concat()), plain);
    }
    use crate::records::{DeviceInfo, Environment, Errors, InvalidSamples, Mode, Record, RunFailure};

    fn difference(b: &str, spp: u32, pixels_differing: u64) -> Difference {
        Difference {
            scene: "s".into(),
            a: "x".into(),
            b: b.into(),
            spp,
            pixels_differing,
            errors: Errors { mse: pixels_differing as f64, ..Errors::default() },
            identical: pixels_differing == 0,
            ..Default::default()
        }
    }

    fn verdict_of(records: Vec<Record>) -> StudyVerdict {
        verdict(&Study::from_records(records, Environment::default()))
    }

    #[test]
    fn identical_everywhere_is_said_and_good() {
        let v = verdict_of(vec![difference("y", 1, 0).into(), difference("y", 2, 0).into()]);
        assert_eq!((v.headline.as_str(), v.good), ("x and y are identical to the bit", true));
        assert_eq!(v.pairs[0].sentence(0), "identical to the bit in all 2 comparisons");
    }

    #[test]
    fn the_first_and_the_worst_difference_are_named() {
        let v = verdict_of(
            [0, 1, 9].iter().zip([1, 2, 4]).map(|(&px, spp)| difference("y", spp, px).into()).collect(),
        );
        assert_eq!((v.headline.as_str(), v.good), ("x and y differ in up to 9 pixels", false));
        assert_eq!(
            v.pairs[0].sentence(100),
            "differ in at most 9 of 100 pixels, on s at 4 spp with an 8-bit MSE of 9.000; first on s at 2 spp (1 of 3 \
             comparisons identical)"
        );
    }

    #[test]
    fn samples_that_are_not_known_are_not_told() {
        let d =
            Difference { verdict: "biased".into(), reason: "A is darker".into(), ..difference("y", 0, 3) };
        let sentence = verdict_of(vec![d.into()]).pairs[0].sentence(0);
        assert_eq!(
            sentence,
            "differ in at most 3 pixels, on s with an 8-bit MSE of 3.000; biased on s: A is darker"
        );
    }

    #[test]
    fn the_worst_verdict_ends_the_sentence() {
        let with_verdict = |spp, verdict: &str| Difference {
            verdict: verdict.into(),
            reason: "A is darker".into(),
            ..difference("y", spp, 3)
        };
        let end = |records: Vec<Record>| verdict_of(records).pairs[0].sentence(0);
        assert!(end(vec![with_verdict(1, "within noise").into()]).ends_with("3.000; within noise"));
        let worst = end(vec![with_verdict(1, "within noise").into(), with_verdict(2, "biased").into()]);
        assert!(worst.ends_with("; biased on s at 2 spp: A is darker"), "{worst}");
    }

    #[test]
    fn a_fast_build_may_differ_and_refused_samples_may_not() {
        let fast = Difference { mode: Mode::Fast, ..difference("y", 1, 5) };
        let v = verdict_of(vec![fast.into(), difference("z", 1, 0).into()]);
        assert_eq!((v.headline.as_str(), v.good), ("x and z are identical to the bit; y differs", true));
        let refused = InvalidSamples { non_finite: 3, ..Default::default() };
        let v = verdict_of(vec![refused.into(), difference("y", 1, 0).into()]);
        assert_eq!((v.headline.as_str(), v.good), ("Broken: films refused 3 samples", false));
    }

    #[test]
    fn the_headline_counts_exact_targets_and_says_where_a_fast_build_parts() {
        use crate::records::{Divergence, QuantityDivergence};
        let fast =
            Difference { mode: Mode::Fast, verdict: "within noise".into(), ..difference("y+fast", 1, 5) };
        let quantity =
            QuantityDivergence { quantity: "camera ray".into(), differing: 3, ..Default::default() };
        let paths = Divergence {
            scene: "s".into(),
            a: "x".into(),
            b: "y+fast".into(),
            quantities: vec![quantity],
            ..Default::default()
        };
        let exact = |a: &str, b: &str| Record::from(Difference { a: a.into(), ..difference(b, 1, 0) });
        let all = || vec![exact("x", "y"), exact("x", "z"), exact("y", "z")];
        let headline = |more: Vec<Record>| verdict_of([all(), more].concat()).headline;
        assert_eq!(headline(Vec::new()), "All 3 targets are identical to the bit");
        let said = "3 exact targets are identical to the bit; y+fast differs within noise";
        assert_eq!(headline(vec![fast.clone().into()]), said);
        let said = format!("{said}, from the camera ray on");
        assert_eq!(headline(vec![fast.clone().into(), paths.into()]), said);
        let same = Difference { identical: true, ..fast };
        assert!(headline(vec![same.into()]).ends_with("; y+fast is identical to them"));
    }

    #[test]
    fn a_target_that_promises_no_identity_is_tested_against_noise() {
        let free = DeviceInfo { target: "y".into(), exact: false, ..DeviceInfo::default() };
        let verdict_of = |words: &str, pair: &str| {
            let records = vec![
                Difference { verdict: words.into(), ..difference(pair, 2, 9) }.into(),
                difference(pair, 4, 0).into(),
            ];
            let environment = Environment { targets: vec![free.clone().into()], ..Environment::default() };
            verdict(&Study::from_records(records, environment))
        };
        let v = verdict_of("within noise", "y");
        assert_eq!(
            (v.headline.as_str(), v.good, v.lines[0].within_noise),
            ("x and y agree within noise, differing in up to 9 pixels", true, true)
        );
        let v = verdict_of("biased", "y");
        assert_eq!(
            (v.headline.as_str(), v.good, v.lines[0].within_noise),
            ("x and y differ by more than noise, in up to 9 pixels", false, false)
        );
        let v = verdict_of("broken", "y");
        assert_eq!((v.headline.as_str(), v.good), ("Broken: x and y on s: ", false));
        let v = verdict_of("inconclusive", "y");
        assert_eq!(
            (v.headline.as_str(), v.good),
            ("x and y differ in up to 9 pixels, which these images cannot tell from noise", false)
        );
        let v = verdict_of("within noise", "z");
        assert_eq!((v.headline.as_str(), v.good), ("x and z differ in up to 9 pixels", false));
        assert!(!v.lines[0].within_noise, "identity was promised");
    }

    #[test]
    fn the_one_target_that_differs_from_all_others_is_named() {
        let free = |name: &str| DeviceInfo { target: name.into(), exact: false, ..DeviceInfo::default() };
        let with_verdict = |a: &str, b: &str, words: &str| {
            Record::from(Difference { a: a.into(), verdict: words.into(), ..difference(b, 2, 9) })
        };
        let targets = ["x", "y", "z"].map(|name| free(name).into()).to_vec();
        let headline_of = |records: Vec<Record>| {
            let environment = Environment { targets: targets.clone(), ..Environment::default() };
            verdict(&Study::from_records(records, environment)).headline
        };
        let with = |first: &str| {
            vec![
                with_verdict("x", "y", first),
                with_verdict("x", "z", "biased"),
                with_verdict("y", "z", "biased"),
            ]
        };
        assert_eq!(
            headline_of(with("within noise")),
            "z differs by more than noise from the other two targets, which agree, in up to 9 pixels"
        );
        for open in ["inconclusive", "biased"] {
            assert_eq!(
                headline_of(with(open)),
                "No two of 3 targets are identical; they differ by more than noise, in up to 9 pixels"
            );
        }
    }

    #[test]
    fn a_program_that_failed_is_named_and_nothing_is_good() {
        let failure = RunFailure { target: "p".into(), ..RunFailure::default() };
        let v = verdict_of(vec![difference("y", 1, 0).into(), failure.into()]);
        assert_eq!((v.headline.as_str(), v.good), ("x and y are identical to the bit; p failed", false));
    }

    #[test]
    fn films_that_differ_below_the_resolution_of_images_are_not_called_identical() {
        let v = verdict_of(vec![Difference { identical: false, ..difference("y", 1, 0) }.into()]);
        assert_eq!((v.headline.as_str(), v.good), ("x and y differ in their films only", false));
        assert_eq!(v.lines[0].sentence, "films differ in 1 of 1 comparison, images in none");
    }

    #[test]
    fn targets_that_agree_are_told_as_one() {
        let pair = |a: &str, b: &str, px| Record::from(Difference { a: a.into(), ..difference(b, 1, px) });
        let v = verdict_of(vec![
            pair("x", "e", 7),
            pair("x", "y", 0),
            pair("x", "z", 0),
            pair("e", "y", 7),
            pair("e", "z", 7),
            pair("y", "z", 0),
        ]);
        assert_eq!(v.headline, "3 of 4 targets are identical to the bit; e differs in up to 7 pixels");
        let lines: Vec<_> = v.lines.iter().map(|l| (l.identical, l.subject.as_str())).collect();
        assert_eq!(lines, [(true, "x = y = z"), (false, "x : e")]);
        assert_eq!(v.lines[0].sentence, "identical to the bit in all 3 comparisons");
    }

    #[test]
    fn a_study_without_comparisons_says_so() {
        assert_eq!(verdict_of(Vec::new()).headline, "Nothing was measured");
        assert!(!verdict_of(Vec::new()).good);
    }
}
