//! Values of options: levels of samples per pixel, image sizes, times, points, skies, shares and names.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use lockstep_core::film::MAX_SPP;
use lockstep_scenes::EnvironmentOverride;

/// Samples per pixel at which images are compared, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SppSchedule {
    /// The levels, each above the one before.
    pub(crate) levels: Vec<u32>,
}

impl SppSchedule {
    /// The last level.
    pub(crate) fn top(&self) -> u32 {
        self.levels.last().copied().unwrap_or(1)
    }
}

impl Default for SppSchedule {
    /// 1 to 1,024.
    fn default() -> Self {
        Self { levels: (0..=10).map(|power| 1 << power).collect() }
    }
}

impl FromStr for SppSchedule {
    type Err = String;

    /// `A..B` doubles from A and ends at B; a single number is the only level.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "it must be A..B with 1 <= A <= B <= {MAX_SPP}, or one number, as in 1..64{}",
                in_full(text)
            )
        };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number =
            |word: &str| word.parse::<u32>().ok().filter(|n| (1..=MAX_SPP).contains(n)).ok_or_else(wrong);
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        let doubling = std::iter::successors(Some(first), |n| n.checked_mul(2)).take_while(|&n| n < last);
        Ok(Self { levels: doubling.chain([last]).collect() })
    }
}

impl fmt::Display for SppSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.levels.as_slice() {
            [only] => write!(f, "{only}"),
            [first, .., last] => write!(f, "{first}..{last}"),
            [] => Ok(()),
        }
    }
}

/// A number of samples per pixel.
pub(crate) fn parse_spp(text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|n| (1..=MAX_SPP).contains(n));
    number.ok_or_else(|| format!("it must be a number from 1 to {MAX_SPP}, as in 64{}", in_full(text)))
}

/// A whole number from `FIRST` to `LAST`.
pub(crate) fn whole<const FIRST: u32, const LAST: u32>(text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|n| (FIRST..=LAST).contains(n));
    number.ok_or_else(|| format!("it must be a whole number from {FIRST} to {LAST}{}", in_full(text)))
}

/// A hint for numbers of thousands, which are written out; empty for others.
fn in_full(text: &str) -> String {
    let number = |word: &str| {
        let thousands = word.strip_suffix(['k', 'K'])?.parse::<u32>().ok()?;
        thousands.checked_mul(1024).map(|n| n.to_string())
    };
    let words: Vec<&str> = text.split("..").collect();
    if words.iter().all(|word| number(word).is_none()) {
        return String::new();
    }
    let written: Vec<String> =
        words.iter().map(|word| number(word).unwrap_or_else(|| (*word).to_owned())).collect();
    format!("; did you mean {}?", written.join(".."))
}

/// A film's size in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Pixels a row.
    pub(crate) width: u32,
    /// Height in pixels.
    pub(crate) height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |word: &str| word.parse::<u32>().ok().filter(|n| (1..=65_535).contains(n));
        text.split_once(['x', 'X'])
            .and_then(|(width, height)| Some(Self { width: side(width)?, height: side(height)? }))
            .ok_or_else(|| "it must be WIDTHxHEIGHT with sides of 1 to 65535 pixels, as in 640x360".into())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A time in seconds, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub(crate) f64);

impl FromStr for Seconds {
    type Err = String;

    /// A number with `ms`, `s` or `min` behind it; without a unit, seconds.
    fn from_str(text: &str) -> Result<Self, String> {
        let units = [("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("", 1.0)];
        let number = |(unit, scale): (&str, f64)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * scale);
        let found = units.into_iter().find_map(number).filter(|s| s.is_finite() && *s > 0.0);
        found.map(Self).ok_or_else(|| "it must be a time above 0, as in 10s, 500ms or 5min".into())
    }
}

/// Three numbers, all finite: a point or a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Triple(pub(crate) [f32; 3]);

impl FromStr for Triple {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<f32>> = text.split(',').map(|word| word.trim().parse().ok()).collect();
        let found = numbers.and_then(|numbers| <[f32; 3]>::try_from(numbers).ok());
        let finite = found.filter(|numbers| numbers.iter().all(|v| v.is_finite()));
        finite.map(Self).ok_or_else(|| "it must be three numbers, as in 0,1.5,-4".into())
    }
}

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x},{y},{z}")
    }
}

/// A sky: one or three numbers of radiance, else a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EnvironmentArg(pub(crate) EnvironmentOverride);

impl FromStr for EnvironmentArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let grey = text.parse::<f32>().ok().map(|value| [value; 3]);
        let radiance = grey.or_else(|| text.parse::<Triple>().ok().map(|color| color.0));
        let is_image = |path: &Path| {
            path.extension()
                .is_some_and(|end| ["hdr", "exr"].iter().any(|known| end.eq_ignore_ascii_case(known)))
        };
        match radiance {
            Some(radiance) if radiance.iter().all(|v| v.is_finite() && *v >= 0.0) => {
                Ok(Self(EnvironmentOverride::Radiance(radiance)))
            }
            None if is_image(Path::new(text)) => Ok(Self(EnvironmentOverride::File(text.into()))),
            _ => Err("it must be one or three numbers from 0, or a .hdr or .exr file".into()),
        }
    }
}

