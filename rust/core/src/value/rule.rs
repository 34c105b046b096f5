//! Type rules of scalar ops: from the operands' dtypes to the result's, by NumPy 2's rules.

use std::str::FromStr;

use super::dtype::{DType, Kind};
use super::error::Error;

/// The rule by which a scalar op's result type follows from its operands' types.
///
/// Without a float16 operand, the result is not float16: from small integers NumPy's functions make
/// float16, and frazil's make float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeRule {
    /// The common type: `add`, `maximum`.
    Arithmetic,
    /// The common type, which must not be bool: `sub`, `neg`.
    ArithmeticNoBool,
    /// The common type, with int8 for bool: `floordiv`, `mod`, `pow`.
    Floor,
    /// The common type of the floats that hold the operands: `exp`, `arctan2`.
    Float,
    /// The common type if it is a float, else float64: `truediv`.
    Division,
    /// The common type, and that of its parts if it is complex: `abs`, `real`.
    Part,
    /// The complex type whose parts hold the operands, which must be real: `complex`.
    Complex,
    /// bool, from any operands: `lt`.
    Comparison,
    /// The common type, which must be bool or an integer: `and_`.
    Bitwise,
    /// The common type, which must be bool or an integer, with int8 for bool: `left_shift`.
    Shift,
    /// bool, from one operand: `isnan`.
    Predicate,
    /// The common type of all operands but the first, which must be bool: `where`.
    Select,
    /// The named type.
    Cast(DType),
}

impl TypeRule {
    /// The dtype to which operands are converted before the op computes.
    fn common(self, dtypes: &[DType]) -> Result<DType, Error> {
        let operands = match self {
            TypeRule::Select => {
                if dtypes.first() != Some(&DType::Bool) {
                    return Err(Error::ConditionNotBool { given: dtypes.first().copied() });
                }
                &dtypes[1..]
            }
            _ => dtypes,
        };
        operands.iter().copied().reduce(DType::promote).ok_or(Error::NoOperands)
    }

    /// The result's dtype.
    pub fn result(self, op: &str, dtypes: &[DType]) -> Result<DType, Error> {
        let common = self.common(dtypes)?;
        let refuse = |reason| Err(Error::DTypeRefused { op: op.to_owned(), dtype: common, reason });
        Ok(match self {
            TypeRule::Arithmetic | TypeRule::Select => common,
            TypeRule::ArithmeticNoBool if common == DType::Bool => {
                return refuse("use `^` or `logical_not`, or cast to an integer first");
            }
            TypeRule::ArithmeticNoBool => common,
            TypeRule::Floor if common == DType::Bool => DType::Int8,
            TypeRule::Floor => common,
            TypeRule::Float => {
                let float = dtypes.iter().copied().map(as_float).reduce(DType::promote);
                match float.unwrap_or(common) {
                    DType::Float16 if !dtypes.contains(&DType::Float16) => DType::Float32,
                    float => float,
                }
            }
            TypeRule::Part => common.part(),
            TypeRule::Complex if common.is_complex() => {
                return refuse("the parts of a complex number are real");
            }
            TypeRule::Complex => as_float(common).complex(),
            TypeRule::Division if common.is_float() || common.is_complex() => common,
            TypeRule::Division => DType::Float64,
            TypeRule::Comparison | TypeRule::Predicate => DType::Bool,
            TypeRule::Bitwise | TypeRule::Shift if common.is_float() || common.is_complex() => {
                return refuse("bitwise operators take bool or integers; compare or cast first");
            }
            TypeRule::Shift if common == DType::Bool => DType::Int8,
            TypeRule::Bitwise | TypeRule::Shift => common,
            TypeRule::Cast(dtype)
                if common.is_complex() && !dtype.is_complex() && dtype != DType::Bool =>
            {
                return refuse("it would lose the imaginary part; cast its ft.real(...) instead");
            }
            TypeRule::Cast(dtype) => dtype,
        })
    }

    /// Whether operand `position` takes part in finding the common dtype.
    pub fn promotes_operand(self, position: usize) -> bool {
        !(self == TypeRule::Select && position == 0)
    }
}

