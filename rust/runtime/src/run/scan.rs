//! Running a scan: a nested program, step after step.
//!
//! Values stay in their place: a step writes stacked outputs directly into their rows, and reads its
//! states where the step before wrote them. An output that is not stacked has a ring of buffers, one for
//! each of its values that are in use at once. A state that the program may use up has a single buffer, in
//! which the program works. As long as layouts do not change, one bound run does all steps: only pointers move.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::allocation::buffer::Buffer;
use crate::arrays::array::{ArrayRef, OwnedArray, Owner};
use crate::arrays::layout::Layout;
use crate::arrays::strided::TransferPlan;
use crate::error::{Error, Fault};
use crate::ids::Origin;
use crate::program::Program;
use crate::program::nested::{Next, Part, Scan};
use crate::run::Run;
use crate::run::scan::rows::Rows;
use crate::run::state::RunState;
use crate::run::subrun::Site;
use crate::threads::conduct::Conduct;

mod needs;
mod place;
mod repeat;
pub(crate) mod rows;

/// Steps after which a scan asks whether to stop, at most; and the time that should lie in between.
const ASK: i64 = 64;
const PAUSE: Duration = Duration::from_millis(1);

/// An array that a step sees.
#[derive(Clone, Copy)]
struct Value {
    data: *mut u8,
    /// Its number among the layouts of the scan.
    layout: usize,
    owner: Owner,
}

/// The place of an output of a step.
enum Target {
    /// Into its row.
    Row(usize),
    /// Into memory of its own, as it lies otherwise than a row, and then to its row.
    Copied { data: *mut u8, row: usize, plan: Box<TransferPlan>, _own: Buffer },
    /// Into the next buffer of its ring.
    Ring,
    /// Into the next step's row of a stack: a step's value of the state that it is the next value of. After
    /// the last step there is no such row, but the ring.
    Ahead(usize),
    /// It stays in the memory of the state that it is the next value of.
    Left { input: usize },
    /// The run finds memory for it.
    Late,
}

/// Buffers that are used in turn.
#[derive(Clone, Copy)]
struct Ring {
    start: *mut u8,
    bytes: usize,
    count: usize,
}

/// The facts that a scan knows of an output.
struct Output {
    target: Target,
    ring: Ring,
    /// The value that the last step made.
    made: Value,
    /// Late values that are in use.
    held: VecDeque<OwnedArray>,
}

/// A scan while it runs.
struct ScanRun<'p> {
    part: &'p Part,
    code: &'p Scan,
    origin: Option<Origin>,
    steps: i64,
    /// Every layout that inputs of the program have had, once.
    layouts: Vec<Layout>,
    /// The operands of the next step, by input of the program.
    values: Vec<Value>,
    /// By sequence: where it starts, and the bytes from an element to the next.
    sequences: SmallVec<[(*mut u8, i64); 4]>,
    /// By output: which of the stacked ones it is.
    row_of: Vec<Option<usize>>,
    /// By output: how many values of it are in use at once, at most.
    in_use: Vec<usize>,
    rows: Vec<Option<Rows>>,
    outputs: Vec<Output>,
    /// By stacked output: where its first rows lie if all of them may be too many.
    first: Vec<Option<*mut u8>>,
    /// By output: where it is made if it lies otherwise than a row.
    apart: Vec<Option<*mut u8>>,
    /// By output: the row of the stack that it is written to a step ahead.
    ahead: Vec<Option<usize>>,
    /// The working memory of the steps: its place, and its bytes.
    memory: (*mut u8, usize),
    /// The memory for copies of matrices that stay the same: its place, and its bytes.
    kept: (*mut u8, usize),
    /// The memory of the scan, if it was found for this run.
    block: Buffer,
}

