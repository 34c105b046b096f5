//! `Variable` and its kinds, with the operators.

use std::sync::Arc;
use std::sync::OnceLock;

use frazil_core::node::elemwise::{self, Operands};
use frazil_core::value::literal;
use frazil_core::{Body, Error, Node, Op, Var};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use smallvec::smallvec;

use crate::array::read_only_array;
use crate::cell::SharedCell;
use crate::container::current;
use crate::error::raise;
use crate::object_table::{
    ObjectResult, apply_wrapper, container_wrapper, forget_variable, wrapper,
};
use crate::once::intern;
use crate::op::OpBase;
use crate::operand::{operand, python_number};
use crate::pickled;
use crate::source_line::here;
use crate::types::{TensorType, dtype_name};
use crate::wrapped::{Wrap, Wrapped};

/// One tensor-valued place in a graph; equality is identity.
///
/// It is an input, a constant, or the result of a node (`owner`), and has a `type`. Its operators and
/// methods are the methods of NumPy's arrays; they give other variables, and compute nothing.
///
/// Examples
/// --------
/// >>> import frazil.tensor as ft
/// >>> x = ft.vector("x")
/// >>> y = 2 * x
/// >>> y.type, y.owner.inputs[1] is x
/// (TensorType(float64[?]), True)
/// >>> y is 2 * x
/// True
/// >>> y.eval({x: [1.0, 2.0]})
/// array([2., 4.])
#[pyclass(frozen, subclass, weakref, module = "frazil._core")]
pub struct Variable(Wrapped<Var>);

impl Variable {
    /// The wrapper's content; `wrapper` makes wrappers.
    pub fn from_var(var: Var) -> Variable {
        Variable(Wrapped::new(var))
    }

    /// The variable.
    pub fn var(&self) -> &Var {
        &self.0
    }
}

impl Wrap for Var {
    fn release(self, py: Python<'_>) {
        forget_variable(py, &self);
        drop_node(py, self.into_node());
    }
}

/// Drops a node; if that frees a large graph, other threads run meanwhile.
pub fn drop_node(py: Python<'_>, node: Node) {
    if let Some(debris) = node.drop_some(256) {
        py.detach(|| drop(debris));
    }
}

macro_rules! operators {
    ($($operator:ident),* $(,)?) => {
        /// An operator of Python's that builds a node.
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Operator { $($operator),* }

        const OPERATOR_NAMES: &[&str] = &[$(stringify!($operator)),*];
    };
}

operators!(
    add,
    sub,
    mul,
    truediv,
    floordiv,
    r#mod,
    pow,
    neg,
    abs,
    and_,
    or_,
    xor,
    left_shift,
    right_shift,
    invert,
    lt,
    le,
    gt,
    ge,
);

static OPERATORS: [OnceLock<Op>; OPERATOR_NAMES.len()] =
    [const { OnceLock::new() }; OPERATOR_NAMES.len()];

/// Says which op an operator applies.
#[pyfunction]
pub fn register_operator(name: &str, op: &Bound<'_, OpBase>) -> PyResult<()> {
    let position = OPERATOR_NAMES
        .iter()
        .position(|known| known.trim_start_matches("r#") == name)
        .ok_or_else(|| raise(Error::UnknownOperator { name: name.to_owned() }))?;
    let _ = OPERATORS[position].set(op.get().op()?.elementwise());
    Ok(())
}

fn operator(operator: Operator) -> PyResult<Op> {
    let position = operator as usize;
    OPERATORS[position]
        .get()
        .cloned()
        .ok_or_else(|| raise(Error::UnknownOperator { name: OPERATOR_NAMES[position].to_owned() }))
}

/// `op` applied to operands that are ready.
pub fn apply<'py>(py: Python<'py>, op: Op, operands: Operands) -> ObjectResult<'py> {
    let var = elemwise::apply(&*current(py)?, op, operands, here(py)?).map_err(raise)?;
    wrapper(py, var)
}

fn unary<'py>(slf: &Bound<'py, Variable>, which: Operator) -> ObjectResult<'py> {
    let var = slf.get().var().clone();
    apply(slf.py(), operator(which)?, smallvec![elemwise::Operand::Var(var)])
}

/// `slf op other`; `NotImplemented` where `other` is nothing that a tensor can be made of, but might
/// know better itself: None and text do not.
fn binary<'py>(
    slf: &Bound<'py, Variable>,
    other: &Bound<'py, PyAny>,
    which: Operator,
    reflected: bool,
) -> ObjectResult<'py> {
    let py = slf.py();
    let this = elemwise::Operand::Var(slf.get().var().clone());
    let given = other;
    let other = match operand(given) {
        Ok(other) => other,
        Err(error)
            if error.is_instance_of::<PyTypeError>(py)
                && !given.is_none()
                && !given.is_instance_of::<PyString>() =>
        {
            return Ok(py.NotImplemented().into_bound(py));
        }
        Err(error) => return Err(error),
    };
    let operands = if reflected { smallvec![other, this] } else { smallvec![this, other] };
    apply(py, operator(which)?, operands)
}

