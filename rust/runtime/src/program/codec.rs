//! Programs as bytes: their tables, read back through the checked [`Builder`].
//!
//! Bytes hold neither machine code nor foreign functions: numbers stand for them, and whoever reads
//! a program gives its [`Parts`] by these numbers.

use std::any::Any;
use std::sync::Arc;

use frazil_core::DType;
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;

use crate::arrays::array::KeptArray;
use crate::arrays::layout::{Layout, byte_count};
use crate::error::{BuildError, ForeignError};
use crate::ids::{Origin, Size, Slot};
use crate::loops::loop_nest::KernelFn;
use crate::program::Program;
use crate::program::array_type::ArrayType;
use crate::program::builder::{Builder, Constant, IndexedSpec, LoopSpec, WriteSpec};
use crate::program::foreign::Foreign;
use crate::program::instr::{
    Call, Instr, InstrKind, Loop, LoopRead, LoopSource, LoopTarget, LoopWrite, View,
};
use crate::program::nested::{Inner, MAX_DEPTH, Part, RepeatSpec};
use crate::program::size::SizeExpr;
use crate::run::recurrence::{self, Recurrence, RecurrenceSpec};

/// What bytes start with; the last one is the version of the format.
const MAGIC: &[u8; 8] = b"frazilp\x02";

/// What a program refers to that its bytes do not hold.
pub trait Parts {
    /// A fresh array in C order, as the layout says, of exactly these elements.
    fn constant(
        &mut self,
        dtype: DType,
        layout: &Layout,
        elements: &[u8],
    ) -> Result<KeptArray, ForeignError>;

    /// The kernel with this position in [`Program::kernels`].
    fn kernel(&mut self, number: usize) -> Option<KernelPart>;

    /// The function of the call with this number, in the order of the calls, those of nested
    /// programs after its own; it gives so many results.
    fn function(&mut self, number: usize, results: usize) -> Option<Arc<dyn Foreign>>;
}

/// A kernel for a program that is read.
pub struct KernelPart {
    /// Its code.
    pub function: KernelFn,
    /// What keeps the code loaded.
    pub keep: Box<dyn Any + Send + Sync>,
    /// Its operands, as [`KernelRef::operands`] gave them.
    pub operands: Box<[u8]>,
}

/// A kernel of a program.
pub struct KernelRef<'p> {
    /// What keeps the code loaded.
    pub keep: &'p (dyn Any + Send + Sync),
    /// What its operands are: a program that is read gives a kernel no others.
    pub operands: Box<[u8]>,
}

