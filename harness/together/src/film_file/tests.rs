use super::*;
use lockstep_core::Settings;
use proptest::prelude::*;

fn identity(width: u32, height: u32) -> Identity {
    Identity {
        scene: "s".into(),
        scene_hash: "h".into(),
        settings: Settings { width, height, ..Settings::default() },
        semantics: "k".into(),
        films_of: "exact".into(),
    }
}

/// A film of random sums that holds these samples.
fn part(samples: &SampleSet, salt: i64) -> PartialFilm {
    let identity = identity(5, 3);
    let mut film = Film::new(5, 3).unwrap();
    film.spp = samples.len() as u32;
    for (i, sum) in film.sums.as_flattened_mut().iter_mut().enumerate() {
        *sum = (salt.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(i as i64 * 7_919)) & ((1 << 40) - 1);
    }
    PartialFilm::new(identity, samples.clone(), film).unwrap()
}

fn bytes_of(part: &PartialFilm) -> Vec<u8> {
    encode(part, &serde_json::json!({"by": "a test"})).unwrap()
}

#[test]
fn a_film_is_read_as_it_was_written_and_leaves_no_other_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.film");
    let mut samples = SampleSet::from(0..3);
    samples.insert(8..9);
    let before = part(&samples, 1);
    write_film_file(&path, &before, &serde_json::json!([1])).unwrap();
    let (after, note) = read_film_file(&path).unwrap();
    assert_eq!((after, note), (before, serde_json::json!([1])));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn every_kind_of_foreign_or_damaged_file_is_named() {
    let path = Path::new("x.film");
    let good = bytes_of(&part(&SampleSet::from(0..2), 1));
    assert!(decode(&good, path).is_ok());
    let text = |bytes: &[u8]| decode(bytes, path).unwrap_err().to_string();
    assert!(text(b"\x89PNG").contains("not a film file"));
    let mut next = good.clone();
    next[8] = 2;
    assert!(text(&next).contains("form 2"), "{}", text(&next));
    assert!(text(&good[..good.len() - 1]).contains("checksum"));
    assert!(text(&good[..12]).contains("ends early"));
}

#[test]
fn films_of_other_renders_and_films_that_overlap_are_refused_and_change_nothing() {
    let mut sum = part(&SampleSet::from(0..4), 1);
    let before = sum.clone();
    let twice = sum.merge(&part(&SampleSet::from(2..6), 2)).unwrap_err().to_string();
    assert!(twice.contains("2..4"), "{twice}");
    let mut other = part(&SampleSet::from(4..6), 2);
    other = PartialFilm::new(
        Identity { semantics: "new".into(), ..other.identity().clone() },
        other.samples().clone(),
        other.into_film(),
    )
    .unwrap();
    let kernels = sum.merge(&other).unwrap_err().to_string();
    assert!(kernels.contains("version of the kernels"), "{kernels}");
    assert_eq!(sum, before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// A thousand files, cut, flipped, doubled or followed by others: read exactly, or refused by name.
    #[test]
    fn damaged_files_are_refused_by_name(at: prop::sample::Index, kind in 0..4, bit in 0u8..8, salt: i64) {
        let good = bytes_of(&part(&SampleSet::from(0..7), salt));
        let at = at.index(good.len());
        let mut bytes = good.clone();
        match kind {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << bit,
            2 => bytes.extend_from_slice(&good),
            _ => { bytes.remove(at); }
        }
        let refused = decode(&bytes, Path::new("unit.film")).map(|_| ()).unwrap_err().to_string();
        prop_assert!(refused.contains("unit.film"), "{}", refused);
    }

    /// Checksums do not hold back a file that was made to deceive.
    #[test]
    fn a_hostile_file_with_a_good_checksum_does_no_harm(at: prop::sample::Index, byte: u8) {
        let mut bytes = bytes_of(&part(&SampleSet::from(0..7), 3));
        bytes.truncate(bytes.len() - CHECKSUM);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let checksum = blake3::hash(&bytes);
        bytes.extend_from_slice(checksum.as_bytes());
        let _ = decode(&bytes, Path::new("unit.film"));
    }

    /// Parts in any order, each once: the sum is the same.
    #[test]
    fn the_order_of_parts_does_not_matter(order in Just((0u32..16).collect::<Vec<_>>()).prop_shuffle()) {
        let parts: Vec<_> = (0..16).map(|i| part(&SampleSet::from(i * 3..i * 3 + 3), i64::from(i))).collect();
        let sum = |order: &[u32]| {
            let mut sum = PartialFilm::empty(identity(5, 3)).unwrap();
            order.iter().for_each(|&i| sum.merge(&parts[i as usize]).unwrap());
            sum
        };
        let forward: Vec<u32> = (0..16).collect();
        let (shuffled, forward) = (sum(&order), sum(&forward));
        prop_assert_eq!(shuffled.samples(), &SampleSet::from(0..48));
        prop_assert_eq!(shuffled, forward);
    }
}

/// The outcome of reading a file, in words.
fn outcome(bytes: &[u8]) -> String {
    match decode(bytes, Path::new("a.film")) {
        Ok((part, _)) => format!("{} samples", part.film().spp),
        Err(error) => error.to_string(),
    }
}

/// A file of this content, with its checksum.
fn sealed(content: &[u8]) -> Vec<u8> {
    [content, blake3::hash(content).as_bytes().as_slice()].concat()
}

fn fuzz(parts: u32, name: &str, seeds: &[Vec<u8>], parse: impl Fn(&[u8]) -> String) {
    let words = [
        "\"width\":",
        "\"height\":",
        "\"samples\":",
        "\"settings\":",
        "\"invalid\":",
        "\"note\":",
        "\"seed\":",
        "\"integrator\":",
        "65535",
        "4294967296",
        "-1",
        "null",
        "[[0,4294967295]]",
        "[",
        "]",
        "{",
        "}",
    ];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let report = lockstep_fuzz::Fuzz { name, seeds, corpus: &corpus, words: &words }.run_part(parts, parse);
    assert!(report.outcomes > 1, "{report:?}");
}

#[test]
fn film_files_are_survived() {
    let seeds = [bytes_of(&part(&SampleSet::from(0..3), 1)), bytes_of(&part(&SampleSet::from(0..0), 2))];
    fuzz(1, "film", &seeds, |bytes| {
        // As it is, and with the checksum mended, for what lies behind it
        let content = bytes.split_last_chunk::<CHECKSUM>().map_or(bytes, |(content, _)| content);
        format!("{}; {}", outcome(bytes), outcome(&sealed(content)))
    });
}

#[test]
fn headers_of_film_files_are_survived() {
    let whole = bytes_of(&part(&SampleSet::from(0..3), 1));
    let (start, after) = whole.split_at(MAGIC.len() + 4);
    let (length, after) = take_u32(after).unwrap();
    let (header, after) = after.split_at(length as usize);
    let sums = &after[..after.len() - CHECKSUM];
    fuzz(2, "film-header", &[header.to_vec()], |header| {
        let length = (header.len() as u32).to_le_bytes();
        outcome(&sealed(&[start, &length, header, sums].concat()))
    });
}
