//! Partial results of a reduction, joined to one.

use frazil_core::DType;
use serde::{Deserialize, Serialize};

/// The fold of two partial results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Fold {
    Add,
    Mul,
    Maximum,
    Minimum,
    And,
    Or,
}

impl Fold {
    /// Every fold.
    pub const ALL: [Fold; 6] =
        [Fold::Add, Fold::Mul, Fold::Maximum, Fold::Minimum, Fold::And, Fold::Or];

    /// The name of the scalar op.
    pub fn name(self) -> &'static str {
        match self {
            Fold::Add => "add",
            Fold::Mul => "mul",
            Fold::Maximum => "maximum",
            Fold::Minimum => "minimum",
            Fold::And => "and_",
            Fold::Or => "or_",
        }
    }

    /// The fold of this name.
    pub fn from_name(name: &str) -> Option<Fold> {
        Fold::ALL.into_iter().find(|fold| fold.name() == name)
    }

    /// Whether its effect on elements of this type is known.
    pub fn takes(self, dtype: DType) -> bool {
        let bitwise = matches!(self, Fold::And | Fold::Or);
        !(dtype.is_complex() || dtype == DType::Float16 || dtype.is_float() && bitwise)
    }

    /// Folds `count` elements into as many others, one by one. Integers wrap; a NaN wins.
    ///
    /// # Safety
    /// Both are valid for `count` elements of `dtype`, aligned, and do not overlap.
    pub(crate) unsafe fn join(self, dtype: DType, to: *mut u8, from: *const u8, count: usize) {
        // SAFETY: by the caller's promise, both have `count` elements of `dtype` and do not overlap.
        unsafe {
            match dtype {
                DType::Bool => match self {
                    Fold::Add | Fold::Maximum | Fold::Or => {
                        each::<u8>(to, from, count, |a, b| a | b)
                    }
                    Fold::Mul | Fold::Minimum | Fold::And => {
                        each::<u8>(to, from, count, |a, b| a & b)
                    }
                },
                DType::Int8 => integers::<i8>(self, to, from, count),
                DType::Int16 => integers::<i16>(self, to, from, count),
                DType::Int32 => integers::<i32>(self, to, from, count),
                DType::Int64 => integers::<i64>(self, to, from, count),
                DType::UInt8 => integers::<u8>(self, to, from, count),
                DType::UInt16 => integers::<u16>(self, to, from, count),
                DType::UInt32 => integers::<u32>(self, to, from, count),
                DType::UInt64 => integers::<u64>(self, to, from, count),
                DType::Float32 => floats::<f32>(self, to, from, count),
                DType::Float64 => floats::<f64>(self, to, from, count),
                DType::Float16 | DType::Complex64 | DType::Complex128 => {
                    unreachable!("the builder refuses these")
                }
            }
        }
    }

    /// Folds `parts` arrays of `count` elements, one behind the other, into the first: by halves,
    /// in an order that their number decides.
    ///
    /// # Safety
    /// The memory is valid for all elements, of `dtype`, and aligned.
    pub(crate) unsafe fn join_all(self, dtype: DType, start: *mut u8, parts: usize, count: usize) {
        let mut parts = parts;
        while parts > 1 {
            let kept = parts.div_ceil(2);
            let from = start.wrapping_add(kept * count * dtype.itemsize());
            // SAFETY: the second half lies behind the first and is no longer.
            unsafe { self.join(dtype, start, from, (parts - kept) * count) };
            parts = kept;
        }
    }
}

