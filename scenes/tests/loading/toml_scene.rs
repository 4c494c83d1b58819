//! Documents that add to a file, or stand alone.

use lockstep_core::scene::{Material, MaterialKind};
use lockstep_core::{Error, Scene};
use lockstep_scenes::{LoadOptions, LoadedScene, builtins, load};
use std::fs;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl grey\nf 1 2 3\n";

fn loaded(toml: &str) -> Result<LoadedScene, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.obj"), TRIANGLE).unwrap();
    let path = folder.path().join("view.toml");
    fs::write(&path, toml).unwrap();
    let options = LoadOptions { data_folder: Some(folder.path().join("data")), ..LoadOptions::default() };
    load(path.to_str().unwrap(), &options).map_err(|e| e.to_string())
}

fn refused(toml: &str, words: &str) {
    let message = loaded(toml).unwrap_err();
    assert!(message.contains(words), "{message}");
}

const CAMERA: &str = "file = \"t.obj\"\n[camera]\neye = [0, 0, 5]\ntarget = [0, 0, 0]\nfov = 30\n";

#[test]
fn a_document_adds_camera_and_light() {
    let toml = format!(
        "{CAMERA}[sky]\nkind = \"constant\"\nradiance = [1, 1, 1]\n[sun]\ntowards = [0, 1, 0]\nirradiance = [3, 3, 3]\n"
    );
    let scene = loaded(&toml).unwrap().scene;
    assert_eq!((scene.name.as_str(), scene.camera.eye.z, scene.camera.direction.z), ("view", 5.0, -5.0));
    assert_eq!((scene.lights.len(), scene.environment.zenith.x), (2, 1.0));
    assert!((scene.camera.vertical_fov - std::f32::consts::FRAC_PI_6).abs() < 1e-6);
}

#[test]
fn clay_makes_all_surfaces_one_diffuse_colour() {
    let emitter = "[[materials]]\nname = \"grey\"\nemission = [5, 5, 5]\n";
    let sky = "[sky]\nkind = \"constant\"\nradiance = [1, 1, 1]\n";
    let lit = loaded(&format!("{CAMERA}{sky}{emitter}")).unwrap().scene;
    let clay = loaded(&format!("clay = [0.8, 0.7, 0.6]\n{CAMERA}{sky}{emitter}")).unwrap().scene;
    // The triangle emits, and the sky.
    assert_eq!((lit.lights.len(), clay.lights.len()), (2, 1));
    assert!(clay.materials.iter().all(|m| *m == Material::diffuse([0.8, 0.7, 0.6])));
    refused(&format!("clay = [2, 0, 0]\n{CAMERA}{sky}"), "line 1, column 8: `clay`: base colour");
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    refused("file = \"t.obj\"\n\n[camrea]\neye = [0,0,1]\n", "line 3, column 2: unknown field `camrea`");
    refused("file = \"t.obj\"\n[camrea]\n", "(did you mean `camera`?)");
    refused("file = \"t.obj\"\n[sky]\nkind = \"gradeint\"\n", "(did you mean `gradient`?)");
}

#[test]
fn wrong_values_name_line_and_column() {
    refused(
        "file = \"t.obj\"\n[camera]\neye = [0, 0]\n",
        "line 3, column 7: a list of 3 is expected here, not of 2",
    );
    refused("file = 3\n", "line 1, column 8: a string is expected here, not 3");
    refused(
        &format!("{CAMERA}lens_radius = \"x\"\n"),
        "line 6, column 15: a number is expected here, not the string \"x\"",
    );
    refused("file = \"t.obj\"\n[camera\n", "line 2");
    refused(&format!("{CAMERA}up = [0, 0, 0]\n"), "line 2, column 1: up must not be zero");
    refused(
        &format!("{CAMERA}[sky]\nkind = \"constant\"\n"),
        "line 6, column 1: a sky of this kind needs `radiance`",
    );
    refused(
        &format!("{CAMERA}[sun]\ntowards = [0,0,0]\nirradiance = [1,1,1]\n"),
        "line 6, column 1: a direction",
    );
}

#[test]
fn missing_files_are_named() {
    refused("file = \"u.obj\"\n", "line 1, column 8: none of these files is there");
}

#[test]
fn materials_are_changed_by_name() {
    let toml = format!("{CAMERA}[[materials]]\nname = \"grey\"\nkind = \"conductor\"\nroughness = 0.25\n");
    let scene = loaded(&toml).unwrap().scene;
    assert_eq!((scene.materials[0].kind, scene.materials[0].roughness), (1, 0.25));
    refused(
        &format!("{CAMERA}[[materials]]\nname = \"gray\"\n"),
        "line 6, column 1: the file has no material `gray`; did you mean `grey`?",
    );
}

