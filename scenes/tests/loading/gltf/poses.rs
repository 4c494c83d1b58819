//! Animations, skins, morph targets and instancing.

use super::{accessor, floats, with, with_options};
use lockstep_core::math::vec3::{Vec3, length, vec3};
use lockstep_scenes::{Choices, LoadOptions, LoadedScene};
use serde_json::{Value, json};

fn at(seconds: f32) -> LoadOptions {
    let choices = Choices { at: Some(seconds), ..Choices::default() };
    LoadOptions { choices, ..LoadOptions::default() }
}

/// Corner `i` of the triangles, in the world.
fn corner(loaded: &Result<LoadedScene, String>, i: usize) -> Vec3 {
    let scene = &loaded.as_ref().unwrap().scene;
    let positions = scene.positions.iter().map(|p| Vec3::from(*p));
    let place = &scene.instances[0].object_to_world;
    let world = positions.map(|p| lockstep_core::math::transform::transform_point(place, p));
    world.collect::<Vec<_>>()[i]
}

fn near(a: Vec3, b: Vec3) -> bool {
    length(a - b) < 1e-5
}

/// Adds an animation of one channel of node 0.
fn animate(d: &mut Value, path: &str, interpolation: &str, times: &[f32], values: &[f32]) {
    let kind = match path {
        "rotation" => "VEC4",
        "weights" => "SCALAR",
        _ => "VEC3",
    };
    let (input, output) = (floats(d, times, "SCALAR"), floats(d, values, kind));
    let animation = json!({
        "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
        "samplers": [{"input": input, "output": output, "interpolation": interpolation}],
    });
    let list = d.as_object_mut().unwrap().entry("animations").or_insert(json!([]));
    list.as_array_mut().unwrap().push(animation);
}

