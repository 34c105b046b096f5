//! Short rows by one function that goes from row to row by itself. Rows of a block or two take less time than the work
//! that is done once a row; in this function, registers hold all that this work needs.

use crate::dtype::Dtype;
use crate::kernel::{Action, Pass};
use crate::row_folds::{Folding, Target};
use crate::stages::Stages;
use crate::vector::{ChosenRow, Given, RowPlan, RowsCode, SETS, Sheet, walked_code};
use crate::walk::Walk;
use crate::walk::indexed_row::{Indexed, IndexedRow};
use crate::walk::turn::Region;
use crate::walk::vector_stage::{Argument, Elements, Sketch};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::collections::BTreeMap;

/// A function of all rows, its arguments, and the rows that indices choose.
struct RowFunction {
    rows: RowsCode,
    arguments: Vec<Argument>,
    chosen: Vec<Indexed>,
}

impl Walk<'_, '_, '_> {
    /// Calls one function for all rows and returns from the kernel, if there is such a function and the rows fit it.
    pub(super) fn walked_rows(&mut self, n_outer: Value, foldings: &[Folding]) {
        let kernel = self.k;
        let [pass] = kernel.passes.as_slice() else { return };
        if !pass.folds.is_empty() {
            return;
        }
        let made = self.foreseen(pass, foldings);
        self.uniform.fill(None);
        self.indexed.clear();
        let Some(RowFunction { rows, arguments, chosen }) = made else { return };
        let RowsCode { code, most } = rows;
        self.has_rows = true;
        let fits = self.fits_rows(&chosen, foldings, most);
        let condition = self.e.begin_if(fits);
        let function = self.e.rows_function(code);
        let slot = self.e.stack(8 * arguments.len() as u32);
        let place = self.e.stack_address(slot);
        for (at, &argument) in arguments.iter().enumerate() {
            let value = match argument {
                Argument::Elements(Elements::Read(k), _) => self.pointer(k),
                Argument::Elements(Elements::Write(k), _) => self.pointer(self.write_pointer(k)),
                // The function finds these rows, and holds partial results by itself.
                Argument::Elements(..) | Argument::Sets(_) | Argument::Turn(_) => continue,
                Argument::Uniform(_) => unreachable!("rows have no values of their own yet"),
                Argument::OfRow(k) | Argument::Pointer(k) => self.pointer(k),
                Argument::Stride(k) => self.stride(k),
                Argument::Number { pointer, at } => self.number_behind(pointer, at),
            };
            self.e.b.ins().store(crate::emit::flags(), value, place, 8 * at as i32);
        }
        let call = self.e.b.ins().call(function, &[place, self.n_inner, n_outer]);
        let status = self.e.b.inst_results(call)[0];
        self.e.b.ins().return_(&[status]);
        self.e.end_unreached(condition);
    }

    /// The function of all rows, before any row has begun.
    fn foreseen(&mut self, pass: &Pass, foldings: &[Folding]) -> Option<RowFunction> {
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
        let slots = BTreeMap::new();
        let given = self.given(pass, &stages, 0);
        let region = Region { pass, stages: &stages, stage: 0, slots: &slots, chunk: known, given };
        if stages.last() > 0 || self.longest_loop(&region).is_some() {
            return None;
        }
        let size = self.register_size(&region, foldings)?;
        let statuses = region.stages.computed[0].iter().chain(&pass.uniform);
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
        for &k in &region.stages.computed[0] {
            let made = self.computed_in(&mut own, k);
            own.values[k] = Some(made);
        }
        self.ended_in(&mut own, &region, foldings);
        let plan = self.row_plan(&mut own, foldings)?;
        own.block.arguments = own.arguments.len();
        let rows = walked_code(&own.block, &plan)?;
        Some(RowFunction { rows, arguments: own.arguments, chosen })
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
            plan.chosen.push(self.chosen_row(own, row)?);
        }
        for folding in foldings {
            let Target::Write(k) = folding.target else { return None };
            plan.targets.push(own.argument(Argument::Pointer(self.write_pointer(k))));
        }
        if !plan.chosen.is_empty() {
            plan.report = own.argument(Argument::Pointer(self.report_pointer()));
        }
        for at in 0..own.arguments.len() {
            let operand = match own.arguments[at] {
                Argument::Elements(Elements::Read(k), _) | Argument::OfRow(k) => k,
                Argument::Elements(Elements::Write(k), _) => self.write_pointer(k),
                Argument::Pointer(k) if plan.targets.contains(&at) => k,
                _ => continue,
            };
            plan.moving.push((at, own.argument(Argument::Stride(operand))));
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
        })
    }

    /// Whether rows are as short as the function takes them, no fold goes on in the next row, and elements lie side by
    /// side.
    fn fits_rows(
        &mut self,
        chosen: &[Indexed],
        foldings: &[Folding],
        most: Option<usize>,
    ) -> Value {
        let most = match (most, foldings.first()) {
            (Some(most), _) => most.min(self.k.lanes) as i64,
            (None, Some(own)) => own.first_level() - 1,
            (None, None) => i64::from(SETS) * self.k.lanes as i64,
        };
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
        for &own in chosen {
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
