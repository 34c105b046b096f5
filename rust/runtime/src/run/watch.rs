//! Checks of the accesses of instructions to memory, for a run that looks for faults.
//!
//! A watched run knows for every slot whether its memory is still its own. Memory that was given back is
//! poisoned; reading it, or reading a slot that was written over, is an error. The elements of the
//! operands are compared before and after each instruction, and so are the guard zones around the
//! buffers that the run made. The first NaN is reported.

use frazil_core::DType;

use crate::arrays::layout::Layout;
use crate::arrays::strided::{Transfer, TransferPlan};
use crate::error::{Error, Fault};
use crate::ids::Slot;
use crate::program::Program;
use crate::run::guard::Guarded;
use crate::run::state::RunState;

/// The content of memory that was given back: NaN for floats, -1 for integers.
const POISON: u8 = 0xFF;

/// The knowledge of a watched run.
pub(crate) struct Watch {
    /// By slot: the instruction after which its memory was given back.
    released: Vec<Option<usize>>,
    /// By slot that was given memory: how often it was written over, and by which instruction last.
    writes: Vec<(u32, usize)>,
    /// By slot: how often its memory had been written over when it was made.
    born: Vec<u32>,
    /// The operands of the instruction that runs.
    operands: Vec<Operand>,
    /// The buffers in the arena that are in use, and how many there have been.
    guarded: Vec<Guarded>,
    laid: usize,
}

struct Operand {
    slot: Slot,
    elements: Elements,
}

impl Watch {
    pub(crate) fn new(program: &Program) -> Watch {
        Watch {
            released: vec![None; program.slots.len()],
            writes: vec![(0, 0); program.slots.len()],
            born: vec![0; program.slots.len()],
            operands: Vec::new(),
            guarded: Vec::new(),
            laid: 0,
        }
    }

    /// Checks that an instruction reads memory that is there, remembers its operands, and lays guard
    /// zones around its results.
    ///
    /// # Safety
    /// The operands of the instruction are in memory.
    pub(crate) unsafe fn before(
        &mut self,
        state: &RunState,
        program: &Program,
        at: usize,
    ) -> Result<(), Fault> {
        self.operands.clear();
        for slot in program.instrs[at].kind.reads() {
            self.check_alive(program, slot)?;
            if !self.operands.iter().any(|operand| operand.slot == slot) {
                // SAFETY: by the caller's promise, the operands are in memory.
                let elements = unsafe { Elements::of(state, program, slot)? };
                self.operands.push(Operand { slot, elements });
            }
        }
        let made = state.guards.planned()[self.laid..].iter();
        for &buffer in made.take_while(|buffer| buffer.made_by <= Some(at)) {
            // SAFETY: the arena has room for the zones.
            unsafe { state.guards.lay(buffer.place.resolve(&state.bases), buffer.bytes) };
            self.guarded.push(buffer);
            self.laid += 1;
        }
        Ok(())
    }

    /// Checks that a slot still has its memory.
    fn check_alive(&self, program: &Program, slot: Slot) -> Result<(), Fault> {
        let owner = program.liveness.owners[slot.index()];
        if let Some(by) = self.released[slot.index()].or(self.released[owner.index()]) {
            return Err(Fault::Released { slot, after: program.line(by) });
        }
        let (writes, by) = self.writes[owner.index()];
        if writes != self.born[slot.index()] {
            return Err(Fault::Overwritten { slot, by: program.line(by) });
        }
        Ok(())
    }

    /// Checks that all outputs still have their memory.
    pub(crate) fn check_outputs(&self, program: &Program) -> Result<(), Error> {
        for (position, &slot) in program.outputs.iter().enumerate() {
            let origin = program.output_origin(position);
            self.check_alive(program, slot).map_err(Error::at(origin))?;
        }
        Ok(())
    }

