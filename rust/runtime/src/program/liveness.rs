//! Liveness: how long memory is needed. It finds the slots that are given back after each instruction,
//! and the results that are made in the memory of an output, or of an operand that is not read again.
//!
//! Slots that may share memory form a *family*: a slot and all views of it. If no instruction after this one reads
//! a family, it dies here, and a result of this instruction may take over its memory. All of this follows from the
//! order of the instructions, so it is right for every order: an operand that does not die in time is copied.

use crate::ids::Slot;
use crate::program::builder::{Input, SlotInfo};
use crate::program::instr::{Instr, InstrKind, Loop};
use crate::program::nested::Part;
use crate::program::operands::Overwrite;

/// The memory of a program's slots, as far as it does not depend on shapes.
pub(crate) struct Liveness {
    /// The slots that are not read after instruction 0, 1, ...
    pub(crate) releases: Box<[Box<[Slot]>]>,
    /// The output whose memory a slot is made in, if there is one.
    pub(crate) in_output: Box<[Option<usize>]>,
    /// The operand that a slot is made in place of, whatever its layout, if there is one.
    pub(crate) over: Box<[Option<Slot>]>,
    /// For the results of a loop, the operands that die in it: where the layouts are the same, a
    /// result takes over the memory of one.
    pub(crate) dying: Box<[Box<[Slot]>]>,
    /// The slot that was given the memory which a slot lies in: made by an instruction, or an
    /// input or a constant.
    pub(crate) owners: Box<[Slot]>,
}

const NEVER: usize = usize::MAX;

impl Liveness {
    pub(crate) fn new(
        slots: &[SlotInfo],
        inputs: &[Input],
        instrs: &[Instr],
        parts: &[Part],
        outputs: &[Slot],
        watched: bool,
    ) -> Liveness {
        // Memory of the caller has no guard zones, so a watched run makes nothing there.
        let donated = inputs.iter().filter(|input| input.donated && !watched);
        let mut memory = Memory::new(slots, instrs, donated.map(|input| input.slot));
        let families = Families::new(slots, instrs, parts, outputs);
        let mut over: Box<[Option<Slot>]> = vec![None; slots.len()].into();
        let mut dying: Box<[Box<[Slot]>]> = vec![Box::default(); slots.len()].into();
        for (at, instr) in instrs.iter().enumerate() {
            // Whether the memory of an operand can go to a result of this instruction.
            let dies = |memory: &Memory<'_>, slot: Slot| {
                let family = families.of[slot.index()].index();
                families.last[family] == at && memory.is_ours(slot, families.called[family])
            };
            for Overwrite { of, to, others } in instr.kind.overwrites() {
                let family = |slot: Slot| families.of[slot.index()];
                let apart = others.iter().all(|&other| family(other) != family(of));
                if apart && dies(&memory, of) {
                    over[to.index()] = Some(of);
                    memory.goes_to(of, to);
                }
            }
            if let Some((of, to, _)) = instr.kind.shares() {
                memory.goes_to(of, to);
            }
            if let InstrKind::Loop(code) = &instr.kind {
                let ends = ends_in(code, |slot| dies(&memory, slot));
                for write in &code.writes {
                    // A write that does not move everywhere may come before the last read.
                    if write.identity.is_none() && write.axes.iter().all(Option::is_some) {
                        dying[write.slot.index()] = ends.as_slice().into();
                    }
                }
            }
        }
        Liveness {
            releases: releases(slots, instrs, outputs, &over),
            in_output: in_output(slots, instrs, outputs, &over),
            over,
            dying,
            owners: memory.owners,
        }
    }
}

/// The memory that each slot lies in.
struct Memory<'a> {
    slots: &'a [SlotInfo],
    instrs: &'a [Instr],
    donated: Vec<bool>,
    owners: Box<[Slot]>,
}

impl<'a> Memory<'a> {
    fn new(
        slots: &'a [SlotInfo],
        instrs: &'a [Instr],
        inputs: impl Iterator<Item = Slot>,
    ) -> Memory<'a> {
        let mut donated = vec![false; slots.len()];
        inputs.for_each(|slot| donated[slot.index()] = true);
        let owners = (0..slots.len()).map(Slot::from_index).collect();
        Memory { slots, instrs, donated, owners }
    }

    fn goes_to(&mut self, of: Slot, to: Slot) {
        self.owners[to.index()] = self.owners[of.index()];
    }

    /// Whether the program may use up the memory of a slot; `called`: a foreign function reads it.
    fn is_ours(&self, slot: Slot, called: bool) -> bool {
        let owner = self.owners[slot.index()].index();
        match self.slots[owner].made_by {
            // The result of a foreign function may belong to anyone.
            Some(by) => !matches!(self.instrs[by].kind, InstrKind::Call(_)),
            // A foreign function may return memory of the caller that it is given.
            None => self.donated[owner] && !called,
        }
    }
}

