//! Elements that indices choose: with AVX-512 by one instruction for a register of them, with AVX2 one by one, as an
//! instruction that gathers takes no less there.

use crate::dtype::Dtype;
use crate::vector::ChosenElement;
use crate::vector::x86::assembler::{ALL, Condition, Mask, Memory, OR, RAX, RDI, RSI, SAME, Zmm};
use crate::vector::x86::function::{Function, Turn};
use crate::vector::x86::short_masks::OVER;
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

    /// Brings the elements that indices choose to a register of 256 bits; of those that are left alone, if there is a mask.
    pub(super) fn collect(&mut self, own: ChosenElement, to: Zmm, turn: Turn) {
        let size = own.dtype.size();
        let (count, half) = (self.elements(), 16 / size);
        let end = self.a.label();
        if turn.mask != ALL {
            self.of_registers().clear(OVER);
        }
        for lane in 0..count {
            if turn.mask != ALL && lane > 0 {
                self.a.compare(RSI, lane as i32);
                self.a.jump_if(Condition::NotGreater, end);
            }
            let from = self.chosen_element(own, lane, turn);
            let half_of = if lane < half { to } else { OVER };
            self.of_size(size).load_into_half(half_of, lane % half, from);
        }
        self.a.bind(end);
        self.of_registers().halves(to, to, OVER, 0x20);
    }

    /// Where an element of the block is.
    fn chosen_element(&mut self, own: ChosenElement, lane: u32, turn: Turn) -> Memory {
        let (indices, dtype) = own.indices;
        let index = self.elements_of(indices, dtype, turn).after((lane * dtype.size()) as i32);
        match dtype.size() {
            8 => self.a.load(RAX, index),
            _ => self.a.load_signed(RAX, index),
        }
        self.a.multiply_by(RAX, Memory::At(RDI, 8 * own.stride as i32));
        if let Some(base) = self.register_of(own.at) {
            return Memory::Indexed(base, RAX, 1, 0);
        }
        self.a.add_from(RAX, Memory::At(RDI, 8 * own.at as i32));
        Memory::At(RAX, 0)
    }
}
