//! Floating-point numbers in JSON, with NaN and the infinities.
//!
//! JSON has no infinity and no NaN, but the PSNR of two identical images is infinite and a broken image has
//! NaN errors. Such values are written as the strings `"inf"`, `"-inf"` and `"nan"`. Strings were chosen over
//! `null` because they keep the three cases apart, because Python's `float()` reads them as they are, and
//! because `jq` sorts strings after every number: `select(.psnr < 40)` leaves identical images out, where
//! `null` would let them in. Finite values are plain JSON numbers. On reading, `null` is taken as NaN.

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;

/// Text of a value for JSON strings, CSV cells and tables: the shortest decimal that reads back to the same
/// bits, or `inf`, `-inf`, `nan`.
pub fn text_of(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e15) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// Serialises a value as a number, or as one of the three strings.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(*value)
    } else {
        serializer.serialize_str(&text_of(*value))
    }
}

/// Reads what [`serialize`] writes, plus any JSON number and `null`.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_any(FloatVisitor)
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_unit<E: Error>(self) -> Result<f64, E> {
        Ok(f64::NAN)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<f64, E> {
        match value {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "nan" => Ok(f64::NAN),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Holder {
        #[serde(with = "super")]
        x: f64,
    }

    fn through_json(x: f64) -> f64 {
        let json = serde_json::to_string(&Holder { x }).unwrap();
        serde_json::from_str::<Holder>(&json).unwrap().x
    }

    #[test]
    fn finite_numbers_keep_their_bits() {
        for x in [0.0, -0.0, 1.0 / 3.0, 5e-324, f64::MAX, 7.37, -12345.678e-7] {
            assert_eq!(through_json(x).to_bits(), x.to_bits());
        }
    }

    #[test]
    fn infinities_and_nan_survive() {
        assert_eq!(through_json(f64::INFINITY), f64::INFINITY);
        assert_eq!(through_json(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!(through_json(f64::NAN).is_nan());
        assert_eq!(serde_json::to_string(&Holder { x: f64::INFINITY }).unwrap(), r#"{"x":"inf"}"#);
    }

    #[test]
    fn null_reads_as_nan_and_other_text_is_refused() {
        assert!(serde_json::from_str::<Holder>(r#"{"x":null}"#).unwrap().x.is_nan());
        assert!(serde_json::from_str::<Holder>(r#"{"x":"large"}"#).is_err());
        assert_eq!(serde_json::from_str::<Holder>(r#"{"x":3}"#).unwrap().x, 3.0);
    }

    #[test]
    fn texts_read_back_to_the_same_value() {
        for x in [0.0, 1e-9, 2.5e20, 0.25, -3.0, 1.0 / 3.0, f64::INFINITY] {
            assert_eq!(text_of(x).parse::<f64>().unwrap(), x);
        }
    }
}
