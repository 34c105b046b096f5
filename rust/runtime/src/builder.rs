//! Assembling a program, instruction by instruction, with every reference checked.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use frazil_core::DType;

use crate::array::KeptArray;
use crate::error::BuildError;
use crate::fold::Fold;
use crate::foreign::Foreign;
use crate::ids::{Nested, Origin, Size, Slot};
use crate::instr::{
    ArrayType, Call, Function, Gemm, Instr, InstrKind, Kernel, Loop, LoopRead, LoopSource,
    LoopTarget, LoopWrite, View,
};
use crate::lapack::TriangularForm;
use crate::loop_nest::KernelFn;
use crate::nested::Part;
use crate::program::{Contents, Program};
use crate::scalar::Scalar;
use crate::size::{SizeExpr, SizeOp, SizeTable};
use crate::strided::read_integer;
use crate::view::Index;

/// What a program knows of a slot before it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotInfo {
    pub(crate) dtype: DType,
    pub(crate) ndim: usize,
    /// The instruction that writes it; inputs and constants have none.
    pub(crate) made_by: Option<usize>,
    /// Whether where it lies depends on more than the shapes of the inputs.
    pub(crate) dynamic: bool,
}

/// When a size can be evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeInfo {
    /// The number of instructions that must have come before.
    pub(crate) ready: usize,
    /// Whether it depends on more than the shapes of the inputs.
    pub(crate) dynamic: bool,
}

/// A write of a loop: its element type, for each loop dimension its axis or `None` where it is
/// reduced over, and what a reduction starts from.
#[derive(Clone, Debug)]
pub struct WriteSpec {
    /// The element type.
    pub dtype: DType,
    /// One entry a loop dimension; the axes are a permutation of those of the result.
    pub axes: Vec<Option<usize>>,
    /// `None`: not a reduction.
    pub identity: Option<Scalar>,
    /// How two results of the reduction become one; a reduction without it is never cut.
    pub fold: Option<Fold>,
}

/// An operand of a loop that indices move: for each loop dimension the axis that moves along it,
/// and the axes that indices move along, in the kernel's order.
#[derive(Clone, Debug)]
pub struct IndexedSpec {
    /// What is read, or what a copy of is written to.
    pub slot: Slot,
    /// One entry a loop dimension.
    pub axes: Vec<Option<usize>>,
    /// The other axes; those that are in neither have length 1.
    pub indexed: Vec<usize>,
}

