//! Study folders made up by formula, in the format of real ones: images with Monte Carlo noise, the metrics
//! computed from these images, and times that add up.

#![allow(clippy::unwrap_used, reason = "a made-up study that cannot be written must stop the test")]

use lockstep_reports::image_io::{ImageKind, ImageMetadata, ImageName, LinearImage, write_exr, write_png};
use lockstep_reports::metrics::{Metrics, compare};
use lockstep_reports::records::{
    Convergence, DeviceInfo, Difference, Environment, Hits, HostInfo, Load, Note, Record, RecordLog, Skip,
    StudySettings, Timing,
};
use lockstep_reports::study::files;
use std::path::Path;

/// The study to make up.
pub(crate) struct Plan<'a> {
    pub(crate) scenes: &'a [&'a str],
    pub(crate) targets: &'a [&'a str],
    pub(crate) levels: &'a [u32],
    pub(crate) size: (u32, u32),
}

/// Two scenes, three targets, 1 to 64 samples.
pub(crate) const SMALL: Plan<'static> = Plan {
    scenes: &["cornell", "weekend"],
    targets: &["cpu-bvh", "cpu-embree", "opencl@pocl"],
    levels: &[1, 2, 4, 8, 16, 32, 64],
    size: (160, 120),
};

/// Makes the folder's records, environment and images, and nothing that is made from them.
pub(crate) fn write_study(folder: &Path, plan: &Plan) {
    std::fs::create_dir_all(folder.join(files::IMAGES)).unwrap();
    environment(plan).write(&folder.join(files::ENVIRONMENT)).unwrap();
    let mut log = RecordLog::create(&folder.join(files::RECORDS)).unwrap();
    log.append(&[
        Skip {
            target: Some("cuda".into()),
            reason: "libcuda.so.1 was not found".into(),
            remedy: "install an NVIDIA driver, version 525 or later".into(),
            ..Default::default()
        }
        .into(),
        Note { text: "references taken from the cache".into(), ..Default::default() }.into(),
    ])
    .unwrap();
    for (index, scene) in plan.scenes.iter().enumerate() {
        write_scene(folder, plan, scene, index as u32, &mut log);
    }
}

fn write_scene(folder: &Path, plan: &Plan, scene: &str, index: u32, log: &mut RecordLog) {
    let truth = LinearImage::from_fn(plan.size.0, plan.size.1, |x, y| shade(index, plan.size, x, y));
    let loads = plan.targets.iter().enumerate().map(|(t, target)| load(scene, target, t, index));
    log.append(&loads.collect::<Vec<_>>()).unwrap();
    let mut from = 0;
    for &spp in plan.levels {
        let mut point: Vec<Record> = Vec::new();
        let images: Vec<LinearImage> =
            plan.targets.iter().map(|target| render(&truth, target.contains("embree"), spp)).collect();
        for (t, (target, image)) in plan.targets.iter().zip(&images).enumerate() {
            write_images(folder, scene, target, spp, image);
            let metrics = compare(image, &truth).unwrap();
            point.push(
                Convergence::new(scene, &(*target).into(), spp, 1, &metrics, "cpu-embree, 1024 spp, seed 7")
                    .into(),
            );
            point.push(timing(scene, target, t, (from, spp), plan.size).into());
            for (other, reference) in plan.targets.iter().zip(&images).skip(t + 1) {
                let metrics = compare(image, reference).unwrap();
                let same = image == reference;
                point.push(
                    Difference::new(scene, (&(*target).into(), &(*other).into()), spp, 1, &metrics, same)
                        .into(),
                );
                if other.contains("embree") && spp == plan.levels[0] {
                    point.push(hits(scene, target, other, spp, &metrics, plan.size).into());
                }
            }
        }
        log.append(&point).unwrap();
        from = spp;
    }
}

fn write_images(folder: &Path, scene: &str, target: &str, spp: u32, image: &LinearImage) {
    let path = |kind| {
        let name = ImageName { scene: scene.into(), target: target.into(), spp, seed: None, kind };
        folder.join(files::IMAGES).join(name.file_name())
    };
    let metadata = ImageMetadata::of_render(scene, target, spp, 1);
    write_exr(&path(ImageKind::Exr), image, &metadata).unwrap();
    write_png(&path(ImageKind::Png), image, &metadata).unwrap();
}

/// A sphere on a checkered floor under a sky; the second scene has many spheres.
fn shade(scene: u32, (w, h): (u32, u32), x: u32, y: u32) -> [f32; 3] {
    let (u, v) = ((x as f32 + 0.5) / w as f32 * 2.0 - 1.0, (y as f32 + 0.5) / h as f32 * 2.0 - 1.0);
    let (u, v) = (u * w as f32 / h as f32, v);
    let spheres = if scene.is_multiple_of(2) { 1 } else { 7 };
    for i in 0..spheres {
        let r = if spheres == 1 { 0.55 } else { 0.24 };
        let (cx, cy) =
            if spheres == 1 { (0.0, 0.0) } else { ((i as f32 - 3.0) * 0.42, 0.25 * (i as f32 * 2.1).sin()) };
        let (dx, dy) = ((u - cx) / r, (v - cy) / r);
        let inside = 1.0 - dx * dx - dy * dy;
        if inside > 0.0 {
            let light = (0.4 * -dx - 0.6 * dy + 0.69 * inside.sqrt()).max(0.0);
            let tint = [0.9, 0.35 + 0.08 * i as f32, 0.2 + 0.1 * i as f32];
            return tint.map(|c| c * (0.06 + 0.9 * light));
        }
    }
    if v > 0.15 {
        let depth = 1.0 / (v - 0.1);
        let tile = (u * depth * 1.5).floor() as i64 + (depth * 3.0).floor() as i64;
        return if tile.rem_euclid(2) == 0 { [0.65; 3] } else { [0.12; 3] };
    }
    [0.35 + 0.2 * v, 0.55 + 0.2 * v, 0.95]
}

