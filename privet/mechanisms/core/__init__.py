"""The parts of mechanisms: the base class, reports, and the shapes that several of them share."""
