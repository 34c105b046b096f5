//! Where elements are: the largest, the smallest, those that are not zero.

use std::fmt;

use frazil_core::DType;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::arrays::axis_lines::{AxisLines, gather};
use crate::arrays::for_elements;
use crate::arrays::layout::Layout;
use crate::arrays::strided::read_integer;
use crate::error::Fault;
#[cfg(target_arch = "x86_64")]
use crate::processor::Level;

/// Elements of which one pass finds the extreme one, before its position is looked for.
const CHUNK: usize = 1024;

/// So many repetitions are as quick to write as one.
const FEW: usize = 4;

/// Extreme elements that are kept side by side.
const LANES: usize = 16;

/// Elements that are compared; a NaN is not equal to itself.
trait Element: Copy + PartialOrd + Default {}

macro_rules! elements {
    ($($kind:ty)*) => { $(impl Element for $kind {})* };
}

elements!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

/// The position of the largest or the smallest element of each line: the first of several, of a NaN
/// first.
#[derive(Debug)]
pub(crate) struct ExtremePlan {
    dtype: DType,
    largest: bool,
    lines: AxisLines,
}

impl ExtremePlan {
    /// The plan for an operand and a result without its axis.
    pub(crate) fn new(
        dtype: DType,
        largest: bool,
        axis: usize,
        of: &Layout,
        to: &Layout,
    ) -> ExtremePlan {
        ExtremePlan { dtype, largest, lines: AxisLines::new(of, to, axis) }
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> Result<usize, Fault> {
        let item = self.dtype.itemsize();
        if self.lines.steps[0] == item as i64 {
            return Ok(0);
        }
        self.lines.length.checked_mul(item).ok_or(Fault::TooLarge)
    }

    /// Writes the positions; 0 for a line without elements.
    ///
    /// # Safety
    /// Operand and result have the layouts of the plan and are apart; `scratch` is aligned and as
    /// large as [`ExtremePlan::scratch`] says.
    pub(crate) unsafe fn run(&self, of: *const u8, to: *mut u8, scratch: *mut u8) {
        // SAFETY: by the caller's promise.
        unsafe { for_elements!(self.dtype, self.find(of, to, scratch)) }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn find<T: Element>(&self, of: *const u8, to: *mut u8, scratch: *mut u8) {
        let AxisLines { length, steps: [from, _], .. } = self.lines;
        self.lines.visit(of, to, |line, into| {
            // SAFETY: by the caller's promise, for one line.
            let elements = unsafe { gather::<T>(line, from, length, scratch.cast()) };
            let position = if self.largest {
                extreme(elements, |x, y| x > y)
            } else {
                extreme(elements, |x, y| x < y)
            };
            // SAFETY: the result has an element for the line.
            unsafe { into.cast::<i64>().write(position as i64) };
        });
    }
}

/// The first element that none beats, or the first NaN.
fn extreme<T: Element>(elements: &[T], beats: impl Fn(T, T) -> bool + Copy) -> usize {
    #[cfg(target_arch = "x86_64")]
    if Level::best().is_some() {
        // SAFETY: the processor has AVX2 at every level.
        return unsafe { extreme_in_avx2(elements, beats) };
    }
    extreme_of(elements, beats)
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn extreme_in_avx2<T: Element>(
    elements: &[T],
    beats: impl Fn(T, T) -> bool + Copy,
) -> usize {
    extreme_of(elements, beats)
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "only a NaN is not equal to itself")]
fn extreme_of<T: Element>(elements: &[T], beats: impl Fn(T, T) -> bool + Copy) -> usize {
    let Some(&first) = elements.first() else { return 0 };
    let (mut best, mut best_start) = (first, 0);
    for start in (0..elements.len()).step_by(CHUNK) {
        let chunk = &elements[start..elements.len().min(start + CHUNK)];
        let (blocks, rest) = chunk.as_chunks::<LANES>();
        let mut lanes = [chunk[0]; LANES];
        let mut ordered = true;
        for block in blocks {
            // Loops over indices keep the instruction set; iterators of std may not.
            for lane in 0..LANES {
                let x = block[lane];
                lanes[lane] = if beats(x, lanes[lane]) { x } else { lanes[lane] };
                ordered &= x == x;
            }
        }
        ordered &= rest.iter().fold(true, |ordered, x| ordered & (x == x));
        if !ordered {
            let nan = chunk.iter().position(|x| x != x);
            return start + nan.unwrap_or(0);
        }
        let mut most = chunk[0];
        for &x in lanes.iter().chain(rest) {
            most = if beats(x, most) { x } else { most };
        }
        if beats(most, best) {
            (best, best_start) = (most, start);
        }
    }
    best_start + first_equal(&elements[best_start..], best)
}

/// The position of the first element equal to one of them.
#[inline(always)]
fn first_equal<T: Element>(elements: &[T], one: T) -> usize {
    let (blocks, _) = elements.as_chunks::<LANES>();
    let mut start = 0;
    for block in blocks {
        let mut found = false;
        for &x in block {
            found |= x == one;
        }
        if found {
            break;
        }
        start += LANES;
    }
    start + elements[start..].iter().position(|&x| x == one).unwrap_or(0)
}

/// Which positions of an array are listed, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listed {
    /// Those of the elements that are not zero, along each axis.
    Nonzero,
    /// Each as often as the element says, in a vector of integers.
    Repeated,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Listed::Nonzero => "nonzero",
            Listed::Repeated => "repeated",
        })
    }
}

/// A pass over all elements in C order, which counts or lists positions.
#[derive(Debug)]
pub(crate) struct Listing {
    dtype: DType,
    listed: Listed,
    of: Layout,
}

