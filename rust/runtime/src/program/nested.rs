//! Instructions that run a program of their own: once, one of two, or step after step.

use std::fmt;
use std::sync::Arc;

use frazil_core::DType;
use serde::{Deserialize, Serialize};

use crate::error::{BuildError, Error, Fault};
use crate::ids::{Nested, Origin, Size, Slot};
use crate::program::Program;
use crate::program::builder::{Builder, Built, check_count};
use crate::program::instr::InstrKind;
use crate::program::listing::list;

/// Programs are nested at most this deep, the outermost included.
pub(crate) const MAX_DEPTH: usize = 32;

/// A program that instructions of another one run.
pub(crate) struct Part {
    pub(crate) program: Arc<Program>,
    /// The number of its first origin in the outer program.
    pub(crate) origins: Origin,
}

impl Part {
    /// The failure as the outer program reports it.
    pub(crate) fn blame(&self, error: Error, step: Option<i64>, outer: Option<Origin>) -> Error {
        let origin = error.origin.map(|Origin(at)| Origin(self.origins.0.saturating_add(at)));
        let fault = match error.fault {
            Fault::Interrupted => Fault::Interrupted,
            fault => Fault::Nested { step, fault: Box::new(fault) },
        };
        Error { fault, origin: origin.or(outer) }
    }
}

/// The work of an instruction with nested programs.
#[derive(Serialize, Deserialize)]
pub(crate) enum Inner {
    /// Runs it once; another one `instead` where inputs have other lengths than it takes.
    Run { program: Nested, instead: Option<Nested>, inputs: Box<[Slot]>, outputs: Box<[Slot]> },
    /// Runs the first of two if the condition is not zero, else the second.
    Branch { condition: Slot, arms: [Arm; 2], lengths: Box<[Lengths]>, outputs: Box<[Slot]> },
    /// Runs it step after step.
    Scan(Scan),
}

/// The lengths of an output that both of two programs give it, if that is known.
pub type Lengths = Option<Box<[Size]>>;

/// One of two programs with its inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Arm {
    pub(crate) program: Nested,
    pub(crate) inputs: Box<[Slot]>,
}

/// The source of a state of a scan in the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Next {
    /// The program computes it.
    Output(usize),
    /// It is this input of the program in the step before.
    Input(usize),
}

/// A program that runs step after step. Its inputs are an element of each sequence, the states, then the others.
#[derive(Clone, Debug)]
pub struct ScanSpec {
    /// The program of each step.
    pub program: Nested,
    /// The number of steps; fewer are done only if `until` ends the scan.
    pub steps: Size,
    /// Arrays; step `t` sees position `t` of their first axis.
    pub sequences: Vec<Slot>,
    /// Each state in the first step, and in later ones.
    pub states: Vec<(Slot, Next)>,
    /// The inputs that are the same in every step.
    pub others: Vec<Slot>,
    /// The outputs of the program whose values are kept from every step.
    pub stacked: Vec<usize>,
    /// A 0-d boolean output: the scan ends after the step in which it is true.
    pub until: Option<usize>,
}

/// The slots that a scan makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Each state after the last step.
    pub finals: Vec<Slot>,
    /// The values of each stacked output, along a first axis.
    pub stacked: Vec<Slot>,
    /// The number of steps done: a 0-d `int64`.
    pub steps: Slot,
}

/// As [`ScanSpec`], with the slots that are made.
#[derive(Serialize, Deserialize)]
pub(crate) struct Scan {
    pub(crate) program: Nested,
    pub(crate) steps: Size,
    pub(crate) sequences: Box<[Slot]>,
    pub(crate) states: Box<[Carried]>,
    pub(crate) others: Box<[Slot]>,
    pub(crate) stacked: Box<[(usize, Slot)]>,
    pub(crate) until: Option<usize>,
    pub(crate) done: Slot,
}

/// A state of a scan.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Carried {
    pub(crate) init: Slot,
    pub(crate) next: Next,
    pub(crate) last: Slot,
}

impl Inner {
    /// The slots that are read.
    pub(crate) fn reads(&self) -> Vec<Slot> {
        match self {
            Inner::Run { inputs, .. } => inputs.to_vec(),
            Inner::Branch { condition, arms: [then, otherwise], .. } => {
                let inputs = then.inputs.iter().chain(&otherwise.inputs);
                [condition].into_iter().chain(inputs).copied().collect()
            }
            Inner::Scan(code) => code.inputs().collect(),
        }
    }

