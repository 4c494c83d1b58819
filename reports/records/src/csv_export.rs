//! `records.csv`: the same records, flat, one column per field of any kind.

use super::{Record, RecordError, StageTime};
use lockstep_metrics::float;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// All records as CSV: a header with `kind` first, then every field in order of first appearance; one row a record; fields
/// that a kind lacks are empty. Every stage has a column, such as `merge_ms`. Lists are joined by `;`. Non-finite numbers are
/// `inf`, `-inf` and `nan`.
///
/// # Errors
/// [`RecordError::Encode`], with `path` as the place, when a record cannot be encoded.
pub fn records_to_csv(records: &[Record], path: &Path) -> Result<String, RecordError> {
    let encode = |message: String| RecordError::Encode { path: path.to_owned(), message };
    let mut columns = vec!["kind".to_owned()];
    let mut rows = Vec::with_capacity(records.len());
    for record in records {
        let line = record.to_json().map_err(encode)?;
        let object: OrderedObject = serde_json::from_str(&line).map_err(|e| encode(e.to_string()))?;
        let fields = with_stage_columns(object.0);
        for (name, _) in &fields {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        rows.push(fields);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns).map_err(|e| encode(e.to_string()))?;
    for fields in &rows {
        let cells = columns.iter().map(|column| {
            fields.iter().find(|(name, _)| name == column).map_or_else(String::new, |f| cell(&f.1))
        });
        writer.write_record(cells).map_err(|e| encode(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| encode(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| encode(e.to_string()))
}

/// Writes [`records_to_csv`] to a file in one step.
///
/// # Errors
/// [`RecordError::Encode`] and [`RecordError::Write`].
pub fn write_records_csv(path: &Path, records: &[Record]) -> Result<(), RecordError> {
    let text = records_to_csv(records, path)?;
    Ok(lockstep_metrics::image_io::atomic_write_text(path, &text)?)
}

/// Fields with one for every stage in place of the list of stages. Those that are there already, such as `shade_ms`, stay.
fn with_stage_columns(fields: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut flat: Vec<(String, Value)> = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        match stage_times(&name, &value) {
            Some(stages) => {
                for StageTime { name, ms } in stages {
                    let column = format!("{}_ms", name.replace(' ', "_"));
                    if flat.iter().all(|(known, _)| *known != column) {
                        flat.push((column, ms.into()));
                    }
                }
            }
            None => flat.push((name, value)),
        }
    }
    flat
}

/// The times of a list of stages; nothing for any other field.
fn stage_times(name: &str, value: &Value) -> Option<Vec<StageTime>> {
    if name == "stages" { Vec::deserialize(value).ok() } else { None }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) if n.is_f64() => n.as_f64().map_or_else(|| n.to_string(), float::text_of),
        Value::Number(n) => n.to_string(),
        Value::String(s) => s.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(";"),
        Value::Object(_) => value.to_string(),
    }
}

/// A JSON object with its fields in the order of the text.
struct OrderedObject(Vec<(String, Value)>);

impl<'de> serde::Deserialize<'de> for OrderedObject {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> serde::de::Visitor<'de> for Fields {
            type Value = OrderedObject;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<OrderedObject, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(OrderedObject(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Errors, Skip, Timing};

    #[test]
    fn rows_of_different_kinds_share_one_header() {
        let errors = Errors { psnr: f64::INFINITY, ..Default::default() };
        let records = [
            Record::from(Skip {
                target: Some("cuda".into()),
                reason: "no \"driver\", sorry".into(),
                ..Default::default()
            }),
            Difference { scene: "a".into(), errors, ..Default::default() }.into(),
            Timing {
                shade_ms: 2.0,
                stages: [("shade", 2.0), ("photon map", 0.5)]
                    .map(|(name, ms)| StageTime { name: name.into(), ms })
                    .into(),
                extension_rays_by_bounce: vec![4, 2],
                ..Default::default()
            }
            .into(),
        ];
        let text = records_to_csv(&records, Path::new("records.csv")).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        let column = |name: &str| header.iter().position(|h| h == name).unwrap();
        assert_eq!(&header[0], "kind");
        assert_eq!(&rows[0][column("reason")], "no \"driver\", sorry");
        assert_eq!(&rows[1][column("psnr")], "inf");
        assert_eq!(&rows[1][column("reason")], "");
        assert_eq!(&rows[2][column("extension_rays_by_bounce")], "4;2");
        assert_eq!((&rows[2][column("shade_ms")], &rows[2][column("photon_map_ms")]), ("2", "0.5"));
        assert_eq!(header.iter().filter(|name| ["shade_ms", "stages"].contains(name)).count(), 1);
    }
}
