//! One element with its type.

use std::fmt;

use frazil_core::{DType, from_half, to_half};
use serde::{Deserialize, Serialize};

/// An element of a tensor: up to eight bytes in native order. It is one number: for a complex type
/// stands that of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(DType, u64)", into = "(DType, u64)")]
pub struct Scalar {
    dtype: DType,
    bytes: [u8; 8],
}

impl Scalar {
    /// The element of `dtype` nearest to `value`; integers are truncated and clamped to their
    /// range.
    pub fn from_f64(dtype: DType, value: f64) -> Scalar {
        let dtype = dtype.part();
        match dtype {
            DType::Bool => Scalar::from_i128(dtype, (value != 0.0) as i128),
            DType::Float16 => Scalar::new(dtype, &to_half(value).to_ne_bytes()),
            DType::Float32 => Scalar::new(dtype, &(value as f32).to_ne_bytes()),
            DType::Float64 => Scalar::new(dtype, &value.to_ne_bytes()),
            _ => Scalar::from_i128(dtype, value as i128),
        }
    }

    /// The element of `dtype` equal to `value`; integers are clamped to their range.
    pub fn from_i128(dtype: DType, value: i128) -> Scalar {
        let dtype = dtype.part();
        macro_rules! clamped {
            ($int:ty) => {{
                let near = value.clamp(<$int>::MIN.into(), <$int>::MAX.into()) as $int;
                Scalar::new(dtype, &near.to_ne_bytes())
            }};
        }
        match dtype {
            DType::Bool => Scalar::new(dtype, &[(value != 0) as u8]),
            DType::Int8 => clamped!(i8),
            DType::Int16 => clamped!(i16),
            DType::Int32 => clamped!(i32),
            DType::Int64 => clamped!(i64),
            DType::UInt8 => clamped!(u8),
            DType::UInt16 => clamped!(u16),
            DType::UInt32 => clamped!(u32),
            DType::UInt64 => clamped!(u64),
            DType::Float16 => Scalar::new(dtype, &to_half(value as f64).to_ne_bytes()),
            DType::Float32 => Scalar::new(dtype, &(value as f32).to_ne_bytes()),
            DType::Float64 | DType::Complex64 | DType::Complex128 => {
                Scalar::new(dtype, &(value as f64).to_ne_bytes())
            }
        }
    }

    fn new(dtype: DType, element: &[u8]) -> Scalar {
        let mut bytes = [0; 8];
        bytes[..element.len()].copy_from_slice(element);
        Scalar { dtype, bytes }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The bytes of the element, as many as its type has.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.dtype.itemsize()]
    }

    /// The element followed by zeros.
    pub(crate) fn word(&self) -> [u8; 8] {
        self.bytes
    }
}

impl From<Scalar> for (DType, u64) {
    fn from(scalar: Scalar) -> (DType, u64) {
        (scalar.dtype, u64::from_le_bytes(scalar.bytes))
    }
}

impl TryFrom<(DType, u64)> for Scalar {
    type Error = &'static str;

    fn try_from((dtype, word): (DType, u64)) -> Result<Scalar, &'static str> {
        if dtype.is_complex() {
            return Err("an element is one number");
        }
        let bytes = word.to_le_bytes();
        let (element, rest) = bytes.split_at(dtype.itemsize());
        if rest.iter().any(|&byte| byte != 0) {
            return Err("an element is larger than its type");
        }
        if dtype == DType::Bool && element[0] > 1 {
            return Err("a bool is neither true nor false");
        }
        Ok(Scalar::new(dtype, element))
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn head<const N: usize>(bytes: &[u8; 8]) -> [u8; N] {
            let mut head = [0; N];
            head.copy_from_slice(&bytes[..N]);
            head
        }
        let bytes = &self.bytes;
        match self.dtype {
            DType::Bool => write!(f, "{}", bytes[0] != 0),
            DType::Int8 => write!(f, "{}", i8::from_ne_bytes(head(bytes))),
            DType::Int16 => write!(f, "{}", i16::from_ne_bytes(head(bytes))),
            DType::Int32 => write!(f, "{}", i32::from_ne_bytes(head(bytes))),
            DType::Int64 => write!(f, "{}", i64::from_ne_bytes(head(bytes))),
            DType::UInt8 => write!(f, "{}", bytes[0]),
            DType::UInt16 => write!(f, "{}", u16::from_ne_bytes(head(bytes))),
            DType::UInt32 => write!(f, "{}", u32::from_ne_bytes(head(bytes))),
            DType::UInt64 => write!(f, "{}", u64::from_ne_bytes(head(bytes))),
            DType::Float16 => {
                write!(f, "{:?}", from_half(u16::from_ne_bytes(head(bytes))))
            }
            DType::Float32 => write!(f, "{:?}", f32::from_ne_bytes(head(bytes))),
            DType::Float64 | DType::Complex64 | DType::Complex128 => {
                write!(f, "{:?}", f64::from_ne_bytes(head(bytes)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_clamped_and_floats_kept() {
        assert_eq!(Scalar::from_i128(DType::UInt8, 300).bytes(), &[255]);
        assert_eq!(Scalar::from_i128(DType::Int8, -300).to_string(), "-128");
        assert_eq!(Scalar::from_f64(DType::Int64, f64::INFINITY).to_string(), i64::MAX.to_string());
        assert_eq!(Scalar::from_f64(DType::Float32, 0.5).bytes(), 0.5f32.to_ne_bytes());
        assert_eq!(Scalar::from_f64(DType::Float64, f64::NEG_INFINITY).to_string(), "-inf");
        assert_eq!(Scalar::from_i128(DType::Bool, 2).bytes(), &[1]);
    }

    #[test]
    fn words_are_elements_or_refused() {
        for dtype in DType::REAL {
            let one = Scalar::from_i128(dtype, 1);
            assert_eq!(Scalar::try_from(<(DType, u64)>::from(one)), Ok(one));
            assert_eq!(Scalar::try_from((dtype, u64::MAX)).is_ok(), dtype.itemsize() == 8);
        }
        assert!(Scalar::try_from((DType::Bool, 2)).is_err());
        assert!(Scalar::try_from((DType::Complex64, 2)).is_err());
        assert_eq!(Scalar::from_f64(DType::Complex64, 0.5).dtype(), DType::Float32);
    }

    #[test]
    fn every_type_has_its_size() {
        for dtype in DType::REAL {
            assert_eq!(Scalar::from_i128(dtype, 1).bytes().len(), dtype.itemsize());
        }
    }
}