    /// The slots that are made.
    pub(crate) fn writes(&self) -> Vec<Slot> {
        match self {
            Inner::Run { outputs, .. } | Inner::Branch { outputs, .. } => outputs.to_vec(),
            Inner::Scan(code) => {
                let finals = code.states.iter().map(|state| state.last);
                let stacked = code.stacked.iter().map(|&(_, to)| to);
                finals.chain(stacked).chain([code.done]).collect()
            }
        }
    }

    /// The sizes that are asked for.
    pub(crate) fn sizes(&self) -> Vec<Size> {
        match self {
            Inner::Run { .. } => vec![],
            Inner::Branch { lengths, .. } => {
                lengths.iter().flatten().flat_map(|sizes| sizes.iter().copied()).collect()
            }
            Inner::Scan(code) => vec![code.steps],
        }
    }

    /// The programs that may run.
    pub(crate) fn programs(&self) -> Vec<Nested> {
        match self {
            Inner::Run { program, instead, .. } => {
                [Some(*program), *instead].into_iter().flatten().collect()
            }
            Inner::Branch { arms, .. } => arms.iter().map(|arm| arm.program).collect(),
            Inner::Scan(code) => vec![code.program],
        }
    }
}

impl Scan {
    /// The slots of the inner program's inputs, in their order, as they are in the first step.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Slot> + '_ {
        let states = self.states.iter().map(|state| state.init);
        self.sequences.iter().copied().chain(states).chain(self.others.iter().copied())
    }

    /// The input of the inner program that a state is.
    pub(crate) fn input_of(&self, state: usize) -> usize {
        self.sequences.len() + state
    }

    /// For each state, for how many steps its value is handed on from state to state after the
    /// step that sees it first, at most.
    pub(crate) fn depths(&self) -> Vec<usize> {
        let first = self.sequences.len();
        let mut depths = vec![0; self.states.len()];
        for from in 0..self.states.len() {
            let mut at = from;
            // A ring of states only hands on their initial values.
            for depth in 0..=self.states.len() {
                depths[at] = depths[at].max(depth);
                match self.states[at].next {
                    Next::Input(input) if (first..first + self.states.len()).contains(&input) => {
                        at = input - first;
                    }
                    _ => break,
                }
            }
        }
        depths
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inner::Run { program, instead, inputs, .. } => {
                write!(f, "run {program} {}", list(inputs))?;
                match instead {
                    Some(instead) => write!(f, " or {instead} for other lengths"),
                    None => Ok(()),
                }
            }
            Inner::Branch { condition, arms: [then, otherwise], .. } => {
                let (a, b) = (list(&then.inputs), list(&otherwise.inputs));
                write!(f, "if {condition} run {} {a}", then.program)?;
                write!(f, " else run {} {b}", otherwise.program)
            }
            Inner::Scan(code) => {
                write!(f, "scan {}({})", code.program, code.steps)?;
                if !code.sequences.is_empty() {
                    write!(f, " over {}", list(&code.sequences))?;
                }
                for (at, state) in code.states.iter().enumerate() {
                    let word = if at == 0 { " from" } else { "," };
                    match state.next {
                        Next::Output(output) => write!(f, "{word} {} <- {output}", state.init)?,
                        Next::Input(input) => write!(f, "{word} {} <- input {input}", state.init)?,
                    }
                }
                if !code.others.is_empty() {
                    write!(f, " with {}", list(&code.others))?;
                }
                if !code.stacked.is_empty() {
                    write!(f, " stacking {}", list(code.stacked.iter().map(|(at, _)| at)))?;
                }
                match code.until {
                    Some(output) => write!(f, " until {output}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Builder {
    /// Makes a program one that instructions can run. `origins` are this program's names for the
    /// first origin of that one; the others follow.
    pub fn nest(&mut self, program: Arc<Program>, origins: Origin) -> Built<Nested> {
        if program.depth >= MAX_DEPTH {
            return Err(BuildError::TooDeep { limit: MAX_DEPTH });
        }
        Ok(self.add_part(Part { program, origins }))
    }

    /// Runs a nested program; the slots of its outputs. Where inputs have other lengths than it takes,
    /// the other one runs `instead`, which has outputs of the same element types and ranks.
    pub fn run(
        &mut self,
        program: Nested,
        instead: Option<Nested>,
        inputs: &[Slot],
    ) -> Built<Vec<Slot>> {
        let inner = self.part(program)?;
        let other = instead.map(|instead| self.part(instead)).transpose()?;
        for inner in [Some(&inner), other.as_ref()].into_iter().flatten() {
            self.check_arm(inner, inputs)?;
        }
        if other.as_ref().is_some_and(|other| !inner.outputs().eq(other.outputs())) {
            return Err(BuildError::Arms);
        }
        let dynamic = self.depends(inputs.iter().copied(), [])?;
        let late = |at| {
            let other = other.as_ref().is_some_and(|other| is_dynamic(other, at));
            dynamic || other || is_dynamic(&inner, at)
        };
        let outputs = self.result_slots(&inner, late)?;
        let made = outputs.as_slice().into();
        let code = Inner::Run { program, instead, inputs: inputs.into(), outputs: made };
        self.push(InstrKind::Inner(Box::new(code)), dynamic);
        Ok(outputs)
    }

    /// Runs the first of two nested programs if the 0-d `condition` is not zero, else the second;
    /// both have outputs of the same element types and ranks. `lengths` are the lengths of each output.
    pub fn branch(
        &mut self,
        condition: Slot,
        [then, otherwise]: [(Nested, &[Slot]); 2],
        lengths: &[Lengths],
    ) -> Built<Vec<Slot>> {
        let (given, ndim) = self.slot_type(condition)?;
        if ndim != 0 {
            let needed = "a condition is 0-d";
            return Err(BuildError::Rank { slot: condition, given: ndim, needed });
        }
        if given.is_float() {
            let needed = "a condition is a boolean or an integer";
            return Err(BuildError::UnsupportedDType { slot: condition, given, needed });
        }
        let inner = self.part(then.0)?;
        let other = self.part(otherwise.0)?;
        self.check_arm(&inner, then.1)?;
        self.check_arm(&other, otherwise.1)?;
        if !inner.outputs().eq(other.outputs()) {
            return Err(BuildError::Arms);
        }
        check_count("lengths of the outputs of a branch", lengths.len(), inner.outputs.len())?;
        let mut late = Vec::new();
        for (at, (lengths, (_, ndim))) in lengths.iter().zip(inner.outputs()).enumerate() {
            let unknown = match lengths {
                Some(lengths) => {
                    check_count("lengths of an output of a branch", lengths.len(), ndim)?;
                    self.check_sizes(lengths.iter().copied())?;
                    self.depends([], lengths.iter().copied())?
                }
                None => true,
            };
            late.push(unknown || is_dynamic(&inner, at) || is_dynamic(&other, at));
        }
        let read = then.1.iter().chain(otherwise.1).copied();
        let dynamic = self.depends(read, [])?;
        let outputs = self.result_slots(&inner, |at| dynamic || late[at])?;
        let arms =
            [then, otherwise].map(|(program, inputs)| Arm { program, inputs: inputs.into() });
        let (lengths, made) = (lengths.into(), outputs.as_slice().into());
        let code = Inner::Branch { condition, arms, lengths, outputs: made };
        self.push(InstrKind::Inner(Box::new(code)), dynamic);
        Ok(outputs)
    }

    /// Runs a nested program step after step. Inputs of it that are donated must be states which
    /// nothing else sees: computed anew in each step, not stacked, and handed on to no other.
    pub fn scan(&mut self, spec: &ScanSpec) -> Built<Scanned> {
        let inner = self.part(spec.program)?;
        self.check_sizes([spec.steps])?;
        let inits = spec.states.iter().map(|state| state.0);
        let reads: Vec<Slot> =
            spec.sequences.iter().copied().chain(inits).chain(spec.others.clone()).collect();
        check_count("inputs of a nested program", reads.len(), inner.inputs().len())?;
        for (at, (&slot, ty)) in reads.iter().zip(inner.inputs()).enumerate() {
            let (_, ndim) = self.slot_type(slot)?;
            let axes = if at < spec.sequences.len() { 1 } else { 0 };
            if ndim != ty.shape.len() + axes {
                let needed = "a nested program takes another rank";
                return Err(BuildError::Rank { slot, given: ndim, needed });
            }
            self.check_dtype(slot, ty.dtype)?;
        }
        let outputs: Vec<(DType, usize)> = inner.outputs().collect();
        let first = spec.sequences.len();
        let inputs: Vec<(DType, usize)> =
            inner.inputs().map(|ty| (ty.dtype, ty.shape.len())).collect();
        spec.check(&inner, &inputs, &outputs)?;
        let dynamic = self.depends(reads.iter().copied(), [spec.steps])?;
        let mut made = Scanned { finals: vec![], stacked: vec![], steps: Slot(0) };
        for (state, _) in spec.states.iter().enumerate() {
            let (dtype, ndim) = inputs[first + state];
            made.finals.push(self.result(dtype, ndim, dynamic)?);
        }
        for &output in &spec.stacked {
            let (dtype, ndim) = outputs[output];
            let late = dynamic || spec.until.is_some() || is_dynamic(&inner, output);
            made.stacked.push(self.result(dtype, ndim + 1, late)?);
        }
        made.steps = self.result(DType::Int64, 0, dynamic)?;
        let states = spec.states.iter().zip(&made.finals);
        let code = Scan {
            program: spec.program,
            steps: spec.steps,
            sequences: spec.sequences.as_slice().into(),
            states: states.map(|(&(init, next), &last)| Carried { init, next, last }).collect(),
            others: spec.others.as_slice().into(),
            stacked: spec.stacked.iter().copied().zip(made.stacked.iter().copied()).collect(),
            until: spec.until,
            done: made.steps,
        };
        self.push(InstrKind::Inner(Box::new(Inner::Scan(code))), dynamic);
        Ok(made)
    }

    /// Checks the inputs of a program that runs once.
    fn check_arm(&self, inner: &Program, inputs: &[Slot]) -> Built<()> {
        check_count("inputs of a nested program", inputs.len(), inner.inputs().len())?;
        for (&slot, ty) in inputs.iter().zip(inner.inputs()) {
            let (_, given) = self.slot_type(slot)?;
            if given != ty.shape.len() {
                let needed = "a nested program takes another rank";
                return Err(BuildError::Rank { slot, given, needed });
            }
            self.check_dtype(slot, ty.dtype)?;
        }
        match inner.donated() {
            [] => Ok(()),
            &[input, ..] => Err(BuildError::NotOwned { input }),
        }
    }

    /// A slot for each output of a program; `late` tells whether only the run knows its lengths.
    fn result_slots(&mut self, inner: &Program, late: impl Fn(usize) -> bool) -> Built<Vec<Slot>> {
        let outputs = inner.outputs().enumerate();
        outputs.map(|(at, (dtype, ndim))| self.result(dtype, ndim, late(at))).collect()
    }
}

impl ScanSpec {
    /// Whether an input of the program is a state whose memory nothing else sees.
    fn is_own(&self, input: usize) -> bool {
        let state = input.checked_sub(self.sequences.len());
        let Some(&(_, Next::Output(output))) = state.and_then(|state| self.states.get(state))
        else {
            return false;
        };
        let same = self.states.iter().filter(|(_, next)| *next == Next::Output(output)).count();
        let handed_on = self.states.iter().any(|(_, next)| *next == Next::Input(input));
        same == 1 && !handed_on && !self.stacked.contains(&output)
    }

    /// Checks that a step's outputs are as required: states for the next step, rows that are
    /// stacked once, a condition; and that only memory that nothing else sees is donated.
    fn check(
        &self,
        inner: &Program,
        inputs: &[(DType, usize)],
        outputs: &[(DType, usize)],
    ) -> Built<()> {
        let first = self.sequences.len();
        let no_output = |at: usize| BuildError::NoOutput { given: at, count: outputs.len() };
        for (state, &(_, next)) in self.states.iter().enumerate() {
            let given = match next {
                Next::Output(at) => *outputs.get(at).ok_or_else(|| no_output(at))?,
                Next::Input(at) => {
                    *inputs.get(at).ok_or(BuildError::NoInput { given: at, count: inputs.len() })?
                }
            };
            if given != inputs[first + state] {
                return Err(BuildError::State { state });
            }
        }
        for (at, &output) in self.stacked.iter().enumerate() {
            outputs.get(output).ok_or_else(|| no_output(output))?;
            if self.stacked[..at].contains(&output) {
                return Err(BuildError::StackedTwice { output });
            }
        }
        if let Some(output) = self.until {
            let given = *outputs.get(output).ok_or_else(|| no_output(output))?;
            if given != (DType::Bool, 0) {
                return Err(BuildError::Until { output });
            }
        }
        for &input in inner.donated() {
            if !self.is_own(input) {
                return Err(BuildError::NotOwned { input });
            }
        }
        Ok(())
    }
}

/// Whether the lengths of an output depend on more than the shapes of the inputs.
pub(crate) fn is_dynamic(program: &Program, output: usize) -> bool {
    program.slots[program.outputs[output].index()].dynamic
}
