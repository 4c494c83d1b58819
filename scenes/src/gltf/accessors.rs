//! Typed, strided, possibly sparse arrays within buffers.

use super::buffers::{Buffers, View};
use super::json::Item;
use crate::limits::Budget;
use crate::warning::Warnings;
use lockstep_core::Result;

/// The type of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    pub(super) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// A component's value as it is stored.
    fn raw(self, bytes: &[u8], at: usize) -> f64 {
        match (self, bytes.get(at..at + self.size())) {
            (Self::I8, Some(&[b])) => f64::from(b as i8),
            (Self::U8, Some(&[b])) => f64::from(b),
            (Self::I16, Some(&[a, b])) => f64::from(i16::from_le_bytes([a, b])),
            (Self::U16, Some(&[a, b])) => f64::from(u16::from_le_bytes([a, b])),
            (Self::U32, Some(&[a, b, c, d])) => f64::from(u32::from_le_bytes([a, b, c, d])),
            (Self::F32, Some(&[a, b, c, d])) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => 0.0,
        }
    }
}

/// Scalars, vectors, matrices: columns and rows.
fn shape(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "SCALAR" => (1, 1),
        "VEC2" => (1, 2),
        "VEC3" => (1, 3),
        "VEC4" => (1, 4),
        "MAT2" => (2, 2),
        "MAT3" => (3, 3),
        "MAT4" => (4, 4),
        _ => return None,
    })
}

/// The component type of an accessor's object.
pub(super) fn component_of(accessor: &Item<'_>) -> Option<Component> {
    accessor.whole("componentType").and_then(Component::from_code)
}

/// Components of an element of an accessor's object.
pub(super) fn width_of(accessor: &Item<'_>) -> Option<usize> {
    accessor.text("type").and_then(shape).map(|(columns, rows)| columns * rows)
}

/// A view laid out as elements.
#[derive(Clone, Copy, Debug)]
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

/// Elements that replace some of the base's.
#[derive(Clone, Debug)]
struct Sparse<'a> {
    indices: Vec<u32>,
    values: Strided<'a>,
}

/// An array of elements.
#[derive(Clone, Debug)]
pub(super) struct Accessor<'a> {
    /// JSON pointer.
    pub(super) at: String,
    pub(super) component: Component,
    pub(super) normalized: bool,
    pub(super) count: usize,
    columns: usize,
    rows: usize,
    /// `None` reads as zeros.
    base: Option<Strided<'a>>,
    sparse: Option<Sparse<'a>>,
    /// The stride that the view declares.
    pub(super) declared_stride: Option<usize>,
    /// All referenced bytes are present.
    complete: bool,
}

impl<'a> Accessor<'a> {
    /// Opens the accessor of this index for reading.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Scene`] when its type is unknown, it does not fit into its view, or its bytes
    /// are missing.
    pub(super) fn open(
        root: &Item<'_>,
        buffers: &'a Buffers<'_>,
        index: usize,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        let out = Self::describe(root, buffers, index, warnings)?;
        if out.complete {
            return Ok(out);
        }
        for view in views(root, index) {
            buffers.view(root, view, warnings)?.with_data(warnings)?;
        }
        Err(warnings.error(out.at, "its bytes are missing"))
    }

    /// The accessor of this index; missing bytes read as zeros.
    fn describe(
        root: &Item<'_>,
        buffers: &'a Buffers<'_>,
        index: usize,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        let Some(item) = root.item("accessors", index) else {
            return Err(warnings.error(format!("/accessors/{index}"), "there is no such accessor"));
        };
        let Some(component) = item.whole("componentType").and_then(Component::from_code) else {
            return Err(warnings.error(item.pointer("componentType"), "the component type is unknown"));
        };
        let Some((columns, rows)) = item.text("type").and_then(shape) else {
            return Err(warnings.error(item.pointer("type"), "the type is unknown"));
        };
        let count = item.whole("count").and_then(|c| usize::try_from(c).ok()).unwrap_or(0);
        let mut out = Self {
            at: item.at.clone(),
            component,
            normalized: item.flag("normalized"),
            count,
            columns,
            rows,
            base: None,
            sparse: None,
            declared_stride: None,
            complete: true,
        };
        if out.normalized && matches!(component, Component::F32 | Component::U32) {
            warnings.add(item.pointer("normalized"), "only 8 and 16 bit integers can be normalised");
            out.normalized = false;
        }
        if let Some(view_index) = item.index("bufferView") {
            let view = buffers.view(root, view_index, warnings)?;
            out.declared_stride = view.stride;
            out.complete &= view.has_data();
            let size = out.element_size();
            let stride = view.stride.unwrap_or(size);
            if stride < size {
                let message = format!("its view's stride of {stride} is less than an element's {size} bytes");
                return Err(warnings.error(item.at, message));
            }
            let layout = Layout {
                offset: item.whole("byteOffset").unwrap_or(0),
                stride,
                count,
                size: out.last_size(),
            };
            out.base = Some(layout.cut(&view, &item.pointer("byteOffset"), warnings)?);
            out.check_alignment(&item, &view, warnings);
        }
        if let Some(bytes) = buffers.decoded(index) {
            out.base = Some(Strided { bytes, stride: out.element_size() });
        }
        if let Some(sparse) = item.get("sparse") {
            out.sparse = Some(out.open_sparse(root, buffers, &sparse, warnings)?);
        }
        Ok(out)
    }

