"""The panel and its views: each is a live widget, and in a saved notebook or a terminal its static view."""
