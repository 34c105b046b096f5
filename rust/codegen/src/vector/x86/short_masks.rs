//! Masks of registers of 256 bits: registers whose elements have all bits or none. Each element is as wide as the widest
//! of its block.

use crate::vector::x86::assembler::Assembler;
use crate::vector::x86::assembler::{
    AND, AND_NOT, Condition, Gpr, Kind, Length, Mask, Memory, NONE, OR, Operand, P66, Parts, RAX,
    RSI, XOR, Zmm,
};
use crate::vector::x86::instructions::{Instructions, kind};

/// The register that instructions write over which need one besides their operands. No value is in it.
pub(super) const OVER: Zmm = Zmm(0);

/// An instruction on whole registers.
pub(super) fn whole(reg: u8, second: Option<u8>) -> Parts {
    parts(reg, second, Length::Bits256)
}

/// An instruction on the lower half.
pub(super) fn lower(reg: u8, second: Option<u8>) -> Parts {
    parts(reg, second, Length::Bits128)
}

fn parts(reg: u8, second: Option<u8>, length: Length) -> Parts {
    let mask = crate::vector::x86::assembler::ALL;
    Parts { reg, second, mask, zeroing: false, length, unit: 1, immediate: None }
}

const AND_BITS: (Kind, u8) = (kind(1, P66, false), 0xdb);
const AND_NOT_BITS: (Kind, u8) = (kind(1, P66, false), 0xdf);
const OR_BITS: (Kind, u8) = (kind(1, P66, false), 0xeb);
const XOR_BITS: (Kind, u8) = (kind(1, P66, false), 0xef);
const EQUAL_OF_32_BITS: (Kind, u8) = (kind(1, P66, false), 0x76);

impl Assembler {
    fn bits(&mut self, (kind, opcode): (Kind, u8), to: u8, first: u8, second: u8) {
        self.vector(kind, opcode, &whole(to, Some(first)), Operand::Register(Zmm(second)));
    }

    /// An operation of two masks, by its number among those of masks of bits.
    pub(super) fn short_masks(&mut self, opcode: u8, to: Mask, first: Mask, second: Mask) {
        let own = match opcode {
            AND => AND_BITS,
            AND_NOT => AND_NOT_BITS,
            OR => OR_BITS,
            XOR => XOR_BITS,
            _ => return self.short_same(to, first, second),
        };
        self.bits(own, to.0, first.0, second.0);
    }

    /// Where both masks have all bits, or none of them has.
    fn short_same(&mut self, to: Mask, first: Mask, second: Mask) {
        self.bits(EQUAL_OF_32_BITS, to.0, first.0, second.0);
    }

    /// `to = ~from`.
    pub(super) fn short_not(&mut self, to: Mask, from: Mask) {
        self.bits(EQUAL_OF_32_BITS, OVER.0, OVER.0, OVER.0);
        self.bits(XOR_BITS, to.0, from.0, OVER.0);
    }

    /// Compares a mask with none.
    pub(super) fn short_test(&mut self, own: Mask) {
        let (kind, own) = (kind(2, P66, false), own.0);
        self.vector(kind, 0x17, &whole(own, None), Operand::Register(Zmm(own)));
    }

    /// `to = [at]`, where 64 bits say it for all elements.
    pub(super) fn load_short_uniform(&mut self, to: Mask, from: Memory) {
        self.vector(kind(2, P66, false), 0x59, &whole(to.0, None), Operand::Vector(from));
    }

    /// `to` has those elements whose bits are set at an address, 16 bits.
    pub(super) fn load_short_bits(&mut self, to: Mask, from: Memory, elements: u32) {
        let numbers = match elements {
            4 => std::array::from_fn(|k| 1 << k),
            _ => std::array::from_fn(|k| (1 << (2 * k)) | ((2 << (2 * k)) << 32)),
        };
        let bits = Operand::Vector(Memory::Table(self.table(numbers)));
        // vpbroadcastw
        self.vector(kind(2, P66, false), 0x79, &whole(to.0, None), Operand::Vector(from));
        self.vector(AND_BITS.0, AND_BITS.1, &whole(to.0, Some(to.0)), bits);
        let (kind, opcode) = match elements {
            4 => (kind(2, P66, false), 0x29),
            _ => EQUAL_OF_32_BITS,
        };
        self.vector(kind, opcode, &whole(to.0, Some(to.0)), bits);
    }

    /// Stores a bit for each element of a mask, 16 bits; `r9` is written over.
    pub(super) fn store_short_bits(&mut self, to: Memory, from: Mask, elements: u32) {
        const BITS: Gpr = Gpr(9);
        // vmovmskpd or vmovmskps
        let prefix = if elements == 4 { P66 } else { NONE };
        let of_mask = Operand::Register(Zmm(from.0));
        self.vector(kind(1, prefix, false), 0x50, &whole(BITS.0, None), of_mask);
        self.store_short(to, BITS);
    }

