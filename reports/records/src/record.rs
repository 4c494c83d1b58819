//! The record: one line of the log, of any kind.

use crate::{
    Bounce, Convergence, Crops, Difference, Divergence, Efficiency, EqualTime, FilmHash, FirstDivergence,
    Hits, InvalidSamples, Load, Map, Noise, Note, OverSeeds, PortSimilarity, Pyramid, RunFailure, Scaling,
    Sharing, Skip, Speedup, Timing, Tune, fault, mode,
};
use lockstep_core::TargetId;
use lockstep_port::cost::Cost;
use lockstep_port::history::History;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Separates the fields of a key.
const SEPARATOR: &str = "\u{1f}";

/// Declares the kinds of records: `[variant] fields = kind or kind in older files, key [fields of the key]`.
/// A variant is made from its fields by `From`, unless it is declared by `only`: its fields are those of
/// another variant.
macro_rules! record_kinds {
    ($(
        $(#[doc = $doc:literal])*
        $($only:ident)? [$variant:ident] $fields:ident = $kind:literal $(or $old:literal)? key [$($field:ident),*];
    )*) => {
        /// One line of `records.jsonl`, told apart by its field `kind`.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum Record {
            $($(#[doc = $doc])* #[serde(rename = $kind)] $variant($fields),)*
            /// A kind that this version does not know, kept as it was read.
            #[serde(untagged)]
            Other(serde_json::Map<String, Value>),
        }

        /// Whether the running version knows a kind.
        fn is_known(kind: &str) -> bool {
            [$($kind, $($old,)?)*].contains(&kind)
        }

        /// Reads the fields of a record of a known kind; nothing where the kind is not known.
        fn read_fields(kind: &str, fields: Value) -> Option<serde_json::Result<Record>> {
            Some(match kind {
                $($kind $(| $old)? => serde_json::from_value(fields).map(Record::$variant),)*
                _ => return None,
            })
        }

        impl Record {
            /// The value of the field `kind`.
            pub fn kind(&self) -> &str {
                match self {
                    $(Record::$variant(_) => $kind,)*
                    Record::Other(object) => object.get("kind").and_then(Value::as_str).unwrap_or(""),
                }
            }

            /// Identifies the point that was measured, apart from the result. Of several records with the
            /// same key the last one counts. Records of unknown kinds have no key.
            pub fn key(&self) -> Option<String> {
                let fields: Vec<String> = match self {
                    $(Record::$variant(_r) => vec![$(_r.$field.key_text()),*],)*
                    Record::Other(_) => return None,
                };
                Some(format!("{}{SEPARATOR}{}", self.kind(), fields.join(SEPARATOR)))
            }
        }

        $(record_kinds!(@from $($only)? $variant $fields);)*
    };
    (@from only $variant:ident $fields:ident) => {};
    (@from $variant:ident $fields:ident) => {
        impl From<$fields> for Record {
            fn from(record: $fields) -> Self {
                Record::$variant(record)
            }
        }
    };
}

record_kinds! {
    /// Two targets' images, compared.
    [Difference] Difference = "difference" key [scene, a, b, spp, seed, mode];
    /// A target's image against the reference.
    [Convergence] Convergence = "convergence" key [scene, target, spp, seed, mode];
    /// Stage times and rays of one step.
    [Timing] Timing = "timing" key [scene, target, spp_from, spp_to, seed, repeat, mode];
    /// Loading a scene.
    [Load] Load = "load" key [scene, target, mode];
    /// Rays of one bounce.
    [Bounce] Bounce = "bounce" key [scene, target, spp_from, spp_to, bounce];
    /// A target against itself under another seed.
    [Noise] Noise = "noise" key [scene, target, spp, seed, other_seed, mode];
    /// Two targets' hits, compared ray by ray, in older studies.
    [Hits] Hits = "hits" key [scene, a, b, spp, seed];
    /// A picture of where two images differ.
    [Map] Map = "map" key [scene, a, b, spp, seed, quantity];
    /// Two targets' paths, compared and classified by the first quantity in which each differs.
    [Divergence] Divergence = "divergence" key [scene, a, b, seed, scope, spp];
    /// One quantity of two targets' paths, in older studies.
    [FirstDivergence] FirstDivergence = "first_divergence" or "rung" key [scene, a, b, seed, place];
    /// Samples that a film refused or altered.
    [Invalid] InvalidSamples = "invalid" or "rejected" key [scene, target, spp, seed];
    /// A target or scene that was left out.
    [Skip] Skip = "skip" key [target, scene];
    /// A remark.
    [Note] Note = "note" key [scene, target, text];
    /// A fast build's speed over the exact one's.
    [Speedup] Speedup = "speedup" key [scene, target, seed];
    /// One kernel configuration, timed.
    [Tune] Tune = "tune" or "sweep" key [scene, target, configuration, repeat, aa_control];
    /// The first target of a study, timed a second time in the same round as if it were another (A/A).
    only [AaControl] Timing = "aa_control" or "again" key [scene, target, spp_from, spp_to, seed, repeat, mode];
    /// The error that a target reaches in a given time.
    [EqualTime] EqualTime = "equal_time" key [scene, target, seconds, seed];
    /// Parts of integrators' images after equal time.
    [Crops] Crops = "crops" key [scene, target, seconds, seed];
    /// Two integrators on one target.
    [Efficiency] Efficiency = "efficiency" key [scene, a, b, spp, seed];
    /// The techniques of a bidirectional integrator.
    [Pyramid] Pyramid = "pyramid" key [scene, integrator, spp, seed];
    /// The time of a CPU target by number of threads.
    [Scaling] Scaling = "scaling" key [scene, target, threads, seed];
    /// Several targets on one image.
    [Sharing] Sharing = "sharing" key [scene, group, targets, schedule, seed];
    /// The hash of a film.
    [Film] FilmHash = "film" key [scene, target, spp, seed];
    /// The verdict on two targets by their images of all seeds.
    [OverSeeds] OverSeeds = "over_seeds" key [scene, a, b, spp, mode];
    /// A run of a program that left no image to compare.
    [RunFailure] RunFailure = "run_failure" key [scene, target, spp, seed];
    /// Similarity of two folders of sources.
    [PortSimilarity] PortSimilarity = "port_similarity" key [a, b, shortest];
    /// Lines of the ports. A study is of one project: a new count replaces the old.
    [PortCost] Cost = "port_cost" key [];
    /// Changes to the ports. A new count replaces the old.
    [PortHistory] History = "port_history" key [];
}

/// The text of a field in a key.
trait KeyText {
    fn key_text(&self) -> String;
}

macro_rules! key_text {
    ($($field:ty),*) => {
        $(impl KeyText for $field {
            fn key_text(&self) -> String {
                self.to_string()
            }
        })*
    };
}
key_text!(String, u32, u64, usize, f64, bool, crate::Mode, crate::DivergenceScope, TargetId);

impl KeyText for Vec<TargetId> {
    fn key_text(&self) -> String {
        self.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
}

impl<T: ToString> KeyText for Option<T> {
    fn key_text(&self) -> String {
        self.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Record {
    /// Reads one line of JSON. A kind that is not known becomes [`Record::Other`]; a mode that is not known
    /// is read as [`crate::Mode::Fast`].
    ///
    /// # Errors
    /// Text that is not a JSON object with a string `kind`, and fields of a known kind with the wrong type, by name.
    pub fn from_json(line: &str) -> Result<Self, String> {
        Self::from_value(serde_json::from_str(line).map_err(|e| format!("not JSON: {e}"))?)
    }

    fn from_value(value: Value) -> Result<Self, String> {
        let Value::Object(mut object) = value else {
            return Err("not a JSON object".to_owned());
        };
        let kind = match object.get("kind").and_then(Value::as_str) {
            None => return Err("no field \"kind\" with a string".to_owned()),
            Some(kind) if is_known(kind) => kind.to_owned(),
            Some(_) => return Ok(Record::Other(object)),
        };
        object.remove("kind");
        mode::make_known(&mut object);
        match read_fields(&kind, Value::Object(object.clone())) {
            Some(Ok(record)) => Ok(record),
            Some(Err(error)) => Err(fault::describe(&kind, &object, &error, read_fields)),
            None => Ok(Record::Other(object)),
        }
    }

    /// The record as one line of JSON, without the line's end.
    ///
    /// # Errors
    /// None for records made by this crate; the encoder's message otherwise.
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DivergenceScope, Errors, FieldCount, Mode, QuantityDivergence, RunFault, StageTime, Tests, WorstPath,
    };
    use lockstep_metrics::metrics::Metrics;

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
            Difference { float: Some(Metrics::EQUAL.float), ..Default::default() }.into(),
            Convergence { errors, mode: Mode::Fast, ..Default::default() }.into(),
            Timing { extension_rays_by_bounce: vec![3, 2, 1], ..Default::default() }.into(),
            Timing { stages: vec![StageTime { name: "merge".into(), ms: 0.5 }], ..Default::default() }.into(),
            Load { device_bytes: u64::MAX, photon_map_bytes: 7, ..Default::default() }.into(),
            Bounce { bounce: 2, ..Default::default() }.into(),
            Hits { share: 0.25, ..Default::default() }.into(),
            Map { quantity: "flip".into(), ..Default::default() }.into(),
            Divergence {
                scope: DivergenceScope::DifferingPixels,
                quantities: vec![QuantityDivergence {
                    fields: vec![FieldCount::default()],
                    ..Default::default()
                }],
                ..Default::default()
            }
            .into(),
            FirstDivergence {
                worst: vec![WorstPath { ulps: Some(3), ..Default::default() }],
                ..Default::default()
            }
            .into(),
            InvalidSamples { clamped: 1, ..Default::default() }.into(),
            Skip { scene: Some("x".into()), ..Default::default() }.into(),
            Note { text: "stopped".into(), ..Default::default() }.into(),
            Speedup { total: 1.25, mode: Mode::Fast, ..Default::default() }.into(),
            Record::AaControl(Timing { repeat: 2, ..Default::default() }),
            EqualTime { seconds: 0.5, reference_spp: Some(64), ..Default::default() }.into(),
            Crops { cells: vec![Default::default()], ..Default::default() }.into(),
            Efficiency { median: f64::INFINITY, won_by_b: 3, ..Default::default() }.into(),
            Pyramid { techniques: vec![Default::default()], ..Default::default() }.into(),
            Scaling { times_ms: vec![1.5, 2.0], ..Default::default() }.into(),
            PortSimilarity { pairs: vec![Default::default()], ..Default::default() }.into(),
            Record::PortCost(Cost { ports: vec![Default::default()], ..Default::default() }),
            Record::PortHistory(History { changes: 3, ..Default::default() }),
            Tune { configuration: "megakernel".into(), ..Default::default() }.into(),
            FilmHash::new("s", &"cuda@0+fast".into(), 4, 1, "ab12").into(),
            OverSeeds { seeds: vec![0, 1], tests: Some(Tests::default()), ..Default::default() }.into(),
            RunFailure { fault: RunFault::TimeOut, last_lines: vec!["x".into()], ..Default::default() }
                .into(),
        ];
        for record in records {
            assert_eq!(Record::from_json(&record.to_json().unwrap()).unwrap(), record);
            assert!(is_known(record.kind()));
        }
    }

    #[test]
    fn a_timing_without_a_list_of_stages_has_the_four_of_path_tracing_and_is_written_without_one() {
        let old = r#"{"kind":"timing","generate_ms":1.0,"shade_ms":2.0,"other_ms":0.5,"total_ms":3.5}"#;
        let Record::Timing(mut timing) = Record::from_json(old).unwrap() else { panic!() };
        assert!(!Record::from(timing.clone()).to_json().unwrap().contains("stages"));
        let named = |timing: &Timing| -> (Vec<(String, f64)>, f64) {
            let (stages, other) = timing.by_stage();
            (stages.into_iter().map(|stage| (stage.name.into_owned(), stage.ms)).collect(), other)
        };
        let four = [("generate", 1.0), ("extend", 0.0), ("shade", 2.0), ("connect", 0.0)];
        assert_eq!(named(&timing), (four.map(|(name, ms)| (name.to_owned(), ms)).into(), 0.5));
        timing.stages = vec![StageTime { name: "merge".into(), ms: 3.0 }];
        assert_eq!(named(&timing), (vec![("merge".to_owned(), 3.0)], 0.5));
    }

    #[test]
    fn targets_are_written_as_they_were_read_whatever_their_names() {
        for name in ["cuda@0+fast+path+tree", "together(a,b@1)+vcm", "my run, 4 spp.exr", "x@", "+fast", ""] {
            let pair = Difference { a: name.into(), b: "b".into(), ..Default::default() };
            let skip = Skip { target: (!name.is_empty()).then(|| name.into()), ..Default::default() };
            let shared = Sharing { group: name.into(), targets: vec![name.into(); 2], ..Default::default() };
            for (record, field) in [(pair.into(), "a"), (skip.into(), "target"), (shared.into(), "group")] {
                let line = Record::to_json(&record).unwrap();
                let json: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(json[field], name, "{line}");
                assert_eq!(Record::from_json(&line).unwrap(), record);
            }
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
        assert_eq!((d.scene.as_str(), d.mode), ("a", Mode::Fast));
    }

    #[test]
    fn what_is_not_a_record_is_refused_with_a_reason() {
        assert!(Record::from_json("{").unwrap_err().starts_with("not JSON"));
        assert_eq!(Record::from_json("[1]").unwrap_err(), "not a JSON object");
        assert!(Record::from_json(r#"{"scene":"a"}"#).unwrap_err().contains("kind"));
        let refused = |line| Record::from_json(line).unwrap_err();
        assert_eq!(
            refused(r#"{"kind":"load","scene":"a","triangles":-1}"#),
            "a record of the kind \"load\" has a wrong value in its field \"triangles\": a whole number from 0 on is \
             expected here, not -1"
        );
        assert_eq!(
            refused(r#"{"kind":"timing","spp_to":"x","scene":3}"#),
            "a record of the kind \"timing\" has a wrong value in its fields \"scene\", \"spp_to\": a string is expected \
             here, not 3"
        );
        let nested = refused(r#"{"kind":"divergence","quantities":[{"fields":[{"paths":true}]}]}"#);
        assert!(
            nested.contains("\"quantities\": a whole number from 0 on is expected here, not true"),
            "{nested}"
        );
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

    #[test]
    fn a_film_is_told_by_scene_target_spp_and_seed_and_reads_as_older_versions_wrote_it() {
        let line = r#"{"hash":"ab12","kind":"film","mode":"fast","scene":"s","seed":1,"spp":4,"target":"cuda@0+fast"}"#;
        let film = FilmHash::new("s", &"cuda@0+fast".into(), 4, 1, "ab12");
        assert_eq!(Record::from_json(line).unwrap(), film.clone().into());
        assert_eq!(
            Record::from(film.clone()).key(),
            Record::from(FilmHash { hash: String::new(), ..film }).key()
        );
    }

    #[test]
    fn kinds_and_fields_are_read_by_the_names_that_older_files_have() {
        let old = r#"{"kind":"rung","scene":"s","rung":"depth"}"#;
        let new = FirstDivergence { scene: "s".into(), quantity: "depth".into(), ..Default::default() };
        assert_eq!(Record::from_json(old).unwrap(), new.into());
        let old = Record::from_json(r#"{"kind":"sweep","scene":"s","variant":"megakernel"}"#).unwrap();
        assert_eq!(
            old,
            Tune { scene: "s".into(), configuration: "megakernel".into(), ..Default::default() }.into()
        );
        assert!(old.to_json().unwrap().starts_with(r#"{"kind":"tune","#));
        let old = r#"{"kind":"tune","scene":"s","again":true}"#;
        let control = Tune { scene: "s".into(), aa_control: true, ..Default::default() };
        assert_eq!(Record::from_json(old).unwrap(), control.into());
        let old = Record::from_json(r#"{"kind":"again","scene":"s","repeat":2}"#).unwrap();
        let control = Timing { scene: "s".into(), repeat: 2, ..Default::default() };
        assert_eq!(old, Record::AaControl(control));
        assert!(old.to_json().unwrap().starts_with(r#"{"kind":"aa_control","#));
    }
}
