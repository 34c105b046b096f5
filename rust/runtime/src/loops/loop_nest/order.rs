//! The order in which a loop goes through its dimensions.

use crate::arrays::walk::{Order, Strides, memory_order};

/// The order in which the loop goes through its dimensions, the innermost last.
///
/// `reads` holds the strides of the reads, `read_inner` which of them move along the kernel's inner
/// dimension. `moves(write, dim)` tells whether a write moves along a dimension; `write_inner` is
/// that for the inner one.
pub(crate) fn loop_order(
    dims: &[i64],
    reads: &Strides,
    read_inner: &[bool],
    write_inner: &[bool],
    moves: impl Fn(usize, usize) -> bool,
) -> Order {
    let mut order = memory_order(dims, reads);
    let fits = |dim: usize| {
        let read_fits = |(at, &inner): (usize, &bool)| inner || reads.of(at)[dim] == 0;
        let write_fits = |(at, &inner): (usize, &bool)| inner == moves(at, dim);
        dims[dim] != 1
            && read_inner.iter().enumerate().all(read_fits)
            && write_inner.iter().enumerate().all(write_fits)
    };
    // An operand that moves in the kernel but not in memory would be repeated into a block.
    let fits_well = |dim: usize| {
        let moves_too = |(at, &inner): (usize, &bool)| !inner || reads.of(at)[dim] != 0;
        fits(dim) && read_inner.iter().enumerate().all(moves_too)
    };
    // The last dimension always fits: the kernel was made for it.
    let last = dims.len().saturating_sub(1);
    let inner = order
        .iter()
        .rposition(|&dim| fits_well(dim))
        .or_else(|| order.iter().rposition(|&dim| fits(dim)))
        .or_else(|| order.iter().position(|&dim| dim == last));
    if let Some(inner) = inner {
        order[inner..].rotate_left(1);
    }
    order
}

/// The order of a kernel that takes whole rows: the last dimension is the row.
pub(crate) fn row_order(dims: &[i64], reads: &Strides) -> Order {
    let last = dims.len() - 1;
    let mut order = memory_order(dims, reads);
    order.retain(|dim| *dim != last);
    order.push(last);
    order
}