/// The float that holds the values of a dtype, or comes nearest to it.
fn as_float(dtype: DType) -> DType {
    match (dtype.kind(), dtype.itemsize()) {
        (Kind::Float | Kind::Complex, _) => dtype,
        (_, 1) => DType::Float16,
        (_, 2) => DType::Float32,
        _ => DType::Float64,
    }
}

impl FromStr for TypeRule {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "arithmetic" => TypeRule::Arithmetic,
            "arithmetic_no_bool" => TypeRule::ArithmeticNoBool,
            "floor" => TypeRule::Floor,
            "float" => TypeRule::Float,
            "division" => TypeRule::Division,
            "part" => TypeRule::Part,
            "complex" => TypeRule::Complex,
            "comparison" => TypeRule::Comparison,
            "bitwise" => TypeRule::Bitwise,
            "shift" => TypeRule::Shift,
            "predicate" => TypeRule::Predicate,
            "select" => TypeRule::Select,
            _ => match name.strip_prefix("cast:") {
                Some(dtype) => TypeRule::Cast(dtype.parse()?),
                None => return Err(Error::UnknownRule { name: name.to_owned() }),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::*;

    fn result(rule: &str, dtypes: &[DType]) -> Result<DType, Error> {
        rule.parse::<TypeRule>().unwrap().result("op", dtypes)
    }

    #[test]
    fn rules_follow_numpy() {
        assert_eq!(result("arithmetic", &[Bool, Bool]).unwrap(), Bool);
        assert!(result("arithmetic_no_bool", &[Bool, Bool]).is_err());
        assert_eq!(result("floor", &[Bool, Bool]).unwrap(), Int8);
        assert_eq!(result("float", &[Int32]).unwrap(), Float64);
        assert_eq!(result("float", &[Int16]).unwrap(), Float32);
        // Both fit in a float32, if not in an integer of 16 bits.
        assert_eq!(result("float", &[Int8, UInt16]).unwrap(), Float32);
        assert_eq!(result("float", &[Int32, Float32]).unwrap(), Float64);
        assert_eq!(result("float", &[Bool, Float64]).unwrap(), Float64);
        assert_eq!(result("float", &[Int8, Bool]).unwrap(), Float32);
        assert_eq!(result("float", &[Int8, Float16]).unwrap(), Float16);
        assert_eq!(result("float", &[UInt16, Float16]).unwrap(), Float32);
        assert_eq!(result("division", &[Float16, Int8]).unwrap(), Float16);
        assert_eq!(result("complex", &[Float16, Float16]).unwrap(), Complex64);
        assert_eq!(result("division", &[Int8, Int8]).unwrap(), Float64);
        assert_eq!(result("division", &[Float32, Int8]).unwrap(), Float32);
        assert_eq!(result("comparison", &[Float32, Int8]).unwrap(), Bool);
        assert!(result("bitwise", &[Float32]).is_err());
        assert_eq!(result("shift", &[Bool, Bool]).unwrap(), Int8);
        assert_eq!(result("shift", &[UInt8, Int8]).unwrap(), Int16);
        assert!(result("shift", &[Int64, UInt64]).is_err());
        assert_eq!(result("select", &[Bool, Int8, Float32]).unwrap(), Float32);
        assert!(result("select", &[Int8, Int8, Float32]).is_err());
        assert_eq!(result("cast:uint8", &[Float32]).unwrap(), UInt8);
        assert_eq!(result("part", &[Complex64]).unwrap(), Float32);
        assert_eq!(result("complex", &[Int8, Float32]).unwrap(), Complex64);
        assert_eq!(result("complex", &[Int64, Float32]).unwrap(), Complex128);
        assert!(result("complex", &[Float32, Complex64]).is_err());
        assert_eq!(result("part", &[Int8]).unwrap(), Int8);
        assert_eq!(result("float", &[Complex64, Int64]).unwrap(), Complex128);
        assert_eq!(result("division", &[Complex64, Int8]).unwrap(), Complex64);
        assert!(result("bitwise", &[Complex64]).is_err());
        assert!(result("cast:float64", &[Complex64]).is_err());
        assert_eq!(result("cast:bool", &[Complex64]).unwrap(), Bool);
        assert_eq!(result("cast:complex64", &[Complex128]).unwrap(), Complex64);
        assert!("cast:none".parse::<TypeRule>().is_err());
    }
}
