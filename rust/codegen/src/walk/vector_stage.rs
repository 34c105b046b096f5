//! A stage of a pass as a function of vectors, and its calls.

use crate::dtype::Dtype;
use crate::kernel::{Action, Pass};
use crate::op::Op;
use crate::row_folds::{CARRIED, CARRIED_TWICE, Folding};
use crate::stages::{OperandPlace, Stages};
use crate::vector::{
    Block, Effect, Given, Partials, RowsCode, SETS, Sheet, StageCode, may_hold, rows_code,
    stage_code,
};
use crate::walk::Walk;
use crate::walk::indexed_row::Indexed;
use crate::walk::turn::Region;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;

/// The things that have elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    Read(usize),
    Buffer(usize),
    Slot(OperandPlace),
    Row(Indexed),
    Write(usize),
    /// The values that fold to a value of the kernel, where they are not folded at once.
    Folded(usize),
}

/// An argument of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// The address of the first element.
    Elements(Elements, Dtype),
    /// A value that is the same along the row.
    Uniform(usize),
    /// The partial results of a folding, and the bytes from there to the set whose turn it is.
    Sets(usize),
    Turn(usize),
    /// The elements that follow those of a call, once partial sums were carried.
    Rest,
    /// The address of the element of a read that is the same along the row.
    OfRow(usize),
    /// The bytes from row to row of an operand.
    Stride(usize),
    /// The bytes of a row of elements of that size.
    RowBytes(u32),
    /// A pointer of the kernel, and a number that it points to.
    Pointer(usize),
    Number {
        pointer: usize,
        at: usize,
    },
}

/// The function of a stage.
pub(super) struct VectorStage {
    code: Vec<u8>,
    /// Whether the function carries partial sums by itself.
    carries: bool,
    arguments: Vec<Argument>,
    /// A function of whole rows, if there is one.
    pub(super) rows: Option<RowsCode>,
}

impl VectorStage {
    /// The bytes of its arguments.
    pub(super) fn bytes(&self) -> u32 {
        8 * self.arguments.len() as u32
    }
}

/// A block while it is being written.
pub(super) struct Sketch<'s> {
    pub(super) block: Block<'s>,
    pub(super) arguments: Vec<Argument>,
    pub(super) values: Vec<Option<Value>>,
    /// Whether memory is asked for before it is read. The processor does so by itself where a loop reads several
    /// arrays side by side, and does not where it comes back to them in chunks.
    pub(super) asks_ahead: bool,
}

impl Sketch<'_> {
    pub(super) fn argument(&mut self, own: Argument) -> usize {
        self.arguments.iter().position(|&known| known == own).unwrap_or_else(|| {
            self.arguments.push(own);
            self.arguments.len() - 1
        })
    }

    fn loaded(&mut self, of: Elements, dtype: Dtype) -> Value {
        let at = self.argument(Argument::Elements(of, dtype));
        let ahead = self.asks_ahead && matches!(of, Elements::Read(_));
        self.block.give(Given::Load { at, dtype, ahead }, dtype)
    }

    pub(super) fn value(&self, k: usize) -> Value {
        self.values[k].expect("a kernel was verified")
    }

    pub(super) fn keep(&mut self, of: Elements, dtype: Dtype, value: Value) {
        let at = self.argument(Argument::Elements(of, dtype));
        self.block.effects.push(Effect::Keep { at, dtype, value });
    }

    /// Writes a value, or folds it into what is there.
    fn write(
        &mut self,
        of: Elements,
        dtype: Dtype,
        reduce: Option<crate::op::Reduction>,
        value: Value,
    ) {
        let at = self.argument(Argument::Elements(of, dtype));
        let value = match reduce {
            None => value,
            Some(reduce) => {
                let so_far = self.block.give(Given::LateLoad { at, dtype }, dtype);
                self.block.e.fold(reduce, dtype, so_far, value)
            }
        };
        self.block.effects.push(Effect::Write { at, dtype, value });
    }
}

