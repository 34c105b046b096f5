//! Moving elements between strided arrays: copy, fill, add.

use frazil_core::{DType, from_half};
use smallvec::SmallVec;

use crate::arrays::layout::Layout;
use crate::arrays::rows::{add_row, copy_each, copy_row, repeat_each};
use crate::arrays::scalar::Scalar;
use crate::arrays::walk::{Strides, Walk, advance, memory_order};
use crate::threads::attention::{PATIENCE, Patience, STOPPED, in_portions};
use crate::threads::conduct::{Conduct, Halt};
use crate::threads::split::{LoopLevel, Split};

/// Side of the square tiles in which a transposing copy proceeds: two of them fit any first-level
/// cache.
const TILE: i64 = 32;

/// An element that comes no more often than this is repeated by the loop over elements.
const REPEATS: i64 = 32;

/// The operation on an element of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// It replaces that of the destination.
    Copy,
    /// It is added to that of the destination.
    Add,
}

/// The walk through a destination and a source of equal dims.
#[derive(Debug)]
pub(crate) struct TransferPlan {
    transfer: Transfer,
    dtype: DType,
    walk: Walk,
    /// The loop second from inside, where the two are transposed to each other or where elements of
    /// the source are repeated.
    tiled: Option<(i64, [i64; 2])>,
    inner: i64,
    steps: [i64; 2],
    split: Option<Split>,
    /// Whether it is one short row.
    brief: bool,
}

impl TransferPlan {
    /// The plan for two arrays of `dims` elements of `dtype`.
    pub(crate) fn new(
        transfer: Transfer,
        dtype: DType,
        dims: &[i64],
        destination: &[i64],
        source: &[i64],
    ) -> TransferPlan {
        let mut writes = Strides::new();
        writes.push(destination.iter().copied());
        let order = memory_order(dims, &writes);
        writes.push(source.iter().copied());
        let mut walk = Walk::new(dims, &writes, &order);
        let (inner, steps) = match walk.pop() {
            Some((length, steps)) => (length, [steps[0], steps[1]]),
            None => (1, [0, 0]),
        };
        let item = dtype.itemsize() as i64;
        let crossed = walk
            .innermost()
            .is_some_and(|(_, outer)| steps[1].abs() != item && outer[1].abs() == item);
        let repeated = transfer == Transfer::Copy && steps[1] == 0 && inner <= REPEATS;
        let tiled = if crossed || repeated {
            walk.pop().map(|(length, steps)| (length, [steps[0], steps[1]]))
        } else {
            None
        };
        let mut levels: SmallVec<[LoopLevel; 4]> = SmallVec::new();
        let outer = tiled.map(|(length, _)| length);
        for length in walk.lengths().iter().copied().chain(outer).chain([inner]) {
            levels.push(LoopLevel { length, copied: 0, divisible: true });
        }
        let empty = levels.iter().any(|level| level.length == 0);
        // The work on an element is little.
        let split = if empty { None } else { Split::of(&levels, dtype.itemsize().div_ceil(4)) };
        let single = tiled.is_none() && walk.is_single() && split.is_none();
        let brief = single && inner <= 4 * PATIENCE;
        TransferPlan { transfer, dtype, walk, tiled, inner, steps, split, brief }
    }

    /// The plan for a copy from one layout to another of the same dims.
    pub(crate) fn copy(dtype: DType, from: &Layout, to: &Layout) -> TransferPlan {
        TransferPlan::new(Transfer::Copy, dtype, &to.dims, &to.strides, &from.strides)
    }

    /// The number of bytes that it copies, if that is one short row without gaps.
    pub(crate) fn copied_bytes(&self) -> Option<usize> {
        let item = self.dtype.itemsize();
        let dense = self.inner == 1 || self.steps == [item as i64; 2];
        (self.brief && dense && self.transfer == Transfer::Copy)
            .then_some(self.inner as usize * item)
    }

    /// Does it, on the caller's thread, unless the run is to stop.
    ///
    /// # Safety
    /// Both arrays are as large as the plan says, aligned to their elements, and do not overlap.
    pub(crate) unsafe fn run(&self, destination: *mut u8, source: *const u8) -> Result<(), Halt> {
        if self.inner == 0 || self.walk.is_empty() || matches!(self.tiled, Some((0, _))) {
            return Ok(());
        }
        // SAFETY: by the caller's promise, both arrays are as large as the plan says and do not overlap.
        unsafe { self.part([destination, source.cast_mut()], None) }
    }

