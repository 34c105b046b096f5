//! Products of small matrices on a tape.

use frazil_core::DType;

use super::{Action, Moves, Parts, Recorder};
use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::strided::TransferPlan;
use crate::linalg::own::KeptGemv;
use crate::linalg::routine::Element;
use crate::linalg::small::SmallDot;
use crate::linalg::small::again::{Facts, SmallAgain};
use crate::run::step::{DotStep, GemmStep, Place, RunStep};

/// A product to record.
struct Product {
    dtype: DType,
    dot: SmallDot,
    operands: [Place; 2],
    addend: Option<(Place, [isize; 2])>,
    to: Place,
}

/// A product of a vector and a matrix of which a copy is kept.
struct Kept {
    dtype: DType,
    gemv: KeptGemv,
    matrix: Place,
    x: Place,
    to: Place,
}

impl Kept {
    /// The bytes of the copy, so that the next one starts where registers may.
    fn bytes(&self) -> usize {
        self.gemv.bytes().next_multiple_of(ALIGNMENT)
    }

    fn of_dot(step: &DotStep) -> Option<Kept> {
        let (dtype, gemv, matrix_first) = step.plan.kept()?;
        Some(Kept::new(dtype, gemv, step.operands, matrix_first, step.to))
    }

    fn of_gemm(step: &GemmStep, adds: bool) -> Option<(Kept, Option<&TransferPlan>)> {
        let (gemv, matrix_first, start) = step.plan.kept(adds)?;
        let [_, _, a, b, _] = step.operands;
        Some((Kept::new(step.plan.dtype(), gemv, [a, b], matrix_first, step.to), start))
    }

    fn new(
        dtype: DType,
        gemv: KeptGemv,
        [a, b]: [Place; 2],
        matrix_first: bool,
        to: Place,
    ) -> Kept {
        let (matrix, x) = if matrix_first { (a, b) } else { (b, a) };
        Kept { dtype, gemv, matrix, x, to }
    }
}

/// The bytes of the copies that a tape of these steps keeps, of matrices in memory that stays the same.
pub(crate) fn kept_bytes(steps: &[RunStep], is_same: impl Fn(usize) -> bool) -> usize {
    let kept = steps.iter().filter_map(|step| match step {
        RunStep::Dot(step) => Kept::of_dot(step),
        RunStep::Gemm(step) => Kept::of_gemm(step, true).map(|(kept, _)| kept),
        _ => None,
    });
    kept.filter(|kept| is_same(kept.matrix.base)).map(|kept| kept.bytes()).sum()
}

impl<'a> Recorder<'a> {
    pub(super) fn dot(&mut self, step: &'a DotStep, parts: &Parts<'_>) {
        if let Some(kept) = Kept::of_dot(step)
            && self.keep(&kept, parts).is_some()
        {
            return;
        }
        let product = step.plan.small().and_then(|(dtype, dot)| {
            let (operands, to) = (step.operands, step.to);
            self.product(&Product { dtype, dot, operands, addend: None, to }, parts)
        });
        if product.is_none() {
            self.add(Action::Dot(step));
        }
    }

    pub(super) fn gemm(&mut self, step: &'a GemmStep, parts: &Parts<'a>) {
        if self.keep_sum(step, parts).is_some() {
            return;
        }
        let product = step.plan.small().and_then(|(dtype, dot, steps)| {
            let [z, alpha, a, b, beta] = step.operands;
            let alpha = self.known_scale(dtype, alpha, parts)?;
            let beta = self.known_scale(dtype, beta, parts)?;
            let addend = (beta != 0.0).then_some((z, steps));
            let is_plain = alpha == 1.0 && (beta == 0.0 || beta == 1.0);
            let product = Product { dtype, dot, operands: [a, b], addend, to: step.to };
            is_plain.then(|| self.product(&product, parts)).flatten()
        });
        if product.is_none() {
            self.add(Action::Gemm(step));
        }
    }