impl Walk<'_, '_, '_> {
    /// The stages of a pass, and the function of each that has one. Functions of elements are written into these, if
    /// every stage has one then.
    pub(super) fn staged(
        &mut self,
        pass: &Pass,
        foldings: &[Folding],
    ) -> (Stages, Vec<Option<VectorStage>>) {
        let inlines = |own: &Self, k: usize| own.may_be_inlined(k);
        self.find_loops(pass);
        self.chosen = if self.loops.is_empty() { self.chosen_elements(pass) } else { None };
        let some = !self.loops.is_empty() || self.chooses();
        if some || pass.varying.iter().any(|&k| inlines(self, k)) {
            let called = |k: usize| self.loops.contains_key(&k);
            let mut stages = Stages::of(self.k, pass, |k| inlines(self, k), called);
            self.keep_puts(pass, &mut stages);
            let made: Option<Vec<_>> = (0..=stages.last())
                .map(|stage| self.vectors_of(pass, &stages, stage, foldings))
                .collect();
            if let Some(made) = made {
                return (stages, made);
            }
        }
        self.loops.clear();
        self.chosen = None;
        let stages = Stages::of(self.k, pass, |_| false, |_| false);
        let made = (0..=stages.last())
            .map(|stage| self.vectors_of(pass, &stages, stage, foldings).flatten())
            .collect();
        (stages, made)
    }

    /// The function of a stage; `Some(None)` if the stage does nothing, `None` if there is none.
    fn vectors_of(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        stage: usize,
        foldings: &[Folding],
    ) -> Option<Option<VectorStage>> {
        let foldings = if stage == stages.last() { foldings } else { &[] };
        let given = self.given(pass, stages, stage);
        let (slots, chunk) = (&BTreeMap::new(), self.n_inner);
        let region = Region { pass, stages, stage, slots, chunk, given };
        if !self.does_anything(&region, foldings) {
            return Some(None);
        }
        self.vector_stage(&region, foldings).map(Some)
    }

    /// Whether a value is one of a function that a block may hold.
    pub(super) fn may_be_inlined(&self, k: usize) -> bool {
        let own = self.k.at(k);
        match own.action {
            Action::Op(op) => {
                own.args.len() == 1
                    && op.is_function(own.dtype)
                    && own.operands[0] == own.dtype
                    && self
                        .e
                        .vectors
                        .is_some_and(|registers| may_hold(registers, op.name(), own.dtype.size()))
            }
            _ => false,
        }
    }

    /// The function for the elements of a stage; `None` if there is none.
    fn vector_stage(&self, region: &Region, foldings: &[Folding]) -> Option<VectorStage> {
        let registers = self.e.vectors?;
        if self.k.lanes == 1 || !self.is_simple(region) {
            return None;
        }
        if self.longest_loop(region).is_some() {
            return None;
        }
        if region.stages.computed[region.stage].iter().any(|&k| self.tells_a_status(k)) {
            return None;
        }
        let mut sheet = Sheet::new(registers);
        let mut own = self.sketch(&mut sheet, region);
        for &k in &region.given {
            own.values[k] = Some(self.given_to(&mut own, region, k));
        }
        self.computed_in_stage(&mut own, region.stages, region.stage);
        if region.stage == region.stages.last() {
            self.ended_in(&mut own, region, foldings);
            if foldings.iter().any(Folding::has_levels) && own.block.folds.len() == 1 {
                own.block.folds[0].rest = Some(own.argument(Argument::Rest));
            }
        }
        own.block.arguments = own.arguments.len();
        let StageCode { code, carries } = stage_code(&own.block)?;
        let alone = region.stages.last() == 0;
        let by_rows = alone && !foldings.is_empty() && !self.has_rows && !self.chooses();
        let rows = if by_rows { rows_code(&own.block) } else { None };
        Some(VectorStage { code, carries, arguments: own.arguments, rows })
    }

    /// Computes the values of a stage, and keeps those that wait for another one or for a function.
    pub(super) fn computed_in_stage(&self, own: &mut Sketch, stages: &Stages, stage: usize) {
        for &k in &stages.computed[stage] {
            let made = self.computed_in(own, k);
            own.values[k] = Some(made);
            let place = OperandPlace::Value(k);
            if stages.kept.contains_key(&place) {
                own.keep(Elements::Slot(place), self.k.dtype(k), made);
            }
        }
        for call in &stages.calls[stage] {
            let called = self.k.at(call.value);
            for (at, &place) in call.from.iter().enumerate() {
                if matches!(place, OperandPlace::Operand { .. }) {
                    let (a, to) = (called.args[at], called.operands[at]);
                    let given = own.value(a);
                    let given = own.block.e.convert(given, self.k.dtype(a), to);
                    own.keep(Elements::Slot(place), to, given);
                }
            }
        }
    }

    pub(super) fn sketch<'s>(&self, sheet: &'s mut Sheet, region: &Region) -> Sketch<'s> {
        Sketch {
            block: sheet.block(self.k.lanes as u32, self.e.convention),
            arguments: Vec::new(),
            values: vec![None; self.k.first() + self.k.statements.len()],
            asks_ahead: region.stages.last() > 0
                || self.k.passes.len() > 1
                || region.pass.reads.len() == 1,
        }
    }

    /// Whether the op of a value may refuse an element: the function has no status to tell so.
    pub(super) fn tells_a_status(&self, k: usize) -> bool {
        let own = self.k.at(k);
        let is_power = matches!(own.action, Action::Op(Op::Pow));
        is_power && own.operands.iter().all(|dtype| !dtype.is_float())
    }

    pub(super) fn given_to(&self, own: &mut Sketch, region: &Region, k: usize) -> Value {
        let dtype = self.k.dtype(k);
        let literals = self.k.reads.len()..self.k.first();
        if region.pass.reads.contains(&k) {
            own.loaded(Elements::Read(k), dtype)
        } else if region.pass.loads.contains(&k) {
            own.loaded(Elements::Buffer(k), dtype)
        } else if region.stages.waits(k, region.stage) {
            own.loaded(Elements::Slot(OperandPlace::Value(k)), dtype)
        } else if literals.contains(&k) {
            let bits = self.k.literals[k - literals.start].bits;
            own.block.e.constant(dtype, bits)
        } else {
            let at = own.argument(Argument::Uniform(k));
            own.block.give(Given::Uniform { at, dtype }, dtype)
        }
    }

    pub(super) fn computed_in(&self, own: &mut Sketch, k: usize) -> Value {
        let statement = self.k.at(k);
        match statement.action {
            Action::Op(op) if op.is_function(statement.dtype) => {
                let (a, dtype) = (statement.args[0], statement.dtype);
                let of = own.value(a);
                let of = own.block.e.convert(of, self.k.dtype(a), dtype);
                own.block.give(Given::Applied { function: op.name(), of }, dtype)
            }
            Action::Op(op) => {
                let from: Vec<Dtype> = statement.args.iter().map(|&a| self.k.dtype(a)).collect();
                let args: Vec<Value> = statement.args.iter().map(|&a| own.value(a)).collect();
                own.block.e.apply(op, &from, &statement.operands, statement.dtype, &args)
            }
            Action::Take(_) if self.chooses() => self.gathered_in(own, k),
            Action::Take(_) => own.loaded(Elements::Row(Indexed::Take(k)), statement.dtype),
            _ => unreachable!("elements of a stage with a size go together"),
        }
    }

    /// Stores, folds and writes.
    pub(super) fn ended_in(&self, own: &mut Sketch, region: &Region, foldings: &[Folding]) {
        for &k in &region.pass.stores {
            let value = own.value(k);
            own.write(Elements::Buffer(k), self.k.dtype(k), None, value);
        }
        for (of, folding) in foldings.iter().enumerate() {
            let (dtype, k) = (folding.write.dtype, folding.write.value);
            let value = own.value(k);
            let value = own.block.e.convert(value, self.k.dtype(k), dtype);
            let sets = own.argument(Argument::Sets(of));
            let turn = own.argument(Argument::Turn(of));
            let (reduce, lanes) = (folding.reduce, folding.lanes);
            let partials = Partials { sets, turn, reduce, dtype, lanes, rest: None };
            if dtype == Dtype::Bool {
                own.block.effects.push(Effect::Flag { of: own.block.flags.len(), value });
                own.block.flags.push(partials);
                continue;
            }
            let of = own.block.folds.len();
            own.block.folds.push(partials);
            let so_far = own.block.give(Given::Partial { of }, dtype);
            let value = own.block.e.fold(folding.reduce, dtype, so_far, value);
            own.block.effects.push(Effect::Fold { of, value });
        }
        for &k in &region.pass.writes {
            let write = &self.k.writes[k];
            if write.inner {
                let value = own.value(write.value);
                let value = own.block.e.convert(value, self.k.dtype(write.value), write.dtype);
                own.write(Elements::Write(k), write.dtype, write.reduce, value);
            }
        }
        for &k in &region.pass.puts {
            if self.is_put_as_read(region.pass, k) {
                continue;
            }
            let put = &self.k.puts[k];
            let value = own.value(put.value);
            let value = own.block.e.convert(value, self.k.dtype(put.value), put.dtype);
            if self.chooses() {
                own.keep(Elements::Slot(OperandPlace::Put(k)), put.dtype, value);
                let index = put.args[0];
                if let place @ OperandPlace::Value(_) = self.place_of_index(region.pass, index) {
                    let value = own.value(index);
                    own.keep(Elements::Slot(place), self.k.dtype(index), value);
                }
                continue;
            }
            own.write(Elements::Row(Indexed::Put(k)), put.dtype, put.reduce, value);
        }
    }

    // ------------------------------------------------------------ calls

    /// Lets the function go through the elements before `to`.
    pub(super) fn by_vectors(
        &mut self,
        region: &Region,
        own: VectorStage,
        at: Variable,
        to: Value,
        foldings: &[Folding],
    ) {
        let slot = self.e.stack(own.bytes());
        let function = self.e.vector_function(own.code);
        let has_levels = foldings.iter().any(Folding::has_levels);
        let turns = has_levels.then(|| {
            self.e.begin_outer_loop(|e| {
                let from = e.b.use_var(at);
                e.b.ins().icmp(IntCC::SignedLessThan, from, to)
            })
        });
        let from = self.e.b.use_var(at);
        let all = self.e.b.ins().isub(to, from);
        let mut count = all;
        for folding in foldings.iter().filter(|own| own.has_levels()) {
            let room = folding.room(self.e);
            count = self.e.b.ins().smin(count, room);
        }
        let mut rest = self.e.i64(0);
        if own.carries {
            let room = foldings[0].room_of_two_levels(self.e);
            let most = self.e.b.ins().smin(all, room);
            rest = self.e.b.ins().isub(most, count);
        }
        let place = self.e.stack_address(slot);
        for (k, &argument) in own.arguments.iter().enumerate() {
            let value = match argument {
                Argument::Rest => rest,
                _ => self.argument(region, argument, from, foldings),
            };
            self.e.b.ins().store(crate::emit::flags(), value, place, 8 * k as i32);
        }
        self.e.call_vectors(function, place, count);
        let count = self.e.b.ins().iadd(count, rest);
        if !foldings.is_empty() {
            let rest = self.k.lanes as i64 - 1;
            let blocks = self.e.b.ins().iadd_imm_s(count, rest);
            let shift = i64::from(self.k.lanes.trailing_zeros());
            let blocks = self.e.b.ins().ushr_imm_u(blocks, shift);
            for folding in foldings {
                folding.leave_blocks(self.e, blocks);
            }
        }
        self.e.advance(at, count);
        if let Some(turns) = turns {
            self.e.end_loop(turns);
        }
    }

    /// Stores the arguments of a row.
    pub(super) fn enter_arguments(
        &mut self,
        region: &Region,
        own: &VectorStage,
        place: Value,
        foldings: &[Folding],
    ) {
        let zero = self.e.i64(0);
        for (k, &argument) in own.arguments.iter().enumerate() {
            if !matches!(argument, Argument::Sets(_) | Argument::Turn(_) | Argument::Rest) {
                let value = self.argument(region, argument, zero, foldings);
                self.e.b.ins().store(crate::emit::flags(), value, place, 8 * k as i32);
            }
        }
    }

    /// The result of each fold of a row, which stands where the address of the sets would be.
    pub(super) fn results_of_row(
        &mut self,
        own: &VectorStage,
        place: Value,
        foldings: &[Folding],
    ) -> Vec<Value> {
        let mut made = Vec::new();
        for (of, folding) in foldings.iter().enumerate() {
            let at = own.arguments.iter().position(|&known| known == Argument::Sets(of));
            let at = 8 * at.expect("a fold has sets") as i32;
            made.push(self.e.load(folding.write.dtype, place, at));
        }
        made
    }

    /// A value that is the same along the row, as an argument: a bool as all bits.
    pub(super) fn uniform_argument(&mut self, k: usize) -> Value {
        let value = self.uniform_value(k);
        if self.k.dtype(k) != Dtype::Bool {
            return value;
        }
        let whole = self.e.b.ins().uextend(I64, value);
        self.e.b.ins().ineg(whole)
    }

    fn argument(
        &mut self,
        region: &Region,
        argument: Argument,
        from: Value,
        foldings: &[Folding],
    ) -> Value {
        match argument {
            Argument::Elements(of, dtype) => {
                let start = match of {
                    Elements::Read(k) => self.pointer(k),
                    Elements::Buffer(k) => self.pointer(self.buffer_pointer(k)),
                    Elements::Write(k) => self.pointer(self.write_pointer(k)),
                    Elements::Row(row) => self.indexed[&row].first(self.e),
                    Elements::Folded(_) => unreachable!("it is in columns of tiles alone"),
                    Elements::Slot(place) => {
                        let start = self.e.stack_address(region.slots[&place]);
                        let offset = self.e.b.ins().isub(from, region.chunk);
                        return self.element(start, dtype, offset);
                    }
                };
                self.element(start, dtype, from)
            }
            Argument::Uniform(k) => self.uniform_argument(k),
            Argument::Sets(of) => foldings[of].sets(self.e),
            Argument::Turn(of) => foldings[of].turn(self.e),
            Argument::Rest => unreachable!("it depends on how many elements a call takes"),
            Argument::OfRow(k) | Argument::Pointer(k) => self.pointer(k),
            Argument::Stride(k) => self.stride(k),
            Argument::RowBytes(size) => self.row_bytes(size),
            Argument::Number { pointer, at } => self.number_behind(pointer, at),
        }
    }
}

