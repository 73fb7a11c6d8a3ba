"""The front end of OpenMP and OpenACC: C with directives in, the checked program of its parallel loops out."""
