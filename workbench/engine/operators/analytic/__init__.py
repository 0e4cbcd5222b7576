"""The analytic operator: values of rows that depend on the rows around them, and the first rows of an order."""
