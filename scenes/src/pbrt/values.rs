//! Values of textures: constants, and images over texture coordinates.

use super::raster::Raster;
use lockstep_core::scene::Wrap;
use std::rc::Rc;

/// Texture coordinates to coordinates of an image: `s = scale u + offset`, both upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mapping {
    pub(super) scale: [f64; 2],
    pub(super) offset: [f64; 2],
}

impl Mapping {
    pub(super) const IDENTITY: Self = Self { scale: [1.0; 2], offset: [0.0; 2] };

    /// Image coordinates, with v downwards, of texture coordinates with v upwards.
    fn image_coordinates(&self, uv: [f64; 2]) -> [f64; 2] {
        let st: [f64; 2] = std::array::from_fn(|i| self.scale[i] * uv[i] + self.offset[i]);
        [st[0], 1.0 - st[1]]
    }

    /// The texture coordinates of image coordinates with v downwards.
    fn texture_coordinates(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let st = [x, 1.0 - y];
        std::array::from_fn(|i| (st[i] - self.offset[i]) / self.scale[i])
    }
}

/// An image with its place on a surface.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ImageValue {
    pub(super) raster: Rc<Raster>,
    pub(super) mapping: Mapping,
    pub(super) wrap: Wrap,
    pub(super) nearest: bool,
    /// Factor on the colours.
    pub(super) factor: [f32; 3],
}

/// A colour or number over a surface; numbers are grey.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Constant([f32; 3]),
    Image(ImageValue),
}

/// How texture values were combined.
#[derive(Clone, Debug)]
pub(super) struct Combined {
    pub(super) value: Value,
    /// The images do not repeat in each other's period, so that the result repeats where they do not.
    pub(super) is_cut: bool,
}

/// Least side of an image that several are combined to.
const LEAST_SIDE: usize = 2;

impl Value {
    pub(super) fn grey(v: f32) -> Self {
        Self::Constant([v; 3])
    }

    /// The mean over the surface.
    pub(super) fn mean(&self) -> [f32; 3] {
        match self {
            Self::Constant(v) => *v,
            Self::Image(image) => {
                let mean = image.raster.mean();
                std::array::from_fn(|i| mean[i] * image.factor[i])
            }
        }
    }

    /// The mean of all channels.
    pub(super) fn mean_grey(&self) -> f32 {
        self.mean().iter().sum::<f32>() / 3.0
    }

    pub(super) fn is_constant(&self, wanted: f32) -> bool {
        matches!(self, Self::Constant(v) if *v == [wanted; 3])
    }

    /// Times a colour.
    pub(super) fn times(&self, factor: [f32; 3]) -> Self {
        match self {
            Self::Constant(v) => Self::Constant(std::array::from_fn(|i| v[i] * factor[i])),
            Self::Image(image) => {
                let factor = std::array::from_fn(|i| image.factor[i] * factor[i]);
                Self::Image(ImageValue { factor, ..image.clone() })
            }
        }
    }

    /// With every colour changed.
    pub(super) fn map(&self, change: impl Fn([f32; 3]) -> [f32; 3]) -> Self {
        match self {
            Self::Constant(v) => Self::Constant(change(*v)),
            Self::Image(image) => {
                let raster = image.raster.map(|[r, g, b, a]| {
                    let scaled = [r * image.factor[0], g * image.factor[1], b * image.factor[2]];
                    let [r, g, b] = change(scaled);
                    [r, g, b, a]
                });
                Self::Image(ImageValue { raster: Rc::new(raster), factor: [1.0; 3], ..image.clone() })
            }
        }
    }

    /// The value at texture coordinates with v upwards.
    pub(super) fn at(&self, uv: [f64; 2]) -> [f32; 3] {
        match self {
            Self::Constant(v) => *v,
            Self::Image(image) => {
                let coordinates = image.mapping.image_coordinates(uv);
                let texel = image.raster.sample(coordinates, image.wrap, image.nearest);
                std::array::from_fn(|i| texel[i] * image.factor[i])
            }
        }
    }
}

