//! The code of steps: of scans, and of scalar loops.

use crate::dtype::Dtype;
use crate::emit::{Emitter, Loop, flags};
use crate::kernel::{Action, Body, Literal, ScanKernel, Statement};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;

pub(crate) use self::lanes::{Count, goes_in_registers};

mod lanes;

/// The status of a scan whose condition held.
const ENDED: i64 = 3;
/// The status of a loop that was told to stop.
pub(crate) const STOPPED: i64 = 4;
/// Steps after which a loop asks whether to stop.
pub(crate) const PATIENCE: i64 = 4096;

/// The values of a step, as far as they are known.
struct StepValues<'k> {
    bodies: &'k [Body],
    dtypes: Vec<Dtype>,
    values: Vec<Option<Value>>,
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
        let mut step = StepValues { bodies: &[], dtypes, values };
        step.statements(e, body.first(), &body.statements, &body.constant, true);
        step
    }

    fn value(&self, k: usize) -> Value {
        self.values[k].expect("a kernel was verified")
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
            let args: Vec<Value> = own.args.iter().map(|&a| self.value(a)).collect();
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
    let mut step = StepValues { bodies: &kernel.bodies, dtypes, values };
    for (k, value) in e.literals(&kernel.literals).into_iter().enumerate() {
        step.values[kernel.loads.len() + k] = Some(value);
    }
    load(e, kernel, &mut step, &places, false);
    let first = kernel.first();
    step.statements(e, first, &kernel.statements, &kernel.constant, true);
    let states = kernel.states.iter();
    let states = states.map(|own| e.variable(own.dtype.ir(), step.value(own.start)));
    let states: Vec<Variable> = states.collect();
    let zero = e.i64(0);
    let at = e.variable(I64, zero);
    let own = e.begin_loop(|e| {
        let at = e.b.use_var(at);
        e.b.ins().icmp(IntCC::SignedLessThan, at, steps)
    });
    read_states(e, kernel, &mut step, &states);
    load(e, kernel, &mut step, &places, true);
    step.statements(e, first, &kernel.statements, &kernel.constant, false);
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
