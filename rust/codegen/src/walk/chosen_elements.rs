//! Elements that the indices of a row choose, each its own: a chunk of them by vectors, if none of its indices is negative or
//! out of bounds. Else its elements go one by one, which counts the negative ones from the end and tells of the first one
//! that is out of bounds.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use crate::kernel::{Action, Pass};
use crate::stages::{OperandPlace, Stages};
use crate::vector::{ChosenElement, Given, Registers};
use crate::walk::Walk;
use crate::walk::indexed_row::Indexed;
use crate::walk::vector_stage::{Argument, Elements, Sketch};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use std::collections::{BTreeMap, BTreeSet};

/// The facts about the indices of a chunk: whether some are negative or out of bounds, and whether most are the one
/// before.
const UNKNOWN: i64 = 0;
const WITH_RUNS: i64 = 2;

/// The elements of a row from which on blocks are quicker that read elements one by one.
const FEW: i64 = 64;

/// The indices of a pass, each a read, and the tables that have the lengths they are to be below.
pub(super) struct ChosenElements {
    indices: BTreeMap<usize, BTreeSet<usize>>,
}

/// Where a chunk is: its places on the stack, its first element, the end, and how many elements there may be.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'s> {
    pub(super) slots: &'s BTreeMap<OperandPlace, StackSlot>,
    pub(super) from: Value,
    pub(super) to: Value,
    pub(super) length: u32,
}

/// A put while its elements are gone through.
struct OpenPut {
    k: usize,
    base: Value,
    stride: Value,
    values: Value,
}

