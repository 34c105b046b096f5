//! Loops over nothing whose indices are checked all the same.
//!
//! An index that is out of bounds is an error, also where an axis of length 0 beside it leaves
//! nothing to read. So the kernel runs over the indices alone, with one position along every other
//! dimension. Operands without an element there, and all writes, lie in memory that is not used
//! otherwise.

use smallvec::SmallVec;

use crate::arrays::walk::Strides;
use crate::loops::loop_nest::{Role, Table};
use crate::program::instr::Loop;

use super::loops::Operands;

/// Indices of this length are never out of bounds.
const ENDLESS: i64 = i64::MAX;

/// The strides of an axis of an operand along each dimension of a loop.
type Axes = [Option<usize>];

/// A loop over the indices of a loop over nothing.
pub(super) struct Inspection {
    /// Its dimensions.
    pub(super) dims: SmallVec<[i64; 4]>,
    /// Operands in whose place the kernel gets memory that is not used.
    pub(super) blank: SmallVec<[usize; 4]>,
}

/// Turns the operands of a loop over nothing into operands of a loop over its indices; `None` if there are
/// no indices either.
pub(super) fn inspect(code: &Loop, dims: &[i64], operands: &mut Operands) -> Option<Inspection> {
    let indexed = || {
        let sources = code.sources.iter().map(|source| &*source.axes);
        sources.chain(code.targets.iter().map(|target| &*target.axes))
    };
    // An operand does not move by itself along the dimensions of its indices.
    let along_nothing = |axes: &Axes, own: bool| {
        axes.iter().zip(dims).any(|(axis, &length)| axis.is_some() == own && length == 0)
    };
    if indexed().all(|axes| along_nothing(axes, false)) {
        return None;
    }
    let has_index = |dim: usize| indexed().any(|axes| axes[dim].is_none());
    let lengths = |(dim, &length): (usize, &i64)| if has_index(dim) { length.max(1) } else { 1 };
    let inspected = dims.iter().enumerate().map(lengths).collect();
    let (reads, sources) = (code.reads.len(), code.sources.len());
    let is_blank = |operand: usize| match operand {
        _ if operand < reads => along_nothing(&code.reads[operand].axes, true),
        _ if operand < reads + sources => {
            let axes = &*code.sources[operand - reads].axes;
            along_nothing(axes, true) || along_nothing(axes, false)
        }
        _ => true,
    };
    let blank: SmallVec<[usize; 4]> =
        (0..operands.accesses.len()).filter(|&operand| is_blank(operand)).collect();
    let mut strides = Strides::new();
    for operand in 0..operands.accesses.len() {
        let given = operands.strides.of(operand).iter();
        let moves = !blank.contains(&operand);
        strides.push(given.map(|&stride| if moves { stride } else { 0 }));
    }
    operands.strides = strides;
    for (Table { operand, axes: table }, axes) in operands.tables.iter_mut().zip(indexed()) {
        let unindexed = along_nothing(axes, false);
        for (length, stride) in table.iter_mut().filter(|_| blank.contains(operand)) {
            *length = if unindexed { ENDLESS } else { *length };
            *stride = 0;
        }
    }
    for access in &mut operands.accesses[reads + sources..] {
        // All of them in one place: nothing that is written is shared out.
        (access.role, access.apart) = (Role::Accumulate, None);
    }
    Some(Inspection { dims: inspected, blank })
}
