//! Guard zones: bytes before and after each buffer of a watched run, which no instruction may write to.

use crate::error::Fault;
use crate::ids::Slot;
use crate::run::step::Place;

/// Bytes of a zone; a multiple of the alignment of buffers.
const WIDTH: usize = 256;

/// The bytes that fill zones: a NaN for floats of 32 and of 64 bits, so that a read beyond a buffer
/// shows, too.
const PATTERN: [u8; 4] = 0xFFF5_A5C3_u32.to_ne_bytes();

/// The zones of a state, and their width: zero in runs that are not watched.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    width: usize,
    /// Buffers in the arena, in the order in which they are made.
    planned: Vec<Guarded>,
}

/// A buffer in the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guarded {
    /// The slot that it was made for; others may take it over.
    pub(crate) slot: Slot,
    pub(crate) place: Place,
    pub(crate) bytes: usize,
    /// The instruction that makes it, and the one after which it is given back.
    pub(crate) made_by: Option<usize>,
    pub(crate) until: Option<usize>,
}

/// Bytes beyond a buffer that were written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trespass {
    /// The numbers of changed bytes of the zone before the buffer, counted from its start, and of the zone after
    /// it: up to the farthest that was written to.
    pub(crate) before: usize,
    pub(crate) after: usize,
}

impl Trespass {
    /// The fault of an instruction that went beyond a buffer of so many bytes.
    pub(crate) fn fault(self, whose: String, bytes: usize) -> Fault {
        let (distance, edge) = match self.after {
            0 => (self.before, "before the start"),
            after => (after, "beyond the end"),
        };
        Fault::Trespass { whose, bytes, distance, edge }
    }
}

impl Guards {
    pub(crate) fn new(watched: bool) -> Guards {
        Guards { width: if watched { WIDTH } else { 0 }, planned: Vec::new() }
    }

    /// Bytes of one zone.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The bytes of a buffer with its zones.
    pub(crate) fn around(&self, bytes: usize) -> Result<usize, Fault> {
        bytes.checked_add(2 * self.width).ok_or(Fault::TooLarge)
    }

    /// Forgets the buffers in the arena.
    pub(crate) fn clear(&mut self) {
        self.planned.clear();
    }

    /// Notes a buffer in the arena.
    pub(crate) fn plan(&mut self, buffer: Guarded) {
        if self.width > 0 {
            self.planned.push(buffer);
        }
    }

    /// Notes that nothing uses a buffer in the arena after an instruction.
    pub(crate) fn release(&mut self, place: Place, at: usize) {
        let held = |buffer: &&mut Guarded| buffer.place == place && buffer.until.is_none();
        if let Some(buffer) = self.planned.iter_mut().rev().find(held) {
            buffer.until = Some(at);
        }
    }

    /// The buffers in the arena, in the order in which they are made.
    pub(crate) fn planned(&self) -> &[Guarded] {
        &self.planned
    }

    /// Fills the zones of a buffer.
    ///
    /// # Safety
    /// The buffer is writable with a zone on each side.
    pub(crate) unsafe fn lay(&self, start: *mut u8, bytes: usize) {
        for zone in [start.wrapping_sub(self.width), start.wrapping_add(bytes)] {
            for at in 0..self.width {
                // SAFETY: by the caller's promise, there is a zone on each side of the buffer.
                unsafe { zone.add(at).write(pattern(zone, at)) };
            }
        }
    }

    /// The writes to the zones of a buffer: none, or their extent.
    ///
    /// # Safety
    /// The zones were laid.
    pub(crate) unsafe fn trespass(&self, start: *const u8, bytes: usize) -> Option<Trespass> {
        // SAFETY: by the caller's promise, for `at` below the width.
        let intact = |zone: *const u8, at: usize| unsafe { *zone.add(at) == pattern(zone, at) };
        let (first, last) = (start.wrapping_sub(self.width), start.wrapping_add(bytes));
        let before = (0..self.width).find(|&at| !intact(first, at));
        let after = (0..self.width).rfind(|&at| !intact(last, at));
        let found = Trespass {
            before: before.map_or(0, |at| self.width - at),
            after: after.map_or(0, |at| at + 1),
        };
        (found.before + found.after > 0).then_some(found)
    }
}

/// The byte of a zone, by its address: an element that is read from there is whole.
fn pattern(zone: *const u8, at: usize) -> u8 {
    PATTERN[zone.wrapping_add(at).addr() % PATTERN.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_tells_how_far_somebody_went() {
        let guards = Guards::new(true);
        let mut memory = vec![0u64; 2 * WIDTH / 8 + 3];
        let start = memory.as_mut_ptr().cast::<u8>().wrapping_add(WIDTH);
        // SAFETY: the zones and the buffer lie in the memory.
        unsafe {
            guards.lay(start, 20);
            assert_eq!(guards.trespass(start, 20), None);
            assert!(start.add(24).cast::<f64>().read().is_nan());
            assert!(start.add(24).cast::<f32>().read().is_nan());
            start.add(19).write(0);
            assert_eq!(guards.trespass(start, 20), None);
            start.add(27).write(0);
            assert_eq!(guards.trespass(start, 20), Some(Trespass { before: 0, after: 8 }));
            start.sub(3).write(0);
            assert_eq!(guards.trespass(start, 20), Some(Trespass { before: 3, after: 8 }));
        }
    }
}
