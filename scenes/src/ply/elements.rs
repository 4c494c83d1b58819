//! From elements to a mesh.

use super::header::{Element, Format, Header};
use super::values::{Ascii, Binary, Values};
use super::{PlyError, PlyMesh};

/// Reads all elements of a file.
pub(super) fn read(header: &Header, bytes: &[u8], max_triangles: u64) -> Result<PlyMesh, PlyError> {
    match header.format {
        Format::Ascii => {
            Reader::new(Ascii::new(bytes, header.end, header.lines), max_triangles).all(&header.elements)
        }
        format => Reader::new(Binary::new(bytes, header.end, format), max_triangles).all(&header.elements),
    }
}

/// Where a vertex's property goes: a component of one of the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Position(usize),
    Normal(usize),
    Uv(usize),
    None,
}

impl Slot {
    fn of(name: &str) -> Self {
        match name {
            "x" => Self::Position(0),
            "y" => Self::Position(1),
            "z" => Self::Position(2),
            "nx" => Self::Normal(0),
            "ny" => Self::Normal(1),
            "nz" => Self::Normal(2),
            "u" | "s" | "texture_u" | "texture_s" => Self::Uv(0),
            "v" | "t" | "texture_v" | "texture_t" => Self::Uv(1),
            _ => Self::None,
        }
    }
}

struct Reader<V> {
    values: V,
    max_triangles: u64,
    out: PlyMesh,
    /// Corners of faces are checked against the vertices when both are known.
    has_vertices: bool,
    short_faces: u64,
    polygons: u64,
    broken_normals: u64,
}

impl<V: Values> Reader<V> {
    fn new(values: V, max_triangles: u64) -> Self {
        let out = PlyMesh::default();
        Self {
            values,
            max_triangles,
            out,
            has_vertices: false,
            short_faces: 0,
            polygons: 0,
            broken_normals: 0,
        }
    }

    fn all(mut self, elements: &[Element]) -> Result<PlyMesh, PlyError> {
        for element in elements {
            match element.name.as_str() {
                "vertex" => self.vertices(element)?,
                "face" => self.faces(element)?,
                _ => self.skip(element)?,
            }
        }
        if !self.has_vertices {
            return Err(self.values.fault("the file has no element `vertex`".into()));
        }
        let count = self.out.positions.len();
        if let Some((i, _)) = enumerate_corners(&self.out.triangles).find(|&(_, v)| v as usize >= count) {
            let message = format!("a corner of triangle {i} is beyond the {count} vertices");
            return Err(self.values.fault(message));
        }
        self.note(self.short_faces, "faces of fewer than three corners are left out");
        self.note(
            self.polygons,
            "polygons of more than four corners are split as fans, as if they were convex",
        );
        self.note(self.broken_normals, "normals that are not finite are taken from the triangles");
        Ok(self.out)
    }

    fn note(&mut self, count: u64, what: &str) {
        if count > 0 {
            self.out.notes.push(format!("{count} {what}"));
        }
    }

    /// Refuses a count of elements that the rest of the file cannot hold, before anything is allocated.
    fn check(&self, element: &Element) -> Result<(), PlyError> {
        let fits = element.properties.iter().all(|property| {
            let first = property.count.unwrap_or(property.item);
            element.count <= self.values.room(first)
        });
        if fits {
            return Ok(());
        }
        let message = format!("{} elements `{}` do not fit into the file", element.count, element.name);
        Err(self.values.fault(message))
    }

