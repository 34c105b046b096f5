//! Conditions on the parameters of distributions, as in NumPy.

use crate::error::Fault;

/// A condition on each element of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Any,
    /// Not below zero, and no negative zero.
    NonNegative,
    /// Not below zero.
    NotBelowZero,
    Positive,
    PositiveNumber,
    /// From 0 to 1.
    Unit,
    /// From 0 to 1, without 0.
    UnitPositive,
    /// From 0 to 1, without 1.
    UnitOpen,
    AboveOne,
    /// From 0 to the largest number that a 64-bit count holds.
    Rate,
}

/// The largest rate of a Poisson distribution.
pub(crate) fn largest_rate() -> f64 {
    let largest = i64::MAX as f64;
    largest - largest.sqrt() * 10.0
}

impl Limit {
    /// The fault of a value, as it is written behind the parameter's name.
    fn broken_by(self, value: f64) -> Option<&'static str> {
        let (holds, wrong) = match self {
            Limit::Any => (true, ""),
            Limit::NonNegative => (value.is_nan() || !value.is_sign_negative(), "< 0"),
            Limit::NotBelowZero => (value.is_nan() || value >= 0.0, "< 0"),
            Limit::Positive => (value.is_nan() || value > 0.0, "<= 0"),
            Limit::PositiveNumber if value.is_nan() => (false, "must not be NaN"),
            Limit::PositiveNumber => (value > 0.0, "<= 0"),
            Limit::Unit => ((0.0..=1.0).contains(&value), "is not from 0 to 1"),
            Limit::UnitPositive => (value > 0.0 && value <= 1.0, "is not above 0 and up to 1"),
            Limit::UnitOpen => ((0.0..1.0).contains(&value), "is not from 0 to below 1"),
            Limit::AboveOne => (value > 1.0, "is not above 1"),
            Limit::Rate if value >= 0.0 => (value <= largest_rate(), "is too large"),
            Limit::Rate => (false, "is not 0 or more"),
        };
        (!holds).then_some(wrong)
    }

    /// Checks an element of the parameter with this name.
    pub(crate) fn check(self, name: &str, value: f64) -> Result<(), Fault> {
        match self.broken_by(value) {
            None => Ok(()),
            Some(wrong) => Err(Fault::Parameter { what: format!("{name} {wrong}, given {value}") }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_numpy() {
        let holds = |limit: Limit, value: f64| limit.check("p", value).is_ok();
        for value in [0.0, -0.0, -1.0, 0.5, 1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(holds(Limit::Any, value));
        }
        assert!(holds(Limit::NonNegative, 0.0) && holds(Limit::NonNegative, f64::NAN));
        assert!(!holds(Limit::NonNegative, -0.0));
        assert!(holds(Limit::NotBelowZero, -0.0) && !holds(Limit::NotBelowZero, -1.0));
        assert!(holds(Limit::Positive, f64::NAN) && !holds(Limit::PositiveNumber, f64::NAN));
        assert!(!holds(Limit::Positive, 0.0) && !holds(Limit::PositiveNumber, 0.0));
        assert!(holds(Limit::Unit, 0.0) && holds(Limit::Unit, 1.0) && !holds(Limit::Unit, 1.5));
        assert!(!holds(Limit::UnitPositive, 0.0) && holds(Limit::UnitPositive, 1.0));
        assert!(holds(Limit::UnitOpen, 0.0) && !holds(Limit::UnitOpen, 1.0));
        assert!(!holds(Limit::AboveOne, 1.0) && !holds(Limit::AboveOne, f64::NAN));
        assert!(holds(Limit::Rate, 1e18) && !holds(Limit::Rate, 9.3e18));
        assert!(!holds(Limit::Rate, -1.0) && !holds(Limit::Rate, f64::NAN));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = Limit::NonNegative.check("scale", -1.5).unwrap_err();
        assert_eq!(fault.to_string(), "scale < 0, given -1.5");
    }
}
