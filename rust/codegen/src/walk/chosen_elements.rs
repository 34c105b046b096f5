//! Elements that the indices of a row choose, each its own: a chunk of them by vectors, if none of its indices is negative or
//! out of bounds. Else its elements go one by one, which counts the negative ones from the end and tells of the first one
//! that is out of bounds.

use crate::dtype::Dtype;
use crate::kernel::{Action, Pass};
use crate::stages::{OperandPlace, Stages};
use crate::vector::{Given, Registers};
use crate::walk::Walk;
use crate::walk::indexed_row::Indexed;
use crate::walk::vector_stage::{Argument, Sketch};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use std::collections::{BTreeMap, BTreeSet};

/// The facts about the indices of a chunk: whether some are negative or out of bounds, and whether most are the one
/// before.
const UNKNOWN: i64 = 0;
const WITH_RUNS: i64 = 2;

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
    /// The address of the element that was put last, and the element, if that is remembered.
    last: Option<(Variable, Variable)>,
}

impl Walk<'_, '_, '_> {
    /// The indices of a pass, if its elements may go by vectors.
    pub(super) fn chosen_elements(&self, pass: &Pass) -> Option<ChosenElements> {
        let gathers = self.e.vectors == Some(Registers::Of512);
        if !gathers || self.k.lanes == 1 || !self.indexed.is_empty() {
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
        let given = own.value(args[0]);
        let index = own.block.e.convert(given, self.k.dtype(args[0]), Dtype::Int64);
        let stride = own.argument(Argument::Number { pointer: table, at: 2 });
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
        let lanes = self.k.lanes as i64;
        let unknown = self.e.b.ins().iconst(I32, UNKNOWN);
        let kind = self.e.variable(I32, unknown);
        // A call takes longer than few elements.
        let many = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, self.n_inner, lanes);
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
                self.put_each(pass, chunk, index, &puts, false);
                continue;
            }
            let runs = self.e.b.ins().icmp_imm_s(IntCC::Equal, kind, WITH_RUNS);
            let own = self.e.begin_if(runs);
            self.put_each(pass, chunk, index, &puts, true);
            let own = self.e.begin_else(own);
            self.put_each(pass, chunk, index, &puts, false);
            self.e.end_if(own);
        }
    }

    /// Puts elements one by one. With `runs` the one that was put last is in a register: where it is read back from
    /// memory, the next sum waits for the store.
    fn put_each(&mut self, pass: &Pass, chunk: &Chunk, index: usize, puts: &[usize], runs: bool) {
        let none = self.e.i64(-1);
        let before = self.e.variable(I64, none);
        let open: Vec<OpenPut> =
            puts.iter().map(|&k| self.open_put(pass, chunk, k, runs)).collect();
        let dtype = self.k.dtype(index);
        let indices = self.elements_at(self.place_of_index(pass, index), dtype, chunk);
        let at = self.e.variable(I64, chunk.from);
        let to = chunk.to;
        let turns = self.e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp(IntCC::SignedLessThan, at, to)
        });
        let here = self.e.b.use_var(at);
        let place = self.element(indices, dtype, here);
        let given = self.e.load(dtype, place, 0);
        let given = self.e.convert(given, dtype, Dtype::Int64);
        if runs {
            let last = self.e.b.use_var(before);
            let other = self.e.b.ins().icmp(IntCC::NotEqual, given, last);
            let looks = self.e.begin_if(other);
            self.e.b.def_var(before, given);
            for own in &open {
                let (address, element) = own.last.expect("it is remembered");
                let found = self.place_in(own, given);
                self.e.b.def_var(address, found);
                let so_far = self.e.load(self.k.puts[own.k].dtype, found, 0);
                self.e.b.def_var(element, so_far);
            }
            self.e.end_if(looks);
        }
        for own in &open {
            self.put_one(own, given, here);
        }
        let one = self.e.i64(1);
        self.e.advance(at, one);
        self.e.end_loop(turns);
    }

    fn open_put(&mut self, pass: &Pass, chunk: &Chunk, k: usize, runs: bool) -> OpenPut {
        let (base, ..) = self.indices_of(Indexed::Put(k));
        let (table, dtype) = self.table_of(Indexed::Put(k));
        let (base, stride) = (self.pointer(base), self.number_behind(table, 2));
        let values = self.elements_at(self.place_of_put(pass, k), dtype, chunk);
        let last = runs.then(|| {
            let nothing = self.e.constant(dtype, 0);
            (self.e.variable(I64, base), self.e.variable(dtype.ir(), nothing))
        });
        OpenPut { k, base, stride, values, last }
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

    fn put_one(&mut self, own: &OpenPut, index: Value, at: Value) {
        let put = &self.k.puts[own.k];
        let from = self.element(own.values, put.dtype, at);
        let mut value = self.e.load(put.dtype, from, 0);
        let to = match own.last {
            Some((address, _)) => self.e.b.use_var(address),
            None => self.place_in(own, index),
        };
        if let Some(reduce) = put.reduce {
            let so_far = match own.last {
                Some((_, element)) => self.e.b.use_var(element),
                None => self.e.load(put.dtype, to, 0),
            };
            value = self.e.fold(reduce, put.dtype, so_far, value);
        }
        if let Some((_, element)) = own.last {
            self.e.b.def_var(element, value);
        }
        self.e.store(put.dtype, value, to, 0);
    }
}