/// The operands that die in a loop, each listed once; the loop reads each of their elements once.
fn ends_in(code: &Loop, dies: impl Fn(Slot) -> bool) -> Vec<Slot> {
    let mut ends: Vec<Slot> = Vec::new();
    for read in &code.reads {
        // An operand that does not move everywhere is read again and again.
        let moves = read.axes.iter().all(Option::is_some);
        if moves && !ends.contains(&read.slot) && dies(read.slot) {
            ends.push(read.slot);
        }
    }
    ends
}

/// Slots by the memory that they may look at.
struct Families {
    /// The first slot of a slot's family.
    of: Vec<Slot>,
    /// By family: the last instruction that reads it; `NEVER` if the caller does.
    last: Vec<usize>,
    /// By family: whether a foreign function reads it.
    called: Vec<bool>,
}

impl Families {
    fn new(slots: &[SlotInfo], instrs: &[Instr], parts: &[Part], outputs: &[Slot]) -> Families {
        let mut of: Vec<Slot> = (0..slots.len()).map(Slot::from_index).collect();
        let mut last: Vec<usize> = slots.iter().map(|slot| slot.made_by.unwrap_or(0)).collect();
        let mut called = vec![false; slots.len()];
        for (at, instr) in instrs.iter().enumerate() {
            if let Some((from, to, _)) = instr.kind.shares() {
                of[to.index()] = of[from.index()];
            }
            let calls = match &instr.kind {
                InstrKind::Call(_) => true,
                InstrKind::Inner(code) => {
                    code.programs().iter().any(|at| parts[at.index()].program.call_count() > 0)
                }
                _ => false,
            };
            for slot in instr.kind.reads() {
                let family = of[slot.index()].index();
                last[family] = at;
                called[family] |= calls;
            }
        }
        for output in outputs {
            last[of[output.index()].index()] = NEVER;
        }
        Families { of, last, called }
    }
}

/// After which instruction each made slot is no longer read, views of it and heirs included.
fn releases(
    slots: &[SlotInfo],
    instrs: &[Instr],
    outputs: &[Slot],
    over: &[Option<Slot>],
) -> Box<[Box<[Slot]>]> {
    let mut last: Vec<usize> = slots.iter().map(|slot| slot.made_by.unwrap_or(NEVER)).collect();
    for slot in outputs {
        last[slot.index()] = NEVER;
    }
    for (at, instr) in instrs.iter().enumerate().rev() {
        for slot in instr.kind.reads() {
            let last = &mut last[slot.index()];
            *last = (*last).max(at);
        }
        let shared = instr.kind.shares().map(|(of, to, _)| (of, to));
        let heirs = instr.kind.overwrites().into_iter().map(|write| (write.of, write.to));
        let heirs = heirs.filter(|(of, to)| over[to.index()] == Some(*of));
        for (of, to) in shared.into_iter().chain(heirs) {
            last[of.index()] = last[of.index()].max(last[to.index()]);
        }
    }
    let mut releases = vec![Vec::new(); instrs.len()];
    for (slot, &at) in last.iter().enumerate() {
        if at < NEVER {
            releases[at].push(Slot::from_index(slot));
        }
    }
    releases.into_iter().map(Vec::into_boxed_slice).collect()
}

/// The slots that are made right in the memory of an output: the output itself, the array that it views
/// or is written over, where it is known before the run where they lie.
fn in_output(
    slots: &[SlotInfo],
    instrs: &[Instr],
    outputs: &[Slot],
    over: &[Option<Slot>],
) -> Box<[Option<usize>]> {
    let mut in_output = vec![None; slots.len()];
    for (position, &output) in outputs.iter().enumerate() {
        let mut slot = output;
        loop {
            let info = slots[slot.index()];
            let Some(made_by) = info.made_by else { break };
            if info.dynamic {
                break;
            }
            match (instrs[made_by].kind.shares(), over[slot.index()]) {
                (Some((of, _, true)), _) | (None, Some(of)) => slot = of,
                (Some((_, _, false)), _) => break,
                (None, None) => {
                    let fresh = !matches!(instrs[made_by].kind, InstrKind::Call(_));
                    if fresh && in_output[slot.index()].is_none() {
                        in_output[slot.index()] = Some(position);
                    }
                    break;
                }
            }
        }
    }
    in_output.into()
}
