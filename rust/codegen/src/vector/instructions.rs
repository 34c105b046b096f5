//! The instruction of each node.

use crate::vector::assembler::{
    ALL, Assembler, Kind, Length, Mask, Memory, NONE, Operand, P66, PF2, PF3, Parts, Zmm,
};
use crate::vector::translate::{FloatOp, IntegerOp, MaskOp};

/// Writes instructions for elements of so many bytes.
pub(super) struct Instructions<'a> {
    pub(super) a: &'a mut Assembler,
    pub(super) size: u32,
}

/// An instruction without a mask.
fn parts(reg: u8, second: Option<u8>) -> Parts {
    Parts {
        reg,
        second,
        mask: ALL,
        zeroing: false,
        length: Length::Bits512,
        unit: 64,
        immediate: None,
    }
}

const fn kind(map: u8, prefix: u8, wide: bool) -> Kind {
    Kind { map, prefix, wide }
}

impl Instructions<'_> {
    fn is_wide(&self) -> bool {
        self.size == 8
    }

    /// The kind of instructions of floats.
    fn floats(&self) -> Kind {
        kind(1, if self.is_wide() { P66 } else { NONE }, self.is_wide())
    }

    /// The kind of instructions of integers, in a map.
    fn integers(&self, map: u8) -> Kind {
        kind(map, P66, self.is_wide())
    }

    /// `to = from`; where there is a mask, the others are zero.
    pub(super) fn load(&mut self, to: Zmm, from: Operand, mask: Mask) {
        let own = Parts { mask, zeroing: mask != ALL, ..parts(to.0, None) };
        self.a.vector(self.floats(), 0x10, &own, from);
    }

    pub(super) fn store(&mut self, to: Operand, from: Zmm, mask: Mask) {
        let own = Parts { mask, ..parts(from.0, None) };
        self.a.vector(self.floats(), 0x11, &own, to);
    }

    /// One element of memory, for all elements.
    pub(super) fn broadcast(&mut self, to: Zmm, from: Memory) {
        let opcode = if self.is_wide() { 0x59 } else { 0x58 };
        let own = Parts { unit: self.size as i32, ..parts(to.0, None) };
        self.a.vector(self.integers(2), opcode, &own, Operand::Vector(from));
    }

    /// The elements so many bytes later, those of the front behind the last ones.
    pub(super) fn turn_lanes(&mut self, to: Zmm, from: Zmm, bytes: u32) {
        let own = Parts { immediate: Some((bytes / self.size) as u8), ..parts(to.0, Some(from.0)) };
        self.a.vector(self.integers(3), 0x03, &own, Operand::Register(from));
    }

    /// The even elements of both in turns, or the odd ones; of eight bytes.
    pub(super) fn interleave(&mut self, odd: bool, to: Zmm, x: Zmm, y: Zmm) {
        let opcode = if odd { 0x15 } else { 0x14 };
        self.a.vector(self.floats(), opcode, &parts(to.0, Some(x.0)), Operand::Register(y));
    }

    /// Two quarters of the first and two of the second, by pairs of bits.
    pub(super) fn quarters(&mut self, to: Zmm, x: Zmm, y: Zmm, which: u8) {
        let own = Parts { immediate: Some(which), ..parts(to.0, Some(x.0)) };
        self.a.vector(self.integers(3), 0x23, &own, Operand::Register(y));
    }

    /// Stores the first eight bytes.
    pub(super) fn store_first(&mut self, to: Memory, from: Zmm) {
        let own = Parts { length: Length::Bits128, unit: 8, ..parts(from.0, None) };
        self.a.vector(kind(1, P66, true), 0xd6, &own, Operand::Vector(to));
    }

    /// One element of memory; the others are zero.
    pub(super) fn load_one(&mut self, to: Zmm, from: Memory) {
        self.one(0x10, to, from);
    }

    /// Stores the first element.
    pub(super) fn store_one(&mut self, to: Memory, from: Zmm) {
        self.one(0x11, from, to);
    }

    fn one(&mut self, opcode: u8, own: Zmm, memory: Memory) {
        let prefix = if self.is_wide() { PF2 } else { PF3 };
        let parts = Parts { length: Length::Bits128, unit: self.size as i32, ..parts(own.0, None) };
        let kind = kind(1, prefix, self.is_wide());
        self.a.vector(kind, opcode, &parts, Operand::Vector(memory));
    }

    /// `to = from` where the mask says so.
    pub(super) fn copy(&mut self, to: Zmm, from: Zmm, mask: Mask) {
        let own = Parts { mask, ..parts(to.0, None) };
        self.a.vector(self.floats(), 0x28, &own, Operand::Register(from));
    }

    pub(super) fn float(&mut self, op: FloatOp, to: Zmm, x: Zmm, y: Operand) {
        let (kind, opcode, immediate) = match op {
            FloatOp::Add => (self.floats(), 0x58, None),
            FloatOp::Mul => (self.floats(), 0x59, None),
            FloatOp::Sub => (self.floats(), 0x5c, None),
            FloatOp::Div => (self.floats(), 0x5e, None),
            FloatOp::Scale => (self.integers(2), 0x2c, None),
            // The smaller size, with the sign of the first.
            FloatOp::Nearer => (self.integers(3), 0x50, Some(6)),
        };
        self.a.vector(kind, opcode, &Parts { immediate, ..parts(to.0, Some(x.0)) }, y);
    }

    /// `to = to * x + y`, rounded once.
    pub(super) fn multiply_add(&mut self, to: Zmm, x: Zmm, y: Operand) {
        self.a.vector(self.integers(2), 0xa8, &parts(to.0, Some(x.0)), y);
    }

    /// `to = x * y + to`, rounded once.
    pub(super) fn add_product(&mut self, to: Zmm, x: Zmm, y: Operand) {
        self.a.vector(self.integers(2), 0xb8, &parts(to.0, Some(x.0)), y);
    }

    /// The mantissa from 3/4 to 3/2; NaN of negative numbers.
    pub(super) fn mantissa(&mut self, to: Zmm, x: Operand) {
        let own = Parts { immediate: Some(0xb), ..parts(to.0, None) };
        self.a.vector(self.integers(3), 0x26, &own, x);
    }

    pub(super) fn exponent(&mut self, to: Zmm, x: Operand) {
        self.a.vector(self.integers(2), 0x42, &parts(to.0, None), x);
    }

    /// The entries at the last bits of `at`, of a table in one register.
    pub(super) fn entries(&mut self, to: Zmm, at: Zmm, table: Operand) {
        self.a.vector(self.integers(2), 0x16, &parts(to.0, Some(at.0)), table);
    }

    /// The entries at the last bits of `to`, of a table in a register and another place.
    pub(super) fn entries_of_two(&mut self, to: Zmm, first: Zmm, second: Operand) {
        self.a.vector(self.integers(2), 0x77, &parts(to.0, Some(first.0)), second);
    }

    /// Changes `to` where `of` is a zero, infinity, NaN or negative.
    pub(super) fn edges(&mut self, to: Zmm, of: Zmm, how: Operand) {
        let own = Parts { immediate: Some(0), ..parts(to.0, Some(of.0)) };
        self.a.vector(self.integers(3), 0x54, &own, how);
    }

    /// The larger of two, or the smaller: the second if it is a NaN, or the first is one.
    pub(super) fn extreme(&mut self, largest: bool, to: Zmm, x: Zmm, y: Operand) {
        let opcode = if largest { 0x5f } else { 0x5d };
        self.a.vector(self.floats(), opcode, &parts(to.0, Some(x.0)), y);
    }

    pub(super) fn sqrt(&mut self, to: Zmm, x: Operand) {
        self.a.vector(self.floats(), 0x51, &parts(to.0, None), x);
    }

    pub(super) fn round(&mut self, how: u8, to: Zmm, x: Operand) {
        let opcode = if self.is_wide() { 9 } else { 8 };
        let own = Parts { immediate: Some(how), ..parts(to.0, None) };
        self.a.vector(self.integers(3), opcode, &own, x);
    }

    pub(super) fn integer(&mut self, op: IntegerOp, to: Zmm, x: Zmm, y: Operand) {
        let wide = self.is_wide();
        let (map, opcode) = match op {
            IntegerOp::Add => (1, if wide { 0xd4 } else { 0xfe }),
            IntegerOp::Sub => (1, if wide { 0xfb } else { 0xfa }),
            IntegerOp::Mul => (2, 0x40),
            IntegerOp::And => (1, 0xdb),
            IntegerOp::Or => (1, 0xeb),
            IntegerOp::Xor => (1, 0xef),
        };
        self.a.vector(self.integers(map), opcode, &parts(to.0, Some(x.0)), y);
    }

    pub(super) fn compare_floats(&mut self, predicate: u8, to: Mask, x: Zmm, y: Operand) {
        let own = Parts { immediate: Some(predicate), ..parts(to.0, Some(x.0)) };
        self.a.vector(self.floats(), 0xc2, &own, y);
    }

    pub(super) fn compare_integers(
        &mut self,
        (signed, predicate): (bool, u8),
        to: Mask,
        x: Zmm,
        y: Operand,
    ) {
        let opcode = if signed { 0x1f } else { 0x1e };
        let own = Parts { immediate: Some(predicate), ..parts(to.0, Some(x.0)) };
        self.a.vector(self.integers(3), opcode, &own, y);
    }

    pub(super) fn choose(&mut self, to: Zmm, mask: Mask, yes: Operand, no: Zmm) {
        let own = Parts { mask, ..parts(to.0, Some(no.0)) };
        self.a.vector(self.integers(2), 0x65, &own, yes);
    }

    pub(super) fn masks(&mut self, op: MaskOp, to: Mask, x: Mask, y: Mask) {
        let opcode = match op {
            MaskOp::And => 0x41,
            MaskOp::Or => 0x45,
            MaskOp::Same => 0x46,
            MaskOp::Xor => 0x47,
        };
        self.a.masks(opcode, to, x, y);
    }

    /// The mask of the bytes that are not zero, one for each element; `scratch` is written over.
    pub(super) fn load_bools(&mut self, to: Mask, scratch: Zmm, from: Operand, mask: Mask) {
        let (opcode, unit) = if self.is_wide() { (0x32, 8) } else { (0x31, 16) };
        let own = Parts { mask, zeroing: mask != ALL, unit, ..parts(scratch.0, None) };
        self.a.vector(kind(2, P66, false), opcode, &own, from);
        let own = parts(to.0, Some(scratch.0));
        self.a.vector(self.integers(2), 0x27, &own, Operand::Register(scratch));
    }

    /// Writes a byte for each element, 1 where `from` says so; `scratch` is written over.
    pub(super) fn store_bools(&mut self, to: Operand, from: Mask, scratch: Zmm, mask: Mask) {
        let short = |reg| Parts { length: Length::Bits128, unit: 0, ..parts(reg, None) };
        let own = short(scratch.0);
        // The bytes are -1, and then 1.
        self.a.vector(kind(2, PF3, false), 0x28, &own, Operand::Register(Zmm(from.0)));
        self.a.vector(kind(2, P66, false), 0x1c, &own, Operand::Register(scratch));
        if mask == ALL && self.is_wide() {
            self.a.vector(kind(1, P66, true), 0xd6, &own, to);
        } else {
            self.a.vector(kind(1, PF2, false), 0x7f, &Parts { mask, ..own }, to);
        }
    }
}
