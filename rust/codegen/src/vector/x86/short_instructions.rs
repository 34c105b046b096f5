//! Instructions of AVX2 in place of those that AVX-512 alone has.

use crate::vector::x86::assembler::{ALL, Mask, Memory, NONE, Operand, P66, PF2, PF3, Parts, Zmm};
use crate::vector::x86::instructions::{Instructions, kind};
use crate::vector::x86::short_masks::{OVER, lower, whole};

impl Instructions<'_> {
    /// `to = from` where the mask says so; the others are zero, and are not read.
    pub(super) fn load_left(&mut self, to: Zmm, from: Operand, mask: Mask) {
        let opcode = if self.is_wide() { 0x2d } else { 0x2c };
        self.a.vector(kind(2, P66, false), opcode, &whole(to.0, Some(mask.0)), from);
    }

    pub(super) fn store_left(&mut self, to: Operand, from: Zmm, mask: Mask) {
        let opcode = if self.is_wide() { 0x2f } else { 0x2e };
        self.a.vector(kind(2, P66, false), opcode, &whole(from.0, Some(mask.0)), to);
    }

    /// One element of memory, for all elements of a register.
    pub(super) fn short_broadcast(&mut self, to: Zmm, from: Memory) {
        let opcode = if self.is_wide() { 0x19 } else { 0x18 };
        self.a.vector(kind(2, P66, false), opcode, &whole(to.0, None), Operand::Vector(from));
    }

    /// The elements so many bytes later, those of the front behind the last ones; fewer than sixteen bytes within halves.
    pub(super) fn turn_short_lanes(&mut self, to: Zmm, from: Zmm, bytes: u32) {
        // Of 64 bits, or of 32.
        let (kind, opcode, order) = match bytes {
            16 => (kind(3, P66, true), 0x00, 0x4e),
            8 => (kind(1, P66, false), 0x70, 0x4e),
            _ => (kind(1, P66, false), 0x70, 0xb1),
        };
        let own = Parts { immediate: Some(order), ..whole(to.0, None) };
        self.a.vector(kind, opcode, &own, Operand::Register(from));
    }

    /// A half of the first and one of the second, by four bits each: the lower halves (0x20), or the upper ones (0x31).
    pub(super) fn halves(&mut self, to: Zmm, x: Zmm, y: Zmm, which: u8) {
        let own = Parts { immediate: Some(which), ..whole(to.0, Some(x.0)) };
        self.a.vector(kind(3, P66, false), 0x06, &own, Operand::Register(y));
    }

    /// Loads element `lane` of the lower half; the first one leaves nothing else in the register.
    pub(super) fn load_into_half(&mut self, to: Zmm, lane: u32, from: Memory) {
        let from = Operand::Vector(from);
        match (self.size, lane) {
            (8, 0) => self.a.vector(kind(1, PF2, false), 0x10, &lower(to.0, None), from),
            (8, _) => self.a.vector(kind(1, P66, false), 0x16, &lower(to.0, Some(to.0)), from),
            (_, 0) => self.a.vector(kind(1, PF3, false), 0x10, &lower(to.0, None), from),
            _ => {
                let own = Parts { immediate: Some((lane as u8) << 4), ..lower(to.0, Some(to.0)) };
                self.a.vector(kind(3, P66, false), 0x21, &own, from);
            }
        }
    }

    /// `to = 0`.
    pub(super) fn clear(&mut self, to: Zmm) {
        let own = Operand::Register(to);
        self.a.vector(kind(1, NONE, false), 0x57, &whole(to.0, Some(to.0)), own);
    }

    /// `yes` where the mask says so, else `no`.
    pub(super) fn blend(&mut self, to: Zmm, mask: Mask, yes: Operand, no: Zmm) {
        let opcode = if self.is_wide() { 0x4b } else { 0x4a };
        let own = Parts { immediate: Some(mask.0 << 4), ..whole(to.0, Some(no.0)) };
        self.a.vector(kind(3, P66, false), opcode, &own, yes);
    }

    /// Compares integers that have a sign. There are instructions for equal ones, and for those that are more.
    pub(super) fn compare_short_integers(&mut self, predicate: u8, to: Mask, x: Zmm, y: Operand) {
        let (equal, more) = match self.size {
            8 => ((kind(2, P66, false), 0x29), (kind(2, P66, false), 0x37)),
            _ => ((kind(1, P66, false), 0x76), (kind(1, P66, false), 0x66)),
        };
        match predicate {
            0 | 4 => self.a.vector(equal.0, equal.1, &whole(to.0, Some(x.0)), y),
            2 | 6 => self.a.vector(more.0, more.1, &whole(to.0, Some(x.0)), y),
            1 | 5 => {
                let y = match y {
                    Operand::Register(own) => own,
                    memory => {
                        self.load(OVER, memory, ALL);
                        OVER
                    }
                };
                let x = Operand::Register(x);
                self.a.vector(more.0, more.1, &whole(to.0, Some(y.0)), x);
            }
            _ => {
                // None, or all.
                let (kind, opcode) = match predicate {
                    3 => (kind(1, NONE, false), 0x57),
                    _ => (kind(1, P66, false), 0x76),
                };
                let own = Operand::Register(Zmm(to.0));
                self.a.vector(kind, opcode, &whole(to.0, Some(to.0)), own);
            }
        }
        if matches!(predicate, 2 | 4 | 5) {
            self.a.short_not(to, to);
        }
    }
}