#[test]
fn translations_are_sampled_by_their_interpolation_and_held_outside_their_keys() {
    let keys = [1.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    let x = |interpolation: &str, seconds: f32, values: &[f32]| {
        let loaded = with_options(&at(seconds), |d| {
            animate(d, "translation", interpolation, &[1.0, 3.0], values);
        });
        corner(&loaded, 0).x
    };
    for (seconds, linear, step) in
        [(0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (2.5, 2.5, 1.0), (3.0, 3.0, 3.0), (9.0, 3.0, 3.0)]
    {
        assert_eq!(x("LINEAR", seconds, &keys), linear, "linear at {seconds}");
        assert_eq!(x("STEP", seconds, &keys), step, "step at {seconds}");
    }
    // Incoming tangent, value, outgoing tangent of each key: x = t³ at the times 1 and 3.
    let cubic = [
        [9.0f32, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [3.0, 0.0, 0.0],
        [27.0, 0.0, 0.0],
        [27.0, 0.0, 0.0],
        [9.0, 0.0, 0.0],
    ]
    .concat();
    for (seconds, expected) in
        [(1.0f32, 1.0f32), (1.5, 3.375), (2.0, 8.0), (2.75, 20.796_875), (3.0, 27.0), (4.0, 27.0)]
    {
        assert!((x("CUBICSPLINE", seconds, &cubic) - expected).abs() < 1e-5, "cubic at {seconds}");
    }
}

#[test]
fn rotations_turn_evenly_the_shorter_way_and_scales_grow() {
    let half = |degrees: f32| (degrees.to_radians() / 2.0).sin_cos();
    let ((s0, c0), (s1, c1)) = (half(0.0), half(120.0));
    let loaded = with_options(&at(0.25), |d| {
        // The second key is the same rotation with its sign turned.
        animate(d, "rotation", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, s0, c0, 0.0, 0.0, -s1, -c1]);
        animate(d, "scale", "LINEAR", &[0.0, 1.0], &[1.0, 1.0, 1.0, 5.0, 1.0, 1.0]);
    });
    let (sin, cos) = 30.0f32.to_radians().sin_cos();
    assert!(near(corner(&loaded, 1), vec3(2.0 * cos, 2.0 * sin, 0.0)), "{:?}", corner(&loaded, 1));
    assert!(near(corner(&loaded, 2), vec3(-sin, cos, 0.0)));
}

#[test]
fn as_many_animations_play_as_move_different_things_and_one_may_be_chosen() {
    let three = |d: &mut Value| {
        animate(d, "translation", "STEP", &[0.0], &[7.0, 0.0, 0.0]);
        animate(d, "translation", "STEP", &[0.0], &[8.0, 0.0, 0.0]);
        animate(d, "scale", "STEP", &[0.0], &[2.0, 2.0, 2.0]);
        d["animations"][1]["name"] = json!("Run");
    };
    let loaded = with(three);
    assert_eq!(corner(&loaded, 1), vec3(9.0, 0.0, 0.0));
    let warnings = &loaded.as_ref().unwrap().warnings;
    assert!(warnings.iter().any(|w| w.place == "/animations/1" && w.message.contains("--animation")));
    let chosen = |animation: &str| {
        let choices = Choices { animation: Some(animation.into()), ..Choices::default() };
        with_options(&LoadOptions { choices, ..LoadOptions::default() }, three)
    };
    assert_eq!(corner(&chosen("Run"), 1), vec3(9.0, 0.0, 0.0));
    assert_eq!(corner(&chosen("2"), 1), vec3(2.0, 0.0, 0.0));
    let error = chosen("Swim").unwrap_err();
    assert!(error.contains("no animation `Swim`; the file's are `Run`"), "{error}");
}

/// Two targets that move corner 1 along x and turn the normals.
fn morphing(d: &mut Value) {
    let normals = floats(d, &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0], "VEC3");
    let along = floats(d, &[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], "VEC3");
    let up = floats(d, &[0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0], "VEC3");
    let turned = floats(d, &[0.0, 2.0, -1.0, 0.0, 2.0, -1.0, 0.0, 2.0, -1.0], "VEC3");
    d["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(normals);
    d["meshes"][0]["primitives"][0]["targets"] =
        json!([{"POSITION": along}, {"POSITION": up, "NORMAL": turned}]);
}

#[test]
fn morph_targets_are_added_by_the_weights_of_mesh_node_or_animation() {
    let moved = with(|d| {
        morphing(d);
        d["meshes"][0]["weights"] = json!([0.5, 0]);
    });
    assert_eq!(corner(&moved, 1), vec3(2.0, 0.0, 0.0));
    assert!(moved.as_ref().unwrap().warnings.iter().all(|w| !w.message.contains("morph")));
    let both = with(|d| {
        morphing(d);
        d["meshes"][0]["weights"] = json!([0.5, 0]);
        d["nodes"][0]["weights"] = json!([0, 1]);
    });
    assert_eq!(corner(&both, 1), vec3(1.0, 4.0, 0.0));
    assert_eq!(both.unwrap().scene.vertices[0].normal, vec3(0.0, 1.0, 0.0));
    let animated = with_options(&at(0.5), |d| {
        morphing(d);
        d["nodes"][0]["weights"] = json!([0, 1]);
        animate(d, "weights", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 1.0, 0.5]);
    });
    assert_eq!(corner(&animated, 1), vec3(2.0, 1.0, 0.0));
}

#[test]
fn two_nodes_may_show_a_mesh_in_two_poses() {
    let loaded = with(|d| {
        morphing(d);
        d["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "weights": [1, 0]}, {"mesh": 0, "weights": [0, 0]}]);
        d["scenes"][0]["nodes"] = json!([0, 1, 2]);
    });
    let scene = loaded.unwrap().scene;
    let mut reach: Vec<f32> = scene.positions.iter().map(|p| p[0]).filter(|x| *x > 0.0).collect();
    reach.dedup();
    assert!(reach.contains(&1.0) && reach.contains(&3.0), "{reach:?}");
}

/// Corner 1 hangs on the second joint, corner 2 on both alike.
fn skinned(d: &mut Value) {
    let joints = accessor(d, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0], 5121, 3, "VEC4", false);
    let weights = floats(d, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0], "VEC4");
    let attributes = &mut d["meshes"][0]["primitives"][0]["attributes"];
    (attributes["JOINTS_0"], attributes["WEIGHTS_0"]) = (json!(joints), json!(weights));
    // Column by column: the second moves its joint's origin to the corner at x = 1.
    let mut matrices = [0.0f32; 32];
    for (matrix, x) in matrices.chunks_mut(16).zip([0.0, -1.0]) {
        (matrix[0], matrix[5], matrix[10], matrix[15], matrix[12]) = (1.0, 1.0, 1.0, 1.0, x);
    }
    let inverse = floats(d, &matrices, "MAT4");
    d["skins"] = json!([{"joints": [1, 2], "inverseBindMatrices": inverse}]);
    d["nodes"] = json!([
        {"mesh": 0, "skin": 0, "translation": [100, 100, 100]},
        {"children": [2]},
        {"translation": [1, 0, 0]},
    ]);
    d["scenes"][0]["nodes"] = json!([0, 1]);
}

