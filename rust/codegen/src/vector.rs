//! Functions that go along a row by registers of 512 bits, or 256. Cranelift has registers of 128 bits, which C's kernels
//! leave far behind where a loop is bound by arithmetic. So the loop over the elements of a stage is a function of
//! its own on processors with AVX-512 or AVX2 ([`Registers`]).
//!
//! Ops have one definition: a stage's block is drawn as instructions of Cranelift first, on registers of any size
//! ([`Block`]). `translate.rs` takes each of these for the same instruction on as many elements as a register of 512 bits
//! holds of the widest: what an element becomes does not depend on how many there are. Narrower ones stand in shorter
//! registers, and bools in masks of a bit for each (`masks.rs`). `schedule.rs` orders them, `function.rs` writes the loop around
//! them, and `assembler.rs` knows the bytes. Functions such as `exp` are written into the block by the steps that the
//! runtime's own functions go through (`recipe.rs`), so that they have the same bits. Where an instruction has no such
//! form, there is no function, and the stage goes by Cranelift's registers.
//!
//! With AVX2, a register holds half as many elements, and there are half as many registers. A mask is a register, too,
//! whose elements have all bits or none (`short_masks.rs`). `short_forms.rs` says which nodes have instructions then, and
//! `short_instructions.rs` has those that are not the same. Which element is folded into which partial result does not
//! depend on registers, so that sums have the same bits.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use crate::op::Reduction;
pub(crate) use crate::registers::{BYTES, Registers, SETS};
use cranelift_codegen::ir::{Block as IrBlock, Function, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

#[cfg(target_arch = "x86_64")]
mod assembler;
#[cfg(target_arch = "x86_64")]
mod block;
#[cfg(target_arch = "x86_64")]
mod columns;
#[cfg(target_arch = "x86_64")]
mod function;
#[cfg(target_arch = "x86_64")]
mod gather;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod masks;
#[cfg(all(test, target_arch = "x86_64"))]
mod narrow_tests;
#[cfg(target_arch = "x86_64")]
mod over;
#[cfg(target_arch = "x86_64")]
mod recipe;
#[cfg(target_arch = "x86_64")]
mod row;
#[cfg(target_arch = "x86_64")]
mod schedule;
#[cfg(target_arch = "x86_64")]
mod short_forms;
#[cfg(target_arch = "x86_64")]
mod short_instructions;
#[cfg(target_arch = "x86_64")]
mod short_masks;
#[cfg(target_arch = "x86_64")]
mod stacked_sets;
#[cfg(target_arch = "x86_64")]
mod steps;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod translate;
#[cfg(target_arch = "x86_64")]
mod walked;

/// Whether a block for such registers may hold the function of that name, of elements of so many bytes. The steps of
/// functions are those of AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) fn may_hold(own: Registers, function: &'static str, size: u32) -> bool {
    own == Registers::Of512 && recipe::has_recipe(function, size)
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn may_hold(_own: Registers, _function: &'static str, _size: u32) -> bool {
    false
}

/// The most columns of rows that lie side by side; a row has room for as many elements.
pub(crate) const COLUMNS: u32 = 16;

/// The source of a value that the block does not compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Given {
    /// Elements behind an address, which is argument `at`; where it says `ahead`, memory is asked for those that come
    /// a page later.
    Load { at: usize, dtype: Dtype, ahead: bool },
    /// As [`Given::Load`], of memory that this block changes: it is read when it is needed.
    LateLoad { at: usize, dtype: Dtype },
    /// Argument `at`, for all elements.
    Uniform { at: usize, dtype: Dtype },
    /// Argument `at` is the address of a value for each element of a register, the same in all blocks.
    Lanes { at: usize, dtype: Dtype },
    /// One element, for all elements of a row, behind an address that is argument `at`.
    OfRow { at: usize, dtype: Dtype },
    /// The partial results of fold `of`, of the set whose turn it is.
    Partial { of: usize },
    /// The function of a value of the block.
    Applied { function: &'static str, of: Value },
    /// Elements that lie as many bytes behind an address, which is argument `at`, as the values of the block say.
    Gathered { at: usize, dtype: Dtype, of: Value },
}

/// What a block does with a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// It is written behind an address, which is argument `at`; memory that nobody else reads or writes.
    Keep { at: usize, dtype: Dtype, value: Value },
    /// It is written behind an address, once all operands of the block are read.
    Write { at: usize, dtype: Dtype, value: Value },
    /// It becomes the partial results of fold `of`.
    Fold { of: usize, value: Value },
    /// It is folded into fold `of` of bools.
    Flag { of: usize, value: Value },
    /// It becomes a state, which is argument `state`, once all operands of the block are read.
    Next { state: usize, value: Value },
    /// Elements for which it holds end after this step.
    Leave { value: Value },
}

