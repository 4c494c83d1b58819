use crate::signatures::{GivenArgument, Kernel, MEGAKERNEL, Mismatch, Passing, RECORD_PAIRS, RECORD_PATHS};
use crate::*;
use lockstep_bvh::{Bvh, Layout};
use lockstep_core::scene::SceneBuilder;
use lockstep_core::{Integrator, Order, Sampler, Scheduling, Structure};

#[test]
fn a_launch_that_differs_from_the_declaration_is_refused() {
    let of_layout = |layout| {
        ProgramKind::Render
            .kernels()
            .into_iter()
            .chain(ProgramKind::Pairs(Integrator::Vcm, ProgramOptions::default()).kernels())
            .chain([&RECORD_PATHS, &RECORD_PAIRS, &MEGAKERNEL])
            .map(move |kernel| (layout, kernel))
    };
    for (layout, kernel) in of_layout(Layout::Bvh2).chain(of_layout(Layout::Bvh8)) {
        let right: Vec<GivenArgument> = kernel
            .arguments(layout)
            .map(|a| match a.passing {
                Passing::Value => GivenArgument::Value(a.of.size),
                Passing::Input | Passing::Output => GivenArgument::Buffer(a.of.size),
            })
            .collect();
        assert_eq!(kernel.check(layout, &right), Ok(()));
        assert!(matches!(kernel.check(layout, &right[1..]), Err(Mismatch::Count { .. })));
        for i in 0..right.len() {
            let mut wrong = right.clone();
            wrong[i] = match wrong[i] {
                GivenArgument::Value(size) => GivenArgument::Value(size + 4),
                GivenArgument::Buffer(size) => GivenArgument::Value(size),
            };
            let named = kernel.arguments(layout).nth(i).unwrap().name;
            assert!(
                matches!(kernel.check(layout, &wrong), Err(Mismatch::Argument { argument, .. }) if argument == named)
            );
        }
    }
}

#[test]
fn scene_arrays_hold_whole_elements() {
    let mut builder = SceneBuilder::new("t");
    builder.image(1, 1, &[1, 2, 3, 4]).unwrap();
    let scene = builder.build().unwrap();
    for layout in [Layout::Bvh2, Layout::Bvh8] {
        let bvh = Bvh::build(&scene, layout);
        for array in scene_arrays(&scene, &bvh) {
            assert_eq!(array.bytes.len() % array.argument.of.size, 0, "{}", array.argument.name);
        }
    }
}

/// The text of a header.
fn header(name: &str) -> &'static str {
    header_texts().into_iter().find(|(file, _)| file.ends_with(name)).unwrap().1
}

/// The body of a macro: from its name to the first line without a trailing backslash.
fn macro_body(text: &str, name: &str) -> String {
    let start = text.find(&format!("#define {name} ")).unwrap() + "#define ".len() + name.len();
    let mut body = String::new();
    for line in text[start..].lines() {
        body.push_str(line.trim_end_matches('\\'));
        if !line.ends_with('\\') {
            break;
        }
    }
    body
}

/// One parameter as written in a header: type, name, passing.
fn parameter(text: &str) -> (String, String, Passing) {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words[0] != "LS_GLOBAL" {
        return (words[0].to_owned(), words[1].to_owned(), Passing::Value);
    }
    let name = (*words.last().unwrap()).to_owned();
    if words[1] == "const" {
        (words[2].to_owned(), name, Passing::Input)
    } else {
        (words[1].to_owned(), name, Passing::Output)
    }
}

