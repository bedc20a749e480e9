"""The source: topics as rows, for batch reads and streaming queries.

Options, offsets, ranges, admission and planner are pure; the readers use `SimpleConsumer`.
"""
