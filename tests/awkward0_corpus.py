"""Arrays of every class of awkward0, made by awkward0 in the old environment; the tests read the names."""

# awkward0 and its numpy are there in the old environment only: every function imports what it needs.

import numpy as np

CASES = {}


def case(make):
    """Note a function that returns an array."""
    CASES[make.__name__] = make
    return make


def jagged(counts, content):
    import awkward0

    return awkward0.JaggedArray.fromcounts(counts, content)


@case
def numbers():
    return np.array([1.1, np.nan, -np.inf, 4.4])


@case
def big_endian():
    return np.array([1, -2, 2**40], ">i8")


@case
def many_dimensions():
    return np.arange(24, dtype="f4").reshape(2, 3, 4)


@case
def booleans():
    return np.array([True, False, True])


@case
def unicode_text():
    return np.array(["one", "zwölf", ""])


@case
def fixed_bytes():
    return np.array([b"ab", b"c"], "S4")


@case
def times():
    return np.array(["2020-01-01", "1969-12-31T23:59", "NaT"], "M8[s]")


@case
def structured():
    dtype = [("a", "<i4"), ("b", ">f8", (2,)), ("c", "?")]
    return np.array([(1, (2.5, 3.5), True), (4, (5.5, 6.5), False)], dtype)


@case
def empty():
    return np.array([], "i4")


@case
def lists():
    return jagged([3, 0, 2], np.array([1.1, 2.2, 3.3, 4.4, 5.5]))


@case
def lists_of_lists():
    return jagged([2, 0, 1], jagged([1, 2, 0], np.array([1, 2, 3], "i2")))


@case
def lists_out_of_order():
    import awkward0

    return awkward0.JaggedArray([4, 0, 1, 3], [6, 3, 4, 3], np.arange(7) * 10)


@case
def lists_in_two_dimensions():
    import awkward0

    return awkward0.JaggedArray([[0, 2], [3, 3]], [[2, 3], [3, 5]], np.arange(5) * 1.5)


@case
def lists_of_points():
    return jagged([1, 0, 2], np.arange(6, dtype="f4").reshape(3, 2))


@case
def sliced_lists():
    return jagged([3, 0, 2, 1], np.arange(6))[1:]


@case
def no_lists():
    return jagged([], np.array([], "f8"))


@case
def lists_of_small_unsigned():
    import awkward0

    return awkward0.JaggedArray(np.array([0, 2], "u1"), np.array([2, 2], ">u2"), np.arange(3))


@case
def big_counts():
    return jagged(np.arange(3000) % 5, np.arange(6000, dtype="f8")[: int((np.arange(3000) % 5).sum())])


@case
def table():
    import awkward0

    return awkward0.Table(x=np.arange(4), y=np.array([0.5, 1.5, 2.5]), z=lists())


@case
def table_of_rows():
    import awkward0

    columns = awkward0.Table(x=np.arange(6), y=np.arange(6) * 1.5)
    return columns[4:0:-2]


@case
def table_of_chosen_rows():
    import awkward0

    return awkward0.Table(x=np.arange(6), y=np.arange(6) * 1.5)[[5, 0, 0, 3]]


@case
def table_in_lists():
    import awkward0

    return jagged([2, 0, 1], awkward0.Table(x=np.arange(3), y=lists()))


@case
def table_in_table():
    import awkward0

    return awkward0.Table(inner=awkward0.Table(a=np.arange(3)), s=strings())


@case
def union():
    import awkward0

    contents = [np.array([1.5, 2.5]), strings()]
    return awkward0.UnionArray.fromtags(np.array([0, 1, 1, 0, 1], "u1"), contents)


@case
def union_by_index():
    import awkward0

    tags, index = np.array([0, 1, 0, 1], "u1"), np.array([2, 0, 0, 1])
    return awkward0.UnionArray(tags, index, [lists(), np.array([True, False])])


@case
def masked():
    import awkward0

    return awkward0.MaskedArray([True, False, False, True], np.arange(4) * 1.5, maskedwhen=True)


@case
def masked_when_false():
    import awkward0

    return awkward0.MaskedArray([True, False, True], lists(), maskedwhen=False)


@case
def bit_masked():
    import awkward0

    return awkward0.BitMaskedArray.fromboolmask(
        np.arange(11) % 3 == 0, np.arange(11), maskedwhen=True, lsborder=False
    )


@case
def bit_masked_least_first():
    import awkward0

    return awkward0.BitMaskedArray.fromboolmask(
        np.arange(11) % 3 == 0, np.arange(11) * 0.5, maskedwhen=False, lsborder=True
    )


@case
def index_masked():
    import awkward0

    return awkward0.IndexedMaskedArray(np.array([2, -1, 0, -1]), lists())


@case
def index_masked_by_another_mark():
    import awkward0

    return awkward0.IndexedMaskedArray(np.array([2, -7, 0]), np.arange(3), maskedwhen=-7)


