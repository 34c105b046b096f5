//! Two registers of elements as lanes: neither waits for the other, so the processor has twice as much to do at once.

use crate::loops::angles::Angles;
use crate::loops::exponential::Exponential;
use crate::loops::gamma::Gamma;
use crate::loops::lanes::{Function, Lanes};
use crate::loops::logarithm::Logarithm;

#[derive(Clone, Copy)]
pub(in crate::loops) struct Two<L>(pub(in crate::loops) L, pub(in crate::loops) L);

/// Operations on numbers and on others that stand beside them.
macro_rules! of_each {
    ($($name:ident($($other:ident),*);)*) => {
        $(#[inline(always)]
        fn $name(self, $($other: Self),*) -> Self {
            Two(self.0.$name($($other.0),*), self.1.$name($($other.1),*))
        })*
    };
}

impl<L: Lanes> Lanes for Two<L> {
    type Element = L::Element;
    const EXPONENTIAL: &Exponential<L::Element> = L::EXPONENTIAL;
    const LOGARITHM: &Logarithm<L::Element> = L::LOGARITHM;
    const ANGLES: &Angles<L::Element> = L::ANGLES;
    const GAMMA: &Gamma<L::Element> = L::GAMMA;
    const IS_DOUBLE: bool = L::IS_DOUBLE;

    #[inline(always)]
    fn all(x: L::Element) -> Self {
        let own = L::all(x);
        Two(own, own)
    }

    #[inline(always)]
    fn number(x: f64) -> Self {
        let own = L::number(x);
        Two(own, own)
    }

    #[inline(always)]
    fn each<F: Function>(self) -> Self {
        Two(self.0.each::<F>(), self.1.each::<F>())
    }

    #[inline(always)]
    fn all_within(self, bound: Self) -> bool {
        self.0.all_within(bound.0) & self.1.all_within(bound.1)
    }

    #[inline(always)]
    fn taken_from(self, table: &[L::Element; 16]) -> Self {
        Two(self.0.taken_from(table), self.1.taken_from(table))
    }

    #[inline(always)]
    fn inverse_power(k: Self, t: Self) -> Self {
        Two(L::inverse_power(k.0, t.0), L::inverse_power(k.1, t.1))
    }

    #[inline(always)]
    fn parts(self) -> (Self, Self) {
        let ((m, k), (other_m, other_k)) = (self.0.parts(), self.1.parts());
        (Two(m, other_m), Two(k, other_k))
    }

    of_each! {
        div(by);
        sqrt();
        abs();
        below(bound, yes, no);
        if_odd(yes, no);
        negated_by(t);
        fma(by, more);
        add(other);
        sub(other);
        mul(other);
        within_exponents();
        at_most(most);
        times_power(k, t);
        times_whole_power(k);
        or_edges_of(u);
        with_sign_of(x);
    }
}
