//! Draws of random numbers.

use crate::arrays::layout::Layout;
use crate::draws::draw::DrawPlan;
use crate::error::Fault;
use crate::program::instr::Draw;
use crate::run::step::{DrawStep, RunStep};

use super::Binder;

impl Binder<'_> {
    pub(super) fn draw(&mut self, code: &Draw) -> Result<RunStep, Fault> {
        let words = self.layout(code.state).dims.clone();
        let next = self.fresh(code.next, &words)?;
        let dims = self.numbers(&code.dims);
        let to = self.fresh(code.to, &dims)?;
        let parameters: Vec<&Layout> =
            code.parameters.iter().map(|&slot| self.layout(slot)).collect();
        let (state_at, to_at) = (self.layout(code.state), self.layout(code.to));
        let plan = DrawPlan::new(code.distribution, state_at, &parameters, to_at)?;
        let parameters = code.parameters.iter().map(|&slot| self.slot(slot).place).collect();
        let state = self.slot(code.state).place;
        Ok(RunStep::Draw(Box::new(DrawStep { state, parameters, next, to, plan })))
    }
}