impl RunState {
    /// Runs a scan.
    pub(crate) fn scan(
        &mut self,
        site: &Site<'_>,
        code: &Scan,
        conduct: &Conduct<'_>,
    ) -> Result<(), Error> {
        let mut work = ScanRun::new(self, site.program, code, site.origin)?;
        let done = if work.steps > 0 {
            work.run(self, site, conduct)?
        } else {
            work.place_no_rows(self, site)?;
            0
        };
        for (state, carried) in code.states.iter().enumerate() {
            let input = code.input_of(state);
            // After no step, a state is its initial value, in any layout.
            let (data, layout) = if done == 0 {
                let init = self.array(site.program, carried.init);
                let layout = Layout { dims: init.dims.into(), strides: init.strides.into() };
                (init.data, layout)
            } else {
                let value = work.values[input];
                (value.data.cast_const(), work.layouts[value.layout].clone())
            };
            let fresh = work.fresh(input, &layout.dims)?;
            let dtype = work.part.program.inputs[input].ty.dtype;
            let plan = TransferPlan::copy(dtype, &layout, &fresh);
            let to = self.result(site, carried.last, fresh)?;
            // SAFETY: the value is in memory as the layout says, the result is memory of its own.
            let copied = unsafe { plan.run(to, data) };
            copied.map_err(|halt| work.at(halt.into()))?;
        }
        if code.until.is_some() && work.steps > 0 {
            work.keep_rows(self, site, done)?;
        }
        let to = self.result(site, code.done, Layout::default())?;
        // SAFETY: the result is one aligned 64-bit element.
        unsafe { to.cast::<i64>().write(done) };
        drop(self.pool.give(work.block));
        Ok(())
    }
}