/// What a loop's kernel works on.
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
    /// Those of which a copy is written to where indices say.
    pub targets: Vec<IndexedSpec>,
    /// Given where the kernel goes through each row, the last of `dims`, several times: it takes
    /// whole rows, and a buffer for a row of each of these types.
    pub rows: Option<Vec<DType>>,
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

    // ------------------------------------------------------------ what exists before the run

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
        let item = array.dtype.itemsize();
        let aligned = array.data.addr().is_multiple_of(item)
            && array.layout.strides.iter().all(|stride| stride % item as i64 == 0);
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

    // ------------------------------------------------------------ sizes

    /// A number.
    pub fn size_literal(&mut self, value: i64) -> Built<Size> {
        self.size(SizeExpr::Literal(value))
    }

    /// The length of an axis of a slot.
    pub fn size_of(&mut self, slot: Slot, axis: usize) -> Built<Size> {
        let ndim = self.info(slot)?.ndim;
        if axis >= ndim {
            return Err(BuildError::NoAxis { axis, ndim });
        }
        if let Some(constant) = self.constants.iter().find(|constant| constant.slot == slot) {
            let length = constant.array.layout.dims[axis];
            return self.size(SizeExpr::Literal(length));
        }
        let input = self.inputs.iter().find(|input| input.slot == slot);
        if let Some(length) = input.and_then(|input| input.ty.shape[axis]) {
            return self.size(SizeExpr::Literal(length as i64));
        }
        self.size(SizeExpr::Dim(slot, axis as u32))
    }

    /// Two sizes combined.
    pub fn size_binary(&mut self, op: SizeOp, a: Size, b: Size) -> Built<Size> {
        self.check_sizes([a, b])?;
        self.size(SizeExpr::Binary(op, a, b))
    }

    /// `a` where `condition` is not zero, else `b`.
    pub fn size_where(&mut self, condition: Size, a: Size, b: Size) -> Built<Size> {
        self.check_sizes([condition, a, b])?;
        self.size(SizeExpr::Where(condition, a, b))
    }

    /// The value of a 0-d integer or boolean slot.
    pub fn size_value(&mut self, slot: Slot) -> Built<Size> {
        let info = self.info(slot)?;
        if info.ndim != 0 {
            return Err(BuildError::Rank { slot, given: info.ndim, needed: "a size is 0-d" });
        }
        if info.dtype.is_float() {
            return Err(BuildError::UnsupportedDType {
                slot,
                given: info.dtype,
                needed: "a size is an integer",
            });
        }
        if let Some(constant) = self.constants.iter().find(|constant| constant.slot == slot) {
            // SAFETY: a constant points at an aligned element of its type, kept alive by its
            // keeper.
            let value = unsafe { read_integer(info.dtype, constant.array.data) };
            return self.size(SizeExpr::Literal(value));
        }
        self.size(SizeExpr::Value(slot))
    }

    fn size(&mut self, expr: SizeExpr) -> Built<Size> {
        let size = self.sizes.add(expr);
        if size.index() == self.size_infos.len() {
            if size.index() >= (1 << 30) {
                return Err(BuildError::TooLarge);
            }
            let info = self.size_info(expr);
            self.size_infos.push(info);
        }
        Ok(size)
    }

    fn size_info(&self, expr: SizeExpr) -> SizeInfo {
        let of_slot = |slot: Slot| {
            let info = self.slots[slot.index()];
            SizeInfo { ready: info.made_by.map_or(0, |at| at + 1), dynamic: info.dynamic }
        };
        let of_sizes = |sizes: &[Size]| {
            let infos = sizes.iter().map(|size| self.size_infos[size.index()]);
            infos.fold(SizeInfo { ready: 0, dynamic: false }, |all, info| SizeInfo {
                ready: all.ready.max(info.ready),
                dynamic: all.dynamic || info.dynamic,
            })
        };
        match expr {
            SizeExpr::Literal(_) => of_sizes(&[]),
            SizeExpr::Dim(slot, _) => of_slot(slot),
            SizeExpr::Value(slot) => SizeInfo { dynamic: true, ..of_slot(slot) },
            SizeExpr::Binary(_, a, b) => of_sizes(&[a, b]),
            SizeExpr::Where(condition, a, b) => of_sizes(&[condition, a, b]),
        }
    }

    pub(crate) fn check_sizes(&self, sizes: impl IntoIterator<Item = Size>) -> Built<()> {
        for size in sizes {
            if !self.sizes.contains(size) {
                return Err(BuildError::NoSize(size));
            }
        }
        Ok(())
    }

    // ------------------------------------------------------------ instructions

    /// Makes a program whose runs look for faults: reads of memory that was given back or written
    /// over, instructions that write to operands or beyond buffers, and the first NaN.
    pub fn watch(&mut self) {
        self.watched = true;
    }

    /// What the instructions from here on are blamed on.
    pub fn origin(&mut self, origin: Option<Origin>) {
        self.origin = origin;
    }

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
        unsafe { self.loop_of(function, keep, spec) }
    }

    /// A native kernel and all it works on. Returns the slots of the writes, then of the targets.
    ///
    /// # Safety
    /// As for [`Builder::loop_kernel`], of all operands; the kernel refuses indices that are out of
    /// bounds.
    pub unsafe fn loop_of(
        &mut self,
        function: KernelFn,
        keep: Box<dyn Any + Send + Sync>,
        spec: LoopSpec,
    ) -> Built<Vec<Slot>> {
        let LoopSpec { dims, reads, sources, writes, targets, rows } = spec;
        if rows.is_some() && dims.is_empty() {
            return Err(BuildError::NoRow);
        }
        self.check_sizes(dims.iter().copied())?;
        for (slot, axes) in &reads {
            let ndim = self.info(*slot)?.ndim;
            check_count("axes of a read", axes.len(), dims.len())?;
            distinct(&axes.iter().flatten().copied().collect::<Vec<_>>(), ndim)?;
        }
        for of in sources.iter().chain(&targets) {
            let ndim = self.info(of.slot)?.ndim;
            check_count("axes of an indexed operand", of.axes.len(), dims.len())?;
            let own = of.axes.iter().flatten().chain(&of.indexed);
            distinct(&own.copied().collect::<Vec<_>>(), ndim)?;
        }
        for (position, write) in writes.iter().enumerate() {
            check_count("axes of a write", write.axes.len(), dims.len())?;
            let axes: Vec<usize> = write.axes.iter().flatten().copied().collect();
            distinct(&axes, axes.len())?;
            let reduced = write.axes.iter().position(Option::is_none);
            // What a kernel makes of a row is written once, at its end.
            let of_row = rows.is_some() && reduced == Some(dims.len() - 1);
            if let (Some(dim), None, false) = (reduced, &write.identity, of_row) {
                return Err(BuildError::NotReduced { position, dim });
            }
            if let Some(identity) = &write.identity
                && identity.dtype() != write.dtype
            {
                return Err(BuildError::Identity {
                    given: identity.dtype(),
                    expected: write.dtype,
                });
            }
            if let Some(fold) = write.fold.filter(|fold| !fold.takes(write.dtype)) {
                return Err(BuildError::Fold { fold: fold.name(), dtype: write.dtype });
            }
        }
        let number = self.kernel_number(function);
        let indexed = sources.iter().chain(&targets).map(|of| of.slot);
        let read = reads.iter().map(|read| read.0).chain(indexed);
        let dynamic = self.depends(read, dims.iter().copied())?;
        let mut slots = Vec::new();
        for write in &writes {
            let ndim = write.axes.iter().flatten().count();
            slots.push(self.slot(write.dtype, ndim, Some(self.instrs.len()), dynamic)?);
        }
        for target in &targets {
            let info = self.info(target.slot)?;
            slots.push(self.slot(info.dtype, info.ndim, Some(self.instrs.len()), dynamic)?);
        }
        let made = targets.iter().zip(&slots[writes.len()..]);
        let targets = made
            .map(|(of, &slot)| LoopTarget {
                slot,
                of: of.slot,
                axes: of.axes.as_slice().into(),
                indexed: of.indexed.as_slice().into(),
            })
            .collect();
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
        let code = Loop { kernel, dims, reads, writes, sources, targets, rows };
        self.push(InstrKind::Loop(Box::new(code)), dynamic);
        Ok(slots)
    }

    /// The axes in another order: a view.
    pub fn transpose(&mut self, of: Slot, axes: &[usize]) -> Built<Slot> {
        let ndim = self.info(of)?.ndim;
        check_count("axes of a transpose", axes.len(), ndim)?;
        distinct(axes, ndim)?;
        self.view(of, View::Transpose(axes.into()), ndim)
    }

    /// Axes of length 1 at these positions of the result: a view.
    pub fn expand_dims(&mut self, of: Slot, axes: &[usize]) -> Built<Slot> {
        let ndim = self.info(of)?.ndim + axes.len();
        distinct(axes, ndim)?;
        self.view(of, View::ExpandDims(axes.into()), ndim)
    }

    /// Without these axes, each of length 1: a view.
    pub fn drop_dims(&mut self, of: Slot, axes: &[usize]) -> Built<Slot> {
        let ndim = self.info(of)?.ndim;
        distinct(axes, ndim)?;
        self.view(of, View::DropDims(axes.into()), ndim - axes.len())
    }

    /// New axes in front, and axes of length 1 repeated: a view.
    pub fn broadcast_to(&mut self, of: Slot, dims: &[Size]) -> Built<Slot> {
        let given = self.info(of)?.ndim;
        if given > dims.len() {
            return Err(BuildError::Rank {
                slot: of,
                given,
                needed: "broadcasting cannot take axes away",
            });
        }
        self.check_sizes(dims.iter().copied())?;
        self.view(of, View::BroadcastTo(dims.into()), dims.len())
    }

    /// The elements that basic indexing picks: a view. Axes without an index are kept whole.
    pub fn slice(&mut self, of: Slot, view: &[Index<Size>]) -> Built<Slot> {
        let ndim = self.check_indices(of, view)?;
        self.view(of, View::Slice(view.into()), ndim)
    }

    /// The rank of what indices leave of a slot.
    fn check_indices(&self, of: Slot, view: &[Index<Size>]) -> Built<usize> {
        let given = self.info(of)?.ndim;
        if view.len() > given {
            return Err(BuildError::Rank { slot: of, given, needed: "too many indices" });
        }
        for index in view {
            index.try_map(|size| self.check_sizes([size]))?;
        }
        let dropped = view.iter().filter(|index| matches!(index, Index::At(_))).count();
        Ok(given - dropped)
    }

    /// The elements whose position along the second of two axes is larger by `offset`, as a last
    /// axis: a view.
    pub fn diagonal(&mut self, of: Slot, axes: [usize; 2], offset: i64) -> Built<Slot> {
        let ndim = self.info(of)?.ndim;
        distinct(&axes, ndim)?;
        self.view(of, View::Diagonal { axes, offset }, ndim - 1)
    }

    /// The same elements under other dims: a view where strides allow, else a copy. One of the dims
    /// may be the literal -1 and takes what the others leave; a size that only turns out to be -1
    /// is an error.
    pub fn reshape(&mut self, of: Slot, dims: &[Size]) -> Built<Slot> {
        self.check_sizes(dims.iter().copied())?;
        let dtype = self.info(of)?.dtype;
        let mut rests = (0..dims.len()).filter(|&axis| self.sizes.literal(dims[axis]) == Some(-1));
        let rest = rests.next();
        if rests.next().is_some() {
            return Err(BuildError::SeveralRests);
        }
        let dims: Box<[Size]> = dims.into();
        let ndim = dims.len();
        self.made(dtype, ndim, |to| InstrKind::Reshape { of, to, dims, rest })
    }

    /// A fresh array in C order.
    pub fn copy(&mut self, of: Slot) -> Built<Slot> {
        let info = self.info(of)?;
        self.made(info.dtype, info.ndim, |to| InstrKind::Copy { of, to })
    }

    /// `of` with the elements that `view` picks set to `value`, broadcast: in place if nothing reads
    /// the memory of `of` afterwards and the run may write to it, else in a fresh copy.
    pub fn set(&mut self, of: Slot, view: &[Index<Size>], value: Slot) -> Built<Slot> {
        self.update(of, view, value, false)
    }

    /// As [`Builder::set`], with the elements that `view` picks increased by `value`.
    pub fn increment(&mut self, of: Slot, view: &[Index<Size>], value: Slot) -> Built<Slot> {
        self.update(of, view, value, true)
    }

    fn update(
        &mut self,
        of: Slot,
        view: &[Index<Size>],
        value: Slot,
        accumulate: bool,
    ) -> Built<Slot> {
        let ndim = self.check_indices(of, view)?;
        let info = self.info(of)?;
        let given = self.info(value)?;
        self.check_dtype(value, info.dtype)?;
        if given.ndim > ndim {
            return Err(BuildError::Rank {
                slot: value,
                given: given.ndim,
                needed: "the value has more axes than what it is stored into",
            });
        }
        let view: Box<[Index<Size>]> = view.into();
        self.made(info.dtype, info.ndim, |to| InstrKind::Update { of, to, view, value, accumulate })
    }

    /// The product of two operands of one element type: both of rank 1 or 2, or both of a higher
    /// rank, as which they are as many pairs of matrices.
    pub fn dot(&mut self, a: Slot, b: Slot) -> Built<Slot> {
        let (dtype, ndim) = match self.info(a)? {
            info if info.ndim > 2 => (info.dtype, info.ndim),
            _ => self.product(a, b)?,
        };
        let given = self.info(b)?.ndim;
        if ndim > 2 && given != ndim {
            let needed = "both operands of a product of many matrices have one rank";
            return Err(BuildError::Rank { slot: b, given, needed });
        }
        self.check_dtype(b, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::Dot { a, b, to })
    }

    /// The element type and rank of a product.
    fn product(&self, a: Slot, b: Slot) -> Built<(DType, usize)> {
        let dtype = self.info(a)?.dtype;
        let mut ndim = 0;
        for slot in [a, b] {
            let info = self.info(slot)?;
            if !(1..=2).contains(&info.ndim) {
                let needed = "dot takes vectors and matrices";
                return Err(BuildError::Rank { slot, given: info.ndim, needed });
            }
            ndim += info.ndim - 1;
        }
        self.check_dtype(b, dtype)?;
        Ok((dtype, ndim))
    }

    /// `beta z + alpha a b`, where `a` or `b` is a matrix; `alpha` and `beta` are 0-d. All are
    /// `float32` or `float64`. Where `beta` is zero, `z` is not read.
    pub fn gemm(&mut self, z: Slot, alpha: Slot, a: Slot, b: Slot, beta: Slot) -> Built<Slot> {
        let (dtype, ndim) = self.product(a, b)?;
        self.check_float(a)?;
        for (slot, expected, needed) in [
            (z, ndim, "what a product is added to has its rank"),
            (alpha, 0, "a factor of gemm is 0-d"),
            (beta, 0, "a factor of gemm is 0-d"),
        ] {
            let given = self.info(slot)?.ndim;
            if given != expected {
                return Err(BuildError::Rank { slot, given, needed });
            }
            self.check_dtype(slot, dtype)?;
        }
        if ndim == 0 {
            let needed = "gemm takes a matrix and a vector, or two matrices";
            return Err(BuildError::Rank { slot: a, given: 1, needed });
        }
        self.made(dtype, ndim, |to| InstrKind::Gemm(Box::new(Gemm { z, alpha, a, b, beta, to })))
    }

    /// The lower (or upper) factor of a positive definite matrix, of which that triangle is read.
    pub fn cholesky(&mut self, of: Slot, lower: bool) -> Built<Slot> {
        let dtype = self.check_matrix(of)?;
        self.check_float(of)?;
        self.made(dtype, 2, |to| InstrKind::Cholesky { of, to, lower })
    }

    /// The gradient of a matrix whose lower triangle was factored, given the factor and its
    /// gradient, both read below the diagonal only.
    pub fn cholesky_gradient(&mut self, factor: Slot, gradient: Slot) -> Built<Slot> {
        let dtype = self.check_matrix(factor)?;
        self.check_float(factor)?;
        self.check_matrix(gradient)?;
        self.check_dtype(gradient, dtype)?;
        self.made(dtype, 2, |to| InstrKind::CholeskyGradient { factor, gradient, to })
    }

    /// The solution of a system of equations; `b` is a vector, or a matrix of them in columns.
    pub fn solve_triangular(&mut self, a: Slot, b: Slot, form: TriangularForm) -> Built<Slot> {
        let dtype = self.check_matrix(a)?;
        self.check_float(a)?;
        let ndim = self.info(b)?.ndim;
        if !(1..=2).contains(&ndim) {
            let needed = "the right side of a system is a vector or a matrix";
            return Err(BuildError::Rank { slot: b, given: ndim, needed });
        }
        self.check_dtype(b, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::Solve { a, b, to, form })
    }

    /// The factors of a square matrix, in one matrix, and for each row the one that it changed
    /// places with, in an `int32` vector.
    pub fn lu(&mut self, of: Slot) -> Built<[Slot; 2]> {
        let dtype = self.check_matrix(of)?;
        self.check_float(of)?;
        let dynamic = self.depends([of], [])?;
        let to = self.result(dtype, 2, dynamic)?;
        let pivots = self.result(DType::Int32, 1, dynamic)?;
        self.push(InstrKind::Lu { of, to, pivots }, dynamic);
        Ok([to, pivots])
    }

    /// The solution of a system of equations (with the matrix transposed, if so), given what
    /// [`Builder::lu`] makes of its matrix; `b` is a vector, or a matrix of them in columns.
    pub fn lu_solve(
        &mut self,
        factors: Slot,
        pivots: Slot,
        b: Slot,
        transposed: bool,
    ) -> Built<Slot> {
        let dtype = self.check_matrix(factors)?;
        self.check_float(factors)?;
        self.check_dtype(pivots, DType::Int32)?;
        let (given, ndim) = (self.info(pivots)?.ndim, self.info(b)?.ndim);
        if given != 1 {
            let needed = "the partners of rows are a vector";
            return Err(BuildError::Rank { slot: pivots, given, needed });
        }
        if !(1..=2).contains(&ndim) {
            let needed = "the right side of a system is a vector or a matrix";
            return Err(BuildError::Rank { slot: b, given: ndim, needed });
        }
        self.check_dtype(b, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::LuSolve { factors, pivots, b, to, transposed })
    }

    /// `count` integers, the first `start`, each larger by `step`; they wrap around.
    pub fn range(&mut self, start: Size, step: Size, count: Size) -> Built<Slot> {
        self.check_sizes([start, step, count])?;
        self.made(DType::Int64, 1, |to| InstrKind::Range { start, step, count, to })
    }

    /// The parts one after the other along an axis.
    pub fn join(&mut self, parts: &[Slot], axis: usize) -> Built<Slot> {
        let Some(&first) = parts.first() else {
            return Err(BuildError::Count { what: "parts of a join", given: 0, expected: 1 });
        };
        let SlotInfo { dtype, ndim, .. } = self.info(first)?;
        if axis >= ndim {
            return Err(BuildError::NoAxis { axis, ndim });
        }
        for &slot in parts {
            let given = self.info(slot)?.ndim;
            if given != ndim {
                let needed = "all parts of a join have one rank";
                return Err(BuildError::Rank { slot, given, needed });
            }
            self.check_dtype(slot, dtype)?;
        }
        let parts: Box<[Slot]> = parts.into();
        self.made(dtype, ndim, |to| InstrKind::Join { parts, to, axis })
    }

    /// A 0-d `int64`.
    pub fn size_scalar(&mut self, size: Size) -> Built<Slot> {
        self.check_sizes([size])?;
        self.made(DType::Int64, 0, |to| InstrKind::Scalar { size, to })
    }

    /// A fresh array of `dims` whose elements are that of the 0-d slot `value`.
    pub fn full(&mut self, dtype: DType, value: Slot, dims: &[Size]) -> Built<Slot> {
        let info = self.info(value)?;
        if info.ndim != 0 {
            return Err(BuildError::Rank {
                slot: value,
                given: info.ndim,
                needed: "full takes a 0-d value",
            });
        }
        self.check_dtype(value, dtype)?;
        self.check_sizes(dims.iter().copied())?;
        let dims: Box<[Size]> = dims.into();
        let ndim = dims.len();
        self.made(dtype, ndim, |to| InstrKind::Full { value, to, dims })
    }

    /// Stops the call unless the sizes are equal.
    pub fn require_equal(&mut self, a: Size, b: Size, message: &str) -> Built<()> {
        self.check_sizes([a, b])?;
        let dynamic = self.depends([], [a, b])?;
        self.push(InstrKind::RequireEqual { a, b, message: message.into() }, dynamic);
        Ok(())
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
            slots.push(self.slot(ty.dtype, ty.shape.len(), Some(self.instrs.len()), true)?);
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

    fn view(&mut self, of: Slot, view: View, ndim: usize) -> Built<Slot> {
        let dtype = self.info(of)?.dtype;
        self.made(dtype, ndim, |to| InstrKind::View { of, to, view })
    }

    /// Adds an instruction with one result.
    fn made(
        &mut self,
        dtype: DType,
        ndim: usize,
        kind: impl FnOnce(Slot) -> InstrKind,
    ) -> Built<Slot> {
        let to = self.slot(dtype, ndim, Some(self.instrs.len()), false)?;
        let kind = kind(to);
        let dynamic = self.depends(kind.reads(), kind.sizes())?;
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

    fn check_matrix(&self, slot: Slot) -> Built<DType> {
        let info = self.info(slot)?;
        if info.ndim == 2 {
            return Ok(info.dtype);
        }
        Err(BuildError::Rank { slot, given: info.ndim, needed: "a matrix is needed" })
    }

    fn check_float(&self, slot: Slot) -> Built<()> {
        let given = self.info(slot)?.dtype;
        if given.is_float() {
            return Ok(());
        }
        let needed = "float32 or float64 is needed";
        Err(BuildError::UnsupportedDType { slot, given, needed })
    }

    pub(crate) fn check_dtype(&self, slot: Slot, expected: DType) -> Built<()> {
        let given = self.info(slot)?.dtype;
        if given == expected { Ok(()) } else { Err(BuildError::DType { slot, given, expected }) }
    }
}

pub(crate) fn check_count(what: &'static str, given: usize, expected: usize) -> Built<()> {
    if given == expected { Ok(()) } else { Err(BuildError::Count { what, given, expected }) }
}

/// Checks that axes are below `ndim` and differ.
fn distinct(axes: &[usize], ndim: usize) -> Built<()> {
    for (at, &axis) in axes.iter().enumerate() {
        if axis >= ndim {
            return Err(BuildError::NoAxis { axis, ndim });
        }
        if axes[..at].contains(&axis) {
            return Err(BuildError::RepeatedAxis { axis });
        }
    }
    Ok(())
}