#[test]
fn layers_are_given_by_the_parameters_of_openpbr() {
    let toml = |keys: &str| format!("{CAMERA}[[materials]]\nname = \"grey\"\n{keys}");
    let keys = "base_metalness = 0.25\nspecular_roughness = 0.5\nspecular_weight = 0.75\ncoat_weight = 1\ncoat_ior = 2\n\
        coat_roughness = 0.125\nfuzz_weight = 0.5\nfuzz_color = [1, 0.5, 0]\nthin_film_weight = 0.5\nthin_film_thickness = 0.5\nspecular_roughness_anisotropy = 0.5\n";
    let scene = loaded(&toml(keys)).unwrap().scene;
    let (m, l) = (scene.materials[0], scene.layers[0]);
    assert_eq!((m.kind, m.layers, m.metallic), (MaterialKind::Principled as u32, 1, 0.25));
    assert_eq!((l.specular, l.clearcoat, l.clearcoat_roughness, l.sheen_roughness), (0.75, 1.0, 0.125, 0.5));
    assert_eq!((l.iridescence, l.iridescence_thickness), (0.5, [500.0; 2]));
    assert!((l.clearcoat_f0 - 1.0 / 9.0).abs() < 1e-6);
    assert_eq!(l.sheen_color.to_array(), [0.5, 0.25, 0.0]);
    // OpenPBR's alphas: 0.25 sqrt(2 / 1.25) along, half of it across
    let along = 0.25 * 1.6f32.sqrt();
    assert!((m.roughness * m.roughness - 0.5 * along).abs() < 1e-6, "{}", m.roughness);
    let across = 0.5 * along;
    assert!((across + (1.0 - across) * l.anisotropy * l.anisotropy - along).abs() < 1e-6);
    let plain = loaded(&toml("roughness = 0.5\n")).unwrap().scene;
    assert!(plain.layers.is_empty() && plain.materials[0].layers == 0);
    let neutral = "kind = \"principled\"\nroughness = 0.3\ncoat_weight = 0\ncoat_roughness = 0.25\nspecular_weight = 1\nspecular_color = [1, 1, 1]\n\
        specular_roughness_anisotropy = 0\nfuzz_weight = 0\nthin_film_weight = 0\n";
    let neutral = loaded(&toml(neutral)).unwrap().scene;
    let principled = loaded(&toml("kind = \"principled\"\nroughness = 0.3\n")).unwrap().scene;
    assert_eq!((neutral.materials[0], neutral.layers.len()), (principled.materials[0], 0));
    refused(
        &toml("coat_weight = 0\ncoat_roughness = 5\n"),
        "line 6, column 1: material `grey`: clearcoat roughness must lie",
    );
    refused(&toml("kind = \"dielectric\"\nfuzz_weight = 1\n"), "need the kind `principled`");
    refused(&toml("kind = \"diffuse\"\ncoat_weight = 1\n"), "need the kind `principled` or `dielectric`");
    refused(
        &toml("coat_weight = 2\n"),
        "line 6, column 1: material `grey`: clearcoat must lie between 0 and 1",
    );
    refused(
        &toml("roughness = 7\n"),
        "line 6, column 1: material `grey`: roughness must lie between 0 and 1",
    );
    refused(
        &format!("{CAMERA}[[lights]]\nkind = \"point\"\nposition = [0, 0, 0]\nintensity = [1e9, 0, 0]\n"),
        "line 6, column 1: the light: needs finite vectors",
    );
}