#[test]
fn entry_kernels_take_what_the_declarations_say() {
    let scene = macro_body(header("/scene.h"), "LS_SCENE_PARAMETERS");
    let build = |structure, scheduling| {
        let order = Order::Scanline;
        ProgramKind::Configured(ProgramOptions { structure, scheduling, order, ..ProgramOptions::default() })
    };
    let parts = [
        ProgramKind::Render,
        ProgramKind::RecordPaths,
        ProgramKind::RecordPairs,
        build(Structure::Wavefront, Scheduling::PersistentThreads),
        build(Structure::NoCompaction, Scheduling::Default),
        build(Structure::Megakernel, Scheduling::Default),
    ];
    let scanline = ProgramOptions { order: Order::Scanline, ..ProgramOptions::default() };
    let pairs = Integrator::ALL.into_iter().filter(|integrator| integrator.splats());
    let whole = ProgramOptions { structure: Structure::Megakernel, ..ProgramOptions::default() };
    let pairs = pairs.flat_map(|integrator| {
        [ProgramOptions::default(), scanline, whole].map(|build| ProgramKind::Pairs(integrator, build))
    });
    for part in parts.into_iter().chain(pairs) {
        let integrator = match part {
            ProgramKind::Pairs(integrator, _) => integrator,
            _ => Integrator::Path,
        };
        let options = Options { features: KernelFeatures::all(integrator), ..Options::default() };
        let text = assemble("compat.h", "", &options, part).text;
        let mut found = kernels_in(&text.replace("LS_SCENE_PARAMETERS", &scene));
        let mut declared: Vec<Declared> = part.kernels().iter().map(|kernel| declared(kernel)).collect();
        if part == build(Structure::Megakernel, Scheduling::Default) {
            found.retain(|kernel| kernel.0 != "ls_generate");
        }
        let bodies = text.matches("LS_BODY void ").count();
        assert_eq!(bodies, text.matches("LS_KERNEL void ").count(), "{part:?}: every kernel calls its body");
        found.sort_by(|a, b| a.0.cmp(&b.0));
        declared.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, declared, "{part:?}");
    }
}

#[test]
fn arguments_of_the_scene_are_its_parameters_in_order() {
    let words = |name| macro_body(header("/scene.h"), name);
    let (parameters, arguments) = (words("LS_SCENE_PARAMETERS"), words("LS_SCENE_ARGUMENTS"));
    let parameters: Vec<String> = parameters.split(',').map(|text| parameter(text).1).collect();
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    assert_eq!(arguments, parameters);
}

#[test]
fn photon_mapping_has_one_program_for_all_vertices_and_for_first_ones() {
    let texts = [Integrator::Bpm, Integrator::Ppm].map(|integrator| {
        let options = Options { features: KernelFeatures::all(integrator), ..Options::default() };
        let kinds = [ProgramKind::Pairs(integrator, ProgramOptions::default()), ProgramKind::RecordPairs];
        kinds.map(|kind| assemble("compat.h", "", &options, kind).text)
    });
    assert!(texts[0] == texts[1]);
}

#[test]
fn the_canary_writes_every_operation_of_its_table() {
    let text = assemble_canary("compat.h", "", &Options::default()).text;
    assert_eq!(kernels_in(&text), [declared(&canary::CANARY)]);
    let operations = lockstep_core::math::canary::OPERATIONS.len();
    let written: Vec<bool> = (0..operations + 1).map(|i| text.contains(&format!(" y[{i}] = "))).collect();
    assert_eq!(written, [vec![true; operations], vec![false]].concat());
    assert!(text.contains(&format!("#define CANARY_OPERATIONS {operations}u")));
}

#[test]
fn ray_queries_are_built_with_the_render_but_part_of_no_pass() {
    let names = |kernels: &[&Kernel]| kernels.iter().map(|kernel| kernel.name).collect::<Vec<_>>();
    let default = ProgramOptions::default();
    let pairs = [Integrator::Bpt, Integrator::Vcm].map(|integrator| ProgramKind::Pairs(integrator, default));
    for kind in [ProgramKind::Render].into_iter().chain(pairs) {
        let (built, launched) = (names(&kind.kernels()), names(&kind.of_passes()));
        let others: Vec<_> = built.iter().filter(|name| !launched.contains(name)).copied().collect();
        assert_eq!(others, ["ls_trace_closest", "ls_trace_coherent", "ls_trace_any"], "{kind:?}");
        assert!(launched.iter().all(|name| built.contains(name)), "{kind:?}");
    }
}