impl fmt::Display for EnvironmentArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            EnvironmentOverride::Radiance(radiance) => Triple(*radiance).fmt(f),
            EnvironmentOverride::File(path) => path.display().fmt(f),
        }
    }
}

/// A share of a whole, 0 or more: 0.05 for `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl FromStr for Percent {
    type Err = String;

    /// A number of percent, with or without the sign.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse::<f64>().ok();
        let found = number.filter(|n| n.is_finite() && *n >= 0.0);
        found.map(|n| Self(n / 100.0)).ok_or_else(|| "it must be a number of percent from 0, as in 5%".into())
    }
}

/// The name of a kept baseline, which becomes the name of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaselineName(pub(crate) String);

impl FromStr for BaselineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name =
            !text.is_empty() && text.len() <= 100 && !text.starts_with('.') && text.chars().all(is_plain);
        let wrong = "it must be a name of letters, digits, `-`, `_` and `.`, not beginning with `.`";
        if is_name { Ok(Self(text.to_owned())) } else { Err(wrong.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> Option<Vec<u32>> {
        text.parse::<SppSchedule>().ok().map(|l| l.levels)
    }

    #[test]
    fn schedules_double_and_end_where_they_should() {
        assert_eq!(levels("1..8"), Some(vec![1, 2, 4, 8]));
        assert_eq!(levels("3..20"), Some(vec![3, 6, 12, 20]));
        assert_eq!(levels("16"), Some(vec![16]));
        assert_eq!(levels("1..65536").map(|levels| levels.len()), Some(17));
    }

    #[test]
    fn impossible_schedules_are_refused() {
        for text in ["", "0..4", "8..4", "1..65537", "1...4", "a", "-1..4", "1.."] {
            assert_eq!(levels(text), None, "{text}");
        }
        let hint = |text: &str| text.parse::<SppSchedule>().unwrap_err();
        assert!(hint("1k").ends_with("; did you mean 1024?"), "{}", hint("1k"));
        assert!(hint("1..4k").ends_with("; did you mean 1..4096?"), "{}", hint("1..4k"));
        assert!(!hint("a").contains("mean"), "{}", hint("a"));
    }

    #[test]
    fn times_have_units_and_last() {
        let seconds = |text: &str| text.parse::<Seconds>().ok().map(|s| s.0);
        assert_eq!(
            ["10s", "0.5", "250ms", "5min"].map(seconds),
            [Some(10.0), Some(0.5), Some(0.25), Some(300.0)]
        );
        assert_eq!(["0s", "-1s", "s", "", "nan", "inf", "1h"].map(seconds), [None; 7]);
    }

    #[test]
    fn sizes_read_back_as_written() {
        let size: Size = "640x360".parse().unwrap();
        assert_eq!((size.width, size.height, size.to_string().as_str()), (640, 360, "640x360"));
        for text in ["640", "0x1", "1x65536", "x", "1x2x3", "-1x4"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn percents_and_names_of_baselines_are_read_or_refused() {
        assert_eq!("5%".parse(), Ok(Percent(0.05)));
        assert_eq!("0".parse(), Ok(Percent(0.0)));
        for wrong in ["", "%", "-1%", "nan", "inf%", "5%%", "five"] {
            assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
        }
        assert_eq!("main-1.2_a".parse(), Ok(BaselineName("main-1.2_a".into())));
        for wrong in ["", ".", "..", "../x", "a/b", "a b", ".hidden", "é"] {
            assert!(wrong.parse::<BaselineName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn points_and_skies_are_read_or_refused() {
        assert_eq!("0,1.5, -4".parse(), Ok(Triple([0.0, 1.5, -4.0])));
        for wrong in ["", "1", "1,2", "1,2,3,4", "1,2,x", "1,2,inf", "nan,0,0"] {
            assert!(wrong.parse::<Triple>().is_err(), "{wrong}");
        }
        assert_eq!("2".parse(), Ok(EnvironmentArg(EnvironmentOverride::Radiance([2.0; 3]))));
        assert_eq!("0.5,0.7,1".parse(), Ok(EnvironmentArg(EnvironmentOverride::Radiance([0.5, 0.7, 1.0]))));
        assert_eq!("a/day.HDR".parse(), Ok(EnvironmentArg(EnvironmentOverride::File("a/day.HDR".into()))));
        for wrong in ["", "-1", "1,-1,0", "nan", "sky.png", "1,2"] {
            assert!(wrong.parse::<EnvironmentArg>().is_err(), "{wrong}");
        }
    }
}
