//! Whole rows, several a call, whose arguments lie one after the other. Folds are within registers: all partial results
//! begin as the identity, and become one at the end of the row. Of longer rows they are in memory, and begin there.

use crate::dtype::Dtype;
use crate::op::Op;
use crate::vector::x86::assembler::{
    ALL, Assembler, Condition, Mask, Memory, Operand, RAX, RCX, RDI, RSI, Zmm,
};
use crate::vector::x86::function::{
    Function, ROW_LENGTH, ROWS_END, Turn, ValuePlace, blocks_of_turn,
};
use crate::vector::x86::instructions::Instructions;
use crate::vector::x86::translate::{FloatOp, IntegerOp, in_64_bits};
use crate::vector::{Partials, Registers, SETS};

/// The instructions of a function that lets so many bytes of partial results, at the address that is its first argument,
/// hold these bits. Smaller stores would be slow to be read as whole sets.
pub(super) fn fill(registers: Registers, bits: u64, bytes: u32) -> Vec<u8> {
    let mut a = Assembler::new(registers);
    let constant = Memory::Constant(a.constant(bits));
    let size = registers.bytes();
    let mut own = Instructions { size: 8, lanes: size / 8, a: &mut a };
    own.broadcast(Zmm(0), constant);
    for at in (0..bytes).step_by(size as usize) {
        own.store(Operand::Vector(Memory::At(RDI, at as i32)), Zmm(0), ALL);
    }
    a.clean();
    a.ret();
    a.finish()
}

