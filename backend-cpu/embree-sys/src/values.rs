//! Named numbers and small structures that several subjects share.

use std::error::Error;
use std::fmt;

/// Marks "no geometry", "no primitive" and "no instance" in hits and contexts.
pub const RTC_INVALID_GEOMETRY_ID: u32 = u32::MAX;

/// Declares a C enumeration as a number with named constants, so that any value the library may
/// return is a valid one.
macro_rules! named_numbers {
    ($(#[$meta:meta])* $name:ident { $($(#[$value_meta:meta])* $constant:ident = $value:expr,)* }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub std::ffi::c_uint);

        impl $name {
            $($(#[$value_meta])* pub const $constant: Self = Self($value);)*
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(if *self == Self::$constant {
                    return f.write_str(stringify!($constant));
                })*
                write!(f, concat!(stringify!($name), "({:#x})"), self.0)
            }
        }
    };
}

/// Declares a C enumeration whose values are bits to be combined with `|`.
macro_rules! named_bits {
    ($(#[$meta:meta])* $name:ident { $($rest:tt)* }) => {
        crate::values::named_numbers! { $(#[$meta])* $name { $($rest)* } }

        impl $name {
            /// Whether every bit of `other` is set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl Default for $name {
            /// No bit set.
            fn default() -> Self {
                Self(0)
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }
    };
}

pub(crate) use {named_bits, named_numbers};

named_numbers! {
    /// An error code.
    RTCError {
        /// No error.
        NONE = 0,
        /// Unknown error.
        UNKNOWN = 1,
        /// An argument out of range.
        INVALID_ARGUMENT = 2,
        /// An operation not allowed on this object; also the answer while no library is loaded.
        INVALID_OPERATION = 3,
        /// Not enough memory.
        OUT_OF_MEMORY = 4,
        /// The CPU lacks the instructions that the library was built for.
        UNSUPPORTED_CPU = 5,
        /// Cancelled by a memory or progress monitor.
        CANCELLED = 6,
    }
}

impl fmt::Display for RTCError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::NONE => "no error",
            Self::INVALID_ARGUMENT => "invalid argument",
            Self::INVALID_OPERATION => "invalid operation",
            Self::OUT_OF_MEMORY => "out of memory",
            Self::UNSUPPORTED_CPU => "this CPU lacks the instructions that Embree needs",
            Self::CANCELLED => "cancelled",
            _ => return write!(f, "unknown error (code {})", self.0),
        })
    }
}

impl Error for RTCError {}

named_numbers! {
    /// Element format of a geometry buffer or a transformation.
    RTCFormat {
        /// No format.
        UNDEFINED = 0,
        /// One 32-bit unsigned integer.
        UINT = 0x5001,
        /// Two 32-bit unsigned integers.
        UINT2 = 0x5002,
        /// Three 32-bit unsigned integers: the vertex indices of a triangle.
        UINT3 = 0x5003,
        /// Four 32-bit unsigned integers.
        UINT4 = 0x5004,
        /// One 32-bit float.
        FLOAT = 0x9001,
        /// Two 32-bit floats.
        FLOAT2 = 0x9002,
        /// Three 32-bit floats: a vertex position.
        FLOAT3 = 0x9003,
        /// Four 32-bit floats: a sphere's centre and radius.
        FLOAT4 = 0x9004,
        /// An affine transformation, 3 rows and 4 columns, row after row.
        FLOAT3X4_ROW_MAJOR = 0x9134,
        /// An affine transformation, 3 rows and 4 columns, column after column.
        FLOAT3X4_COLUMN_MAJOR = 0x9234,
        /// An affine transformation as a 4×4 matrix, column after column.
        FLOAT4X4_COLUMN_MAJOR = 0x9244,
    }
}

named_numbers! {
    /// How much time a build may take for the sake of faster queries.
    RTCBuildQuality {
        /// Fastest build (Morton order).
        LOW = 0,
        /// The default: binned SAH.
        MEDIUM = 1,
        /// Slowest build: SAH with spatial splits.
        HIGH = 2,
        /// Keeps the tree of the last build and refits its boxes; geometries only.
        REFIT = 3,
    }
}

impl Default for RTCBuildQuality {
    fn default() -> Self {
        Self::MEDIUM
    }
}

/// An axis-aligned box in scene units.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RTCBounds {
    /// Least x.
    pub lower_x: f32,
    /// Least y.
    pub lower_y: f32,
    /// Least z.
    pub lower_z: f32,
    /// Padding.
    pub align0: f32,
    /// Greatest x.
    pub upper_x: f32,
    /// Greatest y.
    pub upper_y: f32,
    /// Greatest z.
    pub upper_z: f32,
    /// Padding.
    pub align1: f32,
}

const _: () = assert!(size_of::<RTCBounds>() == 32 && align_of::<RTCBounds>() == 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_value_prints_its_name_and_an_unknown_one_its_number() {
        assert_eq!(format!("{:?}", RTCFormat::UINT3), "UINT3");
        assert_eq!(format!("{:?}", RTCFormat(0x7777)), "RTCFormat(0x7777)");
    }

    #[test]
    fn the_default_build_quality_is_embrees() {
        assert_eq!(RTCBuildQuality::default(), RTCBuildQuality::MEDIUM);
    }
}
