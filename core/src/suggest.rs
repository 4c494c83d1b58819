//! "Did you mean": the nearest of several names.

/// The candidate nearest to `word`, unless all are further away than a third of its length and two letters. Things
/// without a name are none.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(2);
    let named = candidates.into_iter().filter(|candidate| !candidate.is_empty());
    let ranked = named.map(|candidate| (distance(word, candidate), candidate));
    ranked.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, candidate)| candidate)
}

/// A list of names for an error message: the first 30 and the number of the rest; `none` for no names.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let skipped = quoted.len().saturating_sub(MAX_LISTED);
    quoted.truncate(MAX_LISTED);
    match (quoted.len(), skipped) {
        (0, _) => "none".into(),
        (_, 0) => quoted.join(", "),
        (_, more) => format!("{} and {more} more", quoted.join(", ")),
    }
}

/// Names that an error lists at most.
const MAX_LISTED: usize = 30;

/// Insertions, deletions and substitutions between two words, ignoring case (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_word() {
        let words = ["camera", "sky", "sun", "lights"];
        assert_eq!(nearest("camrea", words), Some("camera"));
        assert_eq!(nearest("light", words), Some("lights"));
        assert_eq!(nearest("environment", words), None);
        assert_eq!(nearest("b", [""]), None, "nobody means what has no name");
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn lists_end_where_an_error_has_no_more_room() {
        assert_eq!(list([]), "none");
        assert_eq!(list(["a", "b"]), "`a`, `b`");
        assert!(list(["a"; 40]).ends_with("`a` and 10 more"));
    }
}