/// Bytes that are no program.
#[derive(Debug, ThisError)]
pub enum CodecError {
    /// They start in another way.
    #[error("the bytes do not start as a program of this version does")]
    Magic,
    /// They do not have the form of a program.
    #[error("the bytes are not those of a program: {0}")]
    Form(#[from] postcard::Error),
    /// Something follows the program, or parts of it belong nowhere.
    #[error("the bytes hold more than a program")]
    Surplus,
    /// An instruction that cannot be.
    #[error("the bytes hold an impossible program: {0}")]
    Build(#[from] BuildError),
    /// A kernel that was not given.
    #[error("the program needs a kernel {0}")]
    NoKernel(u32),
    /// A kernel for other operands than those it would get.
    #[error("kernel {0} does not take the operands that the program has for it")]
    Operands(u32),
    /// A function that was not given.
    #[error("the program needs a function {0}")]
    NoFunction(u32),
    /// A constant whose elements do not fill its shape, or that could not be made.
    #[error("a constant could not be made: {0}")]
    Constant(ForeignError),
}

#[derive(Serialize)]
struct Tables<'p> {
    inputs: Vec<(Slot, &'p ArrayType, bool)>,
    constants: Vec<ConstantRecord>,
    sizes: &'p [SizeExpr],
    instrs: &'p [Instr],
    outputs: &'p [Slot],
    watched: bool,
    parts: Vec<PartRecord>,
}

/// As [`Tables`], with numbers for kernels and functions.
#[derive(Deserialize)]
struct Record {
    inputs: Vec<(Slot, ArrayType, bool)>,
    constants: Vec<ConstantRecord>,
    sizes: Vec<SizeExpr>,
    instrs: Vec<Instr<u32, u32>>,
    outputs: Vec<Slot>,
    watched: bool,
    parts: Vec<PartRecord>,
}

/// A nested program.
#[derive(Serialize, Deserialize)]
struct PartRecord {
    /// What the outer program calls its first origin, kernel and function.
    origins: Origin,
    kernels: u32,
    functions: u32,
    /// As [`Program::to_bytes`] gives it.
    program: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct ConstantRecord {
    slot: Slot,
    dtype: DType,
    dims: Vec<i64>,
    elements: Vec<u8>,
}

impl Program {
    /// The program as bytes, which [`Program::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tables = Tables {
            inputs: self
                .inputs
                .iter()
                .map(|input| (input.slot, &input.ty, input.donated))
                .collect(),
            constants: self.constants.iter().map(ConstantRecord::of).collect(),
            sizes: &self.sizes,
            instrs: &self.instrs,
            outputs: &self.outputs,
            watched: self.watched,
            parts: self.part_records(),
        };
        postcard::to_extend(&tables, MAGIC.to_vec()).expect("tables of numbers have a byte form")
    }

    /// The program that `bytes` were made of. Every reference in them is checked again.
    ///
    /// # Safety
    /// Each kernel of `parts` is a native loop for the operands that it says.
    pub unsafe fn from_bytes(bytes: &[u8], parts: &mut dyn Parts) -> Result<Program, CodecError> {
        // SAFETY: as promised by the caller.
        unsafe { Program::read(bytes, parts, 1) }
    }

    /// As [`Program::from_bytes`], for a program that is nested so deep.
    unsafe fn read(
        bytes: &[u8],
        parts: &mut dyn Parts,
        depth: usize,
    ) -> Result<Program, CodecError> {
        if depth > MAX_DEPTH {
            return Err(BuildError::TooDeep { limit: MAX_DEPTH }.into());
        }
        let body = bytes.strip_prefix(MAGIC).ok_or(CodecError::Magic)?;
        let (record, rest): (Record, &[u8]) = postcard::take_from_bytes(body)?;
        if !rest.is_empty() {
            return Err(CodecError::Surplus);
        }
        // SAFETY: as promised by the caller.
        unsafe { Replay { builder: Builder::new(), parts }.run(record, depth) }
    }

    fn part_records(&self) -> Vec<PartRecord> {
        let mut kernels = self.own_kernels().len();
        let calls = self.instrs.iter().filter(|instr| matches!(instr.kind, InstrKind::Call(_)));
        let mut functions = calls.count();
        let mut records = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            records.push(PartRecord {
                origins: part.origins,
                kernels: kernels as u32,
                functions: functions as u32,
                program: part.program.to_bytes(),
            });
            kernels += part.program.kernels().len();
            functions += part.program.call_count();
        }
        records
    }

    /// The kernels, by the numbers that bytes name them by: its own, then those of each program
    /// that it runs.
    pub fn kernels(&self) -> Vec<KernelRef<'_>> {
        let mut kernels = self.own_kernels();
        for part in &self.parts {
            kernels.extend(part.program.kernels());
        }
        kernels
    }

    fn own_kernels(&self) -> Vec<KernelRef<'_>> {
        let mut kernels: Vec<KernelRef<'_>> = Vec::new();
        for instr in &self.instrs {
            let dtype = |slot: Slot| Ok(self.slots[slot.index()].dtype);
            let (kernel, operands) = match &instr.kind {
                InstrKind::Loop(code) => (&code.kernel, operands(code, dtype)),
                InstrKind::Recurrence(code) => (&code.kernel, recurrence::operands(code, dtype)),
                _ => continue,
            };
            if kernel.number as usize == kernels.len() {
                let operands = operands.expect("a program has the slots it reads");
                kernels.push(KernelRef { keep: &*kernel.keep, operands });
            }
        }
        kernels
    }
}

