//! Stage times against the time of the whole pass.

use crate::{Checked, During, Outcome, Subject, load};
use lockstep_core::Settings;

/// Samples of the timed pass, which follows one of the same size as warm-up.
const SPP: u32 = 16;

/// Largest share of a pass on a device that queue handling and gaps between kernels may take.
const LARGEST_GAP: f64 = 0.1;

/// The kernels of the four stages fill the pass by the device's timestamps.
pub(crate) fn kernels_fill_the_pass(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = subject.built_in("cornell")?;
    let settings = Settings { width: 640, height: 360, ..Settings::default() };
    let mut renderer = subject.open()?;
    load(renderer.as_mut(), &scene, &settings)?;
    renderer.accumulate(0..SPP).during(|| "warming up".into())?;
    let report = renderer.accumulate(SPP..2 * SPP).during(|| "rendering a timed pass".into())?;
    let sum = report.stages.sum_ms();
    if sum == 0.0 {
        return Ok(Outcome::Skipped("the target does not time its stages".into()));
    }
    let gap = 1.0 - sum / report.stages.total_ms;
    let rays = (report.extension_rays() + report.shadow_rays()) as f64 * 1e-3;
    let found = format!(
        "{:.0} Mrays/s in {:.1} ms; queues and gaps take {:.1} %",
        rays / report.stages.total_ms,
        report.stages.total_ms,
        gap * 100.0
    );
    assert!(gap <= LARGEST_GAP, "{found}, more than {:.0} %", LARGEST_GAP * 100.0);
    Ok(Outcome::Passed(found))
}
