//! Walking a native kernel over strided operands.
//!
//! A kernel loops over two dimensions and is compiled for one pattern of the inner one: each
//! operand either moves along it in unit steps or stays. The nest chooses which dimension of the
//! loop is the inner one, joins dimensions that lie evenly in memory, and walks the outer ones.
//! Operands with another inner step are copied to contiguous blocks first.

mod blocks;
mod indexed;
mod order;
mod periods;
mod pieces;
#[cfg(test)]
mod tests;

use std::ffi::c_char;

use smallvec::SmallVec;

use self::blocks::Pack;
pub(crate) use self::indexed::Table;
pub(crate) use self::order::{loop_order, row_order};
use self::periods::Period;
use self::pieces::Apart;
use crate::arrays::scalar::Scalar;
use crate::arrays::walk::{Pointers, Strides, Walk, advance};
use crate::loops::fold::Fold;
use crate::loops::tiles::TILE;
use crate::threads::attention::{PATIENCE, Patience, STOPPED, ask};
use crate::threads::split::Split;

/// A native loop. `ptr` and `outer_stride` list the reads, the sources, the writes and the targets,
/// then a [`Table`] for each source and target, room for a report if there is any, and the buffers
/// of a kernel that takes whole rows. A buffer with a stride has room for [`TILE`] rows, else for
/// one. Zero means success.
pub type KernelFn = unsafe extern "C" fn(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    outer_stride: *const i64,
) -> i32;

/// Elements of one operand that are brought together at a time; a whole row where a kernel takes
/// whole rows.
const BLOCK: i64 = 1024;

/// Elements of all operands' rows that are brought together once, where the same are needed again.
const KEPT: i64 = 1 << 15;

/// Positions of a loop that may take a millisecond, where much is done at each.
const LONG: i64 = 1 << 12;

/// The length of a buffer is a multiple of this many elements, as many as a kernel ever handles at
/// a time: it may write behind the end of a row.
const LINE: usize = 64;

const TILES: i64 = TILE as i64;
/// The bytes of a row in a buffer up to which `TILE` rows stay in cache.
const SHORT_ROW: usize = 4096;

/// The facts that the kernel takes for granted of an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) itemsize: usize,
    /// Whether it moves along the innermost dimension.
    pub(crate) inner: bool,
    pub(crate) role: Role,
    /// The fold that joins partial results, and the value that each starts from; `None` where that is
    /// not known.
    pub(crate) apart: Option<(Fold, Scalar)>,
    /// The number of elements among which indices choose; `None` where the position alone does.
    pub(crate) chosen: Option<i64>,
}

/// The kernel's use of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Read,
    Write,
    /// Reads the elements and writes them back.
    Accumulate,
}

/// A loop over operands of known strides.
#[derive(Debug)]
pub(crate) struct LoopNest {
    outer: i64,
    inner: i64,
    outer_strides: SmallVec<[i64; 12]>,
    walk: Walk,
    packs: SmallVec<[Pack; 2]>,
    /// Whether the packed copies are the same for all positions of the walk, and one block has all.
    kept: bool,
    /// The way in which short rows are joined.
    period: Option<Period>,
    /// Elements that one operand has in a block.
    block: i64,
    /// The part of each [`Table`] that kernels read: the operand's step along the inner dimension, then the
    /// lengths and strides.
    tables: SmallVec<[Box<[i64]>; 2]>,
    /// The place in the scratch memory where a kernel reports the index that it refused, for each piece: its number
    /// among all of the tables', and its value.
    reports: usize,
    /// The starts of a row's buffers in the scratch memory.
    buffers: SmallVec<[usize; 2]>,
    empty: bool,
    /// Whether all of it is one brief call of the kernel.
    brief: bool,
    /// The bytes of an element, if what the kernel writes at a position along its inner dimension, the only one,
    /// depends on what it reads there alone, and all that moves does so by as much.
    pointwise: Option<i64>,
    /// The outer strides of that call where operands are packed for it; else none.
    packed_strides: SmallVec<[i64; 12]>,
    /// See [`LoopNest::is_long`].
    long: bool,
    /// The bytes by which each operand moves along the inner dimension; used when it is cut into
    /// blocks.
    inner_steps: SmallVec<[i64; 12]>,
    /// Whether the kernel needs the inner dimension whole.
    whole_rows: bool,
    split: Option<Split>,
    aparts: SmallVec<[Apart; 1]>,
    /// Bytes of scratch memory that a thread needs, and a run.
    scratch: (usize, usize),
}

