//! Sorting along an axis.

mod comparison;
mod library;
mod network;
mod positions;
mod radix;
mod rank;

use std::mem::MaybeUninit;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use frazil_core::DType;
use smallvec::SmallVec;

use crate::arrays::axis_lines::{AxisLines, Memory};
use crate::arrays::for_bits;
use crate::arrays::layout::Layout;
use crate::error::Fault;
use crate::threads::attention::in_portions;
use crate::threads::conduct::Halt;

pub use library::set_sorter;
use network::{Cell, Placed};
use rank::{Rank, Ranked};

/// Lines of at most so many elements are sorted side by side.
const SIDE_BY_SIDE: usize = 1024;

/// Fewer keys than this are sorted by comparing them.
const FEW: usize = 256;

/// Lines of an operand, sorted or as the positions that sort them; equal elements keep their order.
#[derive(Debug)]
pub(crate) struct SortPlan {
    dtype: DType,
    positions: bool,
    lines: AxisLines,
}

/// Memory for keys.
type Room<'a, K> = &'a mut [MaybeUninit<K>];

/// The start of a line, in the operand and in the result.
#[derive(Clone, Copy)]
struct Line {
    of: *const u8,
    to: *mut u8,
}

impl SortPlan {
    /// The plan for an operand and a result of the same shape: its elements, or their positions.
    pub(crate) fn new(
        dtype: DType,
        positions: bool,
        axis: usize,
        of: &Layout,
        to: &Layout,
    ) -> SortPlan {
        SortPlan { dtype, positions, lines: AxisLines::new(of, to, axis) }
    }

    /// The bytes of scratch memory that a run needs: for cells of some lines, or for keys twice.
    pub(crate) fn scratch(&self) -> Result<usize, Fault> {
        let length = self.lines.length;
        let each = if length > SIDE_BY_SIDE { 2 * size_of::<u64>() } else { size_of::<Placed>() };
        length.checked_mul(each).ok_or(Fault::TooLarge)
    }