    /// Adds a product that is added to something, by a copy of the matrix; `None`: it has none.
    fn keep_sum(&mut self, step: &'a GemmStep, parts: &Parts<'a>) -> Option<()> {
        let (kept, start) = Kept::of_gemm(step, true)?;
        let [z, alpha, _, _, beta] = step.operands;
        let is_plain =
            [alpha, beta].map(|scale| self.known_scale(kept.dtype, scale, parts) == Some(1.0));
        if is_plain != [true, true] || !self.has_room(&kept) {
            return None;
        }
        if let Some(start) = start {
            self.transfer(start, step.to, z, parts);
        }
        self.keep(&kept, parts)
    }

    /// Whether a copy may be kept, and has room.
    fn has_room(&self, kept: &Kept) -> bool {
        self.is_same(kept.matrix.base) && kept.bytes() <= self.room.1
    }

    /// Adds a product by a copy of its matrix, which it makes; `None`: it cannot be kept.
    fn keep(&mut self, kept: &Kept, parts: &Parts<'_>) -> Option<()> {
        if !self.has_room(kept) {
            return None;
        }
        let (start, bytes) = self.room;
        self.room = (start.wrapping_add(kept.bytes()), bytes - kept.bytes());
        let matrix = kept.matrix.resolve(parts.bases).cast_const();
        // SAFETY: operands that stay the same are inputs and constants, which lie at their places for as
        // long as the tape lives; there is room for the copy.
        // Test: tests/scan/test_small_products.py.
        unsafe {
            match kept.dtype {
                DType::Float32 => kept.gemv.copy::<f32>(matrix.cast(), start.cast()),
                _ => kept.gemv.copy::<f64>(matrix.cast(), start.cast()),
            }
        }
        let first = self.pointers.len();
        self.pointers.push(start);
        self.point(kept.x, parts);
        self.point(kept.to, parts);
        self.add(Action::Kept { gemv: kept.gemv, first });
        Some(())
    }

    /// Adds a product by its own loops; `None`: it has none.
    fn product(&mut self, product: &Product, parts: &Parts<'_>) -> Option<()> {
        let again = match product.dtype {
            DType::Float32 => self.again::<f32>(product, parts),
            _ => self.again::<f64>(product, parts),
        }?;
        let first = self.pointers.len();
        let [row, matrix] = again.in_order(product.operands);
        self.point(row, parts);
        match again.kept() {
            Some(kept) => self.pointers.push(kept),
            None => _ = self.point(matrix, parts),
        }
        // Where nothing is added, nothing is read there.
        self.point(product.addend.map_or(product.to, |(place, _)| place), parts);
        self.point(product.to, parts);
        self.add(Action::Small { again: Box::new(again), first });
        Some(())
    }

    fn again<T: Element>(&self, product: &Product, parts: &Parts<'_>) -> Option<SmallAgain> {
        let same = product.operands.map(|place| {
            self.is_same(place.base).then(|| place.resolve(parts.bases).cast_const().cast::<T>())
        });
        let facts = Facts { addend: product.addend.map(|(_, steps)| steps), same };
        // SAFETY: operands that stay the same are inputs and constants, which lie at their places for as
        // long as the tape lives.
        // Test: tests/scan/test_small_products.py.
        unsafe { SmallAgain::new(product.dot, &facts) }
    }

    /// The value of a scale, if it is a constant.
    fn known_scale(&self, dtype: DType, place: Place, parts: &Parts<'_>) -> Option<f64> {
        if !(self.bases.constants..self.bases.arena).contains(&place.base) {
            return None;
        }
        let at = place.resolve(parts.bases);
        // SAFETY: a scale is one element of the product's type, and a constant is always there.
        // Test: tests/scan/test_small_products.py.
        unsafe {
            Some(match dtype {
                DType::Float32 => f64::from(at.cast::<f32>().read()),
                _ => at.cast::<f64>().read(),
            })
        }
    }

    /// Whether a memory has the same elements in each execution.
    fn is_same(&self, base: usize) -> bool {
        base < self.bases.arena && self.moves[base] == Moves::Never && !self.donated.contains(&base)
    }
}
