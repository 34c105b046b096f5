//! The code of steps: of scans, and of scalar loops.

use crate::dtype::Dtype;
use crate::emit::{Emitter, Loop, flags};
use crate::kernel::{Action, Body, Literal, ScanKernel, Statement};
use crate::op::Op;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use cranelift_frontend::Variable;
use std::collections::{BTreeSet, HashMap};

pub(crate) use self::lanes::{Count, goes_in_registers};

mod lanes;

/// The status of a scan whose condition held.
const ENDED: i64 = 3;
/// The status of a loop that was told to stop.
pub(crate) const STOPPED: i64 = 4;
/// The registers of floats.
const FLOATS: usize = 16;
/// One of how many instructions is to read memory, where values are held there.
const SHARE: usize = 4;
/// Steps after which a loop asks whether to stop.
pub(crate) const PATIENCE: i64 = 4096;

/// The values of a step, as far as they are known.
struct StepValues<'k> {
    bodies: &'k [Body],
    dtypes: Vec<Dtype>,
    values: Vec<Option<Value>>,
    /// The memory that holds values which are the same in all steps, and how many bytes behind its address each is.
    held: Option<Value>,
    places: HashMap<usize, i32>,
    /// Whether a statement is used once, and what uses it, too: instructions of others read none of their operands from
    /// memory.
    fuses: Vec<bool>,
}

impl<'k> StepValues<'k> {
    fn new(bodies: &'k [Body], dtypes: Vec<Dtype>, values: Vec<Option<Value>>) -> StepValues<'k> {
        StepValues { bodies, dtypes, values, held: None, places: HashMap::new(), fuses: Vec::new() }
    }
}

impl StepValues<'_> {
    /// The values before the first step of a loop, of its states, constants and literals.
    fn of_loop(
        e: &mut Emitter,
        body: &Body,
        given: &[Value],
        literals: &[Value],
    ) -> StepValues<'static> {
        let dtypes = body.dtypes();
        let mut values: Vec<Option<Value>> =
            given.iter().chain(literals).copied().map(Some).collect();
        values.resize(dtypes.len(), None);
        let mut step = StepValues::new(&[], dtypes, values);
        step.statements(e, body.first(), &body.statements, &body.constant, true);
        step
    }

    fn value(&self, k: usize) -> Value {
        self.values[k].expect("a kernel was verified")
    }

    /// Operand `at` of an instruction, which is read where it is held if it may be.
    fn operand(&self, e: &mut Emitter, own: &Statement, at: usize, fuses: bool) -> Value {
        let k = own.args[at];
        match (self.held, self.places.get(&k)) {
            (Some(held), Some(&place)) if fuses && reads_memory(own, at) => {
                e.load(self.dtypes[k], held, place)
            }
            _ => self.value(k),
        }
    }

    /// Lets memory hold floats that are the same in all steps, if they are too many for registers and many instructions
    /// read them there: a register that is spilled takes an instruction to come back.
    fn hold(&mut self, e: &mut Emitter, kernel: &ScanKernel) {
        let given = (0..kernel.loads.len()).filter(|&k| !kernel.reads[kernel.loads[k].0].walks);
        let first = kernel.first();
        let made = (0..kernel.statements.len()).filter(|&k| kernel.constant[k]);
        let same: Vec<usize> = given
            .chain(made.map(|k| first + k))
            .filter(|&k| matches!(self.dtypes[k], Dtype::Float32 | Dtype::Float64))
            .collect();
        let fuses = used_once(kernel);
        let operands =
            (0..fuses.len()).filter(|&k| fuses[k] && !kernel.constant[k]).flat_map(|k| {
                let own = &kernel.statements[k];
                (0..own.args.len()).filter(|&at| reads_memory(own, at)).map(|at| own.args[at])
            });
        let read = operands.filter(|k| same.contains(k)).count();
        let is_many = same.len() + kernel.states.len() >= FLOATS && SHARE * read >= fuses.len();
        if !(cfg!(target_arch = "x86_64") && is_many) {
            return;
        }
        let slot = e.stack(8 * same.len() as u32);
        let held = e.stack_address(slot);
        for (at, k) in same.into_iter().enumerate() {
            let place = 8 * at as i32;
            e.store(self.dtypes[k], self.value(k), held, place);
            self.places.insert(k, place);
        }
        self.held = Some(held);
        self.fuses = fuses;
    }

    /// Ends the instructions of a step: what comes of it goes to another block, so that each is used there alone, however
    /// often.
    fn end(&mut self, e: &mut Emitter, kernel: &ScanKernel) {
        if self.held.is_none() {
            return;
        }
        let block = e.b.create_block();
        let ends = ends(kernel);
        let values: Vec<BlockArg> = ends.iter().map(|&k| self.value(k).into()).collect();
        for k in ends {
            self.values[k] = Some(e.b.append_block_param(block, self.dtypes[k].ir()));
        }
        e.b.ins().jump(block, &values);
        e.b.switch_to_block(block);
        e.b.seal_block(block);
    }

    /// Computes the statements that are the same in all steps, or the others.
    fn statements(
        &mut self,
        e: &mut Emitter,
        first: usize,
        statements: &[Statement],
        same: &[bool],
        constant: bool,
    ) {
        for (k, own) in statements.iter().enumerate() {
            if same[k] != constant {
                continue;
            }
            let fuses = self.fuses.get(k).is_some_and(|&once| once);
            let args: Vec<Value> =
                (0..own.args.len()).map(|at| self.operand(e, own, at, fuses)).collect();
            let from: Vec<Dtype> = own.args.iter().map(|&a| self.dtypes[a]).collect();
            let made = match own.action {
                Action::Op(op) => e.apply(op, &from, &own.operands, own.dtype, &args),
                Action::Loop { of, at } => {
                    let given: Vec<Value> = (0..args.len())
                        .map(|n| e.convert(args[n], from[n], own.operands[n]))
                        .collect();
                    e.element_loop(&self.bodies[of], &given)[at]
                }
                _ => unreachable!("steps hold scalar ops alone"),
            };
            self.values[first + k] = Some(made);
        }
    }
}

