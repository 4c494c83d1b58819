//! The header: format, elements and their properties.

use super::PlyError;

/// Longest header, in bytes.
const MAX_HEADER: usize = 1 << 20;

/// Most elements, and most properties of one element.
const MAX_ITEMS: usize = 256;

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Float32,
    Float64,
}

impl Type {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "char" | "int8" => Self::Int8,
            "uchar" | "uint8" => Self::Uint8,
            "short" | "int16" => Self::Int16,
            "ushort" | "uint16" => Self::Uint16,
            "int" | "int32" => Self::Int32,
            "uint" | "uint32" => Self::Uint32,
            "float" | "float32" => Self::Float32,
            "double" | "float64" => Self::Float64,
            _ => return None,
        })
    }

    /// Bytes in binary files.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Float64 => 8,
        }
    }
}

/// A property of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) item: Type,
    /// Type of the count before a list's items; `None` for a single value.
    pub(super) count: Option<Type>,
}

/// A kind of element, and how many of it follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

/// A file's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) elements: Vec<Element>,
    /// First byte after it, and the lines before that byte.
    pub(super) end: usize,
    pub(super) lines: usize,
}

/// Reads the header of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Header, PlyError> {
    let mut at = 0;
    let mut line = 0;
    let mut format = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let rest = bytes.get(at..bytes.len().min(MAX_HEADER)).unwrap_or_default();
        line += 1;
        let fail = |message: String| Err(PlyError { place: format!("line {line}"), message });
        let Some(length) = rest.iter().position(|&b| b == b'\n') else {
            return fail("the header has no end".into());
        };
        at += length + 1;
        let text = String::from_utf8_lossy(&rest[..length]);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["ply"] if line == 1 => {}
            _ if line == 1 => return fail("a PLY file begins with `ply`".into()),
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, "1.0"] => {
                format = Some(match *name {
                    "ascii" => Format::Ascii,
                    "binary_little_endian" => Format::LittleEndian,
                    "binary_big_endian" => Format::BigEndian,
                    _ => {
                        return fail(
                            "the format must be ascii, binary_little_endian or binary_big_endian".into(),
                        );
                    }
                });
            }
            ["element", name, count] if elements.len() < MAX_ITEMS => {
                let Ok(count) = count.parse() else {
                    return fail("an element's count must be a whole number".into());
                };
                elements.push(Element { name: (*name).into(), count, properties: Vec::new() });
            }
            ["property", rest @ ..] => {
                let Some(property) = property(rest) else {
                    return fail("a property is `TYPE NAME` or `list TYPE TYPE NAME`".into());
                };
                match elements.last_mut() {
                    Some(element) if element.properties.len() < MAX_ITEMS => {
                        element.properties.push(property)
                    }
                    Some(_) => return fail(format!("an element has at most {MAX_ITEMS} properties")),
                    None => return fail("a property needs an element before it".into()),
                }
            }
            ["end_header"] => {
                let Some(format) = format else {
                    return fail("the header names no format".into());
                };
                return Ok(Header { format, elements, end: at, lines: line });
            }
            _ => return fail("this is no statement of a PLY header of version 1.0".into()),
        }
    }
}

fn property(words: &[&str]) -> Option<Property> {
    match words {
        ["list", count, item, name] => Some(Property {
            name: (*name).into(),
            item: Type::parse(item)?,
            count: Some(Type::parse(count)?),
        }),
        [item, name] => Some(Property { name: (*name).into(), item: Type::parse(item)?, count: None }),
        _ => None,
    }
}
