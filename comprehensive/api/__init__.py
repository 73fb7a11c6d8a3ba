"""The tool from Python: programs in, frozen values out, as the commands of the command line print them."""
