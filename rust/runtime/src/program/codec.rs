//! Programs as bytes: their tables, read back through the checked [`Builder`].
//!
//! Bytes hold neither machine code nor foreign functions, but numbers for them. The reader of a program
//! supplies its [`Parts`] by these numbers.

mod replay;

use std::any::Any;
use std::sync::Arc;

use frazil_core::DType;
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;

use self::replay::Replay;
use crate::arrays::array::KeptArray;
use crate::arrays::layout::{Layout, byte_count};
use crate::error::{BuildError, ForeignError};
use crate::ids::{Origin, Slot};
use crate::loops::loop_nest::KernelFn;
use crate::program::Program;
use crate::program::array_type::ArrayType;
use crate::program::builder::{Builder, Constant};
use crate::program::foreign::Foreign;
use crate::program::instr::{Instr, InstrKind, Kernel, Loop, LoopRead, LoopWrite};
use crate::program::nested::MAX_DEPTH;
use crate::program::scan_kernel::{self};
use crate::program::size::SizeExpr;

/// The first bytes; the last of them is the version of the format.
const MAGIC: &[u8; 8] = b"frazilp\x04";

/// The parts of a program that its bytes do not hold.
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
    /// The object that keeps the code loaded.
    pub keep: Box<dyn Any + Send + Sync>,
    /// Its operands, as [`KernelRef::operands`] gave them.
    pub operands: Box<[u8]>,
}

/// A kernel of a program.
pub struct KernelRef<'p> {
    /// The object that keeps the code loaded.
    pub keep: &'p (dyn Any + Send + Sync),
    /// Its operands: a program that is read gives a kernel no others.
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
    /// The numbers of its first origin, kernel and function in the outer program.
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

    fn own_kernels<'p>(&'p self) -> Vec<KernelRef<'p>> {
        let mut kernels: Vec<KernelRef<'p>> = Vec::new();
        for instr in &self.instrs {
            let dtype = |slot: Slot| Ok(self.slots[slot.index()].dtype);
            let mut add = |kernel: &'p Kernel, operands: Result<Box<[u8]>, BuildError>| {
                if kernel.number as usize == kernels.len() {
                    let operands = operands.expect("a program has the slots it reads");
                    kernels.push(KernelRef { keep: &*kernel.keep, operands });
                }
            };
            match &instr.kind {
                InstrKind::Loop(code) => {
                    add(&code.kernel, operands(code, dtype));
                    if let Some(short) = &code.short {
                        add(&short.code.kernel, operands(&short.code, dtype));
                    }
                }
                InstrKind::ScanKernel(code) => {
                    add(&code.kernel, scan_kernel::operands(code, dtype));
                }
                _ => {}
            }
        }
        kernels
    }
}

/// The operands of a loop's kernel: element types, whether each moves along the inner
/// dimension, which results fold into what is there and how, and the buffers of a kernel of rows.
fn operands<K>(
    code: &Loop<K>,
    dtype: impl Fn(Slot) -> Result<DType, BuildError>,
) -> Result<Box<[u8]>, BuildError> {
    let Loop { kernel: _, dims: _, reads, writes, sources, targets, rows, short: _ } = code;
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
    let indexed = sources.iter().map(|of| (of.slot, &of.axes, &of.indexed, false));
    let targets_count = targets.len() as u8;
    let targets = targets.iter().map(|of| (of.of, &of.axes, &of.indexed, of.adds));
    for (slot, axes, indexed, adds) in indexed.chain(targets) {
        operands.extend([dtype(slot)? as u8, moves(axes), indexed.len() as u8, adds as u8]);
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
