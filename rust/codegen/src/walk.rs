//! The code of a loop kernel: rows, the passes over each row, and the body for an element.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use crate::kernel::{Action, LoopKernel, Pass};
use crate::registers::Registers;
use crate::row_folds::{Folding, Target};
use crate::stages::{Call, OperandPlace, Stages};
use crate::walk::chosen_elements::{ChosenElements, Chunk};
use crate::walk::indexed_row::{Indexed, IndexedRow};
use crate::walk::row_tiles::TileRoom;
use crate::walk::vector_stage::VectorStage;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;

mod chosen_elements;
mod element_loop;
mod indexed_row;
mod row_tiles;
mod short_row;
mod stage;
mod tile_plan;
mod turn;
mod vector_loop;
mod vector_stage;
mod walked_rows;

/// The status of a row that was told to stop.
const STOPPED: i64 = 4;

/// The most elements of a chunk, and the bytes that the stack of a chunk should not exceed.
const CHUNK: u32 = 1024;
const CHUNK_BYTES: u32 = 24 * 1024;

/// The bytes that a value has in a short chunk.
const SHORT_BYTES: u32 = 512;

/// Elements of a row after which a kernel that takes whole rows asks whether to stop.
const PATIENCE: u32 = 1 << 16;

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
    /// The rows that indices choose in this pass.
    indexed: BTreeMap<Indexed, IndexedRow>,
    /// Given where indices of the row choose elements of this pass, and these go by vectors.
    chosen: Option<ChosenElements>,
    /// The functions of the loops of this pass that are called.
    loops: BTreeMap<usize, Vec<u8>>,
    /// Whether short rows are taken apart from others, by a function of all rows.
    has_rows: bool,
    /// Given in a tile of rows.
    tile: Option<TileRoom>,
}