impl Function<'_> {
    /// All of it, for rows one after the other; `free` registers hold constants of the block. The results of folds stand
    /// where the addresses of the sets would be. Rows may be `of_blocks` of the kernel alone, or of less.
    pub(super) fn go_through_rows(&mut self, free: usize, of_blocks: bool) -> Option<()> {
        let kept = self.enter_rows();
        self.enter_constants(free)?;
        self.enter_mask_places()?;
        self.a.clear(RCX);
        let (elements, whole, many) = (self.elements(), self.a.label(), self.a.label());
        let parts = self.graph.parts_of_block();
        self.a.compare(RSI, (parts * elements) as i32);
        self.a.jump_if(Condition::Zero, whole);
        if parts == 1 {
            self.a.jump_if(Condition::Greater, many);
            let left = self.left();
            self.a.left(left, elements);
            self.rows_of(kept, |own| own.only_block(&[left]))?;
        } else {
            self.a.jump_if(Condition::NotZero, many);
        }
        self.a.bind(whole);
        self.rows_of(kept, |own| own.only_block(&[ALL; 2][..parts as usize]))?;
        self.a.bind(many);
        let sets = if of_blocks { parts } else { parts * SETS };
        self.rows_of(kept, |own| {
            own.ask_for_later_rows();
            own.blocks_of_row(sets)
        })?;
        self.faults(kept);
        Some(())
    }

    /// Registers for masks that each row has.
    pub(super) fn enter_mask_places(&mut self) -> Option<()> {
        for id in self.schedule.same.clone() {
            if self.graph.nodes[id].is_mask() {
                self.same[id] = Some(ValuePlace::Mask(self.take_mask()?));
            }
        }
        Some(())
    }

    /// Each row, up to the end of the function.
    fn rows_of(&mut self, kept: usize, one: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let top = self.a.label();
        if self.walked.is_some() {
            self.enter_row();
        }
        self.a.align();
        self.a.bind(top);
        if self.walked.is_some() {
            self.choose_rows();
            one(self)?;
            self.next_row(top);
        } else {
            self.enter_row();
            one(self)?;
            let next = 8 * self.graph.arguments as i32;
            self.a.add(RDI, next);
            self.a.compare_with(RDI, ROWS_END);
            self.a.jump_if(Condition::Less, top);
        }
        self.leave_rows(kept, 0);
        Some(())
    }

    /// A row that is a block of the kernel, or less; a mask for each register of it.
    fn only_block(&mut self, masks: &[Mask]) -> Option<()> {
        self.start_partials(masks.len() as u32)?;
        self.start_flags()?;
        for (block, &mask) in masks.iter().enumerate() {
            let block = block as u32;
            self.block(Turn { block, set: Some(block), mask, asks_ahead: false })?;
        }
        self.end_folds()?;
        self.end_flags(true);
        Some(())
    }

    /// A row of more blocks, with so many sets of partial results. Rows without folds, and of one block of the kernel,
    /// have as many blocks as there are sets, at most.
    fn blocks_of_row(&mut self, sets: u32) -> Option<()> {
        let folds = !self.graph.folds.is_empty() || !self.graph.flags.is_empty();
        if !folds && !self.graph.registers.have_masks() {
            return self.whole_blocks_of_row();
        }
        self.start_partials(sets)?;
        self.start_flags()?;
        self.a.load(RSI, ROW_LENGTH);
        let elements = self.elements() as i32;
        let step = sets as i32 * elements;
        let (rest, end) = (self.a.label(), self.a.label());
        let decided = self.a.label();
        if folds && sets > self.graph.parts_of_block() {
            self.a.clear(RCX);
            self.a.subtract(RSI, step);
            self.a.jump_if(Condition::Less, rest);
            self.whole_turns(sets, decided)?;
            self.a.bind(rest);
            self.a.add(RSI, step);
        }
        for block in 0..sets {
            self.a.compare(RSI, 0);
            self.a.jump_if(Condition::NotGreater, end);
            let mask = self.left();
            self.a.left(mask, elements as u32);
            self.block(Turn { block, set: Some(block), mask, asks_ahead: false })?;
            self.a.subtract(RSI, elements);
        }
        self.a.bind(end);
        self.end_folds()?;
        self.a.bind(decided);
        self.end_flags(true);
        Some(())
    }

    /// A row of more blocks without folds, where masks take time: what is written under one is slow to read again.
    fn whole_blocks_of_row(&mut self) -> Option<()> {
        self.a.load(RSI, ROW_LENGTH);
        let (singles, end) = (self.a.label(), self.a.label());
        let blocks = blocks_of_turn(self.schedule.steps.len());
        self.turns(blocks, None, (singles, end))?;
        self.a.bind(singles);
        if blocks > 1 {
            self.whole_singles()?;
        }
        self.singles()?;
        self.a.bind(end);
        self.a.clear(RCX);
        Some(())
    }

    /// Lets so many sets of each fold be the identity.
    fn start_partials(&mut self, count: u32) -> Option<()> {
        for fold in &self.graph.folds {
            let bits = fold.reduce.identity(fold.dtype);
            let size = fold.dtype.size();
            let identity = Memory::Constant(self.a.constant(in_64_bits(bits, size)));
            let mut sets = Vec::new();
            for _ in 0..count {
                let own = Zmm(self.vectors.pop()?);
                self.of_size(size).broadcast(own, identity);
                sets.push(own);
            }
            self.partials.push(sets);
        }
        Some(())
    }

    fn end_folds(&mut self) -> Option<()> {
        for (fold, sets) in std::mem::take(&mut self.partials).into_iter().enumerate() {
            self.end_fold(fold, &sets)?;
            self.vectors.extend(sets.iter().map(|own| own.0));
        }
        Some(())
    }

    /// Folds the sets to one, then its lanes by halves, and stores what is left, or folds it into the output. Sets that
    /// are not there are the identity, which changes nothing.
    fn end_fold(&mut self, fold: usize, sets: &[Zmm]) -> Option<()> {
        let own = self.graph.folds[fold];
        let (a, size) = (sets[0], own.dtype.size());
        let mut apart = sets.len() / 2;
        while apart > 0 {
            for at in 0..apart {
                self.join(own, sets[at], sets[at + apart])?;
            }
            apart /= 2;
        }
        let turned = Zmm(*self.vectors.last()?);
        let mut half = self.graph.lanes * size / 2;
        while half >= size {
            self.of_size(size).turn_lanes(turned, a, half);
            self.join(own, a, turned)?;
            half /= 2;
        }
        let Some(walked) = &self.walked else {
            self.of_registers().store_first(Memory::At(RDI, 8 * own.sets as i32), a);
            return Some(());
        };
        if size < 4 {
            return None;
        }
        let target = Memory::At(self.register_of(walked.plan.targets[fold])?, 0);
        self.of_size(size).load_one(turned, target);
        self.join(own, turned, a)?;
        self.of_size(size).store_one(target, turned);
        Some(())
    }

    /// `x = x op y`, as partial results are joined.
    fn join(&mut self, fold: Partials, x: Zmm, y: Zmm) -> Option<()> {
        let (op, dtype) = (fold.reduce.0, fold.dtype);
        if !dtype.is_float() {
            let op = integer_op(op, dtype)?;
            self.of_size(dtype.size()).integer(op, x, x, Operand::Register(y));
            return Some(());
        }
        let nan = self.scratch_mask()?;
        join(&mut self.of_size(dtype.size()), op, x, y, nan)
    }

    /// Where the set is that comes so many after the one whose turn it is; the address is in `rax`.
    pub(super) fn partials_address(&mut self, fold: usize, after: u32) -> Memory {
        let own = self.graph.folds[fold];
        let bytes = self.graph.lanes * own.dtype.size();
        let all = bytes * own.sets_of(self.graph.lanes);
        self.a.load(RAX, Memory::At(RDI, 8 * own.turn as i32));
        self.a.add(RAX, (after * bytes) as i32);
        self.a.and(RAX, (all - 1) as i32);
        self.a.add_from(RAX, Memory::At(RDI, 8 * own.sets as i32));
        Memory::At(RAX, 0)
    }

    /// Lets it be the turn of the next set.
    pub(super) fn next_set(&mut self, fold: usize) {
        let own = self.graph.folds[fold];
        let bytes = self.graph.lanes * own.dtype.size();
        let all = bytes * own.sets_of(self.graph.lanes);
        let turn = Memory::At(RDI, 8 * own.turn as i32);
        self.a.load(RAX, turn);
        self.a.add(RAX, bytes as i32);
        self.a.and(RAX, (all - 1) as i32);
        self.a.store(turn, RAX);
    }
}

