//! One turn of a loop: values are read, computed, folded and written.

use crate::dtype::Dtype;
use crate::kernel::{Action, Pass, Statement};
use crate::row_folds::Folding;
use crate::stages::{OperandPlace, Stages};
use crate::walk::Walk;
use crate::walk::indexed_row::Indexed;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use std::collections::BTreeMap;

/// The part of a row that is being walked, in one stage of a pass.
pub(super) struct Region<'p> {
    pub(super) pass: &'p Pass,
    pub(super) stages: &'p Stages,
    pub(super) stage: usize,
    pub(super) slots: &'p BTreeMap<OperandPlace, StackSlot>,
    /// The first element of the chunk.
    pub(super) chunk: Value,
    /// The values that other stages, reads or the row give.
    pub(super) given: Vec<usize>,
}

/// The position of a turn of a loop.
pub(super) struct Turn {
    /// The first element.
    pub(super) at: Value,
    /// The element of the row that the block begins with, and the sets of each folding.
    pub(super) block: Option<(Value, Vec<Value>)>,
    /// The number of registers, or elements, that it does.
    pub(super) count: u32,
}

impl Walk<'_, '_, '_> {
    pub(super) fn turn(&mut self, region: &Region, turn: &Turn, foldings: &[Folding]) {
        let kernel = self.k;
        let mut values: Vec<Vec<Value>> =
            vec![Vec::new(); kernel.first() + kernel.statements.len()];
        for &k in &region.given {
            values[k] = self.given_values(region, turn, k);
        }
        for &k in &region.stages.computed[region.stage] {
            values[k] = self.computed(k, turn, &values);
            if region.stages.kept.contains_key(&OperandPlace::Value(k)) {
                let slot = region.slots[&OperandPlace::Value(k)];
                let address = self.slot_address(slot, kernel.dtype(k), region, turn);
                self.store_all(kernel.dtype(k), &values[k], address);
            }
        }
        for call in &region.stages.calls[region.stage] {
            let own = kernel.at(call.value);
            for (at, &place) in call.from.iter().enumerate() {
                if matches!(place, OperandPlace::Operand { .. }) {
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
        self.puts(region.pass, values, turn);
    }

    /// The address of the element at `index` behind a pointer.
    pub(super) fn element(&mut self, pointer: Value, dtype: Dtype, index: Value) -> Value {
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
            self.slot_address(region.slots[&OperandPlace::Value(k)], dtype, region, turn)
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
        if let Some(row) = self.indexed.get(&Indexed::Take(k)).copied() {
            let address = self.element_of_row(row, own.dtype, turn);
            return self.load_all(own.dtype, address, turn.count);
        }
        if let Action::Loop { .. } = own.action {
            return self.loop_results(k, turn.count, values);
        }
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
                    Action::Loop { .. } | Action::Fold(_) => {
                        unreachable!("loops are written elsewhere, and a kernel was verified")
                    }
                }
            })
            .collect()
    }

    // ------------------------------------------------------------ indices

    /// The element of a source at checked indices.
    pub(super) fn take(
        &mut self,
        own: &Statement,
        source: usize,
        args: &[Value],
        element: Value,
    ) -> Value {
        let inner = self.k.sources[source].inner;
        let address = self.take_address(own, source, args, inner.then_some(element));
        self.e.load(own.dtype, address, 0)
    }

    fn puts(&mut self, pass: &Pass, values: &[Vec<Value>], turn: &Turn) {
        for &k in &pass.puts {
            let put = &self.k.puts[k];
            let address = match self.indexed.get(&Indexed::Put(k)).copied() {
                Some(row) => self.element_of_row(row, put.dtype, turn),
                None => {
                    let args: Vec<Value> = put.args.iter().map(|&a| values[a][0]).collect();
                    self.put_address(k, &args, put.inner.then_some(turn.at))
                }
            };
            let given = self.converted(&values[put.value], self.k.dtype(put.value), put.dtype);
            match put.reduce {
                None => self.store_all(put.dtype, &given, address),
                Some(reduce) => self.fold_all(reduce, put.dtype, &given, address),
            }
        }
    }
}
