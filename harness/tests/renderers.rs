//! Mitsuba, Cycles and LuxCore render what is known in closed form, so that units, directions, depths and sides are ours.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use std::fs;
use std::path::Path;

use lockstep_conformance::require;
use lockstep_reports::image_io::{ImageMetadata, LinearImage, read_image, write_image};
use lockstep_setup::renderers::{CYCLES, LUXCORE, MITSUBA, Renderer};
use support::expect;

/// The renderers that are here; the others are skipped with the reason.
fn present() -> Vec<&'static str> {
    let is_here = |renderer: &&Renderer| {
        let missing = format!("{0} is not set up. Run `lockstep setup {1}`.", renderer.label, renderer.name);
        require::present(renderer.name, renderer.python().ok_or(missing)).is_some()
    };
    [&MITSUBA, &CYCLES, &LUXCORE].into_iter().filter(is_here).map(|renderer| renderer.name).collect()
}

/// The image of a scene.toml in a folder.
fn render(folder: &Path, scene: &str, target: &str, bounces: u32, size: &str, spp: u32) -> LinearImage {
    let out = folder.join(format!("{scene}.{target}.exr"));
    let options = [format!("--size={size}"), format!("--bounces={bounces}"), format!("--spp={spp}")];
    let mut words =
        vec!["render".to_owned(), format!("{scene}.toml"), format!("-b={target}"), "--seed=1".to_owned()];
    words.extend(options.into_iter().chain([format!("-o={}", out.display())]));
    expect(folder, &words.iter().map(String::as_str).collect::<Vec<_>>(), 0);
    read_image(&out).unwrap()
}

fn mean(image: &LinearImage) -> [f64; 3] {
    let count = image.pixels().len() as f64;
    [0, 1, 2].map(|c| image.pixels().iter().map(|pixel| f64::from(pixel[c])).sum::<f64>() / count)
}

/// Asserts that every channel is within a share of what is expected, plus what a renderer may leak into black.
fn assert_near(found: [f64; 3], expected: [f64; 3], share: f64, what: &str) {
    let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= share * e + 1e-6);
    assert!(near, "{what}: {found:?}, expected {expected:?}");
}

/// A cube seen from inside, whose walls emit 1 and reflect a half.
const ROOM: &str = "mtllib room.mtl\n\
v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
usemtl wall\nf 1 2 3 4\nf 6 5 8 7\nf 5 1 4 8\nf 2 6 7 3\nf 5 6 2 1\nf 4 3 7 8\n";

#[test]
fn a_scene_written_as_gltf_renders_to_the_bits_of_the_scene() {
    let dir = tempfile::tempdir().unwrap();
    let film = |scene: &str, out: &str| {
        let words = ["render", scene, "-b=cpu-bvh", "--size=48x36", "--spp=4", "--seed=1", "-o", out];
        expect(dir.path(), &words, 0);
        read_image(&dir.path().join(out)).unwrap()
    };
    for scene in ["cornell", "lantern"] {
        expect(dir.path(), &["export", scene, "--to", "gltf", "-o", scene], 0);
        let ours = film(scene, &format!("{scene}.exr"));
        let again = film(&format!("{scene}/scene.toml"), &format!("{scene}-again.exr"));
        assert!(mean(&ours).iter().any(|&channel| channel > 0.0), "{scene}");
        assert_eq!(ours.pixels(), again.pixels(), "{scene}");
    }
}

#[test]
fn a_path_scatters_as_often_as_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("room.obj", ROOM);
    write("room.mtl", "newmtl wall\nKd 0.5 0.5 0.5\nKe 1 1 1\n");
    write(
        "room.toml",
        "file = \"room.obj\"\n[camera]\neye = [0.1, 0.2, 0.5]\ntarget = [0.0, 0.0, -1.0]\nfov = 60.0\n\
         [sky]\nkind = \"constant\"\nradiance = [0.0, 0.0, 0.0]\n[[materials]]\nname = \"wall\"\nkind = \"diffuse\"\n",
    );
    for target in present() {
        for bounces in [1, 2, 5] {
            // Each scattering adds half of what the last one did.
            let expected = 2.0 - 0.5f64.powi(bounces as i32);
            let found = mean(&render(dir.path(), "room", target, bounces, "12x8", 256));
            assert_near(found, [expected; 3], 4e-3, &format!("{target}, {bounces} bounces"));
        }
    }
}

/// A floor of albedo a half, seen at its middle from straight above through a narrow lens.
fn floor(light: &str) -> String {
    format!(
        "file = \"floor.obj\"\n[camera]\neye = [0.0, 5.0, 0.0]\ntarget = [0.0, 0.0, 0.0]\nup = [0.0, 0.0, -1.0]\n\
         fov = 0.2\n[sky]\nkind = \"constant\"\nradiance = [0.0, 0.0, 0.0]\n{light}\n[[materials]]\nname = \"floor\"\n\
         kind = \"diffuse\"\n[[materials]]\nname = \"lamp\"\nkind = \"diffuse\"\n"
    )
}

