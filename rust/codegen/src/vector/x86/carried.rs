//! Partial sums that a function carries to the second level by itself, from registers, and goes on: until sums go to the
//! third level, one call does what would be sixteen. While a call ends and the next one begins, no memory is asked for,
//! which is felt where elements come from beyond the caches.

use crate::vector::x86::assembler::{ALL, Condition, Label, Memory, Operand, RAX, RDI, RSI, Zmm};
use crate::vector::x86::function::Function;
use crate::vector::x86::translate::{FloatOp, in_64_bits};
use frazil_runtime::TURNS;

impl Function<'_> {
    /// Where the elements are counted that follow once partial sums were carried, if the function carries them: those of
    /// one fold, which are in registers. Of 512 bits it was not measured.
    pub(super) fn rest_of_call(&self) -> Option<Memory> {
        let [fold] = self.graph.folds.as_slice() else { return None };
        let alone = self.graph.flags.is_empty() && !self.graph.registers.have_masks();
        let rest = fold.rest.filter(|_| alone)?;
        Some(Memory::At(RDI, 8 * rest as i32))
    }

    /// After turns of `step` elements, which end where partial sums are due if others follow: carries them, and goes on
    /// `again` with those up to where they are due next.
    pub(super) fn carry(&mut self, rest: Memory, step: i32, again: Label) -> Option<()> {
        let (end, whole) = (self.a.label(), self.a.label());
        let all = step * TURNS as i32;
        self.a.load(RAX, rest);
        self.a.compare(RAX, 0);
        self.a.jump_if(Condition::NotGreater, end);
        self.a.clear(RSI);
        self.a.add(RSI, all);
        self.a.subtract(RAX, all);
        self.a.store(rest, RAX);
        self.a.jump_if(Condition::NotLess, whole);
        self.a.add_register(RSI, RAX);
        self.a.bind(whole);
        self.carry_sets()?;
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::NotLess, again);
        self.a.add(RSI, step);
        self.a.bind(end);
        Some(())
    }

    /// Adds the sets in registers, which begin with the first, to those of the second level, and begins them anew.
    fn carry_sets(&mut self) -> Option<()> {
        let fold = self.graph.folds[0];
        let size = fold.dtype.size();
        let identity = fold.reduce.identity(fold.dtype);
        let identity = Memory::Constant(self.a.constant(in_64_bits(identity, size)));
        let sets = self.partials[0].clone();
        let bytes = self.elements() * size;
        let high = Zmm(*self.vectors.last()?);
        self.a.load(RAX, Memory::At(RDI, 8 * fold.sets as i32));
        for (at, &low) in sets.iter().enumerate() {
            let distance = (sets.len() + at) as i32 * bytes as i32;
            let place = Operand::Vector(Memory::At(RAX, distance));
            let mut own = self.of_size(size);
            own.load(high, place, ALL);
            own.float(FloatOp::Add, high, high, Operand::Register(low));
            own.store(place, high, ALL);
            own.broadcast(low, identity);
        }
        Some(())
    }
}
