//! Masks, which have a bit for each element, or all bits of it: bools, and folds of these. Such a fold is decided by one element, and a
//! function that does nothing else ends there.

use crate::dtype::Dtype;
use crate::vector::x86::assembler::{
    ALL, AND, AND_NOT, Condition, Label, Mask, Memory, OR, RAX, RDI, XOR, Zmm,
};
use crate::vector::x86::function::{Function, Turn, ValuePlace};
use crate::vector::x86::translate::{Id, Node};
use crate::vector::{Effect, Given};

impl Function<'_> {
    pub(super) fn mask(&self, id: Id) -> Option<Mask> {
        match self.places[id].or(self.same[id]) {
            Some(ValuePlace::Mask(own)) => Some(own),
            _ => None,
        }
    }

    // ------------------------------------------------------------ folds

    /// No element has decided a fold.
    pub(super) fn start_flags(&mut self) -> Option<()> {
        for _ in 0..self.graph.flags.len() {
            let own = self.take_mask()?;
            self.a.masks(XOR, own, own, own);
            self.flags.push(own);
        }
        Some(())
    }

    /// Notes which elements decide a fold: those that are true, or those that are false.
    pub(super) fn flag(&mut self, of: usize, node: Id, turn: Turn) -> Option<()> {
        let (own, holds) = (self.flags[of], self.mask(node)?);
        let by_false = self.graph.flags[of].reduce.identity(Dtype::Bool) == 1;
        if turn.mask == ALL && !by_false {
            self.a.masks(OR, own, own, holds);
            return Some(());
        }
        let scratch = self.scratch_mask()?;
        match (by_false, turn.mask) {
            (true, ALL) => self.a.not_mask(scratch, holds),
            (true, mask) => self.a.masks(AND_NOT, scratch, holds, mask),
            (false, mask) => self.a.masks(AND, scratch, holds, mask),
        }
        self.a.masks(OR, own, own, scratch);
        Some(())
    }

    /// Leaves a loop whose results are all decided.
    pub(super) fn leave_if_decided(&mut self, to: Label) {
        let alone = self.graph.effects.iter().all(|own| matches!(own, Effect::Flag { .. }));
        if let (&[own], true) = (self.flags.as_slice(), alone) {
            self.a.test_mask(own, self.graph.lanes);
            self.a.jump_if(Condition::NotZero, to);
        }
    }

    /// Stores the results of folds. Those of a row that stands `alone` go where the addresses of partial results would
    /// be; others go to the first partial result, if they are decided.
    pub(super) fn end_flags(&mut self, alone: bool) {
        for (of, flag) in std::mem::take(&mut self.flags).into_iter().enumerate() {
            let own = self.graph.flags[of];
            let empty = own.reduce.identity(Dtype::Bool) as u8;
            let argument = Memory::At(RDI, 8 * own.sets as i32);
            let (stays, place) = (self.a.label(), Memory::At(RAX, 0));
            if alone {
                self.a.store_byte(argument, empty);
            } else {
                self.a.load(RAX, argument);
            }
            self.a.test_mask(flag, self.graph.lanes);
            self.free_mask(flag);
            self.a.jump_if(Condition::Zero, stays);
            self.a.store_byte(if alone { argument } else { place }, 1 - empty);
            self.a.bind(stays);
        }
    }

    // ------------------------------------------------------------ values

    pub(super) fn compute_mask(&mut self, id: Id, node: Node, at: usize, turn: Turn) -> Option<()> {
        let scratch = Zmm(*self.vectors.last()?);
        let to = match node {
            Node::Given(Given::Load { at, dtype, .. } | Given::LateLoad { at, dtype }) => {
                let own = self.take_mask()?;
                let from = self.elements_of(at, dtype, turn);
                self.of_size(1).load_bools(own, scratch, from, turn.mask);
                own
            }
            Node::CompareFloats(_, x, y) | Node::CompareIntegers { args: [x, y], .. } => {
                let (x, y) = (self.register(x, scratch)?, self.operand(y)?);
                self.free_ended(at, None);
                let own = self.take_mask()?;
                match node {
                    Node::CompareFloats(how, ..) => {
                        self.of(id).compare_floats(how, own, x, y);
                    }
                    Node::CompareIntegers { signed, predicate, .. } => {
                        self.of(id).compare_integers((signed, predicate), own, x, y);
                    }
                    _ => unreachable!("it is one of the two"),
                }
                own
            }
            Node::Masks(op, x, y) => {
                let (x, y) = (self.mask(x)?, self.mask(y)?);
                self.free_ended(at, None);
                let own = self.take_mask()?;
                self.of(id).masks(op, own, x, y);
                own
            }
            Node::NotMask(x) => {
                let x = self.mask(x)?;
                self.free_ended(at, None);
                let own = self.take_mask()?;
                self.a.not_mask(own, x);
                own
            }
            _ => return None,
        };
        self.places[id] = Some(ValuePlace::Mask(to));
        Some(())
    }
}