/// A kernel's name, whether it is marked as a traversal, and its parameters.
type Declared = (String, bool, Vec<(String, String, Passing)>);

fn declared(kernel: &Kernel) -> Declared {
    let parameters =
        kernel.arguments(Layout::default()).map(|a| (a.of.name.to_owned(), a.name.to_owned(), a.passing));
    (kernel.name.to_owned(), kernel.traverses, parameters.collect())
}

fn kernels_in(text: &str) -> Vec<Declared> {
    let kernels = text.split("LS_KERNEL void ").skip(1).map(|part| {
        let (words, rest) = part.split_once('(').unwrap();
        let (marks, name) = words.rsplit_once(' ').unwrap_or(("", words));
        let parameters = rest.split_once(')').unwrap().0.split(',').map(parameter).collect();
        (name.to_owned(), marks == "LS_TRAVERSAL", parameters)
    });
    kernels.collect()
}

#[test]
fn the_source_names_our_files_and_its_hash_follows_every_option() {
    let assemble = |compat, options: &Options| {
        assemble("backend-x/kernels/compat.h", compat, options, ProgramKind::Render)
    };
    let plain = assemble("#define LS_FN\n", &Options::default());
    let grouped = assemble("", &Options { group_compaction: true, ..Options::default() });
    for (name, text) in header_texts() {
        if name.contains("/pairs/") {
            continue;
        }
        if ![
            "/probe.h",
            "/layout.h",
            "/constants.h",
            "/record_pairs.h",
            "/record_paths.h",
            "/ao.h",
            "/bidirectional.h",
            "/camera_importance.h",
            "/emission.h",
            "/shade_in_place.h",
            "/megakernel.h",
            "/splat.h",
            "/techniques.h",
            "/weights.h",
            "/vertex.h",
            "/light_path.h",
            "/camera_path.h",
            "/connections.h",
            "/photon.h",
            "/merging.h",
            "/ray_counts.h",
            "/bvh8.h",
            "/bvh8_boxes.h",
            "/canary.h",
            "/sobol.h",
            "/xorwow.h",
        ]
        .iter()
        .any(|other| name.ends_with(other))
        {
            assert!(grouped.text.contains(&format!("#line 1 \"{name}\"\n{text}")), "{name}");
            let called = crate::called_bodies::called_bodies(text);
            assert!(plain.text.contains(&format!("#line 1 \"{name}\"\n{called}")), "{name}");
        }
    }
    assert!(plain.text.contains("#line 1 \"backend-x/kernels/compat.h\"\n#define LS_FN"));
    let fast = assemble("", &Options { fast: true, ..Options::default() });
    let wide = assemble("", &Options { layout: Layout::Bvh8, ..Options::default() });
    assert!(wide.text.contains("kernels/bvh/bvh8.h") && !wide.text.contains("kernels/bvh/bvh2.h"));
    let without = |features| assemble("", &Options { features, ..Options::default() });
    let lesser = [
        without(KernelFeatures { instances: false, ..KernelFeatures::all(Integrator::Path) }),
        without(KernelFeatures { spheres: false, ..KernelFeatures::all(Integrator::Path) }),
        without(KernelFeatures { alpha: false, ..KernelFeatures::all(Integrator::Path) }),
        without(KernelFeatures { priorities: false, ..KernelFeatures::all(Integrator::Path) }),
        without(KernelFeatures { sampler: Sampler::Sobol, ..KernelFeatures::all(Integrator::Path) }),
        without(KernelFeatures { sampler: Sampler::Xorwow, ..KernelFeatures::all(Integrator::Path) }),
        without(KernelFeatures { layer_tree: true, ..KernelFeatures::all(Integrator::Path) }),
    ];
    let hashes: std::collections::BTreeSet<_> =
        [&plain, &fast, &grouped, &wide].into_iter().chain(&lesser).map(|s| s.hash.clone()).collect();
    assert_eq!(hashes.len(), 11);
    assert!(!plain.text.contains("#define LS_FAST") && fast.text.contains("#define LS_FAST"));
}

