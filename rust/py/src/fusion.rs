//! A graph cut into segments: kinds of nodes and lengths of Python in, segments of Python's objects out.

use frazil_core::fusion::{
    Axes, Costs, Cut, Domain, Given, InLoop, Kind, Lengths, Operand, Reading as CoreReading,
    Request, Segment, VarId, View, cut,
};
use frazil_core::{Node, Var};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};
use rustc_hash::FxHashMap;

use crate::apply::FrozenApply;
use crate::object_table::{apply_wrapper, wrapper};
use crate::once::intern;
use crate::variable::Variable;
use crate::walks::{vars_of, wrappers};

/// What a loop reads for one of its nodes.
///
/// Attributes
/// ----------
/// over : Variable
///     The domain.
/// operands : list of (Variable, tuple of int, bool or None)
///     The variables that are read element by element, views looked through. Each has its axis for
///     every dimension of the domain, and whether the loop computes the elements; None if the node
///     is in no loop, but loops compute it again.
/// output : Variable
///     The node's result.
/// dtypes : sequence of str
///     The dtypes of the operands, and that of the result.
#[pyclass(frozen, get_all, module = "frazil._core")]
pub struct Reading {
    over: Py<PyAny>,
    operands: Py<PyList>,
    output: Py<PyAny>,
    dtypes: Py<PyAny>,
}

/// A kind as Python tells it.
fn kind_of_python(told: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let py = told.py();
    let is = |name: &Bound<'_, PyString>| told.getattr(name)?.extract::<bool>();
    let domain = match told.getattr(intern!(py, "domain"))?.extract::<PyBackedStr>()?.as_ref() {
        "output" => Domain::Output,
        "first" => Domain::First,
        "given" => Domain::Given,
        other => return Err(PyValueError::new_err(format!("no domain is called {other}"))),
    };
    let operands: Vec<(usize, Vec<i32>)> = told.getattr(intern!(py, "operands"))?.extract()?;
    let view: Option<(Vec<i32>, bool)> = told.getattr(intern!(py, "view"))?.extract()?;
    let lengths: (usize, Option<usize>) =
        told.getattr(intern!(py, "length_operands"))?.extract()?;
    Ok(Kind {
        fusible: is(intern!(py, "fusible"))?,
        elementwise: is(intern!(py, "elementwise"))?,
        makes_elements: is(intern!(py, "makes_elements"))?,
        reduces_rows: is(intern!(py, "reduces_rows"))?,
        sums_short: is(intern!(py, "sums_short"))?,
        own_rows: is(intern!(py, "own_rows"))?,
        is_length: is(intern!(py, "is_length"))?,
        cost: told.getattr(intern!(py, "cost"))?.extract()?,
        domain,
        whole: is(intern!(py, "whole"))?,
        operands: operands.iter().map(|(at, axes)| (*at, Axes::from_slice(axes))).collect(),
        view: view.map(|(axes, filled)| View { axes: Axes::from_slice(&axes), filled }),
        length_operands: lengths.0..lengths.1.unwrap_or(usize::MAX),
    })
}

/// The lengths that Python has found, and what answers for others.
struct Asked<'a, 'py> {
    spaces: &'a Bound<'py, PyAny>,
    shapes: FxHashMap<(usize, u32), usize>,
    lengths: Vec<Bound<'py, PyAny>>,
    numbers: FxHashMap<usize, usize>,
}

impl<'a, 'py> Asked<'a, 'py> {
    fn new(spaces: &'a Bound<'py, PyAny>, known: &Bound<'py, PyDict>) -> PyResult<Self> {
        let (shapes, numbers) = (FxHashMap::default(), FxHashMap::default());
        let mut asked = Asked { spaces, shapes, lengths: Vec::new(), numbers };
        for (x, lengths) in known {
            let identity = x.cast::<Variable>()?.get().var().identity();
            let shape = asked.number(lengths);
            asked.shapes.insert(identity, shape);
        }
        Ok(asked)
    }

    /// The number of a tuple of lengths. The tuples are held, so none takes the address of another.
    fn number(&mut self, lengths: Bound<'py, PyAny>) -> usize {
        let next = self.lengths.len();
        let number = *self.numbers.entry(lengths.as_ptr() as usize).or_insert(next);
        if number == next {
            self.lengths.push(lengths);
        }
        number
    }
}

