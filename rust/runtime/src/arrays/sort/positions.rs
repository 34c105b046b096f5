//! The positions of elements in sorted order.

use std::slice::from_raw_parts_mut;

use super::network::{Placed, Ranks};
use super::rank::Ranked;
use super::{Line, SortPlan, bits, comparison, halves, sorted};
use crate::arrays::axis_lines::Memory;
use crate::threads::attention::{Patience, in_portions};
use crate::threads::conduct::Halt;

/// The bits of a position in a key that has one.
const POSITION: u32 = u32::BITS;

impl SortPlan {
    /// Writes the positions that sort the lines.
    ///
    /// # Safety
    /// As for `sort`, for a plan of positions.
    pub(super) unsafe fn positions<T: Ranked>(&self, memory: Memory) -> Result<(), Halt> {
        let zero = T::zero(self.dtype);
        let mut several = |group: &[Line]| {
            if size_of::<T>() > 4 {
                let fill = |cell: &mut Placed, lane: usize, element: T, k: usize| {
                    cell.ranks[lane] = element.rank(zero).into();
                    cell.positions[lane] = k as u64;
                };
                let get = |cell: &mut Placed, lane: usize| cell.positions[lane] as i64;
                let empty = Placed { ranks: [0; 8], positions: [0; 8] };
                // SAFETY: there is memory for so many cells.
                unsafe { self.side_by_side(group, memory.scratch, empty, fill, get) };
            } else {
                let fill = |cell: &mut Ranks<u64, 8>, lane: usize, element: T, k: usize| {
                    cell.0[lane] = element.rank(zero).into() << POSITION | k as u64;
                };
                let get = |cell: &mut Ranks<u64, 8>, lane: usize| position(cell.0[lane]);
                // SAFETY: there is memory for cells that are twice as large.
                unsafe { self.side_by_side(group, memory.scratch, Ranks([0; 8]), fill, get) };
            }
            Ok(())
        };
        let mut single = |line: &Line| {
            // SAFETY: by the caller's promise, for one line; there is memory for keys twice.
            unsafe {
                match u32::try_from(self.lines.length) {
                    Ok(_) => self.keys::<T>(line, memory.scratch.cast()),
                    Err(_) => self.pairs::<T>(line, memory.scratch.cast()),
                }
            }
        };
        self.visit(8, memory, &mut several, &mut single)
    }

    /// The positions of one line, whose number fits into half a key.
    ///
    /// # Safety
    /// As for `sort`; `start` is memory for keys, twice as many as a line has elements.
    unsafe fn keys<T: Ranked>(&self, line: &Line, start: *mut u64) -> Result<(), Halt> {
        let (length, zero) = (self.lines.length, T::zero(self.dtype));
        // SAFETY: by the caller's promise, `start` is memory for keys, twice as many as the line has elements.
        let (keys, room) = unsafe { halves(start, length)? };
        // SAFETY: the line has so many elements.
        let rank = |k: usize| -> u64 { unsafe { self.element::<T>(line, k) }.rank(zero).into() };
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
        let (length, zero) = (self.lines.length, T::zero(self.dtype));
        in_portions(length, |part| {
            for k in part {
                // SAFETY: the line has the element, and the room a place for it.
                let rank = unsafe { self.element::<T>(line, k) }.rank(zero).into();
                // SAFETY: as above.
                unsafe { room.add(k).write([rank, k as u64]) };
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

/// The position in a key.
fn position(key: u64) -> i64 {
    i64::from(key as u32)
}

/// Whether two keys with positions are equal but for these.
fn same_head(a: &u64, b: &u64) -> bool {
    a >> POSITION == b >> POSITION
}