/// The floor, and a lamp of one unit of area, 2 above it; or turned over.
fn floor_obj(turned: bool) -> String {
    let lamp = if turned { "8 7 6 5" } else { "5 6 7 8" };
    format!(
        "mtllib floor.mtl\nv -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nv -0.5 2 1\nv 0.5 2 1\nv 0.5 2 2\nv -0.5 2 2\n\
         usemtl floor\nf 1 2 3 4\nusemtl lamp\nf {lamp}\n"
    )
}

#[test]
fn lights_have_the_irradiance_of_their_units() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let reflected = 0.5 / std::f64::consts::PI;
    // A rectangle in a plane parallel to the floor: the sum over its corners of Lambert's formula.
    let corner = |x: f64, y: f64, h: f64| {
        let term = |a: f64, b: f64| a / a.hypot(h) * (b / a.hypot(h)).atan();
        0.5 * (term(x, y) + term(y, x))
    };
    let rectangle = 2.0 * (corner(0.5, 2.0, 2.0) - corner(0.5, 1.0, 2.0));
    let angle = 25f64.to_radians();
    let (inner, outer) = (10f64.to_radians().cos(), 35f64.to_radians().cos());
    let falloff = ((angle.cos() - outer) / (inner - outer)).powi(2);
    let (x, y) = (angle.sin(), -angle.cos());
    let point = "kind = \"point\"\nposition = [0.0, 2.0, 0.0]\nintensity = [3.0, 2.0, 1.0]";
    let sun = "kind = \"directional\"\ndirection = [0.6, -0.8, 0.0]\nintensity = [3.0, 2.0, 1.0]";
    let spot = format!(
        "kind = \"spot\"\nposition = [0.0, 2.0, 0.0]\ndirection = [{x}, {y}, 0.0]\nintensity = [3.0, 2.0, 1.0]\n\
         inner_angle = 10.0\nouter_angle = 35.0"
    );
    let all = [
        ("point", format!("[[lights]]\n{point}\n"), false, 0.25 * reflected),
        ("sun", format!("[[lights]]\n{sun}\n"), false, 0.8 * reflected),
        ("spot", format!("[[lights]]\n{spot}\n"), false, 0.25 * falloff * reflected),
        ("lamp", String::new(), true, rectangle * reflected),
        ("sky", String::new(), false, 0.5),
    ];
    write("floor.obj", &floor_obj(false));
    for (name, light, shines, share) in &all {
        let emission = if *shines { "Ke 3 2 1" } else { "Ke 0 0 0" };
        write("floor.mtl", &format!("newmtl floor\nKd 0.5 0.5 0.5\nnewmtl lamp\nKd 0 0 0\n{emission}\n"));
        let mut scene = floor(light);
        if *name == "sky" {
            // Nothing stands in its way but the lamp that does not shine: it is left out.
            write(
                "floor.obj",
                "mtllib floor.mtl\nv -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nusemtl floor\nf 1 2 3 4\n",
            );
            scene = scene
                .replace("[0.0, 0.0, 0.0]\n\n", "[3.0, 2.0, 1.0]\n\n")
                .replace("[[materials]]\nname = \"lamp\"\nkind = \"diffuse\"\n", "");
        }
        write(&format!("{name}.toml"), &scene);
        for target in ["cpu-bvh"].into_iter().chain(present()) {
            // Their spot lights fall off otherwise, which the export names.
            if *name == "spot" && (target == "mitsuba" || target == "luxcore") {
                continue;
            }
            let found = mean(&render(dir.path(), name, target, 1, "4x4", 1024));
            assert_near(found, [3.0, 2.0, 1.0].map(|c| c * share), 0.02, &format!("{target} on {name}"));
        }
    }
}

#[test]
fn lamps_shine_from_their_front_and_surfaces_are_lit_from_either_side() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("floor.mtl", "newmtl floor\nKd 0.5 0.5 0.5\nnewmtl lamp\nKd 0 0 0\nKe 3 2 1\n");
    write("floor.obj", &floor_obj(true));
    write("turned.toml", &floor(""));
    // Seen from below, where a point light shines on the floor's back.
    let below = "[[lights]]\nkind = \"point\"\nposition = [0.0, -2.0, 0.0]\nintensity = [3.0, 2.0, 1.0]\n";
    write("below.toml", &floor(below).replace("eye = [0.0, 5.0, 0.0]", "eye = [0.0, -5.0, 0.0]"));
    for target in ["cpu-bvh"].into_iter().chain(present()) {
        let dark = mean(&render(dir.path(), "turned", target, 1, "4x4", 16));
        assert_near(dark, [0.0; 3], 0.0, &format!("{target}: the back of a lamp"));
        // Half of the samples may ask the lamp, which does not reach.
        let lit = mean(&render(dir.path(), "below", target, 1, "4x4", 1024));
        let share = 0.25 * 0.5 / std::f64::consts::PI;
        assert_near(lit, [3.0, 2.0, 1.0].map(|c| c * share), 0.03, &format!("{target}: the back of a floor"));
    }
}