/// What the operands of a loop's kernel are: element types, whether each moves along the inner
/// dimension, which results fold into what is there and how, and the buffers of a kernel of rows.
fn operands<K>(
    code: &Loop<K>,
    dtype: impl Fn(Slot) -> Result<DType, BuildError>,
) -> Result<Box<[u8]>, BuildError> {
    let Loop { kernel: _, dims: _, reads, writes, sources, targets, rows } = code;
    let moves = |axes: &[Option<usize>]| matches!(axes.last(), Some(Some(_))) as u8;
    let mut operands = Vec::with_capacity(2 * reads.len() + 4 * writes.len() + 1);
    for LoopRead { slot, axes } in reads {
        operands.extend([dtype(*slot)? as u8, moves(axes)]);
    }
    operands.push(u8::MAX);
    for LoopWrite { slot: _, dtype, axes, identity, fold } in writes {
        let fold = fold.map_or(u8::MAX, |fold| fold as u8);
        operands.extend([*dtype as u8, moves(axes), identity.is_some() as u8, fold]);
    }
    operands.push(u8::MAX);
    let indexed = sources.iter().map(|of| (of.slot, &of.axes, &of.indexed));
    let targets_count = targets.len() as u8;
    let targets = targets.iter().map(|of| (of.of, &of.axes, &of.indexed));
    for (slot, axes, indexed) in indexed.chain(targets) {
        operands.extend([dtype(slot)? as u8, moves(axes), indexed.len() as u8]);
    }
    operands.extend([sources.len() as u8, targets_count]);
    if let Some(buffers) = rows {
        operands.push(u8::MAX);
        operands.extend(buffers.iter().map(|&dtype| dtype as u8));
    }
    Ok(operands.into())
}

impl ConstantRecord {
    fn of(constant: &Constant) -> ConstantRecord {
        let Constant { slot, array } = constant;
        ConstantRecord {
            slot: *slot,
            dtype: array.dtype,
            dims: array.layout.dims.to_vec(),
            elements: elements(array),
        }
    }

    /// The layout that the elements fill in C order, if there is one.
    fn layout(&self) -> Option<Layout> {
        let itemsize = self.dtype.itemsize();
        let bytes = byte_count(&self.dims, itemsize).ok()?;
        let bools = self.dtype != DType::Bool || self.elements.iter().all(|&byte| byte < 2);
        let layout = Layout::fresh(&self.dims, itemsize).ok()?;
        (bytes == self.elements.len() && bools).then_some(layout)
    }
}

/// The elements in C order.
fn elements(array: &KeptArray) -> Vec<u8> {
    let Layout { dims, strides } = &array.layout;
    let itemsize = array.dtype.itemsize();
    let count = array.layout.len() as usize;
    let mut elements = Vec::with_capacity(count * itemsize);
    let mut at = vec![0i64; dims.len()];
    for _ in 0..count {
        let offset: i64 = at.iter().zip(strides).map(|(at, stride)| at * stride).sum();
        // SAFETY: `at` lies inside the lengths, so this is an element, which the array keeps alive.
        // Test: tests/codec.rs, constants_are_told_by_their_elements.
        elements.extend_from_slice(unsafe {
            std::slice::from_raw_parts(array.data.offset(offset as isize), itemsize)
        });
        for axis in (0..dims.len()).rev() {
            at[axis] += 1;
            if at[axis] < dims[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    elements
}

/// The parts of a nested program among those of the outer one.
struct ShiftedParts<'a> {
    parts: &'a mut dyn Parts,
    kernels: usize,
    functions: usize,
}

impl Parts for ShiftedParts<'_> {
    fn constant(
        &mut self,
        dtype: DType,
        layout: &Layout,
        elements: &[u8],
    ) -> Result<KeptArray, ForeignError> {
        self.parts.constant(dtype, layout, elements)
    }

    fn kernel(&mut self, number: usize) -> Option<KernelPart> {
        self.parts.kernel(self.kernels.checked_add(number)?)
    }

    fn function(&mut self, number: usize, results: usize) -> Option<Arc<dyn Foreign>> {
        self.parts.function(self.functions.checked_add(number)?, results)
    }
}

/// Builds the program of a record anew.
struct Replay<'a> {
    builder: Builder,
    parts: &'a mut dyn Parts,
}

