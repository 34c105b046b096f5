//! Literals: how a number written in a rule meets the constants of a graph.
//!
//! A literal stands for its value in any dtype and shape: `1` matches 1, 1.0 and an array of ones, but no `True`.
//! Zeros of both signs differ, and NaN matches nothing.

use super::constant::{ConstantData, WeakScalar};
use super::dtype::{DType, Kind};
use super::half::from_half;

/// Constants with more elements are not searched for one repeated value.
const MAX_ELEMENTS: usize = 4096;

/// A constant written in a rule.
#[derive(Clone)]
pub enum Literal {
    /// Stands for its value in any numeric dtype.
    Number(WeakScalar),
    /// Stands for exactly this array.
    Content(ConstantData),
}

impl Literal {
    /// The values that a constant in a rule stands for.
    ///
    /// A whole float is an integer: rules are written over sample dtypes, and graphs have their own.
    pub fn of(data: &ConstantData) -> Literal {
        if data.ty().ndim() > 0 {
            return Literal::Content(data.clone());
        }
        match uniform_value(data) {
            Some(WeakScalar::Float(value)) if is_whole(value) => {
                Literal::Number(WeakScalar::Int(value as i128))
            }
            Some(value) => Literal::Number(value),
            None => Literal::Content(data.clone()),
        }
    }

    /// Whether `data` is the constant that this stands for.
    pub fn matches(&self, data: &ConstantData) -> bool {
        let number = match self {
            Literal::Content(content) => return content == data,
            Literal::Number(number) => *number,
        };
        match (number, uniform_value(data)) {
            (WeakScalar::Bool(a), Some(WeakScalar::Bool(b))) => a == b,
            (WeakScalar::Int(a), Some(WeakScalar::Int(b))) => a == b,
            (WeakScalar::Int(a), Some(WeakScalar::Float(b))) => is_whole(b) && b as i128 == a,
            (WeakScalar::Float(a), Some(WeakScalar::Float(b))) => {
                a == b && a.is_sign_negative() == b.is_sign_negative()
            }
            _ => false,
        }
    }
}

/// Whether the value is an integer that floats and integers alike represent; -0.0 is not.
fn is_whole(value: f64) -> bool {
    value.trunc() == value
        && value.abs() <= (1u64 << 53) as f64
        && !(value == 0.0 && value.is_sign_negative())
}

/// The value of a constant without dimensions.
pub fn number(data: &ConstantData) -> Option<WeakScalar> {
    if data.ty().ndim() > 0 {
        return None;
    }
    let parts = |bytes: &[u8]| match data.ty().dtype() {
        DType::Complex64 => {
            let part = |at| f32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap()) as f64;
            WeakScalar::Complex(part(0), part(4))
        }
        _ => {
            let part = |at| f64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
            WeakScalar::Complex(part(0), part(8))
        }
    };
    uniform_value(data).or_else(|| Some(parts(data.bytes())))
}

/// The value of every element, if all elements are the same real number, bit by bit.
pub fn uniform_value(data: &ConstantData) -> Option<WeakScalar> {
    let (dtype, bytes) = (data.ty().dtype(), data.bytes());
    let size = dtype.itemsize();
    if dtype.is_complex() || bytes.is_empty() || bytes.len() > size * MAX_ELEMENTS {
        return None;
    }
    let (first, rest) = bytes.split_at(size);
    if rest.chunks_exact(size).any(|element| element != first) {
        return None;
    }
    Some(match dtype {
        DType::Bool => WeakScalar::Bool(first[0] != 0),
        DType::Float16 => {
            WeakScalar::Float(from_half(u16::from_ne_bytes(first.try_into().ok()?)).into())
        }
        DType::Float32 => WeakScalar::Float(f32::from_ne_bytes(first.try_into().ok()?) as f64),
        DType::Float64 => WeakScalar::Float(f64::from_ne_bytes(first.try_into().ok()?)),
        _ => {
            // Sign-extend the little-endian bytes where the dtype has a sign.
            let negative =
                matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64)
                    && first[size - 1] >= 0x80;
            debug_assert!(dtype.kind() == Kind::Integer);
            let mut wide = [if negative { 0xff } else { 0 }; 16];
            wide[..size].copy_from_slice(first);
            WeakScalar::Int(i128::from_le_bytes(wide))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(value: WeakScalar, dtype: DType) -> ConstantData {
        value.constant(dtype).unwrap()
    }

    #[test]
    fn a_number_matches_its_value_in_every_numeric_dtype() {
        let one = Literal::of(&constant(WeakScalar::Float(1.0), DType::Float64));
        for dtype in DType::REAL {
            let matched = one.matches(&constant(WeakScalar::Int(1), dtype));
            assert_eq!(matched, dtype != DType::Bool, "{dtype}");
        }
        let negative = Literal::of(&constant(WeakScalar::Float(-1.0), DType::Float64));
        assert!(negative.matches(&constant(WeakScalar::Int(-1), DType::Int16)));
        assert!(!negative.matches(&constant(WeakScalar::Int(u64::MAX as i128), DType::UInt64)));
    }

    #[test]
    fn zeros_have_signs_and_nan_matches_nothing() {
        let float = |value| constant(WeakScalar::Float(value), DType::Float64);
        assert!(Literal::of(&float(0.0)).matches(&float(0.0)));
        assert!(!Literal::of(&float(0.0)).matches(&float(-0.0)));
        assert!(!Literal::of(&float(-0.0)).matches(&float(0.0)));
        assert!(Literal::of(&float(-0.0)).matches(&float(-0.0)));
        assert!(!Literal::of(&float(-0.0)).matches(&constant(WeakScalar::Int(0), DType::Int8)));
        assert!(!Literal::of(&float(f64::NAN)).matches(&float(f64::NAN)));
        assert!(Literal::of(&float(f64::INFINITY)).matches(&float(f64::INFINITY)));
    }

    #[test]
    fn a_constant_without_dimensions_is_a_number() {
        for value in [WeakScalar::Complex(1.5, -2.0), WeakScalar::Complex(0.25, 0.0)] {
            for dtype in [DType::Complex64, DType::Complex128] {
                assert_eq!(number(&constant(value, dtype)), Some(value));
            }
        }
        assert_eq!(number(&constant(WeakScalar::Int(-3), DType::Int8)), Some(WeakScalar::Int(-3)));
        assert_eq!(number(&ConstantData::new(DType::Int8, &[1], &[1]).unwrap()), None);
    }

    #[test]
    fn an_array_of_one_value_is_that_value() {
        let ones = ConstantData::new(DType::Int16, &[2, 2], &[1, 0, 1, 0, 1, 0, 1, 0]).unwrap();
        let mixed = ConstantData::new(DType::Int16, &[2], &[1, 0, 2, 0]).unwrap();
        let empty = ConstantData::new(DType::Int16, &[0], &[]).unwrap();
        let one = Literal::Number(WeakScalar::Int(1));
        assert!(one.matches(&ones) && !one.matches(&mixed) && !one.matches(&empty));
        assert!(Literal::of(&mixed).matches(&mixed) && !Literal::of(&mixed).matches(&ones));
    }
}
