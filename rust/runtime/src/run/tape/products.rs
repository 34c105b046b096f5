//! Products of small matrices on a tape.

use frazil_core::DType;

use super::{Action, Moves, Parts, Recorder};
use crate::linalg::routine::Element;
use crate::linalg::small::SmallDot;
use crate::linalg::small::again::{Facts, SmallAgain};
use crate::run::step::{DotStep, GemmStep, Place};

/// A product to record.
struct Product {
    dtype: DType,
    dot: SmallDot,
    operands: [Place; 2],
    addend: Option<(Place, [isize; 2])>,
    to: Place,
}

impl<'a> Recorder<'a> {
    pub(super) fn dot(&mut self, step: &'a DotStep, parts: &Parts<'_>) {
        let product = step.plan.small().and_then(|(dtype, dot)| {
            let operands = [step.a, step.b];
            self.product(&Product { dtype, dot, operands, addend: None, to: step.to }, parts)
        });
        if product.is_none() {
            self.add(Action::Dot(step));
        }
    }

    pub(super) fn gemm(&mut self, step: &'a GemmStep, parts: &Parts<'_>) {
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
