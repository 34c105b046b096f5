//! Numbers for the parts of a program, each kind of part with a type of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The position in a table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of this position in a table.
            pub fn from_index(index: usize) -> $name {
                $name(u32::try_from(index).expect("a program has less than 2^32 parts"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

id! {
    /// A place for one tensor: an input, a constant or the result of an instruction.
    Slot, "%"
}
id! {
    /// An integer expression that is evaluated during a call.
    Size, "n"
}
id! {
    /// The origin of an instruction, for blame. The runtime only hands the number back.
    Origin, "@"
}
id! {
    /// A program that instructions of another one run.
    Nested, "p"
}