#[test]
fn joints_move_their_vertices_and_the_node_of_the_mesh_does_not() {
    let rest = with(skinned);
    for (i, expected) in
        [vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)].into_iter().enumerate()
    {
        assert!(near(corner(&rest, i), expected), "{i}: {:?}", corner(&rest, i));
    }
    assert!(rest.unwrap().warnings.iter().all(|w| !w.message.contains("skin")));
    let posed = with(|d| {
        skinned(d);
        d["nodes"][1]["translation"] = json!([0, 0, 5]);
        // A quarter turn about z.
        let half = std::f32::consts::FRAC_1_SQRT_2;
        d["nodes"][2]["rotation"] = json!([0, 0, half, half]);
    });
    // The second joint turns what hangs on it about x = 1: corner 2 from (0, 1) to (0, -1).
    assert!(near(corner(&posed, 0), vec3(0.0, 0.0, 5.0)));
    assert!(near(corner(&posed, 1), vec3(1.0, 0.0, 5.0)));
    assert!(near(corner(&posed, 2), vec3(0.0, 0.0, 5.0)), "{:?}", corner(&posed, 2));
}

#[test]
fn faults_of_skins_morphs_and_animations_are_refused_with_their_pointer() {
    let refused = |change: fn(&mut Value), words: &str| {
        let message = with(change).unwrap_err();
        assert!(message.contains(words), "{message}");
    };
    refused(
        |d| {
            skinned(d);
            d["skins"][0]["joints"] = json!([1]);
        },
        "/meshes/0/primitives/0/attributes: vertex 1 names joint 1 of 1",
    );
    refused(
        |d| {
            skinned(d);
            d["skins"][0]["inverseBindMatrices"] = json!(0);
        },
        "/skins/0/inverseBindMatrices: the accessor does not hold matrices",
    );
    refused(
        |d| {
            morphing(d);
            d["meshes"][0]["weights"] = json!([1, 0]);
            d["accessors"][2]["count"] = json!(2);
        },
        "/meshes/0/primitives/0/targets/0/POSITION: it has another format",
    );
    refused(
        |d| animate(d, "rotation", "CUBICSPLINE", &[0.0, 1.0], &[0.5; 8]),
        "/animations/0/channels/0/sampler: 2 values do not belong to 2 times",
    );
}

#[test]
fn an_instanced_node_shows_its_mesh_in_every_place() {
    let instanced = |d: &mut Value| {
        d["extensionsUsed"] = json!(["EXT_mesh_gpu_instancing"]);
        d["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
        let translation = floats(d, &[0.0, 0.0, 1.0, 0.0, 0.0, 2.0], "VEC3");
        // Normalised 16 bit integers: a half turn about z, and none.
        let turns: Vec<u8> =
            [0i16, 0, 32767, 0, 0, 0, 0, 32767].iter().flat_map(|v| v.to_le_bytes()).collect();
        let rotation = accessor(d, &turns, 5122, 2, "VEC4", true);
        let scale = floats(d, &[3.0, 3.0, 3.0, 1.0, 1.0, 1.0], "VEC3");
        let attributes = json!({"TRANSLATION": translation, "ROTATION": rotation, "SCALE": scale});
        d["nodes"][0]["extensions"] = json!({"EXT_mesh_gpu_instancing": {"attributes": attributes}});
        d["nodes"][0]["translation"] = json!([10, 0, 0]);
    };
    let scene = with(instanced).unwrap().scene;
    assert_eq!(scene.instanced_triangles(), 2);
    let [low, high] = scene.bounds;
    assert!(near(low, vec3(7.0, -3.0, 1.0)) && near(high, vec3(11.0, 1.0, 2.0)), "{low:?} {high:?}");
    let error = with(|d| {
        instanced(d);
        d["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["SCALE"] = json!(0);
    });
    assert!(error.unwrap_err().contains("/nodes/0/extensions/EXT_mesh_gpu_instancing/attributes/SCALE"));
}