/// A C source without comments and strings.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, tail)| tail);
    }
    code + rest
}

#[test]
fn a_header_has_one_kernel_at_most() {
    let kernels = |text: &str| text.lines().filter(|line| line.starts_with("LS_KERNEL ")).count();
    let counts: Vec<_> = header_texts().into_iter().map(|(name, text)| (name, kernels(text))).collect();
    assert!(counts.iter().filter(|(_, count)| *count == 1).count() > 25, "{counts:?}");
    assert!(counts.iter().all(|(_, count)| *count <= 1), "{counts:?}");
}

/// Vulkan, for one, rounds `/` to 2.5 ULP; a dialect can replace `LS_DIV`, but not an operator.
#[test]
fn kernels_divide_floats_by_ls_div() {
    let integers = [
        "pixel / frame.width",
        "i / (TILE_HEIGHT",
        "in_band / (TILE_WIDTH",
        "in_tile / columns",
        "cell / environment.grid_width",
        "(LS_LANES() + 2u) / 3u",
        "LS_GLOBAL_SIZE() / LS_LOCAL_SIZE()",
        "LS_GLOBAL_ID() / LS_LOCAL_SIZE()",
        "path / pass.pixels",
        "(path) / (pass).pixels",
        "dimension / XORWOW_RUN",
        "(dimension - 1u) / BLOCKS_PER_BOUNCE",
    ];
    let is_constant = |operand: &str| {
        operand.starts_with("MATH_")
            || (operand.ends_with('f') && operand.starts_with(|c: char| c.is_ascii_digit()))
    };
    for (name, text) in header_texts().into_iter().filter(|(name, _)| !name.contains("/tests/")) {
        let code = code_of(text);
        for line in code.lines().filter(|line| !line.starts_with("#line")) {
            for (at, _) in line.match_indices(" / ") {
                let end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.';
                let before = line[..at].rsplit(end).next().unwrap_or_default();
                let after = line[at + 3..].split(end).next().unwrap_or_default();
                let is_integer = integers.iter().any(|integer| line.contains(integer));
                assert!(
                    is_integer || (is_constant(before) && is_constant(after)),
                    "{name} divides without LS_DIV, unless integers: {line}"
                );
            }
        }
    }
}

#[test]
fn kernels_use_no_function_whose_bits_a_vendor_chooses() {
    let forbidden = [
        "acos",
        "atan",
        "atan2",
        "cos",
        "cross",
        "dot",
        "double",
        "exp",
        "fabs",
        "fabsf",
        "float3",
        "float4",
        "fma",
        "fmaf",
        "fmax",
        "fmin",
        "goto",
        "log",
        "mad",
        "mad24",
        "mul24",
        "normalize",
        "pow",
        "powf",
        "rsqrt",
        "sin",
        "sqrt",
        "sqrtf",
        "tan",
        "template",
        // Values that a fast build may assume never to occur.
        "INFINITY",
        "MATH_INFINITY",
    ];
    for (name, text) in header_texts() {
        let code = code_of(text);
        for word in code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let chosen =
                forbidden.contains(&word) || word.starts_with("native_") || word.starts_with("half_");
            assert!(!chosen || word == "half_b", "{name} uses {word}");
        }
        // A float literal without its suffix is a double.
        for (at, _) in code.match_indices('.') {
            let start =
                code[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |i| i + 1);
            if start == at || !code[start..at].bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            let tail = code[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
            let tail = tail.strip_prefix('e').map_or(tail, |t| {
                t.trim_start_matches(['-', '+']).trim_start_matches(|c: char| c.is_ascii_digit())
            });
            assert!(
                tail.starts_with('f'),
                "{name}: a literal without f near {:?}",
                &code[at.saturating_sub(12)..at + 8]
            );
        }
    }
}