/// A function of several values, texel by texel over the period of an image in which all others repeat, else of
/// the largest. The image has at most four times the texels of the largest.
pub(super) fn combine<const N: usize>(
    values: [&Value; N],
    f: impl Fn([[f32; 3]; N]) -> [f32; 3],
) -> Combined {
    let images: Vec<&ImageValue> = values
        .iter()
        .filter_map(|value| match value {
            Value::Image(image) => Some(image),
            Value::Constant(_) => None,
        })
        .collect();
    let repeats = |image: &ImageValue, base: &ImageValue| {
        let ratio = |i: usize| image.mapping.scale[i] / base.mapping.scale[i];
        let is_whole = (0..2).all(|i| ratio(i).abs() > 0.5 && (ratio(i) - ratio(i).round()).abs() < 1e-6);
        image.mapping == base.mapping || (image.wrap == Wrap::Repeat && base.wrap == Wrap::Repeat && is_whole)
    };
    let holds_all = |base: &ImageValue| images.iter().all(|image| repeats(image, base));
    let size = |image: &ImageValue| image.raster.width * image.raster.height;
    let Some(base) = images.iter().max_by_key(|image| (holds_all(image), size(image))) else {
        return Combined { value: Value::Constant(f(values.map(|v| v.at([0.0; 2])))), is_cut: false };
    };
    let is_cut = !holds_all(base);
    // As fine as the finest, within twice the largest side.
    let side = |i: usize, of: fn(&Raster) -> usize| {
        let largest = images.iter().map(|image| of(&image.raster)).max().unwrap_or(1);
        let finest = images.iter().map(|image| {
            let ratio = (image.mapping.scale[i] / base.mapping.scale[i]).abs();
            (of(&image.raster) as f64 * ratio) as usize
        });
        finest.max().unwrap_or(1).min(2 * largest).max(of(&base.raster)).max(LEAST_SIDE)
    };
    let (width, height) = (side(0, |r| r.width), side(1, |r| r.height));
    let at = |i: usize| {
        let x = ((i % width) as f64 + 0.5) / width as f64;
        let y = ((i / width) as f64 + 0.5) / height as f64;
        let uv = base.mapping.texture_coordinates([x, y]);
        let [r, g, b] = f(values.map(|v| v.at(uv)));
        [r, g, b, 1.0]
    };
    let raster = Rc::new(Raster::new(width, height, (0..width * height).map(at).collect()));
    let nearest = images.iter().all(|image| image.nearest);
    Combined {
        value: Value::Image(ImageValue { raster, factor: [1.0; 3], nearest, ..(*base).clone() }),
        is_cut,
    }
}

/// An image over one period of a mapping, from a function of its coordinates `s` and `t`, upwards.
pub(super) fn bake(mapping: Mapping, side: usize, wrap: Wrap, f: impl Fn([f64; 2]) -> [f32; 3]) -> Value {
    let at = |i: usize| {
        let s = ((i % side) as f64 + 0.5) / side as f64;
        let t = 1.0 - ((i / side) as f64 + 0.5) / side as f64;
        let [r, g, b] = f([s, t]);
        [r, g, b, 1.0]
    };
    let raster = Rc::new(Raster::new(side, side, (0..side * side).map(at).collect()));
    Value::Image(ImageValue { raster, mapping, wrap, nearest: false, factor: [1.0; 3] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(mapping: Mapping) -> Value {
        bake(mapping, 16, Wrap::Repeat, |[s, t]| [s as f32, t as f32, 0.25])
    }

    #[test]
    fn an_image_is_seen_through_its_mapping() {
        let value = ramp(Mapping { scale: [2.0, 4.0], offset: [0.25, 0.5] });
        let [r, g, b] = value.at([0.1, 0.05]);
        assert!((r - 0.45).abs() < 1e-6 && (g - 0.7).abs() < 1e-6 && b == 0.25, "{r} {g} {b}");
    }

    #[test]
    fn values_are_combined_where_they_lie() {
        let (a, b) = (ramp(Mapping::IDENTITY), Value::Constant([2.0; 3]));
        let combined = combine([&a, &b], |[a, b]| std::array::from_fn(|i| a[i] * b[i] + 1.0));
        assert!(!combined.is_cut);
        let [r, g, _] = combined.value.at([0.25, 0.75]);
        assert!((r - 1.5).abs() < 1e-6 && (g - 2.5).abs() < 1e-6);
        let other = ramp(Mapping { scale: [1.5, 1.0], offset: [0.0; 2] });
        assert!(combine([&a, &other], |[a, _]| a).is_cut);
        let finer = ramp(Mapping { scale: [3.0, 2.0], offset: [0.0; 2] });
        assert!(!combine([&a, &finer], |[a, _]| a).is_cut);
    }
}
