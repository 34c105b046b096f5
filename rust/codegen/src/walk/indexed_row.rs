//! Operands that indices choose: the address of an element, and of a row that is walked along.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use crate::kernel::{Action, Pass, Statement};
use crate::walk::Walk;
use crate::walk::turn::{Region, Turn};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;

/// The status of an index out of bounds.
pub(super) const OUT_OF_BOUNDS: i64 = 2;

/// An operand that moves along a row while its indices do not: a value that is taken, or a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Indexed {
    Take(usize),
    Put(usize),
}

/// The row that indices have chosen, and the bytes from one element to the next.
#[derive(Clone, Copy)]
pub(super) struct IndexedRow {
    start: Variable,
    stride: Value,
    size: u32,
}

impl IndexedRow {
    /// A row whose place is not known yet.
    pub(super) fn foreseen(start: Variable, stride: Value) -> IndexedRow {
        IndexedRow { start, stride, size: 0 }
    }

    /// The address of the first element.
    pub(super) fn first(&self, e: &mut Emitter) -> Value {
        e.b.use_var(self.start)
    }
}

impl Walk<'_, '_, '_> {
    // ------------------------------------------------------------ whole rows

    /// The operands of a pass that move along the row while their indices do not.
    pub(super) fn rows_of_pass(&self, pass: &Pass) -> Vec<Indexed> {
        let takes = pass.varying.iter().filter(|&&k| match self.k.at(k).action {
            Action::Take(source) => {
                self.k.sources[source].inner && self.are_uniform(&self.k.at(k).args)
            }
            _ => false,
        });
        let puts = pass.puts.iter().filter(|&&k| {
            let put = &self.k.puts[k];
            put.inner && self.are_uniform(&put.args)
        });
        takes.map(|&k| Indexed::Take(k)).chain(puts.map(|&k| Indexed::Put(k))).collect()
    }

    /// Finds the rows of a pass: their indices are checked once, before anything is written.
    pub(super) fn enter_indexed_rows(&mut self, pass: &Pass) {
        self.indexed.clear();
        for own in self.rows_of_pass(pass) {
            let row = self.row(own);
            self.indexed.insert(own, row);
        }
    }

    /// The table of an operand, and its type.
    pub(super) fn table_of(&self, own: Indexed) -> (usize, Dtype) {
        match own {
            Indexed::Take(k) => {
                let taken = self.k.at(k);
                let Action::Take(source) = taken.action else { unreachable!("it is taken") };
                (self.table_pointer(source), taken.dtype)
            }
            Indexed::Put(k) => (self.table_pointer(self.k.sources.len() + k), self.k.puts[k].dtype),
        }
    }

    /// Number `at` behind a pointer.
    pub(super) fn number_behind(&mut self, pointer: usize, at: usize) -> Value {
        let pointer = self.pointer(pointer);
        self.e.b.ins().load(I64, crate::emit::flags(), pointer, 8 * at as i32)
    }

    /// The pointer of an operand, the number of its first index among the kernel's, and its indices.
    pub(super) fn indices_of(&self, own: Indexed) -> (usize, usize, &[usize]) {
        match own {
            Indexed::Take(k) => {
                let taken = self.k.at(k);
                let Action::Take(source) = taken.action else { unreachable!("it is taken") };
                let before = self.k.sources[..source].iter().map(|own| own.indices).sum();
                (self.source_pointer(source), before, &taken.args)
            }
            Indexed::Put(k) => {
                let of_sources: usize = self.k.sources.iter().map(|own| own.indices).sum();
                let before: usize = self.k.puts[..k].iter().map(|own| own.args.len()).sum();
                (self.put_pointer(k), of_sources + before, &self.k.puts[k].args)
            }
        }
    }

    fn address_of(&mut self, own: Indexed) -> Value {
        let kernel = self.k;
        match own {
            Indexed::Take(k) => {
                let taken = kernel.at(k);
                let Action::Take(source) = taken.action else { unreachable!("it is taken") };
                let args: Vec<Value> = taken.args.iter().map(|&a| self.uniform_value(a)).collect();
                self.take_address(taken, source, &args, None)
            }
            Indexed::Put(k) => {
                let args = &kernel.puts[k].args;
                let args: Vec<Value> = args.iter().map(|&a| self.uniform_value(a)).collect();
                self.put_address(k, &args, None)
            }
        }
    }

    /// The row of an operand; a row without elements is not looked up.
    fn row(&mut self, own: Indexed) -> IndexedRow {
        let base = self.pointer(self.indices_of(own).0);
        let start = self.e.variable(I64, base);
        let looks = self.k.takes_rows.then(|| {
            let some = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.n_inner, 0);
            self.e.begin_if(some)
        });
        let found = self.address_of(own);
        self.e.b.def_var(start, found);
        if let Some(looks) = looks {
            self.e.end_if(looks);
        }
        let (table, dtype) = self.table_of(own);
        let stride = self.number_behind(table, 0);
        IndexedRow { start, stride, size: dtype.size() }
    }

    /// Whether the elements of all rows in a stage lie side by side; `None` if it has no rows.
    pub(super) fn dense(&mut self, region: &Region) -> Option<Value> {
        let takes = region.stages.computed[region.stage].iter().map(|&k| Indexed::Take(k));
        let last = region.stage == region.stages.last();
        let puts = region.pass.puts.iter().filter(|_| last).map(|&k| Indexed::Put(k));
        let rows: Vec<IndexedRow> =
            takes.chain(puts).filter_map(|own| self.indexed.get(&own).copied()).collect();
        let mut all = None;
        for row in rows {
            let size = i64::from(row.size);
            let own = self.e.b.ins().icmp_imm_s(IntCC::Equal, row.stride, size);
            all = Some(all.map_or(own, |so_far| self.e.b.ins().band(so_far, own)));
        }
        all
    }

    /// The address of the first element of a turn; where there are several, the row has no gaps.
    pub(super) fn element_of_row(&mut self, row: IndexedRow, dtype: Dtype, turn: &Turn) -> Value {
        let start = self.e.b.use_var(row.start);
        if self.e.lanes() * turn.count > 1 {
            return self.element(start, dtype, turn.at);
        }
        let offset = self.e.b.ins().imul(turn.at, row.stride);
        self.e.b.ins().iadd(start, offset)
    }

    // ------------------------------------------------------------ addresses

    /// The address that the indices of a take give; with `element`, of that element of a row.
    pub(super) fn take_address(
        &mut self,
        own: &Statement,
        source: usize,
        args: &[Value],
        element: Option<Value>,
    ) -> Value {
        let first = self.k.sources[..source].iter().map(|own| own.indices).sum();
        let from: Vec<Dtype> = own.args.iter().map(|&a| self.k.dtype(a)).collect();
        let pointer = self.pointer(self.source_pointer(source));
        let table = self.pointer(self.table_pointer(source));
        self.place(pointer, table, &from, args, first, element)
    }

    /// The address that the indices of a put give.
    pub(super) fn put_address(
        &mut self,
        k: usize,
        args: &[Value],
        element: Option<Value>,
    ) -> Value {
        let (pointer, first, _) = self.indices_of(Indexed::Put(k));
        let from: Vec<Dtype> = self.k.puts[k].args.iter().map(|&a| self.k.dtype(a)).collect();
        let pointer = self.pointer(pointer);
        let table = self.pointer(self.table_pointer(self.k.sources.len() + k));
        self.place(pointer, table, &from, args, first, element)
    }

    /// The address that indices give; the first index is number `first` of the kernel.
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
