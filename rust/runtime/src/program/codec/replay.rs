//! Programs read back: the calls of the builder that make the program of a record.

use std::sync::Arc;

use super::{CodecError, ConstantRecord, KernelPart, Parts, Record, ShiftedParts, operands};
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::program::Program;
use crate::program::array_type::ArrayType;
use crate::program::builder::{Builder, IndexedSpec, LoopSpec, ShortKernel, WriteSpec};
use crate::program::instr::{Call, InstrKind, Loop, LoopSource, LoopTarget, LoopWrite, View};
use crate::program::nested::{Inner, Part, ScanSpec};
use crate::program::scan_kernel::{self, ScanKernel, ScanKernelSpec};
use crate::program::size::SizeExpr;

/// Builds the program of a record anew.
pub(super) struct Replay<'a> {
    pub(super) builder: Builder,
    pub(super) parts: &'a mut dyn Parts,
}

impl Replay<'_> {
    /// # Safety
    /// As [`Program::from_bytes`].
    pub(super) unsafe fn run(
        mut self,
        record: Record,
        depth: usize,
    ) -> Result<Program, CodecError> {
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

    /// Calls the builder's method that made this instruction. However long the list of instructions
    /// is, it stands here as a whole: so the compiler sees when one is missing.
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
            InstrKind::ScanKernel(code) => {
                // SAFETY: as promised by the caller.
                unsafe { self.scan_kernel(&code)? };
            }
            InstrKind::View { of, view, .. } => self.view(of, view)?,
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
            InstrKind::Gemm { operands, .. } => {
                let [z, alpha, a, b, beta] = *operands;
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
            InstrKind::Lu { of, places: None, .. } => {
                builder.lu(of)?;
            }
            InstrKind::Lu { of, places: Some(_), .. } => {
                builder.lu_of_any(of)?;
            }
            InstrKind::LuSolve { factors, pivots, b, transposed, on_error, .. } => {
                builder.lu_solve([factors, pivots, b], transposed, on_error)?;
            }
            InstrKind::BandSolve { a, b, form, on_error, .. } => {
                builder.band_solve(a, b, form, on_error)?;
            }
            InstrKind::Decompose { of, what, on_error, .. } => {
                builder.decompose(of, what, on_error)?;
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
            InstrKind::Draw(code) => {
                builder.draw(code.distribution, code.state, &code.parameters, &code.dims)?;
            }
            InstrKind::Scalar { size, .. } => {
                builder.size_scalar(size)?;
            }
            InstrKind::RequireEqual { a, b, message, of_index: false } => {
                builder.require_equal(a, b, &message)?;
            }
            InstrKind::RequireEqual { a, b, message, of_index: true } => {
                builder.require_indices(a, b, &message)?;
            }
            InstrKind::Check { holds, message, asserted } => {
                builder.check(holds, &message, asserted)?;
            }
            InstrKind::Inner(code) => self.nested(*code)?,
            InstrKind::Call(call) => self.call(*call)?,
        }
        Ok(())
    }

    fn view(&mut self, of: Slot, view: View) -> Result<(), BuildError> {
        let builder = &mut self.builder;
        match view {
            View::Transpose(axes) => builder.transpose(of, &axes)?,
            View::ExpandDims(axes) => builder.expand_dims(of, &axes)?,
            View::DropDims(axes) => builder.drop_dims(of, &axes)?,
            View::BroadcastTo(dims) => builder.broadcast_to(of, &dims)?,
            View::Slice(view) => builder.slice(of, &view)?,
            View::Diagonal { axes, offset } => builder.diagonal(of, axes, offset)?,
        };
        Ok(())
    }

    fn nested(&mut self, code: Inner) -> Result<(), BuildError> {
        match code {
            Inner::Run { program, instead, inputs, .. } => {
                self.builder.run(program, instead, &inputs)?;
            }
            Inner::Branch { condition, arms: [then, otherwise], lengths, .. } => {
                let then = (then.program, &then.inputs[..]);
                let arms = [then, (otherwise.program, &otherwise.inputs[..])];
                self.builder.branch(condition, arms, &lengths)?;
            }
            Inner::Scan(code) => {
                self.builder.scan(&ScanSpec {
                    program: code.program,
                    steps: code.steps,
                    sequences: code.sequences.to_vec(),
                    states: code.states.iter().map(|state| (state.init, state.next)).collect(),
                    others: code.others.to_vec(),
                    stacked: code.stacked.iter().map(|(output, _)| *output).collect(),
                    until: code.until,
                })?;
            }
        }
        Ok(())
    }

    fn call(&mut self, call: Call<u32>) -> Result<(), CodecError> {
        let Call { function, inputs, outputs } = call;
        let types: Vec<ArrayType> = outputs.into_iter().map(|(_, ty)| ty).collect();
        let foreign = self.parts.function(function as usize, types.len());
        let foreign = foreign.ok_or(CodecError::NoFunction(function))?;
        self.builder.call(foreign, &inputs, &types)?;
        Ok(())
    }

    /// # Safety
    /// As [`Program::from_bytes`].
    unsafe fn loop_kernel(&mut self, code: &Loop<u32>) -> Result<(), CodecError> {
        let part = self.part_of(code)?;
        let short = match &code.short {
            None => None,
            Some(short) => {
                let KernelPart { function, keep, .. } =
                    self.part_of(&code.swapped(short.code.kernel))?;
                Some(ShortKernel { function, keep, limit: short.limit })
            }
        };
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
            adds: false,
        };
        let source = |of: &LoopSource| indexed(of.slot, &of.axes, &of.indexed);
        let target = |of: &LoopTarget| IndexedSpec {
            adds: of.adds,
            ..indexed(of.of, &of.axes, &of.indexed)
        };
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
        unsafe { self.builder.loop_of(part.function, part.keep, spec, short)? };
        Ok(())
    }

    /// The kernel of a loop, which takes the operands that the loop has for it.
    fn part_of(&mut self, code: &Loop<u32>) -> Result<KernelPart, CodecError> {
        let number = code.kernel;
        let part = self.parts.kernel(number as usize).ok_or(CodecError::NoKernel(number))?;
        let dtype = |slot: Slot| self.builder.slot_type(slot).map(|(dtype, _)| dtype);
        if operands(code, dtype)? != part.operands {
            return Err(CodecError::Operands(number));
        }
        Ok(part)
    }

    /// # Safety
    /// As [`Program::from_bytes`].
    unsafe fn scan_kernel(&mut self, code: &ScanKernel<u32>) -> Result<(), CodecError> {
        let number = code.kernel;
        let part = self.parts.kernel(number as usize).ok_or(CodecError::NoKernel(number))?;
        let dtype = |slot: Slot| self.builder.slot_type(slot).map(|(dtype, _)| dtype);
        if scan_kernel::operands(code, dtype)? != part.operands {
            return Err(CodecError::Operands(number));
        }
        let spec = ScanKernelSpec {
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
        // those of this scan kernel. Test: tests/scan_kernel.rs, bytes_give_the_program_back.
        unsafe { self.builder.scan_kernel(part.function, part.keep, spec)? };
        Ok(())
    }
}
