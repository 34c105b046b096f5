//! Short rows by functions that go from row to row by themselves. Rows of a block or two take less time than the work
//! that is done once a row; in such a function, registers hold all that this work needs.
//!
//! Where functions of elements are called, there is one such function before the calls and one after them. Rows wait on
//! the stack, and the functions of elements are called for a group of rows: one row is few elements for a call.

use crate::dtype::Dtype;
use crate::kernel::{Action, Pass};
use crate::row_folds::{Folding, Target};
use crate::stages::{OperandPlace, Stages};
use crate::vector::{ChosenRow, Given, Registers, RowPlan, RowsCode, SETS, Sheet, walked_code};
use crate::walk::Walk;
use crate::walk::indexed_row::{Indexed, IndexedRow, OUT_OF_BOUNDS};
use crate::walk::turn::Region;
use crate::walk::vector_stage::{Argument, Elements, Sketch};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{FuncRef, InstBuilder, StackSlot, Value};
use std::collections::BTreeMap;

/// The most elements of a row without folds, and of a group of rows, which has at least two.
const GROUP: u32 = 256;

/// The functions of all rows, one for each stage that does anything.
struct RowFunctions {
    stages: Stages,
    of_stages: Vec<Option<RowFunction>>,
    /// The rows that indices choose.
    chosen: Vec<Indexed>,
}

/// A function of all rows, and its arguments.
struct RowFunction {
    rows: RowsCode,
    arguments: Vec<Argument>,
}

