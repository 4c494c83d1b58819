//! Materials of both versions.

use super::*;
use lockstep_core::scene::{AlphaMode, MaterialKind, NONE};

const DIFFUSE: u32 = MaterialKind::Diffuse as u32;
const CONDUCTOR: u32 = MaterialKind::Conductor as u32;
const DIELECTRIC: u32 = MaterialKind::Dielectric as u32;
const PRINCIPLED: u32 = MaterialKind::Principled as u32;

/// A material without a warning.
fn exact(text: &str) -> Material {
    let (material, loaded) = material(text);
    let of_material = loaded.warnings.iter().find(|w| !w.to_string().contains("sky"));
    assert!(of_material.is_none(), "{text}: {of_material:?}");
    material
}

/// A material with a warning of these words.
fn nearest(text: &str, words: &str) -> Material {
    let (material, loaded) = material(text);
    assert!(warns(&loaded, words), "{text}: {:?}", loaded.warnings);
    material
}

#[test]
fn diffuse_surfaces_are_exact() {
    for (text, color) in [
        ("Material \"matte\"", [0.5; 3]),
        ("Material \"matte\" \"rgb Kd\" [.1 .2 .3]", [0.1, 0.2, 0.3]),
        ("Material \"matte\" \"color Kd\" [.1 .2 .3]", [0.1, 0.2, 0.3]),
        ("Material \"diffuse\" \"rgb reflectance\" [.1 .2 .3]", [0.1, 0.2, 0.3]),
        ("Material \"diffuse\" \"spectrum reflectance\" [300 .4 800 .4]", [0.4; 3]),
        ("Material \"diffuse\" \"float reflectance\" .25", [0.25; 3]),
        ("Material \"plastic\" \"rgb Kd\" [.1 .2 .3] \"rgb Ks\" [0 0 0]", [0.1, 0.2, 0.3]),
        ("Material \"uber\" \"rgb Kd\" [.1 .2 .3] \"rgb Ks\" [0 0 0]", [0.1, 0.2, 0.3]),
        ("", [0.5; 3]),
    ] {
        let m = exact(text);
        assert_eq!(m.kind, DIFFUSE, "{text}");
        near(m.base_color, color, 2e-3);
    }
    assert_eq!(nearest("Material \"matte\" \"float sigma\" 20", "Oren and Nayar").kind, DIFFUSE);
    let bright = nearest("Material \"matte\" \"rgb Kd\" [2 .5 .5]", "limited");
    near(bright.base_color, [1.0, 0.5, 0.5], 0.0);
}

#[test]
fn metals_reflect_by_their_index_and_absorption() {
    // ((n - 1)^2 + k^2) / ((n + 1)^2 + k^2) of aluminium.
    let aluminium = [1.65746f32, 0.880369, 0.521229].map(f64::from);
    let k = [9.223869f64, 6.269523, 4.837001];
    let wanted = std::array::from_fn(|i| {
        let (n, k) = (aluminium[i], k[i]);
        (((n - 1.0).powi(2) + k * k) / ((n + 1.0).powi(2) + k * k)) as f32
    });
    let text = "\"rgb eta\" [1.65746 .880369 .521229] \"rgb k\" [9.223869 6.269523 4.837001]";
    let m = exact(&format!(
        "Material \"metal\" {text} \"float roughness\" .25 \"bool remaproughness\" \"false\""
    ));
    assert_eq!((m.kind, m.roughness), (CONDUCTOR, 0.5), "the root of alpha");
    near(m.base_color, wanted, 1e-5);
    let smooth = exact(&format!("Material \"conductor\" {text}"));
    assert_eq!((smooth.kind, smooth.roughness), (CONDUCTOR, 0.0));
    let named =
        exact("Material \"conductor\" \"spectrum eta\" \"metal-Al-eta\" \"spectrum k\" \"metal-Al-k\"");
    near(named.base_color, wanted, 1e-3);
    let copper = exact("Material \"metal\"").base_color;
    assert!(copper.x > 0.9 && copper.z < 0.6, "{copper:?}");
    near(exact("Material \"conductor\" \"rgb reflectance\" [.1 .2 .3]").base_color, [0.1, 0.2, 0.3], 0.0);
    let mirror = nearest("Material \"mirror\"", "grazing");
    assert_eq!((mirror.kind, mirror.roughness, mirror.base_color.x), (CONDUCTOR, 0.0, 0.9));
    let coated = nearest("Material \"coatedconductor\" \"float conductor.roughness\" 0.0625", "coat");
    assert_eq!((coated.kind, coated.roughness), (CONDUCTOR, 0.5));
}

