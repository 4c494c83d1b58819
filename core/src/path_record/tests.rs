use crate::path_record::compare::{
    Distance, Quantity, Value, distance, fields, first_difference, quantities_differing,
};
use crate::path_record::{
    LightVertex, PathVertex, ScatterVertex, ShadingVertex, ShadowVertex, SurfaceVertex,
};

fn vertex(bounce: u32) -> PathVertex {
    PathVertex {
        bounce,
        t: 1.5,
        surface: Some(SurfaceVertex {
            false_hit: true,
            shading: Some(ShadingVertex::default()),
            ..SurfaceVertex::default()
        }),
        light: Some(LightVertex { shadow: Some(ShadowVertex::default()), ..LightVertex::default() }),
        scatter: Some(ScatterVertex::default()),
        ..PathVertex::default()
    }
}

#[test]
fn quantities_come_in_the_order_of_a_path_and_have_fields() {
    let quantities: Vec<Quantity> = fields(&vertex(0)).iter().map(|f| f.quantity).collect();
    assert!(quantities.is_sorted());
    assert!(Quantity::OF_PATHS.iter().all(|quantity| quantities.contains(quantity)));
    assert!(fields(&vertex(0)).iter().all(|f| f.value.is_some()));
    assert!(fields(&vertex(1)).iter().all(|f| f.quantity == Quantity::FullPaths));
}

#[test]
fn equal_paths_differ_in_nothing_and_nan_equals_itself() {
    let odd = PathVertex { radiance: [f32::NAN; 3], ..vertex(1) };
    assert_eq!(first_difference(&[vertex(0), odd], &[vertex(0), odd]), None);
}

#[test]
fn the_first_field_that_differs_is_named_with_its_distance() {
    let mut other = vertex(0);
    other.t = f32::from_bits(1.5f32.to_bits() + 3);
    other.radiance = [1.0; 3];
    let found = first_difference(&[vertex(0)], &[other]).unwrap();
    assert_eq!((found.bounce, found.quantity, found.field), (0, Quantity::Depth, "distance"));
    assert_eq!(found.distance.unwrap().ulps, 3);
    assert_eq!(quantities_differing(&[vertex(0)], &[other]), [Quantity::Depth, Quantity::DirectLight]);
}

#[test]
fn a_field_that_only_one_path_has_differs() {
    let found = first_difference(&[vertex(0)], &[PathVertex { light: None, ..vertex(0) }]).unwrap();
    assert_eq!((found.field, found.b), ("light draw", None));
}

#[test]
fn distances_cross_zero_and_leave_out_what_is_no_number() {
    let one = |v: f32| Value::One(v);
    let ulps = |a: f32, b: f32| distance(&one(a), &one(b)).map(|d| d.ulps);
    assert_eq!((ulps(0.0, -0.0), ulps(1.0, 1.0 + f32::EPSILON)), (Some(1), Some(1)));
    assert_eq!(ulps(-f32::from_bits(1), f32::from_bits(1)), Some(3));
    assert_eq!((ulps(f32::NAN, 1.0), distance(&Value::Index(1), &Value::Index(2))), (None, None));
    let colours = distance(&Value::Three([1.0, 2.0, 0.0]), &Value::Three([1.0, 1.0, 0.0]));
    assert_eq!(colours, Some(Distance { ulps: 1 << 23, relative: 0.5 }));
}
