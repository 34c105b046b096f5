//! Folds of short rows, each by one call of a function that holds the partial results in registers.

use crate::emit::If;
use crate::kernel::Pass;
use crate::row_folds::{Folding, Target};
use crate::stages::Stages;
use crate::vector::RowsCode;
use crate::walk::turn::Region;
use crate::walk::vector_stage::VectorStage;
use crate::walk::{PATIENCE, Walk};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use std::collections::BTreeMap;

impl Walk<'_, '_, '_> {
    /// Variables for the folds that are values of the kernel, if short rows have a function.
    pub(super) fn fold_variables(
        &mut self,
        vectors: &[Option<VectorStage>],
        foldings: &[Folding],
    ) -> Vec<Option<Variable>> {
        let has_row = |own: &VectorStage| own.rows.is_some();
        let some = vectors.last().and_then(Option::as_ref).is_some_and(has_row);
        let mut made = Vec::new();
        for own in foldings {
            made.push(match own.target {
                Target::Value(_) if some => {
                    let dtype = own.write.dtype;
                    let empty = self.e.constant(dtype, own.reduce.identity(dtype));
                    Some(self.e.variable(dtype.ir(), empty))
                }
                _ => None,
            });
        }
        made
    }

    /// The pass where the row is short and its folds end with it, if it has a function for that; what is written then is
    /// for other rows, until the condition ends.
    pub(super) fn short_row(
        &mut self,
        pass: &Pass,
        stages: &Stages,
        vectors: &mut [Option<VectorStage>],
        foldings: &[Folding],
        results: &[Option<Variable>],
    ) -> Option<If> {
        if foldings.is_empty() {
            return None;
        }
        let RowsCode { code, most } = vectors.last_mut()?.as_mut()?.rows.take()?;
        let given = self.given(pass, stages, 0);
        let (slots, chunk) = (&BTreeMap::new(), self.n_inner);
        let region = Region { pass, stages, stage: 0, slots, chunk, given };
        let holds = self.is_short(&region, foldings, most);
        let own = self.e.begin_if(holds);
        let vectors = vectors[0].as_ref().expect("it has the code");
        let made = self.by_row(&region, vectors, code, foldings);
        for ((own, made), &result) in foldings.iter().zip(made).zip(results) {
            self.end_fold(own, made, result);
        }
        Some(self.e.begin_else(own))
    }

    /// Whether sums are carried to no other level, no fold goes on in the next row, and elements lie side by side. Folds of
    /// integers and bools give the same bits in every order. They go row by row, up to the length that needs no
    /// question whether to stop.
    fn is_short(&mut self, region: &Region, foldings: &[Folding], most: Option<usize>) -> Value {
        let floats = foldings.iter().any(|own| own.write.dtype.is_float());
        let end = match (most, floats) {
            (Some(most), _) => most.min(self.k.lanes) as i64 + 1,
            (None, true) => foldings[0].first_level(),
            (None, false) if self.k.takes_rows => i64::from(PATIENCE),
            (None, false) => i64::MAX,
        };
        let mut holds = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, self.n_inner, end);
        for own in foldings.iter().filter(|_| floats) {
            if let Target::Write(k) = own.target {
                let stride = self.stride(self.write_pointer(k));
                let moves = self.e.b.ins().icmp_imm_s(IntCC::NotEqual, stride, 0);
                holds = self.e.b.ins().band(holds, moves);
            }
        }
        for own in foldings.iter().filter(|own| !floats && own.write_number().is_some()) {
            // The results that tiles folded are in the sets, which a row folded by itself would not complete.
            let blocks = own.blocks(self.e);
            let none = self.e.b.ins().icmp_imm_s(IntCC::Equal, blocks, 0);
            holds = self.e.b.ins().band(holds, none);
        }
        if let Some(dense) = self.dense(region) {
            holds = self.e.b.ins().band(holds, dense);
        }
        holds
    }

    /// Calls the function of rows for this one; returns the result of each fold.
    fn by_row(
        &mut self,
        region: &Region,
        own: &VectorStage,
        code: Vec<u8>,
        foldings: &[Folding],
    ) -> Vec<Value> {
        let bytes = own.bytes();
        let slot = self.e.stack(bytes);
        let function = self.e.rows_function(code);
        let place = self.e.stack_address(slot);
        self.enter_arguments(region, own, place, foldings);
        let end = self.e.b.ins().iadd_imm_s(place, i64::from(bytes));
        self.e.b.ins().call(function, &[place, self.n_inner, end]);
        self.results_of_row(own, place, foldings)
    }

    /// Adds the elements' result of a fold to where it began.
    pub(super) fn end_fold(&mut self, own: &Folding, made: Value, result: Option<Variable>) {
        let dtype = own.write.dtype;
        match own.target {
            Target::Value(k) => {
                let start = self.k.at(k).args[0];
                let start = self.uniform_value(start);
                let folded = self.e.fold(own.reduce, dtype, start, made);
                match result {
                    Some(result) => self.e.b.def_var(result, folded),
                    None => self.uniform[k] = Some(folded),
                }
            }
            Target::Write(k) => {
                let pointer = self.pointer(self.write_pointer(k));
                let so_far = self.e.load(dtype, pointer, 0);
                let both = self.e.fold(own.reduce, dtype, so_far, made);
                self.e.store(dtype, both, pointer, 0);
            }
        }
    }
}
