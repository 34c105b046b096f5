//! Rules and sets of rules: converts patterns, and calls the Python functions of rules.

use std::sync::Arc;

use frazil_core::rewrite::machine::{Check, DTypeSet, OpTest};
use frazil_core::rewrite::pattern::{Pattern, Unknown, Wildcard};
use frazil_core::rewrite::ruleset::{Right, Rights, Rule, RuleSet};
use frazil_core::rewrite::sweep::{Binding, Call, Progress, Reply, Step, Sweep};
use frazil_core::traverse::needs_at_most;
use frazil_core::{DType, Error, Var};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::raise;
use crate::object_table::{ObjectResult, apply_wrapper, wrapper};
use crate::op::OpBase;
use crate::owned::{FEW, detached_if};
use crate::source_line::{describe, in_stead_of};
use crate::variable::Variable;
use crate::walks::{vars_of, wrappers};

/// A law, read from left to right.
#[pyclass(frozen, name = "RewriteRule", module = "frazil._core")]
pub struct RewriteRule {
    rule: Arc<Rule>,
    /// Decides, given the variables of the unknowns, whether a match is accepted.
    guard: Option<Py<PyAny>>,
    /// Returns the right side, given the matched node and the variables of the unknowns.
    function: Option<Py<PyAny>>,
    /// The outputs of the matched node that the function gives something for; `None`: all of them.
    outputs: Option<Vec<u32>>,
}

type UnknownArgument<'py> = (PyRef<'py, Variable>, Vec<String>, bool, bool);

fn unknown_of((var, dtypes, constant, variadic): &UnknownArgument<'_>) -> PyResult<Unknown> {
    let dtypes = dtypes
        .iter()
        .map(|name| name.parse::<DType>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(raise)?;
    let (constant, variadic) = (*constant, *variadic);
    Ok(Unknown { var: var.var().clone(), dtypes: DTypeSet::new(&dtypes), constant, variadic })
}

/// The ops that match a wildcard: a list, a kind of op by its name, or (None) any pure op.
fn test_of(stands_for: &Bound<'_, PyAny>) -> PyResult<OpTest> {
    if stands_for.is_none() {
        return Ok(OpTest::Pure);
    }
    if let Ok(kind) = stands_for.extract::<String>() {
        return Ok(OpTest::Kind(kind.into()));
    }
    let ops: Vec<PyRef<'_, OpBase>> = stands_for.extract()?;
    let ops = ops.iter().map(|op| op.op()).collect::<PyResult<Vec<_>>>()?;
    Ok(OpTest::OneOf(ops.into()))
}

fn check_of((name, positions): &(String, Vec<usize>)) -> PyResult<Check<usize>> {
    let positions = positions.as_slice();
    Ok(match (name.as_str(), positions) {
        ("same_dtype", _) => Check::SameDType(positions.into()),
        ("same_type", _) => Check::SameType(positions.into()),
        ("one_ring", _) => Check::OneRing(positions.into()),
        ("reads_buffer", []) => Check::ReadsBuffer,
        ("reads_one_element", []) => Check::ReadsOneElement,
        ("not_constant", [position]) => Check::NotConstant(*position),
        _ => return Err(PyValueError::new_err(format!("there is no guard {name:?} of these"))),
    })
}

#[pymethods]
impl RewriteRule {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "called by frazil.rewrite only, by keyword")]
    fn new(
        name: String,
        lefts: Vec<PyRef<'_, Variable>>,
        rights: Option<Vec<PyRef<'_, Variable>>>,
        unknowns: Vec<UnknownArgument<'_>>,
        wildcards: Vec<(PyRef<'_, OpBase>, Bound<'_, PyAny>)>,
        checks: Vec<(String, Vec<usize>)>,
        guard: Option<Py<PyAny>>,
        function: Option<Py<PyAny>>,
        every_output: bool,
    ) -> PyResult<RewriteRule> {
        let unknowns = unknowns.iter().map(unknown_of).collect::<PyResult<Vec<_>>>()?;
        let wildcards = wildcards
            .iter()
            .map(|(op, stands_for)| Ok(Wildcard { op: op.op()?, test: test_of(stands_for)? }))
            .collect::<PyResult<Vec<_>>>()?;
        let checks = checks.iter().map(check_of).collect::<PyResult<Vec<_>>>()?;
        let lefts: Vec<Var> = lefts.iter().map(|left| left.var().clone()).collect();
        let named = |error: Error| match error {
            Error::Pattern { reason } => PyValueError::new_err(format!("rule {name}: {reason}")),
            other => raise(other),
        };
        let Some(root) = lefts.first() else {
            return Err(PyValueError::new_err(format!("rule {name} has no left side")));
        };
        if lefts.iter().any(|left| left.node() != root.node()) {
            return Err(PyValueError::new_err(format!(
                "rule {name}: several left sides must be outputs of one application"
            )));
        }
        let pattern = Pattern::compile(root, &unknowns, &wildcards, &checks).map_err(named)?;
        let compile = |right: &PyRef<'_, Variable>| {
            Right::written(right.var(), &pattern, &unknowns, &wildcards, function.is_some())
        };
        let rights: Vec<Right> = match rights {
            Some(rights) => rights.iter().map(compile).collect::<Result<_, _>>().map_err(named)?,
            None if function.is_none() => {
                return Err(PyValueError::new_err(format!("rule {name} has no right side")));
            }
            None => lefts.iter().map(|_| Right::Foreign).collect(),
        };
        let (left, right) = (lefts.len(), rights.len());
        if left != right {
            return Err(PyValueError::new_err(format!(
                "rule {name} has {left} left sides and {right} right sides"
            )));
        }
        let outputs: Vec<u32> = lefts.iter().map(|left| left.index() as u32).collect();
        let rule = Rule {
            name: name.into(),
            pattern,
            rights: match every_output {
                true => Rights::Every,
                false => Rights::Each(outputs.iter().copied().zip(rights).collect()),
            },
            guarded: guard.is_some(),
        };
        let outputs = (!every_output).then_some(outputs);
        Ok(RewriteRule { rule: Arc::new(rule), guard, function, outputs })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.rule.name
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.guard)?;
        visit.call(&self.function)
    }

    fn __repr__(&self) -> String {
        format!("<RewriteRule {}>", self.rule.name)
    }
}

