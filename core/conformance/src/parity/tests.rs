use crate::parity::domain::Stream;
use crate::parity::fixtures::fixtures;
use crate::parity::layout::NAMES;
use crate::parity::list::{Function, PROBES};
use crate::parity::names::{device_functions, header};
use crate::parity::words::{In, Out};
use crate::parity::{constants, run};
use lockstep_core::error::Result;
use lockstep_gpu::probe::{Call, ProbeDevice};
use std::collections::BTreeSet;

/// The names in parentheses after a macro, in order: `LS_PROBE(name, 1, 2)` gives `[name, 1, 2]`.
fn invocations(text: &str, macro_name: &str) -> Vec<Vec<String>> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("#define"))
        .filter_map(|line| line.trim_start().strip_prefix(macro_name)?.strip_prefix('('))
        .filter_map(|rest| rest.split_once(')').map(|(inside, _)| inside))
        .map(|inside| inside.split(',').map(|part| part.trim().to_owned()).collect())
        .collect()
}

#[test]
fn every_probe_of_the_list_has_a_kernel_of_its_size_and_the_other_way_round() {
    let text = header("probe.h");
    let mut kernels = BTreeSet::new();
    for (macro_name, of_scene) in [("LS_PROBE", false), ("LS_SCENE_PROBE", true)] {
        for parts in invocations(text, macro_name) {
            kernels.insert((
                parts[0].clone(),
                parts[1].parse().unwrap(),
                parts[2].parse().unwrap(),
                of_scene,
            ));
        }
    }
    let list: BTreeSet<(String, usize, usize, bool)> = PROBES
        .iter()
        .map(|p| {
            let of_scene = matches!(p.function, Function::OfScene(_));
            (p.name.to_owned(), p.input_words(), p.outputs.len(), of_scene)
        })
        .collect();
    assert_eq!(kernels, list);
}

#[test]
fn closures_write_as_many_words_as_they_declare() {
    let fixtures = fixtures().unwrap();
    for (index, probe) in PROBES.iter().enumerate() {
        for item in 0..64 {
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            let mut stream = Stream::new(index as u32, item);
            probe.inputs.iter().for_each(|&domain| stream.append(domain, &mut inputs));
            assert_eq!(inputs.len(), probe.input_words(), "{}", probe.name);
            match probe.function {
                Function::OfValues(function) => function(In(&inputs), &mut Out(&mut outputs)),
                Function::OfScene(function) => function(&fixtures[0], In(&inputs), &mut Out(&mut outputs)),
            }
            assert_eq!(outputs.len(), probe.outputs.len(), "{}", probe.name);
        }
    }
}

#[test]
fn probes_of_the_scene_reach_every_outcome() {
    // Fixtures whose rays all miss, or whose paths all end alike, would test little.
    let fixtures = fixtures().unwrap();
    for (name, word, least) in
        [("bvh_closest_hit", 3, 4), ("bvh_any_hit", 0, 2), ("intersect_passes_alpha_test", 0, 2)]
    {
        let (index, probe) = PROBES.iter().enumerate().find(|(_, p)| p.name == name).unwrap();
        let mut seen = BTreeSet::new();
        for item in 0..4096 {
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            let mut stream = Stream::new(index as u32, item);
            probe.inputs.iter().for_each(|&domain| stream.append(domain, &mut inputs));
            let Function::OfScene(function) = probe.function else { panic!("{name} reads the scene") };
            function(&fixtures[0], In(&inputs), &mut Out(&mut outputs));
            seen.insert(outputs[word]);
        }
        assert!(seen.len() >= least, "{name} gave only {seen:?}");
    }
}

#[test]
fn the_layout_kernel_lists_the_records_of_this_crate() {
    let text = header("layout.h");
    let sizes: Vec<String> = invocations(text, "LAYOUT_SIZE").into_iter().map(|mut p| p.remove(0)).collect();
    let offsets = invocations(text, "LAYOUT_OFFSET");
    for (record, fields) in NAMES {
        assert!(sizes.iter().any(|s| s == record), "{record}");
        let of_record: Vec<&String> = offsets.iter().filter(|p| p[0] == *record).map(|p| &p[1]).collect();
        assert_eq!(&of_record, fields, "{record}");
    }
    assert_eq!(sizes[..NAMES.len()], NAMES.iter().map(|(record, _)| record.to_string()).collect::<Vec<_>>());
}

