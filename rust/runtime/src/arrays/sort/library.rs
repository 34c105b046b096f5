//! Sorting by functions of a library: NumPy's, which sort in vectors on some processors.
//!
//! Which of the two is quicker, its function or ours, a small measurement says once for each type and
//! each power of two of a line's length, for one line and for several: ours go side by side.
//! The result is the same, whichever sorts.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use frazil_core::DType;

use super::network::Placed;
use super::rank::{Rank, Ranked};
use super::{Line, SortPlan};
use crate::arrays::axis_lines::Memory;
use crate::arrays::layout::Layout;
use crate::arrays::rows::copy_row;
use crate::threads::conduct::Halt;

/// Sorts so many elements where they lie. The last argument is an array that functions for numbers do
/// not look at.
pub(super) type Sorter = unsafe extern "C" fn(*mut c_void, isize, *mut c_void) -> c_int;

/// Lines of other lengths are sorted by our own functions: short ones side by side, and where there
/// are more elements, they ask whether to stop.
const LENGTHS: std::ops::RangeInclusive<usize> = 33..=1 << 22;

/// Elements that are sorted in order to find out which function is quicker: at least, of several
/// lines, and at most, of one; and how often.
const SAMPLE: usize = 4096;
const LONGEST: usize = 1 << 15;
const TURNS: usize = 3;

const UNKNOWN: u8 = 0;
const QUICKER: u8 = 1;
const SLOWER: u8 = 2;

/// The addresses of the functions, zero where there is none, and the results of the trials of them.
static ADDRESSES: [AtomicUsize; DType::ALL.len()] =
    [const { AtomicUsize::new(0) }; DType::ALL.len()];
static FOUND: [[AtomicU8; KINDS]; DType::ALL.len()] =
    [const { [const { AtomicU8::new(UNKNOWN) }; KINDS] }; DType::ALL.len()];

/// The powers of two that the shortest lines and those of a sample are near to, each for one line and
/// for several.
const KINDS: usize = 2 * (LONGEST.ilog2() - nearest_power(*LENGTHS.start()) + 1) as usize;

/// The power of two that a length is near to, by factors.
const fn nearest_power(length: usize) -> u32 {
    (length + length / 3).ilog2()
}

/// Says where a function lies that sorts numbers of a type in ascending order, NaN last.
///
/// # Safety
/// The address is that of such a function: it takes a pointer, a number of elements and a pointer
/// that may be null, returns zero, and may be called from many threads without anything being held.
pub unsafe fn set_sorter(dtype: DType, address: *const c_void) {
    ADDRESSES[dtype as usize].store(address as usize, Ordering::Release);
}

/// The function for lines of so many elements, if it is quicker than ours; `several`: there are more
/// lines than one, which ours sort side by side.
pub(super) fn quicker<T: Ranked>(dtype: DType, length: usize, several: bool) -> Option<Sorter> {
    let address = ADDRESSES[dtype as usize].load(Ordering::Acquire);
    if address == 0 || !LENGTHS.contains(&length) || size_of::<T>() == 1 {
        return None;
    }
    // SAFETY: `set_sorter` was promised that it is one.
    let sorter = unsafe { std::mem::transmute::<usize, Sorter>(address) };
    let power = nearest_power(length).min(LONGEST.ilog2());
    let kind = 2 * (power - nearest_power(*LENGTHS.start())) as usize + usize::from(several);
    let found = &FOUND[dtype as usize][kind];
    // Two threads may both find out: that does no harm.
    let known = match found.load(Ordering::Relaxed) {
        UNKNOWN => {
            let length = 1 << power;
            let lines = if several { T::Rank::LANES.max(SAMPLE / length) } else { 1 };
            let new =
                if is_quicker::<T>(dtype, sorter, [lines, length]) { QUICKER } else { SLOWER };
            found.store(new, Ordering::Relaxed);
            new
        }
        known => known,
    };
    (known == QUICKER).then_some(sorter)
}

/// Whether a function sorts so many lines of so many elements sooner than we do.
fn is_quicker<T: Ranked>(dtype: DType, sorter: Sorter, [lines, length]: [usize; 2]) -> bool {
    let sample = sample::<T>(dtype, lines * length);
    let Ok(layout) = Layout::fresh(&[lines as i64, length as i64], size_of::<T>()) else {
        return false;
    };
    let plan = SortPlan::new(dtype, false, 1, &layout, &layout);
    let Ok(scratch) = plan.scratch() else { return false };
    // Aligned to cells.
    let mut scratch = vec![MaybeUninit::<Placed>::uninit(); scratch.div_ceil(size_of::<Placed>())];
    let mut sorted = sample.clone();
    let memory = Memory {
        of: sample.as_ptr().cast(),
        to: sorted.as_mut_ptr().cast(),
        scratch: scratch.as_mut_ptr().cast(),
    };
    // If the run is to stop, the next question stops it.
    let own = least(|| {
        // SAFETY: both have the layout of the plan, and the scratch is as large as it says.
        let _ = unsafe { plan.own_values::<T>(memory) };
    });
    let other = least(|| {
        // SAFETY: as above.
        let _ = unsafe { plan.library_values::<T>(memory, sorter) };
    });
    other < own
}

