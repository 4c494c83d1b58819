//! Measurements, and the one runner that makes those of them that are not recorded.

use std::ops::ControlFlow;

use lockstep_reports::records::Record;

pub(crate) use super::key::Key;
use super::lab::Lab;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Bar;

/// Something to measure, the unit of resuming: its records are written together, once it is through.
pub(crate) trait Measurement {
    /// The results that it leaves in the folder, given the targets known to render its scene. It is done when
    /// all are there.
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key>;

    /// Samples of every pixel that it renders, over all targets, for the progress bar.
    fn samples(&self, lab: &Lab<'_>) -> u64 {
        let _ = lab;
        0
    }

    /// Takes the scene to the targets. Some may turn out not to render it, so [`Measurement::keys`] is asked
    /// again afterwards. Breaks where the user stops it.
    ///
    /// # Errors
    /// [`Failure`] of renderers and files.
    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        let _ = lab;
        Ok(ControlFlow::Continue(()))
    }

    /// Measures. Files are written here, before the records that are about them. Breaks where the user stops
    /// it.
    ///
    /// # Errors
    /// [`Failure`] of renderers and files.
    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure>;
}

/// Measurements in their order, under one progress bar.
pub(crate) struct Series<'a> {
    /// The bar's title.
    pub(crate) title: String,
    /// Number and count of its scene, from 1 on, where there are several.
    pub(crate) place: Option<(usize, usize)>,
    /// The measurements.
    pub(crate) measurements: Vec<Box<dyn Measurement + 'a>>,
}

/// Makes every measurement that is not recorded, and records it, until all are done or the user stops.
///
/// # Errors
/// [`Failure`] of renderers and files. Earlier records stay.
pub(crate) fn run(series: &[Series<'_>], lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
    for one in series {
        let samples = one.measurements.iter().map(|m| m.samples(lab)).sum();
        let place = one.place.map(|(number, count)| format!("scene {number} of {count}"));
        let place = place.unwrap_or_default();
        lab.bar = Bar::of_step(&place, &one.title, samples);
        let flow = run_all(&one.measurements, lab);
        lab.bar.clear();
        if flow?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn run_all(
    measurements: &[Box<dyn Measurement + '_>],
    lab: &mut Lab<'_>,
) -> Result<ControlFlow<()>, Failure> {
    for measurement in measurements {
        if is_recorded(measurement.as_ref(), lab) {
            lab.bar.add(measurement.samples(lab));
            continue;
        }
        if interrupt::requested() || measurement.prepare(lab)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if is_recorded(measurement.as_ref(), lab) {
            continue;
        }
        match measurement.run(lab)? {
            ControlFlow::Continue(records) => lab.folder.append(records)?,
            ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn is_recorded(measurement: &dyn Measurement, lab: &Lab<'_>) -> bool {
    // All are asked, so that every faulty image is told.
    measurement.keys(lab).iter().filter(|key| !lab.folder.holds(key)).count() == 0
}