#[pymethods]
impl Variable {
    #[new]
    #[allow(clippy::new_ret_no_self)] // `wrapper` makes every wrapper.
    #[pyo3(signature = (r#type, name=None))]
    fn new<'py>(py: Python<'py>, r#type: &TensorType, name: Option<&str>) -> ObjectResult<'py> {
        wrapper(py, current(py)?.input(&r#type.0, name, None))
    }

    #[getter]
    fn r#type(&self) -> TensorType {
        TensorType(self.var().ty().clone())
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        dtype_name(py, self.var().ty().dtype())
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.var().ty().ndim()
    }

    #[getter]
    fn broadcastable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, self.var().ty().shape().iter().map(|&dim| dim == Some(1)))
    }

    #[getter]
    fn owner<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.var().node().body() {
            Body::Apply { .. } => apply_wrapper(py, self.var().node().clone()).map(Some),
            _ => Ok(None),
        }
    }

    #[getter]
    fn index(&self) -> usize {
        self.var().index()
    }

    /// The container that the variable lives in.
    #[getter]
    fn container<'py>(&self, py: Python<'py>) -> ObjectResult<'py> {
        container_wrapper(py, self.var().container())
    }

    #[getter]
    fn name(&self) -> Option<String> {
        self.var().name().map(|name| name.to_string())
    }

    /// Names the variable in messages and printed graphs; equal expressions are one variable, with one name.
    #[setter]
    fn set_name(&self, name: Option<&str>) -> PyResult<()> {
        self.var().set_name(name).map_err(raise)
    }

    fn __copy__<'py>(slf: Bound<'py, Self>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        pickled::parts(slf.py(), slf.get().var())
    }

    #[getter]
    fn digest(&self) -> String {
        self.var().digest().to_string()
    }

    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    fn __hash__(&self) -> u64 {
        self.var().node().digest().short() ^ self.var().index() as u64
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(format!(
            "{} has no truth value before the graph runs; use ft.where(condition, a, b) to choose by its \
             value, (a < x) & (x < b) for a < x < b and for `and`, or compare with `is` to ask whether two variables are the same",
            self.var().describe()
        )))
    }

    fn __repr__(&self) -> String {
        match self.var().constant() {
            Some(_) => self.var().describe(),
            None => format!("{}: {}", self.var().describe(), self.var().ty()),
        }
    }

    fn __str__(&self) -> String {
        self.var().describe()
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::add, false)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::add, true)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::sub, false)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::sub, true)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::mul, false)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::mul, true)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::truediv, false)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::truediv, true)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::floordiv, false)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::floordiv, true)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::r#mod, false)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::r#mod, true)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> ObjectResult<'py> {
        refuse_modulo(modulo)?;
        binary(slf, other, Operator::pow, false)
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> ObjectResult<'py> {
        refuse_modulo(modulo)?;
        binary(slf, other, Operator::pow, true)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::and_, false)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::and_, true)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::or_, false)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::or_, true)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::xor, false)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::xor, true)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::left_shift, false)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::left_shift, true)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::right_shift, false)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        binary(slf, other, Operator::right_shift, true)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(slf, Operator::neg)
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(slf, Operator::abs)
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        unary(slf, Operator::invert)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> ObjectResult<'py> {
        let py = slf.py();
        match comparison {
            CompareOp::Lt => binary(slf, other, Operator::lt, false),
            CompareOp::Le => binary(slf, other, Operator::le, false),
            CompareOp::Gt => binary(slf, other, Operator::gt, false),
            CompareOp::Ge => binary(slf, other, Operator::ge, false),
            // Handles, not arrays: `==` asks whether both are the same variable.
            CompareOp::Eq => Ok(slf.is(other).into_pyobject(py)?.to_owned().into_any()),
            CompareOp::Ne => Ok((!slf.is(other)).into_pyobject(py)?.to_owned().into_any()),
        }
    }
}

fn refuse_modulo(modulo: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match modulo {
        Some(modulo) if !modulo.is_none() => {
            Err(PyTypeError::new_err("pow() with a modulus is not defined for tensors"))
        }
        _ => Ok(()),
    }
}

/// A variable with a value that is known and never changes.
///
/// `frazil.tensor.constant` makes one; equal ones are one object. `data` is its value, read-only.
///
/// Examples
/// --------
/// >>> import frazil.tensor as ft
/// >>> one = ft.constant([1.0, 2.0])
/// >>> one.data, one is ft.constant([1.0, 2.0])
/// (array([1., 2.]), True)
#[pyclass(frozen, extends = Variable, module = "frazil._core")]
pub struct Constant;

#[pymethods]
impl Constant {
    /// The value, as a read-only array.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        let var = slf.as_super().get().var();
        let data = var.constant().expect("the wrapper of a constant");
        read_only_array(slf.py(), data, slf.as_any())
    }

    /// The value as a Python number; None of a constant with dimensions.
    #[getter]
    fn number<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let var = slf.as_super().get().var();
        let value = var.constant().and_then(literal::number);
        value.map(|value| python_number(slf.py(), value)).transpose()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let make = slf.py().import("frazil._core")?.getattr("constant")?;
        Ok((make, (Constant::data(slf)?,)))
    }
}

