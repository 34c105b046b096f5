//! Arithmetic progressions whose ends and step are values: the number of terms, and the terms.

use frazil_core::DType;

use crate::error::Fault;
use crate::threads::attention::in_portions;
use crate::threads::conduct::Halt;

/// Numbers that progress.
trait Term: Copy {
    /// The number of terms between `start` and `stop`, without `stop`.
    fn count(start: Self, stop: Self, step: Self) -> Result<i64, &'static str>;

    /// Term `k` of those from `start` on, where neighbours are `delta` apart.
    fn term(start: Self, delta: Self, k: i64) -> Self;

    /// The value after a step.
    fn after(self, step: Self) -> Self;

    /// The distance from `start`.
    fn beyond(self, start: Self) -> Self;
}

macro_rules! integers {
    ($($kind:ty)*) => { $(impl Term for $kind {
        fn count(start: $kind, stop: $kind, step: $kind) -> Result<i64, &'static str> {
            let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
            if step == 0 {
                return Err(ZERO);
            }
            let terms = (stop - start + step - step.signum()) / step;
            i64::try_from(terms.max(0)).map_err(|_| MANY)
        }

        fn term(start: $kind, delta: $kind, k: i64) -> $kind {
            start.wrapping_add(delta.wrapping_mul(k as $kind))
        }

        fn after(self, step: $kind) -> $kind {
            self.wrapping_add(step)
        }

        fn beyond(self, start: $kind) -> $kind {
            self.wrapping_sub(start)
        }
    })* };
}

integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! floats {
    ($($kind:ty)*) => { $(impl Term for $kind {
        fn count(start: $kind, stop: $kind, step: $kind) -> Result<i64, &'static str> {
            if step == 0.0 {
                return Err(ZERO);
            }
            let distance = stop - start;
            let steps = distance / step;
            if steps == 0.0 && distance != 0.0 {
                // Less than a step that can be told from none.
                return Ok(i64::from(!steps.is_sign_negative()));
            }
            let terms = f64::from(steps).ceil();
            if terms.is_nan() {
                return Err(NAN);
            }
            // 2^63 is the first that is too large.
            if terms.abs() >= i64::MAX as f64 {
                return Err(MANY);
            }
            Ok(terms.max(0.0) as i64)
        }

        #[inline(always)]
        fn term(start: $kind, delta: $kind, k: i64) -> $kind {
            start + k as $kind * delta
        }

        fn after(self, step: $kind) -> $kind {
            self + step
        }

        fn beyond(self, start: $kind) -> $kind {
            self - start
        }
    })* };
}

floats!(f32 f64);

const ZERO: &str = "the step of a range cannot be zero";
const NAN: &str = "a range has no length where an end or the step is not a number";
const MANY: &str = "a range has more elements than can be counted; its ends must be finite and its \
                    step not too small";

/// Calls a function with the type of the terms.
macro_rules! for_terms {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            DType::Bool | DType::UInt8 => $function::<u8>($($argument),*),
            DType::UInt16 => $function::<u16>($($argument),*),
            DType::UInt32 => $function::<u32>($($argument),*),
            DType::UInt64 => $function::<u64>($($argument),*),
            DType::Int8 => $function::<i8>($($argument),*),
            DType::Int16 => $function::<i16>($($argument),*),
            DType::Int32 => $function::<i32>($($argument),*),
            DType::Int64 => $function::<i64>($($argument),*),
            DType::Float32 => $function::<f32>($($argument),*),
            DType::Float64 => $function::<f64>($($argument),*),
            DType::Float16 | DType::Complex64 | DType::Complex128 => {
                unreachable!("the builder refuses these")
            }
        }
    };
}

/// The number of terms from a start up to, but without, a stop.
///
/// # Safety
/// Start, stop and step are aligned elements of `dtype`.
pub(crate) unsafe fn count_terms(dtype: DType, given: [*const u8; 3]) -> Result<i64, Fault> {
    /// # Safety
    /// As above, with elements of type `T`.
    unsafe fn counted<T: Term>(given: [*const u8; 3]) -> Result<i64, &'static str> {
        // SAFETY: by the caller's promise, the operands are an element of type `T` each.
        let [start, stop, step] = given.map(|at| unsafe { at.cast::<T>().read() });
        T::count(start, stop, step)
    }
    // SAFETY: by the caller's promise, the operands are an element of `dtype` each.
    unsafe { for_terms!(dtype, counted(given)) }.map_err(|reason| Fault::Progression { reason })
}