impl Walk<'_, '_, '_> {
    /// The indices of a pass, if its elements may go by vectors.
    pub(super) fn chosen_elements(&self, pass: &Pass) -> Option<ChosenElements> {
        if self.e.vectors.is_none() || self.k.lanes == 1 || !self.indexed.is_empty() {
            return None;
        }
        let takes = pass.varying.iter().filter_map(|&k| match self.k.at(k).action {
            Action::Take(source) => {
                Some((Indexed::Take(k), self.k.sources[source].inner, self.k.at(k).dtype))
            }
            _ => None,
        });
        let puts = pass.puts.iter().map(|&k| {
            let own = &self.k.puts[k];
            (Indexed::Put(k), own.inner, own.dtype)
        });
        let mut indices: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (own, walks, dtype) in takes.chain(puts) {
            let &[index] = self.indices_of(own).2 else { return None };
            let known = pass.reads.contains(&index)
                && matches!(self.k.dtype(index), Dtype::Int64 | Dtype::Int32);
            if walks || !known || dtype.size() < 4 {
                return None;
            }
            indices.entry(index).or_default().insert(self.table_of(own).0);
        }
        (!indices.is_empty()).then_some(ChosenElements { indices })
    }

    /// Whether elements of a row are chosen by indices of their own, and go by vectors.
    pub(super) fn chooses(&self) -> bool {
        self.chosen.is_some()
    }

    /// Whether an instruction takes the elements of a block. Else it reads them one by one, and has no indices in registers.
    fn chooses_by_gathers(&self) -> bool {
        self.e.vectors == Some(Registers::Of512)
    }

    /// Whether a turn or a block has no indices of a take or a put as values: they choose rows, or are looked up where they
    /// are read.
    pub(super) fn needs_no_index(&self, pass: &Pass, own: Indexed) -> bool {
        if self.indexed.contains_key(&own) {
            return true;
        }
        let as_read = match own {
            Indexed::Take(k) => matches!(self.k.at(k).action, Action::Take(_)),
            Indexed::Put(k) => {
                let place = self.place_of_index(pass, self.k.puts[k].args[0]);
                matches!(place, OperandPlace::Read(_))
            }
        };
        as_read && self.chooses() && !self.chooses_by_gathers()
    }

    /// Lets the values and indices of puts wait until all elements of a chunk are computed.
    pub(super) fn keep_puts(&self, pass: &Pass, stages: &mut Stages) {
        for &k in pass.puts.iter().filter(|_| self.chooses()) {
            let put = &self.k.puts[k];
            let index = put.args[0];
            for (place, dtype) in [
                (self.place_of_put(pass, k), put.dtype),
                (self.place_of_index(pass, index), self.k.dtype(index)),
            ] {
                if !matches!(place, OperandPlace::Read(_)) {
                    stages.kept.insert(place, dtype);
                }
            }
        }
    }

    /// Where the values of a put are.
    pub(super) fn place_of_put(&self, pass: &Pass, k: usize) -> OperandPlace {
        let put = &self.k.puts[k];
        let alike = self.k.dtype(put.value) == put.dtype;
        let stays = alike && pass.reads.contains(&put.value) && !self.writes_elements(pass);
        if stays { OperandPlace::Read(put.value) } else { OperandPlace::Put(k) }
    }

    /// Where the indices of puts are.
    pub(super) fn place_of_index(&self, pass: &Pass, index: usize) -> OperandPlace {
        if self.writes_elements(pass) {
            OperandPlace::Value(index)
        } else {
            OperandPlace::Read(index)
        }
    }

    /// Whether elements are written that may lie where an operand does that nobody reads any more.
    fn writes_elements(&self, pass: &Pass) -> bool {
        pass.writes.iter().any(|&k| self.k.writes[k].inner)
    }

    /// Whether a put finds all that it needs where it is read, so that no stage has to do with it.
    pub(super) fn is_put_as_read(&self, pass: &Pass, k: usize) -> bool {
        self.chooses() && matches!(self.place_of_put(pass, k), OperandPlace::Read(_))
    }

    /// Takes the elements of a block.
    pub(super) fn gathered_in(&self, own: &mut Sketch, k: usize) -> Value {
        let (base, _, args) = self.indices_of(Indexed::Take(k));
        let (table, dtype) = self.table_of(Indexed::Take(k));
        let stride = own.argument(Argument::Number { pointer: table, at: 2 });
        if !self.chooses_by_gathers() {
            let from = self.k.dtype(args[0]);
            let indices = own.argument(Argument::Elements(Elements::Read(args[0]), from));
            let at = own.argument(Argument::Pointer(base));
            let chosen = ChosenElement { at, dtype, stride, indices: (indices, from) };
            return own.block.give(Given::Chosen(chosen), dtype);
        }
        let given = own.value(args[0]);
        let index = own.block.e.convert(given, self.k.dtype(args[0]), Dtype::Int64);
        let uniform = Given::Uniform { at: stride, dtype: Dtype::Int64 };
        let stride = own.block.give(uniform, Dtype::Int64);
        let of = own.block.e.b.ins().imul(index, stride);
        let at = own.argument(Argument::Pointer(base));
        own.block.give(Given::Gathered { at, dtype, of }, dtype)
    }

    // ------------------------------------------------------------ a chunk

    /// The facts about the indices of a chunk.
    pub(super) fn kind_of_indices(
        &mut self,
        own: &ChosenElements,
        from: Value,
        to: Value,
    ) -> Value {
        let least = if self.chooses_by_gathers() { self.k.lanes as i64 } else { FEW };
        let unknown = self.e.b.ins().iconst(I32, UNKNOWN);
        let kind = self.e.variable(I32, unknown);
        // A call takes longer than few elements.
        let many = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, self.n_inner, least);
        let asks = self.e.begin_if(many);
        let count = self.e.b.ins().isub(to, from);
        let mut all = None;
        for (&index, tables) in &own.indices {
            let dtype = self.k.dtype(index);
            let mut least: Option<Value> = None;
            for &table in tables {
                let length = self.number_behind(table, 1);
                least = Some(least.map_or(length, |so_far| self.e.b.ins().smin(so_far, length)));
            }
            let pointer = self.pointer(index);
            let start = self.element(pointer, dtype, from);
            let name = format!("kind_of_indices_i{}", dtype.size());
            let length = least.expect("an index has a table");
            let made = self.e.call(&name, Some(I32), &[start, count, length]);
            all = Some(all.map_or(made, |so_far| self.e.b.ins().smin(so_far, made)));
        }
        self.e.b.def_var(kind, all.expect("there are indices"));
        self.e.end_if(asks);
        self.e.b.use_var(kind)
    }

    /// Puts the elements of a chunk, whose indices are in bounds.
    pub(super) fn put_elements(&mut self, pass: &Pass, chunk: &Chunk, kind: Value) {
        let mut by_index: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &k in &pass.puts {
            by_index.entry(self.k.puts[k].args[0]).or_default().push(k);
        }
        for (index, puts) in by_index {
            if puts.iter().any(|&k| self.k.puts[k].reduce.is_none()) {
                self.put_each(pass, chunk, index, &puts);
                continue;
            }
            let runs = self.e.b.ins().icmp_imm_s(IntCC::Equal, kind, WITH_RUNS);
            let own = self.e.begin_if(runs);
            self.put_runs(pass, chunk, index, &puts);
            let own = self.e.begin_else(own);
            self.put_each(pass, chunk, index, &puts);
            self.e.end_if(own);
        }
    }

    /// Puts elements one by one.
    fn put_each(&mut self, pass: &Pass, chunk: &Chunk, index: usize, puts: &[usize]) {
        let open: Vec<OpenPut> = puts.iter().map(|&k| self.open_put(pass, chunk, k)).collect();
        let (indices, dtype) = self.open_indices(pass, chunk, index);
        let at = self.e.variable(I64, chunk.from);
        let turns = self.e.begin_loop(|e| is_before(e, at, chunk.to));
        let here = self.e.b.use_var(at);
        let given = self.index_at(indices, dtype, here);
        for own in &open {
            let mut value = self.value_of(own, here);
            let to = self.place_in(own, given);
            let put = &self.k.puts[own.k];
            if let Some(reduce) = put.reduce {
                let so_far = self.e.load(put.dtype, to, 0);
                value = self.e.fold(reduce, put.dtype, so_far, value);
            }
            self.e.store(put.dtype, value, to, 0);
        }
        let one = self.e.i64(1);
        self.e.advance(at, one);
        self.e.end_loop(turns);
    }

    /// Folds elements, those that follow each other with the same index in a register: where each is stored, the next
    /// fold waits until it is read back.
    fn put_runs(&mut self, pass: &Pass, chunk: &Chunk, index: usize, puts: &[usize]) {
        let open: Vec<OpenPut> = puts.iter().map(|&k| self.open_put(pass, chunk, k)).collect();
        let (indices, dtype) = self.open_indices(pass, chunk, index);
        let at = self.e.variable(I64, chunk.from);
        let runs = self.e.begin_loop(|e| is_before(e, at, chunk.to));
        let first = self.e.b.use_var(at);
        let same = self.index_at(indices, dtype, first);
        let mut sums = Vec::new();
        for own in &open {
            let dtype = self.k.puts[own.k].dtype;
            let place = self.place_in(own, same);
            let so_far = self.e.load(dtype, place, 0);
            sums.push((place, self.e.variable(dtype.ir(), so_far)));
        }
        let run = self.e.begin_loop(|e| is_before(e, at, chunk.to));
        let here = self.e.b.use_var(at);
        let given = self.index_at(indices, dtype, here);
        let other = self.e.b.ins().icmp(IntCC::NotEqual, given, same);
        self.e.leave_if(&run, other);
        for (own, &(_, sum)) in open.iter().zip(&sums) {
            let put = &self.k.puts[own.k];
            let value = self.value_of(own, here);
            let so_far = self.e.b.use_var(sum);
            let reduce = put.reduce.expect("a put of runs folds");
            let folded = self.e.fold(reduce, put.dtype, so_far, value);
            self.e.b.def_var(sum, folded);
        }
        let one = self.e.i64(1);
        self.e.advance(at, one);
        self.e.end_loop(run);
        for (own, (place, sum)) in open.iter().zip(sums) {
            let made = self.e.b.use_var(sum);
            self.e.store(self.k.puts[own.k].dtype, made, place, 0);
        }
        self.e.end_loop(runs);
    }

    fn open_put(&mut self, pass: &Pass, chunk: &Chunk, k: usize) -> OpenPut {
        let (base, ..) = self.indices_of(Indexed::Put(k));
        let (table, dtype) = self.table_of(Indexed::Put(k));
        let (base, stride) = (self.pointer(base), self.number_behind(table, 2));
        let values = self.elements_at(self.place_of_put(pass, k), dtype, chunk);
        OpenPut { k, base, stride, values }
    }

    fn open_indices(&mut self, pass: &Pass, chunk: &Chunk, index: usize) -> (Value, Dtype) {
        let dtype = self.k.dtype(index);
        (self.elements_at(self.place_of_index(pass, index), dtype, chunk), dtype)
    }

    fn index_at(&mut self, indices: Value, dtype: Dtype, at: Value) -> Value {
        let place = self.element(indices, dtype, at);
        let given = self.e.load(dtype, place, 0);
        self.e.convert(given, dtype, Dtype::Int64)
    }

    fn value_of(&mut self, own: &OpenPut, at: Value) -> Value {
        let dtype = self.k.puts[own.k].dtype;
        let from = self.element(own.values, dtype, at);
        self.e.load(dtype, from, 0)
    }

    /// The address of a row's elements, of which those of the chunk are there.
    fn elements_at(&mut self, place: OperandPlace, dtype: Dtype, chunk: &Chunk) -> Value {
        match place {
            OperandPlace::Read(read) => self.pointer(read),
            kept => {
                let start = self.e.stack_address(chunk.slots[&kept]);
                let before = self.e.b.ins().ineg(chunk.from);
                self.element(start, dtype, before)
            }
        }
    }

    fn place_in(&mut self, own: &OpenPut, index: Value) -> Value {
        let offset = self.e.b.ins().imul(index, own.stride);
        self.e.b.ins().iadd(own.base, offset)
    }
}

fn is_before(e: &mut Emitter, at: Variable, to: Value) -> Value {
    let at = e.b.use_var(at);
    e.b.ins().icmp(IntCC::SignedLessThan, at, to)
}
