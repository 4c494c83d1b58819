//! The record: one line of the log, of any kind.

use super::kinds::{
    Bounce, Convergence, Difference, Hits, Load, Map, Noise, Note, RejectedSamples, Skip, Timing,
};
use super::rung::Rung;
use super::{EqualTime, Mode, PortSimilarity, Scaling, Speedup, Sweep};
use crate::port::cost::Cost;
use crate::port::history::History;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of `records.jsonl`, told apart by its field `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// `difference`
    Difference(Difference),
    /// `convergence`
    Convergence(Convergence),
    /// `timing`
    Timing(Timing),
    /// `load`
    Load(Load),
    /// `bounce`
    Bounce(Bounce),
    /// `noise`
    Noise(Noise),
    /// `hits`
    Hits(Hits),
    /// `map`
    Map(Map),
    /// `rung`
    Rung(Rung),
    /// `rejected`
    Rejected(RejectedSamples),
    /// `skip`
    Skip(Skip),
    /// `note`
    Note(Note),
    /// `speedup`
    Speedup(Speedup),
    /// `sweep`
    Sweep(Sweep),
    /// `again`: the first target of a study, timed a second time in the same round as if it were another (A/A)
    Again(Timing),
    /// `equal_time`
    #[serde(rename = "equal_time")]
    EqualTime(EqualTime),
    /// `scaling`
    Scaling(Scaling),
    /// `port_similarity`
    #[serde(rename = "port_similarity")]
    PortSimilarity(PortSimilarity),
    /// `port_cost`
    #[serde(rename = "port_cost")]
    PortCost(Cost),
    /// `port_history`
    #[serde(rename = "port_history")]
    PortHistory(History),
    /// A kind that this version does not know, kept as it was read.
    #[serde(untagged, skip_deserializing)]
    Other(serde_json::Map<String, Value>),
}

/// The kinds that this version knows.
const KINDS: [&str; 20] = [
    "difference",
    "convergence",
    "timing",
    "load",
    "bounce",
    "noise",
    "hits",
    "map",
    "rung",
    "rejected",
    "skip",
    "note",
    "speedup",
    "again",
    "equal_time",
    "scaling",
    "port_similarity",
    "port_cost",
    "port_history",
    "sweep",
];

impl Record {
    /// Reads one line of JSON. A kind that is not known becomes [`Record::Other`].
    ///
    /// # Errors
    /// Text that is not a JSON object with a string `kind`, and fields of a known kind with the wrong type.
    pub fn from_json(line: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(line).map_err(|e| format!("not JSON: {e}"))?;
        let Value::Object(object) = value else {
            return Err("not a JSON object".to_owned());
        };
        match object.get("kind").and_then(Value::as_str) {
            None => Err("no field \"kind\" with a string".to_owned()),
            Some(kind) if KINDS.contains(&kind) => {
                let kind = kind.to_owned();
                serde_json::from_value(Value::Object(object)).map_err(|e| format!("kind \"{kind}\": {e}"))
            }
            Some(_) => Ok(Record::Other(object)),
        }
    }

    /// The record as one line of JSON, without the line's end.
    ///
    /// # Errors
    /// None for records made by this crate; the encoder's message otherwise.
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| e.to_string())
    }

    /// The value of the field `kind`.
    pub fn kind(&self) -> &str {
        match self {
            Record::Difference(_) => "difference",
            Record::Convergence(_) => "convergence",
            Record::Timing(_) => "timing",
            Record::Load(_) => "load",
            Record::Bounce(_) => "bounce",
            Record::Noise(_) => "noise",
            Record::Hits(_) => "hits",
            Record::Map(_) => "map",
            Record::Rung(_) => "rung",
            Record::Rejected(_) => "rejected",
            Record::Skip(_) => "skip",
            Record::Note(_) => "note",
            Record::Speedup(_) => "speedup",
            Record::Sweep(_) => "sweep",
            Record::Again(_) => "again",
            Record::EqualTime(_) => "equal_time",
            Record::Scaling(_) => "scaling",
            Record::PortSimilarity(_) => "port_similarity",
            Record::PortCost(_) => "port_cost",
            Record::PortHistory(_) => "port_history",
            Record::Other(object) => object.get("kind").and_then(Value::as_str).unwrap_or(""),
        }
    }

    /// What the record is about, apart from what was measured. Of several records with the same key the last
    /// one counts. Records of unknown kinds have no key.
    pub fn key(&self) -> Option<String> {
        let separator = "\u{1f}";
        let parts: Vec<String> = match self {
            Record::Difference(r) => {
                vec![
                    r.scene.clone(),
                    r.a.clone(),
                    r.b.clone(),
                    r.spp.to_string(),
                    r.seed.to_string(),
                    mode(&r.mode),
                ]
            }
            Record::Convergence(r) => {
                vec![r.scene.clone(), r.target.clone(), r.spp.to_string(), r.seed.to_string(), mode(&r.mode)]
            }
            Record::Timing(r) | Record::Again(r) => vec![
                r.scene.clone(),
                r.target.clone(),
                r.spp_from.to_string(),
                r.spp_to.to_string(),
                r.seed.to_string(),
                r.repeat.to_string(),
                mode(&r.mode),
            ],
            Record::Load(r) => vec![r.scene.clone(), r.target.clone(), mode(&r.mode)],
            Record::Bounce(r) => vec![
                r.scene.clone(),
                r.target.clone(),
                r.spp_from.to_string(),
                r.spp_to.to_string(),
                r.bounce.to_string(),
            ],
            Record::Noise(r) => vec![
                r.scene.clone(),
                r.target.clone(),
                r.spp.to_string(),
                r.seed.to_string(),
                r.other_seed.to_string(),
                mode(&r.mode),
            ],
            Record::Hits(r) => {
                vec![r.scene.clone(), r.a.clone(), r.b.clone(), r.spp.to_string(), r.seed.to_string()]
            }
            Record::Map(r) => vec![
                r.scene.clone(),
                r.a.clone(),
                r.b.clone(),
                r.spp.to_string(),
                r.seed.to_string(),
                r.quantity.clone(),
            ],
            Record::Rung(r) => {
                vec![r.scene.clone(), r.a.clone(), r.b.clone(), r.seed.to_string(), r.place.to_string()]
            }
            Record::Rejected(r) => {
                vec![r.scene.clone(), r.target.clone(), r.spp.to_string(), r.seed.to_string()]
            }
            Record::Skip(r) => vec![r.target.clone(), r.scene.clone().unwrap_or_default()],
            Record::Note(r) => {
                vec![
                    r.scene.clone().unwrap_or_default(),
                    r.target.clone().unwrap_or_default(),
                    r.text.clone(),
                ]
            }
            Record::Speedup(r) => {
                vec![r.scene.clone(), r.target.clone(), r.seed.to_string()]
            }
            Record::EqualTime(r) => {
                vec![r.scene.clone(), r.target.clone(), r.seconds.to_string(), r.seed.to_string()]
            }
            Record::Scaling(r) => {
                vec![r.scene.clone(), r.target.clone(), r.threads.to_string(), r.seed.to_string()]
            }
            Record::PortSimilarity(r) => vec![r.a.clone(), r.b.clone(), r.shortest.to_string()],
            // A study is of one project: what is counted again replaces what was.
            Record::PortCost(_) | Record::PortHistory(_) => Vec::new(),
            Record::Sweep(r) => vec![
                r.scene.clone(),
                r.target.clone(),
                r.variant.clone(),
                r.repeat.to_string(),
                r.again.to_string(),
            ],
            Record::Other(_) => return None,
        };
        Some(format!("{}{separator}{}", self.kind(), parts.join(separator)))
    }
}

fn mode(mode: &Mode) -> String {
    mode.as_str().to_owned()
}

macro_rules! record_from {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Record {
            fn from(record: $kind) -> Self {
                Record::$kind(record)
            }
        })*
    };
}
record_from!(
    Difference,
    Convergence,
    Timing,
    Load,
    Bounce,
    Noise,
    Hits,
    Map,
    Rung,
    Skip,
    Note,
    Speedup,
    EqualTime,
    Scaling,
    PortSimilarity,
    Sweep
);

impl From<RejectedSamples> for Record {
    fn from(record: RejectedSamples) -> Self {
        Record::Rejected(record)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Errors;
    use super::super::rung::WorstPath;
    use super::*;

    #[test]
    fn a_difference_has_the_documented_fields() {
        let errors = Errors { psnr: f64::INFINITY, ..Default::default() };
        let record = Record::from(Difference { errors, identical: true, ..Default::default() });
        let json: Value = serde_json::from_str(&record.to_json().unwrap()).unwrap();
        for field in [
            "kind",
            "scene",
            "a",
            "b",
            "spp",
            "seed",
            "mse",
            "mse_linear",
            "psnr",
            "ssim",
            "max_abs",
            "pixels_differing",
            "identical",
        ] {
            assert!(json.get(field).is_some(), "{field}");
        }
        assert_eq!(json["kind"], "difference");
        assert_eq!(json["psnr"], "inf");
    }

    #[test]
    fn errors_are_fields_of_the_record_between_what_was_compared_and_how() {
        let errors = Errors { mse: 0.5, psnr: f64::INFINITY, ..Default::default() };
        let record = Record::from(Convergence { errors, ..Default::default() });
        let expected = r#"{"kind":"convergence","scene":"","target":"","spp":0,"seed":0,"mse":0.5,"mse_linear":0.0,"rmse":0.0,"psnr":"inf","ssim":0.0,"against":"","mode":"exact"}"#;
        assert_eq!(record.to_json().unwrap(), expected);
    }

    #[test]
    fn every_kind_reads_back_as_it_was_written() {
        let errors = Errors { mse: 0.5, psnr: f64::INFINITY, ..Default::default() };
        let records = [
            Record::from(Difference { scene: "s\"<é".into(), errors, ..Default::default() }),
            Difference { float: Some(crate::metrics::Metrics::EQUAL.float), ..Default::default() }.into(),
            Convergence { errors, mode: Mode::Fast, ..Default::default() }.into(),
            Timing { extension_rays_by_bounce: vec![3, 2, 1], ..Default::default() }.into(),
            Load { device_bytes: u64::MAX, ..Default::default() }.into(),
            Bounce { bounce: 2, ..Default::default() }.into(),
            Hits { share: 0.25, ..Default::default() }.into(),
            Map { quantity: "flip".into(), ..Default::default() }.into(),
            Rung { worst: vec![WorstPath { ulps: Some(3), ..Default::default() }], ..Default::default() }
                .into(),
            RejectedSamples { clamped: 1, ..Default::default() }.into(),
            Skip { scene: Some("x".into()), ..Default::default() }.into(),
            Note { text: "stopped".into(), ..Default::default() }.into(),
            Speedup { total: 1.25, mode: Mode::Fast, ..Default::default() }.into(),
            Record::Again(Timing { repeat: 2, ..Default::default() }),
            EqualTime { seconds: 0.5, reference_spp: Some(64), ..Default::default() }.into(),
            Scaling { times_ms: vec![1.5, 2.0], ..Default::default() }.into(),
            PortSimilarity { pairs: vec![Default::default()], ..Default::default() }.into(),
            Record::PortCost(Cost { ports: vec![Default::default()], ..Default::default() }),
            Record::PortHistory(History { changes: 3, ..Default::default() }),
        ];
        for record in records {
            assert_eq!(Record::from_json(&record.to_json().unwrap()).unwrap(), record);
            assert!(KINDS.contains(&record.kind()));
        }
    }

    #[test]
    fn unknown_kinds_fields_and_modes_are_tolerated_and_kept() {
        let later = r#"{"kind":"welch","scene":"a","p":[0.5,1]}"#;
        let record = Record::from_json(later).unwrap();
        assert_eq!(record.kind(), "welch");
        assert_eq!(
            serde_json::from_str::<Value>(&record.to_json().unwrap()).unwrap(),
            serde_json::from_str::<Value>(later).unwrap()
        );
        let more = r#"{"kind":"difference","scene":"a","noise_floor":2.0,"mode":"quick"}"#;
        let Record::Difference(d) = Record::from_json(more).unwrap() else { panic!() };
        assert_eq!((d.scene.as_str(), d.mode.as_str()), ("a", "quick"));
    }

    #[test]
    fn what_is_not_a_record_is_refused_with_a_reason() {
        assert!(Record::from_json("{").unwrap_err().starts_with("not JSON"));
        assert_eq!(Record::from_json("[1]").unwrap_err(), "not a JSON object");
        assert!(Record::from_json(r#"{"scene":"a"}"#).unwrap_err().contains("kind"));
        assert!(Record::from_json(r#"{"kind":"load","triangles":-1}"#).unwrap_err().contains("load"));
    }

    #[test]
    fn rates_follow_from_rays_and_times() {
        let t = Timing {
            generate_ms: 1.0,
            extend_ms: 4.0,
            shade_ms: 2.0,
            connect_ms: 2.0,
            total_ms: 10.0,
            trace_ms: 5.0,
            extension_rays: 15_000,
            shadow_rays: 5_000,
            ..Default::default()
        }
        .with_derived();
        assert_eq!((t.other_ms, t.mrays_inclusive, t.mrays_exclusive), (1.0, 2.0, 4.0));
        assert!(Timing::default().with_derived().mrays_inclusive.is_nan());
    }

    #[test]
    fn keys_tell_points_apart_and_ignore_measurements() {
        let mse = |mse| Errors { mse, ..Default::default() };
        let a = Record::from(Difference { spp: 1, errors: mse(1.0), ..Default::default() });
        let again = Record::from(Difference { spp: 1, errors: mse(2.0), ..Default::default() });
        let other = Record::from(Difference { spp: 2, errors: mse(1.0), ..Default::default() });
        assert_eq!(a.key(), again.key());
        assert_ne!(a.key(), other.key());
    }
}
