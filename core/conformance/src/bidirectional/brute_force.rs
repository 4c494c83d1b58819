//! Weights of all techniques of a path by brute force: every technique's density as a product over the path,
//! in double precision (Veach 1997, section 10.2). It shares no formula with the recursion.

/// A full path from light to lens as densities and lengths. Surfaces are numbered from the light; there is
/// at least one.
pub(super) struct Densities {
    pub(super) surfaces: Vec<SurfaceDensities>,
    /// Density with which light sampling from the first surface chooses the point on the light, per solid
    /// angle; for lights without area times the squared distance.
    pub(super) direct_pdf: f64,
    /// Density of the light's ray: position and direction.
    pub(super) emission_pdf: f64,
    pub(super) cosine_at_light: f64,
    /// False for delta lights.
    pub(super) can_be_hit: bool,
    /// Density per solid angle of the camera ray's direction.
    pub(super) importance: f64,
    pub(super) light_paths: f64,
    /// Whether sub-paths are connected, to each other, lights and lens.
    pub(super) connects: bool,
    /// Area of the circle of merges times the number of light sub-paths; zero where there are no merges.
    pub(super) merge_area: f64,
}

/// The weights of all techniques of a path, zero for those that cannot find it.
pub(super) struct Weights {
    /// Weights of the techniques with 0, 1, ... light vertices.
    pub(super) connections: Vec<f64>,
    /// Weights of the merge at every surface.
    pub(super) merges: Vec<f64>,
}

/// One surface of a path.
#[derive(Clone, Copy)]
pub(super) struct SurfaceDensities {
    pub(super) specular: bool,
    /// Density per solid angle with which a light sub-path chooses the direction to the next surface or lens.
    pub(super) pdf_to_camera: f64,
    /// Density with which a camera sub-path chooses the direction to the previous surface or light.
    pub(super) pdf_to_light: f64,
    /// Cosines of both directions.
    pub(super) cosine_to_camera: f64,
    pub(super) cosine_to_light: f64,
    /// Squared length of the edge towards the light.
    pub(super) distance2_to_light: f64,
    /// Squared length of the edge towards the camera.
    pub(super) distance2_to_camera: f64,
}

impl Densities {
    /// Logarithms of the densities of techniques with 0, 1, ... light vertices and then of the merge at every
    /// surface, less those that all share; `None` for techniques that cannot find the path. The measure at the
    /// light is solid angle at the first surface, elsewhere area.
    fn of_techniques(&self) -> Vec<Option<f64>> {
        let n = self.surfaces.len();
        // Deltas of a specular surface cancel: both directions count as one.
        let density = |specular: bool, pdf: f64| if specular { 1.0 } else { pdf };
        // Of surface i from the light's side, and from the camera's
        let from_light = |i: usize| {
            let here = &self.surfaces[i];
            let (pdf, distance2) = match i.checked_sub(1) {
                // Per area perpendicular to the ray, given the point on the light in solid angle
                None => (self.emission_pdf / self.cosine_at_light, 1.0),
                Some(before) => {
                    let before = &self.surfaces[before];
                    (density(before.specular, before.pdf_to_camera), here.distance2_to_light)
                }
            };
            pdf * here.cosine_to_light / distance2
        };
        let from_camera = |i: usize| {
            let here = &self.surfaces[i];
            let pdf = match self.surfaces.get(i + 1) {
                None => self.importance,
                Some(behind) => density(behind.specular, behind.pdf_to_light),
            };
            pdf * here.cosine_to_camera / here.distance2_to_camera
        };
        let product =
            |of: &dyn Fn(usize) -> f64, range: std::ops::Range<usize>| range.map(|i| of(i).ln()).sum::<f64>();
        let is_rough = |i: usize| !self.surfaces[i].specular;
        // The camera sub-path hits the light
        let first = &self.surfaces[0];
        let hit = density(first.specular, first.pdf_to_light).ln() + product(&from_camera, 0..n);
        let mut all = vec![self.can_be_hit.then_some(hit)];
        // Light sampling
        all.push(is_rough(0).then(|| self.direct_pdf.ln() + product(&from_camera, 0..n)));
        // Connections of surface i - 1 to surface i, and of the last surface to the lens
        for i in 1..=n {
            let possible = is_rough(i - 1) && (i == n || is_rough(i));
            let many = if i == n { self.light_paths.ln() } else { 0.0 };
            let density = product(&from_light, 0..i) + product(&from_camera, i..n) + many;
            all.push(possible.then_some(density));
        }
        if !self.connects {
            all.fill(None);
        }
        // Both sub-paths sample the surface of a merge, independently, and any light sub-path may
        for i in 0..n {
            let density = product(&from_light, 0..i + 1) + product(&from_camera, i..n) + self.merge_area.ln();
            all.push((is_rough(i) && self.merge_area > 0.0).then_some(density));
        }
        all
    }

    pub(super) fn weights(&self) -> Weights {
        let densities = self.of_techniques();
        let largest = densities.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let relative = |density: &Option<f64>| density.map_or(0.0, |d| (d - largest).exp());
        let sum: f64 = densities.iter().map(relative).sum();
        let mut connections: Vec<f64> = densities.iter().map(|density| relative(density) / sum).collect();
        let merges = connections.split_off(self.surfaces.len() + 2);
        Weights { connections, merges }
    }
}
