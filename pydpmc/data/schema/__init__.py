"""Schema: the public facts of a table declared once, and every table encoded by them."""

from .binary import Binary
from .category import Category
from .column import Column
from .number import Number
from .schema import Schema

__all__ = ["Binary", "Category", "Column", "Number", "Schema"]