#[test]
fn roughness_is_remapped_as_each_version_does() {
    // Version 4: alpha is the root of roughness, and ours is the root of alpha.
    let four = exact("Material \"conductor\" \"float roughness\" 0.0625");
    assert_eq!(four.roughness, 0.5);
    // Version 3: the polynomial at ln 0.1 = -2.302585 is 0.46176.
    let three = exact("Material \"metal\" \"float roughness\" 0.1");
    assert!((three.roughness - 0.46176f32.sqrt()).abs() < 1e-3, "{}", three.roughness);
    let uneven = "Material \"conductor\" \"float uroughness\" .01 \"float vroughness\" 0.16 \"bool remaproughness\" false";
    assert!((nearest(uneven, "geometric mean").roughness - 0.04f32.sqrt()).abs() < 1e-6);
}

#[test]
fn glass_has_its_index_and_tint() {
    let m = exact("Material \"glass\" \"float index\" 1.3");
    assert_eq!((m.kind, m.ior, m.roughness), (DIELECTRIC, 1.3, 0.0));
    assert_eq!(exact("Material \"dielectric\" \"float eta\" 1.4 \"float roughness\" .0625").roughness, 0.5);
    assert_eq!(exact("Material \"dielectric\" \"spectrum eta\" \"glass-BK7\"").ior, 1.5168);
    let tinted = nearest("Material \"glass\" \"rgb Kt\" [.5 1 1]", "tint `Kt`");
    near(tinted.base_color, [0.5, 1.0, 1.0], 0.0);
    let black = exact("Material \"glass\" \"rgb Kt\" [0 0 0]");
    assert_eq!((black.kind, black.base_color.x), (PRINCIPLED, 0.0));
    assert!((black.ior - 1.5).abs() < 1e-5);
    assert_eq!(nearest("Material \"glass\" \"float eta\" 7", "limited to between 1 and 4").ior, 4.0);
    let thin = nearest("Material \"thindielectric\"", "thin wall");
    assert_eq!((thin.kind, thin.transmission, thin.roughness), (PRINCIPLED, 1.0, 0.0));
}

#[test]
fn layered_surfaces_have_a_base_and_an_index() {
    let m = nearest("Material \"substrate\" \"rgb Kd\" [.1 .2 .3] \"rgb Ks\" [.04 .04 .04]", "Ashikhmin");
    assert_eq!(m.kind, PRINCIPLED);
    assert!((m.ior - 1.5).abs() < 1e-5, "a reflectance of 0.04 is that of 1.5");
    let plastic = nearest("Material \"plastic\" \"rgb Ks\" [1 1 1]", "plastic is rendered");
    assert!((plastic.ior - 1.5).abs() < 1e-5);
    let coated = exact("Material \"coateddiffuse\" \"float eta\" 1.6 \"float roughness\" .0625");
    assert_eq!((coated.kind, coated.ior, coated.roughness), (PRINCIPLED, 1.6, 0.5));
    let uber = nearest("Material \"uber\" \"rgb Kt\" [.5 .5 .5] \"rgb Kd\" [0 0 0]", "uber");
    assert_eq!((uber.kind, uber.transmission), (PRINCIPLED, 1.0));
    let disney = nearest(
        "Material \"disney\" \"color color\" [.1 .2 .3] \"float metallic\" .5 \"float roughness\" .3 \"float sheen\" 1",
        "the part `sheen`",
    );
    assert_eq!((disney.kind, disney.metallic, disney.roughness), (PRINCIPLED, 0.5, 0.3));
}

#[test]
fn what_has_no_model_is_the_nearest_with_a_warning() {
    let both = "\"rgb reflect\" [.3 .3 .3] \"rgb transmit\" [.6 .6 .6] \"rgb Kd\" [1 1 1] \"rgb Ks\" [0 0 0]";
    let m = nearest(&format!("Material \"translucent\" {both}"), "diffuse transmission");
    assert!((m.transmission - 2.0 / 3.0).abs() < 1e-6 && (m.base_color.x - 0.9).abs() < 1e-6 && m.ior == 1.0);
    let four = "\"rgb reflectance\" [.3 .3 .3] \"rgb transmittance\" [.6 .6 .6]";
    let n = nearest(&format!("Material \"diffusetransmission\" {four}"), "diffuse transmission");
    assert_eq!((n.transmission, n.base_color.x), (m.transmission, m.base_color.x));
    let skin = nearest("Material \"subsurface\" \"rgb reflectance\" [.8 .6 .5]", "below surfaces");
    near(skin.base_color, [0.8, 0.6, 0.5], 0.0);
    nearest("Material \"kdsubsurface\" \"rgb Kd\" [.8 .6 .5]", "below surfaces");
    nearest("Material \"hair\" \"rgb reflectance\" [.3 .2 .1]", "hair is rendered");
    nearest("Material \"measured\" \"string filename\" \"a.bsdf\"", "measured data");
    nearest("Material \"fourier\" \"string bsdffile\" \"a.bsdf\"", "measured data");
}

