//! Loops, for the lengths and strides of their operands.

use smallvec::SmallVec;

use crate::arrays::layout::{Axes, Layout};
use crate::arrays::scalar::Scalar;
use crate::arrays::walk::{Order, Strides};
use crate::error::Fault;
use crate::ids::Slot;
use crate::loops::fold::Fold;
use crate::loops::loop_nest::{Access, LoopNest, Role, Table, loop_order, row_order};
use crate::program::instr::{Loop, LoopRead, LoopTarget, LoopWrite};
use crate::run::state::SlotState;
use crate::run::step::{LoopStep, Place, RunStep, TransferStep};

use super::Binder;
use super::inspection::{Inspection, inspect};

/// The operands of a loop that are bound, in the kernel's order.
#[derive(Default)]
pub(super) struct Operands {
    places: SmallVec<[Place; 12]>,
    pub(super) accesses: SmallVec<[Access; 12]>,
    pub(super) strides: Strides,
    /// The tables of operands that indices move, for the kernel.
    pub(super) tables: SmallVec<[Table; 2]>,
    /// For every index its axis, and the length of that.
    checks: SmallVec<[(usize, i64); 2]>,
}

impl Operands {
    /// Adds the strides of an operand, with its axis for each dimension of the loop.
    fn push_strides(&mut self, axes: &[Option<usize>], layout: &Layout) {
        self.strides.push(axes.iter().map(|axis| axis.map_or(0, |axis| layout.strides[axis])));
    }

    /// Adds the rest of an operand.
    fn push(&mut self, place: Place, access: Access) {
        self.places.push(place);
        self.accesses.push(access);
    }

    /// Adds an operand that indices move along these axes.
    fn push_indexed(
        &mut self,
        of: &SlotState,
        axes: &[Option<usize>],
        indexed: &[usize],
        access: Access,
    ) {
        let layout = &of.layout;
        self.push_strides(axes, layout);
        self.checks.extend(indexed.iter().map(|&axis| (axis, layout.dims[axis])));
        let axes = indexed.iter().map(|&axis| (layout.dims[axis], layout.strides[axis])).collect();
        self.tables.push(Table { operand: self.places.len(), axes });
        self.push(of.place, access);
    }

    /// The nest of a loop over all of them.
    fn nest(&self, code: &Loop, dims: &[i64], order: &[usize]) -> LoopNest {
        let nest = match &code.rows {
            Some(buffers) => {
                let sizes: Vec<usize> = buffers.iter().map(|dtype| dtype.itemsize()).collect();
                LoopNest::of_rows(dims, order, &self.strides, &self.accesses, &sizes)
            }
            None => LoopNest::new(dims, order, &self.strides, &self.accesses),
        };
        nest.with_tables(&self.tables, &self.accesses)
    }
}

/// Whether an operand moves along the innermost dimension. Without dimensions there is one
/// position, and nothing moves.
fn moves_inside(axes: &[Option<usize>]) -> bool {
    axes.last().is_some_and(Option::is_some)
}

/// The order of the loop's dimensions, given the strides of the reads.
fn order_of(code: &Loop, dims: &[i64], reads: &Strides) -> Order {
    if !code.targets.is_empty() {
        // Several writes to one position of a target come in order.
        return (0..dims.len()).collect();
    }
    if code.rows.is_some() {
        return row_order(dims, reads);
    }
    let read_inner: SmallVec<[bool; 12]> = (code.reads.iter())
        .map(|read| moves_inside(&read.axes))
        .chain(code.sources.iter().map(|source| moves_inside(&source.axes)))
        .collect();
    let write_inner: SmallVec<[bool; 4]> =
        code.writes.iter().map(|write| moves_inside(&write.axes)).collect();
    let moves = |write: usize, dim: usize| code.writes[write].axes[dim].is_some();
    loop_order(dims, reads, &read_inner, &write_inner, moves)
}

/// The layout of the result of a write: in the order in which the loop writes it.
fn result_layout(
    write: &LoopWrite,
    dims: &[i64],
    order: &[usize],
    itemsize: usize,
) -> Result<Layout, Fault> {
    let axes: SmallVec<[usize; 4]> = order.iter().filter_map(|&dim| write.axes[dim]).collect();
    let mut lengths: Axes = SmallVec::from_elem(0, axes.len());
    for (&axis, &length) in write.axes.iter().zip(dims) {
        if let Some(axis) = axis {
            lengths[axis] = length;
        }
    }
    Layout::fresh_in_order(&lengths, itemsize, &axes)
}