impl Folding {
    /// The elements up to the next time that partial sums are carried.
    fn room(&self, e: &mut crate::emit::Emitter) -> Value {
        let blocks = self.blocks(e);
        let done = e.b.ins().band_imm_u(blocks, CARRIED - 1);
        let all = e.i64(CARRIED);
        let left = e.b.ins().isub(all, done);
        e.b.ins().imul_imm_s(left, i64::from(self.lanes))
    }

    /// As [`Folding::room`], where the function carries sums to the second level: the elements up to the next time that
    /// those of the second are carried. It goes through whole turns of the sets, from the first one on, and the first
    /// time the kernel carries, which begins the higher levels.
    fn room_of_two_levels(&self, e: &mut crate::emit::Emitter) -> Value {
        let blocks = self.blocks(e);
        let done = e.b.ins().band_imm_u(blocks, CARRIED_TWICE - 1);
        let all = e.i64(CARRIED_TWICE);
        let left = e.b.ins().isub(all, done);
        let most = e.b.ins().imul_imm_s(left, i64::from(self.lanes));
        let room = self.room(e);
        let begun = e.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, blocks, CARRIED);
        let turn = e.b.ins().band_imm_u(blocks, i64::from(SETS - 1));
        let first = e.b.ins().icmp_imm_u(IntCC::Equal, turn, 0);
        let both = e.b.ins().band(begun, first);
        e.b.ins().select(both, most, room)
    }
}