    /// Does it as the run is conducted, unless that is to stop.
    ///
    /// # Safety
    /// As for `run`.
    pub(crate) unsafe fn run_with(
        &self,
        destination: *mut u8,
        source: *const u8,
        conduct: &Conduct<'_>,
    ) -> Result<(), Halt> {
        if self.brief {
            // SAFETY: by the caller's promise; the row is all there is.
            unsafe { self.row(destination, source, self.inner) };
            return Ok(());
        }
        let Some(split) = &self.split else {
            // SAFETY: by the caller's promise, both arrays are as large as the plan says and do not overlap.
            return unsafe { self.run(destination, source) };
        };
        let outer = self.walk.lengths().len();
        let steps = match split.level.checked_sub(outer) {
            None => self.walk.steps(split.level).try_into().unwrap_or_default(),
            Some(0) => self.tiled.map_or(self.steps, |(_, steps)| steps),
            Some(_) => self.steps,
        };
        let ends = Ends([destination, source.cast_mut()]);
        conduct.run(split, 0, std::ptr::null_mut(), &|piece, _| {
            let (start, length) = split.piece(piece);
            let mut pointers = ends.get();
            advance(&mut pointers, &steps, start);
            // SAFETY: by the caller's promise; each piece has elements of its own.
            let done = unsafe { self.part(pointers, Some((split.level, length))) };
            done.map_or(STOPPED, |()| 0)
        })
    }

    /// All positions, or the positions of a part of one loop: its number and the number of its turns.
    ///
    /// # Safety
    /// As for `run`; no loop is empty.
    unsafe fn part(
        &self,
        mut pointers: [*mut u8; 2],
        cut: Option<(usize, i64)>,
    ) -> Result<(), Halt> {
        let mut walked = SmallVec::<[i64; 4]>::from_slice(self.walk.lengths());
        let mut outer = self.tiled.map(|(length, _)| length);
        let mut inner = self.inner;
        if let Some((level, length)) = cut {
            match (level.checked_sub(walked.len()), &mut outer) {
                (None, _) => walked[level] = length,
                (Some(0), Some(outer)) => *outer = length,
                _ => inner = length,
            }
        }
        let outer = outer.unwrap_or(1);
        let mut patience = Patience::new();
        if outer.saturating_mul(inner) <= 4 * PATIENCE {
            return self.walk.visit(&walked, &mut pointers, |at| {
                // SAFETY: the walk stays inside both arrays, by the caller's promise.
                unsafe { self.plane(at[0], at[1], outer, inner) };
                patience.spend(outer * inner)
            });
        }
        let columns = inner.min(PATIENCE);
        let rows = (PATIENCE / columns).clamp(TILE, outer.max(TILE));
        let outer_steps = self.tiled.map_or([0; 2], |(_, steps)| steps);
        self.walk.visit(&walked, &mut pointers, |at| {
            for row in (0..outer).step_by(rows as usize) {
                for column in (0..inner).step_by(columns as usize) {
                    let [to, from] = [0, 1].map(|of| {
                        let offset = row * outer_steps[of] + column * self.steps[of];
                        at[of].wrapping_offset(offset as isize)
                    });
                    let (rows, columns) = (rows.min(outer - row), columns.min(inner - column));
                    // SAFETY: as above, for a part of the plane.
                    unsafe { self.plane(to, from, rows, columns) };
                    patience.spend(rows * columns)?;
                }
            }
            Ok(())
        })
    }

    /// The innermost loops, of these lengths.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn plane(&self, destination: *mut u8, source: *const u8, outer: i64, inner: i64) {
        let Some((_, outer_steps)) = self.tiled else {
            // SAFETY: the row lies inside both arrays.
            unsafe { self.row(destination, source, inner) };
            return;
        };
        let [to_inner, from_inner] = self.steps;
        let [to_outer, from_outer] = outer_steps;
        if from_inner == 0 && self.transfer == Transfer::Copy {
            let (to, from) = ([to_outer, to_inner], from_outer);
            // SAFETY: by the caller's promise, both arrays have elements of this size at these positions.
            unsafe {
                let lengths = [outer, inner];
                match (self.dtype.itemsize(), self.dtype.alignment()) {
                    (1, _) => repeat_each::<u8>(destination, to, source, from, lengths),
                    (2, _) => repeat_each::<u16>(destination, to, source, from, lengths),
                    (4, _) => repeat_each::<u32>(destination, to, source, from, lengths),
                    (8, 4) => repeat_each::<[u32; 2]>(destination, to, source, from, lengths),
                    (16, _) => repeat_each::<[u64; 2]>(destination, to, source, from, lengths),
                    _ => repeat_each::<u64>(destination, to, source, from, lengths),
                }
            }
            return;
        }
        for i in (0..outer).step_by(TILE as usize) {
            for j in (0..inner).step_by(TILE as usize) {
                let columns = TILE.min(inner - j);
                for row in i..(i + TILE).min(outer) {
                    let to = destination.wrapping_offset((row * to_outer + j * to_inner) as isize);
                    let from = source.wrapping_offset((row * from_outer + j * from_inner) as isize);
                    // SAFETY: the piece of the row lies inside both arrays.
                    unsafe { self.row(to, from, columns) };
                }
            }
        }
    }

    /// `count` elements along the innermost dimension.
    ///
    /// # Safety
    /// The elements lie inside both arrays.
    unsafe fn row(&self, destination: *mut u8, source: *const u8, count: i64) {
        let [to, from] = self.steps;
        // SAFETY: by the caller's promise; the element types are those of the arrays.
        unsafe {
            match self.transfer {
                // A complex number is aligned as its parts are.
                Transfer::Copy if self.dtype == DType::Complex64 => {
                    copy_each::<[u32; 2]>(destination, to, source, from, count)
                }
                Transfer::Copy if self.dtype == DType::Complex128 => {
                    copy_each::<[u64; 2]>(destination, to, source, from, count)
                }
                Transfer::Copy => {
                    copy_row(self.dtype.itemsize(), destination, to, source, from, count)
                }
                Transfer::Add => add_row(self.dtype, destination, to, source, from, count),
            }
        }
    }
}

