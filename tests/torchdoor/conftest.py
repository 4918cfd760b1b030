"""These tests need PyTorch; one thread, so that nothing depends on the machine."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items):
    try:
        import torch  # noqa: F401
    except ImportError:
        skip = pytest.mark.skip(reason="PyTorch is not installed")
        for item in items:
            if "torchdoor" in str(item.path):
                item.add_marker(skip)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
