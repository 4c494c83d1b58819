//! Every tolerance of the suite, each with its reason.

/// Mean radiance of the furnace against 1. At 64x64 pixels and 256 spp the standard error of the noisiest
/// estimator is 3e-4.
pub const FURNACE: f64 = 1e-3;
/// Mean radiance against 1 of a furnace of rough surfaces with multiple scattering: the error of interpolating their missing
/// albedo, which adds up as light crosses a ball of glass, and of their layers' albedos.
pub const FURNACE_MULTISCATTER: f64 = 1e-2;
/// How far above 1 a lossy material may appear in the furnace: three standard errors of its noise.
pub const FURNACE_EXCESS: f64 = 1e-3;
/// Irradiance against its closed form, relative; what published validation of light transport uses.
pub const IRRADIANCE: f64 = 5e-3;
/// Radiance below a lamp with alpha against its closed form, relative to the closed form or to 0.1, whichever is larger.
/// Where BSDF sampling alone must find the lamp, 65,536 samples leave a standard error of 4e-3 or less.
pub const LAMPS_WITH_ALPHA: f64 = 2e-2;
/// Fresnel reflectance against its formula, absolute. The pixel averages over a cone of 0.02 degrees, and
/// choosing between reflection and refraction leaves a standard error of 1e-3 at 16,384 samples.
pub const FRESNEL: f64 = 5e-3;
/// Two-sided critical value of Student's t at 1 % for the 62 degrees of freedom of two sets of 32 seeds.
pub const WELCH_1_PERCENT: f64 = 2.657;
/// Two-sided critical value of Student's t at 0.25 % for 62 degrees of freedom: 1 % shared among the four scenes on which
/// the fast build is compared with the exact one.
pub const WELCH_FAST: f64 = 3.152;
/// Relative difference of means that approximate division, roots and contraction may make where there is no
/// noise to hide it: some thousand roundings of 2^-23.
pub const FAST_ROUNDING: f64 = 1e-4;

/// Mean of ambient occlusion over 2^20 rays: six standard deviations of a fair coin.
pub const AMBIENT_OCCLUSION: f64 = 3e-3;
/// Relative difference of means between fast and exact mode under one seed, whose noise is mostly the same.
pub const FAST_SAME_SEED: f64 = 1e-3;

/// The mean of 262,144 samples of a clearcoat over black against that of another film, relative. Its standard error is
/// below 2e-3.
pub const COAT_NORMALS: f64 = 1e-2;

/// Beer's law without noise, absolute: the power's error, and rays that do not quite follow the slab's normal.
pub const BEER: f32 = 1e-4;
/// Sines times indices of refraction along a path through slabs, absolute: at most 20 refractions of a few roundings of
/// 2^-24 each, times indices of up to 3.
pub const SNELL: f64 = 2e-5;
/// Mean radiance of a quarter of a film by dispersion against the mean by each channel's index of refraction alone,
/// relative to the latter or to 0.1, whichever is larger. A third of 262,144 paths carries a channel; their standard error
/// is below 1e-2 of the mean.
pub const DISPERSION: f64 = 5e-2;

/// Mean radiance of a diffuse furnace by light tracing against 1: its standard error at 64x64 pixels and 256
/// spp is 1e-3, since few light paths reach the film.
pub const FURNACE_LIGHT: f64 = 5e-3;
/// Mean radiance of a diffuse furnace by photon mapping against 1: all pixels of a pass share its photons, about a hundred
/// a vertex.
pub const FURNACE_MERGES: f64 = 5e-3;
/// Radiance by merges alone against the closed form of its mean over the circle, relative: 8192 passes of 256
/// photons leave standard errors of 0.3 % and 0.9 %. The bias itself is larger for both radii.
pub const MERGED_IRRADIANCE: f64 = 2.5e-2;
/// Two-sided critical value of Student's t for 62 degrees of freedom at 1 % shared among the 304 tiles that
/// light tracing and bidirectional path tracing compare with the path tracer.
pub const WELCH_TILES: f64 = 4.48;
/// Two-sided critical value of Student's t for 62 degrees of freedom at 1 % shared among the 400 tiles that merging
/// integrators compare with the path tracer.
pub const WELCH_MERGED_TILES: f64 = 4.56;
/// Two-sided critical value of Student's t for 62 degrees of freedom at 1 % shared among the 510 tiles and images in which
/// techniques of bidirectional path tracing, and their sums by path length, are compared with the path tracer.
pub const WELCH_TECHNIQUES: f64 = 4.63;
/// Two-sided critical value of Student's t for 62 degrees of freedom at 1 % shared among the 34 tiles and images in which
/// merging integrators are compared with bidirectional path tracing.
pub const WELCH_CAUSTICS: f64 = 3.84;
/// Radiance of a pixel whose merges are summed as floats against the sum of integers, relative to the latter or to 1,
/// whichever is larger: some hundred roundings of 2^-24.
pub const FLOAT_MERGES: f32 = 1e-5;
/// Two-sided critical value of Student's t at 1 % for the 15 degrees of freedom of 16 groups of seeds.
pub const STUDENT_15_DEGREES: f64 = 2.947;
/// Upper limit of the half-width of the confidence interval of the power of the radius by which the bias of merges falls: a
/// wider interval could not tell the expected 2 from 1, the power of a bias that stays in a seam along edges.
pub const BIAS_SLOPE_HALF_WIDTH: f64 = 0.5;
/// Upper limit of the error that the fourth order of the radius makes in a fit of the bias of merges, which knows the
/// second order alone: in the fitted power of the radius, 2, and in the fitted bias at radius zero, as a share of that at
/// the largest. The mean of a lamp's irradiance over a circle of radius r at a distance of h is `1 / (1 + r² / h²)` of that
/// in its middle, and r² / h² is 0.07 in the mean over the passes.
pub const BIAS_FOURTH_ORDER: f64 = 0.1;
/// Excess light, as a share of all light, that the fit of the error of `vcm` must find in its constant term: three times
/// the excess that the verdict on images must find.
pub const FOUND_BRIGHTER: f64 = 0.03;
/// Weights of all techniques of a path against a sum of one, and each against brute force, absolute: 64
/// roundings of 2^-24.
#[cfg(test)]
pub(crate) const WEIGHTS: f64 = 1.0 / 262_144.0;
/// The weight of a traced connection against brute force, absolute: densities are evaluated again for directions between
/// positions that were rounded to 2^-24, and near vertices make of that an error of some per cent.
#[cfg(test)]
pub(crate) const WEIGHTS_AS_TRACED: f64 = 2e-2;
/// The share of such weights that may be off by more, where vertices are as close as rays start off their surfaces: 14 of
/// 498 thousand were. A wrong factor puts most of them off.
#[cfg(test)]
pub(crate) const WEIGHTS_AS_TRACED_OFF: f64 = 1e-4;
/// The density per solid angle above which a lobe is too narrow for [`WEIGHTS_AS_TRACED`]: the rounding of a direction
/// changes it by more.
#[cfg(test)]
pub(crate) const STEEP_DENSITY: f64 = 100.0;
