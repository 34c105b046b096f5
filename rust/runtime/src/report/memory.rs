//! The memory that a call needs, found before it runs.

use std::fmt;

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::array::ArrayRef;
use crate::error::Error;
use crate::ids::{Origin, Slot};
use crate::program::Program;
use crate::run::state::RunState;

/// The place of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the memory that a function keeps for its temporaries, this many bytes from its start.
    Arena(usize),
    /// In the memory of this output.
    Output(usize),
    /// In the memory of this input, which was donated.
    Input(usize),
    /// In memory that is found during the run: its size depends on values.
    Run,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Arena(start) => write!(f, "temporary at {start}"),
            Location::Output(position) => write!(f, "output {position}"),
            Location::Input(position) => write!(f, "input {position}"),
            Location::Run => write!(f, "found during the call"),
        }
    }
}

/// A result that is more than another look at memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedBuffer {
    /// The content.
    pub slot: Slot,
    /// Its size; `None` if only the run knows it.
    pub bytes: Option<usize>,
    /// The place.
    pub location: Location,
    /// The number of the instruction that makes it.
    pub made_by: usize,
    /// The origin of that instruction.
    pub origin: Option<Origin>,
    /// The operand whose memory it takes over.
    pub over: Option<Slot>,
    /// The number of the instruction after which nothing reads it or the result that took over its memory;
    /// `None`: not before the end.
    pub last: Option<usize>,
}

/// The memory of the programs of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedBranch {
    /// The number of the instruction.
    pub at: usize,
    /// The origin of that instruction.
    pub origin: Option<Origin>,
    /// The bytes that the first one takes, and the second.
    pub bytes: [usize; 2],
}

/// The memory that a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Bytes for temporaries.
    pub arena: usize,
    /// Bytes that kernels need beside their operands.
    pub scratch: usize,
    /// The bytes that programs of branches take at most at once: the bytes of the costliest branches. `None`
    /// if an instruction runs a program that finds out while it runs.
    pub choices: Option<usize>,
    /// Bytes that are found during the run, at most, beside outputs; `None` if values decide.
    pub found: Option<usize>,
    /// Whether every run takes as much: no branch takes less, and no scan ends early whose steps take
    /// memory.
    pub exact: bool,
    /// The memory of the branches of the program.
    pub branches: Vec<PlannedBranch>,
    /// The bytes of each output, at most; `None` if only the run knows them.
    pub outputs: Vec<Option<usize>>,
    /// For each output the input in whose memory it lies, if it is not made anew.
    pub lies_in: Vec<Option<usize>>,
    /// Every result that is more than another look at memory, in the order in which they are made.
    pub buffers: Vec<PlannedBuffer>,
}

impl Program {
    /// The memory that a call needs with inputs of these dims, each in C order.
    pub fn memory_plan(&self, dims: &[Vec<i64>]) -> Result<MemoryPlan, Error> {
        let mut buffers = Vec::new();
        let mut state = self.laid_out(dims, |state, at| self.made(state, at, &mut buffers))?;
        let mut last = vec![None; self.slots.len()];
        for (at, releases) in self.liveness.releases.iter().enumerate() {
            for slot in releases {
                last[slot.index()] = Some(at);
            }
        }
        let branches = state.arms.iter().map(|&(at, bytes)| PlannedBranch {
            at,
            origin: self.instrs[at].origin,
            bytes,
        });
        let branches: Vec<PlannedBranch> = branches.collect();
        let exact = state.choice_bytes == 0 && !self.dynamic;
        let found = if self.dynamic { self.forecast(&mut state) } else { Some(0) };
        let bytes = |slot: &Slot| {
            let itemsize = self.slots[slot.index()].dtype.itemsize();
            state.slots[slot.index()].layout.len() as usize * itemsize
        };
        let late = |slot: &Slot| self.slots[slot.index()].dynamic;
        for buffer in &mut buffers {
            buffer.last = last[buffer.slot.index()];
            if found.is_some() && late(&buffer.slot) {
                buffer.bytes = Some(bytes(&buffer.slot));
            }
        }
        let given_out: usize = self.outputs.iter().filter(|slot| late(slot)).map(bytes).sum();
        let outputs = self.outputs.iter().zip(&state.outputs).map(|(slot, plan)| match plan {
            Some(plan) => Some(plan.bytes),
            None => found.map(|_| bytes(slot)),
        });
        let outputs: Vec<Option<usize>> = outputs.collect();
        let lies_in = |slot: &Slot| {
            let base = state.slots[slot.index()].place.base;
            (!self.slots[slot.index()].dynamic && base < self.bases.constants).then_some(base)
        };
        Ok(MemoryPlan {
            lies_in: self.outputs.iter().map(lies_in).collect(),
            arena: state.arena_bytes,
            scratch: state.scratch_bytes,
            choices: (!state.open).then_some(state.choice_bytes),
            found: found.map(|found| found - given_out),
            exact,
            branches,
            outputs,
            buffers,
        })
    }

