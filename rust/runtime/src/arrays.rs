//! Arrays, their layouts in memory, and operations that go over them element by element or line by line.

pub(crate) mod array;
pub(crate) mod axis_lines;
pub(crate) mod layout;
pub(crate) mod progression;
pub(crate) mod rows;
pub(crate) mod scalar;
pub(crate) mod search;
pub(crate) mod sort;
pub(crate) mod strided;
pub(crate) mod view;
pub(crate) mod walk;

/// Calls a method with the type of the elements.
macro_rules! for_elements {
    ($dtype:expr, $of:ident.$method:ident($($argument:expr),*)) => {
        match $dtype {
            DType::Bool | DType::UInt8 => $of.$method::<u8>($($argument),*),
            DType::UInt16 => $of.$method::<u16>($($argument),*),
            DType::UInt32 => $of.$method::<u32>($($argument),*),
            DType::UInt64 => $of.$method::<u64>($($argument),*),
            DType::Int8 => $of.$method::<i8>($($argument),*),
            DType::Int16 => $of.$method::<i16>($($argument),*),
            DType::Int32 => $of.$method::<i32>($($argument),*),
            DType::Int64 => $of.$method::<i64>($($argument),*),
            DType::Float32 => $of.$method::<f32>($($argument),*),
            DType::Float64 => $of.$method::<f64>($($argument),*),
            DType::Float16 | DType::Complex64 | DType::Complex128 => {
                unreachable!("the builder refuses these")
            }
        }
    };
}

/// As [`for_elements`], where the sign of integers makes no difference.
macro_rules! for_bits {
    ($dtype:expr, $of:ident.$method:ident($($argument:expr),*)) => {
        match $dtype {
            DType::Bool | DType::UInt8 | DType::Int8 => $of.$method::<u8>($($argument),*),
            DType::UInt16 | DType::Int16 => $of.$method::<u16>($($argument),*),
            DType::UInt32 | DType::Int32 => $of.$method::<u32>($($argument),*),
            DType::UInt64 | DType::Int64 => $of.$method::<u64>($($argument),*),
            DType::Float32 => $of.$method::<f32>($($argument),*),
            DType::Float64 => $of.$method::<f64>($($argument),*),
            DType::Float16 | DType::Complex64 | DType::Complex128 => {
                unreachable!("the builder refuses these")
            }
        }
    };
}

pub(crate) use {for_bits, for_elements};
