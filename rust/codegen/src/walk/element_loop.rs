//! Scalar loops: for a register of elements together, or for one element.

use crate::dtype::Dtype;
use crate::kernel::{Action, Statement};
use crate::steps::Count;
use crate::walk::Walk;
use crate::walk::turn::Region;
use cranelift_codegen::ir::Value;

impl Walk<'_, '_, '_> {
    /// The arguments of a statement that a turn needs for each element.
    pub(super) fn varying_args(&self, k: usize) -> &[usize] {
        let own = self.k.at(k);
        match own.action {
            Action::Loop { .. } if self.are_uniform(&own.args[..1]) => &own.args[1..],
            _ => &own.args,
        }
    }

    /// The types of all that is in registers where elements go through a loop.
    pub(super) fn dtypes_of_loop(&self, of: usize, own: &Statement) -> Vec<Dtype> {
        let body = &self.k.bodies[of];
        let first = usize::from(self.are_uniform(&own.args[..1]));
        let steps = body.statements.iter().flat_map(|own| own.operands.iter().copied());
        body.dtypes()
            .into_iter()
            .chain(steps)
            .chain(own.operands[first..].iter().copied())
            .collect()
    }

    /// The number of statements in the longest step of a loop, if a stage has loops.
    pub(super) fn longest_loop(&self, region: &Region) -> Option<usize> {
        let computed = region.stages.computed[region.stage].iter();
        let lengths = computed.filter_map(|&k| match self.k.at(k).action {
            Action::Loop { of, .. } => Some(self.k.bodies[of].statements.len()),
            _ => None,
        });
        lengths.max()
    }

    /// The values of a loop in a turn.
    pub(super) fn loop_results(
        &mut self,
        k: usize,
        registers: u32,
        values: &[Vec<Value>],
    ) -> Vec<Value> {
        let own = self.k.at(k);
        let Action::Loop { of, at } = own.action else { unreachable!("it is one") };
        let wide = self.e.wide.take();
        let same = self.are_uniform(&own.args[..1]).then(|| {
            let count = self.uniform_value(own.args[0]);
            self.e.convert(count, self.k.dtype(own.args[0]), own.operands[0])
        });
        self.e.wide = wide;
        // The operands of each register, or element; without a number of steps that is the same.
        let mut given: Vec<Vec<Value>> = vec![Vec::new(); registers as usize];
        for (place, &a) in own.args.iter().enumerate().skip(usize::from(same.is_some())) {
            for (n, given) in given.iter_mut().enumerate() {
                let from = self.k.dtype(a);
                given.push(self.e.convert(values[a][n], from, own.operands[place]));
            }
        }
        let body = &self.k.bodies[of];
        if wide.is_none() {
            let one = |given: &Vec<Value>| {
                let operands: Vec<Value> = same.iter().chain(given).copied().collect();
                self.e.element_loop(body, &operands)[at]
            };
            return given.iter().map(one).collect();
        }
        let count = match same {
            Some(count) => Count::Same(count),
            None => Count::Each(given.iter_mut().map(|own| own.remove(0)).collect()),
        };
        self.e.loop_of_registers(body, at, &count, &given)
    }

    /// Result `at` of a loop whose operands are the same along the row.
    pub(super) fn loop_of_one(
        &mut self,
        of: usize,
        at: usize,
        own: &Statement,
        args: &[Value],
    ) -> Value {
        let mut given = Vec::new();
        for (place, &a) in own.args.iter().enumerate() {
            given.push(self.e.convert(args[place], self.k.dtype(a), own.operands[place]));
        }
        self.e.element_loop(&self.k.bodies[of], &given)[at]
    }
}
