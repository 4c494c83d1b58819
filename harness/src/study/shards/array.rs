//! Which shard a process renders: from the command line, or from the variables of an array job.
//!
//! Shards count from 1. Engines differ: Slurm's array may begin anywhere and have a step, SGE's begins at 1, Kubernetes'
//! at 0, and only some tell how many tasks there are. A resubmission of a few tasks looks like a smaller array, so the
//! folder remembers how the study was shared out first ([`Array`]).

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// A shard as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// `I/N`: shard I of N, from 1.
    Of(Shard),
    /// `auto` or `auto/N`: the task of an array job, of N shards.
    Auto(Option<u32>),
}

/// A shard: its number from 1, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// The number, from 1.
    pub(crate) number: u32,
    /// Number of shards.
    pub(crate) count: u32,
}

/// The most shards of a study.
const MOST: u32 = 1_000_000;

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("it must be I/N with 1 <= I <= N <= {MOST}, as in 3/8, or auto, or auto/N");
        if text == "auto" {
            return Ok(Self::Auto(None));
        }
        let (first, count) = text.split_once('/').ok_or_else(wrong)?;
        let count = count.parse().ok().filter(|count| (1..=MOST).contains(count)).ok_or_else(wrong)?;
        if first == "auto" {
            return Ok(Self::Auto(Some(count)));
        }
        match first.parse() {
            Ok(0) => Err(format!(
                "shards count from 1: the first of {count} is 1/{count}, the last {count}/{count}"
            )),
            Ok(number) if number <= count => Ok(Self::Of(Shard { number, count })),
            _ => Err(wrong()),
        }
    }
}

/// How the tasks of an array job stand for shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Array {
    /// How many shards there are.
    pub(crate) shards: u32,
    /// Task number of the first shard.
    pub(crate) first: u32,
    /// Step from one shard's task number to the next.
    pub(crate) step: u32,
}

impl Array {
    /// Tasks 1 to N, as the command line counts.
    fn from_one(shards: u32) -> Self {
        Self { shards, first: 1, step: 1 }
    }

    /// Whether there are shards, not too many, and a number for every task.
    pub(crate) fn is_sound(self) -> bool {
        let last = u64::from(self.first) + u64::from(self.shards.saturating_sub(1)) * u64::from(self.step);
        (1..=MOST).contains(&self.shards) && self.step > 0 && last <= u64::from(u32::MAX)
    }

    fn shard(self, task: u32) -> Option<Shard> {
        let after = task.checked_sub(self.first)?;
        let before = after / self.step.max(1);
        (after % self.step.max(1) == 0 && before < self.shards)
            .then_some(Shard { number: before + 1, count: self.shards })
    }

    /// The tasks of some shards of a sound array, as Slurm takes them: `3,7-9`.
    pub(crate) fn tasks(self, shards: &[u32]) -> String {
        let tasks: Vec<u32> = shards.iter().map(|number| self.first + (number - 1) * self.step).collect();
        let runs = tasks.chunk_by(|a, b| a + 1 == *b);
        let run = |run: &[u32]| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        };
        runs.map(run).collect::<Vec<_>>().join(",")
    }
}

/// A task of an array job.
struct Task {
    /// The variable that numbers it.
    variable: &'static str,
    number: u32,
    /// The array, where the engine tells it.
    array: Option<Array>,
    /// The first task where the engine leaves no choice.
    from: Option<u32>,
}

