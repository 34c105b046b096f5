//! A graph cut into segments: kinds of nodes and lengths of Python in, segments of Python's objects out.

use frazil_core::fusion::{
    Axes, Costs, Cut, Domain, Given, InLoop, Kind, Lengths, LoopStep, Request, Segment, Steps,
    View, cut,
};
use frazil_core::{Node, Var};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;

use crate::apply::FrozenApply;
use crate::object_table::{apply_wrapper, wrapper};
use crate::once::intern;
use crate::operand::python_number;
use crate::types::dtype_name;
use crate::variable::Variable;
use crate::walks::{vars_of, wrappers};

/// The steps of a loop, and what they read.
///
/// Attributes
/// ----------
/// kinds : list of int
///     The kind of each step, by its position.
/// operands : list of tuple of int
///     The operands of each step: steps, or -1, -3, ... for reads, and -2, -4, ... for literals.
/// own : list of int
///     The step of each node of the loop; others compute again what is in no loop.
/// reads : tuple of (Variable, tuple of int)
///     The variables that are read, views looked through. Each has its axis for every dimension of
///     the loop that has not length 1.
/// literals : list of (str, bool or int or float)
///     The dtype and value of each literal.
/// again : tuple of FrozenApply
///     The nodes that are computed again.
/// stored : list of (int, Variable, tuple of int)
///     The steps whose results are in memory, with these, and their axes.
#[pyclass(frozen, get_all, module = "frazil._core")]
pub struct LoopBody {
    kinds: Py<PyList>,
    operands: Py<PyList>,
    own: Py<PyList>,
    reads: Py<PyTuple>,
    literals: Py<PyList>,
    again: Py<PyTuple>,
    stored: Py<PyList>,
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
        row: told.getattr(intern!(py, "row"))?.extract()?,
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
struct CutObjects<'a, 'py> {
    py: Python<'py>,
    cut: &'a Cut<'a>,
    order: &'a [Bound<'py, FrozenApply>],
    kind_of: &'a [usize],
    axes: FxHashMap<Axes, Bound<'py, PyTuple>>,
}

impl<'py> CutObjects<'_, 'py> {
    fn axes(&mut self, axes: &Axes) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(known) = self.axes.get(axes) {
            return Ok(known.clone());
        }
        let made = PyTuple::new(self.py, axes)?;
        self.axes.insert(axes.clone(), made.clone());
        Ok(made)
    }

    fn nodes(&self, all: &[usize]) -> impl ExactSizeIterator<Item = &Bound<'py, FrozenApply>> {
        all.iter().map(|&at| &self.order[at])
    }

    fn body(&mut self, steps: &Steps) -> PyResult<LoopBody> {
        let py = self.py;
        let operands = |step: &LoopStep| PyTuple::new(py, step.operands.iter().map(|x| x.number()));
        let operands = steps.all.iter().map(operands).collect::<PyResult<Vec<_>>>()?;
        let reads = steps.reads.iter().map(|(x, axes)| {
            (wrapper(py, self.cut.var(*x).clone())?, self.axes(axes)?).into_pyobject(py)
        });
        let reads = reads.collect::<PyResult<Vec<_>>>()?;
        let literals = steps.literals.iter().map(|(dtype, value)| {
            (dtype_name(py, *dtype), python_number(py, *value)?).into_pyobject(py)
        });
        let literals = literals.collect::<PyResult<Vec<_>>>()?;
        let stored = steps.stored.iter().map(|(step, x, axes)| {
            (*step, wrapper(py, self.cut.var(*x).clone())?, self.axes(axes)?).into_pyobject(py)
        });
        let stored = stored.collect::<PyResult<Vec<_>>>()?;
        Ok(LoopBody {
            kinds: PyList::new(py, steps.all.iter().map(|step| self.kind_of[step.at]))?.unbind(),
            operands: PyList::new(py, operands)?.unbind(),
            own: PyList::new(py, &steps.own)?.unbind(),
            reads: PyTuple::new(py, reads)?.unbind(),
            literals: PyList::new(py, literals)?.unbind(),
            again: PyTuple::new(py, self.nodes(&steps.again))?.unbind(),
            stored: PyList::new(py, stored)?.unbind(),
        })
    }

    fn segment(&mut self, own: &Segment) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.py;
        let rows = own.in_loop.as_ref().map(|InLoop { row_nodes, row_values, steps }| {
            let nodes = PyFrozenSet::new(py, self.nodes(row_nodes))?;
            PyResult::Ok((
                nodes,
                PyFrozenSet::new(py, wrappers(py, row_values)?)?,
                self.body(steps)?,
            ))
        });
        let (inputs, outputs) = (wrappers(py, &own.inputs)?, wrappers(py, &own.outputs)?);
        let nodes = PyTuple::new(py, self.nodes(&own.nodes))?;
        (nodes, rows.transpose()?, PyTuple::new(py, inputs)?, PyTuple::new(py, outputs)?)
            .into_pyobject(py)
    }
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
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
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
    let axes = FxHashMap::default();
    let mut objects = CutObjects { py, cut: &cut, order: &order, kind_of: &kind_of, axes };
    cut.segments.iter().map(|own| objects.segment(own)).collect()
}
