"""The ARFF text format: header, rows and writer."""
