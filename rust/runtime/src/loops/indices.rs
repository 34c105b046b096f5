//! The facts about many indices that a kernel needs before it takes or puts elements.

/// Some are negative or out of bounds, or all are fine, or most are the one before, too.
const UNKNOWN: i32 = 0;
const IN_BOUNDS: i32 = 1;
const WITH_RUNS: i32 = 2;

/// The indices that are looked at between two questions whether one was negative or out of bounds.
const BLOCK: usize = 64;

/// The facts about so many indices, for an array of that length.
///
/// # Safety
///
/// There are so many.
#[inline(always)]
pub(super) unsafe fn kind_of_indices<T>(of: *const T, count: i64, length: i64) -> i32
where
    T: Copy + PartialEq + Into<i64>,
{
    // SAFETY: by the promise of the caller; they may lie anywhere.
    let index = |at: i64| unsafe { of.offset(at as isize).read_unaligned() };
    let outside = |at| u64::from(index(at).into() as u64 >= length as u64);
    for first in (0..count).step_by(BLOCK) {
        let block = first..count.min(first + BLOCK as i64);
        if block.map(outside).fold(0, |some, own| some | own) != 0 {
            return UNKNOWN;
        }
    }
    let same: i64 = (1..count).map(|at| i64::from(index(at - 1) == index(at))).sum();
    if 2 * same > count { WITH_RUNS } else { IN_BOUNDS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn indices_are_in_bounds_if_each_is(
            own in prop::collection::vec(-3_i64..12, 0..200),
            length in 0_i64..14,
        ) {
            let narrow: Vec<i32> = own.iter().map(|&index| index as i32).collect();
            // SAFETY: there are so many.
            let found = unsafe {
                let count = own.len() as i64;
                let wide = kind_of_indices(own.as_ptr(), count, length);
                (wide, kind_of_indices(narrow.as_ptr(), count, length))
            };
            let fine = own.iter().all(|index| (0..length).contains(index));
            let same = own.windows(2).filter(|two| two[0] == two[1]).count();
            let kind = if 2 * same > own.len() { WITH_RUNS } else { IN_BOUNDS };
            let expected = if fine { kind } else { UNKNOWN };
            prop_assert_eq!(found, (expected, expected));
        }
    }
}