/// Writes `count` terms, given the first and the step, unless the run is to stop.
///
/// # Safety
/// Start and step are aligned elements of `dtype`, and `to` is memory for `count` of them.
pub(crate) unsafe fn write_terms(
    dtype: DType,
    given: [*const u8; 2],
    to: *mut u8,
    count: usize,
) -> Result<(), Halt> {
    /// # Safety
    /// As above, with elements of type `T`.
    unsafe fn written<T: Term>(
        given: [*const u8; 2],
        to: *mut u8,
        count: usize,
    ) -> Result<(), Halt> {
        // SAFETY: by the caller's promise, the operands are an element of type `T` each.
        let [start, step] = given.map(|at| unsafe { at.cast::<T>().read() });
        let second = start.after(step);
        // The second term of floats less the first may be another step than the given one.
        let delta = second.beyond(start);
        let to = to.cast::<T>();
        let narrow = i32::try_from(count).is_ok();
        in_portions(count, |part| {
            for k in part {
                // Narrow integers become floats side by side.
                let term = if narrow { i64::from(k as i32) } else { k as i64 };
                // SAFETY: there is memory for so many.
                unsafe { to.add(k).write(T::term(start, delta, term)) };
            }
        })?;
        for (k, term) in [start, second].into_iter().enumerate().take(count) {
            // SAFETY: as above.
            unsafe { to.add(k).write(term) };
        }
        Ok(())
    }
    // SAFETY: by the caller's promise, the operands are an element of `dtype` each, and there is room for `count`.
    unsafe { for_terms!(dtype, written(given, to, count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms<T: Term + Default>(start: T, stop: T, step: T, dtype: DType) -> Vec<T> {
        let at = |of: &T| std::ptr::from_ref(of).cast::<u8>();
        // SAFETY: these are elements of `dtype`.
        let count = unsafe { count_terms(dtype, [at(&start), at(&stop), at(&step)]) }.unwrap();
        let mut made = vec![T::default(); count as usize];
        // SAFETY: as above, and there is room for so many.
        unsafe {
            write_terms(dtype, [at(&start), at(&step)], made.as_mut_ptr().cast(), made.len())
                .unwrap();
        }
        made
    }

    #[test]
    fn they_stop_before_the_end() {
        assert_eq!(terms(0.5, 2.0, 0.5, DType::Float64), [0.5, 1.0, 1.5]);
        assert_eq!(terms(0.5f32, 2.25, 0.5, DType::Float32), [0.5, 1.0, 1.5, 2.0]);
        assert_eq!(terms(3.0, 0.0, -1.5, DType::Float64), [3.0, 1.5]);
        assert_eq!(terms(u64::MAX - 4, u64::MAX, 2, DType::UInt64), [u64::MAX - 4, u64::MAX - 2]);
        assert_eq!(terms(5i8, -5, -5, DType::Int8), [5, 0]);
        assert_eq!(terms(3u64, 2, 1, DType::UInt64), []);
        assert_eq!(terms(1.0, 2.0, f64::INFINITY, DType::Float64), [1.0]);
    }

    #[test]
    fn without_a_length_they_are_refused() {
        assert_eq!(f64::count(0.0, 1.0, 0.0), Err(ZERO));
        assert_eq!(u64::count(0, 1, 0), Err(ZERO));
        assert_eq!(f32::count(0.0, f32::NAN, 1.0), Err(NAN));
        assert_eq!(f64::count(0.0, f64::INFINITY, 1.0), Err(MANY));
        assert_eq!(f64::count(0.0, 1.0, 1e-300), Err(MANY));
        assert_eq!(u64::count(0, u64::MAX, 1), Err(MANY));
        assert_eq!(i64::count(i64::MIN, i64::MAX, 2), Err(MANY));
        assert_eq!(i64::count(i64::MIN, i64::MAX, i64::MAX), Ok(3));
    }
}
