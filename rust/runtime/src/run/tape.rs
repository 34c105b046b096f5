//! A tape: the steps of a plain program that is executed again and again, with what is the same each
//! time found once.
//!
//! Kernels get pointers from one table. From one execution to the next only the pointers change that
//! start in memory which moves: states, elements of sequences, rows of results.

mod blocks;
pub(crate) mod products;

use frazil_core::DType;

pub(crate) use self::blocks::Apart;
use self::blocks::Blocks;
use crate::arrays::rows::copy_few;
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::{TransferPlan, fill};
use crate::error::{Error, Fault};
use crate::ids::Size;
use crate::linalg::own::KeptGemv;
use crate::linalg::small::again::SmallAgain;
use crate::loops::loop_nest::KernelFn;
use crate::program::size::SizeExpr;
use crate::program::{Bases, Program};
use crate::run::ASK;
use crate::run::state::{OutputPlan, RunState, SlotState, evaluate};
use crate::run::step::{
    DotStep, GemmStep, LoopStep, PickStep, Place, RunMemory, RunStep, StoreStep, TransferStep,
};
use crate::threads::conduct::{Conduct, Halt};

/// The action at one place of the tape. A place in the table has the number of its pointer.
enum Action<'a> {
    /// One brief call of a kernel, whose pointers start at a place.
    Kernel {
        function: KernelFn,
        first: usize,
        lengths: (i64, i64),
        strides: &'a [i64],
        step: &'a LoopStep,
    },
    /// An element of eight bytes is set to a value.
    Set {
        at: usize,
        value: u64,
    },
    /// So many bytes are copied from the pointer behind a place to the one at it.
    Copy {
        first: usize,
        bytes: usize,
    },
    /// The same for elements that lie otherwise.
    Transfer {
        first: usize,
        plan: &'a TransferPlan,
    },
    /// So many elements from a place on are set to a value.
    Fill {
        first: usize,
        count: i64,
        value: &'a Scalar,
    },
    /// A view starts elsewhere now, and so do the pointers that point into it.
    Pick {
        pick: &'a PickStep,
        moved: Vec<Moved>,
    },
    /// Elements go to a position of the array at a place, from the pointer behind it.
    Store {
        first: usize,
        store: &'a StoreStep,
    },
    /// A loop of several calls, or of packed operands.
    Loop(&'a LoopStep),
    /// A small product, of the operands at four places.
    Small {
        again: Box<SmallAgain>,
        first: usize,
    },
    /// A product of a matrix of which a copy is kept; its place, that of the vector and of the result.
    Kept {
        gemv: KeptGemv,
        first: usize,
    },
    Dot(&'a DotStep),
    Gemm(&'a GemmStep),
    /// Anything else.
    Step(&'a RunStep),
}

/// A place in the table whose pointer is so many bytes behind the start of a memory that moves.
struct Moved {
    at: usize,
    base: usize,
    offset: i64,
}

impl Moved {
    /// Points to where the memory starts now.
    fn point(&self, pointers: &mut [*mut u8], bases: &[*mut u8]) {
        pointers[self.at] = bases[self.base].wrapping_offset(self.offset as isize);
    }
}

/// A size that is the int64 element at a place in the table.
struct Number {
    at: usize,
    size: usize,
}

/// An action, the number of its instruction, and whether to ask after it whether to stop.
struct Turn<'a> {
    action: Action<'a>,
    /// `None`: it makes an output, which has this number.
    instr: Option<usize>,
    output: usize,
    asks: bool,
}

/// The steps of a program, while it is executed again and again.
pub(crate) struct Tape<'a> {
    program: &'a Program,
    slots: &'a [SlotState],
    bases: &'a mut [*mut u8],
    values: &'a mut [i64],
    scratch: *mut u8,
    numbers: Vec<Number>,
    /// The other sizes that differ from one execution to the next, in order.
    sizes: Vec<Size>,
    turns: Vec<Turn<'a>>,
    pointers: Vec<*mut u8>,
    moved: Vec<Moved>,
    blocks: Option<Blocks>,
}

/// The parts that a run keeps of a program.
pub(crate) struct Parts<'a> {
    pub(crate) steps: &'a [RunStep],
    pub(crate) slots: &'a [SlotState],
    pub(crate) outputs: &'a [Option<OutputPlan>],
    pub(crate) unfinished: &'a [usize],
    pub(crate) left: &'a [bool],
    pub(crate) bases: &'a mut [*mut u8],
    pub(crate) values: &'a mut [i64],
    pub(crate) scratch: *mut u8,
}