impl Emitter<'_> {
    fn literals(&mut self, literals: &[Literal]) -> Vec<Value> {
        literals.iter().map(|own| self.constant(own.dtype, own.bits)).collect()
    }

    /// The results of a loop for one element: its states, and whether its condition held.
    pub(crate) fn element_loop(&mut self, body: &Body, operands: &[Value]) -> Vec<Value> {
        let outside = std::mem::replace(&mut self.in_steps, true);
        let states = body.states.len();
        let first = body.first();
        let literals = self.literals(&body.literals);
        let mut step = StepValues::of_loop(self, body, &operands[1..], &literals);
        let variables: Vec<Variable> = (0..states)
            .map(|k| {
                let start = step.value(k);
                self.variable(body.states[k].ir(), start)
            })
            .collect();
        let no = self.constant(Dtype::Bool, 0);
        let ended = self.variable(Dtype::Bool.ir(), no);
        let zero = self.i64(0);
        let at = self.variable(I64, zero);
        let count = operands[0];
        let own = self.begin_steps(at, count);
        for (k, &variable) in variables.iter().enumerate() {
            step.values[k] = Some(self.b.use_var(variable));
        }
        step.statements(self, first, &body.statements, &body.constant, false);
        for (&variable, &next) in variables.iter().zip(&body.nexts) {
            self.b.def_var(variable, step.value(next));
        }
        let one = self.i64(1);
        self.advance(at, one);
        if let Some(condition) = body.condition {
            let holds = step.value(condition);
            self.b.def_var(ended, holds);
            self.leave_if(&own.all, holds);
        }
        self.end_steps(own, at, count);
        self.in_steps = outside;
        let all = variables.iter().copied().chain(body.condition.map(|_| ended));
        all.map(|variable| self.b.use_var(variable)).collect()
    }

    /// Begins the steps of a loop that has done `at` of `count`: it asks now and then whether to stop,
    /// between loops without calls, which would cost them the registers.
    fn begin_steps(&mut self, at: Variable, count: Value) -> Steps {
        let all = self.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp(IntCC::SignedLessThan, at, count)
        });
        let from = self.b.use_var(at);
        let left = self.b.ins().isub(count, from);
        let patience = self.i64(PATIENCE);
        let some = self.b.ins().smin(left, patience);
        let pause = self.b.ins().iadd(from, some);
        let some = self.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp(IntCC::SignedLessThan, at, pause)
        });
        Steps { all, some }
    }

    fn end_steps(&mut self, own: Steps, at: Variable, count: Value) {
        self.end_loop(own.some);
        let done = self.b.use_var(at);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, done, count);
        // The results of the loop are of no use any more: it need only end.
        self.when(more, |e| {
            let stops = e.ask("loop_stops", I32);
            let stops = e.b.ins().icmp_imm_u(IntCC::NotEqual, stops, 0);
            e.when(stops, |e| {
                let status = e.b.ins().iconst(I32, STOPPED);
                e.set_status(status);
                e.b.def_var(at, count);
            });
        });
        self.end_loop(own.all);
    }
}

