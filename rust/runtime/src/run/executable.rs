//! Running a program: it is bound to the shapes of its inputs, or its binding is found again.

use crate::arrays::array::ArrayRef;
use crate::error::Error;
use crate::program::Program;
use crate::run::Run;
use crate::run::idle::IdleStates;

/// Counts of the ways in which runs got their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bindings {
    /// The number of times that all sizes were evaluated from the shapes of the inputs.
    pub made: u64,
    /// The number of times that an earlier evaluation was used again.
    pub found: u64,
}

impl Program {
    /// Prepares a run over these inputs: checks them, and evaluates the sizes that their shapes decide, or
    /// finds it from an earlier call with the same shapes and strides.
    ///
    /// # Safety
    /// Each array is readable at its layout, aligned, and stays so until the run is dropped. Those
    /// that are donated are writable too, and share memory with no other.
    pub unsafe fn bind(&self, inputs: &[ArrayRef<'_>]) -> Result<Run<'_>, Error> {
        let mut run = self.prepare(inputs)?;
        run.own_memory().map_err(Error::at(None))?;
        run.start(inputs);
        Ok(run)
    }

    /// As [`Program::bind`], by the types and layouts of the arrays alone: nothing may run before
    /// each input got its memory, and the run has memory of its own or lent.
    pub(crate) fn prepare(&self, inputs: &[ArrayRef<'_>]) -> Result<Run<'_>, Error> {
        let (mut state, bound) = self.idle().take(self, inputs);
        if !bound && let Err(error) = state.bind(self, inputs) {
            // The state forgot its shapes; its memory is still good.
            self.idle().give(self, state);
            return Err(error);
        }
        Ok(Run::new(self, state))
    }

    /// Counts of the ways in which the runs so far got their sizes.
    pub fn bindings(&self) -> Bindings {
        self.idle().bindings()
    }

    /// The states that no run works on.
    pub(crate) fn idle(&self) -> &IdleStates {
        self.kept.get()
    }
}
