//! Draws of random numbers.

use frazil_core::DType;

use crate::draws::distribution::Distribution;
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::program::instr::{Draw, InstrKind};

use super::{Builder, Built, check_count};

impl Builder {
    /// Random numbers of a distribution in an array of `dims`, and the state of the generator after
    /// them. `state` is the state before; parameters broadcast to `dims`, or to all but the last of
    /// them where the distribution draws rows.
    pub fn draw(
        &mut self,
        distribution: Distribution,
        state: Slot,
        parameters: &[Slot],
        dims: &[Size],
    ) -> Built<[Slot; 2]> {
        self.check_rank(state, 1, "the state of a generator is a vector")?;
        self.check_dtype(state, DType::UInt64)?;
        let dtypes = distribution.parameters();
        check_count("parameters of a distribution", parameters.len(), dtypes.len())?;
        let rows = usize::from(distribution.has_rows());
        if dims.len() < rows {
            let expected = rows;
            return Err(BuildError::Count { what: "axes of rows", given: dims.len(), expected });
        }
        for (at, (&slot, dtype)) in parameters.iter().zip(dtypes).enumerate() {
            self.check_dtype(slot, dtype)?;
            let given = self.info(slot)?.ndim;
            let row = usize::from(distribution.takes_rows(at));
            if given < row || given - row > dims.len() - rows {
                let needed = "a parameter has more axes than the numbers that are drawn";
                return Err(BuildError::Rank { slot, given, needed });
            }
        }
        self.check_sizes(dims.iter().copied())?;
        let reads = parameters.iter().copied().chain([state]);
        let dynamic = self.depends(reads, dims.iter().copied())?;
        let next = self.result(DType::UInt64, 1, dynamic)?;
        let to = self.result(distribution.result(), dims.len(), dynamic)?;
        let draw = Draw {
            distribution,
            state,
            parameters: parameters.into(),
            dims: dims.into(),
            next,
            to,
        };
        self.push(InstrKind::Draw(Box::new(draw)), dynamic);
        Ok([next, to])
    }
}
