//! Numbers as people read them.

/// A number with four significant digits: plain between 0.001 and 100 000, scientific outside.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    let text = if (1e-3..1e5).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    };
    text.replace('-', "−")
}

/// A number with this many decimals.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}").replace('-', "−") } else { number(value) }
}

/// A similarity: five decimals, and never rounded up to the 1 that means equal.
pub fn similarity(value: f64) -> String {
    if value < 1.0 && value > 0.999_99 { "0.99999".to_owned() } else { fixed(value, 5) }
}

/// A whole number with commas between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole in per cent, with enough digits to tell small ones from none.
pub fn percent(share: f64) -> String {
    if share == 0.0 {
        "0 %".to_owned()
    } else if !share.is_finite() {
        number(share)
    } else if share.abs() < 0.01 {
        format!("{} %", number(share * 100.0))
    } else {
        format!("{} %", fixed(share * 100.0, 1))
    }
}

/// Bytes in binary units.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (value as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}

/// A count with its noun, in the plural unless the count is one.
pub fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", count(n as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_at_any_size() {
        let cases = [
            (0.0, "0"),
            (47.16, "47.16"),
            (7.37, "7.370"),
            (0.001_234_56, "0.001235"),
            (99_999.4, "99999"),
            (123_456.0, "1.23e5"),
            (-0.000_05, "−5.00e−5"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_similarity_below_one_never_reads_as_one() {
        assert_eq!(similarity(1.0), "1.00000");
        assert_eq!(similarity(0.999_999_9), "0.99999");
        assert_eq!(similarity(0.5), "0.50000");
    }

    #[test]
    fn counts_shares_and_bytes_read_well() {
        assert_eq!((count(0), count(999), count(1_234_567)), ("0".into(), "999".into(), "1,234,567".into()));
        assert_eq!(
            (percent(0.0), percent(0.000_012), percent(0.5)),
            ("0 %".into(), "0.001200 %".into(), "50.0 %".into())
        );
        assert_eq!(
            (bytes(12), bytes(1536), bytes(3 << 30)),
            ("12 B".into(), "1.5 KiB".into(), "3.0 GiB".into())
        );
    }
}