/// The shard that the command line names, and how tasks stand for shards; `known` is what the folder remembers.
///
/// # Errors
/// [`Failure::Usage`] where there is no array job, or it does not tell enough.
pub(crate) fn resolve(
    share: Share,
    known: Option<Array>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Shard, Array), Failure> {
    let asked = match share {
        Share::Of(shard) => {
            let array = known.filter(|known| known.shards == shard.count);
            return Ok((shard, array.unwrap_or(Array::from_one(shard.count))));
        }
        Share::Auto(asked) => asked,
    };
    let Some(task) = task(variable)? else {
        return Err(Failure::Usage(
            "--shard auto needs an array job of Slurm, PBS, SGE or Kubernetes, and none of their variables is set; \
             name the shard, as in --shard 3/8"
                .into(),
        ));
    };
    let known = known.filter(|known| asked.is_none_or(|count| count == known.shards));
    let told = match (task.array, asked) {
        (Some(array), Some(count)) if array.shards != count => None,
        (Some(array), _) => Some(array),
        (None, Some(shards)) => Some(Array { shards, first: task.from.unwrap_or(1), step: 1 }),
        (None, None) => None,
    };
    let found = known.into_iter().chain(told).find_map(|array| Some((array.shard(task.number)?, array)));
    found.ok_or_else(|| {
        let shared = known.map_or_else(String::new, |known| {
            let Array { shards, first, step } = known;
            format!(", and the folder is shared out over {shards} shards, tasks {first} and on by {step}")
        });
        Failure::Usage(format!(
            "{} is {}, which does not tell which shard of how many this is{shared}; name it, as in --shard 3/8, or give \
             their number, as in --shard auto/8",
            task.variable, task.number
        ))
    })
}

