//! Rays by bounce and target: hits, terminations, shadow rays.

use super::{Cell, Column, Table};
use crate::format::count;
use crate::records::TargetId;
use crate::study::Study;

/// Rays of one bounce on one target, summed over the spp schedule.
struct Account<'a> {
    scene: &'a str,
    target: &'a TargetId,
    bounce: u32,
    counts: Counts,
    /// True where only extension and shadow rays were counted.
    partial: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    extension: u64,
    hits: u64,
    /// Paths that end at this bounce.
    terminated: u64,
    shadow: u64,
    unoccluded: u64,
}

impl Counts {
    fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("extension rays", self.extension),
            ("hits", self.hits),
            ("terminated", self.terminated),
            ("shadow rays", self.shadow),
            ("unoccluded", self.unoccluded),
        ]
    }

    /// Differences from another target's counts, such as `hits +3`; empty when there are none.
    fn against(&self, other: &Self) -> String {
        let pairs = self.named().into_iter().zip(other.named());
        let differing = pairs.filter(|((_, a), (_, b))| a != b).map(|((name, a), (_, b))| {
            let sign = if a > b { '+' } else { '−' };
            format!("{name} {sign}{}", count(a.abs_diff(b)))
        });
        differing.collect::<Vec<_>>().join(", ")
    }
}

/// Rays, hits, ends and shadow rays of every bounce, all targets of a bounce one below the other, with what
/// differs from the first of them.
pub fn bounce_table(study: &Study) -> Table {
    let numbers = ["Bounce", "Extension rays", "Hits", "Terminated", "Shadow rays", "Unoccluded"];
    let mut table = Table::new("bounces", "Rays by bounce", &["Scene", "Target"], &numbers).noted(
        "Summed over the spp schedule under the first seed; bounce 0 is the camera rays. A path is terminated at a bounce when \
         it has no ray to the next. The last column compares with the first target of the bounce: under equal seeds exact \
         targets have equal counts, and where a divergence begins, it shows here first.",
    );
    table.columns.push(Column { title: "Against the first".to_owned(), numeric: false });
    let mut accounts = accounts(study);
    terminate(&mut accounts);
    let has_unoccluded = study.bounces.iter().any(|b| b.unoccluded > 0);
    accounts.sort_by_key(|a| (study.scenes().iter().position(|s| *s == a.scene), a.bounce));
    for account in &accounts {
        let same_bounce = |a: &&Account<'_>| (a.scene, a.bounce) == (account.scene, account.bounce);
        let first = accounts.iter().find(same_bounce).unwrap_or(account);
        let c = &account.counts;
        let known = |value: u64| if account.partial { Cell::empty() } else { Cell::count(value) };
        table.rows.push(vec![
            Cell::text(account.scene),
            Cell::text(account.target),
            Cell::count(u64::from(account.bounce)),
            Cell::count(c.extension),
            known(c.hits),
            Cell::count(c.terminated),
            Cell::count(c.shadow),
            if has_unoccluded { Cell::count(c.unoccluded) } else { Cell::empty() },
            verdict(account, first),
        ]);
    }
    table
}

fn verdict(account: &Account<'_>, first: &Account<'_>) -> Cell {
    if account.target == first.target {
        return Cell::empty();
    }
    let differing = account.counts.against(&first.counts);
    if differing.is_empty() { Cell::flag(true, "=") } else { Cell::flag(false, differing) }
}

/// Sums by scene, target and bounce, from bounce records where there are any, else from the timings.
fn accounts(study: &Study) -> Vec<Account<'_>> {
    let mut accounts: Vec<Account<'_>> = Vec::new();
    let mut add = |scene, target, bounce, new: Counts, partial| {
        let same = |a: &&mut Account<'_>| (a.scene, a.target, a.bounce) == (scene, target, bounce);
        match accounts.iter_mut().find(same) {
            Some(account) => {
                let sum = &mut account.counts;
                sum.extension = sum.extension.saturating_add(new.extension);
                sum.hits = sum.hits.saturating_add(new.hits);
                sum.shadow = sum.shadow.saturating_add(new.shadow);
                sum.unoccluded = sum.unoccluded.saturating_add(new.unoccluded);
            }
            None => accounts.push(Account { scene, target, bounce, counts: new, partial }),
        }
    };
    for b in &study.bounces {
        let (extension, hits, shadow, unoccluded) = (b.extension_rays, b.hits, b.shadow_rays, b.unoccluded);
        let counts = Counts { extension, hits, shadow, unoccluded, terminated: 0 };
        add(b.scene.as_str(), &b.target, b.bounce, counts, false);
    }
    if study.bounces.is_empty() {
        for t in study.timings.iter().filter(|t| t.repeat == 0) {
            for (bounce, &extension) in t.extension_rays_by_bounce.iter().enumerate() {
                let shadow = t.shadow_rays_by_bounce.get(bounce).copied().unwrap_or(0);
                let counts = Counts { extension, shadow, ..Counts::default() };
                add(&t.scene, &t.target, bounce as u32, counts, true);
            }
        }
    }
    accounts
}

/// Fills in how many paths end at each bounce: those without a ray to the next.
fn terminate(accounts: &mut [Account<'_>]) {
    for i in 0..accounts.len() {
        let this = &accounts[i];
        let next = this.bounce.checked_add(1).map(|bounce| (this.scene, this.target, bounce));
        let next = accounts.iter().find(|a| Some((a.scene, a.target, a.bounce)) == next);
        let next = next.map_or(0, |a| a.counts.extension);
        accounts[i].counts.terminated = this.counts.extension.saturating_sub(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Bounce, Environment};

    fn bounce(target: &str, bounce: u32, extension_rays: u64, unoccluded: u64) -> crate::records::Record {
        let scene = "cornell".into();
        let target = target.into();
        Bounce { scene, target, bounce, extension_rays, unoccluded, hits: 50, ..Bounce::default() }.into()
    }

    #[test]
    fn a_divergence_that_starts_at_the_second_bounce_is_marked_there() {
        let records = vec![
            bounce("a", 0, 100, 30),
            bounce("a", 1, 60, 20),
            bounce("b", 0, 100, 30),
            bounce("b", 1, 60, 17),
        ];
        let table = bounce_table(&Study::from_records(records, Environment::default()));
        let shown: Vec<String> = table
            .rows
            .iter()
            .map(|r| r.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(shown[0], "cornell a 0 100 50 40 0 30 ");
        assert_eq!(shown[1], "cornell b 0 100 50 40 0 30 =");
        assert_eq!(shown[3], "cornell b 1 60 50 60 0 17 unoccluded −3");
    }
}
