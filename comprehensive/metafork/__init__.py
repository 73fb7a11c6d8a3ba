"""The MetaFork front end: `.mf` text in, a typed syntax tree with spans out."""
