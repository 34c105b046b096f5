//! Steps that are all alike: from one to the next only pointers move.
//!
//! Every pointer is one of the run's [`crate::program::Bases`], so that a state takes over the value
//! of an output by copying one to another.

use smallvec::SmallVec;

use crate::error::{Error, Fault};
use crate::program::nested::Next;
use crate::run::Run;
use crate::run::scan::{Asked, ScanRun, Target};
use crate::run::tape::{Apart, Tape};
use crate::threads::conduct::Conduct;

/// The steps after which a scan that may end early is taken for a long one: of a shorter one, preparing all
/// steps, with copies of matrices, would take longer than it saves.
const SETTLED: i64 = 16;

/// A base that moves by so many bytes a step.
struct Stride {
    base: usize,
    next: *mut u8,
    bytes: isize,
}

/// A base that goes round the buffers of a ring.
struct Turn {
    base: usize,
    start: *mut u8,
    bytes: usize,
    count: usize,
    /// The buffer of the next step.
    position: usize,
}

/// The bases that move.
#[derive(Default)]
struct Moved {
    strides: SmallVec<[Stride; 8]>,
    turns: SmallVec<[Turn; 4]>,
    /// Bases that lie elsewhere in the last step.
    lasts: SmallVec<[(usize, *mut u8); 4]>,
    /// By state: its base, and that of its next value.
    states: SmallVec<[(usize, usize); 8]>,
    /// The base of the condition that ends the scan.
    condition: Option<usize>,
}

impl<'p> ScanRun<'p> {
    /// Whether steps are alike once states keep their layouts and all outputs have their places.
    pub(super) fn may_repeat(&self) -> bool {
        self.part.program.plain
    }

    /// The first step that [`ScanRun::repeat`] may do.
    pub(super) fn first_alike(&self) -> i64 {
        if self.code.until.is_some() { SETTLED } else { 1 }
    }

    /// Does the steps from this one on, whose states have the layouts of the step before, as long as
    /// there is room for their rows. The number of the step to go on with; whether the scan has ended.
    pub(super) fn repeat(
        &mut self,
        run: &mut Run<'p>,
        first: i64,
        asked: &mut Asked,
        conduct: &Conduct<'_>,
    ) -> Result<(i64, bool), Error> {
        let room = self.rows.iter().flatten().map(|rows| rows.capacity).min();
        let end = room.map_or(self.steps, |room| room.min(self.steps));
        let mut moved = self.moved(first);
        let mut tape = run.tape(&moved.bases(), self.kept, self.apart_by(conduct));
        let (mut done, mut end, mut reached) = (Ok((first, false)), end, first);
        for block in 0..tape.block_count() {
            tape.take_block(block);
            if block > 0 {
                moved = self.moved(first);
            }
            for &(base, _) in &moved.states {
                tape.bases()[base] = self.values[base].data;
            }
            match self.play(&mut tape, &mut moved, (first, end), asked, conduct) {
                Ok((step, ended)) => {
                    reached = step;
                    done = done.map(|_| (step, ended));
                }
                // Elements of later blocks may fail at an earlier step, which is the one to tell of.
                Err((step, error)) => (done, end, reached) = (Err(error), step, step),
            }
            // Steps are counted on, as they are what the questions whether to stop are spread over.
            asked.next -= reached - first;
        }
        asked.next += reached - first;
        let done = done?;
        for &(base, _) in &moved.states {
            self.values[base].data = tape.bases()[base];
        }
        Ok(done)
    }

    /// The facts that a tape needs to do steps inside blocks of elements; `None` if it must not: rows of stacks are far
    /// apart, so that blocks of them would take longer than whole ones.
    fn apart_by(&self, conduct: &Conduct<'_>) -> Option<Apart> {
        let may = self.rows.is_empty() && self.code.until.is_none();
        may.then(|| Apart { sequences: self.sequences.len(), alone: conduct.threads() == 1 })
    }