/// The argument of guards and right sides for an unknown.
fn wrapper_of_binding<'py>(py: Python<'py>, binding: &Binding) -> ObjectResult<'py> {
    match binding {
        Binding::One(var) => wrapper(py, var.clone()),
        Binding::Many(vars) => {
            let wrappers = vars.iter().map(|var| wrapper(py, var.clone()));
            Ok(PyTuple::new(py, wrappers.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
    }
}

impl RewriteRule {
    fn answer(&self, py: Python<'_>, call: &Call) -> PyResult<Reply> {
        let bindings = call.bindings.iter().map(|binding| wrapper_of_binding(py, binding));
        let bindings = bindings.collect::<PyResult<Vec<_>>>()?;
        if let Some(guard) = &self.guard {
            let holds = guard.call1(py, PyTuple::new(py, &bindings)?)?;
            if !holds.bind(py).is_truthy()? {
                return Ok(Reply::Decline);
            }
        }
        let Some(function) = self.function.as_ref().filter(|_| call.foreign) else {
            return Ok(Reply::Accept);
        };
        let mut arguments = vec![apply_wrapper(py, call.matched.node().clone())?];
        arguments.extend(bindings);
        let given = function.call1(py, PyTuple::new(py, arguments)?)?.into_bound(py);
        if given.is_none() {
            return Ok(Reply::Decline);
        }
        let (position, count) = match &self.outputs {
            None => (call.matched.index(), call.matched.node().outputs().len()),
            Some(outputs) => {
                let asked = call.matched.index() as u32;
                let position = outputs.iter().position(|&output| output == asked);
                (position.expect("only outputs on the left side are asked for"), outputs.len())
            }
        };
        let refused = || {
            let expected = match count {
                1 => "a Variable".to_owned(),
                several => format!("a list of {several} Variables"),
            };
            PyTypeError::new_err(format!(
                "the right side of rule {} must give {expected} or None, given {}",
                self.rule.name,
                given.get_type()
            ))
        };
        let one = match given.cast::<Variable>() {
            Ok(_) if count == 1 => given.clone(),
            Ok(_) => return Err(refused()),
            Err(_) => {
                let all: Vec<Bound<'_, PyAny>> = given.extract().map_err(|_| refused())?;
                match all.get(position) {
                    Some(one) if all.len() == count => one.clone(),
                    _ => return Err(refused()),
                }
            }
        };
        match one.cast::<Variable>() {
            Ok(variable) => Ok(Reply::Replace(variable.get().var().clone())),
            Err(_) if one.is_none() => Ok(Reply::Decline),
            Err(_) => Err(refused()),
        }
    }
}

/// A variable that was left as it is, and why.
type Left<'py> = (Bound<'py, PyAny>, String);

/// Rules that are applied together, earlier ones first.
#[pyclass(frozen, name = "RuleSet", module = "frazil._core")]
pub struct PyRuleSet {
    rules: Vec<Py<RewriteRule>>,
    set: RuleSet,
}

#[pymethods]
impl PyRuleSet {
    #[new]
    #[pyo3(signature = (rules, base = None))]
    fn new(
        py: Python<'_>,
        rules: Vec<Py<RewriteRule>>,
        base: Option<PyRef<'_, Self>>,
    ) -> PyRuleSet {
        let own = rules.iter().map(|rule| rule.bind(py).get().rule.clone()).collect();
        match base {
            None => PyRuleSet { set: RuleSet::new(own), rules },
            Some(base) => {
                let first = base.rules.iter().map(|rule| rule.clone_ref(py));
                let set = RuleSet::extending(&base.set, own);
                PyRuleSet { rules: first.chain(rules).collect(), set }
            }
        }
    }

    #[getter]
    fn rules<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.rules.iter().map(|rule| rule.bind(py)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.rules.iter().try_for_each(|rule| visit.call(rule))
    }

    /// The number of results that are remembered, dead nodes' results included.
    #[getter]
    fn remembered(&self) -> usize {
        self.set.remembered()
    }

    /// The replacements of `outputs`.
    fn rewrite<'py>(&self, outputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (results, _) = self.swept(outputs, |vars| Sweep::new(&self.set, vars))?;
        wrappers(outputs.py(), &results)
    }

    /// The same, but nodes from which rules would not end are left: also which, and why.
    fn rewrite_leaving_cycles<'py>(
        &self,
        outputs: &Bound<'py, PyAny>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<Left<'py>>)> {
        let py = outputs.py();
        let leaving = |vars: &[Var]| Sweep::new(&self.set, vars).leaving_cycles();
        let (results, sweep) = self.swept(outputs, leaving)?;
        let left = sweep.abandoned().iter();
        let left = left.map(|left| Ok((wrapper(py, left.var.clone())?, left.why.to_string())));
        Ok((wrappers(py, &results)?, left.collect::<PyResult<_>>()?))
    }

    /// Every step from `outputs` to their replacements: rule, line of the node, before, after.
    fn trace<'py>(&self, outputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let py = outputs.py();
        let traced = |vars: &[Var]| Sweep::traced(&self.set, vars).leaving_cycles();
        let (_, sweep) = self.swept(outputs, traced)?;
        sweep.trace().iter().map(|step| self.step(py, step)).collect()
    }
}