/// Makes a tape.
struct Recorder<'a> {
    bases: &'a Bases,
    /// The inputs that the program may write to.
    donated: &'a [usize],
    turns: Vec<Turn<'a>>,
    pointers: Vec<*mut u8>,
    moved: Vec<Moved>,
    /// For each memory: when the pointers into it change.
    moves: Vec<Moves>,
    /// The memory for copies that are kept: its place, and its bytes.
    room: (*mut u8, usize),
    blocks: Option<Blocks>,
}

/// The time at which pointers into a memory change, since it moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    Never,
    /// Before each execution.
    Before,
    /// By the action of this number.
    By(usize),
}

impl<'a> Tape<'a> {
    /// The tape of a run of a plain program, whose outputs have their memory. The memory of `moving`
    /// inputs and outputs, by the numbers of their bases, may be elsewhere in each execution. In `room`, a
    /// place and so many bytes, are copies of matrices that stay the same. Elements may be gone through `apart`.
    pub(crate) fn new(
        program: &'a Program,
        state: &'a mut RunState,
        moving: &[usize],
        room: (*mut u8, usize),
        apart: Option<Apart>,
    ) -> Tape<'a> {
        let parts = state.parts();
        let mut recorder = Recorder {
            bases: &program.bases,
            donated: program.donated(),
            turns: Vec::new(),
            pointers: Vec::new(),
            moved: Vec::new(),
            moves: vec![Moves::Never; parts.bases.len()],
            room,
            blocks: None,
        };
        for &base in moving {
            recorder.moves[base] = Moves::Before;
        }
        recorder.blocks = apart.and_then(|apart| recorder.blocks(program, &parts, apart));
        let (numbers, sizes) = recorder.sizes(program, &parts);
        for (at, step) in parts.steps.iter().enumerate() {
            let first = recorder.turns.len();
            recorder.step(step, &parts);
            for turn in &mut recorder.turns[first..] {
                turn.instr = Some(at);
            }
            if let Some(last) = recorder.turns[first..].last_mut() {
                let late = step.may_ask_late() && recorder.blocks.is_none();
                last.asks = at % ASK == ASK - 1 || late;
            }
        }
        for &position in parts.unfinished.iter().filter(|&&position| !parts.left[position]) {
            let Some(OutputPlan { copy: Some(plan), .. }) = &parts.outputs[position] else {
                unreachable!("a plain program knows how all of its outputs are made")
            };
            let to = Place::start(program.bases.outputs() + position);
            let from = parts.slots[program.outputs[position].index()].place;
            recorder.transfer(plan, to, from, &parts);
            recorder.turns.last_mut().expect("it has just been added").output = position;
        }
        let Recorder { turns, pointers, moved, blocks, .. } = recorder;
        let Parts { slots, bases, values, scratch, .. } = parts;
        Tape {
            program,
            slots,
            bases,
            values,
            scratch,
            numbers,
            sizes,
            turns,
            pointers,
            moved,
            blocks,
        }
    }

    /// The start of every memory of the run.
    pub(crate) fn bases(&mut self) -> &mut [*mut u8] {
        self.bases
    }

    /// Executes the program.
    ///
    /// # Safety
    /// All inputs, and the memory of all outputs, are where the bases say, as large as when the run
    /// was bound.
    pub(crate) unsafe fn play(&mut self, conduct: &Conduct<'_>) -> Result<(), Error> {
        // SAFETY: by the caller's promise, inputs and outputs are where the bases say.
        unsafe { self.begin() };
        for turn in &self.turns {
            let (bases, scratch) = (&mut *self.bases, self.scratch);
            let pointers = &mut self.pointers[..];
            // SAFETY: by the caller's promise, for all actions: they are the actions of the run's steps,
            // with the addresses that these resolve.
            let done = unsafe {
                match &turn.action {
                    Action::Kernel { function, first, lengths: (outer, inner), strides, step } => {
                        let at = pointers.as_ptr().add(*first).cast();
                        let status = function(at, *outer, *inner, strides.as_ptr());
                        Halt::check(status).map_err(|halt| step.fault(halt, scratch))
                    }
                    Action::Set { at, value } => {
                        pointers[*at].cast::<u64>().write(*value);
                        Ok(())
                    }
                    Action::Copy { first, bytes } => {
                        copy_few(pointers[*first], pointers[*first + 1].cast_const(), *bytes);
                        Ok(())
                    }
                    Action::Transfer { first, plan } => {
                        let (to, from) = (pointers[*first], pointers[*first + 1]);
                        plan.run_with(to, from, conduct).map_err(Fault::from)
                    }
                    Action::Fill { first, count, value } => {
                        fill(pointers[*first], *count, value).map_err(Fault::from)
                    }
                    Action::Small { again, first } => {
                        again.run([0, 1, 2, 3].map(|at| pointers[*first + at]));
                        Ok(())
                    }
                    Action::Kept { gemv, first } => {
                        gemv.run([0, 1, 2].map(|at| pointers[*first + at]));
                        Ok(())
                    }
                    Action::Store { first, store } => {
                        let (to, from) = (pointers[*first], pointers[*first + 1]);
                        store.run_at(to, from, self.values, conduct)
                    }
                    Action::Loop(step) => step.run(RunMemory { bases, scratch }, conduct),
                    Action::Dot(step) => step.run(RunMemory { bases, scratch }, conduct),
                    Action::Gemm(step) => step.run(RunMemory { bases, scratch }, conduct),
                    Action::Pick { pick, moved } => pick.start(bases, self.values).map(|start| {
                        bases[pick.base] = start;
                        moved.iter().for_each(|moved| moved.point(pointers, bases));
                    }),
                    Action::Step(of) => of.run(RunMemory { bases, scratch }, self.values, conduct),
                }
            };
            done.map_err(|fault| self.blamed(turn, fault))?;
            if turn.asks && (conduct.should_stop)() {
                return Err(Error::at(None)(Fault::Interrupted));
            }
        }
        Ok(())
    }

    /// Finds the pointers that have moved, and the sizes that follow from numbers.
    ///
    /// # Safety
    /// As for [`Tape::play`].
    unsafe fn begin(&mut self) {
        for moved in &self.moved {
            moved.point(&mut self.pointers, self.bases);
        }
        for number in &self.numbers {
            // SAFETY: the place is that of an aligned int64, by the caller's promise.
            // Test: tests/scan/test_chosen_parts.py.
            self.values[number.size] = unsafe { self.pointers[number.at].cast::<i64>().read() };
        }
        if !self.sizes.is_empty() {
            evaluate(self.program, self.slots, self.bases, self.values, &self.sizes);
        }
    }

    /// The error of an action.
    #[cold]
    fn blamed(&self, turn: &Turn<'_>, fault: Fault) -> Error {
        let origin = match turn.instr {
            Some(at) => self.program.instrs[at].origin,
            None => self.program.output_origin(turn.output),
        };
        Error::at(origin)(fault)
    }
}

