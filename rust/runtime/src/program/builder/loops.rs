//! Loops: a native kernel over all positions of some dimensions.

use std::any::Any;

use frazil_core::DType;

use crate::arrays::scalar::Scalar;
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::loops::fold::Fold;
use crate::loops::loop_nest::KernelFn;
use crate::program::instr::{
    InstrKind, Kernel, Loop, LoopRead, LoopSource, LoopTarget, LoopWrite, Short,
};

use super::checks::{check_axes, check_count};
use super::{Builder, Built};

/// A write of a loop: its element type, for each loop dimension its axis or `None` where it is
/// reduced over, and the value that a reduction starts from.
#[derive(Clone, Debug)]
pub struct WriteSpec {
    /// The element type.
    pub dtype: DType,
    /// One entry a loop dimension; the axes are a permutation of those of the result.
    pub axes: Vec<Option<usize>>,
    /// `None`: not a reduction.
    pub identity: Option<Scalar>,
    /// The fold of two results of the reduction; a reduction without it is never cut.
    pub fold: Option<Fold>,
}

/// An operand of a loop that indices move: for each loop dimension the axis that moves along it,
/// and the axes that indices move along, in the kernel's order.
#[derive(Clone, Debug)]
pub struct IndexedSpec {
    /// The array that is read, or the array whose copy is written to.
    pub slot: Slot,
    /// One entry a loop dimension.
    pub axes: Vec<Option<usize>>,
    /// The other axes; those that are in neither have length 1.
    pub indexed: Vec<usize>,
    /// Whether the kernel only adds to the elements of a copy; else it replaces them.
    pub adds: bool,
}

impl IndexedSpec {
    /// The target that is made of it.
    fn target(self, slot: Slot) -> LoopTarget {
        let (axes, indexed) = (self.axes.into(), self.indexed.into());
        LoopTarget { slot, of: self.slot, axes, indexed, adds: self.adds }
    }
}

/// The operands of a loop's kernel.
#[derive(Clone, Debug, Default)]
pub struct LoopSpec {
    /// The dimensions, outermost first.
    pub dims: Vec<Size>,
    /// The slots that are read, each with its axis for every dimension, `None` where it stays.
    pub reads: Vec<(Slot, Vec<Option<usize>>)>,
    /// The slots that are read where indices say.
    pub sources: Vec<IndexedSpec>,
    /// The arrays that are made.
    pub writes: Vec<WriteSpec>,
    /// The arrays that are copied, and whose copies are written to where indices say.
    pub targets: Vec<IndexedSpec>,
    /// Given where the kernel goes through each row, the last of `dims`, several times: it takes
    /// whole rows, and a buffer for a row of each of these types.
    pub rows: Option<Vec<DType>>,
}

/// A kernel for a loop whose last two dimensions are swapped.
pub struct ShortKernel {
    /// Its code.
    pub function: KernelFn,
    /// The object that keeps the code loaded.
    pub keep: Box<dyn Any + Send + Sync>,
    /// The highest length of the last dimension for which it runs; the one before is longer then.
    pub limit: i64,
}

impl Builder {
    /// A native kernel over all positions of `dims`, outermost first. A read gives for each loop
    /// dimension its axis, or `None` where it stays. Returns the slots that are written.
    ///
    /// # Safety
    /// The kernel is a native loop for operands of exactly these element types, in this order,
    /// whose inner dimension moves along those operands whose last entry is an axis, callable from
    /// many threads as long as `keep` lives. It writes an element of a write that does not reduce
    /// only after it has read that element of every read: both may be one.
    pub unsafe fn loop_kernel(
        &mut self,
        function: KernelFn,
        keep: Box<dyn Any + Send + Sync>,
        dims: &[Size],
        reads: &[(Slot, Vec<Option<usize>>)],
        writes: &[WriteSpec],
    ) -> Built<Vec<Slot>> {
        let spec = LoopSpec {
            dims: dims.to_vec(),
            reads: reads.to_vec(),
            writes: writes.to_vec(),
            ..LoopSpec::default()
        };
        // SAFETY: as promised by the caller.
        unsafe { self.loop_of(function, keep, spec, None) }
    }

    /// A native kernel and all it works on. Returns the slots of the writes, then of the targets.
    ///
    /// # Safety
    /// As for [`Builder::loop_kernel`], of all operands; the kernel refuses indices that are out of
    /// bounds. The kernel of `short` is one for the same operands; those whose last entry but one
    /// is an axis move along its inner dimension.
    pub unsafe fn loop_of(
        &mut self,
        function: KernelFn,
        keep: Box<dyn Any + Send + Sync>,
        spec: LoopSpec,
        short: Option<ShortKernel>,
    ) -> Built<Vec<Slot>> {
        self.check_loop(&spec)?;
        if short.is_some() {
            spec.check_short()?;
        }
        let LoopSpec { dims, reads, sources, writes, targets, rows } = spec;
        let number = self.kernel_number(function);
        let indexed = sources.iter().chain(&targets).map(|of| of.slot);
        let read = reads.iter().map(|read| read.0).chain(indexed);
        let dynamic = self.depends(read, dims.iter().copied())?;
        let slots = self.results_of_loop(&writes, &targets, dynamic)?;
        let made = targets.into_iter().zip(&slots[writes.len()..]);
        let targets = made.map(|(of, &slot)| of.target(slot)).collect();
        let sources = sources
            .into_iter()
            .map(|of| LoopSource {
                slot: of.slot,
                axes: of.axes.into(),
                indexed: of.indexed.into(),
            })
            .collect();
        let reads = reads
            .iter()
            .map(|(slot, axes)| LoopRead { slot: *slot, axes: axes.as_slice().into() })
            .collect();
        let writes = slots
            .iter()
            .zip(&writes)
            .map(|(&slot, write)| LoopWrite {
                slot,
                dtype: write.dtype,
                axes: write.axes.as_slice().into(),
                identity: write.identity,
                fold: write.fold,
            })
            .collect();
        let kernel = Kernel { function, number, keep };
        let (dims, rows) = (dims.into(), rows.map(Into::into));
        let mut code = Loop { kernel, dims, reads, writes, sources, targets, rows, short: None };
        code.short = short.map(|short| {
            let ShortKernel { function, keep, limit } = short;
            let number = self.kernel_number(function);
            Box::new(Short { limit, code: code.swapped(Kernel { function, number, keep }) })
        });
        self.push(InstrKind::Loop(Box::new(code)), dynamic);
        Ok(slots)
    }

