//! Texts with placeholders.

use std::fmt;

/// The values that a run of a program is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// The scene: the path of a file, made absolute, or the name of a built-in scene.
    Scene,
    /// Samples per pixel.
    Spp,
    /// The random seed.
    Seed,
    /// Image width in pixels.
    Width,
    /// Image height in pixels.
    Height,
    /// Greatest number of bounces.
    Bounces,
    /// The file to write.
    Out,
}

impl Placeholder {
    const ALL: [Self; 7] =
        [Self::Scene, Self::Spp, Self::Seed, Self::Width, Self::Height, Self::Bounces, Self::Out];

    /// The name between the braces.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Spp => "spp",
            Self::Seed => "seed",
            Self::Width => "width",
            Self::Height => "height",
            Self::Bounces => "bounces",
            Self::Out => "out",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(Placeholder),
}

/// A text with placeholders in braces; `{{` and `}}` are braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

/// Why a text is no template, in words.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// A name in braces that is no placeholder.
    #[error(
        "`{{{0}}}` is no placeholder; there are {{scene}}, {{spp}}, {{seed}}, {{width}}, {{height}}, {{bounces}} and {{out}}, and braces that are none are written twice"
    )]
    Unknown(String),
    /// A brace without its counterpart.
    #[error("a brace stands alone in `{0}`; braces around no placeholder are written twice")]
    Unpaired(String),
}

impl Template {
    /// Parses a text with placeholders.
    ///
    /// # Errors
    /// [`TemplateError`] for an unknown placeholder or a brace that stands alone.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let unpaired = || TemplateError::Unpaired(text.to_owned());
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let (name, after) = rest.split_once('}').filter(|_| brace == "{").ok_or_else(unpaired)?;
            let hole = Placeholder::ALL.into_iter().find(|hole| hole.name() == name);
            let hole = hole.ok_or_else(|| TemplateError::Unknown(name.to_owned()))?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Hole(hole));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// A text without placeholders.
    pub(crate) fn plain(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())] }
    }

    /// A placeholder alone.
    pub(crate) fn hole(hole: Placeholder) -> Self {
        Self { parts: vec![Part::Hole(hole)] }
    }

    /// A text with a placeholder behind it.
    pub(crate) fn option(text: &str, hole: Placeholder) -> Self {
        Self { parts: vec![Part::Text(text.to_owned()), Part::Hole(hole)] }
    }

    /// The text with what `value` gives for each placeholder.
    pub(crate) fn fill(&self, value: &dyn Fn(Placeholder) -> String) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Hole(hole) => value(*hole),
        });
        parts.collect()
    }

    /// Whether the template has a placeholder.
    pub(crate) fn has(&self, wanted: Placeholder) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Hole(hole) if *hole == wanted))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Part::Hole(hole) => write!(f, "{{{}}}", hole.name())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_wherever_they_stand_and_doubled_braces_are_braces() {
        let template = Template::parse("--out={out} {{x}} {spp}/{spp}").unwrap();
        let value = |hole: Placeholder| format!("<{}>", hole.name());
        assert_eq!(template.fill(&value), "--out=<out> {x} <spp>/<spp>");
        assert!(template.has(Placeholder::Spp) && !template.has(Placeholder::Seed));
        assert_eq!(template.to_string(), "--out={out} {{x}} {spp}/{spp}");
    }

    #[test]
    fn unknown_placeholders_and_lonely_braces_are_refused() {
        assert_eq!(Template::parse("{samples}"), Err(TemplateError::Unknown("samples".into())));
        for text in ["{spp", "spp}", "{", "a } b {spp}"] {
            assert_eq!(Template::parse(text), Err(TemplateError::Unpaired(text.into())), "{text}");
        }
    }
}
