"""Import time, each in a fresh interpreter."""


def timeraw_import_pydpmc():
    return "import pydpmc"


def timeraw_import_accounting():
    return "from pydpmc import accounting"