impl Replay<'_> {
    /// # Safety
    /// As [`Program::from_bytes`].
    unsafe fn run(mut self, record: Record, depth: usize) -> Result<Program, CodecError> {
        for part in &record.parts {
            let mut shifted = ShiftedParts {
                parts: self.parts,
                kernels: part.kernels as usize,
                functions: part.functions as usize,
            };
            // SAFETY: as promised by the caller; a nested program gets the same kernels.
            let program = unsafe { Program::read(&part.program, &mut shifted, depth + 1)? };
            self.builder.add_part(Part { program: Arc::new(program), origins: part.origins });
        }
        let mut inputs = record.inputs.into_iter().peekable();
        let mut constants = record.constants.into_iter().peekable();
        let mut sizes = record.sizes.into_iter().enumerate().peekable();
        let mut instrs = record.instrs.into_iter();
        if record.watched {
            self.builder.watch();
        }
        // Slots are numbered in the order in which they are made; each size follows the slots that
        // it is about.
        loop {
            let next = self.builder.next_slot();
            while let Some((at, size)) = sizes.next_if(|(_, size)| size.follows(next)) {
                if self.size(size)?.index() != at {
                    return Err(CodecError::Surplus);
                }
            }
            if let Some((_, ty, donated)) = inputs.next_if(|(slot, ..)| *slot == next) {
                let slot = self.builder.input(ty)?;
                if donated {
                    self.builder.donate(slot)?;
                }
            } else if let Some(constant) = constants.next_if(|constant| constant.slot == next) {
                self.constant(&constant)?;
            } else if let Some(instr) = instrs.next() {
                self.builder.origin(instr.origin);
                // SAFETY: as promised by the caller.
                unsafe { self.instr(instr.kind)? };
            } else {
                break;
            }
        }
        if inputs.next().is_some() || constants.next().is_some() || sizes.next().is_some() {
            return Err(CodecError::Surplus);
        }
        Ok(self.builder.finish(&record.outputs)?)
    }

    fn constant(&mut self, constant: &ConstantRecord) -> Result<(), CodecError> {
        let unfilled = || CodecError::Constant("its elements do not fill its shape".into());
        let layout = constant.layout().ok_or_else(unfilled)?;
        let ConstantRecord { dtype, elements, .. } = constant;
        let array = self.parts.constant(*dtype, &layout, elements).map_err(CodecError::Constant)?;
        self.builder.constant(array)?;
        Ok(())
    }

    fn size(&mut self, size: SizeExpr) -> Result<Size, BuildError> {
        let builder = &mut self.builder;
        match size {
            SizeExpr::Literal(value) => builder.size_literal(value),
            SizeExpr::Dim(slot, axis) => builder.size_of(slot, axis as usize),
            SizeExpr::Binary(op, a, b) => builder.size_binary(op, a, b),
            SizeExpr::Where(condition, a, b) => builder.size_where(condition, a, b),
            SizeExpr::Value(slot) => builder.size_value(slot),
        }
    }

    /// Calls the builder's method that made this instruction.
    ///
    /// # Safety
    /// As [`Program::from_bytes`].
    unsafe fn instr(&mut self, kind: InstrKind<u32, u32>) -> Result<(), CodecError> {
        let builder = &mut self.builder;
        match kind {
            InstrKind::Loop(code) => {
                // SAFETY: as promised by the caller.
                unsafe { self.loop_kernel(&code)? };
            }
            InstrKind::Recurrence(code) => {
                // SAFETY: as promised by the caller.
                unsafe { self.recurrence(&code)? };
            }
            InstrKind::View { of, view, .. } => {
                match view {
                    View::Transpose(axes) => builder.transpose(of, &axes)?,
                    View::ExpandDims(axes) => builder.expand_dims(of, &axes)?,
                    View::DropDims(axes) => builder.drop_dims(of, &axes)?,
                    View::BroadcastTo(dims) => builder.broadcast_to(of, &dims)?,
                    View::Slice(view) => builder.slice(of, &view)?,
                    View::Diagonal { axes, offset } => builder.diagonal(of, axes, offset)?,
                };
            }
            InstrKind::Reshape { of, dims, .. } => {
                builder.reshape(of, &dims)?;
            }
            InstrKind::Copy { of, .. } => {
                builder.copy(of)?;
            }
            InstrKind::Update { of, view, value, accumulate: true, .. } => {
                builder.increment(of, &view, value)?;
            }
            InstrKind::Update { of, view, value, accumulate: false, .. } => {
                builder.set(of, &view, value)?;
            }
            InstrKind::Full { value, dims, .. } => {
                let (dtype, _) = builder.slot_type(value)?;
                builder.full(dtype, value, &dims)?;
            }
            InstrKind::Dot { a, b, .. } => {
                builder.dot(a, b)?;
            }
            InstrKind::Gemm(code) => {
                let [z, alpha, a, b, beta] = code.operands();
                builder.gemm(z, alpha, a, b, beta)?;
            }
            InstrKind::Cholesky { of, lower, on_error, .. } => {
                builder.cholesky(of, lower, on_error)?;
            }
            InstrKind::CholeskyGradient { factor, gradient, .. } => {
                builder.cholesky_gradient(factor, gradient)?;
            }
            InstrKind::Solve { a, b, form, on_error, .. } => {
                builder.solve_triangular(a, b, form, on_error)?;
            }
            InstrKind::Lu { of, .. } => {
                builder.lu(of)?;
            }
            InstrKind::LuSolve { factors, pivots, b, transposed, on_error, .. } => {
                builder.lu_solve([factors, pivots, b], transposed, on_error)?;
            }
            InstrKind::Join { parts, axis, .. } => {
                builder.join(&parts, axis)?;
            }
            InstrKind::Sort { of, axis, positions: true, .. } => {
                builder.argsort(of, axis)?;
            }
            InstrKind::Sort { of, axis, positions: false, .. } => {
                builder.sort(of, axis)?;
            }
            InstrKind::Extreme { of, axis, largest: true, .. } => {
                builder.argmax(of, axis)?;
            }
            InstrKind::Extreme { of, axis, largest: false, .. } => {
                builder.argmin(of, axis)?;
            }
            InstrKind::Count { of, listed, .. } => {
                builder.count(of, listed)?;
            }
            InstrKind::List { of, count, listed, .. } => {
                builder.list(of, count, listed)?;
            }
            InstrKind::Range { start, step, count, .. } => {
                builder.range(start, step, count)?;
            }
            InstrKind::CountTerms { start, stop, step, .. } => {
                builder.count_terms(start, stop, step)?;
            }
            InstrKind::Terms { start, step, count, .. } => {
                builder.terms(start, step, count)?;
            }
            InstrKind::Scalar { size, .. } => {
                builder.size_scalar(size)?;
            }
            InstrKind::RequireEqual { a, b, message } => builder.require_equal(a, b, &message)?,
            InstrKind::Inner(code) => match *code {
                Inner::Run { program, inputs, .. } => {
                    builder.run(program, &inputs)?;
                }
                Inner::Branch { condition, arms: [then, otherwise], lengths, .. } => {
                    let then = (then.program, &then.inputs[..]);
                    let arms = [then, (otherwise.program, &otherwise.inputs[..])];
                    builder.branch(condition, arms, &lengths)?;
                }
                Inner::Repeat(code) => {
                    builder.repeat(&RepeatSpec {
                        program: code.program,
                        steps: code.steps,
                        sequences: code.sequences.to_vec(),
                        states: code.states.iter().map(|state| (state.init, state.next)).collect(),
                        others: code.others.to_vec(),
                        stacked: code.stacked.iter().map(|(output, _)| *output).collect(),
                        until: code.until,
                    })?;
                }
            },
            InstrKind::Call(call) => {
                let Call { function, inputs, outputs } = *call;
                let types: Vec<ArrayType> = outputs.into_iter().map(|(_, ty)| ty).collect();
                let foreign = self.parts.function(function as usize, types.len());
                let foreign = foreign.ok_or(CodecError::NoFunction(function))?;
                builder.call(foreign, &inputs, &types)?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`Program::from_bytes`].
    unsafe fn loop_kernel(&mut self, code: &Loop<u32>) -> Result<(), CodecError> {
        let number = code.kernel;
        let part = self.parts.kernel(number as usize).ok_or(CodecError::NoKernel(number))?;
        let dtype = |slot: Slot| self.builder.slot_type(slot).map(|(dtype, _)| dtype);
        if operands(code, dtype)? != part.operands {
            return Err(CodecError::Operands(number));
        }
        let write = |write: &LoopWrite| WriteSpec {
            dtype: write.dtype,
            axes: write.axes.to_vec(),
            identity: write.identity,
            fold: write.fold,
        };
        let indexed = |slot: Slot, axes: &[Option<usize>], indexed: &[usize]| IndexedSpec {
            slot,
            axes: axes.to_vec(),
            indexed: indexed.to_vec(),
        };
        let source = |of: &LoopSource| indexed(of.slot, &of.axes, &of.indexed);
        let target = |of: &LoopTarget| indexed(of.of, &of.axes, &of.indexed);
        let spec = LoopSpec {
            dims: code.dims.to_vec(),
            reads: code.reads.iter().map(|read| (read.slot, read.axes.to_vec())).collect(),
            sources: code.sources.iter().map(source).collect(),
            writes: code.writes.iter().map(write).collect(),
            targets: code.targets.iter().map(target).collect(),
            rows: code.rows.as_ref().map(|buffers| buffers.to_vec()),
        };
        // SAFETY: the caller promises that the kernel takes the operands that it says; they are
        // those of this loop. Test: tests/codec.rs, altered_bytes_are_refused_or_run_safely.
        unsafe { self.builder.loop_of(part.function, part.keep, spec)? };
        Ok(())
    }

    /// # Safety
    /// As [`Program::from_bytes`].
    unsafe fn recurrence(&mut self, code: &Recurrence<u32>) -> Result<(), CodecError> {
        let number = code.kernel;
        let part = self.parts.kernel(number as usize).ok_or(CodecError::NoKernel(number))?;
        let dtype = |slot: Slot| self.builder.slot_type(slot).map(|(dtype, _)| dtype);
        if recurrence::operands(code, dtype)? != part.operands {
            return Err(CodecError::Operands(number));
        }
        let spec = RecurrenceSpec {
            steps: code.steps,
            backwards: code.backwards,
            reads: (code.reads.iter())
                .map(|read| (read.slot, read.walks, read.row.to_vec()))
                .collect(),
            writes: (code.writes.iter())
                .map(|write| (write.dtype, write.walks, write.row.to_vec()))
                .collect(),
            carries: code.carries.to_vec(),
            counts: code.counts,
        };
        // SAFETY: the caller promises that the kernel takes the operands that it says; they are
        // those of this recurrence. Test: tests/recurrence.rs, bytes_give_the_program_back.
        unsafe { self.builder.recurrence(part.function, part.keep, spec)? };
        Ok(())
    }
}
