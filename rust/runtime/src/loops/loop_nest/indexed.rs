//! Operands that indices move, and reports of indices that a kernel refuses.

use smallvec::SmallVec;

use super::{Access, LINE, LoopNest, Role};
use crate::allocation::buffer::ALIGNMENT;
use crate::threads::split::Split;

/// An operand that indices move: a source, which is read where they say, or a target, which is
/// written there.
#[derive(Debug)]
pub(crate) struct Table {
    /// The operand of the nest.
    pub(crate) operand: usize,
    /// The length and the stride in bytes of each indexed axis.
    pub(crate) axes: SmallVec<[(i64, i64); 2]>,
}

/// The number of an index that a kernel refused, and its value.
pub(super) type Report = [i64; 2];

impl LoopNest {
    /// The nest of a kernel that moves some operands by indices.
    pub(crate) fn with_tables(mut self, tables: &[Table], accesses: &[Access]) -> LoopNest {
        // The strides of buffers come last, as they do among the pointers.
        let between = tables.len() + usize::from(!tables.is_empty());
        self.outer_strides.insert_many(self.inner_steps.len(), std::iter::repeat_n(0, between));
        for table in tables {
            let axes = table.axes.iter().flat_map(|&(length, stride)| [length, stride]);
            let step = self.inner_steps[table.operand];
            self.tables.push(std::iter::once(step).chain(axes).collect());
        }
        if !tables.is_empty() {
            self.period = None;
            self.share_columns(accesses);
            self.reports = self.scratch.1.next_multiple_of(LINE);
            self.scratch.1 = self.reports + self.pieces() * size_of::<Report>();
        }
        self
    }

    /// Cuts the rows of a loop that may not be cut between rows, as they are added where indices say.
    ///
    /// Each column goes through all of its rows in their order, so the result has the same bits as without the cut.
    fn share_columns(&mut self, accesses: &[Access]) {
        // Threads that write to neighbouring lines take them from each other, as the processor reads ahead.
        let writes_all = accesses.iter().any(|access| access.role == Role::Write && access.inner);
        if self.empty || self.split.is_some() || writes_all {
            return;
        }
        let written = accesses.iter().filter(|access| access.role != Role::Read);
        let narrowest = written.map(|access| access.itemsize).min().unwrap_or(ALIGNMENT);
        let split =
            Split::of_columns(&self.levels(accesses), (ALIGNMENT / narrowest.max(1)) as i64);
        self.divide(split, accesses);
    }

    /// The place of a piece's report in the scratch memory of a run.
    pub(crate) fn report_of(&self, piece: usize, scratch: *mut u8) -> *mut u8 {
        scratch.wrapping_add(self.reports + piece * size_of::<Report>())
    }

    /// Says that no piece has refused an index.
    ///
    /// # Safety
    /// The scratch memory is as large as [`LoopNest::scratch`] says.
    pub(super) unsafe fn clear_reports(&self, scratch: *mut u8) {
        if !self.tables.is_empty() {
            for piece in 0..self.pieces() {
                // SAFETY: by the caller's promise, the scratch memory has room for the report of
                // each piece.
                unsafe { self.report_of(piece, scratch).cast::<Report>().write([-1, 0]) };
            }
        }
    }

    /// The number and the value of the index that a kernel refused, in the first piece that did.
    ///
    /// # Safety
    /// The nest has just run with this scratch memory.
    pub(crate) unsafe fn report(&self, scratch: *mut u8) -> Option<Report> {
        if self.tables.is_empty() {
            return None;
        }
        let reports = (0..self.pieces()).map(|piece| self.report_of(piece, scratch));
        // SAFETY: the run wrote them there.
        let mut reports = reports.map(|report| unsafe { report.cast::<Report>().read() });
        reports.find(|report| report[0] >= 0)
    }
}