impl Listing {
    /// For an operand of this layout; a vector if positions are repeated.
    pub(crate) fn new(dtype: DType, listed: Listed, of: &Layout) -> Listing {
        Listing { dtype, listed, of: of.clone() }
    }

    /// How many positions there are; if a number of repetitions is negative, the first such.
    ///
    /// # Safety
    /// The operand has the layout of the plan.
    pub(crate) unsafe fn count(&self, of: *const u8) -> i64 {
        // SAFETY: by the caller's promise.
        unsafe {
            match self.listed {
                Listed::Nonzero => for_elements!(self.dtype, self.count_nonzero(of)),
                Listed::Repeated => self.count_repeated(of),
            }
        }
    }

    /// Writes at most `count` positions: a vector for each axis. Where there are fewer, zeros follow.
    ///
    /// # Safety
    /// The operand has the layout of the plan; each vector has `count` elements, apart from it.
    pub(crate) unsafe fn list(&self, of: *const u8, to: &[*mut i64], count: usize) {
        let mut written = 0;
        // SAFETY: by the caller's promise.
        unsafe {
            match self.listed {
                Listed::Nonzero => {
                    for_elements!(self.dtype, self.list_nonzero(of, to, count, &mut written));
                }
                Listed::Repeated => self.list_repeated(of, to, count, &mut written),
            }
            for vector in to {
                vector.add(written).write_bytes(0, count - written);
            }
        }
    }

    /// # Safety
    /// As for `count`, of an operand that is a vector.
    unsafe fn count_repeated(&self, of: *const u8) -> i64 {
        let mut count = 0i64;
        for k in 0..self.of.dims[0] {
            let at = of.wrapping_offset((k * self.of.strides[0]) as isize);
            // SAFETY: the vector has the element.
            let times = unsafe { read_integer(self.dtype, at) };
            if times < 0 {
                return times;
            }
            count = count.saturating_add(times);
        }
        count
    }

    /// # Safety
    /// As for `list`, of an operand that is a vector.
    unsafe fn list_repeated(
        &self,
        of: *const u8,
        to: &[*mut i64],
        count: usize,
        written: &mut usize,
    ) {
        for k in 0..self.of.dims[0] {
            let at = of.wrapping_offset((k * self.of.strides[0]) as isize);
            // SAFETY: the vector has the element.
            let times = unsafe { read_integer(self.dtype, at) };
            let times = (times.max(0) as usize).min(count - *written);
            // A few more places are written to than belong to it, the next ones' turn: the processor
            // need not guess how many there are.
            let some = FEW.max(times).min(count - *written);
            for vector in to {
                for place in *written..*written + some {
                    // SAFETY: the vector has as many elements as are to be written.
                    unsafe { vector.add(place).write(k) };
                }
            }
            *written += times;
        }
    }

    /// Calls `body` with the start of every row along the last axis and the position of that row,
    /// until it says that this is enough.
    fn rows(&self, of: *const u8, mut body: impl FnMut(*const u8, &[i64]) -> bool) {
        let outer = self.of.ndim() - 1;
        let mut position: SmallVec<[i64; 4]> = SmallVec::from_elem(0, outer);
        if self.of.dims.contains(&0) {
            return;
        }
        let mut row = of;
        while body(row, &position) {
            let mut axis = outer;
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                position[axis] += 1;
                row = row.wrapping_offset(self.of.strides[axis] as isize);
                if position[axis] < self.of.dims[axis] {
                    break;
                }
                row = row.wrapping_offset(-(position[axis] * self.of.strides[axis]) as isize);
                position[axis] = 0;
            }
        }
    }

    /// # Safety
    /// As for `count`, with elements of type `T`.
    unsafe fn count_nonzero<T: Element>(&self, of: *const u8) -> i64 {
        let last = self.of.ndim() - 1;
        let (length, step) = (self.of.dims[last] as usize, self.of.strides[last] as isize);
        let mut count = 0;
        self.rows(of, |row, _| {
            if step == size_of::<T>() as isize {
                // SAFETY: the row has so many elements side by side.
                let row = unsafe { std::slice::from_raw_parts(row.cast::<T>(), length) };
                for part in row.chunks(255) {
                    // As many as a byte counts, so that bytes are added side by side.
                    let some: u8 = part.iter().map(|&x| u8::from(x != T::default())).sum();
                    count += i64::from(some);
                }
            } else {
                for k in 0..length {
                    // SAFETY: the row has the element.
                    let x = unsafe { row.wrapping_offset(k as isize * step).cast::<T>().read() };
                    count += i64::from(x != T::default());
                }
            }
            true
        });
        count
    }

    /// # Safety
    /// As for `list`, with elements of type `T`.
    unsafe fn list_nonzero<T: Element>(
        &self,
        of: *const u8,
        to: &[*mut i64],
        count: usize,
        written: &mut usize,
    ) {
        let last = self.of.ndim() - 1;
        let (length, step) = (self.of.dims[last] as usize, self.of.strides[last] as isize);
        if to.len() != last + 1 {
            return;
        }
        self.rows(of, |row, position| {
            let start = *written;
            let mut at = start;
            for k in 0..length {
                if at == count {
                    break;
                }
                // SAFETY: the row has the element, and the vector the place: it is written again
                // by the next element if this one is zero.
                unsafe {
                    let x = row.wrapping_offset(k as isize * step).cast::<T>().read();
                    to[last].add(at).write(k as i64);
                    at += usize::from(x != T::default());
                }
            }
            for (vector, &place) in to.iter().zip(position) {
                for at in start..at {
                    // SAFETY: the vector has as many elements as the last one.
                    unsafe { vector.add(at).write(place) };
                }
            }
            *written = at;
            at < count
        });
    }
}
