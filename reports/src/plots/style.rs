//! Colours, type and the frame that all plots share.

pub(super) mod rows;

use super::PlotError;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Drawing units per pixel of the finished plot. The drawing library knows whole units only.
pub(super) const UNITS: i32 = 4;

/// Text.
pub(super) const INK: RGBColor = RGBColor(0x24, 0x29, 0x2f);
/// Ticks and remarks.
pub(super) const MUTED: RGBColor = RGBColor(0x65, 0x6d, 0x76);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xe1, 0xe4, 0xe8);
/// The guide line, which the style sheet dashes.
pub(super) const GUIDE: RGBColor = RGBColor(0x8c, 0x95, 0x9f);

/// Okabe and Ito's palette, which people with any colour vision tell apart; yellow and black are left out,
/// since they vanish on light and dark pages.
pub(super) const PALETTE: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];

/// Colours of a dark page for those of a light one.
const DARK: [(RGBColor, &str); 7] = [
    (INK, "#E6EDF3"),
    (MUTED, "#9198A1"),
    (GRID, "#30363D"),
    (GUIDE, "#7D8590"),
    (PALETTE[0], "#4AA8E8"),
    (PALETTE[1], "#F08A3C"),
    (PALETTE[2], "#2FC49B"),
];

/// Colours of names beside lines on a light page, for those of the palette that letters would be too pale in.
const LETTERS: [(RGBColor, &str); 3] =
    [(PALETTE[3], "#A8477C"), (PALETTE[4], "#8F6200"), (PALETTE[5], "#1F78AD")];

pub(super) fn colour(index: usize) -> RGBColor {
    PALETTE[index % PALETTE.len()]
}

/// A text style of `size` pixels.
pub(super) fn text(size: i32, colour: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    // The library divides sizes by 1.24 on their way into the drawing.
    let scaled = f64::from(size * UNITS) * 1.24;
    ("sans-serif", scaled).into_font().color(&colour).pos(Pos::new(h, v))
}

/// Width of a text in pixels, near enough to lay out legends: proportional digits and letters of a wide
/// sans serif are 0.6 of their size wide.
pub(super) fn text_width(text: &str, size: i32) -> i32 {
    (text.chars().count() as f64 * f64::from(size) * 0.6).ceil() as i32
}

/// Draws on a surface of `width × height` pixels and frames the result as a stand-alone drawing.
pub(super) fn draw_svg(
    title: &str,
    (width, height): (i32, i32),
    paint: impl FnOnce(&DrawingArea<SVGBackend, plotters::coord::Shift>) -> Result<(), String>,
) -> Result<String, PlotError> {
    let fail = |message: String| PlotError { title: title.to_owned(), message };
    let mut svg = String::new();
    {
        let size = ((width * UNITS) as u32, (height * UNITS) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let heading = text(15, INK, HPos::Left, VPos::Top);
        root.draw(&Text::new(one_line(title), (0, UNITS), heading)).map_err(|e| fail(e.to_string()))?;
        paint(&root).map_err(fail)?;
        root.present().map_err(|e| fail(e.to_string()))?;
    }
    let body = svg.split_once('>').map(|(_, body)| body).unwrap_or_default();
    let view = format!("0 0 {} {}", width * UNITS, height * UNITS);
    Ok(format!(
        "<svg class=\"ls-plot\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{view}\" role=\"img\" aria-label=\"{}\">\n<style>{}</style>{body}",
        crate::markup::escape(title),
        style_sheet()
    ))
}

/// An area of a drawing that shows its value on hover: a circle or a rectangle, in drawing units.
pub(super) struct Mark {
    /// Left, upper, right and lower edge.
    pub(super) place: (i32, i32, i32, i32),
    /// Whether the area is a circle.
    pub(super) round: bool,
    /// The text that it shows.
    pub(super) says: String,
}

/// A drawing with marks on top that cannot be seen, whose titles browsers show under the pointer.
pub(super) fn with_marks(svg: &str, marks: &[Mark]) -> String {
    let mark = |m: &Mark| {
        let (left, top, right, bottom) = m.place;
        let (width, height) = (right - left, bottom - top);
        let radius = if m.round { width / 2 } else { 0 };
        format!(
            "<rect class=\"mark\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" \
             fill=\"none\" pointer-events=\"all\"><title>{}</title></rect>\n",
            crate::markup::escape(&one_line(&m.says))
        )
    };
    let body = svg.trim_end().strip_suffix("</svg>").unwrap_or(svg);
    format!("{body}<g>\n{}</g>\n</svg>\n", marks.iter().map(mark).collect::<String>())
}

/// Names may hold line breaks; a text element may not.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn style_sheet() -> String {
    let mut css = String::from(
        ".ls-plot text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif;\
         font-variant-numeric:tabular-nums}.ls-plot polyline,.ls-plot line{stroke-linecap:round;\
         stroke-linejoin:round}",
    );
    css.push_str(&format!(".ls-plot [stroke=\"{}\"]{{stroke-dasharray:22 18}}", hex(GUIDE)));
    for (pale, letters) in LETTERS {
        css.push_str(&format!(".ls-plot text[fill=\"{}\"]{{fill:{letters}}}", hex(pale)));
    }
    css.push_str("@media (prefers-color-scheme:dark){");
    for (pale, _) in LETTERS {
        css.push_str(&format!(".ls-plot text[fill=\"{0}\"]{{fill:{0}}}", hex(pale)));
    }
    for (light, dark) in DARK {
        let light = hex(light);
        css.push_str(&format!(
            ".ls-plot [fill=\"{light}\"]{{fill:{dark}}}.ls-plot [stroke=\"{light}\"]{{stroke:{dark}}}"
        ));
    }
    css.push('}');
    css
}

fn hex(colour: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}
