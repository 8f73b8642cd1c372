"""A kernel for JupyterLite that compiles and runs Go in the page."""
