//! Animations: the pose of every node at one time.
//!
//! As in Khronos' sample viewer, as many animations as possible play at once: each, in the order of the file, that
//! moves nothing which an earlier one moves.

use super::Source;
use super::accessors::{self, Accessor, Component};
use super::json::Item;
use super::transforms::{slerp, unit};
use crate::suggest;
use crate::warning::Warnings;
use lockstep_core::Result;
use std::collections::{HashMap, HashSet};

/// The properties of a node that animations replace.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodePose {
    pub(super) translation: Option<[f64; 3]>,
    /// A unit quaternion.
    pub(super) rotation: Option<[f64; 4]>,
    pub(super) scale: Option<[f64; 3]>,
    /// Weights of morph targets.
    pub(super) weights: Option<Vec<f64>>,
}

/// The poses of the nodes that move.
pub(super) type Poses = HashMap<usize, NodePose>;

/// Samples the animation of this name or index, or all that get along, at a time in seconds.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] for a name that no animation has, and keys that cannot be read.
pub(super) fn sample(
    source: &Source<'_>,
    wanted: Option<&str>,
    seconds: f64,
    warnings: &mut Warnings,
) -> Result<Poses> {
    let all = source.root.items("animations");
    let chosen = match wanted {
        Some(wanted) => vec![named(&all, wanted, warnings)?],
        None => compatible(&all, warnings),
    };
    let mut poses = Poses::new();
    for animation in chosen {
        for channel in channels(animation) {
            let sampler = channel.item.index("sampler").and_then(|i| animation.item("samplers", i));
            let Some(sampler) = sampler else {
                return Err(warnings.error(channel.item.pointer("sampler"), "there is no such sampler"));
            };
            let pose = poses.entry(channel.node).or_default();
            let at = channel.item.pointer("sampler");
            let Some(keys) = Keys::open(&sampler, channel.path, source, &at, warnings)? else { continue };
            set(pose, channel.path, &keys, seconds);
        }
    }
    Ok(poses)
}

/// The animation of this name, else of this index.
fn named<'a, 'b>(all: &'b [Item<'a>], wanted: &str, warnings: &Warnings) -> Result<&'b Item<'a>> {
    let by_name = all.iter().find(|animation| animation.name() == Some(wanted));
    let by_index = || wanted.parse::<usize>().ok().and_then(|i| all.get(i));
    by_name.or_else(by_index).ok_or_else(|| {
        let names = all.iter().filter_map(Item::name);
        let message = format!("there is no animation `{wanted}`; the file's are {}", suggest::list(names));
        warnings.error("/animations", message)
    })
}

/// The animations that play together; the others are named in a warning.
fn compatible<'a, 'b>(all: &'b [Item<'a>], warnings: &mut Warnings) -> Vec<&'b Item<'a>> {
    let mut moved: HashSet<(usize, &str)> = HashSet::new();
    let mut out = Vec::new();
    for animation in all {
        let own: HashSet<(usize, &str)> = channels(animation).map(|c| (c.node, c.path)).collect();
        if moved.is_disjoint(&own) {
            moved.extend(own);
            out.push(animation);
        } else {
            let message =
                "it moves what an earlier animation moves, and is not played; `--animation NAME` chooses";
            warnings.add(&animation.at, message);
        }
    }
    out
}

/// A channel with a target.
struct Channel<'a> {
    item: Item<'a>,
    node: usize,
    path: &'a str,
}

/// The channels of an animation that move a node.
fn channels<'a>(animation: &Item<'a>) -> impl Iterator<Item = Channel<'a>> + use<'a> {
    animation.items("channels").into_iter().filter_map(|item| {
        let target = item.get("target")?;
        let path = target.text("path").filter(|p| *p != "pointer")?;
        Some(Channel { node: target.index("node")?, path, item })
    })
}

/// Sets one property of a pose.
fn set(pose: &mut NodePose, path: &str, keys: &Keys, seconds: f64) {
    let three = |values: &[f64]| [values[0], values[1], values[2]];
    match path {
        "translation" => pose.translation = Some(three(&keys.at(seconds, mix))),
        "scale" => pose.scale = Some(three(&keys.at(seconds, mix))),
        "weights" => pose.weights = Some(keys.at(seconds, mix)),
        "rotation" => {
            let four = |values: &[f64]| unit([values[0], values[1], values[2], values[3]]);
            let turn = |a: &[f64], b: &[f64], t: f64| {
                four(a).zip(four(b)).map_or_else(|| a.to_vec(), |(a, b)| slerp(a, b, t).to_vec())
            };
            pose.rotation = four(&keys.at(seconds, turn));
        }
        _ => {}
    }
}

/// Linear interpolation of each component.
fn mix(a: &[f64], b: &[f64], t: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * (1.0 - t) + b * t).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interpolation {
    Step,
    Linear,
    Cubic,
}

/// The keys of a sampler.
struct Keys {
    interpolation: Interpolation,
    times: Vec<f64>,
    /// For each time one value; with cubic interpolation its incoming tangent, itself and its outgoing tangent.
    values: Vec<f64>,
    /// Components of a value.
    width: usize,
}

