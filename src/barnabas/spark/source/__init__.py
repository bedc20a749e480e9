"""The source: topics as rows, for batch reads and streaming queries.

`options`, `offsets` and `planner` are pure; the readers use `SimpleConsumer`.
"""