impl Lengths for Asked<'_, '_> {
    type Error = PyErr;

    fn shape(&mut self, x: &Var) -> PyResult<usize> {
        if let Some(shape) = self.shapes.get(&x.identity()) {
            return Ok(*shape);
        }
        let py = self.spaces.py();
        let lengths =
            self.spaces.call_method1(intern!(py, "lengths"), (wrapper(py, x.clone())?,))?;
        let shape = self.number(lengths);
        self.shapes.insert(x.identity(), shape);
        Ok(shape)
    }

    fn representatives(&mut self, shape: usize) -> PyResult<Vec<Var>> {
        let name = intern!(self.spaces.py(), "representatives");
        vars_of(&self.spaces.call_method1(name, (&self.lengths[shape],))?)
    }

    fn leaves(&mut self, shape: usize) -> PyResult<Vec<Var>> {
        let name = intern!(self.spaces.py(), "leaves_of");
        vars_of(&self.spaces.call_method1(name, (&self.lengths[shape],))?)
    }

    fn leaves_around(&mut self, node: &Node) -> PyResult<Vec<Var>> {
        let py = self.spaces.py();
        let node = apply_wrapper(py, node.clone())?;
        vars_of(&self.spaces.call_method1(intern!(py, "leaves_around"), (node,))?)
    }
}

/// The Python objects of a graph that was cut.
struct Objects<'a, 'py> {
    py: Python<'py>,
    cut: &'a Cut<'a>,
    order: &'a [Bound<'py, FrozenApply>],
    dtypes: &'a [Bound<'py, PyAny>],
    kind_of: &'a [usize],
    variables: FxHashMap<VarId, Bound<'py, PyAny>>,
    axes: FxHashMap<Axes, Bound<'py, PyTuple>>,
    readings: Bound<'py, PyDict>,
}

impl<'py> Objects<'_, 'py> {
    fn variable(&mut self, x: VarId) -> PyResult<Bound<'py, PyAny>> {
        if let Some(known) = self.variables.get(&x) {
            return Ok(known.clone());
        }
        let made = wrapper(self.py, self.cut.var(x).clone())?;
        self.variables.insert(x, made.clone());
        Ok(made)
    }

    fn axes(&mut self, axes: &Axes) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(known) = self.axes.get(axes) {
            return Ok(known.clone());
        }
        let made = PyTuple::new(self.py, axes)?;
        self.axes.insert(axes.clone(), made.clone());
        Ok(made)
    }

    fn operand(&mut self, operand: &Operand, made: Option<bool>) -> PyResult<Bound<'py, PyTuple>> {
        (self.variable(operand.base)?, self.axes(&operand.axes)?, made).into_pyobject(self.py)
    }

    /// Adds the reading of a node; `makes`: whether its loop computes each operand.
    fn add(&mut self, at: usize, read: &CoreReading, makes: Option<&[bool]>) -> PyResult<()> {
        let each = read.operands.iter().enumerate();
        let operands: PyResult<Vec<_>> = each
            .map(|(position, own)| self.operand(own, makes.map(|makes| makes[position])))
            .collect();
        let reading = Reading {
            over: self.variable(read.over)?.unbind(),
            operands: PyList::new(self.py, operands?)?.unbind(),
            output: self.variable(read.output)?.unbind(),
            dtypes: self.dtypes[self.kind_of[at]].clone().unbind(),
        };
        self.readings.set_item(&self.order[at], Bound::new(self.py, reading)?)
    }

    fn nodes(&self, all: &[usize]) -> impl ExactSizeIterator<Item = &Bound<'py, FrozenApply>> {
        all.iter().map(|&at| &self.order[at])
    }

    fn segment(&mut self, own: &Segment) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(InLoop { makes, .. }) = &own.in_loop {
            for (&at, makes) in own.nodes.iter().zip(makes) {
                if let Some(read) = self.cut.reading(at) {
                    self.add(at, read, Some(makes))?;
                }
            }
        }
        let py = self.py;
        let rows = own.in_loop.as_ref().map(|InLoop { row_nodes, row_values, .. }| {
            let nodes = PyFrozenSet::new(py, self.nodes(row_nodes))?;
            PyResult::Ok((nodes, PyFrozenSet::new(py, wrappers(py, row_values)?)?))
        });
        let (inputs, outputs) = (wrappers(py, &own.inputs)?, wrappers(py, &own.outputs)?);
        let nodes = PyTuple::new(py, self.nodes(&own.nodes))?;
        (nodes, rows.transpose()?, PyTuple::new(py, inputs)?, PyTuple::new(py, outputs)?)
            .into_pyobject(py)
    }
}

