//! The cut of a large loop into pieces.
//!
//! The shapes and types alone decide where a reduction is cut, never the number of threads: so a result has the same bits
//! however many threads work on it. A loop whose pieces fold nothing apart may be done whole by one thread.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::allocation::buffer::ALIGNMENT;

/// Bytes of its widest operand that a piece goes through, about: they fit into a second-level
/// cache, and the other costs of a piece are a few hundredths of the cheapest kernel.
const GRAIN: i64 = 1 << 17;

/// The most pieces of a loop: beyond it they grow instead.
const MOST_PIECES: i64 = 1 << 12;

/// Pieces with which any number of threads is kept busy evenly enough.
const ENOUGH_PIECES: i64 = 16;

/// Grains of the innermost loop that stay together if other loops lie around it: short rows far
/// from each other are read at half the speed of long ones.
const GRAINS_OF_A_ROW: i64 = 2;

/// The most pieces that rows are cut into, where no other loop may be cut.
const PIECES_OF_ROWS: i64 = 2;

/// The fewest positions of each piece of rows.
const POSITIONS_OF_ROWS: i64 = 1 << 14;

/// Positions of a piece for each element that it reduces into a copy of its own.
const POSITIONS_A_COPY: i64 = 64;

/// One loop of a nest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopLevel {
    pub(crate) length: i64,
    /// The number of elements that each piece needs its own copy of if this loop is cut.
    pub(crate) copied: i64,
    /// Whether it may be cut.
    pub(crate) divisible: bool,
}

/// One loop of a nest, cut into pieces of equal length but for the last.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) level: usize,
    length: i64,
    piece: i64,
    /// Whether the last run through all pieces took so long that the next one calls for help at
    /// once.
    long: AtomicBool,
}

impl Split {
    /// The cut of nested loops, outermost first and none empty, whose widest element has `itemsize`
    /// bytes: as far outside as there are pieces enough, and without copies where possible.
    pub(crate) fn of(levels: &[LoopLevel], itemsize: usize) -> Option<Split> {
        Split::with_grain(levels, GRAIN / itemsize.max(1) as i64)
    }

    /// As `of`; a piece goes through about `grain` positions.
    pub(crate) fn with_grain(levels: &[LoopLevel], grain: i64) -> Option<Split> {
        let total = levels.iter().try_fold(1i64, |all, level| all.checked_mul(level.length));
        let total = total.unwrap_or(i64::MAX);
        let grain = grain.max(total / MOST_PIECES);
        if total / 2 < grain {
            return None;
        }
        let candidates = levels.iter().enumerate().filter_map(|(at, level)| {
            let innermost = at + 1 == levels.len();
            let turn = total / level.length;
            let mut piece = div_up(grain.max(level.copied.saturating_mul(POSITIONS_A_COPY)), turn);
            if innermost && turn > 1 {
                piece = piece.max(GRAINS_OF_A_ROW * grain);
            }
            let pieces = level.length / piece.max(1);
            if pieces < 2 || !level.divisible {
                return None;
            }
            let mut piece = div_up(level.length, pieces);
            if innermost {
                // Written pieces share no cache line.
                piece = (piece as u64).next_multiple_of(ALIGNMENT as u64) as i64;
            }
            let split =
                Split { level: at, length: level.length, piece, long: AtomicBool::new(false) };
            Some((((split.pieces() as i64).min(ENOUGH_PIECES), level.copied == 0), split))
        });
        // The first of equals.
        let mut best: Option<((i64, bool), Split)> = None;
        for candidate in candidates {
            if best.as_ref().is_none_or(|best| candidate.0 > best.0) {
                best = Some(candidate);
            }
        }
        best.map(|(_, split)| split)
    }

    /// The cut of the innermost of nested loops where no other may be cut, and nothing is copied for it: into a few
    /// pieces, as each does anew what is done once a row. A piece is a multiple of twice `line` elements.
    pub(crate) fn of_columns(levels: &[LoopLevel], line: i64) -> Option<Split> {
        let (last, outer) = levels.split_last()?;
        let total = levels.iter().fold(1i64, |all, level| all.saturating_mul(level.length));
        let barred = |level: &LoopLevel| !level.divisible || level.copied > 0 || level.length == 1;
        let barred = outer.iter().all(barred);
        if !(barred && last.divisible && last.copied == 0) || total / 2 < POSITIONS_OF_ROWS {
            return None;
        }
        let piece = div_up(last.length, PIECES_OF_ROWS).max(1) as u64;
        let piece = piece.next_multiple_of(2 * line.max(1) as u64) as i64;
        let split =
            Split { level: outer.len(), length: last.length, piece, long: AtomicBool::new(false) };
        (split.pieces() > 1).then_some(split)
    }

