"""What can be summed, one a file: a private field, a public function, and how far one person moves the sum."""

from privet.release.tallies._base import Tally
from privet.release.tallies.categories import Categories
from privet.release.tallies.lengths import Lengths
from privet.release.tallies.several import Several
from privet.release.tallies.unit_features import UnitFeatures

__all__ = ["Categories", "Lengths", "Several", "Tally", "UnitFeatures"]
