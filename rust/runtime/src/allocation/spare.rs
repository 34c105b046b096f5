//! Memory for programs of branches: only the run tells which branch it takes.
//!
//! The memory of a branch is allocated when the branch is taken, and kept for the next one. Branches within branches
//! stack up. The memory that is kept is at most the largest need of a branch that was taken, together with the
//! costliest branches within it.

use std::ptr;

use crate::allocation::buffer::{ALIGNMENT, Buffer};
use crate::error::Fault;

/// The memory of the branches that run, each within the one before.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Blocks of branches that run, then idle ones.
    blocks: Vec<Buffer>,
    frames: Vec<Frame>,
}

/// A branch that runs.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The blocks that it and those around it have.
    blocks: usize,
    /// The part of its memory that it leaves to branches within it: the place, and the number of bytes.
    rest: (*mut u8, usize),
}

// SAFETY: the pointers of frames lie in the blocks, which are owned.
unsafe impl Send for Spare {}

impl Spare {
    /// Memory for a branch that needs `own` bytes, and `most` with the costliest branches within it.
    pub(crate) fn enter(&mut self, own: usize, most: usize) -> Result<*mut u8, Fault> {
        let (own, most) = (rounded(own)?, rounded(most)?);
        let outer = self.frames.last().copied();
        let Frame { blocks: used, rest: (start, length) } =
            outer.unwrap_or(Frame { blocks: 0, rest: (ptr::null_mut(), 0) });
        if length >= most {
            let rest = (start.wrapping_add(own), length - own);
            self.frames.push(Frame { blocks: used, rest });
            return Ok(start);
        }
        // A block that is larger than its branch, but too small for all branches within it, would be
        // held beside another block for those.
        let fits = |idle: &Buffer| idle.size() == own || idle.size() >= most;
        if !self.blocks.get(used).is_some_and(fits) {
            self.blocks.truncate(used);
            self.blocks.push(Buffer::new(own)?);
        }
        let block = &self.blocks[used];
        let rest = (block.as_ptr().wrapping_add(own), block.size() - own);
        let start = block.as_ptr();
        self.frames.push(Frame { blocks: used + 1, rest });
        Ok(start)
    }

    /// Takes back the memory of the branch that was entered last.
    pub(crate) fn leave(&mut self) {
        self.frames.pop();
    }
}

fn rounded(bytes: usize) -> Result<usize, Fault> {
    bytes.checked_next_multiple_of(ALIGNMENT).ok_or(Fault::TooLarge)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A branch: the bytes that it takes, and the choices within it, one after the other.
    #[derive(Clone, Debug)]
    struct Branch {
        own: usize,
        choices: Vec<[Branch; 2]>,
    }

    impl Branch {
        fn most(&self) -> usize {
            let within = self.choices.iter().flatten().map(Branch::most).max().unwrap_or(0);
            rounded(self.own).unwrap() + within
        }

        /// Enters it and what `choose` says within it; the ranges that are held meanwhile are apart.
        /// The most that was taken comes back.
        fn run(
            &self,
            spare: &mut Spare,
            held: &mut Vec<(usize, usize)>,
            choose: &mut impl FnMut(&[Branch; 2]) -> usize,
        ) -> usize {
            let start = spare.enter(self.own, self.most()).unwrap().addr();
            assert_eq!(start % ALIGNMENT, 0);
            let apart = |&(from, to): &(usize, usize)| start + self.own <= from || to <= start;
            assert!(self.own == 0 || held.iter().all(apart));
            if self.own > 0 {
                held.push((start, start + self.own));
            }
            let mut most = taken(spare);
            for choice in &self.choices {
                most = most.max(choice[choose(choice)].run(spare, held, choose));
            }
            if self.own > 0 {
                held.pop();
            }
            spare.leave();
            most
        }
    }

    fn branch() -> impl Strategy<Value = Branch> {
        let leaf = (0..600usize).prop_map(|own| Branch { own, choices: vec![] });
        leaf.prop_recursive(3, 20, 3, |inner| {
            let choice = [inner.clone(), inner];
            (0..600usize, prop::collection::vec(choice, 0..3))
                .prop_map(|(own, choices)| Branch { own, choices })
        })
    }

    fn taken(spare: &Spare) -> usize {
        spare.blocks.iter().map(Buffer::size).sum()
    }

    proptest! {
        #[test]
        fn never_more_is_held_than_the_costliest_branch_needs(
            branches in prop::collection::vec(branch(), 1..5),
            choices in prop::collection::vec(0..2usize, 1..20),
        ) {
            let mut spare = Spare::default();
            let mut choices = choices.into_iter().cycle();
            let mut most = 0;
            for branch in &branches {
                let taken =
                    branch.run(&mut spare, &mut Vec::new(), &mut |_| choices.next().unwrap());
                most = most.max(branch.most());
                prop_assert!(taken <= most);
                prop_assert!(spare.frames.is_empty());
            }
        }

        #[test]
        fn the_costliest_branch_takes_what_it_needs(branch in branch()) {
            let mut spare = Spare::default();
            let costliest = |choice: &[Branch; 2]| (choice[1].most() > choice[0].most()) as usize;
            let taken = branch.run(&mut spare, &mut Vec::new(), &mut |choice| costliest(choice));
            prop_assert_eq!(taken, branch.most());
        }
    }
}