    fn vertices(&mut self, element: &Element) -> Result<(), PlyError> {
        self.check(element)?;
        let slots: Vec<Slot> = element
            .properties
            .iter()
            .map(|p| if p.count.is_some() { Slot::None } else { Slot::of(&p.name) })
            .collect();
        let has = |wanted: &[Slot]| wanted.iter().all(|slot| slots.contains(slot));
        if self.has_vertices || !has(&[Slot::Position(0), Slot::Position(1), Slot::Position(2)]) {
            return Err(self.values.fault("one element `vertex` with `x`, `y` and `z` is expected".into()));
        }
        self.has_vertices = true;
        let count = element.count as usize;
        let has_normals = has(&[Slot::Normal(0), Slot::Normal(1), Slot::Normal(2)]);
        let has_uv = has(&[Slot::Uv(0), Slot::Uv(1)]);
        self.out.positions.reserve_exact(count);
        self.out.normals.reserve_exact(if has_normals { count } else { 0 });
        self.out.uv.reserve_exact(if has_uv { count } else { 0 });
        for index in 0..count {
            let (mut position, mut normal, mut uv) = ([0.0f32; 3], [0.0f32; 3], [0.0f32; 2]);
            for (property, slot) in element.properties.iter().zip(&slots) {
                if let Some(kind) = property.count {
                    let items = self.values.next(kind)?;
                    self.skip_items(items, property.item)?;
                    continue;
                }
                let value = self.values.next(property.item)? as f32;
                match *slot {
                    Slot::Position(i) => position[i] = value,
                    Slot::Normal(i) => normal[i] = value,
                    Slot::Uv(i) => uv[i] = value,
                    Slot::None => {}
                }
            }
            if !position.iter().chain(&uv).all(|v| v.is_finite()) {
                return Err(self.values.fault(format!("vertex {index} is not finite")));
            }
            self.out.positions.push(position);
            if has_normals {
                if !normal.iter().all(|v| v.is_finite()) {
                    self.broken_normals += 1;
                    normal = [0.0; 3];
                }
                self.out.normals.push(unit(normal));
            }
            if has_uv {
                self.out.uv.push(uv);
            }
        }
        Ok(())
    }

    fn faces(&mut self, element: &Element) -> Result<(), PlyError> {
        self.check(element)?;
        let is_list = |name: &str| matches!(name, "vertex_indices" | "vertex_index");
        if !element.properties.iter().any(|p| is_list(&p.name) && p.count.is_some()) {
            return Err(self.values.fault("the element `face` needs a list `vertex_indices`".into()));
        }
        // Most faces are triangles; none is allocated that the file's bytes cannot hold.
        self.out.triangles.reserve(element.count.min(self.max_triangles) as usize);
        for _ in 0..element.count {
            for property in &element.properties {
                match property.count {
                    None => {
                        self.values.next(property.item)?;
                    }
                    Some(kind) => {
                        let corners = self.values.next(kind)?;
                        if is_list(&property.name) {
                            self.face(corners, property.item)?;
                        } else {
                            self.skip_items(corners, property.item)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A polygon, as a fan around its first corner.
    fn face(&mut self, corners: f64, kind: super::header::Type) -> Result<(), PlyError> {
        let corners = self.whole(corners)?;
        self.short_faces += u64::from(corners < 3);
        self.polygons += u64::from(corners > 4);
        let mut fan = [0; 2];
        for i in 0..corners {
            let index = self.values.next(kind)?;
            let corner = self.whole(index)?;
            if i < 2 {
                fan[i as usize] = corner;
                continue;
            }
            if self.out.triangles.len() as u64 >= self.max_triangles {
                let message = format!("the file has more than {} triangles", self.max_triangles);
                return Err(self.values.fault(message));
            }
            self.out.triangles.push([fan[0], fan[1], corner]);
            fan[1] = corner;
        }
        Ok(())
    }

    fn skip(&mut self, element: &Element) -> Result<(), PlyError> {
        self.check(element)?;
        if element.properties.is_empty() {
            return Ok(());
        }
        for _ in 0..element.count {
            for property in &element.properties {
                match property.count {
                    None => {
                        self.values.next(property.item)?;
                    }
                    Some(kind) => {
                        let items = self.values.next(kind)?;
                        self.skip_items(items, property.item)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn skip_items(&mut self, count: f64, kind: super::header::Type) -> Result<(), PlyError> {
        for _ in 0..self.whole(count)? {
            self.values.next(kind)?;
        }
        Ok(())
    }

    /// A number as a count or an index.
    fn whole(&self, value: f64) -> Result<u32, PlyError> {
        if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
            return Ok(value as u32);
        }
        Err(self.values.fault(format!("{value} is no count or index")))
    }
}

/// The corners of all triangles, each with its triangle's number.
fn enumerate_corners(triangles: &[[u32; 3]]) -> impl Iterator<Item = (usize, u32)> {
    triangles.iter().enumerate().flat_map(|(i, t)| t.iter().map(move |&v| (i, v)))
}

/// A normal to unit length; zero stays zero.
fn unit(n: [f32; 3]) -> [f32; 3] {
    lockstep_core::math::vec3::normalize(n.into()).to_array()
}