trait Integer: Copy + Ord {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($ty:ty)*) => {$(
        impl Integer for $ty {
            fn plus(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            fn times(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
            fn and(self, other: $ty) -> $ty {
                self & other
            }
            fn or(self, other: $ty) -> $ty {
                self | other
            }
        }
    )*};
}

integer!(i8 i16 i32 i64 u8 u16 u32 u64);

/// # Safety
/// As for [`Fold::join`], of elements of type `T`.
unsafe fn integers<T: Integer>(fold: Fold, to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: by the caller's promise, both have `count` elements of type `T`.
    unsafe {
        match fold {
            Fold::Add => each(to, from, count, T::plus),
            Fold::Mul => each(to, from, count, T::times),
            Fold::Maximum => each(to, from, count, T::max),
            Fold::Minimum => each(to, from, count, T::min),
            Fold::And => each(to, from, count, T::and),
            Fold::Or => each(to, from, count, T::or),
        }
    }
}

/// # Safety
/// As for [`Fold::join`], of elements of type `T`.
unsafe fn floats<T>(fold: Fold, to: *mut u8, from: *const u8, count: usize)
where
    T: Copy + PartialOrd + std::ops::Add<Output = T> + std::ops::Mul<Output = T>,
{
    let nan = |a: T| a.partial_cmp(&a).is_none();
    // SAFETY: by the caller's promise, both have `count` elements of type `T`.
    unsafe {
        match fold {
            Fold::Add => each(to, from, count, |a: T, b| a + b),
            Fold::Mul => each(to, from, count, |a: T, b| a * b),
            Fold::Maximum => each(to, from, count, |a: T, b| if a >= b || nan(a) { a } else { b }),
            Fold::Minimum => each(to, from, count, |a: T, b| if a <= b || nan(a) { a } else { b }),
            // The builder refuses them.
            Fold::And | Fold::Or => {}
        }
    }
}

/// # Safety
/// As for [`Fold::join`], of elements of type `T`.
unsafe fn each<T: Copy>(to: *mut u8, from: *const u8, count: usize, fold: impl Fn(T, T) -> T) {
    let (to, from) = (to.cast::<T>(), from.cast::<T>());
    for at in 0..count {
        // SAFETY: by the caller's promise, both have `count` elements of type `T`.
        unsafe { to.add(at).write(fold(to.add(at).read(), from.add(at).read())) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::scalar::Scalar;

    /// `fold` of `values`, each an array of one.
    fn folded(fold: Fold, dtype: DType, values: &[f64]) -> Scalar {
        let item = dtype.itemsize();
        let mut memory = vec![0u64; values.len()];
        let start = memory.as_mut_ptr().cast::<u8>();
        for (at, &value) in values.iter().enumerate() {
            let element = Scalar::from_f64(dtype, value);
            // SAFETY: the vector has room for as many elements of up to eight bytes.
            unsafe { start.add(at * item).copy_from(element.bytes().as_ptr(), item) };
        }
        // SAFETY: as above.
        let bytes = unsafe {
            fold.join_all(dtype, start, values.len(), 1);
            std::slice::from_raw_parts(start, item)
        };
        let same = |value: f64| Scalar::from_f64(dtype, value);
        let candidates = (-200..=200).map(f64::from).chain([f64::NAN]).map(same);
        candidates.into_iter().find(|known| known.bytes() == bytes).unwrap()
    }

    #[test]
    fn every_fold_knows_every_type_that_it_takes() {
        for dtype in DType::REAL {
            for fold in Fold::ALL.into_iter().filter(|fold| fold.takes(dtype)) {
                let values = [1.0, 0.0, 3.0, 2.0, 3.0];
                let values = values
                    .map(|value| if dtype == DType::Bool { f64::min(value, 1.0) } else { value });
                let expected = match fold {
                    Fold::Add if dtype == DType::Bool => 1.0,
                    Fold::Add => 9.0,
                    Fold::Mul | Fold::Minimum | Fold::And => 0.0,
                    Fold::Maximum if dtype == DType::Bool => 1.0,
                    Fold::Maximum | Fold::Or => 3.0,
                };
                let expected = Scalar::from_f64(dtype, expected);
                assert_eq!(folded(fold, dtype, &values), expected, "{} of {dtype}", fold.name());
            }
            assert_eq!(Fold::And.takes(dtype), !dtype.is_float());
        }
    }

    #[test]
    fn a_nan_wins_wherever_it_stands() {
        for fold in [Fold::Add, Fold::Mul, Fold::Maximum, Fold::Minimum] {
            for at in 0..5 {
                let mut values = [1.0; 5];
                values[at] = f64::NAN;
                let nan = Scalar::from_f64(DType::Float64, f64::NAN);
                assert_eq!(folded(fold, DType::Float64, &values), nan);
            }
        }
    }

    #[test]
    fn names_are_those_of_scalar_ops() {
        for fold in Fold::ALL {
            assert_eq!(Fold::from_name(fold.name()), Some(fold));
        }
        assert_eq!(Fold::from_name("sub"), None);
    }
}
