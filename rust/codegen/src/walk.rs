//! The code of a loop kernel: rows, the passes over each, and what happens to an element.

use crate::dtype::Dtype;
use crate::emit::{Emitter, suffix};
use crate::folding::{Folding, Target};
use crate::kernel::{Action, LoopKernel, Pass, Statement};
use crate::stages::{Call, Place, Stages};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;

/// The status of an index out of bounds.
const OUT_OF_BOUNDS: i64 = 2;
/// The status of a row that was told to stop.
const STOPPED: i64 = 4;

/// The most elements of a chunk, and the bytes that the stack of a chunk should not exceed.
const CHUNK: u32 = 1024;
const CHUNK_BYTES: u32 = 24 * 1024;

/// Elements of a row after which a kernel that takes whole rows asks whether to stop.
const PATIENCE: u32 = 1 << 16;

/// Statements up to which a turn of a loop does several registers.
const FEW: usize = 4;
const SOME: usize = 12;

/// Writes a loop kernel.
pub(crate) struct Walk<'k, 'e, 'f> {
    e: &'e mut Emitter<'f>,
    k: &'k LoopKernel,
    pointers: Vec<Variable>,
    strides: Value,
    n_inner: Value,
    /// The values that are the same along the row, where they are known.
    uniform: Vec<Option<Value>>,
    cumulated: BTreeMap<usize, Variable>,
}

/// The part of a row that is being walked, in one stage of a pass.
struct Region<'p> {
    pass: &'p Pass,
    stages: &'p Stages,
    stage: usize,
    slots: &'p BTreeMap<Place, StackSlot>,
    /// The first element of the chunk.
    chunk: Value,
    /// The values that other stages, reads or the row give.
    given: Vec<usize>,
}

/// Where a turn of a loop is.
struct Turn {
    /// The first element.
    at: Value,
    /// The element of the row that the block begins with, and the sets of each folding.
    block: Option<(Value, Vec<Value>)>,
    /// How many registers, or elements, it does.
    count: u32,
}

pub(crate) fn write_loop(e: &mut Emitter, kernel: &LoopKernel) {
    let [pointers, n_outer, n_inner, strides] = e.enter();
    let least = if kernel.takes_rows { 0 } else { 1 };
    let no_rows = e.b.ins().icmp_imm_s(IntCC::SignedLessThan, n_outer, 1);
    let no_elements = e.b.ins().icmp_imm_s(IntCC::SignedLessThan, n_inner, least);
    let nothing = e.b.ins().bor(no_rows, no_elements);
    e.fail_if(nothing, 0, |_| {});
    let count = kernel.reads.len() + kernel.sources.len() + kernel.writes.len() + kernel.puts.len();
    let tables = kernel.sources.len() + kernel.puts.len();
    let all = count + tables + usize::from(tables > 0) + kernel.buffers.len();
    let pointers = (0..all)
        .map(|k| {
            let pointer = e.b.ins().load(I64, crate::emit::flags(), pointers, 8 * k as i32);
            e.variable(I64, pointer)
        })
        .collect();
    let values = kernel.first() + kernel.statements.len();
    let mut walk = Walk {
        e,
        k: kernel,
        pointers,
        strides,
        n_inner,
        uniform: vec![None; values],
        cumulated: BTreeMap::new(),
    };
    walk.rows(n_outer, count);
}