/// The task of an array job that this process is.
fn task(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Task>, Failure> {
    let number = |name: &'static str| -> Result<Option<u32>, Failure> {
        // SGE says `undefined` outside array jobs.
        match variable(name).filter(|text| !text.is_empty() && text != "undefined") {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| {
                Failure::Usage(format!(
                    "{name} is {text:?}, not a whole number; name the shard, as in --shard 3/8"
                ))
            }),
        }
    };
    // An array with gaps is a resubmission, whose first and last tasks say nothing.
    let whole = |first: Option<u32>, last: Option<u32>, step: Option<u32>, count: Option<u32>| {
        let (first, step) = (first?, step.unwrap_or(1).max(1));
        let shards = (last?.checked_sub(first)? / step).checked_add(1)?;
        let array = Array { shards, first, step };
        (count.is_none_or(|count| count == shards) && array.is_sound()).then_some(array)
    };
    if let Some(task) = number("SLURM_ARRAY_TASK_ID")? {
        let array = whole(
            number("SLURM_ARRAY_TASK_MIN")?,
            number("SLURM_ARRAY_TASK_MAX")?,
            number("SLURM_ARRAY_TASK_STEP")?,
            number("SLURM_ARRAY_TASK_COUNT")?,
        );
        return Ok(Some(Task { variable: "SLURM_ARRAY_TASK_ID", number: task, array, from: None }));
    }
    for variable in ["PBS_ARRAY_INDEX", "PBS_ARRAYID"] {
        if let Some(task) = number(variable)? {
            return Ok(Some(Task { variable, number: task, array: None, from: Some(1) }));
        }
    }
    if let Some(task) = number("SGE_TASK_ID")? {
        let (first, last) = (number("SGE_TASK_FIRST")?, number("SGE_TASK_LAST")?);
        let array = whole(first, last, number("SGE_TASK_STEPSIZE")?, None);
        return Ok(Some(Task { variable: "SGE_TASK_ID", number: task, array, from: Some(1) }));
    }
    let task = number("JOB_COMPLETION_INDEX")?;
    Ok(task.map(|number| Task { variable: "JOB_COMPLETION_INDEX", number, array: None, from: Some(0) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(share: &str, known: Option<Array>, variables: &[(&str, &str)]) -> Result<(u32, u32), String> {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let found = resolve(share.parse()?, known, &variable).map_err(|failure| failure.to_string())?;
        Ok((found.0.number, found.0.count))
    }

    fn slurm<'a>(
        id: &'a str,
        min: &'a str,
        max: &'a str,
        step: &'a str,
        count: &'a str,
    ) -> [(&'a str, &'a str); 5] {
        [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_MIN", min),
            ("SLURM_ARRAY_TASK_MAX", max),
            ("SLURM_ARRAY_TASK_STEP", step),
            ("SLURM_ARRAY_TASK_COUNT", count),
        ]
    }

    #[test]
    fn shards_on_the_command_line_count_from_one() {
        assert_eq!(shard("3/8", None, &[]), Ok((3, 8)));
        assert!(shard("0/8", None, &[]).unwrap_err().contains("1/8"));
        for wrong in ["9/8", "8", "a/8", "3/0", "-1/8", "auto/0", "auto/x", "", "3/9999999"] {
            assert!(shard(wrong, None, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_engine_numbers_its_tasks_in_its_own_way() {
        assert_eq!(shard("auto", None, &slurm("0", "0", "7", "1", "8")), Ok((1, 8)));
        assert_eq!(shard("auto", None, &slurm("8", "1", "8", "1", "8")), Ok((8, 8)));
        assert_eq!(shard("auto", None, &slurm("14", "10", "16", "2", "4")), Ok((3, 4)));
        let sge = [
            ("SGE_TASK_ID", "5"),
            ("SGE_TASK_FIRST", "1"),
            ("SGE_TASK_LAST", "9"),
            ("SGE_TASK_STEPSIZE", "4"),
        ];
        assert_eq!(shard("auto", None, &sge), Ok((2, 3)));
        assert_eq!(shard("auto/8", None, &[("JOB_COMPLETION_INDEX", "0")]), Ok((1, 8)));
        assert_eq!(shard("auto/8", None, &[("PBS_ARRAY_INDEX", "8")]), Ok((8, 8)));
        assert_eq!(shard("auto/8", None, &[("PBS_ARRAYID", "1")]), Ok((1, 8)));
    }

    #[test]
    fn a_task_that_does_not_tell_its_shard_is_refused_with_a_remedy() {
        let outside = [("SGE_TASK_ID", "undefined")];
        for variables in [&[][..], &outside] {
            assert!(shard("auto", None, variables).unwrap_err().contains("none of their variables"));
        }
        for (share, variables) in [
            ("auto", vec![("JOB_COMPLETION_INDEX", "0")]),
            ("auto", vec![("PBS_ARRAY_INDEX", "3")]),
            ("auto/8", vec![("PBS_ARRAY_INDEX", "0")]),
            ("auto/8", vec![("JOB_COMPLETION_INDEX", "8")]),
            // 3,7-9 of some array: six of seven tasks are missing.
            ("auto", slurm("3", "3", "9", "1", "4").to_vec()),
        ] {
            let message = shard(share, None, &variables).unwrap_err();
            assert!(message.contains("--shard 3/8") && message.contains(variables[0].0), "{message}");
        }
        assert!(shard("auto", None, &[("SLURM_ARRAY_TASK_ID", "x")]).unwrap_err().contains("whole number"));
    }

    #[test]
    fn a_resubmission_of_some_tasks_is_of_the_shards_that_the_folder_remembers() {
        let known = Some(Array { shards: 8, first: 0, step: 1 });
        assert_eq!(shard("auto", known, &slurm("7", "3", "7", "1", "3")), Ok((8, 8)));
        assert_eq!(shard("auto", known, &slurm("6", "6", "7", "1", "2")), Ok((7, 8)), "no array of two");
        assert_eq!(shard("auto/4", known, &slurm("3", "0", "3", "1", "4")), Ok((4, 4)), "shared out anew");
        assert!(shard("auto", known, &slurm("9", "8", "9", "1", "2")).is_ok(), "a new array elsewhere");
    }

    #[test]
    fn missing_tasks_are_a_line_for_slurm() {
        let array = Array { shards: 9, first: 1, step: 1 };
        assert_eq!(array.tasks(&[3, 7, 8, 9]), "3,7-9");
        assert_eq!(Array { shards: 9, first: 0, step: 1 }.tasks(&[1, 2]), "0-1");
        assert_eq!(Array { shards: 9, first: 10, step: 5 }.tasks(&[1, 2]), "10,15");
    }
}