/// Whether an instruction may read operand `at` from memory.
fn reads_memory(own: &Statement, at: usize) -> bool {
    match own.action {
        Action::Op(Op::Add | Op::Mul) => true,
        Action::Op(Op::Sub | Op::Truediv) => at == 1,
        _ => false,
    }
}

/// The results of a step: values that steps compute, and are stored, states of the next one or its end.
fn ends(kernel: &ScanKernel) -> BTreeSet<usize> {
    let writes = kernel.writes.iter().filter(|own| own.walks);
    let stored = writes.flat_map(|own| own.values.iter().copied());
    let next = kernel.states.iter().map(|own| own.next);
    let first = kernel.first();
    let is_made = |k: &usize| *k >= first && !kernel.constant[*k - first];
    stored.chain(next).chain(kernel.condition).filter(is_made).collect()
}

/// Whether each statement is used once, and what uses it, too.
fn used_once(kernel: &ScanKernel) -> Vec<bool> {
    let first = kernel.first();
    let mut uses = vec![0; kernel.statements.len()];
    let mut user = vec![None; kernel.statements.len()];
    for k in ends(kernel) {
        uses[k - first] += 1;
    }
    for (k, own) in kernel.statements.iter().enumerate() {
        for &a in own.args.iter().filter(|&&a| a >= first) {
            uses[a - first] += 1;
            user[a - first] = Some(k);
        }
    }
    let mut once = vec![false; uses.len()];
    for k in (0..uses.len()).rev() {
        once[k] = uses[k] == 1 && user[k].is_none_or(|by: usize| once[by]);
    }
    once
}

/// The steps of a loop, while they are being written.
struct Steps {
    all: Loop,
    some: Loop,
}