impl Walk<'_, '_, '_> {
    // ------------------------------------------------------------ rows

    fn rows(&mut self, n_outer: Value, moving: usize) {
        let kernel = self.k;
        let foldings: Vec<Vec<Folding>> =
            kernel.passes.iter().map(|pass| self.foldings(pass)).collect();
        let totals: Vec<Vec<Option<Value>>> = foldings
            .iter()
            .map(|of_pass| of_pass.iter().map(|own| self.total(own, n_outer)).collect())
            .collect();
        let zero = self.e.i64(0);
        let row = self.e.variable(I64, zero);
        let rows = self.e.begin_loop(|e| {
            let row = e.b.use_var(row);
            e.b.ins().icmp(IntCC::SignedLessThan, row, n_outer)
        });
        for (k, read) in kernel.reads.iter().enumerate() {
            if !read.inner {
                let pointer = self.pointer(k);
                self.uniform[k] = Some(self.e.load(read.dtype, pointer, 0));
            }
        }
        for (at, pass) in kernel.passes.iter().enumerate() {
            for &k in &pass.uniform {
                let made = self.uniform_statement(k);
                self.uniform[k] = Some(made);
            }
            self.pass(pass, &foldings[at], &totals[at]);
        }
        for (k, write) in kernel.writes.iter().enumerate().filter(|(_, own)| !own.walks()) {
            let value = self.uniform_value(write.value);
            let value = self.e.convert(value, kernel.dtype(write.value), write.dtype);
            let pointer = self.pointer(self.write_pointer(k));
            self.e.store(write.dtype, value, pointer, 0);
        }
        for k in 0..moving {
            let stride = self.stride(k);
            self.e.advance(self.pointers[k], stride);
        }
        let one = self.e.i64(1);
        self.e.advance(row, one);
        self.e.end_loop(rows);
        let status = self.e.status();
        self.e.b.ins().return_(&[status]);
    }

    fn pointer(&mut self, k: usize) -> Value {
        self.e.b.use_var(self.pointers[k])
    }

    fn stride(&mut self, k: usize) -> Value {
        self.e.b.ins().load(I64, crate::emit::flags(), self.strides, 8 * k as i32)
    }

    fn source_pointer(&self, k: usize) -> usize {
        self.k.reads.len() + k
    }

    fn write_pointer(&self, k: usize) -> usize {
        self.source_pointer(self.k.sources.len()) + k
    }

    fn put_pointer(&self, k: usize) -> usize {
        self.write_pointer(self.k.writes.len()) + k
    }

    /// The table of a source; those of puts follow.
    fn table_pointer(&self, k: usize) -> usize {
        self.put_pointer(self.k.puts.len()) + k
    }

    fn report_pointer(&self) -> usize {
        self.table_pointer(self.k.sources.len() + self.k.puts.len())
    }

    fn buffer_pointer(&self, value: usize) -> usize {
        let tables = self.k.sources.len() + self.k.puts.len();
        let at = self.k.buffers.iter().position(|&own| own == value);
        self.report_pointer() + usize::from(tables > 0) + at.expect("a kernel was verified")
    }

    // ------------------------------------------------------------ what is the same along the row

    fn uniform_value(&mut self, k: usize) -> Value {
        let reads = self.k.reads.len();
        if (reads..self.k.first()).contains(&k) {
            let own = &self.k.literals[k - reads];
            return self.e.constant(own.dtype, own.bits);
        }
        self.uniform[k].expect("a kernel was verified")
    }

    fn uniform_statement(&mut self, k: usize) -> Value {
        let own = self.k.at(k);
        let args: Vec<Value> = own.args.iter().map(|&a| self.uniform_value(a)).collect();
        match own.action {
            Action::Take(source) => {
                let zero = self.e.i64(0);
                self.take(own, source, &args, zero)
            }
            Action::Op(op) => {
                let from: Vec<Dtype> = own.args.iter().map(|&a| self.k.dtype(a)).collect();
                self.e.apply(op, &from, &own.operands, own.dtype, &args)
            }
            Action::Loop { .. } => self.loop_results(k, &args),
            Action::Cumulate(_) | Action::Fold(_) => unreachable!("a kernel was verified"),
        }
    }

    // ------------------------------------------------------------ folds

    fn foldings(&mut self, pass: &Pass) -> Vec<Folding> {
        let lanes = self.k.lanes as u32;
        let mut made = Vec::new();
        for &k in &pass.writes {
            let write = &self.k.writes[k];
            if write.reduce.is_some() && !write.inner {
                let own = Folding::new(self.e, Target::Write(k), write.clone(), lanes);
                own.start(self.e);
                made.push(own);
            }
        }
        for &k in &pass.folds {
            let write = self.k.fold_as_write(k).expect("a kernel was verified");
            made.push(Folding::new(self.e, Target::Value(k), write, lanes));
        }
        made
    }

    /// How many blocks are folded before the output moves on.
    fn total(&mut self, own: &Folding, n_outer: Value) -> Option<Value> {
        let Target::Write(k) = own.target else { return None };
        let last = self.e.b.ins().iadd_imm_s(self.n_inner, -1);
        let zero = self.e.i64(0);
        let last = self.e.b.ins().smax(last, zero);
        let shift = i64::from(self.k.lanes.trailing_zeros());
        let blocks = self.e.b.ins().ushr_imm_u(last, shift);
        let of_row = self.e.b.ins().iadd_imm_s(blocks, 1);
        let stride = self.stride(self.write_pointer(k));
        let of_all = self.e.b.ins().imul(of_row, n_outer);
        let stays = self.e.b.ins().icmp_imm_s(IntCC::Equal, stride, 0);
        Some(self.e.b.ins().select(stays, of_all, of_row))
    }

    fn end_folding(&mut self, own: &Folding, total: Option<Value>) {
        match own.target {
            Target::Value(k) => {
                let start = self.k.at(k).args[0];
                let start = self.uniform_value(start);
                let made = own.total(self.e);
                self.uniform[k] = Some(self.e.fold(own.reduce, own.write.dtype, start, made));
            }
            Target::Write(k) => {
                let total = total.expect("folds of writes have one");
                let pointer = self.pointer(self.write_pointer(k));
                let due = own.is_at(self.e, total);
                self.e.when(due, |e| {
                    let made = own.total(e);
                    let so_far = e.load(own.write.dtype, pointer, 0);
                    let both = e.fold(own.reduce, own.write.dtype, so_far, made);
                    e.store(own.write.dtype, both, pointer, 0);
                    own.start(e);
                });
            }
        }
    }

    // ------------------------------------------------------------ one pass

    fn pass(&mut self, pass: &Pass, foldings: &[Folding], totals: &[Option<Value>]) {
        for &k in &pass.varying {
            let own = self.k.at(k);
            if let Action::Cumulate(reduce) = own.action {
                let empty = self.e.constant(own.dtype, reduce.identity(own.dtype));
                let variable = self.e.variable(own.dtype.ir(), empty);
                self.cumulated.insert(k, variable);
            }
        }
        for own in foldings.iter().filter(|own| matches!(own.target, Target::Value(_))) {
            own.start(self.e);
        }
        let nothing = pass.writes.is_empty() && pass.stores.is_empty() && pass.puts.is_empty();
        if !(nothing && foldings.is_empty()) {
            self.chunks(pass, foldings);
        }
        for (own, &total) in foldings.iter().zip(totals) {
            self.end_folding(own, total);
        }
    }

    /// Goes along the row, in chunks if the pass has several stages.
    fn chunks(&mut self, pass: &Pass, foldings: &[Folding]) {
        let stages = Stages::of(self.k, pass);
        let zero = self.e.i64(0);
        if stages.last() == 0 && !self.k.takes_rows {
            self.stage(pass, &stages, 0, &BTreeMap::new(), zero, self.n_inner, foldings);
            return;
        }
        let bytes: u32 = stages.kept.values().map(|dtype| dtype.size()).sum();
        let fitting = (CHUNK_BYTES / bytes.max(1)).next_power_of_two() / 2;
        let length = if stages.last() == 0 { PATIENCE } else { fitting.clamp(64, CHUNK) };
        let slots: BTreeMap<Place, StackSlot> = stages
            .kept
            .iter()
            .map(|(&place, dtype)| (place, self.e.stack(length * dtype.size())))
            .collect();
        let at = self.e.variable(I64, zero);
        let n_inner = self.n_inner;
        let own = self.e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp(IntCC::SignedLessThan, at, n_inner)
        });
        let from = self.e.b.use_var(at);
        if self.k.takes_rows {
            self.ask(from);
        }
        let step = self.e.i64(i64::from(length));
        let whole = self.e.b.ins().iadd(from, step);
        let to = self.e.b.ins().smin(whole, n_inner);
        for stage in 0..=stages.last() {
            let own = if stage == stages.last() { foldings } else { &[] };
            self.stage(pass, &stages, stage, &slots, from, to, own);
            for call in &stages.calls[stage] {
                self.call_function(call, &slots, from, to);
            }
        }
        self.e.advance(at, step);
        self.e.end_loop(own);
    }

    /// Leaves the kernel if it is to stop; asks each time that it has gone through many elements.
    fn ask(&mut self, from: Value) {
        let rest = self.e.b.ins().band_imm_u(from, i64::from(PATIENCE - 1));
        let due = self.e.b.ins().icmp_imm_u(IntCC::Equal, rest, 0);
        let begun = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, from, 0);
        let asks = self.e.b.ins().band(due, begun);
        self.e.when(asks, |e| {
            let stops = e.ask("loop_stops", I32);
            let stops = e.b.ins().icmp_imm_u(IntCC::NotEqual, stops, 0);
            e.fail_if(stops, STOPPED, |_| {});
        });
    }

    /// Calls a function for all elements of a chunk.
    fn call_function(
        &mut self,
        call: &Call,
        slots: &BTreeMap<Place, StackSlot>,
        from: Value,
        to: Value,
    ) {
        let own = self.k.at(call.value);
        let Action::Op(op) = own.action else { unreachable!("only ops are called") };
        let mut args = vec![self.e.stack_address(slots[&Place::Value(call.value)])];
        for (&place, dtype) in call.from.iter().zip(&own.operands) {
            let address = match place {
                Place::Read(k) => self.pointer(k),
                Place::Buffer(k) => self.pointer(self.buffer_pointer(k)),
                kept => {
                    args.push(self.e.stack_address(slots[&kept]));
                    continue;
                }
            };
            let shift = i64::from(dtype.size().trailing_zeros());
            let offset = self.e.b.ins().ishl_imm_u(from, shift);
            args.push(self.e.b.ins().iadd(address, offset));
        }
        args.push(self.e.b.ins().isub(to, from));
        let name = format!("{}_many_{}", op.name(), suffix(own.dtype.ir()));
        self.e.call(&name, None, &args);
    }

    // ------------------------------------------------------------ one stage

    #[expect(clippy::too_many_arguments, reason = "where it is, and what of the pass")]
    fn stage(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        stage: usize,
        slots: &BTreeMap<Place, StackSlot>,
        from: Value,
        to: Value,
        foldings: &[Folding],
    ) {
        let given = self.given(pass, stages, stage);
        let region = Region { pass, stages, stage, slots, chunk: from, given };
        if !self.does_anything(&region, foldings) {
            return;
        }
        let size = self.register_size(&region, foldings);
        let simple = self.is_simple(&region);
        let at = self.e.variable(I64, from);
        if foldings.is_empty() {
            let count = if simple { self.unrolled(&region) } else { 1 };
            self.turns(&region, at, to, size, count, None, foldings);
            if size.is_some() || count > 1 {
                self.turns(&region, at, to, None, 1, None, foldings);
            }
            return;
        }
        let lanes = self.e.i64(self.k.lanes as i64);
        let whole = self.e.begin_loop(|e| {
            let start = e.b.use_var(at);
            let end = e.b.ins().iadd(start, lanes);
            e.b.ins().icmp(IntCC::SignedLessThanOrEqual, end, to)
        });
        let (start, sets) = self.enter_block(at, foldings);
        let end = self.e.b.ins().iadd(start, lanes);
        let count = if simple { self.unrolled(&region) } else { 1 };
        let registers = self.k.lanes as u32 / size.map_or(1, |size| crate::emit::REGISTER / size);
        let count = count.min(registers);
        if registers == count {
            let turn = Turn { at: start, block: Some((start, sets)), count };
            self.turn_of(&region, &turn, size, foldings);
            self.e.b.def_var(at, end);
        } else {
            self.turns(&region, at, end, size, count, Some((start, sets)), foldings);
        }
        for own in foldings {
            own.leave_block(self.e);
        }
        self.e.end_loop(whole);
        let start = self.e.b.use_var(at);
        let left = self.e.b.ins().icmp(IntCC::SignedLessThan, start, to);
        let (then, after) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.ins().brif(left, then, &[], after, &[]);
        self.e.b.switch_to_block(then);
        self.e.b.seal_block(then);
        let block = self.enter_block(at, foldings);
        self.turns(&region, at, to, None, 1, Some(block), foldings);
        for own in foldings {
            own.leave_block(self.e);
        }
        self.e.b.ins().jump(after, &[]);
        self.e.b.switch_to_block(after);
        self.e.b.seal_block(after);
    }

    fn enter_block(&mut self, at: Variable, foldings: &[Folding]) -> (Value, Vec<Value>) {
        let start = self.e.b.use_var(at);
        (start, foldings.iter().map(|own| own.enter_block(self.e)).collect())
    }

    fn does_anything(&self, region: &Region, foldings: &[Folding]) -> bool {
        let last = region.stage == region.stages.last();
        let writes = last
            && !(region.pass.writes.is_empty()
                && region.pass.stores.is_empty()
                && region.pass.puts.is_empty());
        let operands = region.stages.calls[region.stage]
            .iter()
            .any(|call| call.from.iter().any(|place| matches!(place, Place::Operand { .. })));
        let kept = region.stages.computed[region.stage]
            .iter()
            .any(|&k| region.stages.kept.contains_key(&Place::Value(k)));
        writes || operands || kept || !foldings.is_empty()
    }

    /// The values that the stage uses and does not compute.
    fn given(&self, pass: &Pass, stages: &Stages, stage: usize) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        for &k in &stages.computed[stage] {
            used.extend(&self.k.at(k).args);
        }
        for call in &stages.calls[stage] {
            for (place, &a) in call.from.iter().zip(&self.k.at(call.value).args) {
                if matches!(place, Place::Operand { .. }) {
                    used.push(a);
                }
            }
        }
        if stage == stages.last() {
            used.extend(pass.writes.iter().map(|&w| self.k.writes[w].value));
            used.extend(pass.folds.iter().map(|&k| self.k.at(k).args[1]));
            used.extend(&pass.stores);
            for &put in &pass.puts {
                used.extend(&self.k.puts[put].args);
                used.push(self.k.puts[put].value);
            }
        }
        used.sort_unstable();
        used.dedup();
        used.retain(|k| !stages.computed[stage].contains(k));
        used
    }

    /// The bytes of the elements of a stage whose values are all as wide; `None` if they go one by
    /// one.
    fn register_size(&self, region: &Region, foldings: &[Folding]) -> Option<u32> {
        let mut dtypes: Vec<Dtype> = Vec::new();
        for &k in &region.stages.computed[region.stage] {
            let own = self.k.at(k);
            if !matches!(own.action, Action::Op(_)) {
                return None;
            }
            dtypes.push(own.dtype);
            dtypes.extend(&own.operands);
        }
        dtypes.extend(region.given.iter().map(|&k| self.k.dtype(k)));
        for call in &region.stages.calls[region.stage] {
            dtypes.extend(&self.k.at(call.value).operands);
        }
        if region.stage == region.stages.last() {
            if !region.pass.puts.is_empty() {
                return None;
            }
            dtypes.extend(region.pass.writes.iter().map(|&w| self.k.writes[w].dtype));
        }
        for own in foldings {
            if own.write.dtype == Dtype::Bool {
                return None;
            }
            dtypes.push(own.write.dtype);
        }
        dtypes.retain(|&dtype| dtype != Dtype::Bool);
        let size = dtypes.first()?.size();
        let fits = size >= 4 && dtypes.iter().all(|dtype| dtype.size() == size);
        let lanes = crate::emit::REGISTER / size;
        (fits && self.k.lanes as u32 >= lanes).then_some(size)
    }

    /// Whether several elements may take each step together.
    fn is_simple(&self, region: &Region) -> bool {
        let ops = region.stages.computed[region.stage].iter();
        let mut ops = ops.map(|&k| self.k.at(k).action);
        region.pass.puts.is_empty() && ops.all(|action| matches!(action, Action::Op(_)))
    }

    /// How many registers, or elements, a turn does.
    fn unrolled(&self, region: &Region) -> u32 {
        match region.stages.computed[region.stage].len() {
            0..=FEW => 4,
            n if n <= SOME => 2,
            _ => 1,
        }
    }

    /// Turns as long as whole ones fit before `to`.
    #[expect(clippy::too_many_arguments, reason = "where it is, and how it goes on")]
    fn turns(
        &mut self,
        region: &Region,
        at: Variable,
        to: Value,
        size: Option<u32>,
        count: u32,
        block: Option<(Value, Vec<Value>)>,
        foldings: &[Folding],
    ) {
        let lanes = size.map_or(1, |size| crate::emit::REGISTER / size);
        let step = self.e.i64(i64::from(lanes * count));
        let own = self.e.begin_loop(|e| {
            let from = e.b.use_var(at);
            let end = e.b.ins().iadd(from, step);
            e.b.ins().icmp(IntCC::SignedLessThanOrEqual, end, to)
        });
        let from = self.e.b.use_var(at);
        let turn = Turn { at: from, block, count };
        self.turn_of(region, &turn, size, foldings);
        self.e.advance(at, step);
        self.e.end_loop(own);
    }

    fn turn_of(&mut self, region: &Region, turn: &Turn, size: Option<u32>, foldings: &[Folding]) {
        self.e.wide = size;
        self.turn(region, turn, foldings);
        self.e.wide = None;
    }

    // ------------------------------------------------------------ one turn

    fn turn(&mut self, region: &Region, turn: &Turn, foldings: &[Folding]) {
        let kernel = self.k;
        let mut values: Vec<Vec<Value>> =
            vec![Vec::new(); kernel.first() + kernel.statements.len()];
        for &k in &region.given {
            values[k] = self.given_values(region, turn, k);
        }
        for &k in &region.stages.computed[region.stage] {
            values[k] = self.computed(k, turn, &values);
            if region.stages.kept.contains_key(&Place::Value(k)) {
                let slot = region.slots[&Place::Value(k)];
                let address = self.slot_address(slot, kernel.dtype(k), region, turn);
                self.store_all(kernel.dtype(k), &values[k], address);
            }
        }
        for call in &region.stages.calls[region.stage] {
            let own = kernel.at(call.value);
            for (at, &place) in call.from.iter().enumerate() {
                if matches!(place, Place::Operand { .. }) {
                    let (a, to) = (own.args[at], own.operands[at]);
                    let given = self.converted(&values[a], kernel.dtype(a), to);
                    let address = self.slot_address(region.slots[&place], to, region, turn);
                    self.store_all(to, &given, address);
                }
            }
        }
        if region.stage == region.stages.last() {
            self.ended(region, turn, &values, foldings);
        }
    }

    /// Stores, folds and writes.
    fn ended(&mut self, region: &Region, turn: &Turn, values: &[Vec<Value>], foldings: &[Folding]) {
        let kernel = self.k;
        for &k in &region.pass.stores {
            let pointer = self.pointer(self.buffer_pointer(k));
            let address = self.element(pointer, kernel.dtype(k), turn.at);
            self.store_all(kernel.dtype(k), &values[k], address);
        }
        if let Some((start, sets)) = &turn.block {
            for (own, &set) in foldings.iter().zip(sets) {
                let dtype = own.write.dtype;
                let value = own.write.value;
                let given = self.converted(&values[value], kernel.dtype(value), dtype);
                let offset = self.e.b.ins().isub(turn.at, *start);
                let address = self.element(set, dtype, offset);
                self.fold_all(own.reduce, dtype, &given, address);
            }
        }
        for &k in &region.pass.writes {
            let write = &kernel.writes[k];
            if !write.inner {
                continue;
            }
            let value = write.value;
            let given = self.converted(&values[value], kernel.dtype(value), write.dtype);
            let pointer = self.pointer(self.write_pointer(k));
            let address = self.element(pointer, write.dtype, turn.at);
            match write.reduce {
                None => self.store_all(write.dtype, &given, address),
                Some(reduce) => self.fold_all(reduce, write.dtype, &given, address),
            }
        }
        self.puts(region.pass, values, turn.at);
    }

    /// The address of the element at `index` behind a pointer.
    fn element(&mut self, pointer: Value, dtype: Dtype, index: Value) -> Value {
        let shift = i64::from(dtype.size().trailing_zeros());
        let offset = self.e.b.ins().ishl_imm_u(index, shift);
        self.e.b.ins().iadd(pointer, offset)
    }

    fn slot_address(
        &mut self,
        slot: StackSlot,
        dtype: Dtype,
        region: &Region,
        turn: &Turn,
    ) -> Value {
        let place = self.e.stack_address(slot);
        let offset = self.e.b.ins().isub(turn.at, region.chunk);
        self.element(place, dtype, offset)
    }

    /// The bytes from one register, or element, to the next.
    fn step(&self, dtype: Dtype) -> u32 {
        self.e.lanes() * dtype.size()
    }

    fn load_all(&mut self, dtype: Dtype, address: Value, count: u32) -> Vec<Value> {
        let step = self.step(dtype);
        (0..count).map(|n| self.e.load(dtype, address, (n * step) as i32)).collect()
    }

    fn store_all(&mut self, dtype: Dtype, values: &[Value], address: Value) {
        let step = self.step(dtype) as i32;
        for (n, &value) in values.iter().enumerate() {
            self.e.store(dtype, value, address, n as i32 * step);
        }
    }

    fn fold_all(
        &mut self,
        reduce: crate::op::Reduction,
        dtype: Dtype,
        values: &[Value],
        address: Value,
    ) {
        let step = self.step(dtype) as i32;
        for (n, &value) in values.iter().enumerate() {
            let so_far = self.e.load(dtype, address, n as i32 * step);
            let folded = self.e.fold(reduce, dtype, so_far, value);
            self.e.store(dtype, folded, address, n as i32 * step);
        }
    }

    fn converted(&mut self, values: &[Value], from: Dtype, to: Dtype) -> Vec<Value> {
        values.iter().map(|&value| self.e.convert(value, from, to)).collect()
    }

    /// A value that is not computed in this stage.
    fn given_values(&mut self, region: &Region, turn: &Turn, k: usize) -> Vec<Value> {
        let dtype = self.k.dtype(k);
        let address = if region.pass.reads.contains(&k) {
            let pointer = self.pointer(k);
            self.element(pointer, dtype, turn.at)
        } else if region.pass.loads.contains(&k) {
            let pointer = self.pointer(self.buffer_pointer(k));
            self.element(pointer, dtype, turn.at)
        } else if region.stages.waits(k, region.stage) {
            self.slot_address(region.slots[&Place::Value(k)], dtype, region, turn)
        } else {
            let wide = self.e.wide.take();
            let one = self.uniform_value(k);
            self.e.wide = wide;
            let all = self.e.spread(dtype, one);
            return vec![all; turn.count as usize];
        };
        self.load_all(dtype, address, turn.count)
    }

    fn computed(&mut self, k: usize, turn: &Turn, values: &[Vec<Value>]) -> Vec<Value> {
        let own = self.k.at(k);
        let from: Vec<Dtype> = own.args.iter().map(|&a| self.k.dtype(a)).collect();
        (0..turn.count as usize)
            .map(|n| {
                let args: Vec<Value> = own.args.iter().map(|&a| values[a][n]).collect();
                match own.action {
                    Action::Op(op) => self.e.apply(op, &from, &own.operands, own.dtype, &args),
                    Action::Take(source) => self.take(own, source, &args, turn.at),
                    Action::Cumulate(reduce) => {
                        let value = self.e.convert(args[0], from[0], own.dtype);
                        let variable = self.cumulated[&k];
                        let so_far = self.e.b.use_var(variable);
                        let folded = self.e.fold(reduce, own.dtype, so_far, value);
                        self.e.b.def_var(variable, folded);
                        folded
                    }
                    Action::Loop { .. } => self.loop_results(k, &args),
                    Action::Fold(_) => unreachable!("a kernel was verified"),
                }
            })
            .collect()
    }

    fn loop_results(&mut self, k: usize, args: &[Value]) -> Value {
        let own = self.k.at(k);
        let Action::Loop { of, at } = own.action else { unreachable!("it is one") };
        let from: Vec<Dtype> = own.args.iter().map(|&a| self.k.dtype(a)).collect();
        let given: Vec<Value> =
            (0..args.len()).map(|n| self.e.convert(args[n], from[n], own.operands[n])).collect();
        self.e.element_loop(&self.k.bodies[of], &given)[at]
    }

    // ------------------------------------------------------------ indices

    /// The element of a source at checked indices.
    fn take(&mut self, own: &Statement, source: usize, args: &[Value], element: Value) -> Value {
        let first: usize = self.k.sources[..source].iter().map(|own| own.indices).sum();
        let from: Vec<Dtype> = own.args.iter().map(|&a| self.k.dtype(a)).collect();
        let pointer = self.pointer(self.source_pointer(source));
        let table = self.pointer(self.table_pointer(source));
        let inner = self.k.sources[source].inner;
        let address = self.place(pointer, table, &from, args, first, inner.then_some(element));
        self.e.load(own.dtype, address, 0)
    }

    fn puts(&mut self, pass: &Pass, values: &[Vec<Value>], element: Value) {
        let mut first: usize = self.k.sources.iter().map(|own| own.indices).sum();
        for &k in &pass.puts {
            let put = &self.k.puts[k];
            let from: Vec<Dtype> = put.args.iter().map(|&a| self.k.dtype(a)).collect();
            let args: Vec<Value> = put.args.iter().map(|&a| values[a][0]).collect();
            let pointer = self.pointer(self.put_pointer(k));
            let table = self.pointer(self.table_pointer(self.k.sources.len() + k));
            let address =
                self.place(pointer, table, &from, &args, first, put.inner.then_some(element));
            first += put.args.len();
            let value = values[put.value][0];
            let value = self.e.convert(value, self.k.dtype(put.value), put.dtype);
            match put.reduce {
                None => self.e.store(put.dtype, value, address, 0),
                Some(reduce) => self.fold_all(reduce, put.dtype, &[value], address),
            }
        }
    }

    /// Where indices point, the first of which is number `first` of the kernel.
    fn place(
        &mut self,
        pointer: Value,
        table: Value,
        from: &[Dtype],
        args: &[Value],
        first: usize,
        element: Option<Value>,
    ) -> Value {
        let flags = crate::emit::flags();
        let report = self.pointer(self.report_pointer());
        let mut address = pointer;
        for (j, (&arg, &dtype)) in args.iter().zip(from).enumerate() {
            let given = self.e.convert(arg, dtype, Dtype::Int64);
            let length = self.e.b.ins().load(I64, flags, table, 8 * (2 * j as i32 + 1));
            let stride = self.e.b.ins().load(I64, flags, table, 8 * (2 * j as i32 + 2));
            let negative = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, given, 0);
            let from_end = self.e.b.ins().iadd(given, length);
            let index = self.e.b.ins().select(negative, from_end, given);
            let outside = self.e.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
            self.e.fail_if(outside, OUT_OF_BOUNDS, |e| {
                let number = e.i64((first + j) as i64);
                e.b.ins().store(flags, number, report, 0);
                e.b.ins().store(flags, given, report, 8);
            });
            let offset = self.e.b.ins().imul(index, stride);
            address = self.e.b.ins().iadd(address, offset);
        }
        if let Some(element) = element {
            let stride = self.e.b.ins().load(I64, flags, table, 0);
            let offset = self.e.b.ins().imul(element, stride);
            address = self.e.b.ins().iadd(address, offset);
        }
        address
    }
}
