"""The data of ``report``: everything that the page of a program shows, gathered from the pipeline."""
