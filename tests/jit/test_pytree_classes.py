"""Classes of the user's that `fz.register_pytree` made containers, in compiled functions."""

import numpy as np
import pytest

import frazil as fz


class Layer:
    """Two arrays, a leaf that is no array, and what else it is known by."""

    def __init__(self, weight, bias, activation, name="layer"):
        self.weight, self.bias, self.activation, self.name = weight, bias, activation, name

    def __call__(self, x):
        made = x @ self.weight + self.bias
        return np.tanh(made) if self.activation == "tanh" else made


class Net:
    def __init__(self, layers):
        self.layers = layers


fz.register_pytree(
    Layer,
    lambda own: ((own.weight, own.bias, own.activation), own.name),
    lambda name, parts: Layer(*parts, name),
)
fz.register_pytree(Net, lambda own: ((own.layers,), None), lambda _, parts: Net(*parts))

X = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]])


def layer(seed=0.0, activation="tanh", name="first", size=2):
    weight = (np.arange(4.0).reshape(2, 2)[:, :size] + seed) / 4
    return Layer(weight, np.arange(float(size)), activation, name)


def parts(own):
    return own.weight.tolist(), own.bias.tolist(), own.activation, own.name


def test_arguments_and_results():
    def scaled(own, x):
        return Layer(own.weight * 2, own.bias + x.sum(), own.activation, own.name)

    compiled = fz.jit(scaled, mode="py")
    for seed in (0.0, 1.0, 2.0):
        found = compiled(layer(seed), X)
        assert type(found) is Layer
        assert type(found.weight) is np.ndarray
        assert parts(found) == parts(scaled(layer(seed), X))
    assert compiled.cache_info()[:2] == (2, 1)
    given = layer()
    assert fz.jit(lambda own: [own], mode="py")(given)[0].weight is given.weight


def test_static_leaves_and_what_else_it_is_known_by_tell_forms_apart():
    def fn(own, x):
        return own(x), own.name

    compiled = fz.jit(fn, mode="py")
    for activation, name in (("tanh", "a"), ("none", "a"), ("tanh", "b"), ("tanh", "a")):
        own = layer(0.0, activation, name)
        found, wanted = compiled(own, X), fn(own, X)
        assert found[1] == wanted[1]
        np.testing.assert_allclose(found[0], wanted[0])
    assert compiled.cache_info()[:2] == (1, 3)
    assert "x.weight" in str(compiled.explain()) or "own<0>" in str(compiled.explain())
    first, second = compiled.explain().forms[:2]
    assert first.arguments != second.arguments


def test_nested_in_each_other_and_in_containers():
    def fn(tree):
        net, (x, scale) = tree["net"], tree["rest"]
        for own in net.layers:
            x = own(x)
        return {"net": Net([net.layers[0]]), "out": [x * scale]}

    tree = {"net": Net([layer(), layer(1.0, "none", "second")]), "rest": (X, np.float64(2.0))}
    compiled = fz.jit(fn, mode="py")
    for _ in range(2):
        found, wanted = compiled(tree), fn(tree)
        np.testing.assert_allclose(found["out"][0], wanted["out"][0])
        assert parts(found["net"].layers[0]) == parts(wanted["net"].layers[0])
    assert compiled.cache_info().hits == 1
    found["net"].layers.append(1)
    assert len(compiled(tree)["net"].layers) == 1


def test_gradients_are_of_the_class():
    def loss(net, x):
        for own in net.layers:
            x = own(x)
        return (x**2).sum()

    net = Net([layer(), layer(1.0, "none", "second")])
    value, gradient = fz.jit(fz.value_and_grad(loss), mode="py")(net, X)
    assert value == pytest.approx(loss(net, X))
    assert type(gradient) is Net
    assert [type(own) for own in gradient.layers] == [Layer, Layer]
    assert [own.name for own in gradient.layers] == ["first", "second"]
    for at, own in enumerate(gradient.layers):
        for name in ("weight", "bias"):
            array = getattr(net.layers[at], name)
            step = np.zeros_like(array)
            step.flat[-1] = 1e-6
            change = []
            for sign in (1, -1):
                setattr(net.layers[at], name, array + sign * step)
                change.append(loss(net, X))
            setattr(net.layers[at], name, array)
            slope = (change[0] - change[1]) / 2e-6
            assert getattr(own, name).flat[-1] == pytest.approx(slope, rel=1e-5)


def test_mapped_over_rows():
    found = fz.jit(fz.vmap(lambda own, x: own(x), in_axes=(None, 0)), mode="py")(layer(), X)
    np.testing.assert_allclose(found, layer()(X))


def test_classes_are_registered_once():
    with pytest.raises(ValueError, match="Layer is a container already"):
        fz.register_pytree(Layer, lambda own: ((), None), lambda _, parts: None)