#[test]
fn every_record_of_the_abi_is_in_the_layout_list() {
    let listed: BTreeSet<&str> = NAMES.iter().map(|(record, _)| *record).chain(["Box", "Affine"]).collect();
    let declared: BTreeSet<&str> =
        header("abi.h").lines().filter_map(|line| line.strip_prefix("} ")?.strip_suffix(';')).collect();
    assert_eq!(declared, listed);
}

#[test]
fn the_constants_kernel_lists_every_constant_of_the_headers() {
    let text = header("constants.h");
    let order: Vec<String> = ["CONSTANT_F", "CONSTANT_U"]
        .iter()
        .flat_map(|name| invocations(text, name))
        .map(|mut parts| parts.remove(0))
        .collect();
    assert_eq!(order, constants::names());
    // Indices into a private array, and stacks' sizes, which follow from STACK_SIZE.
    let private =
        ["INVALID_NON_FINITE", "INVALID_NEGATIVE", "INVALID_CLAMPED", "WALK_STACK_SIZE", "WIDE_STACK_SIZE"];
    for (file, ..) in crate::parity::names::MIRRORED.iter().chain(&[("abi.h", "", "")]) {
        for line in header(file).lines() {
            let Some(name) = line.strip_prefix("#define ").and_then(|l| l.split_whitespace().next()) else {
                continue;
            };
            let known = order.iter().any(|n| n == name) || private.contains(&name) || name.starts_with("LS_");
            assert!(known, "{file} defines {name}, which is not compared");
        }
    }
}

/// A device that computes with the list's own closures, and may be wrong about one probe.
struct Mirror {
    lie: Option<&'static str>,
}

impl ProbeDevice for Mirror {
    fn probe(&mut self, call: &Call<'_>) -> Result<Vec<u32>> {
        let Some((_, probe)) = PROBES.iter().enumerate().find(|(_, p)| p.kernel == call.kernel.name) else {
            return Ok(vec![0; call.output_words]);
        };
        let fixtures = fixtures()?;
        let given = call.scene.map(|(constants, _)| constants.environment.kind);
        let fixture =
            fixtures.iter().find(|a| Some(a.scene.environment.kind) == given).unwrap_or(&fixtures[0]);
        let mut words = Vec::with_capacity(call.output_words);
        for item in call.inputs.chunks(probe.input_words()) {
            match probe.function {
                Function::OfValues(function) => function(In(item), &mut Out(&mut words)),
                Function::OfScene(function) => function(fixture, In(item), &mut Out(&mut words)),
            }
        }
        if self.lie == Some(probe.name) {
            words[0] ^= 1;
        }
        Ok(words)
    }
}

#[test]
fn a_single_wrong_bit_is_found_and_named() {
    let count = 512;
    let honest = run(&mut Mirror { lie: None }, count).unwrap();
    let unlisted = ["layout", "constants", "word_group"];
    assert!(honest.iter().all(|v| unlisted.contains(&v.probe.as_str())), "{honest:?}");
    assert_eq!(honest.len(), unlisted.len());
    for lie in ["rng_pcg4d", "bsdf_evaluate", "texture_sample"] {
        let mismatches = run(&mut Mirror { lie: Some(lie) }, count).unwrap();
        let mismatch = mismatches.iter().find(|v| v.probe == lie).unwrap();
        assert_eq!((mismatch.items, mismatch.differing), (u64::from(count), 1));
    }
}

#[test]
fn device_functions_are_found_in_all_headers() {
    let functions = device_functions();
    assert!(functions.len() > 150, "{}", functions.len());
    assert!(functions.iter().any(|f| f.name == "path_shade" && f.calls.contains("path_scatter")));
}
