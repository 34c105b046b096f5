//! Steps inside blocks of elements.
//!
//! Where each element of the states follows from those at its own place alone, all steps of a block of elements are
//! done before those of the next. What they read and write stays in the nearest cache.

use smallvec::SmallVec;

use super::{Action, Moves, Parts, Recorder, Tape};
use crate::program::Program;
use crate::run::step::{LoopStep, Place, RunStep};

/// The bytes of all arrays of a step that stay in the nearest cache beside what else is there.
const NEAR: i64 = 1 << 14;

/// The bytes of all arrays up to which nothing is gained.
const SMALL: i64 = 1 << 16;

/// Elements that a block has at least, so that kernels do more than begin.
const LEAST: i64 = 256;

/// The facts of a scan that may go through blocks of elements.
#[derive(Clone, Copy)]
pub(crate) struct Apart {
    /// The number of sequences, which are the first inputs.
    pub(crate) sequences: usize,
    /// Whether one thread does it: otherwise several share long loops.
    pub(crate) alone: bool,
}

/// Blocks of a tape of kernels that all go over as many elements.
pub(super) struct Blocks {
    /// The elements of an array, and of a block.
    length: i64,
    count: i64,
    /// The bytes of an element.
    size: i64,
    /// The first element of the block that pointers point to.
    at: i64,
    /// By pointer: whether it moves from element to element.
    moves: Vec<bool>,
}

impl Tape<'_> {
    /// The number of blocks; one, if all steps are for all elements.
    pub(crate) fn block_count(&self) -> i64 {
        self.blocks.as_ref().map_or(1, |blocks| (blocks.length + blocks.count - 1) / blocks.count)
    }

    /// Lets the next executions be for the elements of a block.
    pub(crate) fn take_block(&mut self, number: i64) {
        let Some(blocks) = &mut self.blocks else { return };
        let start = number * blocks.count;
        let bytes = (start - blocks.at) * blocks.size;
        blocks.at = start;
        for (pointer, &moves) in self.pointers.iter_mut().zip(&blocks.moves) {
            if moves {
                *pointer = pointer.wrapping_offset(bytes as isize);
            }
        }
        for moved in self.moved.iter_mut().filter(|moved| blocks.moves[moved.at]) {
            moved.offset += bytes;
        }
        for turn in &mut self.turns {
            if let Action::Kernel { lengths, .. } = &mut turn.action {
                lengths.1 = blocks.count.min(blocks.length - start);
            }
        }
    }
}

impl<'a> Recorder<'a> {
    /// The blocks of a program, if its steps are kernels whose elements do not meet.
    pub(super) fn blocks(
        &self,
        program: &Program,
        parts: &Parts<'_>,
        apart: Apart,
    ) -> Option<Blocks> {
        let copies = parts.unfinished.iter().any(|&position| !parts.left[position]);
        if copies || !program.run_sizes[0].is_empty() {
            return None;
        }
        let mut shape = None;
        let mut places: SmallVec<[Place; 16]> = SmallVec::new();
        for step in parts.steps {
            let own = match step {
                RunStep::Nothing => continue,
                RunStep::Loop(own) => own,
                _ => return None,
            };
            let (length, size, moves) = own.nest.pointwise()?;
            let is_plain = own.fills.is_empty() && own.copies.is_empty() && own.blank.is_empty();
            let is_shared = own.nest.is_cut() && !apart.alone;
            if is_shared || !is_plain || *shape.get_or_insert((length, size)) != (length, size) {
                return None;
            }
            for (&place, moves) in own.operands.iter().zip(moves) {
                if !self.is_apart(place, moves, apart.sequences) {
                    return None;
                }
                if moves && !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let (length, size) = shape?;
        let in_arena = || places.iter().filter(|place| place.base == self.bases.arena);
        let meets = |a: &Place, b: &Place| a != b && (a.offset - b.offset).abs() < length * size;
        if in_arena().any(|a| in_arena().any(|b| meets(a, b))) {
            return None;
        }
        let row = places.len() as i64 * size;
        if row * length <= SMALL {
            return None;
        }
        // A multiple of the elements that any kernel takes at a time.
        let count = (NEAR / row).max(LEAST) & !63;
        Some(Blocks { length, count, size, at: 0, moves: Vec::new() })
    }

    /// Whether an operand has the elements of all blocks apart: it is never written, or lies from the start of its
    /// memory on as the elements do.
    fn is_apart(&self, place: Place, moves: bool, sequences: usize) -> bool {
        if place.base < sequences {
            // An element for each step; rows of them would be far apart.
            return !moves;
        }
        if place.base == self.bases.arena {
            return moves;
        }
        if place.base < self.bases.arena && self.moves[place.base] == Moves::Never {
            return !self.donated.contains(&place.base);
        }
        moves && place.offset == 0
    }

    /// Adds the call of a kernel for a block.
    pub(super) fn kernel_of_blocks(&mut self, step: &'a LoopStep, parts: &Parts<'a>) {
        let first = self.pointers.len();
        for &operand in &step.operands {
            self.point(operand, parts);
        }
        let (length, _, moves) = step.nest.pointwise().expect("`blocks` has looked at it");
        if let Some(blocks) = &mut self.blocks {
            blocks.moves.resize(first, false);
            blocks.moves.extend(moves);
        }
        let strides = step.nest.row_strides();
        let function = step.function;
        self.add(Action::Kernel { function, first, lengths: (1, length), strides, step });
    }
}
