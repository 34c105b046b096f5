//! One stage of a pass: the number of elements that a turn of its loop does.

use crate::dtype::{Dtype, Kind};
use crate::emit::REGISTER;
use crate::kernel::{Action, Pass};
use crate::op::Op;
use crate::row_folds::Folding;
use crate::scalar::has_wide_form;
use crate::stages::{OperandPlace, Stages};
use crate::steps::goes_in_registers;
use crate::walk::Walk;
use crate::walk::indexed_row::Indexed;
use crate::walk::turn::{Region, Turn};
use crate::walk::vector_stage::VectorStage;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;

/// Statements up to which a turn of a loop does several registers.
const FEW: usize = 4;
const SOME: usize = 12;
/// Statements of a loop's step up to which a turn does four registers.
const SHORT: usize = 16;

impl Walk<'_, '_, '_> {
    #[expect(clippy::too_many_arguments, reason = "where it is, and what of the pass")]
    pub(super) fn stage(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        stage: usize,
        vectors: Option<VectorStage>,
        slots: &BTreeMap<OperandPlace, StackSlot>,
        from: Value,
        to: Value,
        foldings: &[Folding],
    ) {
        let given = self.given(pass, stages, stage);
        let region = Region { pass, stages, stage, slots, chunk: from, given };
        if !self.does_anything(&region, foldings) {
            return;
        }
        let size =
            self.register_size(&region, foldings).or_else(|| self.narrow_size(&region, foldings));
        let simple = self.is_simple(&region);
        let alone = size.is_none() && self.longest_loop(&region).is_some();
        let count = if simple && !alone { self.unrolled(&region) } else { 1 };
        let together = size.is_some() || count > 1 || vectors.is_some();
        let dense = if together { self.dense(&region) } else { None };
        let at = self.e.variable(I64, from);
        match (vectors, dense) {
            (Some(vectors), None) => self.by_vectors(&region, vectors, at, to, foldings),
            (Some(vectors), Some(dense)) => {
                let own = self.e.begin_if(dense);
                self.by_vectors(&region, vectors, at, to, foldings);
                // The elements of rows with gaps go one by one.
                let own = self.e.begin_else(own);
                self.by_registers(&region, at, to, (None, 1), None, foldings);
                self.e.end_if(own);
            }
            (None, _) => self.by_registers(&region, at, to, (size, count), dense, foldings),
        }
    }

    /// The elements before `to`, so many registers of so wide elements a turn.
    fn by_registers(
        &mut self,
        region: &Region,
        at: Variable,
        to: Value,
        (size, count): (Option<u32>, u32),
        dense: Option<Value>,
        foldings: &[Folding],
    ) {
        if foldings.is_empty() {
            // The elements of rows with gaps go one by one.
            let from = self.e.b.use_var(at);
            let end = dense.map_or(to, |dense| self.e.b.ins().select(dense, to, from));
            self.turns(region, at, end, size, count, None, foldings);
            if count > 1 && size.is_some_and(|size| size < 4) {
                // The rest would be up to 63 elements.
                self.turns(region, at, end, size, 1, None, foldings);
            }
            if size.is_some() || count > 1 {
                self.turns(region, at, to, None, 1, None, foldings);
            }
            return;
        }
        let lanes = self.e.i64(self.k.lanes as i64);
        let whole = self.e.begin_loop(|e| {
            let start = e.b.use_var(at);
            let end = e.b.ins().iadd(start, lanes);
            e.b.ins().icmp(IntCC::SignedLessThanOrEqual, end, to)
        });
        let block = self.enter_block(at, foldings);
        let end = self.e.b.ins().iadd(block.0, lanes);
        let registers = self.k.lanes as u32 / size.map_or(1, |size| REGISTER / size);
        let count = count.min(registers);
        if let Some(dense) = dense {
            let gaps = self.e.b.ins().bxor_imm_u(dense, 1);
            let one_by_one = self.e.begin_if(gaps);
            self.turns(region, at, end, None, 1, Some(block.clone()), foldings);
            let dense = self.e.begin_else(one_by_one);
            self.block(region, at, end, (size, count), block, foldings);
            self.e.end_if(dense);
        } else {
            self.block(region, at, end, (size, count), block, foldings);
        }
        for own in foldings {
            own.leave_block(self.e);
        }
        self.e.end_loop(whole);
        self.rest(region, at, to, foldings);
    }

    /// The elements of a whole block, so many registers of so wide elements a turn.
    fn block(
        &mut self,
        region: &Region<'_>,
        at: Variable,
        end: Value,
        (size, count): (Option<u32>, u32),
        block: (Value, Vec<Value>),
        foldings: &[Folding],
    ) {
        let registers = self.k.lanes as u32 / size.map_or(1, |size| REGISTER / size);
        if registers == count {
            let turn = Turn { at: block.0, block: Some(block), count };
            self.turn_of(region, &turn, size, foldings);
            self.e.b.def_var(at, end);
        } else {
            self.turns(region, at, end, size, count, Some(block), foldings);
        }
    }

    /// The elements behind the last whole block, one by one, if there are any.
    fn rest(&mut self, region: &Region<'_>, at: Variable, to: Value, foldings: &[Folding]) {
        let start = self.e.b.use_var(at);
        let left = self.e.b.ins().icmp(IntCC::SignedLessThan, start, to);
        let some = self.e.begin_if(left);
        let block = self.enter_block(at, foldings);
        self.turns(region, at, to, None, 1, Some(block), foldings);
        for own in foldings {
            own.leave_block(self.e);
        }
        self.e.end_if(some);
    }

    pub(super) fn enter_block(
        &mut self,
        at: Variable,
        foldings: &[Folding],
    ) -> (Value, Vec<Value>) {
        let start = self.e.b.use_var(at);
        (start, foldings.iter().map(|own| own.enter_block(self.e)).collect())
    }

    pub(super) fn does_anything(&self, region: &Region, foldings: &[Folding]) -> bool {
        let last = region.stage == region.stages.last();
        let writes = last
            && !(region.pass.writes.is_empty()
                && region.pass.stores.is_empty()
                && region.pass.puts.iter().all(|&k| self.is_put_as_read(region.pass, k)));
        let operands = region.stages.calls[region.stage].iter().any(|call| {
            call.from.iter().any(|place| matches!(place, OperandPlace::Operand { .. }))
        });
        let kept = region.stages.computed[region.stage]
            .iter()
            .any(|&k| region.stages.kept.contains_key(&OperandPlace::Value(k)));
        writes || operands || kept || !foldings.is_empty()
    }

    /// The values that the stage uses and does not compute.
    pub(super) fn given(&self, pass: &Pass, stages: &Stages, stage: usize) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        for &k in &stages.computed[stage] {
            if !self.needs_no_index(pass, Indexed::Take(k)) {
                used.extend(self.varying_args(k));
            }
        }
        for call in &stages.calls[stage] {
            for (place, &a) in call.from.iter().zip(&self.k.at(call.value).args) {
                if matches!(place, OperandPlace::Operand { .. }) {
                    used.push(a);
                }
            }
        }
        if stage == stages.last() {
            used.extend(pass.writes.iter().map(|&w| self.k.writes[w].value));
            used.extend(pass.folds.iter().map(|&k| self.k.at(k).args[1]));
            used.extend(&pass.stores);
            for &put in pass.puts.iter().filter(|&&put| !self.is_put_as_read(pass, put)) {
                if !self.needs_no_index(pass, Indexed::Put(put)) {
                    used.extend(&self.k.puts[put].args);
                }
                used.push(self.k.puts[put].value);
            }
        }
        used.sort_unstable();
        used.dedup();
        used.retain(|k| !stages.computed[stage].contains(k));
        used
    }

    /// The bytes of the elements of a stage whose values are all as wide, of four bytes or eight; `None` if there are others.
    pub(super) fn register_size(&self, region: &Region, foldings: &[Folding]) -> Option<u32> {
        if foldings.iter().any(|own| own.write.dtype == Dtype::Bool) {
            return None;
        }
        let mut dtypes = self.dtypes_of_stage(region, foldings)?;
        dtypes.retain(|&dtype| dtype != Dtype::Bool);
        let size = dtypes.first()?.size();
        let fits = size >= 4 && dtypes.iter().all(|dtype| dtype.size() == size);
        let lanes = REGISTER / size;
        (fits && self.k.lanes as u32 >= lanes).then_some(size)
    }

    /// The bytes of the elements of a stage whose values are all bools, or integers of one byte or two, if there is an
    /// instruction for a register of them in each op: taken apart, sixteen elements would be many instructions.
    fn narrow_size(&self, region: &Region, foldings: &[Folding]) -> Option<u32> {
        let together = region.stages.computed[region.stage].iter().all(|&k| {
            let own = self.k.at(k);
            match own.action {
                Action::Op(Op::Cast) => true,
                Action::Op(op) => {
                    let two = own.operands.len() == 2;
                    !(two && own.operands[0] != own.operands[1])
                        && own.operands.iter().all(|&one| has_wide_form(op, one))
                }
                _ => false,
            }
        });
        let dtypes = self.dtypes_of_stage(region, foldings)?;
        let size = dtypes.iter().filter(|own| **own != Dtype::Bool).map(|own| own.size()).max();
        let size = size.unwrap_or(1);
        let fits = dtypes
            .iter()
            .all(|&own| own == Dtype::Bool || own.size() == size && own.kind() != Kind::Half);
        let folds = size == 1 || foldings.iter().all(|own| own.write.dtype != Dtype::Bool);
        let enough = self.k.lanes as u32 >= REGISTER / size;
        (together && fits && folds && size < 4 && enough).then_some(size)
    }

    /// The types of all values, operands and results of a stage; `None` if its elements go one by one.
    fn dtypes_of_stage(&self, region: &Region, foldings: &[Folding]) -> Option<Vec<Dtype>> {
        let mut dtypes: Vec<Dtype> = Vec::new();
        for &k in &region.stages.computed[region.stage] {
            let own = self.k.at(k);
            if !self.goes_together(k) {
                return None;
            }
            dtypes.push(own.dtype);
            match own.action {
                Action::Loop { of, .. } => dtypes.extend(self.dtypes_of_loop(of, own)),
                // Indices that choose a row are the same for all its elements.
                Action::Take(_) => {}
                _ => dtypes.extend(&own.operands),
            }
        }
        dtypes.extend(region.given.iter().map(|&k| self.k.dtype(k)));
        for call in &region.stages.calls[region.stage] {
            let operands = &self.k.at(call.value).operands;
            let in_memory = call.from.iter().map(|place| *place != OperandPlace::Nowhere);
            dtypes.extend(operands.iter().zip(in_memory).filter(|own| own.1).map(|own| own.0));
        }
        if region.stage == region.stages.last() {
            if !self.puts_rows(region.pass) {
                return None;
            }
            dtypes.extend(region.pass.puts.iter().map(|&put| self.k.puts[put].dtype));
            dtypes.extend(region.pass.writes.iter().map(|&w| self.k.writes[w].dtype));
        }
        dtypes.extend(foldings.iter().map(|own| own.write.dtype));
        Some(dtypes)
    }

    /// Whether several elements may take each step together.
    pub(super) fn is_simple(&self, region: &Region) -> bool {
        let mut computed = region.stages.computed[region.stage].iter();
        (self.puts_rows(region.pass) || self.chooses()) && computed.all(|&k| self.goes_together(k))
    }

    /// Whether a value is one of several elements, each computed from the operands' own.
    fn goes_together(&self, k: usize) -> bool {
        match self.k.at(k).action {
            Action::Op(_) => true,
            Action::Loop { of, .. } => goes_in_registers(&self.k.bodies[of]),
            Action::Take(_) => self.chooses() || self.indexed.contains_key(&Indexed::Take(k)),
            _ => false,
        }
    }

    /// Whether indices choose whole rows in all puts of a pass.
    fn puts_rows(&self, pass: &Pass) -> bool {
        pass.puts.iter().all(|&put| self.indexed.contains_key(&Indexed::Put(put)))
    }

    /// The number of registers, or elements, that a turn does.
    fn unrolled(&self, region: &Region) -> u32 {
        if let Some(steps) = self.longest_loop(region) {
            return match steps {
                n if n <= SHORT => 4,
                n if n <= 2 * SHORT => 2,
                _ => 1,
            };
        }
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
        let lanes = size.map_or(1, |size| REGISTER / size);
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
}
