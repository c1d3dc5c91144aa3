"""What mechanisms are made of: the base class, reports, and the shapes that several of them share."""