#[test]
fn dielectrics_are_covered_by_coats_and_thin_films() {
    let keys = "coat_weight = 0.5, coat_roughness = 0.25, coat_ior = 2.0, thin_film_weight = 0.75, thin_film_thickness = 0.5";
    let covered = |scene: &Scene, index: usize| {
        let m = scene.materials[index];
        let layers = scene.layers[m.layers as usize - 1];
        assert_eq!((m.kind, m.ior), (MaterialKind::Dielectric as u32, 1.25));
        assert!(layers.covers_glass(&m) && (layers.clearcoat_f0 - 1.0 / 9.0).abs() < 1e-6);
        assert_eq!((layers.clearcoat, layers.clearcoat_roughness), (0.5, 0.25));
        assert_eq!((layers.iridescence, layers.iridescence_thickness), (0.75, [500.0; 2]));
    };
    let ball = |keys: &str| {
        let spheres = "[[spheres]]\ncenter = [0, 0, 0]\nradius = 1\nmaterial = ";
        format!("{CAMERA}{spheres}{{ kind = \"dielectric\", ior = 1.25{keys} }}\n")
    };
    let scene = loaded(&ball(&format!(", {keys}"))).unwrap().scene;
    covered(&scene, scene.spheres[0].material as usize);
    let plain = loaded(&ball(", coat_weight = 0, thin_film_weight = 0")).unwrap().scene;
    assert!(plain.layers.is_empty(), "neutral values make no layers");
    // A file's dielectric stays one
    let folder = tempfile::tempdir().unwrap();
    let glass = "Camera \"perspective\"\nWorldBegin\nMakeNamedMaterial \"glass\" \"string type\" \"dielectric\" \
                 \"float eta\" 1.25\nNamedMaterial \"glass\"\nShape \"sphere\"\n";
    fs::write(folder.path().join("t.pbrt"), glass).unwrap();
    let path = folder.path().join("t.toml");
    let table = format!("file = \"t.pbrt\"\n[[materials]]\nname = \"glass\"\n{}\n", keys.replace(", ", "\n"));
    fs::write(&path, &table).unwrap();
    let scene = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap().scene;
    covered(&scene, scene.spheres[0].material as usize);
    fs::write(&path, table + "fuzz_weight = 0.5\n").unwrap();
    let scene = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap().scene;
    let fuzzy = scene.materials[scene.spheres[0].material as usize];
    assert_eq!(fuzzy.kind, MaterialKind::Principled as u32, "layers that glass lacks");
}

#[test]
fn dielectrics_are_given_priorities() {
    let toml = |keys: &str| format!("{CAMERA}[[materials]]\nname = \"grey\"\n{keys}\n");
    let priority = |keys: &str| loaded(&toml(keys)).unwrap().scene.materials[0].priority;
    assert_eq!(priority("kind = \"dielectric\""), 0, "none has one");
    assert_eq!(priority("kind = \"dielectric\"\npriority = 0"), 1);
    assert_eq!(priority("kind = \"dielectric\"\npriority = 255"), 256);
    refused(
        &toml("kind = \"dielectric\"\npriority = 256"),
        "material `grey`: priority must lie between 0 and 255",
    );
    refused(&toml("priority = 1"), "material `grey`: a priority belongs to a dielectric");
    let ball = |radius: f32, keys: &str| {
        format!(
            "[[spheres]]\ncenter = [0, 0, 0]\nradius = {radius}\nmaterial = {{ kind = \"dielectric\", {keys} }}\n"
        )
    };
    let nested = CAMERA.replace("file = \"t.obj\"\n", "");
    let nested = nested + &ball(1.0, "ior = 1.33") + &ball(2.0, "ior = 1.5, priority = 7");
    let found: Vec<u32> = loaded(&nested).unwrap().scene.materials.iter().map(|m| m.priority).collect();
    assert_eq!(found.iter().filter(|p| **p != 0).collect::<Vec<_>>(), [&1, &8]);
}

#[test]
fn surfaces_keep_light_that_scatters_more_than_once_where_asked_to() {
    let toml =
        |head: &str, keys: &str| format!("{head}{CAMERA}[[materials]]\nname = \"grey\"\nkind = {keys}\n");
    let keeps = |head: &str, keys: &str| {
        let scene = loaded(&toml(head, keys)).unwrap().scene;
        assert_eq!(scene.has_multiscatter(), scene.materials[0].flags & Material::MULTISCATTER != 0);
        scene.has_multiscatter()
    };
    assert!(!keeps("", "\"conductor\""));
    assert!(keeps("", "\"conductor\"\nmultiscatter = true"));
    assert!(keeps("multiscatter = true\n", "\"dielectric\""));
    assert!(!keeps("multiscatter = true\n", "\"diffuse\""), "a diffuse surface loses nothing");
    let options = LoadOptions { multiscatter: true, ..LoadOptions::default() };
    let [plain, keeping] = [LoadOptions::default(), options].map(|options| {
        let scene = load("furnace:rough-metal", &options).unwrap().scene;
        (scene.has_multiscatter(), scene.hash.clone())
    });
    assert!(!plain.0 && keeping.0 && plain.1 != keeping.1, "another scene");
}