/// Quads that emit, one colour for each side of the view, and one in the middle.
const SIDES: &str = "mtllib sides.mtl\n\
v -1 -0.5 -5\nv 1 -0.5 -5\nv 1 0.5 -5\nv -1 0.5 -5\n\
v -3 -0.5 -5\nv -2 -0.5 -5\nv -2 0.5 -5\nv -3 0.5 -5\nv 2 -0.5 -5\nv 3 -0.5 -5\nv 3 0.5 -5\nv 2 0.5 -5\n\
v -1 1 -5\nv 1 1 -5\nv 1 1.5 -5\nv -1 1.5 -5\nv -1 -1.5 -5\nv 1 -1.5 -5\nv 1 -1 -5\nv -1 -1 -5\n\
usemtl middle\nf 1 2 3 4\nusemtl left\nf 5 6 7 8\nusemtl right\nf 9 10 11 12\nusemtl top\nf 13 14 15 16\n\
usemtl bottom\nf 17 18 19 20\n";

#[test]
fn the_view_is_the_same_way_up_and_round_and_has_the_same_edges() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let colors =
        [("middle", "1 1 1"), ("left", "1 0 0"), ("right", "0 1 0"), ("top", "0 0 1"), ("bottom", "1 1 0")];
    write("sides.obj", SIDES);
    let surfaces: String = colors.iter().map(|(n, c)| format!("newmtl {n}\nKd 0 0 0\nKe {c}\n")).collect();
    write("sides.mtl", &surfaces);
    let kinds: String =
        colors.iter().map(|(n, _)| format!("[[materials]]\nname = \"{n}\"\nkind = \"diffuse\"\n")).collect();
    write(
        "sides.toml",
        &format!(
            "file = \"sides.obj\"\n[camera]\neye = [0.0, 0.0, 0.0]\ndirection = [0.0, 0.0, -1.0]\nfov = 40.0\n\
             [sky]\nkind = \"constant\"\nradiance = [0.0, 0.0, 0.0]\n{kinds}"
        ),
    );
    // Portrait as well: the field of view is vertical for both.
    for size in ["64x36", "36x64"] {
        let ours = render(dir.path(), "sides", "cpu-bvh", 1, size, 1024);
        for target in present() {
            let theirs = render(dir.path(), "sides", target, 1, size, 1024);
            let apart = ours
                .pixels()
                .iter()
                .zip(theirs.pixels())
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max));
            // A pixel on an edge is a coin thrown 1,024 times: 0.016 of standard deviation each.
            let worst = apart.fold(0.0, f64::max);
            assert!(worst < 0.12, "{target} at {size}: a pixel is {worst} apart");
        }
    }
}

#[test]
fn a_sky_image_looks_the_same_in_every_direction() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    // Columns and rows of their own colours.
    let sky = LinearImage::from_fn(16, 8, |x, y| {
        [x as f32 / 15.0, y as f32 / 7.0, if x < 4 && y < 4 { 1.0 } else { 0.1 }]
    });
    write_image(&dir.path().join("sky.exr"), &sky, &ImageMetadata::default()).unwrap();
    write("dot.obj", "v 0 0 0\nv 0.001 0 0\nv 0 0.001 0\nf 1 2 3\n");
    for (index, direction) in ["1.0, 0.1, 0.2", "-0.3, 0.8, 1.0", "-1.0, -0.4, -0.3"].iter().enumerate() {
        let name = format!("sky-{index}");
        write(
            &format!("{name}.toml"),
            &format!(
                "file = \"dot.obj\"\n[camera]\neye = [9.0, 9.0, 9.0]\ndirection = [{direction}]\nfov = 70.0\n\
                 [sky]\nkind = \"image\"\nfile = \"sky.exr\"\nrotation = 45.0\n"
            ),
        );
        let ours = render(dir.path(), &name, "cpu-bvh", 1, "24x16", 64);
        for target in present() {
            let theirs = render(dir.path(), &name, target, 1, "24x16", 64);
            let apart = ours
                .pixels()
                .iter()
                .zip(theirs.pixels())
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max));
            let worst = apart.fold(0.0, f64::max);
            assert!(worst < 0.06, "{target} towards {direction}: a pixel is {worst} apart");
        }
    }
}
