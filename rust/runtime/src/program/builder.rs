//! Assembling a program, instruction by instruction, with every reference checked.
//!
//! The instructions are methods of [`Builder`], a module a topic; those that run programs are in
//! `program/nested.rs`, and scans in one kernel in `run/scan_kernel.rs`.

mod arrays;
mod checks;
mod draws;
mod loops;
mod products;
mod searches;
mod sizes;
mod systems;
mod views;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use frazil_core::DType;

use crate::arrays::array::KeptArray;
use crate::error::BuildError;
use crate::ids::{Nested, Origin, Size, Slot};
use crate::loops::loop_nest::KernelFn;
use crate::program::array_type::ArrayType;
use crate::program::foreign::Foreign;
use crate::program::instr::{Call, Function, Instr, InstrKind};
use crate::program::nested::Part;
use crate::program::size::SizeTable;
use crate::program::{Contents, Program};

pub(crate) use self::checks::check_count;
pub use self::loops::{IndexedSpec, LoopSpec, ShortKernel, WriteSpec};
pub(crate) use self::sizes::SizeInfo;

/// The facts that a program knows of a slot before it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotInfo {
    pub(crate) dtype: DType,
    pub(crate) ndim: usize,
    /// The instruction that writes it; inputs and constants have none.
    pub(crate) made_by: Option<usize>,
    /// Whether where it lies depends on more than the shapes of the inputs.
    pub(crate) dynamic: bool,
}

/// A constant slot: an array that is only read.
pub(crate) struct Constant {
    pub(crate) slot: Slot,
    pub(crate) array: KeptArray,
}

/// An input slot.
pub(crate) struct Input {
    pub(crate) slot: Slot,
    pub(crate) ty: ArrayType,
    /// Whether a call may write to its memory.
    pub(crate) donated: bool,
}

/// Assembles a [`Program`].
#[derive(Default)]
pub struct Builder {
    slots: Vec<SlotInfo>,
    inputs: Vec<Input>,
    constants: Vec<Constant>,
    sizes: SizeTable,
    size_infos: Vec<SizeInfo>,
    instrs: Vec<Instr>,
    kernels: Vec<usize>,
    calls: u32,
    parts: Vec<Part>,
    origin: Option<Origin>,
    watched: bool,
}

pub(crate) type Built<T> = Result<T, BuildError>;

impl Builder {
    /// An empty program.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The next input.
    pub fn input(&mut self, ty: ArrayType) -> Built<Slot> {
        let slot = self.slot(ty.dtype, ty.shape.len(), None, false)?;
        self.inputs.push(Input { slot, ty, donated: false });
        Ok(slot)
    }

    /// Lets calls use up the memory of an input: see [`Program::bind`].
    pub fn donate(&mut self, slot: Slot) -> Built<()> {
        self.info(slot)?;
        let input = self.inputs.iter_mut().find(|input| input.slot == slot);
        input.ok_or(BuildError::NotAnInput(slot))?.donated = true;
        Ok(())
    }

    /// A constant; its memory is read during calls and never written.
    pub fn constant(&mut self, array: KeptArray) -> Built<Slot> {
        let alignment = array.dtype.alignment();
        let aligned = array.data.addr().is_multiple_of(alignment)
            && array.layout.strides.iter().all(|stride| stride % alignment as i64 == 0);
        if !aligned || array.layout.dims.len() != array.layout.strides.len() {
            return Err(BuildError::Constant);
        }
        let slot = self.slot(array.dtype, array.layout.ndim(), None, false)?;
        self.constants.push(Constant { slot, array });
        Ok(slot)
    }

    pub(crate) fn slot(
        &mut self,
        dtype: DType,
        ndim: usize,
        made_by: Option<usize>,
        dynamic: bool,
    ) -> Built<Slot> {
        if self.slots.len() >= (1 << 30) {
            return Err(BuildError::TooLarge);
        }
        let slot = Slot::from_index(self.slots.len());
        self.slots.push(SlotInfo { dtype, ndim, made_by, dynamic });
        Ok(slot)
    }

    /// The element type and rank of a slot.
    pub fn slot_type(&self, slot: Slot) -> Built<(DType, usize)> {
        let info = self.info(slot)?;
        Ok((info.dtype, info.ndim))
    }

    /// The slot that is made next.
    pub(crate) fn next_slot(&self) -> Slot {
        Slot::from_index(self.slots.len())
    }

    fn info(&self, slot: Slot) -> Built<SlotInfo> {
        self.slots.get(slot.index()).copied().ok_or(BuildError::NoSlot(slot))
    }

    /// Makes a program whose runs look for faults: reads of memory that was given back or written
    /// over, instructions that write to operands or beyond buffers, and the first NaN.
    pub fn watch(&mut self) {
        self.watched = true;
    }

