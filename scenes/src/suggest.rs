//! "Did you mean": the nearest of several names.

/// The candidate nearest to `word`, unless all are further away than a third of its length and two letters.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(2);
    let ranked = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    ranked.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, candidate)| candidate)
}

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
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