    /// The state of a run that would start, with inputs of these dims, each in C order. `seen` is
    /// called after each instruction.
    pub(crate) fn laid_out(
        &self,
        dims: &[Vec<i64>],
        seen: impl FnMut(&RunState, usize),
    ) -> Result<RunState, Error> {
        let strides: Vec<Vec<i64>> = dims
            .iter()
            .zip(&self.inputs)
            .map(|(dims, input)| c_strides(dims, input.ty.dtype.itemsize()))
            .collect();
        let unused = std::ptr::without_provenance(ALIGNMENT);
        let inputs: Vec<ArrayRef<'_>> = dims
            .iter()
            .zip(&strides)
            .zip(&self.inputs)
            .map(|((dims, strides), input)| ArrayRef {
                dtype: input.ty.dtype,
                data: unused,
                dims,
                strides,
                owner: None,
            })
            .collect();
        let mut state = RunState::new(self);
        state.lay_out(self, &inputs, seen)?;
        Ok(state)
    }

    /// Notes the results of an instruction that was just bound.
    fn made(&self, state: &RunState, at: usize, buffers: &mut Vec<PlannedBuffer>) {
        let instr = &self.instrs[at];
        if instr.dynamic && instr.kind.shares().is_some() {
            return;
        }
        let place = |slot: Slot| state.slots[slot.index()].place;
        for slot in instr.kind.writes() {
            let dynamic = self.slots[slot.index()].dynamic;
            let made = &state.slots[slot.index()];
            let in_place = self.liveness.over[slot.index()];
            let in_place = in_place.filter(|&of| !dynamic && place(of) == place(slot));
            let inherited = self.liveness.dying[slot.index()].iter().copied().find(|&of| {
                let owner = self.liveness.owners[of.index()];
                let gone = state.slots[owner.index()].bytes == 0;
                !dynamic && gone && place(of) == place(slot)
            });
            let bytes = match in_place {
                _ if dynamic => None,
                Some(_) => {
                    Some(made.layout.len() as usize * self.slots[slot.index()].dtype.itemsize())
                }
                None if made.bytes == 0 => continue,
                None => Some(made.bytes),
            };
            buffers.push(PlannedBuffer {
                slot,
                bytes,
                location: match made.place.base {
                    _ if dynamic => Location::Run,
                    base if base < self.bases.constants => Location::Input(base),
                    base if base == self.bases.arena => Location::Arena(made.place.offset as usize),
                    base if base >= self.bases.slots => Location::Run,
                    base => Location::Output(base - self.bases.outputs()),
                },
                made_by: at,
                origin: instr.origin,
                over: in_place.or(inherited),
                last: None,
            });
        }
    }
}

fn c_strides(dims: &[i64], itemsize: usize) -> Vec<i64> {
    let mut strides = vec![itemsize as i64; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis].max(1));
    }
    strides
}