/// The least time that something takes.
fn least(mut action: impl FnMut()) -> Duration {
    let times = (0..TURNS).map(|_| {
        let start = Instant::now();
        action();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Elements without an order, none of which is a NaN.
fn sample<T: Ranked>(dtype: DType, count: usize) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    // Without its highest bits it is a rank of a small number, whose own they replace.
    let spread = (size_of::<T>() * 8 - 3) as u32;
    let zero = T::zero(dtype);
    let mut rank = || T::rank_of(zero.into() + (next() >> (u64::BITS - spread)));
    (0..count).map(|_| T::of_rank(rank(), zero)).collect()
}

impl SortPlan {
    /// Sorts all lines by a function of a library.
    ///
    /// # Safety
    /// As for [`SortPlan::run`], with elements of type `T`.
    pub(super) unsafe fn library_values<T: Ranked>(
        &self,
        memory: Memory,
        sorter: Sorter,
    ) -> Result<(), Halt> {
        self.lines.visit(memory, |of, to| {
            // SAFETY: by the caller's promise, for one line; there is memory for ranks twice.
            unsafe { self.by_library::<T>(&Line { of, to }, sorter, memory.scratch.cast()) }
        })
    }

    /// Sorts one line by a function of a library.
    ///
    /// # Safety
    /// As for [`SortPlan::run`]; `room` is memory for as many elements as a line has.
    unsafe fn by_library<T: Ranked>(
        &self,
        line: &Line,
        sorter: Sorter,
        room: *mut T,
    ) -> Result<(), Halt> {
        let length = self.lines.length;
        let lies_densely = self.lines.steps[1] == size_of::<T>() as i64;
        let place = if lies_densely { line.to.cast::<T>() } else { room };
        let (item, step) = (size_of::<T>(), self.lines.steps[0]);
        // SAFETY: the line has so many elements, and the place room for them.
        let copied = unsafe {
            copy_row(item, place.cast(), item as i64, line.of, step, length as i64);
            std::slice::from_raw_parts(place, length)
        };
        let lost = copied.iter().fold(false, |lost, element| lost | element.is_lost());
        // SAFETY: by the promise to `set_sorter`; so many elements were just written.
        let status = unsafe { sorter(place.cast(), length as isize, std::ptr::null_mut()) };
        if status != 0 {
            return Err(Halt::Status(status));
        }
        if !lies_densely {
            let step = self.lines.steps[1];
            // SAFETY: the line of the result has as many elements.
            unsafe { copy_row(item, line.to, step, place.cast(), item as i64, length as i64) };
        }
        if lost {
            // SAFETY: the line has just been sorted.
            unsafe { self.find::<T>(line)? };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::axis_lines::AxisLines;

    unsafe extern "C" fn sort_numbers(start: *mut c_void, count: isize, _: *mut c_void) -> c_int {
        // SAFETY: by the caller's promise, so many numbers begin there.
        let numbers =
            unsafe { std::slice::from_raw_parts_mut(start.cast::<f64>(), count as usize) };
        // The negative zero first, and each NaN by its bits.
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.rotate_left(numbers.iter().take_while(|x| x.is_nan()).count());
        0
    }

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn a_function_of_a_library_has_the_bits_of_ours() {
        let own_nan = f64::from_bits(f64::NAN.to_bits() | 5);
        let numbers = [2.0, 0.0, own_nan, -0.0, -1.0, 0.0, -f64::NAN, -0.0, f64::INFINITY, 2.0];
        for [from, into] in [[1, 1], [2, 1], [1, 3], [-1, 1]] {
            let mut of = vec![7.0; 40];
            let start = if from < 0 { 30 } else { 0 };
            for (k, &number) in numbers.iter().enumerate() {
                of[(start + k as i64 * from) as usize] = number;
            }
            let layout =
                |step: i64| Layout { dims: [10i64][..].into(), strides: [8 * step][..].into() };
            let lines = AxisLines::new(&layout(from), &layout(into), 0);
            let plan = SortPlan { dtype: DType::Float64, positions: false, lines };
            let mut results = [vec![0.0; 40], vec![0.0; 40]];
            for (k, to) in results.iter_mut().enumerate() {
                let of = of[start as usize..].as_ptr().cast();
                let line = Line { of, to: to.as_mut_ptr().cast() };
                let mut room = vec![0u64; 20];
                // SAFETY: both lines and the room are as large as the plan says.
                let done = unsafe {
                    if k == 0 {
                        plan.ranks::<f64>(&line, room.as_mut_ptr())
                    } else {
                        plan.by_library::<f64>(&line, sort_numbers, room.as_mut_ptr().cast())
                    }
                };
                assert_eq!(done, Ok(()));
            }
            assert_eq!(bits(&results[0]), bits(&results[1]));
            assert_eq!(results[0][0], -1.0);
        }
    }

    #[test]
    fn bytes_and_lines_that_are_short_or_long_are_our_own() {
        let sorter = sort_numbers as *const c_void;
        // SAFETY: no run sorts numbers of this type in this test.
        unsafe { set_sorter(DType::Bool, sorter) };
        assert!(quicker::<u8>(DType::Bool, 100, false).is_none());
        assert!(quicker::<f64>(DType::Bool, LENGTHS.start() - 1, true).is_none());
        assert!(quicker::<f64>(DType::Bool, LENGTHS.end() + 1, false).is_none());
        // SAFETY: as above; there is none from now on.
        unsafe { set_sorter(DType::Bool, std::ptr::null()) };
        assert!(quicker::<f64>(DType::Bool, 100, false).is_none());
    }

    #[test]
    fn samples_have_no_nan_and_no_order() {
        let numbers = sample::<f64>(DType::Float64, SAMPLE);
        assert!(numbers.iter().all(|x| !x.is_nan()));
        assert!(!numbers.is_sorted());
        assert!(sample::<u16>(DType::UInt16, SAMPLE).iter().max() > Some(&4096));
        assert!(sample::<u32>(DType::Int32, SAMPLE).iter().all(|&x| x.cast_signed() >= 0));
    }
}
