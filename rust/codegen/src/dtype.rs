//! Element types.

use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dtype {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float16,
    Float32,
    Float64,
}

/// The sort of numbers of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    /// Floats of 16 bits, which are converted before anything is computed with them.
    Half,
    Float,
}

impl Dtype {
    /// The type of that name.
    pub(crate) fn named(name: &str) -> Option<Dtype> {
        Some(match name {
            "bool" => Dtype::Bool,
            "int8" => Dtype::Int8,
            "int16" => Dtype::Int16,
            "int32" => Dtype::Int32,
            "int64" => Dtype::Int64,
            "uint8" => Dtype::Uint8,
            "uint16" => Dtype::Uint16,
            "uint32" => Dtype::Uint32,
            "uint64" => Dtype::Uint64,
            "float16" => Dtype::Float16,
            "float32" => Dtype::Float32,
            "float64" => Dtype::Float64,
            _ => return None,
        })
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Dtype::Bool => Kind::Bool,
            Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => Kind::Signed,
            Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64 => Kind::Unsigned,
            Dtype::Float16 => Kind::Half,
            Dtype::Float32 | Dtype::Float64 => Kind::Float,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    pub(crate) fn is_signed(self) -> bool {
        self.kind() == Kind::Signed
    }

    /// The bytes of an element.
    pub(crate) fn size(self) -> u32 {
        self.ir().bytes()
    }

    /// The type of one element in a register; a bool is a byte that holds 0 or 1, a float of 16 bits
    /// is these bits.
    pub(crate) fn ir(self) -> Type {
        match self {
            Dtype::Bool | Dtype::Int8 | Dtype::Uint8 => I8,
            Dtype::Int16 | Dtype::Uint16 | Dtype::Float16 => I16,
            Dtype::Int32 | Dtype::Uint32 => I32,
            Dtype::Int64 | Dtype::Uint64 => I64,
            Dtype::Float32 => F32,
            Dtype::Float64 => F64,
        }
    }
}
