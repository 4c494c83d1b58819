//! Errors after given times.

use super::{Cell, Table};
use crate::format::{number, percent};
use crate::labels::qualifier;
use crate::records::mega_per_second;
use crate::study::Study;

/// Samples and error of every target after every time.
pub fn equal_time_table(study: &Study) -> Table {
    let numbers = [
        "Given s",
        "Taken s",
        "spp",
        "Msamples/s",
        "RMSE linear",
        "relMSE",
        "RMSE 8-bit",
        "PSNR",
        "Reference",
    ];
    let mut table =
        Table::new("equal-time", "Error after equal time", &["Scene", "Target"], &numbers).noted(
            "Counted is the time of the passes as in the table of times: by the device's own clock where it has one. Loading, \
             compiling, reading films and comparing are not counted. A pass takes whole samples of every pixel, as many as \
             fit into the time and at least one; “full” marks a film that holds no more.",
        );
    table.notes.push(
        "Reference: the share of the linear MSE that is expected to be the reference's own noise, N over N plus the \
         reference's samples per pixel. Where it is large, targets look more alike than they are; a higher top spp level \
         (--spp) makes a better reference, or --reference names one."
            .to_owned(),
    );
    for e in &study.equal_times {
        let shown = |value: f64| Cell::number(value, number(value));
        let known = |value: Option<f64>| value.map_or_else(Cell::empty, shown);
        let spp = Cell::count(u64::from(e.spp));
        let full = if e.full { ", full" } else { "" };
        let share = e.reference_share();
        table.rows.push(vec![
            Cell::text(&e.scene),
            Cell::text(format!("{}{}", e.target, qualifier(e.mode, &[&e.target], 0, false))),
            Cell::number(e.seconds, e.seconds.to_string()),
            shown(e.render_ms / 1e3),
            Cell { text: format!("{}{full}", spp.text), value: spp.value },
            shown(mega_per_second(e.samples, e.render_ms)),
            known(e.float.map(|m| m.rmse_linear)),
            known(e.float.map(|m| m.rel_mse)),
            shown(e.errors.rmse),
            shown(e.errors.psnr),
            share.map_or_else(Cell::empty, |share| Cell::number(share, percent(share))),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, EqualTime};

    #[test]
    fn a_row_tells_time_samples_error_and_how_much_of_it_is_the_references() {
        let record = EqualTime {
            scene: "s".into(),
            target: "t".into(),
            seconds: 10.0,
            render_ms: 9_500.0,
            spp: 256,
            samples: 19_000_000,
            full: true,
            reference_spp: Some(768),
            ..Default::default()
        };
        let table = equal_time_table(&Study::from_records(vec![record.into()], Environment::default()));
        let texts: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts[2..6], ["10", "9.500", "256, full", "2.000"]);
        assert_eq!(texts.last(), Some(&"25.0 %"));
    }
}
