//! Many short rows that go through a kernel as one long one.
//!
//! The work of a kernel that is done once a row costs as much as many elements. So rows are joined if
//! operands lie without gaps. An operand that is the same in every row is repeated. A reduction has a
//! copy of its result for each row, and the copies are folded in the end.

use smallvec::SmallVec;

use super::{Access, KernelFn, LINE, LoopNest, Role};
use crate::arrays::rows::copy_row;
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::fill;
use crate::arrays::walk::{Pointers, advance};
use crate::loops::fold::Fold;
use crate::threads::attention::{PATIENCE, STOPPED, ask};

/// A row is joined with others if its widest operand has at most so many bytes.
const ROW: usize = 1024;
/// The bytes of the widest operand in rows that are joined.
const JOINED: usize = 8192;
/// Joining is worth the copies where there are at least so many rows.
const FEWEST: i64 = 8;
/// As many where rows fill registers anyway.
const FEWEST_FULL: i64 = 16;
/// The bytes of a register, the widest that there is.
const REGISTER: usize = 64;

/// Rows are joined by multiples of this many, so that the end of a joined row is seldom ragged.
const EVEN: usize = 8;

/// The number of rows that are one for the kernel, and the operands that are repeated for it.
#[derive(Debug)]
pub(super) struct Period {
    rows: i64,
    repeated: SmallVec<[Repeated; 2]>,
    /// The outer strides of joined rows.
    strides: SmallVec<[i64; 12]>,
    /// The bytes of scratch memory that copies need.
    pub(super) scratch: usize,
}

/// An operand that is the same in every row.
#[derive(Debug)]
struct Repeated {
    operand: usize,
    itemsize: usize,
    step: i64,
    /// The start of results that are accumulated in copies; `None` for reads.
    apart: Option<(Fold, Scalar)>,
    /// The start of its copies in the scratch memory.
    scratch: usize,
}

impl Period {
    /// The plan to join `outer` rows of `inner` elements; `None` if that is not possible, or not worth
    /// it.
    pub(super) fn of(
        (outer, inner): (i64, i64),
        outer_strides: &[i64],
        inner_steps: &[i64],
        accesses: &[Access],
    ) -> Option<Period> {
        let widest = accesses.iter().map(|access| access.itemsize).max()?;
        let row = usize::try_from(inner).ok()?.checked_mul(widest)?;
        let is_full = row.is_multiple_of(REGISTER) || row > 2 * REGISTER;
        let fewest = if is_full { FEWEST_FULL } else { FEWEST };
        if row == 0 || row > ROW || outer < fewest {
            return None;
        }
        let rows = (JOINED.div_ceil(row).next_multiple_of(EVEN) as i64).min(outer);
        let mut scratch = 0usize;
        let mut repeated = SmallVec::new();
        let mut strides = SmallVec::new();
        for (operand, access) in accesses.iter().enumerate() {
            let (stride, step) = (outer_strides[operand], inner_steps[operand]);
            let itemsize = access.itemsize;
            let dense = inner == 1 || step == itemsize as i64;
            if access.inner && dense && stride == inner * itemsize as i64 {
                strides.push(rows * stride);
                continue;
            }
            if stride != 0 {
                return None;
            }
            strides.push(0);
            if !access.inner {
                continue;
            }
            let apart = match access.role {
                Role::Read => None,
                Role::Accumulate if dense => Some(access.apart?),
                _ => return None,
            };
            scratch = scratch.next_multiple_of(LINE);
            repeated.push(Repeated { operand, itemsize, step, apart, scratch });
            scratch += (rows * inner) as usize * itemsize;
        }
        Some(Period { rows, repeated, strides, scratch })
    }
}

impl LoopNest {
    /// The last two dimensions, with rows joined; `outer` is how many there are.
    ///
    /// # Safety
    /// As for `run`; `period` is of this nest.
    pub(super) unsafe fn joined(
        &self,
        period: &Period,
        kernel: KernelFn,
        at: &[*mut u8],
        outer: i64,
        scratch: *mut u8,
    ) -> i32 {
        let inner = self.inner;
        let mut pointers = Pointers::from_slice(at);
        for own in &period.repeated {
            let copies = scratch.wrapping_add(own.scratch);
            // SAFETY: the scratch memory has room for as many rows; the operand holds one.
            unsafe {
                match &own.apart {
                    // So few that the run does not ask whether to stop.
                    Some((_, identity)) => _ = fill(copies, period.rows * inner, identity),
                    None => own.repeat(copies, at[own.operand], inner, period.rows),
                }
            }
            pointers[own.operand] = copies;
        }
        let (whole, rest) = (outer / period.rows, outer % period.rows);
        let strides = period.strides.as_ptr();
        let mut status = 0;
        let joined = period.rows * inner;
        let some = (PATIENCE / joined).max(1);
        let mut done = 0;
        while status == 0 && done < whole {
            let rows = some.min(whole - done);
            // SAFETY: by the caller's promise; an operand that moves has no gaps between rows, and one that does
            // not has a copy for each.
            status = unsafe { kernel(pointers.as_ptr().cast(), rows, joined, strides) };
            advance(&mut pointers, &period.strides, rows);
            done += rows;
            if status == 0 && done < whole && ask().is_err() {
                status = STOPPED;
            }
        }
        if status == 0 && rest > 0 {
            // SAFETY: as above.
            status = unsafe { kernel(pointers.as_ptr().cast(), 1, rest * inner, strides) };
        }
        for own in &period.repeated {
            let Some((fold, identity)) = &own.apart else { continue };
            let copies = scratch.wrapping_add(own.scratch);
            let (dtype, count) = (identity.dtype(), inner as usize);
            // SAFETY: all copies were filled; the operand has as many elements without gaps.
            unsafe {
                fold.join_all(dtype, copies, period.rows as usize, count);
                fold.join(dtype, at[own.operand], copies, count);
            }
        }
        status
    }
}

impl Repeated {
    /// Writes the operand's row so many times.
    ///
    /// # Safety
    /// `to` has room for them; the row of `count` elements starts at `from`.
    unsafe fn repeat(&self, to: *mut u8, from: *const u8, count: i64, rows: i64) {
        let item = self.itemsize;
        let total = (rows * count) as usize * item;
        let mut done = count as usize * item;
        // SAFETY: by the caller's promise; no copy is longer than its source.
        unsafe {
            copy_row(item, to, item as i64, from.cast_mut(), self.step, count);
            while done < total {
                let more = done.min(total - done);
                to.add(done).copy_from_nonoverlapping(to, more);
                done += more;
            }
        }
    }
}