    /// Checks the writes of an instruction, before any memory is given back.
    ///
    /// # Safety
    /// Its operands and its results are in memory.
    pub(crate) unsafe fn after(
        &mut self,
        state: &RunState,
        program: &Program,
        at: usize,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, the operands and the results are in memory.
        unsafe { self.check_zones(state, program)? };
        let liveness = &program.liveness;
        let owner = |slot: Slot| liveness.owners[slot.index()];
        let kind = &program.instrs[at].kind;
        let is_view = kind.shares().is_some();
        let made = kind.writes();
        let start = |slot: Slot| state.slots[slot.index()].place.resolve(&state.bases);
        let mut heirs: Vec<Slot> = Vec::new();
        for &slot in &made {
            let over = liveness.over[slot.index()].into_iter();
            let over = over.chain(liveness.dying[slot.index()].iter().copied());
            let taken = over.filter(|&of| !is_view && start(of) == start(slot));
            heirs.extend(taken.map(owner));
        }
        for (position, Operand { slot, elements }) in self.operands.iter().enumerate() {
            if heirs.contains(&owner(*slot)) {
                continue;
            }
            // SAFETY: by the caller's promise, the operands and the results are in memory.
            if unsafe { Elements::of(state, program, *slot)? } != *elements {
                let input = program.inputs.iter().position(|input| input.slot == *slot);
                let operand = crate::error::Operand { position, slot: *slot, input };
                return Err(Fault::Destroyed { operand });
            }
        }
        heirs.sort_unstable();
        heirs.dedup();
        for heir in heirs {
            let (writes, by) = &mut self.writes[heir.index()];
            (*writes, *by) = (*writes + 1, at);
        }
        let known = self.operands.iter().any(|operand| operand.elements.nan().is_some());
        for (position, &slot) in made.iter().enumerate() {
            self.born[slot.index()] = match kind.shares() {
                Some((of, _, _)) => self.born[of.index()],
                None => self.writes[owner(slot).index()].0,
            };
            if known || is_view {
                continue;
            }
            // SAFETY: by the caller's promise, the operands and the results are in memory.
            if let Some(index) = unsafe { Elements::of(state, program, slot)? }.nan() {
                return Err(Fault::NotANumber { position, index });
            }
        }
        Ok(())
    }

    /// Checks that no write went beyond a buffer.
    ///
    /// # Safety
    /// The memory of the run is there.
    unsafe fn check_zones(&self, state: &RunState, program: &Program) -> Result<(), Fault> {
        let planned = self.guarded.iter().map(|buffer| {
            (buffer.slot, buffer.place.resolve(&state.bases).cast_const(), buffer.bytes)
        });
        let found = (0..state.blocks.len()).filter(|&at| state.blocks[at].is_some()).map(|at| {
            let start = state.bases[program.bases.slots + at].cast_const();
            (Slot::from_index(at), start, state.slots[at].bytes)
        });
        for (slot, start, bytes) in planned.chain(found) {
            // SAFETY: the zones were laid when the buffer was made.
            if let Some(trespass) = unsafe { state.guards.trespass(start, bytes) } {
                let made_by = program.slots[slot.index()].made_by;
                let from = made_by.map_or(slot.to_string(), |by| program.line(by));
                return Err(trespass.fault(format!("the buffer of {from}"), bytes));
            }
        }
        Ok(())
    }

    /// Notes memory that is given back after an instruction, and poisons it.
    ///
    /// # Safety
    /// The memory of the run is there.
    pub(crate) unsafe fn release(&mut self, state: &RunState, program: &Program, at: usize) {
        self.guarded.retain(|buffer| buffer.until != Some(at));
        for &slot in &program.liveness.releases[at] {
            self.released[slot.index()] = Some(at);
            let given = &state.slots[slot.index()];
            let own = [program.bases.arena, program.bases.slots + slot.index()];
            let block = state.blocks[slot.index()].is_some();
            if given.bytes > 0
                && (given.place.base == own[0] || given.place.base == own[1] && block)
            {
                // SAFETY: the slot was given this memory for itself, and gives it back.
                unsafe { given.place.resolve(&state.bases).write_bytes(POISON, given.bytes) };
            }
        }
    }

    /// Poisons the arena, so that a read before a write shows.
    ///
    /// # Safety
    /// The arena has this many bytes.
    pub(crate) unsafe fn start(arena: *mut u8, bytes: usize) {
        // SAFETY: by the caller's promise, the arena has so many bytes.
        unsafe { arena.write_bytes(POISON, bytes) };
    }
}

/// The elements of an array in C order; repeated elements count once.
#[derive(PartialEq)]
struct Elements {
    dtype: DType,
    dims: Vec<i64>,
    words: Vec<u64>,
}

