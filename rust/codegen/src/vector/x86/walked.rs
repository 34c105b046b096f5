//! Rows that a function finds by itself: operands move on by strides, and indices choose rows.

use crate::vector::x86::assembler::{Condition, Gpr, Label, Memory, RAX, RCX, RDI};
use crate::vector::x86::function::{Function, ROW_LENGTH, ROWS_END};
use crate::vector::{BYTES, RowPlan};

impl RowPlan {
    /// The arguments that are addresses.
    pub(super) fn pointers(&self) -> Vec<usize> {
        let moving = self.moving.iter().map(|own| own.0);
        let chosen = self.chosen.iter().map(|own| own.at);
        moving.chain(chosen).collect()
    }
}

/// The status of an index out of bounds.
const OUT_OF_BOUNDS: i32 = 2;

/// How many rows later the rows are used whose memory is asked for: the strides of indices are taken so many times.
const LATER: i32 = 8;

/// The state of a function that finds its rows by itself.
pub(super) struct Walked<'p> {
    pub(super) plan: &'p RowPlan,
    /// Where the function goes if an index is out of bounds.
    faults: Vec<Label>,
}

impl<'g> Function<'g> {
    /// Lets the function find its rows.
    pub(super) fn walk(&mut self, plan: &'g RowPlan) {
        let faults = plan.chosen.iter().map(|_| self.a.label()).collect();
        self.walked = Some(Walked { plan, faults });
    }
}

impl Function<'_> {
    fn address(&self, argument: usize) -> Gpr {
        self.register_of(argument).expect("there are registers for all")
    }

    /// Finds the rows that indices choose.
    pub(super) fn choose_rows(&mut self) {
        let Some(Walked { plan, ref faults }) = self.walked else { return };
        for (own, fault) in plan.chosen.iter().zip(faults.clone()) {
            let (length, ok) = (argument(own.length), self.a.label());
            self.a.load(RAX, Memory::At(self.address(own.index), 0));
            self.a.compare(RAX, 0);
            self.a.jump_if(Condition::NotLess, ok);
            self.a.add_from(RAX, length);
            self.a.bind(ok);
            self.a.compare_with(RAX, length);
            self.a.jump_if(Condition::NotBelow, fault);
            self.a.multiply_by(RAX, argument(own.stride));
            self.a.add_from(RAX, argument(own.base));
            self.a.copy(self.address(own.at), RAX);
        }
    }

    /// Asks for the memory of the rows that indices choose some rows later, if rows have several blocks: the processor
    /// cannot foresee what they choose, and looks no further ahead than a few blocks.
    pub(super) fn ask_for_later_rows(&mut self) {
        let Some(Walked { plan, .. }) = self.walked else { return };
        if plan.chosen.is_empty() {
            return;
        }
        let none = self.a.label();
        self.a.load(RAX, ROW_LENGTH);
        self.a.compare(RAX, (self.graph.parts_of_block() * self.elements()) as i32);
        self.a.jump_if(Condition::NotGreater, none);
        self.a.load(RAX, ROWS_END);
        self.a.compare(RAX, LATER);
        self.a.jump_if(Condition::NotGreater, none);
        for own in &plan.chosen {
            let moving = plan.moving.iter().find(|moving| moving.0 == own.index);
            let &(_, stride) = moving.expect("an index moves from row to row");
            self.a.load(RAX, argument(stride));
            let index = Memory::Indexed(self.address(own.index), RAX, LATER as u32, 0);
            self.a.load(RAX, index);
            self.a.multiply_by(RAX, argument(own.stride));
            self.a.add_from(RAX, argument(own.base));
            let top = self.a.label();
            // The blocks of the row before, or the line asked for last, are counted there.
            self.a.clear(RCX);
            self.a.bind(top);
            self.a.prefetch(Memory::Indexed(RAX, RCX, own.size, 0));
            self.a.add(RCX, (BYTES / own.size) as i32);
            self.a.compare_with(RCX, ROW_LENGTH);
            self.a.jump_if(Condition::Less, top);
        }
        self.a.clear(RCX);
        self.a.bind(none);
    }

    /// Moves on to the next row, and jumps to `top` if there is one.
    pub(super) fn next_row(&mut self, top: Label) {
        let Some(Walked { plan, .. }) = self.walked else { return };
        for &(at, stride) in &plan.moving {
            self.a.add_from(self.address(at), argument(stride));
        }
        self.a.subtract_from(ROWS_END, 1);
        self.a.jump_if(Condition::Greater, top);
    }

    /// Reports an index that is out of bounds, and ends the function.
    pub(super) fn faults(&mut self, kept: usize) {
        let Some(Walked { plan, ref faults }) = self.walked else { return };
        for (own, fault) in plan.chosen.iter().zip(faults.clone()) {
            self.a.bind(fault);
            self.a.load(RAX, argument(plan.report));
            self.a.load(RCX, Memory::At(self.address(own.index), 0));
            self.a.store(Memory::At(RAX, 8), RCX);
            self.a.clear(RCX);
            self.a.add(RCX, own.number as i32);
            self.a.store(Memory::At(RAX, 0), RCX);
            self.leave_rows(kept, OUT_OF_BOUNDS);
        }
    }
}

fn argument(at: usize) -> Memory {
    Memory::At(RDI, 8 * at as i32)
}