#[test]
fn surfaces_that_rays_pass_are_left_out_unless_they_emit() {
    for class in ["interface", "none", ""] {
        assert!(world(&format!("Material \"{class}\" {TRIANGLE}")).scene.triangles.is_empty());
    }
    let lamp = world(&format!("Material \"interface\" AreaLightSource \"diffuse\" {TRIANGLE}"));
    assert_eq!(lamp.scene.lights.len(), 1);
    assert!(warns(&lamp, "the surface is black"));
}

#[test]
fn mixed_materials_are_means_and_masks() {
    let parts = "MakeNamedMaterial \"a\" \"string type\" \"diffuse\" \"rgb reflectance\" [.2 .2 .2]\n\
                 MakeNamedMaterial \"b\" \"string type\" \"diffuse\" \"rgb reflectance\" [.8 .8 .8]\n\
                 MakeNamedMaterial \"gone\" \"string type\" \"interface\"\n\
                 MakeNamedMaterial \"m\" \"string type\" \"conductor\" \"rgb reflectance\" [1 1 1]\n";
    let mix = |names: &str, amount: f32| {
        format!("{parts} Material \"mix\" \"string materials\" [{names}] \"float amount\" {amount}")
    };
    near(exact(&mix("\"a\" \"b\"", 0.25)).base_color, [0.35; 3], 1e-6);
    let hidden = exact(&mix("\"gone\" \"b\"", 0.25));
    assert_eq!((hidden.kind, hidden.alpha, hidden.alpha_mode), (DIFFUSE, 0.25, AlphaMode::Blend as u32));
    let half = nearest(&mix("\"a\" \"m\"", 0.5), "their mean");
    assert_eq!((half.kind, half.metallic), (PRINCIPLED, 0.5));
    let three = "MakeNamedMaterial \"a\" \"string type\" \"matte\" \"rgb Kd\" [.2 .2 .2]\n\
                 MakeNamedMaterial \"b\" \"string type\" \"matte\" \"rgb Kd\" [.8 .8 .8]\n\
                 Material \"mix\" \"string namedmaterial1\" \"a\" \"string namedmaterial2\" \"b\" \"rgb amount\" [.25 .25 .25]";
    near(exact(three).base_color, [0.65; 3], 1e-6);
    let loop_ = "MakeNamedMaterial \"a\" \"string type\" \"mix\" \"string materials\" [\"a\" \"a\"] NamedMaterial \"a\" \
                 Shape \"sphere\"";
    assert!(refused(loop_).contains("mixed more than 16 deep"));
}

#[test]
fn opacity_blends_in_version_4_and_masks_in_version_3() {
    let of = |material: &str, alpha: &str| {
        let scene = world(&format!("{material} {SQUARE} {alpha}")).scene;
        scene.triangles.first().map(|t| scene.materials[t.material as usize])
    };
    let blended = of("Material \"diffuse\"", "\"float alpha\" 0.5").unwrap();
    assert_eq!((blended.alpha, blended.alpha_mode), (0.5, AlphaMode::Blend as u32));
    let seen = of("Material \"matte\"", "\"float alpha\" 0.5").unwrap();
    assert_eq!(seen.alpha_mode, AlphaMode::Opaque as u32);
    assert!(of("Material \"matte\"", "\"float alpha\" 0").is_none());
    let uber = of("Material \"uber\" \"rgb opacity\" [.5 .5 .5] \"rgb Ks\" [0 0 0]", "").unwrap();
    assert_eq!((uber.kind, uber.alpha, uber.alpha_mode), (DIFFUSE, 0.5, AlphaMode::Blend as u32));
    let checker = "Texture \"c\" \"float\" \"checkerboard\"";
    for (material, mode) in [("diffuse", AlphaMode::Blend), ("matte", AlphaMode::Mask)] {
        let m = of(&format!("{checker} Material \"{material}\""), "\"texture alpha\" \"c\"").unwrap();
        assert_eq!(m.alpha_mode, mode as u32);
        assert_ne!(m.base_color_texture, NONE);
    }
}
