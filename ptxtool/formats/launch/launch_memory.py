"""Memory at fixed addresses in a launch file: `address` of a buffer, `[[memory]]`, `[module]`.

For `launch_file.py`. A recorded launch has them (docs/exec.md): its pointers are numbers that lie in memory and in
structures, and stay valid only where every block has the address that it had.
"""

from ptxtool.formats.launch.launch_data import ModuleAddresses
from ptxtool.formats.launch.launch_tables import LaunchTable
from ptxtool.formats.launch.launch_values import SOURCES

_MODULE_KEYS = ("variables", "constants", "code", "constant_memory")


def read_module(head: LaunchTable) -> ModuleAddresses | None:
    """The `[module]` table, if there is one."""
    if "module" not in head.values:
        return None
    table = head.inner(head.values["module"], "module", _MODULE_KEYS)
    return ModuleAddresses(*(table.whole(key, 0, 0) for key in _MODULE_KEYS))


def address_of(row: LaunchTable, is_buffer: bool) -> int | None:
    """The address that a row gives its buffer, if any."""
    if "address" not in row.values:
        return None
    if not is_buffer or row.values.keys() & {"texture", "surface", "struct"}:
        raise row.fail(
            "only a buffer has an address", "address", "give type and count, or a number as 'value'"
        )
    if row.values.get("output") and not row.values.keys() & set(SOURCES):
        raise row.fail("a buffer with an address has contents", "address", "for example value = 0")
    return row.whole("address", 1)


def check_placed(head: LaunchTable, n_placed: int, n_steps: int) -> None:
    """Raise E502 for fixed addresses in a list of launches."""
    if n_steps and (n_placed or "module" in head.values):
        table = "module" if "module" in head.values else "memory" if "memory" in head.values else "args"
        help = "write a launch file for each launch"
        raise head.inner({}, table, ()).fail("fixed addresses in a list of launches", help=help)
