"""Points, colours and bodies in, primitives, legends and rendered pictures out."""
