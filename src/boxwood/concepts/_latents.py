"""Embeddings out of a torch model, by the names of its layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxwood._validation import listed
from boxwood.errors import DataError

__all__ = ["extract_latents"]

Progress = bool | Callable[[int, int | None], object]


class _Reached(Exception):
    """All layers that were asked for have spoken; the rest of the network need not run."""


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
    """Return what a layer of a torch model makes of data, as rows: the embeddings that concepts are learned in.

    The model is run in batches, in evaluation mode and without gradients, only as far as the layer. Nothing is cached
    and nothing is changed: training flags, batch statistics, hooks and device are afterwards as they were.

    Parameters
    ----------
    model : torch.nn.Module
        Network, on any device.
    data : array, tensor, Dataset, DataLoader or other iterable of batches
        Arrays and tensors have a row for each input; floating-point ones are given to the model in its own precision.
        Of a batch that is a tuple or list the first part is taken, a mapping is given as keyword arguments.
    layer : str, sequence of str or None, default=None
        Name of a layer as in `model.named_modules()`, such as "encoder.2"; several for several embeddings in one pass;
        None for the output of the model.
    batch_size : int, default=256
        Rows at once; of no effect for a DataLoader or an iterable of batches, whose order is that of the embeddings.
    device : str or torch.device, default=None
        Where to run; None is where the model is.
    pool : {"flatten", "mean"} or callable, default="flatten"
        What to do with outputs of more than two dimensions: flatten all but the first; take the mean over all but the
        first two, which leaves the channels of images; or a function of the tensor, such as `lambda t: t.mean(1)` for
        the mean over tokens where these come before channels.
    output : int or str, default=0
        Which part of an output that is a tuple or a mapping.
    forward : callable(model, batch), default=None
        How to run the model on a batch, where calling it is not enough.
    progress : bool or callable(rows done, rows in all or None), default=False
        True shows a bar by tqdm; a function is called after each batch.

    Returns
    -------
    array of shape (n, d), float32, or dict from layer to array
        A dict where `layer` is a sequence.

    Raises
    ------
    ImportError
        If torch is not installed, or tqdm is not and `progress` is True.
    DataError
        If there is no such layer (the message lists near names), it is not reached, there are no data, or the
        DataLoader shuffles.

    Notes
    -----
    Takes the time of the forward pass as far as the last layer asked for; memory for the embeddings and one batch.

    Examples
    --------
    With a trained network `net` and `images` of shape (n, 1, 28, 28)::

        Z = extract_latents(net, images, layer="encoder.2", batch_size=512, progress=True)
    """
    torch = _torch()
    layers = [layer] if layer is None or isinstance(layer, str) else list(layer)
    modules = _modules(model, layers)
    first = next(iter(model.parameters()), None)
    place = device if device is not None else "cpu" if first is None else first.device
    parts: dict[str | None, list[NDArray[np.float32]]] = {name: [] for name in layers}
    done, total, told = 0, _n_rows(data), _teller(progress, _n_rows(data))
    with torch.no_grad(), _undisturbed(model, first, device):
        for batch in _batches(torch, data, batch_size):
            given = _moved(torch, batch, place, None if first is None else first.dtype)
            found = _run(model, modules, given, forward)
            for name in layers:
                parts[name].append(_rows(found[name], pool, output))
            done += len(parts[layers[0]][-1])
            told(done, total)
    if not done:
        raise DataError("there are no data: give at least one batch with one row")
    embeddings = {name: np.concatenate(parts[name]) for name in layers}
    return embeddings[layers[0]] if layer is None or isinstance(layer, str) else embeddings


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ImportError("embeddings of a torch model need torch: pip install torch") from None
    return torch


def _modules(model: Any, layers: Sequence[str | None]) -> dict[str, Any]:
    found = dict(model.named_modules())
    if not layers:
        raise DataError("no layer is asked for; name at least one, or None for the output of the model")
    for name in layers:
        if name is not None and name not in found:
            near = get_close_matches(name, found, n=3, cutoff=0.4) or [known for known in found if known][:10]
            raise DataError(f"the model has no layer {name!r}; there is {listed([repr(one) for one in near])}")
    return {name: found[name] for name in layers if name is not None}


@contextmanager
def _undisturbed(model: Any, first: Any, device: Any) -> Iterator[None]:
    """Leave each module's training flag, and the model's device, as they were."""
    flags = {module: module.training for module in model.modules()}
    home = None if first is None or device is None else first.device
    try:
        model.eval()
        if home is not None:
            model.to(device)
        yield
    finally:
        for module, training in flags.items():
            module.training = training
        if home is not None:
            model.to(home)


def _batches(torch: Any, data: Any, batch_size: int) -> Iterable[Any]:
    if isinstance(data, np.ndarray):
        data = torch.from_numpy(data if data.flags.writeable and data.flags.c_contiguous else data.copy())
    if torch.is_tensor(data):
        return torch.split(data, batch_size) if len(data) else ()
    if isinstance(data, torch.utils.data.Dataset):
        return torch.utils.data.DataLoader(data, batch_size=batch_size)  # type: ignore[no-any-return]
    sampler = getattr(data, "sampler", None)
    samplers = (sampler, getattr(getattr(data, "batch_sampler", None), "sampler", None))
    if any("Random" in type(one).__name__ for one in samplers):
        raise DataError("the DataLoader shuffles, so that its rows would not fit to any labels; give shuffle=False")
    return data  # type: ignore[no-any-return]


def _n_rows(data: Any) -> int | None:
    rows = getattr(data, "dataset", data)
    return len(rows) if hasattr(rows, "__len__") and not isinstance(rows, (list, tuple)) else None


def _moved(torch: Any, batch: Any, place: Any, dtype: Any) -> Any:
    if isinstance(batch, Mapping):
        return {name: _moved(torch, value, place, dtype) for name, value in batch.items()}
    batch = batch[0] if isinstance(batch, (tuple, list)) else batch
    batch = torch.from_numpy(batch) if isinstance(batch, np.ndarray) else batch
    return batch.to(place, dtype) if dtype is not None and batch.is_floating_point() else batch.to(place)


def _run(
    model: Any, modules: dict[str, Any], batch: Any, forward: Callable[[Any, Any], object] | None
) -> dict[str | None, Any]:
    """Return the output of each layer, and the model's own as that of None unless it was not needed."""
    found: dict[str | None, Any] = {}

    def keep(name: str) -> Callable[[Any, Any, Any], None]:
        def hook(module: Any, given: Any, returned: Any) -> None:
            found[name] = returned
            if len(found) == len(modules) and not wants_output:
                raise _Reached

        return hook

    wants_output = not modules
    hooks = [module.register_forward_hook(keep(name)) for name, module in modules.items()]
    try:
        if forward is not None:
            found[None] = forward(model, batch)
        else:
            found[None] = model(**batch) if isinstance(batch, Mapping) else model(batch)
    except _Reached:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    silent = [repr(name) for name in modules if name not in found]
    if silent:
        raise DataError(f"the forward pass never reaches layer {listed(silent)}")
    return found


def _rows(value: Any, pool: str | Callable[[Any], Any], output: int | str) -> NDArray[np.float32]:
    """Return one output as rows of float32, shape (rows of the batch, d)."""
    if isinstance(value, Mapping) and not isinstance(output, str):
        value = list(value.values())[output]
    elif isinstance(value, (Mapping, tuple, list)):
        value = value[output]  # type: ignore[index]
    if callable(pool):
        value = pool(value)
    elif pool not in ("flatten", "mean"):
        raise ValueError(f"pool must be 'flatten', 'mean' or a function, got {pool!r}")
    elif pool == "mean" and value.ndim > 2:
        value = value.flatten(2).mean(2)
    return np.asarray(value.reshape(len(value), -1).float().cpu().numpy(), dtype=np.float32)


def _teller(progress: Progress, total: int | None) -> Callable[[int, int | None], object]:
    if callable(progress):
        return progress
    if not progress:
        return lambda done, total: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install tqdm") from None
    bar = tqdm(total=total, unit="rows")

    def tell(done: int, total: int | None) -> None:
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return tell
