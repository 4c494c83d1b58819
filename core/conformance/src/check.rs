//! The list of checks, and how one is run.

use crate::{
    Checked, Extent, Outcome, Subject, bidirectional, configs, contract, fast, identity, layers, parity,
    physics, priorities, timing, trace_rays,
};
use lockstep_core::Mode;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A prerequisite of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// A promise of identity.
    Exact,
    /// A reference renderer with identical films; implies [`Need::Exact`].
    Reference,
    /// Built-in scenes.
    Scenes,
    /// A device for parity by function.
    Probes,
    /// [`Mode::Fast`].
    FastMode,
    /// [`Extent::Full`].
    FullExtent,
}

/// One claim about a target.
#[derive(Clone, Copy)]
pub struct Check {
    name: &'static str,
    needs: &'static [Need],
    claim: fn(&Subject<'_>) -> Checked<Outcome>,
}

/// One row of the list: the name `group::claim`, what it needs, and the function.
macro_rules! check {
    ($group:ident :: $claim:ident, $needs:expr) => {
        Check {
            name: concat!(stringify!($group), "::", stringify!($claim)),
            needs: &$needs,
            claim: |subject| $group::$claim(subject).map(Into::into),
        }
    };
    ($name:literal, $needs:expr, $claim:expr) => {
        Check { name: $name, needs: &$needs, claim: $claim }
    };
}

/// Every check, in the order of the table: cheap and basic ones first.
pub const CHECKS: &[Check] = &[
    check!(contract::names_its_device, []),
    check!(contract::refuses_use_before_load, []),
    check!(contract::refuses_bad_settings, []),
    check!(contract::loads_or_refuses_every_integrator, []),
    check!(contract::any_split_gives_the_same_bits, []),
    check!(contract::a_second_renderer_gives_the_same_bits, []),
    check!(contract::load_clears_the_film, []),
    check!(contract::seeds_and_samples_select_other_noise, []),
    check!(contract::ray_counts_add_up, []),
    check!(contract::refuses_more_samples_than_a_film_holds, []),
    check!(contract::renders_a_scene_without_geometry, []),
    check!(contract::renders_one_pixel, []),
    check!(contract::recorded_paths_are_the_samples_of_the_film, []),
    check!(trace_rays::given_rays_find_the_hits_of_brute_force, [Need::Exact]),
    check!(parity::every_function_and_record_agrees, [Need::Probes]),
    check!(identity::recorded_paths_do_not_diverge, [Need::Reference]),
    check!(identity::every_feature_under_all_settings, [Need::Reference]),
    check!(identity::every_sampler, [Need::Reference]),
    check!("identity::cornell", BUILT_IN, |s| identity::built_in(s, "cornell", "cornell")),
    check!("identity::weekend", BUILT_IN, |s| identity::built_in(s, "weekend", "weekend")),
    check!("identity::atrium", BUILT_IN, |s| identity::built_in(s, "atrium:10k", "atrium")),
    check!("identity::furnace", BUILT_IN, |s| identity::built_in(s, "furnace", "furnace")),
    check!("identity::instances", BUILT_IN, |s| identity::built_in(s, "instances", "instances")),
    check!(identity::film_larger_than_the_path_state, [Need::Reference]),
    check!(identity::shared_samples_add_up, [Need::Reference]),
    check!(configs::every_configuration_leaves_the_same_film, []),
    check!(configs::impossible_configurations_are_refused, []),
    check!(physics::furnaces_are_white, []),
    check!(physics::diffuse_floors_reflect_what_arrives, []),
    check!(physics::mirrors_and_glass_follow_fresnel, []),
    check!(physics::estimators_agree, []),
    check!(physics::samplers_agree_and_sobol_has_less_error, []),
    check!(physics::lamps_with_alpha_shine_by_their_opacity, []),
    check!(physics::shadow_rays_end_just_before_their_light, []),
    check!(physics::single_sided_surfaces_are_seen_from_their_front, []),
    check!(physics::unlit_surfaces_show_their_color_and_light_nothing, []),
    check!(physics::ambient_occlusion_is_what_the_form_factor_leaves, []),
    check!(bidirectional::scenes_without_lights_or_geometry_render, []),
    check!(bidirectional::any_split_gives_the_same_bits, []),
    check!(bidirectional::recorded_pairs_are_the_samples_of_the_film, []),
    check!(bidirectional::films_are_the_references, [Need::Reference]),
    check!(bidirectional::every_structure_of_pairs_leaves_the_same_film, [Need::Reference]),
    check!(bidirectional::merges_are_those_of_brute_force, [Need::Exact]),
    check!(bidirectional::merges_average_irradiance_over_their_circle, []),
    check!(bidirectional::float_merges_differ_by_their_rounding, []),
    check!(bidirectional::recorded_pairs_do_not_diverge, [Need::Reference]),
    check!(bidirectional::furnaces_are_white, []),
    check!(bidirectional::means_are_the_path_tracers, []),
    check!(layers::furnaces_are_at_most_white, []),
    check!(layers::furnaces_of_surfaces_that_keep_all_light_are_white, []),
    check!(layers::films_are_the_references, [Need::Reference]),
    check!(layers::means_are_the_path_tracers, []),
    check!(layers::furnaces_by_a_tree_are_at_most_white, []),
    check!(layers::films_by_a_tree_are_the_references, [Need::Reference]),
    check!(layers::means_by_a_tree_are_those_of_all_lobes, []),
    check!(layers::clearcoats_have_normals_of_their_own, []),
    check!(layers::media_follow_beers_law, []),
    check!(layers::films_with_media_are_the_references, [Need::Reference]),
    check!(layers::dispersion_is_refraction_by_channel, []),
    check!(priorities::overlapping_slabs_reflect_and_attenuate_in_closed_form, []),
    check!(priorities::rays_follow_snells_law_from_real_medium_to_real_medium, []),
    check!(priorities::furnaces_of_nested_balls_are_white, []),
    check!(priorities::a_medium_of_lower_priority_vanishes, []),
    check!(priorities::they_change_nothing_where_nothing_overlaps, []),
    check!(priorities::films_are_the_references, [Need::Reference]),
    check!(fast::the_mode_is_labelled_and_leaves_the_exact_one_alone, [Need::FastMode]),
    check!(fast::means_agree_and_one_percent_would_be_found, [Need::FastMode]),
    check!(timing::kernels_fill_the_pass, [Need::Scenes, Need::Probes, Need::FullExtent]),
];

const BUILT_IN: [Need; 2] = [Need::Reference, Need::Scenes];

/// The result of running a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// The claim holds, or the target lacks the feature under test.
    Ended(Outcome),
    /// The claim does not hold, or the renderer failed where it must work; with the reason.
    Failed(String),
}

