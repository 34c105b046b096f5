//! The places of temporaries in the one block of memory that a bound program keeps for them.

use crate::allocation::buffer::ALIGNMENT;
use crate::error::Fault;

/// Assigns offsets; released memory is given out again.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Free ranges (start, length) in order, with used ones between any two of them.
    free: Vec<(usize, usize)>,
    end: usize,
}

impl Arena {
    /// The offset of `bytes` that are free.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<usize, Fault> {
        let bytes = rounded(bytes)?;
        if bytes == 0 {
            return Ok(0);
        }
        let fitting = self.free.iter().enumerate().filter(|(_, range)| range.1 >= bytes);
        if let Some((at, &(start, length))) = fitting.min_by_key(|(_, range)| range.1) {
            if length == bytes {
                self.free.remove(at);
            } else {
                self.free[at] = (start + bytes, length - bytes);
            }
            return Ok(start);
        }
        // A free range at the end grows.
        let start = match self.free.last() {
            Some(&(start, length)) if start + length == self.end => {
                self.free.pop();
                start
            }
            _ => self.end,
        };
        let end = start.checked_add(bytes).filter(|&end| end <= isize::MAX as usize);
        self.end = end.ok_or(Fault::TooLarge)?;
        Ok(start)
    }

    /// Gives back what `take` gave.
    pub(crate) fn release(&mut self, start: usize, bytes: usize) {
        let Ok(bytes @ 1..) = rounded(bytes) else { return };
        let at = self.free.partition_point(|range| range.0 < start);
        self.free.insert(at, (start, bytes));
        for at in [at, at.wrapping_sub(1)] {
            if let (Some(&left), Some(&right)) =
                (self.free.get(at), self.free.get(at.wrapping_add(1)))
                && left.0 + left.1 == right.0
            {
                self.free[at].1 += right.1;
                self.free.remove(at + 1);
            }
        }
    }

    /// The bytes that the block must have.
    pub(crate) fn size(&self) -> usize {
        self.end
    }
}

fn rounded(bytes: usize) -> Result<usize, Fault> {
    bytes.checked_next_multiple_of(ALIGNMENT).ok_or(Fault::TooLarge)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn released_memory_is_used_again() {
        let mut arena = Arena::default();
        let first = arena.take(100).unwrap();
        let second = arena.take(64).unwrap();
        arena.release(first, 100);
        assert_eq!(arena.take(128).unwrap(), first);
        arena.release(second, 64);
        assert_eq!(arena.take(1000).unwrap(), second);
        assert_eq!(arena.size(), 128 + 1024);
    }

    proptest! {
        #[test]
        fn no_two_hold_the_same_bytes(
            steps in prop::collection::vec((0..2000usize, any::<u8>()), 1..60),
        ) {
            let mut arena = Arena::default();
            let mut held: Vec<(usize, usize)> = Vec::new();
            for (bytes, pick) in steps {
                if pick % 3 == 0 && !held.is_empty() {
                    let (start, bytes) = held.swap_remove(pick as usize % held.len());
                    arena.release(start, bytes);
                    continue;
                }
                let start = arena.take(bytes).unwrap();
                prop_assert!(start % ALIGNMENT == 0 && start + bytes <= arena.size());
                for &(other, length) in &held {
                    let apart = start + bytes <= other || other + length <= start;
                    prop_assert!(bytes == 0 || length == 0 || apart);
                }
                held.push((start, bytes));
            }
            for (start, bytes) in held {
                arena.release(start, bytes);
            }
            prop_assert!(arena.free.len() <= 1);
        }
    }
}
