//! Scalar loops over registers of elements. An element that has ended goes on with the others until all have
//! ended, but its result stays.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use crate::kernel::{Action, Body};
use crate::op::Op;
use crate::scalar::has_wide_form;
use crate::steps::StepValues;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;

/// The most steps that there are.
pub(crate) enum Count {
    /// As many for all elements.
    Same(Value),
    /// For each element of each register its own number, of 64 bits.
    Each(Vec<Value>),
}

/// Whether there are instructions for registers of elements for all that a step does; functions and
/// the like would be called for elements that have long ended.
pub(crate) fn goes_in_registers(body: &Body) -> bool {
    let mut varying = body.statements.iter().zip(&body.constant).filter(|(_, same)| !**same);
    varying.all(|(own, _)| match own.action {
        Action::Op(Op::Cast) => own.operands[0].is_float() == own.dtype.is_float(),
        Action::Op(op) => {
            let last = own.operands[own.operands.len() - 1];
            let mixed = own.operands.len() == 2 && own.operands[0] != last;
            !mixed && has_wide_form(op, last)
        }
        _ => false,
    })
}

/// One register of elements on its way through a loop.
struct RegisterLoop {
    step: StepValues<'static>,
    states: Vec<Variable>,
    /// A mask of the elements that go on, if not all do until the last step.
    live: Option<Variable>,
    /// A mask of the elements whose condition held, if it is asked for.
    ended: Option<Variable>,
    count: Option<Value>,
}

impl Emitter<'_> {
    /// Result `at` of a loop for registers of elements, of which each is given by its states and
    /// constants.
    pub(crate) fn loop_of_registers(
        &mut self,
        body: &Body,
        at: usize,
        count: &Count,
        registers: &[Vec<Value>],
    ) -> Vec<Value> {
        let outside = std::mem::replace(&mut self.in_steps, true);
        let literals = self.literals(&body.literals);
        let mut all: Vec<RegisterLoop> = Vec::new();
        for (n, given) in registers.iter().enumerate() {
            let count = match count {
                Count::Same(_) => None,
                Count::Each(counts) => Some(counts[n]),
            };
            all.push(self.enter_lanes(body, at, count, given, &literals));
        }
        let most = match count {
            Count::Same(count) => *count,
            Count::Each(counts) => self.most(counts),
        };
        let zero = self.i64(0);
        let done = self.variable(I64, zero);
        let own = self.begin_steps(done, most);
        let one = self.i64(1);
        self.advance(done, one);
        let mut going: Option<Value> = None;
        for lanes in &mut all {
            if let Some(live) = self.step_lanes(body, at, done, lanes) {
                going = Some(going.map_or(live, |so_far| self.b.ins().bor(so_far, live)));
            }
        }
        if let Some(going) = going {
            let some = self.b.ins().vany_true(going);
            let none = self.b.ins().icmp_imm_u(IntCC::Equal, some, 0);
            self.leave_if(&own.all, none);
        }
        self.end_steps(own, done, most);
        self.in_steps = outside;
        let results = all.iter().map(|lanes| match lanes.ended {
            Some(ended) => ended,
            None => lanes.states[at],
        });
        results.map(|variable| self.b.use_var(variable)).collect()
    }

    fn enter_lanes(
        &mut self,
        body: &Body,
        at: usize,
        count: Option<Value>,
        given: &[Value],
        literals: &[Value],
    ) -> RegisterLoop {
        let step = StepValues::of_loop(self, body, given, literals);
        let mut states = Vec::new();
        for (k, &dtype) in body.states.iter().enumerate() {
            let ty = self.ty(dtype);
            states.push(self.variable(ty, step.value(k)));
        }
        let mask = self.ty(Dtype::Bool);
        let live = (count.is_some() || body.condition.is_some()).then(|| {
            let first = match count {
                Some(count) => {
                    let zero = self.constant(Dtype::Int64, 0);
                    self.b.ins().icmp(IntCC::SignedGreaterThan, count, zero)
                }
                None => self.constant(Dtype::Bool, 1),
            };
            self.variable(mask, first)
        });
        let ended = (at == body.states.len()).then(|| {
            let no = self.constant(Dtype::Bool, 0);
            self.variable(mask, no)
        });
        RegisterLoop { step, states, live, ended, count }
    }

    /// One step of a register; which elements go on.
    fn step_lanes(
        &mut self,
        body: &Body,
        at: usize,
        done: Variable,
        lanes: &mut RegisterLoop,
    ) -> Option<Value> {
        for (k, &variable) in lanes.states.iter().enumerate() {
            lanes.step.values[k] = Some(self.b.use_var(variable));
        }
        let olds: Vec<Value> = (0..lanes.states.len()).map(|k| lanes.step.value(k)).collect();
        lanes.step.statements(self, body.first(), &body.statements, &body.constant, false);
        let live = lanes.live.map(|live| self.b.use_var(live));
        for (k, &variable) in lanes.states.iter().enumerate() {
            let next = lanes.step.value(body.nexts[k]);
            let kept = match live {
                Some(live) if k == at => self.select(live, next, olds[k]),
                _ => next,
            };
            self.b.def_var(variable, kept);
        }
        let mut live = live?;
        if let Some(condition) = body.condition {
            let holds = lanes.step.value(condition);
            if let Some(ended) = lanes.ended {
                let now = self.b.ins().band(live, holds);
                let so_far = self.b.use_var(ended);
                let both = self.b.ins().bor(so_far, now);
                self.b.def_var(ended, both);
            }
            live = self.b.ins().band_not(live, holds);
        }
        if let Some(count) = lanes.count {
            let done = self.b.use_var(done);
            let done = self.spread(Dtype::Int64, done);
            let more = self.b.ins().icmp(IntCC::SignedGreaterThan, count, done);
            live = self.b.ins().band(live, more);
        }
        self.b.def_var(lanes.live.expect("some end before others"), live);
        Some(live)
    }

    /// The largest of the numbers of steps.
    fn most(&mut self, counts: &[Value]) -> Value {
        let mut most = self.i64(0);
        for &count in counts {
            for lane in 0..self.lanes() {
                let own = self.lane(Dtype::Int64, count, lane);
                most = self.b.ins().smax(most, own);
            }
        }
        most
    }
}
