//! The instruction of each node.

use crate::vector::x86::assembler::{
    ALL, Assembler, Gpr, Kind, Length, Mask, Memory, NONE, Operand, P66, PF2, PF3, Parts, Zmm,
};
use crate::vector::x86::short_masks;
use crate::vector::x86::translate::{Conversion, FloatOp, IntegerOp, MaskOp, ShiftOp};

/// An instruction on so many bytes, without a mask.
fn parts_of(bytes: u32, reg: u8, second: Option<u8>) -> Parts {
    let length = length(bytes);
    let unit = 16 << length as i32;
    Parts { reg, second, mask: ALL, zeroing: false, length, unit, immediate: None }
}

/// Writes instructions for so many elements of so many bytes.
pub(super) struct Instructions<'a> {
    pub(super) a: &'a mut Assembler,
    pub(super) size: u32,
    pub(super) lanes: u32,
}

pub(super) const fn kind(map: u8, prefix: u8, wide: bool) -> Kind {
    Kind { map, prefix, wide }
}

/// The shortest vector of so many bytes.
fn length(bytes: u32) -> Length {
    match bytes {
        0..=16 => Length::Bits128,
        17..=32 => Length::Bits256,
        _ => Length::Bits512,
    }
}

impl Instructions<'_> {
    pub(super) fn is_wide(&self) -> bool {
        self.size == 8
    }

    fn is_narrow(&self) -> bool {
        self.size < 4
    }

    fn bytes(&self) -> u32 {
        self.size * self.lanes
    }

    /// Whether registers have 256 bits, and masks are such registers.
    fn is_short(&self) -> bool {
        !self.a.registers.have_masks()
    }

    /// An instruction without a mask.
    fn parts(&self, reg: u8, second: Option<u8>) -> Parts {
        parts_of(self.bytes(), reg, second)
    }

    /// The kind of instructions of floats.
    fn floats(&self) -> Kind {
        kind(1, if self.is_wide() { P66 } else { NONE }, self.is_wide())
    }

    /// The kind of instructions of integers, in a map.
    fn integers(&self, map: u8) -> Kind {
        kind(map, P66, self.is_wide())
    }

    /// The kind of those instructions of integers of which there are some for 8 and 16 bits, too.
    fn any_integers(&self, map: u8) -> Kind {
        kind(map, P66, self.size == 8 || self.size == 2)
    }

    /// The kind of instructions that move elements of 8 and 16 bits.
    fn narrow_moves(&self) -> Kind {
        kind(1, PF2, self.size == 2)
    }

    /// `to = from`; where there is a mask, the others are zero.
    pub(super) fn load(&mut self, to: Zmm, from: Operand, mask: Mask) {
        if self.is_short() && mask != ALL {
            return self.load_left(to, from, mask);
        }
        let own = Parts { mask, zeroing: mask != ALL, ..self.parts(to.0, None) };
        self.transfer(own, from, (kind(1, PF3, true), 0x7e), [0x6f, 0x10]);
    }

    pub(super) fn store(&mut self, to: Operand, from: Zmm, mask: Mask) {
        if self.is_short() && mask != ALL {
            return self.store_left(to, from, mask);
        }
        let own = Parts { mask, ..self.parts(from.0, None) };
        self.transfer(own, to, (kind(1, P66, true), 0xd6), [0x7f, 0x11]);
    }

    /// A load or a store: the instruction for eight bytes, and the codes of those for narrow elements and for floats.
    fn transfer(&mut self, own: Parts, memory: Operand, eight: (Kind, u8), codes: [u8; 2]) {
        let [narrow, floats] = codes;
        if self.bytes() < 16 && own.mask == ALL {
            self.a.vector(eight.0, eight.1, &Parts { unit: 8, ..own }, memory);
        } else if self.is_narrow() {
            self.a.vector(self.narrow_moves(), narrow, &own, memory);
        } else {
            self.a.vector(self.floats(), floats, &own, memory);
        }
    }

    /// One element of memory, for all elements of a register.
    pub(super) fn broadcast(&mut self, to: Zmm, from: Memory) {
        if self.is_short() {
            return self.short_broadcast(to, from);
        }
        let opcode = match self.size {
            1 => 0x78,
            2 => 0x79,
            4 => 0x58,
            _ => 0x59,
        };
        let bytes = self.a.registers.bytes();
        let own = Parts { unit: self.size as i32, ..parts_of(bytes, to.0, None) };
        self.a.vector(self.integers(2), opcode, &own, Operand::Vector(from));
    }

    /// The elements so many bytes later, those of the front behind the last ones; of fewer than four bytes it is the first
    /// element alone.
    pub(super) fn turn_lanes(&mut self, to: Zmm, from: Zmm, bytes: u32) {
        if self.is_short() {
            return self.turn_short_lanes(to, from, bytes);
        }
        let all = self.a.registers.bytes();
        if bytes < 4 {
            let opcode = if bytes == 2 { 0x72 } else { 0x71 };
            let immediate = Some(8 * bytes as u8);
            // The second operation of that number shifts to the right.
            let own = Parts { immediate, ..parts_of(all, 2, Some(to.0)) };
            self.a.vector(kind(1, P66, false), opcode, &own, Operand::Register(from));
            return;
        }
        let unit = self.size.max(4);
        let immediate = Some((bytes / unit) as u8);
        let own = Parts { immediate, ..parts_of(all, to.0, Some(from.0)) };
        self.a.vector(kind(3, P66, unit == 8), 0x03, &own, Operand::Register(from));
    }

    /// The even elements of both in turns, or the odd ones; of eight bytes.
    pub(super) fn interleave(&mut self, odd: bool, to: Zmm, x: Zmm, y: Zmm) {
        let opcode = if odd { 0x15 } else { 0x14 };
        self.a.vector(self.floats(), opcode, &self.parts(to.0, Some(x.0)), Operand::Register(y));
    }

    /// Two quarters of the first and two of the second, by pairs of bits.
    pub(super) fn quarters(&mut self, to: Zmm, x: Zmm, y: Zmm, which: u8) {
        let own = Parts { immediate: Some(which), ..self.parts(to.0, Some(x.0)) };
        self.a.vector(self.integers(3), 0x23, &own, Operand::Register(y));
    }

    /// Stores the first eight bytes.
    pub(super) fn store_first(&mut self, to: Memory, from: Zmm) {
        let own = Parts { unit: 8, ..parts_of(8, from.0, None) };
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
        let parts = Parts { unit: self.size as i32, ..parts_of(self.size, own.0, None) };
        let kind = kind(1, prefix, self.is_wide());
        self.a.vector(kind, opcode, &parts, Operand::Vector(memory));
    }

    /// `to = from` where the mask says so.
    pub(super) fn copy(&mut self, to: Zmm, from: Zmm, mask: Mask) {
        if self.is_short() && mask != ALL {
            return self.blend(to, mask, Operand::Register(from), to);
        }
        let own = Parts { mask, ..self.parts(to.0, None) };
        if self.is_narrow() {
            self.a.vector(self.narrow_moves(), 0x6f, &own, Operand::Register(from));
        } else {
            self.a.vector(self.floats(), 0x28, &own, Operand::Register(from));
        }
    }

    /// Elements behind an address by distances of 64 bits, which are not in `to`; the mask is written over.
    pub(super) fn gather(&mut self, floats: bool, to: Zmm, mask: Mask, base: Gpr, by: Zmm) {
        self.integer(IntegerOp::Xor, to, to, Operand::Register(to));
        // The highest bit of the register's number stands where that of a second operand does.
        let from = Memory::Indexed(base, Gpr(by.0 & 15), 1, 0);
        let own = Parts { mask, unit: 0, ..parts_of(8 * self.lanes, to.0, Some(by.0 & 16)) };
        let opcode = if floats { 0x93 } else { 0x91 };
        self.a.vector(self.integers(2), opcode, &own, Operand::Vector(from));
    }

    /// Elements of `from` bytes as others, of the size of these instructions.
    pub(super) fn convert(&mut self, how: Conversion, from: u32, to: Zmm, x: Zmm) {
        let (wide_from, wide_to) = (from == 8, self.size == 8);
        let (kind, opcode) = match how {
            Conversion::Wider(signed) => {
                let first = match (from, self.size) {
                    (1, 2) => 0x20,
                    (1, 4) => 0x21,
                    (1, _) => 0x22,
                    (2, 4) => 0x23,
                    (2, _) => 0x24,
                    _ => 0x25,
                };
                (kind(2, P66, false), first + if signed { 0 } else { 0x10 })
            }
            Conversion::Narrower => {
                let opcode = match (from, self.size) {
                    (2, _) => 0x30,
                    (4, 1) => 0x31,
                    (_, 1) => 0x32,
                    (4, _) => 0x33,
                    (_, 2) => 0x34,
                    _ => 0x35,
                };
                (kind(2, PF3, false), opcode)
            }
            Conversion::Float => (kind(1, if wide_from { P66 } else { NONE }, wide_from), 0x5a),
            Conversion::FromInteger(signed) => match (wide_to, signed) {
                (true, true) => (kind(1, PF3, wide_from), 0xe6),
                (true, false) => (kind(1, PF3, wide_from), 0x7a),
                (false, true) => (kind(1, NONE, wide_from), 0x5b),
                (false, false) => (kind(1, PF2, wide_from), 0x7a),
            },
            Conversion::ToInteger => match (wide_from, wide_to) {
                (true, false) => (kind(1, P66, true), 0xe6),
                (false, false) => (kind(1, PF3, false), 0x5b),
                (_, true) => (kind(1, P66, wide_from), 0x7a),
            },
        };
        // The destination comes last where elements become narrower.
        let (reg, last) = if how == Conversion::Narrower { (x, to) } else { (to, x) };
        let own = parts_of(self.lanes * from.max(self.size), reg.0, None);
        self.a.vector(kind, opcode, &own, Operand::Register(last));
    }

    pub(super) fn shift(&mut self, op: ShiftOp, to: Zmm, x: Zmm, by: Operand) {
        let (narrow, other) = match op {
            ShiftOp::Left => (0x12, 0x47),
            ShiftOp::Right => (0x10, 0x45),
            ShiftOp::RightWithSign => (0x11, 0x46),
        };
        let opcode = if self.is_narrow() { narrow } else { other };
        self.a.vector(self.any_integers(2), opcode, &self.parts(to.0, Some(x.0)), by);
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
        self.a.vector(kind, opcode, &Parts { immediate, ..self.parts(to.0, Some(x.0)) }, y);
    }

    /// `to = to * x + y`, rounded once.
    pub(super) fn multiply_add(&mut self, to: Zmm, x: Zmm, y: Operand) {
        self.a.vector(self.integers(2), 0xa8, &self.parts(to.0, Some(x.0)), y);
    }

    /// `to = x * y + to`, rounded once.
    pub(super) fn add_product(&mut self, to: Zmm, x: Zmm, y: Operand) {
        self.a.vector(self.integers(2), 0xb8, &self.parts(to.0, Some(x.0)), y);
    }

    /// The mantissa from 3/4 to 3/2; NaN of negative numbers.
    pub(super) fn mantissa(&mut self, to: Zmm, x: Operand) {
        let own = Parts { immediate: Some(0xb), ..self.parts(to.0, None) };
        self.a.vector(self.integers(3), 0x26, &own, x);
    }

    pub(super) fn exponent(&mut self, to: Zmm, x: Operand) {
        self.a.vector(self.integers(2), 0x42, &self.parts(to.0, None), x);
    }

    /// The entries at the last bits of `at`, of a table in one register.
    pub(super) fn entries(&mut self, to: Zmm, at: Zmm, table: Operand) {
        self.a.vector(self.integers(2), 0x16, &self.parts(to.0, Some(at.0)), table);
    }

    /// The entries at the last bits of `to`, of a table in a register and another place.
    pub(super) fn entries_of_two(&mut self, to: Zmm, first: Zmm, second: Operand) {
        self.a.vector(self.integers(2), 0x77, &self.parts(to.0, Some(first.0)), second);
    }

    /// Changes `to` where `of` is a zero, infinity, NaN or negative.
    pub(super) fn edges(&mut self, to: Zmm, of: Zmm, how: Operand) {
        let own = Parts { immediate: Some(0), ..self.parts(to.0, Some(of.0)) };
        self.a.vector(self.integers(3), 0x54, &own, how);
    }

    /// The larger of `first` and `y`, or the smaller; `first` if that is a NaN, which stays as it is. A mask may be written
    /// over.
    pub(super) fn extreme_or_nan(
        &mut self,
        largest: bool,
        to: Zmm,
        first: Zmm,
        y: Operand,
        nan: Mask,
    ) {
        let of_first = Operand::Register(first);
        if self.is_short() {
            let over = short_masks::OVER;
            self.compare_floats(3, Mask(over.0), first, of_first);
            self.extreme(largest, to, first, y);
            return self.blend(to, Mask(over.0), of_first, to);
        }
        self.compare_floats(3, nan, first, of_first);
        self.extreme(largest, to, first, y);
        self.copy(to, first, nan);
    }

    /// The larger of two, or the smaller: the second if it is a NaN, or the first is one.
    fn extreme(&mut self, largest: bool, to: Zmm, x: Zmm, y: Operand) {
        let opcode = if largest { 0x5f } else { 0x5d };
        self.a.vector(self.floats(), opcode, &self.parts(to.0, Some(x.0)), y);
    }

    pub(super) fn sqrt(&mut self, to: Zmm, x: Operand) {
        self.a.vector(self.floats(), 0x51, &self.parts(to.0, None), x);
    }

    pub(super) fn round(&mut self, how: u8, to: Zmm, x: Operand) {
        let opcode = if self.is_wide() { 9 } else { 8 };
        let own = Parts { immediate: Some(how), ..self.parts(to.0, None) };
        self.a.vector(self.integers(3), opcode, &own, x);
    }

    pub(super) fn integer(&mut self, op: IntegerOp, to: Zmm, x: Zmm, y: Operand) {
        let of = |one, two, four, eight| match self.size {
            1 => one,
            2 => two,
            4 => four,
            _ => eight,
        };
        let (first, second) = (self.any_integers(1), self.any_integers(2));
        // These are by the widest units, but for a number that is one element.
        let bits = self.integers(1);
        let (kind, opcode) = match op {
            IntegerOp::Add => (first, of(0xfc, 0xfd, 0xfe, 0xd4)),
            IntegerOp::Sub => (first, of(0xf8, 0xf9, 0xfa, 0xfb)),
            IntegerOp::Mul if self.size == 2 => (first, 0xd5),
            IntegerOp::Mul => (second, 0x40),
            IntegerOp::And => (bits, 0xdb),
            IntegerOp::Or => (bits, 0xeb),
            IntegerOp::Xor => (bits, 0xef),
            IntegerOp::Most(true) if self.size == 2 => (first, 0xee),
            IntegerOp::Most(true) => (second, of(0x3c, 0, 0x3d, 0x3d)),
            IntegerOp::Most(false) if self.size == 1 => (first, 0xde),
            IntegerOp::Most(false) => (second, of(0, 0x3e, 0x3f, 0x3f)),
            IntegerOp::Least(true) if self.size == 2 => (first, 0xea),
            IntegerOp::Least(true) => (second, of(0x38, 0, 0x39, 0x39)),
            IntegerOp::Least(false) if self.size == 1 => (first, 0xda),
            IntegerOp::Least(false) => (second, of(0, 0x3a, 0x3b, 0x3b)),
        };
        self.a.vector(kind, opcode, &self.parts(to.0, Some(x.0)), y);
    }

    pub(super) fn compare_floats(&mut self, predicate: u8, to: Mask, x: Zmm, y: Operand) {
        let own = Parts { immediate: Some(predicate), ..self.parts(to.0, Some(x.0)) };
        self.a.vector(self.floats(), 0xc2, &own, y);
    }

    pub(super) fn compare_integers(
        &mut self,
        (signed, predicate): (bool, u8),
        to: Mask,
        x: Zmm,
        y: Operand,
    ) {
        if self.is_short() {
            return self.compare_short_integers(predicate, to, x, y);
        }
        let opcode = match (self.is_narrow(), signed) {
            (true, true) => 0x3f,
            (true, false) => 0x3e,
            (false, true) => 0x1f,
            (false, false) => 0x1e,
        };
        let own = Parts { immediate: Some(predicate), ..self.parts(to.0, Some(x.0)) };
        self.a.vector(self.any_integers(3), opcode, &own, y);
    }

    pub(super) fn choose(&mut self, to: Zmm, mask: Mask, yes: Operand, no: Zmm) {
        if self.is_short() {
            return self.blend(to, mask, yes, no);
        }
        let own = Parts { mask, ..self.parts(to.0, Some(no.0)) };
        let opcode = if self.is_narrow() { 0x66 } else { 0x65 };
        self.a.vector(self.any_integers(2), opcode, &own, yes);
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
    pub(super) fn load_bools(&mut self, to: Mask, scratch: Zmm, from: Memory, mask: Mask) {
        if self.is_short() {
            return self.load_short_bools(to, from, mask != ALL);
        }
        let from = Operand::Vector(from);
        let mut bytes = Instructions { a: &mut *self.a, size: 1, lanes: self.lanes };
        bytes.load(scratch, from, mask);
        let own = bytes.parts(to.0, Some(scratch.0));
        bytes.a.vector(kind(2, P66, false), 0x26, &own, Operand::Register(scratch));
    }

    /// Writes a byte for each element, 1 where `from` says so; `scratch` is written over.
    pub(super) fn store_bools(&mut self, to: Memory, from: Mask, scratch: Zmm, mask: Mask) {
        if self.is_short() {
            return self.store_short_bools(to, from, mask != ALL);
        }
        let mut bytes = Instructions { a: &mut *self.a, size: 1, lanes: self.lanes };
        let own = bytes.parts(scratch.0, None);
        // The bytes are -1, and then 1.
        bytes.a.vector(kind(2, PF3, false), 0x28, &own, Operand::Register(Zmm(from.0)));
        bytes.a.vector(kind(2, P66, false), 0x1c, &own, Operand::Register(scratch));
        bytes.store(Operand::Vector(to), scratch, mask);
    }
}