    /// Components of an element.
    pub(super) fn width(&self) -> usize {
        self.columns * self.rows
    }

    /// Bytes from one column of a matrix to the next: columns begin at multiples of 4 bytes.
    fn column_size(&self) -> usize {
        let size = self.rows * self.component.size();
        if self.columns > 1 { size.next_multiple_of(4) } else { size }
    }

    fn element_size(&self) -> usize {
        self.columns * self.column_size()
    }

    /// Bytes of the last element, whose last column needs no padding.
    fn last_size(&self) -> usize {
        (self.columns - 1) * self.column_size() + self.rows * self.component.size()
    }

    fn check_alignment(&self, item: &Item<'_>, view: &View<'_>, warnings: &mut Warnings) {
        let offset = item.whole("byteOffset").unwrap_or(0) as usize;
        let unit = if self.columns > 1 { 4 } else { self.component.size() };
        if !offset.is_multiple_of(unit) || !(view.offset + offset).is_multiple_of(unit) {
            warnings.add(
                item.pointer("byteOffset"),
                format!("the data does not begin at a multiple of {unit} bytes"),
            );
        }
    }

    fn open_sparse(
        &mut self,
        root: &Item<'_>,
        buffers: &'a Buffers<'_>,
        item: &Item<'_>,
        warnings: &mut Warnings,
    ) -> Result<Sparse<'a>> {
        let count = item.whole("count").and_then(|c| usize::try_from(c).ok()).unwrap_or(0);
        if count > self.count {
            let message = format!("{count} elements are replaced, but there are only {}", self.count);
            return Err(warnings.error(item.pointer("count"), message));
        }
        let mut complete = true;
        let mut open = |key: &str, stride: usize, size: usize| -> Result<Strided<'a>> {
            let part = item.get(key);
            let at = item.pointer(key);
            let Some((part, view)) = part.and_then(|p| p.index("bufferView").map(|v| (p, v))) else {
                return Err(warnings.error(at, "the property is missing"));
            };
            let view = buffers.view(root, view, warnings)?;
            if view.stride.is_some() {
                warnings.add(part.pointer("bufferView"), "a view of sparse data has no stride");
            }
            complete &= view.has_data();
            Layout { offset: part.whole("byteOffset").unwrap_or(0), stride, count, size }
                .cut(&view, &at, warnings)
        };
        let code = item.get("indices").and_then(|i| i.whole("componentType")).and_then(Component::from_code);
        let component = match code {
            Some(component @ (Component::U8 | Component::U16 | Component::U32)) => component,
            _ => {
                let at = format!("{}/indices/componentType", item.at);
                return Err(warnings.error(at, "sparse indices are unsigned integers"));
            }
        };
        let places = open("indices", component.size(), component.size())?;
        let values = open("values", self.element_size(), self.last_size())?;
        self.complete &= complete;
        if !complete {
            return Ok(Sparse { indices: Vec::new(), values });
        }
        let indices: Vec<u32> =
            (0..count).map(|i| component.raw(places.bytes, i * places.stride) as u32).collect();
        let at = item.pointer("indices");
        if indices.windows(2).any(|w| w[0] >= w[1]) {
            return Err(warnings.error(at, "sparse indices must increase"));
        }
        if indices.last().is_some_and(|&i| i as usize >= self.count) {
            return Err(warnings.error(at, format!("a sparse index is beyond the {} elements", self.count)));
        }
        Ok(Sparse { indices, values })
    }

    /// The bytes that hold an element, and where it begins; `None` for zeros.
    #[inline]
    fn locate(&self, index: usize) -> Option<(&'a [u8], usize)> {
        if let Some(sparse) = &self.sparse
            && let Ok(place) = sparse.indices.binary_search(&(index as u32))
        {
            return Some((sparse.values.bytes, place * sparse.values.stride));
        }
        self.base.map(|base| (base.bytes, index * base.stride))
    }

    /// A component as stored; components of matrices count column by column.
    pub(super) fn raw(&self, index: usize, component: usize) -> f64 {
        let place =
            component / self.rows * self.column_size() + component % self.rows * self.component.size();
        self.locate(index).map_or(0.0, |(bytes, at)| self.component.raw(bytes, at + place))
    }

    /// A scalar as an unsigned integer.
    #[inline]
    pub(super) fn unsigned(&self, index: usize) -> u32 {
        self.raw(index, 0) as u32
    }

    /// The first `N` components of an element, normalised if the accessor is; missing components are zero.
    #[inline]
    pub(super) fn vector<const N: usize>(&self, index: usize) -> [f32; N] {
        let Some((bytes, at)) = self.locate(index) else {
            return [0.0; N];
        };
        if self.component == Component::F32
            && self.rows >= N
            && let Some(bytes) = bytes.get(at..at + 4 * N)
        {
            return std::array::from_fn(|i| {
                f32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
            });
        }
        std::array::from_fn(|i| if i < self.width() { self.scaled(self.raw(index, i)) } else { 0.0 })
    }

    fn scaled(&self, raw: f64) -> f32 {
        let value = match (self.normalized, self.component) {
            (true, Component::I8) => (raw / 127.0).max(-1.0),
            (true, Component::U8) => raw / 255.0,
            (true, Component::I16) => (raw / 32767.0).max(-1.0),
            (true, Component::U16) => raw / 65535.0,
            _ => raw,
        };
        value as f32
    }
}

