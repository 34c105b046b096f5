//! Short rows side by side: a column is a register of one element of each of as many rows. Rows are turned to columns and
//! back, and columns are folded to one as the lanes of blocks are (`row.rs`).

use crate::op::Reduction;
use crate::vector::x86::assembler::{
    ALL, Assembler, Condition, Label, Mask, Memory, Operand, RAX, RDI, RSI, Zmm,
};
use crate::vector::x86::instructions::Instructions;
use crate::vector::x86::row::join;
use crate::vector::{COLUMNS, Registers};

/// The elements of a block of the kernel, all of eight bytes.
const BLOCK: u32 = 8;

impl Registers {
    /// The first register that a square may take. Of 256 bits, one is for instructions (`short_masks.rs`).
    fn first_of_square(self) -> u8 {
        if self.have_masks() { 0 } else { 1 }
    }
}

/// As [`crate::vector::fold_columns`] says.
pub(super) fn fold(registers: Registers, reduce: Reduction, identity: u64) -> Option<Vec<u8>> {
    let mut a = Assembler::new(registers);
    let (loaded, few) = (a.label(), a.label());
    let constant = Memory::Constant(a.constant(identity));
    let first = registers.first_of_square();
    let of = |at: u32| Zmm(first + at as u8);
    // Half as many registers have the columns of the second block one after the other.
    let held = if registers.have_masks() { COLUMNS } else { BLOCK };
    for at in 0..held {
        instructions(&mut a).broadcast(of(at), constant);
    }
    for at in 0..held {
        a.compare(RSI, at as i32);
        a.jump_if(Condition::NotGreater, loaded);
        instructions(&mut a).load(of(at), column(registers, at), ALL);
    }
    a.bind(loaded);
    a.compare(RSI, BLOCK as i32);
    a.jump_if(Condition::NotGreater, few);
    for at in 0..COLUMNS - BLOCK {
        let mut other = of(at + BLOCK);
        if held == BLOCK {
            other = of(BLOCK);
            a.compare(RSI, (at + BLOCK) as i32);
            a.jump_if(Condition::NotGreater, few);
            instructions(&mut a).load(other, column(registers, at + BLOCK), ALL);
        }
        join(&mut instructions(&mut a), reduce.0, of(at), other, Mask(1))?;
    }
    a.bind(few);
    let mut apart = BLOCK / 2;
    while apart > 0 {
        for at in 0..apart {
            join(&mut instructions(&mut a), reduce.0, of(at), of(at + apart), Mask(1))?;
        }
        apart /= 2;
    }
    instructions(&mut a).store(column(registers, 0), of(0), ALL);
    a.clean();
    a.ret();
    Some(a.finish())
}

/// A column, of those that the first argument is the address of.
fn column(registers: Registers, at: u32) -> Operand {
    Operand::Vector(Memory::At(RDI, (at * registers.bytes()) as i32))
}

/// As [`crate::vector::columns_of_rows`] says.
pub(super) fn of_rows(registers: Registers) -> Vec<u8> {
    let (side, bytes, left) = (registers.side(), registers.bytes(), registers.left());
    turned(registers, |a, square, end| {
        a.compare(RSI, 0);
        a.jump_if(Condition::NotGreater, end);
        a.left(left, side);
        a.load(RAX, Memory::At(RDI, 0));
        for at in 0..side {
            let from = Operand::Vector(Memory::At(RAX, (square * bytes) as i32));
            instructions(a).load(of_square(registers, at), from, left);
            a.add_from(RAX, Memory::At(RDI, 8));
        }
        a.load(RAX, Memory::At(RDI, 16));
        transpose(a);
        for at in 0..side {
            let to = Memory::At(RAX, ((square * side + at) * bytes) as i32);
            instructions(a).store(Operand::Vector(to), of_square(registers, at), ALL);
        }
    })
}

/// As [`crate::vector::rows_of_columns`] says.
pub(super) fn to_rows(registers: Registers) -> Vec<u8> {
    let (side, bytes) = (registers.side(), registers.bytes());
    turned(registers, |a, square, end| {
        a.compare(RSI, 0);
        a.jump_if(Condition::NotGreater, end);
        a.load(RAX, Memory::At(RDI, 0));
        for at in 0..side {
            let from = Memory::At(RAX, ((square * side + at) * bytes) as i32);
            instructions(a).load(of_square(registers, at), Operand::Vector(from), ALL);
        }
        transpose(a);
        a.load(RAX, Memory::At(RDI, 8));
        for at in 0..side {
            let to = Memory::At(RAX, (at * COLUMNS * 8 + square * bytes) as i32);
            instructions(a).store(Operand::Vector(to), of_square(registers, at), ALL);
        }
    })
}

/// The register of a row or column of a square.
fn of_square(registers: Registers, at: u32) -> Zmm {
    Zmm(registers.first_of_square() + at as u8)
}

/// A function that turns squares of a register's length, while there are elements.
fn turned(registers: Registers, square: impl Fn(&mut Assembler, u32, Label)) -> Vec<u8> {
    let mut a = Assembler::new(registers);
    let end = a.label();
    for at in 0..COLUMNS / registers.side() {
        square(&mut a, at, end);
        a.subtract(RSI, registers.side() as i32);
    }
    a.bind(end);
    a.clean();
    a.ret();
    a.finish()
}

fn instructions(a: &mut Assembler) -> Instructions<'_> {
    let lanes = a.registers.side();
    Instructions { size: 8, lanes, a }
}

/// Turns a square in the registers of it; as many that follow are written over.
fn transpose(a: &mut Assembler) {
    if a.registers.have_masks() {
        transpose_eight(a);
    } else {
        transpose_four(a);
    }
}

fn transpose_eight(a: &mut Assembler) {
    let mut own = instructions(a);
    // Pairs of rows: even elements of both, then odd ones.
    for pair in 0..4 {
        let (x, y) = (Zmm(2 * pair), Zmm(2 * pair + 1));
        own.interleave(false, Zmm(8 + pair), x, y);
        own.interleave(true, Zmm(12 + pair), x, y);
    }
    for odd in 0..2 {
        let pairs = [0, 1, 2, 3].map(|pair| Zmm(8 + 4 * odd + pair));
        // The quarters of registers that have even numbers, then the others.
        for (half, quarters) in [(0, 0x88), (1, 0xdd)] {
            let (low, high) = (Zmm(16), Zmm(17));
            own.quarters(low, pairs[0], pairs[1], quarters);
            own.quarters(high, pairs[2], pairs[3], quarters);
            own.quarters(Zmm(odd + 2 * half), low, high, 0x88);
            own.quarters(Zmm(odd + 2 * half + 4), low, high, 0xdd);
        }
    }
}

fn transpose_four(a: &mut Assembler) {
    let first = a.registers.first_of_square();
    let own = |at: u8| Zmm(first + at);
    let pair = |at: u8| Zmm(first + 4 + at);
    let mut i = instructions(a);
    for half in 0..2 {
        let (x, y) = (own(2 * half), own(2 * half + 1));
        // Elements 0 and 2 of both, then 1 and 3.
        i.interleave(false, pair(2 * half), x, y);
        i.interleave(true, pair(2 * half + 1), x, y);
    }
    for odd in 0..2 {
        i.halves(own(odd), pair(odd), pair(2 + odd), 0x20);
        i.halves(own(odd + 2), pair(odd), pair(2 + odd), 0x31);
    }
}