/// A root input with a value that is kept between calls.
///
/// `frazil.shared` makes one; the updates of a function change it.
///
/// Examples
/// --------
/// >>> import frazil as fz
/// >>> count = fz.shared(0, name="count")
/// >>> tick = fz.function([], count, updates={count: count + 1})
/// >>> int(tick()), int(tick()), int(count.get_value())
/// (0, 1, 2)
/// >>> count.set_value(10)
/// >>> int(tick())
/// 10
#[pyclass(frozen, extends = Variable, module = "frazil._core")]
pub struct SharedVariable {
    cell: Arc<SharedCell>,
}

impl SharedVariable {
    /// The wrapper's content.
    pub fn new(cell: Arc<SharedCell>) -> SharedVariable {
        SharedVariable { cell }
    }

    /// The cell of the value.
    pub fn cell(&self) -> &Arc<SharedCell> {
        &self.cell
    }

    /// Another variable, which holds a copy of the value.
    fn other<'py>(slf: &Bound<'py, SharedVariable>) -> ObjectResult<'py> {
        let (make, arguments): (Bound<'_, PyAny>, Bound<'_, PyTuple>) =
            SharedVariable::__reduce__(slf)?.extract()?;
        make.call1(arguments)
    }
}

#[pymethods]
impl SharedVariable {
    /// The value; the array itself if `borrow`, else a copy.
    #[pyo3(signature = (borrow=false))]
    fn get_value<'py>(&self, py: Python<'py>, borrow: bool) -> ObjectResult<'py> {
        let array = self.cell.get(py).into_bound(py).into_any();
        if borrow { Ok(array) } else { array.call_method0(intern!(py, "copy")) }
    }

    /// Stores a value, converted as a function's argument is; the array itself if `borrow`, else a copy.
    #[pyo3(signature = (value, borrow=false))]
    fn set_value<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
        borrow: bool,
    ) -> PyResult<()> {
        let py = slf.py();
        let var = slf.as_super().get().var();
        let convert = py.import("frazil.compile.argument")?.getattr("convert")?;
        let name = var.name();
        let mut array = convert.call1((value, TensorType(var.ty().clone()), name.as_deref()))?;
        if !borrow {
            array = array.call_method0(intern!(py, "copy"))?;
        }
        drop(slf.get().cell.set(array.cast_into()?.unbind()));
        Ok(())
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> ObjectResult<'py> {
        SharedVariable::other(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> ObjectResult<'py> {
        SharedVariable::other(slf)
    }

    /// Pickles and copies are other variables, which hold a copy of the value.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let make = py.import("frazil._core")?.getattr("shared")?;
        let var = slf.as_super().get().var();
        let shape = var.ty().shape().to_vec();
        let name = var.name();
        let arguments = (slf.get().get_value(py, false)?, name.as_deref(), shape);
        (make, arguments).into_pyobject(py)
    }
}

/// The input of a frozen graph at a position.
#[pyclass(frozen, extends = Variable, module = "frazil._core")]
pub struct NominalVariable;

#[pymethods]
impl NominalVariable {
    #[getter]
    fn position(slf: &Bound<'_, Self>) -> u32 {
        match slf.as_super().get().var().node().body() {
            Body::Nominal { position } => *position,
            _ => unreachable!("the wrapper of a nominal"),
        }
    }
}

/// `op` applied element by element, as `Variable`'s operators do.
#[pyfunction]
#[pyo3(name = "elemwise", signature = (op, *operands))]
pub fn elemwise_function<'py>(
    op: &Bound<'py, OpBase>,
    operands: &Bound<'py, pyo3::types::PyTuple>,
) -> ObjectResult<'py> {
    let operands: Operands =
        operands.iter_borrowed().map(|value| operand(&value)).collect::<PyResult<_>>()?;
    apply(op.py(), op.get().op()?.elementwise(), operands)
}

/// Says which op applies a scalar op element by element.
#[pyfunction]
pub fn register_elemwise(scalar_op: &OpBase, op: &OpBase) -> PyResult<()> {
    scalar_op.op()?.set_elementwise(op.op()?).map_err(raise)
}

/// The type that `elemwise` would give.
#[pyfunction]
#[pyo3(signature = (op, *types))]
pub fn elemwise_type(op: &OpBase, types: Vec<PyRef<'_, TensorType>>) -> PyResult<TensorType> {
    let types: Vec<_> = types.iter().map(|ty| &ty.0).collect();
    let ty = elemwise::result_type(&op.op()?.elementwise(), &types).map_err(raise)?;
    Ok(TensorType(ty))
}

/// The constant with the content of `value`.
#[pyfunction]
#[pyo3(signature = (value, dtype=None))]
pub fn constant<'py>(
    value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> ObjectResult<'py> {
    wrapper(value.py(), crate::operand::constant(value, dtype)?)
}

/// The input of a frozen graph at `position`.
#[pyfunction]
pub fn nominal<'py>(py: Python<'py>, position: u32, r#type: &TensorType) -> ObjectResult<'py> {
    wrapper(py, current(py)?.nominal(position, &r#type.0))
}
