//! Cost and history as Markdown.

use super::similarity::table;
use crate::format::{count, fixed, percent};
use lockstep_port::cost::{Cost, EXPLANATION, SHARED};
use lockstep_port::history::History;

/// The cost of each backend in Markdown: lines, degree of portability, and hours where any are known. A table wider than
/// `width` leaves out what follows from the rest.
pub fn cost_markdown(cost: &Cost, width: Option<usize>) -> String {
    let with_hours = cost.ports.iter().any(|port| port.hours.is_some());
    let mut head =
        words(&["backend", "files", "host", "device", "C_port", "C_redevelop", "degree of portability"]);
    if with_hours {
        head.push("hours".to_owned());
    }
    let mut rows = vec![head];
    let whole = |n: usize| count(n as u64);
    for port in &cost.ports {
        let redevelop = port.own.total() + cost.shared.total();
        let degree = port.degree.map_or_else(|| "–".to_owned(), |degree| fixed(degree, 3));
        let mut row =
            vec![port.backend.clone(), whole(port.files), whole(port.own.host), whole(port.own.device)];
        row.extend([whole(port.own.total()), whole(redevelop), degree]);
        if with_hours {
            row.push(port.hours.map_or_else(|| "–".to_owned(), |hours| hours.to_string()));
        }
        rows.push(row);
    }
    let mut shared =
        vec![SHARED.to_owned(), whole(cost.shared_files), whole(cost.shared.host), whole(cost.shared.device)];
    shared.resize(rows[0].len(), String::new());
    rows.push(shared);
    let mut text = table(&rows, 1, &["C_redevelop", "C_port", "files"], width);
    if cost.not_counted > 0 {
        text.push_str(&format!(
            "\n{} other source files are in no place of the layout.\n",
            whole(cost.not_counted)
        ));
    }
    format!("{text}\n{EXPLANATION}")
}

/// The history of changes in Markdown: how often changes touched one of two backends alone. Tables keep within `width` as
/// those of [`cost_markdown`] do.
pub fn history_markdown(history: &History, width: Option<usize>) -> String {
    let mut rows = vec![words(&["A", "B", "both", "A only", "B only", "one without the other"])];
    for pair in &history.pairs {
        let alone = pair.only_a + pair.only_b;
        let all = alone + pair.both;
        let share = if all == 0 { "–".to_owned() } else { percent(alone as f64 / all as f64) };
        let mut row = vec![pair.a.clone(), pair.b.clone()];
        row.extend([pair.both, pair.only_a, pair.only_b].map(|n| count(n as u64)));
        row.push(share);
        rows.push(row);
    }
    format!(
        "{}\n{} changes touched the layout's sources, {} of them shared ones alone.\n",
        table(&rows, 2, &["both", "A only", "B only"], width),
        count(history.changes as u64),
        count(history.shared_only as u64)
    )
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_port::cost::{Lines, PortCost};

    #[test]
    fn the_table_gives_the_degree_with_its_formula_and_hours_only_where_known() {
        let own = Lines { host: 20, device: 5 };
        let port = PortCost { backend: "cuda".into(), files: 2, own, degree: Some(0.75), hours: None };
        let shared = Lines { host: 0, device: 75 };
        let mut cost = Cost { shared, shared_files: 1, ports: vec![port], not_counted: 0 };
        let text = cost_markdown(&cost, None);
        assert!(text.contains("0.750") && text.contains("1 - C_port / C_redevelop"), "{text}");
        assert!(!text.contains("hours"), "{text}");
        cost.ports[0].hours = Some(7.5);
        assert!(cost_markdown(&cost, None).contains("7.5"));
        let narrow = cost_markdown(&cost, Some(60));
        let rows: Vec<&str> = narrow.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows.len() == 4 && rows.iter().all(|row| row.chars().count() <= 60), "{narrow}");
        assert!(
            rows[0].contains("degree of portability")
                && narrow.contains("Left out for want of width: C_redevelop")
        );
    }
}