/// The truth with noise whose variance falls as one over `spp`; `other_hits` replaces a sample in few pixels.
fn render(truth: &LinearImage, other_hits: bool, spp: u32) -> LinearImage {
    let width = truth.width();
    LinearImage::from_fn(width, truth.height(), |x, y| {
        let pixel = y * width + x;
        let flips = other_hits && hash(pixel, 77, 0).is_multiple_of(4001);
        let sum: f32 = (0..spp)
            .map(|sample| {
                let sample = if flips && sample == 0 { 1 << 20 } else { sample };
                hash(pixel, sample, 1) as f32 / u32::MAX as f32 * 2.0
            })
            .sum();
        truth.pixels()[pixel as usize].map(|c| c * sum / spp as f32)
    })
}

fn hash(a: u32, b: u32, c: u32) -> u32 {
    let mut x = a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca6b) ^ c.wrapping_mul(0xc2b2_ae35);
    for shift in [16, 13, 16] {
        x = (x ^ (x >> shift)).wrapping_mul(0x45d9_f3b3);
    }
    x ^ (x >> 15)
}

fn timing(scene: &str, target: &str, speed: usize, (from, to): (u32, u32), (w, h): (u32, u32)) -> Timing {
    let samples = u64::from(w * h) * u64::from(to - from);
    let bounces = [samples, samples * 8 / 10, samples * 6 / 10];
    let shadows = bounces.map(|rays| rays * 7 / 10);
    let (extension_rays, shadow_rays) = (bounces.iter().sum::<u64>(), shadows.iter().sum::<u64>());
    let ms = (extension_rays + shadow_rays) as f64 / 8e3 / (1.0 + 0.8 * speed as f64);
    Timing {
        scene: scene.into(),
        target: target.into(),
        spp_from: from,
        spp_to: to,
        seed: 1,
        generate_ms: ms * 0.04,
        extend_ms: ms * 0.44,
        shade_ms: ms * 0.21,
        connect_ms: ms * 0.24,
        total_ms: ms,
        trace_ms: ms * 0.62,
        extension_rays,
        shadow_rays,
        samples,
        threads: 2,
        extension_rays_by_bounce: bounces.to_vec(),
        shadow_rays_by_bounce: shadows.to_vec(),
        ..Default::default()
    }
    .with_derived()
}

fn load(scene: &str, target: &str, t: usize, index: u32) -> Record {
    Load {
        scene: scene.into(),
        target: target.into(),
        build_ms: 1.5 + 40.0 * f64::from(index),
        compile_ms: if target.starts_with("opencl") { 812.0 } else { 0.0 },
        upload_ms: t as f64 * 0.2,
        triangles: 36 + 480_000 * u64::from(index),
        device_bytes: 4096 << (index * 12),
        ..Default::default()
    }
    .into()
}

fn hits(scene: &str, a: &str, b: &str, spp: u32, metrics: &Metrics, (w, h): (u32, u32)) -> Hits {
    let pixels = u64::from(w * h);
    Hits {
        scene: scene.into(),
        a: a.into(),
        b: b.into(),
        spp,
        seed: 1,
        rays: pixels * 3,
        primitive_differs: metrics.pixels_differing,
        pixels,
        pixels_differing: metrics.pixels_differing,
        share: metrics.pixels_differing as f64 / pixels as f64,
        why: "at shared edges Embree's rounding picks the neighbour".into(),
        ..Default::default()
    }
}

fn environment(plan: &Plan) -> Environment {
    let target = |name: &&str| DeviceInfo {
        target: (*name).into(),
        backend: name.split(['-', '@']).next().unwrap_or_default().into(),
        device: "Made-up CPU with 2 cores".into(),
        driver: if name.contains('@') { "PoCL 5.0".into() } else { String::new() },
        compiler: "rustc 1.95.0".into(),
        flags: "-C opt-level=3".into(),
        compute_units: 2,
        exact: true,
        ..DeviceInfo::default()
    };
    Environment {
        lockstep: "0.1.0".into(),
        commit: Some("0123abc".into()),
        started_utc: "2026-01-31T12:00:00Z".into(),
        command: ["lockstep", "study", "cornell", "weekend", "--spp", "1..64"].map(str::to_owned).to_vec(),
        host: HostInfo {
            name: "host".into(),
            os: "Linux 6.1 x86_64".into(),
            cpu: "Made-up CPU".into(),
            cores: 2,
            memory_bytes: 8 << 30,
        },
        targets: plan.targets.iter().map(|name| target(name).into()).collect(),
        kernel_hash: Some("9f2c".into()),
        scenes: plan.scenes.iter().map(|s| ((*s).to_owned(), "5e1d".to_owned())).collect(),
        settings: StudySettings {
            width: plan.size.0,
            height: plan.size.1,
            bounces: 3,
            seed: 1,
            seeds: 1,
            repeats: 1,
            spp: plan.levels.to_vec(),
            ..StudySettings::default()
        },
        ..Default::default()
    }
}
