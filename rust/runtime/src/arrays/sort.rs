//! Sorting along an axis.

mod comparison;
mod library;
mod network;
mod radix;
mod rank;

use std::mem::MaybeUninit;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use frazil_core::DType;
use smallvec::SmallVec;

use crate::arrays::axis_lines::AxisLines;
use crate::arrays::for_elements;
use crate::arrays::layout::Layout;
use crate::error::Fault;
use crate::threads::attention::{Patience, in_portions};
use crate::threads::conduct::Halt;

pub use library::set_sorter;
use network::{Cell, Placed, Ranks};
use rank::{Rank, Ranked};

/// Lines of at most so many elements are sorted side by side.
const SIDE_BY_SIDE: usize = 1024;

/// Fewer keys than this are sorted by comparing them.
const FEW: usize = 256;

/// The bits of a position in a key that has one.
const POSITION: u32 = u32::BITS;

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
    /// Operand and result have the layouts of the plan and are apart; `scratch` is aligned to cells
    /// and as large as [`SortPlan::scratch`] says.
    pub(crate) unsafe fn run(
        &self,
        of: *const u8,
        to: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Halt> {
        // SAFETY: by the caller's promise.
        unsafe { for_elements!(self.dtype, self.sort(of, to, scratch)) }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn sort<T: Ranked>(
        &self,
        of: *const u8,
        to: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Halt> {
        // SAFETY: by the caller's promise.
        unsafe {
            if self.positions {
                self.places::<T>(of, to, scratch)
            } else {
                self.values::<T>(of, to, scratch)
            }
        }
    }

    /// Calls `several` for lines side by side, as many as there are lanes or fewer, and `single` for
    /// those that are too long or too few.
    fn visit(
        &self,
        lanes: usize,
        of: *const u8,
        to: *mut u8,
        mut several: impl FnMut(&[Line]) -> Result<(), Halt>,
        mut single: impl FnMut(&Line) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if self.lines.length == 0 {
            return Ok(());
        }
        if self.lines.length > SIDE_BY_SIDE || !network::is_fast() {
            return self.lines.visit(of, to, |of, to| single(&Line { of, to }));
        }
        let mut group: SmallVec<[Line; 8]> = SmallVec::new();
        self.lines.visit(of, to, |of, to| {
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
        // SAFETY: by the caller's promise.
        unsafe { element(line, self.lines.steps[0], k) }
    }

    /// Writes place `k` of a line of the result.
    ///
    /// # Safety
    /// The line has it, for elements of type `T`.
    #[inline(always)]
    unsafe fn write<T>(&self, line: &Line, k: usize, element: T) {
        let at = line.to.wrapping_offset(k as isize * self.lines.steps[1] as isize);
        // SAFETY: by the caller's promise.
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
            // SAFETY: by the caller's promise.
            unsafe { cells.add(k).write(empty) };
        }
        // SAFETY: they were just written.
        let cells = unsafe { from_raw_parts_mut(cells, length) };
        // SAFETY: by the caller's promise.
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
    unsafe fn values<T: Ranked>(
        &self,
        of: *const u8,
        to: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Halt> {
        type Vector<T> = <<T as Ranked>::Rank as Rank>::Vector;
        if let Some(sorter) = library::quicker::<T>(self.dtype, self.lines.length) {
            return self.lines.visit(of, to, |of, to| {
                // SAFETY: by the caller's promise, for one line; there is memory for ranks twice.
                unsafe { self.by_library::<T>(&Line { of, to }, sorter, scratch.cast()) }
            });
        }
        let several = |group: &[Line]| {
            let mut lost = false;
            let fill = |cell: &mut Vector<T>, lane: usize, element: T, _: usize| {
                lost |= element.is_lost();
                *T::Rank::lane(cell, lane) = element.rank();
            };
            let get = |cell: &mut Vector<T>, lane: usize| T::of_rank(*T::Rank::lane(cell, lane));
            let empty = T::Rank::default().vector();
            // SAFETY: there is memory for cells that are twice as large.
            unsafe { self.side_by_side(group, scratch, empty, fill, get) };
            if lost {
                // SAFETY: the lines have just been sorted.
                return group.iter().try_for_each(|line| unsafe { self.find::<T>(line) });
            }
            Ok(())
        };
        let single = |line: &Line| {
            // SAFETY: by the caller's promise, for one line; there is memory for ranks twice.
            unsafe { self.ranks::<T>(line, scratch.cast()) }
        };
        self.visit(T::Rank::LANES, of, to, several, single)
    }

    /// Sorts one line.
    ///
    /// # Safety
    /// As for `sort`; `room` is memory for ranks, twice as many as a line has elements.
    unsafe fn ranks<T: Ranked>(&self, line: &Line, room: *mut T::Rank) -> Result<(), Halt> {
        let length = self.lines.length;
        if size_of::<T>() == 1 {
            // SAFETY: by the caller's promise.
            return unsafe { self.bytes::<T>(line) };
        }
        let mut lost = false;
        // SAFETY: by the caller's promise.
        let (ranks, room) = unsafe { halves(room, length)? };
        in_portions(length, |part| {
            for (k, rank) in part.clone().zip(&mut ranks[part]) {
                // SAFETY: the line has the element.
                let element = unsafe { self.element::<T>(line, k) };
                lost |= element.is_lost();
                *rank = element.rank();
            }
        })?;
        let ranks = sorted(ranks, room, 0)?;
        in_portions(length, |part| {
            for (k, &rank) in part.clone().zip(&ranks[part]) {
                // SAFETY: the line of the result has as many elements.
                unsafe { self.write(line, k, T::of_rank(rank)) };
            }
        })?;
        if lost {
            // SAFETY: the line has just been sorted.
            unsafe { self.find::<T>(line)? };
        }
        Ok(())
    }

    /// Sorts one line of bytes, of which none is like another one: it counts them.
    ///
    /// # Safety
    /// As for `sort`.
    unsafe fn bytes<T: Ranked>(&self, line: &Line) -> Result<(), Halt> {
        let mut counts = [0usize; 256];
        in_portions(self.lines.length, |part| {
            for k in part {
                // SAFETY: the line has the element.
                let rank: u64 = unsafe { self.element::<T>(line, k) }.rank().into();
                counts[rank as usize] += 1;
            }
        })?;
        let mut start = 0;
        for (rank, count) in (0..=u8::MAX).zip(counts) {
            in_portions(count, |part| {
                for k in part {
                    // SAFETY: the line of the result has as many elements, which are bytes.
                    unsafe { self.write(line, start + k, T::of_rank(T::Rank::from(rank))) };
                }
            })?;
            start += count;
        }
        Ok(())
    }

    /// Writes NaN and zeros of a sorted line again, in the order in which they are in the operand:
    /// they have the ranks of others. Where they go the result says, as the operand may be another
    /// one by now: somebody may write to it meanwhile.
    ///
    /// # Safety
    /// As for `sort`, for one line.
    unsafe fn find<T: Ranked>(&self, line: &Line) -> Result<(), Halt> {
        let length = self.lines.length;
        let sorted = Line { of: line.to, to: line.to };
        let step = self.lines.steps[1];
        // SAFETY: the line of the result has so many elements, which are written.
        let placed = |k: usize| unsafe { element::<T>(&sorted, step, k) }.rank();
        for tie in T::TIES {
            let first = partition(length, |k| placed(k) < tie);
            let end = partition(length, |k| placed(k) <= tie);
            let mut place = first;
            in_portions(length, |part| {
                for k in part {
                    // SAFETY: the line has the element.
                    let element = unsafe { self.element::<T>(line, k) };
                    if element.rank() == tie && place < end {
                        // SAFETY: the place is one of the line of the result.
                        unsafe { self.write(line, place, element) };
                        place += 1;
                    }
                }
            })?;
        }
        Ok(())
    }

    /// # Safety
    /// As for `sort`, for positions.
    unsafe fn places<T: Ranked>(
        &self,
        of: *const u8,
        to: *mut u8,
        scratch: *mut u8,
    ) -> Result<(), Halt> {
        let several = |group: &[Line]| {
            if size_of::<T>() > 4 {
                let fill = |cell: &mut Placed, lane: usize, element: T, k: usize| {
                    cell.ranks[lane] = element.rank().into();
                    cell.positions[lane] = k as u64;
                };
                let get = |cell: &mut Placed, lane: usize| cell.positions[lane] as i64;
                let empty = Placed { ranks: [0; 8], positions: [0; 8] };
                // SAFETY: there is memory for so many cells.
                unsafe { self.side_by_side(group, scratch, empty, fill, get) };
            } else {
                let fill = |cell: &mut Ranks<u64, 8>, lane: usize, element: T, k: usize| {
                    cell.0[lane] = element.rank().into() << POSITION | k as u64;
                };
                let get = |cell: &mut Ranks<u64, 8>, lane: usize| position(cell.0[lane]);
                // SAFETY: there is memory for cells that are twice as large.
                unsafe { self.side_by_side(group, scratch, Ranks([0; 8]), fill, get) };
            }
            Ok(())
        };
        let single = |line: &Line| {
            // SAFETY: by the caller's promise, for one line; there is memory for keys twice.
            unsafe {
                match u32::try_from(self.lines.length) {
                    Ok(_) => self.keys::<T>(line, scratch.cast()),
                    Err(_) => self.pairs::<T>(line, scratch.cast()),
                }
            }
        };
        self.visit(8, of, to, several, single)
    }

    /// The positions of one line, whose number fits into half a key.
    ///
    /// # Safety
    /// As for `sort`; `start` is memory for keys, twice as many as a line has elements.
    unsafe fn keys<T: Ranked>(&self, line: &Line, start: *mut u64) -> Result<(), Halt> {
        let length = self.lines.length;
        // SAFETY: by the caller's promise.
        let (keys, room) = unsafe { halves(start, length)? };
        // SAFETY: the line has so many elements.
        let rank = |k: usize| -> u64 { unsafe { self.element::<T>(line, k) }.rank().into() };
        let (mut least, mut most) = (u64::MAX, 0);
        in_portions(length, |part| {
            for (k, key) in part.clone().zip(&mut keys[part]) {
                *key = rank(k);
                (least, most) = (least.min(*key), most.max(*key));
            }
        })?;
        // As many bits of a rank as there is room for; the others are looked up where they matter.
        let hidden = bits(most - least).saturating_sub(u64::BITS - POSITION);
        in_portions(length, |part| {
            for (k, key) in part.clone().zip(&mut keys[part]) {
                *key = (*key - least) >> hidden << POSITION | k as u64;
            }
        })?;
        let keys = sorted(keys, room, POSITION)?;
        if hidden > 0 {
            let mut patience = Patience::new();
            let spare = if keys.as_ptr() == start { start.wrapping_add(length) } else { start };
            let spare = spare.cast::<[u64; 2]>();
            for run in keys.chunk_by_mut(same_head) {
                patience.spend(run.len() as i64)?;
                if run.len() == 1 {
                    continue;
                }
                if run.len() > length / 2 {
                    // SAFETY: the room has a place for as many pairs, and the keys are given up.
                    return unsafe { self.pairs::<T>(line, start.cast()) };
                }
                in_portions(run.len(), |part| {
                    for (at, &key) in part.clone().zip(&run[part]) {
                        // Each rank is read once: another thread may write to the operand meanwhile.
                        let pair = [rank(position(key) as usize), key];
                        // SAFETY: the other half of the room has a place for half as many pairs.
                        unsafe { spare.add(at).write(pair) };
                    }
                })?;
                // SAFETY: they were just written, and nothing else refers to them.
                let pairs = unsafe { from_raw_parts_mut(spare, run.len()) };
                comparison::sort(pairs)?;
                for (key, pair) in run.iter_mut().zip(pairs) {
                    *key = pair[1];
                }
            }
        }
        in_portions(length, |part| {
            for (k, &key) in part.clone().zip(&keys[part]) {
                // SAFETY: the line of the result has as many elements.
                unsafe { self.write(line, k, position(key)) };
            }
        })
    }

    /// The positions of one line that has more elements than half a key can number, or many whose
    /// keys are equal.
    ///
    /// # Safety
    /// As for `sort`; `room` is memory for as many pairs as a line has elements.
    unsafe fn pairs<T: Ranked>(&self, line: &Line, room: *mut [u64; 2]) -> Result<(), Halt> {
        let length = self.lines.length;
        in_portions(length, |part| {
            for k in part {
                // SAFETY: the line has the element, and the room a place for it.
                unsafe { room.add(k).write([self.element::<T>(line, k).rank().into(), k as u64]) };
            }
        })?;
        // SAFETY: they were just written.
        let pairs = unsafe { from_raw_parts_mut(room, length) };
        comparison::sort(pairs)?;
        in_portions(length, |part| {
            for (k, pair) in part.clone().zip(&pairs[part]) {
                // SAFETY: the line of the result has as many elements.
                unsafe { self.write(line, k, pair[1] as i64) };
            }
        })
    }
}

/// Element `k` of a line whose elements are `step` bytes apart.
///
/// # Safety
/// The line has it, of type `T`.
#[inline(always)]
unsafe fn element<T: Ranked>(line: &Line, step: i64, k: usize) -> T {
    let at = line.of.wrapping_offset(k as isize * step as isize);
    // SAFETY: by the caller's promise.
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

/// Whether the elements of neighbouring lines lie closer to each other than those of one line.
fn is_across(group: &[Line], step: i64, start: impl Fn(&Line) -> usize) -> bool {
    match group {
        [first, second, ..] => start(first).abs_diff(start(second)) < step.unsigned_abs() as usize,
        _ => false,
    }
}

/// The position in a key.
fn position(key: u64) -> i64 {
    i64::from(key as u32)
}

/// Whether two keys with positions are equal but for these.
fn same_head(a: &u64, b: &u64) -> bool {
    a >> POSITION == b >> POSITION
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
    // SAFETY: by the caller's promise; whatever zeros make is a key.
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
