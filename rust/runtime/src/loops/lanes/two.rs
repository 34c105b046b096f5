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
    const DIGAMMA: &Gamma<L::Element> = L::DIGAMMA;
    const IS_DOUBLE: bool = L::IS_DOUBLE;
    const ASKS: bool = L::ASKS;

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
    fn all_between(self, least: Self, most: Self) -> bool {
        self.0.all_between(least.0, most.0) & self.1.all_between(least.1, most.1)
    }

    #[inline(always)]
    fn power_and_rest(self) -> (Self, Self) {
        let ((power, rest), (other, other_rest)) =
            (self.0.power_and_rest(), self.1.power_and_rest());
        (Two(power, other), Two(rest, other_rest))
    }

    #[inline(always)]
    fn whole_power_and_rest(self, k: Self) -> (Self, Self) {
        let (power, rest) = self.0.whole_power_and_rest(k.0);
        let (other, other_rest) = self.1.whole_power_and_rest(k.1);
        (Two(power, other), Two(rest, other_rest))
    }

    #[inline(always)]
    fn reciprocal_and_logs(self) -> (Self, Self, Self) {
        let (first, second) = (self.0.reciprocal_and_logs(), self.1.reciprocal_and_logs());
        (Two(first.0, second.0), Two(first.1, second.1), Two(first.2, second.2))
    }

    #[inline(always)]
    fn normal_parts(self) -> (Self, Self) {
        let ((m, k), (other_m, other_k)) = (self.0.normal_parts(), self.1.normal_parts());
        (Two(m, other_m), Two(k, other_k))
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
    fn whole_power(k: Self, t: Self) -> Self {
        Two(L::whole_power(k.0, t.0), L::whole_power(k.1, t.1))
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
        within_decay();
        at_most(most);
        times_power(k, t);
        times_whole_power(k);
        or_edges_of(u);
        with_sign_of(x);
    }
}