/// Layout of elements within a view.
struct Layout {
    offset: u64,
    stride: usize,
    count: usize,
    size: usize,
}

impl Layout {
    fn cut<'a>(&self, view: &View<'a>, at: &str, warnings: &Warnings) -> Result<Strided<'a>> {
        let offset = usize::try_from(self.offset).ok();
        let length =
            self.count.saturating_sub(1).checked_mul(self.stride).and_then(|l| l.checked_add(self.size));
        let end = offset.zip(length).and_then(|(o, l)| o.checked_add(l)).filter(|end| *end <= view.length);
        match (offset, end) {
            (Some(offset), Some(_)) => {
                Ok(Strided { bytes: view.bytes.get(offset..).unwrap_or_default(), stride: self.stride })
            }
            _ => {
                let message = format!(
                    "{} elements of {} bytes from byte {} do not fit into the view's {} bytes",
                    self.count, self.size, self.offset, view.length
                );
                Err(warnings.error(at, message))
            }
        }
    }
}

/// The views that an accessor refers to.
pub(super) fn views(root: &Item<'_>, accessor: usize) -> Vec<usize> {
    let item = root.item("accessors", accessor);
    let sparse = item.as_ref().and_then(|i| i.get("sparse"));
    let part = |key: &str| sparse.as_ref().and_then(|s| s.get(key)).and_then(|p| p.index("bufferView"));
    [item.as_ref().and_then(|i| i.index("bufferView")), part("indices"), part("values")]
        .into_iter()
        .flatten()
        .collect()
}

/// Checks every accessor: that it fits and, where its bytes are there, that its numbers are finite and within
/// its bounds.
pub(super) fn check_all(root: &Item<'_>, buffers: &Buffers<'_>, warnings: &mut Warnings) -> Result<()> {
    let mut budget = Budget::of_elements(buffers.total_bytes());
    for (index, item) in root.items("accessors").iter().enumerate() {
        let known = item.text("type").and_then(shape).is_some()
            && item.whole("componentType").and_then(Component::from_code).is_some();
        if known {
            let accessor = Accessor::describe(root, buffers, index, warnings)?;
            budget.take(accessor.count, &item.pointer("count"), warnings)?;
            if accessor.complete {
                check_values(item, &accessor, warnings);
            }
        }
    }
    Ok(())
}

fn check_values(item: &Item<'_>, accessor: &Accessor<'_>, warnings: &mut Warnings) {
    if accessor.base.is_none() && accessor.sparse.is_none() {
        return;
    }
    let width = accessor.width();
    let (mut low, mut high) = (vec![f64::INFINITY; width], vec![f64::NEG_INFINITY; width]);
    let mut reported = false;
    for element in 0..accessor.count {
        for component in 0..width {
            let value = accessor.raw(element, component);
            if !value.is_finite() && !reported {
                warnings.add(&accessor.at, format!("component {component} of element {element} is {value}"));
                reported = true;
            }
            low[component] = low[component].min(value);
            high[component] = high[component].max(value);
        }
    }
    for (key, actual) in [("min", &low), ("max", &high)] {
        let Some(declared) = item.value.get(key).and_then(serde_json::Value::as_array) else {
            continue;
        };
        if declared.len() != width {
            warnings.add(item.pointer(key), format!("{} numbers for {width} components", declared.len()));
            continue;
        }
        for (component, (declared, &actual)) in declared.iter().zip(actual).enumerate() {
            let declared = declared.as_f64().unwrap_or(0.0);
            let same = if accessor.component == Component::F32 {
                (declared as f32 - actual as f32).abs() <= 1e-6 * (actual as f32).abs()
            } else {
                declared == actual
            };
            if !same {
                let at = format!("{}/{component}", item.pointer(key));
                warnings.add(at, "the declared bound is not that of the data; it is ignored");
            }
        }
    }
}
