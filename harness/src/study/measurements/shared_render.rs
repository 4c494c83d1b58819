//! `study --together`: several targets on one image by every schedule, and each of them alone.
//!
//! One group of workers holds the scene, and its parts take turns: pass `i` renders the same samples into an empty film
//! by each target alone, by the first once more (A/A), and by all under every schedule. Films must be equal.

use std::ops::ControlFlow;

use lockstep_core::{Renderer, Scene, Settings};
use lockstep_reports::records::{AA_CONTROL, ALONE, Lease, Record, Sharing};
use lockstep_reports::statistics::timing::LEAST_ROUNDS;
use lockstep_together::{Ended, SampleSet, Schedule, Timeline, Together};

use crate::backends::Target;
use crate::cli::{StudyArgs, TargetList};
use crate::exit::Failure;
use crate::interrupt;
use crate::render::read_film;
use crate::study::film_hash;
use crate::study::lab::{Lab, remark};
use crate::study::runner::{Key, Measurement};
use crate::together;

/// Targets that render together, and the schedules to compare.
#[derive(Clone)]
pub(crate) struct Group {
    /// The name, as in `together(cuda@0,cpu-bvh)`.
    pub(crate) name: String,
    targets: Vec<Target>,
    schedules: Vec<Schedule>,
}

impl Group {
    /// The groups that the command line names.
    ///
    /// # Errors
    /// [`Failure`] for targets that cannot take part.
    pub(crate) fn of(args: &StudyArgs) -> Result<Vec<Self>, Failure> {
        let all = Schedule::ALL.to_vec();
        let schedules = if args.schedules.is_empty() { all } else { args.schedules.clone() };
        let group = |words: &TargetList| {
            let targets = together::select(&words.0)?;
            Ok(Self { name: together::name_of(&targets), targets, schedules: schedules.clone() })
        };
        args.scheduled().iter().map(group).collect()
    }
}

/// One row of the table: who renders, and how.
struct Row {
    schedule: Schedule,
    label: String,
    /// Places in the group's list of targets.
    active: Vec<usize>,
}

/// Passes of one group of targets on one scene, timed in rounds.
pub(crate) struct SharedRender<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The group.
    pub(crate) group: Group,
}

impl Measurement for SharedRender<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        self.rows().iter().map(|row| Key::of(self.key(lab, row))).collect()
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        lab.close();
        let plan = lab.plan;
        let group = &self.group;
        let mut together =
            together::group(&group.name, &group.targets, plan.options.threads, together::comparing())?;
        let settings = Settings { mode: lockstep_core::Mode::Exact, ..plan.settings };
        lab.bar.say(&format!("{}: taking the scene to {}", self.scene.name, group.name));
        together.load(self.scene, &settings)?;
        let rows = self.rows();
        let mut records: Vec<Sharing> = rows.iter().map(|row| self.key(lab, row)).collect();
        let rounds = plan.repeats.max(LEAST_ROUNDS as u32);
        let spp = plan.schedule.top();
        lab.bar.say(&format!("{} on {}", self.scene.name, group.name));
        lab.bar.lengthen(u64::from(rounds) * u64::from(spp) * rows.len() as u64);
        let mut hash = None;
        // A first pass of all wakes threads, caches and clocks, and is not timed.
        let everyone = Row {
            schedule: Schedule::Guided,
            label: String::new(),
            active: (0..group.targets.len()).collect(),
        };
        if pass(&mut together, &everyone, spp.min(16), lab)?.is_none() {
            return Ok(ControlFlow::Break(()));
        }
        for _ in 0..rounds {
            for (row, record) in rows.iter().zip(&mut records) {
                let Some(timeline) = pass(&mut together, row, spp, lab)? else {
                    return Ok(ControlFlow::Break(()));
                };
                let film = read_film(&mut together)?;
                let own = film_hash(&film);
                record.identical &= *hash.get_or_insert_with(|| own.clone()) == own;
                record.samples = film.sums.len() as u64 * u64::from(spp);
                add(record, &timeline);
            }
        }
        let mut results: Vec<Record> = records.into_iter().map(Into::into).collect();
        for note in together.take_notes() {
            results.push(remark(&format!("{}: {}: {}", group.name, note.target, note.text)));
        }
        Ok(ControlFlow::Continue(results))
    }
}

/// Renders one pass into an empty film; nothing if the user stopped it.
fn pass(together: &mut Together, row: &Row, spp: u32, lab: &Lab<'_>) -> Result<Option<Timeline>, Failure> {
    together.clear()?;
    together.set_schedule(row.schedule);
    together.set_active(Some(row.active.clone()));
    let ended = together.render(&SampleSet::from(0..spp), &mut |progress| {
        lab.bar.add(progress.map_or(0, |progress| u64::from(progress.samples)));
        !interrupt::requested()
    })?;
    Ok(match ended {
        Ended::Done(_) => Some(together.timeline().clone()),
        Ended::Stopped => None,
    })
}

/// Adds a pass to its record.
fn add(record: &mut Sharing, timeline: &Timeline) {
    record.times_ms.push(timeline.seconds * 1e3);
    let busy: f64 = timeline.intervals.iter().map(|i| i.end - i.start).sum();
    record.idle.push((1.0 - busy / timeline.seconds / record.targets.len() as f64).max(0.0));
    record.wasted_spp.push(timeline.wasted());
    record.leases = timeline
        .intervals
        .iter()
        .map(|i| Lease {
            target: i.target.as_str().into(),
            start_ms: i.start * 1e3,
            end_ms: i.end * 1e3,
            spp: i.samples.end - i.samples.start,
            outcome: i.outcome.as_str().to_owned(),
            backup: i.backup,
        })
        .collect();
}

impl SharedRender<'_> {
    /// Each target alone, the first again, and all by every schedule.
    fn rows(&self) -> Vec<Row> {
        let schedule = Schedule::default();
        let count = self.group.targets.len();
        let alone = (0..count).map(|i| Row { schedule, label: ALONE.to_owned(), active: vec![i] });
        let aa_control = Row { schedule, label: AA_CONTROL.to_owned(), active: vec![0] };
        let all = self.group.schedules.iter().map(|&schedule| Row {
            schedule,
            label: schedule.to_string(),
            active: (0..count).collect(),
        });
        alone.chain([aa_control]).chain(all).collect()
    }

    fn key(&self, lab: &Lab<'_>, row: &Row) -> Sharing {
        let labels = together::labels(&self.group.targets);
        Sharing {
            scene: self.scene.name.clone(),
            group: self.group.name.as_str().into(),
            targets: row.active.iter().map(|&i| labels[i].as_str().into()).collect(),
            schedule: row.label.clone(),
            seed: u64::from(lab.plan.settings.seed),
            spp: lab.plan.schedule.top(),
            identical: true,
            ..Sharing::default()
        }
    }
}