impl Elements {
    /// # Safety
    /// The slot is in memory.
    unsafe fn of(state: &RunState, program: &Program, slot: Slot) -> Result<Elements, Fault> {
        let dtype = program.slots[slot.index()].dtype;
        let given = &state.slots[slot.index()];
        let dims = given.layout.dims.iter().zip(&given.layout.strides);
        let dims: Vec<i64> = dims
            .map(|(&length, &stride)| if stride == 0 { length.min(1) } else { length })
            .collect();
        let item = dtype.itemsize();
        let count = if dims.contains(&0) { 0 } else { dims.iter().product::<i64>() as usize };
        let mut words = vec![0; (count * item).div_ceil(8)];
        if count > 0 {
            let fresh = Layout::fresh(&dims, item).expect("what lies in memory has a size");
            let strides = &given.layout.strides;
            let copy = TransferPlan::new(Transfer::Copy, dtype, &dims, &fresh.strides, strides);
            // SAFETY: the words are fresh and as many as the elements take; the slot is in memory
            // by the caller's promise.
            unsafe { copy.run(words.as_mut_ptr().cast(), given.place.resolve(&state.bases))? };
        }
        Ok(Elements { dtype, dims, words })
    }

    /// The position of the first NaN.
    fn nan(&self) -> Option<Vec<i64>> {
        let item = self.dtype.itemsize();
        if !self.dtype.is_float() {
            return None;
        }
        let count = if self.dims.contains(&0) { 0 } else { self.dims.iter().product::<i64>() };
        let mut flat = (0..count).find(|&at| {
            let word = self.words[at as usize * item / 8];
            let value = match item {
                4 => f64::from(f32::from_ne_bytes(half(word, at % 2))),
                _ => f64::from_bits(word),
            };
            value.is_nan()
        })?;
        let mut index = vec![0; self.dims.len()];
        for (at, &length) in index.iter_mut().zip(&self.dims).rev() {
            *at = flat % length;
            flat /= length;
        }
        Some(index)
    }
}

/// One half of a word, by where it lies in memory.
fn half(word: u64, at: i64) -> [u8; 4] {
    let bytes = word.to_ne_bytes();
    let start = at as usize * 4;
    [bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::array::ArrayRef;
    use crate::arrays::view::Index;
    use crate::program::array_type::ArrayType;
    use crate::program::builder::Builder;
    use crate::threads::conduct::Conduct;

    /// `%1 = copy %0`, `%2 = copy %1`, `%3 = dot %1 %2`, watched.
    fn program() -> (Program, [Slot; 4]) {
        let mut builder = Builder::new();
        builder.watch();
        let x = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
        let first = builder.copy(x).unwrap();
        let second = builder.copy(first).unwrap();
        let zero = builder.size_literal(0).unwrap();
        let last = builder.set(second, &[Index::At(zero)], first).err();
        assert!(last.is_some(), "a vector does not fit one element");
        let one = builder.slice(first, &[Index::At(zero)]).unwrap();
        let updated = builder.set(second, &[Index::At(zero)], one).unwrap();
        (builder.finish(&[updated]).unwrap(), [x, first, second, updated])
    }

    fn run(program: &Program) -> Result<(), Fault> {
        let data = [1.0f64, 2.0, 3.0];
        let x = ArrayRef::vector(&data, &[3]);
        // SAFETY: the array outlives the run.
        let mut run = unsafe { program.bind(&[x]).map_err(|error| error.fault)? };
        run.execute(&Conduct::ALONE).map_err(|error| error.fault)
    }

    #[test]
    fn a_sound_program_runs() {
        run(&program().0).unwrap();
    }

    #[test]
    fn a_plan_that_releases_early_is_found() {
        let (mut program, [_, first, ..]) = program();
        let releases = &mut program.liveness.releases;
        for slots in releases.iter_mut() {
            *slots = slots.iter().copied().filter(|&slot| slot != first).collect();
        }
        releases[0] = [first].into();
        let fault = run(&program).unwrap_err();
        assert!(matches!(fault, Fault::Released { slot, .. } if slot == first), "{fault}");
        assert!(fault.to_string().contains("given back after: %1 = copy %0"), "{fault}");
    }

    #[test]
    fn a_plan_that_writes_over_what_is_read_later_is_found() {
        let (mut program, [_, first, second, _]) = program();
        program.liveness.over[second.index()] = Some(first);
        program.liveness.owners[second.index()] = first;
        let fault = run(&program).unwrap_err();
        assert!(matches!(fault, Fault::Overwritten { slot, .. } if slot == first), "{fault}");
    }
}