/// The numbers of arguments of a function that lets elements go through a loop, and the number of the state that is its
/// result. If the result is whether an element has left the loop, that is the number of states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub(crate) states: usize,
    pub(crate) constants: usize,
    pub(crate) result: usize,
    /// The elements of a register.
    pub(crate) lanes: u32,
}

impl Steps {
    /// The argument with the address of a bit for each element, in two bytes for each register, that says whether it
    /// goes on.
    pub(crate) fn live(self) -> usize {
        self.states + self.constants
    }

    /// The argument with the most steps of a call.
    pub(crate) fn most(self) -> usize {
        self.live() + 1
    }
}

/// The arguments that tell of a fold: the address of its sets, and the bytes from there to the set whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partials {
    pub(crate) sets: usize,
    pub(crate) turn: usize,
    pub(crate) reduce: Reduction,
    pub(crate) dtype: Dtype,
    /// The elements of a set.
    pub(crate) lanes: u32,
}

/// A function of rows.
pub(crate) struct RowsCode {
    pub(crate) code: Vec<u8>,
    /// The most elements of a row, if registers are too few for the partial results of more.
    pub(crate) most: Option<usize>,
}

/// How arguments change from row to row, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct RowPlan {
    /// The addresses that move on, and by how many bytes.
    pub(crate) moving: Vec<(usize, usize)>,
    pub(crate) chosen: Vec<ChosenRow>,
    /// The address of two numbers: which index is out of bounds, and its value.
    pub(crate) report: usize,
    /// The address of the output of each fold.
    pub(crate) targets: Vec<usize>,
}

/// A row chosen by an index, which is an integer of 64 bits in memory.
#[derive(Debug)]
pub(crate) struct ChosenRow {
    /// The address of the row, once it is found.
    pub(crate) at: usize,
    pub(crate) base: usize,
    pub(crate) index: usize,
    pub(crate) length: usize,
    /// The bytes from one row to the next.
    pub(crate) stride: usize,
    /// The number of the index.
    pub(crate) number: usize,
}

impl RowPlan {
    /// The arguments that are addresses.
    #[cfg(target_arch = "x86_64")]
    fn pointers(&self) -> Vec<usize> {
        let moving = self.moving.iter().map(|own| own.0);
        let chosen = self.chosen.iter().map(|own| own.at);
        moving.chain(chosen).collect()
    }
}

/// What is done with a block of elements, as instructions of Cranelift on registers of two elements. No processor has
/// all of these: they are there to be translated.
pub(crate) struct Block<'f> {
    /// Writes the instructions.
    pub(crate) e: Emitter<'f>,
    block: IrBlock,
    registers: Registers,
    pub(crate) given: Vec<Given>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) folds: Vec<Partials>,
    /// The number of arguments.
    pub(crate) arguments: usize,
    /// The elements of a set of the kernel's partial results.
    pub(crate) lanes: u32,
    /// Folds of bools.
    pub(crate) flags: Vec<Partials>,
}

/// The memory that a [`Block`] is written in.
pub(crate) struct Sheet {
    registers: Registers,
    function: Function,
    context: FunctionBuilderContext,
}

impl Sheet {
    pub(crate) fn new(registers: Registers) -> Sheet {
        Sheet { registers, function: Function::new(), context: FunctionBuilderContext::new() }
    }

    /// A block of elements, of a kernel with so many in each set of partial results.
    pub(crate) fn block(&mut self, lanes: u32, convention: CallConv) -> Block<'_> {
        let mut b = FunctionBuilder::new(&mut self.function, &mut self.context);
        let block = b.create_block();
        b.switch_to_block(block);
        let mut e = Emitter::new(b, convention, None);
        e.wide = Some(8);
        e.drawn = true;
        let (given, effects, folds, flags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let registers = self.registers;
        Block { e, block, registers, given, effects, folds, flags, arguments: 0, lanes }
    }
}

impl Block<'_> {
    /// A value that is given.
    pub(crate) fn give(&mut self, given: Given, dtype: Dtype) -> Value {
        self.given.push(given);
        let ty = self.e.ty(dtype);
        self.e.b.func.dfg.append_block_param(self.block, ty)
    }
}

/// The instructions of a function of two arguments, `(const int64_t *arguments, int64_t count)`, that does so with the
/// elements of a row; `None` if an instruction has no such form.
#[cfg(target_arch = "x86_64")]
pub(crate) fn code(block: &Block) -> Option<Vec<u8>> {
    let graph = translate::translate(block)?;
    function::write(&graph)
}