    pub(crate) fn pieces(&self) -> usize {
        div_up(self.length, self.piece) as usize
    }

    /// Whether the last run was long, as far as is known.
    pub(crate) fn was_long(&self) -> bool {
        self.long.load(Ordering::Relaxed)
    }

    /// Notes whether a run was long.
    pub(crate) fn note(&self, long: bool) {
        if self.was_long() != long {
            self.long.store(long, Ordering::Relaxed);
        }
    }

    /// The start of a piece, and its length.
    pub(crate) fn piece(&self, at: usize) -> (i64, i64) {
        let start = at as i64 * self.piece;
        (start, self.piece.min(self.length - start))
    }
}

/// `a / b` rounded up; neither is negative.
fn div_up(a: i64, b: i64) -> i64 {
    (a as u64).div_ceil(b as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(of: &[(i64, i64)]) -> Vec<LoopLevel> {
        let level = |&(length, copied)| LoopLevel { length, copied, divisible: true };
        of.iter().map(level).collect()
    }

    fn split(of: &[(i64, i64)]) -> Option<(usize, usize)> {
        Split::of(&levels(of), 8).map(|split| (split.level, split.pieces()))
    }

    #[test]
    fn small_loops_stay_whole() {
        assert_eq!(split(&[(16_000, 0)]), None);
        assert_eq!(split(&[(100, 0), (100, 0)]), None);
    }

    #[test]
    fn the_outermost_loop_of_many_turns_is_cut() {
        assert_eq!(split(&[(1_000_000, 0)]).unwrap().0, 0);
        assert_eq!(split(&[(1000, 0), (1000, 0)]), Some((0, 56)));
        assert_eq!(split(&[(2, 0), (1000, 0), (1000, 0)]).unwrap().0, 1);
        assert_eq!(split(&[(3, 0), (1_000_000, 0)]).unwrap().0, 1);
    }

    #[test]
    fn copies_are_made_only_where_they_are_small() {
        // A sum over all, over the rows of a thin and a wide matrix.
        assert_eq!(split(&[(1_000_000, 1)]), Some((0, 61)));
        assert_eq!(split(&[(1_000_000, 4), (4, 0)]), Some((0, 244)));
        assert_eq!(split(&[(4, 100_000), (100_000, 0)]).unwrap().0, 1);
        assert_eq!(split(&[(40, 1000), (1000, 0)]), None);
    }

    #[test]
    fn rows_are_cut_where_nothing_else_may_be() {
        let columns = |of: &[(i64, i64, bool)]| {
            let level = |&(length, copied, divisible)| LoopLevel { length, copied, divisible };
            let levels: Vec<LoopLevel> = of.iter().map(level).collect();
            Split::of_columns(&levels, 8).map(|split| (split.level, split.piece, split.pieces()))
        };
        assert_eq!(columns(&[(20_000, 9, false), (32, 0, true)]), Some((1, 16, 2)));
        assert_eq!(columns(&[(20_000, 9, false), (100, 0, true)]), Some((1, 64, 2)));
        assert_eq!(columns(&[(20_000, 9, false), (16, 0, true)]), None);
        assert_eq!(columns(&[(500, 9, false), (32, 0, true)]), None);
        assert_eq!(columns(&[(20_000, 0, true), (32, 0, true)]), None);
        assert_eq!(columns(&[(20_000, 9, false), (32, 1, true)]), None);
        assert_eq!(columns(&[(20_000, 9, false), (32, 0, false)]), None);
        assert_eq!(columns(&[]), None);
    }

    #[test]
    fn pieces_cover_the_loop_once() {
        for length in [40_000, 100_000, 12_345_678] {
            let split = Split::of(&levels(&[(length, 0)]), 8).unwrap();
            let mut end = 0;
            for at in 0..split.pieces() {
                let (start, count) = split.piece(at);
                assert!(start == end && count > 0 && start % 64 == 0);
                end += count;
            }
            assert_eq!(end, length);
        }
    }

    #[test]
    fn what_may_not_be_cut_is_not() {
        let mut levels = levels(&[(10, 0), (1_000_000, 0)]);
        levels[1].divisible = false;
        assert_eq!(Split::of(&levels, 8).map(|split| split.level), Some(0));
    }
}