    /// The origin of the instructions from here on.
    pub fn origin(&mut self, origin: Option<Origin>) {
        self.origin = origin;
    }

    /// A foreign function; its results are checked against `outputs`.
    pub fn call(
        &mut self,
        function: Arc<dyn Foreign>,
        inputs: &[Slot],
        outputs: &[ArrayType],
    ) -> Built<Vec<Slot>> {
        for &slot in inputs {
            self.info(slot)?;
        }
        let mut slots = Vec::new();
        for ty in outputs {
            slots.push(self.result(ty.dtype, ty.shape.len(), true)?);
        }
        let outputs = slots.iter().copied().zip(outputs.iter().cloned()).collect();
        let function = Function { foreign: function, number: self.calls };
        self.calls += 1;
        let call = Call { function, inputs: inputs.into(), outputs };
        self.push(InstrKind::Call(Box::new(call)), true);
        Ok(slots)
    }

    /// The program that computes these slots.
    pub fn finish(self, outputs: &[Slot]) -> Built<Program> {
        for &slot in outputs {
            self.info(slot)?;
        }
        self.check_dtypes()?;
        let watched = self.watched;
        let contents = Contents {
            slots: self.slots,
            inputs: self.inputs,
            constants: self.constants,
            sizes: self.sizes.into_exprs(),
            size_infos: self.size_infos,
            instrs: self.instrs,
            parts: self.parts,
            watched: self.watched,
        };
        let program = Program::new(contents, outputs);
        Ok(if watched { program.watched() } else { program })
    }

    /// Only foreign functions compute with complex numbers. Numbers of 16 bits are moved,
    /// and kernels convert them.
    fn check_dtypes(&self) -> Built<()> {
        let foreign = |kind: &InstrKind| matches!(kind, InstrKind::Call(_));
        for instr in self.instrs.iter().filter(|instr| !foreign(&instr.kind)) {
            for slot in instr.kind.reads().into_iter().chain(instr.kind.writes()) {
                let given = self.info(slot)?.dtype;
                let needed = match given {
                    DType::Float16 if !instr.kind.moves() => {
                        "float16 is converted before anything is computed with it"
                    }
                    _ if given.is_complex() => "complex numbers are for foreign functions only",
                    _ => continue,
                };
                return Err(BuildError::UnsupportedDType { slot, given, needed });
            }
        }
        Ok(())
    }

    /// Adds an instruction with one result.
    fn made(
        &mut self,
        dtype: DType,
        ndim: usize,
        kind: impl FnOnce(Slot) -> InstrKind,
    ) -> Built<Slot> {
        let to = self.result(dtype, ndim, false)?;
        let kind = kind(to);
        let dynamic = self.depends(kind.reads(), kind.layout_sizes())?;
        self.slots[to.index()].dynamic = dynamic;
        self.push(kind, dynamic);
        Ok(to)
    }

    /// Whether anything of these depends on more than the shapes of the inputs.
    pub(crate) fn depends(
        &self,
        slots: impl IntoIterator<Item = Slot>,
        sizes: impl IntoIterator<Item = Size>,
    ) -> Built<bool> {
        let mut dynamic = false;
        for slot in slots {
            dynamic |= self.info(slot)?.dynamic;
        }
        Ok(dynamic || sizes.into_iter().any(|size| self.size_infos[size.index()].dynamic))
    }

    /// The number of a nested program: one that is nested already keeps its own.
    pub(crate) fn add_part(&mut self, part: Part) -> Nested {
        let same = |known: &Part| {
            Arc::ptr_eq(&known.program, &part.program) && known.origins == part.origins
        };
        let at = self.parts.iter().position(same).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        });
        Nested::from_index(at)
    }

    /// A nested program, for an instruction that runs it.
    pub(crate) fn part(&self, program: Nested) -> Built<Arc<Program>> {
        let part = self.parts.get(program.index()).ok_or(BuildError::NoProgram(program))?;
        part.program.users.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::clone(&part.program))
    }

    /// The number of a kernel: kernels are numbered in the order of their first use.
    pub(crate) fn kernel_number(&mut self, function: KernelFn) -> u32 {
        let address = function as usize;
        let number = self.kernels.iter().position(|&known| known == address);
        number.unwrap_or_else(|| {
            self.kernels.push(address);
            self.kernels.len() - 1
        }) as u32
    }

    /// A slot that the next instruction makes.
    pub(crate) fn result(&mut self, dtype: DType, ndim: usize, dynamic: bool) -> Built<Slot> {
        self.slot(dtype, ndim, Some(self.instrs.len()), dynamic)
    }

    pub(crate) fn push(&mut self, kind: InstrKind, dynamic: bool) {
        self.instrs.push(Instr { kind, origin: self.origin, dynamic });
    }
}
