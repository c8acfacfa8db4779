"""A document that is loaded, and what has changed in it since: elements, layout, forms and the focus."""
