//! The distributions: the arguments of NumPy's function for each, and the conditions on its parameters.

use std::ffi::c_void;
use std::fmt;

use frazil_core::DType;
use once_cell::race::OnceBox;
use serde::{Deserialize, Serialize};

use crate::draws::limits::Limit;
use crate::error::Fault;

/// The method by which the numbers of a distribution are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// A float64 of float64 parameters.
    Double,
    /// A float32 of float32 parameters.
    Float,
    /// All float64 at once, without parameters.
    Doubles,
    /// All float32 at once, without parameters.
    Floats,
    /// An int64 of float64 parameters.
    Count,
    /// An int64 of a number of trials and a probability.
    Binomial,
    /// An int64 of three.
    Hypergeometric,
    /// A float64 between two.
    Uniform,
    /// An integer of this type between two bounds. The upper bound is included if the third
    /// parameter is not zero.
    Integer(DType),
    /// Rows: the numbers below the length of the row, in any order.
    Permutation,
    /// Different numbers below one that is given; put in any order if the second parameter is not
    /// zero.
    Sample,
    /// Rows: how often each of several outcomes comes up in some trials.
    Multinomial,
    /// Rows of floats that sum to one.
    Dirichlet,
    /// Rows: how many of each colour are in a sample.
    Colors,
}

impl Method {
    fn result(self) -> DType {
        match self {
            Method::Double | Method::Doubles | Method::Uniform | Method::Dirichlet => {
                DType::Float64
            }
            Method::Float | Method::Floats => DType::Float32,
            Method::Count | Method::Binomial | Method::Hypergeometric => DType::Int64,
            Method::Permutation | Method::Sample | Method::Multinomial | Method::Colors => {
                DType::Int64
            }
            Method::Integer(dtype) => dtype,
        }
    }

    /// The type of the parameter at a position.
    fn parameter(self, position: usize) -> DType {
        match (self, position) {
            (Method::Float, _) => DType::Float32,
            (Method::Binomial | Method::Multinomial, 0) => DType::Int64,
            (Method::Hypergeometric | Method::Sample | Method::Colors, _) => DType::Int64,
            (Method::Integer(DType::UInt64), 0 | 1) => DType::UInt64,
            (Method::Integer(_), _) => DType::Int64,
            _ => DType::Float64,
        }
    }

    /// Whether the numbers along the last axis are drawn together.
    pub(crate) fn has_rows(self) -> bool {
        matches!(
            self,
            Method::Permutation | Method::Multinomial | Method::Dirichlet | Method::Colors
        )
    }

    /// Whether each row takes a row of a parameter.
    pub(crate) fn takes_rows(self, position: usize) -> bool {
        matches!(
            (self, position),
            (Method::Multinomial, 1) | (Method::Dirichlet | Method::Colors, 0)
        )
    }
}

/// A row of the table of distributions.
struct Row {
    name: &'static str,
    /// NumPy's function.
    symbol: &'static str,
    method: Method,
    parameters: &'static [(&'static str, Limit)],
}

macro_rules! rows {
    ($($name:literal $symbol:literal $method:ident$(($dtype:ident))? $([$($parameter:literal $limit:ident),*])?)*) => {
        &[$(Row {
            name: $name,
            symbol: $symbol,
            method: Method::$method$((DType::$dtype))?,
            parameters: &[$($(($parameter, Limit::$limit)),*)?],
        }),*]
    };
}