impl<'a> Recorder<'a> {
    fn add(&mut self, action: Action<'a>) {
        self.turns.push(Turn { action, instr: None, output: 0, asks: false });
    }

    /// Adds a pointer to the table; its number.
    fn point(&mut self, place: Place, parts: &Parts<'_>) -> usize {
        let at = self.pointers.len();
        self.pointers.push(place.resolve(parts.bases));
        let moved = Moved { at, base: place.base, offset: place.offset };
        match self.moves[place.base] {
            Moves::Never => {}
            Moves::Before => self.moved.push(moved),
            Moves::By(turn) => match &mut self.turns[turn].action {
                Action::Pick { moved: own, .. } => own.push(moved),
                _ => unreachable!("only views are picked"),
            },
        }
        at
    }

    fn step(&mut self, step: &'a RunStep, parts: &Parts<'a>) {
        match step {
            RunStep::Nothing => {}
            RunStep::Loop(own) => self.kernel(own, parts),
            RunStep::Transfer(own) => self.transfer(&own.plan, own.to, own.from, parts),
            RunStep::Transfers(all) => all.iter().for_each(|own| self.copy(own, parts)),
            RunStep::Pick(pick) => {
                self.moves[pick.base] = Moves::By(self.turns.len());
                self.add(Action::Pick { pick, moved: Vec::new() });
            }
            RunStep::Store(own) => self.store(own, parts),
            RunStep::Dot(own) => self.dot(own, parts),
            RunStep::Gemm(own) => self.gemm(own, parts),
            RunStep::Scalar { to, value } => {
                let at = self.point(*to, parts);
                self.add(Action::Set { at, value: value.cast_unsigned() });
            }
            _ => self.add(Action::Step(step)),
        }
    }

