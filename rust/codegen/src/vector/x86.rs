//! Functions by the registers of AVX-512 and AVX2.
//!
//! `translate.rs` takes each of Cranelift's instructions for the same instruction on as many elements as a register of 512 bits
//! holds of the widest: what an element becomes does not depend on how many there are. Narrower ones stand in shorter
//! registers, and bools in masks of a bit for each (`masks.rs`). `schedule.rs` orders them, `function.rs` writes the loop around
//! them, and `assembler.rs` knows the bytes. Functions such as `exp` are written into the block by the steps that the
//! runtime's own functions go through (`recipe.rs`), so that they have the same bits.
//!
//! With AVX2, a register holds half as many elements, and there are half as many registers. A mask is a register, too,
//! whose elements have all bits or none (`short_masks.rs`). `short_forms.rs` says which nodes have instructions then, and
//! `short_instructions.rs` has those that are not the same. Which element is folded into which partial result does not
//! depend on registers, so that sums have the same bits.

use crate::dtype::Dtype;
use crate::op::Reduction;
use crate::vector::{Block, Registers, RowPlan, RowsCode, StageCode, Steps};

mod assembler;
mod block;
mod carried;
mod columns;
mod function;
mod gather;
mod instructions;
mod masks;
#[cfg(test)]
mod narrow_tests;
mod over;
mod recipe;
mod row;
mod schedule;
mod short_forms;
mod short_instructions;
mod short_masks;
mod stacked_sets;
mod steps;
#[cfg(test)]
mod tests;
mod tile;
mod translate;
mod walked;

/// Whether a block for such registers may hold the function of that name, of elements of so many bytes. The steps of
/// functions are those of AVX-512.
pub(crate) fn may_hold(own: Registers, function: &'static str, size: u32) -> bool {
    own == Registers::Of512 && recipe::has_recipe(function, size)
}

/// The instructions of a function of two arguments, `(const int64_t *arguments, int64_t count)`, that does so with the
/// elements of a row; `None` if an instruction has no such form.
pub(crate) fn code(block: &Block) -> Option<Vec<u8>> {
    Some(stage_code(block)?.code)
}

/// As [`code`], of a function that may go on with the elements that follow once partial sums are carried.
pub(crate) fn stage_code(block: &Block) -> Option<StageCode> {
    let graph = translate::translate(block)?;
    function::write(&graph)
}

/// The instructions of a function `(void *sets, int64_t)` that begins a fold: it lets partial results of `size` bytes, so
/// many bytes in all, hold these bits.
pub(crate) fn fill(own: Registers, bits: u64, size: u32, bytes: u32) -> Vec<u8> {
    row::fill(own, translate::in_64_bits(bits, size), bytes)
}

/// As [`code`], of a function that lets elements go through the steps of a loop until they leave it. The arguments are
/// the addresses of its states, which it reads and writes, and of its constants, then as [`Steps`] says. All are as long
/// as a multiple of four registers.
pub(crate) fn steps_code(block: &Block, steps: Steps) -> Option<Vec<u8>> {
    let graph = translate::translate(block)?;
    function::write_steps(&graph, steps)
}

/// The instructions of a function of three arguments, `(int64_t *rows, int64_t length, int64_t *end)`, that takes rows of
/// some elements whose arguments lie from `rows` to `end`. Each fold begins with the identity, and its result stands where
/// the argument `Partials::sets` was. Without folds, rows have at most `SETS` registers of elements. `None` if there
/// is none for a reason of this block's.
pub(crate) fn rows_code(block: &Block) -> Option<RowsCode> {
    function::write_rows(&rows_graph(block)?, None)
}

/// As [`rows_code`], of a function `(const int64_t *arguments, int64_t length, int64_t rows)` that finds rows by the plan,
/// folds results into outputs and returns a status.
pub(crate) fn walked_code(block: &Block, plan: &RowPlan) -> Option<RowsCode> {
    function::write_rows(&rows_graph(block)?, Some(plan))
}

fn rows_graph(block: &Block) -> Option<translate::Graph> {
    let graph = translate::translate(block)?;
    // Rows without folds have no more registers than there are sets.
    let folds = graph.folds.len() + graph.flags.len();
    (folds > 0 || graph.lanes * graph.parts_of_block() == block.lanes).then_some(graph)
}

/// As [`rows_code`], of rows of at most `COLUMNS` elements, as many rows as there are sets or a multiple of it. Folds
/// go on with the sets at the addresses `Partials::sets`, from the first set on; of 256 bits each row begins with the
/// set that its `Partials::turn` says. A `Given::LateLoad` is of a row into which all rows are gathered.
pub(crate) fn tile_code(block: &Block) -> Option<Vec<u8>> {
    function::write_tile(&rows_graph(block)?)
}

/// The instructions of a function of the address of columns and their number, that folds them to one; it stands where the
/// first one was. `None` if there is none.
pub(crate) fn fold_columns(own: Registers, reduce: Reduction, dtype: Dtype) -> Option<Vec<u8>> {
    if dtype != Dtype::Float64 {
        return None;
    }
    columns::fold(own, reduce, reduce.identity(dtype))
}

/// The instructions of a function `(int64_t arguments[3], int64_t length)` that lets rows lie side by side, as many as a
/// register has elements: the address of the first, the bytes to the next, the address of the columns.
pub(crate) fn columns_of_rows(own: Registers) -> Vec<u8> {
    columns::of_rows(own)
}

/// The instructions of a function `(int64_t arguments[2], int64_t length)`, the other way round: the addresses of columns,
/// and of the rows, which have room for `COLUMNS` elements each.
pub(crate) fn rows_of_columns(own: Registers) -> Vec<u8> {
    columns::to_rows(own)
}
