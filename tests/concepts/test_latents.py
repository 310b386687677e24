"""Embeddings out of networks: of torch where it is installed, of a little stand-in for it everywhere."""

import sys
import types

import numpy as np
import pytest

from boxwood import concepts
from boxwood.concepts import extract_latents
from boxwood.errors import DataError

X = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)


def test_without_torch_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"^extract_latents needs torch( and tqdm)?: pip install torch( tqdm)?$"):
        extract_latents(object(), X)


# ------------------------------------------------------------------------------------------------- a stand-in


class Tensor:
    """As much of a tensor as embeddings need, around an array."""

    def __init__(self, array):
        self.array, self.dtype, self.ndim = array, array.dtype, array.ndim

    def __len__(self):
        return len(self.array)

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def to(self, place, dtype=None):
        return Tensor(self.array if dtype is None else self.array.astype(dtype))

    def reshape(self, *shape):
        return Tensor(self.array.reshape(shape))

    def float(self):
        return Tensor(self.array.astype(np.float32))

    def cpu(self):
        return self

    def numpy(self):
        return self.array


class Layer:
    """A layer of a stand-in for a network, with hooks as torch has them."""

    def __init__(self, function):
        self.function, self.hooks, self.training, self.calls = function, {}, True, 0

    def register_forward_hook(self, hook):
        self.hooks[id(hook)] = hook
        return types.SimpleNamespace(remove=lambda: self.hooks.pop(id(hook)))

    def __call__(self, x):
        self.calls += 1
        out = Tensor(self.function(x.array))
        for hook in list(self.hooks.values()):
            hook(self, (x,), out)
        return out


class Network:
    """Two layers in a row."""

    def __init__(self):
        self.double, self.add, self.training = Layer(lambda a: 2 * a), Layer(lambda a: a + 1), True

    def named_modules(self):
        return [("", self), ("double", self.double), ("add", self.add)]

    def modules(self):
        return [self, self.double, self.add]

    def parameters(self):
        return iter(())

    def eval(self):
        for module in self.modules():
            module.training = False

    def __call__(self, x):
        assert not self.training
        return self.add(self.double(x))


@pytest.fixture
def stand_in(monkeypatch):
    torch = types.ModuleType("torch")
    torch.from_numpy = Tensor
    torch.is_tensor = lambda data: isinstance(data, Tensor)
    torch.split = lambda data, n: [Tensor(data.array[i : i + n]) for i in range(0, len(data), n)]
    torch.utils = types.SimpleNamespace(data=types.SimpleNamespace(Dataset=type("Dataset", (), {})))
    torch.no_grad = lambda: __import__("contextlib").nullcontext()
    monkeypatch.setitem(sys.modules, "torch", torch)
    return Network()


def test_a_layer_is_read_in_batches_and_no_further(stand_in):
    told = []
    found = extract_latents(
        stand_in, X, "double", batch_size=4, progress=lambda done, total: told.append((done, total))
    )
    assert np.array_equal(found, 2 * X)
    assert told == [(4, 10), (8, 10), (10, 10)]
    assert (stand_in.double.calls, stand_in.add.calls) == (3, 0)
    assert stand_in.training
    assert stand_in.double.training
    assert not stand_in.double.hooks


def test_several_layers_and_the_output(stand_in):
    found = extract_latents(stand_in, X, ["double", "add"])
    assert np.array_equal(found["double"], 2 * X)
    assert np.array_equal(found["add"], 2 * X + 1)
    assert np.array_equal(extract_latents(stand_in, X), 2 * X + 1)
    with pytest.raises(DataError, match="no layer 'doubel'; there is 'double'"):
        extract_latents(stand_in, X, "doubel")
    with pytest.raises(DataError, match="no layer is asked for"):
        extract_latents(stand_in, X, [])
    with pytest.raises(ValueError, match="pool must be"):
        extract_latents(stand_in, X, pool="max")


def test_a_bar_needs_tqdm(stand_in, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"^a progress bar needs (torch and )?tqdm: pip install (torch )?tqdm$"):
        extract_latents(stand_in, X, progress=True)
    assert concepts.extract_latents(stand_in, X).shape == (10, 3)


# ------------------------------------------------------------------------------------------------------- torch


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return torch


@pytest.fixture
def net(torch):
    from torch import nn

    encoder = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(encoder, nn.Flatten(), nn.Dropout(0.5), nn.Linear(4 * 4 * 4, 5))


@pytest.fixture
def images(torch):
    return torch.rand(20, 1, 8, 8)


