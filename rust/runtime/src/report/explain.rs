//! A report on a program, instruction by instruction.

use crate::error::Error;
use crate::ids::Origin;
use crate::program::Program;
use crate::program::instr::InstrKind;

/// An instruction, told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its text form.
    pub text: String,
    /// Its origin.
    pub origin: Option<Origin>,
    /// The number of the kernel that it runs.
    pub kernel: Option<u32>,
    /// The sizes that it asks for, where shapes were given; `None`: only the run knows.
    pub sizes: Vec<Option<i64>>,
    /// The lengths of its results, likewise.
    pub shapes: Vec<Option<Vec<i64>>>,
}

impl Program {
    /// The program's instructions; with dims of all inputs, also their sizes.
    pub fn explain(&self, dims: Option<&[Vec<i64>]>) -> Result<Vec<Explained>, Error> {
        let state = match dims {
            Some(dims) => Some(self.laid_out(dims, |_, _| {})?),
            None => None,
        };
        let explained = self.instrs.iter().enumerate().map(|(at, instr)| {
            let mut explained = Explained {
                text: self.line(at),
                origin: instr.origin,
                kernel: match &instr.kind {
                    InstrKind::Loop(code) => Some(code.kernel.number),
                    _ => None,
                },
                sizes: Vec::new(),
                shapes: Vec::new(),
            };
            if let Some(state) = &state {
                let sizes = instr.kind.sizes().into_iter();
                explained.sizes = sizes
                    .map(|size| (!self.late[size.index()]).then(|| state.values[size.index()]))
                    .collect();
                let slots = instr.kind.writes().into_iter();
                explained.shapes = slots
                    .map(|slot| {
                        let layout = &state.slots[slot.index()].layout;
                        (!self.slots[slot.index()].dynamic).then(|| layout.dims.to_vec())
                    })
                    .collect();
            }
            explained
        });
        Ok(explained.collect())
    }
}