impl Partials {
    /// The number of sets of as many elements as a block has. Floats have four sets of as many as the kernel says, as
    /// their order counts; others have four of those that a block folds into.
    pub(super) fn sets_of(&self, lanes: u32) -> u32 {
        if self.dtype.is_float() { SETS * self.lanes / lanes } else { SETS }
    }
}

/// The instruction that joins partial results.
fn integer_op(op: Op, dtype: Dtype) -> Option<IntegerOp> {
    Some(match op {
        Op::Add => IntegerOp::Add,
        Op::Mul if dtype.size() > 1 => IntegerOp::Mul,
        Op::And => IntegerOp::And,
        Op::Or => IntegerOp::Or,
        Op::Maximum => IntegerOp::Most(dtype.is_signed()),
        Op::Minimum => IntegerOp::Least(dtype.is_signed()),
        _ => return None,
    })
}

/// `x = x op y`, as partial results are joined: of equal numbers the first, and a NaN wins. A mask is written over.
pub(super) fn join(own: &mut Instructions, op: Op, x: Zmm, y: Zmm, nan: Mask) -> Option<()> {
    let float = match op {
        Op::Add => FloatOp::Add,
        Op::Mul => FloatOp::Mul,
        Op::Maximum | Op::Minimum => {
            // The second one, unless the first is more (or less).
            own.extreme_or_nan(op == Op::Maximum, x, y, Operand::Register(x), nan);
            return Some(());
        }
        _ => return None,
    };
    own.float(float, x, x, Operand::Register(y));
    Some(())
}
