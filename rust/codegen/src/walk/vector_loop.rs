//! Scalar loops by functions of vectors, which are called for all elements of a chunk. Such a function leaves the states
//! of elements, and a bit for each that says whether it went on to the end.

use crate::dtype::Dtype;
use crate::emit::flags;
use crate::kernel::{Action, Pass};
use crate::stages::OperandPlace;
use crate::steps::{PATIENCE, STOPPED, goes_in_registers};
use crate::vector::{Effect, Given, Sheet, Steps, steps_code};
use crate::walk::Walk;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use std::collections::BTreeMap;

impl Walk<'_, '_, '_> {
    /// Finds the loops of a pass that have a function: those that elements leave when a condition holds, of which all
    /// have the same most steps.
    pub(super) fn find_loops(&mut self, pass: &Pass) {
        self.loops.clear();
        for &k in &pass.varying {
            if let Some(code) = self.loop_code(k) {
                self.loops.insert(k, code);
            }
        }
    }

    fn steps_of(&self, k: usize) -> Option<Steps> {
        let Action::Loop { of, at } = self.k.at(k).action else { return None };
        let body = &self.k.bodies[of];
        let (states, constants) = (body.states.len(), body.constants.len());
        let lanes = self.e.vectors?.bytes() / body.states.first()?.size();
        Some(Steps { states, constants, result: at, lanes })
    }

    fn loop_code(&self, k: usize) -> Option<Vec<u8>> {
        let steps = self.steps_of(k)?;
        let own = self.k.at(k);
        let Action::Loop { of, .. } = own.action else { return None };
        let body = &self.k.bodies[of];
        let size = body.states.first()?.size();
        let given: Vec<Dtype> = body.states.iter().chain(&body.constants).copied().collect();
        let wide = |dtype: &Dtype| *dtype == Dtype::Bool || dtype.size() == size;
        let fits = size >= 4
            && given.iter().all(|dtype| *dtype != Dtype::Bool)
            && self.dtypes_of_loop(of, own).iter().all(wide);
        let same = self.are_uniform(&own.args[..1]);
        if !(fits && same && goes_in_registers(body)) {
            return None;
        }
        let condition = body.condition?;
        let mut sheet = Sheet::new(self.e.vectors?);
        let mut block = sheet.block(self.k.lanes as u32, self.e.convention);
        block.e.in_steps = true;
        let mut values: Vec<Value> = Vec::new();
        for (at, &dtype) in given.iter().enumerate() {
            values.push(block.give(Given::Uniform { at, dtype }, dtype));
        }
        for literal in &body.literals {
            values.push(block.e.constant(literal.dtype, literal.bits));
        }
        let dtypes = body.dtypes();
        for statement in &body.statements {
            let Action::Op(op) = statement.action else { return None };
            let from: Vec<Dtype> = statement.args.iter().map(|&a| dtypes[a]).collect();
            let args: Vec<Value> = statement.args.iter().map(|&a| values[a]).collect();
            values.push(block.e.apply(op, &from, &statement.operands, statement.dtype, &args));
        }
        for (state, &next) in body.nexts.iter().enumerate() {
            block.effects.push(Effect::Next { state, value: values[next] });
        }
        block.effects.push(Effect::Leave { value: values[condition] });
        steps_code(&block, steps)
    }

    /// Lets the elements of a chunk go through a loop, all of them some steps before any of them more.
    pub(super) fn call_loop(
        &mut self,
        k: usize,
        code: Vec<u8>,
        slots: &BTreeMap<OperandPlace, StackSlot>,
        length: u32,
        (from, to): (Value, Value),
    ) {
        let steps = self.steps_of(k).expect("it is a loop");
        let own = self.k.at(k);
        let most = self.uniform_value(own.args[0]);
        let most = self.e.convert(most, self.k.dtype(own.args[0]), own.operands[0]);
        let total = self.e.b.ins().isub(to, from);
        let function = self.e.vector_function(code);
        let elements = steps.lanes;
        let live = self.begin_all(total, elements, length / elements);
        let slot = self.e.stack(8 * (steps.most() as u32 + 1));
        let arguments = self.e.stack_address(slot);
        for at in 0..steps.live() {
            let place = slots[&OperandPlace::Operand { of: k, at: at + 1 }];
            let address = self.e.stack_address(place);
            self.e.b.ins().store(flags(), address, arguments, 8 * at as i32);
        }
        self.e.b.ins().store(flags(), live, arguments, 8 * steps.live() as i32);
        let left = self.e.variable(I64, most);
        let turns = self.e.begin_loop(|e| {
            let left = e.b.use_var(left);
            e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, 0)
        });
        let before = self.e.b.use_var(left);
        let patience = self.e.i64(PATIENCE);
        let some = self.e.b.ins().smin(before, patience);
        self.e.b.ins().store(flags(), some, arguments, 8 * steps.most() as i32);
        self.e.call_vectors(function, arguments, total);
        let after = self.e.b.ins().isub(before, some);
        self.e.b.def_var(left, after);
        let more = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, after, 0);
        let asks = self.e.begin_if(more);
        let going = self.some_go_on(live, length / elements);
        let zero = self.e.i64(0);
        let after = self.e.b.ins().select(going, after, zero);
        self.e.b.def_var(left, after);
        let stops = self.e.ask("loop_stops", I32);
        let stops = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, stops, 0);
        self.e.when(stops, |e| {
            // The results of the loop are of no use any more: it need only end.
            let status = e.b.ins().iconst(I32, STOPPED);
            e.set_status(status);
            e.b.def_var(left, zero);
        });
        self.e.end_if(asks);
        self.e.end_loop(turns);
        if steps.result == steps.states {
            let place = self.e.stack_address(slots[&OperandPlace::Value(k)]);
            self.store_ended(live, elements, place, total);
        }
    }

    /// Stores for each of so many elements whether it has left the loop.
    fn store_ended(&mut self, live: Value, elements: u32, place: Value, total: Value) {
        let zero = self.e.i64(0);
        let at = self.e.variable(I64, zero);
        let own = self.e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp(IntCC::SignedLessThan, at, total)
        });
        let here = self.e.b.use_var(at);
        let register = self.e.b.ins().ushr_imm_u(here, i64::from(elements.trailing_zeros()));
        let register = self.e.b.ins().ishl_imm_u(register, 1);
        let address = self.e.b.ins().iadd(live, register);
        let bits = self.e.b.ins().uload16(I64, flags(), address, 0);
        let lane = self.e.b.ins().band_imm_u(here, i64::from(elements - 1));
        let bit = self.e.b.ins().ushr(bits, lane);
        let goes_on = self.e.b.ins().band_imm_u(bit, 1);
        let ended = self.e.b.ins().bxor_imm_u(goes_on, 1);
        let to = self.e.b.ins().iadd(place, here);
        self.e.b.ins().istore8(flags(), ended, to, 0);
        let one = self.e.i64(1);
        self.e.advance(at, one);
        self.e.end_loop(own);
    }

    /// The address of bits that are set for the first `total` elements, two bytes for each of so many registers.
    fn begin_all(&mut self, total: Value, elements: u32, registers: u32) -> Value {
        let slot = self.e.stack((2 * registers).next_multiple_of(8));
        let place = self.e.stack_address(slot);
        let left = self.e.variable(I64, total);
        let first = self.e.i64(0);
        let at = self.e.variable(I64, first);
        let end = i64::from(2 * registers);
        let own = self.e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp_imm_s(IntCC::SignedLessThan, at, end)
        });
        let (zero, one) = (self.e.i64(0), self.e.i64(1));
        let all = self.e.i64(i64::from(elements));
        let here = self.e.b.use_var(left);
        let some = self.e.b.ins().smin(here, all);
        let some = self.e.b.ins().smax(some, zero);
        let above = self.e.b.ins().ishl(one, some);
        let bits = self.e.b.ins().isub(above, one);
        let offset = self.e.b.use_var(at);
        let address = self.e.b.ins().iadd(place, offset);
        self.e.b.ins().istore16(flags(), bits, address, 0);
        let fewer = self.e.b.ins().isub(here, all);
        self.e.b.def_var(left, fewer);
        let two = self.e.i64(2);
        self.e.advance(at, two);
        self.e.end_loop(own);
        place
    }

    /// Whether a bit is set in two bytes of so many registers, which are a multiple of four.
    fn some_go_on(&mut self, live: Value, registers: u32) -> Value {
        let zero = self.e.i64(0);
        let (at, some) = (self.e.variable(I64, zero), self.e.variable(I64, zero));
        let own = self.e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp_imm_s(IntCC::SignedLessThan, at, i64::from(2 * registers))
        });
        let offset = self.e.b.use_var(at);
        let address = self.e.b.ins().iadd(live, offset);
        let bits = self.e.b.ins().load(I64, flags(), address, 0);
        let so_far = self.e.b.use_var(some);
        let both = self.e.b.ins().bor(so_far, bits);
        self.e.b.def_var(some, both);
        let eight = self.e.i64(8);
        self.e.advance(at, eight);
        self.e.end_loop(own);
        let some = self.e.b.use_var(some);
        self.e.b.ins().icmp_imm_u(IntCC::NotEqual, some, 0)
    }
}