impl Keys {
    /// The keys of a property; nothing, with a warning, where the times do not increase. `at` is the channel's pointer.
    fn open(
        sampler: &Item<'_>,
        path: &str,
        source: &Source<'_>,
        at: &str,
        warnings: &mut Warnings,
    ) -> Result<Option<Self>> {
        let interpolation = match sampler.text("interpolation") {
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::Cubic,
            _ => Interpolation::Linear,
        };
        let used = ["input", "output"].into_iter().filter_map(|key| sampler.index(key));
        let mut views = used.flat_map(|accessor| accessors::views(&source.root, accessor));
        if views.any(|view| source.buffers.is_unspecified(&source.root, view)) {
            warnings.add(&sampler.at, "its buffer has no data; the channel is not played");
            return Ok(None);
        }
        let mut open = |key: &str| {
            let index = sampler.index(key).unwrap_or(usize::MAX);
            Accessor::open(&source.root, &source.buffers, index, warnings)
        };
        let (input, output) = (open("input")?, open("output")?);
        let components = match path {
            "rotation" => 4,
            "weights" => 1,
            _ => 3,
        };
        let is_normalized = output.normalized && matches!(path, "rotation" | "weights");
        if input.width() != 1 || input.component != Component::F32 {
            return Err(warnings.error(sampler.pointer("input"), "times are floats"));
        }
        if output.width() != components || (output.component != Component::F32 && !is_normalized) {
            return Err(warnings.error(at, format!("the keys have a format that {path} cannot have")));
        }
        let times: Vec<f64> = (0..input.count).map(|i| f64::from(input.vector::<1>(i)[0])).collect();
        let of_each = if interpolation == Interpolation::Cubic { 3 * times.len() } else { times.len() };
        let elements = output.count.checked_div(of_each).unwrap_or(0);
        let is_one = path == "weights" || elements == 1;
        if elements == 0 || !is_one || elements * of_each != output.count {
            let message = format!("{} values do not belong to {} times", output.count, times.len());
            return Err(warnings.error(at, message));
        }
        let value = |i: usize| output.vector::<4>(i).into_iter().take(components).map(f64::from);
        let values: Vec<f64> = (0..output.count).flat_map(value).collect();
        if !values.iter().chain(&times).all(|v| v.is_finite()) {
            return Err(warnings.error(at, "a key is not finite"));
        }
        let keys = Self { interpolation, times, values, width: elements * components };
        if path == "rotation" && !keys.are_unit_quaternions() {
            warnings.add(at, "some rotations are not of unit length; they were scaled to it");
        }
        if keys.times.windows(2).any(|w| w[0] >= w[1]) {
            warnings.add(sampler.pointer("input"), "the times do not increase; the channel is not played");
            return Ok(None);
        }
        Ok(Some(keys))
    }

    fn are_unit_quaternions(&self) -> bool {
        let length2 = |key: usize| self.value(key).iter().map(|v| v * v).sum::<f64>();
        (0..self.times.len()).all(|key| (length2(key) - 1.0).abs() <= 2e-3)
    }

    /// The value at a time; that of the first or last key before and after all.
    fn at(&self, seconds: f64, between: impl Fn(&[f64], &[f64], f64) -> Vec<f64>) -> Vec<f64> {
        let next = self.times.partition_point(|t| *t <= seconds);
        let last = self.times.len() - 1;
        if next == 0 || next > last || self.interpolation == Interpolation::Step {
            return self.value(next.saturating_sub(1).min(last)).to_vec();
        }
        let (before, after) = (self.times[next - 1], self.times[next]);
        let t = (seconds - before) / (after - before);
        match self.interpolation {
            Interpolation::Cubic => self.cubic(next - 1, t, after - before),
            _ => between(self.value(next - 1), self.value(next), t),
        }
    }

    /// The value of a key.
    fn value(&self, key: usize) -> &[f64] {
        if self.interpolation == Interpolation::Cubic { self.part(3 * key + 1) } else { self.part(key) }
    }

    fn part(&self, index: usize) -> &[f64] {
        &self.values[index * self.width..(index + 1) * self.width]
    }

    /// The Hermite spline between a key and the next.
    fn cubic(&self, key: usize, t: f64, duration: f64) -> Vec<f64> {
        let (t2, t3) = (t * t, t * t * t);
        let weights = [
            2.0 * t3 - 3.0 * t2 + 1.0,
            duration * (t3 - 2.0 * t2 + t),
            3.0 * t2 - 2.0 * t3,
            duration * (t3 - t2),
        ];
        let parts = [3 * key + 1, 3 * key + 2, 3 * key + 4, 3 * key + 3].map(|i| self.part(i));
        (0..self.width).map(|i| parts.iter().zip(weights).map(|(part, w)| part[i] * w).sum()).collect()
    }
}

/// The weights of an array property.
pub(super) fn weights(item: &Item<'_>) -> Option<Vec<f64>> {
    let list = item.value.get("weights")?.as_array()?;
    Some(list.iter().map(|v| v.as_f64().unwrap_or(0.0)).collect())
}