/// Segments, the variables in memory between them, readings of nodes, and the results that loops compute again.
type Found<'py> =
    (Vec<Bound<'py, PyTuple>>, Bound<'py, PySet>, Bound<'py, PyDict>, Bound<'py, PyFrozenSet>);

/// The Python objects of a graph that was cut.
fn found<'py>(
    py: Python<'py>,
    cut: &Cut<'_>,
    order: &[Bound<'py, FrozenApply>],
    kinds: &[Bound<'py, PyAny>],
    kind_of: &[usize],
) -> PyResult<Found<'py>> {
    let dtypes = kinds.iter().map(|kind| kind.getattr(intern!(py, "dtypes")));
    let dtypes = dtypes.collect::<PyResult<Vec<_>>>()?;
    let mut objects = Objects {
        py,
        cut,
        order,
        dtypes: &dtypes,
        kind_of,
        variables: FxHashMap::default(),
        axes: FxHashMap::default(),
        readings: PyDict::new(py),
    };
    let mut again = Vec::new();
    for at in cut.again() {
        if let Some(read) = cut.reading(at) {
            objects.add(at, read, None)?;
            again.push(objects.variable(read.output)?);
        }
    }
    let segments: PyResult<Vec<_>> = cut.segments.iter().map(|own| objects.segment(own)).collect();
    let stored = PySet::new(py, wrappers(py, &cut.stored)?)?;
    Ok((segments?, stored, objects.readings, PyFrozenSet::new(py, again)?))
}

/// Cuts a graph into segments.
#[pyfunction]
#[pyo3(signature = (order, kinds, kind_of, inputs, outputs, given, written, before, limit, costs, known, spaces))]
#[expect(clippy::too_many_arguments, reason = "a function of Python's")]
pub fn cut_graph<'py>(
    py: Python<'py>,
    order: Vec<Bound<'py, FrozenApply>>,
    kinds: Vec<Bound<'py, PyAny>>,
    kind_of: Vec<usize>,
    inputs: &Bound<'py, PyAny>,
    outputs: &Bound<'py, PyAny>,
    given: Vec<(usize, Bound<'py, Variable>, bool)>,
    written: &Bound<'py, PyAny>,
    before: Vec<(Bound<'py, FrozenApply>, Vec<Bound<'py, FrozenApply>>)>,
    limit: usize,
    costs: (u32, u32),
    known: &Bound<'py, PyDict>,
    spaces: &Bound<'py, PyAny>,
) -> PyResult<Found<'py>> {
    let nodes = |all: &[Bound<'py, FrozenApply>]| -> Vec<Node> {
        all.iter().map(|node| node.get().node().clone()).collect()
    };
    let told = |(at, x, puts_rows): &(usize, Bound<'_, Variable>, bool)| Given {
        at: *at,
        domain: x.get().var().clone(),
        puts_rows: *puts_rows,
    };
    let before =
        before.iter().map(|(writer, readers)| (writer.get().node().clone(), nodes(readers)));
    let request = Request {
        order: &nodes(&order),
        kinds: &kinds.iter().map(kind_of_python).collect::<PyResult<Vec<Kind>>>()?,
        kind_of: &kind_of,
        inputs: &vars_of(inputs)?,
        outputs: &vars_of(outputs)?,
        given: &given.iter().map(told).collect::<Vec<Given>>(),
        written: &vars_of(written)?,
        before: &before.collect::<Vec<_>>(),
        limit,
        costs: Costs { keeping: costs.0, function: costs.1 },
    };
    request.check().map_err(|misfit| PyValueError::new_err(misfit.to_string()))?;
    let cut = cut(&request, &mut Asked::new(spaces, known)?)?;
    found(py, &cut, &order, &kinds, &kind_of)
}