type Dim = (i64, SmallVec<[i64; 12]>);

/// Where a buffer for rows of elements of this size starts behind `scratch`, its bytes, and those
/// from one row in it to the next.
fn row_buffer(scratch: usize, (outer, inner): (i64, i64), size: usize) -> (usize, usize, i64) {
    let row = (inner as usize).next_multiple_of(LINE) * size;
    let rows = if outer > 1 && row <= SHORT_ROW { TILE } else { 1 };
    let stride = if rows == 1 { 0 } else { row as i64 };
    (scratch.next_multiple_of(LINE), rows * row, stride)
}

/// The bytes by which all operands move that do, if every write is among them and nothing is accumulated.
fn pointwise(accesses: &[Access], inner_steps: &[i64]) -> Option<i64> {
    let mut size = None;
    for (access, &step) in accesses.iter().zip(inner_steps) {
        let is_apart = match access.role {
            Role::Read => true,
            Role::Write => step != 0,
            Role::Accumulate => false,
        };
        let fits = step == 0 || step == access.itemsize as i64 && *size.get_or_insert(step) == step;
        if !is_apart || !fits || access.inner != (step != 0) {
            return None;
        }
    }
    size
}

/// The copies of blocks of operands, one behind the other, and the bytes that they take.
fn packs_of<'a>(
    packed: impl Iterator<Item = (usize, &'a Access)>,
    block: i64,
) -> (SmallVec<[Pack; 2]>, usize) {
    let mut scratch = 0;
    let mut packs = SmallVec::new();
    for (operand, access) in packed {
        packs.push(Pack { operand, access: *access, scratch });
        scratch += block as usize * access.itemsize;
    }
    (packs, scratch)
}

impl LoopNest {
    /// The nest over `dims` in `order`, as given by [`loop_order`].
    pub(crate) fn new(
        dims: &[i64],
        order: &[usize],
        strides: &Strides,
        accesses: &[Access],
    ) -> LoopNest {
        let empty = dims.contains(&0);
        // A chosen inner dimension of one turn stays the inner one: no other fits the kernel.
        let inner_is_one = order.last().is_none_or(|&dim| dims[dim] == 1);
        let mut walk = Walk::new(dims, strides, order);
        let inner = if inner_is_one { None } else { walk.pop() };
        LoopNest::around(inner, walk, empty, BLOCK, accesses, None)
    }

    /// The nest of a kernel that takes whole rows, and needs room for a row of elements of each of
    /// these sizes.
    ///
    /// A row may be empty: values that follow from its reductions are written all the same.
    pub(crate) fn of_rows(
        dims: &[i64],
        order: &[usize],
        strides: &Strides,
        accesses: &[Access],
        buffers: &[usize],
    ) -> LoopNest {
        let Some((&row, outer)) = order.split_last() else {
            return LoopNest::new(dims, order, strides, accesses);
        };
        let empty = outer.iter().any(|&dim| dims[dim] == 0);
        let walk = Walk::new(dims, strides, outer);
        let steps = strides.along(row).collect();
        let block = dims[row].max(BLOCK);
        LoopNest::around(Some((dims[row], steps)), walk, empty, block, accesses, Some(buffers))
    }

