"""The tool that shows what the manifests of an Icechunk repository cost."""