/// Writes a scan: its states are in registers from step to step.
pub(crate) fn write_scan(e: &mut Emitter, kernel: &ScanKernel) {
    let [pointers, steps, _, strides] = e.enter();
    e.in_steps = true;
    let walks = kernel.reads.iter().map(|own| own.walks);
    let walks: Vec<bool> = walks.chain(kernel.writes.iter().map(|own| own.walks)).collect();
    let counts = usize::from(kernel.condition.is_some());
    let places: Vec<Variable> = (0..walks.len() + counts)
        .map(|k| {
            let place = e.b.ins().load(I64, flags(), pointers, 8 * k as i32);
            e.variable(I64, place)
        })
        .collect();
    let dtypes = kernel.dtypes();
    let values = vec![None; dtypes.len()];
    let mut step = StepValues::new(&kernel.bodies, dtypes, values);
    for (k, value) in e.literals(&kernel.literals).into_iter().enumerate() {
        step.values[kernel.loads.len() + k] = Some(value);
    }
    load(e, kernel, &mut step, &places, false);
    let first = kernel.first();
    step.statements(e, first, &kernel.statements, &kernel.constant, true);
    let states = kernel.states.iter();
    let states = states.map(|own| e.variable(own.dtype.ir(), step.value(own.start)));
    let states: Vec<Variable> = states.collect();
    step.hold(e, kernel);
    let zero = e.i64(0);
    let at = e.variable(I64, zero);
    let own = e.begin_loop(|e| {
        let at = e.b.use_var(at);
        e.b.ins().icmp(IntCC::SignedLessThan, at, steps)
    });
    read_states(e, kernel, &mut step, &states);
    load(e, kernel, &mut step, &places, true);
    step.statements(e, first, &kernel.statements, &kernel.constant, false);
    step.end(e, kernel);
    store(e, kernel, &step, &places, true);
    for (&state, own) in states.iter().zip(&kernel.states) {
        e.b.def_var(state, step.value(own.next));
    }
    for (k, _) in walks.iter().enumerate().filter(|(_, walks)| **walks) {
        let stride = e.b.ins().load(I64, flags(), strides, 8 * k as i32);
        e.advance(places[k], stride);
    }
    let one = e.i64(1);
    e.advance(at, one);
    if let Some(condition) = kernel.condition {
        let holds = step.value(condition);
        tell_end(e, holds);
        e.leave_if(&own, holds);
    }
    e.end_loop(own);
    read_states(e, kernel, &mut step, &states);
    store(e, kernel, &step, &places, false);
    if counts > 0 {
        let (place, done) = (e.b.use_var(places[walks.len()]), e.b.use_var(at));
        e.store(Dtype::Int64, done, place, 0);
    }
    let status = e.status();
    e.b.ins().return_(&[status]);
}

/// Takes the states as they are by now for those that the statements read.
fn read_states(e: &mut Emitter, kernel: &ScanKernel, step: &mut StepValues, states: &[Variable]) {
    for (k, &state) in states.iter().enumerate() {
        step.values[kernel.first_state() + k] = Some(e.b.use_var(state));
    }
}

/// Says by the status that the scan ended early, if it did and nothing is wrong.
fn tell_end(e: &mut Emitter, holds: Value) {
    let so_far = e.status();
    let ended = e.b.ins().iconst(I32, ENDED);
    let fine = e.b.ins().icmp_imm_u(IntCC::Equal, so_far, 0);
    let told = e.b.ins().select(fine, ended, so_far);
    let status = e.b.ins().select(holds, told, so_far);
    e.set_status(status);
}

/// Loads the operands of each step, or those that stay the same.
fn load(
    e: &mut Emitter,
    kernel: &ScanKernel,
    step: &mut StepValues,
    places: &[Variable],
    walks: bool,
) {
    for (k, &(read, element)) in kernel.loads.iter().enumerate() {
        let own = &kernel.reads[read];
        if own.walks == walks {
            let place = e.b.use_var(places[read]);
            let offset = element as u32 * own.dtype.size();
            step.values[k] = Some(e.load(own.dtype, place, offset as i32));
        }
    }
}

/// Stores the results of each step, or of the last one.
fn store(
    e: &mut Emitter,
    kernel: &ScanKernel,
    step: &StepValues,
    places: &[Variable],
    walks: bool,
) {
    for (k, own) in kernel.writes.iter().enumerate().filter(|(_, own)| own.walks == walks) {
        let place = e.b.use_var(places[kernel.reads.len() + k]);
        for (element, &value) in own.values.iter().enumerate() {
            let offset = element as u32 * own.dtype.size();
            e.store(own.dtype, step.value(value), place, offset as i32);
        }
    }
}
