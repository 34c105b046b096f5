//! Directions along a diagonal.

/// The direction in which a block is worked through, and so where it shrinks.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) upwards: bool,
}

impl Way {
    /// The place after `at`.
    #[inline(always)]
    pub(super) fn next(self, at: usize) -> usize {
        if self.upwards { at.wrapping_sub(1) } else { at + 1 }
    }

    /// The element beside the diagonal between a place and the next.
    #[inline(always)]
    pub(super) fn between(self, at: usize) -> usize {
        if self.upwards { at - 1 } else { at }
    }

    /// The other direction.
    #[inline(always)]
    pub(super) fn back(self) -> Way {
        Way { upwards: !self.upwards }
    }

    /// Whether `at` comes before `end`, or is it.
    #[inline(always)]
    pub(super) fn reaches(self, at: usize, end: usize) -> bool {
        // The place before the first one is the largest number.
        if self.upwards { at.wrapping_add(1) > end } else { at <= end }
    }
}
