import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Schema
from privet.data.declaring import declaration


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([[0, 1], [1, 0]], "Schema.numeric(2, low=0, high=1, classes=4)"),
        ([[0, 0], [0, 0]], "Schema.numeric(2, low=0, high=1, classes=4)"),
        ([[0.2, 0.9], [0, 0]], "Schema.numeric(2, low=0, high=1, classes=4)"),
        ([[-3.1, 7], [0, 0]], "Schema.numeric(2, low=-5, high=10, classes=4)"),
        ([[0.004, 0.0013], [0, 0]], "Schema.numeric(2, low=0, high=0.005, classes=4)"),
        ([[-2, -1], [-1, -1]], "Schema.numeric(2, low=-2, high=0, classes=4)"),
    ],
)
def test_the_line_is_a_schema_that_holds_all_values(values, line):
    labels = np.array([3, -1])
    for features in (np.array(values, dtype=np.float32), sp.csr_array(np.array(values, dtype=np.float32))):
        found, remark = declaration(features, labels)
        assert found == line
        schema = eval(found, {"Schema": Schema})
        assert (schema.low <= np.min(values, axis=0)).all()
        assert (schema.high >= np.max(values, axis=0)).all()
        assert ("0 or 1" in remark) == (set(np.ravel(values)) <= {0, 1})


def test_a_graph_without_known_classes_is_declared_without_labels():
    assert declaration(np.zeros((2, 3)), None)[0] == "Schema.numeric(3, low=0, high=1, classes=0)"
    assert declaration(np.zeros((2, 3)), np.array([-1, -1]))[0].endswith("classes=0)")
    assert declaration(np.zeros((2, 3)), np.array([0, 0]))[0].endswith("classes=2)")