    /// The mask of the elements before element `rsi`, of so many of a register; `rax` is written over.
    pub(super) fn short_left(&mut self, to: Mask, elements: u32) {
        let own = self.label();
        self.clear(RAX);
        self.add(RAX, elements as i32);
        self.compare(RSI, elements as i32);
        self.jump_if(Condition::NotLess, own);
        self.copy(RAX, RSI);
        self.bind(own);
        // vmovq to, rax: general registers have the numbers of vectors here.
        let Gpr(rax) = RAX;
        let wide = kind(1, P66, true);
        self.vector(wide, 0x6e, &lower(to.0, None), Operand::Register(Zmm(rax)));
        let (of_all, above, numbers) = match elements {
            4 => (0x59, (kind(2, P66, false), 0x37), std::array::from_fn(|k| k as u64)),
            _ => {
                let pair = |k: usize| (2 * k as u64) | ((2 * k as u64 + 1) << 32);
                (0x58, (kind(1, P66, false), 0x66), std::array::from_fn(pair))
            }
        };
        let all = whole(to.0, None);
        self.vector(kind(2, P66, false), of_all, &all, Operand::Register(Zmm(to.0)));
        let numbers = Operand::Vector(Memory::Table(self.table(numbers)));
        self.vector(above.0, above.1, &whole(to.0, Some(to.0)), numbers);
    }
}

impl Instructions<'_> {
    /// The mask of the bytes that are not zero; `left` says whether those from element `rsi` on are not read.
    pub(super) fn load_short_bools(&mut self, to: Mask, from: Memory, left: bool) {
        if left {
            self.a.bits(XOR_BITS, OVER.0, OVER.0, OVER.0);
            self.each_left(|a, k| {
                // vpinsrb
                let own = Parts { immediate: Some(k), ..lower(OVER.0, Some(OVER.0)) };
                let from = Operand::Vector(from.after(i32::from(k)));
                a.vector(kind(3, P66, false), 0x20, &own, from);
            });
        } else {
            // vmovd or vmovq
            let (kind, opcode) = match self.lanes {
                4 => (kind(1, P66, false), 0x6e),
                _ => (kind(1, crate::vector::x86::assembler::PF3, false), 0x7e),
            };
            self.a.vector(kind, opcode, &lower(OVER.0, None), Operand::Vector(from));
        }
        let (wider, above) = match self.lanes {
            4 => (0x32, (kind(2, P66, false), 0x37)),
            _ => (0x31, (kind(1, P66, false), 0x66)),
        };
        self.a.vector(kind(2, P66, false), wider, &whole(to.0, None), Operand::Register(OVER));
        self.a.bits(XOR_BITS, OVER.0, OVER.0, OVER.0);
        self.a.bits(above, to.0, to.0, OVER.0);
    }

    /// Writes a byte for each element, 1 where `from` says so; as there.
    pub(super) fn store_short_bools(&mut self, to: Memory, from: Mask, left: bool) {
        // The upper half, then both as elements of 16 bits.
        let upper = Parts { immediate: Some(1), ..whole(from.0, None) };
        self.a.vector(kind(3, P66, false), 0x39, &upper, Operand::Register(OVER));
        let pair = lower(OVER.0, Some(from.0));
        if self.lanes == 4 {
            let even = Parts { immediate: Some(0x88), ..pair };
            self.a.vector(kind(1, NONE, false), 0xc6, &even, Operand::Register(OVER));
            let own = lower(OVER.0, Some(OVER.0));
            self.a.vector(kind(1, P66, false), 0x6b, &own, Operand::Register(OVER));
        } else {
            self.a.vector(kind(1, P66, false), 0x6b, &pair, Operand::Register(OVER));
        }
        let own = lower(OVER.0, Some(OVER.0));
        self.a.vector(kind(1, P66, false), 0x63, &own, Operand::Register(OVER));
        // The bytes are -1, and then 1.
        self.a.vector(kind(2, P66, false), 0x1c, &lower(OVER.0, None), Operand::Register(OVER));
        if left {
            self.each_left(|a, k| {
                // vpextrb
                let own = Parts { immediate: Some(k), ..lower(OVER.0, None) };
                let to = Operand::Vector(to.after(i32::from(k)));
                a.vector(kind(3, P66, false), 0x14, &own, to);
            });
            return;
        }
        let opcode = if self.lanes == 4 { 0x7e } else { 0xd6 };
        self.a.vector(kind(1, P66, false), opcode, &lower(OVER.0, None), Operand::Vector(to));
    }

    /// Does something with each element before element `rsi`.
    fn each_left(&mut self, mut own: impl FnMut(&mut Assembler, u8)) {
        let end = self.a.label();
        for k in 0..self.lanes as u8 {
            self.a.compare(RSI, i32::from(k));
            self.a.jump_if(Condition::NotGreater, end);
            own(self.a, k);
        }
        self.a.bind(end);
    }
}
