//! From an instruction and the shapes of its operands to a step that can run.

use frazil_core::DType;
use smallvec::SmallVec;

use crate::arena::Arena;
use crate::batch::{BatchPlan, batch_dims};
use crate::blas::{DotPlan, GemmPlan, dot_dims};
use crate::buffer::ALIGNMENT;
use crate::error::{Error, Fault, Operand};
use crate::guard::Guarded;
use crate::ids::{Origin, Size, Slot};
use crate::instr::{Gemm, InstrKind, Loop, LoopRead, View};
use crate::lapack::{
    CholeskyGradientPlan, CholeskyPlan, LapackPlan, SolvePlan, TriangularForm, check_solve,
    check_square, fresh_like,
};
use crate::layout::{Axes, Layout, byte_count};
use crate::loop_nest::{Access, LoopNest, Role, Table, loop_order, row_order};
use crate::lu::{LuPlan, LuSolvePlan, factors_layout};
use crate::nested::Inner;
use crate::program::Program;
use crate::recurrence::{Carry, Packed, Recurrence, RecurrenceStep, piece};
use crate::state::{SlotState, State};
use crate::step::{
    DotStep, GemmStep, LapackStep, LoopStep, LuSolveStep, LuStep, Place, Step, TransferStep,
};
use crate::strided::{Transfer, TransferPlan};
use crate::view::{self, Index};
use crate::walk::Strides;

/// The stride of an operand along each dimension of a loop.
fn steps<'a>(axes: &'a [Option<usize>], layout: &'a Layout) -> impl Iterator<Item = i64> + 'a {
    axes.iter().map(|axis| axis.map_or(0, |axis| layout.strides[axis]))
}

/// The table of an operand, whose axes and lengths go to `checks`, too.
fn indexed_axes(
    operand: usize,
    layout: &Layout,
    indexed: &[usize],
    checks: &mut SmallVec<[(usize, i64); 2]>,
) -> Table {
    checks.extend(indexed.iter().map(|&axis| (axis, layout.dims[axis])));
    let axes = indexed.iter().map(|&axis| (layout.dims[axis], layout.strides[axis])).collect();
    Table { operand, axes }
}