/// The instructions of a function `(void *sets, int64_t)` that begins a fold: it lets partial results of `size` bytes, so
/// many bytes in all, hold these bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn fill(own: Registers, bits: u64, size: u32, bytes: u32) -> Vec<u8> {
    row::fill(own, translate::in_64_bits(bits, size), bytes)
}

/// There are no such registers, and no emitter asks for it.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fill(_own: Registers, _bits: u64, _size: u32, _bytes: u32) -> Vec<u8> {
    unreachable!("there are no functions of vectors")
}

/// As [`code`], of a function that lets elements go through the steps of a loop until they leave it. The arguments are
/// the addresses of its states, which it reads and writes, and of its constants, then as [`Steps`] says. All are as long
/// as a multiple of four registers.
#[cfg(target_arch = "x86_64")]
pub(crate) fn steps_code(block: &Block, steps: Steps) -> Option<Vec<u8>> {
    let graph = translate::translate(block)?;
    function::write_steps(&graph, steps)
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn steps_code(_block: &Block, _steps: Steps) -> Option<Vec<u8>> {
    None
}

/// The instructions of a function of three arguments, `(int64_t *rows, int64_t length, int64_t *end)`, that takes rows of
/// some elements whose arguments lie from `rows` to `end`. Each fold begins with the identity, and its result stands where
/// the argument [`Partials::sets`] was. Without folds, rows have at most [`SETS`] registers of elements. `None` if there
/// is none for a reason of this block's.
#[cfg(target_arch = "x86_64")]
pub(crate) fn rows_code(block: &Block) -> Option<RowsCode> {
    function::write_rows(&rows_graph(block)?, None)
}

/// As [`rows_code`], of a function `(const int64_t *arguments, int64_t length, int64_t rows)` that finds rows by the plan,
/// folds results into outputs and returns a status.
#[cfg(target_arch = "x86_64")]
pub(crate) fn walked_code(block: &Block, plan: &RowPlan) -> Option<RowsCode> {
    function::write_rows(&rows_graph(block)?, Some(plan))
}

#[cfg(target_arch = "x86_64")]
fn rows_graph(block: &Block) -> Option<translate::Graph> {
    let graph = translate::translate(block)?;
    // Rows without folds have no more registers than there are sets.
    let folds = graph.folds.len() + graph.flags.len();
    (folds > 0 || graph.lanes * graph.parts_of_block() == block.lanes).then_some(graph)
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn rows_code(_block: &Block) -> Option<RowsCode> {
    None
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn walked_code(_block: &Block, _plan: &RowPlan) -> Option<RowsCode> {
    None
}

/// As [`rows_code`], of rows of one or two registers of elements, as many rows as there are sets or a multiple of it. Folds
/// go on with the sets at the addresses [`Partials::sets`], from the first set on; a [`Given::LateLoad`] is of a row into
/// which all rows are gathered.
#[cfg(target_arch = "x86_64")]
pub(crate) fn tile_code(block: &Block) -> Option<Vec<u8>> {
    function::write_tile(&rows_graph(block)?)
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn tile_code(_block: &Block) -> Option<Vec<u8>> {
    None
}

/// The instructions of a function of the address of columns and their number, that folds them to one; it stands where the
/// first one was. `None` if there is none.
#[cfg(target_arch = "x86_64")]
pub(crate) fn fold_columns(reduce: Reduction, dtype: Dtype) -> Option<Vec<u8>> {
    let fits = dtype == Dtype::Float64;
    if fits { columns::fold(reduce, reduce.identity(dtype)) } else { None }
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fold_columns(_reduce: Reduction, _dtype: Dtype) -> Option<Vec<u8>> {
    None
}

/// The instructions of a function `(int64_t arguments[3], int64_t length)` that lets eight rows lie side by side: the
/// address of the first, the bytes to the next, the address of the columns.
#[cfg(target_arch = "x86_64")]
pub(crate) fn columns_of_rows() -> Vec<u8> {
    columns::of_rows()
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn columns_of_rows() -> Vec<u8> {
    unreachable!("there are no functions of vectors")
}

/// The instructions of a function `(int64_t arguments[2], int64_t length)`, the other way round: the addresses of columns,
/// and of eight rows that have room for [`COLUMNS`] elements each.
#[cfg(target_arch = "x86_64")]
pub(crate) fn rows_of_columns() -> Vec<u8> {
    columns::to_rows()
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn rows_of_columns() -> Vec<u8> {
    unreachable!("there are no functions of vectors")
}

/// There are no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn code(_block: &Block) -> Option<Vec<u8>> {
    None
}