    /// Fresh slots for the writes and the targets of a loop.
    fn results_of_loop(
        &mut self,
        writes: &[WriteSpec],
        targets: &[IndexedSpec],
        dynamic: bool,
    ) -> Built<Vec<Slot>> {
        let mut slots = Vec::with_capacity(writes.len() + targets.len());
        for write in writes {
            let ndim = write.axes.iter().flatten().count();
            slots.push(self.result(write.dtype, ndim, dynamic)?);
        }
        for target in targets {
            let info = self.info(target.slot)?;
            let (dtype, ndim) = (info.dtype, info.ndim);
            slots.push(self.result(dtype, ndim, dynamic)?);
        }
        Ok(slots)
    }

    /// Checks that the axes of all operands are axes, and that reductions are possible.
    fn check_loop(&self, spec: &LoopSpec) -> Built<()> {
        let ndim = spec.dims.len();
        if spec.rows.is_some() && ndim == 0 {
            return Err(BuildError::NoRow);
        }
        self.check_sizes(spec.dims.iter().copied())?;
        for (slot, axes) in &spec.reads {
            check_count("axes of a read", axes.len(), ndim)?;
            let own: Vec<usize> = axes.iter().flatten().copied().collect();
            check_axes(&own, self.info(*slot)?.ndim)?;
        }
        for of in spec.sources.iter().chain(&spec.targets) {
            check_count("axes of an indexed operand", of.axes.len(), ndim)?;
            let own = of.axes.iter().flatten().chain(&of.indexed);
            check_axes(&own.copied().collect::<Vec<_>>(), self.info(of.slot)?.ndim)?;
        }
        for (position, write) in spec.writes.iter().enumerate() {
            check_count("axes of a write", write.axes.len(), ndim)?;
            let axes: Vec<usize> = write.axes.iter().flatten().copied().collect();
            check_axes(&axes, axes.len())?;
            let reduced = write.axes.iter().position(Option::is_none);
            // The result of a kernel for a row is written once, at its end.
            let of_row = spec.rows.is_some() && reduced == Some(ndim - 1);
            if let (Some(dim), None, false) = (reduced, &write.identity, of_row) {
                return Err(BuildError::NotReduced { position, dim });
            }
            write.check_reduction()?;
        }
        Ok(())
    }
}

impl LoopSpec {
    /// Checks that the last two dimensions may be swapped.
    fn check_short(&self) -> Built<()> {
        let indexed = self.sources.len() + self.targets.len();
        if self.dims.len() < 2 || self.rows.is_some() || indexed > 0 {
            return Err(BuildError::NoShortForm);
        }
        Ok(())
    }
}

impl<K> Loop<K> {
    /// The loop with its last two dimensions swapped, and another kernel; it has no indices.
    pub(crate) fn swapped(&self, kernel: K) -> Loop<K> {
        let read = |read: &LoopRead| LoopRead { slot: read.slot, axes: swapped(&read.axes) };
        let write = |write: &LoopWrite| LoopWrite {
            slot: write.slot,
            dtype: write.dtype,
            axes: swapped(&write.axes),
            identity: write.identity,
            fold: write.fold,
        };
        Loop {
            kernel,
            dims: swapped(&self.dims),
            reads: self.reads.iter().map(read).collect(),
            writes: self.writes.iter().map(write).collect(),
            sources: Box::new([]),
            targets: Box::new([]),
            rows: None,
            short: None,
        }
    }
}

fn swapped<T: Copy>(of: &[T]) -> Box<[T]> {
    let mut entries: Box<[T]> = of.into();
    if let [.., a, b] = &mut *entries {
        std::mem::swap(a, b);
    }
    entries
}

impl WriteSpec {
    /// Checks that the start of a reduction, and its fold, fit its element type.
    fn check_reduction(&self) -> Built<()> {
        let expected = self.dtype;
        match self.identity.map(|identity| identity.dtype()) {
            Some(given) if given != expected => {
                return Err(BuildError::Identity { given, expected });
            }
            _ => {}
        }
        match self.fold.filter(|fold| !fold.takes(expected)) {
            Some(fold) => Err(BuildError::Fold { fold: fold.name(), dtype: expected }),
            None => Ok(()),
        }
    }
}