    /// Writes the result, unless the run is to stop.
    ///
    /// # Safety
    /// Operand and result have the layouts of the plan and are apart; the scratch memory is aligned to cells
    /// and as large as [`SortPlan::scratch`] says.
    pub(crate) unsafe fn run(&self, memory: Memory) -> Result<(), Halt> {
        // SAFETY: by the caller's promise, the memory is that of the plan, whose elements have as many bits;
        // `Ranked::zero` says whether there is a sign.
        unsafe { for_bits!(self.dtype, self.sort(memory)) }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn sort<T: Ranked>(&self, memory: Memory) -> Result<(), Halt> {
        // SAFETY: by the caller's promise, the memory is that of the plan, with elements of type `T`.
        unsafe {
            if self.positions { self.positions::<T>(memory) } else { self.values::<T>(memory) }
        }
    }

    /// Calls `several` for lines side by side, as many as there are lanes or fewer, and `single` for
    /// those that are too long or too few. It is made once for all types: a call is not felt beside a
    /// sort.
    fn visit(
        &self,
        lanes: usize,
        memory: Memory,
        several: &mut dyn FnMut(&[Line]) -> Result<(), Halt>,
        single: &mut dyn FnMut(&Line) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if self.lines.length == 0 {
            return Ok(());
        }
        if self.lines.length > SIDE_BY_SIDE || !network::is_fast() {
            return self.lines.visit(memory, |of, to| single(&Line { of, to }));
        }
        let mut group: SmallVec<[Line; 8]> = SmallVec::new();
        self.lines.visit(memory, |of, to| {
            group.push(Line { of, to });
            if group.len() == lanes {
                several(&group)?;
                group.clear();
            }
            Ok(())
        })?;
        if group.len() > lanes / 8 { several(&group) } else { group.iter().try_for_each(single) }
    }

    /// Element `k` of a line.
    ///
    /// # Safety
    /// The line has it, of type `T`.
    #[inline(always)]
    unsafe fn element<T: Ranked>(&self, line: &Line, k: usize) -> T {
        // SAFETY: by the caller's promise, the line has element `k`, of type `T`.
        unsafe { element(line, self.lines.steps[0], k) }
    }

    /// Writes place `k` of a line of the result.
    ///
    /// # Safety
    /// The line has it, for elements of type `T`.
    #[inline(always)]
    unsafe fn write<T>(&self, line: &Line, k: usize, element: T) {
        let at = line.to.wrapping_offset(k as isize * self.lines.steps[1] as isize);
        // SAFETY: by the caller's promise, the line of the result has place `k`.
        unsafe { at.cast::<T>().write(element) }
    }

    /// Sorts lines in a network: `fill` sets a lane of a cell to an element, which is at a position,
    /// and `get` reads what goes to the result.
    ///
    /// # Safety
    /// As for `sort`, where `O` is the type of the result; `scratch` is aligned memory for as many
    /// cells as a line has elements.
    #[inline(always)]
    unsafe fn side_by_side<C: Cell, T: Ranked, O>(
        &self,
        group: &[Line],
        scratch: *mut u8,
        empty: C,
        fill: impl FnMut(&mut C, usize, T, usize),
        get: impl Fn(&mut C, usize) -> O,
    ) {
        let length = self.lines.length;
        let cells = scratch.cast::<C>();
        for k in 0..length {
            // SAFETY: by the caller's promise, `scratch` has room for a cell for each element.
            unsafe { cells.add(k).write(empty) };
        }
        // SAFETY: they were just written.
        let cells = unsafe { from_raw_parts_mut(cells, length) };
        // SAFETY: by the caller's promise, the lines are those of the plan, with as many elements as there are cells.
        unsafe { self.read_lanes(group, cells, fill) };
        network::sort(cells);
        // SAFETY: as above.
        unsafe { self.write_lanes(group, cells, get) };
    }

    /// Sets a lane of the cells to each line, in the order in which memory is read best.
    ///
    /// # Safety
    /// As for `side_by_side`; a cell for each element of a line.
    #[inline(always)]
    unsafe fn read_lanes<C, T: Ranked>(
        &self,
        group: &[Line],
        cells: &mut [C],
        mut fill: impl FnMut(&mut C, usize, T, usize),
    ) {
        let from = self.lines.steps[0];
        if is_across(group, from, |line| line.of.addr()) {
            for (k, cell) in cells.iter_mut().enumerate() {
                for (lane, line) in group.iter().enumerate() {
                    // SAFETY: the line has the element.
                    fill(cell, lane, unsafe { self.element::<T>(line, k) }, k);
                }
            }
        } else if from == size_of::<T>() as i64 {
            for (lane, line) in group.iter().enumerate() {
                // SAFETY: the line has so many elements, side by side.
                let line = unsafe { from_raw_parts(line.of.cast::<T>(), cells.len()) };
                for (k, (cell, &element)) in cells.iter_mut().zip(line).enumerate() {
                    fill(cell, lane, element, k);
                }
            }
        } else {
            for (lane, line) in group.iter().enumerate() {
                for (k, cell) in cells.iter_mut().enumerate() {
                    // SAFETY: the line has the element.
                    fill(cell, lane, unsafe { self.element::<T>(line, k) }, k);
                }
            }
        }
    }

    /// Writes the lanes of the cells to the lines of the result.
    ///
    /// # Safety
    /// As for `read_lanes`, where `O` is the type of the result.
    #[inline(always)]
    unsafe fn write_lanes<C, O>(
        &self,
        group: &[Line],
        cells: &mut [C],
        get: impl Fn(&mut C, usize) -> O,
    ) {
        let into = self.lines.steps[1];
        if is_across(group, into, |line| line.to.addr()) {
            for (k, cell) in cells.iter_mut().enumerate() {
                for (lane, line) in group.iter().enumerate() {
                    // SAFETY: the line of the result has as many elements.
                    unsafe { self.write(line, k, get(cell, lane)) };
                }
            }
        } else if into == size_of::<O>() as i64 {
            for (lane, line) in group.iter().enumerate() {
                let start = line.to.cast::<O>();
                for (k, cell) in cells.iter_mut().enumerate() {
                    // SAFETY: as above; they lie side by side.
                    unsafe { start.add(k).write(get(cell, lane)) };
                }
            }
        } else {
            for (lane, line) in group.iter().enumerate() {
                for (k, cell) in cells.iter_mut().enumerate() {
                    // SAFETY: as above.
                    unsafe { self.write(line, k, get(cell, lane)) };
                }
            }
        }
    }

    /// # Safety
    /// As for `sort`.
    unsafe fn values<T: Ranked>(&self, memory: Memory) -> Result<(), Halt> {
        let several = self.is_several(T::Rank::LANES);
        // SAFETY: by the caller's promise, the memory is that of the plan, with elements of type `T`.
        unsafe {
            match library::quicker::<T>(self.dtype, self.lines.length, several) {
                Some(sorter) => self.library_values::<T>(memory, sorter),
                None => self.own_values::<T>(memory),
            }
        }
    }

    /// Whether lines are sorted side by side, in so many lanes.
    fn is_several(&self, lanes: usize) -> bool {
        self.lines.length <= SIDE_BY_SIDE && network::is_fast() && self.lines.count() > lanes / 8
    }

    /// # Safety
    /// As for `sort`.
    unsafe fn own_values<T: Ranked>(&self, memory: Memory) -> Result<(), Halt> {
        type Vector<T> = <<T as Ranked>::Rank as Rank>::Vector;
        let zero = T::zero(self.dtype);
        let mut several = |group: &[Line]| {
            let mut lost = false;
            let fill = |cell: &mut Vector<T>, lane: usize, element: T, _: usize| {
                lost |= element.is_lost();
                *T::Rank::lane(cell, lane) = element.rank(zero);
            };
            let get =
                |cell: &mut Vector<T>, lane: usize| T::of_rank(*T::Rank::lane(cell, lane), zero);
            let empty = T::Rank::default().vector();
            // SAFETY: there is memory for cells that are twice as large.
            unsafe { self.side_by_side(group, memory.scratch, empty, fill, get) };
            if lost {
                // SAFETY: the lines have just been sorted.
                return group.iter().try_for_each(|line| unsafe { self.find::<T>(line) });
            }
            Ok(())
        };
        let mut single = |line: &Line| {
            // SAFETY: by the caller's promise, for one line; there is memory for ranks twice.
            unsafe { self.ranks::<T>(line, memory.scratch.cast()) }
        };
        self.visit(T::Rank::LANES, memory, &mut several, &mut single)
    }

    /// Sorts one line.
    ///
    /// # Safety
    /// As for `sort`; `room` is memory for ranks, twice as many as a line has elements.
    unsafe fn ranks<T: Ranked>(&self, line: &Line, room: *mut T::Rank) -> Result<(), Halt> {
        let (length, zero) = (self.lines.length, T::zero(self.dtype));
        if size_of::<T>() == 1 {
            // SAFETY: by the caller's promise, the line is one of the plan's.
            return unsafe { self.bytes::<T>(line) };
        }
        let mut lost = false;
        // SAFETY: by the caller's promise, `room` is memory for ranks, twice as many as the line has elements.
        let (ranks, room) = unsafe { halves(room, length)? };
        in_portions(length, |part| {
            for (k, rank) in part.clone().zip(&mut ranks[part]) {
                // SAFETY: the line has the element.
                let element = unsafe { self.element::<T>(line, k) };
                lost |= element.is_lost();
                *rank = element.rank(zero);
            }
        })?;
        let ranks = sorted(ranks, room, 0)?;
        in_portions(length, |part| {
            for (k, &rank) in part.clone().zip(&ranks[part]) {
                // SAFETY: the line of the result has as many elements.
                unsafe { self.write(line, k, T::of_rank(rank, zero)) };
            }
        })?;
        if lost {
            // SAFETY: the line has just been sorted.
            unsafe { self.find::<T>(line)? };
        }
        Ok(())
    }

    /// Sorts one line of bytes by counting how often each value is there.
    ///
    /// # Safety
    /// As for `sort`.
    unsafe fn bytes<T: Ranked>(&self, line: &Line) -> Result<(), Halt> {
        let zero = T::zero(self.dtype);
        let mut counts = [0usize; 256];
        in_portions(self.lines.length, |part| {
            for k in part {
                // SAFETY: the line has the element.
                let rank: u64 = unsafe { self.element::<T>(line, k) }.rank(zero).into();
                counts[rank as usize] += 1;
            }
        })?;
        let mut start = 0;
        for (rank, count) in (0..=u8::MAX).zip(counts) {
            in_portions(count, |part| {
                for k in part {
                    // SAFETY: the line of the result has as many elements, which are bytes.
                    unsafe { self.write(line, start + k, T::of_rank(T::Rank::from(rank), zero)) };
                }
            })?;
            start += count;
        }
        Ok(())
    }

    /// Writes NaN and zeros of a sorted line again, in the order in which they are in the operand:
    /// they have the ranks of others. The sorted line says where they go, not the operand: another
    /// thread may have written to the operand meanwhile.
    ///
    /// # Safety
    /// As for `sort`, for one line.
    unsafe fn find<T: Ranked>(&self, line: &Line) -> Result<(), Halt> {
        let (length, zero) = (self.lines.length, T::zero(self.dtype));
        let sorted = Line { of: line.to, to: line.to };
        let step = self.lines.steps[1];
        // SAFETY: the line of the result has so many elements, which are written.
        let placed = |k: usize| unsafe { element::<T>(&sorted, step, k) }.rank(zero);
        for tie in [zero, T::Rank::LAST] {
            let first = partition(length, |k| placed(k) < tie);
            let end = partition(length, |k| placed(k) <= tie);
            let mut place = first;
            in_portions(length, |part| {
                for k in part {
                    // SAFETY: the line has the element.
                    let element = unsafe { self.element::<T>(line, k) };
                    if element.rank(zero) == tie && place < end {
                        // SAFETY: the place is one of the line of the result.
                        unsafe { self.write(line, place, element) };
                        place += 1;
                    }
                }
            })?;
        }
        Ok(())
    }
}

/// Element `k` of a line whose elements are `step` bytes apart.
///
/// # Safety
/// The line has it, of type `T`.
#[inline(always)]
unsafe fn element<T: Ranked>(line: &Line, step: i64, k: usize) -> T {
    let at = line.of.wrapping_offset(k as isize * step as isize);
    // SAFETY: by the caller's promise, the line has element `k`, of type `T`.
    unsafe { at.cast::<T>().read() }
}

/// The first of so many places for which `before` does not hold, nor for those behind it.
fn partition(length: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Whether the elements of neighbouring lines lie closer to each other than the elements of one line.
fn is_across(group: &[Line], step: i64, start: impl Fn(&Line) -> usize) -> bool {
    match group {
        [first, second, ..] => start(first).abs_diff(start(second)) < step.unsigned_abs() as usize,
        _ => false,
    }
}

/// The number of bits of a number.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Keys of zero, and room for as many behind them.
///
/// # Safety
/// `start` is aligned memory for as many keys as both have, and nothing else refers to it.
unsafe fn halves<'a, K: Rank>(
    start: *mut K,
    length: usize,
) -> Result<(&'a mut [K], Room<'a, K>), Halt> {
    // SAFETY: by the caller's promise, the keys are memory of ours; whatever zeros make is a key.
    in_portions(length, |part| unsafe { start.add(part.start).write_bytes(0, part.len()) })?;
    // SAFETY: as above, and all keys were written.
    unsafe {
        let room = start.add(length).cast::<MaybeUninit<K>>();
        Ok((from_raw_parts_mut(start, length), from_raw_parts_mut(room, length)))
    }
}

/// The keys sorted, where they are or in the room; their lowest bits, so many, are in order before.
fn sorted<'a, K: Rank>(
    keys: &'a mut [K],
    room: Room<'a, K>,
    ordered: u32,
) -> Result<&'a mut [K], Halt> {
    if keys.len() < FEW || u32::try_from(keys.len()).is_err() {
        comparison::sort(keys)?;
        return Ok(keys);
    }
    let (mut least, mut most, mut last) = (keys[0], keys[0], keys[0]);
    let mut in_order = true;
    in_portions(keys.len(), |part| {
        for &key in &keys[part] {
            in_order &= last <= key;
            (least, most, last) = (least.min(key), most.max(key), key);
        }
    })?;
    if in_order {
        return Ok(keys);
    }
    let floor = least.into() >> ordered << ordered;
    let span = bits(most.into() - floor).saturating_sub(ordered);
    radix::sort(keys, room, ordered, floor, span)
}