impl Check {
    /// The name: `group::claim`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the check measures times, which other work on the device would lengthen.
    pub fn is_timed(&self) -> bool {
        self.name.starts_with("timing::")
    }

    /// The reason that the check does not apply to a target; `None` where it applies.
    pub fn lacking(&self, subject: &Subject<'_>) -> Option<&'static str> {
        let given = subject.has();
        self.needs.iter().find_map(|need| match need {
            Need::Exact | Need::Reference if !subject.is_exact() => Some("the target promises no identity"),
            Need::Reference if !given.reference => Some("there is no reference renderer beside the target"),
            Need::Scenes if !given.scenes => Some("no built-in scenes were given"),
            Need::Probes if !given.probes => Some("no device for probing kernels was given"),
            Need::FastMode if !subject.has_mode(Mode::Fast) => Some("the target has no fast mode"),
            Need::FullExtent if subject.extent() == Extent::Quick => Some("only in full"),
            _ => None,
        })
    }

    /// Runs the check and measures its time. A panic of the claim or the renderer is a failure with the
    /// panic's message.
    pub fn run(&self, subject: &Subject<'_>) -> (CheckResult, Duration) {
        let start = Instant::now();
        let result = match catch_unwind(AssertUnwindSafe(|| (self.claim)(subject))) {
            Ok(Ok(outcome)) => CheckResult::Ended(outcome),
            Ok(Err(failure)) => CheckResult::Failed(failure.to_string()),
            Err(payload) => CheckResult::Failed(message(payload.as_ref())),
        };
        (result, start.elapsed())
    }
}

/// The message of a panic.
fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}
