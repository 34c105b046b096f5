//! Functions that go along a row by registers of 512 bits, or 256. Cranelift has registers of 128 bits, which C's kernels
//! leave far behind where a loop is bound by arithmetic. So the loop over the elements of a stage is a function of
//! its own on processors with AVX-512 or AVX2 ([`Registers`]).
//!
//! Ops have one definition: a stage's block is drawn as instructions of Cranelift first, on registers of any size
//! ([`Block`]). `x86.rs` takes it for wider registers, where there are any (`none.rs` elsewhere). Where an instruction has no
//! such form, there is no function, and the stage goes by Cranelift's registers.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use crate::op::Reduction;
pub(crate) use crate::registers::{BYTES, Registers, SETS};
use cranelift_codegen::ir::{Block as IrBlock, Function, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

#[cfg(not(target_arch = "x86_64"))]
use none as native;
#[cfg(target_arch = "x86_64")]
use x86 as native;

pub(crate) use native::{
    code, columns_of_rows, fill, fold_columns, may_hold, rows_code, rows_of_columns, stage_code,
    steps_code, tile_code, walked_code,
};

#[cfg(not(target_arch = "x86_64"))]
mod none;
#[cfg(target_arch = "x86_64")]
mod x86;

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
    /// Elements that indices choose, each by itself.
    Chosen(ChosenElement),
}

/// Elements that indices choose, by numbers of arguments: the address of the first element of the table, the bytes from one
/// to the next, and the address of the indices, which are in bounds and have a type of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChosenElement {
    pub(crate) at: usize,
    pub(crate) dtype: Dtype,
    pub(crate) stride: usize,
    pub(crate) indices: (usize, Dtype),
}

/// The use of a value in a block; for the writer of machine code, with a node of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect<V> {
    /// It is written behind an address, which is argument `at`; memory that nobody else reads or writes.
    Keep { at: usize, dtype: Dtype, value: V },
    /// It is written behind an address, once all operands of the block are read.
    Write { at: usize, dtype: Dtype, value: V },
    /// It becomes the partial results of fold `of`.
    Fold { of: usize, value: V },
    /// It is folded into fold `of` of bools.
    Flag { of: usize, value: V },
    /// It becomes a state, which is argument `state`, once all operands of the block are read.
    Next { state: usize, value: V },
    /// Elements for which it holds end after this step.
    Leave { value: V },
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
    /// The argument with the number of elements that follow those of the call, once partial sums were carried: a function
    /// may carry them to the second level by itself.
    pub(crate) rest: Option<usize>,
}

/// A function of the elements of a row.
pub(crate) struct StageCode {
    pub(crate) code: Vec<u8>,
    /// Whether it carries partial sums, and goes through the elements that follow (`Partials::rest`).
    pub(crate) carries: bool,
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
    /// The bytes of an element.
    pub(crate) size: u32,
}

/// The work on a block of elements, as instructions of Cranelift on registers of two elements. No processor has
/// all of these: they are there to be translated.
pub(crate) struct Block<'f> {
    /// Writes the instructions.
    pub(crate) e: Emitter<'f>,
    block: IrBlock,
    registers: Registers,
    pub(crate) given: Vec<Given>,
    pub(crate) effects: Vec<Effect<Value>>,
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
