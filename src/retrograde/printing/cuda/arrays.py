"""Arrays on a device as arguments and results: taken by DLPack, handed back in their library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._values.nests import mapped
from ...errors import PrintingError, RowsError
from ...frames.answers import Answers
from ...program.results import along_rows
from .driver import DeviceFullError, Driver

if TYPE_CHECKING:
    from ...program.rows import Argument, Bound


class DeviceAnswers(Answers):
    """Results in the library that the first array came from; nests are those of a call."""

    def __init__(self, driver: Driver, like: Any, bound: Bound) -> None:
        self._driver, self._like, self._bound = driver, like, bound

    def _handed(self, nest: Any) -> Any:
        def shown(part: Any) -> Any:
            return self._driver.handed(part, self._like) if self._driver.is_array(part) else part

        return mapped(shown, nest, self._driver.is_array)

    def value(self, result: Any) -> Any:
        """The value."""
        return self._handed(result)

    def gradients(self, names: Sequence[str], found: Any, bare: bool, stem: str = "d_") -> Any:
        """Gradients."""
        return self._handed(found)

    def pair(self, value: Any, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """The value and its gradients."""
        return self._handed(value), self._handed(found)

    def several(self, names: Sequence[str], found: Any, outputs: Any, bare: bool) -> Any:
        """The gradients of every output."""
        return self._handed(outputs.filled(found, along_rows(self._bound.rows)))

    def second(self, chosen: Sequence[Argument], found: Any, bare: bool) -> Any:
        """Second derivatives."""
        return self._handed(found)


class Arrays:
    """The arrays on the device in one call."""

    def __init__(self, driver: Driver, name: str) -> None:
        self.driver, self.name = driver, name
        self.met = False

    def taken(self, thing: Any) -> Any:
        """An array on the device, as the driver has it; None: it is none."""
        return self.driver.taken(thing)

    def note(self, bound: Bound, place: str, thing: Any) -> None:
        """An array of rows is on the device: so must all of them be."""
        if not self.met and bound.arrays:
            raise RowsError.two_places(place, bound.row_name)
        if not self.met:
            bound.answers = DeviceAnswers(self.driver, thing, bound)
        self.met = True

    def check(self, bound: Bound, place: str) -> None:
        """An array of rows is on the host: so must all of them be."""
        if self.met:
            raise RowsError.two_places(bound.row_name, place)

    def doubles(self, array: Any) -> Any:
        """The array as one of doubles."""
        return self.driver.doubles(array)

    def address(self, array: Any) -> int:
        """Where an array lies."""
        return self.driver.address(array)

    def take(self, count: int, rows: int) -> Any:
        """Columns for results."""
        try:
            return self.driver.empty(count * rows).reshape(count, rows)
        except DeviceFullError as error:
            raise PrintingError.device_full(self.name, str(error)) from None

    def uploaded(self, array: Any) -> Any:
        """Numbers of the host on the device."""
        found = self.take(1, len(array))[0]
        stream = self.driver.current()
        self.driver.copy(self.driver.address(found), array.ctypes.data, array.nbytes, stream)
        self.driver.settle(stream)
        return found