    fn copy(&mut self, step: &'a TransferStep, parts: &Parts<'a>) {
        self.transfer(&step.plan, step.to, step.from, parts);
    }

    fn transfer(&mut self, plan: &'a TransferPlan, to: Place, from: Place, parts: &Parts<'a>) {
        let first = self.point(to, parts);
        self.point(from, parts);
        self.add(match plan.copied_bytes() {
            Some(bytes) => Action::Copy { first, bytes },
            None => Action::Transfer { first, plan },
        });
    }

    fn store(&mut self, step: &'a StoreStep, parts: &Parts<'a>) {
        if let Some(copy) = &step.copy {
            self.copy(copy, parts);
        }
        let first = self.point(step.store.to, parts);
        self.point(step.store.from, parts);
        self.add(Action::Store { first, store: step });
    }

    /// The sizes to find before each execution. What they are read from lies where inputs say.
    fn sizes(&mut self, program: &Program, parts: &Parts<'_>) -> (Vec<Number>, Vec<Size>) {
        let (mut numbers, mut others) = (Vec::new(), Vec::new());
        for &size in &program.run_sizes[0] {
            match program.sizes[size.index()] {
                SizeExpr::Value(slot) if program.slots[slot.index()].dtype == DType::Int64 => {
                    let at = self.point(parts.slots[slot.index()].place, parts);
                    numbers.push(Number { at, size: size.index() });
                }
                _ => others.push(size),
            }
        }
        (numbers, others)
    }

    fn kernel(&mut self, step: &'a LoopStep, parts: &Parts<'a>) {
        if self.blocks.is_some() {
            self.kernel_of_blocks(step, parts);
            return;
        }
        let Some((lengths, strides)) = step.nest.only_call().filter(|_| step.blank.is_empty())
        else {
            self.add(Action::Loop(step));
            return;
        };
        for (place, count, value) in &step.fills {
            let first = self.point(*place, parts);
            self.add(match (count, value.bytes().len()) {
                (1, 8) => Action::Set { at: first, value: u64::from_ne_bytes(value.word()) },
                _ => Action::Fill { first, count: *count, value },
            });
        }
        step.copies.iter().for_each(|copy| self.copy(copy, parts));
        let first = self.pointers.len();
        for &operand in &step.operands {
            self.point(operand, parts);
        }
        let report = step.nest.report_of(0, parts.scratch);
        self.pointers.extend(step.nest.extras_in(parts.scratch, report));
        self.add(Action::Kernel { function: step.function, first, lengths, strides, step });
    }
}