impl<'p> ScanRun<'p> {
    /// The scan before its first step. States lie in C order from the start on.
    fn new(
        state: &RunState,
        program: &'p Program,
        code: &'p Scan,
        origin: Option<Origin>,
    ) -> Result<ScanRun<'p>, Error> {
        let at = |fault| Error::at(origin)(fault);
        let part = &program.parts[code.program.index()];
        let steps = state.size(code.steps);
        if steps < 0 {
            return Err(at(Fault::Steps { steps }));
        }
        let outputs = part.program.outputs.len();
        let mut work = ScanRun {
            part,
            code,
            origin,
            steps,
            layouts: Vec::new(),
            values: Vec::with_capacity(part.program.inputs.len()),
            sequences: SmallVec::new(),
            row_of: vec![None; outputs],
            in_use: vec![0; outputs],
            rows: code.stacked.iter().map(|_| None).collect(),
            outputs: Vec::with_capacity(outputs),
            first: vec![None; code.stacked.len()],
            apart: vec![None; outputs],
            ahead: vec![None; outputs],
            memory: (std::ptr::null_mut(), 0),
            kept: (std::ptr::null_mut(), 0),
            block: Buffer::empty(),
        };
        for (input, slot) in code.inputs().enumerate() {
            let array = state.array(program, slot);
            let layout = if input < code.sequences.len() {
                let (&length, dims) = array.dims.split_first().expect("a sequence has an axis");
                if length < steps {
                    return Err(at(Fault::Sequence { sequence: input, length, steps }));
                }
                work.sequences.push((array.data.cast_mut(), array.strides[0]));
                Layout { dims: dims.into(), strides: array.strides[1..].into() }
            } else if input < code.sequences.len() + code.states.len() {
                work.fresh(input, array.dims)?
            } else {
                Layout { dims: array.dims.into(), strides: array.strides.into() }
            };
            let layout = work.intern(layout);
            let (data, owner) = (array.data.cast_mut(), array.owner);
            work.values.push(Value { data, layout, owner });
        }
        for (row, &(output, _)) in code.stacked.iter().enumerate() {
            work.row_of[output] = Some(row);
        }
        for (carried, depth) in code.states.iter().zip(code.depths()) {
            if let Next::Output(output) = carried.next {
                work.in_use[output] = work.in_use[output].max(depth + 1);
            }
        }
        Ok(work)
    }

    /// The number of a layout.
    fn intern(&mut self, layout: Layout) -> usize {
        let known = self.layouts.iter().position(|known| *known == layout);
        known.unwrap_or_else(|| {
            self.layouts.push(layout);
            self.layouts.len() - 1
        })
    }

    /// The layout in C order of an array that could be an input of the program.
    fn fresh(&self, input: usize, dims: &[i64]) -> Result<Layout, Error> {
        let itemsize = self.part.program.inputs[input].ty.dtype.itemsize();
        Layout::fresh(dims, itemsize).map_err(Error::at(self.origin))
    }

    fn itemsize(&self, output: usize) -> usize {
        let slot = self.part.program.outputs[output];
        self.part.program.slots[slot.index()].dtype.itemsize()
    }

    fn at(&self, fault: Fault) -> Error {
        Error::at(self.origin)(fault)
    }

    /// An error of this step that is not the program's own.
    fn in_step(&self, step: i64, fault: Fault) -> Error {
        self.at(Fault::Nested { step: Some(step), fault: Box::new(fault) })
    }

    fn given(&self) -> SmallVec<[ArrayRef<'_>; 8]> {
        let inputs = self.values.iter().zip(self.part.program.inputs.iter());
        inputs
            .map(|(value, input)| ArrayRef {
                dtype: input.ty.dtype,
                data: value.data,
                dims: &self.layouts[value.layout].dims,
                strides: &self.layouts[value.layout].strides,
                owner: value.owner,
            })
            .collect()
    }

    /// A run for values with the layouts of the next step's.
    fn prepare(&self, step: i64) -> Result<Run<'p>, Error> {
        let run = self.part.program.prepare(&self.given());
        run.map_err(|error| self.part.blame(error, Some(step), self.origin))
    }

    /// Does the steps; how many.
    fn run(
        &mut self,
        state: &mut RunState,
        site: &Site<'_>,
        conduct: &Conduct<'_>,
    ) -> Result<i64, Error> {
        let mut run = self.bind(0)?;
        self.place(state, site, &mut run)?;
        let mut late = self.has_late();
        let mut stale = false;
        let mut asked = Asked::new();
        let mut step = 0;
        while step < self.steps {
            if asked.is_due(step) && (conduct.should_stop)() {
                return Err(self.at(Fault::Interrupted));
            }
            if stale {
                // Its memory goes back first, to be found again.
                drop(run);
                run = self.bind(step)?;
                self.lend(&mut run)?;
                self.aim(&mut run, step)?;
                late = self.has_late();
            }
            self.make_room(step)?;
            if step >= self.first_alike() && !stale && !late && self.may_repeat() {
                let (next, ended) = self.repeat(&mut run, step, &mut asked, conduct)?;
                if ended {
                    return Ok(next);
                }
                step = next;
                continue;
            }
            self.point(&mut run, step);
            let executed = run.execute_with(&mut state.spare, conduct);
            executed.map_err(|error| self.part.blame(error, Some(step), self.origin))?;
            if late {
                for output in 0..self.outputs.len() {
                    self.store(state, site, &mut run, output, step)?;
                }
            }
            stale = self.hand_on() || self.part.program.dynamic;
            if self.has_ended() {
                return Ok(step + 1);
            }
            step += 1;
        }
        Ok(self.steps)
    }

    /// Gives states the values that a step has made; whether any lies otherwise than the one before.
    fn hand_on(&mut self) -> bool {
        // Found before any of them is put in its place: a state may take over another one's value.
        let next = self.code.states.iter().map(|carried| match carried.next {
            Next::Output(output) => self.outputs[output].made,
            Next::Input(input) => self.values[input],
        });
        let next: SmallVec<[Value; 8]> = next.collect();
        let first = self.code.sequences.len();
        let mut differs = false;
        for (value, &next) in self.values[first..].iter_mut().zip(&next) {
            differs |= value.layout != next.layout;
            *value = next;
        }
        differs
    }

    /// Whether the step that was done is the last, by the condition that it has made.
    fn has_ended(&self) -> bool {
        // SAFETY: the builder checked that the condition is a boolean without axes; the step has made it.
        let holds = |output: usize| unsafe { self.outputs[output].made.data.read() } != 0;
        self.code.until.is_some_and(holds)
    }

    /// Points the run at the reads and writes of this step.
    fn point(&mut self, run: &mut Run<'p>, step: i64) {
        for (input, &(start, stride)) in self.sequences.iter().enumerate() {
            let data = start.wrapping_offset((step * stride) as isize);
            self.values[input].data = data;
            run.move_input(input, data, self.values[input].owner);
        }
        let first = self.code.sequences.len();
        for input in first..first + self.code.states.len() {
            run.move_input(input, self.values[input].data, self.values[input].owner);
        }
        for (at, output) in self.outputs.iter_mut().enumerate() {
            output.made.data = match &output.target {
                Target::Row(row) => match &self.rows[*row] {
                    Some(rows) => rows.at(step),
                    None => continue,
                },
                Target::Copied { data, .. } => *data,
                Target::Ring => output.ring.at(step),
                Target::Ahead(row) => match &self.rows[*row] {
                    Some(rows) if step + 1 < self.steps => rows.at(step + 1),
                    _ => output.ring.at(step),
                },
                Target::Left { input } => {
                    output.made.data = self.values[*input].data;
                    continue;
                }
                Target::Late => continue,
            };
            // SAFETY: the memory is as large as the output, which lies so, and nothing that
            // this step reads lies there.
            unsafe { run.set_output(at, output.made.data) };
        }
    }

    /// Whether there is more to do for an output once a step has run.
    fn has_late(&self) -> bool {
        let late = |target: &Target| matches!(target, Target::Late | Target::Copied { .. });
        self.outputs.iter().any(|output| late(&output.target))
    }

    /// A run for the next step, once it is known that states keep their shapes.
    fn bind(&self, step: i64) -> Result<Run<'p>, Error> {
        let mut run = self.prepare(step)?;
        run.start(&self.given());
        for (state, carried) in self.code.states.iter().enumerate() {
            let value = self.values[self.code.input_of(state)];
            let expected = &self.layouts[value.layout].dims;
            let given = match carried.next {
                Next::Output(output) => run.output(output).map(|spec| spec.dims),
                Next::Input(input) => Some(&self.layouts[self.values[input].layout].dims[..]),
            };
            if let Some(given) = given.filter(|given| *given != &expected[..]) {
                let (given, expected) = (given.to_vec(), expected.to_vec());
                return Err(self.in_step(step, Fault::Drift { state, given, expected }));
            }
        }
        Ok(run)
    }

    /// Brings an output that a step has made to where its value is kept.
    fn store(
        &mut self,
        state: &mut RunState,
        site: &Site<'_>,
        run: &mut Run<'p>,
        at: usize,
        step: i64,
    ) -> Result<(), Error> {
        let output = &mut self.outputs[at];
        if let Target::Copied { data, row, plan, .. } = &output.target
            && let Some(rows) = &self.rows[*row]
        {
            output.made.data = rows.at(step);
            // SAFETY: the step wrote there; the row is memory of its own, as large.
            let copied = unsafe { plan.run(output.made.data, *data) };
            copied.map_err(|halt| Error::at(self.origin)(halt.into()))?;
        }
        if !matches!(output.target, Target::Late) {
            return Ok(());
        }
        let array = run.take_output(at).expect("a run makes what it was given no memory for");
        if let Some(row) = self.row_of[at] {
            if self.rows[row].is_none() {
                self.rows[row] = Some(self.place_rows(state, site, row, &array.layout.dims)?);
            }
            let rows = self.rows[row].as_ref().expect("the rows were placed");
            let expected = &self.layouts[rows.layout];
            if expected.dims != array.layout.dims {
                let (given, expected) = (array.layout.dims.to_vec(), expected.dims.to_vec());
                return Err(self.in_step(step, Fault::Row { output: at, given, expected }));
            }
            let made = Value { data: rows.at(step), layout: rows.layout, owner: None };
            let plan = TransferPlan::copy(array.dtype, &array.layout, expected);
            // SAFETY: the row is memory of its own, of this shape; the array was just made.
            let copied = unsafe { plan.run(made.data, array.buffer.as_ptr()) };
            copied.map_err(|halt| self.at(halt.into()))?;
            self.outputs[at].made = made;
        } else {
            let layout = self.intern(array.layout.clone());
            let data = array.buffer.as_ptr();
            let output = &mut self.outputs[at];
            output.made = Value { data, layout, owner: None };
            output.held.push_back(array);
            if output.held.len() > self.in_use[at].max(1) {
                output.held.pop_front();
            }
        }
        let given = &self.layouts[self.outputs[at].made.layout].dims;
        for (state, carried) in self.code.states.iter().enumerate() {
            let value = self.values[self.code.input_of(state)];
            let expected = &self.layouts[value.layout].dims;
            if carried.next == Next::Output(at) && given != expected {
                let (given, expected) = (given.to_vec(), expected.to_vec());
                return Err(self.in_step(step, Fault::Drift { state, given, expected }));
            }
        }
        Ok(())
    }
}

/// When a scan asked last whether to stop, and how many steps it does until it asks again: the more
/// the quicker they are.
struct Asked {
    next: i64,
    steps: i64,
    when: Instant,
}

impl Asked {
    fn new() -> Asked {
        Asked { next: 1, steps: 1, when: Instant::now() }
    }

    /// Whether to ask before this step.
    fn is_due(&mut self, step: i64) -> bool {
        if step < self.next {
            return false;
        }
        let passed = self.when.elapsed();
        self.when += passed;
        self.steps = if passed < PAUSE { (2 * self.steps).min(ASK) } else { 1 };
        self.next = step + self.steps;
        true
    }
}

impl Ring {
    /// The buffer of a step.
    fn at(&self, step: i64) -> *mut u8 {
        self.start.wrapping_add(step as usize % self.count * self.bytes)
    }
}