impl Binder<'_> {
    pub(super) fn bind_loop(&mut self, code: &Loop) -> Result<RunStep, Fault> {
        let (code, dims) = code.chosen(self.numbers(&code.dims));
        if let Some((axis, &length)) = dims.iter().enumerate().find(|(_, length)| **length < 0) {
            return Err(Fault::NegativeLength { axis, length });
        }
        let mut operands = Operands::default();
        for (position, read) in code.reads.iter().enumerate() {
            self.check_read(position, read, &dims)?;
            let SlotState { place, layout, .. } = self.slot(read.slot);
            let (itemsize, inner) = (self.itemsize(read.slot), moves_inside(&read.axes));
            operands.push_strides(&read.axes, layout);
            operands.push(
                *place,
                Access { itemsize, inner, role: Role::Read, apart: None, chosen: None },
            );
        }
        for source in &code.sources {
            self.check_indexed(source.slot, &source.axes, &source.indexed, &dims)?;
            let itemsize = self.itemsize(source.slot);
            let access =
                Access { itemsize, inner: false, role: Role::Read, apart: None, chosen: None };
            let of = self.slot(source.slot);
            operands.push_indexed(of, &source.axes, &source.indexed, access);
        }
        let order = order_of(code, &dims, &operands.strides);
        let mut fills = SmallVec::new();
        for write in &code.writes {
            let itemsize = self.itemsize(write.slot);
            let layout = result_layout(write, &dims, &order, itemsize)?;
            let count = layout.len();
            operands.push_strides(&write.axes, &layout);
            let place = self.place_write(code, write.slot, layout, &dims, &operands.strides)?;
            let role = if write.identity.is_some() { Role::Accumulate } else { Role::Write };
            let (inner, apart) = (moves_inside(&write.axes), write.fold.zip(write.identity));
            operands.push(place, Access { itemsize, inner, role, apart, chosen: None });
            fills.extend(write.identity.map(|identity| (place, count, identity)));
        }
        let copies = self.bind_targets(code, &dims, &mut operands)?;
        let empty = dims.contains(&0) && !operands.tables.is_empty();
        let inspected = if empty { inspect(code, &dims, &mut operands) } else { None };
        let (dims, blank) = match inspected {
            Some(Inspection { dims, blank }) => (dims, blank),
            None => (dims, SmallVec::new()),
        };
        let nest = operands.nest(code, &dims, &order);
        let Operands { places, checks, .. } = operands;
        let function = code.kernel.function;
        let step = LoopStep { function, operands: places, blank, fills, copies, checks, nest };
        self.need_scratch(step.scratch());
        Ok(RunStep::Loop(Box::new(step)))
    }

    /// Adds the targets to the operands; the copies that are made of them before the loop runs.
    fn bind_targets(
        &mut self,
        code: &Loop,
        dims: &[i64],
        operands: &mut Operands,
    ) -> Result<SmallVec<[TransferStep; 1]>, Fault> {
        let mut copies = SmallVec::new();
        for target in &code.targets {
            self.check_indexed(target.of, &target.axes, &target.indexed, dims)?;
            if !self.place_over(target.of, target.slot) {
                let lengths = self.layout(target.of).dims.clone();
                let place = self.fresh(target.slot, &lengths)?;
                copies.push(self.copy_to(target.of, target.slot, place));
            }
            let access = self.access_of(target);
            let of = self.slot(target.slot);
            operands.push_indexed(of, &target.axes, &target.indexed, access);
        }
        Ok(copies)
    }

    /// How the pieces of a loop may write to a target.
    ///
    /// Indices may lead to one element twice. If the loop only adds, each piece adds to an array of
    /// its own. Otherwise pieces cannot tell which of several values comes last.
    fn access_of(&self, target: &LoopTarget) -> Access {
        let (dtype, layout) = (self.dtype(target.slot), self.layout(target.slot));
        let itemsize = dtype.itemsize();
        let joins = target.adds && Fold::Add.takes(dtype) && layout.is_c_order(itemsize);
        // Added to this, a zero keeps its sign.
        let apart = joins.then(|| (Fold::Add, Scalar::from_f64(dtype, -0.0)));
        let chosen = Some(layout.len());
        Access { itemsize, inner: false, role: Role::Accumulate, apart, chosen }
    }

    /// Memory for a write, whose strides are the last ones: that of a read which nothing needs
    /// afterwards, if it lies as the write does, else memory of its own.
    fn place_write(
        &mut self,
        code: &Loop,
        slot: Slot,
        layout: Layout,
        dims: &[i64],
        strides: &Strides,
    ) -> Result<Place, Fault> {
        let own = strides.of(strides.operands() - 1);
        let lies = |read: usize| {
            let moves = code.reads[read].axes.iter().all(Option::is_some);
            let given = strides.of(read);
            let alike = |dim: usize| dims[dim] == 1 || given[dim] == own[dim];
            moves && (0..dims.len()).all(alike)
        };
        match self.inherit(code, slot, &layout, lies) {
            Some(place) => Ok(place),
            None => self.place_fresh(slot, layout),
        }
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
        for axis in (0..layout.ndim()).filter(|axis| !indexed.contains(axis)) {
            let along = axes.iter().position(|&own| own == Some(axis));
            let expected = along.map_or(1, |dim| dims[dim]);
            let given = layout.dims[axis];
            if given != expected {
                let operand = self.operand(0, slot);
                return Err(Fault::Length { operand, axis, expected, given });
            }
        }
        Ok(())
    }

    fn check_read(&self, position: usize, read: &LoopRead, dims: &[i64]) -> Result<(), Fault> {
        let layout = self.layout(read.slot);
        let fault = |axis: usize, expected: i64| {
            let operand = self.operand(position, read.slot);
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
}
