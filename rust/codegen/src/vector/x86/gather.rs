//! Elements that indices choose, by one instruction for a register of them.

use crate::dtype::Dtype;
use crate::vector::x86::assembler::{ALL, Mask, OR, SAME, Zmm};
use crate::vector::x86::function::{Function, Turn};
use crate::vector::x86::translate::{Id, Node, Translation};
use cranelift_codegen::ir::Value;

impl Translation<'_> {
    /// The elements behind an argument that is an address, by distances in bytes.
    pub(super) fn gathered(&mut self, at: usize, dtype: Dtype, of: Value) -> Option<Id> {
        let of = self.element(of)?;
        Some(self.add(Node::Gather(at, dtype, of), dtype.size()))
    }
}

impl Function<'_> {
    /// A free register, which is not that one.
    pub(super) fn other_than(&mut self, but: Zmm) -> Option<Zmm> {
        let at = self.vectors.iter().rposition(|&own| own != but.0)?;
        Some(Zmm(self.vectors.remove(at)))
    }

    /// Brings the elements that distances choose, behind an argument that is an address, to a register.
    pub(super) fn gather(
        &mut self,
        id: Id,
        (behind, dtype): (usize, Dtype),
        to: Zmm,
        by: Zmm,
        turn: Turn,
    ) -> Option<()> {
        let base = self.address_in(behind);
        let mask = Mask(*self.masks.last()?);
        match turn.mask {
            ALL => self.a.masks(SAME, mask, mask, mask),
            some => self.a.masks(OR, mask, some, some),
        }
        self.of(id).gather(dtype.is_float(), to, mask, base, by);
        Some(())
    }
}