    // The parts of a nest, in one order: each is found from the parts before it.
    fn around(
        inner: Option<Dim>,
        mut walk: Walk,
        empty: bool,
        block: i64,
        accesses: &[Access],
        sizes: Option<&[usize]>,
    ) -> LoopNest {
        let one = || (1, SmallVec::from_elem(0, accesses.len()));
        let (inner, inner_steps) = inner.unwrap_or_else(one);
        let (outer, mut outer_strides) = walk.pop().unwrap_or_else(one);
        let is_packed = |(operand, access): &(usize, &Access)| {
            access.inner && inner > 1 && inner_steps[*operand] != access.itemsize as i64
        };
        let stays = |(at, access): (usize, &Access)| access.role == Role::Read && walk.is_still(at);
        let packed = accesses.iter().enumerate().filter(is_packed);
        let kept = outer.saturating_mul(inner) <= KEPT && packed.clone().all(stays);
        let block = if kept { block.max(outer * inner) } else { block };
        let (packs, mut scratch) = packs_of(packed, block);
        let joined = || Period::of((outer, inner), &outer_strides, &inner_steps, accesses);
        let period = if sizes.is_none() { joined() } else { None };
        // If rows are joined, nothing is packed.
        scratch = period.as_ref().map_or(scratch, |period| scratch.max(period.scratch));
        let mut buffers = SmallVec::new();
        for size in sizes.unwrap_or_default() {
            let (start, length, stride) = row_buffer(scratch, (outer, inner), *size);
            buffers.push(start);
            scratch = start + length;
            outer_strides.push(stride);
        }
        let single = packs.is_empty() && period.is_none() && walk.is_single();
        let turns = walk.lengths().iter().chain([&outer, &inner]);
        let positions = turns.fold(1i64, |all, &length| all.saturating_mul(length));
        let pointwise = if single && outer == 1 && sizes.is_none() {
            pointwise(accesses, &inner_steps)
        } else {
            None
        };
        let one_block = !packs.is_empty() && period.is_none() && walk.is_single();
        let one_block = one_block && positions <= block.min(4 * PATIENCE);
        let mut nest = LoopNest {
            brief: single && positions <= 4 * PATIENCE,
            pointwise,
            packed_strides: SmallVec::new(),
            long: positions > LONG,
            outer,
            inner,
            outer_strides,
            walk,
            packs,
            kept,
            period,
            block,
            tables: SmallVec::new(),
            reports: 0,
            buffers,
            empty,
            inner_steps,
            whole_rows: sizes.is_some(),
            split: None,
            aparts: SmallVec::new(),
            scratch: (scratch, scratch),
        };
        if one_block {
            nest.packed_strides = nest.strides_packed();
        }
        if !empty {
            let itemsize = accesses.iter().map(|access| access.itemsize).max().unwrap_or(1);
            nest.divide(Split::of(&nest.levels(accesses), itemsize), accesses);
        }
        nest
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch.1
    }

    /// The lengths and the outer strides of the kernel's only call, if that is brief and takes the
    /// operands as they lie.
    pub(crate) fn only_call(&self) -> Option<((i64, i64), &[i64])> {
        let plain = self.brief && self.split.is_none() && !self.empty;
        plain.then_some(((self.outer, self.inner), &self.outer_strides[..]))
    }

    /// The positions, the bytes of an element, and by operand whether it moves, if each position is apart from the
    /// others. The kernel may be called for some of them.
    pub(crate) fn pointwise(&self) -> Option<(i64, i64, impl Iterator<Item = bool> + '_)> {
        let size = self.pointwise.filter(|_| self.tables.is_empty() && !self.empty)?;
        Some((self.inner, size, self.inner_steps.iter().map(|&step| step != 0)))
    }

    /// Whether threads may share it.
    pub(crate) fn is_cut(&self) -> bool {
        self.split.is_some()
    }

    /// The strides of a call with one row.
    pub(crate) fn row_strides(&self) -> &[i64] {
        &self.outer_strides
    }

    /// The pointers behind those to operands: tables, the place of a report, buffers.
    pub(crate) fn extras_in(
        &self,
        scratch: *mut u8,
        report: *mut u8,
    ) -> impl Iterator<Item = *mut u8> {
        let tables = self.tables.iter().map(|table| table.as_ptr().cast::<u8>().cast_mut());
        let report = (!self.tables.is_empty()).then_some(report);
        let buffers = self.buffers.iter().map(move |&start| scratch.wrapping_add(start));
        tables.chain(report).chain(buffers)
    }

    fn pieces(&self) -> usize {
        self.split.as_ref().map_or(1, Split::pieces)
    }

    /// Whether a run takes long enough to ask afterwards whether to stop.
    pub(crate) fn is_long(&self) -> bool {
        self.long
    }

