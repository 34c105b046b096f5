//! The last pass over a tile of short rows: all of its rows one after the other, while partial results and the row into
//! which rows are gathered stay in registers. Of 256 bits there are fewer registers, and a row takes up to four. There,
//! each block of the row goes through all rows, and only what is gathered into that block is in registers.

use crate::vector::x86::assembler::{
    ALL, Condition, Mask, Memory, Operand, RAX, RCX, RDI, RSI, Zmm,
};
use crate::vector::x86::function::{Function, ROWS_END, Turn};
use crate::vector::x86::translate::{Graph, Node};
use crate::vector::{BYTES, Given, SETS};

/// The most blocks of a row.
pub(super) const BLOCKS: u32 = 2;

/// The arguments that are rows into which the rows of a tile are gathered.
pub(super) fn gathered(graph: &Graph) -> Vec<usize> {
    let mut all: Vec<usize> = graph
        .nodes
        .iter()
        .filter_map(|node| match node {
            Node::Given(Given::LateLoad { at, .. }) if !node.is_mask() => Some(*at),
            _ => None,
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Function<'_> {
    /// The start of the code, before the first block; gives what [`Function::enter_rows`] does, and the elements of a block.
    fn enter_tile(&mut self, free: usize) -> Option<(usize, i32)> {
        let kept = self.enter_rows();
        self.enter_constants(free)?;
        self.enter_mask_places()?;
        self.a.clear(RCX);
        Some((kept, self.elements() as i32))
    }

    /// All of it; `free` registers hold constants of the block.
    pub(super) fn go_through_tile(&mut self, free: usize) -> Option<()> {
        let (kept, elements) = self.enter_tile(free)?;
        let (whole, two) = (self.a.label(), self.a.label());
        self.a.compare(RSI, elements);
        self.a.jump_if(Condition::Zero, whole);
        self.a.jump_if(Condition::Greater, two);
        self.enter_left();
        let left = self.left();
        self.tile(kept, &[left])?;
        self.a.bind(whole);
        self.tile(kept, &[ALL])?;
        self.a.bind(two);
        self.a.subtract(RSI, elements);
        self.enter_left();
        self.tile(kept, &[ALL, left])
    }

    /// As [`Function::go_through_tile`], block after block, each through all rows. Partial results are in memory; each row
    /// has the turn of its next block among its arguments.
    pub(super) fn go_through_blocks_of_tile(&mut self, free: usize) -> Option<()> {
        let (kept, elements) = self.enter_tile(free)?;
        let (top, rest, end) = (self.a.label(), self.a.label(), self.a.label());
        self.a.compare(RSI, elements);
        self.a.jump_if(Condition::Less, rest);
        self.a.bind(top);
        self.block_of_tile(ALL)?;
        self.a.add(RCX, elements);
        self.a.subtract(RSI, elements);
        self.a.compare(RSI, elements);
        self.a.jump_if(Condition::NotLess, top);
        self.a.bind(rest);
        self.a.compare(RSI, 0);
        self.a.jump_if(Condition::NotGreater, end);
        self.enter_left();
        self.block_of_tile(self.left())?;
        self.a.bind(end);
        self.leave_rows(kept, 0);
        Some(())
    }

    /// A block of all rows, which are as many as a register has elements.
    fn block_of_tile(&mut self, mask: Mask) -> Option<()> {
        let places: Vec<usize> = gathered(self.graph);
        for &at in &places {
            let (own, from) = (Zmm(self.vectors.pop()?), self.gathered_block(at));
            self.of_size(8).load(own, from, mask);
            self.gathered.push((at, vec![own]));
        }
        let bytes = 8 * self.graph.arguments as i32;
        let top = self.a.label();
        self.a.align();
        self.a.bind(top);
        self.enter_row();
        self.block(Turn { block: 0, set: None, mask, asks_ahead: false })?;
        for fold in 0..self.graph.folds.len() {
            self.next_set(fold);
        }
        self.a.add(RDI, bytes);
        self.a.compare_with(RDI, ROWS_END);
        self.a.jump_if(Condition::Less, top);
        self.a.subtract(RDI, bytes * self.elements() as i32);
        for (at, blocks) in std::mem::take(&mut self.gathered) {
            let (own, to) = (blocks[0], self.gathered_block(at));
            self.of_size(8).store(to, own, mask);
            self.vectors.push(own.0);
        }
        Some(())
    }

    /// The present block of a row into which rows are gathered.
    fn gathered_block(&mut self, at: usize) -> Operand {
        self.a.load(RAX, Memory::At(RDI, 8 * at as i32));
        Operand::Vector(Memory::Indexed(RAX, RCX, 8, 0))
    }

    fn enter_left(&mut self) {
        self.a.left(self.left(), self.elements());
    }

    /// The tile, of rows that have blocks of these elements.
    fn tile(&mut self, kept: usize, masks: &[Mask]) -> Option<()> {
        self.enter_held(masks)?;
        let top = self.a.label();
        self.a.align();
        self.a.bind(top);
        let bytes = 8 * self.graph.arguments as i32;
        // As many rows as have a block for each set.
        for row in 0..SETS / masks.len() as u32 {
            self.enter_row();
            for (block, &mask) in masks.iter().enumerate() {
                let block = block as u32;
                let set = Some(row * masks.len() as u32 + block);
                self.block(Turn { block, set, mask, asks_ahead: false })?;
            }
            self.a.add(RDI, bytes);
        }
        self.a.compare_with(RDI, ROWS_END);
        self.a.jump_if(Condition::Less, top);
        self.a.subtract(RDI, bytes);
        self.leave_held(masks);
        self.leave_rows(kept, 0);
        Some(())
    }

    /// Reads the sets of partial results, and the gathered row.
    fn enter_held(&mut self, masks: &[Mask]) -> Option<()> {
        for fold in 0..self.graph.folds.len() {
            self.a.load(RAX, Memory::At(RDI, 8 * self.graph.folds[fold].sets as i32));
            let mut sets = Vec::new();
            for set in 0..SETS {
                let own = Zmm(self.vectors.pop()?);
                let from = Memory::At(RAX, (set * BYTES) as i32);
                self.of_size(8).load(own, Operand::Vector(from), ALL);
                sets.push(own);
            }
            self.partials.push(sets);
        }
        for at in gathered(self.graph) {
            self.a.load(RAX, Memory::At(RDI, 8 * at as i32));
            let mut blocks = Vec::new();
            for (block, &mask) in masks.iter().enumerate() {
                let own = Zmm(self.vectors.pop()?);
                let from = Memory::At(RAX, block as i32 * BYTES as i32);
                self.of_size(8).load(own, Operand::Vector(from), mask);
                blocks.push(own);
            }
            self.gathered.push((at, blocks));
        }
        Some(())
    }

    fn leave_held(&mut self, masks: &[Mask]) {
        for (fold, sets) in std::mem::take(&mut self.partials).into_iter().enumerate() {
            self.a.load(RAX, Memory::At(RDI, 8 * self.graph.folds[fold].sets as i32));
            for (set, own) in sets.into_iter().enumerate() {
                let to = Memory::At(RAX, set as i32 * BYTES as i32);
                self.of_size(8).store(Operand::Vector(to), own, ALL);
                self.vectors.push(own.0);
            }
        }
        for (at, blocks) in std::mem::take(&mut self.gathered) {
            self.a.load(RAX, Memory::At(RDI, 8 * at as i32));
            for (block, (own, &mask)) in blocks.into_iter().zip(masks).enumerate() {
                let to = Memory::At(RAX, block as i32 * BYTES as i32);
                self.of_size(8).store(Operand::Vector(to), own, mask);
                self.vectors.push(own.0);
            }
        }
    }
}