@case
def missing_in_lists():
    return jagged([2, 0, 2], masked())


@case
def indexed():
    import awkward0

    return awkward0.IndexedArray(np.array([2, 0, 2, 1]), lists())


@case
def sparse():
    import awkward0

    return awkward0.SparseArray(10, [1, 3, 8], [1.5, 2.5, 3.5], default=-1.0)


@case
def sparse_without_default():
    import awkward0

    return awkward0.SparseArray(6, [1, 4], np.array([7, 8], "i4"))


@case
def sparse_with_nan():
    import awkward0

    return awkward0.SparseArray(5, [1, 3], [1.5, 2.5], default=np.nan)


@case
def chunked():
    import awkward0

    return awkward0.ChunkedArray([np.arange(3) * 1.5, np.array([], "f8"), np.arange(2) + 0.25])


@case
def chunked_lists():
    import awkward0

    return awkward0.ChunkedArray([lists(), lists()[:0], sliced_lists()])


@case
def appendable():
    import awkward0

    made = awkward0.AppendableArray((3,), np.dtype("f8"))
    made.extend([1.5, 2.5, 3.5, 4.5])
    return made


@case
def strings():
    import awkward0

    return awkward0.StringArray.fromiter(["one", "", "zwölf"])


@case
def byte_strings():
    import awkward0

    return awkward0.StringArray.fromiter([b"\xff\x00", b"", b"abc"], encoding=None)


@case
def strings_of_a_code_page():
    import awkward0

    return awkward0.StringArray.fromiter(["zwölf", "€"], encoding="cp1252")


@case
def wide_strings():
    import awkward0

    return awkward0.StringArray.fromnumpy(np.array(["one", "zwölf"]))


@case
def chosen_strings():
    return strings()[[2, 0]]


@case
def lists_of_strings():
    return jagged([2, 1], strings())


@case
def objects():
    import awkward0
    from uproot3_methods.classes.TVector2 import TVector2

    return awkward0.ObjectArray(awkward0.Table(x=np.arange(2.0)), TVector2, 1.0)


@case
def virtual_now():
    import awkward0

    return awkward0.VirtualArray(lists, persistvirtual=False)


@case
def vectors_in_a_plane():
    from uproot3_methods.classes.TVector2 import TVector2Array

    return TVector2Array.from_cartesian(np.array([1.0, 2.0]), np.array([3.0, 4.0]))


@case
def vectors_in_space():
    from uproot3_methods.classes.TVector3 import TVector3Array

    return TVector3Array.from_cartesian(np.array([1.0]), np.array([3.0]), np.array([5.0]))


@case
def lorentz_vectors():
    from uproot3_methods.classes.TLorentzVector import TLorentzVectorArray

    return TLorentzVectorArray.from_ptetaphim(*(np.array([k, k + 0.5]) for k in range(4)))


@case
def lists_of_lorentz_vectors():
    from uproot3_methods.classes.TLorentzVector import TLorentzVectorArray

    return TLorentzVectorArray.from_cartesian(*(jagged([2, 0, 1], np.arange(3.0) + k) for k in range(4)))


@case
def shared_parts():
    import awkward0

    same = np.arange(3)
    return awkward0.Table(a=same, b=same, c=awkward0.IndexedArray(np.array([2, 1, 0]), same))


@case
def deep():
    import awkward0

    parts = awkward0.Table(name=lists_of_strings(), hits=jagged([1, 2], table_in_lists()))
    return awkward0.ChunkedArray([awkward0.IndexedMaskedArray(np.array([1, -1, 0]), parts)])


# -- plain values at the root: `save` takes them ------------------------------------------------------------


@case
def plain_number():
    return 0.4


@case
def plain_text():
    return "fünf"


@case
def plain_nan():
    return float("nan")


#: Arrays that contain themselves: their values have no end.
CYCLIC = {}


def cyclic(make):
    """Note a function that returns an array which contains itself."""
    CYCLIC[make.__name__] = make
    return make


@cyclic
def lists_of_themselves():
    import awkward0

    made = awkward0.JaggedArray([1, 0, 0], [3, 1, 0], np.arange(3))
    made.content = made
    return made


@cyclic
def table_with_links():
    import awkward0

    made = awkward0.Table(x=np.arange(3))
    made["next"] = awkward0.IndexedMaskedArray(np.array([1, 2, -1]), made)
    return made


#: Arrays that awkward0 writes wrong.
DEFECTS = {}


def defect(make):
    """Note a function that returns an array which is not written as it should be."""
    DEFECTS[make.__name__] = make
    return make


@defect
def array_of_a_virtual_array():
    import awkward0

    array = awkward0.VirtualArray(lists, persistvirtual=False)
    return awkward0.Table(a=array, b=array.array)
