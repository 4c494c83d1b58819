//! Fast builds against the exact builds of the same targets.

use super::{Cell, Table};
use crate::records::{Mode, Speedup, Timing};
use crate::stages::{StageTimes, stage_times_of};
use crate::study::Study;
use lockstep_core::stage;

/// The speed of every fast build over that of the exact build of the same target, scene and seed, where both
/// reached the same level.
pub fn speedups(timings: &[Timing]) -> Vec<Speedup> {
    let times = stage_times_of(timings);
    let exact = |fast: &StageTimes| {
        let target = fast.target.in_mode(Mode::Exact);
        let same = |t: &&StageTimes| {
            t.target == target && (&t.scene, t.seed, t.spp) == (&fast.scene, fast.seed, fast.spp)
        };
        times.iter().find(same).filter(|_| fast.target.mode == Mode::Fast)
    };
    times.iter().filter_map(|fast| exact(fast).map(|exact| ratio(exact, fast))).collect()
}

fn ratio(exact: &StageTimes, fast: &StageTimes) -> Speedup {
    let over = |exact: f64, fast: f64| if fast > 0.0 { exact / fast } else { f64::NAN };
    let ratio_of = |name: &str| over(exact.ms(name).unwrap_or(0.0), fast.ms(name).unwrap_or(0.0));
    Speedup {
        scene: fast.scene.clone(),
        target: fast.target.clone(),
        exact: exact.target.clone(),
        spp: fast.spp,
        seed: fast.seed,
        repeats: fast.repeats.min(exact.repeats) as u32,
        generate: ratio_of(stage::GENERATE),
        extend: ratio_of(stage::EXTEND),
        shade: ratio_of(stage::SHADE),
        connect: ratio_of(stage::CONNECT),
        trace: over(exact.trace_ms, fast.trace_ms),
        total: over(exact.total_ms, fast.total_ms),
        mode: Mode::Fast,
    }
}

/// The cost of exactness: speed of fast builds over exact ones, by scene and target.
pub fn speedup_table(study: &Study) -> Table {
    let texts = ["Scene", "Fast build", "Exact build"];
    let numbers = ["spp", "Seed", "Repeats", "Generate", "Extend", "Shade", "Connect", "Trace", "Total"];
    let mut table = Table::new("speedup", "Speed of fast over exact builds", &texts, &numbers);
    table.notes.push(
        "Exact time over fast time, summed over the spp schedule; above 1 the fast build is faster. Fast builds may contract \
         and approximate, so their images are compared statistically."
            .to_owned(),
    );
    for s in speedups(&study.timings) {
        let mut row = vec![Cell::text(&s.scene), Cell::text(&s.target), Cell::text(&s.exact)];
        row.extend([u64::from(s.spp), s.seed, u64::from(s.repeats)].map(Cell::count));
        let ratios = [s.generate, s.extend, s.shade, s.connect, s.trace, s.total];
        row.extend(
            ratios.map(|r| if r.is_nan() { Cell::empty() } else { Cell::number(r, format!("{r:.2}")) }),
        );
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(target: &str, to: u32, shade_ms: f64) -> Timing {
        Timing {
            scene: "s".into(),
            target: target.into(),
            spp_to: to,
            shade_ms,
            total_ms: 2.0 * shade_ms,
            mode: crate::records::TargetId::from(target).mode,
            ..Default::default()
        }
    }

    #[test]
    fn each_fast_build_is_compared_with_its_own_exact_build() {
        let timings = [step("a", 4, 3.0), step("a+fast", 4, 2.0), step("b", 4, 9.0), step("c+fast", 4, 1.0)];
        let found = speedups(&timings);
        assert_eq!(found.len(), 1);
        assert_eq!([&found[0].target, &found[0].exact].map(ToString::to_string), ["a+fast", "a"]);
        assert_eq!((found[0].shade, found[0].total, found[0].repeats), (1.5, 1.5, 1));
        assert!(found[0].extend.is_nan());
    }

    #[test]
    fn schedules_of_unequal_height_are_not_compared() {
        assert!(speedups(&[step("a", 4, 3.0), step("a+fast", 2, 2.0)]).is_empty());
    }
}
