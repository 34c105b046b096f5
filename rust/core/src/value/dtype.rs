//! Element types and NumPy 2's promotion (NEP 50) between them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::Error;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

/// The kinds of NumPy's promotion lattice, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Integer,
    Float,
    Complex,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 14] = [
        DType::Bool,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::UInt8,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Float16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
    ];

    /// The types whose elements are one number each, in declaration order.
    pub const REAL: [DType; 12] = {
        let [real @ .., _, _] = DType::ALL;
        real
    };

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::UInt8 => "uint8",
            DType::UInt16 => "uint16",
            DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Float16 => "float16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
        }
    }

    /// Bytes of one element.
    pub fn itemsize(self) -> usize {
        match self {
            DType::Bool | DType::Int8 | DType::UInt8 => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
        }
    }

    /// The alignment of one element: that of its parts, if it has two.
    pub fn alignment(self) -> usize {
        self.part().itemsize()
    }

    /// The type of the real and of the imaginary part; the type itself where there are none.
    pub fn part(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            _ => self,
        }
    }

    /// The complex type whose parts hold the values of this one; `promote` with any complex type
    /// goes through it.
    pub(crate) fn complex(self) -> DType {
        match (self.kind(), self.itemsize()) {
            (Kind::Complex, _) => self,
            (Kind::Float, 2 | 4) | (Kind::Bool, _) | (Kind::Integer, 1 | 2) => DType::Complex64,
            _ => DType::Complex128,
        }
    }

    /// The place of the type in the promotion lattice.
    pub fn kind(self) -> Kind {
        match self {
            DType::Bool => Kind::Bool,
            DType::Float16 | DType::Float32 | DType::Float64 => Kind::Float,
            DType::Complex64 | DType::Complex128 => Kind::Complex,
            _ => Kind::Integer,
        }
    }

    /// Whether the type is a float.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Whether the type has a real and an imaginary part.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    fn is_unsigned(self) -> bool {
        matches!(self, DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64)
    }

    fn signed_of_size(bytes: usize) -> Option<DType> {
        match bytes {
            1 => Some(DType::Int8),
            2 => Some(DType::Int16),
            4 => Some(DType::Int32),
            8 => Some(DType::Int64),
            _ => None,
        }
    }

    /// The smallest type that holds every value of both, as `numpy.promote_types`.
    pub fn promote(self, other: DType) -> DType {
        if self == other {
            return self;
        }
        let (low, high) = if self.kind() <= other.kind() { (self, other) } else { (other, self) };
        match (low.kind(), high.kind()) {
            (Kind::Bool, _) => high,
            (_, Kind::Complex) if low.complex() == DType::Complex128 => DType::Complex128,
            (_, Kind::Complex) => high,
            (Kind::Integer, Kind::Float) => {
                // 11 bits hold integers of one byte, 24 bits integers of two.
                match low.itemsize() {
                    1 => high,
                    2 if high == DType::Float16 => DType::Float32,
                    2 => high,
                    _ => DType::Float64,
                }
            }
            (Kind::Integer, _) => {
                if low.is_unsigned() == high.is_unsigned() {
                    if low.itemsize() >= high.itemsize() { low } else { high }
                } else {
                    let (unsigned, signed) =
                        if low.is_unsigned() { (low, high) } else { (high, low) };
                    if signed.itemsize() > unsigned.itemsize() {
                        signed
                    } else {
                        // There is no signed type twice as wide as uint64: NumPy goes to float64.
                        DType::signed_of_size(unsigned.itemsize() * 2).unwrap_or(DType::Float64)
                    }
                }
            }
            _ if low.itemsize() > high.itemsize() => low,
            _ => high,
        }
    }

    /// The range of an integer type, as wide integers; `None` for all others.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        if self.kind() != Kind::Integer {
            return None;
        }
        let bits = 8 * self.itemsize() as u32;
        Some(if self.is_unsigned() {
            (0, (1i128 << bits) - 1)
        } else {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or_else(|| Error::UnknownDType { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_commutative_and_idempotent() {
        for a in DType::ALL {
            assert_eq!(a.promote(a), a);
            for b in DType::ALL {
                assert_eq!(a.promote(b), b.promote(a));
            }
        }
    }

    #[test]
    fn promotion_follows_numpy_where_kinds_meet() {
        use DType::*;
        assert_eq!(Int8.promote(UInt8), Int16);
        assert_eq!(Int64.promote(UInt64), Float64);
        assert_eq!(Int32.promote(UInt32), Int64);
        assert_eq!(Int16.promote(Float32), Float32);
        assert_eq!(Int32.promote(Float32), Float64);
        assert_eq!(UInt16.promote(Float32), Float32);
        assert_eq!(UInt8.promote(Float16), Float16);
        assert_eq!(Int16.promote(Float16), Float32);
        assert_eq!(Int32.promote(Float16), Float64);
        assert_eq!(Float16.promote(Float32), Float32);
        assert_eq!(Float64.promote(Float16), Float64);
        assert_eq!(Float16.promote(Complex64), Complex64);
        assert_eq!(Bool.promote(Int8), Int8);
        assert_eq!(Int64.promote(UInt32), Int64);
        assert_eq!(Bool.promote(Complex64), Complex64);
        assert_eq!(Int16.promote(Complex64), Complex64);
        assert_eq!(Int32.promote(Complex64), Complex128);
        assert_eq!(Float32.promote(Complex64), Complex64);
        assert_eq!(Float64.promote(Complex64), Complex128);
        assert_eq!(Float32.promote(Complex128), Complex128);
    }

    #[test]
    fn names_parse_back() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse::<DType>().unwrap(), dtype);
        }
        assert!("complex256".parse::<DType>().is_err());
    }
}