const ROWS: &[Row] = rows! {
    "random" "random_standard_uniform_fill" Doubles
    "random" "random_standard_uniform_fill_f" Floats
    "standard_normal" "random_standard_normal_fill" Doubles
    "standard_normal" "random_standard_normal_fill_f" Floats
    "standard_exponential" "random_standard_exponential_fill" Doubles
    "standard_exponential" "random_standard_exponential_fill_f" Floats
    "standard_exponential_inv" "random_standard_exponential_inv_fill" Doubles
    "standard_exponential_inv" "random_standard_exponential_inv_fill_f" Floats
    "standard_gamma" "random_standard_gamma" Double ["shape" NonNegative]
    "standard_gamma" "random_standard_gamma_f" Float ["shape" NonNegative]
    "standard_cauchy" "random_standard_cauchy" Double
    "standard_t" "random_standard_t" Double ["df" Positive]
    "uniform" "random_uniform" Uniform ["low" Any, "high" Any]
    "normal" "random_normal" Double ["loc" Any, "scale" NonNegative]
    "exponential" "random_exponential" Double ["scale" NonNegative]
    "gamma" "random_gamma" Double ["shape" NonNegative, "scale" NonNegative]
    "beta" "random_beta" Double ["a" Positive, "b" Positive]
    "chisquare" "random_chisquare" Double ["df" Positive]
    "noncentral_chisquare" "random_noncentral_chisquare" Double ["df" Positive, "nonc" NonNegative]
    "f" "random_f" Double ["dfnum" Positive, "dfden" Positive]
    "noncentral_f" "random_noncentral_f" Double
        ["dfnum" Positive, "dfden" Positive, "nonc" NonNegative]
    "pareto" "random_pareto" Double ["a" Positive]
    "weibull" "random_weibull" Double ["a" NonNegative]
    "power" "random_power" Double ["a" Positive]
    "laplace" "random_laplace" Double ["loc" Any, "scale" NonNegative]
    "gumbel" "random_gumbel" Double ["loc" Any, "scale" NonNegative]
    "logistic" "random_logistic" Double ["loc" Any, "scale" NonNegative]
    "lognormal" "random_lognormal" Double ["mean" Any, "sigma" NonNegative]
    "rayleigh" "random_rayleigh" Double ["scale" NonNegative]
    "wald" "random_wald" Double ["mean" Positive, "scale" Positive]
    "vonmises" "random_vonmises" Double ["mu" Any, "kappa" NonNegative]
    "triangular" "random_triangular" Double ["left" Any, "mode" Any, "right" Any]
    "poisson" "random_poisson" Count ["lam" Rate]
    "geometric" "random_geometric" Count ["p" UnitPositive]
    "logseries" "random_logseries" Count ["p" UnitOpen]
    "zipf" "random_zipf" Count ["a" AboveOne]
    "negative_binomial" "random_negative_binomial" Count ["n" PositiveNumber, "p" UnitPositive]
    "binomial" "random_binomial" Binomial ["n" NonNegative, "p" Unit]
    "hypergeometric" "random_hypergeometric" Hypergeometric
        ["ngood" NonNegative, "nbad" NonNegative, "nsample" NonNegative]
    "integers" "random_buffered_bounded_bool" Integer(Bool) ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_buffered_bounded_uint8" Integer(Int8) ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_buffered_bounded_uint8" Integer(UInt8) ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_buffered_bounded_uint16" Integer(Int16)
        ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_buffered_bounded_uint16" Integer(UInt16)
        ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_buffered_bounded_uint32" Integer(Int32)
        ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_buffered_bounded_uint32" Integer(UInt32)
        ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_bounded_uint64" Integer(Int64) ["low" Any, "high" Any, "endpoint" Any]
    "integers" "random_bounded_uint64" Integer(UInt64) ["low" Any, "high" Any, "endpoint" Any]
    "permutation" "random_interval" Permutation
    "sample" "random_bounded_uint64" Sample ["a" Any, "shuffle" Any]
    "multinomial" "random_multinomial" Multinomial ["n" NonNegative, "pvals" Unit]
    "dirichlet" "random_standard_gamma" Dirichlet ["alpha" NotBelowZero]
    "multivariate_hypergeometric" "random_multivariate_hypergeometric_marginals" Colors
        ["colors" NonNegative, "nsample" NonNegative]
    "multivariate_hypergeometric_count" "random_multivariate_hypergeometric_count" Colors
        ["colors" NonNegative, "nsample" NonNegative]
};

static FOUND: [OnceBox<usize>; ROWS.len()] = [const { OnceBox::new() }; ROWS.len()];

/// A distribution, with the type of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u16", try_from = "u16")]
pub struct Distribution(u16);

impl From<Distribution> for u16 {
    fn from(distribution: Distribution) -> u16 {
        distribution.0
    }
}

impl TryFrom<u16> for Distribution {
    type Error = &'static str;

    fn try_from(number: u16) -> Result<Distribution, &'static str> {
        let known = usize::from(number) < ROWS.len();
        if known { Ok(Distribution(number)) } else { Err("no such distribution") }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.row().name)
    }
}

impl Distribution {
    /// Every distribution, in the order of the table.
    pub fn all() -> impl Iterator<Item = Distribution> {
        (0..ROWS.len() as u16).map(Distribution)
    }

    /// The distribution of this name whose numbers are of this type.
    pub fn find(name: &str, dtype: DType) -> Option<Distribution> {
        let fits = |row: &Row| row.name == name && row.method.result() == dtype;
        ROWS.iter().position(fits).map(|at| Distribution(at as u16))
    }

    fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name of NumPy's function that it needs.
    pub fn symbol(self) -> &'static str {
        self.row().symbol
    }

    pub(crate) fn method(self) -> Method {
        self.row().method
    }

    /// The type of its numbers.
    pub fn result(self) -> DType {
        self.method().result()
    }

    /// The types of its parameters.
    pub fn parameters(self) -> impl ExactSizeIterator<Item = DType> {
        (0..self.row().parameters.len()).map(move |at| self.method().parameter(at))
    }

    /// Whether the numbers along the last axis are drawn together.
    pub fn has_rows(self) -> bool {
        self.method().has_rows()
    }

    /// Whether each row takes a row of a parameter.
    pub fn takes_rows(self, position: usize) -> bool {
        self.method().takes_rows(position)
    }

    /// The name of a parameter, and the condition on each of its elements.
    pub(crate) fn limit(self, position: usize) -> (&'static str, Limit) {
        self.row().parameters[position]
    }

    /// The address of its function.
    pub(crate) fn function(self) -> Result<*const c_void, Fault> {
        let found = FOUND[usize::from(self.0)].get().copied();
        let missing = Fault::RoutineMissing { routine: self.symbol() };
        found.map(|address| address as *const c_void).ok_or(missing)
    }
}

/// Says where a function of NumPy's lies, for every program of the process, unless that was said
/// before.
///
/// # Safety
/// The address is that of NumPy's function of this name, callable from many threads.
pub unsafe fn set_sampler(symbol: &str, address: *const c_void) {
    for (found, row) in FOUND.iter().zip(ROWS) {
        if row.symbol == symbol {
            found.get_or_init(|| Box::new(address as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_type_lead_to_one_distribution() {
        for distribution in Distribution::all() {
            let found = Distribution::find(distribution.name(), distribution.result());
            assert_eq!(found, Some(distribution));
            assert_eq!(Distribution::try_from(u16::from(distribution)), Ok(distribution));
        }
        assert_eq!(Distribution::find("normal", DType::Float32), None);
        assert!(Distribution::try_from(ROWS.len() as u16).is_err());
    }
}