impl Walk<'_, '_, '_> {
    /// Lets functions go through all rows and returns from the kernel, if there are such functions and the rows fit them;
    /// so many operands move from row to row.
    pub(super) fn walked_rows(&mut self, n_outer: Value, moving: usize, foldings: &[Folding]) {
        let kernel = self.k;
        let [pass] = kernel.passes.as_slice() else { return };
        if !pass.folds.is_empty() {
            return;
        }
        let made = self.foreseen(pass, foldings);
        self.uniform.fill(None);
        self.indexed.clear();
        let Some(own) = made else { return };
        self.has_rows = true;
        let fits = self.fits_rows(&own, foldings);
        let condition = self.e.begin_if(fits);
        self.groups_of_rows(own, n_outer, moving);
        self.e.end_unreached(condition);
    }

    /// Goes through all rows, group by group if functions of elements are called, and returns from the kernel.
    fn groups_of_rows(&mut self, own: RowFunctions, n_outer: Value, moving: usize) {
        let RowFunctions { stages, of_stages, .. } = own;
        let slots = self.slots(&stages, GROUP);
        let mut functions: Vec<Option<(FuncRef, Vec<Argument>)>> = Vec::new();
        for own in of_stages {
            functions.push(own.map(|own| (self.e.rows_function(own.rows.code), own.arguments)));
        }
        if let ([Some((function, arguments))], 0) = (functions.as_slice(), stages.last()) {
            let status = self.call_rows(*function, arguments, &slots, n_outer);
            self.e.b.ins().return_(&[status]);
            return;
        }
        let all = self.e.i64(i64::from(GROUP));
        let most = self.e.b.ins().udiv(all, self.n_inner);
        let left = self.e.variable(I64, n_outer);
        let groups = self.e.begin_outer_loop(|e| {
            let left = e.b.use_var(left);
            e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, 0)
        });
        let before = self.e.b.use_var(left);
        let rows = self.e.b.ins().smin(before, most);
        let elements = self.e.b.ins().imul(rows, self.n_inner);
        let zero = self.e.i64(0);
        for (stage, own) in functions.iter().enumerate() {
            if let Some((function, arguments)) = own {
                let status = self.call_rows(*function, arguments, &slots, rows);
                let failed = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, status, 0);
                self.e.fail_if(failed, OUT_OF_BOUNDS, |_| {});
            }
            for call in &stages.calls[stage] {
                self.call_function(call, &slots, zero, elements);
            }
        }
        for k in 0..moving {
            let stride = self.stride(k);
            let of_group = self.e.b.ins().imul(stride, rows);
            self.e.advance(self.pointers[k], of_group);
        }
        let after = self.e.b.ins().isub(before, rows);
        self.e.b.def_var(left, after);
        self.e.end_loop(groups);
        let status = self.e.status();
        self.e.b.ins().return_(&[status]);
    }

    /// Calls a function of rows for so many from the present one on; returns its status.
    fn call_rows(
        &mut self,
        function: FuncRef,
        arguments: &[Argument],
        slots: &BTreeMap<OperandPlace, StackSlot>,
        rows: Value,
    ) -> Value {
        let slot = self.e.stack(8 * arguments.len() as u32);
        let place = self.e.stack_address(slot);
        for (at, &argument) in arguments.iter().enumerate() {
            let value = match argument {
                Argument::Elements(Elements::Read(k), _) => self.pointer(k),
                Argument::Elements(Elements::Write(k), _) => self.pointer(self.write_pointer(k)),
                Argument::Elements(Elements::Slot(own), _) => self.e.stack_address(slots[&own]),
                // The function finds these rows, and holds partial results by itself.
                Argument::Elements(..) | Argument::Sets(_) | Argument::Turn(_) | Argument::Rest => {
                    continue;
                }
                Argument::Uniform(_) => unreachable!("rows have no values of their own yet"),
                Argument::OfRow(k) | Argument::Pointer(k) => self.pointer(k),
                Argument::Stride(k) => self.stride(k),
                Argument::RowBytes(size) => self.row_bytes(size),
                Argument::Number { pointer, at } => self.number_behind(pointer, at),
            };
            self.e.b.ins().store(crate::emit::flags(), value, place, 8 * at as i32);
        }
        let call = self.e.b.ins().call(function, &[place, self.n_inner, rows]);
        self.e.b.inst_results(call)[0]
    }

    /// The bytes of a row whose elements have so many each.
    pub(super) fn row_bytes(&mut self, size: u32) -> Value {
        self.e.b.ins().imul_imm_s(self.n_inner, i64::from(size))
    }

    /// The functions of all rows, before any row has begun.
    fn foreseen(&mut self, pass: &Pass, foldings: &[Folding]) -> Option<RowFunctions> {
        let kernel = self.k;
        // Any value does: it says that each row has one. So does any place of a row that an index chooses.
        let known = self.n_inner;
        let row = IndexedRow::foreseen(self.pointers[0], known);
        for (k, read) in kernel.reads.iter().enumerate() {
            self.uniform[k] = (!read.inner).then_some(known);
        }
        for &k in &pass.uniform {
            self.uniform[k] = Some(known);
        }
        let chosen = self.rows_of_pass(pass);
        self.indexed = chosen.iter().map(|&own| (own, row)).collect();
        let all_walk = kernel.writes.iter().all(|own| own.walks());
        let all_rows = pass.puts.iter().all(|&k| self.indexed.contains_key(&Indexed::Put(k)));
        if !(all_walk && all_rows) || foldings.is_empty() && self.indexed.is_empty() {
            return None;
        }
        let stages = Stages::of(kernel, pass, |k| self.may_be_inlined(k), |_| false);
        if stages.last() > 0 && !self.may_go_in_groups(&stages) {
            return None;
        }
        let mut of_stages = Vec::new();
        for stage in 0..=stages.last() {
            let folded = if stage == stages.last() { foldings } else { &[] };
            of_stages.push(self.row_function(pass, &stages, stage, folded)?);
        }
        Some(RowFunctions { stages, of_stages, chosen })
    }

    /// Whether functions of elements may be called for several rows: indices choose some of these, and all operands of
    /// functions wait on the stack. With AVX-512 most functions are in the loops.
    fn may_go_in_groups(&self, stages: &Stages) -> bool {
        let mut places = stages.calls.iter().flatten().flat_map(|call| &call.from);
        self.e.vectors == Some(Registers::Of256)
            && !self.indexed.is_empty()
            && places.all(|own| !matches!(own, OperandPlace::Read(_) | OperandPlace::Buffer(_)))
    }

    /// The function of all rows of a stage; `Some(None)` if the stage does nothing, `None` if there is none.
    fn row_function(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        stage: usize,
        foldings: &[Folding],
    ) -> Option<Option<RowFunction>> {
        let slots = BTreeMap::new();
        let given = self.given(pass, stages, stage);
        let region = Region { pass, stages, stage, slots: &slots, chunk: self.n_inner, given };
        if !self.does_anything(&region, foldings) {
            return Some(None);
        }
        if self.longest_loop(&region).is_some() {
            return None;
        }
        let size = self.register_size(&region, foldings)?;
        let statuses = stages.computed[stage].iter().chain(&pass.uniform);
        if statuses.into_iter().any(|&k| self.tells_a_status(k)) {
            return None;
        }
        let mut sheet = Sheet::new(self.e.vectors?);
        let mut own = self.sketch(&mut sheet, &region);
        for &k in pass.uniform.iter().chain(&region.given) {
            own.values[k] = self.given_to_row(&mut own, &region, size, k);
        }
        if region.given.iter().any(|&k| own.values[k].is_none()) {
            return None;
        }
        self.computed_in_stage(&mut own, stages, stage);
        if stage == stages.last() {
            self.ended_in(&mut own, &region, foldings);
        }
        let plan = self.row_plan(&mut own, foldings)?;
        own.block.arguments = own.arguments.len();
        let rows = walked_code(&own.block, &plan)?;
        Some(Some(RowFunction { rows, arguments: own.arguments }))
    }

    /// A value of the row, and what it is computed from; `None` if the function cannot compute it.
    fn given_to_row(
        &self,
        own: &mut Sketch,
        region: &Region,
        size: u32,
        k: usize,
    ) -> Option<Value> {
        if own.values[k].is_some() || self.uniform[k].is_none() {
            return own.values[k].or_else(|| Some(self.given_to(own, region, k)));
        }
        let is_wide = |dtype: Dtype| dtype.size() == size;
        if let Some(read) = self.k.reads.get(k) {
            if !is_wide(read.dtype) {
                return None;
            }
            let (at, dtype) = (own.argument(Argument::OfRow(k)), read.dtype);
            return Some(own.block.give(Given::OfRow { at, dtype }, dtype));
        }
        let statement = self.k.at(k);
        let Action::Op(op) = statement.action else { return None };
        let fits = |&dtype: &Dtype| is_wide(dtype) || dtype == Dtype::Bool;
        let mut dtypes = statement.operands.iter().chain([&statement.dtype]);
        let inlined = !op.is_function(statement.dtype) || self.may_be_inlined(k);
        if !inlined || !dtypes.all(fits) {
            return None;
        }
        for &a in &statement.args {
            if own.values[a].is_none() && a < self.k.first() {
                own.values[a] = self.given_to_row(own, region, size, a);
            }
            own.values[a]?;
        }
        Some(self.computed_in(own, k))
    }

    /// How the arguments change from row to row.
    fn row_plan(&self, own: &mut Sketch, foldings: &[Folding]) -> Option<RowPlan> {
        let mut plan = RowPlan::default();
        for &row in self.indexed.keys() {
            let elements = Argument::Elements(Elements::Row(row), self.table_of(row).1);
            if own.arguments.contains(&elements) {
                plan.chosen.push(self.chosen_row(own, row)?);
            }
        }
        for folding in foldings {
            let Target::Write(k) = folding.target else { return None };
            plan.targets.push(own.argument(Argument::Pointer(self.write_pointer(k))));
        }
        if !plan.chosen.is_empty() {
            plan.report = own.argument(Argument::Pointer(self.report_pointer()));
        }
        for at in 0..own.arguments.len() {
            let stride = match own.arguments[at] {
                Argument::Elements(Elements::Read(k), _) | Argument::OfRow(k) => {
                    Argument::Stride(k)
                }
                Argument::Elements(Elements::Write(k), _) => {
                    Argument::Stride(self.write_pointer(k))
                }
                Argument::Elements(Elements::Slot(_), dtype) => Argument::RowBytes(dtype.size()),
                Argument::Pointer(k) if plan.targets.contains(&at) => Argument::Stride(k),
                _ => continue,
            };
            plan.moving.push((at, own.argument(stride)));
        }
        Some(plan)
    }

    /// A row chosen by one index, if that is read from an operand of int64.
    fn chosen_row(&self, own: &mut Sketch, row: Indexed) -> Option<ChosenRow> {
        let (pointer, number, args) = self.indices_of(row);
        let (table, dtype) = self.table_of(row);
        let &[index] = args else { return None };
        if self.k.reads.get(index).is_none_or(|read| read.dtype != Dtype::Int64) {
            return None;
        }
        Some(ChosenRow {
            at: own.argument(Argument::Elements(Elements::Row(row), dtype)),
            base: own.argument(Argument::Pointer(pointer)),
            index: own.argument(Argument::OfRow(index)),
            length: own.argument(Argument::Number { pointer: table, at: 1 }),
            stride: own.argument(Argument::Number { pointer: table, at: 2 }),
            number,
            size: dtype.size(),
        })
    }

    /// Whether rows are as short as the functions take them, no fold goes on in the next row, and elements lie side by
    /// side.
    fn fits_rows(&mut self, own: &RowFunctions, foldings: &[Folding]) -> Value {
        let functions = own.of_stages.iter().flatten();
        let mut most = match (functions.filter_map(|own| own.rows.most).min(), foldings.first()) {
            (Some(most), _) => most.min(self.k.lanes) as i64,
            (None, Some(own)) => own.first_level() - 1,
            // Without masks, a row goes by whole blocks as long as it has some. Longer rows are not asked for whole.
            (None, None) if self.e.vectors == Some(Registers::Of256) => i64::from(GROUP),
            (None, None) => i64::from(SETS) * self.k.lanes as i64,
        };
        if own.stages.last() > 0 {
            most = most.min(i64::from(GROUP / 2));
        }
        let mut holds = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, self.n_inner, most);
        let some = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.n_inner, 0);
        holds = self.e.b.ins().band(holds, some);
        for own in foldings {
            if let Target::Write(k) = own.target {
                let stride = self.stride(self.write_pointer(k));
                let moves = self.e.b.ins().icmp_imm_s(IntCC::NotEqual, stride, 0);
                holds = self.e.b.ins().band(holds, moves);
            }
        }
        for &own in &own.chosen {
            let (table, dtype) = self.table_of(own);
            let stride = self.number_behind(table, 0);
            let size = i64::from(dtype.size());
            let dense = self.e.b.ins().icmp_imm_s(IntCC::Equal, stride, size);
            holds = self.e.b.ins().band(holds, dense);
            // The function adds the index to one base for all rows: the base stays where it is.
            let (base, _, _) = self.indices_of(own);
            let stride = self.stride(base);
            let stays = self.e.b.ins().icmp_imm_s(IntCC::Equal, stride, 0);
            holds = self.e.b.ins().band(holds, stays);
        }
        holds
    }
}
