//! Short rows side by side: a column is a register of one element of each of eight rows. Rows are turned to columns and
//! back, and columns are folded to one as the lanes of blocks are (`row.rs`).

use crate::op::Reduction;
use crate::vector::x86::assembler::{
    ALL, Assembler, Condition, Label, Mask, Memory, Operand, RAX, RDI, RSI, Zmm,
};
use crate::vector::x86::instructions::Instructions;
use crate::vector::x86::row::join;
use crate::vector::{BYTES, COLUMNS, Registers};

/// Elements of eight bytes, as many as there are rows.
const SIDE: u32 = 8;
/// The mask of the elements that are left.
const LEFT: Mask = Mask(7);

/// As [`crate::vector::fold_columns`] says.
pub(super) fn fold(reduce: Reduction, identity: u64) -> Option<Vec<u8>> {
    let mut a = Assembler::new(Registers::Of512);
    let (loaded, few) = (a.label(), a.label());
    let constant = Memory::Constant(a.constant(identity));
    for at in 0..COLUMNS {
        instructions(&mut a).broadcast(Zmm(at as u8), constant);
    }
    for at in 0..COLUMNS {
        a.compare(RSI, at as i32);
        a.jump_if(Condition::NotGreater, loaded);
        let from = Operand::Vector(Memory::At(RDI, (at * BYTES) as i32));
        instructions(&mut a).load(Zmm(at as u8), from, ALL);
    }
    a.bind(loaded);
    a.compare(RSI, SIDE as i32);
    a.jump_if(Condition::NotGreater, few);
    let mut apart = COLUMNS as u8 / 2;
    while apart > 0 {
        for at in 0..apart {
            join(&mut instructions(&mut a), reduce.0, Zmm(at), Zmm(at + apart), Mask(1))?;
        }
        if u32::from(apart) == SIDE {
            a.bind(few);
        }
        apart /= 2;
    }
    instructions(&mut a).store(Operand::Vector(Memory::At(RDI, 0)), Zmm(0), ALL);
    a.clean();
    a.ret();
    Some(a.finish())
}

/// As [`crate::vector::columns_of_rows`] says.
pub(super) fn of_rows() -> Vec<u8> {
    turned(|a, square, end| {
        a.compare(RSI, 0);
        a.jump_if(Condition::NotGreater, end);
        a.left(LEFT, SIDE);
        a.load(RAX, Memory::At(RDI, 0));
        for at in 0..SIDE {
            let from = Operand::Vector(Memory::At(RAX, (square * BYTES) as i32));
            instructions(a).load(Zmm(at as u8), from, LEFT);
            a.add_from(RAX, Memory::At(RDI, 8));
        }
        a.load(RAX, Memory::At(RDI, 16));
        transpose(a);
        for at in 0..SIDE {
            let to = Memory::At(RAX, ((square * SIDE + at) * BYTES) as i32);
            instructions(a).store(Operand::Vector(to), Zmm(at as u8), ALL);
        }
    })
}

/// As [`crate::vector::rows_of_columns`] says.
pub(super) fn to_rows() -> Vec<u8> {
    turned(|a, square, end| {
        a.compare(RSI, 0);
        a.jump_if(Condition::NotGreater, end);
        a.load(RAX, Memory::At(RDI, 0));
        for at in 0..SIDE {
            let from = Memory::At(RAX, ((square * SIDE + at) * BYTES) as i32);
            instructions(a).load(Zmm(at as u8), Operand::Vector(from), ALL);
        }
        transpose(a);
        a.load(RAX, Memory::At(RDI, 8));
        for at in 0..SIDE {
            let to = (at * COLUMNS * 8 + square * BYTES) as i32;
            instructions(a).store(Operand::Vector(Memory::At(RAX, to)), Zmm(at as u8), ALL);
        }
    })
}

/// A function that turns squares of a register's length, while there are elements.
fn turned(square: impl Fn(&mut Assembler, u32, Label)) -> Vec<u8> {
    let mut a = Assembler::new(Registers::Of512);
    let end = a.label();
    for at in 0..COLUMNS / SIDE {
        square(&mut a, at, end);
        a.subtract(RSI, SIDE as i32);
    }
    a.bind(end);
    a.clean();
    a.ret();
    a.finish()
}

fn instructions(a: &mut Assembler) -> Instructions<'_> {
    Instructions { size: 8, lanes: SIDE, a }
}

/// Turns the first eight registers of eight elements; the next eight are written over.
fn transpose(a: &mut Assembler) {
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