    /// Does the steps from one to another, with the bases that move. An error comes with its step; that which
    /// stops all has the first.
    fn play(
        &self,
        tape: &mut Tape<'_>,
        moved: &mut Moved,
        (first, end): (i64, i64),
        asked: &mut Asked,
        conduct: &Conduct<'_>,
    ) -> Result<(i64, bool), (i64, Error)> {
        let (mut step, mut ended) = (first, false);
        let mut next = vec![std::ptr::null_mut(); moved.states.len()];
        while step < end && !ended {
            if asked.is_due(step) && (conduct.should_stop)() {
                return Err((first, self.at(Fault::Interrupted)));
            }
            moved.go_on(tape.bases());
            if step == self.steps - 1 {
                for &(base, data) in &moved.lasts {
                    tape.bases()[base] = data;
                }
            }
            // SAFETY: as in `run`: the operands and results of the step are where the bases say,
            // laid out as in the steps before.
            let played = unsafe { tape.play(conduct) };
            played.map_err(|error| {
                let stops = matches!(error.fault, Fault::Interrupted);
                let at = if stops { first } else { step };
                (at, self.part.blame(error, Some(step), self.origin))
            })?;
            // Found before any of them is put in its place: a state may take over another one's value.
            let bases = tape.bases();
            for (data, &(_, from)) in next.iter_mut().zip(&moved.states) {
                *data = bases[from];
            }
            if let Some(condition) = moved.condition {
                // SAFETY: the builder checked that this is a boolean without axes; the step has made it.
                // Test: tests/scan/test_repeated_steps.py.
                ended = unsafe { bases[condition].read() } != 0;
            }
            for (&(base, _), &data) in moved.states.iter().zip(&next) {
                bases[base] = data;
            }
            step += 1;
        }
        Ok((step, ended))
    }

    /// The bases that move, before a step.
    fn moved(&self, step: i64) -> Moved {
        let mut moved = Moved::default();
        for (base, &(start, stride)) in self.sequences.iter().enumerate() {
            let next = start.wrapping_offset((step * stride) as isize);
            moved.strides.push(Stride { base, next, bytes: stride as isize });
        }
        let outputs = self.part.program.bases.outputs();
        for (at, output) in self.outputs.iter().enumerate() {
            let base = outputs + at;
            match output.target {
                Target::Row(row) => {
                    let rows = self.rows[row].as_ref().expect("a step has placed the rows");
                    let bytes = rows.stride as isize;
                    moved.strides.push(Stride { base, next: rows.at(step), bytes });
                }
                Target::Ring => {
                    let ring = output.ring;
                    let position = step as usize % ring.count;
                    let (start, bytes, count) = (ring.start, ring.bytes, ring.count);
                    moved.turns.push(Turn { base, start, bytes, count, position });
                }
                Target::Ahead(row) => {
                    let rows = self.rows[row].as_ref().expect("a step has placed the rows");
                    let bytes = rows.stride as isize;
                    moved.strides.push(Stride { base, next: rows.at(step + 1), bytes });
                    moved.lasts.push((base, output.ring.at(self.steps - 1)));
                }
                Target::Left { .. } | Target::Copied { .. } | Target::Late => {}
            }
        }
        let made = |output: usize| match self.outputs[output].target {
            Target::Left { input } => input,
            _ => outputs + output,
        };
        for (state, carried) in self.code.states.iter().enumerate() {
            let from = match carried.next {
                Next::Input(input) => input,
                Next::Output(output) => made(output),
            };
            moved.states.push((self.code.input_of(state), from));
        }
        moved.condition = self.code.until.map(made);
        moved
    }
}

impl Moved {
    /// The numbers of the bases that move.
    fn bases(&self) -> SmallVec<[usize; 16]> {
        let strides = self.strides.iter().map(|stride| stride.base);
        let turns = self.turns.iter().map(|turn| turn.base);
        strides.chain(turns).chain(self.states.iter().map(|&(base, _)| base)).collect()
    }

    /// Points the bases at the reads and writes of the next step.
    fn go_on(&mut self, bases: &mut [*mut u8]) {
        for stride in &mut self.strides {
            bases[stride.base] = stride.next;
            stride.next = stride.next.wrapping_offset(stride.bytes);
        }
        for turn in &mut self.turns {
            bases[turn.base] = turn.start.wrapping_add(turn.position * turn.bytes);
            turn.position += 1;
            if turn.position == turn.count {
                turn.position = 0;
            }
        }
    }
}
