//! Partial results on the stack, where registers are too few for them. They lie there in the order of their turns, so that
//! one loop goes through blocks one by one.

use crate::vector::x86::assembler::{
    ALL, Condition, Label, Memory, Operand, RAX, RCX, RDI, RSI, RSP, Zmm,
};
use crate::vector::x86::function::{ADDRESSES, Function, Turn};

impl Function<'_> {
    /// Lets so many sets in all be on the stack, if a set is a register and there is one to say whose turn it is.
    pub(super) fn stack_sets(&mut self, held: usize) {
        let count = self.sets_of_fold();
        let fits = self.graph.folds.iter().all(|own| {
            own.sets_of(self.graph.lanes) == count
                && own.dtype.size() * self.graph.lanes == self.bytes()
        });
        if fits {
            self.set_index = ADDRESSES.get(self.addresses.len()).copied();
        }
        if self.set_index.is_some() {
            self.slots.get_or_insert_default();
            self.slot_count = held;
        }
    }

    /// The sets of a fold; all have as many.
    fn sets_of_fold(&self) -> u32 {
        self.graph.folds[0].sets_of(self.graph.lanes)
    }

    fn bytes_of_sets(&self) -> i32 {
        (self.sets_of_fold() * self.bytes()) as i32
    }

    /// Where the partial results of a fold are, of the set whose turn it is.
    pub(super) fn stacked_set(&self, fold: usize) -> Option<Operand> {
        let first = fold as i32 * self.bytes_of_sets();
        Some(Operand::Vector(Memory::Indexed(RSP, self.set_index?, 1, first)))
    }

    /// Goes through whole blocks, one a turn.
    pub(super) fn turns_of_one(&mut self, singles: Label, decided: Label) -> Option<()> {
        let index = self.set_index?;
        let step = self.elements() as i32;
        let top = self.a.label();
        self.a.compare(RSI, step);
        self.a.jump_if(Condition::Less, singles);
        self.each_set(|own, vector, at, on_stack| {
            own.of_registers().load(vector, at, ALL);
            own.of_registers().store(on_stack, vector, ALL);
        })?;
        self.a.clear(index);
        self.a.subtract(RSI, step);
        self.a.align();
        self.a.bind(top);
        self.block(Turn { block: 0, set: Some(0), mask: ALL, asks_ahead: true })?;
        self.leave_if_decided(decided);
        let (bytes, all) = (self.bytes() as i32, self.bytes_of_sets());
        self.a.add(index, bytes);
        self.a.and(index, all - 1);
        self.a.add(RCX, step);
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::NotLess, top);
        self.a.add(RSI, step);
        self.each_set(|own, vector, at, on_stack| {
            own.of_registers().load(vector, on_stack, ALL);
            own.of_registers().store(at, vector, ALL);
        })?;
        for fold in 0..self.graph.folds.len() {
            let turn = Memory::At(RDI, 8 * self.graph.folds[fold].turn as i32);
            self.a.load(RAX, turn);
            self.a.add_register(RAX, index);
            self.a.and(RAX, all - 1);
            self.a.store(turn, RAX);
        }
        Some(())
    }

    /// Does something with each set, given a register that may be written over, its place and that on the stack.
    fn each_set(&mut self, own: impl Fn(&mut Self, Zmm, Operand, Operand)) -> Option<()> {
        let vector = Zmm(*self.vectors.last()?);
        let count = self.sets_of_fold();
        for fold in 0..self.graph.folds.len() {
            for set in 0..count {
                let at = Operand::Vector(self.partials_address(fold, set));
                let on_stack = self.slot(fold * count as usize + set as usize);
                own(self, vector, at, on_stack);
            }
        }
        Some(())
    }
}