/// The starts of a destination and a source, for all threads of a run.
struct Ends([*mut u8; 2]);

impl Ends {
    fn get(&self) -> [*mut u8; 2] {
        self.0
    }
}

// SAFETY: the addresses are only read; the memory there is shared as `TransferPlan::run_with` says.
unsafe impl Sync for Ends {}

/// Copies so many bytes, unless the run is to stop.
///
/// # Safety
/// Both are valid for so many bytes, and do not overlap.
pub(crate) unsafe fn copy_bytes(to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Halt> {
    // SAFETY: by the caller's promise, for this part.
    in_portions(bytes, |part| unsafe {
        to.add(part.start).copy_from_nonoverlapping(from.add(part.start), part.len());
    })
}

/// Sets `count` consecutive elements to `value`, unless the run is to stop.
///
/// # Safety
/// The destination is valid for `count` elements of the value's type and aligned.
pub(crate) unsafe fn fill(destination: *mut u8, count: i64, value: &Scalar) -> Result<(), Halt> {
    let count = count as usize;
    let start = destination;
    // SAFETY: by the caller's promise; nothing is read.
    unsafe {
        match *value.bytes() {
            [a] => fill_each(start, count, a),
            [a, b] => fill_each(start, count, u16::from_ne_bytes([a, b])),
            [a, b, c, d] => fill_each(start, count, u32::from_ne_bytes([a, b, c, d])),
            _ => fill_each(start, count, u64::from_ne_bytes(value.word())),
        }
    }
}

/// # Safety
/// As for [`fill`]; the elements are of type `T`.
unsafe fn fill_each<T: Copy>(destination: *mut u8, count: usize, value: T) -> Result<(), Halt> {
    in_portions(count, |part| {
        for at in part {
            // SAFETY: by the caller's promise, there are so many elements of type `T`.
            unsafe { destination.cast::<T>().add(at).write(value) };
        }
    })
}

/// Reads the integer at `source`; the largest for a `uint64` beyond 63 bits.
///
/// # Safety
/// An element of `dtype` lies there, aligned.
pub(crate) unsafe fn read_integer(dtype: DType, source: *const u8) -> i64 {
    // SAFETY: by the caller's promise, an element of `dtype` lies there.
    unsafe {
        match dtype {
            DType::Bool | DType::UInt8 => source.read().into(),
            DType::Int8 => source.cast::<i8>().read().into(),
            DType::Int16 => source.cast::<i16>().read().into(),
            DType::Int32 => source.cast::<i32>().read().into(),
            DType::Int64 => source.cast::<i64>().read(),
            DType::UInt16 => source.cast::<u16>().read().into(),
            DType::UInt32 => source.cast::<u32>().read().into(),
            DType::UInt64 => source.cast::<u64>().read().try_into().unwrap_or(i64::MAX),
            DType::Float16 => from_half(source.cast::<u16>().read()) as i64,
            DType::Float32 => source.cast::<f32>().read() as i64,
            DType::Float64 => source.cast::<f64>().read() as i64,
            DType::Complex64 | DType::Complex128 => unreachable!("the builder refuses these"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Elements of `dims` under `strides` (in elements), first to last in C order.
    fn offsets(dims: &[i64], strides: &[i64]) -> Vec<i64> {
        let mut offsets = vec![0];
        for (&length, &stride) in dims.iter().zip(strides) {
            offsets = offsets
                .iter()
                .flat_map(|&base| (0..length).map(move |at| base + at * stride))
                .collect();
        }
        offsets
    }

    proptest! {
        #[test]
        fn transfers_agree_with_a_naive_loop(
            dims in prop::collection::vec(0..40i64, 0..4),
            seed in any::<u32>(),
            add in any::<bool>(),
        ) {
            prop_assume!(dims.iter().product::<i64>() < 20_000);
            let ndim = dims.len();
            let mut order: Vec<usize> = (0..ndim).collect();
            if ndim > 0 {
                order.rotate_left(seed as usize % ndim);
                if seed & 64 != 0 {
                    order.reverse();
                }
            }
            let total = dims.iter().product::<i64>().max(1);
            let to = Layout::fresh_in_order(&dims, 8, &order).unwrap();
            let mut from = Layout::fresh(&dims, 8).unwrap();
            let mut start = 0;
            for (axis, (&length, stride)) in dims.iter().zip(&mut from.strides).enumerate() {
                match (seed >> (8 + 2 * axis)) & 3 {
                    0 => *stride = 0,
                    1 if length > 0 => {
                        start += (length - 1) * *stride;
                        *stride *= -1;
                    }
                    _ => {}
                }
            }
            let source: Vec<f64> = (0..total).map(|at| at as f64 + 0.5).collect();
            let mut destination: Vec<f64> = (0..total).map(|at| at as f64 * 100.0).collect();
            let mut expected = destination.clone();
            let transfer = if add { Transfer::Add } else { Transfer::Copy };
            let pairs = offsets(&dims, &to.strides).into_iter().zip(offsets(&dims, &from.strides));
            for (to, from) in pairs {
                let value = source[((start + from) / 8) as usize];
                let place = &mut expected[(to / 8) as usize];
                *place = if add { *place + value } else { value };
            }
            let plan =
                TransferPlan::new(transfer, DType::Float64, &dims, &to.strides, &from.strides);
            // SAFETY: both layouts lie inside their vectors.
            let done = unsafe {
                plan.run_with(
                    destination.as_mut_ptr().cast(),
                    source.as_ptr().cast::<u8>().wrapping_offset(start as isize),
                    &Conduct { threads: Some(1 + seed as usize % 3), ..Conduct::ALONE },
                )
            };
            prop_assert_eq!(done, Ok(()));
            prop_assert_eq!(destination, expected);
        }
    }

    #[test]
    fn every_element_type_is_copied_added_and_filled() {
        for dtype in DType::REAL {
            let one = Scalar::from_i128(dtype, 1);
            let sum = if dtype == DType::Bool { one } else { Scalar::from_i128(dtype, 2) };
            let item = dtype.itemsize();
            let mut source = [0u64; 6];
            let mut destination = [0u64; 6];
            let (from, to) = (source.as_mut_ptr().cast::<u8>(), destination.as_mut_ptr().cast());
            let step = 2 * item as i64;
            // SAFETY: six elements of at most eight bytes fit each array.
            unsafe {
                fill(from, 6, &one).unwrap();
                copy_row(item, to, step, from, item as i64, 3);
                add_row(dtype, to, step, from, item as i64, 2);
                assert_eq!(read_integer(dtype, to), if dtype == DType::Bool { 1 } else { 2 });
                assert_eq!(std::slice::from_raw_parts(to, item), sum.bytes());
                assert_eq!(std::slice::from_raw_parts(to.add(4 * item), item), one.bytes());
                assert_eq!(std::slice::from_raw_parts(to.add(item), item), vec![0; item]);
            }
        }
    }

    #[test]
    fn complex_numbers_are_copied_where_their_parts_are_aligned() {
        let source: Vec<u32> = (1..=17).collect();
        for (dtype, words) in [(DType::Complex64, 2), (DType::Complex128, 4)] {
            // Parts of four bytes start four bytes behind an address that is aligned for eight.
            let skipped = dtype.alignment() / 4 % 2;
            let item = dtype.itemsize() as i64;
            let plan = TransferPlan::new(Transfer::Copy, dtype, &[3], &[2 * item], &[item]);
            let (mut aligned, mut copy) = ([0u64; 9], [0u64; 12]);
            let from = aligned.as_mut_ptr().cast::<u32>();
            let to = copy.as_mut_ptr().cast::<u32>();
            // SAFETY: three elements of at most 16 bytes, with gaps, fit each array.
            unsafe {
                from.copy_from_nonoverlapping(source.as_ptr(), 17);
                plan.run(to.cast(), from.add(skipped).cast()).unwrap();
                for at in 0..3 {
                    let element = std::slice::from_raw_parts(to.add(2 * at * words), words);
                    assert_eq!(element, &source[skipped + at * words..][..words]);
                }
            }
        }
    }
}
