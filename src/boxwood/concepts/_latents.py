"""`extract_latents`: the outputs of a layer of a torch model, as embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxwood._imports import require
from boxwood._validation import list_words, show_value
from boxwood.errors import DataError

Progress = bool | Callable[[int, int | None], object]


class _AllLayersReached(Exception):
    """Ends a forward pass after the last requested layer, as the rest of the network need not run."""


def extract_latents(
    model: Any,
    data: Any,
    layer: str | Sequence[str] | None = None,
    *,
    batch_size: int = 256,
    device: Any = None,
    pool: str | Callable[[Any], Any] = "flatten",
    output: int | str = 0,
    forward: Callable[[Any, Any], object] | None = None,
    progress: Progress = False,
) -> Any:
    """Return the outputs of a layer of a torch model as rows: embeddings that concepts can be learned in.

    The model runs in batches, in evaluation mode and without gradients, and stops after the last layer that is asked
    for. Nothing is cached and nothing is changed: training flags, batch statistics, hooks and device are the same as
    before.

    Parameters
    ----------
    model : torch.nn.Module
        Network, on any device.
    data : array, tensor, Dataset, DataLoader or other iterable of batches
        An array or tensor has one row for each input; floating-point numbers are converted to the precision of the
        model. If a batch is a tuple or list, its first part is the input; if it is a mapping, the model gets it as
        keyword arguments.
    layer : str, sequence of str or None, default=None
        Name of a layer as in `model.named_modules()`, such as "encoder.2"; several names for several embeddings in one
        pass; None for the output of the model.
    batch_size : int, default=256
        Rows in a batch. It has no effect on a DataLoader or an iterable of batches; the embeddings are in their order.
    device : str or torch.device, default=None
        Device to run on; None is the device of the model.
    pool : {"flatten", "mean"} or callable, default="flatten"
        How outputs of more than two dimensions become rows. "flatten" flattens all dimensions but the first. "mean"
        takes the mean over all but the first two, which leaves the channels of images. A function of the tensor does
        anything else: `lambda t: t.mean(1)` is the mean over tokens if these come before channels.
    output : int or str, default=0
        The part to take of an output that is a tuple or a mapping.
    forward : callable(model, batch), default=None
        How to run the model on a batch; None calls it.
    progress : bool or callable(rows done, rows in all or None), default=False
        True shows a bar by tqdm; a function is called after each batch.

    Returns
    -------
    array of shape (n, d), float32, or dict from layer to array
        A dict if `layer` is a sequence.

    Raises
    ------
    ImportError
        If torch is not installed, or if `progress` is True and tqdm is not installed.
    DataError
        If the model has no such layer (the message lists similar names), if the forward pass does not reach a layer, if
        there are no data, or if the DataLoader shuffles.

    Notes
    -----
    Takes the time of the forward pass up to the last layer asked for, and memory for the embeddings and one batch.

    Examples
    --------
    With a trained network `net` and `images` of shape (n, 1, 28, 28)::

        Z = extract_latents(net, images, layer="encoder.2", batch_size=512, progress=True)
    """
    torch = require("torch", "torch", "extract_latents")
    layers = [layer] if layer is None or isinstance(layer, str) else list(layer)
    modules = _modules(model, layers)
    first = next(iter(model.parameters()), None)
    target = device if device is not None else "cpu" if first is None else first.device
    dtype = None if first is None else first.dtype
    blocks: dict[str | None, list[NDArray[np.float32]]] = {name: [] for name in layers}
    n_done, n_rows = 0, _n_rows(data)
    tell = _teller(progress, n_rows)
    with torch.no_grad(), _evaluate_undisturbed(model, first, device):
        for batch in _batches(torch, data, batch_size):
            outputs = _run(model, modules, _move_batch(torch, batch, target, dtype), forward)
            for name in layers:
                blocks[name].append(_rows(outputs[name], pool, output))
            n_done += len(blocks[layers[0]][-1])
            tell(n_done, n_rows)
    if not n_done:
        raise DataError("there are no data: give at least one batch with one row")
    embeddings = {name: np.concatenate(blocks[name]) for name in layers}
    return embeddings[layers[0]] if layer is None or isinstance(layer, str) else embeddings


def _modules(model: Any, layers: Sequence[str | None]) -> dict[str, Any]:
    """Return the module of each layer that has a name."""
    modules = dict(model.named_modules())
    if not layers:
        raise DataError("no layer is asked for; give at least one name, or None for the output of the model")
    for name in layers:
        if name is not None and name not in modules:
            similar = get_close_matches(name, modules, n=3, cutoff=0.4) or [other for other in modules if other][:10]
            raise DataError(
                f"the model has no layer {name!r}; there is {list_words([repr(other) for other in similar])}"
            )
    return {name: modules[name] for name in layers if name is not None}


@contextmanager
def _evaluate_undisturbed(model: Any, first: Any, device: Any) -> Iterator[None]:
    """Put the model into evaluation mode and onto a device; restore training flags and device afterwards."""
    flags = {module: module.training for module in model.modules()}
    original = None if first is None or device is None else first.device
    try:
        model.eval()
        if original is not None:
            model.to(device)
        yield
    finally:
        for module, training in flags.items():
            module.training = training
        if original is not None:
            model.to(original)


def _batches(torch: Any, data: Any, batch_size: int) -> Iterable[Any]:
    """Return the batches of data of any kind, in its order."""
    if isinstance(data, np.ndarray):
        data = torch.from_numpy(data if data.flags.writeable and data.flags.c_contiguous else data.copy())
    if torch.is_tensor(data):
        return torch.split(data, batch_size) if len(data) else ()
    if isinstance(data, torch.utils.data.Dataset):
        loader: Iterable[Any] = torch.utils.data.DataLoader(data, batch_size=batch_size)
        return loader
    sampler = getattr(data, "sampler", None)
    samplers = (sampler, getattr(getattr(data, "batch_sampler", None), "sampler", None))
    if any("Random" in type(sampler).__name__ for sampler in samplers):
        raise DataError(
            "the DataLoader shuffles, so the embeddings would not be in the order of the data; give shuffle=False"
        )
    batches: Iterable[Any] = data
    return batches


def _n_rows(data: Any) -> int | None:
    """Return the number of rows, or None if the data do not give it."""
    rows = getattr(data, "dataset", data)
    return len(rows) if hasattr(rows, "__len__") and not isinstance(rows, (list, tuple)) else None


def _move_batch(torch: Any, batch: Any, device: Any, dtype: Any) -> Any:
    """Return the input of a batch on a device, floating-point numbers in the precision `dtype`."""
    if isinstance(batch, Mapping):
        return {name: _move_batch(torch, value, device, dtype) for name, value in batch.items()}
    batch = batch[0] if isinstance(batch, (tuple, list)) else batch
    batch = torch.from_numpy(batch) if isinstance(batch, np.ndarray) else batch
    return batch.to(device, dtype) if dtype is not None and batch.is_floating_point() else batch.to(device)


def _run(
    model: Any, modules: dict[str, Any], batch: Any, forward: Callable[[Any, Any], object] | None
) -> dict[str | None, Any]:
    """Return the output of each layer by its name; None is the name of the model's output, if it was needed."""
    outputs: dict[str | None, Any] = {}

    def keep(name: str) -> Callable[[Any, Any, Any], None]:
        def hook(module: Any, inputs: Any, returned: Any) -> None:
            outputs[name] = returned
            if len(outputs) == len(modules) and not wants_output:
                raise _AllLayersReached

        return hook

    wants_output = not modules
    hooks = [module.register_forward_hook(keep(name)) for name, module in modules.items()]
    try:
        if forward is not None:
            outputs[None] = forward(model, batch)
        else:
            outputs[None] = model(**batch) if isinstance(batch, Mapping) else model(batch)
    except _AllLayersReached:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    missing = [repr(name) for name in modules if name not in outputs]
    if missing:
        raise DataError(f"the forward pass never reaches layer {list_words(missing)}; give layers that it runs")
    return outputs


def _rows(value: Any, pool: str | Callable[[Any], Any], output: int | str) -> NDArray[np.float32]:
    """Return one output as rows of float32, shape (rows of the batch, d)."""
    if isinstance(value, Mapping) and not isinstance(output, str):
        value = list(value.values())[output]
    elif isinstance(value, (Mapping, tuple, list)):
        value = value[output]  # type: ignore[index]
    if callable(pool):
        value = pool(value)
    elif pool not in ("flatten", "mean"):
        raise ValueError(f"pool must be 'flatten', 'mean' or a function, got {show_value(pool)}")
    elif pool == "mean" and value.ndim > 2:
        value = value.flatten(2).mean(2)
    return np.asarray(value.reshape(len(value), -1).float().cpu().numpy(), dtype=np.float32)


def _teller(progress: Progress, total: int | None) -> Callable[[int, int | None], object]:
    """Return a function of (rows done, rows in all) that reports the progress."""
    if callable(progress):
        return progress
    if not progress:
        return lambda done, total: None
    bar = require("tqdm.auto", "torch", "a progress bar").tqdm(total=total, unit="rows")

    def tell(done: int, total: int | None) -> None:
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return tell