    /// The pointers that the kernel gets besides those to operands; they come last.
    pub(crate) fn extras(&self) -> usize {
        self.tables.len() + (!self.tables.is_empty()) as usize + self.buffers.len()
    }

    /// All positions, or the positions of a part of one loop: its number and the number of its turns.
    /// Returns the first status that is not zero, else zero.
    ///
    /// # Safety
    /// As for `run`; the pointers end with room for [`LoopNest::extras`], and `report` is room for
    /// a report.
    #[inline(never)]
    unsafe fn part(
        &self,
        kernel: KernelFn,
        pointers: &mut [*mut u8],
        scratch: *mut u8,
        report: *mut u8,
        cut: Option<(usize, i64)>,
    ) -> i32 {
        let mut walked = SmallVec::<[i64; 4]>::from_slice(self.walk.lengths());
        let (mut outer, mut inner) = (self.outer, self.inner);
        if let Some((level, length)) = cut {
            match level.checked_sub(walked.len()) {
                None => walked[level] = length,
                Some(0) => outer = length,
                Some(_) => inner = length,
            }
        }
        let operands = pointers.len() - self.extras();
        for (pointer, extra) in pointers[operands..].iter_mut().zip(self.extras_in(scratch, report))
        {
            *pointer = extra;
        }
        if self.packs.is_empty() && self.period.is_none() && self.walk.is_single() {
            // SAFETY: by the caller's promise, the kernel fits the operands, which lie as the nest was made for.
            return unsafe { self.whole(kernel, pointers, (outer, inner)) };
        }
        let mut patience = Patience::new();
        let mut known = false;
        let visited = self.walk.visit(&walked, pointers, |at| {
            let status = if let Some(period) = &self.period {
                // SAFETY: by the caller's promise, the kernel fits the operands, which lie as the nest was made for.
                unsafe { self.joined(period, kernel, at, outer, scratch) }
            } else if self.packs.is_empty() {
                // SAFETY: by the caller's promise, the kernel fits the operands, which lie as the nest was made for.
                unsafe { self.whole(kernel, at, (outer, inner)) }
            } else {
                // SAFETY: by the caller's promise, the kernel fits the operands, which lie as the nest was made for.
                unsafe { self.blocks(kernel, at, (outer, inner), scratch, known) }
            };
            known = self.kept;
            if status != 0 {
                return Err(status);
            }
            patience.spend(outer.saturating_mul(inner)).map_err(|_| STOPPED)
        });
        visited.err().unwrap_or(0)
    }

    /// The last two dimensions, which are the kernel's: in one call, or where that would be long in
    /// several, unless the run is to stop. Accumulated writes go on from the values that the call before left.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn whole(&self, kernel: KernelFn, at: &[*mut u8], (outer, inner): (i64, i64)) -> i32 {
        let strides = self.outer_strides.as_ptr();
        if outer.saturating_mul(inner) <= 4 * PATIENCE {
            // SAFETY: by the caller's promise; the nest's last two dimensions are the kernel's.
            return unsafe { kernel(at.as_ptr().cast(), outer, inner, strides) };
        }
        let columns = if self.whole_rows { inner.max(1) } else { inner.min(PATIENCE) };
        let rows = match PATIENCE / columns {
            few @ ..TILES => few.max(1),
            rows => rows - rows % TILES,
        };
        for row in (0..outer).step_by(rows as usize) {
            let mut column = 0;
            loop {
                let mut pointers = Pointers::from_slice(at);
                advance(&mut pointers, &self.outer_strides, row);
                advance(&mut pointers, &self.inner_steps, column);
                // The pointers behind the operands stay: tables, reports, buffers.
                let operands = self.inner_steps.len();
                pointers[operands..].copy_from_slice(&at[operands..]);
                let size = (rows.min(outer - row), columns.min(inner - column));
                // SAFETY: as above, for a part of them.
                let status = unsafe { kernel(pointers.as_ptr().cast(), size.0, size.1, strides) };
                if status != 0 {
                    return status;
                }
                if ask().is_err() {
                    return STOPPED;
                }
                column += columns;
                if column >= inner {
                    break;
                }
            }
        }
        0
    }
}
