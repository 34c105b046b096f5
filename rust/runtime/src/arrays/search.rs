//! Positions of elements: of the largest, of the smallest, of those that are not zero.

use std::fmt;

use frazil_core::DType;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::arrays::axis_lines::{AxisLines, Memory, gather};
use crate::arrays::layout::Layout;
use crate::arrays::strided::read_integer;
use crate::arrays::{for_bits, for_elements};
#[cfg(target_arch = "x86_64")]
use crate::processor::Level;
use crate::threads::attention::{PATIENCE, Patience, in_portions};
use crate::threads::conduct::Halt;

/// So many elements are searched at once: a pass finds the extreme one, then its position.
const CHUNK: usize = 1024;

/// So many repetitions are as quick to write as one.
const FEW: usize = 4;

/// Extreme elements that are kept side by side.
const LANES: usize = 16;

/// Elements that are compared; a NaN is not equal to itself.
trait Comparable: Copy + PartialOrd + Default {}

macro_rules! elements {
    ($($kind:ty)*) => { $(impl Comparable for $kind {})* };
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
    pub(crate) fn scratch(&self) -> usize {
        let item = self.dtype.itemsize();
        if self.lines.steps[0] == item as i64 { 0 } else { CHUNK.min(self.lines.length) * item }
    }

    /// Writes the positions, unless the run is to stop; 0 for a line without elements.
    ///
    /// # Safety
    /// Operand and result have the layouts of the plan and are apart; the scratch memory is aligned and as
    /// large as [`ExtremePlan::scratch`] says.
    pub(crate) unsafe fn run(&self, memory: Memory) -> Result<(), Halt> {
        // SAFETY: by the caller's promise, the memory is that of the plan, whose elements are of this type.
        unsafe { for_elements!(self.dtype, self.find(memory)) }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn find<T: Comparable>(&self, memory: Memory) -> Result<(), Halt> {
        self.lines.visit(memory, |line, into| {
            // SAFETY: by the caller's promise, for one line.
            let position = unsafe {
                if self.largest {
                    self.extreme_of_line::<T>(line, memory.scratch.cast(), |x, y| x > y)?
                } else {
                    self.extreme_of_line::<T>(line, memory.scratch.cast(), |x, y| x < y)?
                }
            };
            // SAFETY: the result has an element for the line.
            unsafe { into.cast::<i64>().write(position as i64) };
            Ok(())
        })
    }

    /// The position of the first element of a line that none beats, or of the first NaN.
    ///
    /// # Safety
    /// As for `run`, for one line.
    #[expect(clippy::eq_op, reason = "only a NaN is not equal to itself")]
    unsafe fn extreme_of_line<T: Comparable>(
        &self,
        line: *const u8,
        room: *mut T,
        beats: impl Fn(T, T) -> bool + Copy,
    ) -> Result<usize, Halt> {
        let AxisLines { length, steps: [step, _], .. } = self.lines;
        let some = if step == size_of::<T>() as i64 { PATIENCE as usize } else { CHUNK };
        let mut patience = Patience::new();
        let mut best: Option<(usize, T)> = None;
        for start in (0..length).step_by(some) {
            let first = line.wrapping_offset((start as i64 * step) as isize);
            // SAFETY: the line has so many elements from there on, and the room as many places.
            let elements = unsafe { gather::<T>(first, step, some.min(length - start), room) };
            let at = extreme(elements, beats);
            let found = elements[at];
            if found != found {
                return Ok(start + at);
            }
            if best.is_none_or(|(_, best)| beats(found, best)) {
                best = Some((start + at, found));
            }
            patience.spend(elements.len() as i64)?;
        }
        Ok(best.map_or(0, |(at, _)| at))
    }
}

/// The first element that none beats, or the first NaN.
fn extreme<T: Comparable>(elements: &[T], beats: impl Fn(T, T) -> bool + Copy) -> usize {
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
unsafe fn extreme_in_avx2<T: Comparable>(
    elements: &[T],
    beats: impl Fn(T, T) -> bool + Copy,
) -> usize {
    extreme_of(elements, beats)
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "only a NaN is not equal to itself")]
fn extreme_of<T: Comparable>(elements: &[T], beats: impl Fn(T, T) -> bool + Copy) -> usize {
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
fn first_equal<T: Comparable>(elements: &[T], one: T) -> usize {
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

/// The positions of an array that are listed, and their numbers of repetitions.
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

    /// The number of positions; if a number of repetitions is negative, the first such.
    ///
    /// # Safety
    /// The operand has the layout of the plan.
    pub(crate) unsafe fn count(&self, of: *const u8) -> Result<i64, Halt> {
        // SAFETY: by the caller's promise, the operand has the layout of the plan.
        unsafe {
            match self.listed {
                Listed::Nonzero => for_bits!(self.dtype, self.count_nonzero(of)),
                Listed::Repeated => self.count_repeated(of),
            }
        }
    }

    /// Writes at most `count` positions: a vector for each axis. If there are fewer positions, zeros follow.
    ///
    /// # Safety
    /// The operand has the layout of the plan; each vector has `count` elements, apart from it.
    pub(crate) unsafe fn list(
        &self,
        of: *const u8,
        to: &[*mut i64],
        count: usize,
    ) -> Result<(), Halt> {
        let mut written = 0;
        // SAFETY: by the caller's promise, the operand has this layout, and each vector `count` elements.
        unsafe {
            match self.listed {
                Listed::Nonzero => {
                    for_bits!(self.dtype, self.list_nonzero(of, to, count, &mut written))?;
                }
                Listed::Repeated => self.list_repeated(of, to, count, &mut written)?,
            }
        }
        // Fewer than were counted: another thread wrote to the operand meanwhile.
        for &vector in to {
            // SAFETY: by the caller's promise, each vector has `count` elements.
            in_portions(count - written, |part| unsafe {
                vector.add(written + part.start).write_bytes(0, part.len());
            })?;
        }
        Ok(())
    }

    /// # Safety
    /// As for `count`, of an operand that is a vector.
    unsafe fn count_repeated(&self, of: *const u8) -> Result<i64, Halt> {
        let mut count = 0i64;
        let mut patience = Patience::new();
        for k in 0..self.of.dims[0] {
            patience.spend(1)?;
            let at = of.wrapping_offset((k * self.of.strides[0]) as isize);
            // SAFETY: the vector has the element.
            let times = unsafe { read_integer(self.dtype, at) };
            if times < 0 {
                return Ok(times);
            }
            count = count.saturating_add(times);
        }
        Ok(count)
    }

    /// # Safety
    /// As for `list`, of an operand that is a vector.
    unsafe fn list_repeated(
        &self,
        of: *const u8,
        to: &[*mut i64],
        count: usize,
        written: &mut usize,
    ) -> Result<(), Halt> {
        let mut patience = Patience::new();
        for k in 0..self.of.dims[0] {
            let at = of.wrapping_offset((k * self.of.strides[0]) as isize);
            // SAFETY: the vector has the element.
            let times = unsafe { read_integer(self.dtype, at) };
            let times = (times.max(0) as usize).min(count - *written);
            // A few more places are written to than belong to it, the next ones' turn: the processor
            // need not guess how many there are.
            let some = FEW.max(times).min(count - *written);
            let start = *written;
            for &vector in to {
                in_portions(some, |part| {
                    for place in part {
                        // SAFETY: the vector has as many elements as are to be written.
                        unsafe { vector.add(start + place).write(k) };
                    }
                })?;
            }
            *written += times;
            patience.spend(times as i64 + 1)?;
        }
        Ok(())
    }

    /// Calls `body` with the start of every row along the last axis and the position of that row,
    /// until it says that this is enough.
    fn rows(
        &self,
        of: *const u8,
        mut body: impl FnMut(*const u8, &[i64]) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        let outer = self.of.ndim() - 1;
        let mut position: SmallVec<[i64; 4]> = SmallVec::from_elem(0, outer);
        if self.of.dims.contains(&0) {
            return Ok(());
        }
        let mut row = of;
        while body(row, &position)? {
            let mut axis = outer;
            loop {
                if axis == 0 {
                    return Ok(());
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
        Ok(())
    }

    /// # Safety
    /// As for `count`, with elements of type `T`.
    unsafe fn count_nonzero<T: Comparable>(&self, of: *const u8) -> Result<i64, Halt> {
        let last = self.of.ndim() - 1;
        let (length, step) = (self.of.dims[last] as usize, self.of.strides[last] as isize);
        let mut count = 0;
        let mut patience = Patience::new();
        self.rows(of, |row, _| {
            in_portions(length, |part| {
                let start = row.wrapping_offset(part.start as isize * step);
                if step == size_of::<T>() as isize {
                    // SAFETY: the row has so many elements side by side.
                    let row = unsafe { std::slice::from_raw_parts(start.cast::<T>(), part.len()) };
                    for few in row.chunks(255) {
                        // As many as a byte counts, so that bytes are added side by side.
                        let some: u8 = few.iter().map(|&x| u8::from(x != T::default())).sum();
                        count += i64::from(some);
                    }
                } else {
                    for k in 0..part.len() as isize {
                        // SAFETY: the row has the element.
                        let x = unsafe { start.wrapping_offset(k * step).cast::<T>().read() };
                        count += i64::from(x != T::default());
                    }
                }
            })?;
            patience.spend(length as i64)?;
            Ok(true)
        })?;
        Ok(count)
    }

    /// # Safety
    /// As for `list`, with elements of type `T`.
    unsafe fn list_nonzero<T: Comparable>(
        &self,
        of: *const u8,
        to: &[*mut i64],
        count: usize,
        written: &mut usize,
    ) -> Result<(), Halt> {
        let last = self.of.ndim() - 1;
        let (length, step) = (self.of.dims[last] as usize, self.of.strides[last] as isize);
        if to.len() != last + 1 {
            return Ok(());
        }
        let along = to[last];
        let mut patience = Patience::new();
        self.rows(of, |row, position| {
            let start = *written;
            let mut at = start;
            in_portions(length, |part| {
                // Copies, which stay in registers; what is captured may be read again each time.
                let (along, step, mut place) = (along, step, at);
                let mut element = row.wrapping_offset(part.start as isize * step);
                for k in part {
                    if place == count {
                        break;
                    }
                    // SAFETY: the row has the element, and the vector the place: it is written
                    // again by the next element if this one is zero.
                    unsafe {
                        let x = element.cast::<T>().read();
                        along.add(place).write(k as i64);
                        place += usize::from(x != T::default());
                    }
                    element = element.wrapping_offset(step);
                }
                at = place;
            })?;
            for (&vector, &place) in to.iter().zip(position) {
                in_portions(at - start, |part| {
                    for at in part {
                        // SAFETY: the vector has as many elements as the last one.
                        unsafe { vector.add(start + at).write(place) };
                    }
                })?;
            }
            *written = at;
            patience.spend(length as i64)?;
            Ok(at < count)
        })
    }
}