/// Binds instructions in order. With an arena the memory comes from there, before any run; without
/// one it is allocated at once, for the run that goes on.
pub(crate) struct Binder<'a> {
    program: &'a Program,
    state: &'a mut State,
    arena: Option<&'a mut Arena>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        program: &'a Program,
        state: &'a mut State,
        arena: Option<&'a mut Arena>,
    ) -> Binder<'a> {
        Binder { program, state, arena }
    }

    /// The step of an instruction; its results have their places from now on.
    pub(crate) fn step(&mut self, kind: &InstrKind) -> Result<Step, Fault> {
        match kind {
            InstrKind::Loop(code) => self.bind_loop(code),
            InstrKind::View { of, to, view } => {
                let (offset, layout) = self.view(*of, view)?;
                self.place_view(*of, *to, offset, layout);
                Ok(Step::Nothing)
            }
            InstrKind::Reshape { of, to, dims, rest } => self.reshape(*of, *to, dims, *rest),
            InstrKind::Copy { of, to } => {
                if self.place_over(*of, *to) {
                    return Ok(Step::Nothing);
                }
                let dims = self.layout(*of).dims.clone();
                let place = self.fresh(*to, &dims)?;
                Ok(Step::Transfer(Box::new(self.copy(*of, *to, place))))
            }
            InstrKind::Update { of, to, view, value, accumulate } => {
                self.update(*of, *to, view, *value, *accumulate)
            }
            InstrKind::Full { value, to, dims } => {
                let dims = self.numbers(dims)?;
                let place = self.fresh(*to, &dims)?;
                let element = view::broadcast_to(self.layout(*value), &dims)?;
                let from = self.slot(*value).place;
                let plan = self.transfer(Transfer::Copy, *to, self.layout(*to), &element);
                Ok(Step::Transfer(Box::new(TransferStep { to: place, from, plan })))
            }
            InstrKind::Dot { a, b, to } => self.dot(*a, *b, *to),
            InstrKind::Gemm(code) => self.gemm(code),
            InstrKind::Cholesky { of, to, lower } => self.cholesky(*of, *to, *lower),
            InstrKind::CholeskyGradient { factor, gradient, to } => {
                self.cholesky_gradient(*factor, *gradient, *to)
            }
            InstrKind::Solve { a, b, to, form } => self.solve(*a, *b, *to, *form),
            InstrKind::Lu { of, to, pivots } => self.lu(*of, *to, *pivots),
            InstrKind::LuSolve { factors, pivots, b, to, transposed } => {
                self.lu_solve([*factors, *pivots, *b], *to, *transposed)
            }
            InstrKind::Range { start, step, count, to } => {
                let [start, step, count] =
                    [*start, *step, *count].map(|size| self.state.size(size));
                let (start, step, count) = (start?, step?, count?);
                let to = self.fresh(*to, &[count])?;
                Ok(Step::Range { to, start, step, count })
            }
            InstrKind::Join { parts, to, axis } => self.join(parts, *to, *axis),
            InstrKind::Scalar { size, to } => {
                let value = self.state.size(*size)?;
                let to = self.fresh(*to, &[])?;
                Ok(Step::Scalar { to, value })
            }
            InstrKind::RequireEqual { a, b, message } => {
                let (a, b) = (self.state.size(*a)?, self.state.size(*b)?);
                if a != b {
                    return Err(Fault::Required { message: message.to_string(), a, b });
                }
                Ok(Step::Nothing)
            }
            InstrKind::Recurrence(code) => self.recurrence(code),
            // Its results are known when it has run.
            InstrKind::Call(_) => Ok(Step::Later),
            // Bound by `inner`, whose faults may be blamed on what is nested.
            InstrKind::Inner(_) => Ok(Step::Inner),
        }
    }

    /// The step of an instruction that runs programs, whose results have known layouts.
    pub(crate) fn inner(&mut self, code: &Inner, origin: Option<Origin>) -> Result<Step, Error> {
        let Some(needs) = self.state.inner_needs(self.program, code, origin)? else {
            return Ok(Step::Inner);
        };
        for (slot, layout) in needs.layouts {
            self.place_fresh(slot, layout).map_err(Error::at(origin))?;
        }
        self.need_scratch(needs.scratch);
        self.state.apart += needs.apart;
        if !self.state.held.contains(&needs.held) {
            self.state.held.push(needs.held);
        }
        Ok(Step::Inner)
    }

    fn slot(&self, slot: Slot) -> &SlotState {
        &self.state.slots[slot.index()]
    }

    fn layout(&self, slot: Slot) -> &Layout {
        &self.slot(slot).layout
    }

    fn dtype(&self, slot: Slot) -> DType {
        self.program.slots[slot.index()].dtype
    }

    fn itemsize(&self, slot: Slot) -> usize {
        self.dtype(slot).itemsize()
    }

    fn numbers(&self, sizes: &[Size]) -> Result<Axes, Fault> {
        sizes.iter().map(|&size| self.state.size(size)).collect()
    }

    fn indices(&self, view: &[Index<Size>]) -> Result<SmallVec<[Index<i64>; 4]>, Fault> {
        view.iter().map(|index| index.try_map(|size| self.state.size(size))).collect()
    }

    // ------------------------------------------------------------ memory

    /// Memory for a slot in C order.
    fn fresh(&mut self, slot: Slot, dims: &[i64]) -> Result<Place, Fault> {
        let layout = Layout::fresh(dims, self.itemsize(slot))?;
        self.place_fresh(slot, layout)
    }

    /// Memory for a slot of this layout, which has no gaps.
    pub(crate) fn place_fresh(&mut self, slot: Slot, layout: Layout) -> Result<Place, Fault> {
        let bytes = byte_count(&layout.dims, self.itemsize(slot))?;
        let bases = self.program.bases;
        let place = match (&mut self.arena, self.program.liveness.claims[slot.index()]) {
            (Some(_), Some(output)) => Place::start(bases.outputs + output),
            (Some(arena), None) => {
                let guards = &mut self.state.guards;
                let start = arena.take(guards.around(bytes)?)? + guards.width();
                let place = Place { base: bases.arena, offset: start as i64 };
                let made_by = self.program.slots[slot.index()].made_by;
                guards.plan(Guarded { slot, place, bytes, made_by, until: None });
                place
            }
            (None, _) => {
                let guards = &self.state.guards;
                let block = self.state.pool.take(guards.around(bytes)?)?;
                let start = block.as_ptr().wrapping_add(guards.width());
                // SAFETY: the block has room for the zones.
                unsafe { guards.lay(start, bytes) };
                let base = bases.slots + slot.index();
                self.state.bases[base] = start;
                self.state.blocks[slot.index()] = Some(block);
                Place::start(base)
            }
        };
        self.state.slots[slot.index()] = SlotState { place, layout, bytes };
        Ok(place)
    }

    /// The memory of another slot.
    fn place_view(&mut self, of: Slot, to: Slot, offset: i64, layout: Layout) {
        let mut place = self.slot(of).place;
        place.offset += offset;
        self.state.slots[to.index()] = SlotState { place, layout, bytes: 0 };
    }

    /// Places a slot in the memory of the operand that it may be made over, if there is one and its
    /// elements do not overlap.
    fn place_over(&mut self, of: Slot, to: Slot) -> bool {
        let over = self.program.liveness.over[to.index()] == Some(of);
        if !over || !self.layout(of).is_apart(self.itemsize(of)) {
            return false;
        }
        self.place_view(of, to, 0, self.layout(of).clone());
        true
    }

    /// Places a slot that starts as an operand, laid out so: in the memory of that if it may be made
    /// over it and lies so, else in fresh memory. Whether it is the first.
    fn place_on(&mut self, of: Slot, to: Slot, layout: Layout) -> Result<(Place, bool), Fault> {
        if *self.layout(of) == layout && self.place_over(of, to) {
            return Ok((self.slot(to).place, true));
        }
        Ok((self.place_fresh(to, layout)?, false))
    }

    /// Gives a result of a loop the memory of an operand that dies in it and lies there as the result
    /// would, element for element, if there is one. `lies(position)` tells whether a read does.
    fn inherit(
        &mut self,
        code: &Loop,
        slot: Slot,
        layout: &Layout,
        lies: impl Fn(usize) -> bool,
    ) -> Option<Place> {
        let liveness = &self.program.liveness;
        if liveness.claims[slot.index()].is_some() {
            return None;
        }
        let bytes = byte_count(&layout.dims, self.itemsize(slot)).ok()?;
        let owner = |slot: Slot| liveness.owners[slot.index()];
        // What indices point into is read anywhere at any time.
        let indexed = |slot: Slot| {
            let mut sources = code.sources.iter().map(|source| source.slot);
            let mut targets = code.targets.iter().map(|target| target.of);
            sources.any(|of| owner(of) == slot) || targets.any(|of| owner(of) == slot)
        };
        let heir_of = |dying: Slot| {
            if indexed(owner(dying)) {
                return false;
            }
            let given = self.slot(owner(dying));
            let fits = given.bytes == bytes && given.place == self.slot(dying).place;
            let mut reads = code.reads.iter().enumerate();
            let same = reads.all(|(at, read)| {
                let apart = owner(read.slot) != owner(dying);
                apart || (lies(at) && self.slot(read.slot).place == given.place)
            });
            fits && same && self.itemsize(dying) == self.itemsize(slot)
        };
        if bytes == 0 {
            return None;
        }
        let dying = liveness.dying[slot.index()].iter().copied().find(|&dying| heir_of(dying))?;
        let from = owner(dying).index();
        let mut place = self.state.slots[from].place;
        if place.base >= self.program.bases.slots {
            if self.arena.is_some() {
                return None;
            }
            // Blocks are released by the number of their slot.
            place.base = self.program.bases.slots + slot.index();
            self.state.bases[place.base] = self.state.bases[self.program.bases.slots + from];
            self.state.blocks[slot.index()] = self.state.blocks[from].take();
        } else if place.base == self.program.bases.arena && self.arena.is_none() {
            // The arena has been given out for the whole run already.
            return None;
        }
        self.state.slots[from].bytes = 0;
        self.state.slots[slot.index()] = SlotState { place, layout: layout.clone(), bytes };
        Some(place)
    }

    fn recurrence(&mut self, code: &Recurrence) -> Result<Step, Fault> {
        let steps = self.state.size(code.steps)?;
        if steps < 0 {
            return Err(Fault::NegativeLength { axis: 0, length: steps });
        }
        let mut operands = SmallVec::new();
        let mut strides = SmallVec::new();
        let mut packed = SmallVec::new();
        let mut scratch = 0;
        // The first step takes the last row of what is walked backwards.
        let walk = |stride: i64| if code.backwards { -stride } else { stride };
        let first = |stride: i64| if code.backwards { stride * (steps - 1).max(0) } else { 0 };
        for (position, read) in code.reads.iter().enumerate() {
            let SlotState { place, layout, .. } = self.slot(read.slot).clone();
            let rows = if read.walks { Some(steps) } else { None };
            let expected = rows.into_iter().chain(read.row.iter().map(|&length| length as i64));
            for (axis, (expected, &given)) in expected.zip(&layout.dims).enumerate() {
                if given != expected {
                    let input =
                        self.program.inputs.iter().position(|input| input.slot == read.slot);
                    let operand = Operand { position, slot: read.slot, input };
                    return Err(Fault::Length { operand, axis, expected, given });
                }
            }
            let fresh = Layout::fresh(&layout.dims, self.itemsize(read.slot))?;
            let own = read.walks as usize;
            let gaps = (layout.dims[own..].iter().zip(&layout.strides[own..]))
                .zip(&fresh.strides[own..])
                .any(|((&length, stride), wanted)| length > 1 && stride != wanted);
            let mut stride = if read.walks { layout.strides[0] } else { 0 };
            if gaps {
                stride = if read.walks { fresh.strides[0] } else { 0 };
                let plan = TransferPlan::copy(self.dtype(read.slot), &layout, &fresh);
                let (operand, from) = (operands.len(), place);
                let copy = Packed { operand, start: scratch, first: first(stride), from, plan };
                packed.push(copy);
                let bytes = byte_count(&layout.dims, self.itemsize(read.slot))?;
                scratch += bytes.next_multiple_of(ALIGNMENT);
            }
            operands.push(Place { base: place.base, offset: place.offset + first(stride) });
            strides.push(walk(stride));
        }
        for write in &code.writes {
            let rows = if write.walks { Some(steps) } else { None };
            let row = write.row.iter().map(|&length| length as i64);
            let dims: Axes = rows.into_iter().chain(row).collect();
            let place = self.fresh(write.slot, &dims)?;
            let stride = if write.walks { self.layout(write.slot).strides[0] } else { 0 };
            operands.push(Place { base: place.base, offset: place.offset + first(stride) });
            strides.push(walk(stride));
        }
        self.need_scratch(scratch);
        let function = code.kernel.function;
        let kept =
            |&Carry { read, write }: &Carry| (read as usize, code.reads.len() + write as usize);
        Ok(Step::Recurrence(Box::new(RecurrenceStep {
            function,
            steps,
            operands,
            strides,
            packed,
            scratch,
            piece: piece(code),
            carries: code.carries.iter().map(kept).collect(),
            counts: code.counts,
        })))
    }

    fn need_scratch(&mut self, bytes: usize) {
        let bytes = bytes + 2 * self.state.guards.width();
        self.state.scratch_bytes = self.state.scratch_bytes.max(bytes);
    }

    // ------------------------------------------------------------ loops

    fn bind_loop(&mut self, code: &Loop) -> Result<Step, Fault> {
        let dims = self.numbers(&code.dims)?;
        for (axis, &length) in dims.iter().enumerate() {
            if length < 0 {
                return Err(Fault::NegativeLength { axis, length });
            }
        }
        let mut strides = Strides::new();
        for (position, read) in code.reads.iter().enumerate() {
            self.check_read(position, read, &dims)?;
            let layout = self.layout(read.slot);
            strides.push(steps(&read.axes, layout));
        }
        for source in &code.sources {
            self.check_indexed(source.slot, &source.axes, &source.indexed, &dims)?;
            strides.push(steps(&source.axes, self.layout(source.slot)));
        }
        // Without loop dimensions there is one position, and nothing moves.
        let inner = |axes: &[Option<usize>]| axes.last().is_some_and(Option::is_some);
        let read_inner: SmallVec<[bool; 12]> = (code.reads.iter().map(|read| inner(&read.axes)))
            .chain(code.sources.iter().map(|source| inner(&source.axes)))
            .collect();
        let write_inner: SmallVec<[bool; 4]> =
            code.writes.iter().map(|write| inner(&write.axes)).collect();
        let moves = |write: usize, dim: usize| code.writes[write].axes[dim].is_some();
        let order = match code.rows {
            // Where positions meet in a target, they do so in order.
            _ if !code.targets.is_empty() => (0..dims.len()).collect(),
            Some(_) => row_order(&dims, &strides),
            None => loop_order(&dims, &strides, &read_inner, &write_inner, moves),
        };

        let mut operands: SmallVec<[Place; 12]> =
            code.reads.iter().map(|read| self.slot(read.slot).place).collect();
        let mut accesses: SmallVec<[Access; 12]> = SmallVec::new();
        for (read, &inner) in code.reads.iter().zip(&read_inner) {
            let itemsize = self.itemsize(read.slot);
            accesses.push(Access { itemsize, inner, role: Role::Read, apart: None });
        }
        let mut tables: SmallVec<[Table; 2]> = SmallVec::new();
        let mut checks = SmallVec::new();
        for source in &code.sources {
            let layout = self.layout(source.slot).clone();
            tables.push(indexed_axes(operands.len(), &layout, &source.indexed, &mut checks));
            operands.push(self.slot(source.slot).place);
            let itemsize = self.itemsize(source.slot);
            accesses.push(Access { itemsize, inner: false, role: Role::Read, apart: None });
        }
        let mut fills = SmallVec::new();
        for (write, &inner) in code.writes.iter().zip(&write_inner) {
            // The result is laid out in the order in which the loop writes it.
            let axes: SmallVec<[usize; 4]> =
                order.iter().filter_map(|&dim| write.axes[dim]).collect();
            let mut lengths: Axes = SmallVec::from_elem(0, axes.len());
            for (&axis, &length) in write.axes.iter().zip(&dims) {
                if let Some(axis) = axis {
                    lengths[axis] = length;
                }
            }
            let itemsize = self.itemsize(write.slot);
            let layout = Layout::fresh_in_order(&lengths, itemsize, &axes)?;
            strides.push(steps(&write.axes, &layout));
            let count = layout.len();
            let lies = |at: usize| {
                let moves = code.reads[at].axes.iter().all(Option::is_some);
                let alike = |(dim, &length): (usize, &i64)| {
                    length == 1 || strides.of(at)[dim] == strides.of(strides.operands() - 1)[dim]
                };
                moves && dims.iter().enumerate().all(alike)
            };
            let place = match self.inherit(code, write.slot, &layout, lies) {
                Some(place) => place,
                None => self.place_fresh(write.slot, layout)?,
            };
            operands.push(place);
            let role = if write.identity.is_some() { Role::Accumulate } else { Role::Write };
            accesses.push(Access { itemsize, inner, role, apart: write.fold.zip(write.identity) });
            fills.extend(write.identity.map(|identity| (place, count, identity)));
        }
        let mut copies = SmallVec::new();
        for target in &code.targets {
            self.check_indexed(target.of, &target.axes, &target.indexed, &dims)?;
            if !self.place_over(target.of, target.slot) {
                let lengths = self.layout(target.of).dims.clone();
                let place = self.fresh(target.slot, &lengths)?;
                copies.push(self.copy(target.of, target.slot, place));
            }
            let layout = self.layout(target.slot).clone();
            strides.push(steps(&target.axes, &layout));
            tables.push(indexed_axes(operands.len(), &layout, &target.indexed, &mut checks));
            operands.push(self.slot(target.slot).place);
            let itemsize = self.itemsize(target.slot);
            // Nothing that indices may lead to the same place twice is shared out.
            accesses.push(Access { itemsize, inner: false, role: Role::Accumulate, apart: None });
        }
        let nest = match &code.rows {
            Some(buffers) => {
                let sizes: Vec<usize> = buffers.iter().map(|dtype| dtype.itemsize()).collect();
                LoopNest::of_rows(&dims, &order, &strides, &accesses, &sizes)
            }
            None => LoopNest::new(&dims, &order, &strides, &accesses),
        };
        let nest = nest.with_tables(&tables);
        self.need_scratch(nest.scratch());
        let function = code.kernel.function;
        Ok(Step::Loop(Box::new(LoopStep { function, operands, fills, copies, checks, nest })))
    }

    /// Checks that an indexed operand has the lengths of the loop along its other axes.
    fn check_indexed(
        &self,
        slot: Slot,
        axes: &[Option<usize>],
        indexed: &[usize],
        dims: &[i64],
    ) -> Result<(), Fault> {
        let layout = self.layout(slot);
        let input = self.program.inputs.iter().position(|input| input.slot == slot);
        for axis in (0..layout.ndim()).filter(|axis| !indexed.contains(axis)) {
            let along = axes.iter().position(|&own| own == Some(axis));
            let expected = along.map_or(1, |dim| dims[dim]);
            let given = layout.dims[axis];
            if given != expected {
                let operand = Operand { position: 0, slot, input };
                return Err(Fault::Length { operand, axis, expected, given });
            }
        }
        Ok(())
    }

    fn check_read(&self, position: usize, read: &LoopRead, dims: &[i64]) -> Result<(), Fault> {
        let layout = self.layout(read.slot);
        let fault = |axis: usize, expected: i64| {
            let input = self.program.inputs.iter().position(|input| input.slot == read.slot);
            let operand = Operand { position, slot: read.slot, input };
            Fault::Length { operand, axis, expected, given: layout.dims[axis] }
        };
        let mut mapped = 0;
        for (axis, &expected) in read.axes.iter().zip(dims) {
            if let &Some(axis) = axis {
                mapped += 1;
                if layout.dims[axis] != expected {
                    return Err(fault(axis, expected));
                }
            }
        }
        if mapped < layout.ndim() {
            // An axis that the loop does not move along has one element.
            for axis in 0..layout.ndim() {
                if layout.dims[axis] != 1 && !read.axes.contains(&Some(axis)) {
                    return Err(fault(axis, 1));
                }
            }
        }
        Ok(())
    }

    // ------------------------------------------------------------ views and copies

    fn view(&self, of: Slot, view: &View) -> Result<(i64, Layout), Fault> {
        let layout = self.layout(of);
        match view {
            View::Transpose(axes) => Ok((0, view::transpose(layout, axes))),
            View::ExpandDims(axes) => Ok((0, view::expand_dims(layout, axes))),
            View::DropDims(axes) => Ok((0, view::drop_dims(layout, axes)?)),
            View::BroadcastTo(dims) => {
                let dims = self.numbers(dims)?;
                // Strides of zero hide how large it is; whoever copies it will ask.
                byte_count(&dims, self.itemsize(of))?;
                Ok((0, view::broadcast_to(layout, &dims)?))
            }
            View::Slice(indices) => view::slice(layout, &self.indices(indices)?),
            View::Diagonal { axes, offset } => Ok(view::diagonal(layout, *axes, *offset)),
        }
    }

    fn reshape(
        &mut self,
        of: Slot,
        to: Slot,
        dims: &[Size],
        rest: Option<usize>,
    ) -> Result<Step, Fault> {
        let dims = view::reshape_dims(self.layout(of), &self.numbers(dims)?, rest)?;
        if let Some(layout) = view::reshape(self.layout(of), &dims, self.itemsize(of)) {
            self.place_view(of, to, 0, layout);
            return Ok(Step::Nothing);
        }
        // Copied in C order, the elements take any shape.
        let old = self.layout(of).dims.clone();
        let place = self.fresh(to, &dims)?;
        let contiguous = Layout::fresh(&old, self.itemsize(of))?;
        let plan = self.transfer(Transfer::Copy, to, &contiguous, self.layout(of));
        let from = self.slot(of).place;
        Ok(Step::Transfer(Box::new(TransferStep { to: place, from, plan })))
    }

    /// The step that copies a slot to fresh memory of the same dims.
    fn copy(&self, of: Slot, to: Slot, place: Place) -> TransferStep {
        let plan = self.transfer(Transfer::Copy, to, self.layout(to), self.layout(of));
        TransferStep { to: place, from: self.slot(of).place, plan }
    }

    fn transfer(&self, transfer: Transfer, slot: Slot, to: &Layout, from: &Layout) -> TransferPlan {
        TransferPlan::new(transfer, self.dtype(slot), &to.dims, &to.strides, &from.strides)
    }

    fn update(
        &mut self,
        of: Slot,
        to: Slot,
        indices: &[Index<Size>],
        value: Slot,
        accumulate: bool,
    ) -> Result<Step, Fault> {
        let dims = self.layout(of).dims.clone();
        let indices = self.indices(indices)?;
        let in_place = self.place_over(of, to);
        let place = if in_place { self.slot(to).place } else { self.fresh(to, &dims)? };
        let (offset, window) = view::slice(self.layout(to), &indices)?;
        let source = view::broadcast_to(self.layout(value), &window.dims)?;
        let transfer = if accumulate { Transfer::Add } else { Transfer::Copy };
        let store = TransferStep {
            to: Place { base: place.base, offset: place.offset + offset },
            from: self.slot(value).place,
            plan: self.transfer(transfer, to, &window, &source),
        };
        if in_place {
            return Ok(Step::Transfer(Box::new(store)));
        }
        Ok(Step::Transfers(Box::new([self.copy(of, to, place), store])))
    }

    fn dot(&mut self, a: Slot, b: Slot, to: Slot) -> Result<Step, Fault> {
        let dims = batch_dims(self.layout(a), self.layout(b))?;
        let place = self.fresh(to, &dims)?;
        let same = self.slot(a).place == self.slot(b).place;
        let (left, right, result) = (self.layout(a), self.layout(b), self.layout(to));
        let plan = BatchPlan::new(self.dtype(to), left, right, result, same)?;
        self.need_scratch(plan.scratch());
        Ok(Step::Dot(Box::new(DotStep {
            a: self.slot(a).place,
            b: self.slot(b).place,
            to: place,
            plan,
        })))
    }

    fn gemm(&mut self, code: &Gemm) -> Result<Step, Fault> {
        let (a, b, z, to) = (code.a, code.b, code.z, code.to);
        let dims = dot_dims(self.layout(a), self.layout(b))?;
        if self.layout(z).dims[..] != dims {
            return Err(Fault::Addend { product: dims, z: self.layout(z).dims.to_vec() });
        }
        let layout = Layout::fresh(&dims, self.itemsize(to))?;
        let (place, in_place) = self.place_on(z, to, layout)?;
        let product = DotPlan::new(self.dtype(to), self.layout(a), self.layout(b), false)?;
        let z_at = (!in_place).then(|| self.layout(z));
        let plan = GemmPlan::new(product, z_at, self.layout(to));
        self.need_scratch(plan.scratch());
        let operands = code.operands().map(|slot| self.slot(slot).place);
        Ok(Step::Gemm(Box::new(GemmStep { operands, to: place, plan })))
    }

    // ------------------------------------------------------------ factors and joins

    fn cholesky(&mut self, of: Slot, to: Slot, lower: bool) -> Result<Step, Fault> {
        check_square("cholesky", self.layout(of))?;
        let layout = fresh_like(self.layout(of), self.itemsize(to))?;
        let (place, in_place) = self.place_on(of, to, layout)?;
        let a_at = (!in_place).then(|| self.layout(of));
        let plan = CholeskyPlan::new(self.dtype(to), lower, a_at, self.layout(to))?;
        Ok(self.lapack([of, of], place, LapackPlan::Cholesky(plan)))
    }

    fn cholesky_gradient(&mut self, factor: Slot, gradient: Slot, to: Slot) -> Result<Step, Fault> {
        check_square("the gradient of cholesky", self.layout(factor))?;
        let dims = self.layout(factor).dims.clone();
        if self.layout(gradient).dims != dims {
            let z = self.layout(gradient).dims.to_vec();
            return Err(Fault::Addend { product: dims.to_vec(), z });
        }
        let layout = Layout::fresh(&dims, self.itemsize(to))?;
        let (place, in_place) = self.place_on(gradient, to, layout)?;
        let gradient_at = (!in_place).then(|| self.layout(gradient));
        let factor_at = self.layout(factor);
        let plan =
            CholeskyGradientPlan::new(self.dtype(to), factor_at, gradient_at, self.layout(to))?;
        Ok(self.lapack([factor, gradient], place, LapackPlan::CholeskyGradient(plan)))
    }

    fn solve(&mut self, a: Slot, b: Slot, to: Slot, form: TriangularForm) -> Result<Step, Fault> {
        check_solve("solve_triangular", self.layout(a), self.layout(b))?;
        let layout = fresh_like(self.layout(b), self.itemsize(to))?;
        let (place, in_place) = self.place_on(b, to, layout)?;
        let (a_at, b_at) = (self.layout(a), (!in_place).then(|| self.layout(b)));
        let plan = SolvePlan::new(self.dtype(to), form, a_at, b_at, self.layout(to))?;
        Ok(self.lapack([a, b], place, LapackPlan::Solve(plan)))
    }

    fn lu(&mut self, of: Slot, to: Slot, pivots: Slot) -> Result<Step, Fault> {
        check_square("lu_factor", self.layout(of))?;
        let size = self.layout(of).dims[0];
        let layout = factors_layout(self.layout(of), self.itemsize(to))?;
        let (place, in_place) = self.place_on(of, to, layout)?;
        let a_at = (!in_place).then(|| self.layout(of));
        let plan = LuPlan::new(self.dtype(to), a_at, self.layout(to))?;
        let of = self.slot(of).place;
        let pivots = self.fresh(pivots, &[size])?;
        Ok(Step::Lu(Box::new(LuStep { of, to: place, pivots, plan })))
    }

    fn lu_solve(&mut self, operands: [Slot; 3], to: Slot, transposed: bool) -> Result<Step, Fault> {
        let [factors, pivots, b] = operands;
        check_solve("solve", self.layout(factors), self.layout(b))?;
        if self.layout(pivots).dims[0] != self.layout(factors).dims[0] {
            let (a, b) = (self.layout(factors).dims.to_vec(), self.layout(pivots).dims.to_vec());
            return Err(Fault::RightSide { what: "lu_solve", a, b });
        }
        let order: &[usize] = if self.layout(b).ndim() == 2 { &[1, 0] } else { &[0] };
        let layout = Layout::fresh_in_order(&self.layout(b).dims, self.itemsize(to), order)?;
        let (place, in_place) = self.place_on(b, to, layout)?;
        let b_at = (!in_place).then(|| self.layout(b));
        let (a_at, pivots_at) = (self.layout(factors), self.layout(pivots));
        let plan =
            LuSolvePlan::new(self.dtype(to), transposed, a_at, pivots_at, b_at, self.layout(to))?;
        self.need_scratch(plan.scratch());
        let operands = operands.map(|slot| self.slot(slot).place);
        Ok(Step::LuSolve(Box::new(LuSolveStep { operands, to: place, plan })))
    }

    fn lapack(&mut self, operands: [Slot; 2], to: Place, plan: LapackPlan) -> Step {
        self.need_scratch(plan.scratch());
        let operands = operands.map(|slot| self.slot(slot).place);
        Step::Lapack(Box::new(LapackStep { operands, to, plan }))
    }

    fn join(&mut self, parts: &[Slot], to: Slot, axis: usize) -> Result<Step, Fault> {
        let mut dims = self.layout(parts[0]).dims.clone();
        for (part, &slot) in parts.iter().enumerate().skip(1) {
            let given = &self.layout(slot).dims;
            if (0..dims.len()).any(|at| at != axis && given[at] != dims[at]) {
                let first = self.layout(parts[0]).dims.to_vec();
                return Err(Fault::Part { axis, part, given: given.to_vec(), first });
            }
            dims[axis] = dims[axis].checked_add(given[axis]).ok_or(Fault::TooLarge)?;
        }
        let place = self.fresh(to, &dims)?;
        let whole = self.layout(to).clone();
        let mut offset = 0;
        let mut steps = Vec::with_capacity(parts.len());
        for &slot in parts {
            let layout = self.layout(slot);
            let window = Layout { dims: layout.dims.clone(), strides: whole.strides.clone() };
            steps.push(TransferStep {
                to: Place { base: place.base, offset: place.offset + offset },
                from: self.slot(slot).place,
                plan: self.transfer(Transfer::Copy, to, &window, layout),
            });
            offset += layout.dims[axis] * whole.strides[axis];
        }
        Ok(Step::Transfers(steps.into()))
    }
}
