use super::*;

#[test]
fn products_of_colour_and_strength_are_exact() {
    for value in [vec3(17.0, 12.0, 4.0), vec3(0.3, 0.2, 0.1), vec3(1e20, 3.0, 0.7)] {
        let (color, factor) = split(value);
        assert!(color.to_array().into_iter().all(|c| c <= 1.0));
        assert_eq!(color * factor, value);
    }
}