#[test]
fn bundled_scenes_without_their_data_are_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let options = LoadOptions { data_folder: Some(folder.path().into()), ..LoadOptions::default() };
    let missing: Vec<_> =
        builtins(&options).into_iter().filter(|b| b.missing.is_some()).map(|b| b.name).collect();
    let bundled = ["pica-wide", "pica-close", "sponza-wide", "sponza-close", "kitchen", "living-room"];
    assert_eq!(missing, bundled);
    for name in bundled {
        let error = load(name, &options).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains("Set LOCKSTEP_SCENES to a folder that holds"), "{error}");
    }
}

/// Loads the real data where it is, in `$LOCKSTEP_SCENES` or `shared/scenes` beside the repository.
#[test]
fn bundled_scenes_with_their_data_have_all_their_triangles() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/scenes");
    let options = LoadOptions { data_folder: beside.is_dir().then_some(beside), ..LoadOptions::default() };
    for (name, triangles) in
        [("pica-wide", 76_274), ("pica-close", 76_274), ("sponza-wide", 262_191), ("sponza-close", 262_191)]
    {
        let found = match load(name, &options) {
            Err(unavailable @ Error::Unavailable { .. }) => Err(unavailable),
            loaded => Ok(loaded.unwrap().scene),
        };
        if let Some(scene) = lockstep_require::present("scenes", found) {
            assert_eq!(scene.instanced_triangles(), triangles, "{name}");
        }
    }
}

#[test]
fn a_bundled_scene_without_a_view_is_its_wide_one() {
    let nowhere = LoadOptions { data_folder: Some("/dev/null".into()), ..LoadOptions::default() };
    for (short, full) in [("sponza", "`sponza-wide`"), ("pica", "`pica-wide`")] {
        let error = load(short, &nowhere).unwrap_err();
        assert!(matches!(&error, Error::Unavailable { what, .. } if what.contains(full)), "{error}");
    }
}

#[test]
fn the_point_that_the_camera_looks_at_has_two_names() {
    let camera = |name: &str| {
        let table = format!("file = \"t.obj\"\n[camera]\neye = [0, 0, 5]\n{name} = [1, 0, 0]\n");
        loaded(&table).unwrap().scene.camera
    };
    assert_eq!(camera("look_at"), camera("target"));
    refused("file = \"t.obj\"\n[camera]\neye = [0, 0, 5]\nlookat = [0, 0, 0]\n", "(did you mean `look_at`?)");
}

#[test]
fn spheres_are_placed_and_light_the_scene() {
    let camera = "[camera]\neye = [0, 0, 5]\ntarget = [0, 0, 0]\n";
    let balls = "[[spheres]]\ncenter = [0, 1, 0]\nradius = 0.5\nmaterial = { emission = [4, 4, 4] }\n\
                 [[spheres]]\ncenter = [0, -1, 0]\nradius = 1\nmaterial = { kind = \"dielectric\", ior = 1.33 }\n";
    let alone = loaded(&format!("{camera}{balls}")).unwrap();
    assert_eq!((alone.scene.spheres.len(), alone.scene.lights.len()), (2, 1));
    assert_eq!((alone.scene.spheres[0].radius, alone.scene.spheres[1].center.y), (0.5, -1.0));
    assert!(alone.warnings.is_empty(), "{:?}", alone.warnings);
    let beside_a_file = loaded(&format!("{CAMERA}{balls}")).unwrap().scene;
    assert_eq!((beside_a_file.spheres.len(), beside_a_file.triangles.len()), (2, 1));
    refused(camera, "give `file`, a scene, or `[[spheres]]`");
    refused(&format!("{camera}[[spheres]]\ncenter = [0, 1, 0]\nradius = 0\n"), "a positive radius");
    refused(&format!("{CAMERA}[[materials]]\nroughness = 0.5\n"), "it needs `name`");
}

#[test]
fn a_sky_is_added_unless_something_brighter_than_white_emits() {
    let emits = |l: f32| format!("{CAMERA}[[materials]]\nname = \"grey\"\nemission = [0, {l:?}, 0]\n");
    for (emission, lights, words) in [
        (0.0, 1, "no light; a bright sky"),
        (1.0, 2, "more than a radiance of 1"),
        (1.5, 1, "of 1.5 is taken for the light"),
    ] {
        let loaded = loaded(&emits(emission)).unwrap();
        assert_eq!(loaded.scene.lights.len(), lights, "{emission}");
        assert!(loaded.warnings.iter().any(|w| w.to_string().contains(words)), "{:?}", loaded.warnings);
    }
    let night = format!("{}[sky]\nkind = \"constant\"\nradiance = [0, 0, 0]\n", emits(0.5));
    assert_eq!(loaded(&night).unwrap().scene.lights.len(), 1, "a black sky stays black");
}
