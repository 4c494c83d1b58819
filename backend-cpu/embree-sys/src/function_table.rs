//! Declares C functions that are resolved at run time.

/// Declares one subject's functions: a table of pointers with `resolve`, and for each function a
/// public wrapper that calls through the table of the loaded library, or answers with the value behind
/// `=` while no library is loaded.
macro_rules! embree_functions {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? = $absent:expr;
    )*) => {
        /// The functions of the loaded library.
        static LOADED: std::sync::OnceLock<Functions> = std::sync::OnceLock::new();

        /// The functions of one subject, as found in the library.
        #[derive(Clone, Copy)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($kind),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Looks every function up in an open library.
            pub(crate) fn resolve(symbols: &crate::symbols::Symbols<'_>) -> Result<Self, crate::LoadError> {
                Ok(Self { $(
                    // SAFETY: the field's type is the function's type in Embree 4's C interface.
                    $name: unsafe { symbols.function(stringify!($name)) }?,
                )* })
            }

            /// Makes the public functions call these from now on.
            pub(crate) fn install(self) {
                LOADED.get_or_init(|| self);
            }
        }

        $(
            $(#[$meta])*
            ///
            /// # Safety
            ///
            /// Handles must be live and of the right kind, pointers valid for the size and time that
            /// Embree's documentation gives. Any argument is allowed while no library is loaded.
            #[inline]
            pub unsafe fn $name($($argument: $kind),*) $(-> $result)? {
                match LOADED.get() {
                    // SAFETY: the caller keeps Embree's rules for these arguments.
                    Some(functions) => unsafe { (functions.$name)($($argument),*) },
                    None => $absent,
                }
            }
        )*
    };
}

pub(crate) use embree_functions;
