//! XML as a tree of elements.
//!
//! Entities other than the five that XML predefines, and document type definitions, are refused: they let a small
//! file unfold without bound or name other files.

use crate::limits::Budget;
use crate::warning::Warnings;
use lockstep_core::Result;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Deepest nesting of elements; scenes have about six.
const MOST_LEVELS: usize = 64;

/// An element with its attributes and children; text between elements has no meaning in scenes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) line: usize,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The place of a line: of the scene's file, or with the name of an included one.
pub(super) fn place(file: &str, line: usize) -> String {
    if file.is_empty() { format!("line {line}") } else { format!("{file} line {line}") }
}

/// Reads a document's root element. `file` is the name of an included file, empty for the scene's own.
pub(super) fn parse(bytes: &[u8], file: &str, budget: &mut Budget, warnings: &Warnings) -> Result<Element> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        warnings.error(place(file, line_at(bytes, error.valid_up_to())), "the file is not UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut lines = Lines { bytes: text.as_bytes(), counted: 0, line: 1 };
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let line = lines.at(reader.buffer_position() as usize);
        let fail = |message: String| Err(warnings.error(place(file, line), message));
        match reader.read_event() {
            Err(error) => {
                let line = lines.at(reader.error_position() as usize);
                return Err(warnings.error(place(file, line), format!("the XML is damaged: {error}")));
            }
            Ok(Event::Start(start)) => {
                budget.take(1, &place(file, line), warnings)?;
                if open.len() >= MOST_LEVELS {
                    return fail(format!("elements are nested deeper than {MOST_LEVELS}"));
                }
                if root.is_some() {
                    return fail("a document has one root element".into());
                }
                open.push(
                    element(&start, line).map_err(|message| warnings.error(place(file, line), message))?,
                );
            }
            Ok(Event::End(_)) => {
                let Some(done) = open.pop() else { continue };
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => root = Some(done),
                }
            }
            Ok(Event::DocType(_)) => return fail("document type definitions are not read".into()),
            Ok(Event::GeneralRef(_)) => return fail("entities are not expanded".into()),
            Ok(Event::Eof) => break,
            Ok(_) => {}
        }
    }
    if let Some(unclosed) = open.last() {
        let message = format!("the element `{}` has no end", unclosed.tag);
        return Err(warnings.error(place(file, unclosed.line), message));
    }
    root.ok_or_else(|| warnings.error(place(file, 1), "the file has no element"))
}

fn element(start: &BytesStart<'_>, line: usize) -> std::result::Result<Element, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = Element { tag: text(start.name().as_ref()), line, ..Element::default() };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("an attribute is damaged: {error}"))?;
        let name = text(attribute.key.as_ref());
        let value = std::str::from_utf8(&attribute.value).map_err(|error| error.to_string())?;
        let value =
            quick_xml::escape::unescape(value).map_err(|error| format!("the attribute `{name}`: {error}"))?;
        out.attributes.push((name, value.into_owned()));
    }
    Ok(out)
}

/// Line numbers of ascending positions, in one pass.
struct Lines<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line of the first character at or after a position that is no white space.
    fn at(&mut self, position: usize) -> usize {
        let rest = self.bytes.get(position..).unwrap_or_default();
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let position = (position + blank).clamp(self.counted, self.bytes.len());
        self.line += self.bytes[self.counted..position].iter().filter(|&&byte| byte == b'\n').count();
        self.counted = position;
        self.line
    }
}

fn line_at(bytes: &[u8], position: usize) -> usize {
    bytes.iter().take(position).filter(|&&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Element> {
        parse(text.as_bytes(), "", &mut Budget::of_scene_elements(), &Warnings::new("s.xml"))
    }

    #[test]
    fn elements_have_attributes_children_and_lines() {
        let root = read("<?xml version=\"1.0\"?>\n<!-- a -->\n<scene version='3.0.0'>\n text\n  <a x=\"1 &lt; 2\"/>\n\n<b>\n</b>\n</scene>\n").unwrap();
        assert_eq!((root.tag.as_str(), root.line, root.attribute("version")), ("scene", 3, Some("3.0.0")));
        let children: Vec<(&str, usize)> = root.children.iter().map(|c| (c.tag.as_str(), c.line)).collect();
        assert_eq!(children, [("a", 5), ("b", 7)]);
        assert_eq!(root.children[0].attribute("x"), Some("1 < 2"));
    }

    #[test]
    fn what_unfolds_or_is_damaged_is_refused_with_its_line() {
        let bomb = "<!DOCTYPE s [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>\n<scene>&b;</scene>";
        let refused = [
            (bomb, "definitions"),
            ("<scene>\n&b;</scene>", "line 2: entities"),
            ("<scene>\n<a x=\"&b;\"/></scene>", "line 2"),
            ("<scene>\n<a>\n</scene>", "line 3"),
            ("<scene>\n<a x=1 x=2/></scene>", "line 2"),
            ("<scene/>\n<scene/>", "line 2: a document has one root"),
            ("", "no element"),
            ("<scene>\n<a>", "line 2: the element `a` has no end"),
        ];
        for (text, words) in refused {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
        assert!(read(&deep).unwrap_err().to_string().contains("nested deeper"));
        assert!(parse(b"<a>\n\xff</a>", "", &mut Budget::of_scene_elements(), &Warnings::new("s")).is_err());
    }
}