def test_a_real_layer(torch, net, images):
    with torch.no_grad():
        expected = net.eval()[0](images)
    for data in (images, images.numpy(), images.double().numpy(), np.asfortranarray(images.numpy())):
        found = extract_latents(net, data, "0", batch_size=7)
        assert found.dtype == np.float32
        assert found == pytest.approx(expected.flatten(1).numpy(), abs=1e-6)
    mean = extract_latents(net, images, "0", pool="mean")
    assert mean == pytest.approx(expected.mean(dim=(2, 3)).numpy(), abs=1e-6)
    most = extract_latents(net, images, "0", pool=lambda t: t.amax(dim=(2, 3)))
    assert most == pytest.approx(expected.amax(dim=(2, 3)).numpy(), abs=1e-6)


def test_datasets_loaders_and_batches(torch, net, images):
    from torch.utils.data import BatchSampler, DataLoader, SubsetRandomSampler, TensorDataset

    plain = extract_latents(net, images, "3")
    labels = torch.arange(20)
    dataset = TensorDataset(images, labels)
    batches = [(images[:9], labels[:9]), (images[9:], labels[9:])]
    for data in (dataset, DataLoader(dataset, batch_size=6), batches, iter(batches)):
        assert extract_latents(net, data, "3") == pytest.approx(plain, abs=1e-6)
    assert extract_latents(net, [images.numpy()[:9], images.numpy()[9:]], "3") == pytest.approx(plain, abs=1e-6)
    with pytest.raises(DataError, match="no data"):
        extract_latents(net, images[:0], "3")
    with pytest.raises(DataError, match="give shuffle=False"):
        extract_latents(net, DataLoader(dataset, shuffle=True), "3")
    some = SubsetRandomSampler(range(7))
    for options in ({"sampler": some}, {"batch_sampler": BatchSampler(some, 3, False)}):
        with pytest.raises(DataError, match="give shuffle=False"):
            extract_latents(net, DataLoader(dataset, **options), "3")


def test_the_network_is_left_as_it_was(torch, net, images):
    net.train()
    net[0].eval()
    flags = {name: module.training for name, module in net.named_modules()}
    state = {name: value.clone() for name, value in net.state_dict().items()}
    extract_latents(net, images, "0", device="cpu")
    with pytest.raises(RuntimeError):
        extract_latents(net, torch.rand(4, 3, 8, 8), "0")
    assert {name: module.training for name, module in net.named_modules()} == flags
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    assert not any(module._forward_hooks for module in net.modules())


def test_the_rest_of_the_network_does_not_run(torch, net, images):
    from torch import nn

    class Never(nn.Module):
        def forward(self, x):
            raise AssertionError("was run")

    assert extract_latents(nn.Sequential(net, Never()), images, ["0.0", "0.0.2"])["0.0.2"].shape == (20, 256)


def test_outputs_and_inputs_of_many_parts(torch, images):
    from torch import nn

    class Many(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.unused = nn.Linear(64, 3), nn.Linear(1, 1)

        def forward(self, pixels, scale=1.0):
            latent = self.linear(pixels.flatten(1)) * scale
            return {"latent": latent, "total": latent.sum(dim=1)}

    model = Many().half().float()
    found = extract_latents(model, images)
    assert found.shape == (20, 3)
    assert extract_latents(model, images, output="total") == pytest.approx(found.sum(axis=1, keepdims=True), abs=1e-5)
    assert extract_latents(model, [{"pixels": images, "scale": torch.tensor(2.0)}]) == pytest.approx(
        2 * found, abs=1e-5
    )
    forward = extract_latents(model, images, forward=lambda model, batch: model(batch, scale=3.0))
    assert forward == pytest.approx(3 * found, abs=1e-5)
    with pytest.raises(DataError, match="never reaches layer 'unused'"):
        extract_latents(model, images, "unused")
    with pytest.raises(DataError, match="no layer 'linaer'; there is 'linear'"):
        extract_latents(model, images, "linaer")


def test_half_precision_and_a_bar(torch, net, images):
    pytest.importorskip("tqdm")
    found = extract_latents(net.to(torch.bfloat16), images, "0", progress=True)
    assert found.dtype == np.float32


def test_concepts_of_a_network_that_was_trained(torch):
    """A small network learns to tell two shapes by colour alone; the colour is a direction in its hidden layer."""
    from torch import nn

    rng = np.random.default_rng(0)
    red = rng.random(600) < 0.5
    pictures = rng.random((600, 3, 6, 6)).astype(np.float32)
    pictures[:, 0] += 0.5 * red[:, None, None]
    net = nn.Sequential(nn.Flatten(), nn.Linear(108, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.from_numpy(pictures)), torch.from_numpy(red.astype(int))).backward()
        optimizer.step()
    Z = extract_latents(net, pictures, "2")
    projector = concepts.ConceptProjector().fit(Z[:200], {"red": red[:200]})
    assert ((projector.transform(Z[200:])[:, 0] > 0) == red[200:]).mean() > 0.95
