//! What a call needs of memory, told before it runs.

use std::fmt;

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::array::ArrayRef;
use crate::error::Error;
use crate::ids::{Origin, Slot};
use crate::program::Program;
use crate::run::state::State;

/// Where a buffer lies.
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
    /// What lies there.
    pub slot: Slot,
    /// Its size; `None` if only the run knows it.
    pub bytes: Option<usize>,
    /// Where it lies.
    pub location: Location,
    /// The number of the instruction that makes it.
    pub made_by: usize,
    /// What that instruction is blamed on.
    pub origin: Option<Origin>,
    /// The operand whose memory it takes over.
    pub over: Option<Slot>,
    /// The number of the instruction after which nothing reads it or what took over its memory;
    /// `None`: not before the end.
    pub last: Option<usize>,
}

/// What a call needs of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Bytes for temporaries.
    pub arena: usize,
    /// Bytes that kernels need beside their operands.
    pub scratch: usize,
    /// Bytes that programs take for themselves which the program runs; `None` if only the run knows
    /// them.
    pub nested: Option<usize>,
    /// The bytes of each output; `None` if only the run knows them.
    pub outputs: Vec<Option<usize>>,
    /// For each output the input in whose memory it lies, if it is not made anew.
    pub lies_in: Vec<Option<usize>>,
    /// Every result that is more than another look at memory, in the order in which they are made.
    pub buffers: Vec<PlannedBuffer>,
}

impl Program {
    /// What a call needs of memory with inputs of these dims, each in C order.
    pub fn memory_plan(&self, dims: &[Vec<i64>]) -> Result<MemoryPlan, Error> {
        let mut buffers = Vec::new();
        let (state, arena) = self.laid_out(dims, |state, at| self.made(state, at, &mut buffers))?;
        let mut last = vec![None; self.slots.len()];
        for (at, releases) in self.liveness.releases.iter().enumerate() {
            for slot in releases {
                last[slot.index()] = Some(at);
            }
        }
        for buffer in &mut buffers {
            buffer.last = last[buffer.slot.index()];
        }
        let lies_in = |slot: &Slot| {
            let base = state.slots[slot.index()].place.base;
            (!self.slots[slot.index()].dynamic && base < self.bases.constants).then_some(base)
        };
        Ok(MemoryPlan {
            lies_in: self.outputs.iter().map(lies_in).collect(),
            arena,
            scratch: state.scratch_bytes,
            nested: state.nested_bytes(),
            outputs: state
                .outputs
                .iter()
                .map(|plan| plan.as_ref().map(|plan| plan.bytes))
                .collect(),
            buffers,
        })
    }

    /// The state of a run that would start, with inputs of these dims, each in C order, and the
    /// bytes of its temporaries. `seen` is called after each instruction.
    pub(crate) fn laid_out(
        &self,
        dims: &[Vec<i64>],
        seen: impl FnMut(&State, usize),
    ) -> Result<(State, usize), Error> {
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
        let mut state = State::new(self);
        let arena = state.lay_out(self, &inputs, seen)?;
        Ok((state, arena))
    }

    /// Notes what an instruction that was just bound has made.
    fn made(&self, state: &State, at: usize, buffers: &mut Vec<PlannedBuffer>) {
        let instr = &self.instrs[at];
        if instr.dynamic && instr.kind.shares().is_some() {
            return;
        }
        let place = |slot: Slot| state.slots[slot.index()].place;
        for slot in instr.kind.writes() {
            let made = &state.slots[slot.index()];
            let in_place = self.liveness.over[slot.index()];
            let in_place = in_place.filter(|&of| !instr.dynamic && place(of) == place(slot));
            let inherited = self.liveness.dying[slot.index()].iter().copied().find(|&of| {
                let owner = self.liveness.owners[of.index()];
                let gone = state.slots[owner.index()].bytes == 0;
                !instr.dynamic && gone && place(of) == place(slot)
            });
            let bytes = match in_place {
                _ if instr.dynamic => None,
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
                    _ if instr.dynamic => Location::Run,
                    base if base < self.bases.constants => Location::Input(base),
                    base if base == self.bases.arena => Location::Arena(made.place.offset as usize),
                    base => Location::Output(base - self.bases.outputs),
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