/// Looks at variables that a sweep does in about 50 microseconds.
const LOOKS: usize = 64;

impl PyRuleSet {
    /// The replacements of `outputs`, and the sweep that found them.
    fn swept(
        &self,
        outputs: &Bound<'_, PyAny>,
        begin: impl FnOnce(&[Var]) -> Sweep + Send,
    ) -> PyResult<(Vec<Var>, Sweep)> {
        let (py, outputs) = (outputs.py(), vars_of(outputs)?);
        let few = needs_at_most(&outputs, FEW);
        let mut sweep = detached_if(!few, py, || begin(&outputs));
        let results = self.run(py, few, &mut sweep)?;
        Ok((results, sweep))
    }

    /// Keeps the GIL while a sweep over `few` nodes goes on, unless its rules take long.
    fn run(&self, py: Python<'_>, few: bool, sweep: &mut Sweep) -> PyResult<Vec<Var>> {
        let mut brief = few;
        loop {
            let limit = if brief { LOOKS } else { usize::MAX };
            match detached_if(!brief, py, || sweep.advance_some(limit)).map_err(raise)? {
                Progress::Done(results) => return Ok(results),
                Progress::Paused => {
                    brief = false;
                    continue;
                }
                Progress::Calls(calls) => {
                    for call in calls {
                        let rule = self.rules[call.rule].get();
                        let origin = call.matched.node().origin();
                        let reply = in_stead_of(origin, || rule.answer(py, &call))?;
                        sweep.reply(call.ticket, reply).map_err(raise)?;
                    }
                }
            }
            brief = few;
        }
    }

    fn step<'py>(&self, py: Python<'py>, step: &Step) -> PyResult<Bound<'py, PyTuple>> {
        let place = describe(py, step.origin)?;
        let (before, after) = (wrapper(py, step.before.clone())?, wrapper(py, step.after.clone())?);
        (&self.rules[step.rule], place, before, after).into_pyobject(py)
    }
}