pub(crate) fn write_loop(e: &mut Emitter, kernel: &LoopKernel) {
    let [pointers, n_outer, n_inner, strides] = e.enter();
    // Such rows are many, and may be short: what goes on between their passes takes time.
    e.is_hot = kernel.takes_rows;
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
        indexed: BTreeMap::new(),
        chosen: None,
        loops: BTreeMap::new(),
        has_rows: false,
        tile: None,
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
        if let Some(of_pass) = foldings.first() {
            self.walked_rows(n_outer, moving, of_pass);
        }
        let done = self.tiles(n_outer, moving, &foldings, &totals);
        let row = self.e.variable(I64, done);
        let rows = self.e.begin_outer_loop(|e| {
            let row = e.b.use_var(row);
            e.b.ins().icmp(IntCC::SignedLessThan, row, n_outer)
        });
        self.uniform_reads();
        for (at, pass) in kernel.passes.iter().enumerate() {
            self.uniform_statements(pass);
            self.pass(pass, &foldings[at], &totals[at]);
        }
        self.uniform_writes();
        self.next_row(moving);
        let one = self.e.i64(1);
        self.e.advance(row, one);
        self.e.end_loop(rows);
        let status = self.e.status();
        self.e.b.ins().return_(&[status]);
    }

    /// Reads what is the same along the row.
    fn uniform_reads(&mut self) {
        let kernel = self.k;
        for (k, read) in kernel.reads.iter().enumerate() {
            if !read.inner {
                let pointer = self.pointer(k);
                self.uniform[k] = Some(self.e.load(read.dtype, pointer, 0));
            }
        }
    }

    fn uniform_statements(&mut self, pass: &Pass) {
        for &k in &pass.uniform {
            let made = self.uniform_statement(k);
            self.uniform[k] = Some(made);
        }
    }

    fn uniform_writes(&mut self) {
        let kernel = self.k;
        for (k, write) in kernel.writes.iter().enumerate().filter(|(_, own)| !own.walks()) {
            let value = self.uniform_value(write.value);
            let value = self.e.convert(value, kernel.dtype(write.value), write.dtype);
            let pointer = self.pointer(self.write_pointer(k));
            self.e.store(write.dtype, value, pointer, 0);
        }
    }

    /// Lets so many operands move on to the next row.
    fn next_row(&mut self, moving: usize) {
        for k in 0..moving {
            let stride = self.stride(k);
            self.e.advance(self.pointers[k], stride);
        }
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

    fn are_uniform(&self, values: &[usize]) -> bool {
        let literals = self.k.reads.len()..self.k.first();
        values.iter().all(|&k| literals.contains(&k) || self.uniform[k].is_some())
    }

    fn uniform_value(&mut self, k: usize) -> Value {
        let reads = self.k.reads.len();
        if (reads..self.k.first()).contains(&k) {
            let own = &self.k.literals[k - reads];
            return self.e.constant(own.dtype, own.bits);
        }
        self.uniform[k].or_else(|| self.kept_in_tile(k)).expect("a kernel was verified")
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
            Action::Loop { of, at } => self.loop_of_one(of, at, own, &args),
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

    /// The number of blocks that are folded before the output moves on.
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

    fn end_folding(&mut self, own: &Folding, total: Option<Value>, result: Option<Variable>) {
        match own.target {
            Target::Value(_) => {
                let made = own.total(self.e, self.n_inner);
                self.end_fold(own, made, result);
            }
            Target::Write(k) => {
                let total = total.expect("folds of writes have one");
                let pointer = self.pointer(self.write_pointer(k));
                let (due, n_inner) = (own.is_at(self.e, total), self.n_inner);
                self.e.when(due, |e| {
                    let made = own.total(e, n_inner);
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
        let nothing = pass.writes.is_empty() && pass.stores.is_empty() && pass.puts.is_empty();
        if nothing && foldings.is_empty() {
            return;
        }
        self.enter_indexed_rows(pass);
        let (stages, mut vectors) = self.staged(pass, foldings);
        let results = self.fold_variables(&vectors, foldings);
        let short = self.short_row(pass, &stages, &mut vectors, foldings, &results);
        for own in foldings.iter().filter(|own| matches!(own.target, Target::Value(_))) {
            own.start(self.e);
        }
        self.chunks(pass, &stages, vectors, foldings);
        for (at, own) in foldings.iter().enumerate() {
            self.end_folding(own, totals[at], results[at]);
        }
        if let Some(short) = short {
            self.e.end_if(short);
        }
        for (own, result) in foldings.iter().zip(results) {
            if let (Target::Value(k), Some(result)) = (own.target, result) {
                self.uniform[k] = Some(self.e.b.use_var(result));
            }
        }
    }

    /// Goes along the row, in chunks if the pass has several stages.
    fn chunks(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        mut vectors: Vec<Option<VectorStage>>,
        foldings: &[Folding],
    ) {
        let zero = self.e.i64(0);
        let chosen = self.chosen.take();
        if stages.last() == 0 && !self.k.takes_rows && chosen.is_none() {
            let own = vectors.pop().flatten();
            self.stage(pass, stages, 0, own, &BTreeMap::new(), zero, self.n_inner, foldings);
            return;
        }
        // Elements go one by one, too, where their indices have to be looked at each.
        let others = chosen.as_ref().map(|_| Stages::of(self.k, pass, |_| false, |_| false));
        let kept = others.iter().chain([stages]).flat_map(|own| own.kept.values());
        let (bytes, count) = kept.fold((0, 0), |(all, n), dtype| (all + dtype.size(), n + 1));
        let is_short = chosen.is_none() && foldings.is_empty() && self.takes_short_chunks();
        let room = if is_short { SHORT_BYTES * count } else { CHUNK_BYTES };
        let fitting = (room / bytes.max(1) + 1).next_power_of_two() / 2;
        let is_whole = stages.last() == 0 && chosen.is_none();
        let length = if is_whole { PATIENCE } else { fitting.clamp(64, CHUNK) };
        let slots = self.slots(stages, length);
        let at = self.e.variable(I64, zero);
        let n_inner = self.n_inner;
        let own = self.e.begin_outer_loop(|e| {
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
        let chunk = Chunk { slots: &slots, from, to, length };
        match (chosen, others) {
            (Some(chosen), Some(others)) => {
                let kind = self.kind_of_indices(&chosen, from, to);
                let known = self.e.begin_if(kind);
                self.chosen = Some(chosen);
                self.chunk(pass, stages, vectors, &chunk, foldings);
                self.put_elements(pass, &chunk, kind);
                self.chosen = None;
                let unknown = self.e.begin_else(known);
                let slots = self.slots(&others, length);
                let none = (0..=others.last()).map(|_| None).collect();
                self.chunk(pass, &others, none, &Chunk { slots: &slots, ..chunk }, foldings);
                self.e.end_if(unknown);
            }
            _ => self.chunk(pass, stages, vectors, &chunk, foldings),
        }
        self.e.advance(at, step);
        self.e.end_loop(own);
    }

    /// Whether chunks are short, so that memory is read and written while functions compute: the processor does so for a
    /// few hundred instructions ahead. With AVX-512 most functions are in the loops, and have no chunks.
    fn takes_short_chunks(&self) -> bool {
        self.loops.is_empty() && self.e.vectors == Some(Registers::Of256)
    }

    /// Lets the elements of a chunk go through all stages.
    fn chunk(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        vectors: Vec<Option<VectorStage>>,
        chunk: &Chunk,
        foldings: &[Folding],
    ) {
        let &Chunk { slots, from, to, length } = chunk;
        for (stage, vectors) in vectors.into_iter().enumerate() {
            let own = if stage == stages.last() { foldings } else { &[] };
            self.stage(pass, stages, stage, vectors, slots, from, to, own);
            for call in &stages.calls[stage] {
                match self.loops.get(&call.value).cloned() {
                    Some(code) => self.call_loop(call.value, code, slots, length, (from, to)),
                    None => self.call_function(call, slots, from, to),
                }
            }
        }
    }

    /// Places on the stack for what waits there.
    fn slots(&mut self, stages: &Stages, length: u32) -> BTreeMap<OperandPlace, StackSlot> {
        let mut slots: BTreeMap<OperandPlace, StackSlot> = stages
            .kept
            .iter()
            .map(|(&place, dtype)| (place, self.e.stack(length * dtype.size())))
            .collect();
        for &k in self.loops.keys() {
            let Action::Loop { of, at } = self.k.at(k).action else { continue };
            if at == self.k.bodies[of].states.len() {
                continue;
            }
            // A state at the end is where it was at the start.
            if let Some(&state) = slots.get(&OperandPlace::Operand { of: k, at: at + 1 }) {
                slots.insert(OperandPlace::Value(k), state);
            }
        }
        slots
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
        slots: &BTreeMap<OperandPlace, StackSlot>,
        from: Value,
        to: Value,
    ) {
        let own = self.k.at(call.value);
        let Action::Op(op) = own.action else { unreachable!("only ops are called") };
        let mut args = vec![self.e.stack_address(slots[&OperandPlace::Value(call.value)])];
        for (&place, dtype) in call.from.iter().zip(&own.operands) {
            let address = match place {
                OperandPlace::Read(k) => self.pointer(k),
                OperandPlace::Buffer(k) => self.pointer(self.buffer_pointer(k)),
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
        self.e.call_many(op, own.dtype, &args);
    }
}
