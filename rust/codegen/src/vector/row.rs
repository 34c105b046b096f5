//! The fold of a whole row within registers: all partial results begin as the identity, and become one at the end. Of
//! longer rows they are in memory, and begin there.

use crate::op::Op;
use crate::vector::assembler::{
    ALL, Assembler, Condition, Mask, Memory, Operand, RAX, RCX, RDI, RSI, Zmm,
};
use crate::vector::function::{Function, LEFT, Turn};
use crate::vector::instructions::Instructions;
use crate::vector::translate::FloatOp;
use crate::vector::{BYTES, SETS};

/// The instructions of a function that lets all sets of partial results, at the address that is its first argument, hold
/// these bits. Smaller stores would be slow to be read as whole sets.
pub(super) fn fill(bits: u64) -> Vec<u8> {
    let mut a = Assembler::default();
    let constant = Memory::Constant(a.constant(bits));
    let mut own = Instructions { size: 8, a: &mut a };
    own.broadcast(Zmm(0), constant);
    for set in 0..SETS {
        let place = Operand::Vector(Memory::At(RDI, (set * BYTES) as i32));
        own.store(place, Zmm(0), ALL);
    }
    a.clean();
    a.ret();
    a.finish()
}

impl Function<'_> {
    /// Folds all elements. The results stand where the addresses of the sets would be.
    pub(super) fn fold_row(&mut self) -> Option<()> {
        self.start_partials()?;
        let elements = self.elements() as i32;
        let step = SETS as i32 * elements;
        let (top, rest, end) = (self.a.label(), self.a.label(), self.a.label());
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::Less, rest);
        self.a.align();
        self.a.bind(top);
        for block in 0..SETS {
            self.block(Turn { block, mask: ALL, holds_partials: true })?;
        }
        self.a.add(RCX, step);
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::NotLess, top);
        self.a.bind(rest);
        self.a.add(RSI, step);
        for block in 0..SETS {
            self.a.compare(RSI, 0);
            self.a.jump_if(Condition::NotGreater, end);
            self.a.low_bits(elements as u32);
            self.a.mask_of_rax(LEFT);
            self.block(Turn { block, mask: LEFT, holds_partials: true })?;
            self.a.subtract(RSI, elements);
        }
        self.a.bind(end);
        for fold in 0..self.graph.folds.len() {
            self.end_fold(fold)?;
        }
        Some(())
    }

    fn start_partials(&mut self) -> Option<()> {
        for fold in &self.graph.folds {
            let bits = fold.reduce.identity(fold.dtype);
            let bits = if self.graph.size == 4 { bits | bits << 32 } else { bits };
            let identity = Memory::Constant(self.a.constant(bits));
            let mut sets = Vec::new();
            for _ in 0..SETS {
                let own = Zmm(self.vectors.pop()?);
                self.instructions().broadcast(own, identity);
                sets.push(own);
            }
            self.partials.push(sets);
        }
        Some(())
    }

    /// Folds the sets to one, then its lanes by halves, and stores what is left.
    fn end_fold(&mut self, fold: usize) -> Option<()> {
        let own = self.graph.folds[fold];
        let &[a, b, c, d] = self.partials[fold].as_slice() else { return None };
        self.join(own.reduce.0, a, c)?;
        self.join(own.reduce.0, b, d)?;
        self.join(own.reduce.0, a, b)?;
        let mut half = BYTES / 2;
        while half >= self.graph.size {
            self.instructions().turn_lanes(b, a, half);
            self.join(own.reduce.0, a, b)?;
            half /= 2;
        }
        self.instructions().store_first(Memory::At(RDI, 8 * own.sets as i32), a);
        Some(())
    }

    /// `a = a op b`, as partial results are joined: of equal numbers the first, and a NaN wins.
    fn join(&mut self, op: Op, a: Zmm, b: Zmm) -> Option<()> {
        let float = match op {
            Op::Add => FloatOp::Add,
            Op::Mul => FloatOp::Mul,
            Op::Maximum | Op::Minimum => {
                let nan = Mask(*self.masks.last()?);
                self.instructions().compare_floats(3, nan, b, Operand::Register(b));
                // The second one, unless the first is more (or less).
                self.instructions().extreme(op == Op::Maximum, a, b, Operand::Register(a));
                self.instructions().copy(a, b, nan);
                return Some(());
            }
            _ => return None,
        };
        self.instructions().float(float, a, a, Operand::Register(b));
        Some(())
    }

    /// Where the set is that comes so many after the one whose turn it is; the address is in `rax`.
    pub(super) fn partials_address(&mut self, fold: usize, after: u32) -> Memory {
        let own = self.graph.folds[fold];
        self.a.load(RAX, Memory::At(RDI, 8 * own.turn as i32));
        if after > 0 {
            self.a.add(RAX, (after * BYTES) as i32);
            self.a.and(RAX, (SETS * BYTES - 1) as i32);
        }
        self.a.add_from(RAX, Memory::At(RDI, 8 * own.sets as i32));
        Memory::At(RAX, 0)
    }
}
