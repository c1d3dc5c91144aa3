"""A live collector, and a browser that visits its pages."""

from collectors import folder, live, store, study  # noqa: F401 (fixtures)
from web_visits import browser, picture, serve, visitor  # noqa: F401 (fixtures of the pages' tests)
