"""The kinds of components, one a file: parameters, and how an access becomes stations and demands."""
